  /// One drawing with the report that it is of.
  class View {
    constructor(root, report, waits, side) {
      Object.assign(this, { root, report, waits, side, svg: root.querySelector('svg'), scale: 1, folded: new Set() });
      const [, , width, height] = this.svg.getAttribute('viewBox').split(' ').map(Number);
      this.whole = this.written = { width, height };
      this.box = { x: 0, y: 0, width, height };
      this.svg.removeAttribute('width');
      this.svg.removeAttribute('height');
      this.isBig = report.nodes.length > BIG;
      this.root.classList.toggle('big', this.isBig);
      this.elements = [];
      for (const element of this.svg.querySelectorAll('[data-op]')) this.elements[element.dataset.op] = element;
      this.lines = new Map();
      for (const line of this.svg.querySelectorAll('[data-line]')) {
        this.lines.set(line.dataset.line, line);
      }
      this.out = report.nodes.map(() => []);
      this.into = report.nodes.map(() => []);
      for (const [before, after, kind] of report.edges) {
        this.out[before]?.push([after, kind]);
        this.into[after]?.push([before, kind]);
      }
    }

    element(op) { return this.elements[op]; }

    /// The boxes that an op is in, from its own outwards: names as lines have them.
    boxes(op) {
      const boxes = [];
      for (let at = this.elements[op]; at && at !== this.svg; at = at.parentNode) {
        if (at.dataset.op !== undefined) boxes.push([at.dataset.op, at.parentNode]);
        else if (at.dataset.frame !== undefined) boxes.push(['f' + at.dataset.frame, at.parentNode]);
      }
      return boxes;
    }

    /// The line that an edge is part of.
    line(before, after) {
      const from = this.boxes(before), to = this.boxes(after);
      for (const [name, frame] of from) {
        const other = to.find(([, outer]) => outer === frame);
        if (other) return this.lines.get(`${name} ${other[0]}`);
      }
    }

    // Where one looks.

    show() {
      const { width, height } = this.root.getBoundingClientRect();
      if (!width || !height) return;
      this.scale = width / this.box.width;
      this.box.height = height / this.scale;
      const { x, y, width: w, height: h } = this.box;
      this.svg.setAttribute('viewBox', `${x} ${y} ${w} ${h}`);
      const isFar = this.scale < FAR;
      this.root.classList.toggle('far', isFar);
      if (this.isBig && !isFar) this.near();
    }

    /// Of very many ops, only those that are in sight have their texts: the browser lays all of them out whenever one zooms.
    near() {
      const { x, y, width, height } = this.box;
      this.spots ??= spots(child(this.svg, '.in'));
      const seen = new Set();
      for (const [element, left, top] of this.spots) {
        if (left < x + width && left > x - 400 && top < y + height && top > y - 400) seen.add(element);
      }
      for (const element of this.inSight ?? []) if (!seen.has(element)) element.classList.remove('near');
      for (const element of seen) element.classList.add('near');
      this.inSight = seen;
    }

    fit() {
      const { width, height } = this.root.getBoundingClientRect();
      if (width && height) this.centre(this.fitting(width, height), width, height);
    }

    /// The upper end, at a size that can be read.
    begin() {
      const { width, height } = this.root.getBoundingClientRect();
      if (!width || !height) return;
      const whole = this.fitting(width, height);
      if (whole >= 0.6) { this.centre(whole, width, height); return; }
      const scale = Math.max(0.6, Math.min(1, width / this.whole.width));
      this.box = { x: (this.whole.width - width / scale) / 2, y: 0, width: width / scale, height: height / scale };
      this.show();
    }

    /// Small enough to see all of it, as far as there is anything to see then.
    fitting(width, height) { return Math.max(Math.min(width / this.whole.width, height / this.whole.height, 1.25), 0.03); }

    centre(scale, width, height) {
      this.box = { x: (this.whole.width - width / scale) / 2, y: Math.min(0, (this.whole.height - height / scale) / 2), width: width / scale, height: height / scale };
      this.show();
    }

    zoom(factor, at) {
      const { left, top, width, height } = this.root.getBoundingClientRect();
      const scale = Math.min(8, Math.max(0.005, this.scale * factor));
      const px = at ? at.x - left : width / 2, py = at ? at.y - top : height / 2;
      const x = this.box.x + px / this.scale, y = this.box.y + py / this.scale;
      this.box = { x: x - px / scale, y: y - py / scale, width: width / scale, height: height / scale };
      this.show();
    }

    pan(dx, dy) {
      this.box.x -= dx / this.scale;
      this.box.y -= dy / this.scale;
      this.show();
    }

    /// Brings an element to where one looks, if it is not there.
    reveal(element) {
      const around = this.root.getBoundingClientRect();
      if (!around.width) return;
      if (this.scale < 0.45) this.zoom(0.8 / this.scale);
      const rect = child(element, 'rect, circle').getBoundingClientRect();
      const inset = 30;
      const far = (low, high, from, to) => high - low > to - from ? from - low : low < from ? from - low : high > to ? to - high : 0;
      const dx = far(rect.left, rect.right, around.left + inset, around.right - inset);
      const dy = far(rect.top, rect.bottom, around.top + inset, around.bottom - inset);
      const isFar = Math.abs(dx) > around.width / 2 || Math.abs(dy) > around.height / 2;
      if (isFar) {
        const x = around.left + around.width / 2 - (rect.left + Math.min(rect.width, around.width) / 2);
        const y = around.top + around.height / 3 - (rect.top + Math.min(rect.height, around.height) / 2);
        this.pan(x, y);
      } else if (dx || dy) {
        this.pan(dx, dy);
      }
    }

    // Folding. A folded frame is as large as its title. Boxes of a layer keep their top, layers below move up, and where
    // nothing is left between two boxes they move together: so nothing comes to lie over anything else.

    fold(frame, isFolded) {
      const is = this.folded.has(frame);
      if (is === isFolded) return;
      if (isFolded) this.folded.add(frame); else this.folded.delete(frame);
      frame.classList.toggle('folded', isFolded);
      frame.setAttribute('aria-expanded', String(!isFolded));
    }

    /// After folding: places all again, innermost first.
    settle(frames) {
      const inner = new Set();
      for (const frame of frames) {
        for (let at = frame.parentNode; at && at !== this.svg; at = at.parentNode) {
          if (at.classList.contains('in')) inner.add(at);
        }
      }
      const depth = (element) => { let count = 0; for (let at = element; at; at = at.parentNode) count += 1; return count; };
      const all = [...inner].map((element) => [depth(element), element]).sort((one, other) => other[0] - one[0]);
      for (const [, element] of all) settlePicture(element);
      const top = child(this.svg, '.in');
      this.spots = null;
      this.whole = top.now ? { width: top.now.width + 2 * SVG_MARGIN, height: top.now.height + 2 * SVG_MARGIN } : this.written;
    }

    toggle(frame) {
      const before = frame.getBoundingClientRect();
      this.fold(frame, !this.folded.has(frame));
      this.settle([frame]);
      // What was clicked stays where it was.
      const after = frame.getBoundingClientRect();
      this.pan(before.left - after.left, before.top - after.top);
    }

    unfoldAround(element) {
      const closed = [];
      for (let at = element.parentNode; at && at !== this.svg; at = at.parentNode) {
        if (this.folded.has(at)) closed.push(at);
      }
      closed.forEach((frame) => this.fold(frame, false));
      if (closed.length) this.settle(closed);
    }

    foldAll(isFolded) {
      const outer = [...this.svg.querySelectorAll('.label')].filter((frame) => isFolded ? !frame.parentNode.closest('.label') : this.folded.has(frame));
      outer.forEach((frame) => this.fold(frame, isFolded));
      if (outer.length) this.settle(outer);
    }
  }


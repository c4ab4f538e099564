// The page of a graph. The drawings are in it already: this moves them, folds them, and tells what is known of an op.
// Every text of the program's is set as text, never as markup.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const derived = JSON.parse(document.getElementById('derived').textContent);
  const byId = (id) => document.getElementById(id);
  const SVG_MARGIN = 16, GAP_MIN = 24, AROUND = 14;

  /// An element with attributes and children; texts become text.
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, '');
      else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  const cut = (text, most = 300) => text.length > most ? text.slice(0, most) + '…' : text;
  function size(bytes) {
    if (bytes < 10240) return `${bytes} B`;
    const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let value = bytes / 1024, unit = 0;
    while (value >= 1024 && unit + 1 < units.length) { value /= 1024; unit += 1; }
    return `${value.toFixed(1)} ${units[unit]}`;
  }
  const plural = (count, thing) => `${count} ${thing}${count === 1 ? '' : 's'}`;
  const duration = (profile, ns) => profile.clock === 'gpu' ? `${(ns / 1000).toFixed(3)} us` : `${ns} counted`;

  /// One drawing with the report that it is of.
  class View {
    constructor(root, report, waits, side) {
      Object.assign(this, { root, report, waits, side, svg: root.querySelector('svg'), scale: 1, folded: new Set() });
      const [, , width, height] = this.svg.getAttribute('viewBox').split(' ').map(Number);
      this.whole = { width, height };
      this.box = { x: 0, y: 0, width, height };
      this.svg.removeAttribute('width');
      this.svg.removeAttribute('height');
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
      this.root.classList.toggle('far', this.scale < 0.3);
    }

    fit() {
      const { width, height } = this.root.getBoundingClientRect();
      if (!width || !height) return;
      const scale = Math.min(width / this.whole.width, height / this.whole.height, 1.25);
      this.box = { x: (this.whole.width - width / scale) / 2, y: (this.whole.height - height / scale) / 2, width: width / scale, height: height / scale };
      this.show();
    }

    /// The upper end, at a size that can be read.
    begin() {
      const { width, height } = this.root.getBoundingClientRect();
      if (!width || !height) return;
      this.fit();
      if (this.scale < 0.6) {
        const scale = Math.max(0.6, Math.min(1, width / this.whole.width));
        this.box = { x: Math.max(-SVG_MARGIN, (this.whole.width - width / scale) / 2), y: 0, width: width / scale, height: height / scale };
        this.show();
      }
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
      const rect = element.querySelector('rect, circle').getBoundingClientRect();
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
      const top = this.svg.querySelector(':scope > .in');
      const { width, height } = top.now ?? pictureSize(top);
      this.whole = { width: width + 2 * SVG_MARGIN, height: height + 30 + 2 * SVG_MARGIN };
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

  const translated = (element) => {
    const [x, y] = element.getAttribute('transform').slice(10, -1).split(' ').map(Number);
    return { x, y };
  };
  const place = (element, x, y) => element.setAttribute('transform', `translate(${x} ${y})`);

  /// What is drawn in a frame as it was written, remembered.
  function picture(inner) {
    if (inner.was) return inner.was;
    const boxes = new Map(), lines = [];
    for (const child of inner.children) {
      if (child.dataset.line !== undefined) {
        const [from, to] = child.dataset.line.split(' ');
        const numbers = child.getAttribute('d').slice(1).split(' ').map(Number);
        const points = [];
        for (let at = 0; at < numbers.length; at += 2) points.push([numbers[at], numbers[at + 1]]);
        lines.push({ element: child, from, to, points });
      } else {
        const name = child.dataset.op ?? 'f' + child.dataset.frame;
        boxes.set(name, { element: child, ...translated(child), ...ownSize(child) });
      }
    }
    inner.was = { boxes, lines };
    return inner.was;
  }
  function ownSize(element) {
    const rect = element.querySelector(':scope > rect, :scope > circle');
    if (rect.tagName === 'circle') return { width: 2 * rect.getAttribute('r'), height: 2 * rect.getAttribute('r') };
    rect.wide ??= Number(rect.getAttribute('width'));
    rect.high ??= Number(rect.getAttribute('height'));
    return { width: rect.wide, height: rect.high };
  }
  function pictureSize(inner) {
    let width = 0, height = 0;
    const { boxes, lines } = picture(inner);
    for (const box of boxes.values()) { width = Math.max(width, box.x + box.width); height = Math.max(height, box.y + box.height); }
    for (const { points } of lines) for (const [x] of points) width = Math.max(width, x);
    return { width, height };
  }

  /// How large a box is now: a folded frame, one around a smaller picture, or as it was.
  function sizeNow(element) {
    const was = ownSize(element);
    const inner = element.querySelector(':scope > .in');
    if (element.classList.contains('folded')) {
      const [width, height] = element.dataset.folded.split(' ').map(Number);
      return { width, height };
    }
    if (inner?.now) {
      const before = pictureSize(inner), shrunk = { width: was.width - before.width + inner.now.width, height: was.height - before.height + inner.now.height };
      shrunk.width = Math.max(shrunk.width, Number(element.dataset.folded.split(' ')[0]));
      return shrunk;
    }
    const bodies = [...element.querySelectorAll(':scope > .body')];
    if (bodies.some((body) => body.querySelector(':scope > .in').now)) return bodiesNow(element, bodies, was);
    return was;
  }

  /// The bodies of a branch side by side, as large as they are now.
  function bodiesNow(element, bodies, was) {
    let x = AROUND, height = 0, tops = 0;
    for (const body of bodies) {
      const inner = body.querySelector(':scope > .in'), rect = body.querySelector(':scope > rect');
      const own = ownSize(body), before = pictureSize(inner), now = inner.now ?? before;
      body.at ??= translated(body);
      tops = body.at.y;
      const width = own.width - before.width + now.width, high = own.height - before.height + now.height;
      rect.setAttribute('width', width);
      rect.setAttribute('height', high);
      place(body, x, body.at.y);
      x += width + AROUND;
      height = Math.max(height, high);
    }
    return { width: Math.max(x, minimalWidth(element)), height: tops + height + AROUND };
  }
  const minimalWidth = (element) => Math.max(...[...element.querySelectorAll(':scope > text')].map((text) => text.textContent.length * 7 + 18));

  /// Places the boxes and lines of a frame by the sizes that boxes have now.
  function settlePicture(inner) {
    const { boxes, lines } = picture(inner);
    const all = [...boxes.values()];
    for (const box of all) box.now = sizeNow(box.element);
    // Layers: boxes with the same top.
    const layers = new Map();
    for (const box of all) {
      const layer = layers.get(box.y) ?? { top: box.y, high: 0, now: 0 };
      layer.high = Math.max(layer.high, box.height);
      layer.now = Math.max(layer.now, box.now.height);
      layers.set(box.y, layer);
    }
    const sorted = [...layers.values()].sort((one, other) => one.top - other.top);
    let saved = 0;
    for (const layer of sorted) {
      layer.topNow = layer.top - saved;
      saved += layer.high - layer.now;
    }
    const toY = (y) => {
      let low = 0, high = sorted.length;
      while (low < high) { const middle = (low + high) >> 1; if (sorted[middle].top <= y + 0.06) low = middle + 1; else high = middle; }
      const layer = sorted[low - 1];
      if (!layer) return y;
      const inside = y - layer.top;
      return layer.topNow + (inside >= layer.high - 0.06 ? inside - layer.high + layer.now : Math.min(inside, layer.now));
    };
    const toX = columns(all, lines);
    for (const box of all) {
      const x = toX(box.x + (box.width - box.now.width) / 2);
      box.at = { x, y: layers.get(box.y).topNow };
      place(box.element, round(box.at.x), round(box.at.y));
      resize(box);
    }
    let width = 0, height = 0;
    for (const box of all) { width = Math.max(width, box.at.x + box.now.width); height = Math.max(height, box.at.y + box.now.height); }
    for (const line of lines) {
      const points = moved(line, boxes.get(line.from), boxes.get(line.to), toX, toY);
      for (const [x] of points) width = Math.max(width, x);
      line.element.setAttribute('d', 'M' + points.map(([x, y]) => `${round(x)} ${round(y)}`).join(' '));
    }
    inner.now = { width, height };
  }
  const round = (value) => Math.round(value * 10) / 10;

  /// Takes room that nothing needs any more out of the width: a way from old to new places, on which nothing changes sides.
  function columns(boxes, lines) {
    const used = boxes.map((box) => { const x = box.x + (box.width - box.now.width) / 2; return [x, x + box.now.width]; });
    for (const { points } of lines) for (let at = 1; at + 1 < points.length; at += 1) used.push([points[at][0] - 4, points[at][0] + 4]);
    used.sort((one, other) => one[0] - other[0]);
    const cuts = [];
    let right = 0, saved = 0;
    for (const [from, to] of used) {
      const gap = from - right, keep = right === 0 && saved === 0 && cuts.length === 0 ? 0 : GAP_MIN;
      if (gap > keep) {
        saved += gap - keep;
        cuts.push([right, from, saved, keep / gap]);
      }
      right = Math.max(right, to);
    }
    return (x) => {
      let before = 0;
      for (const [from, to, sum, share] of cuts) {
        if (x >= to) { before = sum; continue; }
        if (x > from) return from - before + (x - from) * share;
        break;
      }
      return x - before;
    };
  }

  /// A line between two boxes that have moved.
  function moved({ points }, from, to, toX, toY) {
    const port = (box, x) => box.at.x + (x - box.x) / box.width * box.now.width;
    const last = points.length - 1, startX = points[0][0], endX = points[last][0];
    const out = port(from, startX), back = port(to, endX);
    const result = points.map(([x, y]) => [toX(x), toY(y)]);
    for (let at = 0; at < last && points[at][0] === startX; at += 1) result[at][0] = out;
    for (let at = last; at > 0 && points[at][0] === endX; at -= 1) result[at][0] = back;
    result[0] = [out, from.at.y + from.now.height];
    result[last] = [back, to.at.y];
    return result;
  }

  function resize(box) {
    const rect = box.element.querySelector(':scope > rect');
    if (!rect) return;
    rect.setAttribute('width', round(box.now.width));
    rect.setAttribute('height', round(box.now.height));
    const inner = box.element.querySelector(':scope > .in');
    if (inner?.now && !box.element.classList.contains('folded')) {
      place(inner, round((box.now.width - inner.now.width) / 2), translated(inner).y);
    }
  }

  // The page.

  const after = new View(byId('after'), data.report, derived.waits, 'after');
  const before = byId('before') ? new View(byId('before'), data.before, derived.waits_before, 'before') : null;
  let view = after;
  let picked = null;
  const graph = byId('graph'), details = byId('details'), search = byId('search'), results = byId('results');

  const name = (report, op) => { const node = report.nodes[op]; return node ? `${op} ${cut(node.name, 80)}` : String(op); };
  const go = (op, of = view) => make('button', { class: 'go mono', 'data-go': op, onclick: () => pick(op, of) }, name(of.report, op));
  const memoryName = (report, memory) => report.memories[memory]?.name ?? `memory ${memory}`;
  const DID = { read: 'reads', write: 'writes', read_write: 'reads and writes' };
  const WAITS = { full: 'begins when it is over', waits: 'is set up while it ends', signals: 'is set up while it runs' };

  function unpick() {
    document.querySelectorAll('.pick, .shares').forEach((element) => element.classList.remove('pick', 'shares'));
    document.querySelectorAll('.edge.into, .edge.outof').forEach((element) => element.classList.remove('into', 'outof'));
    picked = null;
  }

  /// Shows an op: in the drawing, in the other pictures, and all that is known of it.
  function pick(op, of = view, quiet = false) {
    if (!of.report.nodes[op]) return;
    if (of !== view) look(of);
    unpick();
    picked = op;
    const element = view.element(op);
    view.unfoldAround(element);
    element.classList.add('pick');
    for (const [earlier] of view.into[op]) view.line(earlier, op)?.classList.add('into');
    for (const [later] of view.out[op]) view.line(op, later)?.classList.add('outof');
    if (!quiet) view.reveal(element);
    tell(op);
    pickElsewhere(op);
    history.replaceState(null, '', `#op=${op}${view === before ? '&before' : ''}`);
    announce(`op ${name(view.report, op)}`);
  }

  function pickElsewhere(op) {
    if (view !== after) return;
    const timed = derived.op_of_node[op];
    document.querySelectorAll(`[data-timed="${timed}"]`).forEach((bar) => {
      bar.classList.add('pick');
      const strip = bar.closest('.strip');
      if (strip.offsetParent) intoView(strip, bar);
    });
    for (const { memory } of data.report.nodes[op].arguments) {
      if (memory !== undefined) document.querySelectorAll(`[data-memory="${memory}"]`).forEach((bar) => bar.classList.add('pick'));
    }
  }
  function intoView(strip, bar) {
    const around = strip.getBoundingClientRect(), rect = bar.getBoundingClientRect();
    if (rect.left < around.left || rect.right > around.right) strip.scrollLeft += rect.left - around.left - around.width / 3;
    if (rect.top < around.top || rect.bottom > around.bottom) strip.scrollTop += rect.top - around.top - around.height / 3;
  }
  const announce = (text) => { byId('status').textContent = text; };

  const row = (what, ...value) => make('tr', {}, make('th', { scope: 'row' }, what), make('td', {}, ...value));

  function tell(op) {
    const { report } = view, node = report.nodes[op];
    const parts = [make('h2', {}, cut(`${op} ${node.name}`, 2000)), make('p', { class: 'soft' }, [node.kind, view === before ? 'in the first recording' : null].filter(Boolean).join(', '))];
    const facts = [];
    if (node.label) facts.push(row('label', cut(node.label, 2000)));
    if (node.location) facts.push(row('source', make('code', { id: 'source' }, `${node.location.file}:${node.location.line}:${node.location.column}`)));
    if (node.geometry) facts.push(row('geometry', geometry(node.geometry)));
    if (node.inside) facts.push(row('inside', go(node.inside.node), ` body ${node.inside.body}`));
    facts.push(row('moves', `reads ${size(node.bytes_read)}, writes ${size(node.bytes_written)}`));
    if (report.critical_path.nodes.includes(op)) facts.push(row('critical', 'on the most expensive path by the cost model'));
    parts.push(make('table', { class: 'facts' }, ...facts));
    parts.push(...wrongs(op), ...changes(op), ...times(op));
    for (const warning of node.warnings ?? []) parts.push(make('p', { class: 'warning' }, `warning: ${warning}`));
    parts.push(...argumentsOf(node), ...declaration(node), ...waitsOf(op), ...calls(node));
    details.replaceChildren(...parts);
    details.scrollTop = 0;
  }

  function geometry({ blocks, threads, shared }) {
    const side = ([x, y, z]) => z !== 1 ? `${x}x${y}x${z}` : y !== 1 ? `${x}x${y}` : `${x}`;
    return `${side(blocks)} blocks of ${side(threads)} threads${shared ? `, ${size(shared)} of shared memory` : ''}`;
  }

  function argumentsOf(node) {
    if (!node.arguments.length) return [];
    const HOW = { baked: 'baked: never changes', slot: 'slot: its value at the last launch', derived: 'computed from the others' };
    const rows = node.arguments.map((argument) => {
      if (argument.memory === undefined) return row(cut(argument.name, 80), make('code', {}, cut(argument.value.text)), ' ', make('span', { class: 'soft' }, HOW[argument.how] ?? argument.how));
      const { start, end } = argument.bytes, memory = view.report.memories[argument.memory];
      const part = memory && start === 0 && end === memory.bytes ? `all ${size(end)}` : `bytes ${start}..${end} (${size(end - start)})`;
      const text = `${DID[argument.access] ?? argument.access} `;
      return row(cut(argument.name, 80), text, make('button', { class: 'go', onclick: () => tellMemory(argument.memory) }, cut(memoryName(view.report, argument.memory))), make('div', { class: 'soft' }, `${part}${argument.how === 'scalar' ? ', one value' : ''}`));
    });
    return [make('h3', {}, 'Arguments'), make('table', { id: 'arguments' }, ...rows)];
  }

  function declaration(node) {
    const kernel = node.kernel === undefined ? null : view.report.kernels?.[node.kernel];
    return kernel ? [make('h3', {}, 'Declaration'), make('pre', { id: 'declaration' }, kernel.declaration)] : [];
  }

  function waitsOf(op) {
    const parts = [make('h3', {}, 'Waits for')];
    const waits = view.waits[op] ?? [];
    if (!waits.length) parts.push(make('p', { class: 'soft' }, view.report.nodes[op].inside ? 'nothing in its body' : 'nothing'));
    for (const [on, kind, joined, reasons] of waits) {
      parts.push(make('div', { class: 'wait' }, go(on), make('span', { class: 'soft' }, ` ${WAITS[kind]}${joined ? ', through a join' : ''}`), ...why(reasons)));
    }
    const later = view.out[op].map(([to]) => to);
    if (later.length) {
      parts.push(make('h3', {}, 'Waited for by'), make('div', { class: 'later' }, ...later.slice(0, 64).map((to) => make('div', {}, go(to)))));
      if (later.length > 64) parts.push(make('p', { class: 'soft' }, `and ${later.length - 64} more`));
    }
    return parts;
  }
  function why(reasons) {
    if (!reasons.length) return [make('div', { class: 'why' }, 'no bytes in common: the order was asked for, or belongs to a branch')];
    return reasons.map(([memory, start, end, first, second]) => make('div', { class: 'why' }, `${cut(memoryName(view.report, memory), 120)} bytes ${start}..${end}: it ${DID[first]}, this ${DID[second]}`));
  }

  function calls(node) {
    if (!node.calls?.length && !node.patched_by) return [];
    const parts = [make('h3', {}, 'Driver calls'), make('div', { id: 'calls' }, ...(node.calls ?? []).map((call) => make('div', { class: 'mono' }, call)))];
    if (node.patched_by) parts.push(make('p', {}, make('code', {}, node.patched_by), make('span', { class: 'soft' }, ' where a slot has changed')));
    return parts;
  }

  const findingsAt = (op) => (data.findings ?? []).filter((_, at) => derived.findings[at].includes(op));
  function wrongs(op) {
    if (view !== after) return [];
    return findingsAt(op).map((finding) => make('div', { class: 'wrongness' }, make('pre', {}, finding.report)));
  }

  function changes(op) {
    const changed = derived.changes?.[view.side]?.[op];
    if (!changed) return [];
    if (!changed.length) return [make('p', { class: view === before ? 'minus' : 'plus' }, view === before ? 'only in the first recording' : 'only in the second recording')];
    return [make('h3', {}, 'Changed'), make('table', {}, ...changed.map(([what, from, to]) => row(cut(what, 80), make('div', { class: 'minus' }, cut(from)), make('div', { class: 'plus' }, cut(to)))))];
  }

  function times(op) {
    if (view !== after) return [];
    const timed = derived.op_of_node[op], rows = [];
    for (const [what, profile] of [['replay', data.profile], ['eager', data.eager]]) {
      const one = profile?.ops[timed];
      if (!one) continue;
      const runs = one.runs === 1 ? '' : one.runs === 0 ? ', did not run' : ` in ${one.runs} runs`;
      const gap = one.gap_ns ? `; ${duration(profile, one.gap_ns)} of gap before` : '';
      rows.push(row(what, `${duration(profile, one.time_ns)}${runs}${gap}${one.critical ? '; critical' : ''}`));
    }
    return rows.length ? [make('h3', {}, 'Time'), make('table', { id: 'times' }, ...rows)] : [];
  }

  /// A memory: who touches it, and what shares its bytes.
  function tellMemory(number) {
    const { report } = view, memory = report.memories[number];
    if (!memory) return;
    document.querySelectorAll('[data-memory].pick, [data-memory].shares').forEach((bar) => bar.classList.remove('pick', 'shares'));
    document.querySelectorAll(`[data-memory="${number}"]`).forEach((bar) => bar.classList.add('pick'));
    const parts = [make('h2', {}, cut(memory.name, 2000)), make('p', { class: 'soft' }, `${memory.kind.replace('_', '-')}, ${size(memory.bytes)}`)];
    if (memory.offset !== undefined) {
      parts.push(make('p', {}, `bytes ${memory.offset}..${memory.offset + memory.bytes} of the memory for temps`));
      const shares = report.memories.filter((other) => other.index !== number && other.offset !== undefined && other.offset < memory.offset + memory.bytes && memory.offset < other.offset + other.bytes);
      parts.push(make('h3', {}, 'Shares bytes with'));
      if (!shares.length) parts.push(make('p', { class: 'soft' }, 'nothing'));
      for (const other of shares.slice(0, 100)) {
        parts.push(make('div', {}, make('button', { class: 'go', onclick: () => tellMemory(other.index) }, cut(other.name))));
        document.querySelectorAll(`[data-memory="${other.index}"]`).forEach((bar) => bar.classList.add('shares'));
      }
    }
    if (memory.graph_only) parts.push(make('p', { class: 'warning' }, 'only the graph holds it: the program can neither prepare nor read it'));
    const users = report.nodes.filter((node) => node.arguments.some((argument) => argument.memory === number));
    parts.push(make('h3', {}, 'Touched by'), ...users.slice(0, 200).map((node) => {
      const did = node.arguments.filter((argument) => argument.memory === number).map((argument) => `${DID[argument.access]} ${argument.bytes.start}..${argument.bytes.end}`);
      return make('div', {}, go(node.index), make('span', { class: 'soft' }, ` ${cut(did.join('; '), 120)}`));
    }));
    if (users.length > 200) parts.push(make('p', { class: 'soft' }, `and ${users.length - 200} more`));
    details.replaceChildren(...parts);
  }

  function tellFrame(frame) {
    const ops = [...frame.querySelectorAll('[data-op]')].map((element) => Number(element.dataset.op)).filter((op) => view.report.nodes[op].kind !== 'join');
    const title = frame.querySelector(':scope > text').textContent;
    const isFolded = view.folded.has(frame);
    const sum = (of) => ops.reduce((total, op) => total + of(view.report.nodes[op]), 0);
    const parts = [make('h2', {}, title), make('p', {}, make('button', { id: 'toggle', onclick: () => { view.toggle(frame); tellFrame(frame); } }, isFolded ? 'Unfold (e)' : 'Fold (e)')),
      make('table', {}, row('moves', `reads ${size(sum((node) => node.bytes_read))}, writes ${size(sum((node) => node.bytes_written))}`))];
    parts.push(make('h3', {}, 'Ops'), ...ops.slice(0, 200).map((op) => make('div', {}, go(op))));
    if (ops.length > 200) parts.push(make('p', { class: 'soft' }, `and ${ops.length - 200} more`));
    details.replaceChildren(...parts);
  }

  function tellLine(line) {
    const edges = view.report.edges.filter(([from, to]) => view.line(from, to) === line);
    const parts = [make('h2', {}, plural(edges.length, 'edge'))];
    for (const [from, to, kind] of edges.slice(0, 100)) {
      const wait = (view.waits[to] ?? []).find(([on]) => on === from);
      parts.push(make('div', { class: 'wait' }, go(to), ' after ', go(from), make('div', { class: 'soft' }, WAITS[kind]), ...(wait ? why(wait[3]) : [])));
    }
    if (edges.length > 100) parts.push(make('p', { class: 'soft' }, `and ${edges.length - 100} more`));
    details.replaceChildren(...parts);
  }

  function tellAll() {
    const { report } = view, { totals } = report;
    const rows = [
      row('device', cut(report.device)), row('dacapo', report.dacapo),
      row('nodes', `${totals.nodes}: ${plural(totals.kernels, 'kernel')}, ${plural(totals.joins, 'join')}`),
      row('edges', `${totals.edges}${totals.edges_waiting || totals.edges_signalling ? `, ${totals.edges_waiting} waiting, ${totals.edges_signalling} signalling` : ''}`),
      row('one replay', `reads ${size(totals.bytes_read)}, writes ${size(totals.bytes_written)}`),
      row('memories', `${report.memories.length}, ${size(totals.bytes_memory)}`),
    ];
    details.replaceChildren(make('h2', {}, cut(report.label || 'graph', 2000)), make('table', {}, ...rows),
      make('h3', {}, 'Lines'), make('p', { class: 'soft' }, 'Solid: the second op begins when the first is over. Dashed: it is set up while the first ends. Dotted: while the first runs. Bold: the most expensive path by the cost model.'),
      make('h3', {}, 'Critical path'), make('div', {}, ...report.critical_path.nodes.slice(0, 100).map((op) => make('div', {}, go(op)))));
  }

  // Looking at one drawing or the other.

  function look(other) {
    if (!other || other === view) return;
    view = other;
    byId('after').hidden = view !== after;
    byId('before').hidden = view !== before;
    byId('switch').querySelectorAll('button').forEach((button) => button.setAttribute('aria-pressed', String((button.dataset.view === 'before') === (view === before))));
    unpick();
    if (!view.seen) { view.seen = true; view.begin(); } else view.show();
    tellAll();
    find(search.value);
  }
  byId('switch')?.addEventListener('click', (event) => { if (event.target.dataset.view) look(event.target.dataset.view === 'before' ? before : after); });

  // The mouse, and fingers.

  let drag = null;
  graph.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.target.closest('button')) return;
    drag = { x: event.clientX, y: event.clientY, moved: false, id: event.pointerId };
  });
  graph.addEventListener('pointermove', (event) => {
    if (!drag || drag.id !== event.pointerId) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    if (!drag.moved) { drag.moved = true; graph.setPointerCapture(event.pointerId); graph.classList.add('moving'); }
    view.pan(dx, dy);
    drag.x = event.clientX;
    drag.y = event.clientY;
  });
  const release = () => { setTimeout(() => { drag = null; }); graph.classList.remove('moving'); };
  graph.addEventListener('pointerup', release);
  graph.addEventListener('pointercancel', release);
  graph.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (event.shiftKey) view.pan(-event.deltaY, 0);
    else view.zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) / 400), { x: event.clientX, y: event.clientY });
  }, { passive: false });
  graph.addEventListener('click', (event) => {
    if (drag?.moved || event.target.closest('button')) return;
    const box = event.target.closest('[data-op], [data-frame]');
    const line = event.target.closest('[data-line]');
    if (line) { unpick(); line.classList.add('into'); tellLine(line); return; }
    if (box?.dataset.op !== undefined) pick(Number(box.dataset.op), view, true);
    else if (box) { unpick(); box.classList.add('pick'); view.toggle(box); tellFrame(box); }
    else { unpick(); tellAll(); history.replaceState(null, '', '#'); }
  });

  // The keyboard.

  const neighbours = { ArrowUp: (op) => view.into[op][0]?.[0], ArrowDown: (op) => view.out[op][0]?.[0], ArrowLeft: (op) => op - 1, ArrowRight: (op) => op + 1 };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
    const isTyping = event.target.matches('input, select, textarea');
    if (event.key === 'Escape') { search.value = ''; find(''); results.hidden = true; unpick(); tellAll(); graph.focus(); return; }
    if (isTyping) return;
    const isIn = document.activeElement === graph || document.activeElement === document.body;
    const act = {
      '/': () => { search.focus(); search.select(); }, f: () => view.fit(), '+': () => view.zoom(1.25), '=': () => view.zoom(1.25), '-': () => view.zoom(0.8),
      '?': () => byId('keys').showModal(), b: () => look(view === after ? before : after),
      e: () => { const frame = view.svg.querySelector('.label.pick') ?? (picked === null ? null : view.element(picked).closest('.label')); if (frame) { view.toggle(frame); unpick(); frame.classList.add('pick'); tellFrame(frame); } else foldButton(); },
    }[event.key];
    if (act) { event.preventDefault(); act(); return; }
    if (isIn && neighbours[event.key]) {
      event.preventDefault();
      if (event.shiftKey) view.pan(...{ ArrowUp: [0, 60], ArrowDown: [0, -60], ArrowLeft: [60, 0], ArrowRight: [-60, 0] }[event.key]);
      else { const next = picked === null ? 0 : neighbours[event.key](picked); if (next !== undefined) pick(next); }
    }
  });

  // Search.

  const haystacks = new Map();
  function haystack(of) {
    if (!haystacks.has(of)) {
      haystacks.set(of, of.report.nodes.map((node) => [node.index, node.kind, node.name, node.label, node.location ? `${node.location.file}:${node.location.line}` : '',
        ...node.arguments.map((argument) => argument.memory === undefined ? `${argument.name}=${cut(argument.value.text, 40)}` : `${argument.name} ${memoryName(of.report, argument.memory)}`)].join(' ').toLowerCase()));
    }
    return haystacks.get(of);
  }
  let hits = [], chosen = -1;
  function find(text) {
    const began = performance.now();
    for (const op of hits) view.element(op)?.classList.remove('hit');
    document.querySelectorAll('.op.hit').forEach((element) => element.classList.remove('hit'));
    const words = text.toLowerCase().split(' ').filter(Boolean);
    hits = [];
    chosen = -1;
    view.root.classList.toggle('searching', words.length > 0);
    if (!words.length) { results.hidden = true; byId('count').textContent = ''; return; }
    const all = haystack(view), number = /^#\d+$/.test(text) ? Number(text.slice(1)) : null;
    for (let op = 0; op < all.length; op += 1) {
      if (view.report.nodes[op].kind === 'join') continue;
      if (number === null ? words.every((word) => all[op].includes(word)) : op === number) hits.push(op);
    }
    for (const op of hits) view.element(op).classList.add('hit');
    byId('count').textContent = `${hits.length} of ${view.report.nodes.length}`;
    results.replaceChildren(...hits.slice(0, 50).map((op, at) => {
      const node = view.report.nodes[op];
      return make('li', { role: 'option', id: `hit-${at}`, 'data-hit': op, onclick: () => { pick(op); results.hidden = true; } }, `${name(view.report, op)}${node.label ? `  ${cut(node.label, 80)}` : ''}`);
    }));
    results.hidden = !hits.length;
    search.dataset.took = (performance.now() - began).toFixed(1);
  }
  search.addEventListener('input', () => find(search.value));
  search.addEventListener('focus', () => { results.hidden = !hits.length; });
  search.addEventListener('blur', () => setTimeout(() => { results.hidden = true; }, 150));
  search.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const count = results.children.length;
      if (!count) return;
      chosen = (chosen + (event.key === 'ArrowDown' ? 1 : count - (chosen < 0 ? 0 : 1))) % count;
      [...results.children].forEach((item, at) => item.setAttribute('aria-selected', String(at === chosen)));
      results.children[chosen].scrollIntoView({ block: 'nearest' });
      search.setAttribute('aria-activedescendant', `hit-${chosen}`);
    } else if (event.key === 'Enter' && hits.length) {
      chosen = Math.max(chosen, 0);
      pick(hits[chosen]);
      results.hidden = true;
    }
  });

  // Buttons, colours, tabs.

  function foldButton() {
    const isFolded = byId('fold').getAttribute('aria-pressed') !== 'true';
    byId('fold').setAttribute('aria-pressed', String(isFolded));
    byId('fold').textContent = isFolded ? 'Unfold labels' : 'Fold labels';
    unpick();
    view.foldAll(isFolded);
    view.begin();
  }
  byId('fold').addEventListener('click', foldButton);
  byId('fold').hidden = !document.querySelector('.label');
  byId('fit').addEventListener('click', () => view.fit());
  byId('larger').addEventListener('click', () => view.zoom(1.25));
  byId('smaller').addEventListener('click', () => view.zoom(0.8));
  byId('help').addEventListener('click', () => byId('keys').showModal());
  byId('colour').addEventListener('change', () => colour(byId('colour').value));
  function colour(by) {
    for (const one of [after, before].filter(Boolean)) {
      one.root.classList.toggle('by-kind', by === 'kind');
      one.root.classList.toggle('by-time', by === 'time');
    }
    byId('legend').textContent = by === 'time' ? 'redder: more of the time of all ops' : '';
    if (by !== 'time' || !data.profile || after.heated) return;
    after.heated = true;
    const most = Math.max(1, ...data.profile.ops.filter((op) => op.inside === null).map((op) => op.time_ns));
    data.report.nodes.forEach((node, at) => {
      const timed = data.profile.ops[derived.op_of_node[at]];
      if (timed) after.element(at).style.setProperty('--heat', `${Math.round(Math.min(1, timed.time_ns / most) * 85)}%`);
    });
  }

  const tabs = [...document.querySelectorAll('[role=tab]')];
  function tab(button) {
    const wasOpen = button.getAttribute('aria-selected') === 'true';
    for (const other of tabs) {
      const isOpen = other === button && !wasOpen;
      other.setAttribute('aria-selected', String(isOpen));
      byId(other.getAttribute('aria-controls')).hidden = !isOpen;
    }
    view.show();
  }
  tabs.forEach((button, at) => {
    button.addEventListener('click', () => tab(button));
    button.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.stopPropagation(); tabs[(at + step + tabs.length) % tabs.length].focus(); }
    });
  });
  byId('below').addEventListener('click', (event) => {
    const target = event.target.closest('[data-timed], [data-memory], [data-pick]');
    if (!target) return;
    if (target.dataset.timed !== undefined) pick(derived.node_of_op[target.dataset.timed], after);
    else if (target.dataset.memory !== undefined) { unpick(); tellMemory(Number(target.dataset.memory)); }
    else pick(Number(target.dataset.pick), target.dataset.of === 'before' ? before : after);
  });
  for (const range of document.querySelectorAll('input[data-stretch]')) {
    range.addEventListener('input', () => stretch(Number(range.value)));
  }
  /// The timeline so many times as wide: bars and marks by their place, texts as they are where there is room.
  function stretch(times) {
    for (const svg of document.querySelectorAll('.timeline svg')) {
      const left = Number(svg.dataset.left), width = Number(svg.dataset.wide);
      const at = (x) => left + (x - left) * times;
      svg.setAttribute('width', round(at(width)));
      svg.setAttribute('viewBox', `0 0 ${round(at(width))} ${svg.getAttribute('height')}`);
      for (const element of svg.querySelectorAll('[data-x]')) {
        const x = Number(element.dataset.x), w = Number(element.dataset.w ?? 0);
        if (element.tagName === 'rect') { element.setAttribute('x', round(at(x))); element.setAttribute('width', round(Math.max(w * times, 1))); }
        else { element.setAttribute('x', round(at(x) + 3)); element.style.display = element.dataset.w !== undefined && element.textContent.length * 6.2 + 6 > w * times ? 'none' : ''; }
      }
    }
  }

  // Begin.

  (data.findings ?? []).forEach((_, at) => derived.findings[at].forEach((op) => after.element(op)?.classList.add('wrong')));
  for (const one of [after, before].filter(Boolean)) {
    for (const [op, changed] of Object.entries(derived.changes?.[one.side] ?? {})) one.element(op)?.classList.add(changed.length ? 'changed' : one === before ? 'removed' : 'added');
  }
  if (data.report.nodes.length > 400 && document.querySelector('.label')) foldButton();
  new ResizeObserver(() => view.show()).observe(graph);
  after.seen = true;
  after.begin();
  tellAll();
  const first = tabs.find((button) => button.hasAttribute('data-open'));
  if (first) tab(first);
  const asked = /^#op=(\d+)(&before)?$/.exec(location.hash);
  if (asked) pick(Number(asked[1]), asked[2] ? before : after);
  document.documentElement.dataset.ready = 'yes';
})();

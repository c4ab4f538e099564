  // Where boxes and lines go when frames are folded.

  const translated = (element) => {
    const [x, y] = element.getAttribute('transform').slice(10, -1).split(' ').map(Number);
    return { x, y };
  };
  /// Sets an attribute; how it was written is remembered.
  function put(element, name, value) {
    element.written ??= {};
    element.written[name] ??= element.getAttribute(name);
    element.setAttribute(name, value);
  }
  /// As it was written.
  function restore(element) { for (const [name, value] of Object.entries(element.written ?? {})) element.setAttribute(name, value); }
  const place = (element, x, y) => put(element, 'transform', `translate(${x} ${y})`);

  /// Where each box is in the whole drawing, but for those in folded frames: its element, left and top.
  function spots(inner, x = 0, y = 0, all = []) {
    const at = translated(inner);
    for (const one of inner.children) {
      if (one.dataset.line !== undefined) continue;
      const spot = translated(one), left = x + at.x + spot.x, top = y + at.y + spot.y;
      all.push([one, left, top]);
      for (const part of one.children) {
        if (part.matches('.in') && !one.classList.contains('folded')) spots(part, left, top, all);
        if (part.matches('.body')) { const { x: dx, y: dy } = translated(part); spots(child(part, '.in'), left + dx, top + dy, all); }
      }
    }
    return all;
  }

  /// What is drawn in a frame as it was written, remembered.
  function picture(inner) {
    if (inner.was) return inner.was;
    const boxes = new Map(), lines = [];
    for (const one of inner.children) {
      if (one.dataset.line !== undefined) {
        const [from, to] = one.dataset.line.split(' ');
        const numbers = one.getAttribute('d').slice(1).split(' ').map(Number);
        const points = [];
        for (let at = 0; at < numbers.length; at += 2) points.push([numbers[at], numbers[at + 1]]);
        lines.push({ element: one, from, to, points });
      } else {
        const name = one.dataset.op ?? 'f' + one.dataset.frame;
        boxes.set(name, { element: one, ...translated(one), ...ownSize(one) });
      }
    }
    inner.was = { boxes, lines };
    return inner.was;
  }
  function ownSize(element) {
    const rect = child(element, 'rect, circle');
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
    const inner = child(element, '.in');
    if (element.classList.contains('folded')) {
      const [width, height] = element.dataset.folded.split(' ').map(Number);
      return { width, height };
    }
    if (inner?.now) {
      const before = pictureSize(inner), shrunk = { width: was.width - before.width + inner.now.width, height: was.height - before.height + inner.now.height };
      shrunk.width = Math.max(shrunk.width, Number(element.dataset.folded.split(' ')[0]));
      return shrunk;
    }
    const bodies = bodiesOf(element);
    if (bodies.some((body) => child(body, '.in').now)) return bodiesNow(element, bodies);
    for (const body of bodies) { restore(body); restore(child(body, 'rect')); }
    return was;
  }
  const bodiesOf = (element) => [...element.children].filter((one) => one.matches('.body'));

  /// The bodies of a branch side by side, as large as they are now.
  function bodiesNow(element, bodies) {
    let x = AROUND, height = 0, tops = 0;
    for (const body of bodies) {
      const inner = child(body, '.in'), rect = child(body, 'rect');
      const own = ownSize(body), before = pictureSize(inner), now = inner.now ?? before;
      body.at ??= translated(body);
      tops = body.at.y;
      const width = own.width - before.width + now.width, high = own.height - before.height + now.height;
      put(rect, 'width', round(width));
      put(rect, 'height', round(high));
      place(body, round(x), body.at.y);
      x += width + AROUND;
      height = Math.max(height, high);
    }
    return { width: Math.max(x, minimalWidth(element)), height: tops + height + AROUND };
  }
  /// As wide as its name. Letters that are not ASCII may be twice as wide.
  const minimalWidth = (element) => Math.max(...[...element.children].filter((one) => one.matches('text')).map((text) => columnsOf(text.textContent) * 7 + 18));
  const columnsOf = (text) => [...text].reduce((sum, one) => sum + (one <= '\u007f' || one === '…' ? 1 : 2), 0);

  /// Places the boxes and lines of a frame by the sizes that boxes have now.
  function settlePicture(inner) {
    const { boxes, lines } = picture(inner);
    const all = [...boxes.values()];
    for (const box of all) box.now = sizeNow(box.element);
    if (all.every((box) => box.now.width === box.width && box.now.height === box.height)) {
      // Nothing here has another size than at first: all goes back to where it was, to the last digit.
      lines.forEach((line) => restore(line.element));
      all.forEach((box) => { restore(box.element); resize(box); });
      inner.now = null;
      return;
    }
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
      layer.bottomNow = layer.topNow + layer.now;
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
      box.layer = layers.get(box.y);
      box.at = { x, y: box.layer.topNow };
      place(box.element, round(box.at.x), round(box.at.y));
      resize(box);
    }
    let width = 0, height = 0;
    for (const box of all) { width = Math.max(width, box.at.x + box.now.width); height = Math.max(height, box.at.y + box.now.height); }
    for (const line of lines) {
      const points = moved(line, boxes.get(line.from), boxes.get(line.to), toX, toY);
      for (const [x] of points) width = Math.max(width, x);
      put(line.element, 'd', 'M' + points.map(([x, y]) => `${round(x)} ${round(y)}`).join(' '));
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

  /// A line between two boxes that have moved. It stays upright below its first box and above its last, and goes with them.
  function moved({ points }, from, to, toX, toY) {
    const port = (box, x) => box.at.x + (x - box.x) / box.width * box.now.width;
    const last = points.length - 1, startX = points[0][0], endX = points[last][0];
    const out = port(from, startX), back = port(to, endX);
    const result = points.map(([x, y]) => [toX(x), toY(y)]);
    let upright = 0;
    for (let at = 0; at < last && points[at][0] === startX; at += 1) { result[at][0] = out; upright = at; }
    for (let at = last; at > 0 && points[at][0] === endX; at -= 1) result[at][0] = back;
    result[0] = [out, from.at.y + from.now.height];
    result[last] = [back, to.at.y];
    // Of the highest box of its layer it began below all others; of one that was folded it may not.
    if (upright === 0 && result[0][1] < from.layer.bottomNow) result.splice(1, 0, [out, from.layer.bottomNow]);
    return result;
  }

  function resize(box) {
    const rect = child(box.element, 'rect');
    if (!rect) return;
    put(rect, 'width', round(box.now.width));
    put(rect, 'height', round(box.now.height));
    const inner = child(box.element, '.in');
    if (!inner) return;
    if (inner.now && !box.element.classList.contains('folded')) place(inner, round((box.now.width - inner.now.width) / 2), translated(inner).y);
    else restore(inner);
  }


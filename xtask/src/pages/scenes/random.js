// A page of a random report, folded and unfolded here and there. What must hold of a drawing holds after every step; what does
// not is returned, in words.
(seed) => {
  const svg = document.querySelector('#after svg');
  const wrong = [];
  const child = (element, selector) => [...element.children].find((one) => one.matches(selector));
  const frames = [...svg.querySelectorAll('[data-frame]')];
  const isFolded = (frame) => frame.classList.contains('folded');
  const isShown = (element) => !element.parentNode.closest('.folded');
  const name = (element) => element.dataset.op ?? 'f' + element.dataset.frame;

  // Places as the browser has them, in units of the drawing: what one looks at does not matter.
  const matrix = (element) => svg.getScreenCTM().inverse().multiply(element.getScreenCTM());
  const point = (element, x, y) => new DOMPoint(x, y).matrixTransform(matrix(element));
  function rect(element) {
    const line = child(element, 'rect, circle'), { x, y, width, height } = line.getBBox();
    const from = point(line, x, y), to = point(line, x + width, y + height);
    return { left: from.x, top: from.y, right: to.x, bottom: to.y };
  }

  // Places are written to a tenth, one in the other.
  const SLACK = 0.35;
  const within = (a, b) => a.left >= b.left - SLACK && a.right <= b.right + SLACK && a.top >= b.top - SLACK && a.bottom <= b.bottom + SLACK;
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const text = (a) => [a.left, a.top, a.right, a.bottom].map((number) => number.toFixed(1)).join(' ');
  /// Whether a piece of a line is inside a box: what is outside is cut off, side by side.
  function runsThrough(from, to, box) {
    let enters = 0, leaves = 1;
    for (const [start, end, low, high] of [[from.x, to.x, box.left + SLACK, box.right - SLACK], [from.y, to.y, box.top + SLACK, box.bottom - SLACK]]) {
      if (start === end) { if (start <= low || start >= high) return false; continue; }
      const one = (low - start) / (end - start), other = (high - start) / (end - start);
      enters = Math.max(enters, Math.min(one, other));
      leaves = Math.min(leaves, Math.max(one, other));
    }
    return enters < leaves;
  }

  function checkLine(say, line, boxes, room) {
    const numbers = line.getAttribute('d').slice(1).split(' ').map(Number);
    const points = [];
    for (let at = 0; at < numbers.length; at += 2) points.push(point(line, numbers[at], numbers[at + 1]));
    const [from, to] = line.dataset.line.split(' ').map((end) => boxes.get(end));
    const first = points[0], last = points.at(-1), shown = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join(', ');
    say(Math.abs(first.y - from.bottom) < SLACK && first.x > from.left && first.x < from.right, `begins beside its box ${text(from)}: ${shown}`);
    say(Math.abs(last.y - to.top) < SLACK && last.x > to.left && last.x < to.right, `ends beside its box ${text(to)}: ${shown}`);
    for (let at = 1; at < points.length; at += 1) {
      say(points[at].y > points[at - 1].y - SLACK, `leads up: ${shown}`);
      for (const [other, box] of boxes) say(!runsThrough(points[at - 1], points[at], box), `runs through box ${other} at ${text(box)}: ${shown}`);
    }
    for (const { x, y } of points) say(!room || within({ left: x, right: x, top: y, bottom: y }, room), `leaves its frame ${room && text(room)}: ${shown}`);
  }

  function checkFrame(step, inner) {
    const say = (holds, what) => { if (!holds && wrong.length < 8) wrong.push(`${step}: ${what}`); };
    const boxes = new Map();
    // What is around the whole drawing is not an element.
    const room = inner.parentNode === svg ? null : rect(inner.parentNode);
    for (const one of [...inner.children].filter((one) => one.matches('[data-op], [data-frame]'))) {
      const box = rect(one);
      if (room) say(within(box, room), `box ${name(one)} at ${text(box)} leaves its frame ${text(room)}`);
      for (const [other, place] of boxes) say(!overlap(box, place), `boxes ${name(one)} and ${other} overlap: ${text(box)}, ${text(place)}`);
      boxes.set(name(one), box);
      const bodies = [...one.children].filter((part) => part.matches('.body')).map(rect);
      bodies.forEach((body, at) => {
        say(within(body, box), `a body of op ${name(one)} at ${text(body)} leaves its box ${text(box)}`);
        say(!bodies.slice(at + 1).some((other) => overlap(body, other)), `bodies of op ${name(one)} overlap`);
      });
    }
    for (const line of [...inner.children].filter((one) => one.matches('[data-line]'))) {
      checkLine((holds, what) => say(holds, `line ${line.dataset.line} ${what}`), line, boxes, room);
    }
  }
  function check(step) {
    for (const inner of svg.querySelectorAll('.in')) if (!inner.closest('.folded')) checkFrame(step, inner);
  }

  // As it is written: everything that is a place or a size.
  const written = () => [...svg.querySelectorAll('*')].map((element) => ['transform', 'd', 'width', 'height'].map((what) => element.getAttribute(what)));
  function same(step) {
    check(step);
    const now = written();
    const at = now.findIndex((element, at) => String(element) !== String(window.asOpened[at]));
    if (at >= 0) wrong.push(`${step}: element ${at} is ${now[at]}, and was ${window.asOpened[at]}`);
  }

  const click = (frame) => child(frame, 'text').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  let state = seed * 2654435761 + 12345;
  const below = (limit) => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor(state / 65536) % limit; };
  function unfoldAll() {
    for (let left = frames.find((frame) => isFolded(frame) && isShown(frame)); left; left = frames.find((frame) => isFolded(frame) && isShown(frame))) click(left);
  }

  if (!window.asOpened) {
    window.asOpened = written();
    check('as it was opened');
  } else {
    same('after a click and another');
  }
  for (let round = 0; round < 12 && frames.length; round += 1) {
    const shown = frames.filter(isShown), frame = shown[below(shown.length)];
    const before = isFolded(frame);
    click(frame);
    if (isFolded(frame) === before) wrong.push(`label ${name(frame)} is as it was`);
    check(`${round}, ${before ? 'unfolded' : 'folded'} ${name(frame)}, so that ${frames.filter(isFolded).map(name)} are`);
  }
  unfoldAll();
  same('all unfolded, one by one');
  return wrong;
}

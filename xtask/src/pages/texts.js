// What is wrong with the visible texts of a page, as a list of sentences. `texts.rs` says what counts.
() => {
  const SLACK = 2, CELL = 64, TOLD = 40;
  const named = e => {
    const kind = e.getAttribute("class");
    return `<${e.localName}${e.id ? "#" + e.id : ""}${kind ? "." + kind.trim().split(/\s+/).join(".") : ""}>`;
  };
  const said = text => {
    const line = text.trim().replace(/\s+/g, " ");
    return `"${line.length > 40 ? line.slice(0, 40) + ".." : line}"`;
  };
  const told = text => `${said(text.node.data)} in ${named(text.element)}`;
  const memo = make => {
    const known = new Map();
    return key => {
      if (!known.has(key)) known.set(key, make(key));
      return known.get(key);
    };
  };
  const style = memo(element => getComputedStyle(element));
  const boxOf = memo(element => element.getBoundingClientRect());
  const isDrawing = element => element instanceof SVGElement;
  const isOpen = element => element === document.documentElement || element === document.body;

  // The parts of the page that hold an element's content, from the inside. Each cuts off what is outside of it.
  const clipsOf = memo(element => {
    if (!element || isOpen(element)) return [];
    const outer = style(element).position === "fixed" ? [] : clipsOf(element.parentElement);
    if (isDrawing(element) && element.localName !== "svg") return outer;
    const { overflowX, overflowY, textOverflow } = style(element);
    if (overflowX === "visible" && overflowY === "visible") return outer;
    const box = boxOf(element);
    const hides = overflow => overflow === "hidden" || overflow === "clip";
    // A drawing may be moved in its window, so being cut at its edge is not a fault.
    const own = {
      element,
      left: overflowX === "visible" ? -Infinity : box.left,
      right: overflowX === "visible" ? Infinity : box.right,
      top: overflowY === "visible" ? -Infinity : box.top,
      bottom: overflowY === "visible" ? Infinity : box.bottom,
      hidesX: hides(overflowX) && textOverflow !== "ellipsis" && !isDrawing(element),
      hidesY: hides(overflowY) && !isDrawing(element),
    };
    return [own, ...outer];
  });
  // The element that lays out the lines a text is in; in a drawing every text is placed for itself.
  const blockOf = memo(element => {
    if (isDrawing(element) || isOpen(element)) return element;
    return style(element).display === "inline" ? blockOf(element.parentElement) : element;
  });
  // In a drawing `checkVisibility` and the boxes of a text know nothing of groups that are not displayed; the text itself does.
  const isPlaced = memo(element => !isDrawing(element) || (element.closest("text") ?? element).getClientRects().length > 0);
  const isShown = memo(
    element => isPlaced(element) && element.checkVisibility({ opacityProperty: true, visibilityProperty: true }));

  const found = [];
  let count = 0;
  const tell = sentence => {
    count += 1;
    if (found.length < TOLD) found.push(sentence());
  };

  const pieces = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walk.nextNode()) {
    const node = walk.currentNode, element = node.parentElement;
    if (!node.data.trim() || /^(script|style|title|desc|option|noscript|template)$/.test(element.localName)) continue;
    if (!isShown(element)) continue;
    range.selectNodeContents(node);
    const text = { node, element, block: blockOf(element), faulty: false };
    for (const line of range.getClientRects()) {
      let { left, top, right, bottom } = line;
      if (right - left < 1 || bottom - top < 1) continue;
      for (const clip of clipsOf(element)) {
        const gone = clip.left >= right || clip.right <= left || clip.top >= bottom || clip.bottom <= top;
        const cutX = clip.hidesX && (clip.left > left + SLACK || clip.right < right - SLACK);
        // The space above and below the letters may go.
        const spare = Math.max(SLACK, (bottom - top) * 0.2);
        const cutY = clip.hidesY && (clip.top > top + spare || clip.bottom < bottom - spare);
        if ((cutX || cutY) && !gone && !text.faulty) {
          text.faulty = true;
          tell(() => `${told(text)} is cut off by ${named(clip.element)}`);
        }
        [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)];
        [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)];
      }
      // To the left of the page and above it nobody can scroll.
      if (right + scrollX <= 0 || bottom + scrollY <= 0) continue;
      if (right - left > SLACK && bottom - top > SLACK) pieces.push({ text, left, top, right, bottom });
    }
    const { block } = text;
    if (!isDrawing(block) && !isOpen(block) && style(block).overflowX === "visible" && !text.faulty) {
      const all = range.getBoundingClientRect(), box = boxOf(block);
      if (box.width > 0 && (all.right > box.right + SLACK || all.left < box.left - SLACK)) {
        text.faulty = true;
        tell(() => `${told(text)} is wider than ${named(block)}`);
      }
    }
  }

  // A box that lies on top of the page and that one cannot look through: a menu, a note that follows the mouse.
  const isOpaque = memo(element => {
    if (isDrawing(element)) return false;
    const numbers = style(element).backgroundColor.match(/[\d.]+/g) || [];
    return numbers.length === 3 || Number(numbers[3]) >= 0.8;
  });
  const isOnTop = element => !isDrawing(element) && /absolute|fixed|sticky/.test(style(element).position);
  const covers = (upper, lower, area) => {
    let hides = false;
    for (let at = upper; at && !at.contains(lower); at = at.parentElement) {
      const box = boxOf(at);
      const holds =
        box.left <= area.left && box.right >= area.right && box.top <= area.top && box.bottom >= area.bottom;
      hides ||= holds && isOpaque(at);
      if (hides && isOnTop(at)) return true;
    }
    return false;
  };

  const grid = new Map(), pairs = new Set();
  pieces.forEach((piece, index) => (piece.index = index));
  const compare = (a, b) => {
    if (a.text === b.text || (a.text.block === b.text.block && !isDrawing(a.text.block))) return;
    const area = {
      left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
      top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
    };
    const high = Math.min(a.bottom - a.top, b.bottom - b.top);
    if (area.right - area.left <= SLACK || area.bottom - area.top <= Math.max(SLACK, high * 0.2)) return;
    const key = a.index < b.index ? `${a.index} ${b.index}` : `${b.index} ${a.index}`;
    if (pairs.has(key)) return;
    pairs.add(key);
    if (covers(a.text.element, b.text.element, area) || covers(b.text.element, a.text.element, area)) return;
    const [wide, tall] = [area.right - area.left, area.bottom - area.top].map(Math.round);
    tell(() => `${told(a.text)} and ${told(b.text)} overlap, ${wide} x ${tall} pixels at ` +
      `${Math.round(area.left)}, ${Math.round(area.top)}`);
  };
  for (const piece of pieces) {
    for (let row = Math.floor(piece.top / CELL); row <= Math.floor(piece.bottom / CELL); row++) {
      for (let column = Math.floor(piece.left / CELL); column <= Math.floor(piece.right / CELL); column++) {
        const key = row * 1e7 + column;
        const cell = grid.get(key);
        if (!cell) {
          grid.set(key, [piece]);
          continue;
        }
        // Of thousands in one place, the first few are enough to tell.
        if (count <= TOLD) for (const other of cell) compare(other, piece);
        cell.push(piece);
      }
    }
  }
  if (count > found.length) found.push("and more of the kind");
  return found;
}

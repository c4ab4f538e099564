// Where to click an element: the middle of what can be seen of it. Scrolls what a user can scroll until it is seen.
selector => {
  const element = document.querySelector(selector);
  if (!element) return { error: "nothing is selected" };
  const named = e => {
    const text = (e.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    const kind = e.getAttribute("class");
    const name = e.localName + (e.id ? "#" + e.id : "") + (kind ? "." + kind.trim().split(/\s+/).join(".") : "");
    return `<${name}>` + (text ? ` "${text}"` : "");
  };
  const root = document.scrollingElement;
  const above = e => {
    const list = [];
    for (let at = e; at && at !== root && at !== document.body; at = at.parentElement) {
      // What is fixed is clipped and scrolled by nothing but the window.
      if (getComputedStyle(at).position === "fixed") return list;
      if (at.parentElement && at.parentElement !== document.body) list.push(at.parentElement);
    }
    return list.filter(e => e !== root);
  };
  // Of an element of a drawing `overflow` says nothing, but of the drawing itself.
  const clips = (e, axis) => {
    if (e instanceof SVGElement && e.localName !== "svg") return false;
    return getComputedStyle(e)[axis] !== "visible";
  };
  const scrolls = (e, axis) => /auto|scroll/.test(getComputedStyle(e)[axis]);
  const parents = above(element);
  const seen = () => {
    const box = element.getBoundingClientRect();
    let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
    for (const parent of parents) {
      const clip = parent.getBoundingClientRect();
      if (clips(parent, "overflowX")) [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)];
      if (clips(parent, "overflowY")) [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)];
    }
    [left, right] = [Math.max(left, 0), Math.min(right, innerWidth)];
    [top, bottom] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
    return { left, top, right, bottom };
  };
  // A line has a box without height or width.
  const isSeen = box => box.right >= box.left && box.bottom >= box.top && (box.right > box.left || box.bottom > box.top);
  if (!element.checkVisibility({ visibilityProperty: true })) return { error: "it is not displayed" };
  const whole = element.getBoundingClientRect();
  if (whole.width === 0 && whole.height === 0) return { error: "it has no size" };
  if (!isSeen(seen())) {
    for (const parent of parents) {
      const [box, clip] = [element.getBoundingClientRect(), parent.getBoundingClientRect()];
      if (scrolls(parent, "overflowX")) parent.scrollLeft += (box.left + box.right - clip.left - clip.right) / 2;
      if (scrolls(parent, "overflowY")) parent.scrollTop += (box.top + box.bottom - clip.top - clip.bottom) / 2;
    }
    const box = element.getBoundingClientRect();
    root.scrollLeft += (box.left + box.right - innerWidth) / 2;
    root.scrollTop += (box.top + box.bottom - innerHeight) / 2;
  }
  const box = seen();
  if (!isSeen(box)) return { error: "nothing of it can be seen, and nothing can be scrolled to show it" };
  let [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  if (element instanceof SVGGeometryElement && getComputedStyle(element).fill === "none") {
    const middle = element.getPointAtLength(element.getTotalLength() / 2).matrixTransform(element.getScreenCTM());
    if (middle.x >= box.left && middle.x <= box.right && middle.y >= box.top && middle.y <= box.bottom) {
      [x, y] = [middle.x, middle.y];
    }
  }
  const hit = document.elementFromPoint(x, y);
  if (!hit) return { error: `there is nothing at ${x}, ${y}` };
  if (hit !== element && !element.contains(hit)) return { error: `${named(hit)} covers it at ${x}, ${y}` };
  return { x, y };
}

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

  // Buttons, colours, tabs.

  function foldButton() {
    const isFolded = byId('fold').getAttribute('aria-pressed') !== 'true';
    byId('fold').setAttribute('aria-pressed', String(isFolded));
    byId('fold').textContent = isFolded ? 'Unfold labels' : 'Fold labels';
    unpick();
    // The button says the same of either drawing; the other one begins anew when one looks at it.
    for (const one of [after, before].filter(Boolean)) { one.foldAll(isFolded); one.seen = one === view; }
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
    const most = data.profile.ops.filter((op) => op.inside === null).reduce((most, op) => Math.max(most, op.time_ns), 1);
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
    else if (target.dataset.memory !== undefined) { look(after); unpick(); tellMemory(Number(target.dataset.memory)); }
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
  // Shown only now: what is folded was never laid out.
  for (const one of [after, before].filter(Boolean)) one.root.classList.remove('opening');
  new ResizeObserver(() => view.show()).observe(graph);
  after.seen = true;
  after.begin();
  tellAll();
  const first = tabs.find((button) => button.hasAttribute('data-open'));
  if (first) tab(first);
  const asked = /^#op=(\d+)(&before)?$/.exec(location.hash);
  if (asked) pick(Number(asked[1]), (asked[2] && before) || after);
  document.documentElement.dataset.ready = performance.now().toFixed(0);
})();

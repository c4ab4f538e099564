  // Search.

  const haystacks = new Map();
  function haystack(of) {
    if (!haystacks.has(of)) {
      haystacks.set(of, of.report.nodes.map((node) => [node.index, node.kind, node.name, node.label, node.location ? `${node.location.file}:${node.location.line}` : '',
        ...node.arguments.map((argument) => argument.memory === undefined ? `${argument.name}=${cut(argument.value.text, 40)}` : `${argument.name} ${memoryName(of.report, argument.memory)}`)].join(' ').toLowerCase()));
    }
    return haystacks.get(of);
  }
  let hits = [], chosen = -1, painting = null;
  function find(text) {
    const words = text.toLowerCase().split(' ').filter(Boolean);
    hits = [];
    chosen = -1;
    const all = haystack(view), number = /^#\d+$/.test(text) ? Number(text.slice(1)) : null;
    for (let op = 0; words.length && op < all.length; op += 1) {
      if (view.report.nodes[op].kind === 'join') continue;
      if (number === null ? words.every((word) => all[op].includes(word)) : op === number) hits.push(op);
    }
    // The list is there at once. Of very many ops, the drawing follows when one has stopped typing.
    const ofView = view, ops = hits, isSearching = words.length > 0;
    clearTimeout(painting);
    if (view.isBig && isSearching) painting = setTimeout(() => paint(ofView, ops, true), 200);
    else paint(ofView, ops, isSearching);
    byId('count').textContent = isSearching ? `${hits.length} of ${view.report.nodes.length}` : '';
    results.replaceChildren(...hits.slice(0, 50).map((op, at) => {
      const node = view.report.nodes[op];
      return make('li', { role: 'option', id: `hit-${at}`, 'data-hit': op, onclick: () => { pick(op); results.hidden = true; } }, `${name(view.report, op)}${node.label ? `  ${cut(node.label, 80)}` : ''}`);
    }));
    list();
    search.setAttribute('aria-expanded', String(hits.length > 0));
  }
  /// Marks what was found in a drawing, and nothing else in any.
  function paint(of, ops, isSearching) {
    const found = new Set(ops.map((op) => of.element(op)));
    for (const element of document.querySelectorAll('.op.hit')) if (!found.has(element)) element.classList.remove('hit');
    for (const element of found) element.classList.add('hit');
    for (const one of [after, before].filter(Boolean)) one.root.classList.toggle('searching', isSearching && one === of);
  }
  /// Shows what is found: below where one types, as far as the window goes.
  function list() {
    results.hidden = !hits.length;
    results.style.left = '0';
    const beyond = results.getBoundingClientRect().right - innerWidth + 8;
    if (beyond > 0) results.style.left = `${-beyond}px`;
  }
  search.addEventListener('input', () => find(search.value));
  search.addEventListener('focus', list);
  search.addEventListener('blur', () => { results.hidden = true; });
  // A click in the list leaves the focus where it is: else the list would be gone before the button is released.
  results.addEventListener('mousedown', (event) => event.preventDefault());
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


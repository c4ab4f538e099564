  // What is known of an op, a memory, a label or a line.

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
    if (node.location) facts.push(row('source', make('code', { id: 'source' }, ...source(node.location))));
    if (node.geometry) facts.push(row('geometry', geometry(node.geometry)));
    if (node.inside) facts.push(row('inside', go(node.inside.node), ` body ${node.inside.body}`));
    if (node.across) facts.push(row('across', `device ${node.across.source} to device ${node.across.target}, ${node.across.route === 'direct' ? 'directly' : 'through memory of the host'}`));
    facts.push(row('moves', `reads ${size(node.bytes_read)}, writes ${size(node.bytes_written)}`));
    if (report.critical_path.nodes.includes(op)) facts.push(row('critical', 'on the most expensive path by the cost model'));
    parts.push(make('table', { class: 'facts' }, ...facts));
    parts.push(...wrongs(op), ...changes(op), ...times(op));
    for (const warning of node.warnings ?? []) parts.push(make('p', { class: 'warning' }, `warning: ${warning}`));
    parts.push(...argumentsOf(node), ...declaration(node), ...waitsOf(op), ...calls(node));
    details.replaceChildren(...parts);
    details.scrollTop = 0;
  }

  /// A place in a program, to be broken behind a folder.
  const source = ({ file, line, column }) => `${file}:${line}:${column}`.split(/(?<=\/)/).flatMap((part) => [part, make('wbr')]);

  function geometry({ blocks, threads, shared }) {
    const side = ([x, y, z]) => z !== 1 ? `${x}x${y}x${z}` : y !== 1 ? `${x}x${y}` : `${x}`;
    return `${plural(side(blocks), 'block')} of ${plural(side(threads), 'thread')}${shared ? `, ${size(shared)} of shared memory` : ''}`;
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

  function wrongs(op) {
    if (view !== after) return [];
    const told = (finding, at) => make('div', { class: 'wrongness' }, make('button', { class: 'go', 'data-finding': at, onclick: () => showFinding(at) }, `finding ${at + 1} of ${data.findings.length}`), make('pre', {}, finding.report));
    return (data.findings ?? []).flatMap((finding, at) => derived.findings[at].includes(op) ? [told(finding, at)] : []);
  }
  /// A finding in its list below the drawing.
  function showFinding(at) {
    if (byId('findings').hidden) tab(byId('tab-findings'));
    byId(`finding-${at}`).scrollIntoView({ block: 'nearest' });
    byId(`finding-${at}`).focus();
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
    if (memory.device !== undefined) parts.push(make('p', {}, `on device ${memory.device}`));
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
    const title = child(frame, 'text').textContent;
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


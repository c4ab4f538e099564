//! Which edges are programmatic.
//!
//! Behind a full edge a kernel begins when the one before it is over. Behind a programmatic edge it begins earlier: when all
//! blocks of the one before have signalled (`griddepcontrol.launch_dependents`) or ended. What a kernel may not see too
//! early, it must wait for itself (`griddepcontrol.wait`). Both instructions are put into kernels by
//! [`dacapo_ptx::variant`], when a module is loaded.
//!
//! # What must hold, for every choice
//!
//! An edge may be programmatic where all of these hold. `crates/suite/src/edges` tries every choice that they allow on small
//! graphs, with kernels that begin as early as they may; patches in `xtask/mutants/edges` take parts of the second away, one by
//! one, and are found. The others it cannot see: the driver refuses what breaks 1 and 6, nothing in a graph can change what 3
//! is about, and nobody says what 4 would mean.
//!
//! 1. **Both ends are kernels.** Nothing else can begin early, or signal.
//! 2. **The one behind waits before anything else, in every thread.** It begins with our wait. So nothing of it happens
//!    before all that comes before it is over, and its memory is visible: the kernel before it has waited likewise, and so
//!    on, back to the nearest full edge. An edge that a path implies may therefore still be left out, whatever the path is
//!    made of; and a kernel that is switched off passes on what it waits for (seen on an H200).
//!    A kernel with a wait of its own may be behind one, too, if its declaration says what it touches before that (`early`), and
//!    nothing before it in its level writes that: what others write, no launch of theirs still does, by the ledger.
//! 3. **The one behind reads no constant variables.** They are cached from where a kernel begins (seen: stale).
//! 4. **Neither is a cluster.** What a wait means in one is not said.
//! 5. **A kernel signals only if every edge out of it is programmatic.** So nobody who does not wait is ever behind a kernel
//!    that signals. An H200 was right without this rule, and so is the software driver: it is here for drivers to come.
//! 6. **The device is 9.0 or newer, and its driver knows kinds of edges.** Elsewhere modules are loaded as they are, and no
//!    kernel waits.
//!
//! A node keeps its function when it is patched or recorded again in place, so a kernel that does not wait never comes to
//! stand behind an edge that wants one which does.
//!
//! # What is worth it, by default
//!
//! Measured on an H200 (results/edges-h200.txt). A line of programmatic edges takes 0.77 to 0.83 of the time of full ones.
//! But a full edge behind a programmatic one costs 0.4 us more than behind another full one, and kernels that begin several
//! at once, or behind many, gain little or lose. So an edge is programmatic by default where
//!
//! - the kernel before it has no other edge out of it,
//! - the kernel behind it has at most four edges into it, and
//! - it does not stand alone: there is another such edge next to it, or no kernel behind the one that it leads to.
//!
//! Kernels of a guarded branch are few and have full edges around them: they never have enough of these next to each other.
//!
//! A graph that begins with two kernels or copies, which are joined somewhere, is launched 1.9 us faster than one that
//! begins with three, but only as long as all of its edges are full. There programmatic edges are put in only if at least ten
//! of them come one after the other: those make up for it. `dacapo-gpu shapes` has found this; with the rule, no graph of the
//! forms is slower than with full edges (results/shapes-h200.txt).
//!
//! Signals are never put in by default: whether they gain depends on the pair of kernels. [`Graph::tune`] measures that.
//!
//! [`Graph::tune`]: crate::Graph::tune

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::arrange::Level;
use crate::kernel::{Function, Grid};
use crate::memory::Extent;
use crate::plan::{Step, What};
use crate::record::{Node, Told, Work};

/// The kind of an edge between two kernels: [`Graph::edges`] lists them, [`Graph::tune`] chooses them.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, graph::Edge};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(2)?;
/// let graph = device.record(|r| (0..3).try_for_each(|i| r.run(fill(&mut y, baked(i)))))?;
/// assert!(graph.edges().iter().all(|(_, _, kind)| *kind == Edge::Full)); // fills are no kernels
/// # Ok(()) }
/// ```
///
/// [`Graph::edges`]: crate::Graph::edges
/// [`Graph::tune`]: crate::Graph::tune
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
pub enum Edge {
    /// The second begins when the first is over.
    Full,
    /// Programmatic: the second is set up while the first ends, and waits for it.
    Waits,
    /// Programmatic, and the first signals: the second is set up while the first runs, and waits for it.
    Signals,
}

impl Edge {
    /// What it is out of this node: a kernel whose signalling entry point the driver has refused only waits.
    pub(super) fn of(self, node: &Node) -> Edge {
        match (self, &node.work) {
            (Edge::Signals, Work::Kernel(kernel)) if kernel.function.cannot_signal() => Edge::Waits,
            (edge, _) => edge,
        }
    }
}

/// Two kernels with an edge between them.
pub(crate) struct Pair<'n> {
    /// Their numbers in the recording.
    pub(crate) numbers: (usize, usize),
    pub(crate) before: &'n Node,
    pub(crate) after: &'n Node,
    /// Their geometries as they were recorded, before they are lowered.
    pub(crate) grids: Option<(Grid, Grid)>,
}

/// Chooses the kind of an edge, told what would be usual.
pub(crate) type Chooser = dyn Fn(&Pair<'_>, Edge) -> Edge + Send + Sync;

/// How the kinds of edges are chosen, where there is a choice.
#[derive(Clone, Default)]
pub(crate) enum EdgeChoice {
    /// Where it is worth it on the whole.
    #[default]
    Usual,
    /// All are full.
    Plain,
    /// As somebody says, who is told what would be usual. Where that gives signals on some edges out of a kernel only, it does
    /// not signal.
    By(Arc<Chooser>),
}

/// The kinds of a level's edges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EdgeKinds {
    /// Whether each edge of the order is programmatic; empty if none is.
    early: Vec<bool>,
    /// The nodes whose kernels signal, ascending.
    signals: Vec<u32>,
}

/// The most edges into a kernel that are programmatic by default.
const INTO: usize = 4;

/// How many programmatic edges, one after the other, make up for a launch that is slower by them.
const WORTH_A_SLOWER_LAUNCH: u32 = 10;

impl EdgeKinds {
    /// Whether the edge of this number is programmatic.
    pub(crate) fn is_early(&self, edge: usize) -> bool {
        self.early.get(edge).copied().unwrap_or(false)
    }

    /// Whether the kernel of this node signals.
    pub(crate) fn signals(&self, node: usize) -> bool {
        !self.signals.is_empty() && self.signals.binary_search(&(node as u32)).is_ok()
    }

    /// The kind of the edge of this number out of a node.
    pub(super) fn kind(&self, edge: usize, before: usize) -> Edge {
        match (self.is_early(edge), self.signals(before)) {
            (false, _) => Edge::Full,
            (true, false) => Edge::Waits,
            (true, true) => Edge::Signals,
        }
    }

    /// Chooses the kinds of a level's edges.
    pub(super) fn choose(level: &Level, nodes: &[Node], told: &[Told], choice: &EdgeChoice) -> EdgeKinds {
        let chosen = match choice {
            EdgeChoice::Plain => return EdgeKinds::default(),
            EdgeChoice::Usual => usual(level, nodes),
            EdgeChoice::By(choose) => {
                let mut usual = usual(level, nodes).into_iter();
                each(level, nodes, told, |pair| {
                    let usual = usual.next().unwrap_or(Edge::Full);
                    pair.map_or(Edge::Full, |pair| choose(&pair, usual))
                })
            }
        };
        if chosen.iter().all(|edge| *edge == Edge::Full) {
            return EdgeKinds::default();
        }
        let signals = signalling(level, nodes, &chosen);
        EdgeKinds { early: chosen.into_iter().map(|edge| edge != Edge::Full).collect(), signals }
    }
}

/// The kernel that a step is, if it is one: its node's number and its function.
fn kernel<'n>(level: &Level, nodes: &'n [Node], step: u32) -> Option<(usize, &'n Function)> {
    let What::Op(op) = level.order.steps()[step as usize].what else { return None };
    let number = level.node(op);
    match &nodes[number].work {
        Work::Kernel(kernel) => Some((number, &*kernel.function)),
        _ => None,
    }
}

/// Something of each edge of a level, which is told its kernels where there is a choice.
pub(super) fn each<R>(
    level: &Level,
    nodes: &[Node],
    told: &[Told],
    mut of: impl FnMut(Option<Pair<'_>>) -> R,
) -> Vec<R> {
    let grid = |node: usize| Some(told.get(node)?.prepared()?.grid);
    let mut results = Vec::new();
    let sides = sides(level, nodes);
    let node = |step: usize| match level.order.steps()[step].what {
        What::Op(op) => level.node(op),
        What::Join => unreachable!("a join is on neither side of a choice"),
    };
    for (step, behind) in sides.iter().enumerate() {
        for &earlier in level.order.after(step) {
            results.push(of(match behind.may_follow && sides[earlier as usize].may_lead {
                true => {
                    let (one, other) = (node(earlier as usize), node(step));
                    let grids = grid(one).zip(grid(other));
                    Some(Pair { numbers: (one, other), before: &nodes[one], after: &nodes[other], grids })
                }
                false => None,
            }));
        }
    }
    results
}

/// What a step may be to its edges.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Whether an edge into it may be programmatic, and whether one out of it may.
    may_follow: bool,
    may_lead: bool,
    /// Whether it is neither kernels nor a join: what comes behind a kernel as dear as it ever is.
    is_copy: bool,
    /// Whether it is a kernel of a guarded branch.
    is_guarded: bool,
}

/// Of each step of a level.
fn sides(level: &Level, nodes: &[Node]) -> Vec<Side> {
    let mut controls = false;
    let of = |step: &Step| {
        let What::Op(op) = step.what else { return Side::default() };
        let kernel = match &nodes[level.node(op)].work {
            Work::Kernel(kernel) => kernel,
            Work::Branch(branch) if branch.is_guarded => return Side::default(),
            _ => return Side { is_copy: true, ..Side::default() },
        };
        controls |= kernel.function.controls();
        let (may_follow, may_lead) = (kernel.function.waits(), kernel.function.may_go_before());
        Side { may_follow, may_lead, is_copy: false, is_guarded: kernel.guard.is_some() }
    };
    let mut sides: Vec<Side> = level.order.steps().iter().map(of).collect();
    if controls {
        let mut written = Written::of(level, nodes);
        for (step, side) in sides.iter_mut().enumerate() {
            side.may_follow |= kernel(level, nodes, step as u32)
                .is_some_and(|(number, function)| function.controls() && written.spares(&nodes[number]));
            written.add(level, nodes, step);
        }
    }
    sides
}

/// What the steps so far write, where a kernel with a wait of its own asks for it.
struct Written {
    is_asked: bool,
    ranges: HashMap<u32, Vec<Range<usize>>>,
}

impl Written {
    fn of(level: &Level, nodes: &[Node]) -> Written {
        Written { is_asked: level.nodes().any(|node| nodes[node].early().is_some()), ranges: HashMap::new() }
    }

    fn add(&mut self, level: &Level, nodes: &[Node], step: usize) {
        let What::Op(op) = level.order.steps()[step].what else { return };
        if !self.is_asked {
            return;
        }
        for access in nodes[level.node(op)].access.iter().filter(|access| access.mode.writes()) {
            let Extent { allocation, start, bytes, .. } = &access.place;
            self.ranges.entry(allocation.number()).or_default().push(*start..start + bytes);
        }
    }

    /// Whether a kernel has said what it touches before its own wait, and nothing so far writes that.
    fn spares(&self, node: &Node) -> bool {
        let Some(early) = node.early() else { return false };
        let touched = node.access.iter().filter(|access| early.contains(&access.name)).map(|access| &access.place);
        !touched.into_iter().any(|place| {
            let ranges = self.ranges.get(&place.allocation.number());
            let meets = |range: &Range<usize>| range.start < place.start + place.bytes && place.start < range.end;
            ranges.is_some_and(|ranges| ranges.iter().any(meets))
        })
    }
}

/// Where it is worth it on the whole; empty where all are full.
fn usual(level: &Level, nodes: &[Node]) -> Vec<Edge> {
    let order = &level.order;
    let sides = sides(level, nodes);
    if !sides.iter().any(|side| side.may_follow) {
        return Vec::new();
    }
    let mut of = vec![Around::default(); sides.len()];
    (0..sides.len()).flat_map(|step| order.after(step)).for_each(|&before| of[before as usize].outs += 1);
    let mut kinds = Vec::with_capacity(order.edges());
    for (step, side) in sides.iter().enumerate() {
        let before = order.after(step);
        for &before_one in before {
            let one = &mut of[before_one as usize];
            let is_early = side.may_follow && !side.is_guarded && sides[before_one as usize].may_lead;
            if is_early && one.outs == 1 && before.len() <= INTO {
                one.on = true;
                of[step].from = true;
                kinds.push(Edge::Waits);
            } else {
                one.full_on |= !side.is_copy;
                kinds.push(Edge::Full);
            }
        }
    }
    for (step, around) in of.iter().enumerate() {
        if let &[before] = order.after(step)
            && !of[before as usize].from
            && !around.on
            && around.full_on
        {
            kinds[order.edges_into(step).start] = Edge::Full;
        }
    }
    match slows_the_launch(level, nodes) && longest(level, &kinds) < WORTH_A_SLOWER_LAUNCH {
        true => Vec::new(),
        false => kinds,
    }
}

/// Whether any programmatic edge makes the launch slower: where it begins with two kernels or copies, which are joined.
fn slows_the_launch(level: &Level, nodes: &[Node]) -> bool {
    let (order, mut begins, mut joins) = (&level.order, 0, false);
    for (number, step) in order.steps().iter().enumerate() {
        match (order.after(number).len(), step.what) {
            (0, What::Op(op)) => {
                // Seen: a fill or a conditional node there makes no difference.
                begins += u32::from(!matches!(nodes[level.node(op)].work, Work::Fill(_) | Work::Branch(_)));
                if begins > 2 {
                    return false;
                }
            }
            (edges, _) => joins |= edges > 1,
        }
    }
    begins == 2 && joins
}

/// The most programmatic edges that come one after the other.
fn longest(level: &Level, kinds: &[Edge]) -> u32 {
    let order = &level.order;
    let mut until = vec![0; order.steps().len()];
    for step in 0..until.len() {
        for (edge, &before) in order.edges_into(step).zip(order.after(step)) {
            let so_far = until[before as usize] + u32::from(kinds[edge] == Edge::Waits);
            until[step] = until[step].max(so_far);
        }
    }
    until.into_iter().max().unwrap_or(0)
}

/// The edges of a step.
#[derive(Clone, Default)]
struct Around {
    /// How many lead on.
    outs: u32,
    /// Whether a programmatic one leads to it, and whether one leads on.
    from: bool,
    on: bool,
    /// Whether a full one leads on, to a kernel or a join.
    full_on: bool,
}

/// The nodes that signal: every edge out of them says so. Guarded kernels never do, nor do those that touch variables of their
/// module: there is no such entry point.
fn signalling(level: &Level, nodes: &[Node], kinds: &[Edge]) -> Vec<u32> {
    let order = &level.order;
    if !kinds.contains(&Edge::Signals) {
        return Vec::new();
    }
    let (mut wanted, mut refused) = (vec![false; order.steps().len()], vec![false; order.steps().len()]);
    for step in 0..order.steps().len() {
        for (edge, &before) in order.edges_into(step).zip(order.after(step)) {
            let to = if kinds[edge] == Edge::Signals { &mut wanted } else { &mut refused };
            to[before as usize] = true;
        }
    }
    let signals = (0..order.steps().len()).filter(|step| wanted[*step] && !refused[*step]);
    let kernels = signals.filter_map(|step| kernel(level, nodes, step as u32)).map(|(number, _)| number);
    let may = |number: &usize| match &nodes[*number].work {
        Work::Kernel(kernel) => kernel.guard.is_none() && !kernel.function.cannot_signal(),
        _ => false,
    };
    let mut signals: Vec<u32> = kernels.filter(may).map(|number| number as u32).collect();
    signals.sort_unstable();
    signals
}

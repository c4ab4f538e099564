//! A launch of an executable graph: its nodes become tasks.
//!
//! What a launch runs is copied out of the executable first, so that a change between launches touches later ones only.
//! A conditional node becomes two tasks: a head that reads the condition when its turn comes and puts the tasks of
//! the chosen body behind itself, and a tail that waits for them and that the node's successors wait for. A WHILE reads its
//! condition again behind the body.
//!
//! A kernel behind a programmatic edge begins when its primary says so, and waits at `griddepcontrol.wait` until that is
//! over. What comes behind it comes behind both: a kernel that never waits is still not over before its primary. A kernel that is
//! switched off passes on what it would have begun behind, so what follows it may begin as early, and waits for as much (both
//! as an H200 was seen to do).

use std::collections::HashMap;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::CUgraphEdgeData;

use crate::exec::Grid;
use crate::finding::{Ending, Finding, FindingOp};
use crate::machine::State;
use crate::model::conditional::{Condition, Kind};
use crate::model::executable::{Body, ExecKind, ExecNode};
use crate::model::graph_memory::AllocWork;
use crate::model::objects::{Event, EventState};
use crate::model::table::Key;
use crate::model::tasks::{Signal, Task};
use crate::model::value_ops::{ValueOp, ValueWork};
use crate::model::work::{CopyWork, HostWork, KernelWork, SetWork, Work};
use crate::nccl::CollectiveWork;
use crate::schedule::Step;

/// What one launch runs.
pub(crate) struct Script {
    parts: Vec<Part>,
}

/// A node of a script.
struct Part {
    does: Does,
    /// How reports name it.
    number: u32,
    /// The parts that it comes after, by their place.
    before: Vec<(usize, CUgraphEdgeData)>,
    /// Nothing comes after it.
    is_leaf: bool,
}

/// What of a script a report about its memory asks for.
pub(crate) enum Piece<'s> {
    Kernel(&'s KernelWork),
    Copy(&'s CopyWork),
    Set(&'s SetWork),
}

/// What a part does.
enum Does {
    Nothing,
    /// A kernel that is switched off.
    Off,
    Kernel(Arc<KernelWork>),
    Copy(Arc<CopyWork>),
    Set(Arc<SetWork>),
    Host(HostWork),
    Alloc(Arc<AllocWork>),
    Free(u64),
    Values(Arc<ValueWork>),
    /// And whether its communicator had ended when this was launched.
    Collective(Arc<CollectiveWork>, bool),
    Record(Key<Event>),
    Wait(Key<Event>),
    Child(Script),
    Choose(Arc<Choice>),
}

/// A conditional node with the scripts of its bodies.
pub(crate) struct Choice {
    /// How reports name the node.
    pub(crate) number: u32,
    /// Whose it is, as far as that was told.
    pub(crate) by: Option<Arc<FindingOp>>,
    pub(crate) condition: Arc<Condition>,
    default: Option<u32>,
    kind: Kind,
    pub(crate) bodies: Vec<Script>,
}

/// The head of a conditional node, or a further round of its WHILE.
pub(crate) struct Branch {
    choice: Arc<Choice>,
    /// What the node's successors wait for.
    tail: Key<Task>,
    context: u64,
    rounds: u64,
}

impl Branch {
    /// Whose it is, as far as that was told.
    pub(crate) fn by(&self) -> Option<&Arc<FindingOp>> {
        self.choice.by.as_ref()
    }
}

impl Script {
    /// Copies what a launch of `body` runs.
    pub(crate) fn of(body: &Body) -> Script {
        let does = |node: &ExecNode| match &node.kind {
            ExecKind::Kernel(_) if !node.enabled => Does::Off,
            _ if !node.enabled => Does::Nothing,
            ExecKind::Empty => Does::Nothing,
            ExecKind::Kernel(work) => Does::Kernel(work.clone()),
            ExecKind::Copy(work) => Does::Copy(work.clone()),
            ExecKind::Set(work) => Does::Set(work.clone()),
            ExecKind::Host(work) => Does::Host(*work),
            ExecKind::Alloc(work) => Does::Alloc(work.clone()),
            ExecKind::Free(address) => Does::Free(*address),
            ExecKind::Child(body) => Does::Child(Script::of(body)),
            ExecKind::EventRecord(event) => Does::Record(*event),
            ExecKind::EventWait(event) => Does::Wait(*event),
            ExecKind::Values(work) => Does::Values(work.clone()),
            ExecKind::Collective(work) => Does::Collective(work.clone(), work.communicator.is_ended()),
            ExecKind::Conditional(condition, default, kind, bodies) => Does::Choose(Arc::new(Choice {
                number: node.number,
                by: node.by.clone(),
                condition: condition.clone(),
                default: *default,
                kind: *kind,
                bodies: bodies.iter().map(Script::of).collect(),
            })),
        };
        let part = |node: &ExecNode| {
            let (number, before) = (node.number, node.before.clone());
            Part { does: does(node), number, before, is_leaf: node.is_leaf }
        };
        Script { parts: body.nodes.iter().map(part).collect() }
    }

    /// Everything in it that writes memory, with the numbers of the nodes; in children and in bodies too.
    pub(crate) fn pieces<'s>(&'s self, all: &mut Vec<(u32, Piece<'s>)>) {
        for part in &self.parts {
            match &part.does {
                Does::Kernel(work) => all.push((part.number, Piece::Kernel(work))),
                Does::Copy(work) => all.push((part.number, Piece::Copy(work))),
                Does::Set(work) => all.push((part.number, Piece::Set(work))),
                Does::Child(script) => script.pieces(all),
                Does::Choose(choice) => choice.bodies.iter().for_each(|body| body.pieces(all)),
                _ => {}
            }
        }
    }

    /// All conditions, each with its default.
    fn defaults(&self, all: &mut Vec<(Arc<Condition>, Option<u32>)>) {
        for part in &self.parts {
            match &part.does {
                Does::Child(script) => script.defaults(all),
                Does::Choose(choice) => {
                    all.push((choice.condition.clone(), choice.default));
                    choice.bodies.iter().for_each(|body| body.defaults(all));
                }
                _ => {}
            }
        }
    }

    /// What stands before everything else of a launch: conditions take their defaults.
    pub(crate) fn begin(&self) -> Work {
        let mut defaults = Vec::new();
        self.defaults(&mut defaults);
        if defaults.is_empty() { Work::Nothing } else { Work::Defaults(defaults) }
    }
}

/// What a kernel comes after.
struct Begin {
    /// It begins when these are done.
    after: Vec<Key<Task>>,
    /// And when these have given their signal: end, kernel and signal of each. At its wait it waits for the ends.
    early: Vec<Early>,
}

type Early = (Key<Task>, Key<Task>, Signal);

impl Begin {
    /// All that it comes after, which nobody who waits may overtake.
    fn all(&self) -> Vec<Key<Task>> {
        self.after.iter().copied().chain(self.early.iter().map(|(end, _, _)| *end)).collect()
    }
}

/// What a kernel comes after, through kernels that are switched off.
fn begin(part: &Part, tasks: &[Key<Task>], begins: &HashMap<usize, Begin>, start: &[Key<Task>]) -> Begin {
    let mut begin = Begin { after: Vec::new(), early: Vec::new() };
    for (at, data) in &part.before {
        match begins.get(at).filter(|_| data.from_port != 0) {
            Some(before) => {
                begin.after.extend_from_slice(&before.after);
                let signal = Signal::of_port(data.from_port);
                // Of two ports on the way, the one that comes first.
                begin.early.extend(before.early.iter().map(|(end, kernel, other)| (*end, *kernel, signal.min(*other))));
            }
            None => begin.after.push(tasks[*at]),
        }
    }
    if part.before.is_empty() {
        begin.after.extend_from_slice(start);
    }
    let early = &begin.early;
    begin.after.retain(|task| !early.iter().any(|(end, _, _)| end == task));
    begin
}

impl Signal {
    /// What an edge out of this port of a kernel node waits for (`CU_GRAPH_KERNEL_NODE_PORT_*`).
    pub(crate) fn of_port(port: u8) -> Signal {
        if port == 2 { Signal::Begun } else { Signal::Triggered }
    }
}

impl State {
    /// Puts the parts of a script into the order, its roots behind `start`; the answer is what its end comes after.
    pub(crate) fn enqueue(&mut self, script: &Script, start: &[Key<Task>], context: u64) -> Vec<Key<Task>> {
        let mut tasks: Vec<Key<Task>> = Vec::with_capacity(script.parts.len());
        // What a part behind each kernel may begin behind, where the task above is what its successors wait for.
        let mut begins: HashMap<usize, Begin> = HashMap::new();
        let mut ends = Vec::new();
        for (place, part) in script.parts.iter().enumerate() {
            self.tasks.come_to_node(part.number);
            let mut after: Vec<_> = part.before.iter().map(|(at, _)| tasks[*at]).collect();
            if after.is_empty() {
                after.extend_from_slice(start);
            }
            let work = match &part.does {
                Does::Nothing => Work::Nothing,
                Does::Kernel(_) | Does::Off => {
                    let Begin { after, early } = begin(part, &tasks, &begins, start);
                    let Does::Kernel(work) = &part.does else {
                        let begin = Begin { after, early };
                        let end = self.tasks.add(Work::Nothing, context, begin.all());
                        begins.insert(place, begin);
                        tasks.push(end);
                        ends.extend(part.is_leaf.then_some(end));
                        continue;
                    };
                    let (kernel, end) = self.add_kernel(work.clone(), context, after, &early);
                    begins.insert(place, Begin { after: Vec::new(), early: vec![(end, kernel, Signal::Triggered)] });
                    tasks.push(end);
                    if part.is_leaf {
                        ends.push(end);
                    }
                    continue;
                }
                Does::Copy(work) => Work::Copy(work.clone()),
                Does::Set(work) => Work::Set(work.clone()),
                Does::Host(work) => Work::Host(*work),
                Does::Alloc(work) => Work::GraphAlloc(work.clone()),
                Does::Free(address) => Work::GraphFree { address: *address },
                Does::Values(work) => Work::Values(work.clone(), 0),
                Does::Collective(work, was_ended) => self.collective(work, *was_ended),
                Does::Record(event) => Work::Record(*event, self.number()),
                Does::Wait(event) => {
                    let recorded = self.events.get(*event).map(|event| event.recorded.clone());
                    if let Some(EventState::Stream { task, .. } | EventState::Graph { task: Some(task), .. }) = recorded
                    {
                        after.push(task);
                    }
                    Work::Nothing
                }
                Does::Child(script) => {
                    let ends = self.enqueue(script, &after, context);
                    // A child without nodes still stands in the order.
                    after = if ends.is_empty() { after } else { ends };
                    Work::Nothing
                }
                Does::Choose(choice) => {
                    let head = self.tasks.add(Work::Nothing, context, after);
                    let tail = self.tasks.add(Work::Nothing, context, [head]);
                    let branch = Branch { choice: choice.clone(), tail, context, rounds: 0 };
                    if let Some(head) = self.tasks.get_mut(head) {
                        (head.by, head.work) = (choice.by.clone(), Work::Branch(branch));
                    }
                    tasks.push(tail);
                    if part.is_leaf {
                        ends.push(tail);
                    }
                    continue;
                }
            };
            let recorded = if let Work::Record(event, number) = &work { Some((*event, *number)) } else { None };
            let task = self.tasks.add(work, context, after);
            if let Some((event, number)) = recorded
                && let Some(event) = self.events.get_mut(event)
            {
                event.recorded = EventState::Graph { number, task: Some(task), time_ns: None };
            }
            if part.is_leaf {
                ends.push(task);
            }
            tasks.push(task);
        }
        ends
    }

    /// Adds a kernel behind `after`, and early behind kernels that it may overlap with: `(end, kernel, signal)` of each. The
    /// answer is the kernel, and what its successors wait for.
    pub(crate) fn add_kernel(
        &mut self,
        work: Arc<KernelWork>,
        context: u64,
        after: Vec<Key<Task>>,
        early: &[(Key<Task>, Key<Task>, Signal)],
    ) -> (Key<Task>, Key<Task>) {
        let primaries: Vec<_> = early.iter().map(|(end, _, _)| *end).collect();
        let signals = early.iter().map(|(_, kernel, signal)| (*kernel, *signal));
        let kernel = self.tasks.add_early(Work::Kernel(work), context, after, signals);
        if primaries.is_empty() {
            return (kernel, kernel);
        }
        if let Some(task) = self.tasks.get_mut(kernel) {
            task.primaries = primaries.clone();
        }
        let end = self.tasks.add(Work::Nothing, context, primaries.into_iter().chain([kernel]));
        (kernel, end)
    }

    /// A conditional node's turn has come: the body that its value chooses runs before its tail.
    pub(crate) fn run_branch(&mut self, key: Key<Task>, branch: Branch) {
        let Branch { choice, tail, context, mut rounds } = branch;
        let value = choice.condition.value();
        let chosen = choice.kind.choose(value, choice.bodies.len());
        let word = choice.kind.word();
        if !choice.condition.is_given() && self.options.detectors.uninitialised {
            let what = format!("{word} by a condition that nobody has given a value in this launch");
            let finding = Finding::new("unset-condition", Ending::YourProgram, what)
                .at("cuGraphLaunch", "a conditional node reads it")
                .by(choice.by.as_ref())
                .note("its handle has no default, and what an earlier launch left there does not count")
                .help("make the handle with CU_GRAPH_COND_ASSIGN_DEFAULT, or let a kernel before the node set it");
            self.find(finding);
        }
        self.note(|| match chosen {
            Some(body) => format!("{word} by {value}: body {body}"),
            None => format!("{word} by {value}: nothing"),
        });
        if let Some(body) = chosen {
            if rounds >= self.options.rounds_max.max(1) {
                if !self.may_wait_for_host(&choice) {
                    let finding = self.endless_while(&choice, rounds);
                    return self.break_device(key, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, finding);
                }
                rounds = 0;
            }
            // What is made now comes after this task, and from where it came from.
            self.tasks.come_after(Some(key));
            let mut ends = self.enqueue(&choice.bodies[body], &[], context);
            if choice.kind == Kind::While {
                let again = Branch { choice: choice.clone(), tail, context, rounds: rounds + 1 };
                ends = vec![self.tasks.add(Work::Branch(again), context, ends)];
            }
            self.tasks.hold(tail, ends);
            self.tasks.come_after(None);
        }
        self.time_ns += 1_000;
        self.tasks.finish(key);
    }

    /// A kernel has set a condition.
    pub(crate) fn set_condition(&mut self, handle: u64, value: u32, kernel: &Grid) {
        match self.graphs.conditions.get(&handle).and_then(std::sync::Weak::upgrade) {
            Some(condition) => condition.set(value),
            None => self.find(
                Finding::new(
                    "stale-condition",
                    Ending::YourProgram,
                    format!(
                        "`{}` sets the condition {handle:#x}, and there is none of that name",
                        kernel.launch().label
                    ),
                )
                .by(kernel.by())
                .note("on a GPU this writes to whatever the handle names by now")
                .help("pass a handle of cuGraphConditionalHandleCreate whose graph, or an executable of it, is alive"),
            ),
        }
    }

    /// Does the operations of a batch from number `at` on, up to a wait that is not over.
    pub(crate) fn run_values(&mut self, key: Key<Task>, work: Arc<ValueWork>, mut at: usize) -> Step {
        let began = at;
        self.look_for(work.on);
        while let Some(op) = work.ops.get(at) {
            let done = match *op {
                ValueOp::Fence => Ok(()),
                ValueOp::Write { address, value, bytes } => {
                    self.note(|| format!("write {value} to {bytes} bytes"));
                    self.watch_value_write(key, address, bytes);
                    self.memory.write(address, &value.to_le_bytes()[..bytes as usize])
                }
                ValueOp::Wait { address, value, bytes, how } => {
                    let mut word = [0; 8];
                    let read = self.memory.read(address, &mut word[..bytes as usize]);
                    let seen = u64::from_le_bytes(word);
                    if read.is_ok() && !ValueOp::is_over(how, bytes, seen, value) {
                        self.look_away();
                        return self.value_is_awaited(key, work, at, began, (address, seen, value));
                    }
                    self.watch_value_wait(key, address);
                    read
                }
            };
            if done.is_err() {
                self.end_memory_work(key, done, "memory operation of a stream");
                return Step::Moved;
            }
            at += 1;
        }
        self.look_away();
        self.polls = 0;
        self.time_ns += 300;
        self.tasks.finish(key);
        Step::Moved
    }

    fn value_is_awaited(
        &mut self,
        key: Key<Task>,
        work: Arc<ValueWork>,
        at: usize,
        began: usize,
        (address, seen, value): (u64, u64, u64),
    ) -> Step {
        if at > began {
            self.polls = 0;
        }
        if self.looked_in_vain() {
            let place = self.memory.describe(address);
            let what =
                format!("a stream waits for {value} at {address:#x} ({place}), which holds {seen} and nobody changes");
            self.end_wait(key, what);
            return Step::Moved;
        }
        if let Some(task) = self.tasks.get_mut(key) {
            task.work = Work::Values(work, at);
        }
        self.polled()
    }
}

//! A program as plain data.
//!
//! - Every object has a name of its own, a number, which no other object of the program ever has.
//! - What the borrow checker would refuse is not said by these types: [`Model::step`](super::Model::step) refuses it,
//!   and the generator and the shrinker keep only steps that the model takes.
//! - Whether a step succeeds is not in the data: the model predicts it.

use dacapo_driver::{CUresult, Call, Effect};

use super::model::Model;
use super::numbers::Type;

/// The name of an object.
pub type Name = u16;

/// A random program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Decides the machine's choices and the order of the drops at the end.
    pub seed: u64,
    /// Whether the machine's time is the wall clock.
    pub live: bool,
    /// Whether the driver is one of CUDA 12.4, which has neither ELSE nor SWITCH.
    pub old: bool,
    /// Whether the device is idle when the drops at the end begin.
    pub quiet: bool,
    /// A driver call that fails.
    pub strike: Option<Strike>,
    /// The steps of a program without threads, or those before the threads start.
    pub before: Vec<Step>,
    /// The steps of each thread; none in a program without threads.
    pub threads: Vec<Vec<Step>>,
    /// The steps after the threads have ended.
    pub after: Vec<Step>,
}

/// One driver call fails: the `nth` of its kind, from 1, counted from the opening of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// The call.
    pub call: Call,
    /// Which of them.
    pub nth: u64,
    /// What it answers.
    pub code: CUresult,
    /// What holds then.
    pub effect: Effect,
}

/// Memory that an op or a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedMemory {
    /// A buffer.
    Buffer(Name),
    /// A scalar.
    Scalar(Name),
    /// An output of a graph, by its number; only to be read.
    Result(Name, u8),
    /// A temp of this recording.
    Temp(u8),
    /// An output of this recording.
    Output(u8),
    /// A stand-in that is read.
    In(u8),
    /// A stand-in that is written.
    Out(u8),
    /// What a loop of this recording did: how many rounds, and whether its bound ended it; only to be read.
    Rounds(u8),
    /// The number of the round that runs; only to be read.
    Round(u8),
}

/// Some elements of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Of what.
    pub place: NamedMemory,
    /// The first.
    pub start: u8,
    /// How many.
    pub len: u8,
}

impl Part {
    /// The element behind the last.
    pub fn end(self) -> u8 {
        self.start + self.len
    }

    /// Whether the two have an element in common.
    pub fn overlaps(self, other: Part) -> bool {
        self.place == other.place && self.start < other.end() && other.start < self.end()
    }
}

/// A number that is given by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Frozen.
    Baked(u32),
    /// From a slot.
    Slot(Name),
}

/// What a condition compares, or a loop counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// An element of memory.
    At(NamedMemory, u8),
    /// A number on the device.
    Number(Name),
    /// A slot, of whatever type.
    Slot(Name),
    /// The bits of a constant.
    Baked(u64),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `==`
    Equal,
    /// `!=`
    Differs,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Two numbers of one type are compared.
    Compare(Compare, Type, Side, Side),
    /// Both hold.
    And(Box<Term>, Box<Term>),
    /// One of them holds.
    Or(Box<Term>, Box<Term>),
    /// It does not hold.
    Not(Box<Term>),
}

/// What decides whether a loop has another round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// `repeat`: a condition behind each round, and a bound.
    Behind(Term, Option<Side>),
    /// `repeat_while`: a condition before each round, and a bound.
    Before(Term, Option<Side>),
    /// `repeat_times`: a number.
    Times(Side),
}

/// How a closure ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With its outputs.
    Good,
    /// With an error of its own.
    Error,
    /// With a panic, which is caught.
    Panic,
}

/// A call inside a recording that would act now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eager {
    /// `device.synchronize()`
    Device,
    /// `stream.synchronize()`
    Stream(Name),
    /// `stream.read(..)`, and a part
    Read(Name, Part),
    /// `host.to_vec()`
    Host(Name),
}

/// One line of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A temp.
    Alloc(u8, u8),
    /// An output.
    Output(u8, u8),
    /// y ← x
    Copy(Part, Part),
    /// y ← value
    Fill(Value, Part),
    /// y ← host
    Upload(Name, Part),
    /// host ← x
    Download(Part, Name),
    /// y ← a + b
    Add(Part, Part, Part),
    /// y ← 3y + x
    Mix(Part, Part),
    /// y ← y·by
    Scale(Part, Part),
    /// y ← Σx
    Sum(Part, Part),
    /// y\[..count\] ← y\[..count\] + 1
    First(Value, Part),
    /// y ← x\[offset..\]
    Window(Value, Part, Part),
    /// y ← value, by a kernel
    Put(Value, Part),
    /// y ← y + 1
    Bump(Part),
    /// y ← random words
    Words(Name, Part),
    /// All ops of a graph.
    Replay(Name),
    /// A slot is set while this is recorded.
    SetSlot(Name, u32),
    /// A value is kept.
    Keep,
    /// A call that would act now; whether its refusal is passed on.
    Eager(Eager, bool),
    /// An op of several that fails or panics at its end, caught inside: the recording goes on without it.
    Attempt(Vec<Op>, End),
    /// A loop, with the name of what it leaves behind.
    Loop(u8, Asks, Vec<Op>),
    /// A branch, and what runs otherwise.
    When(Term, Vec<Op>, Option<Vec<Op>>),
    /// The body of a number.
    Switch(Side, Vec<Vec<Op>>),
    /// A way out of a loop.
    Leave(Term),
    /// The number of the round that runs gets a name.
    Round(u8),
    /// number ← a constant or a slot of its type
    SetNumber(Name, Type, Side),
}

/// What a closure records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its lines.
    pub ops: Vec<Op>,
    /// How it ends.
    pub end: End,
}

/// Options of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// The pool it joins.
    pub pool: Option<Name>,
    /// The arena its temps lie in.
    pub arena: Option<Name>,
    /// Each temp has memory of its own.
    pub apart: bool,
    /// One op after the other.
    pub line: bool,
    /// Brought onto the device at once.
    pub uploaded: bool,
    /// Small branches become guarded kernels.
    pub guarded: bool,
    /// Run eagerly first.
    pub warm: Option<Warm>,
}

/// A warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warm {
    /// So many runs.
    pub runs: u8,
    /// Whether what they wrote is put back.
    pub restored: bool,
    /// Whether nothing may be saved at all.
    pub capped: bool,
}

/// How a launch is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not.
    Not,
    /// `launch_sync`
    Sync,
    /// `launch`, then `wait`
    Later,
    /// `submit`, then `wait` on the ticket
    Ticket,
    /// `submit`, then `await` on the ticket
    Await,
}

/// What stands in the rows of a bucket that a request does not fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Zeros.
    Zero,
    /// This.
    Value(u32),
    /// The last row.
    Last,
    /// What was there.
    Keep,
}

/// What a budget is too small for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greedy {
    /// Nothing: it fits.
    Fits,
    /// A buffer.
    Buffer,
    /// A host buffer.
    Host,
    /// An arena.
    Arena,
    /// An output of a recording.
    Output,
}

/// What is tried with a second device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    /// Its memory is read on a stream of ours.
    Read(Name),
    /// Its memory is copied from in an eager run.
    Copy(Name, Part),
    /// A graph of ours is launched on its stream.
    Launch(Name),
    /// Its pool is joined.
    Pool,
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A buffer with these elements.
    Buffer(Name, Vec<u32>),
    /// A buffer of zeros.
    Zeros(Name, u8),
    /// A scalar.
    Scalar(Name, u32),
    /// A host buffer.
    Host(Name, Vec<u32>),
    /// A slot.
    Slot(Name, u32),
    /// A number on the device, by its bits.
    Number(Name, Type, u64),
    /// A slot of any type, by the bits of its value.
    Dial(Name, Type, u64),
    /// A stream.
    Stream(Name),
    /// A pool.
    Pool(Name),
    /// An arena: one that holds anything here, or one of no bytes.
    Arena(Name, bool),
    /// A generator of this seed.
    Generator(Name, u64),
    /// An eager run: stream, arena, body, and the names that its outputs get.
    Run(Name, Option<Name>, Body, Vec<Name>),
    /// A recording.
    Record(Name, How, Body),
    /// A replay: graph and stream.
    Launch(Name, Name, Wait),
    /// Brings a graph onto the device.
    Upload(Name, Name),
    /// Another recording in a graph's place; `true` for `rerecord`, else `rerecord_with` and no options.
    Rerecord(Name, bool, Body),
    /// A graph lets go of its recording.
    Reset(Name),
    /// A graph becomes its outputs.
    IntoOutputs(Name, Vec<Name>),
    /// A graph as a function of memory, with the lengths of what it reads and writes.
    Into(Name, [u8; 2], [u8; 2], Body),
    /// A launch of one: stream, what is read, what is written.
    LaunchInto(Name, Name, [Part; 2], [Part; 2]),
    /// A cache with so many graphs at most, and what is recorded for each key.
    Cache(Name, u8, Vec<Body>),
    /// A request: cache, stream, key. What it gives is compared.
    CacheRun(Name, Name, u8),
    /// The graph of a key by `get_or_record`, launched: cache, stream, key.
    CacheGet(Name, Name, u8),
    /// The graph of a key goes.
    Evict(Name, u8),
    /// A function of rows: buckets, row length, padding, the slot it adds, whether more rows than the largest are run.
    Bucketed(Name, Vec<u8>, u8, Padding, Name, bool),
    /// All its graphs are recorded.
    Prepare(Name),
    /// A call: stream, rows, memory. What it gives is compared.
    Call(Name, Name, u8, Part),
    /// Elements are written: stream, where, what. The lengths may differ.
    Write(Name, Part, Vec<u32>),
    /// Elements are read and compared.
    Read(Name, Part),
    /// A scalar is set.
    SetScalar(Name, Name, u32),
    /// A scalar is read and compared.
    GetScalar(Name, Name),
    /// A number is set: stream, bits.
    WriteNumber(Name, Name, u64),
    /// A number is read and compared.
    ReadNumber(Name, Name),
    /// A slot of any type is set.
    SetDial(Name, u64),
    /// A host buffer is set. The lengths may differ.
    SetHost(Name, Vec<u32>),
    /// A host buffer is read and compared.
    ReadHost(Name),
    /// A slot is set.
    SetSlot(Name, u32),
    /// A generator begins another sequence: stream, seed.
    Seed(Name, Name, u64),
    /// Where a generator stands is saved and compared: generator, stream, and the state's name.
    Save(Name, Name, Name),
    /// A generator goes back: generator, stream, state.
    Restore(Name, Name, Name),
    /// A stream is waited for.
    Sync(Name),
    /// The device is waited for.
    SyncAll,
    /// A stream is asked whether it is done.
    IsDone(Name),
    /// A pool is sealed, or no longer.
    Seal(Name, bool),
    /// A pool keeps a value.
    PoolKeep(Name),
    /// A pool lets go of its values.
    PoolClear(Name),
    /// A budget is set, something is asked for, and the budget is lifted.
    Budget(Greedy),
    /// A second device.
    Stranger(Stranger),
    /// An object is dropped.
    Drop(Name),
}

impl Program {
    /// Whether it has threads.
    pub fn is_threaded(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether it records control flow on the device.
    pub fn has_flow(&self) -> bool {
        self.steps().flat_map(Step::bodies).flat_map(|body| &body.ops).any(Op::has_flow)
    }

    /// Whether work may still run when everything is dropped. What it uses then is left behind on purpose, as the last
    /// handle on a device does not wait: the work is on the wall clock, or its loops take longer than the drops.
    pub fn may_outlast_drops(&self) -> bool {
        !self.quiet && (self.live || self.has_flow())
    }

    /// Whether a graph may be launched once more at the end. A fault may still come, and then nobody knows how many
    /// rounds a loop has.
    pub(super) fn may_launch_last(&self, graph: Name, model: &mut Model) -> bool {
        model.may_launch_last(graph, self.strike.is_some())
    }

    /// All its steps.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.before.iter().chain(self.threads.iter().flatten()).chain(&self.after)
    }
}

impl Op {
    /// What it reads and what it writes of memory.
    pub fn parts(&self) -> (Vec<Part>, Option<Part>) {
        match self {
            Op::Copy(x, y) | Op::Mix(x, y) | Op::Scale(x, y) | Op::Sum(x, y) | Op::Window(_, x, y) => {
                (vec![*x], Some(*y))
            }
            Op::Add(a, b, y) => (vec![*a, *b], Some(*y)),
            Op::Fill(_, y) | Op::Upload(_, y) | Op::First(_, y) | Op::Put(_, y) | Op::Bump(y) | Op::Words(_, y) => {
                (Vec::new(), Some(*y))
            }
            Op::Download(x, _) => (vec![*x], None),
            _ => (Vec::new(), None),
        }
    }

    /// The lines inside: of a loop, a branch, or an attempt.
    pub fn bodies(&self) -> Vec<&Vec<Op>> {
        match self {
            Op::Attempt(ops, _) | Op::Loop(_, _, ops) => vec![ops],
            Op::When(_, then, otherwise) => std::iter::once(then).chain(otherwise).collect(),
            Op::Switch(_, cases) => cases.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Op>> {
        match self {
            Op::Attempt(ops, _) | Op::Loop(_, _, ops) => vec![ops],
            Op::When(_, then, otherwise) => std::iter::once(then).chain(otherwise).collect(),
            Op::Switch(_, cases) => cases.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it is control flow on the device, or has some inside.
    pub fn has_flow(&self) -> bool {
        let is_flow = matches!(self, Op::Loop(..) | Op::When(..) | Op::Switch(..) | Op::Leave(_));
        is_flow || self.bodies().into_iter().flatten().any(Op::has_flow)
    }

    /// The conditions of it, without those of the lines inside.
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Op::Loop(_, Asks::Behind(term, _) | Asks::Before(term, _), _) | Op::When(term, ..) | Op::Leave(term) => {
                vec![term]
            }
            _ => Vec::new(),
        }
    }

    /// What it looks at beside its conditions: a bound, a count, a case's number, what a number is set to.
    pub fn side(&self) -> Option<Side> {
        match self {
            Op::Loop(_, Asks::Behind(_, bound) | Asks::Before(_, bound), _) => *bound,
            Op::Loop(_, Asks::Times(side), _) | Op::Switch(side, _) | Op::SetNumber(_, _, side) => Some(*side),
            _ => None,
        }
    }

    /// Whether it, or a line inside, names this memory.
    pub fn names(&self, place: NamedMemory) -> bool {
        let (reads, write) = self.parts();
        let looks = |side: Side| matches!(side, Side::At(at, _) if at == place);
        reads.iter().chain(&write).any(|part| part.place == place)
            || self.side().is_some_and(looks)
            || self.terms().iter().flat_map(|term| term.sides()).any(looks)
            || self.bodies().into_iter().flatten().any(|op| op.names(place))
    }
}

impl Term {
    /// All that it looks at.
    pub fn sides(&self) -> Vec<Side> {
        match self {
            Term::Compare(_, _, left, right) => vec![*left, *right],
            Term::And(left, right) | Term::Or(left, right) => [left.sides(), right.sides()].concat(),
            Term::Not(term) => term.sides(),
        }
    }

    /// Its comparisons, and what combines them.
    pub fn steps(&self) -> usize {
        match self {
            Term::Compare(..) => 1,
            Term::And(left, right) | Term::Or(left, right) => left.steps() + right.steps() + 1,
            Term::Not(term) => term.steps() + 1,
        }
    }
}

impl Step {
    /// What it records.
    pub fn bodies(&self) -> &[Body] {
        match self {
            Step::Run(_, _, body, _)
            | Step::Record(_, _, body)
            | Step::Rerecord(_, _, body)
            | Step::Into(_, _, _, body) => std::slice::from_ref(body),
            Step::Cache(_, _, bodies) => bodies,
            _ => &[],
        }
    }
}

//! A program as plain data.
//!
//! - Every object has a name of its own, a number, which no other object of the program ever has.
//! - What the borrow checker would refuse is not said by these types: [`Model::step`](super::Model::step) refuses it,
//!   and the generator and the shrinker keep only steps that the model takes.
//! - Whether a step succeeds is not in the data: the model predicts it.

use dacapo_driver::{CUresult, Call, Effect};

/// The name of an object.
pub type Name = u16;

/// A random program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Decides the machine's choices and the order of the drops at the end.
    pub seed: u64,
    /// Whether the machine's time is the wall clock.
    pub live: bool,
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
}

//! Every rule that can be broken, as data for programs. The texts are in [`table`](super::table).

use dacapo_driver::DriverError;

use super::FalseDeclaration;
use crate::held::Held;

/// Which rule was broken, and by what.
///
/// Each has a [`word`](ErrorKind::word) that reports show in brackets and that stays the same between versions.
/// `docs/errors.md` lists them all, each with the report of a real mistake.
///
/// ```
/// use dacapo::{ErrorKind, copy};
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.zeros::<f32>(3)?, device.zeros::<f32>(2)?);
/// let error = stream.run(copy(&x, &mut y)).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Length { left: 3, right: 2, .. }));
/// assert_eq!(error.kind().word(), "length");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A kernel's own condition does not hold.
    Requires {
        /// The condition as it stands in the source.
        condition: &'static str,
        /// The arguments it speaks of.
        values: String,
    },
    /// A derived parameter does not fit its type.
    Derived {
        /// The parameter.
        param: &'static str,
        /// What it came from.
        values: String,
    },
    /// Two lengths that must be equal are not.
    Length {
        /// The op or call that needs them equal: `copy`, `Stream::write`.
        what: &'static str,
        /// The first.
        left: usize,
        /// The second.
        right: usize,
        /// Whose they are, as the sentence names them.
        names: [&'static str; 2],
        /// What is counted: `elements` or `bytes`.
        unit: &'static str,
    },
    /// A written argument overlaps another argument.
    Overlap {
        /// What is written.
        written: String,
        /// What it overlaps.
        other: String,
    },
    /// Bytes of a temp are read before anything wrote them.
    UninitTemp {
        /// The argument.
        argument: String,
        /// The first bytes of the temp that are missing.
        missing: std::ops::Range<usize>,
        /// The op that would have written them, had its grid not been empty.
        idle: Option<String>,
        /// The branch or loop whose body would have written them, had it been certain to run.
        branch: Option<String>,
    },
    /// A temp or stand-in belongs to another recording.
    ForeignTemp,
    /// A temp of a body of control flow is used behind that body.
    TempOfBody,
    /// A call that only makes sense inside a loop's body.
    NoLoop {
        /// The call.
        call: &'static str,
    },
    /// A body of control flow may not hold this.
    NotInBody {
        /// What it is.
        what: String,
    },
    /// A collective of several ranks in a loop that may go on for ever: when a rank dies, nothing might end it.
    NoBound,
    /// The software device ended a loop of an eager run. A replay is ended with the finding `endless-while`.
    Endless {
        /// How many rounds it had run.
        rounds: u64,
    },
    /// A temp or stand-in was passed where real memory is needed: `read`, `write`, `set`, a launch, foreign work.
    NoMemoryYet {
        /// The call.
        call: &'static str,
    },
    /// An argument belongs to another device.
    WrongDevice {
        /// What it is: an argument, a stream, a pool.
        what: String,
        /// The device it belongs to.
        its: String,
        /// The device it should belong to.
        wanted: String,
    },
    /// Eager work inside a recording.
    EagerInRecording {
        /// The call.
        call: &'static str,
    },
    /// The kernel fixes its geometry.
    GridFixed,
    /// `with_grid` around something that is not exactly one kernel.
    GridUnused,
    /// More blocks or threads than a launch can have.
    GridTooLarge {
        /// What was asked for.
        asked: String,
        /// The limit it breaks.
        limit: String,
    },
    /// The module has no such entry point or global.
    NoSuchKernel {
        /// What was looked for: `entry point` or `global`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Those that the module has, the most similar name first. Empty if its PTX cannot be parsed.
        there: Vec<String>,
    },
    /// The kernel's parameters are not those that were declared.
    Signature {
        /// The kernel.
        kernel: String,
        /// What differs.
        difference: String,
    },
    /// The PTX of a kernel contradicts its declaration. All contradictions, in the order of the declaration.
    Declaration(Vec<FalseDeclaration>),
    /// The PTX was not accepted.
    BadModule {
        /// What the driver wrote about it; empty if nothing.
        log: String,
    },
    /// The device does not have enough memory.
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
        /// How many were free just after.
        free: usize,
        /// How many the device has.
        total: usize,
        /// What the library holds of it, by purpose.
        held: Held,
    },
    /// The text of a [`Tuning`](crate::graph::Tuning) that cannot be read.
    BadTuning {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// It would exceed the device's memory budget; the driver was not asked.
    OverBudget {
        /// How many more bytes would be held.
        wanted: usize,
        /// How many are held now.
        used: usize,
        /// The budget.
        budget: usize,
        /// What is held, by purpose.
        held: Held,
    },
    /// The temps of a graph or an eager run do not fit into their arena.
    ArenaExhausted {
        /// The size in bytes of the first temp that does not fit.
        wanted: usize,
        /// How many bytes were left for it.
        left: usize,
        /// How many bytes the arena has.
        bytes: usize,
        /// How many bytes all temps together need.
        needed: usize,
    },
    /// More live allocations than can be numbered.
    Full {
        /// The limit.
        limit: usize,
    },
    /// The driver refused a call. The source of the error is the code, a [`CUresult`](dacapo_driver::CUresult).
    Driver(DriverError),
    /// A fault broke the device's context. From now on every call returns this error. The source of the error is the
    /// code.
    Lost {
        /// What the driver said first.
        first: DriverError,
        /// Launches that were in flight then.
        in_flight: Vec<String>,
        /// What the software device knows about it.
        findings: Vec<String>,
    },
    /// What this waits for was to be done behind work of another device, whose context a fault has broken. This device is whole.
    OtherLost {
        /// The number of that device, where it is known.
        device: Option<usize>,
        /// What the driver said.
        first: DriverError,
    },
    /// A capture was broken.
    CaptureBroken {
        /// What is known about the cause.
        culprit: String,
    },
    /// A capture ended without any work in it.
    NothingRecorded,
    /// The pool is sealed.
    PoolSealed,
    /// Live graphs hold the pool.
    PoolInUse {
        /// How many.
        graphs: usize,
    },
    /// A changed slot could not be patched into the graph, which cannot be launched until it is. The source of the
    /// error says why.
    Unpatched {
        /// How many nodes.
        nodes: usize,
    },
    /// The graph was reset and holds no recording.
    Reset,
    /// What a warm-up would have to save and restore exceeds the cap.
    WarmupTooLarge {
        /// How many bytes.
        bytes: usize,
        /// The cap.
        cap: usize,
    },
    /// Sizes that cannot be buckets.
    BadBuckets {
        /// Why not.
        why: &'static str,
    },
    /// No bucket holds this many rows.
    NoBucket {
        /// How many.
        rows: usize,
        /// The size of the largest bucket.
        largest: usize,
    },
    /// Memory that is not the expected number of rows.
    NotRows {
        /// How many elements it has.
        len: usize,
        /// How many rows it should have.
        rows: usize,
        /// The length of a row.
        row: usize,
    },
    /// A graph that alone exceeds the cap of its cache.
    OverCap {
        /// How many bytes it would hold.
        wanted: usize,
        /// The cap in bytes.
        cap: usize,
        /// The cap in graphs.
        graphs: usize,
    },
    /// A cache key is not equal to its own clone, or to itself.
    BadKey,
    /// No driver or device of the requested kind.
    NoDevice {
        /// What was looked for, and what was found.
        why: String,
    },
    /// This driver or device cannot do it.
    Unsupported {
        /// What.
        what: String,
        /// What it would need.
        needs: String,
    },
    /// No usable copy of a library that is loaded at run time was found.
    NoLibrary {
        /// Its name.
        library: &'static str,
        /// The environment variable that names its file.
        variable: &'static str,
        /// Every file that was tried, with the reason why not.
        tried: Vec<String>,
    },
    /// A rank that the communicator does not have.
    Rank {
        /// The op or call that names it.
        what: &'static str,
        /// The rank.
        rank: usize,
        /// How many the communicator has.
        size: usize,
    },
    /// A communicator could not be made.
    NotJoined {
        /// Whose side this is.
        rank: usize,
        /// How many there should be.
        size: usize,
        /// What happened.
        why: String,
    },
    /// The ranks of a communicator have recorded different collectives: their replays would hang.
    RanksDiffer {
        /// Whose side this is.
        rank: usize,
        /// Which of the recording's collectives is the first that differs, from 1.
        number: usize,
        /// What it is on this rank.
        here: String,
        /// What each rank has there, one line each.
        ranks: Vec<String>,
    },
    /// Pieces of a bucket are used before they are reduced, or never reduced.
    NotReduced {
        /// How many wait in the bucket.
        pieces: usize,
        /// Who uses one of them too early; `None` if the bucket was never finished.
        used: Option<String>,
    },
    /// A communicator is dead: a rank has ended, did not come in time, or did something else than the others.
    RankFailed {
        /// Whose side this is.
        rank: usize,
        /// How many ranks there are.
        size: usize,
        /// What happened: a sentence, and below it what else is known, such as what each rank has called, a line each.
        why: String,
        /// The launches of this rank that were in flight.
        in_flight: Vec<String>,
    },
    /// Another library refused a call.
    Library {
        /// Its name.
        library: &'static str,
        /// The call.
        call: &'static str,
        /// The error it returned.
        said: String,
    },
    /// CUDA C was not accepted by the compiler.
    Compile {
        /// The compiler's log, which names lines.
        log: String,
    },
    /// Another library's object cannot be taken over, or ours cannot be passed to it.
    Interop {
        /// Why not.
        why: String,
    },
    /// An error of your own. If it was converted from another type, that is the source.
    Msg(String),
}

//! Every rule that can be broken, as data for programs. The texts are in [`table`](super::table).

use dacapo_driver::DriverError;

use super::FalseDeclaration;
use crate::held::Held;

/// Which rule was broken, and by what.
///
/// Each has a [`word`](ErrorKind::word) that stands in brackets in reports and stays the same between versions.
/// `docs/errors.md` has all of them, each with the text of a real mistake.
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
    /// Bytes of a temp are read that nothing wrote before.
    UninitTemp {
        /// The argument.
        argument: String,
        /// The first bytes of the temp that are missing.
        missing: std::ops::Range<usize>,
        /// The op that would have written them, had its grid not been empty.
        idle: Option<String>,
    },
    /// A temp or stand-in belongs to another recording.
    ForeignTemp,
    /// A temp or stand-in where only memory that exists can stand: `read`, `write`, `set`, a launch, foreign work.
    NoMemoryYet {
        /// The call.
        call: &'static str,
    },
    /// An argument lives on another device.
    WrongDevice {
        /// What does: an argument, a stream, a pool.
        what: String,
        /// Where it lives.
        its: String,
        /// Where it would have to.
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
        /// Those that the module has, the most similar name first. Empty where its text cannot be read.
        there: Vec<String>,
    },
    /// The kernel's parameters are not those that were declared.
    Signature {
        /// The kernel.
        kernel: String,
        /// What differs.
        difference: String,
    },
    /// The text of a kernel contradicts its declaration. Everything that was found, in the order of the declaration.
    Declaration(Vec<FalseDeclaration>),
    /// The PTX was not accepted.
    BadModule {
        /// What the driver wrote about it; empty if nothing.
        log: String,
    },
    /// The device has not enough memory.
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
        /// How many were free just after.
        free: usize,
        /// How many the device has.
        total: usize,
        /// What the library holds of it, by what it is for.
        held: Held,
    },
    /// It would be over the budget of the device; the driver was not asked.
    OverBudget {
        /// How many bytes more would be held.
        wanted: usize,
        /// How many are.
        used: usize,
        /// The budget.
        budget: usize,
        /// What is held, by what it is for.
        held: Held,
    },
    /// The temps of a graph or an eager run do not fit the arena that they were to lie in.
    ArenaExhausted {
        /// How many bytes the first temp that does not fit has.
        wanted: usize,
        /// How many were left for it where it would lie.
        left: usize,
        /// How many bytes the arena has.
        bytes: usize,
        /// How many bytes it would need for all of them.
        needed: usize,
    },
    /// More allocations alive than can be numbered.
    Full {
        /// The limit.
        limit: usize,
    },
    /// The driver refused a call. The source of the error is the code, a [`CUresult`](dacapo_driver::CUresult).
    Driver(DriverError),
    /// A fault broke the device's context. It answers nothing else from now on. The source of the error is the code.
    Lost {
        /// What the driver said first.
        first: DriverError,
        /// Launches that were in flight then.
        in_flight: Vec<String>,
        /// What the software device knows about it.
        findings: Vec<String>,
    },
    /// A capture was broken.
    CaptureBroken {
        /// What is known of the culprit.
        culprit: String,
    },
    /// A capture ended without any work in it.
    NothingRecorded,
    /// The pool is sealed.
    PoolSealed,
    /// The pool is held by graphs that are alive.
    PoolInUse {
        /// How many.
        graphs: usize,
    },
    /// A change of a slot could not be brought into the graph; it cannot launch until it is. The source of the error is
    /// why not.
    Unpatched {
        /// How many nodes.
        nodes: usize,
    },
    /// The graph was reset and holds no recording.
    Reset,
    /// What a warm-up would have to save and put back is over the cap.
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
    /// No bucket is for so many rows.
    NoBucket {
        /// How many.
        rows: usize,
        /// What the largest bucket has.
        largest: usize,
    },
    /// Memory that is not so many rows of one length.
    NotRows {
        /// How many elements it has.
        len: usize,
        /// How many rows it should have.
        rows: usize,
        /// The length of a row.
        row: usize,
    },
    /// A graph that alone is over the cap of its cache.
    OverCap {
        /// How many bytes it would hold.
        wanted: usize,
        /// The cap in bytes.
        cap: usize,
        /// The cap in graphs.
        graphs: usize,
    },
    /// A key of a cache is another one when it is cloned or compared again.
    BadKey,
    /// No driver or device of the wanted kind.
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
    /// A library that is looked for at run time was not found, or none that will do.
    NoLibrary {
        /// Its name.
        library: &'static str,
        /// The environment variable that names its file.
        variable: &'static str,
        /// Every file that was tried, with the reason why not.
        tried: Vec<String>,
    },
    /// Another library refused a call.
    Library {
        /// Its name.
        library: &'static str,
        /// The call.
        call: &'static str,
        /// What it answered.
        said: String,
    },
    /// CUDA C was not accepted by the compiler.
    Compile {
        /// What the compiler wrote about it, with the lines it is about.
        log: String,
    },
    /// Something of another library's cannot be taken, or cannot be given.
    Interop {
        /// Why not.
        why: String,
    },
    /// An error of the user's own, with the user's words. One that came as another type is the source.
    Msg(String),
}

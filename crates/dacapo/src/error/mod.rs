//! Errors: what, where, whose doing, help.
//!
//! - [`Error`] names the op that caused it, its label and its line, for as long as anyone can know them: also in a
//!   replay, long after the recording.
//! - `{}` is one line. `{:?}`, which is what `main` prints, is the whole report with the other party and the help.
//! - [`ErrorKind`] is for programs: a variant for each rule. The sentences live here and nowhere else.

mod declaration;

use std::fmt;
use std::panic::Location;

use dacapo_driver::DriverError;

use crate::held::Held;

pub use declaration::FalseDeclaration;

/// What every fallible call of this library answers with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Which rule was broken, and by what.
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
        /// Of what.
        what: &'static str,
        /// The first.
        left: usize,
        /// The second.
        right: usize,
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
    WrongDevice,
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
    NoSuchKernel(String),
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
        /// What the driver wrote about it.
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
    /// The driver refused a call.
    Driver(DriverError),
    /// A fault broke the device's context. It answers nothing else from now on.
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
    /// A change of a slot could not be brought into the graph; it cannot launch until it is.
    Unpatched {
        /// How many nodes.
        nodes: usize,
        /// What the driver said.
        cause: String,
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
    /// A library that is looked for at run time is not there, or none that will do.
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
    /// An error of the user's own.
    Msg(String),
}

/// What went wrong, where, and what to do.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    op: String,
    label: String,
    at: Option<&'static Location<'static>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Error {
        Error(Box::new(Inner { kind, op: String::new(), label: String::new(), at: None }))
    }

    /// An error of the user's own, to be returned from a closure.
    pub fn msg(text: impl Into<String>) -> Error {
        Error::new(ErrorKind::Msg(text.into()))
    }

    /// Which rule was broken.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The op at fault: a kernel's name, `copy`, `fill`; empty where no op is concerned.
    pub fn op(&self) -> &str {
        &self.0.op
    }

    /// The labels around the op, from the outside in: `decode/layer0`.
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// Where the op was made: the call `k.saxpy(..)`, `copy(..)`.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.at
    }

    /// Something that can be done about it.
    pub fn help(&self) -> Option<String> {
        help(&self.0.kind)
    }

    /// Whether memory was wanted that is not there, or not allowed: dropping something may help.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self.kind(), ErrorKind::OutOfMemory { .. } | ErrorKind::OverBudget { .. })
    }

    /// The same error with the line of the call that was refused, where no op is concerned.
    pub(crate) fn on_line(mut self, at: &'static Location<'static>) -> Error {
        self.0.at.get_or_insert(at);
        self
    }

    /// The same error with the op it is about, unless a closer one is already named.
    pub(crate) fn of(mut self, op: &str, label: &str, at: &'static Location<'static>) -> Error {
        if self.0.at.is_none() {
            self.0.op = op.to_string();
            self.0.label = label.to_string();
            self.0.at = Some(at);
        }
        self
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Error {
        Error::new(ErrorKind::Driver(error))
    }
}

impl From<Box<dyn std::error::Error + Send + Sync>> for Error {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::msg(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, op, label, at } = &*self.0;
        if !op.is_empty() {
            write!(f, "`{op}`")?;
            if !label.is_empty() {
                write!(f, " in {label}")?;
            }
            if let Some(at) = at {
                write!(f, " at {at}")?;
            }
            f.write_str(": ")?;
        } else if let Some(at) = at {
            write!(f, "at {at}: ")?;
        }
        sentence(kind, f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, op, label, at } = &*self.0;
        write!(f, "error[{}]: ", name(kind))?;
        sentence(kind, f)?;
        if let Some(at) = at {
            write!(f, "\n  --> {at}")?;
            if !op.is_empty() {
                write!(f, "      `{op}`")?;
            }
            if !label.is_empty() {
                write!(f, " in {label}")?;
            }
        }
        match kind {
            ErrorKind::Lost { in_flight, findings, .. } => {
                for finding in findings {
                    write!(f, "\nfinding: {finding}")?;
                }
                for launch in in_flight {
                    write!(f, "\nin flight: {launch}")?;
                }
            }
            ErrorKind::Declaration(found) => {
                for found in found.iter().skip(1) {
                    write!(f, "\nand: {found}")?;
                }
            }
            ErrorKind::BadModule { log } if !log.is_empty() => write!(f, "\nlog: {log}")?,
            ErrorKind::Compile { log } => write!(f, "\nlog: {}", log.trim_end())?,
            ErrorKind::NoLibrary { tried, .. } => {
                for tried in tried {
                    write!(f, "\ntried: {tried}")?;
                }
            }
            _ => {}
        }
        match self.help() {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Driver(error) | ErrorKind::Lost { first: error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The word in brackets.
fn name(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Requires { .. } => "requires",
        ErrorKind::Derived { .. } => "derived",
        ErrorKind::Length { .. } => "length",
        ErrorKind::Overlap { .. } => "overlap",
        ErrorKind::UninitTemp { .. } => "uninit_temp",
        ErrorKind::ForeignTemp => "foreign_temp",
        ErrorKind::NoMemoryYet { .. } => "no_memory_yet",
        ErrorKind::WrongDevice => "wrong_device",
        ErrorKind::EagerInRecording { .. } => "eager_in_recording",
        ErrorKind::GridFixed => "grid_fixed",
        ErrorKind::GridUnused => "grid_unused",
        ErrorKind::GridTooLarge { .. } => "grid_too_large",
        ErrorKind::NoSuchKernel(_) => "no_such_kernel",
        ErrorKind::Signature { .. } => "signature",
        ErrorKind::Declaration(_) => "declaration",
        ErrorKind::BadModule { .. } => "bad_module",
        ErrorKind::OutOfMemory { .. } => "out_of_memory",
        ErrorKind::OverBudget { .. } => "over_budget",
        ErrorKind::ArenaExhausted { .. } => "arena_exhausted",
        ErrorKind::Full { .. } => "full",
        ErrorKind::Driver(_) => "driver",
        ErrorKind::Lost { .. } => "lost",
        ErrorKind::CaptureBroken { .. } => "capture_broken",
        ErrorKind::NothingRecorded => "nothing_recorded",
        ErrorKind::PoolSealed => "pool_sealed",
        ErrorKind::PoolInUse { .. } => "pool_in_use",
        ErrorKind::Unpatched { .. } => "unpatched",
        ErrorKind::Reset => "reset",
        ErrorKind::WarmupTooLarge { .. } => "warmup_too_large",
        ErrorKind::BadBuckets { .. } => "bad_buckets",
        ErrorKind::NoBucket { .. } => "no_bucket",
        ErrorKind::NotRows { .. } => "not_rows",
        ErrorKind::OverCap { .. } => "over_cap",
        ErrorKind::BadKey => "bad_key",
        ErrorKind::NoDevice { .. } => "no_device",
        ErrorKind::Unsupported { .. } => "unsupported",
        ErrorKind::NoLibrary { .. } => "no_library",
        ErrorKind::Library { .. } => "library",
        ErrorKind::Compile { .. } => "compile",
        ErrorKind::Interop { .. } => "interop",
        ErrorKind::Msg(_) => "user",
    }
}

/// What happened, in one line, in the user's nouns.
fn sentence(kind: &ErrorKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        ErrorKind::Requires { condition, values } => write!(f, "requires `{condition}` ({values})"),
        ErrorKind::Derived { param, values } => {
            write!(f, "the derived parameter `{param}` does not fit its type ({values})")
        }
        ErrorKind::Length { what, left, right } => write!(f, "{what}: lengths {left} and {right} differ"),
        ErrorKind::Overlap { written, other } => write!(f, "{written} is written and overlaps {other}"),
        ErrorKind::UninitTemp { argument, missing, idle } => {
            write!(f, "{argument} is a temp, and nothing has written its bytes {}..{}", missing.start, missing.end)?;
            idle.as_ref().map_or(Ok(()), |idle| write!(f, ": the grid of {idle} is empty"))
        }
        ErrorKind::ForeignTemp => f.write_str("an argument is a temp or stand-in of another recording"),
        ErrorKind::NoMemoryYet { call } => {
            write!(f, "`{call}` was given a temp or stand-in, which has no memory outside a replay")
        }
        ErrorKind::WrongDevice => f.write_str("an argument lives on another device"),
        ErrorKind::EagerInRecording { call } => write!(f, "`{call}` inside a recording would act now, not at replay"),
        ErrorKind::GridFixed => f.write_str("this kernel fixes its geometry"),
        ErrorKind::GridUnused => f.write_str("`with_grid` must stand around exactly one kernel"),
        ErrorKind::GridTooLarge { asked, limit } => write!(f, "a launch of {asked} is over the limit of {limit}"),
        ErrorKind::NoSuchKernel(name) => write!(f, "the module has no `{name}`"),
        ErrorKind::Signature { kernel, difference } => {
            write!(f, "kernel `{kernel}` is not as it was declared: {difference}")
        }
        ErrorKind::Declaration(found) => match &found[..] {
            [] => f.write_str("a kernel is not as it was declared"),
            [first] => write!(f, "{first}"),
            [first, rest @ ..] => write!(f, "{first}; and {} more", rest.len()),
        },
        ErrorKind::BadModule { log } => match log.lines().find(|line| !line.trim().is_empty()) {
            Some(line) => write!(f, "the driver did not accept the PTX: {}", line.trim()),
            None => f.write_str("the driver did not accept the PTX"),
        },
        ErrorKind::OutOfMemory { bytes, free, total, held } => {
            write!(f, "out of memory: {bytes} bytes were asked for, {free} of {total} are free; dacapo holds {held}")
        }
        ErrorKind::OverBudget { wanted, budget, held, .. } => {
            write!(f, "over the memory budget of {budget} bytes: {wanted} more are wanted; dacapo holds {held}")
        }
        ErrorKind::ArenaExhausted { wanted, left, bytes, needed } => write!(
            f,
            "a temp of {wanted} bytes does not fit the arena: {left} of its {bytes} bytes are left there, and all temps together need {needed}"
        ),
        ErrorKind::Full { limit } => write!(f, "more than {limit} allocations are alive"),
        ErrorKind::Driver(error) => write!(f, "{error}"),
        ErrorKind::Lost { first, in_flight, .. } => {
            write!(f, "a fault broke the device's context: {first}")?;
            if !in_flight.is_empty() {
                write!(f, "; in flight: {}", in_flight.join(", "))?;
            }
            Ok(())
        }
        ErrorKind::CaptureBroken { culprit } => write!(f, "a capture was broken: {culprit}"),
        ErrorKind::NothingRecorded => f.write_str("the capture ended with no work in it"),
        ErrorKind::PoolSealed => f.write_str("the pool is sealed"),
        ErrorKind::PoolInUse { graphs } => write!(f, "{graphs} graphs that are alive hold the pool"),
        ErrorKind::Unpatched { nodes, cause } => {
            write!(f, "{nodes} nodes still have old values, because the driver refused to change them: {cause}")
        }
        ErrorKind::Reset => f.write_str("the graph was reset and holds no recording"),
        ErrorKind::WarmupTooLarge { bytes, cap } => {
            write!(f, "the warm-up writes {bytes} bytes that would have to be put back; the cap is {cap}")
        }
        ErrorKind::BadBuckets { why } => write!(f, "these cannot be buckets: {why}"),
        ErrorKind::NoBucket { rows: 0, .. } => f.write_str("a call with no rows"),
        ErrorKind::NoBucket { rows, largest } => {
            write!(f, "{rows} rows are more than the largest bucket has, which is {largest}")
        }
        ErrorKind::NotRows { len, rows, row } => {
            write!(f, "{len} elements are not {rows} rows of {row}")
        }
        ErrorKind::OverCap { wanted, cap, graphs } => {
            write!(f, "a graph of {wanted} bytes is over the cap of its cache: {cap} bytes, {graphs} graphs")
        }
        ErrorKind::BadKey => f.write_str("the key of a request is not equal to its own clone, or not to itself"),
        ErrorKind::NoDevice { why } => f.write_str(why),
        ErrorKind::Unsupported { what, needs } => write!(f, "{what} is not there on this device; it needs {needs}"),
        ErrorKind::NoLibrary { library, tried, .. } => match tried.as_slice() {
            [] => write!(f, "{library} is not there"),
            [only] => write!(f, "{library} is not there: {only}"),
            [first, rest @ ..] => write!(f, "{library} is not there: {first} (and {} more)", rest.len()),
        },
        ErrorKind::Library { library, call, said } => write!(f, "{library} refused `{call}`: {said}"),
        ErrorKind::Compile { log } => {
            let line = log.lines().find(|line| line.contains("error")).or_else(|| log.lines().next());
            write!(f, "the CUDA C was not accepted: {}", line.unwrap_or("the compiler did not say why").trim())
        }
        ErrorKind::Interop { why } => f.write_str(why),
        ErrorKind::Msg(text) => f.write_str(text),
    }
}

/// Something one can type or do.
fn help(kind: &ErrorKind) -> Option<String> {
    let text = match kind {
        ErrorKind::NoLibrary { library, variable, .. } => {
            let wheels = match *library {
                "cuBLASLt" => "nvidia-cublas-cu12 or nvidia-cublas",
                _ => "nvidia-cuda-nvrtc-cu12 or nvidia-cuda-nvrtc",
            };
            return Some(format!(
                "install the CUDA toolkit, or the Python wheel {wheels}, and name its folder in `LD_LIBRARY_PATH` or its file \
                 in `{variable}`"
            ));
        }
        ErrorKind::Compile { .. } => "mend the line that the log names; lines are those of the text that was given",
        ErrorKind::Requires { .. } => {
            "pass arguments for which the kernel's condition holds; a slot is checked again at each launch"
        }
        ErrorKind::Derived { .. } => "use a wider parameter type in `kernels!`, or shorter slices",
        ErrorKind::Overlap { .. } => "give the op two ranges that do not meet, or copy one of them first",
        ErrorKind::UninitTemp { idle: Some(_), .. } => {
            "a kernel with an empty grid writes nothing: fill the temp before it, or give the reader an empty grid too"
        }
        ErrorKind::UninitTemp { .. } => {
            "write it first, for example `r.run(fill(&mut t, baked(0.0)))?`; a parameter that is written whole and never read is `&out`"
        }
        ErrorKind::ForeignTemp => {
            "use a temp only in the recording that made it; memory that lives longer is `r.output(..)` or a `Buffer`"
        }
        ErrorKind::NoMemoryYet { .. } => "copy it into a `Buffer` inside the recording and use that",
        ErrorKind::WrongDevice => "make the buffer, the kernels and the stream from the same `Device`",
        ErrorKind::EagerInRecording { .. } => "record it with `r.run(..)`, or do it before or after the recording",
        ErrorKind::GridFixed => "declare the kernel with `default_grid:` if every geometry is in bounds for it",
        ErrorKind::GridUnused => "call `.with_grid(..)` on the kernel's own op",
        ErrorKind::GridTooLarge { .. } => "let each thread do several elements, or use more dimensions",
        ErrorKind::NoSuchKernel(_) => "name the symbol with `entry: \"..\";`, and declare the kernel `extern \"C\"`",
        ErrorKind::Signature { .. } => "make the parameter list in `kernels!` that of the kernel, in its order",
        ErrorKind::Declaration(found) => {
            let first = found.first()?;
            let (kernel, instead) = (&first.kernel, &first.instead);
            return Some(format!(
                "declare `{instead}` in `{kernel}`; if the kernel never does it where it is used, say `unchecked` \
                 before the parameter"
            ));
        }
        ErrorKind::BadModule { .. } => "see the log; the oldest driver for a PTX version is in the docs",
        ErrorKind::OverBudget { .. } => "drop what is not needed, cap caches with `max_bytes`, or raise the budget",
        ErrorKind::OutOfMemory { .. } => {
            "drop what is not needed, and graphs too: each holds the memory of its temps, unless a pool or an arena shares it"
        }
        ErrorKind::ArenaExhausted { needed, .. } => {
            return Some(format!(
                "make it with `device.arena({needed})`, or let fewer temps be alive at the same time"
            ));
        }
        ErrorKind::Full { .. } => "hold fewer, larger buffers and use slices of them",
        ErrorKind::Lost { findings, .. } if !findings.is_empty() => {
            "mend what the finding names, in the kernel or in its declaration; nothing on this device works any more: make a new one"
        }
        ErrorKind::Lost { .. } => {
            "nothing on this device works any more: end the process; run the program on the software device, which names the instruction"
        }
        ErrorKind::CaptureBroken { .. } => {
            "do not synchronise or query inside a capture, in any thread of the process that works on its stream"
        }
        ErrorKind::NothingRecorded => "put the work on the capture's own stream",
        ErrorKind::PoolSealed => "call `unseal()` first",
        ErrorKind::PoolInUse { .. } => "drop those graphs first",
        ErrorKind::Unpatched { .. } => "launch again: the patches are tried again first",
        ErrorKind::Reset => "call `record_again` first",
        ErrorKind::BadBuckets { .. } => "give one or more sizes that are not 0, and rows with elements",
        ErrorKind::NoBucket { .. } => "pass at least one row; add a larger bucket, or leave out `refuse_larger()`",
        ErrorKind::NotRows { .. } => {
            "pass a slice of exactly the real rows, `&x[..n * row]`; give outputs a row for each of the `n` rows"
        }
        ErrorKind::OverCap { .. } => "raise `max_bytes`, or use `run`, which runs it without a graph",
        ErrorKind::BadKey => "make `Clone` and `Ord` of the key's type agree: a clone is equal, and stays so",
        ErrorKind::WarmupTooLarge { .. } => "raise it with `warmup_cap(bytes)`, or use `warmup_unrestored(n)`",
        ErrorKind::NoDevice { .. } => "`dacapo doctor` says what there is; `DACAPO_DRIVER=software` runs without a GPU",
        ErrorKind::Interop { .. } => {
            "the table in the documentation of `dacapo::interop` says what each direction needs"
        }
        _ => return None,
    };
    Some(text.to_string())
}

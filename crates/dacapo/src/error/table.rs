//! The texts of all errors: one row for each [`ErrorKind`].
//!
//! A row is the kind with its fields, then:
//!
//! - its **word**, which stands in brackets in a report and never changes;
//! - its **sentence**: what happened, in one line, in the user's nouns;
//! - `line`: what `{}` says behind the sentence, where the notes have something that is worth a part of the line;
//! - `notes`: lines of the report;
//! - `help`: something one can type or do.
//!
//! A text is a format over the fields; a call in parentheses where it must be put together (those are in
//! [`words`](super::words)). A kind without a row does not compile. That the words are unique, and that docs/errors.md has
//! each of them with the text of a real mistake, is held by tests.

use super::{ErrorKind, words};

macro_rules! table {
    ($($kind:ident $({ $($field:tt)* })? $(( $($inner:tt)* ))? => $word:literal, $sentence:tt
        $(, line $line:tt)? $(, notes $notes:tt)? $(, help $help:tt)? ;)*) => {
        /// Every kind with its word, in the order of the table.
        #[cfg(test)]
        pub(super) const WORDS: &[(&str, &str)] = &[$((stringify!($kind), $word)),*];

        pub(super) fn word(kind: &ErrorKind) -> &'static str {
            match kind { $(ErrorKind::$kind { .. } => $word,)* }
        }

        #[allow(unused_variables, reason = "a row names its fields for all of its texts")]
        pub(super) fn sentence(kind: &ErrorKind) -> String {
            match kind { $(ErrorKind::$kind $({ $($field)* })? $(( $($inner)* ))? => text!($sentence),)* }
        }

        #[allow(unused_variables, reason = "as above")]
        pub(super) fn line(kind: &ErrorKind) -> Option<String> {
            match kind { $(ErrorKind::$kind $({ $($field)* })? $(( $($inner)* ))? => opt!($($line)?),)* }
        }

        #[allow(unused_variables, reason = "as above")]
        pub(super) fn notes(kind: &ErrorKind) -> Vec<String> {
            match kind { $(ErrorKind::$kind $({ $($field)* })? $(( $($inner)* ))? => list!($($notes)?),)* }
        }

        #[allow(unused_variables, reason = "as above")]
        pub(super) fn help(kind: &ErrorKind) -> Option<String> {
            match kind { $(ErrorKind::$kind $({ $($field)* })? $(( $($inner)* ))? => opt!($($help)?),)* }
        }
    };
}

macro_rules! text {
    (($call:expr)) => {
        $call
    };
    ($format:literal) => {
        format!($format)
    };
}

macro_rules! opt {
    () => {
        None
    };
    ($text:tt) => {
        Some(text!($text))
    };
}

macro_rules! list {
    () => {
        Vec::new()
    };
    (($call:expr)) => {
        $call
    };
}

table! {
    // What ops are given.

    Requires { condition, values } => "requires",
        "requires `{condition}` ({values})",
        help "pass arguments for which the kernel's condition holds; a slot is checked again at each launch";

    Derived { param, values } => "derived",
        "the derived parameter `{param}` does not fit its type ({values})",
        help "use a wider parameter type in `kernels!`, or shorter slices";

    Length { what, left, right, names: [first, second], unit } => "length",
        "the lengths differ: {first} has {left} {unit}, {second} has {right}",
        help (words::equal_lengths(what, *left, *right));

    Overlap { written, other } => "overlap",
        "{written} is written and overlaps {other}",
        help "give the op two ranges that do not meet, or copy one of them first";

    UninitTemp { argument, missing, idle, branch } => "uninit_temp",
        (words::not_written(argument, missing, idle.as_deref(), branch.as_deref())),
        help (words::write_first(idle.is_some(), branch.is_some()));

    ForeignTemp => "foreign_temp",
        "an argument is a temp or stand-in of another recording",
        help "use a temp only in the recording that made it; memory that lives longer is `r.output(..)` or a `Buffer`";

    TempOfBody => "temp_of_body", "a temp of a body of control flow is used behind that body",
        help "ask for it outside, with `alloc` before the loop or branch: then it lives as long as both";
    NoLoop { call } => "no_loop", "`{call}` is called outside of a loop's body",
        help "inside a `when` or a `switch` of a loop, write a flag, and call it by the flag directly in the loop's body";
    NotInBody { what } => "not_in_body", "a body of control flow cannot hold {what}",
        help "CUDA allows kernels, fills, copies of device and page-locked memory: do the rest before or behind the loop or branch";
    NoBound => "no_bound", "a collective of several ranks in a loop without a bound",
        help "use `up_to(..)` instead of `unbounded()`: when a rank dies its collectives end without a result, and then perhaps \
              nothing changes what the loop waits for";
    Endless { rounds } => "endless", "the loop still goes on after {rounds} rounds, where the software device ends it",
        help "let an op of the body change what its condition looks at, give it a bound (`up_to(..)`), or raise `Options::rounds_max`";
    NoMemoryYet { call } => "no_memory_yet",
        "`{call}` was given a temp or stand-in, which has no memory outside a replay",
        help "copy it into a `Buffer` inside the recording and use that";

    WrongDevice { what, its, wanted } => "wrong_device",
        "{what} is on {its}; needed is {wanted}",
        help "make buffers, kernels and streams from the same `Device` (a clone is the same one, one opened again is not); only \
              `copy` goes between devices of one driver (software devices of one `Device::software_group`), on a stream or in a \
              graph of one of the two";

    EagerInRecording { call } => "eager_in_recording",
        "`{call}` inside a recording would act now, not at replay",
        help "record it with `r.run(..)`, or do it before or after the recording";

    // Geometry.

    GridFixed => "grid_fixed",
        "this kernel fixes its geometry",
        help "declare the kernel with `default_grid:` if every geometry is in bounds for it";

    GridUnused => "grid_unused",
        "`with_grid` must stand around exactly one kernel",
        help "call `.with_grid(..)` on the kernel's own op";

    GridTooLarge { asked, limit } => "grid_too_large",
        "a launch of {asked} is over the limit of {limit}",
        help "let each thread do several elements, or use more dimensions";

    // Modules.

    NoSuchKernel { what, name, there } => "no_such_kernel",
        "the module has no {what} `{name}`",
        line (words::did_you_mean(name, there)),
        notes (words::what_there_is(what, there)),
        help (words::name_the_symbol(what, name, there));

    Signature { kernel, difference } => "signature",
        "kernel `{kernel}` is not as it was declared: {difference}",
        help "make the parameter list in `kernels!` that of the kernel, in its order";

    Declaration(found) => "declaration",
        (words::first_false(found)),
        line (words::and_more(found.len())),
        notes (found.iter().skip(1).map(|found| format!("and: {found}")).collect()),
        help (words::declare_instead(found));

    BadModule { log } => "bad_module",
        "the driver did not accept the PTX",
        line (words::colon(words::telling_line(log))),
        notes (words::log(log)),
        help "fix the line that the log names; the oldest driver for a PTX version is in docs/getting-ptx.md";

    BadTuning { line, why } => "bad_tuning",
        "line {line} of a tuning cannot be read: {why}",
        help "write the file anew with `graph.tune(&stream)?.tuning.to_string()`";

    // Memory.

    OutOfMemory { bytes, free, total, held } => "out_of_memory",
        "out of memory: {bytes} bytes were asked for, {free} of {total} are free; dacapo holds {held}",
        help "drop what is not needed, and graphs too: each holds the memory of its temps, unless a pool or an arena shares it";

    OverBudget { wanted, used, budget, held } => "over_budget",
        "over the memory budget of {budget} bytes: {wanted} more are wanted; dacapo holds {held}",
        help "drop what is not needed, cap caches with `max_bytes`, or raise the budget";

    ArenaExhausted { wanted, left, bytes, needed } => "arena_exhausted",
        "a temp of {wanted} bytes does not fit the arena: {left} of its {bytes} bytes are left there, and all temps together need {needed}",
        help "make it with `device.arena({needed})`, or let fewer temps be alive at the same time";

    Full { limit } => "full",
        "more than {limit} allocations are alive",
        help "hold fewer, larger buffers and use slices of them";

    // The driver.

    Driver(refused) => "driver",
        (words::refused(refused));

    Lost { first, in_flight, findings } => "lost",
        (words::lost(first)),
        line (words::lost_line(in_flight, findings)),
        notes (words::lost_notes(in_flight, findings)),
        help (words::after_the_loss(findings));

    OtherLost { device, first } => "other_lost",
        (words::other_lost(*device, first)),
        help "what was to run behind that device's work was not done, and this stream cannot be used again: see the other device's \
              error or findings, make a new stream here, and write again what should have come from there";

    NoDevice { why } => "no_device",
        "{why}",
        help (words::another_device(why));

    Unsupported { what, needs } => "unsupported",
        "{what} is not supported here; it needs {needs}";

    // Captures, graphs, pools.

    CaptureBroken { culprit } => "capture_broken",
        "a capture was broken: {culprit}",
        help "do not synchronise or query inside a capture, in any thread of the process that works on its stream";

    NothingRecorded => "nothing_recorded",
        "the capture ended with no work in it",
        help "put the work on the capture's own stream";

    Unpatched { nodes } => "unpatched",
        (words::old_values(*nodes)),
        help "launch again: the patches are tried again first";

    Reset => "reset",
        "the graph was reset and holds no recording",
        help "call `record_again` first";

    WarmupTooLarge { bytes, cap } => "warmup_too_large",
        "the warm-up writes {bytes} bytes that would have to be put back; the cap is {cap}",
        help "raise it with `warmup_cap(bytes)`, or use `warmup_unrestored(n)`";

    PoolSealed => "pool_sealed",
        "the pool is sealed",
        help "call `unseal()` first";

    PoolInUse { graphs } => "pool_in_use",
        "the pool is held by graphs that are alive: {graphs}",
        help "drop those graphs first";

    // Shapes.

    BadBuckets { why } => "bad_buckets",
        "these cannot be buckets: {why}",
        help "give one or more sizes that are not 0, and rows with elements";

    NoBucket { rows, largest } => "no_bucket",
        (words::no_bucket(*rows, *largest)),
        help "pass at least one row; add a larger bucket, or leave out `refuse_larger()`";

    NotRows { len, rows, row } => "not_rows",
        "{len} elements are not {rows} rows of {row}",
        help "pass a slice of exactly the real rows, `&x[..n * row]`; give outputs a row for each of the `n` rows";

    OverCap { wanted, cap, graphs } => "over_cap",
        "a graph of {wanted} bytes is over the cap of its cache: {cap} bytes, {graphs} graphs",
        help "raise `max_bytes`, or use `run`, which runs it without a graph";

    BadKey => "bad_key",
        "the key of a request is not equal to its own clone, or not to itself",
        help "make `Clone` and `Ord` of the key's type agree: a clone is equal, and stays so";

    // Other libraries, and the program itself.

    NoLibrary { library, variable, tried } => "no_library",
        "{library} was not found",
        line (words::first_tried(tried)),
        notes (tried.iter().map(|tried| format!("tried: {tried}")).collect()),
        help (words::install(library, variable));

    Rank { what, rank, size } => "rank",
        (words::rank_beyond(what, *rank, *size)),
        help "a rank is a number from 0 to `Communicator::size() - 1`";
    NotJoined { rank, size, why } => "not_joined",
        (words::not_joined(*rank, *size, why)),
        notes (words::failed_notes(why, &[])),
        help (words::join_how(*size, why));
    RanksDiffer { rank, number, here, ranks } => "ranks_differ",
        "the ranks have recorded different collectives: on rank {rank} collective {number} is {here}",
        notes (ranks.clone()),
        help "let every rank record the same collectives, of the same sizes, in the same order";
    NotReduced { pieces, used } => "not_reduced",
        (words::not_reduced(*pieces, used.as_deref())),
        help (words::finish_bucket(used.is_some()));
    RankFailed { rank, size, why, in_flight } => "rank_failed",
        (words::rank_failed(*rank, *size, why)),
        notes (words::failed_notes(why, in_flight)),
        help (words::after_a_failure(why));

    Library { library, call, said } => "library",
        "{library} refused `{call}`: {said}";

    Compile { log } => "compile",
        "the CUDA C was not accepted",
        line (words::colon(words::first_complaint(log))),
        notes (words::log(log)),
        help "fix the line that the log names; its numbers are those of your text";

    Interop { why } => "interop",
        "{why}",
        help "the table in the documentation of `dacapo::interop` says what each direction needs";

    Msg(text) => "user",
        "{text}";
}

//! Sentences of the [`table`](super::table) that are put together: lists, plurals, help with names and numbers in it.

use std::ops::Range;

use dacapo_driver::DriverError;

use super::FalseDeclaration;
use super::nearest::is_near;

/// The call that would have been right, for whoever wants the shorter of two lengths.
pub(super) fn equal_lengths(what: &str, left: usize, right: usize) -> String {
    let shorter = left.min(right);
    match (what, left > right) {
        ("copy", true) => format!("copy a part: `copy(&source[..{shorter}], &mut target)`"),
        ("copy", false) => format!("copy a part: `copy(&source, &mut target[..{shorter}])`"),
        ("upload", false) => format!("upload to a part: `upload(&source, &mut target[..{shorter}])`"),
        ("download", true) => format!("download a part: `download(&source[..{shorter}], &mut target)`"),
        ("upload", true) => format!("upload a part: `upload(source.slice(..{shorter}), &mut target)`"),
        ("download", false) => format!("download to a part: `download(&source, target.slice_mut(..{shorter}))`"),
        ("Stream::write", true) => format!("write a part: `stream.write(&mut target[..{shorter}], &elements)`"),
        ("Stream::write", false) => {
            format!("write fewer elements: `stream.write(&mut target, &elements[..{shorter}])`")
        }
        ("HostBuffer::set", _) => {
            format!("`set` gives all of it other contents: pass {left} elements, or set a `slice_mut(..)`")
        }
        ("HostBuffer::read_into", _) => format!("pass a slice of {left} elements, or read a `slice(..)` of the buffer"),
        ("Stream::read_into", true) => format!("read a part: `stream.read_into(&source[..{shorter}], &mut elements)`"),
        ("Stream::read_into", false) => {
            format!("read into a part: `stream.read_into(&source, &mut elements[..{shorter}])`")
        }
        ("all_reduce" | "reduce", _) => "pass a `source` and a `target` of the same length, on every rank".to_string(),
        ("all_gather", _) => {
            "give `target` room for the `source` of every rank: `comm.size() * source.len()` elements".to_string()
        }
        ("reduce_scatter", _) => {
            "give `source` a part for every rank: `comm.size() * target.len()` elements".to_string()
        }
        ("all_to_all", _) => "pass slices of the same length, which is a multiple of `comm.size()`".to_string(),
        _ => "pass slices as long as those that it was recorded with".to_string(),
    }
}

/// What to do where a device could not be opened. A variable that is wrong is one's own to mend.
pub(super) fn another_device(why: &str) -> String {
    match why.starts_with("DACAPO_SEED") {
        true => "unset DACAPO_SEED, or set it to the number that a failure has printed".to_string(),
        false => "`dacapo doctor` says what there is; `DACAPO_DRIVER=software` runs without a GPU".to_string(),
    }
}

pub(super) fn not_written(argument: &str, missing: &Range<usize>, idle: Option<&str>, branch: Option<&str>) -> String {
    let Range { start, end } = missing;
    let why = match (idle, branch) {
        (Some(idle), _) => format!(": the grid of {idle} is empty"),
        (None, Some(branch)) => format!(" for certain: a body of {branch} does, and may not run"),
        (None, None) => String::new(),
    };
    format!("{argument} is a temp, and nothing has written its bytes {start}..{end}{why}")
}

pub(super) fn write_first(is_idle: bool, is_in_branch: bool) -> String {
    let help = match (is_idle, is_in_branch) {
        (true, _) => {
            "a kernel with an empty grid writes nothing: fill the temp before it, or give the reader an empty grid too"
        }
        (false, true) => "write it before the branch or loop too, or in an `otherwise`: then it is written in any case",
        (false, false) => {
            "write it first, for example `r.run(fill(&mut t, baked(0.0)))?`; a parameter that is written whole and never \
             read is `&out`"
        }
    };
    help.to_string()
}

/// The name that was perhaps meant; else some of those there are.
pub(super) fn did_you_mean(name: &str, there: &[String]) -> String {
    const SOME: usize = 3;
    match there {
        [] => String::new(),
        [first, ..] if is_near(name, first) => format!("; did you mean `{first}`?"),
        all if all.len() <= SOME => format!("; it has {}", quoted(all)),
        all => format!("; it has {} and {} more", quoted(&all[..SOME]), all.len() - SOME),
    }
}

pub(super) fn what_there_is(what: &str, there: &[String]) -> Vec<String> {
    match there {
        [] => Vec::new(),
        [only] => vec![format!("note: its only {what} is {}", quoted(std::slice::from_ref(only)))],
        all => vec![format!("note: its {what}s are {}", quoted(all))],
    }
}

pub(super) fn name_the_symbol(what: &str, name: &str, there: &[String]) -> String {
    let meant = there.first().filter(|first| is_near(name, first));
    match (what, meant) {
        ("global", Some(meant)) => format!("did you mean `{meant}`? write `state: {meant};`"),
        ("global", None) => {
            "name a `.global` variable of the module in `state:`, and declare it `extern \"C\"`".to_string()
        }
        (_, Some(meant)) => format!("did you mean `{meant}`? write `entry: \"{meant}\";`, or rename the method"),
        (_, None) => "name the symbol with `entry: \"..\";`, and declare the kernel `extern \"C\"`".to_string(),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

pub(super) fn first_false(found: &[FalseDeclaration]) -> String {
    found.first().map_or_else(|| "a kernel is not as it was declared".to_string(), ToString::to_string)
}

pub(super) fn and_more(count: usize) -> String {
    if count > 1 { format!("; and {} more", count - 1) } else { String::new() }
}

pub(super) fn declare_instead(found: &[FalseDeclaration]) -> String {
    let Some(FalseDeclaration { kernel, instead, .. }) = found.first() else {
        return "make the declaration in `kernels!` true of the kernel".to_string();
    };
    format!(
        "declare `{instead}` in `{kernel}`; if the kernel never does it where it is used, say `unchecked` before the parameter"
    )
}

pub(super) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The line of a compiler's log that says what is wrong.
pub(super) fn telling_line(log: &str) -> &str {
    log.lines().map(str::trim).find(|line| line.contains("error")).unwrap_or_else(|| first_line(log))
}

/// The same, or that there is none.
pub(super) fn first_complaint(log: &str) -> &str {
    match telling_line(log) {
        "" => "the compiler did not say why",
        line => line,
    }
}

pub(super) fn colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

pub(super) fn log(log: &str) -> Vec<String> {
    if log.trim().is_empty() { Vec::new() } else { vec![format!("log: {}", log.trim())] }
}

/// The code's name is the source's to tell.
pub(super) fn refused(refused: &DriverError) -> String {
    format!("the driver refused `{}` with code {}", refused.call.symbol(), refused.code.0)
}

pub(super) fn lost(first: &DriverError) -> String {
    format!("a fault broke the device's context: `{}` answered with code {}", first.call.symbol(), first.code.0)
}

/// The newest finding is the one that broke it.
/// A rank that could not join; without a size it is not known which.
pub(super) fn not_joined(rank: usize, size: usize, why: &str) -> String {
    match size {
        0 => format!("no communicator could be made: {}", first_line(why)),
        size => format!("rank {rank} of {size} could not join the communicator: {}", first_line(why)),
    }
}

pub(super) fn join_how(size: usize, why: &str) -> String {
    if let Some(help) = why.lines().find_map(|line| line.strip_prefix(HELP)) {
        return help.to_string();
    }
    match size {
        0 => "start the program with torchrun, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; for a \
              single rank take `Communicator::alone`"
            .to_string(),
        _ => "every rank joins once, with the same id and size, each on a thread or process of its own".to_string(),
    }
}

pub(super) fn rank_beyond(what: &str, rank: usize, size: usize) -> String {
    let ranks = if size == 1 { "rank" } else { "ranks" };
    format!("`{what}` names rank {rank}, and the communicator has {size} {ranks}")
}

/// The first line says what happened; what is below it are notes, and perhaps help.
pub(super) fn rank_failed(rank: usize, size: usize, why: &str) -> String {
    format!("the communicator of rank {rank} of {size} is dead: {}", first_line(why))
}

/// Each rank's side, as far as that is known, and the launches that were in flight, a line each.
pub(super) fn failed_notes(why: &str, in_flight: &[String]) -> Vec<String> {
    let sides = why.lines().skip(1).filter(|line| !line.starts_with(HELP)).map(str::to_string);
    sides.chain(in_flight.iter().map(|name| format!("in flight: {name}"))).collect()
}

/// Whoever found out may know what to do. What ranks do that do not agree will not go better with a new communicator.
pub(super) fn after_a_failure(why: &str) -> String {
    if let Some(help) = why.lines().find_map(|line| line.strip_prefix(HELP)) {
        return help.to_string();
    }
    let help = match why.starts_with("ncclInvalidUsage") {
        true => {
            "let every rank do the same collectives, of the same sizes, in the same order, with a `recv` for each `send`"
        }
        false => {
            "drop its graphs, the streams that they ran on, and the communicator, and join a new one with the ranks that are left"
        }
    };
    help.to_string()
}

/// How a line of help begins.
const HELP: &str = "help: ";

/// What waits in a bucket, and who did not wait for it.
pub(super) fn not_reduced(pieces: usize, used: Option<&str>) -> String {
    match (used, pieces) {
        (Some(used), _) => format!("{used} uses a piece of a bucket that is not reduced yet"),
        (None, 1) => "a piece that was added to a bucket is never reduced".to_string(),
        (None, pieces) => format!("{pieces} pieces that were added to a bucket are never reduced"),
    }
}

pub(super) fn finish_bucket(is_used: bool) -> String {
    let help = match is_used {
        true => {
            "record ops that use the pieces behind `Bucketed::finish`: whether a bucket is full earlier depends on its size"
        }
        false => {
            "call `Bucketed::finish` in the same recording, and in the same loop or branch of it, behind the last piece"
        }
    };
    help.to_string()
}

pub(super) fn other_lost(device: Option<usize>, first: &DriverError) -> String {
    let which = device.map_or_else(|| "another device".to_string(), |device| format!("device {device}"));
    let (call, code) = (first.call.symbol(), first.code.0);
    format!("a fault broke {which}, for whose work this waits: `{call}` answered with code {code}")
}

pub(super) fn lost_line(in_flight: &[String], findings: &[String]) -> String {
    let found = findings.last().map(|finding| format!("; {}", first_line(finding))).unwrap_or_default();
    if in_flight.is_empty() { found } else { format!("{found}; in flight: {}", in_flight.join(", ")) }
}

pub(super) fn lost_notes(in_flight: &[String], findings: &[String]) -> Vec<String> {
    let findings = findings.iter().map(|finding| format!("finding: {finding}"));
    findings.chain(in_flight.iter().map(|launch| format!("in flight: {launch}"))).collect()
}

pub(super) fn after_the_loss(findings: &[String]) -> String {
    let help = match findings {
        [] => {
            "nothing on this device works any more: end the process; run the program on the software device, which names the \
             instruction"
        }
        _ => {
            "fix what the finding names, in the kernel or in its declaration; nothing on this device works any more: make a \
             new one"
        }
    };
    help.to_string()
}

pub(super) fn old_values(nodes: usize) -> String {
    let nodes =
        if nodes == 1 { "1 node still has old values".into() } else { format!("{nodes} nodes still have old values") };
    nodes + ", because the driver refused to change them"
}

pub(super) fn no_bucket(rows: usize, largest: usize) -> String {
    match rows {
        0 => "a call with no rows".to_string(),
        _ => format!("{rows} rows are more than the largest bucket has, which is {largest}"),
    }
}

pub(super) fn first_tried(tried: &[String]) -> String {
    match tried {
        [] => String::new(),
        [only] => format!(": {only}"),
        [first, rest @ ..] => format!(": {first} (and {} more)", rest.len()),
    }
}

pub(super) fn install(library: &str, variable: &str) -> String {
    let (package, wheels) = match library {
        "cuBLASLt" => ("the CUDA toolkit", "nvidia-cublas-cu12 or nvidia-cublas"),
        "NCCL" => ("your system's package of it (libnccl2 or libnccl)", "nvidia-nccl-cu12 or nvidia-nccl-cu13"),
        _ => ("the CUDA toolkit", "nvidia-cuda-nvrtc-cu12 or nvidia-cuda-nvrtc"),
    };
    format!(
        "install {package}, or the Python wheel {wheels}, and name its folder in `LD_LIBRARY_PATH` or its file in `{variable}`"
    )
}

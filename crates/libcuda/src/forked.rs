//! A child of a process that had called `cuInit` before the fork: CUDA cannot be used in it.
//!
//! As an H200's driver (580.159.04) was observed to answer in such a child:
//!
//! - every call, also `cuInit`: `CUDA_ERROR_NOT_INITIALIZED`, and nothing is written;
//! - except those of [`ANSWERED`], which answer as ever.
//!
//! A child of a process that had not called `cuInit` begins afresh.
//!
//! The machine of the parent is there in the child, as its memory was at the fork, but the threads that moved its work are
//! not, and one of them may have held its lock. So nothing here touches it, and the question comes before all else. It costs
//! one load: the flag is set by a handler that the C library calls in the child.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use dacapo_driver::{CUresult, Call};
use dacapo_sim::{Ending, Finding};

use crate::software;

/// Calls that need no `cuInit`, and so answer in such a child too.
const ANSWERED: &[Call] = &[
    Call::cuDriverGetVersion,
    Call::cuGetErrorName,
    Call::cuGetErrorString,
    Call::cuGetProcAddress,
    Call::cuGetProcAddress_v2,
];

/// This process was forked from one that had called `cuInit`.
static FORKED: AtomicBool = AtomicBool::new(false);
/// The findings say so already.
static TOLD: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
}

unsafe extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
    // A child of a child has been told nothing yet.
    TOLD.store(false, Ordering::Relaxed);
}

/// `cuInit` has succeeded: whoever is forked from here on is such a child.
pub fn initialised() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: the handler only stores into a static of this library, and the C library forgets it if the library is
        // closed. It fails where there is no memory; then the child answers as its parent did.
        unsafe { pthread_atfork(None, None, Some(in_child)) };
    });
}

/// Whether this process is such a child.
pub fn is_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// The answer to a call of the table, if this process is such a child and the call is not one that answers.
pub fn refusal(call: Call) -> Option<CUresult> {
    (is_child() && !ANSWERED.contains(&call)).then(|| refuse(call.symbol()))
}

/// The answer to `symbol` in such a child. The first time the findings say what is wrong.
pub fn refuse(symbol: &str) -> CUresult {
    let code = CUresult::CUDA_ERROR_NOT_INITIALIZED;
    // A swap and no `Once`: a thread that the fork has left behind could have held that.
    if !TOLD.swap(true, Ordering::Relaxed) {
        software::findings().write(&finding(symbol, code));
    }
    code
}

fn finding(symbol: &str, code: CUresult) -> Finding {
    let process = std::process::id();
    let what =
        format!("CUDA cannot be used in process {process}: it was forked from one that had called cuInit before");
    Finding::new("forked", Ending::YourProgram, what)
        .at(symbol, format!("answered {code}"))
        .note("every call in this process answers so; a process that is forked before the first cuInit has CUDA of its own")
        .help(
            "start the process anew instead of forking it: \
             in Python `multiprocessing.set_start_method(\"spawn\")`, in C `posix_spawn` or `exec`",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finding_says_what_to_do_instead() {
        let text = finding("cuInit", CUresult::CUDA_ERROR_NOT_INITIALIZED).to_string();
        assert!(text.starts_with("error[forked]: CUDA cannot be used in process "), "{text}");
        assert!(text.contains("--> cuInit      answered CUDA_ERROR_NOT_INITIALIZED"), "{text}");
        assert!(text.contains("multiprocessing.set_start_method(\"spawn\")"), "{text}");
    }
}

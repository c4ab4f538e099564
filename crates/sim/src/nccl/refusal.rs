//! What a call of NCCL refuses, and the sentence that the thread is told when it asks.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use dacapo_driver::CUresult;
use dacapo_nccl::types::ncclResult;

thread_local! {
    /// Without a destructor: values of the user's in other thread-locals may make calls when this thread ends. So the last sentence
    /// of a thread that has ended is not given back.
    static LAST: RefCell<ManuallyDrop<Option<String>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// A refused call.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) code: ncclResult,
    /// One sentence.
    pub(crate) text: String,
}

impl Refused {
    pub(crate) fn new(code: ncclResult, text: impl Into<String>) -> Refused {
        Refused { code, text: text.into() }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Refused {
        Refused::new(ncclResult::ncclInvalidArgument, text)
    }

    pub(crate) fn usage(text: impl Into<String>) -> Refused {
        Refused::new(ncclResult::ncclInvalidUsage, text)
    }

    /// The driver below has refused.
    pub(crate) fn driver(what: &str, code: CUresult) -> Refused {
        Refused::new(ncclResult::ncclUnhandledCudaError, format!("{what}: {code}"))
    }
}

/// The code of an answer; a refusal's sentence is this thread's last error from now on.
pub(crate) fn answer(result: Result<(), Refused>) -> ncclResult {
    match result {
        Ok(()) => ncclResult::ncclSuccess,
        Err(Refused { code, text }) => {
            LAST.with_borrow_mut(|last| **last = Some(text));
            code
        }
    }
}

/// The last error of this thread.
pub(crate) fn last() -> Option<String> {
    LAST.with_borrow(|last| Option::clone(last))
}

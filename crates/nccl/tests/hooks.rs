//! What one can rely on in hooks, over a library that answers success to all.

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use dacapo_nccl::types::*;
use dacapo_nccl::{CountNccl, FaultNccl, HookedNccl, Nccl, NcclCall, NvidiaNccl};

macro_rules! fakes {
    ($($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "C's names and arguments")]
        mod fake {
            use super::*;
            $(pub extern "C" fn $symbol($(_: $ty),*) -> ncclResult { ncclResult::ncclSuccess })*
        }

        fn find(symbol: &str) -> Option<NonNull<c_void>> {
            match symbol {
                $(stringify!($symbol) => NonNull::new(fake::$symbol as *mut c_void),)*
                "ncclGetLastError" => NonNull::new(last_error as *mut c_void),
                _ => None,
            }
        }
    };
}

dacapo_nccl::for_each_nccl_call!(fakes);

extern "C" fn last_error(_: ncclComm) -> *const c_char {
    c"a word".as_ptr()
}

fn library() -> NvidiaNccl {
    // SAFETY: every address is that of a function with the row's signature, in this program.
    unsafe { NvidiaNccl::resolve(find) }.expect("every symbol is there")
}

fn group(nccl: &dyn Nccl) -> [ncclResult; 2] {
    // SAFETY: both take nothing.
    unsafe { [nccl.ncclGroupStart(), nccl.ncclGroupEnd()] }
}

fn destroy(nccl: &dyn Nccl) -> ncclResult {
    // SAFETY: the library is a fake that looks at no argument.
    unsafe { nccl.ncclCommDestroy(ncclComm::NULL) }
}

const SUCCESS: ncclResult = ncclResult::ncclSuccess;
const BROKEN: ncclResult = ncclResult::ncclSystemError;

#[test]
fn calls_are_counted_by_kind() {
    let nccl = HookedNccl::new(library(), CountNccl::new());
    assert_eq!(nccl.hook().all(), 0);
    group(&nccl);
    group(&nccl);
    destroy(&nccl);
    assert_eq!(nccl.hook().calls(NcclCall::ncclGroupStart), 2);
    assert_eq!(nccl.hook().calls(NcclCall::ncclGroupEnd), 2);
    assert_eq!(nccl.hook().calls(NcclCall::ncclCommDestroy), 1);
    assert_eq!(nccl.hook().calls(NcclCall::ncclAllReduce), 0);
    assert_eq!(nccl.hook().all(), 5);
}

#[test]
fn the_nth_of_all_calls_fails_and_no_other() {
    let nccl = HookedNccl::new(library(), FaultNccl::new(None, 3, BROKEN));
    assert_eq!(group(&nccl), [SUCCESS, SUCCESS]);
    assert!(!nccl.hook().fired());
    assert_eq!(destroy(&nccl), BROKEN);
    assert!(nccl.hook().fired());
    assert_eq!(group(&nccl), [SUCCESS, SUCCESS]);
}

#[test]
fn the_nth_call_of_a_kind_fails_and_no_other_kind_is_counted() {
    let nccl = HookedNccl::new(library(), FaultNccl::new(Some(NcclCall::ncclGroupEnd), 2, BROKEN));
    destroy(&nccl);
    assert_eq!(group(&nccl), [SUCCESS, SUCCESS]);
    destroy(&nccl);
    assert!(!nccl.hook().fired());
    assert_eq!(group(&nccl), [SUCCESS, BROKEN]);
    assert!(nccl.hook().fired());
    assert_eq!(group(&nccl), [SUCCESS, SUCCESS]);
}

#[test]
fn a_fault_that_is_number_zero_never_strikes() {
    let nccl = HookedNccl::new(library(), FaultNccl::new(None, 0, BROKEN));
    assert_eq!(group(&nccl), [SUCCESS, SUCCESS]);
    assert!(!nccl.hook().fired());
}

#[test]
fn a_call_that_a_hook_fails_does_not_reach_the_library() {
    let (made, fault) = (Arc::new(CountNccl::new()), Arc::new(FaultNccl::new(None, 1, BROKEN)));
    let nccl = HookedNccl::new(HookedNccl::new(library(), made.clone()), fault.clone());
    assert_eq!(destroy(&nccl), BROKEN);
    assert_eq!(made.all(), 0);
    assert_eq!(destroy(&nccl), SUCCESS);
    assert_eq!(made.all(), 1);
    assert!(fault.fired());
}

#[test]
fn hooks_and_pointers_hand_on_what_the_library_says() {
    let nccl: Arc<dyn Nccl> = Arc::new(HookedNccl::new(Box::new(library()), CountNccl::new()));
    assert_eq!(nccl.last_error().as_deref(), Some("a word"));
    assert_eq!(group(&nccl), [SUCCESS, SUCCESS]);
}

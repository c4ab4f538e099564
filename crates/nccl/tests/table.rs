//! The table against NCCL's header, and every row through a library that answers with its own number.
//!
//! What nccl.h of NCCL 2.32.3 says is written down here as numbers.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{MaybeUninit, align_of, offset_of, size_of};
use std::ptr::NonNull;

use dacapo_nccl::types::*;
use dacapo_nccl::{MissingSymbol, Nccl, NcclCall, NcclRole, NvidiaNccl};

/// What the fake of a row answers.
fn number_of(call: NcclCall) -> ncclResult {
    ncclResult(1000 + call as c_int)
}

/// A zero of any of the table's arguments: integers, null pointers and null handles.
fn zero<T>() -> T {
    // SAFETY: the arguments of the table are integers, raw pointers, transparent handles and bytes: all may be zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

macro_rules! fakes {
    ($($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "C's names and arguments")]
        mod fake {
            use super::*;
            $(pub extern "C" fn $symbol($(_: $ty),*) -> ncclResult { number_of(NcclCall::$symbol) })*
        }

        /// The address of a fake with the row's signature.
        fn find(symbol: &str) -> Option<NonNull<c_void>> {
            match symbol {
                $(stringify!($symbol) => NonNull::new(fake::$symbol as *mut c_void),)*
                "ncclGetLastError" => NonNull::new(last_error as *mut c_void),
                _ => None,
            }
        }

        /// What every row answers, in the table's order.
        fn call_all(nccl: &dyn Nccl) -> Vec<(NcclCall, ncclResult)> {
            vec![$(
                // SAFETY: the library is a fake, which looks at no argument.
                (NcclCall::$symbol, unsafe { nccl.$symbol($(zero::<$ty>()),*) }),
            )*]
        }
    };
}

dacapo_nccl::for_each_nccl_call!(fakes);

extern "C" fn last_error(_: ncclComm) -> *const c_char {
    const TEXT: &CStr = c"  no device, no rank\n";
    TEXT.as_ptr()
}

extern "C" fn says_nothing(_: ncclComm) -> *const c_char {
    std::ptr::null()
}

fn resolved() -> NvidiaNccl {
    // SAFETY: every address is that of a function with the row's signature, in this program.
    unsafe { NvidiaNccl::resolve(find) }.expect("every symbol is there")
}

#[test]
fn codes_are_those_of_the_header() {
    let header = [
        (0, "ncclSuccess"),
        (1, "ncclUnhandledCudaError"),
        (2, "ncclSystemError"),
        (3, "ncclInternalError"),
        (4, "ncclInvalidArgument"),
        (5, "ncclInvalidUsage"),
        (6, "ncclRemoteError"),
        (7, "ncclInProgress"),
        (8, "ncclTimeout"),
    ];
    for (number, name) in header {
        assert_eq!(ncclResult(number).name(), Some(name));
    }
    // `ncclNumResults` is 9: no other number has a name, and all of them survive.
    for number in [-1, 9, 4242] {
        assert_eq!(ncclResult(number).name(), None);
        assert_eq!(ncclResult(number).to_string(), format!("ncclResult {number}"));
    }
}

#[test]
fn types_and_reductions_are_those_of_the_header() {
    let types = [
        ncclInt8,
        ncclUint8,
        ncclInt32,
        ncclUint32,
        ncclInt64,
        ncclUint64,
        ncclFloat16,
        ncclFloat32,
        ncclFloat64,
        ncclBfloat16,
    ];
    assert_eq!(types, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!([ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg], [0, 1, 2, 3, 4]);
}

#[test]
fn layouts_are_those_of_the_header() {
    assert_eq!((size_of::<ncclComm>(), align_of::<ncclComm>()), (8, 8));
    // `NCCL_UNIQUE_ID_BYTES` is 128; it is handed over by value, as characters.
    assert_eq!((size_of::<ncclUniqueId>(), align_of::<ncclUniqueId>()), (128, 1));
    assert_eq!((size_of::<ncclResult>(), align_of::<ncclResult>()), (4, 4));
    // The fields that `ncclConfig_t` begins with since 2.14.
    assert_eq!(offset_of!(ncclConfig, size), 0);
    assert_eq!(offset_of!(ncclConfig, magic), 8);
    assert_eq!(offset_of!(ncclConfig, version), 12);
    assert_eq!(offset_of!(ncclConfig, blocking), 16);
    assert_eq!((size_of::<ncclConfig>(), align_of::<ncclConfig>()), (24, 8));
    let config = ncclConfig::new(false);
    assert_eq!((config.size, config.magic, config.blocking), (24, 0xcafe_beef, 0));
    // As `NCCL_VERSION(2, 14, 0)` counts.
    assert_eq!(config.version, 2 * 10_000 + 14 * 100);
    assert_eq!(ncclConfig::new(true).blocking, 1);
}

#[test]
fn every_method_calls_the_symbol_of_its_row() {
    let nccl = resolved();
    let answers = call_all(&nccl);
    assert_eq!(answers.len(), NcclCall::ALL.len());
    for (call, answer) in answers {
        assert_eq!(answer, number_of(call), "{call}");
    }
}

#[test]
fn each_symbol_is_looked_for_once() {
    let asked = std::cell::RefCell::new(Vec::new());
    let looked = |symbol: &'static str| {
        asked.borrow_mut().push(symbol);
        find(symbol)
    };
    // SAFETY: as in `resolved`.
    unsafe { NvidiaNccl::resolve(looked) }.expect("every symbol is there");
    let mut asked = asked.into_inner();
    asked.sort_unstable();
    let mut table: Vec<&str> = NcclCall::ALL.iter().map(|call| call.symbol()).collect();
    table.push("ncclGetLastError");
    table.sort_unstable();
    assert_eq!(asked, table);
}

#[test]
fn a_missing_symbol_is_named() {
    for lacked in NcclCall::ALL.iter().map(|call| call.symbol()).chain(["ncclGetLastError"]) {
        // SAFETY: as in `resolved`.
        let answer = unsafe { NvidiaNccl::resolve(|symbol| find(symbol).filter(|_| symbol != lacked)) };
        let missing = answer.expect_err("one symbol is not there");
        assert_eq!(missing, MissingSymbol(lacked));
        assert_eq!(missing.to_string(), format!("it has no `{lacked}`: NCCL has it from 2.14 on"));
    }
}

#[test]
fn the_last_error_is_the_librarys_text_without_the_space_around_it() {
    assert_eq!(resolved().last_error().as_deref(), Some("no device, no rank"));
    let silent = |symbol: &'static str| match symbol {
        "ncclGetLastError" => NonNull::new(says_nothing as *mut c_void),
        _ => find(symbol),
    };
    // SAFETY: as in `resolved`.
    let nccl = unsafe { NvidiaNccl::resolve(silent) }.expect("every symbol is there");
    assert_eq!(nccl.last_error(), None);
}

#[test]
fn roles_say_what_a_call_does() {
    let of =
        |role| NcclCall::ALL.iter().filter(|call| call.role() == role).map(|call| call.symbol()).collect::<Vec<_>>();
    assert_eq!(of(NcclRole::Make), ["ncclGetUniqueId", "ncclCommInitRankConfig"]);
    assert_eq!(of(NcclRole::Release), ["ncclCommFinalize", "ncclCommDestroy", "ncclCommAbort"]);
    assert_eq!(of(NcclRole::Group), ["ncclGroupStart", "ncclGroupEnd"]);
    let streams =
        ["ncclReduce", "ncclBroadcast", "ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclSend", "ncclRecv"];
    assert_eq!(of(NcclRole::Enqueue), streams);
}

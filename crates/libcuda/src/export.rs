//! The exports, made from the table: every symbol, and its twin for the per-thread default stream.
//!
//! A twin does what its symbol does, but the null stream (and the stream that a synchronous copy runs on) is the
//! calling thread's own.

use std::ffi::c_void;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Driver};

use crate::{forked, proc_address, software};

/// Runs a call, if CUDA can be used in this process, so that a panic stays on our side.
fn guarded(call: Call, run: impl FnOnce() -> CUresult) -> CUresult {
    if let Some(refusal) = forked::refusal(call) {
        return refusal;
    }
    // AssertUnwindSafe: after a panic the driver may be in any state, and we say so; there is no state of ours here.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let why = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_string());
        // Standard error may be closed or full, and a panic here would end the program.
        let _ = writeln!(
            std::io::stderr(),
            "bug in Dacapo: `{}` panicked: {why}\nnote: not the program's doing; the call answers CUDA_ERROR_UNKNOWN, and what follows cannot be trusted",
            call.symbol()
        );
        CUresult::CUDA_ERROR_UNKNOWN
    })
}

/// What a call does: `cuGetProcAddress` hands out addresses of this library and is answered here, all else by the driver.
/// After `cuInit`, forks are watched.
macro_rules! answer {
    (cuInit ($flags:ident)) => {{
        // SAFETY: takes a number.
        let code = unsafe { software::driver().cuInit($flags) };
        if code.is_success() {
            forked::initialised();
        }
        code
    }};
    (cuGetProcAddress_v2 ($symbol:ident, $pfn:ident, $version:ident, $flags:ident, $status:ident)) => {
        // SAFETY: what `cuGetProcAddress` demands of its arguments is the C caller's promise.
        unsafe { proc_address::answer($symbol, $pfn, $version, $flags, $status) }
    };
    (cuGetProcAddress ($symbol:ident, $pfn:ident, $version:ident, $flags:ident)) => {
        // SAFETY: as above; the older signature has no status, and null is accepted for it.
        unsafe { proc_address::answer($symbol, $pfn, $version, $flags, std::ptr::null_mut()) }
    };
    ($symbol:ident ($($arg:ident),*)) => {
        // SAFETY: the same call with the same arguments; what it demands is the C caller's promise.
        unsafe { software::driver().$symbol($($arg),*) }
    };
}

/// The module of a twin, if there is one.
macro_rules! define_twin {
    (None $symbol:ident ($($arg:ident: $ty:ty),*)) => {};
    (Ptsz $symbol:ident ($($arg:ident: $ty:ty),*)) => { define_twin! { "_ptsz" $symbol ($($arg: $ty),*) } };
    (Ptds $symbol:ident ($($arg:ident: $ty:ty),*)) => { define_twin! { "_ptds" $symbol ($($arg: $ty),*) } };
    ($suffix:literal $symbol:ident ($($arg:ident: $ty:ty),*)) => {
        pub mod $symbol {
            use super::super::*;

            #[unsafe(export_name = concat!(stringify!($symbol), $suffix))]
            pub unsafe extern "C" fn twin($($arg: $ty),*) -> CUresult {
                // The guard is inside: a panic must not leave the thread with the other default stream.
                software::with_per_thread_default_stream(|| guarded(Call::$symbol, || answer!($symbol ($($arg),*))))
            }
        }
    };
}

macro_rules! address_of_twin {
    (None $symbol:ident) => {
        std::ptr::null_mut()
    };
    ($twin:ident $symbol:ident) => {
        twins::$symbol::twin as *const () as *mut c_void
    };
}

macro_rules! define_exports {
    ($($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments, reason = "C's names, C's safety")]
        mod plain {
            use super::*;
            $(
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $symbol($($arg: $ty),*) -> CUresult {
                    guarded(Call::$symbol, || answer!($symbol ($($arg),*)))
                }
            )*
        }

        #[allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments, reason = "C's names, C's safety")]
        mod twins {
            $(define_twin! { $twin $symbol ($($arg: $ty),*) })*
        }

        /// The address of our export of `call`.
        pub fn address(call: Call) -> *mut c_void {
            match call { $(Call::$symbol => plain::$symbol as *const () as *mut c_void,)* }
        }

        /// The address of its twin; null if it has none.
        pub fn twin_address(call: Call) -> *mut c_void {
            match call { $(Call::$symbol => address_of_twin!($twin $symbol),)* }
        }
    };
}

dacapo_driver::for_each_call!(define_exports);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_answer_and_not_the_end_of_the_program() {
        assert_eq!(guarded(Call::cuInit, || panic!("on purpose")), CUresult::CUDA_ERROR_UNKNOWN);
        assert_eq!(guarded(Call::cuInit, || std::panic::panic_any(7)), CUresult::CUDA_ERROR_UNKNOWN);
        assert_eq!(guarded(Call::cuInit, || CUresult(4242)), CUresult(4242));
    }

    #[test]
    fn every_row_has_an_address_of_its_own() {
        let addresses: std::collections::HashSet<_> = Call::ALL.iter().map(|&call| address(call)).collect();
        assert_eq!(addresses.len(), Call::ALL.len());
    }
}

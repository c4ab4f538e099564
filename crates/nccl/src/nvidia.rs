//! NVIDIA's library: its symbols as typed function pointers, made from the table.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ptr::NonNull;

use crate::types::*;
use crate::{Nccl, NcclCall};

/// A library lacks a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingSymbol(pub &'static str);

impl fmt::Display for MissingSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it has no `{}`: NCCL has it from 2.14 on", self.0)
    }
}

impl std::error::Error for MissingSymbol {}

type LastErrorFn = unsafe extern "C" fn(ncclComm) -> *const c_char;

macro_rules! define_nvidia {
    ($($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// NVIDIA's library, by its symbols.
        #[allow(non_snake_case, reason = "C's names")]
        pub struct NvidiaNccl {
            ncclGetLastError: LastErrorFn,
            $($symbol: unsafe extern "C" fn($($ty),*) -> ncclResult,)*
        }

        impl NvidiaNccl {
            /// Asks `find` for the address of every row.
            ///
            /// # Errors
            ///
            /// - [`MissingSymbol`]: the first that is not there.
            ///
            /// # Safety
            ///
            /// - An address that `find` gives is that of the function of this name in an NCCL 2.14 or later, which stays
            ///   loaded for the life of the process.
            pub unsafe fn resolve(
                find: impl Fn(&'static str) -> Option<NonNull<c_void>>,
            ) -> Result<NvidiaNccl, MissingSymbol> {
                let found = |symbol| find(symbol).ok_or(MissingSymbol(symbol));
                Ok(NvidiaNccl {
                    // SAFETY: the function of this name has this signature since NCCL 2.13.
                    ncclGetLastError: unsafe {
                        std::mem::transmute::<NonNull<c_void>, LastErrorFn>(found("ncclGetLastError")?)
                    },
                    $($symbol: {
                        let address = found(NcclCall::$symbol.symbol())?;
                        // SAFETY: the address is that of the function of this row, whose signature the table states as
                        // nccl.h does.
                        unsafe {
                            std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($ty),*) -> ncclResult>(address)
                        }
                    },)*
                })
            }
        }

        #[allow(non_snake_case, reason = "C's names")]
        impl Nccl for NvidiaNccl {
            fn last_error(&self) -> Option<String> {
                // SAFETY: the communicator is not used, says the manual, and may be null; the text is the library's, and is
                // copied before the next call of this thread.
                let text = unsafe { (self.ncclGetLastError)(ncclComm::NULL) };
                if text.is_null() {
                    return None;
                }
                // SAFETY: not null, and ends with a zero.
                let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_string();
                (!text.is_empty()).then_some(text)
            }

            $(
                unsafe fn $symbol(&self, $($arg: $ty),*) -> ncclResult {
                    // SAFETY: the pointer has the row's signature and its library is never unloaded; what the function demands
                    // is our caller's promise.
                    unsafe { (self.$symbol)($($arg),*) }
                }
            )*
        }
    };
}

crate::for_each_nccl_call!(define_nvidia);

impl fmt::Debug for NvidiaNccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NvidiaNccl")
    }
}

//! The library's entry points as typed function pointers, made from the table.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

use super::Nvidia;
use crate::types::*;
use crate::{CUresult, Call, Driver};

macro_rules! define_entries {
    ($($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// One pointer for each row of the table; none for what the library lacks.
        #[allow(non_snake_case, reason = "C's names")]
        pub struct Entries { $($symbol: Option<unsafe extern "C" fn($($ty),*) -> CUresult>,)* }

        impl Entries {
            /// Asks `find` for the address of every row.
            ///
            /// `find` promises what `Library::entry_point` does: the address is a function of the row's signature.
            pub fn resolve(find: impl Fn(Call) -> Option<NonNull<c_void>>) -> Entries {
                Entries { $($symbol: find(Call::$symbol).map(|address| {
                    // SAFETY: the address is that of a function of this very row, whose signature the table states
                    // as cuda.h does; a function pointer and an object pointer have one size on every CUDA platform.
                    unsafe { std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($ty),*) -> CUresult>(address) }
                }),)* }
            }

            /// Whether there is an address for `call`.
            pub fn has(&self, call: Call) -> bool {
                match call { $(Call::$symbol => self.$symbol.is_some(),)* }
            }
        }

        #[allow(non_snake_case, reason = "C's names")]
        impl Driver for Nvidia {
            /// `CUDA_ERROR_NOT_SUPPORTED`: NVIDIA's driver answers it only with a reason, and here it has one.
            fn missing(&self, _: Call) -> CUresult {
                CUresult::CUDA_ERROR_NOT_SUPPORTED
            }

            $(
                #[inline]
                unsafe fn $symbol(&self, $($arg: $ty),*) -> CUresult {
                    match self.entries.$symbol {
                        // SAFETY: the pointer has the row's signature and its library is never unloaded; that the
                        // arguments are what the C function demands is our caller's promise.
                        Some(entry) => unsafe { entry($($arg),*) },
                        None => self.missing(Call::$symbol),
                    }
                }
            )*
        }
    };
}

crate::for_each_call!(define_entries);

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Call::ALL.iter().filter(|&&call| self.has(call)).count();
        write!(f, "{found} of {} entry points", Call::ALL.len())
    }
}

//! `trait Driver`: the driver API as an object.

use crate::types::*;
use crate::{CUresult, Call, Declared, DeclaredOf};

macro_rules! define_driver {
    ($($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// An implementation of the CUDA driver API: one method for each symbol of the table, under its C name.
        ///
        /// Any number of drivers may be alive in one process. Implemented in this workspace only: NVIDIA's library
        /// ([`Nvidia`](crate::Nvidia)), the hooks ([`Hooked`](crate::Hooked)) and the software driver; a new row of the table
        /// is not a breaking change for its users.
        ///
        /// # Safety
        ///
        /// Every method is unsafe as the C function is: pointers are read and written as the CUDA driver API's page
        /// of that function says, and must be valid for that (or null where the page allows it).
        #[allow(
            non_snake_case,
            clippy::missing_safety_doc,
            clippy::too_many_arguments,
            reason = "C's names; safety is stated above, once"
        )]
        pub trait Driver: Send + Sync {
            /// What a call answers that this driver does not have. Every method's default body comes here.
            fn missing(&self, call: Call) -> CUresult;

            /// Whether this driver wants to be told whose work it is given, and what kernels may touch. No C call; the answer
            /// never changes, so that it can be asked once.
            fn wants_declared(&self) -> bool {
                false
            }

            /// Whose some work is, and what its kernels may touch; `None`: nobody knows. No C call, and no answer: a driver
            /// that does not want to know, or does not know the node, does nothing.
            fn declare(&self, of: DeclaredOf, declared: Option<&Declared<'_>>) {
                let _ = (of, declared);
            }

            $(
                #[doc = concat!("`", stringify!($symbol), "`: see [`Call::", stringify!($symbol), "`].")]
                unsafe fn $symbol(&self, $($arg: $ty),*) -> CUresult {
                    $(let _ = $arg;)*
                    self.missing(Call::$symbol)
                }
            )*
        }
    };
}

crate::for_each_call!(define_driver);

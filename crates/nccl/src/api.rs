//! `trait Nccl`: NCCL as an object.

use crate::types::*;

macro_rules! define_nccl {
    ($($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// An implementation of NCCL: one method for each symbol of the table, under its C name.
        ///
        /// Implemented in this workspace only: NVIDIA's library ([`NvidiaNccl`](crate::NvidiaNccl)), the hooks
        /// ([`HookedNccl`](crate::HookedNccl)) and the software double in `dacapo-sim`; a new row of the table is not a
        /// breaking change for its users.
        ///
        /// # Safety
        ///
        /// Every method is unsafe as the C function is: pointers are read and written as NCCL's manual says of that
        /// function, and must be valid for that; a communicator is one that was made and has not ended.
        #[allow(
            non_snake_case,
            clippy::missing_safety_doc,
            clippy::too_many_arguments,
            reason = "C's names; safety is stated above, once"
        )]
        pub trait Nccl: Send + Sync {
            /// What the library says of the last error of this thread, where it says anything: `ncclGetLastError`.
            fn last_error(&self) -> Option<String> {
                None
            }

            $(
                #[doc = concat!("`", stringify!($symbol), "`.")]
                unsafe fn $symbol(&self, $($arg: $ty),*) -> ncclResult;
            )*
        }
    };
}

crate::for_each_nccl_call!(define_nccl);

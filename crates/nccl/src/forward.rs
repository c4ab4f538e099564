//! A pointer to a library is a library, made from the table.

use std::sync::Arc;

use crate::Nccl;
use crate::types::*;

macro_rules! forward_through {
    ($pointer:ty; $($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, reason = "C's names")]
        impl<N: Nccl + ?Sized> Nccl for $pointer {
            fn last_error(&self) -> Option<String> {
                (**self).last_error()
            }

            $(
                unsafe fn $symbol(&self, $($arg: $ty),*) -> ncclResult {
                    // SAFETY: the same call with the same arguments; what it demands is our caller's promise.
                    unsafe { (**self).$symbol($($arg),*) }
                }
            )*
        }
    };
}

macro_rules! forward_arc { ($($rows:tt)*) => { forward_through! { Arc<N>; $($rows)* } }; }
macro_rules! forward_box { ($($rows:tt)*) => { forward_through! { Box<N>; $($rows)* } }; }

crate::for_each_nccl_call!(forward_arc);
crate::for_each_nccl_call!(forward_box);

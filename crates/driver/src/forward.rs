//! A pointer to a driver is a driver: boxes, shared pointers and references, made from the table.

use std::sync::Arc;

use crate::types::*;
use crate::{CUresult, Call, Declared, DeclaredOf, Driver};

macro_rules! forward_through {
    ($pointer:ty; $($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, reason = "C's names")]
        impl<D: Driver + ?Sized> Driver for $pointer {
            fn missing(&self, call: Call) -> CUresult {
                (**self).missing(call)
            }

            fn wants_declared(&self) -> bool {
                (**self).wants_declared()
            }

            fn declare(&self, of: DeclaredOf, declared: Option<&Declared<'_>>) {
                (**self).declare(of, declared);
            }

            $(
                #[inline]
                unsafe fn $symbol(&self, $($arg: $ty),*) -> CUresult {
                    // SAFETY: the same call with the same arguments; what it demands is our caller's promise.
                    unsafe { (**self).$symbol($($arg),*) }
                }
            )*
        }
    };
}

macro_rules! forward_box { ($($rows:tt)*) => { forward_through! { Box<D>; $($rows)* } }; }
macro_rules! forward_arc { ($($rows:tt)*) => { forward_through! { Arc<D>; $($rows)* } }; }
macro_rules! forward_reference { ($($rows:tt)*) => { forward_through! { &D; $($rows)* } }; }

crate::for_each_call!(forward_box);
crate::for_each_call!(forward_arc);
crate::for_each_call!(forward_reference);

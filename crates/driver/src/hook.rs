//! Hooks: ONE generated wrapper over any driver, with one function around every call.
//!
//! - [`Hooked`] is a driver itself, so hooks stack in any order, and the results of the calls do not depend on it.
//! - A hook sees every call of the table with its arguments as numbers, and decides whether the driver below is called.
//!   What is no call of the table ([`Driver::declare`]) it does not see: that is passed on.
//! - The hooks that come with it: [`Trace`] (JSON lines), [`Count`] (calls and their times), [`Fault`] (the n-th call
//!   of a kind fails, with the effect that the fault model gives it).
//!
//! A hook holds no lock while the call runs: a host function that the driver runs inside a call may call the driver again.
//!
//! ```
//! # use dacapo_driver::{Call, CUresult, Driver};
//! use dacapo_driver::{Count, Fault, Hooked};
//! # struct Nothing;
//! # impl Driver for Nothing { fn missing(&self, _: Call) -> CUresult { CUresult::CUDA_SUCCESS } }
//! # let driver = Nothing;
//!
//! let fault = Fault::new().fail(Call::cuInit, 2, CUresult::CUDA_ERROR_NO_DEVICE);
//! let driver = Hooked::new(Hooked::new(driver, fault), Count::new());
//! // SAFETY: `cuInit` takes a number.
//! let answers = unsafe { [driver.cuInit(0), driver.cuInit(0)] };
//! assert_eq!(answers, [CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_NO_DEVICE]);
//! assert_eq!(driver.hook().snapshot()[0].calls, 2);
//! assert!(driver.inner().hook().all_fired());
//! ```

use std::sync::Arc;

use crate::types::*;
use crate::{CUresult, Call, Declared, DeclaredOf, Driver};

mod argument;
mod count;
mod fault;
mod trace;

use argument::Bits;
pub use argument::{Argument, Notation};
pub use count::{CallCount, Count};
pub use fault::{Breakable, Fault, Rule, Which};
pub use trace::Trace;

/// What is done around every call.
pub trait Hook: Send + Sync {
    /// Called instead of `call`; calls `run` to have the driver below do it, once, or not at all.
    ///
    /// What it returns is what the caller gets.
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult;
}

impl<H: Hook + ?Sized> Hook for Arc<H> {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        (**self).around(call, arguments, run)
    }
}

impl<H: Hook + ?Sized> Hook for Box<H> {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        (**self).around(call, arguments, run)
    }
}

/// A driver with a hook around every call.
#[derive(Clone, Debug, Default)]
pub struct Hooked<D, H> {
    driver: D,
    hook: H,
}

impl<D: Driver, H: Hook> Hooked<D, H> {
    /// `driver` with `hook` around every call. To keep a hand on the hook, pass an `Arc` of it.
    pub fn new(driver: D, hook: H) -> Self {
        Hooked { driver, hook }
    }

    /// The driver below.
    pub fn inner(&self) -> &D {
        &self.driver
    }

    /// The hook.
    pub fn hook(&self) -> &H {
        &self.hook
    }

    /// The driver below and the hook, apart again.
    pub fn into_parts(self) -> (D, H) {
        (self.driver, self.hook)
    }
}

macro_rules! define_hooked {
    ($($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, reason = "C's names")]
        impl<D: Driver, H: Hook> Driver for Hooked<D, H> {
            fn missing(&self, call: Call) -> CUresult {
                self.driver.missing(call)
            }

            fn wants_declared(&self) -> bool {
                self.driver.wants_declared()
            }

            fn declare(&self, of: DeclaredOf, declared: Option<&Declared<'_>>) {
                self.driver.declare(of, declared);
            }

            $(
                unsafe fn $symbol(&self, $($arg: $ty),*) -> CUresult {
                    let arguments = [$(Argument { name: argument::plain(stringify!($arg)), type_name: stringify!($ty), bits: $arg.bits_of() }),*];
                    self.hook.around(Call::$symbol, &arguments, &mut || {
                        // SAFETY: the same call with the same arguments; what it demands is our caller's promise, and
                        // the hook runs this inside the caller's call, while that promise holds.
                        unsafe { self.driver.$symbol($($arg),*) }
                    })
                }
            )*
        }
    };
}

crate::for_each_call!(define_hooked);

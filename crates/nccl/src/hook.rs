//! Hooks: ONE generated wrapper over any library, with one function around every call.
//!
//! - [`HookedNccl`] is a library itself, so hooks stack in any order.
//! - [`CountNccl`] counts calls; [`FaultNccl`] makes the n-th call fail.
//! - A hook holds no lock while the call runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::types::*;
use crate::{Nccl, NcclCall};

/// What is done around every call.
pub trait NcclHook: Send + Sync {
    /// Called instead of `call`; calls `run` to have the library below do it, once, or not at all. What it returns is what the
    /// caller gets.
    fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult;
}

impl<H: NcclHook + ?Sized> NcclHook for Arc<H> {
    fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult {
        (**self).around(call, run)
    }
}

/// A library with a hook around every call.
#[derive(Clone, Debug, Default)]
pub struct HookedNccl<N, H> {
    nccl: N,
    hook: H,
}

impl<N: Nccl, H: NcclHook> HookedNccl<N, H> {
    /// `nccl` with `hook` around every call. To keep a hand on the hook, pass an `Arc` of it.
    pub fn new(nccl: N, hook: H) -> Self {
        HookedNccl { nccl, hook }
    }

    /// The hook.
    pub fn hook(&self) -> &H {
        &self.hook
    }
}

macro_rules! define_hooked {
    ($($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, reason = "C's names")]
        impl<N: Nccl, H: NcclHook> Nccl for HookedNccl<N, H> {
            fn last_error(&self) -> Option<String> {
                self.nccl.last_error()
            }

            $(
                unsafe fn $symbol(&self, $($arg: $ty),*) -> ncclResult {
                    self.hook.around(NcclCall::$symbol, &mut || {
                        // SAFETY: the same call with the same arguments; what it demands is our caller's promise, and
                        // the hook runs this inside the caller's call, while that promise holds.
                        unsafe { self.nccl.$symbol($($arg),*) }
                    })
                }
            )*
        }
    };
}

crate::for_each_nccl_call!(define_hooked);

/// Counts calls.
#[derive(Debug)]
pub struct CountNccl {
    calls: Vec<AtomicU64>,
}

impl Default for CountNccl {
    fn default() -> CountNccl {
        CountNccl { calls: NcclCall::ALL.iter().map(|_| AtomicU64::new(0)).collect() }
    }
}

impl CountNccl {
    /// Nothing counted yet.
    pub fn new() -> CountNccl {
        CountNccl::default()
    }

    /// How often this call was made.
    pub fn calls(&self, call: NcclCall) -> u64 {
        self.calls[call as usize].load(Ordering::Relaxed)
    }

    /// How many calls were made.
    pub fn all(&self) -> u64 {
        self.calls.iter().map(|calls| calls.load(Ordering::Relaxed)).sum()
    }
}

impl NcclHook for CountNccl {
    fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult {
        self.calls[call as usize].fetch_add(1, Ordering::Relaxed);
        run()
    }
}

/// Makes one call fail: the n-th of all calls, or of one kind, answers a code and is not made.
#[derive(Debug)]
pub struct FaultNccl {
    only: Option<NcclCall>,
    nth: u64,
    code: ncclResult,
    seen: AtomicU64,
}

impl FaultNccl {
    /// The `nth` call (from 1) of `only`, or of all, answers `code`.
    pub fn new(only: Option<NcclCall>, nth: u64, code: ncclResult) -> FaultNccl {
        FaultNccl { only, nth, code, seen: AtomicU64::new(0) }
    }

    /// Whether it has struck. A test that injects a fault asks this, so that it cannot pass by missing it.
    pub fn fired(&self) -> bool {
        self.nth != 0 && self.seen.load(Ordering::Relaxed) >= self.nth
    }
}

impl NcclHook for FaultNccl {
    fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult {
        let counts = self.only.is_none_or(|only| only == call);
        if counts && self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.nth {
            return self.code;
        }
        run()
    }
}

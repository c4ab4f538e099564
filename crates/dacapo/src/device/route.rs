//! How copies get from one device to another.
//!
//! A copy between two devices runs on one of them and reaches for the memory of the other. Where both can be peers, the first
//! such copy lets them be: then it goes directly. Where they cannot, the driver takes it through memory of the host.
//!
//! # Why this is safe
//!
//! 1. *Order.* Devices of one driver share what their ledgers know ([`kin`](super::kin)), and a stream of one waits for events of
//!    the other: work that touches the same memory has an order, whichever device does it.
//! 2. *Lifetime of memory.* The op holds both allocations, and each of them its device. What is dropped while a copy is in flight
//!    is freed behind it, on its own device: the use names the stream of the other.
//! 3. *Lifetime of handles.* From the first route on each of the two holds the other's context, so that no context ends while the
//!    other device's work is in it. Streams and events hold theirs by themselves.
//! 4. *The end.* A device that has routes waits for its own work when it is given back: that work may be in the memory of others.
//!    From inside foreign work, where waiting could be for itself, it never lets go of those contexts instead.
//! 5. *Access.* Being peers opens memory to the other device's copies. Kernels are told only addresses of their own device:
//!    `WrongDevice` refuses all others when an op is recorded.
//!
//! | what a user does instead | what happens |
//! |---|---|
//! | drops either device, or both, with a copy in flight | the last handle waits for the device's own work |
//! | copies between two software devices that were opened one by one | `WrongDevice`: they are two machines; `open_group` makes one |
//! | gives a kernel, a fill or a transfer memory of another device | `WrongDevice` |
//! | breaks one device | the other goes on; what it was to do behind the broken work answers the fault |

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dacapo_driver::types::{
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_LOCATION_TYPE_DEVICE, CUmemAccessDesc, CUmemLocation, CUmemoryPool,
    c_int,
};
use dacapo_driver::{CUresult, Call, DriverError};

use crate::device::{Device, Inner, Retained};
use crate::error::{Error, ErrorKind, Result};

/// How a copy gets to the memory of another device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Directly: the device has access. Or it is the same GPU, opened twice.
    Peer,
    /// The driver takes it through memory of the host.
    Staged,
}

/// The routes of one device.
#[derive(Default)]
pub(crate) struct Routes(Mutex<Vec<Route>>);

struct Route {
    to: Arc<Retained>,
    /// None as long as only the other one reaches for memory here.
    way: Option<Way>,
}

impl Routes {
    fn list(&self) -> MutexGuard<'_, Vec<Route>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether copies have gone to or from another device.
    pub(super) fn are_there(&self) -> bool {
        !self.list().is_empty()
    }

    /// The contexts of the others are held for ever.
    pub(super) fn forget(&self) {
        std::mem::forget(std::mem::take(&mut *self.list()));
    }

    fn known(&self, to: &Arc<Retained>) -> Option<Way> {
        self.list().iter().find(|route| Arc::ptr_eq(&route.to, to)).and_then(|route| route.way)
    }

    /// Takes a route down. Those to devices that are gone are let go of if nothing runs here.
    fn note(&self, to: &Arc<Retained>, way: Option<Way>, is_idle: bool) {
        let mut gone = Vec::new();
        let mut list = self.list();
        match list.iter_mut().find(|route| Arc::ptr_eq(&route.to, to)) {
            Some(route) => route.way = route.way.or(way),
            None => {
                if is_idle {
                    let (kept, ended) = list.drain(..).partition(|route| Arc::strong_count(&route.to) > 1);
                    (*list, gone) = (kept, ended);
                }
                list.push(Route { to: to.clone(), way });
            }
        }
        drop(list);
        // Not under the lock: the driver is called.
        drop(gone);
    }
}

impl Inner {
    /// Whether a code that is of a broken context says so of another device's, and this one's is whole.
    pub(super) fn is_others(&self, first: DriverError) -> bool {
        first.code.is_sticky() && self.routes.are_there() && {
            // SAFETY: the stream is ours and lives as long as the device.
            let code = unsafe { self.cuda.driver.cuStreamQuery(self.home.0) };
            !code.is_sticky()
        }
    }
}

impl Device {
    /// How copies that run here get to the memory of another device of the same driver. The first question opens the way.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub(crate) fn way_to(&self, other: &Device) -> Result<Way> {
        let to = &other.0.cuda.retained;
        if let Some(way) = self.0.routes.known(to) {
            return Ok(way);
        }
        self.enter()?;
        let way = if self.0.raw == other.0.raw { Way::Peer } else { self.open_way(other)? };
        self.works_with_others()?;
        other.works_with_others()?;
        // The other one first: with one of the two its context would not be held here.
        other.0.routes.note(&self.0.cuda.retained, None, other.is_idle());
        self.0.routes.note(to, Some(way), self.is_idle());
        Ok(way)
    }

    /// How copies get there, where the way is open.
    pub(crate) fn known_way(&self, other: &Device) -> Option<Way> {
        self.0.routes.known(&other.0.cuda.retained)
    }

    /// That the work of another device was lost, by the name of that one.
    #[cold]
    pub(super) fn other_lost(&self, first: DriverError) -> Error {
        let lost = self.0.routes.list().iter().find(|route| route.to.is_lost()).map(|route| route.to.device());
        Error::new(ErrorKind::OtherLost { device: lost, first })
    }

    fn is_idle(&self) -> bool {
        self.0.all_last_uses().is_empty()
    }

    fn open_way(&self, other: &Device) -> Result<Way> {
        let mut can: c_int = 0;
        // SAFETY: `can` is valid for the write; the driver gave both devices.
        let code = unsafe { self.driver().cuDeviceCanAccessPeer(&mut can, self.0.raw, other.0.raw) };
        self.check(code, Call::cuDeviceCanAccessPeer)?;
        if can == 0 {
            return Ok(Way::Staged);
        }
        // For memory of other libraries.
        // SAFETY: the context is the other device's, which is open.
        match unsafe { self.driver().cuCtxEnablePeerAccess(other.context(), 0) } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
            // A GPU has only so many peers.
            CUresult::CUDA_ERROR_TOO_MANY_PEERS | CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => {
                return Ok(Way::Staged);
            }
            code => self.check(code, Call::cuCtxEnablePeerAccess)?,
        }
        // For buffers: what an allocator in stream order gives is opened by its pool alone.
        let mut pool = CUmemoryPool::NULL;
        // SAFETY: `pool` is valid for the write.
        let code = unsafe { self.driver().cuDeviceGetMemPool(&mut pool, other.0.raw) };
        self.check(code, Call::cuDeviceGetMemPool)?;
        let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: self.0.raw };
        let access = CUmemAccessDesc { location, flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
        // SAFETY: the description is valid for the call.
        let code = unsafe { self.driver().cuMemPoolSetAccess(pool, &access, 1) };
        self.check(code, Call::cuMemPoolSetAccess)?;
        Ok(Way::Peer)
    }
}

//! What a device has one of for a module above it: kernels of the library's own, another library's handle, a thread.
//!
//! The device holds guests and does not know what they are. Each is made when it is first needed, is the same for everyone,
//! and leaves with the device.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::Device;

/// Something that a device has one of.
pub(crate) trait Guest: Any + Send + Sync {
    /// The device goes, and this with it, just after this call. `is_quiet`: nothing runs on the device any more, and its
    /// context is current and whole. Else what the drop would do is not safe to do.
    fn leave(&self, _is_quiet: bool) {}
}

/// The guests of one device, in the order in which they came.
#[derive(Default)]
pub(crate) struct Guests(Mutex<Vec<(TypeId, Arc<dyn Guest>)>>);

impl Guests {
    fn list(&self) -> MutexGuard<'_, Vec<(TypeId, Arc<dyn Guest>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of all of them.
    pub(crate) fn leave(&self, is_quiet: bool) {
        // Taken out first: a guest's drop may be anyone's code.
        let guests = std::mem::take(&mut *self.list());
        for (_, guest) in guests {
            guest.leave(is_quiet);
        }
    }
}

fn find<G: Guest>(list: &[(TypeId, Arc<dyn Guest>)]) -> Option<Arc<G>> {
    let (_, guest) = list.iter().find(|(id, _)| *id == TypeId::of::<G>())?;
    let guest: Arc<dyn Any + Send + Sync> = guest.clone();
    guest.downcast().ok()
}

impl Device {
    /// The guest of this type, if it is there.
    pub(crate) fn guest<G: Guest>(&self) -> Option<Arc<G>> {
        find(&self.0.guests.list())
    }

    /// Takes a guest in. If another thread was faster, it is that one's.
    pub(crate) fn take_in<G: Guest>(&self, guest: G) -> Arc<G> {
        let mut list = self.0.guests.list();
        if let Some(there) = find(&list) {
            // Dropped outside of the lock.
            drop(list);
            return there;
        }
        let guest = Arc::new(guest);
        list.push((TypeId::of::<G>(), guest.clone()));
        guest
    }
}

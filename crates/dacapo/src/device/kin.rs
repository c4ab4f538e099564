//! Devices of one driver: they know each other's memory, and the order of what touches it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use dacapo_driver::{Driver, LoadError, Nvidia};
use dacapo_ledger::Ledger;

use crate::device::{Cuda, Device};

/// What all open devices of one driver hold.
pub(crate) struct Kin {
    /// The ledgers of the devices are beside this one.
    ledger: Ledger<Cuda>,
    /// Held, so that no other driver comes to be where this one is. Behind the ledger, whose streams are its own.
    driver: Arc<dyn Driver>,
}

/// The drivers that have open devices.
static KIN: Mutex<Vec<Weak<Kin>>> = Mutex::new(Vec::new());

impl Kin {
    /// That of this driver's devices.
    pub(super) fn of(driver: &Arc<dyn Driver>) -> Arc<Kin> {
        let mut all = KIN.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|kin| kin.strong_count() > 0);
        let is_here = |kin: &Arc<Kin>| std::ptr::addr_eq(Arc::as_ptr(&kin.driver), Arc::as_ptr(driver));
        // Held until the list's lock is released: the last hold may be here by then, and ends what is anyone's code.
        let upgraded: Vec<Arc<Kin>> = all.iter().filter_map(Weak::upgrade).collect();
        let kin = upgraded.iter().find(|kin| is_here(kin)).cloned().unwrap_or_else(|| {
            let kin = Arc::new(Kin { ledger: Ledger::new(), driver: driver.clone() });
            all.push(Arc::downgrade(&kin));
            kin
        });
        drop(all);
        kin
    }

    /// A ledger for one more device.
    pub(super) fn ledger(&self) -> Ledger<Cuda> {
        self.ledger.beside()
    }
}

impl Device {
    /// Whether both are of one driver: then `copy` goes from one to the other.
    pub(crate) fn is_kin(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0.kin, &other.0.kin)
    }
}

/// NVIDIA's library: the one that is open already, if it is the same file.
pub(super) fn nvidia() -> Result<Arc<Nvidia>, LoadError> {
    static OPEN: Mutex<Weak<Nvidia>> = Mutex::new(Weak::new());
    let nvidia = Nvidia::open()?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = open.upgrade().filter(|there| there.path() == nvidia.path()) {
        return Ok(there);
    }
    let nvidia = Arc::new(nvidia);
    *open = Arc::downgrade(&nvidia);
    Ok(nvidia)
}

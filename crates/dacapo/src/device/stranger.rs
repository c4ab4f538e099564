//! What belongs to another device: said with the names of both.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::Device;
use crate::error::{Error, ErrorKind};

/// Devices that this process has opened: two of them may have all else in common.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// The number of a device that is being opened, from 1 on.
pub(super) fn opened() -> u64 {
    OPENED.fetch_add(1, Ordering::Relaxed) + 1
}

impl Device {
    /// Refuses `what`, which is of `other` and would have to be of this device.
    #[cold]
    #[inline(never)]
    pub(crate) fn stranger(&self, what: &str, other: &Device) -> Error {
        let (mut its, mut wanted) = (other.described(), self.described());
        if its == wanted {
            // The same GPU opened twice, or two software devices.
            its += &format!(", opened as number {}", other.0.opened);
            wanted = format!("the one opened as number {}", self.0.opened);
        }
        Error::new(ErrorKind::WrongDevice { what: what.to_string(), its, wanted })
    }

    fn described(&self) -> String {
        format!("device {}, {}", self.0.ordinal, self.properties().name)
    }
}

//! The id by which the ranks of a communicator find each other.

use std::fmt;

use dacapo_nccl::types::ncclUniqueId;

use crate::collective::library::Library;
use crate::device::Device;
use crate::error::Result;

/// What all ranks of one communicator are given: one rank makes it, and the program carries its bytes to the others.
///
/// Whoever knows it can join, so it is as secret as the program's data.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::collective::UniqueId;
/// let device = dacapo::Device::software()?;
/// let id = UniqueId::new(&device)?;
/// let bytes = id.to_bytes(); // by file, socket or MPI
/// assert_eq!(UniqueId::from_bytes(bytes), id);
/// # Ok(()) }
/// ```
#[doc(alias = "ncclUniqueId")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UniqueId(pub(super) ncclUniqueId);

impl UniqueId {
    /// How many bytes it has.
    pub const LEN: usize = 128;

    /// A new one.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoLibrary`](crate::ErrorKind::NoLibrary): NCCL was not found.
    /// - [`ErrorKind::Library`](crate::ErrorKind::Library): NCCL refused.
    #[doc(alias = "ncclGetUniqueId")]
    pub fn new(device: &Device) -> Result<UniqueId> {
        UniqueId::of(&Library::of(device)?, device)
    }

    pub(super) fn of(library: &Library, device: &Device) -> Result<UniqueId> {
        device.enter()?;
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: `id` is valid for the write.
        let code = unsafe { library.nccl().ncclGetUniqueId(&mut id) };
        library.check(code, dacapo_nccl::NcclCall::ncclGetUniqueId)?;
        Ok(UniqueId(id))
    }

    /// Its bytes, for the other ranks.
    pub fn to_bytes(&self) -> [u8; UniqueId::LEN] {
        self.0.internal
    }

    /// One that another rank has made.
    pub fn from_bytes(bytes: [u8; UniqueId::LEN]) -> UniqueId {
        UniqueId(ncclUniqueId { internal: bytes })
    }
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UniqueId")
    }
}

//! Making communicators.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo_nccl::Nccl;
use dacapo_nccl::types::{c_int, ncclComm, ncclConfig, ncclResult};

use crate::collective::library::Library;
use crate::collective::member::{Joined, LOOK, Member};
use crate::collective::watch::watch;
use crate::collective::{Communicator, UniqueId};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};

/// How communicators are made: time limits, agreement.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::collective::Join;
/// use std::time::Duration;
/// let devices = dacapo::Device::software_group(2)?;
/// let ranks = Join::new().timeout(Duration::from_secs(20)).all(&devices)?;
/// assert_eq!(ranks.iter().map(|comm| comm.rank()).collect::<Vec<_>>(), [0, 1]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Join {
    timeout: Duration,
    agrees: bool,
    given: Option<Library>,
}

impl Default for Join {
    fn default() -> Join {
        Join::new()
    }
}

impl Join {
    /// A timeout of five minutes, and recordings are compared.
    pub fn new() -> Join {
        Join { timeout: Duration::from_secs(300), agrees: true, given: None }
    }

    /// How long another rank may take to come: to join, and to take part in what this rank has launched. Longer than the longest
    /// piece of work on the streams that collectives are launched on: the time counts from then on.
    pub fn timeout(mut self, timeout: Duration) -> Join {
        self.timeout = timeout;
        self
    }

    /// Recordings are not compared. Then a graph can be made on one rank alone, and ranks that differ hang until the timeout.
    pub fn without_agreement(mut self) -> Join {
        self.agrees = false;
        self
    }

    /// With this library instead of the device's own.
    ///
    /// # Safety
    ///
    /// - It does what NCCL's manual says, or refuses; it never reports success for a call that failed.
    /// - Its streams and memory are those of the devices' driver.
    pub unsafe fn library(mut self, nccl: Arc<dyn Nccl>) -> Join {
        self.given = Some(Library::given(nccl));
        self
    }

    /// As [`Communicator::all`].
    ///
    /// # Errors
    ///
    /// - As there.
    pub fn all(&self, devices: &[Device]) -> Result<Vec<Communicator>> {
        let size = devices.len();
        let Some(first) = devices.first() else {
            let why = "there are no devices".to_string();
            return Err(Error::new(ErrorKind::NotJoined { rank: 0, size: 0, why }));
        };
        let id = self.unique_id(first)?;
        // A thread for each: joining waits for the others.
        let joined: Vec<Result<Communicator>> = std::thread::scope(|scope| {
            let spawn = |(rank, device)| {
                let id = &id;
                let named = std::thread::Builder::new().name(format!("dacapo-join-{rank}"));
                named.spawn_scoped(scope, move || self.join(device, id, rank, size))
            };
            let threads: Vec<_> = devices.iter().enumerate().map(spawn).collect();
            let ended = threads.into_iter().enumerate().map(|(rank, thread)| {
                let fail = |why: String| Err(Error::new(ErrorKind::NotJoined { rank, size, why }));
                match thread {
                    Ok(thread) => thread.join().unwrap_or_else(|_| fail("its thread panicked".into())),
                    Err(error) => fail(format!("no thread could be made for it: {error}")),
                }
            });
            ended.collect()
        });
        joined.into_iter().collect()
    }

    /// As [`UniqueId::new`], by the library that is used here.
    ///
    /// # Errors
    ///
    /// - As there.
    pub fn unique_id(&self, device: &Device) -> Result<UniqueId> {
        UniqueId::of(&self.library_of(device)?, device)
    }

    /// As [`Communicator::join`].
    ///
    /// # Errors
    ///
    /// - As there.
    pub fn join(&self, device: &Device, id: &UniqueId, rank: usize, size: usize) -> Result<Communicator> {
        let fail = |why: String| Error::new(ErrorKind::NotJoined { rank, size, why });
        if rank >= size {
            return Err(fail(format!("ranks are numbers from 0 to {}", size.saturating_sub(1))));
        }
        let (Ok(raw_rank), Ok(raw_size)) = (c_int::try_from(rank), c_int::try_from(size)) else {
            return Err(fail("there are too many ranks".into()));
        };
        let library = self.library_of(device)?;
        device.enter()?;
        let turn = device.zeros::<u32>(1)?.place();
        let _relaxed = device.relaxed()?;
        let (mut comm, mut config) = (ncclComm::NULL, ncclConfig::new(false));
        let nccl = library.nccl();
        // SAFETY: both pointers are valid for this call, which copies the configuration. The device's context is current: the
        // communicator is of that device.
        let mut code = unsafe { nccl.ncclCommInitRankConfig(&mut comm, raw_size, id.0, raw_rank, &mut config) };
        let begun = Instant::now();
        while code == ncclResult::ncclInProgress {
            if begun.elapsed() > self.timeout {
                break;
            }
            std::thread::sleep(LOOK);
            // SAFETY: the handle was made above; `code` is valid for the write.
            let asked = unsafe { nccl.ncclCommGetAsyncError(comm, &mut code) };
            if !asked.is_success() {
                code = asked;
            }
        }
        if !code.is_success() {
            let why = match code {
                ncclResult::ncclInProgress => format!("not all ranks came within {:?}", self.timeout),
                code => library.said(code),
            };
            if !comm.is_null() {
                // SAFETY: the handle was made above, and is not used again.
                let _ = unsafe { nccl.ncclCommAbort(comm) };
            }
            return Err(fail(why));
        }
        let member = Member::new(Joined {
            device: device.clone(),
            library,
            rank,
            size,
            timeout: self.timeout,
            agrees: self.agrees,
            turn,
            comm,
        });
        watch(&member);
        Ok(Communicator(member))
    }

    fn library_of(&self, device: &Device) -> Result<Library> {
        match &self.given {
            Some(library) => Ok(library.clone()),
            None => Library::of(device),
        }
    }
}

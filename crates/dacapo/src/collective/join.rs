//! Making communicators.

use std::panic::Location;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use dacapo_nccl::Nccl;
use dacapo_nccl::types::{c_int, ncclComm, ncclConfig};

use crate::collective::family::Family;
use crate::collective::library::Library;
use crate::collective::member::{Joined, Member};
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

    /// How long another rank may take to come: to join, and to take part in what this rank has launched. It must be longer than
    /// the longest piece of work on the streams that collectives are launched on: time counts from the launch.
    ///
    /// With NCCL a mistake in eager ops shows only when this time is over: 30 seconds are better while you develop.
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
    #[track_caller]
    pub fn all(&self, devices: &[Device]) -> Result<Vec<Communicator>> {
        let at = Location::caller();
        self.join_all(devices).map_err(|error| error.on_line(at))
    }

    fn join_all(&self, devices: &[Device]) -> Result<Vec<Communicator>> {
        let size = devices.len();
        let Some(first) = devices.first() else {
            let why = "there are no devices\nhelp: give it a device for each rank".to_string();
            return Err(Error::new(ErrorKind::NotJoined { rank: 0, size: 0, why }));
        };
        // In software it would work, and on GPUs NCCL refuses it.
        let is_there_before = |rank: &usize| devices[..*rank].iter().any(|before| before.is(&devices[*rank]));
        if let Some(rank) = (0..size).find(is_there_before) {
            let why = "its device is that of another rank: one device has one rank".to_string();
            return Err(Error::new(ErrorKind::NotJoined { rank, size, why }));
        }
        let id = self.unique_id(first)?;
        // A thread for each: joining waits for the others.
        let joined: Vec<Result<Communicator>> = std::thread::scope(|scope| {
            let spawn = |(rank, device)| {
                let id = &id;
                let named = std::thread::Builder::new().name(format!("dacapo-join-{rank}"));
                named.spawn_scoped(scope, move || self.join_one(device, id, rank, size))
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
    #[track_caller]
    pub fn join(&self, device: &Device, id: &UniqueId, rank: usize, size: usize) -> Result<Communicator> {
        let at = Location::caller();
        self.join_one(device, id, rank, size).map_err(|error| error.on_line(at))
    }

    fn join_one(&self, device: &Device, id: &UniqueId, rank: usize, size: usize) -> Result<Communicator> {
        let fail = |why: String| Error::new(ErrorKind::NotJoined { rank, size, why });
        if rank >= size {
            return Err(fail(format!("ranks are numbers from 0 to {}", size.saturating_sub(1))));
        }
        let (Ok(raw_rank), Ok(raw_size)) = (c_int::try_from(rank), c_int::try_from(size)) else {
            return Err(fail("there are too many ranks".into()));
        };
        let library = self.library_of(device)?;
        device.enter()?;
        if size > 1 {
            device.works_with_others()?;
        }
        // Also of a rank alone it must be known what its dead launch should have written.
        device.ledger().part_work();
        let turn = device.zeros::<u32>(1)?.place();
        // Held before anyone can have joined: who dies at once is known to those who come last.
        let family = Family::of(id);
        let comm = self.made(device, &library, id, [raw_rank, raw_size]).map_err(fail)?;
        let member = Member::new(Joined {
            device: device.clone(),
            library,
            rank,
            size,
            timeout: self.timeout,
            agrees: self.agrees,
            turn,
            id: *id,
            family,
            comm,
        });
        watch(&member);
        Ok(Communicator(member))
    }

    /// The handle. It is made on a thread of its own: NCCL waits for the other ranks there as long as it likes, and whoever has
    /// given up leaves the thread to end what it gets.
    ///
    /// Its calls wait. With those that do not, an error stays with the communicator: on an H200 (NCCL 2.28) one capture that
    /// somebody else had broken refused every later call, and each call took 60 us more.
    fn made(
        &self,
        device: &Device,
        library: &Library,
        id: &UniqueId,
        [rank, size]: [c_int; 2],
    ) -> Result<ncclComm, String> {
        // Nothing is kept in between: it is taken, or the thread knows that nobody will.
        let (tell, told) = mpsc::sync_channel(0);
        let (device, library, id) = (device.clone(), library.clone(), *id);
        let init = move || {
            let made = init(&device, &library, &id, [rank, size]);
            if let Err(mpsc::SendError(Ok(comm))) = tell.send(made) {
                let _relaxed = device.relaxed();
                // SAFETY: the handle was made here, and nobody else has it.
                let _ = unsafe { library.nccl().ncclCommAbort(comm) };
            }
        };
        let spawned = std::thread::Builder::new().name("dacapo-join".into()).spawn(init);
        spawned.map_err(|error| format!("no thread could be made: {error}"))?;
        match told.recv_timeout(self.timeout) {
            Ok(made) => made,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let help = "help: let every rank join, each on a thread or in a process of its own; `Join::timeout` is how long it waits";
                Err(format!("not all ranks came within {:?}\n{help}", self.timeout))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("the thread that joined has panicked".into()),
        }
    }

    fn library_of(&self, device: &Device) -> Result<Library> {
        match &self.given {
            Some(library) => Ok(library.clone()),
            None => Library::of(device),
        }
    }
}

fn init(device: &Device, library: &Library, id: &UniqueId, [rank, size]: [c_int; 2]) -> Result<ncclComm, String> {
    device.enter().map_err(|error| error.to_string())?;
    let _relaxed = device.relaxed().map_err(|error| error.to_string())?;
    let (mut comm, mut config) = (ncclComm::NULL, ncclConfig::new(true));
    let nccl = library.nccl();
    // SAFETY: both pointers are valid for this call, which copies the configuration. The device's context is current: the
    // communicator is of that device.
    let code = unsafe { nccl.ncclCommInitRankConfig(&mut comm, size, id.0, rank, &mut config) };
    if code.is_success() {
        return Ok(comm);
    }
    let why = library.said(code);
    if !comm.is_null() {
        // SAFETY: the handle was made above, and is not used again.
        let _ = unsafe { nccl.ncclCommAbort(comm) };
    }
    Err(why)
}

//! Devices: open a GPU or the software device, and ask what it is and how it is used.
//!
//! [`Device::best`] opens the GPU if there is one, [`Device::cuda`] a GPU by number, [`Device::software`] a device that
//! needs no GPU. [`Properties`] says what a device is, [`Abilities`] what its driver can do, [`Counters`] how many of
//! its objects are alive. Everything made from a device keeps it open.

// How it works:
//
// - The driver's objects end with the last handle on the device.
// - Every entry makes the device's primary context current, after asking whether it already is.
// - Calls that could break another library's capture are made in relaxed mode, and the mode is put back.
// - Dropping makes no driver call: what was dropped goes to a queue, which the next allocation, launch or
//   synchronisation empties.

mod abilities;
mod allocate;
mod apart;
mod books;
mod context;
mod counters;
#[cfg(feature = "software")]
mod courier;
mod ending;
mod garbage;
mod guests;
mod kin;
mod lost;
pub(crate) mod memory_report;
pub(crate) mod open;
mod partner;
mod properties;
mod queue;
mod range;
mod release;
mod retained;
mod route;
mod staging;
mod stranger;
pub(crate) mod stream;
mod sweeper;
pub(crate) mod ticket;
mod values;
mod wake;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};

use dacapo_driver::Driver;
use dacapo_driver::types::{CUcontext, CUdevice};
use dacapo_ledger::{Drops, Lane, Ledger};

use crate::error::{Error, Result};

pub use abilities::{Abilities, Ability};
pub(crate) use apart::Apart;
pub(crate) use books::{Booking, Books};
pub(crate) use context::{Relaxed, twice};
pub use counters::Counters;
pub(crate) use counters::Live;
pub(crate) use garbage::Garbage;
pub(crate) use guests::{Guest, Guests};
pub(crate) use lost::{Named, Needed, Noted, Notes};
pub(crate) use partner::{Counted, JointOp, Life, Partner, Torn, Writers};
pub use properties::Properties;
pub(crate) use queue::{Cuda, HeldDriver, LaneStream, RawHandle};
pub(crate) use range::Range;
pub(crate) use retained::Retained;
pub(crate) use route::Way;
pub(crate) use staging::{Block, PIECE_MAX};
pub(crate) use stream::{RawStream, Stream, StreamInner};
pub(crate) use ticket::{Ticket, is_over, poll_use};
pub(crate) use values::{Each, Keeps, drop_each, go_on, keep_first};
pub(crate) use wake::Waiting;

/// One GPU, on NVIDIA's driver or in software.
///
/// It makes memory ([`buffer`](Device::buffer), [`zeros`](Device::zeros), [`host`](Device::host)) and
/// [`stream`](Device::stream)s, and [`record`](Device::record)s graphs. Clones are the same device.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// let device = dacapo::Device::best()?; // the GPU where there is one
/// let stream = device.stream()?;
/// let x = device.buffer(&[1u32, 2, 3])?;
/// assert_eq!(stream.read(&x)?, [1, 2, 3]);
/// # Ok(()) }
/// ```
#[doc(alias = "cudaSetDevice")]
#[doc(alias = "CUcontext")]
#[doc(alias = "CudaContext")]
#[derive(Clone)]
pub struct Device(pub(crate) Arc<Inner>);

/// What all that belongs to a device holds.
#[repr(C, align(64))] // in this order: what a launch touches comes first, in one line of the caches
pub(crate) struct Inner {
    pub(crate) cuda: Cuda,
    pub(crate) drops: Arc<Drops<Cuda, Garbage>>,
    /// Whether `lost` is there, beside what every launch looks at.
    pub(crate) is_lost: AtomicBool,
    /// Whether a partner has died: launches ask theirs from then on.
    pub(crate) partner_died: AtomicBool,
    /// Whether the driver wants to be told whose work it is given, and what kernels may touch; asked once.
    pub(crate) wants_declared: bool,
    pub(crate) ledger: Ledger<Cuda>,
    pub(crate) raw: CUdevice,
    pub(crate) ordinal: usize,
    pub(crate) properties: Properties,
    pub(crate) abilities: Abilities,
    /// Where memory is allocated and zeroed, always with a wait behind it.
    pub(crate) home: RawHandle,
    /// Where memory is freed, behind its last uses.
    pub(crate) reaper: Lane<Cuda>,
    pub(crate) staging: Mutex<staging::Staging>,
    /// The streams that the user holds, and those that were dropped with work in flight.
    pub(crate) lanes: Mutex<Vec<Lane<Cuda>>>,
    pub(crate) lost: OnceLock<lost::Lost>,
    /// Whether `tracing` was told that the context is lost.
    #[cfg(feature = "tracing")]
    pub(crate) told_lost: AtomicBool,
    pub(crate) counters: Live,
    /// Why this is the software device, where a GPU was asked for first.
    pub(crate) instead_of_gpu: OnceLock<Error>,
    /// What is held, and the budget.
    pub(crate) books: Arc<Books>,
    pub(crate) recordings: AtomicU64,
    /// How many ops the last graph has that was recorded: the next one may have as many.
    pub(crate) ops_last: AtomicUsize,
    /// What modules above the device keep with it.
    pub(crate) guests: Guests,
    /// How many values of the user's wait in the queue of drops.
    pub(crate) values_waiting: AtomicUsize,
    /// Whether the sweeper looks after them.
    pub(crate) is_watched: AtomicBool,
    /// What is left to the sweeper, because its release may wait.
    pub(crate) apart: Apart,
    /// Whether there is something.
    pub(crate) apart_waiting: AtomicBool,
    /// Whether somebody has emptied the queue since the sweeper's last round.
    pub(crate) was_drained: AtomicBool,
    /// How copies get to other devices.
    pub(crate) routes: route::Routes,
    /// The devices of the same driver.
    pub(crate) kin: Arc<kin::Kin>,
    /// Which of the devices that this process has opened.
    opened: u64,
    #[cfg(feature = "software")]
    pub(crate) machine: Option<dacapo_sim::Machine>,
}

impl Device {
    /// The driver underneath.
    #[inline]
    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.0.cuda.driver
    }

    pub(crate) fn ledger(&self) -> &Ledger<Cuda> {
        &self.0.ledger
    }

    pub(crate) fn context(&self) -> CUcontext {
        self.0.cuda.context
    }

    pub(crate) fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What the device is: name, compute capability, limits.
    pub fn properties(&self) -> &Properties {
        &self.0.properties
    }

    /// What this device and driver can do.
    pub fn abilities(&self) -> &Abilities {
        &self.0.abilities
    }

    /// Whether a kernel may be set up while the one before it in a graph ends.
    pub(crate) fn has_programmatic_edges(&self) -> bool {
        self.0.properties.compute >= (9, 0) && self.0.abilities.has("programmatic edges")
    }

    /// Whether this is the software device.
    pub fn is_software(&self) -> bool {
        self.0.properties.software
    }

    /// How many objects of this device are alive now.
    pub fn counters(&self) -> Counters {
        self.0.counters.read(self)
    }

    pub(crate) fn live(&self) -> &Live {
        &self.0.counters
    }

    /// What the software device has found wrong so far, as text: bad accesses, races, misuse of the driver. Empty on a
    /// GPU. [`found`](Device::found) has it as data.
    pub fn findings(&self) -> Vec<String> {
        #[cfg(feature = "software")]
        if let Some(machine) = &self.0.machine {
            return machine.findings().iter().map(|finding| finding.to_string()).collect();
        }
        Vec::new()
    }

    /// Notes about this device, one line each: for example, that the software device was built without optimisation and
    /// how to change that. Empty if there is nothing to say.
    ///
    /// ```
    /// let device = dacapo::Device::software()?;
    /// for note in device.notes() {
    ///     eprintln!("note: {note}");
    /// }
    /// # Ok::<(), dacapo::Error>(())
    /// ```
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        #[cfg(feature = "software")]
        if self.0.machine.is_some() && !dacapo_sim::OPTIMISED {
            notes.push(dacapo_sim::SLOW_BUILD.to_string());
        }
        #[cfg(not(feature = "json"))]
        if std::env::var_os("DACAPO_PAGES").is_some() {
            notes.push(
                "DACAPO_PAGES is set, and no page is written: dacapo was built without its feature `json`".into(),
            );
        }
        notes
    }

    /// After how many rounds a loop of an eager run is ended; never, on a GPU.
    pub(crate) fn rounds_max(&self) -> Option<u64> {
        #[cfg(feature = "software")]
        return self.0.machine.as_ref().map(dacapo_sim::Machine::rounds_max);
        #[cfg(not(feature = "software"))]
        None
    }

    /// The machine beneath a software device.
    #[cfg(feature = "software")]
    pub fn machine(&self) -> Option<&dacapo_sim::Machine> {
        self.0.machine.as_ref()
    }

    /// A new stream.
    ///
    /// # Errors
    ///
    /// - The driver refused to make one.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self)
    }

    /// A new stream on which every kernel begins only when the one before it is over.
    ///
    /// On GPUs of compute capability 9.0 and newer, kernels that are run eagerly are otherwise set up while the one before them
    /// ends (docs/edges.md). Results are the same; this is for measuring what that gains, and for ruling it out when looking
    /// for a mistake. Graphs are not affected: see [`plain_edges`](crate::graph::GraphBuilder::plain_edges).
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// let stream = device.plain_stream()?;
    /// let mut y = device.zeros::<u32>(2)?;
    /// stream.run(fill(&mut y, baked(7)))?;
    /// assert_eq!(stream.read(&y)?, [7, 7]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`stream`](Device::stream).
    pub fn plain_stream(&self) -> Result<Stream> {
        Stream::plain(self)
    }

    /// Waits for everything that was enqueued on this device's streams before this call.
    ///
    /// It waits for the streams of this library, never for the whole context: that would break the captures of every
    /// library in the process.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording.
    /// - Any error from the work.
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        crate::nesting::refuse_in_recording("Device::synchronize")?;
        self.enter()?;
        for used in self.0.all_last_uses() {
            self.wait_until(&used)?;
        }
        self.drain()?;
        if let Some(last) = self.ledger().last_use(&self.0.reaper) {
            self.wait_for(&last)?;
        }
        self.forget_copies();
        self.release_finished();
        Ok(())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({} {:?})", self.0.ordinal, self.0.properties.name)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.is(other)
    }
}

impl Eq for Device {}

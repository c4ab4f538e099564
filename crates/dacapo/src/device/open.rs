//! Opening a device: the GPU, or the one in software.
//!
//! - `DACAPO_DRIVER=cuda|software` decides for [`Device::best`]; without it the GPU is taken where there is one, and a
//!   fall to software is kept, and told by [`Device::why_software`].
//! - `DACAPO_SEED` is the software device's seed where the program gives none. One that is no number is an error: a run
//!   with another seed than was asked for would look like the one that was meant.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};

use dacapo_driver::types::{CU_STREAM_NON_BLOCKING, CUcontext, CUstream};
use dacapo_driver::{Call, Check, Driver, DriverError, Nvidia};
use dacapo_ledger::{Drops, LaneKind};

#[cfg(feature = "software")]
use crate::device::courier::courier;
use crate::device::kin::{Kin, nvidia};
use crate::device::route::Routes;
use crate::device::stranger::opened;
use crate::device::{
    Abilities, Apart, Cuda, Device, Guests, HeldDriver, Inner, LaneStream, Live, Properties, RawHandle, Retained,
};
use crate::error::{Error, ErrorKind, Result};
use crate::trace::event;

/// Options of a software device: seed, memory, and what the machine reports.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// let device = dacapo::Software::new().seed(7).capacity(1 << 30).open()?;
/// assert!(device.is_software());
/// # Ok(()) }
/// ```
#[cfg(feature = "software")]
#[derive(Clone)]
pub struct Software {
    options: dacapo_sim::Options,
    /// What `DACAPO_SEED` says, if that is no seed and the program has given none.
    bad_seed: Option<String>,
}

#[cfg(feature = "software")]
impl Default for Software {
    fn default() -> Software {
        Software::new()
    }
}

#[cfg(feature = "software")]
impl Software {
    /// Seeded from `DACAPO_SEED`, a number such as `42` or `0x5eed_0041`, else 0; with the memory of an H200.
    pub fn new() -> Software {
        let given = std::env::var_os("DACAPO_SEED").map(|seed| seed.to_string_lossy().into_owned());
        let seed = given.as_deref().map_or(Some(0), parse_seed);
        let options = dacapo_sim::Options { seed: seed.unwrap_or(0), ..Default::default() };
        Software { options, bad_seed: given.filter(|_| seed.is_none()) }
    }

    /// The seed of every choice the machine makes: addresses, the order of work that may overlap, when work happens.
    pub fn seed(mut self, seed: u64) -> Software {
        self.options.seed = seed;
        self.bad_seed = None;
        self
    }

    /// Bytes of device memory. Host memory is used only for what is touched.
    pub fn capacity(mut self, bytes: u64) -> Software {
        self.options.capacity = bytes;
        self
    }

    /// How many devices the machine has, from 1 to 64: [`open_group`](Software::open_group) opens all of them. Each has as
    /// much memory as [`capacity`](Software::capacity) says.
    pub fn devices(mut self, count: usize) -> Software {
        self.options.devices = count;
        self
    }

    /// All other options of the machine.
    ///
    /// `on_finding` is called on a thread of its own, soon after the finding. It may call the device, but must not hold it:
    /// the device keeps the callback, and a callback that keeps the device keeps both for ever. Let the program hold the
    /// device and give the callback a `Weak`, or send findings to where the device is used.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use std::sync::{Arc, OnceLock};
    /// use dacapo::{Device, Software};
    /// let held = Arc::new(OnceLock::<Device>::new());
    /// let weak = Arc::downgrade(&held);
    /// let device = Software::new().options(move |options| {
    ///     options.on_finding = Some(Arc::new(move |finding| {
    ///         let held = weak.upgrade();
    ///         let device = held.as_ref().and_then(|held| held.get());
    ///         eprintln!("{finding}; alive: {:?}", device.map(Device::counters));
    ///     }));
    /// });
    /// held.set(device.open()?).expect("set once");
    /// // the device goes with `held`
    /// # Ok(()) }
    /// ```
    pub fn options(mut self, change: impl FnOnce(&mut dacapo_sim::Options)) -> Software {
        change(&mut self.options);
        self
    }

    fn machine(mut self) -> Result<dacapo_sim::Machine> {
        if let Some(seed) = self.bad_seed {
            let why = format!("DACAPO_SEED is `{seed}`: a seed is a number such as 42 or 0x5eed0041");
            return Err(Error::new(ErrorKind::NoDevice { why }));
        }
        self.options.on_finding = self.options.on_finding.and_then(courier);
        Ok(dacapo_sim::Machine::new(self.options))
    }

    /// Opens a new device that shares nothing with any other.
    ///
    /// # Errors
    ///
    /// - The machine refused a call: with too little memory for anything, for example.
    /// - [`ErrorKind::NoDevice`]: `DACAPO_SEED` is no number, and the program gives no seed of its own.
    pub fn open(self) -> Result<Device> {
        let machine = self.machine()?;
        let driver: Arc<dyn Driver> = Arc::new(machine.clone());
        Device::open(driver, 0, Some(machine), true, |call| dacapo_sim::IMPLEMENTED.contains(&call))
    }

    /// [`open`](Software::open) with a hook around the driver that traces, counts or fails calls.
    ///
    /// # Errors
    ///
    /// - As [`open`](Software::open).
    ///
    /// # Safety
    ///
    /// - The driver that `wrap` returns answers as the machine would, or refuses. It never reports success for a call
    ///   that failed.
    /// - It calls nothing in this library: driver calls are made under locks, so that would deadlock.
    pub unsafe fn open_hooked(self, wrap: impl FnOnce(dacapo_sim::Machine) -> Arc<dyn Driver>) -> Result<Device> {
        let machine = self.machine()?;
        let driver = wrap(machine.clone());
        Device::open(driver, 0, Some(machine), true, |call| dacapo_sim::IMPLEMENTED.contains(&call))
    }
}

#[cfg(feature = "software")]
impl Software {
    /// Opens `count` devices of one machine: one address space, one order of work, one seed. Each [`Device`] has its own
    /// memory and streams; what one reports, all report.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// let group = dacapo::Software::new().seed(7).open_group(2)?;
    /// assert_eq!([group[0].ordinal(), group[1].ordinal()], [0, 1]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`open`](Software::open).
    /// - [`ErrorKind::NoDevice`]: `count` is 0, or more than 64.
    pub fn open_group(self, count: usize) -> Result<Vec<Device>> {
        // SAFETY: the machine itself, which answers as it does.
        unsafe { self.open_group_hooked(count, |machine| Arc::new(machine)) }
    }

    /// [`open_group`](Software::open_group) with a hook around the one driver of all devices.
    ///
    /// # Errors
    ///
    /// - As [`open_group`](Software::open_group).
    ///
    /// # Safety
    ///
    /// - As [`open_hooked`](Software::open_hooked).
    pub unsafe fn open_group_hooked(
        self,
        count: usize,
        wrap: impl FnOnce(dacapo_sim::Machine) -> Arc<dyn Driver>,
    ) -> Result<Vec<Device>> {
        if !(1..=64).contains(&count) {
            let why = format!("a group of {count} software devices: there can be 1 to 64");
            return Err(Error::new(ErrorKind::NoDevice { why }));
        }
        let machine = self.devices(count).machine()?;
        let driver = wrap(machine.clone());
        let open = |ordinal| {
            let has = |call| dacapo_sim::IMPLEMENTED.contains(&call);
            Device::open(driver.clone(), ordinal, Some(machine.clone()), true, has)
        };
        (0..count).map(open).collect()
    }
}

#[cfg(feature = "software")]
fn parse_seed(text: &str) -> Option<u64> {
    // As `dacapo run --seed` and the driver behind the C ABI read it.
    let digits = text.trim().replace('_', "");
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(feature = "software")]
type OptMachine = Option<dacapo_sim::Machine>;
#[cfg(not(feature = "software"))]
type OptMachine = Option<std::convert::Infallible>;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Device {
    /// The GPU if there is one, otherwise the software device: [`why_software`](Device::why_software) says why.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoDevice`]: `DACAPO_DRIVER` asks for a device that was not found.
    pub fn best() -> Result<Device> {
        let driver = std::env::var_os("DACAPO_DRIVER").map(|driver| driver.to_string_lossy().into_owned());
        match driver.as_deref() {
            Some("cuda") => Device::cuda(0),
            Some("software") => Device::software(),
            Some(other) => {
                let why = format!("DACAPO_DRIVER is `{other}`: it may be `cuda` or `software`");
                Err(Error::new(ErrorKind::NoDevice { why }))
            }
            None => Device::cuda(0).or_else(|error| {
                let device = Device::software()?;
                event!(warn, why = %error, "no GPU: on the software device");
                let _ = device.0.instead_of_gpu.set(error);
                Ok(device)
            }),
        }
    }

    /// Why [`Device::best`] fell back to the software device, for your program to show. The library prints nothing.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// let device = dacapo::Device::best()?;
    /// if let Some(why) = device.why_software() {
    ///     eprintln!("no GPU, running in software: {why}");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn why_software(&self) -> Option<&Error> {
        self.0.instead_of_gpu.get()
    }

    /// A GPU by its ordinal.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoDevice`]: no driver, no such device, or a driver that is too old; the text says which.
    pub fn cuda(ordinal: usize) -> Result<Device> {
        let unusable = |why: String, source: BoxError| Error::new(ErrorKind::NoDevice { why }).with_source(source);
        let nvidia = nvidia().map_err(|error| unusable("NVIDIA's driver cannot be used".into(), error.into()))?;
        let has = nvidia.clone();
        let software = nvidia.is_software();
        Device::open(nvidia, ordinal, None, software, move |call| has.has(call)).map_err(|error| match error.kind() {
            ErrorKind::Driver(refused) => unusable(format!("device {ordinal} cannot be opened"), (*refused).into()),
            _ => error,
        })
    }

    /// How many GPUs NVIDIA's driver has; [`Device::cuda`] takes ordinals below that.
    ///
    /// ```no_run
    /// # fn main() -> dacapo::Result<()> {
    /// let all: Vec<_> = (0..dacapo::Device::count()?).map(dacapo::Device::cuda).collect::<Result<_, _>>()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoDevice`]: NVIDIA's driver cannot be used; the text says why.
    pub fn count() -> Result<usize> {
        let unusable = |source: BoxError| {
            let why = "NVIDIA's driver cannot be used".into();
            Error::new(ErrorKind::NoDevice { why }).with_source(source)
        };
        let nvidia = Nvidia::open().map_err(|error| unusable(error.into()))?;
        let mut count = 0;
        // SAFETY: `cuInit` takes a number.
        unsafe { nvidia.cuInit(0) }.check(Call::cuInit).map_err(|error| unusable(error.into()))?;
        // SAFETY: `count` is valid for the write.
        unsafe { nvidia.cuDeviceGetCount(&mut count) }.check(Call::cuDeviceGetCount)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Its number among the devices of its driver, from 0.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// Software devices of one machine, with default options; [`Software::open_group`] sets others.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// let group = dacapo::Device::software_group(3)?;
    /// assert_eq!(group.len(), 3);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`Software::open_group`].
    #[cfg(feature = "software")]
    pub fn software_group(count: usize) -> Result<Vec<Device>> {
        Software::new().open_group(count)
    }

    /// Software devices: not in this build.
    ///
    /// # Errors
    ///
    /// - Always [`ErrorKind::NoDevice`]: the library was built without its feature `software`.
    #[cfg(not(feature = "software"))]
    pub fn software_group(_count: usize) -> Result<Vec<Device>> {
        Device::software().map(|device| vec![device])
    }

    /// A software device with default options; [`Software`] sets others.
    ///
    /// # Errors
    ///
    /// - As [`Software::open`].
    #[cfg(feature = "software")]
    pub fn software() -> Result<Device> {
        Software::new().open()
    }

    /// A software device: not in this build.
    ///
    /// # Errors
    ///
    /// - Always [`ErrorKind::NoDevice`]: the library was built without its feature `software`.
    #[cfg(not(feature = "software"))]
    pub fn software() -> Result<Device> {
        let why = "this build has no software device: its feature `software` is off".to_string();
        Err(Error::new(ErrorKind::NoDevice { why }))
    }

    /// A device on any driver.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    ///
    /// # Safety
    ///
    /// - The driver answers as NVIDIA's does, or refuses. It never reports success for a call that failed.
    pub unsafe fn from_driver(driver: Arc<dyn Driver>, ordinal: usize) -> Result<Device> {
        Device::open(driver, ordinal, None, false, |_| true)
    }

    fn open(
        driver: Arc<dyn Driver>,
        ordinal: usize,
        machine: OptMachine,
        software: bool,
        has: impl Fn(Call) -> bool,
    ) -> Result<Device> {
        let abilities = Abilities::with(has);
        if let Some(ability) = abilities.missing() {
            let needs: Vec<_> = ability.lacking.iter().map(|call| call.symbol()).collect();
            let why = format!(
                "this driver is too old: it lacks {} (for {}); a driver of CUDA 12.4 or later has it",
                needs.join(", "),
                ability.name
            );
            return Err(Error::new(ErrorKind::NoDevice { why }));
        }
        let mut raw = 0;
        // SAFETY: `cuInit` takes a number.
        unsafe { driver.cuInit(0) }.check(Call::cuInit)?;
        let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
        // SAFETY: `raw` is valid for the write.
        unsafe { driver.cuDeviceGet(&mut raw, number) }.check(Call::cuDeviceGet)?;
        let properties = Properties::ask(&*driver, raw, software)?;
        let retained = Retained::new(driver.clone(), raw)?;
        let (home, reaper) = own_streams(&*driver, retained.context)?;
        let kin = Kin::of(&driver);
        let ledger = kin.ledger();
        let drops = Arc::new(Drops::new());
        let reaper = ledger.add_lane(LaneStream::ours(reaper, drops.clone(), retained.clone()), LaneKind::Internal);
        #[cfg(not(feature = "software"))]
        let _ = machine;
        Ok(Device(Arc::new(Inner {
            wants_declared: driver.wants_declared(),
            cuda: Cuda { driver: HeldDriver::new(driver), context: retained.context, retained },
            raw,
            ordinal,
            properties,
            abilities,
            ledger,
            drops,
            home: RawHandle(home),
            reaper,
            staging: Mutex::default(),
            lanes: Mutex::default(),
            is_lost: AtomicBool::new(false),
            partner_died: AtomicBool::new(false),
            lost: OnceLock::new(),
            #[cfg(feature = "tracing")]
            told_lost: AtomicBool::new(false),
            counters: Live::default(),
            instead_of_gpu: OnceLock::new(),
            books: Arc::default(),
            recordings: AtomicU64::new(1),
            ops_last: AtomicUsize::new(0),
            guests: Guests::default(),
            values_waiting: AtomicUsize::new(0),
            is_watched: AtomicBool::new(false),
            apart: Apart::default(),
            apart_waiting: AtomicBool::new(false),
            was_drained: AtomicBool::new(false),
            routes: Routes::default(),
            kin,
            opened: opened(),
            #[cfg(feature = "software")]
            machine,
        })))
    }
}

/// The streams that memory comes from and goes to.
fn own_streams(driver: &dyn Driver, context: CUcontext) -> Result<(CUstream, CUstream), DriverError> {
    // SAFETY: the context is retained.
    unsafe { driver.cuCtxSetCurrent(context) }.check(Call::cuCtxSetCurrent)?;
    let (mut home, mut reaper) = (CUstream::NULL, CUstream::NULL);
    // SAFETY: `home` is valid for the write.
    unsafe { driver.cuStreamCreate(&mut home, CU_STREAM_NON_BLOCKING) }.check(Call::cuStreamCreate)?;
    // SAFETY: `reaper` is valid for the write.
    let made = unsafe { driver.cuStreamCreate(&mut reaper, CU_STREAM_NON_BLOCKING) }.check(Call::cuStreamCreate);
    if let Err(error) = made {
        // SAFETY: made above, and nothing was enqueued on it.
        let _ = unsafe { driver.cuStreamDestroy_v2(home) };
        return Err(error);
    }
    Ok((home, reaper))
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_one_machine_and_a_device_alone_another() {
        let retains = |device: &Device| device.machine().expect("software").census().retains;
        let group = Software::new().seed(1).open_group(2).expect("two devices");
        assert_eq!([retains(&group[0]), retains(&group[1])], [2, 2]);
        let _there = group[1].zeros::<u32>(4).expect("memory");
        assert!(group[0].machine().expect("software").census().allocations > 0);
        assert_eq!(retains(&Device::software().expect("one device")), 1);
        for count in [0, 65] {
            assert!(
                matches!(Software::new().open_group(count).map_err(|e| e.to_string()), Err(why) if why.contains("1 to 64"))
            );
        }
    }

    #[test]
    fn a_seed_is_a_number_as_failures_print_it() {
        assert_eq!(["7", "0x5eed0041", "0"].map(parse_seed), [Some(7), Some(0x5eed_0041), Some(0)]);
        assert_eq!(["0X5eed_0041", " 1_000 "].map(parse_seed), [Some(0x5eed_0041), Some(1000)]);
        assert_eq!(["", "seven", "-1", "0x"].map(parse_seed), [None; 4]);
    }
}

//! What our own code does around the driver's calls, as counts that are the same in every run.
//!
//! `cargo xtask host-cost` runs this under valgrind and prints instructions and lines of the caches for each case; a
//! program of `TIMES` and one of twice as many calls are compared, so that only the calls are counted:
//!
//! ```text
//! cost CASE TIMES [--cold]
//! ```
//!
//! With `--cold` everything of ours is driven out of the caches between two calls: what is missed then are the lines that
//! a call touches. Under the library is a driver that does nothing. Without arguments, as `cargo test` runs it, each case is
//! checked by what can be counted here: launches allocate nothing and make as many driver calls as they must, and a
//! recorded op takes no more memory in a long recording than in a short one.

mod kit;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dacapo::{Buffer, Device, Graph, Recorder, Result, Slot, Stream, baked};
use kit::{Kernels, Nothing, Other};

/// The system's allocator, with a count of what is asked of it.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as our caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as our caller promised.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size.saturating_sub(layout.size()));
        // SAFETY: as our caller promised.
        unsafe { System.realloc(at, layout, size) }
    }
}

fn note(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// All that the cases work on.
struct World {
    driver: Arc<Nothing>,
    device: Device,
    stream: Stream,
    kernels: Kernels,
    slot: Slot<f32>,
    buffers: Vec<Buffer<f32>>,
}

impl World {
    fn new() -> Result<World> {
        let driver = Arc::new(Nothing::default());
        // SAFETY: nothing is executed and no memory is read: addresses are never looked behind.
        let device = unsafe { Device::from_driver(driver.clone(), 0) }?;
        let (stream, kernels) = (device.stream()?, Kernels::load(&device)?);
        let buffers = (0..1000).map(|_| device.zeros(64)).collect::<Result<_>>()?;
        Ok(World { driver, device, stream, kernels, slot: Slot::new(0.0), buffers })
    }

    /// A line of so many kernels, the fifth of which has a slot.
    fn line(&mut self, length: usize) -> Result<Graph<()>> {
        let World { device, kernels, slot, buffers, .. } = self;
        let (x, y) = buffers.split_at_mut(1);
        let (x, y) = (&x[0], &mut y[0]);
        device.record(|r: &mut Recorder<'_>| {
            (0..length).try_for_each(|n| match n {
                4 => r.run(kernels.saxpy(&*slot, x, y)),
                _ => r.run(kernels.saxpy(baked(1.0), x, y)),
            })
        })
    }

    /// So many kernels on a thousand buffers, each with a slot, recorded and planned but not lowered.
    fn mixed(&mut self, length: usize) -> Result<usize> {
        let World { device, kernels, slot, buffers, .. } = self;
        device.graph().plan_only(|r: &mut Recorder<'_>| {
            let mut state = 1u32;
            (0..length).try_for_each(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = 1 + (state >> 8) as usize % 999;
                let (left, right) = buffers.split_at_mut(at);
                r.run(kernels.saxpy(&*slot, &left[at / 2], &mut right[0]))
            })
        })
    }
}

/// Something to be counted, called again and again.
type Call<'w> = Box<dyn FnMut() -> Result<()> + 'w>;

/// The names of the cases.
const CASES: [&str; 9] =
    ["nothing", "launch-1", "launch-10", "slot", "slot-launch", "record-1", "record-100", "record-1000", "plan-100000"];

fn case<'w>(name: &str, world: &'w mut World) -> Result<Option<Call<'w>>> {
    // Kept for ever: destroying is not counted, and no recording finds the memory of another one warm.
    if let Some(length) = length(name, "record-") {
        return Ok(Some(Box::new(move || world.line(length).map(std::mem::forget))));
    }
    if let Some(length) = length(name, "plan-") {
        return Ok(Some(Box::new(move || world.mixed(length).map(|steps| assert!(black_box(steps) >= length)))));
    }
    let (stream, slot) = (world.stream.clone(), world.slot.clone());
    let (mut one, mut ten) = (world.line(1)?, world.line(10)?);
    let mut number = 0u32;
    Ok(Some(match name {
        "nothing" => Box::new(|| Ok(())),
        "launch-1" => Box::new(move || one.launch(&stream).map(|launched| drop(black_box(launched)))),
        // A slot that has not changed.
        "launch-10" => Box::new(move || ten.launch(&stream).map(|launched| drop(black_box(launched)))),
        // What the caller does to change one, to be taken off the next case.
        "slot" => Box::new(move || {
            number += 1;
            slot.set(number as f32);
            Ok(())
        }),
        "slot-launch" => Box::new(move || {
            number += 1;
            slot.set(number as f32);
            ten.launch(&stream).map(|launched| drop(black_box(launched)))
        }),
        _ => return Ok(None),
    }))
}

fn length(name: &str, prefix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.parse().ok()
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [name, times, rest @ ..] = &words[..] else { return check() };
    let (mut world, times) = (World::new()?, times.parse().expect("a number of calls"));
    let mut call = case(name, &mut world)?.unwrap_or_else(|| panic!("no case is called {name}: {CASES:?}"));
    let mut other = rest.iter().any(|word| word == "--cold").then(Other::new);
    for _ in 0..3 {
        call()?;
    }
    for _ in 0..times {
        if let Some(other) = &mut other {
            other.walk();
        }
        call()?;
    }
    Ok(())
}

/// Driver calls, but for launches, and allocations and their bytes, of one call.
fn counted(world: &mut World, name: &str, calls: u64) -> Result<[f64; 3]> {
    let driver = world.driver.clone();
    let mut call = case(name, world)?.expect("one of the cases");
    for _ in 0..3 {
        call()?;
    }
    let now = || [&driver.others, &ALLOCATIONS, &BYTES].map(|count| count.load(Ordering::Relaxed));
    let before = now();
    for _ in 0..calls {
        call()?;
    }
    let after = now();
    Ok(std::array::from_fn(|count| (after[count] - before[count]) as f64 / calls as f64))
}

/// What holds on every machine.
fn check() -> Result<()> {
    let mut world = World::new()?;
    println!("{:<16} {:>14} {:>14} {:>14}   a call", "", "driver calls", "allocations", "bytes");
    let mut told = |name: &str, calls: u64| {
        let counts = counted(&mut world, name, calls)?;
        println!("{name:<16} {:>14} {:>14} {:>14.0}", counts[0], counts[1], counts[2]);
        Ok::<_, dacapo::Error>(counts)
    };
    assert_eq!(told("launch-1", 1000)?, [0.0; 3], "one driver call, the launch, and no allocation");
    assert_eq!(told("launch-10", 1000)?, [0.0; 3], "the same, with a slot that did not change");
    // The context is asked for, and the node told.
    assert_eq!(told("slot-launch", 1000)?, [2.0, 0.0, 0.0], "two driver calls beside the launch, and no allocation");
    // One node, and one allocation: the recipe. The rest is in lists that grow.
    let record = further(told("record-100", 3)?, told("record-1000", 3)?, 900.0);
    assert!(record[0] == 1.0 && record[1] < 1.05 && record[2] < 650.0, "{record:?} for a further op that is recorded");
    let (short, long) = (told("plan-1000", 3)?, told("plan-10000", 3)?);
    let plan = further(short, long, 9000.0);
    assert!(plan[0] == 0.0 && plan[1] < 1.05, "{plan:?} for a further op that is planned");
    // Lists double, so that one may be nearly empty: 1.3 times and no more.
    assert!(long[2] / 10_000.0 < 1.3 * short[2] / 1000.0, "an op takes more memory in a long recording");
    Ok(())
}

/// What each of some more ops costs.
fn further(short: [f64; 3], long: [f64; 3], ops: f64) -> [f64; 3] {
    let one = std::array::from_fn(|count| (long[count] - short[count]) / ops);
    println!("{:<16} {:>14.2} {:>14.2} {:>14.0}", "a further op", one[0], one[1], one[2]);
    one
}

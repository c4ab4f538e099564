//! One run of a scenario with one fault in it, and what came of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo::device::Counters;
use dacapo::{Device, Error, ErrorKind, Software};
use dacapo_driver::types::CU_STREAM_CAPTURE_MODE_GLOBAL;
use dacapo_driver::{CUresult, Call, Driver, Effect, Hooked, Lawful};
use dacapo_sim::{Census, Detectors, Machine};

use super::inject::{Aim, Injector, TAKES_MEMORY};
use super::{Bench, Scenario};
use crate::forms::kernels::Kernels;

/// What came of one fault. All lists are empty where all is well.
#[derive(Default)]
pub struct Verdict {
    /// The call that failed, and how; none if the fault could not happen there, or no such call was made.
    pub struck: Option<(Call, Lawful)>,
    /// What is left, in words.
    pub leaked: Vec<String>,
    /// Streams that are left capturing.
    pub capturing: usize,
    /// Panics.
    pub panics: Vec<String>,
    /// What the detectors found.
    pub findings: Vec<String>,
    /// Whether memory ran out where it is allocated, and the error said so.
    pub out_of_memory: bool,
    /// Errors that do not name the call, wrong results, a device that does not work after it.
    pub wrong: Vec<String>,
}

impl Verdict {
    /// Whether all is well.
    pub fn is_good(&self) -> bool {
        self.leaked.is_empty()
            && self.capturing == 0
            && self.panics.is_empty()
            && self.findings.is_empty()
            && self.wrong.is_empty()
    }

    /// Everything that is not well, a line each.
    pub fn lines(&self) -> Vec<String> {
        let all =
            [("leaked", &self.leaked), ("panic", &self.panics), ("finding", &self.findings), ("wrong", &self.wrong)];
        let mut lines: Vec<String> =
            all.iter().flat_map(|(word, texts)| texts.iter().map(move |text| format!("{word}: {text}"))).collect();
        if self.capturing > 0 {
            lines.push(format!("{} streams are left capturing", self.capturing));
        }
        lines
    }
}

/// A fresh machine with a device on it.
struct World {
    machine: Machine,
    injector: Arc<Injector>,
    bench: Bench,
}

impl World {
    fn new(seed: u64) -> Result<World, Error> {
        let injector = Arc::new(Injector::default());
        let hook = injector.clone();
        let software = Software::new().seed(seed).options(|options| options.detectors = Detectors::all());
        // SAFETY: a fault refuses a call, or answers an error for one that was made: it claims no success.
        let device = unsafe { software.open_hooked(move |machine| Arc::new(Hooked::new(machine, hook))) }?;
        let machine = device.machine().cloned().ok_or_else(|| Error::msg("no software device"))?;
        injector.over(&machine);
        let driver: Arc<dyn Driver> = Arc::new(Hooked::new(machine.clone(), injector.clone()));
        let (stream, k) = (device.stream()?, Kernels::load(&device)?);
        device.synchronize()?;
        let bench = Bench { device, stream, k, driver, token: Arc::new(()) };
        Ok(World { machine, injector, bench })
    }

    /// Runs the body, with an aim or without; a panic is an error of its own.
    fn run(&self, scenario: &Scenario, aim: Option<Aim>) -> Result<Result<(), Error>, String> {
        self.injector.arm(aim);
        let ran = catch_unwind(AssertUnwindSafe(|| (scenario.body)(&self.bench)));
        self.injector.disarm();
        ran.map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            text.unwrap_or("without a text").to_string()
        })
    }
}

/// The driver calls that a scenario makes on a device where nothing fails.
///
/// # Errors
///
/// - The scenario fails without any fault, or something is left after it.
pub fn calls_of(scenario: &Scenario, seed: u64) -> Result<Vec<Call>, String> {
    let mut verdict = Verdict::default();
    let calls = clean(scenario, seed, &mut verdict);
    if verdict.is_good() { Ok(calls) } else { Err(verdict.lines().join("; ")) }
}

/// A run without a fault, on a fresh device.
fn clean(scenario: &Scenario, seed: u64, verdict: &mut Verdict) -> Vec<Call> {
    let world = match World::new(seed) {
        Ok(world) => world,
        Err(error) => {
            verdict.wrong.push(format!("no device: {error:?}"));
            return Vec::new();
        }
    };
    let before = Before::of(&world);
    match world.run(scenario, None) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => verdict.wrong.push(format!("without a fault: {error:?}")),
        Err(panic) => verdict.panics.push(format!("without a fault: {panic}")),
    }
    let calls = world.injector.calls();
    quiet(&world, &before, "without a fault", verdict);
    close(world, false, verdict);
    calls
}

/// Runs a scenario on a fresh device with one fault: at its `nth` driver call, from 0, the `which`-th lawful fault of it.
pub fn inject(scenario: &Scenario, seed: u64, nth: u64, which: usize) -> Verdict {
    shoot(scenario, seed, Aim::One(nth, which))
}

/// Runs a scenario on a fresh device where from its `nth` driver call on, from 0, there is no memory to be had.
pub fn starve(scenario: &Scenario, seed: u64, nth: u64) -> Verdict {
    shoot(scenario, seed, Aim::Starve(nth))
}

fn shoot(scenario: &Scenario, seed: u64, aim: Aim) -> Verdict {
    let mut verdict = Verdict::default();
    let world = match World::new(seed) {
        Ok(world) => world,
        Err(error) => {
            verdict.wrong.push(format!("no device: {error:?}"));
            return verdict;
        }
    };
    let before = Before::of(&world);
    let outcome = world.run(scenario, Some(aim));
    verdict.struck = world.injector.struck();
    let Some((call, fault)) = verdict.struck else {
        // Nothing happened; what it did then is the clean run's business.
        close(world, false, &mut Verdict::default());
        return verdict;
    };
    match outcome {
        Err(panic) => verdict.panics.push(panic),
        Ok(Err(error)) => {
            verdict.wrong.extend(names_the_call(&error, call, fault));
            verdict.out_of_memory = lacks_memory(call, fault);
        }
        Ok(Ok(())) => {}
    }
    let lost = fault.effect == Effect::ContextLost;
    if lost {
        let after = world.bench.device.zeros::<u32>(1).err();
        let says = after.as_ref().is_some_and(|error| matches!(error.kind(), ErrorKind::Lost { .. }));
        if !says {
            verdict.wrong.push(format!("the context is lost, and the device says {after:?}"));
        }
    } else {
        quiet(&world, &before, "after the fault", &mut verdict);
        match world.run(scenario, None) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => verdict.wrong.push(format!("again, without a fault: {error:?}")),
            Err(panic) => verdict.panics.push(format!("again, without a fault: {panic}")),
        }
        quiet(&world, &before, "after it ran again", &mut verdict);
    }
    close(world, lost, &mut verdict);
    if lost {
        clean(scenario, seed, &mut verdict);
    }
    verdict
}

/// Whether a fault is that there is no memory, of a call that gives some.
fn lacks_memory(call: Call, fault: Lawful) -> bool {
    fault.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY && TAKES_MEMORY.contains(&call)
}

/// What is wrong with an error after a fault: it is the library's and names the call that failed, or is of a kind that
/// stands for it; where memory is wanting, it has the numbers.
pub(crate) fn names_the_call(error: &Error, call: Call, fault: Lawful) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = format!("{error:?}");
    let stands_for_it = match error.kind() {
        ErrorKind::OutOfMemory { .. } | ErrorKind::BadModule { .. } => fault.effect == Effect::NotDone,
        ErrorKind::CaptureBroken { .. } => {
            fault.effect == Effect::CaptureInvalidated || call == Call::cuStreamEndCapture
        }
        // Whoever noticed first is named: it may be a later call.
        ErrorKind::Lost { first, .. } => fault.effect == Effect::ContextLost && first.code == fault.code,
        _ => false,
    };
    if lacks_memory(call, fault) {
        let has_numbers = match error.kind() {
            ErrorKind::OutOfMemory { bytes, free, total, .. } => {
                *bytes > 0 && *total >= *free && text.contains(&bytes.to_string()) && text.contains(&free.to_string())
            }
            _ => false,
        };
        if !has_numbers {
            wrong.push(format!("out of memory without the numbers: {text}"));
        }
    }
    if !stands_for_it && !text.contains(call.symbol()) {
        wrong.push(format!("the error does not name the call: {text}"));
    }
    wrong
}

/// What was there before a scenario.
struct Before {
    counters: Counters,
    census: Census,
}

impl Before {
    fn of(world: &World) -> Before {
        Before { counters: world.bench.device.counters(), census: world.machine.census() }
    }
}

/// Empties the queue of drops, and holds what is left against what was there before.
fn quiet(world: &World, before: &Before, when: &str, verdict: &mut Verdict) {
    let Bench { device, token, .. } = &world.bench;
    // A stream that was dropped lets go of what waits for it one drain later.
    for _ in 0..3 {
        if let Err(error) = device.synchronize() {
            verdict.wrong.push(format!("{when} the device is not well: {error:?}"));
            return;
        }
    }
    let held = |device: &Device| {
        let now = device.counters();
        [now.allocations, now.graphs, now.streams, now.waiting]
    };
    let was = before.counters;
    let was = [was.allocations, was.graphs, was.streams, was.waiting];
    // Who waited for a launch may let go of the device a moment later, in another thread.
    let as_before = patiently(|| held(device) == was && Arc::strong_count(token) == 1);
    let census = world.machine.census();
    // Events and page-locked blocks are kept to be used again; the closed device shows whether any was lost. One module,
    // of kernels of the library's own, stays too.
    let lasting = |census: Census| {
        let Census { allocations, physical, ranges, streams, graphs, executables, .. } = census;
        [allocations, physical, ranges, streams, graphs, executables]
    };
    if !as_before || lasting(census) != lasting(before.census) || census.modules > before.census.modules + 2 {
        verdict.leaked.push(format!(
            "{when}: [allocations, graphs, streams, waiting] {:?}, before {was:?}; {} values; machine: {census}; before: {}",
            held(device),
            Arc::strong_count(token) - 1,
            before.census
        ));
    }
    if census.captures > 0 {
        verdict.capturing += census.captures;
    }
}

/// Closes the device, and looks whether anything of it is left in the machine.
fn close(world: World, lost: bool, verdict: &mut Verdict) {
    let World { machine, bench, .. } = world;
    let Bench { device, stream, k, driver, token } = bench;
    drop((stream, k, device, driver));
    let nothing = Census::default();
    // Memory apart from its addresses is of no context: what a lost one does not let us unmap goes with the process.
    let census = || match lost {
        true => Census { physical: 0, ranges: 0, ..machine.census() },
        false => machine.census(),
    };
    let gone = patiently(|| census() == nothing && Arc::strong_count(&token) == 1);
    let census = machine.census();
    if !gone {
        let what = if lost { "of a lost context, closed" } else { "closed" };
        verdict.leaked.push(format!("{what}: {census}; {} values", Arc::strong_count(&token) - 1));
    }
    verdict.capturing += census.captures;
    let mut mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    // SAFETY: `mode` is valid for reading and writing.
    let _ = unsafe { machine.cuThreadExchangeStreamCaptureMode(&mut mode) };
    if mode != CU_STREAM_CAPTURE_MODE_GLOBAL {
        verdict.leaked.push(format!("the thread's capture mode is {mode}"));
    }
    verdict.findings.extend(machine.findings().iter().map(ToString::to_string));
}

/// Waits a while for what another thread is about to do.
fn patiently(mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_millis(500);
    loop {
        if done() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[cfg(test)]
mod tests {
    use dacapo_driver::types::{CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING, CUstream};

    use super::*;

    fn verdict_of(body: fn(&Bench) -> dacapo::Result<()>) -> Verdict {
        let mut verdict = Verdict::default();
        clean(&Scenario { name: "test/on_purpose", body }, 0, &mut verdict);
        verdict
    }

    /// Each thing that must not be left is seen when it is.
    #[test]
    fn what_is_left_on_purpose_is_seen() {
        let memory = verdict_of(|bench| {
            std::mem::forget(bench.device.zeros::<u32>(4)?);
            Ok(())
        });
        assert!(!memory.leaked.is_empty() && memory.panics.is_empty(), "{:?}", memory.lines());
        let value = verdict_of(|bench| {
            std::mem::forget(bench.token.clone());
            Ok(())
        });
        assert!(!value.leaked.is_empty(), "{:?}", value.lines());
        let capture = verdict_of(|bench| {
            let mut stream = CUstream::NULL;
            // SAFETY: `stream` is valid for the write, and then a stream.
            unsafe {
                let _ = bench.driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING);
                let _ = bench.driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
            }
            Ok(())
        });
        assert!(capture.capturing > 0 && !capture.leaked.is_empty(), "{:?}", capture.lines());
        let mode = verdict_of(|bench| {
            let mut mode = CU_STREAM_CAPTURE_MODE_RELAXED;
            // SAFETY: `mode` is valid for reading and writing.
            let _ = unsafe { bench.driver.cuThreadExchangeStreamCaptureMode(&mut mode) };
            Ok(())
        });
        assert!(mode.leaked.iter().any(|text| text.contains("capture mode")), "{:?}", mode.lines());
        let panic = verdict_of(|_| panic!("on purpose"));
        assert_eq!(panic.panics.len(), 1);
        let finding = verdict_of(|bench| {
            // SAFETY: a handle of no stream is refused; it was one.
            unsafe {
                let mut stream = CUstream::NULL;
                let _ = bench.driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING);
                let _ = bench.driver.cuStreamDestroy_v2(stream);
                let _ = bench.driver.cuStreamSynchronize(stream);
            }
            Ok(())
        });
        assert_eq!(finding.findings.len(), 1, "{:?}", finding.lines());
        assert!(verdict_of(|_| Ok(())).is_good());
    }
}

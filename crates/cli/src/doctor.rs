//! `dacapo doctor`: which drivers there are and where, what each device can do, and whether they work.
//!
//! Two self-tests for each device: one by driver calls alone, one by the library. Where only the second fails the mistake
//! is ours; where the first fails too, the driver does not work.

use std::process::ExitCode;
use std::time::Instant;

use dacapo::{Device, Software};
use dacapo_driver::{Call, Driver, Nvidia};
use dacapo_sim::IMPLEMENTED;

use crate::bench::raw::{Raw, all_equal, read_floats};
use crate::complaint::Complaint;
use crate::demo;
use crate::session::Session;

/// How often the self-test replays what it captured.
const REPLAYS: u32 = 20;

/// Looks at every driver; success if every driver that is there passes its self-tests.
pub fn run(seed: u64) -> ExitCode {
    println!("dacapo {}\n", env!("CARGO_PKG_VERSION"));
    let nvidia = look_at_nvidia();
    println!();
    let software = look_at_software(seed);
    if nvidia && software { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn look_at_nvidia() -> bool {
    println!("NVIDIA's driver");
    let driver = match Nvidia::open() {
        Ok(driver) => driver,
        Err(error) => {
            println!("  {}", error.to_string().replace('\n', "\n  "));
            // Asked for by name and not there is a failure; not there on a machine without a GPU is none.
            if std::env::var_os(Nvidia::VARIABLE).is_some() {
                println!("  {} names this library; correct it or unset it.", Nvidia::VARIABLE);
                return false;
            }
            println!("  Nothing is wrong if this machine has no GPU: the software driver below needs none.");
            return true;
        }
    };
    println!("  found: {}", driver.path().display());
    let is_software = driver.is_software();
    if is_software {
        println!("  this is Dacapo's software driver behind the C ABI, not NVIDIA's");
    }
    // Our library exports every symbol, and answers NOT_SUPPORTED for what it does not know.
    let knows = |call| driver.has(call) && (!is_software || IMPLEMENTED.contains(&call));
    look_at(&driver, Device::cuda(0), &knows)
}

fn look_at_software(seed: u64) -> bool {
    println!("software driver (built in, needs no GPU)");
    println!("  driver calls: {} of the {} in the table", IMPLEMENTED.len(), Call::ALL.len());
    let device = Software::new().seed(seed).open();
    let works = match device.as_ref().ok().and_then(|device| device.machine().cloned()) {
        Some(machine) => look_at(&machine, device.clone(), &|call| IMPLEMENTED.contains(&call)),
        None => {
            println!("  cannot be opened: {:?}", device.as_ref().err());
            false
        }
    };
    for finding in device.iter().flat_map(Device::findings) {
        println!("  {}", finding.replace('\n', "\n  "));
    }
    println!("  reproduce: cargo run --release -- doctor --seed {seed}");
    works
}

/// The device, a line for each ability, and the self-tests.
fn look_at(driver: &dyn Driver, device: dacapo::Result<Device>, has: &dyn Fn(Call) -> bool) -> bool {
    let about = Session::open(driver)
        .and_then(|session| Ok((session.device_name()?, session.driver_version()?, session.driver_release())));
    match about {
        Ok((name, version, release)) => {
            // The release is that of the kernel module, which the simulator has nothing to do with.
            let known = release != "unknown" && device.as_ref().is_ok_and(|device| !device.is_software());
            let release = if known { format!(", release {release}") } else { String::new() };
            println!("  device 0: {name}, driver API {}.{}{release}", version / 1000, version % 1000 / 10);
        }
        Err(refused) => {
            println!("  device 0 cannot be opened: {refused}");
            return false;
        }
    }
    let driver_works = test_driver(driver);
    let device = match device {
        Ok(device) => device,
        Err(error) => {
            println!("  the library cannot use it: {}", format!("{error:?}").replace('\n', "\n  "));
            return false;
        }
    };
    describe(&device, has);
    test_library(&device) && driver_works
}

/// What the device is, and a line for each ability.
fn describe(device: &Device, has: &dyn Fn(Call) -> bool) {
    let properties = device.properties();
    let (major, minor) = properties.compute;
    println!(
        "  compute capability {major}.{minor}, {} multiprocessors, {:.1} GiB",
        properties.multiprocessors,
        properties.memory_bytes as f64 / (1u64 << 30) as f64
    );
    for ability in device.abilities().iter() {
        let answer = match ability.needs.iter().find(|call| !has(**call)) {
            None => "yes".to_string(),
            Some(call) => {
                format!("no   (needs {}, CUDA {}.{})", call.name(), call.since() / 1000, call.since() % 1000 / 10)
            }
        };
        println!("  {:<36}{answer}", ability.name);
    }
}

fn test_driver(driver: &dyn Driver) -> bool {
    let started = Instant::now();
    let tested = capture_and_replay(driver, REPLAYS);
    let right = format!("three kernels captured by driver calls, replayed {REPLAYS} times, every number right");
    told(tested.map(|()| right), started)
}

/// `y += 2 x; z += 3 y; z += 1`, captured once and replayed: small whole numbers, so that every step is exact.
fn capture_and_replay(driver: &dyn Driver, replays: u32) -> Result<(), Complaint> {
    const ELEMENTS: u32 = 1000;
    // SAFETY: each call below is of a kernel with its own arguments, over memory of as many elements, which lives until this
    // function has waited for the last replay or the driver has refused to do any more.
    let raw = unsafe { Raw::open(driver) }?;
    let stream = raw.stream()?;
    let floats = |value: f32| raw.floats(&[value; ELEMENTS as usize]);
    let (x, y, z) = (floats(3.0)?, floats(0.0)?, floats(0.0)?);
    let calls = [raw.axpy(2.0, &x, &y, ELEMENTS), raw.axpy(3.0, &y, &z, ELEMENTS), raw.bump(&z, ELEMENTS)];
    let graph = raw.captured(&calls, &stream)?;
    let (mut want_y, mut want_z) = (0.0, 0.0);
    for replay in 1..=replays {
        graph.launch(&stream)?;
        stream.synchronize()?;
        want_y += 2.0 * 3.0;
        want_z += 3.0 * want_y + 1.0;
        all_equal(&format!("after {replay} replays"), &read_floats(&z)?, want_z)?;
    }
    Ok(())
}

fn test_library(device: &Device) -> bool {
    let started = Instant::now();
    let right = |operations| {
        format!(
            "a step of {operations} operations recorded by the library, replayed, as eager and plain Rust in every bit"
        )
    };
    told(demo::self_test(device).map(right), started)
}

fn told(tested: Result<String, Complaint>, started: Instant) -> bool {
    match tested {
        Ok(right) => {
            println!("  self-test: {right} ({:.0?})", started.elapsed());
            true
        }
        Err(complaint) => {
            println!("  self-test FAILED: {}", complaint.to_string().replace('\n', "\n  "));
            false
        }
    }
}

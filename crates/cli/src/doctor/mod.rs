//! `dacapo doctor`: which drivers there are and where, what each device can do, and whether they work.
//!
//! Two self-tests for each device: one by driver calls alone, one by the library. Where only the second fails the
//! mistake is ours; where the first fails too, the driver does not work.

mod report;

use std::process::ExitCode;
use std::time::Instant;

use dacapo::{Device, Software};
use dacapo_driver::{Call, Driver, Nvidia};
use dacapo_sim::IMPLEMENTED;

use crate::bench::raw::{Raw, all_equal, read_floats};
use crate::complaint::Complaint;
use crate::demo;
use crate::output::Output;
use crate::session::Session;
use report::{Ability, Description, DeviceLook, Look, Report, SelfTest};

/// How often the self-test replays what it captured.
const REPLAYS: u32 = 20;

/// The arguments of `dacapo doctor`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The seed of the software driver's self-test
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

/// Looks at every driver; success if every driver that is there passes its self-tests.
pub fn run(arguments: &Arguments, output: Output) -> ExitCode {
    let report = Report { nvidia: look_at_nvidia(), software: look_at_software(arguments.seed), seed: arguments.seed };
    output.tell(&report);
    if report.works() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn look_at_nvidia() -> Look {
    let driver = match Nvidia::open() {
        Ok(driver) => driver,
        Err(error) => {
            // Asked for by name and not there is a failure; not there on a machine without a GPU is none.
            let named = std::env::var_os(Nvidia::VARIABLE).is_some();
            return Look { works: !named, absent: Some(error.to_string()), ..Look::default() };
        }
    };
    let is_software = driver.is_software();
    // Our library exports every symbol, and answers NOT_SUPPORTED for what it does not know.
    let knows = |call| driver.has(call) && (!is_software || IMPLEMENTED.contains(&call));
    let device = look_at(&driver, Device::cuda(0), &knows);
    let path = Some(driver.path().display().to_string());
    Look { works: device.works(), path, is_software, device: Some(device), ..Look::default() }
}

fn look_at_software(seed: u64) -> Look {
    let device = Software::new().seed(seed).open();
    let looked = match device.as_ref().ok().and_then(|device| device.machine().cloned()) {
        Some(machine) => look_at(&machine, device.clone(), &|call| IMPLEMENTED.contains(&call)),
        None => DeviceLook { refused: Some(format!("{:?}", device.as_ref().err())), ..DeviceLook::default() },
    };
    let findings = device.iter().flat_map(Device::findings).collect();
    let notes = device.iter().flat_map(Device::notes).collect();
    Look { works: looked.works(), is_software: true, device: Some(looked), findings, notes, ..Look::default() }
}

/// The device, its abilities, and the self-tests.
fn look_at(driver: &dyn Driver, device: dacapo::Result<Device>, has: &dyn Fn(Call) -> bool) -> DeviceLook {
    let about = Session::open(driver)
        .and_then(|session| Ok((session.device_name()?, session.driver_version()?, session.driver_release())));
    let (name, version, release) = match about {
        Ok(about) => about,
        Err(refused) => return DeviceLook { refused: Some(refused.to_string()), ..DeviceLook::default() },
    };
    // The release is that of the kernel module, which the simulator has nothing to do with.
    let known = release != "unknown" && device.as_ref().is_ok_and(|device| !device.is_software());
    let mut looked = DeviceLook {
        name,
        driver_api: format!("{}.{}", version / 1000, version % 1000 / 10),
        driver_release: known.then_some(release),
        self_tests: vec![test_driver(driver)],
        ..DeviceLook::default()
    };
    match device {
        Ok(device) => {
            looked.description = Some(describe(&device, has));
            looked.self_tests.push(test_library(&device));
        }
        Err(error) => looked.unusable = Some(format!("{error:?}")),
    }
    looked
}

/// What the device is, and each ability.
fn describe(device: &Device, has: &dyn Fn(Call) -> bool) -> Description {
    let properties = device.properties();
    let abilities = device
        .abilities()
        .iter()
        .map(|ability| Ability { name: ability.name, needs: ability.needs.iter().find(|call| !has(**call)).copied() });
    Description {
        compute: properties.compute,
        multiprocessors: properties.multiprocessors.into(),
        memory_bytes: properties.memory_bytes as u64,
        abilities: abilities.collect(),
    }
}

fn test_driver(driver: &dyn Driver) -> SelfTest {
    let right = format!("three kernels captured by driver calls, replayed {REPLAYS} times, every number right");
    tested(|| capture_and_replay(driver, REPLAYS).map(|()| right))
}

/// `y += 2 x; z += 3 y; z += 1`, captured once and replayed: small whole numbers, so that every step is exact.
fn capture_and_replay(driver: &dyn Driver, replays: u32) -> Result<(), Complaint> {
    const ELEMENTS: u32 = 1000;
    // SAFETY: each call below is of a kernel with its own arguments, over memory of as many elements, which lives until
    // this function has waited for the last replay or the driver has refused to do any more.
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

fn test_library(device: &Device) -> SelfTest {
    let right = |operations| {
        format!(
            "a step of {operations} operations recorded by the library, replayed, as eager and plain Rust in every bit"
        )
    };
    tested(|| demo::self_test(device).map(right))
}

fn tested(test: impl FnOnce() -> Result<String, Complaint>) -> SelfTest {
    let started = Instant::now();
    let (passed, what) = match test() {
        Ok(right) => (true, right),
        Err(complaint) => (false, complaint.to_string()),
    };
    SelfTest { passed, what, time: started.elapsed() }
}

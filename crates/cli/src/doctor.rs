//! `dacapo doctor`: which drivers there are and where, what each device can do, and whether they work.

use std::process::ExitCode;
use std::time::Instant;

use dacapo_driver::{Call, Driver, Nvidia};
use dacapo_sim::{IMPLEMENTED, Machine, Options};
use dacapo_suite::replay::capture_and_replay;
use dacapo_suite::session::Session;

use crate::abilities::ABILITIES;

/// How often the self-test replays what it captured.
const REPLAYS: u32 = 20;

/// Looks at every driver; success if every driver that is there passes its self-test.
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
    describe(&driver, &knows) && self_test(&driver)
}

fn look_at_software(seed: u64) -> bool {
    println!("software driver (built in, needs no GPU)");
    let machine = Machine::new(Options { seed, ..Default::default() });
    println!("  driver calls: {} of the {} in the table", IMPLEMENTED.len(), Call::ALL.len());
    let works = describe(&machine, &|call| IMPLEMENTED.contains(&call)) && self_test(&machine);
    for finding in machine.findings() {
        println!("  {}", finding.to_string().replace('\n', "\n  "));
    }
    println!("  reproduce: cargo run --release -- doctor --seed {seed}");
    works
}

/// The device and a line for each ability.
fn describe(driver: &dyn Driver, has: &dyn Fn(Call) -> bool) -> bool {
    let about = Session::open(driver).and_then(|session| Ok((session.device_name()?, session.driver_version()?)));
    match about {
        Ok((name, version)) => {
            println!("  device 0: {name}, driver API {}.{}", version / 1000, version % 1000 / 10);
        }
        Err(refused) => {
            println!("  device 0 cannot be opened: {refused}");
            return false;
        }
    }
    for ability in ABILITIES {
        let lacking = ability.lacking(has);
        let answer = match lacking.first() {
            None => "yes".to_string(),
            Some(call) => {
                format!("no   (needs {}, CUDA {}.{})", call.name(), call.since() / 1000, call.since() % 1000 / 10)
            }
        };
        println!("  {:<32}{answer}", ability.name);
    }
    true
}

fn self_test(driver: &dyn Driver) -> bool {
    let started = Instant::now();
    let tested = Session::open(driver)
        .map_err(|refused| refused.to_string())
        .and_then(|mut session| capture_and_replay(&mut session, REPLAYS).map_err(|error| error.to_string()));
    match tested {
        Ok(()) => {
            let took = started.elapsed();
            println!("  self-test: three kernels captured, replayed {REPLAYS} times, every number right ({took:.0?})");
            true
        }
        Err(error) => {
            println!("  self-test FAILED: {error}");
            false
        }
    }
}

//! One small program as four other libraries write it, each beside Dacapo's form: y = a x + y with an `a` that changes from
//! replay to replay.
//!
//! - Each file is one library: first how its user writes it, in words of ours, then the same here, running.
//! - "F3" and the like number what those libraries offer; docs/founding.md has the list and Dacapo's answer to each.
//! - Each form asserts its results; the exit code is 1 when one is wrong, or when the software device has found something.

mod cuda_async;
mod ferrotorch;
mod flodl;
mod kernels;
mod numr;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use dacapo::{Device, Error, Result, Stream};

use crate::kernels::Kernels;

/// Elements of x and y: more than one block of threads, and not a multiple of one.
const LEN: usize = 1000;
/// Replays, with a = 0, 1, 2, ..
const REPLAYS: usize = 10;

/// One small program as four other libraries write it, each beside Dacapo's form.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Where to run
    #[arg(long, value_enum, default_value_t = Where::Best)]
    device: Where,
}

#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// A GPU where there is one, else the software device
    Best,
    /// The first GPU
    Cuda,
    /// The software device
    Software,
}

/// One library's way of writing the program.
type Form = fn(&Setting) -> Result<()>;

/// What every form is given.
struct Setting {
    device: Device,
    stream: Stream,
    kernels: Kernels,
    x: Vec<f32>,
}

impl Setting {
    /// What y must be after all replays, where it began as zeros: whole numbers, so there is one right answer.
    fn expected(&self) -> Vec<f32> {
        let sum = (0..REPLAYS).map(|a| a as f32).sum::<f32>();
        self.x.iter().map(|x| sum * x).collect()
    }

    /// An error that names the form, unless y is what it must be.
    fn check(&self, form: &str, y: &[f32]) -> Result<()> {
        expect(form, y == self.expected())
    }
}

/// An error that says what is wrong, unless it holds.
fn expect(what: &str, holds: bool) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::msg(format!("{what}: not what it must be"))) }
}

fn main() -> ExitCode {
    match run(Arguments::parse().device) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}

fn run(place: Where) -> Result<()> {
    let device = match place {
        Where::Best => Device::best()?,
        Where::Cuda => Device::cuda(0)?,
        Where::Software => Device::software()?,
    };
    let (stream, kernels) = (device.stream()?, Kernels::load(&device)?);
    let x = (0..LEN).map(|i| (i % 97) as f32).collect();
    let setting = Setting { device, stream, kernels, x };
    println!("{}", setting.device.properties().name);
    let forms: [(&str, Form); 4] = [
        ("as with ferrotorch-gpu: begin, guard, end, a pool, a device scalar", ferrotorch::run),
        ("as with flodl: warm up, capture, replay on static inputs", flodl::run),
        ("as with cuda-async: lazy operations, a scope, update, launch", cuda_async::run),
        ("as with numr: destinations are passed in", numr::run),
    ];
    for (what, form) in forms {
        form(&setting)?;
        println!("ok  {what}");
    }
    match setting.device.findings().first() {
        None => Ok(()),
        Some(finding) => Err(Error::msg(finding.clone())),
    }
}

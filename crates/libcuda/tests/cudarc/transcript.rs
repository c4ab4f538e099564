//! What a scenario writes down: values and codes that the driver decided, a line each.
//!
//! No addresses, no times, no register counts: two runs on one driver give the same lines, and so do two drivers that
//! answer alike. Lines are printed at once, so that a process that dies leaves what it had seen.

use std::fmt::Debug;

use cudarc::driver::{DriverError, sys::CUresult};

/// The lines of one scenario, on standard output.
pub struct Transcript;

impl Transcript {
    /// A value.
    pub fn note(&mut self, what: &str, value: impl Debug) {
        println!("{what}: {value:?}");
    }

    /// What a call answered, and its value if it has one.
    pub fn value<T: Debug>(&mut self, what: &str, answer: Result<T, DriverError>) {
        match answer {
            Ok(value) => println!("{what}: {value:?}"),
            Err(error) => println!("{what}: {}", name(error)),
        }
    }

    /// Whether a call succeeded, or its code; hands on what it made.
    pub fn code<T>(&mut self, what: &str, answer: Result<T, DriverError>) -> Option<T> {
        match answer {
            Ok(value) => {
                println!("{what}: ok");
                Some(value)
            }
            Err(error) => {
                println!("{what}: {}", name(error));
                None
            }
        }
    }
}

/// The name of a code, without the prefix that all share.
pub fn name(error: DriverError) -> String {
    let DriverError(code) = error;
    let name = format!("{code:?}");
    name.strip_prefix("CUDA_ERROR_").unwrap_or(&name).to_string()
}

/// What a scenario comes to: an error is a call that it needed and did not get.
pub type Outcome = Result<(), DriverError>;

/// One scenario.
pub struct Scenario {
    /// `area/name`.
    pub name: &'static str,
    /// What it does.
    pub body: fn(&mut Transcript) -> Outcome,
    /// Whether it makes mistakes on purpose: only then may the software driver have anything to report.
    pub mistakes: bool,
}

/// The scenarios of an area: those that do everything right, then those that do not.
macro_rules! scenarios {
    ($area:literal, right: [$($right:ident),* $(,)?], mistaken: [$($mistaken:ident),* $(,)?]) => {
        /// The scenarios of this area.
        pub const SCENARIOS: &[crate::transcript::Scenario] = &[
            $(crate::transcript::Scenario { name: concat!($area, "/", stringify!($right)), body: $right, mistakes: false },)*
            $(crate::transcript::Scenario { name: concat!($area, "/", stringify!($mistaken)), body: $mistaken, mistakes: true },)*
        ];
    };
}
pub(crate) use scenarios;

/// A call of cudarc's `sys` or `result` layer, or another of its functions that are unsafe.
macro_rules! raw {
    ($call:expr) => {{
        // SAFETY: pointers are to locals with room for the answer, or to memory of the scenario that outlives the work;
        // a handle that is not alive is what its scenario is about, and is one that drivers answer for.
        #[allow(unused_unsafe, reason = "some of the calls are safe")]
        unsafe {
            $call
        }
    }};
}
pub(crate) use raw;

/// Launches a kernel of kernels.ptx.
macro_rules! launch {
    ($stream:expr, $kernel:expr, $config:expr $(, $argument:expr)*) => {{
        let mut builder = $stream.launch_builder($kernel);
        $(cudarc::driver::PushKernelArg::arg(&mut builder, $argument);)*
        // SAFETY: the arguments are those that kernels.ptx states, and the sizes fit; a scenario where they do not is
        // about the fault that follows, in a process of its own.
        unsafe { builder.launch($config) }
    }};
}
pub(crate) use launch;

/// The value behind a code that is no error.
pub fn code(result: CUresult) -> Result<(), DriverError> {
    result.result()
}

//! The one driver object of the process, made by the first call from what the environment sets.
//!
//! Not here yet: the machine itself. Until then every call answers `CUDA_ERROR_NOT_SUPPORTED` and leaves a finding.

use std::sync::OnceLock;

use dacapo_driver::{CUresult, Call, Driver};

use crate::environment::Settings;
use crate::findings::Findings;

struct Absent(Findings);

impl Driver for Absent {
    unsafe fn cuDriverGetVersion(&self, version: *mut i32) -> CUresult {
        if version.is_null() {
            return CUresult::CUDA_ERROR_INVALID_VALUE;
        }
        // SAFETY: not null, and the caller promises that it can be written.
        unsafe { version.write(13_000) };
        CUresult::CUDA_SUCCESS
    }

    fn missing(&self, call: Call) -> CUresult {
        self.0.write(&format_args!("unsupported[call]: `{}` is not implemented", call.symbol()));
        CUresult::CUDA_ERROR_NOT_SUPPORTED
    }
}

pub fn driver() -> &'static impl Driver {
    static DRIVER: OnceLock<Absent> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let settings = Settings::read(|name| std::env::var_os(name), |complaint| eprintln!("{complaint}"));
        Absent(Findings::open(&settings.findings))
    })
}

pub fn with_per_thread_default_stream<R>(run: impl FnOnce() -> R) -> R {
    run()
}

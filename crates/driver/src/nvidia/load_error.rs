//! Why no driver could be loaded: what, where, and what to do.

use std::fmt;
use std::path::PathBuf;

use crate::{Call, DriverError};

/// Why a driver could not be loaded, or is not enough for what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No library could be opened.
    #[error("no CUDA driver could be opened{}\nhelp: {HELP_NOT_FOUND}", Tried(tried))]
    LibraryNotFound {
        /// What was tried, in order, and why each could not be opened.
        tried: Vec<(PathBuf, String)>,
    },

    /// A library was opened, but it lacks an entry point that every driver has.
    #[error("{} is not a CUDA driver: it does not export `{missing}`\nhelp: {HELP_OTHER_FILE}", path.display())]
    NotADriver {
        /// The library.
        path: PathBuf,
        /// The symbol it lacks.
        missing: &'static str,
    },

    /// The driver would not even tell its version.
    #[error("{} does not answer as a CUDA driver: {error}\nhelp: {HELP_OTHER_FILE}", path.display())]
    Refused {
        /// The library.
        path: PathBuf,
        /// The call and what it answered.
        error: DriverError,
    },

    /// The driver is older than what is needed.
    #[error(
        "{} is a driver for CUDA {}, and CUDA {} is needed\nhelp: install NVIDIA driver r550 or newer",
        path.display(), Version(*found), Version(*needed)
    )]
    TooOld {
        /// The library.
        path: PathBuf,
        /// Its version, as `cuDriverGetVersion` counts.
        found: u32,
        /// The oldest that would do.
        needed: u32,
    },

    /// The driver lacks an entry point that was asked for.
    #[error(
        "{} (CUDA {}) does not have `{}` (`{}` in the manual), which came with CUDA {}\nhelp: {}",
        path.display(), Version(*driver_version), call.symbol(), call.name(), Version(call.since()),
        help_missing(*driver_version, *call)
    )]
    MissingEntryPoint {
        /// The library.
        path: PathBuf,
        /// The entry point: its symbol, its name and the CUDA version that brought it.
        call: Call,
        /// The driver's version, as `cuDriverGetVersion` counts.
        driver_version: u32,
    },
}

const HELP_NOT_FOUND: &str = "install NVIDIA's driver, or set DACAPO_LIBCUDA to the path of a libcuda.so.1";
const HELP_OTHER_FILE: &str =
    "set DACAPO_LIBCUDA to the libcuda.so.1 of NVIDIA's driver (the toolkit's `stubs` folder holds none)";

fn help_missing(driver: u32, call: Call) -> &'static str {
    if driver < call.since() {
        "install a newer NVIDIA driver"
    } else {
        "this driver should have it: the library may be incomplete; set DACAPO_LIBCUDA to another"
    }
}

/// A version as people write it: 12_040 is `12.4`.
struct Version(u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

struct Tried<'a>(&'a [(PathBuf, String)]);

impl fmt::Display for Tried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, reason) in self.0 {
            write!(f, "\n  tried {}: {reason}", path.display())?;
        }
        Ok(())
    }
}

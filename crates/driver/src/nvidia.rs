//! NVIDIA's driver, opened at run time.
//!
//! - No toolkit and no `libcuda` at build or link time: the library is found when [`Nvidia::open`] is called.
//! - Nothing here panics. No library, a library that is no driver, a driver older than CUDA 12.4: a [`LoadError`].
//! - An entry point that the library lacks does not fail the load. [`Nvidia::has`] says so, [`Nvidia::require`] makes
//!   a typed error of it, and calling it answers `CUDA_ERROR_NOT_SUPPORTED` without touching the arguments.
//!
//! Left to others: `cuInit` and all that follows it. Opening initialises nothing, so a process may open and then fork.
//!
//! # Why is the library never unloaded?
//!
//! `libcuda` starts threads, registers functions to be run at exit and keeps per-thread state with destructors. All of
//! them are code inside the library: were it unmapped, they would run unmapped code. Its own documentation offers no
//! way to stop them. So the library is leaked on purpose, once for each [`Nvidia`]; the loader counts the openings of
//! one file, so opening it again costs nothing.

use std::path::{Path, PathBuf};

use crate::{Call, Check, Driver};

mod entries;
mod library;
mod load_error;

use entries::Entries;
pub use load_error::LoadError;

/// NVIDIA's driver, or the software driver behind the C ABI, loaded from a shared library.
///
/// ```no_run
/// use dacapo_driver::{Call, Check, Driver, Nvidia};
///
/// let driver = Nvidia::open()?;
/// driver.require(&[Call::cuStreamBeginCaptureToGraph])?;
/// // SAFETY: `cuInit` takes a number.
/// unsafe { driver.cuInit(0) }.check(Call::cuInit)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Nvidia {
    path: PathBuf,
    version: u32,
    software: bool,
    entries: Entries,
}

impl Nvidia {
    /// The oldest driver that is accepted: CUDA 12.4, as `cuDriverGetVersion` counts.
    pub const OLDEST: u32 = 12_040;

    /// The variable that names the library to open instead of searching for one.
    pub const VARIABLE: &'static str = "DACAPO_LIBCUDA";

    /// Opens the driver of this machine.
    ///
    /// If `DACAPO_LIBCUDA` is set, that file and no other; else the first that opens of `libcuda.so.1`, `libcuda.so`
    /// (both searched as the dynamic loader does) and `/usr/lib/wsl/lib/libcuda.so.1`.
    ///
    /// # Why this is safe
    ///
    /// Opening a library runs its code.
    ///
    /// 1. Which file it is, the system decides, or who started the process: the variable is of the same rank as the
    ///    loader's own (`LD_LIBRARY_PATH`, `LD_PRELOAD`), which decide the same for every other library.
    /// 2. Safe code cannot set a variable of its own process (`std::env::set_var` is `unsafe`) and gives no name here.
    ///
    /// # Errors
    ///
    /// - [`LoadError::LibraryNotFound`]: none could be opened; it lists what was tried and why each failed.
    /// - [`LoadError::NotADriver`], [`LoadError::Refused`], [`LoadError::TooOld`]: about the library that was opened.
    pub fn open() -> Result<Nvidia, LoadError> {
        match std::env::var_os(Self::VARIABLE) {
            Some(path) => Self::open_first(&[PathBuf::from(path)]),
            None => Self::open_first(&library::SEARCHED.map(PathBuf::from)),
        }
    }

    /// Opens the library at `path` and no other.
    ///
    /// # Errors
    ///
    /// As [`Nvidia::open`].
    ///
    /// Not for safe code, because a file runs its own code when it is opened:
    ///
    /// ```compile_fail,E0133
    /// dacapo_driver::Nvidia::open_path("any.so".as_ref());
    /// ```
    ///
    /// # Safety
    ///
    /// - Opening the file runs its initialisers, and those of what it depends on: they do no harm.
    /// - What it exports under the names of the driver API are functions with cuda.h's signatures, which do what the
    ///   manual says or refuse.
    pub unsafe fn open_path(path: &Path) -> Result<Nvidia, LoadError> {
        Self::open_first(&[path.to_path_buf()])
    }

    fn open_first(candidates: &[PathBuf]) -> Result<Nvidia, LoadError> {
        let (library, opened) = library::open_first(candidates)?;
        let Some(get_version) = library.symbol("cuDriverGetVersion") else {
            return Err(LoadError::NotADriver { path: opened, missing: "cuDriverGetVersion" });
        };
        let path = library::file_of(get_version).unwrap_or(opened);
        if library.symbol("cuInit").is_none() {
            return Err(LoadError::NotADriver { path, missing: "cuInit" });
        }
        let software = library.symbol("dacapo_software_driver").is_some();
        let ask = library.symbol("cuGetProcAddress_v2");
        let entries = Entries::resolve(|call| library.entry_point(call, ask));
        let mut driver = Nvidia { path, version: 0, software, entries };
        let mut version = 0;
        // SAFETY: `version` is valid for the one write that `cuDriverGetVersion` makes; it works before `cuInit`.
        let answer = unsafe { driver.cuDriverGetVersion(&raw mut version) };
        if let Err(error) = answer.check(Call::cuDriverGetVersion) {
            return Err(LoadError::Refused { path: driver.path, error });
        }
        driver.version = u32::try_from(version).unwrap_or(0);
        if driver.version < Self::OLDEST {
            return Err(LoadError::TooOld { path: driver.path, found: driver.version, needed: Self::OLDEST });
        }
        Ok(driver)
    }

    /// The file the library was loaded from, or the name it was opened by where the system does not tell the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The CUDA version of the driver, as `cuDriverGetVersion` counts: 13_000 is CUDA 13.0.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Whether the library is the software driver behind the C ABI, and not NVIDIA's.
    pub fn is_software(&self) -> bool {
        self.software
    }

    /// Whether the library has this entry point.
    pub fn has(&self, call: Call) -> bool {
        self.entries.has(call)
    }

    /// Every entry point of the table that the library lacks, in the table's order.
    pub fn lacking(&self) -> Vec<Call> {
        Call::ALL.iter().copied().filter(|&call| !self.has(call)).collect()
    }

    /// Checks that the library has all of these.
    ///
    /// # Errors
    ///
    /// - [`LoadError::MissingEntryPoint`] for the first of `calls` that is missing.
    pub fn require(&self, calls: &[Call]) -> Result<(), LoadError> {
        match calls.iter().find(|&&call| !self.has(call)) {
            None => Ok(()),
            Some(&call) => {
                Err(LoadError::MissingEntryPoint { path: self.path.clone(), call, driver_version: self.version })
            }
        }
    }
}

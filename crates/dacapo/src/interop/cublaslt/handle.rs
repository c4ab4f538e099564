//! The library's handle: one a device, made outside every capture and destroyed with the device.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_driver::Driver;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::interop::cublaslt::descriptors::{Choice, Key};
use crate::interop::cublaslt::sys::{self, Entries, Opaque, Status};
use crate::interop::library::Wanted;

const WANTED: Wanted = Wanted {
    name: "cuBLASLt",
    variable: "DACAPO_LIBCUBLASLT",
    files: &["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"],
    wheels: &["cu13", "cublas"],
};

/// The versions whose interface is known: 12.0 and later, below 14.
const VERSIONS: std::ops::Range<usize> = 120_000..140_000;

/// A handle of the library's, with what was asked of it before.
pub(super) struct Handle {
    pub(super) entries: Entries,
    pub(super) raw: Opaque,
    pub(super) driver: Arc<dyn Driver>,
    version: usize,
    path: PathBuf,
    /// What the heuristic chose for each product, so that the same product is always the same.
    choices: Mutex<HashMap<Key, Choice>>,
}

// SAFETY: the handle is a token that the library takes from any thread (cuBLAS documentation, "Thread Safety"); all else
// in it is plain data.
unsafe impl Send for Handle {}
// SAFETY: as above; the library's calls may be made with one handle at the same time.
unsafe impl Sync for Handle {}

impl Handle {
    /// Opens the library and makes a handle in the device's context.
    pub(super) fn make(device: &Device, library: Option<&Path>) -> Result<Handle> {
        device.enter()?;
        // A handle may allocate, which breaks a capture of another library's.
        let _relaxed = device.relaxed()?;
        let made = WANTED.first(library, |library| {
            let entries = Entries::find(library)?;
            // SAFETY: it takes nothing.
            let version = unsafe { (entries.cublasLtGetVersion)() };
            if !VERSIONS.contains(&version) {
                return Err(format!("its version is {version}; 12 and 13 are known"));
            }
            let mut raw: Opaque = std::ptr::null_mut();
            // SAFETY: `raw` is valid for the write; the device's context is current.
            match unsafe { (entries.cublasLtCreate)(&mut raw) } {
                sys::SUCCESS if !raw.is_null() => Ok((entries, version, raw)),
                status => Err(format!("cublasLtCreate answered {}", sys::status_name(status))),
            }
        });
        let ((entries, version, raw), path) = made?;
        let driver = device.0.cuda.driver.share();
        Ok(Handle { entries, raw, driver, version, path, choices: Mutex::default() })
    }

    pub(super) fn version(&self) -> (u32, u32, u32) {
        let version = self.version as u32;
        (version / 10_000, version / 100 % 100, version % 100)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was chosen for this product, or what `choose` chooses now.
    pub(super) fn choice(&self, key: Key, choose: impl FnOnce() -> Result<Choice>) -> Result<Choice> {
        let mut choices = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(choice) = choices.get(&key) {
            return Ok(*choice);
        }
        let choice = choose()?;
        choices.insert(key, choice);
        Ok(choice)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by this library and held by nobody else. The device, which goes with this, has seen to it that
        // nothing of it runs; nobody can be told of a refusal.
        unsafe { (self.entries.cublasLtDestroy)(self.raw) };
    }
}

/// A status as an error of the library's.
pub(super) fn check(status: Status, call: &'static str) -> Result<()> {
    match status {
        sys::SUCCESS => Ok(()),
        status => Err(Error::new(ErrorKind::Library { library: WANTED.name, call, said: sys::status_name(status) })),
    }
}

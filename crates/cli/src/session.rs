//! One device of a driver, by plain driver calls: its primary context, modules and memory.
//!
//! - Every driver call is checked; a refusal names the call, the code and what it was about.
//! - Modules are loaded once and kept until the session ends; memory is freed when it is dropped.
//!
//! Launches, streams and graphs by hand are in `bench/raw`.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fmt;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Check, Driver, DriverError};

/// A driver call that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The call and what it answered.
    pub error: DriverError,
    /// What the call was about: a kernel's name, or nothing.
    pub about: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.about.is_empty() {
            true => write!(f, "{}", self.error),
            false => write!(f, "{}, for `{}`", self.error, self.about),
        }
    }
}

impl std::error::Error for Refused {}

fn checked(code: CUresult, call: Call, about: &str) -> Result<(), Refused> {
    code.check(call).map_err(|error| Refused { error, about: about.to_string() })
}

/// Device 0 of a driver with its primary context current on this thread.
pub struct Session<'d> {
    driver: &'d dyn Driver,
    device: CUdevice,
    modules: HashMap<String, CUmodule>,
}

impl<'d> Session<'d> {
    /// Initialises the driver and makes the primary context of device 0 current.
    ///
    /// # Errors
    ///
    /// - The first call that was refused.
    pub fn open(driver: &'d dyn Driver) -> Result<Session<'d>, Refused> {
        let (mut device, mut context) = (0, CUcontext::NULL);
        // SAFETY: `cuInit` takes a number.
        checked(unsafe { driver.cuInit(0) }, Call::cuInit, "")?;
        // SAFETY: `device` is valid for the write.
        checked(unsafe { driver.cuDeviceGet(&mut device, 0) }, Call::cuDeviceGet, "device 0")?;
        // SAFETY: `context` is valid for the write, and the driver gave `device`.
        let retained = unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device) };
        checked(retained, Call::cuDevicePrimaryCtxRetain, "device 0")?;
        // Owned from here on: the primary context is released even when the next call is refused.
        let session = Session { driver, device, modules: HashMap::new() };
        // SAFETY: the context was retained above and is released only when the session is dropped.
        checked(unsafe { driver.cuCtxSetCurrent(context) }, Call::cuCtxSetCurrent, "the primary context")?;
        Ok(session)
    }

    /// The driver underneath.
    pub fn driver(&self) -> &'d dyn Driver {
        self.driver
    }

    /// The device's name.
    ///
    /// # Errors
    ///
    /// - The driver refused to tell.
    pub fn device_name(&self) -> Result<String, Refused> {
        let mut name = [0 as c_char; 256];
        // SAFETY: the array has room for the 255 characters that the driver may write.
        let named = unsafe { self.driver.cuDeviceGetName(name.as_mut_ptr(), 255, self.device) };
        checked(named, Call::cuDeviceGetName, "device 0")?;
        // SAFETY: the array was zeroed and the driver may write at most 255 of its 256 characters, so it ends in one.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// The driver's CUDA version, as `cuDriverGetVersion` counts: 12_040 is 12.4.
    ///
    /// # Errors
    ///
    /// - The driver refused to tell.
    pub fn driver_version(&self) -> Result<i32, Refused> {
        let mut version = 0;
        // SAFETY: `version` is valid for the write.
        checked(unsafe { self.driver.cuDriverGetVersion(&mut version) }, Call::cuDriverGetVersion, "")?;
        Ok(version)
    }

    /// The driver's version as NVIDIA numbers its releases, from the kernel module that is loaded; `unknown` where
    /// there is none.
    pub fn driver_release(&self) -> String {
        let release = std::fs::read_to_string("/sys/module/nvidia/version")
            .or_else(|_| std::fs::read_to_string("/proc/driver/nvidia/version"))
            .unwrap_or_default();
        release_in(&release).unwrap_or("unknown").to_string()
    }

    /// A kernel of a module; the module is loaded the first time.
    ///
    /// # Errors
    ///
    /// - The driver does not accept the PTX, or does not find the kernel in it.
    pub fn kernel(&mut self, module: &str, ptx: &str, kernel: &str) -> Result<CUfunction, Refused> {
        let about = format!("{module}/{kernel}");
        let text = |text: &str| {
            // A NUL inside a name or PTX cannot be passed to C; to the driver it would be another, shorter text.
            let error = DriverError { code: CUresult::CUDA_ERROR_INVALID_VALUE, call: Call::cuModuleLoadData };
            CString::new(text).map_err(|_| Refused { error, about: about.clone() })
        };
        let handle = match self.modules.get(module) {
            Some(&handle) => handle,
            None => {
                let (image, mut handle) = (text(ptx)?, CUmodule::NULL);
                // SAFETY: the image is a text with a NUL at its end, and `handle` is valid for the write.
                let loaded = unsafe { self.driver.cuModuleLoadData(&mut handle, image.as_ptr().cast()) };
                checked(loaded, Call::cuModuleLoadData, &about)?;
                self.modules.insert(module.to_string(), handle);
                handle
            }
        };
        let (name, mut function) = (text(kernel)?, CUfunction::NULL);
        // SAFETY: the module stays loaded until the session is dropped; the name has a NUL at its end.
        let found = unsafe { self.driver.cuModuleGetFunction(&mut function, handle, name.as_ptr()) };
        checked(found, Call::cuModuleGetFunction, &about)?;
        Ok(function)
    }

    /// New device memory with these bytes in it; freed when dropped.
    ///
    /// # Errors
    ///
    /// - The driver refused to allocate or to copy.
    pub fn buffer(&self, bytes: &[u8]) -> Result<DeviceBytes<'d>, Refused> {
        let mut address = 0;
        // SAFETY: `address` is valid for the write.
        checked(unsafe { self.driver.cuMemAlloc_v2(&mut address, bytes.len()) }, Call::cuMemAlloc_v2, "")?;
        let buffer = DeviceBytes { driver: self.driver, address, bytes: bytes.len() };
        // SAFETY: the source is as long as the copy, and so is the allocation.
        let copied = unsafe { self.driver.cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) };
        checked(copied, Call::cuMemcpyHtoD_v2, "")?;
        Ok(buffer)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // What these answer is of no use to anyone: the session is over, and a broken context answers errors to all.
        for module in self.modules.values() {
            // SAFETY: the driver gave the module, and nothing of it is used after this.
            let _ = unsafe { self.driver.cuModuleUnload(*module) };
        }
        // SAFETY: retained once, in `open`.
        let _ = unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The word of digits and two dots in what the kernel module says of itself: one file is the word, the other a
/// sentence.
fn release_in(text: &str) -> Option<&str> {
    let is_release =
        |word: &&str| word.matches('.').count() == 2 && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_release)
}

/// Device memory of a session.
pub struct DeviceBytes<'d> {
    driver: &'d dyn Driver,
    address: CUdeviceptr,
    bytes: usize,
}

impl DeviceBytes<'_> {
    /// Its address on the device.
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// What is in it now; waits for the legacy stream as the call does.
    ///
    /// # Errors
    ///
    /// - The copy was refused, or what ran before it failed.
    pub fn read(&self) -> Result<Vec<u8>, Refused> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: the target is as long as the copy, and so is the allocation.
        let copied = unsafe { self.driver.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), self.address, self.bytes) };
        checked(copied, Call::cuMemcpyDtoH_v2, "")?;
        Ok(bytes)
    }
}

impl Drop for DeviceBytes<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated by this driver, freed only here; `cuMemFree` waits for what still uses it.
        let _ = unsafe { self.driver.cuMemFree_v2(self.address) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_found_in_a_word_and_in_a_sentence() {
        assert_eq!(release_in("580.159.04\n"), Some("580.159.04"));
        let sentence = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024";
        assert_eq!(release_in(sentence), Some("550.54.15"));
        assert_eq!(release_in(""), None);
    }

    #[test]
    fn a_refusal_names_the_call_and_the_kernel() {
        let machine = dacapo_sim::Machine::new(dacapo_sim::Options::default());
        let mut session = Session::open(&machine).unwrap();
        let refused = session.kernel("none", "this is no PTX", "k").unwrap_err().to_string();
        assert!(refused.contains("cuModuleLoadData") && refused.ends_with("for `none/k`"), "{refused}");
        assert_eq!(session.buffer(&[1, 2, 3]).unwrap().read().unwrap(), [1, 2, 3]);
    }
}

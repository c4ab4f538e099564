//! What a device is.

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver, DriverError};

/// What a device is, as its driver says: [`Device::properties`](crate::Device::properties).
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let properties = device.properties();
/// assert!(properties.software && properties.compute >= (7, 5));
/// println!("{}: {} GiB", properties.name, properties.memory_bytes >> 30);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// Its name.
    pub name: String,
    /// Whether it is the software device.
    pub software: bool,
    /// The CUDA version of the driver, in CUDA's encoding: 12_040 is 12.4.
    pub driver_version: u32,
    /// Compute capability, major and minor.
    pub compute: (u32, u32),
    /// Bytes of device memory.
    pub memory_bytes: usize,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads per warp.
    pub warp: u32,
    /// The most threads per block.
    pub threads_max: u32,
    /// The most threads per block in x, y, z.
    pub block_max: [u32; 3],
    /// The most blocks in x, y, z.
    pub grid_max: [u32; 3],
    /// Bytes of shared memory that any block may use.
    pub shared_bytes: u32,
    /// Bytes of shared memory that a block may use if its kernel opts in.
    pub shared_bytes_max: u32,
    /// Whether cooperative launches work.
    pub cooperative: bool,
    /// Whether stream-ordered allocation works.
    pub memory_pools: bool,
    /// Whether addresses can be reserved without memory behind them.
    pub virtual_memory: bool,
}

impl Properties {
    /// Asks the driver.
    pub(crate) fn ask(driver: &dyn Driver, device: CUdevice, software: bool) -> Result<Properties, DriverError> {
        let attribute = |attribute: CUdevice_attribute| -> Result<u32, DriverError> {
            let mut value = 0;
            // SAFETY: `value` is valid for the write.
            unsafe { driver.cuDeviceGetAttribute(&mut value, attribute, device) }.check(Call::cuDeviceGetAttribute)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let mut name = [0 as std::ffi::c_char; 256];
        // SAFETY: the array has room for the 255 characters that the driver may write.
        unsafe { driver.cuDeviceGetName(name.as_mut_ptr(), 255, device) }.check(Call::cuDeviceGetName)?;
        // SAFETY: the array was zeroed and the last character was not given away, so it ends in one.
        let name = unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let (mut memory_bytes, mut version) = (0, 0);
        // SAFETY: `memory_bytes` is valid for the write.
        unsafe { driver.cuDeviceTotalMem_v2(&mut memory_bytes, device) }.check(Call::cuDeviceTotalMem_v2)?;
        // SAFETY: `version` is valid for the write.
        unsafe { driver.cuDriverGetVersion(&mut version) }.check(Call::cuDriverGetVersion)?;
        Ok(Properties {
            name,
            software,
            driver_version: u32::try_from(version).unwrap_or(0),
            compute: (
                attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            memory_bytes,
            multiprocessors: attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            warp: attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            threads_max: attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            block_max: [
                attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            grid_max: [
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_bytes: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_bytes_max: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            cooperative: attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
            memory_pools: attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
            virtual_memory: attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)? != 0,
        })
    }
}

//! What a device says of itself: attributes and limits, recorded on a GPU and compared on the software driver.

use std::collections::BTreeMap;

use dacapo_driver::CUresult;
use dacapo_driver::types::CUcontext;
use serde::{Deserialize, Serialize};

use crate::session::{Refused, Session};

/// Where the committed recording lies, from the root of the workspace.
pub const RECORDING_FILE: &str = "crates/suite/recordings/device-h200.json";

/// Numbers that are asked for, beyond the last that CUDA 13.0 knows.
const ATTRIBUTES: u32 = 170;
const LIMITS: u32 = 12;

/// A device's answers by number: the value, or the code by its name.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Answers {
    /// The device's name.
    pub gpu: String,
    /// The release of its driver.
    pub driver: String,
    /// The commit that the recorder was built from.
    pub commit: String,
    /// `cuDeviceTotalMem`.
    pub total_bytes: usize,
    /// `cuDeviceGetAttribute`.
    pub attributes: BTreeMap<u32, Result<i32, String>>,
    /// `cuCtxGetLimit`.
    pub limits: BTreeMap<u32, Result<usize, String>>,
    /// `cuCtxGetApiVersion`.
    pub api_version: u32,
}

/// Attributes that belong to one machine rather than to the kind of device: where it is plugged in.
pub const OF_THE_MACHINE: &[u32] = &[33, 34, 50];

/// Attributes of an H200 that the software device answers with 0, because it has not what they promise: a client that asks
/// first then does without. docs/known-differences.md says what they are.
pub const NOT_IN_SOFTWARE: &[u32] =
    &[96, 103, 107, 110, 112, 114, 116, 117, 118, 119, 120, 121, 124, 125, 127, 128, 129, 141, 145];

/// Asks for everything.
pub fn ask(session: &Session<'_>, commit: &str) -> Result<Answers, Refused> {
    let driver = session.driver();
    let named = |code: CUresult| code.to_string();
    let mut attributes = BTreeMap::new();
    for number in 0..ATTRIBUTES {
        let mut value = 0;
        // SAFETY: `value` is valid for the write; the driver refuses a number that it does not know.
        let code = unsafe { driver.cuDeviceGetAttribute(&mut value, number, 0) };
        attributes.insert(number, if code.is_success() { Ok(value) } else { Err(named(code)) });
    }
    let mut limits = BTreeMap::new();
    for number in 0..LIMITS {
        let mut value = 0;
        // SAFETY: as above.
        let code = unsafe { driver.cuCtxGetLimit(&mut value, number) };
        limits.insert(number, if code.is_success() { Ok(value) } else { Err(named(code)) });
    }
    let (mut total_bytes, mut api_version) = (0, 0);
    // SAFETY: both are valid for the write; the null context is the current one.
    unsafe {
        driver.cuDeviceTotalMem_v2(&mut total_bytes, 0);
        driver.cuCtxGetApiVersion(CUcontext::NULL, &mut api_version);
    }
    Ok(Answers {
        gpu: session.device_name()?,
        driver: session.driver_release(),
        commit: commit.to_string(),
        total_bytes,
        attributes,
        limits,
        api_version,
    })
}

//! Is the table of driver calls right? Asked of NVIDIA's own library; no GPU work is done.

use std::ffi::CString;

use dacapo_driver::types::CU_GET_PROC_ADDRESS_SUCCESS;
use dacapo_driver::{Call, Driver, Nvidia};

/// What is wrong with the table, a line each: symbols that the library should have by its version and has not, and
/// names that it knows in other versions than the table says.
pub fn mistakes(driver: &Nvidia) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let expected = |call: &Call| call.since() <= driver.version();
    for call in driver.lacking().into_iter().filter(expected) {
        found.push(format!("{}: not in {}", call.symbol(), driver.path().display()));
    }
    for &call in Call::ALL.iter().filter(|call| expected(call)) {
        match (known(driver, call, call.since()), known(driver, call, call.since() - 1)) {
            (None, _) => found.push(format!("{}: not known in {}", call.symbol(), call.since())),
            // An older signature under the same name is another function, and so no mistake.
            (Some(now), Some(before)) if now == before => {
                found.push(format!("{}: the same function before {}", call.symbol(), call.since()));
            }
            _ => {}
        }
    }
    found
}

fn known(driver: &Nvidia, call: Call, version: u32) -> Option<usize> {
    let name = CString::new(call.name()).ok()?;
    let (mut address, mut status) = (std::ptr::null_mut(), u32::MAX);
    // SAFETY: the name ends with a NUL and both pointers are valid for the write.
    let code = unsafe { driver.cuGetProcAddress_v2(name.as_ptr(), &mut address, version as i32, 0, &mut status) };
    (code.is_success() && status == CU_GET_PROC_ADDRESS_SUCCESS).then_some(address as usize)
}

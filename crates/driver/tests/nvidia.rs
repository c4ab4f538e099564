//! What NVIDIA's own library says about the table. Needs a machine that has it; no GPU work is done.
//!
//! Run there: `cargo test -p dacapo-driver --test nvidia -- --ignored --nocapture`, or the built test with those arguments.

use std::ffi::CString;

use dacapo_driver::types::CU_GET_PROC_ADDRESS_SUCCESS;
use dacapo_driver::{Call, Driver, Nvidia};

#[test]
#[ignore = "needs NVIDIA's driver"]
fn it_has_every_entry_point_that_its_version_should_have() {
    let driver = Nvidia::open().unwrap();
    println!("{} is CUDA {}", driver.path().display(), driver.version());
    assert!(!driver.is_software(), "this test is about NVIDIA's library");
    let lacking: Vec<_> = driver.lacking().into_iter().filter(|call| call.since() <= driver.version()).collect();
    assert_eq!(lacking, []);
}

/// The version of a row is right if the library knows the name from that version on, and not one version before, unless an
/// older signature of the name exists.
#[test]
#[ignore = "needs NVIDIA's driver"]
fn it_knows_each_name_from_the_version_in_the_table() {
    let driver = Nvidia::open().unwrap();
    let known = |call: Call, version: u32| {
        let name = CString::new(call.name()).unwrap();
        let (mut address, mut status) = (std::ptr::null_mut(), 9);
        // SAFETY: the name ends in NUL and both pointers are to locals.
        let answer =
            unsafe { driver.cuGetProcAddress_v2(name.as_ptr(), &raw mut address, version as i32, 0, &raw mut status) };
        (answer.is_success() && status == CU_GET_PROC_ADDRESS_SUCCESS).then_some(address as usize)
    };
    let mut unknown = Vec::new();
    for &call in Call::ALL.iter().filter(|call| call.since() <= driver.version()) {
        match (known(call, call.since()), known(call, call.since() - 1)) {
            (None, _) => unknown.push(format!("{}: not known in {}", call.symbol(), call.since())),
            (Some(now), Some(before)) if now == before => {
                unknown.push(format!("{}: the same function before {}", call.symbol(), call.since()))
            }
            _ => {}
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
}

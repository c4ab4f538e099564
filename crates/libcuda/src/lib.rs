//! The software driver behind the C ABI: a `libcuda.so.1` for programs that we did not write.
//!
//! - Every symbol of the table is exported under its C name, and its `_ptsz` or `_ptds` twin where NVIDIA has one.
//! - What `cuda.h` has and the table has not is exported too, and unsupported (`absent.rs`).
//! - `cuGetProcAddress` answers from the same table (`proc_address.rs`).
//! - A panic never crosses into the program: it is a bug in Dacapo, is said to be one, and the call answers
//!   `CUDA_ERROR_UNKNOWN`.
//! - Nothing happens when the library is loaded: no thread, no file, no memory. The driver is made by the first call,
//!   so a program may load it, fork, and use it in the children. After `cuInit` it may not (`forked.rs`).
//! - `dacapo_software_driver` is exported so that a loader knows what it has opened.
//!
//! Preloaded by `dacapo run` it also stands before NVRTC and nvJitLink (`stand_in`).
//!
//! What the environment can set is in `environment.rs`.

mod absent;
mod environment;
mod export;
mod findings;
mod forked;
mod json;
mod proc_address;
mod software;
mod stand_in;

/// Says that this is the software driver: the version of Dacapo, 1_002_003 for 1.2.3.
#[unsafe(no_mangle)]
pub extern "C" fn dacapo_software_driver() -> u32 {
    number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 1_000
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

fn number(digits: &str) -> u32 {
    digits.parse().unwrap_or(0)
}

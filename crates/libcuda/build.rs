//! Gives the library the name that programs record when they link against a driver, and keeps its own calls its own.
//!
//! The soname only: the file keeps cargo's name, because cargo puts its output folders on the library path and a file
//! called `libcuda.so.1` there would be taken for NVIDIA's. `cargo xtask libcuda` makes the copy with that name.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // The addresses that `cuGetProcAddress` hands out must be ours, also in a program that has NVIDIA's library too.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}

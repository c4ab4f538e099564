//! Tells the crate how it is optimised. An interpreter without optimisation is slow, and whoever runs one should be
//! told.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo gives the level of this very package, as `[profile.dev.package.dacapo-sim]` sets it.
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=DACAPO_SIM_OPT_LEVEL={level}");
}

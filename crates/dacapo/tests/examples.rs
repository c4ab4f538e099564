//! Every small example runs, on the software device where there is no GPU.
#![allow(clippy::duplicate_mod, reason = "a file is a program of its own, and one of these")]

#[path = "../examples/first_steps.rs"]
mod first_steps;
#[cfg(feature = "cublaslt")]
#[path = "../examples/matrix_product.rs"]
mod matrix_product;
#[path = "../examples/ping_pong.rs"]
mod ping_pong;
#[path = "../examples/random_numbers.rs"]
mod random_numbers;
#[path = "../examples/saxpy.rs"]
mod saxpy;
#[path = "../examples/serve_rows.rs"]
mod serve_rows;
#[path = "../examples/swap_weights.rs"]
mod swap_weights;
#[path = "../examples/until_converged.rs"]
mod until_converged;

macro_rules! run {
    ($($(#[$gate:meta])* $name:ident)*) => { $(
        $(#[$gate])*
        #[test]
        fn $name() {
            self::$name::main().unwrap();
        }
    )* };
}
run! {
    first_steps
    #[cfg(feature = "cublaslt")]
    matrix_product
    ping_pong
    random_numbers
    saxpy
    serve_rows
    swap_weights
    until_converged
}

/// Each is in the list above, but for the one that needs NVIDIA's driver.
#[test]
fn every_example_is_run() {
    let here = include_str!("examples.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "with_cudarc.rs" || here.contains(&format!("examples/{name}")), "{name} is not run");
    }
}

//! NVIDIA's own library behind the loader. Needs a machine that has it; no GPU work is done. What the table says of
//! each call is checked by the GPU pack (`dacapo-gpu check`), which needs no Rust where the GPU is.

use dacapo_driver::Nvidia;

#[test]
#[ignore = "needs NVIDIA's driver"]
fn it_has_every_entry_point_that_its_version_should_have() {
    let driver = Nvidia::open().unwrap();
    println!("{} is CUDA {}", driver.path().display(), driver.version());
    assert!(!driver.is_software(), "this test is about NVIDIA's library");
    let lacking: Vec<_> = driver.lacking().into_iter().filter(|call| call.since() <= driver.version()).collect();
    assert_eq!(lacking, []);
}

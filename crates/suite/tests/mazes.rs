//! Mazes of loops and branches: a replay finds the way that the eager run finds, on every driver that the library knows.

use dacapo::Software;
use dacapo_suite::mazes;

#[test]
fn every_driver_finds_the_same_way() {
    let device = |version: Option<i32>| {
        let detecting = Software::new().options(move |options| {
            options.detectors = dacapo_sim::Detectors::all();
            if let Some(version) = version {
                options.driver_version = version;
            }
        });
        detecting.open().unwrap()
    };
    let (newest, before_else) = (device(None), device(Some(12_040)));
    let (mut ops, mut changed) = (0, 0);
    for seed in 0..120 {
        let want = mazes::run(&newest, seed).unwrap();
        let got = mazes::run(&before_else, seed).unwrap();
        assert_eq!(want.eager, want.replayed, "maze {seed}, eager and replayed");
        assert_eq!(want.replayed, got.replayed, "maze {seed}, before CUDA 12.8");
        assert_eq!((want.eager, &want.again), (got.eager, &got.again), "maze {seed}, before CUDA 12.8");
        ops += want.ops;
        changed += usize::from(want.replayed != want.again);
    }
    for device in [newest, before_else] {
        assert_eq!(device.findings(), Vec::<String>::new());
    }
    assert!(ops > 5_000 && changed > 40, "{ops} operations; {changed} mazes that the second run changed");
}

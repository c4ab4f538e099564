//! The steady state by the count hook: steps are launches, and the driver is asked for nothing else.

use dacapo::{Device, Software};
use dacapo_driver::Call;
use dacapo_example_decode::calls::{Calls, counted};
use dacapo_example_decode::{Engine, How, Model, Sampling, Shape, Weights, steady};

const STEPS: usize = 10;

#[test]
fn steps_are_launches_and_no_other_call_on_every_seed() {
    let like = Device::software().unwrap();
    let weights = Weights::new(&Shape::TINY, 3);
    for seed in [0, 1, 7, 0x5eed] {
        let (device, count) = counted(&like, seed).unwrap();
        let model = Model::new(&device, Shape::TINY, &weights).unwrap();
        let how = How::replayed([2, 4]).unwrap();
        let mut engine = Engine::new(&device, &model, &how, Sampling::new(0.8, 5), 1).unwrap();
        // What was dropped on the way here is released by the launches that follow.
        for batch in [2, 4] {
            steady::round(&mut engine, batch, STEPS).unwrap();
        }
        steady::begin(&mut engine, 4, STEPS).unwrap();
        let calls = Calls::of(&*count, "", || (0..STEPS).try_for_each(|_| engine.step(4).map(drop))).unwrap();
        assert_eq!(calls.made, [(Call::cuGraphLaunch, STEPS as u64)], "seed {seed}");
        // The other bucket, and the same one after it: no graph is told anything, and nothing is made again.
        steady::begin(&mut engine, 2, STEPS).unwrap();
        let calls = Calls::of(&*count, "", || (0..STEPS).try_for_each(|_| engine.step(2).map(drop))).unwrap();
        assert_eq!(calls.made, [(Call::cuGraphLaunch, STEPS as u64)], "seed {seed}");
        assert_eq!(device.findings(), [] as [String; 0]);
    }
}

#[test]
fn an_eager_step_is_many_calls() {
    // What the other test would not be worth without: the hook sees what there is to see.
    let (device, count) = counted(&Software::new().open().unwrap(), 0).unwrap();
    let weights = Weights::new(&Shape::TINY, 3);
    let model = Model::new(&device, Shape::TINY, &weights).unwrap();
    let mut engine = Engine::new(&device, &model, &How::Eager, Sampling::new(0.8, 5), 1).unwrap();
    steady::round(&mut engine, 4, STEPS).unwrap();
    steady::begin(&mut engine, 4, STEPS).unwrap();
    let calls = Calls::of(&*count, "", || (0..STEPS).try_for_each(|_| engine.step(4).map(drop))).unwrap();
    assert!(calls.times(Call::cuLaunchKernel) + calls.times(Call::cuLaunchKernelEx) >= 20 * STEPS as u64, "{calls}");
    assert!(calls.times(Call::cuMemAllocAsync) >= STEPS as u64, "{calls}");
}

//! The solver on the software device with all detectors: other seeds, other sizes, rounds behind the solution.

use dacapo::{Device, Recorder, Software};
use dacapo_example_solve::ways::{self, Way};
use dacapo_example_solve::{Problem, Solver, Stop, reference, verdict};

const STOP: Stop = Stop { tolerance: 1e-5, at_most: 200 };

fn watched(seed: u64) -> Device {
    let software = Software::new().seed(seed).options(|options| options.detectors = dacapo_sim::Detectors::all());
    software.open().expect("a software device")
}

#[test]
fn every_way_gives_the_same_bits_whatever_runs_first() {
    for seed in [1, 7, 41] {
        let device = watched(seed);
        for problem in [Problem::smooth(17), Problem::random(20, seed)] {
            let mut solver = Solver::new(&device, &problem).unwrap();
            let reference = reference::solve(&problem, STOP);
            // One solver, one after the other: a start leaves nothing of what was before.
            for way in [Way::Eager, Way::Launch, Way::Rounds, Way::Launch, Way::Eager] {
                let outcome = ways::run(way, &mut solver, STOP, || ()).unwrap();
                let check = verdict::same(&outcome, &reference);
                assert_eq!(solver.rounds().get(&device.stream().unwrap()).unwrap() as usize, outcome.rounds);
                assert!(check.held, "seed {seed}, {}: {}", way.name(), check.what);
            }
        }
        assert_eq!(device.findings(), [] as [String; 0]);
    }
}

#[test]
fn threads_with_more_than_one_point_keep_the_order_of_sums() {
    // 131,072 points fill the grid; here are more.
    let (problem, stop) = (Problem::random(363, 3), Stop { at_most: 2, ..STOP });
    let device = watched(1);
    let outcome = ways::rounds(&mut Solver::new(&device, &problem).unwrap(), stop, || ()).unwrap();
    let check = verdict::same(&outcome, &reference::solve(&problem, stop));
    assert!(check.held, "{}", check.what);
}

#[test]
fn a_round_behind_the_solution_changes_nothing() {
    let device = watched(1);
    let stream = device.stream().unwrap();
    // One point is solved exactly by one round, and nothing to solve by none.
    for b in [6.0, 0.0] {
        let problem = Problem { side: 1, b: vec![b], exact: None };
        let mut solver = Solver::new(&device, &problem).unwrap();
        stream.run(|r: &mut Recorder<'_>| solver.start(r, 1e-5)).unwrap();
        for _ in 0..3 {
            stream.run(|r: &mut Recorder<'_>| solver.round(r)).unwrap();
            assert_eq!(solver.solution(&stream).unwrap(), [b / 4.0]);
            assert_eq!(solver.residual().get(&stream).unwrap(), 0.0);
        }
    }
}

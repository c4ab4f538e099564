//! A served model on the software device, with every detector: each answer right, nothing found, everything given back.

use dacapo::Software;
use dacapo_example_serve::clients::{Load, serve};
use dacapo_example_serve::server::{How, Server};

fn served(how: How, swap_every: u64) {
    let software = Software::new().seed(7).options(|options| options.detectors = dacapo::sim::Detectors::all());
    let device = software.open().unwrap();
    device.set_memory_budget(Some(64 << 20));
    let server = Server::new(&device, 4, how).unwrap();
    let load = Load { threads: 4, requests: 8, swap_every };
    let served = serve(&server, load).unwrap();
    assert_eq!((served.requests, served.wrong), (32, 0));
    assert_eq!(served.latencies.len(), 32);
    assert!(served.swaps == if swap_every == 0 { 0 } else { 3 }, "{}", served.swaps);
    assert_eq!(served.changed, if how == How::Graphs { served.swaps as usize * 4 * 7 } else { 0 });
    drop(server);
    device.synchronize().unwrap();
    let left = device.counters();
    assert_eq!((left.allocations, left.graphs, left.streams, left.waiting), (0, 0, 0, 0), "{left}");
    assert_eq!(device.findings(), [] as [String; 0]);
}

#[test]
fn graphs_answer_while_weights_are_swapped() {
    served(How::Graphs, 8);
}

#[test]
fn eager_calls_answer_the_same() {
    served(How::Eager, 8);
}

#[test]
fn a_budget_that_is_too_small_is_an_error_and_not_a_crash() {
    let device = dacapo::Device::software().unwrap();
    device.set_memory_budget(Some(300_000));
    let refused = Server::new(&device, 4, How::Graphs).map(drop).unwrap_err();
    assert!(matches!(refused.kind(), dacapo::ErrorKind::OverBudget { .. }), "{refused}");
}

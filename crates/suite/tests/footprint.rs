//! The estimate of an executable's memory is what was measured on an H200.

use std::path::Path;

use dacapo::graph::GraphMemory;
use dacapo_suite::footprint::{Case, Kind, Recording, all};

/// The driver takes memory in chunks of this.
const CHUNK: i64 = 2 << 20;

fn recording() -> Recording {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/executable-memory-h200.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn estimate(case: Case) -> i64 {
    let n = case.nodes;
    let one = match case.kind {
        Kind::Kernel | Kind::Branches => GraphMemory::executable_of(n, 0, 0, 0),
        Kind::Memcpy => GraphMemory::executable_of(0, n, 0, 0),
        Kind::Memset => GraphMemory::executable_of(0, 0, n, 0),
        Kind::Empty => GraphMemory::executable_of(0, 0, 0, n),
    };
    (one * case.graphs) as i64
}

#[test]
fn the_estimate_is_within_a_chunk_of_every_measurement() {
    let recording = recording();
    assert_eq!(recording.cases.iter().map(|measured| measured.case).collect::<Vec<_>>(), all());
    for measured in &recording.cases {
        let (said, seen) = (estimate(measured.case), measured.rounds[0].launched_again);
        assert!((said - seen).abs() <= CHUNK, "{:?}: estimated {said}, measured {seen}", measured.case);
    }
}

#[test]
fn the_numbers_of_the_estimate_are_those_of_the_file() {
    let recording = recording();
    let seen = |kind, nodes, graphs| {
        let case = Case { kind, nodes, graphs };
        let measured = recording.cases.iter().find(|measured| measured.case == case).unwrap();
        measured.rounds[0].instantiated as usize
    };
    // The first block hides nothing in graphs of ten thousand: estimates of two sizes differ by the nodes alone, to a block.
    let block = GraphMemory::executable_of(1, 0, 0, 0);
    for (kind, of) in [
        (Kind::Kernel, GraphMemory::executable_of(10_000, 0, 0, 0)),
        (Kind::Memcpy, GraphMemory::executable_of(0, 10_000, 0, 0)),
        (Kind::Memset, GraphMemory::executable_of(0, 0, 10_000, 0)),
    ] {
        let by_node = seen(kind, 10_000, 1).div_ceil(10_000);
        assert_eq!(of, (by_node * 10_000).next_multiple_of(block), "{kind:?}: {by_node} bytes a node");
    }
    assert_eq!(GraphMemory::executable_of(0, 0, 0, 10_000), seen(Kind::Empty, 10_000, 1));
    // A small graph takes one block: what 512 of them took, less than a chunk over.
    assert_eq!(seen(Kind::Kernel, 10, 512) / 512 / (64 << 10) * (64 << 10), block);
}

#[test]
fn the_driver_gives_nothing_back_and_uses_it_again() {
    for measured in recording().cases {
        let [first, second] = &measured.rounds[..] else { panic!("two rounds") };
        assert_eq!(first.destroyed, first.instantiated, "{:?}", measured.case);
        assert_eq!(second.launched_again, 0, "{:?}", measured.case);
        assert_eq!((first.built, first.uploaded, first.launched_again), (0, first.instantiated, first.instantiated));
    }
}

//! What is dropped is released behind its last uses.

use std::sync::Arc;

use dacapo_ledger::{Drops, Touch};

use crate::device::{Bench, Device, READ, WRITE};

#[test]
fn removed_memory_names_its_unfinished_last_uses_one_a_stream() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, READ)]);
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    let launch = bench.work(&a, Touch::Set(&mut set), "launch");
    let read = bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    let last = bench.ledger.remove_memory(memory);
    let mut places: Vec<_> = last.iter().map(|used| (used.lane() == &b, used.position())).collect();
    places.sort_unstable();
    assert_eq!(places, [(false, launch.position()), (true, read.position())]);
    assert!(bench.ledger.remove_memory(memory).is_empty(), "it is gone");
    assert!(bench.ledger.remove_set(&mut set).is_some(), "sets go in any order");

    let untouched = bench.ledger.add_memory();
    assert!(bench.ledger.remove_memory(untouched).is_empty());
}

#[test]
fn drops_come_out_once_in_the_order_they_were_put() {
    let bench = Bench::new();
    let lane = bench.lane("a");
    let used = bench.work(&lane, Touch::Memory(&[]), "work");
    let drops: Drops<Device, &str> = Drops::new();
    assert!(drops.is_empty());
    drops.put("first", vec![used.clone()]);
    drops.put("second", Vec::new());
    assert!(!drops.is_empty());
    let taken = drops.take();
    assert_eq!(
        taken.iter().map(|(thing, after)| (*thing, after.len())).collect::<Vec<_>>(),
        [("first", 1), ("second", 0)]
    );
    assert!(drops.is_empty() && drops.take().is_empty());
}

#[test]
fn a_stream_that_frees_is_ordered_after_the_uses_and_only_as_far_as_needed() {
    let bench = Bench::new();
    let (lane, reaper) = (bench.lane("a"), bench.internal("r"));
    let memory = bench.ledger.add_memory();
    bench.work(&lane, Touch::Memory(&[(memory, WRITE)]), "write");
    let last = bench.ledger.remove_memory(memory);
    bench.ledger.order_after(&bench.device, &lane, &last).unwrap();
    assert_eq!(bench.device.said(), "a: write", "on the same stream nothing is needed");
    bench.ledger.order_after(&bench.device, &reaper, &last).unwrap();
    bench.ledger.order_after(&bench.device, &reaper, &last).unwrap();
    assert_eq!(bench.device.said(), "a: record a1\nr: wait a1");
    let later = bench.work(&lane, Touch::Memory(&[]), "later");
    bench.ledger.finished(&later);
    bench.ledger.order_after(&bench.device, &reaper, &[later]).unwrap();
    assert_eq!(bench.device.said(), "a: later");
}

#[test]
fn numbers_are_used_again_and_remember_nothing() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let old = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(old, WRITE)]);
    bench.work(&a, Touch::Set(&mut set), "launch");
    bench.ledger.remove_memory(old);
    let new = bench.ledger.add_memory();
    assert_eq!(old, new, "what this test is about");
    bench.device.said();
    bench.work(&b, Touch::Memory(&[(new, WRITE)]), "write");
    bench.ledger.remove_set(&mut set);
    bench.work(&b, Touch::Memory(&[(new, WRITE)]), "write");
    assert!(!bench.device.said().contains("wait"));
}

#[test]
fn a_stream_goes_when_nobody_names_it_even_if_two_waited_for_each_other() {
    let bench = Bench::new();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    for lane in [&a, &b, &a, &b] {
        bench.work(lane, Touch::Memory(&[(memory, WRITE)]), "write");
    }
    drop((a, b));
    assert_eq!(Arc::strong_count(&bench.alive), 2, "the last write names b, nobody names a");
    let last = bench.ledger.remove_memory(memory);
    assert_eq!(Arc::strong_count(&bench.alive), 2, "its use does");
    drop(last);
    assert_eq!(Arc::strong_count(&bench.alive), 1);
}

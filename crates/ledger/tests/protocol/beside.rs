//! Ledgers beside each other: two devices that touch each other's memory.

use dacapo_ledger::Touch;

use crate::device::{Bench, READ, WRITE};

/// Two devices, one lane each.
fn two_devices() -> (Bench, Bench) {
    let first = Bench::new();
    let second = Bench { ledger: first.ledger.beside(), ..Bench::new() };
    (first, second)
}

#[test]
fn memory_that_either_knows_has_one_order() {
    let (first, second) = two_devices();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let (mine, theirs) = (first.ledger.add_memory(), second.ledger.add_memory());
    first.work(&a, Touch::Memory(&[(mine, WRITE), (theirs, WRITE)]), "copy there");
    second.work(&b, Touch::Memory(&[(theirs, READ)]), "read");
    // The second device is who needs the event, so it is asked for it.
    assert_eq!(first.device.said(), "a: copy there");
    assert_eq!(second.device.said(), "a: record a1\nb: wait a1\nb: read");
    first.work(&a, Touch::Memory(&[(theirs, WRITE)]), "again");
    assert_eq!(first.device.said(), "b: record b1\na: wait b1\na: again");
    first.ledger.remove_memory(theirs);
    assert_eq!(second.ledger.wait_list(mine, READ).len(), 1, "the copy's write");
}

#[test]
fn a_launch_of_one_disturbs_the_graphs_of_the_other() {
    let (first, second) = two_devices();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let shared = first.ledger.add_memory();
    let mut one = first.ledger.add_set(&[(shared, WRITE)]);
    let mut two = second.ledger.add_set(&[(shared, READ)]);
    first.work(&a, Touch::Set(&mut one), "one");
    second.work(&b, Touch::Set(&mut two), "two");
    first.work(&a, Touch::Set(&mut one), "one again");
    assert_eq!(first.device.said(), "a: one\nb: record b1\na: wait b1\na: one again");
    assert_eq!(second.device.said(), "a: record a1\nb: wait a1\nb: two");
}

#[test]
fn each_counts_its_own_lanes() {
    let (first, second) = two_devices();
    let (a, b) = (first.lane("a"), second.lane("b"));
    first.work(&a, Touch::Memory(&[]), "work");
    second.work(&b, Touch::Memory(&[]), "work");
    assert_eq!((first.device.said(), second.device.said()), ("a: work".into(), "b: work".into()));
    assert_eq!((first.ledger.streams_used(), second.ledger.streams_used()), (1, 1));
}

/// Behind it may be what waits for the very work that waits here.
#[test]
fn a_wait_for_another_device_is_for_what_it_needs_and_for_nothing_behind_it() {
    let (first, second) = two_devices();
    first.ledger.record_always();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory = first.ledger.add_memory();
    first.work(&a, Touch::Memory(&[(memory, WRITE)]), "copy there");
    first.work(&a, Touch::Memory(&[]), "collective");
    second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(first.device.said(), "a: copy there\na: record a1\na: collective\na: record a2");
    assert_eq!(second.device.said(), "b: wait a1\nb: read", "its own lane is one, and nobody has asked for its events");
    assert_eq!(first.ledger.streams_used(), 1);
    let reaper = first.internal("r");
    first.work(&reaper, Touch::Memory(&[]), "free");
    assert_eq!(first.device.said(), "r: free", "what the library does for itself has no events");
}

//! No call is made that is not needed.

use dacapo_ledger::Touch;

use crate::device::{Bench, READ, WRITE};

#[test]
fn one_stream_records_no_event_and_waits_for_nothing() {
    let bench = Bench::new();
    let lane = bench.lane("a");
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&lane, Touch::Memory(&[(memory, WRITE)]), "fill");
    bench.work(&lane, Touch::Set(&mut set), "launch");
    let last = bench.work(&lane, Touch::Memory(&[(memory, READ)]), "copy");
    assert_eq!(bench.device.said(), "a: fill\na: launch\na: copy");
    assert!(last.event().is_none());
    assert_eq!(bench.ledger.streams_used(), 1);
    assert_eq!((last.position(), bench.ledger.position(&lane)), (3, 3));
}

#[test]
fn internal_streams_do_not_make_others_record_events() {
    let bench = Bench::new();
    let (lane, reaper) = (bench.lane("a"), bench.internal("r"));
    bench.work(&reaper, Touch::Memory(&[]), "free");
    bench.work(&lane, Touch::Memory(&[]), "work");
    assert_eq!(bench.device.said(), "r: free\na: work");
    assert_eq!(bench.ledger.streams_used(), 1);
}

#[test]
fn from_the_second_stream_on_each_submit_has_an_event_of_its_own() {
    let bench = Bench::new();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    bench.work(&a, Touch::Memory(&[]), "before");
    let second = bench.work(&b, Touch::Memory(&[]), "second");
    let third = bench.work(&a, Touch::Memory(&[]), "third");
    assert_eq!(bench.device.said(), "a: before\nb: second\nb: record b1\na: third\na: record a1");
    assert_eq!(second.event().map(String::as_str), Some("b1"));
    assert_eq!(third.event().map(String::as_str), Some("a1"));
    assert_eq!(bench.ledger.last_use(&a).unwrap().event().map(String::as_str), Some("a1"));
    assert_eq!(bench.ledger.streams_used(), 2);
}

/// Of two handles on one piece of work, the one that knows its event is waited for: the other would be covered by whatever
/// came later.
#[test]
fn a_wait_is_for_the_event_that_is_known_and_for_nothing_later() {
    let bench = Bench::new();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let without = bench.work(&a, Touch::Memory(&[]), "first");
    assert_eq!(bench.ledger.event_for(&bench.device, &without).unwrap(), "a1");
    let with = bench.ledger.last_use(&a).unwrap();
    bench.work(&b, Touch::Memory(&[]), "other");
    bench.work(&a, Touch::Memory(&[]), "later");
    for both in [[with.clone(), without.clone()], [without, with]] {
        let lane = bench.lane("c");
        bench.ledger.order_after(&bench.device, &lane, &both).unwrap();
    }
    let said = bench.device.said();
    assert!(said.ends_with("a: record a2\nc: wait a1\nc: wait a1"), "{said}");
}

#[test]
fn what_was_enqueued_before_events_existed_is_covered_when_somebody_waits_for_it() {
    let bench = Bench::new();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(bench.device.said(), "a: write\na: record a1\nb: wait a1\nb: read\nb: record b1");
}

#[test]
fn a_stream_does_not_wait_for_its_own_work() {
    let bench = Bench::new();
    let (a, _) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "again");
    assert_eq!(bench.device.said(), "a: write\na: record a2\na: again\na: record a3");
}

#[test]
fn a_stream_does_not_wait_for_what_is_finished() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let write = bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    assert!(!bench.ledger.is_finished(&write));
    bench.ledger.finished(&write);
    assert!(bench.ledger.is_finished(&write));
    bench.device.said();
    bench.work(&b, Touch::Memory(&[(memory, WRITE)]), "after");
    assert!(!bench.device.said().contains("wait"));
}

#[test]
fn a_stream_waits_once_for_the_latest_and_so_for_all_before_it() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let (x, y, z) = (bench.ledger.add_memory(), bench.ledger.add_memory(), bench.ledger.add_memory());
    bench.work(&a, Touch::Memory(&[(x, WRITE)]), "x");
    bench.work(&a, Touch::Memory(&[(y, WRITE)]), "y");
    bench.work(&a, Touch::Memory(&[(z, WRITE)]), "z");
    bench.device.said();
    bench.work(&b, Touch::Memory(&[(x, READ), (y, READ)]), "both");
    assert_eq!(bench.device.said(), "b: wait a3\nb: both\nb: record b2");
    bench.work(&b, Touch::Memory(&[(x, READ)]), "again");
    assert_eq!(bench.device.said(), "b: again\nb: record b3", "it has waited for x already");
    bench.work(&b, Touch::Memory(&[(z, READ)]), "z too");
    assert_eq!(bench.device.said(), "b: wait a4\nb: z too\nb: record b4");
}

#[test]
fn two_reads_do_not_wait_for_each_other_nor_make_a_set_dirty() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, READ)]);
    bench.work(&a, Touch::Set(&mut set), "launch");
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    let visited = bench.ledger.members_visited();
    bench.work(&a, Touch::Set(&mut set), "launch");
    assert!(!bench.device.said().contains("wait"));
    assert_eq!(bench.ledger.members_visited(), visited);
}

#[test]
fn a_clean_launch_looks_at_no_member() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let members: Vec<_> = (0..100).map(|_| (bench.ledger.add_memory(), WRITE)).collect();
    let mut set = bench.ledger.add_set(&members);
    bench.work(&a, Touch::Set(&mut set), "launch");
    assert_eq!(bench.ledger.members_visited(), 100);
    for _ in 0..50 {
        bench.work(&a, Touch::Set(&mut set), "launch");
    }
    assert_eq!(bench.ledger.members_visited(), 100);
    bench.work(&b, Touch::Memory(&members[..1]), "touch");
    bench.work(&a, Touch::Set(&mut set), "launch");
    assert_eq!(bench.ledger.members_visited(), 200);
}

#[test]
fn graphs_that_take_turns_on_one_stream_stay_clean() {
    let bench = Bench::new();
    let lane = bench.lane("a");
    let shared = bench.ledger.add_memory();
    let (mut one, mut two) = (bench.ledger.add_set(&[(shared, WRITE)]), bench.ledger.add_set(&[(shared, WRITE)]));
    for _ in 0..10 {
        bench.work(&lane, Touch::Set(&mut one), "one");
        bench.work(&lane, Touch::Set(&mut two), "two");
        bench.work(&lane, Touch::Memory(&[(shared, WRITE)]), "touch");
    }
    assert_eq!(bench.ledger.members_visited(), 2, "each looked once");
}

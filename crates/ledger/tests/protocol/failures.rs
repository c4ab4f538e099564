//! What a refused call leaves behind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo_ledger::Touch;

use crate::device::{Bench, READ, Refused, WRITE};

#[test]
fn a_refused_wait_enqueues_and_enters_nothing_and_is_made_the_next_time() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.device.said();
    bench.device.refuse.lock().unwrap().0 = 1;
    let refused = bench.try_work(&b, Touch::Memory(&[(memory, WRITE)]), "after", Ok(()));
    assert_eq!(refused.unwrap_err(), Refused::Wait);
    assert_eq!(bench.ledger.position(&b), 1);
    bench.work(&b, Touch::Memory(&[(memory, WRITE)]), "after");
    assert_eq!(bench.device.said(), "b: wait a2\nb: after\nb: record b2");
}

#[test]
fn a_refused_enqueue_counts_as_a_use_because_some_of_it_may_be_on_the_stream() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let refused = bench.try_work(&a, Touch::Memory(&[(memory, WRITE)]), "half", Err(Refused::Enqueue));
    assert_eq!(refused.unwrap_err(), Refused::Enqueue);
    assert_eq!(bench.ledger.last_use(&a).unwrap().position(), 2);
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(bench.device.said(), "a: half\na: record a2\nb: wait a2\nb: read\nb: record b2");
}

#[test]
fn an_enqueue_that_panics_counts_as_a_use_and_closes_nothing() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let touch = Touch::Memory(&[(memory, WRITE)]);
        bench.ledger.submit::<(), Refused>(&bench.device, &a, touch, |_| panic!("the user's closure"))
    }));
    assert!(panicked.is_err());
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    bench.work(&a, Touch::Memory(&[(memory, READ)]), "read");
    let expected = "a: record a2\nb: wait a2\nb: read\nb: record b2\na: read\na: record a3";
    assert_eq!(bench.device.said(), expected, "the event that covers it is made when it is needed");
}

#[test]
fn work_whose_event_was_refused_is_there_and_is_covered_later() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    bench.device.refuse.lock().unwrap().1 = 2;
    let used = bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    assert!(used.event().is_none());
    let refused = bench.try_work(&b, Touch::Memory(&[(memory, READ)]), "read", Ok(()));
    assert_eq!(refused.unwrap_err(), Refused::Record, "who needs the event hears of it");
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(bench.device.said(), "a: write\na: record a2\nb: wait a2\nb: read\nb: record b2");
    assert_eq!(bench.ledger.event_for(&bench.device, &used).unwrap(), "a2", "no further event is made");
}

#[test]
#[should_panic(expected = "memory is touched only while it is in the ledger")]
fn touching_removed_memory_is_a_bug_of_the_caller() {
    let bench = Bench::new();
    let lane = bench.lane("a");
    let memory = bench.ledger.add_memory();
    bench.ledger.remove_memory(memory);
    bench.work(&lane, Touch::Memory(&[(memory, WRITE)]), "late");
}

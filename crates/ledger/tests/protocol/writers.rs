//! Who wrote memory last.

use std::sync::Arc;

use dacapo_ledger::{Lane, MemoryId, Touch};

use crate::device::{Bench, Device, READ, Refused, WRITE};

fn is(bench: &Bench, memory: MemoryId, expected: &[(&Lane<Device>, u64)]) -> bool {
    let writes = bench.ledger.last_writes(memory);
    writes.iter().map(|used| (used.lane(), used.position())).eq(expected.iter().copied())
}

#[test]
fn a_write_comes_in_the_place_of_those_before_it_and_of_launches_before_it() {
    let bench = Bench::new();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    assert!(is(&bench, memory, &[(&a, 1)]));
    bench.work(&b, Touch::Set(&mut set), "launch");
    assert!(is(&bench, memory, &[(&b, 1)]));
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    assert!(is(&bench, memory, &[(&a, 2)]));
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert!(is(&bench, memory, &[(&a, 2)]), "a read writes nothing");
}

#[test]
fn a_launch_that_is_clean_comes_in_the_place_of_a_write_on_its_lane() {
    let bench = Bench::new();
    let (a, memory) = (bench.lane("a"), bench.ledger.add_memory());
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&a, Touch::Set(&mut set), "launch");
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    assert!(is(&bench, memory, &[(&a, 2)]));
    bench.work(&a, Touch::Set(&mut set), "launch again");
    assert!(is(&bench, memory, &[(&a, 3)]));
}

#[test]
fn what_a_removed_set_wrote_last_stays_known_done_or_not() {
    for is_done in [false, true] {
        let bench = Bench::new();
        bench.ledger.part_work();
        let (a, b) = (bench.lane("a"), bench.lane("b"));
        let memory = bench.ledger.add_memory();
        let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
        bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
        bench.ledger.finished(&bench.ledger.last_use(&a).unwrap());
        bench.work(&b, Touch::Set(&mut set), "launch");
        if is_done {
            bench.ledger.finished(&bench.ledger.last_use(&b).unwrap());
        }
        bench.ledger.remove_set(&mut set);
        assert!(is(&bench, memory, &[(&b, 1)]));
    }
}

#[test]
fn what_a_removed_set_wrote_and_others_wrote_anew_is_theirs() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&b, Touch::Set(&mut set), "launch");
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.ledger.finished(&bench.ledger.last_use(&b).unwrap());
    bench.ledger.remove_set(&mut set);
    assert!(is(&bench, memory, &[(&a, 1)]));
}

#[test]
fn what_was_refused_has_written_nothing() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    fn refuse(bench: &Bench, lane: &Lane<Device>, touch: Touch<'_, Device>) {
        bench.try_work(lane, touch, "refused", Err(Refused::Enqueue)).unwrap_err();
    }
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    refuse(&bench, &b, Touch::Memory(&[(memory, WRITE)]));
    let writes = bench.ledger.last_writes(memory);
    assert!(writes.iter().any(|write| *write.lane() == a && write.position() == 1), "the one that was made is known");
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    assert!(is(&bench, memory, &[(&a, 2)]), "one that was made comes in the place of all");
    refuse(&bench, &b, Touch::Set(&mut set));
    assert!(is(&bench, memory, &[(&a, 2)]));
    bench.work(&a, Touch::Set(&mut set), "launch");
    assert!(is(&bench, memory, &[(&a, 3)]));
    refuse(&bench, &b, Touch::Set(&mut set));
    assert!(is(&bench, memory, &[(&a, 3)]), "its own launch before that one");
    bench.work(&b, Touch::Set(&mut set), "launch");
    assert!(is(&bench, memory, &[(&b, 4)]));
}

#[test]
fn a_write_that_was_refused_hides_no_launch_before_it() {
    for is_removed in [false, true] {
        let bench = Bench::new();
        bench.ledger.part_work();
        let (a, b) = (bench.lane("a"), bench.lane("b"));
        let memory = bench.ledger.add_memory();
        let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
        bench.work(&a, Touch::Set(&mut set), "launch");
        bench.try_work(&b, Touch::Memory(&[(memory, WRITE)]), "refused", Err(Refused::Enqueue)).unwrap_err();
        if is_removed {
            bench.ledger.remove_set(&mut set);
        }
        let writes = bench.ledger.last_writes(memory);
        assert!(writes.iter().any(|write| *write.lane() == a && write.position() == 1), "{writes:?}");
    }
}

#[test]
fn a_clean_launch_that_was_refused_has_written_nothing() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    let refused = |set: &mut _, by_the_short_way| match by_the_short_way {
        true => bench.ledger.launch_clean(&bench.device, &b, set, |_| Err::<(), _>(Refused::Enqueue)).unwrap(),
        false => bench.try_work(&b, Touch::Set(set), "refused", Err(Refused::Enqueue)).map(drop),
    };
    for is_short in [false, true] {
        bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
        let written = bench.ledger.last_use(&a).unwrap().position();
        refused(&mut set, false).unwrap_err();
        refused(&mut set, is_short).unwrap_err();
        assert!(is(&bench, memory, &[(&a, written)]), "neither of the two");
        bench.work(&b, Touch::Set(&mut set), "launch");
        let launched = bench.ledger.last_use(&b).unwrap().position();
        for _ in 0..2 {
            refused(&mut set, is_short).unwrap_err();
            let writes = bench.ledger.last_writes(memory);
            assert!(writes.iter().all(|write| *write.lane() == b && write.position() >= launched), "{writes:?}");
        }
    }
}

#[test]
fn a_write_comes_in_the_place_of_a_launch_also_when_its_set_is_removed_in_flight() {
    for parts in [false, true] {
        let bench = Bench::new();
        if parts {
            bench.ledger.part_work();
        }
        let (a, b) = (bench.lane("a"), bench.lane("b"));
        let memory = bench.ledger.add_memory();
        let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
        bench.work(&b, Touch::Set(&mut set), "launch");
        bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
        bench.ledger.remove_set(&mut set);
        assert!(is(&bench, memory, &[(&a, 1)]));
        assert_eq!(bench.ledger.wait_list(memory, READ).len(), 1, "who waits for the write waits for the launch");
    }
}

/// A server that makes a graph and a stream for each request, which all read the same weights, or write the same buffer.
#[test]
fn streams_of_graphs_that_are_gone_are_not_kept() {
    for (parts, access) in [(false, READ), (false, WRITE), (true, READ), (true, WRITE)] {
        let bench = Bench::new();
        if parts {
            bench.ledger.part_work();
        }
        let memory = bench.ledger.add_memory();
        for _ in 0..100 {
            let lane = bench.lane("request");
            let mut set = bench.ledger.add_set(&[(memory, access)]);
            bench.work(&lane, Touch::Set(&mut set), "launch");
            bench.ledger.remove_set(&mut set);
            bench.ledger.finished(&bench.ledger.last_use(&lane).unwrap());
        }
        let alive = Arc::strong_count(&bench.alive) - 1;
        assert!(alive <= 2, "{alive} streams are kept");
    }
}

#[test]
fn streams_that_read_now_and_then_are_not_kept() {
    let bench = Bench::new();
    let (steady, memory) = (bench.lane("steady"), bench.ledger.add_memory());
    for _ in 0..100 {
        let lane = bench.lane("request");
        bench.work(&lane, Touch::Memory(&[(memory, READ)]), "read");
        bench.ledger.finished(&bench.ledger.last_use(&lane).unwrap());
        bench.work(&steady, Touch::Memory(&[(memory, READ)]), "read");
    }
    let alive = Arc::strong_count(&bench.alive) - 1;
    assert!(alive <= 3, "{alive} streams are kept");
}

#[test]
fn what_the_host_wrote_nobody_else_wrote_last() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let a = bench.lane("a");
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.ledger.finished(&bench.ledger.last_use(&a).unwrap());
    bench.ledger.written_by_host(memory);
    assert!(is(&bench, memory, &[]));
    bench.work(&a, Touch::Set(&mut set), "launch");
    bench.work(&a, Touch::Set(&mut set), "launch again");
    assert!(is(&bench, memory, &[(&a, 3)]));
    bench.ledger.finished(&bench.ledger.last_use(&a).unwrap());
    bench.ledger.written_by_host(memory);
    assert!(is(&bench, memory, &[]));
    bench.work(&a, Touch::Set(&mut set), "and again");
    assert!(is(&bench, memory, &[(&a, 4)]));
}

#[test]
fn of_writes_whose_order_nobody_knows_all_are_told() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut sets = [(); 3].map(|()| bench.ledger.add_set(&[(memory, WRITE)]));
    let [first, kept, last] = &mut sets;
    bench.work(&a, Touch::Set(first), "launch");
    bench.ledger.remove_set(first);
    bench.work(&a, Touch::Set(kept), "launch");
    bench.work(&b, Touch::Set(last), "launch");
    assert!(is(&bench, memory, &[(&b, 1)]));
    bench.ledger.remove_set(last);
    let writes = bench.ledger.last_writes(memory);
    assert!(writes.iter().any(|write| *write.lane() == b), "{writes:?}");
}

#[test]
fn a_launch_that_was_refused_writes_nothing_when_its_set_is_removed() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let (mut made, mut refused) = (bench.ledger.add_set(&[(memory, WRITE)]), bench.ledger.add_set(&[(memory, WRITE)]));
    bench.work(&a, Touch::Set(&mut made), "launch");
    bench.ledger.finished(&bench.ledger.last_use(&a).unwrap());
    bench.try_work(&b, Touch::Set(&mut refused), "refused", Err(Refused::Enqueue)).unwrap_err();
    assert!(is(&bench, memory, &[(&a, 1)]));
    bench.ledger.remove_set(&mut refused);
    let writes = bench.ledger.last_writes(memory);
    assert!(writes.iter().any(|write| *write.lane() == a), "{writes:?}");
}

#[test]
fn memory_that_is_named_twice_is_written_once() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut old = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&b, Touch::Set(&mut old), "launch");
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    let twice = [(memory, WRITE), (memory, READ), (memory, WRITE)];
    bench.try_work(&b, Touch::Memory(&twice), "refused", Err(Refused::Enqueue)).unwrap_err();
    let writes = bench.ledger.last_writes(memory);
    assert!(writes.iter().any(|write| *write.lane() == a && write.position() == 1), "{writes:?}");
}

#[test]
fn what_prepares_a_launch_writes_nothing() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.ledger.prepare(&bench.device, &b, &mut set, |_| Ok::<_, Refused>(())).unwrap();
    assert!(is(&bench, memory, &[(&a, 1)]));
    assert_eq!(bench.ledger.wait_list(memory, READ).len(), 2, "for the order it is a launch");
    bench.work(&b, Touch::Set(&mut set), "launch");
    bench.ledger.prepare(&bench.device, &b, &mut set, |_| Ok::<_, Refused>(())).unwrap();
    let writes = bench.ledger.last_writes(memory);
    assert!(writes.iter().all(|write| *write.lane() == b), "{writes:?}");
}

#[test]
fn work_that_panics_has_written_nothing() {
    let bench = Bench::new();
    bench.ledger.part_work();
    let (a, b) = (bench.lane("a"), bench.lane("b"));
    let memory = bench.ledger.add_memory();
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    let panics = std::panic::AssertUnwindSafe(|| {
        let touch = [(memory, WRITE)];
        let work = |_: &_| -> Result<(), Refused> { panic!("on purpose") };
        bench.ledger.submit(&bench.device, &b, Touch::Memory(&touch), work).map(drop)
    });
    assert!(std::panic::catch_unwind(panics).is_err());
    let writes = bench.ledger.last_writes(memory);
    assert!(writes.iter().any(|write| *write.lane() == a), "{writes:?}");
}

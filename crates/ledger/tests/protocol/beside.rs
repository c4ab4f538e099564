//! Ledgers beside each other: two devices that touch each other's memory.

use dacapo_ledger::Touch;

use crate::device::{Bench, READ, Refused, WRITE};

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
    first.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory: Vec<_> = (0..3).map(|_| first.ledger.add_memory()).collect();
    for (memory, name) in memory.iter().zip(["one", "two", "three"]) {
        first.work(&a, Touch::Memory(&[(*memory, WRITE)]), name);
    }
    first.work(&a, Touch::Memory(&[]), "collective");
    let said = "a: one\na: record a1\na: two\na: record a2\na: three\na: record a3\na: collective";
    assert_eq!(first.device.said(), said, "an event is there when something comes behind it");
    assert_eq!(first.ledger.streams_used(), 1);
    second.work(&b, Touch::Memory(&[(memory[1], READ)]), "read");
    assert_eq!(second.device.said(), "b: wait a2\nb: read", "its own lane is one, and nobody has asked for its events");
    // Also where somebody has needed a later one before.
    let c = second.lane("c");
    second.work(&c, Touch::Memory(&[(memory[2], READ)]), "read");
    second.work(&c, Touch::Memory(&[(memory[0], WRITE)]), "write");
    assert_eq!(second.device.said(), "c: wait a3\nc: read\nc: record c1\nc: write\nc: record c2");
    let d = second.lane("d");
    second.ledger.order_after(&second.device, &d, &first.ledger.remove_memory(memory[2])).unwrap();
    assert_eq!(second.device.said(), "d: wait a3\nd: wait c1");
}

/// What is behind it may be a call that waits for who asks here.
#[test]
fn who_waits_for_what_is_parted_does_not_wait_for_a_call_behind_it() {
    let (first, second) = two_devices();
    first.ledger.part_work();
    let (a, b, c) = (first.lane("a"), second.lane("b"), first.lane("c"));
    let memory = first.ledger.add_memory();
    for with_an_event in [false, true] {
        first.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
        if with_an_event {
            let written = first.ledger.last_writes(memory).remove(0);
            first.ledger.order_after(&first.device, &c, &[written]).unwrap();
        }
        std::thread::scope(|scope| {
            let ((enqueues, is_there), (goes_on, may_go_on)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
            let (first, a) = (&first, &a);
            let call = scope.spawn(move || {
                first.ledger.submit::<_, Refused>(&first.device, a, Touch::Memory(&[]), |_| {
                    enqueues.send(()).unwrap();
                    Ok(may_go_on.recv_timeout(std::time::Duration::from_secs(20)))
                })
            });
            is_there.recv().unwrap();
            assert_eq!(second.ledger.wait_list(memory, READ).len(), 1);
            second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
            goes_on.send(()).unwrap();
            assert_eq!(call.join().unwrap().unwrap().0, Ok(()), "it was not waited for");
        });
        first.work(&a, Touch::Memory(&[]), "behind it");
    }
}

/// However much came behind it meanwhile.
#[test]
fn the_event_of_what_is_in_flight_stays_known() {
    let (first, second) = two_devices();
    first.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory = first.ledger.add_memory();
    first.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    (0..500).for_each(|_| drop(first.work(&a, Touch::Memory(&[]), "collective")));
    second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(second.device.said(), "b: wait a1\nb: read");
}

/// Of what is done only the last one, so that a program that waits now and then has few.
#[test]
fn events_of_what_is_done_are_let_go() {
    let (first, second) = two_devices();
    first.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory: Vec<_> = (0..3).map(|_| first.ledger.add_memory()).collect();
    for memory in &memory {
        first.work(&a, Touch::Memory(&[(*memory, WRITE)]), "write");
    }
    let done = first.ledger.wait_list(memory[1], READ);
    first.ledger.finished(&done[0]);
    assert_eq!((a.finished_up_to(), first.ledger.wait_list(memory[1], READ).len()), (2, 0));
    assert_eq!(first.ledger.last_writes(memory[1])[0].position(), 2, "its last write is that, done or not");
    first.work(&a, Touch::Memory(&[]), "collective");
    let first_use = &first.ledger.last_writes(memory[0])[0];
    for done in [first_use, &done[0]] {
        assert_eq!(first.ledger.event_for(&first.device, done).unwrap(), "a2", "{}", done.position());
    }
    second.work(&b, Touch::Memory(&[(memory[2], READ)]), "read");
    assert_eq!(second.device.said(), "b: wait a3\nb: read");
}

#[test]
fn what_is_done_while_a_use_is_the_last_is_done_then_only() {
    let (first, _) = two_devices();
    let (a, memory) = (first.lane("a"), first.ledger.add_memory());
    first.work(&a, Touch::Memory(&[(memory, WRITE)]), "one");
    let (one, mut done) = (first.ledger.last_use(&a).unwrap(), 0);
    first.ledger.while_last(&one, || done += 1);
    first.work(&a, Touch::Memory(&[]), "two");
    first.ledger.while_last(&one, || done += 1);
    assert_eq!(done, 1);
}

/// The event is before the waits of what comes behind: else whoever needs the one would wait for those, too.
#[test]
fn what_work_waits_for_is_not_in_the_event_of_what_is_before_it() {
    let (first, second) = two_devices();
    second.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory = first.ledger.add_memory();
    first.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    second.work(&b, Touch::Memory(&[]), "before");
    second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(second.device.said(), "b: before\nb: record b1\na: record a1\nb: wait a1\nb: read");
}

#[test]
fn the_host_waits_for_nothing_behind_what_it_needs() {
    let (first, _) = two_devices();
    first.ledger.part_work();
    let (a, memory) = (first.lane("a"), first.ledger.add_memory());
    first.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    first.work(&a, Touch::Memory(&[]), "collective");
    let uses = first.ledger.wait_list(memory, READ);
    assert_eq!(first.ledger.event_for(&first.device, &uses[0]).unwrap(), "a1");
}

#[test]
fn a_graph_that_is_launched_again_and_again_needs_no_events() {
    let (first, second) = two_devices();
    first.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let (memory, other) = (first.ledger.add_memory(), first.ledger.add_memory());
    let mut set = first.ledger.add_set(&[(memory, WRITE)]);
    for _ in 0..3 {
        first.work(&a, Touch::Set(&mut set), "launch");
    }
    assert!(first.ledger.launch_clean(&first.device, &a, &mut set, |_| Ok::<_, ()>(())).is_some());
    assert_eq!(first.device.said(), "a: launch\na: launch\na: launch");
    // With other memory it is other work, and so is what comes behind it.
    first.work(&a, Touch::SetAnd(&mut set, &[(other, WRITE)]), "launch");
    first.work(&a, Touch::Memory(&[]), "collective");
    assert_eq!(first.device.said(), "a: record a1\na: launch\na: record a2\na: collective");
    second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(second.device.said(), "b: wait a2\nb: read");
}

/// Whoever needs what one of them touches waits for that one.
#[test]
fn graphs_that_take_turns_have_an_event_each() {
    let (first, second) = two_devices();
    first.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory = first.ledger.add_memory();
    let (mut step, mut collective) = (first.ledger.add_set(&[(memory, WRITE)]), first.ledger.add_set(&[]));
    for _ in 0..2 {
        first.work(&a, Touch::Set(&mut step), "step");
        first.work(&a, Touch::Set(&mut collective), "collective");
    }
    assert_eq!(
        first.device.said(),
        "a: step\na: record a1\na: collective\na: record a2\na: step\na: record a3\na: collective"
    );
    second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(second.device.said(), "b: wait a3\nb: read");
}

#[test]
fn what_the_library_does_for_itself_has_no_events() {
    let (first, _) = two_devices();
    first.ledger.part_work();
    let reaper = first.internal("r");
    first.work(&reaper, Touch::Memory(&[]), "free");
    first.work(&reaper, Touch::Memory(&[]), "free");
    assert_eq!(first.device.said(), "r: free\nr: free");
}

/// An event that is refused is had later, behind more.
#[test]
fn a_refused_event_is_no_failure_of_what_comes_behind_it() {
    let (first, second) = two_devices();
    first.ledger.part_work();
    let (a, b) = (first.lane("a"), second.lane("b"));
    let memory = first.ledger.add_memory();
    first.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    first.device.refuse.lock().unwrap().1 = 1;
    first.work(&a, Touch::Memory(&[]), "collective");
    second.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(first.device.said(), "a: write\na: collective");
    assert_eq!(second.device.said(), "a: record a1\nb: wait a1\nb: read");
}

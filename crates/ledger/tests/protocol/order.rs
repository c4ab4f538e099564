//! What conflicts is waited for, whoever did it.

use dacapo_ledger::Touch;

use crate::device::{Bench, READ, WRITE};

#[test]
fn reads_wait_for_writes_and_writes_for_both() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.work(&b, Touch::Memory(&[(memory, WRITE)]), "write");
    let expected = "a: write\na: record a2\nb: wait a2\nb: read\nb: record b2\na: wait b2\na: write\na: record a3\n\
                    b: wait a3\nb: write\nb: record b3";
    assert_eq!(bench.device.said(), expected);
}

#[test]
fn a_launch_on_another_stream_waits_for_the_last_launch_of_the_same_graph() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, READ)]);
    bench.work(&a, Touch::Set(&mut set), "launch");
    bench.work(&b, Touch::Set(&mut set), "launch");
    assert_eq!(bench.device.said(), "a: launch\na: record a2\nb: wait a2\nb: launch\nb: record b2");
}

#[test]
fn launches_touches_and_other_graphs_see_each_other() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let mut reader = bench.ledger.add_set(&[(memory, READ)]);
    let mut writer = bench.ledger.add_set(&[(memory, READ), (memory, WRITE)]);
    bench.work(&a, Touch::Set(&mut writer), "writer");
    bench.work(&b, Touch::Set(&mut reader), "reader");
    bench.work(&a, Touch::Set(&mut writer), "writer");
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "touch");
    bench.work(&a, Touch::Set(&mut writer), "writer");
    let expected = "a: writer\na: record a2\nb: wait a2\nb: reader\nb: record b2\na: wait b2\na: writer\na: record a3\n\
                    b: wait a3\nb: touch\nb: record b3\na: wait b3\na: writer\na: record a4";
    assert_eq!(bench.device.said(), expected);
}

#[test]
fn a_rebound_buffer_is_touched_by_that_launch_only() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let (inside, rebound) = (bench.ledger.add_memory(), bench.ledger.add_memory());
    let mut set = bench.ledger.add_set(&[(inside, WRITE)]);
    bench.work(&a, Touch::SetAnd(&mut set, &[(rebound, WRITE)]), "into");
    bench.work(&b, Touch::Memory(&[(rebound, READ)]), "read");
    bench.work(&a, Touch::Set(&mut set), "launch");
    let expected = "a: into\na: record a2\nb: wait a2\nb: read\nb: record b2\na: launch\na: record a3";
    assert_eq!(bench.device.said(), expected, "the second launch has nothing to do with what was rebound");
}

#[test]
fn a_removed_graph_is_remembered_by_its_buffers() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    let launch = bench.work(&a, Touch::Set(&mut set), "launch");
    let last = bench.ledger.remove_set(&mut set).unwrap();
    assert_eq!((last.lane(), last.position()), (launch.lane(), launch.position()));
    bench.device.said();
    bench.work(&b, Touch::Memory(&[(memory, READ)]), "read");
    assert_eq!(bench.device.said(), "b: wait a2\nb: read\nb: record b2");
    assert!(bench.ledger.remove_set(&mut set).is_none(), "it is gone");
}

#[test]
fn a_removed_graph_does_not_hide_what_came_after_its_last_launch() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let c = bench.lane("c");
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, WRITE)]);
    bench.work(&a, Touch::Set(&mut set), "launch");
    bench.work(&b, Touch::Memory(&[(memory, WRITE)]), "write");
    bench.ledger.remove_set(&mut set);
    bench.device.said();
    bench.work(&c, Touch::Memory(&[(memory, READ)]), "read");
    assert!(bench.device.said().contains("c: wait b2"));
}

#[test]
fn the_host_waits_for_what_it_conflicts_with() {
    let bench = Bench::new();
    let (a, b) = bench.two_lanes();
    let memory = bench.ledger.add_memory();
    let mut set = bench.ledger.add_set(&[(memory, READ)]);
    let write = bench.work(&a, Touch::Memory(&[(memory, WRITE)]), "write");
    let launch = bench.work(&b, Touch::Set(&mut set), "launch");
    let places = |access| {
        let list = bench.ledger.wait_list(memory, access);
        list.iter().map(|used| (used.lane().clone(), used.position())).collect::<Vec<_>>()
    };
    assert_eq!(places(READ), [(a.clone(), write.position())]);
    assert_eq!(places(WRITE), [(a.clone(), write.position()), (b.clone(), launch.position())]);
    bench.ledger.finished(&launch);
    assert_eq!(places(WRITE), [(a.clone(), write.position())]);
}

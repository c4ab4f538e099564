//! Who wrote memory last.

use dacapo_ledger::{Lane, MemoryId, Touch};

use crate::device::{Bench, Device, READ, WRITE};

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

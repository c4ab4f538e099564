//! The models, each a small program.

use std::sync::Arc;

use dacapo_ledger::Touching::{Read, Write};
use dacapo_ledger::{MemoryId, Touch};

use crate::device::World;

/// Tries every interleaving, and prints how many there were.
fn model(name: &str, program: fn()) {
    let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let builder = loom::model::Builder::new();
    builder.check(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        program();
    });
    println!("{name}: {} interleavings", count.load(std::sync::atomic::Ordering::Relaxed));
}

/// Runs the programs beside each other, and then looks at the world once more.
fn run(world: World, programs: Vec<Box<dyn FnOnce(&World) + Send>>) -> Arc<World> {
    let world = Arc::new(world);
    let mut programs = programs.into_iter();
    let here = programs.next().expect("a model has a program");
    let spawn = |program: Box<dyn FnOnce(&World) + Send>| {
        let world = Arc::clone(&world);
        loom::thread::spawn(move || program(&world))
    };
    let threads: Vec<_> = programs.map(spawn).collect();
    here(&world);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world
}

fn touch(lane: usize, memory: MemoryId, access: dacapo_ledger::Touching) -> Box<dyn FnOnce(&World) + Send> {
    Box::new(move |world| {
        world.submit(lane, Touch::Memory(&[(memory, access)]), &[(0, access)]);
    })
}

#[test]
fn two_writers_on_two_streams() {
    model("two_writers_on_two_streams", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        run(world, vec![touch(0, memory, Write), touch(1, memory, Write)]);
    });
}

#[test]
fn two_threads_on_one_stream_beside_a_third_on_another() {
    model("two_threads_on_one_stream_beside_a_third_on_another", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        run(world, vec![touch(0, memory, Write), touch(0, memory, Read), touch(1, memory, Write)]);
    });
}

#[test]
fn three_streams_one_of_which_reads() {
    model("three_streams_one_of_which_reads", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        run(world, vec![touch(0, memory, Write), touch(1, memory, Read), touch(2, memory, Write)]);
    });
}

#[test]
fn a_graph_launched_again_and_again_beside_a_touch_of_its_buffer() {
    model("a_graph_launched_again_and_again_beside_a_touch_of_its_buffer", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let mut set = world.ledger.add_set(&[(memory, Write)]);
        let launches = move |world: &World| {
            world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
            world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
        };
        let touches = move |world: &World| {
            world.submit(1, Touch::Memory(&[(memory, Read)]), &[(0, Read)]);
        };
        run(world, vec![Box::new(launches), Box::new(touches)]);
    });
}

/// As above, but the first launch is over when the other begins: the second is clean, unless the touch comes between.
#[test]
fn a_clean_launch_beside_a_touch_of_its_buffer() {
    model("a_clean_launch_beside_a_touch_of_its_buffer", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let mut set = world.ledger.add_set(&[(memory, Write)]);
        world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
        let launches = move |world: &World| {
            world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
            world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
        };
        run(world, vec![Box::new(launches), touch(1, memory, Write)]);
    });
}

/// Each was clean on its lane, until one of them looks at the other.
#[test]
fn two_graphs_that_share_a_buffer_and_take_turns_at_being_clean() {
    model("two_graphs_that_share_a_buffer_and_take_turns_at_being_clean", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let (mut one, mut two) = (world.ledger.add_set(&[(memory, Write)]), world.ledger.add_set(&[(memory, Write)]));
        world.submit(0, Touch::Set(&mut one), &[(0, Write)]);
        world.submit(0, Touch::Set(&mut two), &[(0, Write)]);
        let stays = move |world: &World| {
            world.submit(0, Touch::Set(&mut one), &[(0, Write)]);
            world.submit(0, Touch::Set(&mut one), &[(0, Write)]);
        };
        let moves = move |world: &World| {
            world.submit(1, Touch::Set(&mut two), &[(0, Write)]);
        };
        run(world, vec![Box::new(stays), Box::new(moves)]);
    });
}

#[test]
fn what_the_host_is_told_of_a_clean_launch_is_on_its_stream() {
    model("what_the_host_is_told_of_a_clean_launch_is_on_its_stream", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let mut set = world.ledger.add_set(&[(memory, Write)]);
        world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
        let launches = move |world: &World| {
            world.submit(0, Touch::Set(&mut set), &[(0, Write)]);
        };
        let host = move |world: &World| {
            for used in world.ledger.wait_list(memory, Read) {
                let event = world.ledger.event_for(&world.device, &used).expect("nothing is refused here");
                world.device.synchronize(&event, &used);
                world.ledger.finished(&used);
            }
            world.submit(1, Touch::Memory(&[(memory, Write)]), &[(0, Write)]);
        };
        run(world, vec![Box::new(launches), Box::new(host)]);
    });
}

#[test]
fn one_graph_from_two_threads_on_two_streams() {
    model("one_graph_from_two_threads_on_two_streams", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let set = Arc::new(loom::sync::Mutex::new(world.ledger.add_set(&[(memory, Read)])));
        // Object 1 is the executable itself.
        let launch = move |lane| {
            let set = Arc::clone(&set);
            Box::new(move |world: &World| {
                world.submit(lane, Touch::Set(&mut set.lock().unwrap()), &[(0, Read), (1, Write)]);
            }) as Box<dyn FnOnce(&World) + Send>
        };
        run(world, vec![launch(0), launch(1)]);
    });
}

#[test]
fn two_graphs_that_share_a_buffer_one_of_them_launched_twice() {
    model("two_graphs_that_share_a_buffer_one_of_them_launched_twice", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let (mut reads, mut writes) =
            (world.ledger.add_set(&[(memory, Read)]), world.ledger.add_set(&[(memory, Write)]));
        let reader = move |world: &World| {
            world.submit(0, Touch::Set(&mut reads), &[(0, Read)]);
            world.submit(0, Touch::Set(&mut reads), &[(0, Read)]);
        };
        let writer = move |world: &World| {
            world.submit(1, Touch::Set(&mut writes), &[(0, Write)]);
        };
        run(world, vec![Box::new(reader), Box::new(writer)]);
    });
}

#[test]
fn two_streams_that_cover_each_others_work_end() {
    model("two_streams_that_cover_each_others_work_end", || {
        let world = World::new();
        let (x, y) = (world.ledger.add_memory(), world.ledger.add_memory());
        // Neither has an event: one user stream, and an internal one.
        world.submit(0, Touch::Memory(&[(x, Write)]), &[(0, Write)]);
        world.submit(3, Touch::Memory(&[(y, Write)]), &[(1, Write)]);
        let one = move |world: &World| {
            world.submit(0, Touch::Memory(&[(y, Write)]), &[(1, Write)]);
        };
        let two = move |world: &World| {
            world.submit(3, Touch::Memory(&[(x, Write)]), &[(0, Write)]);
        };
        run(world, vec![Box::new(one), Box::new(two)]);
    });
}

#[test]
fn an_event_asked_for_by_another_thread_is_behind_the_work() {
    model("an_event_asked_for_by_another_thread_is_behind_the_work", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let writer = move |world: &World| {
            world.submit(0, Touch::Memory(&[(memory, Write)]), &[(0, Write)]);
            world.submit(0, Touch::Memory(&[(memory, Write)]), &[(0, Write)]);
        };
        let host = move |world: &World| {
            for used in world.ledger.wait_list(memory, Read) {
                let event = world.ledger.event_for(&world.device, &used).expect("nothing is refused here");
                world.device.synchronize(&event, &used);
                world.ledger.finished(&used);
                assert!(world.ledger.is_finished(&used));
            }
            world.submit(1, Touch::Memory(&[(memory, Write)]), &[(0, Write)]);
        };
        run(world, vec![Box::new(writer), Box::new(host)]);
    });
}

#[test]
fn a_buffer_dropped_while_others_work_is_released_after_its_last_use() {
    model("a_buffer_dropped_while_others_work_is_released_after_its_last_use", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        // Both threads own it. The last to let go takes it out, as a drop would.
        let owners = Arc::new(memory);
        let other = Arc::clone(&owners);
        let user = |lane, owner: Arc<MemoryId>| {
            move |world: &World| {
                world.submit(lane, Touch::Memory(&[(*owner, Read)]), &[(0, Read)]);
                if let Some(memory) = Arc::into_inner(owner) {
                    world.drops.put(0, world.ledger.remove_memory(memory));
                }
                if !world.drops.is_empty() {
                    world.drain();
                }
            }
        };
        let world = run(world, vec![Box::new(user(0, owners)), Box::new(user(1, other))]);
        world.drain();
    });
}

#[test]
fn a_graph_dropped_beside_a_touch_of_its_buffer_is_not_forgotten() {
    model("a_graph_dropped_beside_a_touch_of_its_buffer_is_not_forgotten", || {
        let world = World::new();
        let memory = world.ledger.add_memory();
        let mut set = world.ledger.add_set(&[(memory, Write)]);
        let graph = move |world: &World| {
            world.submit(0, Touch::Set(&mut set), &[(0, Write), (1, Write)]);
            let last = world.ledger.remove_set(&mut set);
            world.drops.put(1, last.into_iter().collect());
        };
        let touches = move |world: &World| {
            world.submit(1, Touch::Memory(&[(memory, Write)]), &[(0, Write)]);
            world.drain();
        };
        let world = run(world, vec![Box::new(graph), Box::new(touches)]);
        world.drops.put(0, world.ledger.remove_memory(memory));
        world.drain();
        assert!(world.drops.is_empty());
    });
}

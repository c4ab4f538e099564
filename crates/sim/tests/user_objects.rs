//! User objects: references are counted, destructors are called once, late enough, in order.

mod kit;

use std::ffi::c_void;
use std::sync::Mutex;

use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_sim::{Options, Time};
use kit::world::*;
use kit::*;

/// What destructors and host functions have written, in order.
#[derive(Default)]
struct Log(Mutex<Vec<&'static str>>);

struct Entry<'a> {
    log: &'a Log,
    word: &'static str,
}

unsafe extern "C" fn write(entry: *mut c_void) {
    // SAFETY: the tests pass an `Entry` that outlives the machine's calls.
    let entry = unsafe { &*entry.cast::<Entry<'_>>() };
    entry.log.0.lock().expect("no panic inside").push(entry.word);
}

impl Log {
    fn entry(&self, word: &'static str) -> Entry<'_> {
        Entry { log: self, word }
    }
    fn words(&self) -> Vec<&'static str> {
        self.0.lock().expect("no panic inside").clone()
    }
}

fn object(w: &World, entry: &Entry<'_>, count: u32) -> CUuserObject {
    let (mut object, data) = (CUuserObject::NULL, std::ptr::from_ref(entry).cast_mut().cast());
    // SAFETY: the destructor's argument outlives the machine's calls.
    assert_eq!(unsafe { w.m.cuUserObjectCreate(&mut object, data, Some(write), count, 1) }, OK);
    object
}

/// A graph with one node and a reference to the object that was the program's.
fn holding(w: &World, object: CUuserObject, buffer: u64) -> CUgraph {
    let graph = w.m.graph();
    w.node(graph, &[], "set", buffer, 1);
    // SAFETY: live handles.
    assert_eq!(unsafe { w.m.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) }, OK);
    graph
}

#[test]
fn the_graph_its_clone_its_copy_in_a_child_and_its_executable_each_hold_the_object() {
    for seed in 0..8 {
        let (log, w) = (Log::default(), World::seeded(seed));
        let (entry, buffer) = (log.entry("gone"), w.m.buffer(4));
        let graph = holding(&w, object(&w, &entry, 1), buffer);
        let (mut clone, parent, mut node) = (CUgraph::NULL, w.m.graph(), CUgraphNode::NULL);
        // SAFETY: live handles and valid out pointers.
        unsafe {
            assert_eq!(w.m.cuGraphClone(&mut clone, graph), OK);
            assert_eq!(w.m.cuGraphAddChildGraphNode(&mut node, parent, std::ptr::null(), 0, graph), OK);
            let exec = w.instantiate(graph, 0).expect("whole");
            for destroy in [graph, clone, parent] {
                assert_eq!((w.m.cuGraphDestroy(destroy), w.sync()), (OK, OK));
                assert_eq!(log.words(), [""; 0], "seed {seed}");
            }
            assert_eq!((w.launch(exec), w.m.cuGraphExecDestroy(exec), w.sync()), (OK, OK, OK));
        }
        assert_eq!(log.words(), ["gone"], "seed {seed}");
        assert_eq!(w.found(), [""; 0]);
    }
}

#[test]
fn the_destructor_waits_for_the_launch_that_runs() {
    for seed in 0..20 {
        let (log, w) = (Log::default(), World::seeded(seed));
        let (gone, ran) = (log.entry("gone"), log.entry("ran"));
        let (graph, buffer) = (w.m.graph(), w.m.buffer(4));
        let set = w.node(graph, &[], "set", buffer, 1);
        let host = CUDA_HOST_NODE_PARAMS { r#fn: Some(write), userData: (&raw const ran).cast_mut().cast() };
        let mut node = CUgraphNode::NULL;
        // SAFETY: live handles, valid pointers; the entries outlive the machine's calls.
        unsafe {
            assert_eq!(w.m.cuGraphAddHostNode(&mut node, graph, &set, 1, &host), OK);
            assert_eq!(w.m.cuGraphRetainUserObject(graph, object(&w, &gone, 1), 1, 1), OK);
            let exec = w.instantiate(graph, 0).expect("whole");
            assert_eq!(w.launch(exec), OK);
            assert_eq!((w.m.cuGraphExecDestroy(exec), w.m.cuGraphDestroy(graph)), (OK, OK));
            // A question about another stream calls destructors too, and this one's time has not come.
            assert_eq!(w.m.cuStreamQuery(w.m.stream()), OK);
            assert_eq!(w.m.cuStreamSynchronize(w.stream), OK);
        }
        assert_eq!(log.words(), ["ran", "gone"], "seed {seed}");
    }
}

#[test]
fn destructors_come_in_the_order_in_which_the_last_references_went() {
    let (log, w) = (Log::default(), World::seeded(0));
    let entries = ["first", "second", "third"].map(|word| log.entry(word));
    let objects = [0, 1, 2].map(|at: usize| object(&w, &entries[at], 2));
    // SAFETY: live handles.
    unsafe {
        for at in [2, 1, 0] {
            assert_eq!(w.m.cuUserObjectRelease(objects[at], 1), OK);
        }
        for at in [0, 1, 2] {
            assert_eq!(w.m.cuUserObjectRelease(objects[at], 1), OK);
        }
        assert_eq!(log.words(), [""; 0], "a program may hold a lock around a release that the destructor wants");
        assert_eq!(w.sync(), OK);
        assert_eq!(log.words(), ["first", "second", "third"]);
        assert_eq!(w.m.cuUserObjectRelease(objects[0], 1), INVALID, "it is gone");
    }
}

#[test]
fn an_update_swaps_the_objects_of_the_executable() {
    let (log, w) = (Log::default(), World::seeded(1));
    let (old, new, buffer) = (log.entry("old"), log.entry("new"), w.m.buffer(4));
    let first = holding(&w, object(&w, &old, 1), buffer);
    let second = holding(&w, object(&w, &new, 1), buffer);
    let exec = w.instantiate(first, 0).expect("whole");
    let mut info = CUgraphExecUpdateResultInfo::default();
    // SAFETY: live handles and a valid out pointer.
    unsafe {
        assert_eq!(w.launch(exec), OK);
        assert_eq!(w.m.cuGraphExecUpdate_v2(exec, second, &mut info), OK);
        assert_eq!((w.m.cuGraphDestroy(first), w.sync()), (OK, OK));
        assert_eq!(log.words(), ["old"]);
        assert_eq!((w.m.cuGraphDestroy(second), w.sync()), (OK, OK));
        assert_eq!(log.words(), ["old"]);
        assert_eq!((w.m.cuGraphExecDestroy(exec), w.sync()), (OK, OK));
    }
    assert_eq!(log.words(), ["old", "new"]);
}

#[test]
fn releasing_too_much_is_answered_as_on_a_gpu_and_found() {
    let (log, w) = (Log::default(), World::seeded(0));
    let (entry, graph) = (log.entry("gone"), w.m.graph());
    let object = object(&w, &entry, 2);
    // SAFETY: live handles.
    unsafe {
        assert_eq!((w.m.cuUserObjectRelease(object, 3), w.m.cuUserObjectRelease(object, 0)), (OK, INVALID));
        assert_eq!(w.m.cuGraphRetainUserObject(graph, object, 1, 0), OK);
        assert_eq!(w.m.cuGraphReleaseUserObject(graph, object, 2), OK);
        assert_eq!(w.m.cuGraphReleaseUserObject(graph, object, 1), OK);
        assert_eq!(w.m.cuGraphReleaseUserObject(graph, object, 1), OK);
        assert_eq!((w.m.cuUserObjectRetain(object, 1), w.m.cuUserObjectRelease(object, 2)), (OK, OK));
        assert_eq!((w.sync(), log.words()), (OK, vec![]));
        assert_eq!((w.m.cuUserObjectRelease(object, 1), w.sync()), (OK, OK));
    }
    assert_eq!(log.words(), ["gone"]);
    assert_eq!(w.found(), ["user-object-over-release"; 3]);
}

#[test]
fn a_fault_does_not_keep_destructors_from_being_called() {
    let (log, w) = (Log::default(), World::seeded(0));
    let (entry, buffer) = (log.entry("gone"), w.m.buffer(4));
    let graph = holding(&w, object(&w, &entry, 1), buffer);
    let exec = w.instantiate(graph, 0).expect("whole");
    // SAFETY: live handles; the bad address is the point.
    unsafe {
        assert_eq!(w.launch_kernel(w.stream, "set", 16, 1), OK);
        let _ = w.launch(exec);
        assert_eq!((w.m.cuGraphExecDestroy(exec), w.m.cuGraphDestroy(graph)), (OK, OK));
        assert_eq!(w.sync(), ILLEGAL_ADDRESS);
        assert_eq!(w.sync(), ILLEGAL_ADDRESS);
    }
    assert_eq!(log.words(), ["gone"]);
}

#[test]
fn in_live_time_no_further_call_is_needed() {
    let (log, w) = (Log::default(), World::new(Options { time: Time::Live, ..Default::default() }));
    let entry = log.entry("gone");
    let object = object(&w, &entry, 1);
    // SAFETY: a live handle.
    assert_eq!(unsafe { w.m.cuUserObjectRelease(object, 1) }, OK);
    for _ in 0..2000 {
        if !log.words().is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(log.words(), ["gone"]);
}

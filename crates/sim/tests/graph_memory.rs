//! Memory nodes: what a program can rely on, on several seeds.

mod kit;

use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_sim::Options;
use kit::world::*;
use kit::*;

const SEEDS: std::ops::Range<u64> = 0..12;
const AUTO_FREE: u32 = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;

fn attributes(w: &World) -> [u64; 4] {
    [0, 1, 2, 3].map(|which| {
        let mut value = 99u64;
        // SAFETY: a valid out pointer for a 64-bit number.
        assert_eq!(unsafe { w.m.cuDeviceGetGraphMemAttribute(0, which, (&raw mut value).cast()) }, OK);
        value
    })
}

#[test]
fn data_goes_through_graph_memory_at_every_launch() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let (out, graph) = (w.m.buffer(4), w.m.graph());
        let (alloc, p) = w.alloc(graph, &[], 4096).expect("fits");
        let set = w.node(graph, &[alloc], "set", p, 40);
        let add = w.node(graph, &[set], "add", p, 2);
        let copy = w.copy(graph, &[add], out, p);
        w.free(graph, &[copy], p).expect("its own memory");
        let exec = w.instantiate(graph, 0).expect("whole");
        for _ in 0..3 {
            // SAFETY: a live address.
            assert_eq!(unsafe { w.m.cuMemsetD32_v2(out, 0, 1) }, OK);
            assert_eq!((w.launch(exec), w.launch(exec), w.sync()), (OK, OK, OK));
            assert_eq!(w.m.read(out), 42, "seed {seed}");
        }
        assert_eq!(w.found(), [""; 0], "seed {seed}");
    }
}

#[test]
fn memory_that_is_not_freed_keeps_its_data_and_forbids_the_next_launch() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let graph = w.m.graph();
        let (alloc, p) = w.alloc(graph, &[], 1000).expect("fits");
        w.node(graph, &[alloc], "set", p, 5);
        let exec = w.instantiate(graph, 0).expect("whole");
        assert_eq!((w.launch(exec), w.launch(exec)), (OK, INVALID));
        assert_eq!(w.found(), ["graph-memory-lives"]);
        assert_eq!(w.launch_kernel(w.stream, "add", p, 1), OK);
        assert_eq!((w.sync(), w.m.read(p)), (OK, 6));
        // SAFETY: a live address, freed once each time.
        unsafe {
            assert_eq!(w.m.cuMemFreeAsync(p, w.m.stream()), OK);
            assert_eq!(w.launch(exec), OK, "behind the free, whatever stream it is on");
            assert_eq!((w.sync(), w.m.read(p)), (OK, 5));
            assert_eq!(w.m.cuGraphExecDestroy(exec), OK);
            assert_eq!(w.m.read(p), 5, "it outlives the executable");
            assert_eq!((w.m.cuMemFree_v2(p), w.m.cuMemFree_v2(p)), (OK, INVALID));
        }
        assert_eq!(w.found(), ["bad-free"], "seed {seed}");
    }
}

#[test]
fn auto_free_lets_a_graph_run_again_and_again() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let graph = w.m.graph();
        let (alloc, p) = w.alloc(graph, &[], 64).expect("fits");
        w.node(graph, &[alloc], "set", p, 8);
        let exec = w.instantiate(graph, AUTO_FREE).expect("whole");
        for _ in 0..4 {
            assert_eq!(w.launch(exec), OK);
        }
        assert_eq!((w.sync(), w.m.read(p)), (OK, 8), "seed {seed}");
        assert_eq!(w.found(), [""; 0]);
    }
}

#[test]
fn an_address_is_used_again_behind_its_free_and_only_there() {
    let w = World::seeded(3);
    let graph = w.m.graph();
    let (first, p) = w.alloc(graph, &[], 1 << 20).expect("fits");
    let freed = w.free(graph, &[first], p).expect("its own memory");
    let (_, behind) = w.alloc(graph, &[freed], 1 << 20).expect("fits");
    let (_, beside) = w.alloc(graph, &[first], 1 << 20).expect("fits");
    let (_, elsewhere) = w.alloc(w.m.graph(), &[], 1 << 20).expect("fits");
    assert_eq!(behind, p);
    assert!(beside != p && elsewhere != p && beside != elsewhere);
    assert_eq!([p, beside, elsewhere].map(|address| address % 512), [0; 3]);
}

#[test]
fn a_free_may_be_in_another_graph_and_needs_something_to_free() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let (makes, frees) = (w.m.graph(), w.m.graph());
        let (_, p) = w.alloc(makes, &[], 4096).expect("fits");
        w.free(frees, &[], p).expect("memory of another graph");
        assert_eq!(w.free(frees, &[], p), Err(INVALID), "twice in one graph");
        let (makes, frees) = (w.instantiate(makes, 0).expect("whole"), w.instantiate(frees, 0).expect("whole"));
        assert_eq!(w.launch(frees), INVALID);
        for _ in 0..3 {
            assert_eq!((w.launch(makes), w.launch(frees)), (OK, OK));
        }
        assert_eq!((w.launch(frees), w.sync()), (INVALID, OK));
        assert_eq!(w.found(), ["bad-free", "graph-memory-not-allocated", "graph-memory-not-allocated"]);
    }
}

#[test]
fn a_kernel_that_touches_graph_memory_outside_its_life_is_named() {
    for seed in SEEDS {
        // Behind the free.
        let w = World::seeded(seed);
        let graph = w.m.graph();
        let (alloc, p) = w.alloc(graph, &[], 256).expect("fits");
        let freed = w.free(graph, &[alloc], p).expect("its own memory");
        w.node(graph, &[freed], "set", p, 1);
        let exec = w.instantiate(graph, 0).expect("whole");
        assert_eq!(w.launch(exec), OK);
        assert_eq!(w.sync(), ILLEGAL_ADDRESS);
        assert_eq!(w.found(), ["use-after-free"], "seed {seed}");
        // Before any launch.
        let w = World::seeded(seed);
        let (_, p) = w.alloc(w.m.graph(), &[], 256).expect("fits");
        assert_eq!(w.launch_kernel(w.stream, "set", p, 1), OK);
        assert_eq!(w.sync(), ILLEGAL_ADDRESS);
        let finding = w.m.take_findings().remove(0);
        assert_eq!(finding.code, "graph-memory-not-allocated");
        assert!(finding.what.contains("no launch has allocated yet"), "{finding}");
    }
}

#[test]
fn a_free_that_need_not_run_behind_its_allocation_is_a_finding() {
    let w = World::seeded(0);
    let graph = w.m.graph();
    let (_, p) = w.alloc(graph, &[], 256).expect("fits");
    w.free(graph, &[], p).expect("a GPU's driver takes it too");
    w.instantiate(graph, 0).expect("a GPU's driver takes it too");
    assert_eq!(w.found(), ["graph-free-unordered"]);
}

#[test]
fn before_a_launch_the_memory_shows_nowhere() {
    let w = World::seeded(0);
    let (graph, mut size, mut base, mut kind) = (w.m.graph(), 0, 0, 0u32);
    assert_eq!(w.alloc(graph, &[], 0), Err(INVALID));
    assert_eq!(w.alloc(graph, &[], 1 << 50), Err(OUT_OF_MEMORY));
    let (node, p) = w.alloc(graph, &[], 1000).expect("fits");
    let mut params = CUDA_MEM_ALLOC_NODE_PARAMS::default();
    // SAFETY: valid out pointers; the address is for the driver to check.
    unsafe {
        assert_eq!(w.m.cuGraphMemAllocNodeGetParams(node, &mut params), OK);
        assert_eq!((params.bytesize, params.dptr), (1000, p));
        let attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        assert_eq!(w.m.cuPointerGetAttribute((&raw mut kind).cast(), attribute, p), INVALID);
        assert_eq!(w.m.cuMemGetAddressRange_v2(&mut base, &mut size, p), dacapo_driver::CUresult::CUDA_ERROR_NOT_FOUND);
        assert_eq!(w.m.cuMemsetD32_v2(p, 1, 1), INVALID);
        assert_eq!(w.m.cuMemFree_v2(p), INVALID);
    }
    let exec = w.instantiate(graph, 0).expect("whole");
    assert_eq!(w.launch(exec), OK);
    // SAFETY: as above.
    unsafe {
        assert_eq!(w.m.cuMemGetAddressRange_v2(&mut base, &mut size, p + 8), OK);
        assert_eq!((base, size), (p, 1000));
    }
}

#[test]
fn a_graph_with_memory_nodes_is_one_of_its_kind() {
    let w = World::seeded(0);
    let graph = w.m.graph();
    let (alloc, p) = w.alloc(graph, &[], 64).expect("fits");
    let freed = w.free(graph, &[alloc], p).expect("its own memory");
    let exec = w.instantiate(graph, 0).expect("whole");
    assert_eq!(w.instantiate(graph, 0), Err(NOT_SUPPORTED));
    let (mut clone, mut node) = (CUgraph::NULL, CUgraphNode::NULL);
    // SAFETY: live handles and valid out pointers.
    unsafe {
        assert_eq!(w.m.cuGraphClone(&mut clone, graph), NOT_SUPPORTED);
        assert_eq!(w.m.cuGraphAddChildGraphNode(&mut node, w.m.graph(), std::ptr::null(), 0, graph), NOT_SUPPORTED);
        assert_eq!(w.m.cuGraphDestroyNode(freed), NOT_SUPPORTED);
        assert_eq!(w.m.cuGraphRemoveDependencies(graph, &alloc, &freed, 1), NOT_SUPPORTED);
        assert_eq!(w.m.cuGraphExecDestroy(exec), OK);
    }
    w.instantiate(graph, 0).expect("the first one is gone");
}

#[test]
fn a_graph_with_memory_nodes_may_move_into_a_child_node() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let (child, parent, out, mut node) = (w.m.graph(), w.m.graph(), w.m.buffer(4), CUgraphNode::NULL);
        let (alloc, p) = w.alloc(child, &[], 64).expect("fits");
        w.node(child, &[alloc], "set", p, 6);
        let moved = CUDA_CHILD_GRAPH_NODE_PARAMS { graph: child, ownership: 1 };
        // SAFETY: the struct of this type of node.
        let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_GRAPH, moved) };
        let none = std::ptr::null();
        // SAFETY: live handles and valid pointers.
        unsafe {
            assert_eq!(w.m.cuGraphAddNode(&mut node, parent, none, 0, &mut params), OK);
            assert_eq!(
                w.m.cuGraphAddNode(&mut node, w.m.graph(), none, 0, &mut params),
                NOT_SUPPORTED,
                "moved already"
            );
            assert_eq!(w.m.cuGraphDestroy(child), INVALID, "it belongs to its node");
        }
        let copy = w.copy(parent, &[node], out, p);
        w.free(parent, &[copy], p).expect("memory of the child");
        let exec = w.instantiate(parent, 0).expect("whole");
        assert_eq!(w.instantiate(parent, 0), Err(NOT_SUPPORTED));
        assert_eq!((w.launch(exec), w.launch(exec), w.sync()), (OK, OK, OK));
        assert_eq!(w.m.read(out), 6, "seed {seed}");
        // SAFETY: live handles.
        unsafe {
            assert_eq!((w.m.cuGraphExecDestroy(exec), w.m.cuGraphDestroy(parent)), (OK, OK));
            assert_eq!(w.m.cuGraphDestroy(child), INVALID, "gone with its node");
        }
    }
}

#[test]
fn one_seed_gives_one_run() {
    let run = |seed| {
        let w = World::new(Options { seed, journal: true, ..Default::default() });
        let graph = w.m.graph();
        let mut ends = Vec::new();
        for value in 0..4 {
            let (alloc, p) = w.alloc(graph, &[], 256).expect("fits");
            let set = w.node(graph, &[alloc], "set", p, value);
            ends.push((p, w.free(graph, &[set], p).expect("its own memory")));
        }
        let exec = w.instantiate(graph, 0).expect("whole");
        assert_eq!((w.launch(exec), w.launch(exec), w.sync()), (OK, OK, OK));
        (ends.iter().map(|(p, _)| *p).collect::<Vec<_>>(), w.m.journal())
    };
    let orders: std::collections::HashSet<_> = SEEDS.map(run).collect();
    for seed in SEEDS {
        assert_eq!(run(seed), run(seed));
    }
    assert!(orders.len() > 1, "another seed gives another order");
}

#[test]
fn used_memory_grows_by_32_mib_at_the_launch_and_stays_until_a_trim() {
    const MIB_32: u64 = 32 << 20;
    let w = World::seeded(0);
    let graph = w.m.graph();
    let (alloc, p) = w.alloc(graph, &[], 1 << 20).expect("fits");
    let freed = w.free(graph, &[alloc], p).expect("its own memory");
    let exec = w.instantiate(graph, 0).expect("whole");
    assert_eq!(attributes(&w), [0; 4]);
    assert_eq!((w.launch(exec), w.sync()), (OK, OK));
    assert_eq!(attributes(&w), [MIB_32; 4]);
    let (mut zero, mut five) = (0u64, 5u64);
    // SAFETY: valid pointers to 64-bit numbers.
    unsafe {
        assert_eq!(w.m.cuDeviceGraphMemTrim(0), OK);
        assert_eq!(attributes(&w), [0, MIB_32, 0, MIB_32]);
        let high = CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
        assert_eq!(w.m.cuDeviceSetGraphMemAttribute(0, high, (&raw mut five).cast()), INVALID);
        assert_eq!(w.m.cuDeviceSetGraphMemAttribute(0, high, (&raw mut zero).cast()), OK);
    }
    assert_eq!(attributes(&w), [0, 0, 0, MIB_32]);
    // What lives is not trimmed.
    let (_, again) = w.alloc(graph, &[freed], 1 << 20).expect("fits");
    assert_eq!(again, p);
    // SAFETY: live handles.
    assert_eq!(unsafe { w.m.cuGraphExecDestroy(exec) }, OK);
    let exec = w.instantiate(graph, 0).expect("whole");
    assert_eq!((w.launch(exec), w.sync()), (OK, OK));
    // SAFETY: no pointers.
    assert_eq!(unsafe { w.m.cuDeviceGraphMemTrim(0) }, OK);
    assert_eq!(attributes(&w)[0], MIB_32);
}

#[test]
fn a_launch_without_room_for_its_memory_is_refused_and_changes_nothing() {
    let w = World::new(Options { capacity: 1 << 20, ..Default::default() });
    let graph = w.m.graph();
    w.alloc(graph, &[], 600 << 10).expect("an address costs nothing");
    let exec = w.instantiate(graph, 0).expect("whole");
    let held = w.m.buffer(600 << 10);
    assert_eq!(w.launch(exec), OUT_OF_MEMORY);
    // SAFETY: a live address.
    assert_eq!(unsafe { w.m.cuMemFree_v2(held) }, OK);
    assert_eq!((w.launch(exec), w.sync()), (OK, OK));
    let mut address = 0;
    // SAFETY: a valid out pointer.
    assert_eq!(unsafe { w.m.cuMemAlloc_v2(&mut address, 600 << 10) }, OUT_OF_MEMORY);
}

#[test]
fn a_captured_allocation_becomes_a_node_with_an_address() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let (out, mut p, mut graph) = (w.m.buffer(4), 0, CUgraph::NULL);
        // SAFETY: live handles and valid out pointers.
        unsafe {
            assert_eq!(w.m.cuStreamBeginCapture_v2(w.stream, CU_STREAM_CAPTURE_MODE_GLOBAL), OK);
            assert_eq!(w.m.cuMemAllocAsync(&mut p, 4096, w.stream), OK);
            assert_eq!(w.launch_kernel(w.stream, "set", p, 9), OK);
            assert_eq!(w.m.cuMemcpyDtoDAsync_v2(out, p, 4, w.stream), OK);
            assert_eq!((w.m.cuMemFreeAsync(p, w.stream), w.m.cuMemFreeAsync(p, w.stream)), (OK, INVALID));
            assert_eq!(w.m.cuMemFreeAsync(out, w.stream), INVALID, "not of a graph");
            assert_eq!(w.m.cuStreamEndCapture(w.stream, &mut graph), OK);
            let mut count = 0;
            assert_eq!(w.m.cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count), OK);
            assert_eq!(count, 4);
        }
        let exec = w.instantiate(graph, 0).expect("whole");
        assert_eq!((w.launch(exec), w.launch(exec), w.sync()), (OK, OK, OK));
        assert_eq!(w.m.read(out), 9, "seed {seed}");
    }
}

#[test]
fn an_update_takes_the_memory_nodes_of_the_other_graph() {
    for seed in SEEDS {
        let w = World::seeded(seed);
        let out = w.m.buffer(4);
        let build = |value| {
            let graph = w.m.graph();
            let (alloc, p) = w.alloc(graph, &[], 4096).expect("fits");
            let set = w.node(graph, &[alloc], "set", p, value);
            let copy = w.copy(graph, &[set], out, p);
            w.free(graph, &[copy], p).expect("its own memory");
            graph
        };
        let (first, second) = (build(1), build(2));
        let exec = w.instantiate(first, 0).expect("whole");
        let mut info = CUgraphExecUpdateResultInfo::default();
        assert_eq!(w.launch(exec), OK);
        // SAFETY: live handles and a valid out pointer.
        unsafe {
            assert_eq!(w.m.cuGraphExecUpdate_v2(exec, first, &mut info), OK);
            assert_eq!(w.m.cuGraphExecUpdate_v2(exec, second, &mut info), OK);
        }
        assert_eq!((w.launch(exec), w.sync()), (OK, OK));
        assert_eq!(w.m.read(out), 2, "seed {seed}");
        assert_eq!(w.found(), [""; 0]);
    }
}

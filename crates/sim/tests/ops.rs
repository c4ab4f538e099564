//! Findings name the op whose work it is, where a library says so: through graphs, their copies and their updates.

mod kit;

use std::panic::Location;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Declared, DeclaredOf, Driver};
use dacapo_sim::{Detectors, Finding, FindingOp, Options};
use kit::world::World;
use kit::{Device, ok};

/// Makes calls as a library makes them for an op of this name.
#[track_caller]
fn of_op<R>(device: &Device, op: &str, call: impl FnOnce() -> R) -> R {
    let declared = Declared { op, label: "layer0", at: Location::caller(), slices: None };
    device.declare(DeclaredOf::Next, Some(&declared));
    let answer = call();
    device.declare(DeclaredOf::Next, None);
    answer
}

/// The one finding of this word; its ops, by name.
#[track_caller]
fn ops_of(device: &Device, code: &str) -> Vec<String> {
    let found: Vec<Finding> = device.take_findings();
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding.code, code, "{finding}");
    for FindingOp { op, label, file, line, column } in &finding.ops {
        let place = format!("\n  --> {file}:{line}:{column}      op `{op}`, labelled `{label}`");
        assert_eq!(finding.to_string().matches(&place).count(), 1, "{place} in\n{finding}");
    }
    finding.ops.iter().map(|op| op.op.clone()).collect()
}

fn world(detectors: Detectors) -> World {
    World::new(Options { detectors, ..Options::default() })
}

#[test]
fn a_replayed_node_that_names_a_strangers_memory_is_its_ops() {
    for what in ["kernel", "copy"] {
        let w = world(Detectors::default());
        let (mut x, y) = (0, w.m.zeros(1));
        // SAFETY: a valid out pointer.
        ok(unsafe { w.m.cuMemAllocAsync(&mut x, 64, w.stream) });
        let graph = w.m.graph();
        of_op(&w.m, what, || match what {
            "kernel" => w.node(graph, &[], "set", x, 1),
            _ => w.copy(graph, &[], x, y),
        });
        let exec = w.instantiate(graph, 0).unwrap();
        ok(w.launch(exec));
        ok(w.sync());
        // SAFETY: no pointers, and valid out pointers.
        unsafe {
            ok(w.m.cuMemFreeAsync(x, w.stream));
            let mut again = 0;
            ok(w.m.cuMemAllocAsync(&mut again, 128, w.stream));
            assert_eq!(again, x, "the pool gives the address out again");
        }
        ok(w.launch(exec));
        ok(w.sync());
        assert_eq!(ops_of(&w.m, "reused-address"), [what]);
    }
}

#[test]
fn a_condition_that_nobody_sets_is_found_at_the_op_of_its_node() {
    let w = world(Detectors::default());
    let graph = w.m.graph();
    let condition = w.m.condition(graph, None);
    of_op(&w.m, "when", || w.m.conditional(graph, &[], condition, CU_GRAPH_COND_TYPE_IF, 1));
    let exec = w.instantiate(graph, 0).unwrap();
    ok(w.launch(exec));
    ok(w.sync());
    assert_eq!(ops_of(&w.m, "unset-condition"), ["when"]);
}

#[test]
fn an_update_brings_its_ops_along() {
    let w = world(Detectors::all());
    let (x, y) = (w.m.zeros(1), w.m.zeros(1));
    // Two nodes that nothing orders.
    let graph_of = |kernel: &str, copy: &str| {
        let graph = w.m.graph();
        of_op(&w.m, kernel, || w.node(graph, &[], "set", x, 1));
        of_op(&w.m, copy, || w.copy(graph, &[], x, y));
        graph
    };
    let exec = w.instantiate(graph_of("set a", "copy a"), 0).unwrap();
    // SAFETY: live handles, and no out pointer.
    ok(unsafe { w.m.cuGraphExecUpdate_v2(exec, graph_of("set b", "copy b"), std::ptr::null_mut()) });
    ok(w.launch(exec));
    ok(w.sync());
    assert_eq!(ops_of(&w.m, "unordered"), ["set b", "copy b"]);
}

#[test]
fn what_nobody_has_said_has_no_op() {
    let w = world(Detectors::all());
    let (x, y) = (w.m.zeros(1), w.m.zeros(1));
    let graph = w.m.graph();
    of_op(&w.m, "set", || w.node(graph, &[], "set", x, 1));
    w.copy(graph, &[], x, y);
    let exec = w.instantiate(graph, 0).unwrap();
    ok(w.launch(exec));
    ok(w.sync());
    assert_eq!(ops_of(&w.m, "unordered"), ["set"], "the copy is a stranger's");
}

#[test]
fn a_launch_that_is_refused_is_its_ops() {
    let w = world(Detectors::none());
    let code = of_op(&w.m, "fill", || {
        // SAFETY: no pointers; the address is nobody's.
        unsafe { w.m.cuMemsetD8Async(64, 1, 1, w.stream) }
    });
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(ops_of(&w.m, "out-of-bounds"), ["fill"]);
}

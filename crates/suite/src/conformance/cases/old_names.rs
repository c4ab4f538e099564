//! Calls by the names and signatures of older versions, and the answers that other people's programs ask for.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

super::list! { "old_names";
    kernel_nodes, parameters_read_back, updates, update_of_another_shape, instantiated_twice_with_memory, captures, capture_of_the_legacy_stream, capture_info_of_the_legacy_stream,
    values, values_in_a_capture, destroys, contexts_of_the_first_version, contexts_of_the_third_version, affinity, pushed_twice, attached_and_detached, attached_to_the_primary,
    attached_to_none, narrow_memory, narrow_copies, device_of_contexts, waits_for_contexts, green_contexts, peers_of_itself, peer_attributes, banks, properties, texture_widths,
    null_functions, cluster_attributes, attributes_that_are_read_only, stack_limits, cache_limits, limits_of_others,
}

fn kernel_nodes(c: &mut Case<'_>) {
    let (s, at, graph) = (c.stream(1), c.alloc(64), c.graph());
    c.set32(at, 0, 16, s);
    let add = c.kernel("add", &[P(at), N(1)]).shaped(1, 16);
    let more = c.kernel("add", &[P(at), N(10)]).shaped(1, 16);
    let first = c.old_add_kernel(graph, &[], &add);
    c.old_add_kernel(graph, &[first], &more);
    let exec = c.old_instantiate(graph, false);
    c.run_once(exec, s);
    c.read(at, 4);
    let other = c.kernel("add", &[P(at), N(100)]).shaped(1, 16);
    c.old_exec_kernel(exec, first, &other);
    c.run_once(exec, s);
    c.read(at, 4);
}

fn parameters_read_back(c: &mut Case<'_>) {
    let (at, graph) = (c.alloc(64), c.graph());
    let add = c.kernel("add", &[P(at), N(1)]).shaped(2, 8);
    let node = c.old_add_kernel(graph, &[], &add);
    c.old_kernel_params(node);
    c.kernel_params(node);
    let wider = c.kernel("add", &[P(at), N(1)]).shaped(3, 4);
    c.old_node_kernel(node, &wider);
    c.old_kernel_params(node);
    let empty = c.add_empty(graph, &[]);
    c.old_kernel_params(empty);
    c.old_node_kernel(empty, &wider);
}

fn updates(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.alloc(64));
    c.set32(at, 0, 16, s);
    let (one, two) = (c.graph(), c.graph());
    let add = c.kernel("add", &[P(at), N(1)]).shaped(1, 16);
    let more = c.kernel("add", &[P(at), N(20)]).shaped(1, 16);
    c.old_add_kernel(one, &[], &add);
    c.old_add_kernel(two, &[], &more);
    let exec = c.old_instantiate(one, true);
    c.old_update(exec, two);
    c.run_once(exec, s);
    c.read(at, 4);
}

fn update_of_another_shape(c: &mut Case<'_>) {
    let at = c.alloc(64);
    let (one, two, three) = (c.graph(), c.graph(), c.graph());
    let add = c.kernel("add", &[P(at), N(1)]).shaped(1, 16);
    c.old_add_kernel(one, &[], &add);
    let exec = c.old_instantiate(one, true);
    c.add_empty(two, &[]);
    c.old_update(exec, two);
    let first = c.old_add_kernel(three, &[], &add);
    c.old_add_kernel(three, &[first], &add);
    c.old_update(exec, three);
}

fn instantiated_twice_with_memory(c: &mut Case<'_>) {
    let graph = c.graph();
    c.add_alloc(graph, &[], 64);
    c.old_instantiate(graph, false);
    c.old_instantiate(graph, false);
    c.old_instantiate(graph, true);
}

fn captures(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.alloc(64));
    c.old_capture_info(s);
    c.old_begin(s);
    c.old_capture_info(s);
    c.set32(at, 7, 16, s);
    let graph = c.end_capture(s);
    c.old_capture_info(s);
    let exec = c.old_instantiate(graph, true);
    c.run_once(exec, s);
    c.read(at, 2);
}

fn capture_of_the_legacy_stream(c: &mut Case<'_>) {
    c.old_begin(CUstream::NULL);
    c.old_begin(CUstream::LEGACY);
    c.old_capture_info(CUstream::NULL);
}

fn capture_info_of_the_legacy_stream(c: &mut Case<'_>) {
    let s = c.stream(0);
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.old_capture_info(CUstream::NULL);
    c.old_capture_info(s);
    c.end_capture(s);
}

fn values(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.alloc(64));
    c.old_write32(s, at, 5);
    c.old_wait32(s, at, 5);
    c.old_write64(s, at, 6);
    c.old_wait64(s, at, 6);
    c.old_write32(s, 16, 5);
    c.sync(s);
}

fn values_in_a_capture(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.alloc(64));
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.old_write32(s, at, 5);
    c.status(s);
    c.end_capture(s);
}

fn destroys(c: &mut Case<'_>) {
    let (s, event) = (c.stream(1), c.event(0));
    c.record(event, s);
    c.old_destroy_event(event);
    c.old_destroy_stream(s);
    c.old_destroy_stream(CUstream::NULL);
    c.old_destroy_event(CUevent::NULL);
    c.forget(event);
    c.forget(s);
}

fn contexts_of_the_first_version(c: &mut Case<'_>) {
    c.create_v1(0);
    c.current();
}

fn contexts_of_the_third_version(c: &mut Case<'_>) {
    let one = c.create_v3(0);
    c.api_version(one);
    c.current();
    c.create_v3(0xff_ffff);
    c.old_destroy_context(one);
    c.current();
    c.forget(one);
}

fn affinity(c: &mut Case<'_>) {
    c.affinity_support(0);
    c.affinity_support(5);
    c.create_with_affinity(0, 4);
    c.create_with_affinity(7, 4);
    c.affinity(0);
    c.affinity(5);
}

fn pushed_twice(c: &mut Case<'_>) {
    let one = c.new_context(0);
    c.old_push(one);
    c.old_pop();
    c.old_push(one);
    c.old_push(one);
    c.old_pop();
    c.current();
    c.destroy(one);
}

fn attached_and_detached(c: &mut Case<'_>) {
    let one = c.new_context(0);
    c.attach_context(0);
    c.attach_context(1);
    c.detach_context(one);
    c.current();
    c.detach_context(one);
    c.current();
    c.forget(one);
}

fn attached_to_the_primary(c: &mut Case<'_>) {
    let primary = c.context;
    c.attach_context(0);
    c.detach_context(primary);
    c.current();
}

fn attached_to_none(c: &mut Case<'_>) {
    let primary = c.context;
    c.pop();
    c.attach_context(0);
    c.detach_context(CUcontext::NULL);
    c.set_current(primary);
}

fn narrow_memory(c: &mut Case<'_>) {
    let host = c.pinned(64, 0);
    c.old_alloc(256);
    c.old_free(0);
    c.old_free(7);
    c.old_host_pointer(host);
    c.old_total();
}

fn narrow_copies(c: &mut Case<'_>) {
    c.old_set8(4096, 1, 4);
    c.old_set8(4096, 1, 0);
    c.old_set32(4096, 1, 4);
    c.old_d_to_d(4096, 8192, 16);
}

fn device_of_contexts(c: &mut Case<'_>) {
    let primary = c.context;
    let one = c.new_context(0);
    c.device_of(one);
    c.device_of(CUcontext::NULL);
    c.pop();
    c.device_of(primary);
    c.destroy(one);
}

fn waits_for_contexts(c: &mut Case<'_>) {
    let one = c.new_context(0);
    c.sync_of(one);
    c.sync_of(CUcontext::NULL);
    c.pop();
    c.sync_of(one);
    c.destroy(one);
}

fn green_contexts(c: &mut Case<'_>) {
    let s = c.stream(0);
    c.context_and_green(s);
    c.context_and_green(CUstream::NULL);
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.context_and_green(s);
    c.end_capture(s);
}

fn peers_of_itself(c: &mut Case<'_>) {
    let primary = c.context;
    c.enable_peer(primary, 0);
    c.enable_peer(primary, 1);
    c.enable_peer(CUcontext::NULL, 0);
    c.disable_peer(primary);
    c.disable_peer(CUcontext::NULL);
    let one = c.new_context(0);
    c.enable_peer(primary, 0);
    c.destroy(one);
}

fn peer_attributes(c: &mut Case<'_>) {
    for attribute in 0..6 {
        c.p2p(attribute, 0, 0);
    }
    c.p2p(1, 0, 5);
}

fn banks(c: &mut Case<'_>) {
    c.banks();
    for config in 0..4 {
        c.set_banks(config);
    }
    c.banks();
    let module = c.load("one kernel", ONE);
    let function = c.get_function(module, "one");
    for config in [0, 2, 9] {
        c.set_banks_of(function, config);
    }
    c.set_banks_of(CUfunction::NULL, 0);
}

/// A kernel that does nothing.
const ONE: &str = ".version 8.0 .target sm_90 .address_size 64 .visible .entry one() { ret; }";

/// Kernels that want clusters.
const CLUSTERS: &str = ".version 8.0 .target sm_90 .address_size 64
.visible .entry plain() { ret; }
.visible .entry explicit() .explicitcluster { ret; }
.visible .entry two() .reqnctapercluster 2, 1, 1 { ret; }";

fn properties(c: &mut Case<'_>) {
    c.properties();
}

fn texture_widths(c: &mut Case<'_>) {
    for format in [1, 2, 3, 8, 9, 10, 16, 32, 77] {
        for channels in [1, 2, 3, 4] {
            c.texture_width(format, channels);
        }
    }
}

fn null_functions(c: &mut Case<'_>) {
    c.null_functions();
}

fn cluster_attributes(c: &mut Case<'_>) {
    let module = c.load("kernels with clusters", CLUSTERS);
    for name in ["plain", "explicit", "two"] {
        let function = c.get_function(module, name);
        for attribute in 10..17 {
            c.function_attribute(function, attribute);
        }
        for attribute in 10..17 {
            for value in [-1, 0, 1, 2, 3] {
                c.set_function(function, attribute, value);
            }
            c.function_attribute(function, attribute);
        }
    }
}

fn attributes_that_are_read_only(c: &mut Case<'_>) {
    let module = c.load("one kernel", ONE);
    let function = c.get_function(module, "one");
    for attribute in 0..8 {
        c.set_function(function, attribute, 1);
    }
}

fn stack_limits(c: &mut Case<'_>) {
    for bytes in [1024, 17, 16, 65_536, 523_712, 600_000, usize::MAX] {
        c.set_limit(CU_LIMIT_STACK_SIZE, bytes);
        c.limit(CU_LIMIT_STACK_SIZE);
    }
    c.set_limit(CU_LIMIT_STACK_SIZE, 1024);
}

fn cache_limits(c: &mut Case<'_>) {
    for bytes in [0, 1, 3_932_160, 3_932_161, 11_796_480, 39_321_600, 39_321_601] {
        c.set_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes);
        c.limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    }
    for bytes in [0, 1, 32, 64, 128, 129, 1024] {
        c.set_limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, bytes);
        c.limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY);
    }
    c.set_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 11_796_480);
    c.set_limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64);
}

fn limits_of_others(c: &mut Case<'_>) {
    for value in [0, 1, 32, 33, 2048, 600_000] {
        c.set_limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, value);
        c.limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT);
    }
    c.set_limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048);
    for limit in [3, 7, 8, 9, 10, 11] {
        c.set_limit(limit, 1);
        c.limit(limit);
    }
}

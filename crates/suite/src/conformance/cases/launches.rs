//! Launches: shapes, attributes, cooperative grids, arguments in a buffer, programmatic edges.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Edge};
use dacapo_driver::types::*;

super::list! { "launch";
    shapes, shapes_refused, required_block, largest_block, cooperative, cooperative_too_large, attributes_ignored, attributes_refused, attribute_cooperative,
    arguments_in_a_buffer, buffer_too_short, sizes_of_parameters, shared_memory_of_blocks, many_blocks, on_every_kind_of_stream, refused_leaves_the_stream,
    cluster_of_one, programmatic_in_a_stream, programmatic_captured, programmatic_edge_in_a_graph, programmatic_edge_refused, edge_kinds_listed,
    programmatic_chain_data, memory_order_between_launches, launch_completion_event_edge,
}

fn shapes(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 6]));
    for (grid, block) in
        [([1, 1, 1], [1, 1, 1]), ([5, 4, 3], [2, 3, 4]), ([1, 1, 1], [1, 1, 64]), ([70000, 1, 1], [32, 1, 1])]
    {
        let mut kernel = c.kernel("shape", &[P(m)]);
        (kernel.grid, kernel.block) = (grid, block);
        c.launch(&kernel, s);
        c.sync(s);
        c.read(m, 6);
    }
}

fn shapes_refused(c: &mut Case<'_>) {
    let s = c.stream(1);
    let shapes = [
        ([0, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [1, 0, 1]),
        ([1, 65536, 1], [1, 1, 1]),
        ([1, 1, 65536], [1, 1, 1]),
        ([0x8000_0000, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [1025, 1, 1]),
        ([1, 1, 1], [1, 1, 65]),
        ([1, 1, 1], [32, 32, 2]),
    ];
    for (grid, block) in shapes {
        let mut kernel = c.kernel("nothing", &[]);
        (kernel.grid, kernel.block) = (grid, block);
        c.launch(&kernel, s);
    }
    c.sync(s);
}

fn required_block(c: &mut Case<'_>) {
    let s = c.stream(1);
    for block in [64, 32, 65, 128] {
        let kernel = c.kernel("just64", &[]).shaped(1, block);
        c.launch(&kernel, s);
    }
    let mut kernel = c.kernel("just64", &[]);
    kernel.block = [8, 8, 1];
    c.launch(&kernel, s);
    c.sync(s);
}

fn largest_block(c: &mut Case<'_>) {
    let s = c.stream(1);
    for block in [128, 129] {
        let kernel = c.kernel("most128", &[]).shaped(1, block);
        c.launch(&kernel, s);
    }
    let mut kernel = c.kernel("most128", &[]);
    kernel.block = [16, 8, 1];
    c.launch(&kernel, s);
    c.sync(s);
}

fn cooperative(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 256]));
    let kernel = c.kernel("add", &[P(m), N(3)]).shaped(4, 64);
    c.launch_cooperative(&kernel, s);
    c.sync(s);
    c.read(m, 256);
}

fn cooperative_too_large(c: &mut Case<'_>) {
    let s = c.stream(1);
    // 132 multiprocessors of 32 blocks, and one block more.
    for grid in [132 * 32, 132 * 32 + 1] {
        let kernel = c.kernel("nothing", &[]).shaped(grid, 32);
        c.launch_cooperative(&kernel, s);
        c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1)]);
    }
    c.sync(s);
}

fn attributes_ignored(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let kernel = c.kernel("add", &[P(m), N(3)]);
    c.launch_ex(&kernel, s, &[]);
    c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_IGNORE, 0), (CU_LAUNCH_ATTRIBUTE_IGNORE, 5)]);
    c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 0), (CU_LAUNCH_ATTRIBUTE_PRIORITY, 0)]);
    c.sync(s);
    c.read(m, 1);
}

fn attributes_refused(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let kernel = c.kernel("add", &[P(m), N(3)]);
    for attributes in
        [[(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 1)], [(99, 0)], [(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 7)]]
    {
        c.launch_ex(&kernel, s, &attributes);
    }
    c.sync(s);
    c.read(m, 1);
}

fn attribute_cooperative(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 64]));
    let kernel = c.kernel("add", &[P(m), N(3)]).shaped(2, 32);
    c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1)]);
    c.sync(s);
    c.read(m, 64);
}

fn arguments_in_a_buffer(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let kernel = c.kernel("mad1", &[P(m), N(3), N(4)]);
    c.launch_extra(&kernel, s, &[m, 3 | 4 << 32], 16);
    c.sync(s);
    c.read(m, 1);
}

fn buffer_too_short(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let kernel = c.kernel("mad1", &[P(m), N(3), N(4)]);
    c.launch_extra(&kernel, s, &[m, 3 | 4 << 32, 0, 0], 32);
    c.sync(s);
}

fn sizes_of_parameters(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let kernel = c.kernel("sizes", &[P(m), N(200), N(60_000), N(70_000), N(5)]);
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
    let function = kernel.function;
    c.func_params(function);
}

fn shared_memory_of_blocks(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 8]));
    for (block, bytes) in [(32, 128), (64, 256), (256, 1024), (1024, 49_152)] {
        let kernel = c.kernel("shared_sum", &[P(m)]).shaped(8, block).with_shared(bytes);
        c.launch(&kernel, s);
        c.sync(s);
        c.read(m, 8);
    }
}

fn many_blocks(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let kernel = c.kernel("count", &[P(m), N(1)]).shaped(1000, 64);
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
}

fn on_every_kind_of_stream(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(0), c.stream(1), c.words(&[0]));
    let kernel = c.kernel("count", &[P(m), N(1)]);
    for stream in [s, t, CUstream::NULL, CUstream::LEGACY, CUstream::PER_THREAD] {
        c.launch(&kernel, stream);
        c.sync(stream);
        c.read(m, 1);
    }
}

fn refused_leaves_the_stream(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let good = c.kernel("add", &[P(m), N(1)]);
    let bad = good.clone().shaped(0, 1);
    c.launch(&good, s);
    c.launch(&bad, s);
    c.launch(&good, s);
    c.sync(s);
    c.query(s);
    c.read(m, 1);
}

fn cluster_of_one(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 64]));
    let kernel = c.kernel("add", &[P(m), N(3)]).shaped(2, 32);
    c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 1)]);
    c.sync(s);
    c.read(m, 64);
}

fn programmatic_in_a_stream(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    for b in 1..=4 {
        let kernel = c.kernel("mad_after", &[P(m), N(3), N(b)]);
        c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1)]);
    }
    c.sync(s);
    c.read(m, 1);
}

fn programmatic_captured(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    c.kernel("mad_after", &[]);
    c.begin(s, 0);
    for b in 1..=3 {
        let kernel = c.kernel("mad_after", &[P(m), N(3), N(b)]);
        c.launch_ex(&kernel, s, &[(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1)]);
    }
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn programmatic_edge_in_a_graph(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad_after", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[], "mad_after", &[P(m), N(5), N(2)]);
    c.connect_with(g, a, b, Edge(1, 0, 1));
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn programmatic_edge_refused(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad_after", &[P(m), N(3), N(1)]);
    let b = c.add_empty(g, &[]);
    let d = c.node(g, &[], "mad_after", &[P(m), N(3), N(1)]);
    for (from, to, edge) in [
        (a, b, Edge(1, 0, 1)),
        (b, d, Edge(1, 0, 1)),
        (a, d, Edge(0, 0, 1)),
        (a, d, Edge(3, 0, 1)),
        (a, d, Edge(1, 1, 1)),
        (a, d, Edge(1, 0, 0)),
        (a, d, Edge(0, 0, 2)),
        (a, a, Edge(1, 0, 1)),
    ] {
        c.connect_with(g, from, to, edge);
    }
    c.shape(g);
}

fn edge_kinds_listed(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[1]));
    let nodes: Vec<_> = (0..4).map(|at| c.node(g, &[], "mad_after", &[P(m), N(3), N(at)])).collect();
    c.connect_with(g, nodes[0], nodes[1], Edge(1, 0, 1));
    c.connect_with(g, nodes[0], nodes[2], Edge(0, 0, 0));
    c.connect_with(g, nodes[1], nodes[3], Edge(2, 0, 1));
    c.connect(g, &[nodes[2]], &[nodes[3]]);
    c.connect(g, &[nodes[0]], &[nodes[1]]);
    c.shape(g);
    let clone = c.clone_graph(g);
    c.shape(clone);
    c.disconnect(g, &[nodes[1]], &[nodes[3]]);
    c.shape(g);
}

fn programmatic_chain_data(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let mut last = c.node(g, &[], "mad1", &[P(m), N(2), N(1)]);
    for b in 0..6 {
        let next = c.node(g, &[], "mad_after", &[P(m), N(3), N(b)]);
        c.connect_with(g, last, next, Edge(1, 0, 1));
        last = next;
    }
    c.node(g, &[last], "mad1", &[P(m), N(2), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn memory_order_between_launches(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1; 1024]));
    let kernel = c.kernel("add", &[P(m), N(1)]).shaped(4, 256);
    for _ in 0..25 {
        c.launch(&kernel, s);
    }
    c.sync(s);
    c.read(m, 1024);
}

fn launch_completion_event_edge(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    c.kernel("mad_after", &[]);
    c.begin(s, 0);
    let first = c.kernel("mad_after", &[P(m), N(3), N(1)]);
    c.launch(&first, s);
    c.record(e, s);
    c.wait(t, e);
    let second = c.kernel("mad_after", &[P(m), N(5), N(2)]);
    // The programmatic order of a launch that follows an event of another stream.
    c.launch_ex(&second, t, &[(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1)]);
    c.record(e, t);
    c.wait(s, e);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

//! A report that was written is the report that is read.

use crate::graph::Edge;
use crate::inspect::*;
use proptest::prelude::*;

/// In each report.
const KERNELS: usize = 2;

fn value() -> impl Strategy<Value = Value> {
    (".{0,12}", proptest::option::of(any::<f64>())).prop_map(|(text, number)| Value::new(text, number))
}

fn bytes() -> impl Strategy<Value = Bytes> + Clone {
    (any::<u64>(), any::<u64>()).prop_map(|(a, b)| Bytes::new(a.min(b), a.max(b)))
}

fn argument(memories: usize) -> impl Strategy<Value = Argument> {
    let access = prop_oneof![Just(Access::Read), Just(Access::Write), Just(Access::ReadWrite)];
    let place = (0..memories, bytes(), access);
    let how = prop_oneof![
        value().prop_map(|value| How::Baked { value }),
        value().prop_map(|value| How::Slot { value }),
        value().prop_map(|value| How::Derived { value }),
        place.clone().prop_map(|(memory, bytes, access)| How::Scalar { memory, bytes, access }),
        place.prop_map(|(memory, bytes, access)| How::Slice { memory, bytes, access }),
    ];
    (".{0,8}", how).prop_map(|(name, how)| Argument::new(name, how))
}

fn kind() -> impl Strategy<Value = Kind> {
    use Kind::*;
    proptest::sample::select(vec![Kernel, Copy, Fill, Upload, Download, Foreign, Join])
}

fn node(memories: usize) -> impl Strategy<Value = Node> {
    let geometry = (any::<[u32; 3]>(), any::<[u32; 3]>(), any::<u32>()).prop_map(|(b, t, s)| Geometry::new(b, t, s));
    let place = (".{0,12}", any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Place::new(file, line, column));
    let texts = (kind(), ".{0,8}", "[a-c/\"]{0,6}");
    let parts = (proptest::option::of(place), proptest::option::of(geometry), any::<(u64, u64)>());
    let kernel = proptest::option::of(0..KERNELS);
    let route = proptest::sample::select(vec![Route::Direct, Route::Staged]);
    let across = (0..64usize, 0..64usize, route).prop_map(|(source, target, route)| Across::new(source, target, route));
    let across = proptest::option::of(across);
    let calls = (proptest::collection::vec(".{0,8}", 0..3), proptest::option::of(".{0,8}"), kernel, across);
    (texts, parts, proptest::collection::vec(argument(memories), 0..4), calls).prop_map(
        |((kind, name, label), (location, geometry, bytes), arguments, (calls, patched_by, kernel, across))| Node {
            label,
            location,
            geometry,
            arguments,
            bytes_read: bytes.0,
            bytes_written: bytes.1,
            calls,
            patched_by,
            kernel,
            across,
            ..Node::new(kind, name)
        },
    )
}

fn memory() -> impl Strategy<Value = Memory> {
    use MemoryKind::*;
    let kind = proptest::sample::select(vec![Buffer, Temp, Output, Host, StandIn]);
    (kind, ".{0,8}", any::<[u64; 2]>(), any::<bool>(), any::<Option<u64>>(), any::<Option<usize>>()).prop_map(
        |(kind, name, [bytes, alignment], graph_only, offset, device)| Memory {
            graph_only,
            offset,
            device,
            ..Memory::new(kind, name, bytes, alignment)
        },
    )
}

fn report() -> impl Strategy<Value = Report> {
    let memories = proptest::collection::vec(memory(), 1..5);
    let nodes = memories.prop_flat_map(|memories| {
        let count = memories.len();
        (Just(memories), proptest::collection::vec(node(count), 0..8))
    });
    let kind = proptest::sample::select(vec![Edge::Full, Edge::Waits, Edge::Signals]);
    (".{0,12}", ".{0,12}", nodes, proptest::collection::vec((0..8usize, 0..8usize, kind), 0..16)).prop_map(
        |(device, label, (memories, nodes), edges)| Report {
            kernels: vec![KernelOf::new("k", "_Z1k", "fn k() {\n    grid: one();\n}"); KERNELS],
            ..Report::new(device, label, nodes, memories, edges)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_and_has_no_difference(report in report()) {
        let read = Report::from_json(&report.to_json());
        prop_assert_eq!(read.as_ref(), Ok(&report));
        prop_assert_eq!(diff(&report, &report), Difference::default());
        prop_assert!(frozen_changes(&report, &report).is_empty());
    }

    #[test]
    fn any_two_reports_can_be_compared_and_any_can_be_shown(a in report(), b in report()) {
        let difference = diff(&a, &b);
        prop_assert_eq!(a.nodes.len() - difference.removed.len(), b.nodes.len() - difference.added.len());
        // Drawn within quotes, whatever the labels are: braces outside of them are ours and are balanced.
        let mut depth = 0i32;
        let (mut is_quoted, mut is_escaped) = (false, false);
        for char in a.to_dot().chars() {
            match char {
                _ if is_escaped => is_escaped = false,
                '\\' if is_quoted => is_escaped = true,
                '"' => is_quoted = !is_quoted,
                '{' if !is_quoted => depth += 1,
                '}' if !is_quoted => depth -= 1,
                _ => {}
            }
        }
        prop_assert_eq!((depth, is_quoted), (0, false));
        prop_assert!(!a.to_string().is_empty() && !difference.to_string().is_empty());
    }
}

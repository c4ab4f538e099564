//! Reports made by hand, and texts kept in `tests/inspect`.
//!
//! `cargo xtask bless` writes new texts; read the difference before you commit it.

use crate::graph::Edge;
use crate::inspect::*;
use std::path::Path;

/// Compares `got` with a file of `tests/inspect`.
pub(super) fn expect(file: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inspect").join(file);
    if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, got).expect("writable");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == got,
        "{file}\n--- expected\n{expected}--- got\n{got}\n`cargo xtask bless` accepts what was got"
    );
}

pub(super) fn number(value: f64) -> Value {
    Value::new(format!("{value:?}"), Some(value))
}

pub(super) fn baked(name: &str, value: f64) -> Argument {
    Argument::new(name, How::Baked { value: number(value) })
}

pub(super) fn slice(name: &str, memory: usize, start: u64, end: u64, access: Access) -> Argument {
    Argument::new(name, How::Slice { memory, bytes: Bytes::new(start, end), access })
}

pub(super) fn kernel(name: &str, label: &str, arguments: Vec<Argument>) -> Node {
    Node {
        label: label.to_string(),
        location: Some(Place::new("examples/decode.rs", 40, 9)),
        geometry: Some(Geometry::new([4, 1, 1], [256, 1, 1], 0)),
        arguments,
        bytes_read: 4096,
        bytes_written: 4096,
        ..Node::new(Kind::Kernel, name)
    }
}

/// Edges that are all full.
pub(super) fn full(edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<(usize, usize, Edge)> {
    edges.into_iter().map(|(before, after)| (before, after, Edge::Full)).collect()
}

//   upload ──► norm ──► q ──┐
//                └────► k ──┴──► attend ──► download
/// A step of a decoder, with one of everything.
pub(super) fn decode() -> Report {
    let memories = vec![
        Memory::new(MemoryKind::Host, "host 0", 4096, 4096),
        Memory { graph_only: true, ..Memory::new(MemoryKind::Buffer, "buffer 1", 16 << 20, 512) },
        Memory::new(MemoryKind::Temp, "temp 2", 8192, 256),
        Memory::new(MemoryKind::Output, "output 3", 4096, 256),
        Memory::new(MemoryKind::StandIn, "stand-in 4", 4, 256),
    ];
    let read = |name, memory| slice(name, memory, 0, 4096, Access::Read);
    let scalar = How::Scalar { memory: 4, bytes: Bytes::new(0, 4), access: Access::ReadWrite };
    let nodes = vec![
        Node { bytes_read: 4096, bytes_written: 4096, ..Node::new(Kind::Upload, "upload") },
        kernel("norm", "decode/layer0", vec![read("x", 1), slice("y", 2, 0, 4096, Access::Write), baked("eps", 1e-5)]),
        kernel(
            "linear",
            "decode/layer0/q",
            vec![
                read("x", 2),
                slice("w", 1, 0, 8 << 20, Access::Read),
                Argument::new("n", How::Derived { value: number(1024.0) }),
            ],
        ),
        Node { bytes_read: 16 << 20, ..kernel("linear", "decode/layer0/k", vec![read("x", 2)]) },
        Node {
            geometry: Some(Geometry::new([8, 16, 1], [16, 16, 1], 2048)),
            ..kernel("attend", "decode", vec![Argument::new("position", How::Slot { value: number(7.0) })])
        },
        Node { arguments: vec![Argument::new("sum", scalar)], ..Node::new(Kind::Foreign, "say \"hi\"") },
        Node::new(Kind::Join, "join"),
        Node { bytes_read: 4096, bytes_written: 4096, ..Node::new(Kind::Download, "download") },
    ];
    let mut edges = full([(0, 1), (2, 4), (4, 6), (5, 6), (6, 7), (0, 1), (7, 3), (3, 99)]);
    edges.extend([(1, 2, Edge::Waits), (1, 3, Edge::Signals), (1, 3, Edge::Waits), (3, 4, Edge::Signals)]);
    let mut report = Report::new("a device", "decode", nodes, memories, edges);
    // Texts are kept in files, and a release is no difference.
    report.dacapo = "0.0.0".to_string();
    report
}

//! Pages of reports that were made by hand.

use dacapo::graph::Edge;
use dacapo::inspect::{Access, Argument, Bytes, Geometry, How, Kind, Memory, MemoryKind, Node, Place, Report, Value};
use dacapo::page::Page;

/// What a program may call its ops, and must be shown as it is: markup, quotes, the end of a script, text from right to left,
/// marks that turn the direction, letters that are wide, combined or in no font, control characters.
pub const ODD_TEXTS: &[&str] = &[
    "<img src=x onerror=\"document.title='hacked'\">",
    "\"quoted\" & 'single' &amp; `back`",
    "</script><script>document.title='hacked'</script>",
    "<!-- comment ]]> --><svg><style>",
    "שלום עולם",
    "مرحبا abc 123",
    "\u{202e}turned\u{202c}",
    "漢字かな한국어",
    "e\u{301}e\u{301} 👩‍👩‍👧‍👦 🇩🇪",
    "tab\there and\nline",
    "nul\u{0}bell\u{7}",
    "\\u003c ${1} {{2}} %s",
    "",
];

/// A report whose label, ops and memories have the [`ODD_TEXTS`] as names and labels, and one of 10,000 characters.
pub fn odd_texts() -> Page {
    let long = "long ".repeat(2000);
    let texts: Vec<&str> = ODD_TEXTS.iter().copied().chain([long.as_str(), "after"]).collect();
    let memories = texts.iter().map(|text| Memory::new(MemoryKind::Buffer, *text, 1024, 256)).collect();
    let nodes = texts.iter().enumerate().map(|(at, text)| {
        let mut node = op(text, text, vec![slice(text, at, Access::Write)]);
        node.arguments.push(Argument::new("value", How::Baked { value: Value::new(*text, None) }));
        node.warnings = vec![text.to_string()];
        node.location = Some(Place::new(*text, 1, 1));
        node
    });
    let edges = (1..texts.len()).map(|at| (at - 1, at, Edge::Full)).collect();
    Page::new(Report::new(ODD_TEXTS[0], long.as_str(), nodes.collect(), memories, edges))
}

//   norm ──► q ──┐
//     ├────► k ──┼──► attend ──► mix ──► up ──► act ──► down ──► add
//     └────► v ──┘
/// A decoder of so many ops, ten a layer, under the labels of its layers.
pub fn decoder(ops: usize) -> Page {
    // Each with those of its layer that it waits for; the first waits for the last of the layer before.
    const LAYER: [(&str, &str, &[usize]); 10] = [
        ("norm", "", &[]),
        ("linear", "attend/q", &[0]),
        ("linear", "attend/k", &[0]),
        ("linear", "attend/v", &[0]),
        ("attend", "attend", &[1, 2, 3]),
        ("mix", "attend", &[4]),
        ("linear", "mlp/up", &[5]),
        ("act", "mlp", &[6]),
        ("linear", "mlp/down", &[7]),
        ("add", "", &[0, 8]),
    ];
    let memories = vec![
        Memory::new(MemoryKind::Buffer, "weights", 1 << 30, 512),
        Memory::new(MemoryKind::Buffer, "hidden", 1 << 16, 512),
    ];
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for at in 0..ops {
        let (layer, part) = (at / LAYER.len(), at % LAYER.len());
        let (name, label, waits) = LAYER[part];
        let label = format!("decode/layer{layer}{}{label}", if label.is_empty() { "" } else { "/" });
        let arguments = vec![slice("w", 0, Access::Read), slice("x", 1, Access::ReadWrite)];
        nodes.push(op(name, &label, arguments));
        edges.extend(waits.iter().map(|on| (layer * LAYER.len() + on, at, Edge::Full)));
        if part == 0 && layer > 0 {
            edges.push((at - 1, at, Edge::Full));
        }
    }
    Page::new(Report::new("by hand", "decoder", nodes, memories, edges))
}

fn op(name: &str, label: &str, arguments: Vec<Argument>) -> Node {
    let mut node = Node::new(Kind::Kernel, name);
    node.label = label.to_string();
    node.location = Some(Place::new("src/model.rs", 12, 9));
    node.geometry = Some(Geometry::new([4, 1, 1], [256, 1, 1], 0));
    node.arguments = arguments;
    (node.bytes_read, node.bytes_written) = (4096, 4096);
    node
}

fn slice(name: &str, memory: usize, access: Access) -> Argument {
    Argument::new(name, How::Slice { memory, bytes: Bytes::new(0, 1024), access })
}

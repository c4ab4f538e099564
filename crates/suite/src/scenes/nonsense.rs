//! Pages of reports that no program would make: texts without end, shapes that nobody draws, parts of other graphs.

use dacapo::graph::Edge;
use dacapo::inspect::{
    Access, Argument, Bytes, Finding, FoundAt, Geometry, How, Inside, KernelOf, Kind, Memory, MemoryKind, Node, Place,
    Report, Value,
};
use dacapo::page::Page;

/// Every text is of 3,000 characters without a place to break it, and every number is the largest; compared with another
/// graph, with a finding, and with the time of a third.
///
/// # Errors
///
/// - The times could not be taken.
pub fn endless() -> dacapo::Result<Page> {
    let text = "endless".repeat(430);
    let mut nodes: Vec<Node> = (0..9).map(|_| Node::new(Kind::Kernel, text.clone())).collect();
    for (at, node) in nodes.iter_mut().enumerate() {
        node.label = format!("{text}{}/{text}", at / 3);
        node.location = Some(Place::new(text.clone(), u32::MAX, u32::MAX));
        node.geometry = Some(Geometry::new([u32::MAX; 3], [u32::MAX; 3], u32::MAX));
        (node.bytes_read, node.bytes_written) = (u64::MAX, u64::MAX);
        (node.warnings, node.calls, node.patched_by) = (vec![text.clone()], vec![text.clone()], Some(text.clone()));
        node.kernel = Some(0);
        let slice = How::Slice { memory: 0, bytes: Bytes::new(1, u64::MAX), access: Access::ReadWrite };
        node.arguments = vec![
            Argument::new(text.clone(), slice),
            Argument::new(text.clone(), How::Slot { value: Value::new(text.clone(), None) }),
        ];
    }
    let mut memory = Memory::new(MemoryKind::Temp, text.clone(), u64::MAX, u64::MAX);
    memory.offset = Some(u64::MAX);
    let edges = (1..9).map(|at| (at - 1, at, Edge::Waits)).collect();
    let at = FoundAt::new(text.clone(), nodes[4].label.clone(), nodes[4].location.clone());
    let mut report = Report::new(text.clone(), text.clone(), nodes, vec![memory.clone(), memory], edges);
    report.kernels = vec![KernelOf::new(text.clone(), text.clone(), text.clone())];
    let finding = Finding::new(text.clone(), text.clone(), text.clone(), vec![at]);
    let mut page = Page::new(report).findings(vec![finding]).since(shapes().report);
    let timed = super::timed()?;
    for mut profile in [timed.profile, timed.eager].into_iter().flatten() {
        (profile.device, profile.label) = (text.clone(), text.clone());
        (profile.total_ns, profile.ops[0].lane) = (u64::MAX, usize::MAX);
        for op in &mut profile.ops {
            (op.name, op.label, op.time_ns, op.gap_ns) = (text.clone(), text.clone(), u64::MAX, u64::MAX);
        }
        page = page.profile(profile);
    }
    Ok(page)
}

/// A star, joins that join joins, loops 70 deep, branches with many bodies and with none; compared with nothing.
pub fn shapes() -> Page {
    let mut nodes: Vec<Node> =
        (0..60).map(|at| labelled(Kind::Kernel, "ray", if at < 30 { "star" } else { "" })).collect();
    let mut edges: Vec<(usize, usize, Edge)> = (1..60).map(|at| (0, at, Edge::Full)).collect();
    for _ in 0..20 {
        let at = nodes.len();
        nodes.push(labelled(Kind::Join, "join", ""));
        edges.extend((at - 3..at).map(|from| (from, at, Edge::Full)));
    }
    let mut outer: Option<usize> = None;
    for _ in 0..70 {
        let mut node = labelled(Kind::Loop, "loop", "deep/deeper");
        node.inside = outer.map(|outer| Inside::new(outer, 0));
        outer = Some(nodes.len());
        nodes.push(node);
    }
    for bodies in [0, 1, 12] {
        let branch = nodes.len();
        nodes.push(labelled(Kind::Branch, "switch", ""));
        for body in 0..bodies {
            for _ in 0..2 {
                let mut node = labelled(Kind::Fill, "fill", "case/inner");
                node.inside = Some(Inside::new(branch, body));
                nodes.push(node);
            }
        }
    }
    Page::new(Report::new("a device", "shapes", nodes, Vec::new(), edges))
}

/// No ops at all, with a page of another graph as what was before.
pub fn empty() -> Page {
    let none = || Report::new("", "", Vec::new(), Vec::new(), Vec::new());
    Page::new(none()).since(none())
}

fn labelled(kind: Kind, name: &str, label: &str) -> Node {
    let mut node = Node::new(kind, name);
    node.label = label.to_string();
    node
}

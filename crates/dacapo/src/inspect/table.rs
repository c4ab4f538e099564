//! Reports as a table in text, and the words for the parts of one.

use super::{
    Access, Argument, Bytes, Geometry, How, Inside, Kind, MemoryKind, NODE_BYTES, Node, Place, Report, Totals, Value,
};
use std::collections::HashSet;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = &self.totals;
        let label = if self.label.is_empty() { String::new() } else { format!(" `{}`", self.label) };
        writeln!(f, "graph{label} on {}, dacapo {}", self.device, self.dacapo)?;
        writeln!(
            f,
            "{}, {}, {}; one replay reads {} and writes {}{}",
            count(totals.nodes, "node"),
            edges(totals),
            count(self.memories.len(), "memory"),
            size(totals.bytes_read),
            size(totals.bytes_written),
            if self.nodes.iter().any(Node::has_bodies) { ", each body counted once" } else { "" },
        )?;
        self.nodes_table(f)?;
        self.memories_table(f)?;
        if !self.critical_path.nodes.is_empty() {
            let path: Vec<String> = self.critical_path.nodes.iter().map(usize::to_string).collect();
            let cost = |bytes: u64| bytes as f64 / NODE_BYTES as f64;
            writeln!(
                f,
                "\ncritical path (*): {}; {:.1} of {:.1} by the model: 1 a node, and 1 for each {} moved",
                path.join(" > "),
                cost(self.critical_path.cost),
                cost(totals.cost),
                size(NODE_BYTES),
            )?;
        }
        Ok(())
    }
}

impl Report {
    fn nodes_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nodes.is_empty() {
            return Ok(());
        }
        let mut is_critical = vec![false; self.nodes.len()];
        self.critical_path
            .nodes
            .iter()
            .filter_map(|node| is_critical.get_mut(*node).map(|one| *one = true))
            .for_each(drop);
        let mut before: Vec<Vec<String>> = vec![Vec::new(); self.nodes.len()];
        for (from, to, _) in &self.edges {
            if let Some(before) = before.get_mut(*to) {
                before.push(from.to_string());
            }
        }
        let titles = ["node", "kind", "name", "inside", "label", "grid", "reads", "writes", "after"];
        let mut rows = vec![titles.map(String::from)];
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        let with_several: HashSet<usize> =
            self.nodes.iter().filter_map(|node| node.inside).filter(|inside| inside.body > 0).map(|i| i.node).collect();
        for (at, node) in self.nodes.iter().enumerate() {
            let depth = node.inside.and_then(|inside| depths.get(inside.node)).map_or(0, |depth| depth + 1);
            depths.push(depth);
            rows.push([
                format!("{at}{}", if is_critical[at] { " *" } else { "" }),
                node.kind.to_string(),
                format!("{:1$}{2}", "", 2 * depth.min(DEPTH_MAX), node.name),
                node.inside.map_or_else(String::new, |inside| body_name(inside, with_several.contains(&inside.node))),
                node.label.clone(),
                node.geometry.map_or_else(String::new, |geometry| geometry.to_string()),
                size(node.bytes_read),
                size(node.bytes_written),
                before[at].join(" "),
            ]);
        }
        writeln!(f)?;
        let mut lines = aligned(&rows).into_iter();
        writeln!(f, "{}", lines.next().unwrap_or_default())?;
        for (line, node) in lines.zip(&self.nodes) {
            writeln!(f, "{line}")?;
            if let Some(place) = &node.location {
                writeln!(f, "    at {place}")?;
            }
            for argument in &node.arguments {
                writeln!(f, "    {} = {}", argument.name, self.describe(argument))?;
            }
            if let Some(across) = &node.across {
                writeln!(f, "    {across}")?;
            }
            for warning in &node.warnings {
                writeln!(f, "    warning: {warning}")?;
            }
        }
        Ok(())
    }

    fn memories_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.memories.is_empty() {
            return Ok(());
        }
        let mut rows = vec![["memory", "kind", "name", "size", "aligned to", ""].map(String::from)];
        for (at, memory) in self.memories.iter().enumerate() {
            let held = memory.graph_only.then(|| "held by this graph only".to_string());
            let there = memory.device.map(|device| format!("on device {device}"));
            rows.push([
                at.to_string(),
                memory.kind.to_string(),
                memory.name.clone(),
                size(memory.bytes),
                memory.alignment.to_string(),
                there.into_iter().chain(held).collect::<Vec<_>>().join(", "),
            ]);
        }
        writeln!(f)?;
        aligned(&rows).into_iter().try_for_each(|line| writeln!(f, "{line}"))
    }

    /// What an argument is, in words.
    pub(super) fn describe(&self, argument: &Argument) -> String {
        match &argument.how {
            How::Baked { value } => format!("{value} (baked)"),
            How::Slot { value } => format!("{value} (slot)"),
            How::Derived { value } => format!("{value} (derived)"),
            How::Scalar { memory, bytes, access } => {
                format!("{access} {} {bytes} (scalar)", self.memory_name(*memory))
            }
            How::Slice { memory, bytes, access } => format!("{access} {} {bytes}", self.memory_name(*memory)),
        }
    }
}

/// `3 edges`, or `3 edges (1 full, 2 waiting, 0 signalling)` where not all are full.
fn edges(totals: &Totals) -> String {
    let Totals { edges, edges_waiting, edges_signalling, .. } = *totals;
    let full = edges.saturating_sub(edges_waiting.saturating_add(edges_signalling));
    match full == edges {
        true => count(edges, "edge"),
        false => {
            format!("{} ({full} full, {edges_waiting} waiting, {edges_signalling} signalling)", count(edges, "edge"))
        }
    }
}

/// `1`, or `1 case 2` of a node with several bodies.
pub(super) fn body_name(Inside { node, body }: Inside, is_one_of_several: bool) -> String {
    match is_one_of_several {
        true => format!("{node} case {body}"),
        false => node.to_string(),
    }
}

/// Names are set in no further, however deep bodies are nested.
const DEPTH_MAX: usize = 16;

/// A column is no wider, whatever is in it: a longer cell pushes the rest of its row aside. (Formatting has a limit of
/// its own, at which it panics.)
pub(crate) const WIDTH_MAX: usize = 120;

/// Rows as lines with columns of equal width; a column that is empty but for its title is left out.
fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(WIDTH_MAX);
    let is_used = |column: usize| rows.iter().skip(1).any(|row| !row[column].is_empty());
    let columns: Vec<(usize, usize)> = (0..N).filter(|at| is_used(*at)).map(|at| (at, width(at))).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = columns.iter().map(|(at, width)| format!("{:width$}", row[*at])).collect();
        cells.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// `1 node`, `2 nodes`, `2 memories`.
pub(crate) fn count(count: usize, thing: &str) -> String {
    match (count, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {thing}s"),
    }
}

/// A size: exact up to 10 KiB, with one decimal above.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 10 << 10 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Kernel => "kernel",
            Kind::Copy => "copy",
            Kind::Fill => "fill",
            Kind::Upload => "upload",
            Kind::Download => "download",
            Kind::Foreign => "foreign",
            Kind::Join => "join",
            Kind::Branch => "branch",
            Kind::Guarded => "guarded",
            Kind::Loop => "loop",
        })
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryKind::Buffer => "buffer",
            MemoryKind::Temp => "temp",
            MemoryKind::Output => "output",
            MemoryKind::Host => "host",
            MemoryKind::StandIn => "stand-in",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "reads",
            Access::Write => "writes",
            Access::ReadWrite => "reads and writes",
        })
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}..{}]", self.start, self.end)
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |[x, y, z]: [u32; 3]| match (y, z) {
            (1, 1) => x.to_string(),
            (_, 1) => format!("{x}x{y}"),
            _ => format!("{x}x{y}x{z}"),
        };
        write!(f, "{} of {}", side(self.blocks), side(self.threads))?;
        if self.shared > 0 { write!(f, " + {} B", self.shared) } else { Ok(()) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

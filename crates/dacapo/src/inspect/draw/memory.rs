//! The memory of a graph's temps as a map: bytes from top to bottom, the order of ops from left to right.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::text::{Escaped, Short};
use crate::inspect::table::size;
use crate::inspect::{How, Kind, Report};

/// The map itself, and what is around it.
const WIDE: f64 = 960.0;
const HIGH: f64 = 240.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 78.0;
/// The strip above it: how many bytes are alive.
const STRIP: f64 = 44.0;
const CHARACTER: f64 = 6.4;

const STYLE: &str = "<style>
.memory { color-scheme: light dark; --paper: #ffffff; --ink: #1c2330; --soft: #667085; --line: #8a94a6; --rule: #d9dde4; --light: 88%; --edge: 45%; }
@media (prefers-color-scheme: dark) {
  .memory { --paper: #14181f; --ink: #e6eaf2; --soft: #98a2b3; --line: #6b7789; --rule: #333c4a; --light: 28%; --edge: 60%; }
}
.memory .paper { fill: var(--paper); }
.memory text { font: 10.5px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--ink); direction: ltr; unicode-bidi: isolate; white-space: pre; }
.memory .soft { fill: var(--soft); }
.memory .temp rect { fill: hsl(var(--hue) 55% var(--light)); stroke: hsl(var(--hue) 45% var(--edge)); }
.memory .temp.most rect { stroke-width: 2; }
.memory .alive { fill: hsl(215 40% var(--light)); stroke: hsl(215 30% var(--edge)); }
.memory .peak { stroke: var(--ink); stroke-dasharray: 3 3; }
.memory .frame { fill: none; stroke: var(--rule); }
</style>
";

/// A temp that lies somewhere and is used: from its first op to its last.
pub(crate) struct Life {
    /// An index into [`Report::memories`].
    pub(crate) memory: usize,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Places in the order of ops, without joins.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The lives of temps, and where most of them are alive.
pub(crate) struct Lives {
    pub(crate) lives: Vec<Life>,
    /// How many bytes the temps take together, with those that share.
    pub(crate) bytes: u64,
    /// What they would take if none shared.
    pub(crate) apart: u64,
    /// Bytes that are alive at each op.
    pub(crate) alive: Vec<u64>,
    /// The op at which most are, and those that are.
    pub(crate) peak: usize,
}

impl Lives {
    pub(crate) fn of(report: &Report) -> Lives {
        let mut used: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let nodes = report.nodes.iter().filter(|node| node.kind != Kind::Join);
        let mut ops = 0;
        for (at, node) in nodes.enumerate() {
            ops = at + 1;
            for argument in &node.arguments {
                if let How::Scalar { memory, .. } | How::Slice { memory, .. } = argument.how {
                    let life = used.entry(memory).or_insert((at, at));
                    life.1 = at;
                }
            }
        }
        let life = |(memory, (first, last)): (usize, (usize, usize))| {
            let of = report.memories.get(memory)?;
            Some(Life { memory, offset: of.offset?, bytes: of.bytes, first, last }).filter(|life| life.bytes > 0)
        };
        let lives: Vec<Life> = used.into_iter().filter_map(life).collect();
        let mut changes = vec![0i128; ops + 1];
        for life in &lives {
            changes[life.first] += i128::from(life.bytes);
            changes[life.last + 1] -= i128::from(life.bytes);
        }
        let mut now = 0;
        let add = |change: &i128| {
            now += change;
            u64::try_from(now).unwrap_or(u64::MAX)
        };
        let alive: Vec<u64> = changes[..ops].iter().map(add).collect();
        let peak = (0..ops).max_by_key(|at| (alive[*at], ops - at)).unwrap_or(0);
        let bytes = lives.iter().map(|life| life.offset.saturating_add(life.bytes)).max().unwrap_or(0);
        let apart = lives.iter().fold(0, |sum: u64, life| sum.saturating_add(life.bytes));
        Lives { lives, bytes, apart, alive, peak }
    }

    /// Whether a temp is alive where most are.
    pub(crate) fn is_at_peak(&self, life: &Life) -> bool {
        life.first <= self.peak && self.peak <= life.last
    }
}

impl Report {
    /// The memory of the graph's temps as a drawing in SVG: a row of bytes from top to bottom, and for each temp a bar from the
    /// first op that touches it to the last. Above it, how many bytes are alive at each op.
    ///
    /// Bars below each other are at different bytes. Bars beside each other share bytes, one after the other. Those with a bold
    /// edge are alive where most bytes are. None for a graph without temps.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, copy, fill};
    /// # let device = dacapo::Device::software()?;
    /// let mut y = device.zeros::<f32>(64)?;
    /// let graph = device.record(|r| {
    ///     let mut t = r.alloc::<f32>(64)?;
    ///     r.run(fill(&mut t, baked(1.0)))?;
    ///     r.run(copy(&t, &mut y))
    /// })?;
    /// let map = graph.inspect().memory_svg().expect("it has a temp");
    /// assert!(map.starts_with("<svg") && map.contains("256 B"));
    /// # Ok(()) }
    /// ```
    pub fn memory_svg(&self) -> Option<String> {
        let report = self.orderly();
        let lives = Lives::of(&report);
        (!lives.lives.is_empty()).then(|| written(&report, &lives))
    }
}

fn written(report: &Report, lives: &Lives) -> String {
    let (width, height) = (LEFT + WIDE + 20.0, TOP + HIGH + 34.0);
    let ops = lives.alive.len().max(1) as f64;
    let x = |op: usize| LEFT + WIDE * op as f64 / ops;
    let y = |byte: u64| TOP + HIGH * (byte as f64 / lives.bytes.max(1) as f64);
    let mut to = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" class=\"memory\" role=\"img\">\n<title>{}</title>\n{STYLE}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        Escaped(&about(lives))
    );
    let mut line = |text: String| writeln!(to, "{text}").expect("writing to a string");
    line(format!("<text x=\"10\" y=\"20\">{}</text>", Escaped(&about(lives))));
    let most = lives.alive.get(lives.peak).copied().unwrap_or(0);
    let mut path = format!("M{} {}", Short(LEFT), Short(TOP - 6.0));
    for (op, bytes) in lives.alive.iter().enumerate() {
        let up = Short(TOP - 6.0 - STRIP * *bytes as f64 / most.max(1) as f64);
        write!(path, " {} {up} {} {up}", Short(x(op)), Short(x(op + 1))).expect("writing to a string");
    }
    line(format!("<path class=\"alive\" d=\"{path} {} {}z\"/>", Short(LEFT + WIDE), Short(TOP - 6.0)));
    line(format!("<text class=\"soft\" x=\"10\" y=\"{}\">alive</text>", TOP - 20.0));
    line(format!("<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDE}\" height=\"{HIGH}\"/>"));
    for life in &lives.lives {
        line(bar(
            report,
            lives,
            life,
            (x(life.first), x(life.last + 1)),
            (y(life.offset), y(life.offset.saturating_add(life.bytes))),
        ));
    }
    let at = Short((x(lives.peak) + x(lives.peak + 1)) / 2.0);
    line(format!("<path class=\"peak\" d=\"M{at} {} {at} {}\"/>", Short(TOP - 6.0 - STRIP), Short(TOP + HIGH)));
    for share in 0..=4u64 {
        let byte = (u128::from(lives.bytes) * u128::from(share) / 4) as u64;
        line(format!("<text class=\"soft\" x=\"10\" y=\"{}\">{}</text>", Short(y(byte) + 4.0), size(byte)));
        let op = lives.alive.len().saturating_sub(1) * share as usize / 4;
        let anchor = Short(x(op));
        if share == 0 || op > lives.alive.len().saturating_sub(1) * (share as usize - 1) / 4 {
            line(format!(
                "<text class=\"soft\" x=\"{anchor}\" y=\"{}\">op {}</text>",
                TOP + HIGH + 16.0,
                nth_op(report, op)
            ));
        }
    }
    to.push_str("</svg>\n");
    to
}

fn bar(report: &Report, lives: &Lives, life: &Life, (left, right): (f64, f64), (top, bottom): (f64, f64)) -> String {
    let memory = &report.memories[life.memory];
    let most = if lives.is_at_peak(life) { " most" } else { "" };
    // Neighbours in the list get colours that are far from each other.
    let hue = (life.memory as u64).wrapping_mul(137) % 360;
    let (width, height) = ((right - left).max(1.0), (bottom - top).max(1.0));
    let ops = format!("op {} to op {}", nth_op(report, life.first), nth_op(report, life.last));
    let name: String = memory.name.chars().take(200).collect();
    let mut text = format!(
        "<g class=\"temp{most}\" data-memory=\"{}\" style=\"--hue: {hue}\"><title>{}: {}, bytes {}..{}, {ops}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        life.memory,
        Escaped(&name),
        size(life.bytes),
        life.offset,
        life.offset.saturating_add(life.bytes),
        Short(left),
        Short(top),
        Short(width),
        Short(height),
    );
    let fits =
        |label: &str| height >= 13.0 && label.chars().count() as f64 * CHARACTER + 8.0 <= width && label.is_ascii();
    let long = format!("{name}  {}", size(life.bytes));
    if let Some(label) = [long, name].into_iter().find(|label| fits(label)) {
        let (x, y) = (Short(left + 4.0), Short((top + bottom) / 2.0 + 4.0));
        write!(text, "<text x=\"{x}\" y=\"{y}\">{}</text>", Escaped(&label)).expect("writing to a string");
    }
    text + "</g>"
}

/// The index of the so manyth node that is no join.
fn nth_op(report: &Report, at: usize) -> usize {
    report.nodes.iter().filter(|node| node.kind != Kind::Join).nth(at).map_or(0, |node| node.index)
}

/// `4 temps in 1.5 KiB (3.0 KiB without sharing); at most 1.5 KiB alive, at op 7`.
pub(crate) fn about(lives: &Lives) -> String {
    let temps = crate::inspect::table::count(lives.lives.len(), "temp");
    let most = lives.alive.get(lives.peak).copied().unwrap_or(0);
    format!(
        "{temps} in {} ({} if none shared bytes); most are alive at once at the dashed line: {}",
        size(lives.bytes),
        size(lives.apart),
        size(most)
    )
}

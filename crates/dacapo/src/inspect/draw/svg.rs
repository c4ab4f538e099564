//! Pictures as SVG.
//!
//! Every text is escaped, so that a label cannot end an element. Styles are in the file itself, for light and dark.

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Write as _};

use super::layout::{Point, Rect, Size};
use super::picture::{Body, CHARACTER, INSET, LINE, Picture, Pictures, texts, title};
use crate::arrange::Edge;
use crate::inspect::{Kind, Node, Report};

/// Around the whole drawing, and above it for its title.
const MARGIN: f64 = 16.0;
const HEAD: f64 = 30.0;
/// The most characters of a tooltip.
const TOOLTIP_MAX: usize = 600;
/// Colours of labels.
const COLOURS: usize = 8;

const STYLE: &str = "<style>
svg { color-scheme: light dark; --paper: #ffffff; --ink: #1c2330; --soft: #667085; --line: #8a94a6; --bold: #1c2330; --light: 94%; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #14181f; --ink: #e6eaf2; --soft: #98a2b3; --line: #6b7789; --bold: #ffffff; --light: 22%; }
}
.paper { fill: var(--paper); }
text { font: 11.5px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--ink); direction: ltr; unicode-bidi: isolate; white-space: pre; }
.soft { fill: var(--soft); }
.op rect, .op circle { stroke: var(--line); fill: hsl(var(--hue, 215) var(--full, 12%) var(--light)); }
.op .body { fill: var(--paper); stroke-dasharray: 3 3; }
.op .bold { stroke: var(--bold); stroke-width: 2; }
.edge { fill: none; stroke: var(--line); stroke-width: 1.2; }
.edge.bold { stroke: var(--bold); stroke-width: 2.2; }
.edge.waits { stroke-dasharray: 6 3; }
.edge.signals { stroke-dasharray: 1.5 3; }
.tip { fill: var(--line); }
.c0 { --hue: 215; --full: 70%; } .c1 { --hue: 150; --full: 50%; } .c2 { --hue: 35; --full: 80%; } .c3 { --hue: 280; --full: 55%; }
.c4 { --hue: 0; --full: 65%; } .c5 { --hue: 185; --full: 60%; } .c6 { --hue: 95; --full: 45%; } .c7 { --hue: 325; --full: 60%; }
</style>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0 0.5 8 4 0 7.5z\"/></marker></defs>
";

/// The drawing of a report.
pub(super) fn written(report: &Report, pictures: &Pictures) -> String {
    let mut text = String::new();
    Drawing::new(report, pictures, &mut text).all().expect("writing to a string");
    text
}

struct Drawing<'r> {
    report: &'r Report,
    pictures: &'r Pictures,
    /// The critical path, and its edges.
    path: HashSet<usize>,
    path_edges: HashSet<(usize, usize)>,
    colours: BTreeMap<&'r str, usize>,
    to: &'r mut String,
}

impl<'r> Drawing<'r> {
    fn new(report: &'r Report, pictures: &'r Pictures, to: &'r mut String) -> Drawing<'r> {
        let path = &report.critical_path.nodes;
        let mut colours = BTreeMap::new();
        for node in report.nodes.iter().filter(|node| !node.label.is_empty()) {
            let next = colours.len();
            colours.entry(label(node)).or_insert(next);
        }
        let path_edges = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        Drawing { report, pictures, path: path.iter().copied().collect(), path_edges, colours, to }
    }

    fn all(&mut self) -> fmt::Result {
        let title = title(self.report);
        let Size { width, height } = self.pictures.top.layout.size;
        let width = width.max(title.chars().count() as f64 * CHARACTER) + 2.0 * MARGIN;
        let height = height + HEAD + 2.0 * MARGIN;
        let size = format!("width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\"");
        writeln!(self.to, "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} role=\"img\">")?;
        writeln!(self.to, "<title>{}</title>", Escaped(&title))?;
        self.to.write_str(STYLE)?;
        writeln!(self.to, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>")?;
        writeln!(self.to, "<text x=\"{MARGIN}\" y=\"{}\">{}</text>", MARGIN + LINE, Escaped(&title))?;
        self.picture(&self.pictures.top, Point { x: MARGIN, y: MARGIN + HEAD })?;
        self.to.write_str("</svg>\n")
    }

    /// What is in a body, or in none, from a place on.
    fn picture(&mut self, picture: &'r Picture, at: Point) -> fmt::Result {
        for (&edge, points) in picture.edges.iter().zip(&picture.layout.lines) {
            self.edge(edge, points, at)?;
        }
        for (&node, rect) in picture.nodes.iter().zip(&picture.layout.boxes) {
            let rect = Rect { at: Point { x: rect.at.x + at.x, y: rect.at.y + at.y }, size: rect.size };
            self.node(&self.report.nodes[node], rect)?;
        }
        Ok(())
    }

    fn edge(&mut self, number: usize, points: &[Point], at: Point) -> fmt::Result {
        let (before, after, kind) = self.report.edges[number];
        let kind = match kind {
            Edge::Full => "",
            Edge::Waits => " waits",
            Edge::Signals => " signals",
        };
        let bold = if self.path_edges.contains(&(before, after)) { " bold" } else { "" };
        write!(
            self.to,
            "<path class=\"edge{kind}{bold}\" data-edge=\"{before} {after}\" marker-end=\"url(#tip)\" d=\""
        )?;
        for (place, point) in points.iter().enumerate() {
            write!(self.to, "{}{:.1} {:.1}", if place == 0 { "M" } else { " " }, point.x + at.x, point.y + at.y)?;
        }
        self.to.write_str("\"/>\n")
    }

    fn node(&mut self, node: &'r Node, Rect { at, size }: Rect) -> fmt::Result {
        let colour = match self.colours.get(label(node)) {
            Some(colour) => format!(" c{}", colour % COLOURS),
            None => String::new(),
        };
        writeln!(self.to, "<g class=\"op {}{colour}\" data-op=\"{}\">", node.kind, node.index)?;
        writeln!(self.to, "<title>{}</title>", Escaped(&tooltip(self.report, node)))?;
        if node.kind == Kind::Join {
            let radius = size.width / 2.0;
            writeln!(self.to, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"/>", at.x + radius, at.y + radius)?;
            return self.to.write_str("</g>\n");
        }
        // Kernels have round corners, what only moves bytes has none.
        let round = if matches!(node.kind, Kind::Kernel) { 6 } else { 1 };
        let place =
            format!("x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"", at.x, at.y, size.width, size.height);
        let bold = if self.path.contains(&node.index) { " class=\"bold\"" } else { "" };
        writeln!(self.to, "<rect{bold} {place} rx=\"{round}\"/>")?;
        for (line, text) in texts(node).iter().enumerate() {
            let (x, y) = (at.x + INSET, at.y + LINE * (line + 1) as f64);
            let soft = if line > 0 { " class=\"soft\"" } else { "" };
            writeln!(self.to, "<text{soft} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", Escaped(text))?;
        }
        let pictures = self.pictures;
        for body in pictures.bodies.get(&node.index).into_iter().flatten() {
            self.body(body, at)?;
        }
        self.to.write_str("</g>\n")
    }

    fn body(&mut self, body: &'r Body, at: Point) -> fmt::Result {
        let (x, y) = (at.x + body.at.x, at.y + body.at.y);
        if let Some(title) = &body.title {
            writeln!(self.to, "<text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y - 4.0, Escaped(title))?;
        }
        let Size { width, height } = body.size;
        let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"");
        writeln!(self.to, "<rect class=\"body\" {place}/>")?;
        let inner = body.picture.layout.size;
        let inset = Point { x: x + (width - inner.width) / 2.0, y: y + (height - inner.height) / 2.0 };
        self.picture(&body.picture, inset)
    }
}

/// The outermost label.
fn label(node: &Node) -> &str {
    node.label.split('/').next().unwrap_or_default()
}

/// All about a node, in lines.
fn tooltip(report: &Report, node: &Node) -> String {
    let mut lines = vec![format!("{} {} ({})", node.index, node.name, node.kind)];
    if !node.label.is_empty() {
        lines.push(node.label.clone());
    }
    lines.extend(node.location.iter().map(|place| format!("at {place}")));
    lines.extend(node.geometry.iter().map(ToString::to_string));
    lines.extend(node.arguments.iter().map(|argument| format!("{} = {}", argument.name, report.describe(argument))));
    lines.extend(node.warnings.iter().map(|warning| format!("warning: {warning}")));
    let text = lines.join("\n");
    match text.char_indices().nth(TOOLTIP_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A text inside an element or an attribute.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(character)?,
                // What XML does not allow, not even escaped.
                '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

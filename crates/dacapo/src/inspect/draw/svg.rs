//! Pictures as SVG.
//!
//! Every text is escaped, so that a label cannot end an element. Styles are in the file itself, for light and dark.

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Write as _};

use super::frames::{Frame, Item, Line, parts};
use super::layout::{Point, Rect, Size};
use super::picture::{Body, CHARACTER, INSET, LINE, Labelled, Picture, Pictures, texts, title};
use super::text::{Escaped, Short};
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
.graph { color-scheme: light dark; --paper: #ffffff; --ink: #1c2330; --soft: #667085; --line: #8a94a6; --bold: #1c2330; --light: 94%; }
@media (prefers-color-scheme: dark) {
  .graph { --paper: #14181f; --ink: #e6eaf2; --soft: #98a2b3; --line: #6b7789; --bold: #ffffff; --light: 22%; }
}
.graph .paper { fill: var(--paper); }
.graph text { font: 11.5px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--ink); direction: ltr; unicode-bidi: isolate; white-space: pre; }
.graph .soft { fill: var(--soft); }
.graph .op rect, .graph .op circle { stroke: var(--line); fill: hsl(var(--hue, 215) var(--full, 12%) var(--light)); }
.graph .op .bold { stroke: var(--bold); stroke-width: 2; }
.graph .op .ground { stroke: var(--line); fill: var(--paper); stroke-dasharray: 3 3; }
.graph .label .sheet { stroke: hsl(var(--hue, 215) var(--full, 12%) 60%); stroke-dasharray: 5 3; fill: hsl(var(--hue, 215) var(--full, 12%) var(--light) / 0.35); }
.graph .edge { fill: none; stroke: var(--line); stroke-width: 1.2; marker-end: url(#tip); }
.graph .edge.bold { stroke: var(--bold); stroke-width: 2.2; }
.graph .edge.waits { stroke-dasharray: 6 3; }
.graph .edge.signals { stroke-dasharray: 1.5 3; }
.graph .tip { fill: var(--line); }
.graph .c0 { --hue: 215; --full: 70%; } .graph .c1 { --hue: 150; --full: 50%; } .graph .c2 { --hue: 35; --full: 80%; } .graph .c3 { --hue: 280; --full: 55%; }
.graph .c4 { --hue: 0; --full: 65%; } .graph .c5 { --hue: 185; --full: 60%; } .graph .c6 { --hue: 95; --full: 45%; } .graph .c7 { --hue: 325; --full: 60%; }
</style>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0 0.5 8 4 0 7.5z\"/></marker></defs>
";

/// Whether a drawing stands alone, or in a page that shows what tooltips say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    Alone,
    #[cfg(feature = "json")]
    InPage,
}

/// The drawing of a report.
pub(super) fn written(report: &Report, pictures: &Pictures, place: Where) -> String {
    let mut text = String::new();
    Drawing::new(report, pictures, place, &mut text).all().expect("writing to a string");
    text
}

struct Drawing<'r> {
    report: &'r Report,
    pictures: &'r Pictures,
    place: Where,
    /// The critical path, and its edges.
    path: HashSet<usize>,
    path_edges: HashSet<(usize, usize)>,
    colours: BTreeMap<&'r str, usize>,
    to: &'r mut String,
}

impl<'r> Drawing<'r> {
    fn new(report: &'r Report, pictures: &'r Pictures, place: Where, to: &'r mut String) -> Drawing<'r> {
        let path = &report.critical_path.nodes;
        let mut colours = BTreeMap::new();
        for label in report.nodes.iter().filter_map(|node| label(report, node)) {
            let next = colours.len();
            colours.entry(label).or_insert(next);
        }
        let path_edges = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        Drawing { report, pictures, place, path: path.iter().copied().collect(), path_edges, colours, to }
    }

    fn all(&mut self) -> fmt::Result {
        let title = title(self.report);
        let Size { width, height } = self.pictures.top.layout.size;
        // A page has the title elsewhere.
        let title_width = if self.place == Where::Alone { title.chars().count() as f64 * CHARACTER } else { 0.0 };
        let width = width.max(title_width) + 2.0 * MARGIN;
        let head = if self.place == Where::Alone { HEAD } else { 0.0 };
        let height = height + head + 2.0 * MARGIN;
        let size = format!("width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\"");
        writeln!(self.to, "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} class=\"graph\" role=\"img\">")?;
        if self.place == Where::Alone {
            writeln!(self.to, "<title>{}</title>", Escaped(&title))?;
        }
        self.to.write_str(STYLE)?;
        if self.place == Where::Alone {
            writeln!(self.to, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>")?;
            let y = MARGIN + LINE;
            writeln!(self.to, "<text class=\"title\" x=\"{MARGIN}\" y=\"{y}\">{}</text>", Escaped(&title))?;
        }
        self.picture(&self.pictures.top, Point { x: MARGIN, y: MARGIN + head })?;
        self.to.write_str("</svg>\n")
    }

    /// What is in a frame, from a place on.
    fn picture(&mut self, picture: &'r Picture, at: Point) -> fmt::Result {
        let frame = &self.pictures.frames[picture.frame];
        writeln!(self.to, "<g class=\"in\" {}>", At(at))?;
        for (line, points) in frame.lines.iter().zip(&picture.layout.lines) {
            self.line(frame, line, points)?;
        }
        for (item, rect) in frame.items.iter().zip(&picture.layout.boxes) {
            match item {
                Item::Op(node) => self.node(&self.report.nodes[*node], *rect)?,
                Item::Label(inner) => self.label(*inner, &self.pictures.labels[inner], *rect)?,
            }
        }
        self.to.write_str("</g>\n")
    }

    fn line(&mut self, frame: &Frame, line: &Line, points: &[Point]) -> fmt::Result {
        let edge = |number: &usize| self.report.edges[*number];
        let mut kinds = line.edges.iter().map(|number| edge(number).2);
        let first = kinds.next().unwrap_or(Edge::Full);
        // Several edges of different kinds are drawn as the one that waits longest.
        let kind = match if kinds.all(|kind| kind == first) { first } else { Edge::Full } {
            Edge::Full => "",
            Edge::Waits => " waits",
            Edge::Signals => " signals",
        };
        let is_bold = line.edges.iter().map(edge).any(|(before, after, _)| self.path_edges.contains(&(before, after)));
        let bold = if is_bold { " bold" } else { "" };
        let (from, to) = (Name(frame.items[line.from]), Name(frame.items[line.to]));
        write!(self.to, "<path class=\"edge{kind}{bold}\" data-line=\"{from} {to}\" d=\"")?;
        for (place, point) in points.iter().enumerate() {
            write!(self.to, "{}{} {}", if place == 0 { "M" } else { " " }, Short(point.x), Short(point.y))?;
        }
        self.to.write_str("\"/>\n")
    }

    /// ` c3`: the class of a colour.
    fn colour(&self, node: &'r Node) -> String {
        let colour = label(self.report, node).and_then(|label| self.colours.get(label));
        colour.map_or_else(String::new, |colour| format!(" c{}", colour % COLOURS))
    }

    fn node(&mut self, node: &'r Node, Rect { at, size }: Rect) -> fmt::Result {
        let (kind, colour, place) = (node.kind, self.colour(node), At(at));
        write!(self.to, "<g class=\"op {kind}{colour}\" data-op=\"{}\" {place}>", node.index)?;
        if self.place == Where::Alone {
            write!(self.to, "<title>{}</title>", Escaped(&tooltip(self.report, node)))?;
        }
        let bold = if self.path.contains(&node.index) { " class=\"bold\"" } else { "" };
        if node.kind == Kind::Join {
            let radius = Short(size.width / 2.0);
            return writeln!(self.to, "<circle cx=\"{radius}\" cy=\"{radius}\" r=\"{radius}\"{bold}/></g>");
        }
        // Kernels have round corners, what only moves bytes has none.
        let round = if matches!(node.kind, Kind::Kernel) { 6 } else { 1 };
        write!(self.to, "<rect{bold} {} rx=\"{round}\"/>", Of(size))?;
        for (line, text) in texts(node).iter().enumerate() {
            let y = LINE * (line + 1) as f64;
            let soft = if line > 0 { " class=\"soft\"" } else { "" };
            write!(self.to, "<text{soft} x=\"{INSET}\" y=\"{y}\">{}</text>", Escaped(text))?;
        }
        let pictures = self.pictures;
        for body in pictures.bodies.get(&node.index).into_iter().flatten() {
            self.body(body)?;
        }
        self.to.write_str("</g>\n")
    }

    fn body(&mut self, body: &'r Body) -> fmt::Result {
        writeln!(self.to, "<g class=\"body\" {}>", At(body.at))?;
        if let Some(title) = &body.title {
            write!(self.to, "<text class=\"soft\" x=\"0\" y=\"-4\">{}</text>", Escaped(title))?;
        }
        writeln!(self.to, "<rect class=\"ground\" {}/>", Of(body.size))?;
        let inner = body.picture.layout.size;
        let inset = Point { x: (body.size.width - inner.width) / 2.0, y: (body.size.height - inner.height) / 2.0 };
        self.picture(&body.picture, inset)?;
        self.to.write_str("</g>\n")
    }

    /// The frame of a label.
    fn label(&mut self, frame: usize, labelled: &'r Labelled, Rect { at, size }: Rect) -> fmt::Result {
        let colour = self.first_op(frame).map_or_else(String::new, |node| self.colour(node));
        let Size { width, height } = labelled.folded;
        let folded = format!("{} {}", Short(width), Short(height));
        writeln!(self.to, "<g class=\"label{colour}\" data-frame=\"{frame}\" data-folded=\"{folded}\" {}>", At(at))?;
        if self.place == Where::Alone {
            write!(self.to, "<title>{}: {}</title>", Escaped(&shortened(&labelled.name)), labelled.count)?;
        }
        write!(
            self.to,
            "<rect class=\"sheet\" {} rx=\"3\"/><text x=\"{INSET}\" y=\"{LINE}\">{} ",
            Of(size),
            Escaped(&labelled.title)
        )?;
        writeln!(self.to, "<tspan class=\"soft\">· {}</tspan></text>", labelled.count)?;
        self.picture(&labelled.picture, labelled.inset())?;
        self.to.write_str("</g>\n")
    }

    fn first_op(&self, frame: usize) -> Option<&'r Node> {
        match self.pictures.frames[frame].items.first()? {
            Item::Op(node) => Some(&self.report.nodes[*node]),
            Item::Label(inner) => self.first_op(*inner),
        }
    }
}

/// An item, as lines name it.
struct Name(Item);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Item::Op(node) => write!(f, "{node}"),
            Item::Label(frame) => write!(f, "f{frame}"),
        }
    }
}

/// A place, as an attribute.
struct At(Point);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transform=\"translate({} {})\"", Short(self.0.x), Short(self.0.y))
    }
}

/// A size, as attributes.
struct Of(Size);

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "width=\"{}\" height=\"{}\"", Short(self.0.width), Short(self.0.height))
    }
}

/// The outermost label that is not the whole recording's.
fn label<'r>(report: &Report, node: &'r Node) -> Option<&'r str> {
    let mut around = parts(&report.label);
    parts(&node.label).find(|part| around.next() != Some(part))
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
    shortened(&lines.join("\n"))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TOOLTIP_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

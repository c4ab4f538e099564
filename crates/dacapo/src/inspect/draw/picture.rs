//! A report as boxes with texts, laid out: one picture for each body, and one for what is in none.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::layout::{Layout, Point, Size, lay_out};
use crate::inspect::homes::homes;
use crate::inspect::table::{count, size};
use crate::inspect::{Inside, Kind, Node, Report};

/// The width of a character, and the height of a line. The font is one of equal widths, so that a text's width is known.
pub(super) const CHARACTER: f64 = 7.0;
pub(super) const LINE: f64 = 16.0;
/// Between a box and its text.
pub(super) const INSET: f64 = 9.0;
/// The most characters of a line; the rest is in the tooltip.
const CHARACTERS_MAX: usize = 34;
/// A join is a dot.
const JOIN: f64 = 9.0;
/// Around a body, and between two of them.
const AROUND: f64 = 14.0;

/// A node with bodies and one of them; none for what is in no body, which comes last.
type Key = (Reverse<Option<usize>>, usize);

/// The number of an edge of the report, and the nodes that it is drawn between.
type Numbered = (usize, (usize, usize));

/// What is in one body, or in none.
pub(super) struct Picture {
    /// The nodes, as the boxes of the layout.
    pub(super) nodes: Vec<usize>,
    /// The edges of the report, as the lines of the layout.
    pub(super) edges: Vec<usize>,
    pub(super) layout: Layout,
}

/// A body in the box of its branch or loop.
pub(super) struct Body {
    /// `case 2`, where there are several.
    pub(super) title: Option<String>,
    /// The upper left corner of what is in it, in the box.
    pub(super) at: Point,
    /// Its own frame, from there on.
    pub(super) size: Size,
    pub(super) picture: Picture,
}

/// All of them.
pub(super) struct Pictures {
    /// What is in no body.
    pub(super) top: Picture,
    /// The bodies of each node that has some.
    pub(super) bodies: BTreeMap<usize, Vec<Body>>,
}

impl Pictures {
    pub(super) fn of(report: &Report) -> Pictures {
        let homes = homes(report);
        // By the node that a body belongs to, the last first: what is inside a node stands behind it, so every body comes
        // after those inside it.
        let mut nodes: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        let key =
            |home: Option<Inside>| (Reverse(home.map(|inside| inside.node)), home.map_or(0, |inside| inside.body));
        for (node, (home, _)) in homes.iter().enumerate() {
            nodes.entry(key(*home)).or_default().push(node);
        }
        let mut edges: BTreeMap<Key, Vec<Numbered>> = BTreeMap::new();
        for (number, (before, after, _)) in report.edges.iter().enumerate() {
            // The fields of a report are everybody's: an edge may lead nowhere.
            let is_there = *before.max(after) < homes.len();
            if let Some((home, line)) = is_there.then(|| lifted(&homes, *before, *after)).flatten() {
                edges.entry(key(home)).or_default().push((number, line));
            }
        }
        let mut sizes: Vec<Size> = report.nodes.iter().map(own_size).collect();
        let mut bodies: BTreeMap<usize, Vec<Body>> = BTreeMap::new();
        let mut top = Picture { nodes: Vec::new(), edges: Vec::new(), layout: lay_out(&[], &[]) };
        let mut all = nodes.into_iter().peekable();
        while let Some((key, nodes)) = all.next() {
            let picture = Picture::new(nodes, edges.remove(&key).unwrap_or_default(), &sizes);
            let Some(node) = key.0.0 else {
                top = picture;
                continue;
            };
            let of_node = bodies.entry(node).or_default();
            of_node.push(Body::new(key.1, picture));
            // The last body of this node: its box is as large as they are.
            if all.peek().is_none_or(|(next, _)| next.0 != key.0) {
                sizes[node] = around(of_node, sizes[node]);
            }
        }
        Pictures { top, bodies }
    }
}

impl Picture {
    fn new(nodes: Vec<usize>, edges: Vec<Numbered>, sizes: &[Size]) -> Picture {
        // Nodes of a body are in ascending order.
        let place = |node: usize| nodes.binary_search(&node).unwrap_or(usize::MAX);
        let lines: Vec<(usize, usize)> = edges.iter().map(|(_, (from, to))| (place(*from), place(*to))).collect();
        let boxes: Vec<Size> = nodes.iter().map(|&node| sizes[node]).collect();
        let layout = lay_out(&boxes, &lines);
        Picture { nodes, edges: edges.into_iter().map(|(number, _)| number).collect(), layout }
    }
}

impl Body {
    fn new(number: usize, picture: Picture) -> Body {
        let Size { width, height } = picture.layout.size;
        let size = Size { width: width + 2.0 * AROUND, height: height + 2.0 * AROUND };
        Body { title: Some(format!("case {number}")), at: Point { x: 0.0, y: 0.0 }, size, picture }
    }
}

/// Puts bodies side by side below the text of their node: the size of the box around all of it.
fn around(bodies: &mut [Body], own: Size) -> Size {
    let are_several = bodies.len() > 1;
    let top = own.height + if are_several { LINE } else { 0.0 };
    let (mut x, mut height) = (AROUND, 0.0f64);
    for body in bodies.iter_mut() {
        if !are_several {
            body.title = None;
        }
        let title = body.title.as_ref().map_or(0.0, |title| title.chars().count() as f64 * CHARACTER);
        body.size.width = body.size.width.max(title);
        body.at = Point { x, y: top };
        x += body.size.width + AROUND;
        height = height.max(body.size.height);
    }
    Size { width: own.width.max(x), height: top + height + AROUND }
}

/// An edge between two nodes as one in the innermost body that both are in; none if that leaves one node.
fn lifted(homes: &[(Option<Inside>, usize)], before: usize, after: usize) -> Option<(Option<Inside>, (usize, usize))> {
    let (mut before, mut after) = (before, after);
    while homes[before].0 != homes[after].0 {
        let climbing = if homes[before].1 > homes[after].1 { &mut before } else { &mut after };
        match homes[*climbing].0 {
            Some(inside) => *climbing = inside.node,
            None => break,
        }
    }
    let is_one = homes[before].0 == homes[after].0;
    (is_one && before < after).then(|| (homes[before].0, (before, after)))
}

/// The size of a node's box, without bodies.
fn own_size(node: &Node) -> Size {
    if node.kind == Kind::Join {
        return Size { width: JOIN, height: JOIN };
    }
    let texts = texts(node);
    let width = texts.iter().map(|text| columns(text)).max().unwrap_or(0) as f64 * CHARACTER;
    Size { width: width + 2.0 * INSET, height: texts.len() as f64 * LINE + INSET }
}

/// The lines of a node's box.
pub(super) fn texts(node: &Node) -> Vec<String> {
    let mut texts = vec![cut(&format!("{} {}", node.index, node.name))];
    if node.has_bodies() {
        return texts;
    }
    let moved = node.bytes_read.saturating_add(node.bytes_written);
    texts.extend(node.geometry.map(|geometry| cut(&geometry.to_string())));
    if node.geometry.is_none() && moved > 0 {
        texts.push(cut(&size(moved)));
    }
    texts
}

/// A title for all of it.
pub(super) fn title(report: &Report) -> String {
    let label = if report.label.is_empty() { "graph" } else { &report.label };
    let ops = report.nodes.iter().filter(|node| node.kind != Kind::Join).count();
    cut_to(&format!("{label} on {}: {}, {}", report.device, count(ops, "op"), count(report.edges.len(), "edge")), 120)
}

fn cut(text: &str) -> String {
    cut_to(text, CHARACTERS_MAX)
}

/// A text of one line and at most so many columns.
fn cut_to(text: &str, most: usize) -> String {
    let mut cut = String::new();
    let mut wide = 0;
    for character in text.chars().map(|character| if character.is_control() { ' ' } else { character }) {
        wide += width_of(character);
        if wide > most {
            cut.push('…');
            break;
        }
        cut.push(character);
    }
    cut
}

fn columns(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// In columns, at the most: some scripts are twice as wide as Latin letters.
fn width_of(character: char) -> usize {
    if character.is_ascii() || character == '…' { 1 } else { 2 }
}

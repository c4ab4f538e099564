//! Frames with the texts of their boxes, laid out: a picture for each.

use std::collections::BTreeMap;

use super::frames::{Frame, FrameKind, Frames, Item};
use super::layout::{Layout, Point, Size, lay_out};
use crate::inspect::table::{count, size};
use crate::inspect::{Kind, Node, Report};

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

/// A frame laid out.
pub(super) struct Picture {
    /// The boxes of the layout are the items of this frame, its lines the lines.
    pub(super) frame: usize,
    pub(super) layout: Layout,
}

/// A body in the box of its branch or loop.
pub(super) struct Body {
    /// `case 2`, where there are several.
    pub(super) title: Option<String>,
    /// The upper left corner of its frame, in the box.
    pub(super) at: Point,
    pub(super) size: Size,
    pub(super) picture: Picture,
}

/// The frame of a label as a box.
pub(super) struct Labelled {
    /// With those around it that have nothing else in them.
    pub(super) name: String,
    pub(super) title: String,
    /// `12 ops`.
    pub(super) count: String,
    /// As large as it is when its ops are not shown.
    pub(super) folded: Size,
    pub(super) picture: Picture,
}

/// All of them.
pub(super) struct Pictures {
    pub(super) frames: Vec<Frame>,
    /// What is in no other frame.
    pub(super) top: Picture,
    /// The bodies of each node that has some.
    pub(super) bodies: BTreeMap<usize, Vec<Body>>,
    /// By frame.
    pub(super) labels: BTreeMap<usize, Labelled>,
}

impl Pictures {
    pub(super) fn of(report: &Report) -> Pictures {
        let Frames { frames, bodies: bodies_of } = Frames::of(report);
        let mut sizes: Vec<Size> = report.nodes.iter().map(own_size).collect();
        let mut label_sizes: Vec<Option<Size>> = vec![None; frames.len()];
        let mut bodies: BTreeMap<usize, Vec<Body>> = BTreeMap::new();
        let mut labels: BTreeMap<usize, Labelled> = BTreeMap::new();
        let mut done: BTreeMap<usize, Picture> = BTreeMap::new();
        // Each frame stands behind the one around it: from the last to the first, a box is as large as what is in it.
        for number in (0..frames.len()).rev() {
            let frame = &frames[number];
            let size = |item: &Item| match item {
                Item::Op(node) => sizes[*node],
                Item::Label(inner) => label_sizes[*inner].expect("what is in it was laid out before"),
            };
            let boxes: Vec<Size> = frame.items.iter().map(size).collect();
            let lines: Vec<(usize, usize)> = frame.lines.iter().map(|line| (line.from, line.to)).collect();
            let picture = Picture { frame: number, layout: lay_out(&boxes, &lines) };
            match &frame.kind {
                FrameKind::Label(name) => {
                    // A label whose only content is another one is one frame with it.
                    let (name, ops) = (name.clone(), frame.ops);
                    let inner = match frame.items[..] {
                        [Item::Label(inner)] => labels.remove(&inner),
                        _ => None,
                    };
                    let labelled = match inner {
                        Some(inner) => Labelled::new(&format!("{name}/{}", inner.name), ops, inner.picture),
                        None => Labelled::new(&name, ops, picture),
                    };
                    label_sizes[number] = Some(labelled.size());
                    labels.insert(number, labelled);
                }
                FrameKind::Body(inside) => {
                    done.insert(number, picture);
                    let of_node = &bodies_of[&inside.node];
                    // The first body of this node is the last that comes here: its box is as large as they are.
                    if of_node[0] == number {
                        let mut all: Vec<Body> = of_node
                            .iter()
                            .map(|body| Body::new(&frames[*body], done.remove(body).expect("laid out")))
                            .collect();
                        sizes[inside.node] = around(&mut all, sizes[inside.node]);
                        bodies.insert(inside.node, all);
                    }
                }
                FrameKind::Top => {
                    done.insert(number, picture);
                }
            }
        }
        let top = done.remove(&0).expect("the first frame is the top");
        Pictures { frames, top, bodies, labels }
    }
}

impl Labelled {
    fn new(name: &str, ops: usize, picture: Picture) -> Labelled {
        let title = cut(name);
        let count = count(ops, "op");
        let width = (columns(&title) + 3 + columns(&count)) as f64 * CHARACTER + 2.0 * INSET;
        Labelled { name: name.to_string(), title, count, folded: Size { width, height: LINE + INSET }, picture }
    }

    /// With its ops.
    pub(super) fn size(&self) -> Size {
        let Size { width, height } = self.picture.layout.size;
        Size { width: self.folded.width.max(width + 2.0 * AROUND), height: height + AROUND + LINE + INSET }
    }

    /// The upper left corner of what is in it.
    pub(super) fn inset(&self) -> Point {
        Point { x: (self.size().width - self.picture.layout.size.width) / 2.0, y: LINE + INSET }
    }
}

impl Body {
    fn new(frame: &Frame, picture: Picture) -> Body {
        let number = match frame.kind {
            FrameKind::Body(inside) => inside.body,
            _ => 0,
        };
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

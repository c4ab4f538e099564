//! What is in a drawing, read from its text, with what must hold of places.
//!
//! Of each frame, in its own coordinates: its boxes lie within it and apart from each other, its lines lie within it, lead down
//! from the lower side of one box to the upper side of another, and run through none. A frame lies within its box; so what
//! holds of each holds of all together.

use std::collections::BTreeMap;

use crate::svg::{Element, numbers};

/// Places are written to a tenth.
const TENTH: f64 = 0.11;

/// Left, top, right, bottom.
type Rect = [f64; 4];

/// What a drawing has in it.
#[derive(Default)]
pub struct Drawing {
    /// Of each op: the frames it is in, outermost first, each with the name of its box there.
    pub ops: BTreeMap<usize, Vec<(usize, String)>>,
    /// Which op each frame is a body of: the box that it is in, and a number that its other bodies do not have.
    pub bodies: BTreeMap<usize, (usize, usize)>,
    /// The name of each frame of a label.
    pub labels: BTreeMap<usize, String>,
    /// The classes of each line, by its frame and `from to`.
    pub lines: BTreeMap<(usize, String), String>,
    frames: usize,
}

impl Drawing {
    /// Reads a drawing. Panics where a place is wrong.
    pub fn read(svg: &str) -> Drawing {
        let root = Element::read(svg);
        let inner = root.child(|one| one.is("in")).expect("a top frame");
        let view = numbers(root.attribute("viewBox").expect("a size"));
        let mut drawing = Drawing::default();
        drawing.frame(inner, [view[0], view[1], view[2], view[3]], &[]);
        drawing
    }

    /// A frame in a room of the element that it is in. Returns its number.
    fn frame(&mut self, inner: &Element, room: Rect, around: &[(usize, String)]) -> usize {
        let frame = self.frames;
        self.frames += 1;
        let (x, y) = inner.moved();
        let room = [room[0] - x, room[1] - y, room[2] - x, room[3] - y];
        let mut boxes: BTreeMap<String, Rect> = BTreeMap::new();
        for one in inner.children.iter().filter(|one| one.name() == "g") {
            let name = one.attribute("data-op").map_or_else(
                || format!("f{}", one.attribute("data-frame").expect("a box is an op or a frame")),
                str::to_string,
            );
            let rect = rect(one);
            assert!(within(rect, room), "box {name} at {rect:?} leaves its frame {room:?}");
            for (other, place) in &boxes {
                assert!(!overlap(rect, *place), "boxes {name} and {other} overlap: {rect:?}, {place:?}");
            }
            let mut path = around.to_vec();
            path.push((frame, name.clone()));
            self.content(one, &path);
            assert!(boxes.insert(name.clone(), rect).is_none(), "two boxes {name}");
        }
        for line in inner.children.iter().filter(|one| one.is("edge")) {
            let name = line.attribute("data-line").expect("a line is between two boxes");
            expect_line(name, line.attribute("d").expect("a way"), &boxes, room);
            let classes = line.attribute("class").unwrap_or_default().to_string();
            assert!(self.lines.insert((frame, name.to_string()), classes).is_none(), "two lines {name}");
        }
        frame
    }

    /// What is in a box: nothing, the frame of a label, or bodies.
    fn content(&mut self, one: &Element, path: &[(usize, String)]) {
        let own = outline(one);
        if let Some(op) = one.attribute("data-op") {
            let op = op.parse().expect("a number");
            assert!(self.ops.insert(op, path.to_vec()).is_none(), "op {op} is drawn twice");
            let mut grounds: Vec<Rect> = Vec::new();
            for body in one.children.iter().filter(|part| part.is("body")) {
                let (ground, (x, y)) = (outline(body), body.moved());
                let place = [ground[0] + x, ground[1] + y, ground[2] + x, ground[3] + y];
                assert!(within(place, own), "a body of op {op} at {place:?} leaves its box {own:?}");
                assert!(!grounds.iter().any(|other| overlap(place, *other)), "bodies of op {op} overlap");
                grounds.push(place);
                let inner = body.child(|part| part.is("in")).expect("a body is a frame");
                let frame = self.frame(inner, ground, path);
                self.bodies.insert(frame, (op, grounds.len()));
            }
        } else {
            let title = &one.child(|part| part.name() == "title").expect("a name").text;
            let (name, count) = title.rsplit_once(": ").expect("a name and a count");
            let before = self.ops.len();
            let inner = one.child(|part| part.is("in")).expect("the frame of a label");
            let frame = self.frame(inner, own, path);
            self.labels.insert(frame, name.to_string());
            let joins = joins(inner);
            let ops = self.ops.len() - before - joins;
            assert_eq!(count, format!("{ops} ops"), "of label {name}");
            assert!(ops > 1, "label {name} of a single op has a frame");
        }
    }
}

/// How many joins are in an element.
fn joins(element: &Element) -> usize {
    usize::from(element.is("join")) + element.children.iter().map(joins).sum::<usize>()
}

/// The line of a box, where the box is.
fn rect(one: &Element) -> Rect {
    let ([left, top, right, bottom], (x, y)) = (outline(one), one.moved());
    [left + x, top + y, right + x, bottom + y]
}

/// The line of a box, from its own corner.
fn outline(one: &Element) -> Rect {
    match one.child(|part| part.name() == "circle") {
        Some(circle) => [0.0, 0.0, 2.0 * circle.number("r"), 2.0 * circle.number("r")],
        None => {
            let line = one.child(|part| part.name() == "rect").expect("a box has a line around it");
            [0.0, 0.0, line.number("width"), line.number("height")]
        }
    }
}

fn within(inner: Rect, outer: Rect) -> bool {
    (0..2).all(|side| inner[side] >= outer[side] - TENTH && inner[side + 2] <= outer[side + 2] + TENTH)
}

fn overlap(one: Rect, other: Rect) -> bool {
    (0..2).all(|side| one[side] < other[side + 2] && other[side] < one[side + 2])
}

/// A line leads down from one of its boxes to the other, within the frame, and runs through none.
fn expect_line(name: &str, way: &str, boxes: &BTreeMap<String, Rect>, room: Rect) {
    let (from, to) = name.split_once(' ').expect("two names");
    let (from, to) = (boxes[from], boxes[to]);
    let flat = numbers(way.strip_prefix('M').expect("a way begins with M"));
    let points: Vec<[f64; 2]> = flat.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
    let (first, last) = (points[0], points[points.len() - 1]);
    assert!((first[1] - from[3]).abs() < 2.0 * TENTH, "line {name} begins at {first:?}, and not below {from:?}");
    assert!((last[1] - to[1]).abs() < 2.0 * TENTH, "line {name} ends at {last:?}, and not above {to:?}");
    assert!(first[0] > from[0] && first[0] < from[2], "line {name} begins at {first:?}, beside {from:?}");
    assert!(last[0] > to[0] && last[0] < to[2], "line {name} ends at {last:?}, beside {to:?}");
    for pair in points.windows(2) {
        assert!(pair[0][1] <= pair[1][1], "line {name} leads up: {pair:?}");
        for (other, rect) in boxes {
            assert!(!runs_through(pair[0], pair[1], *rect), "line {name} runs through box {other}: {pair:?}, {rect:?}");
        }
    }
    for [x, y] in points {
        assert!(within([x, y, x, y], room), "line {name} leaves its frame {room:?}: {x} {y}");
    }
}

/// Whether a piece of a line is inside a box: what is outside is cut off, side by side.
fn runs_through(from: [f64; 2], to: [f64; 2], rect: Rect) -> bool {
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    for side in 0..2 {
        let (start, way) = (from[side], to[side] - from[side]);
        let (low, high) = (rect[side] + 2.0 * TENTH, rect[side + 2] - 2.0 * TENTH);
        if way == 0.0 {
            if start <= low || start >= high {
                return false;
            }
            continue;
        }
        let (one, other) = ((low - start) / way, (high - start) / way);
        enters = enters.max(one.min(other));
        leaves = leaves.min(one.max(other));
    }
    enters < leaves
}

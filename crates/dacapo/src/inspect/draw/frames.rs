//! What is drawn in what: a report as frames in frames.
//!
//! - The top frame holds what is in no other. Each body of a branch or loop is a frame in the box of its node. Ops that were
//!   recorded one after the other under one label are a frame with its name; a label of a single op is none.
//! - So the ops of a frame are neighbours in the order of the recording, and lines between frames lead down as those between
//!   ops do: there is no way from a frame to another and back.
//! - An edge is a line in the innermost frame that both ends are in, between the boxes that they are in there. Edges between
//!   the same boxes are one line.

use std::collections::BTreeMap;

use crate::inspect::homes::homes;
use crate::inspect::{Inside, Kind, Node, Report};

/// Labels in labels have frames of their own down to here.
const LABELS_MAX: usize = 12;

/// What has a box in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A node.
    Op(usize),
    /// A frame of a label.
    Label(usize),
}

/// What kind of frame it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FrameKind {
    Top,
    /// A body of a node.
    Body(Inside),
    /// Of the ops under a label, or under several that one op after the other shares: `layer0/attention`.
    Label(String),
}

/// Several edges between the same two boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Places among the items of the frame.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Indices into the edges of the report, at least one.
    pub(super) edges: Vec<usize>,
}

/// A frame, and what is in it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// The frame around it, and the place of the box there that it is, or is in; none for the top.
    parent: Option<(usize, usize)>,
    depth: usize,
    /// In the order of the recording.
    pub(super) items: Vec<Item>,
    pub(super) lines: Vec<Line>,
    /// How many ops are in it, at any depth.
    pub(super) ops: usize,
}

/// All frames; the top is the first, and each stands behind the one around it.
pub(super) struct Frames {
    pub(super) frames: Vec<Frame>,
    /// The bodies of each node that has some, as frames.
    pub(super) bodies: BTreeMap<usize, Vec<usize>>,
}

impl Frames {
    pub(super) fn of(report: &Report) -> Frames {
        let mut growing = Growing::new(report);
        growing.grow();
        let Growing { mut frames, bodies, places, .. } = growing;
        let mut lines: BTreeMap<(usize, usize, usize), Vec<usize>> = BTreeMap::new();
        for (number, (before, after, _)) in report.edges.iter().enumerate() {
            // The fields of a report are everybody's: an edge may lead nowhere.
            let (Some(&from), Some(&to)) = (places.get(*before), places.get(*after)) else { continue };
            if let Some(line) = lifted(&frames, from, to) {
                lines.entry(line).or_default().push(number);
            }
        }
        for ((frame, from, to), edges) in lines {
            frames[frame].lines.push(Line { from, to, edges });
        }
        Frames { frames, bodies }
    }
}

/// An edge between two boxes as a line in the innermost frame that both are in; none if that leaves one box, or leads up.
fn lifted(frames: &[Frame], from: (usize, usize), to: (usize, usize)) -> Option<(usize, usize, usize)> {
    let (mut from, mut to) = (from, to);
    while from.0 != to.0 {
        let climbing = if frames[from.0].depth > frames[to.0].depth { &mut from } else { &mut to };
        *climbing = frames[climbing.0].parent?;
    }
    (from.1 < to.1).then_some((from.0, from.1, to.1))
}

/// Frames while the nodes are put into them, one after the other.
struct Growing<'r> {
    report: &'r Report,
    homes: Vec<(Option<Inside>, usize)>,
    frames: Vec<Frame>,
    bodies: BTreeMap<usize, Vec<usize>>,
    /// Of each node: its frame, and its place among the items there.
    places: Vec<(usize, usize)>,
    /// Of each body, and of none: its frame, the labels around it, and those that are open in it.
    open: BTreeMap<Option<(usize, usize)>, Opened<'r>>,
}

/// A body, or none, while nodes are put into it.
struct Opened<'r> {
    frame: usize,
    /// Labels that are known from the outside.
    around: Vec<&'r str>,
    /// Labels that the last node had beyond those, with their frames.
    labels: Vec<(&'r str, usize)>,
}

impl<'r> Growing<'r> {
    fn new(report: &'r Report) -> Growing<'r> {
        Growing {
            report,
            homes: homes(report),
            frames: Vec::new(),
            bodies: BTreeMap::new(),
            places: Vec::with_capacity(report.nodes.len()),
            open: BTreeMap::new(),
        }
    }

    fn grow(&mut self) {
        let frame = self.add(FrameKind::Top, None);
        // The label of the whole recording is in the title.
        let around = parts(&self.report.label).collect();
        self.open.insert(None, Opened { frame, around, labels: Vec::new() });
        let alone = self.alone();
        for node in &self.report.nodes {
            let frame = self.frame_of(node, &alone);
            self.put(frame, Item::Op(node.index));
            self.places.push((frame, self.frames[frame].items.len() - 1));
            self.count(frame, usize::from(node.kind != Kind::Join));
        }
    }

    /// How many parts of the label of each node are those of a neighbour too, in the same body: the others have no frame.
    fn alone(&self) -> Vec<usize> {
        let mut shared = vec![0; self.report.nodes.len()];
        let mut last: BTreeMap<Option<(usize, usize)>, usize> = BTreeMap::new();
        for node in self.report.nodes.iter().filter(|node| node.kind != Kind::Join) {
            let at = node.index;
            if let Some(before) = last.insert(self.body(at), at) {
                let same = parts(&self.report.nodes[before].label).zip(parts(&node.label)).take_while(|(a, b)| a == b);
                let same = same.count();
                shared[before] = shared[before].max(same);
                shared[at] = same;
            }
        }
        shared
    }

    fn body(&self, node: usize) -> Option<(usize, usize)> {
        self.homes[node].0.map(|inside| (inside.node, inside.body))
    }

    /// The frame that a node goes to, made where it is not there yet.
    fn frame_of(&mut self, node: &'r Node, shared: &[usize]) -> usize {
        let body = self.body(node.index);
        if !self.open.contains_key(&body) {
            self.open_body(body.expect("the top is open"));
        }
        let opened = &self.open[&body];
        if node.kind == Kind::Join {
            // Where the node before it is: what it joins may be all in there.
            return opened.labels.last().map_or(opened.frame, |(_, frame)| *frame);
        }
        let own: Vec<&str> = parts(&node.label).take(shared[node.index]).collect();
        let around = own.iter().zip(&opened.around).take_while(|(a, b)| a == b).count();
        let own = &own[around..];
        let known = own.iter().zip(&opened.labels).take_while(|(part, (open, _))| *part == open).count();
        let mut labels = opened.labels[..known].to_vec();
        let mut frame = labels.last().map_or(opened.frame, |(_, frame)| *frame);
        for part in &own[known..] {
            frame = self.label(frame, part);
            labels.push((part, frame));
        }
        self.open.get_mut(&body).expect("opened above").labels = labels;
        frame
    }

    fn open_body(&mut self, (node, body): (usize, usize)) {
        let inside = Inside::new(node, body);
        let frame = self.add(FrameKind::Body(inside), Some(self.places[node]));
        self.bodies.entry(node).or_default().push(frame);
        let around = parts(&self.report.nodes[node].label).collect();
        self.open.insert(Some((node, body)), Opened { frame, around, labels: Vec::new() });
    }

    /// A new frame of a label, in another.
    fn label(&mut self, outer: usize, part: &str) -> usize {
        let place = self.frames[outer].items.len();
        let frame = self.add(FrameKind::Label(part.to_string()), Some((outer, place)));
        self.put(outer, Item::Label(frame));
        frame
    }

    fn add(&mut self, kind: FrameKind, parent: Option<(usize, usize)>) -> usize {
        let depth = parent.map_or(0, |(frame, _)| self.frames[frame].depth + 1);
        self.frames.push(Frame { kind, parent, depth, items: Vec::new(), lines: Vec::new(), ops: 0 });
        self.frames.len() - 1
    }

    fn put(&mut self, frame: usize, item: Item) {
        self.frames[frame].items.push(item);
    }

    /// A frame and all around it have more ops.
    fn count(&mut self, frame: usize, more: usize) {
        let mut at = Some(frame);
        while let Some(frame) = at {
            self.frames[frame].ops += more;
            at = self.frames[frame].parent.map(|(outer, _)| outer);
        }
    }
}

/// The parts of a label, outermost first.
pub(super) fn parts(label: &str) -> impl Iterator<Item = &str> {
    label.splitn(LABELS_MAX, '/').filter(|part| !part.is_empty())
}

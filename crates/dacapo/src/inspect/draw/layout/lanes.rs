//! From slots to lines: where they leave and enter boxes, and those that go round the outside.
//!
//! A line across many layers leaves its box downwards, runs across in the gap below, down a lane to the right of all boxes,
//! and back across in the gap above the other box. Lanes are shared by lines that do not meet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::slots::{Slots, Way};
use super::{BELOW, LANE, Layout, Point, Rect, Size, TRACK};

/// The layout of boxes and lines whose slots have been placed.
pub(super) fn drawn(sizes: &[Size], lines: &[(usize, usize)], slots: &Slots, centres: &[f64]) -> Layout {
    let lanes = Lanes::new(lines, slots);
    let bands = Bands::new(sizes, slots, &lanes);
    let at =
        |number: usize| Point { x: centres[number] - sizes[number].width / 2.0, y: bands.top[layer(slots, number)] };
    let boxes: Vec<Rect> = sizes.iter().enumerate().map(|(number, &size)| Rect { at: at(number), size }).collect();
    let right = centres.iter().zip(&slots.slots).map(|(centre, slot)| centre + slot.width / 2.0).fold(0.0, f64::max);
    let lane_x = |lane: u32| right + LANE * f64::from(lane + 1);
    let next_x = |line: usize, way: Way, down: bool| match (way, down) {
        (Way::Bends { first, count }, true) if count > 0 => centres[first as usize],
        (Way::Bends { first, count }, false) if count > 0 => centres[(first + count - 1) as usize],
        (Way::Outside, _) => lane_x(lanes.of[line]),
        (_, true) => centres[lines[line].1],
        (_, false) => centres[lines[line].0],
    };
    let leaves = ports(lines, &boxes, slots, |line, way| (lines[line].0, next_x(line, way, true)));
    let enters = ports(lines, &boxes, slots, |line, way| (lines[line].1, next_x(line, way, false)));
    let route = |line: usize| {
        let (from, to) = lines[line];
        let start = Point { x: leaves[line], y: boxes[from].at.y + sizes[from].height };
        let end = Point { x: enters[line], y: boxes[to].at.y };
        let mut points = vec![start];
        let bottom = |number: usize| bands.bottom[layer(slots, number)];
        match slots.ways[line] {
            Way::None => return Vec::new(),
            Way::Bends { first, count } => {
                points.push(Point { y: bottom(from), ..start });
                for bend in first..first + count {
                    let (x, layer) = (centres[bend as usize], slots.slots[bend as usize].layer as usize);
                    points.extend([Point { x, y: bands.top[layer] }, Point { x, y: bands.bottom[layer] }]);
                }
            }
            Way::Outside => {
                let (out, back) = (bottom(from) + lanes.out[line], boxes[to].at.y - lanes.back[line]);
                let x = lane_x(lanes.of[line]);
                points.extend([Point { x: start.x, y: out }, Point { x, y: out }]);
                points.extend([Point { x, y: back }, Point { x: end.x, y: back }]);
            }
        }
        points.push(end);
        points.dedup();
        points
    };
    let routes: Vec<Vec<Point>> = (0..lines.len()).map(route).collect();
    let width = if lanes.count > 0 { lane_x(lanes.count - 1) } else { right };
    Layout { boxes, lines: routes, size: Size { width, height: bands.bottom.last().copied().unwrap_or(0.0) } }
}

fn layer(slots: &Slots, number: usize) -> usize {
    slots.slots[number].layer as usize
}

/// The upper and lower edge of each layer.
struct Bands {
    top: Vec<f64>,
    bottom: Vec<f64>,
}

impl Bands {
    fn new(sizes: &[Size], slots: &Slots, lanes: &Lanes) -> Bands {
        let mut heights = vec![0.0f64; slots.layers.len()];
        for (number, size) in sizes.iter().enumerate() {
            let height = &mut heights[layer(slots, number)];
            *height = height.max(size.height);
        }
        let (mut bands, mut y) = (Bands { top: Vec::new(), bottom: Vec::new() }, 0.0);
        for (layer, height) in heights.into_iter().enumerate() {
            bands.top.push(y);
            bands.bottom.push(y + height);
            y += height + BELOW + lanes.room_below(layer);
        }
        bands
    }
}

/// The x at which each line meets its box: side by side, in the order of where they lead.
fn ports(lines: &[(usize, usize)], boxes: &[Rect], slots: &Slots, of: impl Fn(usize, Way) -> (usize, f64)) -> Vec<f64> {
    let mut all: Vec<(usize, f64, usize)> = Vec::with_capacity(lines.len());
    for (line, way) in slots.ways.iter().enumerate().filter(|(_, way)| **way != Way::None) {
        let (at, towards) = of(line, *way);
        all.push((at, towards, line));
    }
    all.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let mut ports = vec![0.0; lines.len()];
    for same in all.chunk_by(|one, other| one.0 == other.0) {
        let Rect { at, size } = boxes[same[0].0];
        for (place, (.., line)) in same.iter().enumerate() {
            ports[*line] = at.x + size.width * (place + 1) as f64 / (same.len() + 1) as f64;
        }
    }
    ports
}

/// The lines that go round the outside: which lane each has, and how far from its boxes it runs across.
struct Lanes {
    of: Vec<u32>,
    out: Vec<f64>,
    back: Vec<f64>,
    count: u32,
    /// Below each layer, how many run across near it, and how many near the next.
    out_below: Vec<u32>,
    back_above: Vec<u32>,
}

impl Lanes {
    fn new(lines: &[(usize, usize)], slots: &Slots) -> Lanes {
        let layers = slots.layers.len();
        let mut lanes = Lanes {
            of: vec![0; lines.len()],
            out: vec![0.0; lines.len()],
            back: vec![0.0; lines.len()],
            count: 0,
            out_below: vec![0; layers],
            back_above: vec![0; layers + 1],
        };
        let outside = slots.ways.iter().enumerate().filter(|(_, way)| **way == Way::Outside).map(|(line, _)| line);
        let mut outside: Vec<usize> = outside.collect();
        let ends = |line: usize| (layer(slots, lines[line].0), layer(slots, lines[line].1));
        outside.sort_by_key(|&line| ends(line));
        let (mut busy, mut free) = (BinaryHeap::new(), BinaryHeap::new());
        for line in outside {
            let (start, end) = ends(line);
            // A line that ends in the layer where this one begins is over above it.
            while let Some(&Reverse((until, lane))) = busy.peek() {
                if until > start {
                    break;
                }
                busy.pop();
                free.push(Reverse(lane));
            }
            let lane = free.pop().map_or_else(
                || {
                    lanes.count += 1;
                    lanes.count - 1
                },
                |Reverse(lane)| lane,
            );
            busy.push(Reverse((end, lane)));
            lanes.of[line] = lane;
            lanes.out_below[start] += 1;
            lanes.out[line] = TRACK * f64::from(lanes.out_below[start]);
            lanes.back_above[end] += 1;
            lanes.back[line] = TRACK * f64::from(lanes.back_above[end]);
        }
        lanes
    }

    /// What they need between a layer and the next.
    fn room_below(&self, layer: usize) -> f64 {
        TRACK * f64::from(self.out_below[layer] + self.back_above[layer + 1])
    }
}

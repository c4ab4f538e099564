//! What holds of every layout, over random graphs.

use super::*;

/// Numbers that look random: the same from the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// A graph of one of several kinds: lines, fans, ladders, and anything.
fn graph(seed: u64) -> (Vec<Size>, Vec<(usize, usize)>) {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let count = 1 + chance.below(60);
    let size =
        |chance: &mut Chance| Size { width: 20.0 + chance.below(200) as f64, height: 10.0 + chance.below(60) as f64 };
    let sizes = (0..count).map(|_| size(&mut chance)).collect();
    let (reach, each) = (1 + chance.below(count), chance.below(4));
    let mut lines = Vec::new();
    for to in 1..count {
        for _ in 0..chance.below(each + 1) + usize::from(seed.is_multiple_of(3)) {
            lines.push((to - 1 - chance.below(reach.min(to)), to));
        }
    }
    lines.sort_unstable();
    lines.dedup();
    (sizes, lines)
}

fn overlap(one: &Rect, other: &Rect) -> bool {
    let meets = |a: f64, long: f64, b: f64, other: f64| a < b + other && b < a + long;
    meets(one.at.x, one.size.width, other.at.x, other.size.width)
        && meets(one.at.y, one.size.height, other.at.y, other.size.height)
}

/// Whether a piece of a line runs through the inside of a box: cut off what is outside, side by side.
fn runs_through(from: Point, to: Point, rect: &Rect) -> bool {
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    let inside = 1e-6;
    for (start, way, low, high) in [
        (from.x, to.x - from.x, rect.at.x + inside, rect.at.x + rect.size.width - inside),
        (from.y, to.y - from.y, rect.at.y + inside, rect.at.y + rect.size.height - inside),
    ] {
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

#[test]
fn no_box_overlaps_another_and_no_line_runs_through_a_box_in_a_thousand_graphs() {
    for seed in 0..1000 {
        let (sizes, lines) = graph(seed);
        let layout = lay_out(&sizes, &lines);
        assert_eq!((layout.boxes.len(), layout.lines.len()), (sizes.len(), lines.len()));
        for (number, one) in layout.boxes.iter().enumerate() {
            assert_eq!(one.size, sizes[number]);
            let is_in = one.at.x >= -1e-6 && one.at.x + one.size.width <= layout.size.width + 1e-6;
            assert!(
                is_in && one.at.y >= 0.0 && one.at.y + one.size.height <= layout.size.height,
                "seed {seed}: {number}"
            );
            for (behind, other) in layout.boxes.iter().enumerate().skip(number + 1) {
                assert!(!overlap(one, other), "seed {seed}: box {number} and box {behind}");
            }
        }
        for (points, line) in layout.lines.iter().zip(&lines) {
            let (first, last) = (points.first().unwrap(), points.last().unwrap());
            let (from, to) = (&layout.boxes[line.0], &layout.boxes[line.1]);
            assert_eq!((first.y, last.y), (from.at.y + from.size.height, to.at.y), "seed {seed}: {line:?}");
            assert!(first.x > from.at.x && first.x < from.at.x + from.size.width, "seed {seed}: {line:?}");
            assert!(last.x > to.at.x && last.x < to.at.x + to.size.width, "seed {seed}: {line:?}");
            for piece in points.windows(2) {
                assert!(piece[0].y <= piece[1].y, "seed {seed}: {line:?} goes up");
                let hit = layout.boxes.iter().position(|rect| runs_through(piece[0], piece[1], rect));
                assert_eq!(hit, None, "seed {seed}: {line:?} runs through a box");
            }
        }
    }
}

#[test]
fn a_line_of_boxes_is_straight() {
    let sizes = vec![Size { width: 100.0, height: 30.0 }; 20];
    let lines: Vec<(usize, usize)> = (1..20).map(|to| (to - 1, to)).collect();
    let layout = lay_out(&sizes, &lines);
    assert!(layout.boxes.iter().all(|rect| rect.at.x == 0.0), "{:?}", layout.boxes);
    assert!(layout.lines.iter().flatten().all(|point| point.x == 50.0));
    assert_eq!(layout.size.width, 100.0);
}

#[test]
fn parts_that_need_not_cross_do_not() {
    // Two lines side by side, whose boxes come in turns; and a fork whose ends come in the other order.
    let sizes = vec![Size { width: 50.0, height: 20.0 }; 20];
    let lines: Vec<(usize, usize)> = (2..20).map(|to| (to - 2, to)).collect();
    assert_eq!(crossed(&sizes, &lines), 0);
    let lines = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4)];
    assert_eq!(crossed(&sizes[..7], &lines), 0);
}

fn crossed(sizes: &[Size], lines: &[(usize, usize)]) -> u64 {
    let layers = layers::of(sizes.len(), lines.iter());
    let mut slots = slots::Slots::new(sizes, lines, &layers);
    order::settle(&mut slots);
    let mut places = vec![0; slots.slots.len()];
    for layer in &slots.layers {
        layer.iter().enumerate().for_each(|(place, &slot)| places[slot as usize] = place as u32);
    }
    order::crossings(&slots, &places)
}

#[test]
fn many_boxes_that_wait_for_nothing_are_no_single_row() {
    let sizes = vec![Size { width: 100.0, height: 30.0 }; 10_000];
    let layout = lay_out(&sizes, &[]);
    assert!(layout.size.width < 30_000.0 && layout.size.height < 30_000.0, "{:?}", layout.size);
}

#[test]
fn nothing_is_drawn_of_nothing() {
    let layout = lay_out(&[], &[]);
    assert_eq!((layout.boxes.len(), layout.size.width, layout.size.height), (0, 0.0, 0.0));
}

#[test]
fn time_grows_with_the_graph_and_not_with_its_square() {
    // A step as models have it: a line, with a long line from each layer's beginning to its end.
    let of = |count: usize| {
        let sizes = vec![Size { width: 120.0, height: 40.0 }; count];
        let mut lines: Vec<(usize, usize)> = (1..count).map(|to| (to - 1, to)).collect();
        lines.extend((0..count.saturating_sub(40)).step_by(7).map(|from| (from, from + 40)));
        lines.extend((0..count.saturating_sub(3)).step_by(5).map(|from| (from, from + 3)));
        let began = std::time::Instant::now();
        assert_eq!(lay_out(&sizes, &lines).boxes.len(), count);
        began.elapsed().as_secs_f64()
    };
    let best = |count| (0..3).map(|_| of(count)).fold(f64::INFINITY, f64::min);
    let (small, large) = (best(2_000), best(20_000));
    assert!(large < 40.0 * small.max(1e-3), "{small} s for 2,000 boxes, {large} s for 20,000");
}

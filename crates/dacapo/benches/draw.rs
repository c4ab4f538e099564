//! What a drawing costs: `Report::to_svg` of ever larger reports.
//!
//! Runs each once and small under `cargo test`; under `cargo bench -p dacapo --bench draw` in full, the best of some runs. Only
//! the host is measured, in time of this thread on a processor, so that what else the machine does counts little. In full it is an
//! error if 10,000 ops take 1 s or more, or ten times as many more than 15 times as long.

use std::hint::black_box;
use std::time::Instant;

use dacapo::graph::Edge;
use dacapo::inspect::{Geometry, Kind, Node, Report};

/// The longest that 10,000 ops may take, in milliseconds.
const LIMIT_MS: f64 = 1000.0;
/// How many times as long 100,000 may take.
const GROWTH_MAX: f64 = 15.0;

fn main() {
    let is_full = std::env::args().any(|argument| argument == "--bench");
    let sizes: &[usize] = if is_full { &[1_000, 3_000, 10_000, 30_000, 100_000] } else { &[10, 300] };
    println!("{:<28} {:>7} {:>9} {:>12} {:>10} {:>9}", "report", "ops", "edges", "best ms", "us an op", "MB");
    let mut wrong = Vec::new();
    for (name, make) in REPORTS {
        let mut best_ms = Vec::new();
        for &ops in sizes {
            let report = make(ops);
            let (best, bytes) = best_of(if is_full { (200_000 / ops).clamp(5, 40) } else { 1 }, &report);
            let (edges, each, mb) = (report.edges.len(), 1e3 * best / ops as f64, bytes as f64 / 1e6);
            println!("{name:<28} {ops:>7} {edges:>9} {best:>12.2} {each:>10.2} {mb:>9.2}");
            best_ms.push((ops, best));
        }
        let of = |ops: usize| best_ms.iter().find(|(one, _)| *one == ops).map(|(_, best)| *best);
        if let (Some(small), Some(large)) = (of(10_000), of(100_000)) {
            let growth = large / small;
            println!("{name}: 100,000 ops take {growth:.1} times as long as 10,000");
            if small >= LIMIT_MS || growth > GROWTH_MAX {
                wrong.push(format!("{name}: 10,000 ops in {small:.0} ms, and {growth:.1} times that for 100,000"));
            }
        }
    }
    assert!(wrong.is_empty(), "above {LIMIT_MS} ms or {GROWTH_MAX} times:\n{}", wrong.join("\n"));
}

/// The shortest of so many runs, in milliseconds, and the size of the drawing.
fn best_of(runs: usize, report: &Report) -> (f64, usize) {
    let run = |_| {
        let (start, busy) = (Instant::now(), processor_ms());
        let svg = black_box(black_box(report).to_svg());
        let passed = start.elapsed().as_secs_f64() * 1e3;
        let took = busy.zip(processor_ms()).map_or(passed, |(before, after)| after - before);
        assert!(svg.ends_with("</svg>\n"));
        (took, svg.len())
    };
    (0..runs).map(run).fold((f64::INFINITY, 0), |best, one| if one.0 < best.0 { one } else { best })
}

/// How long this thread has run on a processor, if the system tells.
fn processor_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e6)
}

/// A report of so many ops.
type Make = fn(usize) -> Report;

const REPORTS: [(&str, Make); 3] =
    [("a line with skips", line_with_skips), ("a wide fan", wide_fan), ("layers under labels", layers_under_labels)];

/// Each op behind the one before; some over a few, and some over many.
fn line_with_skips(ops: usize) -> Report {
    let long = (0..ops.saturating_sub(40)).step_by(7).map(|from| (from, from + 40));
    let short = (0..ops.saturating_sub(3)).step_by(5).map(|from| (from, from + 3));
    report((0..ops).map(|_| op("step", "")), (1..ops).map(|to| (to - 1, to)).chain(long).chain(short))
}

/// One before all, one behind all, and nothing between the others.
fn wide_fan(ops: usize) -> Report {
    let last = ops - 1;
    report((0..ops).map(|_| op("branch", "")), (1..last).flat_map(|one| [(0, one), (one, last)]))
}

/// Ten ops a layer: three side by side under a label, the rest one behind the other; each layer takes from the one before.
fn layers_under_labels(ops: usize) -> Report {
    let label = |at: usize| match at % 10 {
        1..=4 => format!("layer{}/attend", at / 10),
        5..=8 => format!("layer{}/mlp", at / 10),
        _ => format!("layer{}", at / 10),
    };
    let before = |at: usize| match at % 10 {
        1..=3 => vec![at - at % 10],
        4 => vec![at - 1, at - 2, at - 3],
        9 => vec![at - 1, at - 9],
        _ => vec![at.saturating_sub(1)],
    };
    let edges = (1..ops).flat_map(|at| before(at).into_iter().map(move |from| (from, at)));
    report((0..ops).map(|at| op("linear", &label(at))), edges)
}

fn op(name: &str, label: &str) -> Node {
    let mut node = Node::new(Kind::Kernel, name);
    node.label = label.to_string();
    node.geometry = Some(Geometry::new([4, 1, 1], [256, 1, 1], 0));
    node
}

fn report(nodes: impl Iterator<Item = Node>, edges: impl Iterator<Item = (usize, usize)>) -> Report {
    let edges = edges.map(|(before, after)| (before, after, Edge::Full)).collect();
    Report::new("a device", "", nodes.collect(), Vec::new(), edges)
}

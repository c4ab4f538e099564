//! Fields changed to nonsense.

use dacapo::graph::Edge;
use dacapo::inspect::{Access, Argument, Bytes, Finding, FoundAt, Geometry, How, Inside, Kind, Place, Report, Value};
use dacapo::page::Page;
use dacapo::profile::{Clock, Profile};

use crate::kit::{Dice, op, profiles, rich, show};

const KINDS: [Kind; 10] = [
    Kind::Kernel,
    Kind::Copy,
    Kind::Fill,
    Kind::Upload,
    Kind::Download,
    Kind::Foreign,
    Kind::Branch,
    Kind::Guarded,
    Kind::Loop,
    Kind::Join,
];

fn confuse_report(report: &mut Report, dice: &mut Dice) {
    for _ in 0..1 + dice.below(6) {
        let at = dice.below(report.nodes.len());
        let memory = dice.below(report.memories.len());
        let odd = dice.odd();
        match dice.below(22) {
            0 => report.nodes[at].index = odd as usize,
            1 => report.nodes[at].inside = Some(Inside::new(odd as usize, dice.odd() as usize)),
            2 => report.nodes[at].kind = KINDS[dice.below(KINDS.len())],
            3 => report.nodes[at].kernel = Some(odd as usize),
            4 => {
                let (start, end) = (dice.odd(), dice.odd());
                let how = How::Slice { memory: odd as usize, bytes: Bytes::new(start, end), access: Access::Write };
                report.nodes[at].arguments.push(Argument::new("x", how));
            }
            5 => {
                let mut value = Value::new("NaN", None);
                value.number = [Some(f64::NAN), Some(f64::INFINITY), Some(-0.0), None][dice.below(4)];
                report.nodes[at].arguments.push(Argument::new("NaN", How::Baked { value }));
            }
            6 => (report.nodes[at].bytes_read, report.nodes[at].bytes_written) = (odd, dice.odd()),
            7 => report.nodes[at].geometry = Some(Geometry::new([u32::MAX; 3], [0; 3], u32::MAX)),
            8 => report.nodes[at].location = Some(Place::new("", u32::MAX, 0)),
            9 => report.nodes.swap(0, at),
            10 => report.memories[memory].index = odd as usize,
            11 => report.memories[memory].bytes = odd,
            12 => report.memories[memory].offset = Some(odd),
            13 => report.memories[memory].alignment = odd,
            14 => report.edges.push((odd as usize, dice.odd() as usize, Edge::Signals)),
            15 => report.edges.reverse(),
            16 => report.edges.extend(report.edges.clone()),
            17 => report.critical_path.nodes.push(odd as usize),
            18 => report.critical_path.cost = odd,
            19 => {
                (report.totals.nodes, report.totals.edges_waiting, report.totals.cost) = (odd as usize, usize::MAX, odd)
            }
            20 => report.version = odd as u32,
            _ => {
                let node = report.nodes[at].clone();
                report.nodes.push(node);
            }
        }
    }
}

fn confuse_profile(profile: &mut Profile, dice: &mut Dice) {
    for _ in 0..1 + dice.below(6) {
        let at = dice.below(profile.ops.len());
        let odd = dice.odd();
        match dice.below(16) {
            0 => profile.ops[at].index = odd as usize,
            1 => profile.ops[at].inside = Some(odd as usize),
            2 => profile.ops[at].kind = KINDS[dice.below(KINDS.len())],
            3 => profile.ops[at].lane = odd as usize,
            4 => (profile.ops[at].start_ns, profile.ops[at].end_ns) = (odd, dice.odd()),
            5 => profile.ops[at].time_ns = odd,
            6 => profile.ops[at].gap_ns = odd,
            7 => profile.ops[at].runs = odd,
            8 => profile.ops[at].after.push(odd as usize),
            9 => profile.ops[at].critical = !profile.ops[at].critical,
            10 => profile.total_ns = odd,
            11 => (profile.step_ns, profile.stamp_ns) = (odd, dice.odd()),
            12 => profile.critical_path.push(odd as usize),
            13 => profile.clock = [Clock::Gpu, Clock::Software][dice.below(2)],
            14 => profile.ops.truncate(1 + dice.below(12)),
            _ => {
                let op = profile.ops[at].clone();
                profile.ops.push(op);
            }
        }
    }
}

#[test]
fn reports_of_nonsense_are_shown() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let (mut report, mut before) = (rich(), rich());
        confuse_report(&mut report, &mut dice);
        if seed % 2 == 0 {
            confuse_report(&mut before, &mut dice);
        }
        let shown = std::panic::catch_unwind(|| show(&Page::new(report).since(before)));
        assert!(shown.is_ok(), "seed {seed}");
    }
}

#[test]
fn profiles_of_nonsense_are_shown() {
    let (replay, eager) = profiles();
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let (mut replay, mut eager) = (replay.clone(), eager.clone());
        confuse_profile(&mut replay, &mut dice);
        confuse_profile(&mut eager, &mut dice);
        let shown = std::panic::catch_unwind(|| show(&Page::new(rich()).profile(replay).profile(eager)));
        assert!(shown.is_ok(), "seed {seed}");
    }
}

#[test]
fn a_number_beyond_the_last_is_shown() {
    for far in [12, 1 << 40, usize::MAX] {
        let mut report = rich();
        report.nodes[3].index = far;
        show(&Page::new(report));
    }
}

#[test]
fn parts_of_other_graphs_are_shown() {
    let (replay, eager) = profiles();
    let elsewhere = FoundAt::new("elsewhere", "", None);
    let findings = vec![Finding::new("odd", "", "", vec![elsewhere]), Finding::new("", "", "", Vec::new())];
    let other = Report::new("", "", vec![op("only", "", &[])], Vec::new(), Vec::new());
    for report in [Report::new("", "", Vec::new(), Vec::new(), Vec::new()), other, rich()] {
        let page = Page::new(report.clone()).profile(replay.clone()).profile(eager.clone()).findings(findings.clone());
        show(&page);
        show(&page.clone().since(rich()));
        show(&page.since(Report::new("", "", Vec::new(), Vec::new(), Vec::new())));
    }
}

#[test]
fn a_profile_without_ops_or_time_is_shown() {
    let (mut replay, _) = profiles();
    replay.total_ns = 0;
    show(&Page::new(rich()).profile(replay.clone()));
    replay.ops.clear();
    show(&Page::new(rich()).profile(replay));
}

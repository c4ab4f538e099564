//! What stamps mean, on numbers made by hand and at random.

use proptest::prelude::*;

use super::timeline::{Timeline, timeline};
use crate::inspect::Kind;
use crate::lower::OpStamps;
use crate::profile::{Clock, Profile, Timed, VERSION};

//   0 ──► 1 ──► 3      a stamp costs 10; op 2 overlaps op 1
//   └───► 2 ────┘
const DIAMOND: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];
const STAMPS: [u64; 12] = [1000, 1010, 1025, 1035, 1045, 1155, 1165, 1275, 1175, 1475, 1485, 1505];

/// Of ops that ran once, none inside another.
fn once(stamps: &[u64], edges: &[(usize, usize)]) -> Timeline {
    let of = |pair: &[u64]| OpStamps { before: pair[0], behind: pair[1], sum: pair[1] - pair[0], runs: 1 };
    let ops: Vec<OpStamps> = stamps[4..].chunks(2).map(of).collect();
    timeline(&stamps[..4], &ops, edges, &vec![None; ops.len()])
}

#[test]
fn times_and_gaps_have_the_stamps_taken_off() {
    let line = once(&STAMPS, &DIAMOND);
    assert_eq!((line.stamp, line.step, line.total), (10, 5, 470));
    let times: Vec<_> = line.ops.iter().map(|op| (op.start, op.end, op.time, op.gap)).collect();
    assert_eq!(times, [(10, 120, 100, 0), (130, 240, 100, 0), (140, 440, 290, 10), (450, 470, 10, 0)]);
}

#[test]
fn the_critical_path_is_what_was_waited_for_longest_and_lanes_show_overlap() {
    let line = once(&STAMPS, &DIAMOND);
    assert_eq!(line.critical_path, [0, 2, 3]);
    let lanes: Vec<_> = line.ops.iter().map(|op| op.lane).collect();
    assert_eq!(lanes, [0, 0, 1, 0]);
}

#[test]
fn a_graph_without_ops_has_no_path() {
    let line = once(&STAMPS[..4], &[]);
    assert_eq!((line.total, line.critical_path.len(), line.ops.len()), (0, 0, 0));
}

#[test]
fn what_is_inside_a_loop_is_told_with_it_and_is_not_on_the_path() {
    // 0, then a loop (1) of three rounds with one op (2) and a branch (3) that never ran (4).
    let op = |before, behind, sum, runs| OpStamps { before, behind, sum, runs };
    let ops = [op(30, 50, 20, 1), op(60, 200, 140, 1), op(170, 190, 90, 3), op(192, 195, 12, 3), op(0, 0, 0, 0)];
    let inside = [None, None, Some(1), Some(1), Some(3)];
    let line = timeline(&[0, 10, 20, 30], &ops, &[(0, 1), (2, 3)], &inside);
    assert_eq!((line.total, &line.critical_path[..]), (170, &[0, 1][..]));
    let times: Vec<_> = line.ops.iter().map(|op| (op.time, op.runs)).collect();
    assert_eq!(times, [(10, 1), (130, 1), (60, 3), (0, 3), (0, 0)]);
}

#[test]
fn what_is_inside_an_op_does_not_overlap_with_it() {
    let op = |(before, behind)| OpStamps { before, behind, sum: behind - before, runs: 1 };
    let lanes = |ops: &[(u64, u64)], inside: &[Option<usize>]| {
        let ops: Vec<OpStamps> = ops.iter().copied().map(op).collect();
        let line = timeline(&[0, 0], &ops, &[], inside);
        line.ops.iter().map(|op| op.lane).collect::<Vec<_>>()
    };
    // A line: a loop (0) with an op (1), a branch (2) with one op (3), and an op behind the loop.
    let inside = [None, Some(0), Some(0), Some(2), None];
    assert_eq!(lanes(&[(10, 90), (20, 30), (40, 80), (50, 70), (90, 95)], &inside), [0; 5]);
    // The branch was not taken in the last round: its op ran before.
    assert_eq!(lanes(&[(10, 90), (60, 65), (70, 80), (20, 30), (90, 95)], &inside), [0; 5]);
    // Two at a time in the loop, and the second op of the one that is in lane 1; a third one beside the loop.
    let inside = [None, Some(0), Some(0), Some(2), None];
    assert_eq!(lanes(&[(10, 90), (20, 60), (30, 80), (40, 70), (35, 95)], &inside), [0, 0, 1, 1, 2]);
    // What is inside stays with its outer one, though another lane is free.
    assert_eq!(lanes(&[(10, 20), (15, 90), (30, 40), (35, 50)], &[None, None, Some(1), None]), [0, 1, 1, 0]);
    // A clock that went wrong: what ends behind its outer one is not drawn inside it.
    assert_eq!(lanes(&[(10, 50), (20, 60)], &[None, Some(0)]), [0, 1]);
}

proptest! {
    /// Stamps of any graph whose ops begin behind those they wait for: no op is longer than its interval, ops in a lane do
    /// not overlap, and the path leads along edges from an op that waits for nothing to the one that ends last.
    #[test]
    fn intervals_lanes_and_path_agree(
        lengths in prop::collection::vec((0u64..500, 0u64..100, prop::collection::vec(any::<prop::sample::Index>(), 0..3)), 1..40),
        stamp in 0u64..20,
    ) {
        let (mut stamps, mut edges, mut ends) = (vec![0, stamp, 2 * stamp, 3 * stamp], Vec::new(), Vec::<u64>::new());
        for (op, (length, wait, before)) in lengths.iter().enumerate() {
            let mut ready = 3 * stamp;
            for index in before.iter().filter(|_| op > 0) {
                let before = index.index(op);
                edges.push((before, op));
                ready = ready.max(ends[before]);
            }
            stamps.extend([ready + wait, ready + wait + length]);
            ends.push(ready + wait + length);
        }
        edges.sort_unstable();
        edges.dedup();
        let line = once(&stamps, &edges);
        for op in &line.ops {
            prop_assert!(op.start <= op.end && op.time <= op.end - op.start && op.end <= line.total);
            for &before in &op.after {
                prop_assert!(line.ops[before].end <= op.start);
            }
        }
        for (a, one) in line.ops.iter().enumerate() {
            for two in &line.ops[a + 1..] {
                let overlap = one.start < two.end && two.start < one.end;
                prop_assert!(one.lane != two.lane || !overlap);
            }
        }
        let path = &line.critical_path;
        prop_assert!(line.ops[path[0]].after.is_empty());
        prop_assert_eq!(line.ops[path[path.len() - 1]].end, line.total);
        for pair in path.windows(2) {
            prop_assert!(edges.contains(&(pair[0], pair[1])));
        }
        // Stamps and all, the path is as long as the replay.
        let along: u64 = path.iter().map(|&op| {
            let ready = line.ops[op].after.iter().map(|&before| line.ops[before].end).max().unwrap_or(0);
            line.ops[op].end - ready
        }).sum();
        prop_assert_eq!(along, line.total);
    }
}

fn profile(clock: Clock) -> Profile {
    let line = once(&STAMPS, &DIAMOND);
    let ops = line.ops.into_iter().enumerate().map(|(index, op)| Timed {
        index,
        kind: Kind::Kernel,
        name: format!("k{index}"),
        label: "step".into(),
        location: None,
        start_ns: op.start,
        end_ns: op.end,
        time_ns: op.time,
        runs: op.runs,
        inside: None,
        gap_ns: op.gap,
        after: op.after,
        critical: line.critical_path.contains(&index),
        lane: op.lane,
    });
    Profile {
        version: VERSION,
        device: "NVIDIA H200".into(),
        label: "demo".into(),
        eager: false,
        clock,
        step_ns: line.step,
        stamp_ns: line.stamp,
        total_ns: line.total,
        ops: ops.collect(),
        critical_path: line.critical_path,
    }
}

#[test]
fn the_table_shows_every_op_its_share_and_the_path() {
    let text = profile(Clock::Gpu).to_string();
    let expected = "\
profile of graph `demo` on NVIDIA H200: one replay, 4 ops
critical path (*) 0.410 us; all ops together 0.500 us; at most 2 at a time
the stamps took part: 0.470 us with them; 0.010 us, what one costs, is taken off each time and gap; the clock moves in steps of 5 ns
  op   start, us  time, us   share  gap before, us  name  label  at
  0 *      0.010     0.100  20.0 %           0.000  k0    step
  1        0.130     0.100  20.0 %           0.000  k1    step
  2 *      0.140     0.290  58.0 %           0.010  k2    step
  3 *      0.450     0.010   2.0 %           0.000  k3    step
";
    assert_eq!(text, expected);
    let by_time = format!("{:#}", profile(Clock::Gpu));
    assert!(by_time.lines().nth(4).is_some_and(|line| line.starts_with("  2 *")), "{by_time}");
}

#[test]
fn numbers_of_the_software_device_are_never_called_times() {
    let text = profile(Clock::Software).to_string();
    assert!(text.contains("no times") && text.contains("start, counted"), "{text}");
    assert!(!text.contains(" us"), "{text}");
    #[cfg(feature = "json")]
    assert!(profile(Clock::Software).trace().contains("no times"));
}

#[test]
fn an_eager_run_is_called_one() {
    let text = Profile { eager: true, label: String::new(), ..profile(Clock::Gpu) }.to_string();
    assert!(text.starts_with("profile of an eager run on NVIDIA H200: 4 ops, one after the other\n"), "{text}");
}

#[cfg(feature = "json")]
#[test]
fn a_profile_that_was_written_is_the_one_that_is_read() {
    let mut eager = Profile { eager: true, ..profile(Clock::Software) };
    eager.ops[3].inside = Some(2);
    eager.ops[3].location = Some(crate::inspect::Place::new("src/main.rs", 3, 9));
    for profile in [profile(Clock::Gpu), eager] {
        assert_eq!(Profile::from_json(&profile.to_json()), Ok(profile));
    }
}

#[cfg(feature = "json")]
#[test]
fn a_text_that_is_no_profile_of_this_version_is_refused_with_the_reason() {
    use crate::profile::ReadError;
    let text = profile(Clock::Gpu).to_json();
    let newer = text.replacen("\"version\": 1", "\"version\": 7", 1);
    assert_eq!(Profile::from_json(&newer), Err(ReadError::Version { found: 7 }));
    let message = ReadError::Version { found: 7 }.to_string();
    assert!(
        message.contains("version 7") && message.contains("reads version 1") && message.contains("help:"),
        "{message}"
    );
    for text in ["", "{", "[]", "{}", "{\"version\": \"1\"}", "{\"version\": 1}"] {
        assert!(matches!(Profile::from_json(text), Err(ReadError::Syntax(_))), "{text}");
    }
    type Break = fn(&mut Profile);
    let cases: [(Break, &str); 5] = [
        (|p| p.ops[1].index = 2, "op 1 says that it is op 2"),
        (|p| p.ops[1].after.push(1), "op 1 comes after op 1"),
        (|p| p.ops[1].after.push(9), "op 1 comes after op 9"),
        (|p| p.ops[2].inside = Some(3), "op 2 is inside op 3"),
        (|p| p.critical_path.push(4), "through op 4, and there are 4"),
    ];
    for (break_it, expected) in cases {
        let mut broken = profile(Clock::Gpu);
        break_it(&mut broken);
        let message = Profile::from_json(&broken.to_json()).expect_err("it contradicts itself").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[cfg(feature = "json")]
#[test]
fn the_trace_is_json_with_an_event_for_each_op_and_an_arrow_for_each_step_of_the_path() {
    let trace: serde_json::Value = serde_json::from_str(&profile(Clock::Gpu).trace()).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).collect::<Vec<_>>();
    assert_eq!((of("X").len(), of("s").len(), of("f").len(), of("M").len()), (4, 2, 2, 3));
    let third = of("X")[2];
    assert_eq!(
        (third["name"].as_str(), third["ts"].as_f64(), third["dur"].as_f64()),
        (Some("k2"), Some(0.14), Some(0.3))
    );
    assert_eq!((third["tid"].as_u64(), third["args"]["critical"].as_bool()), (Some(1), Some(true)));
}

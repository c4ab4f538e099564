//! Where temps lie.

use dacapo::flow::nonzero;
use dacapo::inspect::{How, Kind, Memory, MemoryKind, Report};
use dacapo::{Buffer, Device, Recorder, Result, Scalar, Software, baked, copy, fill};

use crate::kit::seen;

/// Fills and copies through temps of several sizes, some of them in a body. Only temps are filled.
struct Work {
    flag: Scalar<u32>,
    out: Vec<Buffer<u32>>,
}

impl Work {
    fn new(device: &Device) -> Work {
        let out = (0..4).map(|_| device.zeros(512).unwrap()).collect();
        Work { flag: device.scalar(1).unwrap(), out }
    }

    fn record(&mut self, r: &mut Recorder<'_>) -> Result<()> {
        let Work { flag, out } = self;
        // Two chains that may overlap. In each, a temp begins with what the one before has left.
        for (chain, lengths) in [[64usize, 300, 7], [512, 9, 65]].into_iter().enumerate() {
            for length in lengths {
                let mut temp = r.alloc::<u32>(length)?;
                r.run(copy(&out[chain][..length], &mut temp))?;
                r.run(fill(&mut temp, baked(length as u32)))?;
                r.run(copy(&temp, &mut out[chain][..length]))?;
            }
        }
        let (mut kept, mut empty) = (r.alloc::<u32>(100)?, r.alloc::<u32>(0)?);
        r.run(fill(&mut kept, baked(1)))?;
        r.run(fill(&mut empty, baked(1)))?;
        r.when(nonzero(&*flag), |r: &mut Recorder<'_>| {
            let mut inner = r.alloc::<u32>(200)?;
            r.run(fill(&mut inner, baked(3)))?;
            r.run(copy(&inner, &mut out[2][..200]))
        })?;
        r.run(copy(&kept, &mut out[3][..100]))
    }
}

/// The memory of each op that fills something.
fn filled(report: &Report) -> Vec<&Memory> {
    let of = |how: &How| match how {
        How::Slice { memory, .. } => Some(&report.memories[*memory]),
        _ => None,
    };
    let fills = report.nodes.iter().filter(|node| node.kind == Kind::Fill && node.bytes_written > 0);
    fills.filter_map(|node| node.arguments.first().and_then(|argument| of(&argument.how))).collect()
}

fn bytes(memory: &Memory) -> Option<std::ops::Range<u64>> {
    memory.offset.map(|offset| offset..offset + memory.bytes)
}

/// The temps that share bytes, as pairs of indices.
fn sharing(report: &Report) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (one, first) in report.memories.iter().enumerate() {
        for (other, second) in report.memories.iter().enumerate().skip(one + 1) {
            let (Some(first), Some(second)) = (bytes(first), bytes(second)) else { continue };
            if first.start < second.end && second.start < first.end {
                pairs.push((one, other));
            }
        }
    }
    pairs
}

/// Whether every op that touches the one comes before every op that touches the other, or the other way round. A body counts
/// as its branch.
fn are_apart_in_time(report: &Report, (one, other): (usize, usize)) -> bool {
    let outermost = |mut node: usize| {
        while let Some(inside) = report.nodes[node].inside {
            node = inside.node;
        }
        node
    };
    let touching = |memory: usize| -> Vec<usize> {
        let touches =
            |how: &How| matches!(how, How::Slice { memory: m, .. } | How::Scalar { memory: m, .. } if *m == memory);
        let nodes = report.nodes.iter().filter(|node| node.arguments.iter().any(|argument| touches(&argument.how)));
        nodes.map(|node| outermost(node.index)).collect()
    };
    let mut reaches = vec![vec![false; report.nodes.len()]; report.nodes.len()];
    // Edges are sorted by where they begin and lead forward: from the last to the first, what is behind is known.
    for &(before, after, _) in report.edges.iter().rev() {
        let behind = reaches[after].clone();
        reaches[before].iter_mut().zip(behind).for_each(|(reached, behind)| *reached |= behind);
        reaches[before][after] = true;
    }
    let all_before = |first: &[usize], second: &[usize]| first.iter().all(|&a| second.iter().all(|&b| reaches[a][b]));
    let (first, second) = (touching(one), touching(other));
    all_before(&first, &second) || all_before(&second, &first)
}

#[test]
fn the_offset_of_a_temp_is_where_the_driver_was_told_that_it_is() {
    for seed in 0..4 {
        let (device, seen) = seen(Software::new().seed(seed));
        let mut work = Work::new(&device);
        seen.filled();
        let graph = device.record(|r| work.record(r)).unwrap();
        let report = graph.inspect();
        let (told, filled) = (seen.filled(), filled(&report));
        assert_eq!((told.len(), filled.len()), (8, 8), "one memset node for each temp with bytes");
        let base = told[0] - filled[0].offset.expect("a temp lies somewhere");
        for (told, memory) in told.iter().zip(filled) {
            assert_eq!(Some(told - base), memory.offset, "{}", memory.name);
        }
        for memory in &report.memories {
            let is_placed = memory.kind == MemoryKind::Temp && memory.bytes > 0;
            assert_eq!(memory.offset.is_some(), is_placed, "{}", memory.name);
            assert!(bytes(memory).is_none_or(|bytes| bytes.end <= graph.memory().temps() as u64));
        }
    }
}

#[test]
fn temps_share_bytes_only_where_one_is_over_before_the_other_begins_and_some_do() {
    let device = Device::software().unwrap();
    let mut work = Work::new(&device);
    let report = device.record(|r| work.record(r)).unwrap().inspect();
    let pairs = sharing(&report);
    assert!(pairs.len() >= 3, "{pairs:?}");
    for pair in pairs {
        assert!(are_apart_in_time(&report, pair), "{pair:?}\n{report}");
    }
    // The question can be answered with no: the first temps of the two chains may be alive together.
    let temps: Vec<usize> = filled(&report).iter().map(|memory| memory.index).collect();
    assert!(!are_apart_in_time(&report, (temps[0], temps[3])));
}

#[test]
fn a_recording_that_was_only_inspected_has_the_offsets_of_a_graph() {
    let device = Device::software().unwrap();
    let mut work = Work::new(&device);
    let inspected = device.graph().inspect(|r: &mut Recorder<'_>| work.record(r)).unwrap();
    let graph = device.record(|r| work.record(r)).unwrap();
    assert_eq!(inspected.memories, graph.inspect().memories);
    let arena = device.arena(1 << 16).unwrap();
    let given = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| work.record(r)).unwrap();
    assert_eq!(inspected.memories, given.inspect().memories, "counted from where the arena begins");
}

#[test]
fn temps_with_memory_of_their_own_have_no_offset() {
    let device = Device::software().unwrap();
    let mut work = Work::new(&device);
    let inspected = device.graph().apart().inspect(|r: &mut Recorder<'_>| work.record(r)).unwrap();
    let graph = device.graph().apart().record(|r: &mut Recorder<'_>| work.record(r)).unwrap();
    for report in [inspected, graph.inspect()] {
        assert!(report.memories.iter().any(|memory| memory.kind == MemoryKind::Temp));
        assert!(report.memories.iter().all(|memory| memory.offset.is_none()));
    }
}

//! Collectives give what plain Rust gives, for every type and reduction, run now and replayed, whatever the seed.
#![allow(
    clippy::undocumented_unsafe_blocks,
    non_upper_case_globals,
    reason = "driver calls of a test, with live handles and valid pointers; the header's names"
)]

mod kit;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;
use dacapo_sim::{Detectors, Options, Time};
use half::{bf16, f16};
use kit::ok;
use kit::ranks::*;

const RANKS: [usize; 5] = [1, 2, 3, 4, 8];

#[test]
fn a_sum_of_floats_eager_and_replayed() {
    in_time(|| {
        for (ranks, seed) in RANKS.into_iter().flat_map(|ranks| (0..20).map(move |seed| (ranks, seed))) {
            let r = Ranks::seeded(ranks, seed);
            let buffers: Vec<u64> = (0..ranks).map(|rank| r.floats(&[rank as f32 + 1.0; 5])).collect();
            let sum = (1..=ranks).sum::<usize>() as f32;
            let out: Vec<u64> = (0..ranks).map(|_| r.device.buffer(20)).collect();
            (0..ranks).for_each(|rank| fine(r.all_reduce(rank, buffers[rank], out[rank], 5)));
            r.sync();
            (0..ranks).for_each(|rank| assert_eq!(r.read_floats(out[rank], 5), [sum; 5]));
            let execs: Vec<_> = (0..ranks)
                .map(|rank| {
                    r.instantiate(r.capture(rank, || fine(r.all_reduce(rank, buffers[rank], buffers[rank], 5))))
                })
                .collect();
            for _ in 0..10 {
                (0..ranks).for_each(|rank| r.launch(rank, execs[rank]));
            }
            r.sync();
            let sum = sum * (ranks as f32).powi(9);
            (0..ranks).for_each(|rank| assert_eq!(r.read_floats(buffers[rank], 5), [sum; 5]));
            r.destroy();
            r.all_is_well();
        }
    });
}

/// Numbers of a type for a rank: whole ones over the whole range, floats of both signs that need rounding.
fn numbers(datatype: ncclDataType, rank: usize, count: usize) -> Vec<u8> {
    let mix = |at: usize| ((rank * 31 + at * 7 + 3) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3;
    let float = |at: usize| (mix(at) % 2000) as f64 * 0.0037 - 3.3;
    let one = |at: usize| match datatype {
        ncclInt8 | ncclUint8 => vec![mix(at) as u8],
        ncclInt32 | ncclUint32 => (mix(at) as u32).to_le_bytes().to_vec(),
        ncclInt64 | ncclUint64 => (mix(at) << 3).to_le_bytes().to_vec(),
        ncclFloat16 => f16::from_f64(float(at)).to_le_bytes().to_vec(),
        ncclFloat32 => (float(at) as f32).to_le_bytes().to_vec(),
        ncclFloat64 => float(at).to_le_bytes().to_vec(),
        _ => bf16::from_f64(float(at)).to_le_bytes().to_vec(),
    };
    (0..count).flat_map(one).collect()
}

/// Folds in the order of the ranks, in plain Rust.
fn folded(datatype: ncclDataType, op: ncclRedOp, ranks: &[Vec<u8>]) -> Vec<u8> {
    macro_rules! whole {
        ($ty:ty) => {
            by_words(ranks, |words: &[[u8; size_of::<$ty>()]]| {
                let all = words.iter().map(|word| <$ty>::from_le_bytes(*word));
                let sum = || all.clone().fold(0, <$ty>::wrapping_add);
                let result = match op {
                    ncclSum => sum(),
                    ncclProd => all.fold(1, <$ty>::wrapping_mul),
                    ncclMax => all.max().unwrap_or(0),
                    ncclMin => all.min().unwrap_or(0),
                    _ => (i128::from(sum()) / words.len() as i128) as $ty,
                };
                result.to_le_bytes()
            })
        };
    }
    macro_rules! float {
        ($ty:ty, $from:expr) => {
            by_words(ranks, |words: &[[u8; size_of::<$ty>()]]| {
                let all = words.iter().map(|word| <$ty>::from_le_bytes(*word));
                let share: $ty = $from(1.0 / words.len() as f64);
                let result = match op {
                    ncclSum => all.reduce(|a, b| a + b),
                    ncclProd => all.reduce(|a, b| a * b),
                    ncclMax => all.reduce(|a, b| a.max(b)),
                    ncclMin => all.reduce(|a, b| a.min(b)),
                    _ => all.map(|x| x * share).reduce(|a, b| a + b),
                };
                result.expect("a rank").to_le_bytes()
            })
        };
    }
    match datatype {
        ncclInt8 => whole!(i8),
        ncclUint8 => whole!(u8),
        ncclInt32 => whole!(i32),
        ncclUint32 => whole!(u32),
        ncclInt64 => whole!(i64),
        ncclUint64 => whole!(u64),
        ncclFloat16 => float!(f16, f16::from_f64),
        ncclFloat32 => float!(f32, |x: f64| x as f32),
        ncclFloat64 => float!(f64, |x: f64| x),
        _ => float!(bf16, bf16::from_f64),
    }
}

fn by_words<const N: usize>(ranks: &[Vec<u8>], fold: impl Fn(&[[u8; N]]) -> [u8; N]) -> Vec<u8> {
    let count = ranks[0].len() / N;
    let words = |at: usize| -> Vec<[u8; N]> { ranks.iter().map(|rank| rank.as_chunks::<N>().0[at]).collect() };
    (0..count).flat_map(|at| fold(&words(at))).collect()
}

const SIZES: [usize; 10] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2];

/// Runs `call` for each rank twice: now, and as a graph that is replayed.
fn twice(r: &Ranks, mut call: impl FnMut(usize), mut check: impl FnMut(&str)) {
    let ranks = r.comms.len();
    (0..ranks).for_each(&mut call);
    r.sync();
    check("eager");
    let execs: Vec<_> = (0..ranks).map(|rank| r.instantiate(r.capture(rank, || call(rank)))).collect();
    for _ in 0..2 {
        (0..ranks).for_each(|rank| r.launch(rank, execs[rank]));
        r.sync();
    }
    check("replayed");
}

fn p(address: u64) -> *mut std::ffi::c_void {
    address as usize as *mut _
}

#[test]
fn every_type_and_reduction() {
    in_time(|| {
        for (ranks, datatype) in RANKS.into_iter().flat_map(|ranks| (0..10).map(move |datatype| (ranks, datatype))) {
            let r = Ranks::seeded(ranks, datatype as u64);
            let (count, size) = (3, SIZES[datatype as usize]);
            let given: Vec<Vec<u8>> = (0..ranks).map(|rank| numbers(datatype, rank, count * ranks)).collect();
            let send: Vec<u64> = given.iter().map(|bytes| r.buffer(bytes)).collect();
            let receive: Vec<u64> = given.iter().map(|bytes| r.device.buffer(bytes.len())).collect();
            for op in 0..5 {
                let what = format!("{ranks} ranks, type {datatype}, reduction {op}");
                let whole = folded(datatype, op, &given);
                let all = |rank: usize| unsafe {
                    fine(r.nccl.ncclAllReduce(
                        p(send[rank]),
                        p(receive[rank]),
                        count * ranks,
                        datatype,
                        op,
                        r.comms[rank],
                        r.streams[rank],
                    ));
                };
                twice(&r, all, |how| {
                    (0..ranks).for_each(|rank| assert_eq!(r.read(receive[rank], whole.len()), whole, "{how}, {what}"));
                });
                let scatter = |rank: usize| unsafe {
                    fine(r.nccl.ncclReduceScatter(
                        p(send[rank]),
                        p(receive[rank]),
                        count,
                        datatype,
                        op,
                        r.comms[rank],
                        r.streams[rank],
                    ));
                };
                let piece = count * size;
                twice(&r, scatter, |how| {
                    for rank in 0..ranks {
                        assert_eq!(r.read(receive[rank], piece), whole[rank * piece..][..piece], "{how}, {what}");
                    }
                });
                let root = ranks - 1;
                let reduce = |rank: usize| unsafe {
                    let to = if rank == root { receive[rank] } else { 0 };
                    fine(r.nccl.ncclReduce(
                        p(send[rank]),
                        p(to),
                        count,
                        datatype,
                        op,
                        root as i32,
                        r.comms[rank],
                        r.streams[rank],
                    ));
                };
                twice(&r, reduce, |how| assert_eq!(r.read(receive[root], piece), whole[..piece], "{how}, {what}"));
            }
            r.destroy();
            r.all_is_well();
        }
    });
}

#[test]
fn bytes_that_only_move() {
    in_time(|| {
        for (ranks, seed) in RANKS.into_iter().flat_map(|ranks| (0..20).map(move |seed| (ranks, seed))) {
            let r = Ranks::seeded(ranks, seed);
            let given: Vec<Vec<u8>> = (0..ranks).map(|rank| numbers(ncclUint8, rank, 4 * ranks)).collect();
            let send: Vec<u64> = given.iter().map(|bytes| r.buffer(bytes)).collect();
            let receive: Vec<u64> = given.iter().map(|bytes| r.device.buffer(bytes.len())).collect();
            let (whole, root) = (4 * ranks, seed as usize % ranks);
            let broadcast = |rank: usize| unsafe {
                let (from, to, comm, stream) = (p(send[rank]), p(receive[rank]), r.comms[rank], r.streams[rank]);
                fine(r.nccl.ncclBroadcast(from, to, ranks, ncclInt32, root as i32, comm, stream));
            };
            twice(&r, broadcast, |how| {
                (0..ranks).for_each(|rank| assert_eq!(r.read(receive[rank], whole), given[root], "{how}"));
            });
            let gathered: Vec<u8> = given.iter().flat_map(|bytes| &bytes[..4]).copied().collect();
            let gather = |rank: usize| unsafe {
                let (from, to, comm, stream) = (p(send[rank]), p(receive[rank]), r.comms[rank], r.streams[rank]);
                fine(r.nccl.ncclAllGather(from, to, 2, ncclBfloat16, comm, stream));
            };
            twice(&r, gather, |how| {
                (0..ranks).for_each(|rank| assert_eq!(r.read(receive[rank], whole), gathered, "{how}"));
            });
            // Every rank sends a piece to every rank: all in one group, or nobody could go on.
            let all_to_all = |rank: usize| unsafe {
                fine(r.nccl.ncclGroupStart());
                for peer in 0..ranks {
                    let (from, to) = (p(send[rank] + 4 * peer as u64), p(receive[rank] + 4 * peer as u64));
                    fine(r.nccl.ncclSend(from, 4, ncclUint8, peer as i32, r.comms[rank], r.streams[rank]));
                    fine(r.nccl.ncclRecv(to, 4, ncclUint8, peer as i32, r.comms[rank], r.streams[rank]));
                }
                fine(r.nccl.ncclGroupEnd());
            };
            twice(&r, all_to_all, |how| {
                for rank in 0..ranks {
                    let expected: Vec<u8> = given.iter().flat_map(|bytes| &bytes[4 * rank..][..4]).copied().collect();
                    assert_eq!(r.read(receive[rank], whole), expected, "{how}");
                }
            });
            r.destroy();
            r.all_is_well();
        }
    });
}

#[test]
fn in_place() {
    in_time(|| {
        for seed in 0..20 {
            let r = Ranks::seeded(3, seed);
            let given: Vec<Vec<u8>> = (0..3).map(|rank| numbers(ncclInt32, rank, 6)).collect();
            let fresh = || -> Vec<u64> { given.iter().map(|bytes| r.buffer(bytes)).collect() };
            let whole = folded(ncclInt32, ncclSum, &given);
            // A gather in place has its own piece where it belongs; a scatter leaves its piece there.
            let (gather, scatter) = (fresh(), fresh());
            for rank in 0..3 {
                let (comm, stream) = (r.comms[rank], r.streams[rank]);
                let at = 8 * rank as u64;
                unsafe {
                    fine(r.nccl.ncclAllGather(p(gather[rank] + at), p(gather[rank]), 2, ncclInt32, comm, stream));
                    let (from, to) = (p(scatter[rank]), p(scatter[rank] + at));
                    fine(r.nccl.ncclReduceScatter(from, to, 2, ncclInt32, ncclSum, comm, stream));
                }
            }
            r.sync();
            let gathered: Vec<u8> = (0..3).flat_map(|rank| given[rank][8 * rank..][..8].to_vec()).collect();
            for rank in 0..3 {
                assert_eq!(r.read(gather[rank], 24), gathered);
                assert_eq!(r.read(scatter[rank] + 8 * rank as u64, 8), whole[8 * rank..][..8]);
            }
            r.all_is_well();
        }
    });
}

#[test]
fn a_ring_of_sends_and_two_collectives_in_one_group() {
    in_time(|| {
        for (ranks, seed) in [2, 3, 8].into_iter().flat_map(|ranks| (0..20).map(move |seed| (ranks, seed))) {
            let r = Ranks::seeded(ranks, seed);
            let a: Vec<u64> = (0..ranks).map(|rank| r.floats(&[rank as f32, 1.0])).collect();
            let b: Vec<u64> = (0..ranks).map(|_| r.floats(&[0.0; 2])).collect();
            let call = |rank: usize| unsafe {
                let (comm, stream) = (r.comms[rank], r.streams[rank]);
                let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
                fine(r.nccl.ncclGroupStart());
                fine(r.nccl.ncclGroupStart());
                fine(r.nccl.ncclSend(p(a[rank]), 1, ncclFloat32, next as i32, comm, stream));
                fine(r.nccl.ncclRecv(p(b[rank]), 1, ncclFloat32, before as i32, comm, stream));
                fine(r.nccl.ncclGroupEnd());
                fine(r.all_reduce(rank, a[rank] + 4, b[rank] + 4, 1));
                fine(r.nccl.ncclGroupEnd());
            };
            twice(&r, call, |how| {
                for (rank, at) in b.iter().enumerate() {
                    let from = ((rank + ranks - 1) % ranks) as f32;
                    assert_eq!(r.read_floats(*at, 2), [from, ranks as f32], "{how}");
                }
            });
            r.all_is_well();
        }
    });
}

#[test]
fn a_group_over_two_streams_is_one_piece_of_work() {
    in_time(|| {
        for seed in 0..20 {
            let r = Ranks::seeded(2, seed);
            let other: Vec<CUstream> = (0..2).map(|_| r.device.stream()).collect();
            let (a, b) = ([r.floats(&[1.0]), r.floats(&[2.0])], [r.floats(&[0.0]), r.floats(&[0.0])]);
            let call = |rank: usize| unsafe {
                let (comm, peer) = (r.comms[rank], 1 - rank as i32);
                fine(r.nccl.ncclGroupStart());
                // Each stream alone would wait for the other one of the other rank.
                fine(r.nccl.ncclSend(p(a[rank]), 1, ncclFloat32, peer, comm, r.streams[rank]));
                fine(r.nccl.ncclRecv(p(b[rank]), 1, ncclFloat32, peer, comm, other[rank]));
                fine(r.nccl.ncclGroupEnd());
                ok(r.device.cuMemcpyDtoDAsync_v2(a[rank], b[rank], 4, other[rank]));
            };
            call(0);
            call(1);
            r.sync();
            other.iter().for_each(|stream| ok(unsafe { r.device.cuStreamSynchronize(*stream) }));
            assert_eq!((r.read_floats(a[0], 1), r.read_floats(a[1], 1)), (vec![2.0], vec![1.0]));
            r.all_is_well();
        }
    });
}

#[test]
fn two_communicators_do_not_meet_each_other() {
    in_time(|| {
        for seed in 0..20 {
            let r = Ranks::seeded(2, seed);
            let others = communicators(&r.nccl, 2);
            let streams: Vec<CUstream> = (0..2).map(|_| r.device.stream()).collect();
            let a: Vec<u64> = (0..2).map(|rank| r.floats(&[1.0 + rank as f32; 4])).collect();
            let b: Vec<u64> = (0..2).map(|rank| r.floats(&[10.0 + rank as f32; 2])).collect();
            // In another order on each rank.
            let second = |rank: usize| unsafe {
                let (at, comm) = (p(b[rank]), others[rank]);
                fine(r.nccl.ncclAllReduce(at, at, 2, ncclFloat32, ncclSum, comm, streams[rank]));
            };
            fine(r.all_reduce(0, a[0], a[0], 4));
            second(0);
            second(1);
            fine(r.all_reduce(1, a[1], a[1], 4));
            r.sync();
            streams.iter().for_each(|stream| ok(unsafe { r.device.cuStreamSynchronize(*stream) }));
            (0..2).for_each(|rank| {
                assert_eq!((r.read_floats(a[rank], 1), r.read_floats(b[rank], 1)), (vec![3.0], vec![21.0]));
            });
            r.all_is_well();
        }
    });
}

#[test]
fn a_thread_for_each_rank_in_both_kinds_of_time() {
    for time in [Time::Counted, Time::Live] {
        in_time(move || {
            let r = Ranks::new(4, Options { time, ..Options::default() });
            let a: Vec<u64> = (0..4).map(|rank| r.floats(&[rank as f32])).collect();
            std::thread::scope(|scope| {
                for rank in 0..4 {
                    let (r, a) = (&r, &a);
                    scope.spawn(move || {
                        enter(&r.device.machine);
                        let stream = r.streams[rank];
                        for _ in 0..5 {
                            fine(r.all_reduce(rank, a[rank], a[rank], 1));
                            ok(unsafe { r.device.cuStreamSynchronize(stream) });
                        }
                    });
                }
            });
            (0..4).for_each(|rank| assert_eq!(r.read_floats(a[rank], 1), [6.0 * 256.0]));
            r.all_is_well();
        });
    }
}

/// What a collective brings is ordered behind what came before it on every rank that gives, and nothing else is.
#[test]
fn it_orders_what_comes_behind_it_after_what_came_before_it() {
    in_time(|| {
        for (seed, meets) in (0..20).flat_map(|seed| [(seed, true), (seed, false)]) {
            let detectors = Detectors { unordered: true, ..Detectors::default() };
            let r = Ranks::new(2, Options { seed, detectors, ..Options::default() });
            let (x, a) = (r.device.zeros(1), [r.floats(&[1.0]), r.floats(&[1.0])]);
            ok(unsafe { r.device.cuCtxSynchronize() });
            ok(unsafe { r.device.cuMemsetD32Async(x, 1, 1, r.streams[0]) });
            if meets {
                fine(r.all_reduce(0, a[0], a[0], 1));
                fine(r.all_reduce(1, a[1], a[1], 1));
            }
            ok(unsafe { r.device.cuMemsetD32Async(x, 2, 1, r.streams[1]) });
            r.sync();
            let found: Vec<_> = r.device.take_findings().iter().map(|finding| finding.code).collect();
            assert_eq!(found, if meets { &[][..] } else { &["unordered"][..] }, "seed {seed}");
        }
    });
}

/// A rank's end comes after the other's begin and not after its end: what that writes is not ordered.
#[test]
fn it_does_not_order_behind_what_another_rank_is_brought() {
    in_time(|| {
        let detectors = Detectors { unordered: true, ..Detectors::default() };
        let r = Ranks::new(2, Options { detectors, ..Options::default() });
        let a = [r.floats(&[1.0]), r.floats(&[1.0])];
        ok(unsafe { r.device.cuCtxSynchronize() });
        fine(r.all_reduce(0, a[0], a[0], 1));
        fine(r.all_reduce(1, a[1], a[1], 1));
        ok(unsafe { r.device.cuMemsetD32Async(a[0], 2, 1, r.streams[1]) });
        r.sync();
        assert!(r.found().contains("ncclAllReduce"));
    });
}

#[test]
fn the_node_is_shown_as_a_kernel_and_lives_through_clones_children_and_updates() {
    in_time(|| {
        let r = Ranks::seeded(2, 5);
        let a = [r.floats(&[1.0, 10.0]), r.floats(&[2.0, 20.0])];
        let graph = |rank: usize, at: u64| r.capture(rank, || fine(r.all_reduce(rank, at, at, 1)));
        let graphs = [graph(0, a[0]), graph(1, a[1])];
        let (mut node, mut count, mut kind) = (CUgraphNode::NULL, 1, 77);
        let (mut clone, mut outer) = (CUgraph::NULL, CUgraph::NULL);
        let mut params = CUDA_KERNEL_NODE_PARAMS::default();
        unsafe {
            ok(r.device.cuGraphGetNodes(graphs[0], &mut node, &mut count));
            ok(r.device.cuGraphNodeGetType(node, &mut kind));
            assert_eq!((count, kind), (1, CU_GRAPH_NODE_TYPE_KERNEL));
            let code = r.device.cuGraphKernelNodeGetParams_v2(node, &mut params);
            assert_eq!(code, CUresult::CUDA_ERROR_NOT_SUPPORTED);
            assert!(r.found().starts_with("unsupported: the parameters and attributes of a kernel of NCCL"));
            ok(r.device.cuGraphClone(&mut clone, graphs[0]));
            ok(r.device.cuGraphCreate(&mut outer, 0));
            ok(r.device.cuGraphAddChildGraphNode(&mut node, outer, std::ptr::null(), 0, graphs[1]));
            graphs.iter().for_each(|graph| ok(r.device.cuGraphDestroy(*graph)));
        }
        let execs = [r.instantiate(clone), r.instantiate(outer)];
        (0..2).for_each(|rank| r.launch(rank, execs[rank]));
        r.sync();
        assert_eq!((r.read_floats(a[0], 2), r.read_floats(a[1], 2)), (vec![3.0, 10.0], vec![3.0, 20.0]));
        // The other words from now on, on one rank: the sum is of 10 and 3.
        let mut info = CUgraphExecUpdateResultInfo::default();
        ok(unsafe { r.device.cuGraphExecUpdate_v2(execs[0], graph(0, a[0] + 4), &mut info) });
        (0..2).for_each(|rank| r.launch(rank, execs[rank]));
        r.sync();
        assert_eq!((r.read_floats(a[0], 2), r.read_floats(a[1], 2)), (vec![3.0, 13.0], vec![13.0, 20.0]));
        r.all_is_well();
    });
}

#[test]
fn of_a_nan_and_a_number_the_number() {
    in_time(|| {
        let r = Ranks::seeded(2, 0);
        let a = [r.floats(&[f32::NAN, 1.0]), r.floats(&[2.0, f32::NAN])];
        for (rank, at) in a.iter().enumerate() {
            let (comm, stream) = (r.comms[rank], r.streams[rank]);
            fine(unsafe { r.nccl.ncclAllReduce(p(*at), p(*at), 2, ncclFloat32, ncclMax, comm, stream) });
        }
        r.sync();
        assert_eq!(r.read_floats(a[0], 2), [2.0, 1.0]);
        r.all_is_well();
    });
}

#[test]
fn what_a_communicator_says_of_itself() {
    in_time(|| {
        let r = Ranks::seeded(3, 0);
        let (mut count, mut rank, mut device) = (0, 0, 7);
        unsafe {
            fine(r.nccl.ncclCommCount(r.comms[2], &mut count));
            fine(r.nccl.ncclCommUserRank(r.comms[2], &mut rank));
            fine(r.nccl.ncclCommCuDevice(r.comms[2], &mut device));
        }
        assert_eq!((count, rank, device), (3, 2, 0));
        r.destroy();
        r.all_is_well();
    });
}

/// A rank is on the device of the context that was current, and its collectives go on streams of that device.
#[test]
fn a_rank_is_on_the_device_whose_context_was_current() {
    use dacapo_driver::types::{CUcontext, CUstream};
    use dacapo_driver::{CUresult, Driver};
    use dacapo_nccl::Nccl;
    use dacapo_nccl::types::{ncclComm, ncclConfig, ncclFloat32, ncclResult, ncclSum, ncclUniqueId};
    let machine = dacapo_sim::Machine::new(dacapo_sim::Options { devices: 2, ..Default::default() });
    let nccl = machine.nccl();
    let (mut contexts, mut streams) = ([CUcontext::NULL; 2], [CUstream::NULL; 2]);
    // SAFETY: every pointer is valid for the write that its call makes, and every handle was made above its use.
    unsafe {
        assert_eq!(machine.cuInit(0), CUresult::CUDA_SUCCESS);
        for device in 0..2 {
            machine.cuDevicePrimaryCtxRetain(&mut contexts[device], device as i32);
            machine.cuCtxSetCurrent(contexts[device]);
            machine.cuStreamCreate(&mut streams[device], 1);
        }
        let (mut id, mut comm) = (ncclUniqueId { internal: [0; 128] }, ncclComm::NULL);
        nccl.ncclGetUniqueId(&mut id);
        assert_eq!(
            nccl.ncclCommInitRankConfig(&mut comm, 1, id, 0, &mut ncclConfig::new(true)),
            ncclResult::ncclSuccess
        );
        let mut device = -1;
        nccl.ncclCommCuDevice(comm, &mut device);
        assert_eq!(device, 1);
        let mut x = 0;
        machine.cuMemAlloc_v2(&mut x, 4);
        machine.cuMemsetD32_v2(x, 7, 1);
        let at = x as usize as *mut std::ffi::c_void;
        let on = |stream| nccl.ncclAllReduce(at, at, 1, ncclFloat32, ncclSum, comm, stream);
        assert_eq!(on(streams[1]), ncclResult::ncclSuccess);
        assert_eq!(on(streams[0]), ncclResult::ncclUnhandledCudaError);
        assert_eq!(machine.cuStreamSynchronize(streams[1]), CUresult::CUDA_SUCCESS);
        nccl.ncclCommDestroy(comm);
    }
}

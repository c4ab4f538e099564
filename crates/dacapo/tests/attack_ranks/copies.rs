//! Copies between devices: what is bound, cast, shared, lost and launched at the wrong place.

use std::time::Duration;

use dacapo::flow::nonzero;
use dacapo::random::Generator;
use dacapo::raw::foreign;
use dacapo::{
    Buffer, Device, ErrorKind, Graph, HostBuffer, Recorder, Result, Scalar, Slot, Software, Stream, baked, copy,
    download, fill, upload,
};

use dacapo_driver::{Breakable, CUresult};

use crate::kind;
use crate::kit::{gone, group, in_time, nothing_found};

dacapo::kernels! {
    /// Kernels of these tests.
    unsafe struct Kernels(include_str!("../promises/kernels.ptx")) {
        /// y ← value
        fn put(value: u32, n: u32 = y.len(), y: &out [u32]) {
            grid: linear(y.len(), 32);
        }
        /// Declared with a condition that is not enough: stores outside for an index past the end.
        fn store_at(index: u32, y: &mut [u32]) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

const SEEDS: std::ops::Range<u64> = 0..6;

/// Runs a body on devices of every seed; then nothing may be left and nothing found.
#[track_caller]
fn on(count: usize, body: impl Fn(&[Device], &[Stream]) -> Result<()> + Clone + Send + 'static) {
    for seed in SEEDS {
        let body = body.clone();
        in_time(move || {
            let d = group(seed, count);
            let s: Vec<Stream> = d.iter().map(|device| device.stream().unwrap()).collect();
            body(&d, &s).unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
            drop(s);
            gone(&d);
            nothing_found(&d);
        });
    }
}

#[test]
fn what_is_bound_to_a_copy_is_of_the_graphs_own_device() {
    on(3, |d, s| {
        let (x, mut y) = (d[0].buffer(&[1u32; 64])?, d[0].zeros::<u32>(64)?);
        let mut graph = d[0].graph().record_into(&x[..], &mut y[..], |r, x, y| r.run(copy(x, y)))?;
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (0, 0)] {
            let value = 10 * from as u32 + to as u32;
            let (given, mut out) = (d[from].buffer(&[value; 64])?, d[to].buffer(&[77u32; 64])?);
            let launched = graph.launch(&s[0], &given, &mut out).map(drop);
            drop(given);
            if (from, to) == (0, 0) {
                launched?;
                assert_eq!(s[to].read(&out)?, [value; 64]);
            } else {
                kind!(launched, ErrorKind::WrongDevice { .. });
                assert_eq!(s[to].read(&out)?, [77; 64], "from {from} to {to}");
            }
        }
        let far = d[1].buffer(&[1u32; 64])?;
        let across = d[0].graph().record_into(&far[..], &mut y[..], |r, x, y| r.run(copy(x, y)));
        kind!(across, ErrorKind::WrongDevice { .. });
        Ok(())
    });
}

#[test]
fn a_bound_kernel_takes_memory_of_its_own_device_only() {
    on(2, |d, s| {
        let k = Kernels::load(&d[0])?;
        let mut y = d[0].zeros::<u32>(64)?;
        let mut graph = d[0].graph().record_into((), &mut y[..], |r, (), y| r.run(k.put(baked(3), y)))?;
        let mut far = d[1].zeros::<u32>(64)?;
        kind!(graph.launch(&s[0], (), &mut far), ErrorKind::WrongDevice { .. });
        kind!(graph.launch(&s[1], (), &mut y), ErrorKind::WrongDevice { .. });
        graph.launch(&s[0], (), &mut y)?;
        assert_eq!((s[0].read(&y)?, s[1].read(&far)?), (vec![3; 64], vec![0; 64]));
        Ok(())
    });
}

#[test]
fn temps_of_another_recording() {
    on(2, |d, _| {
        let mut out = d[1].zeros::<u32>(8)?;
        let tried = d[0].record(|r: &mut Recorder<'_>| {
            let mut outer = r.alloc::<u32>(8)?;
            r.run(fill(&mut outer, baked(1)))?;
            let inner = d[1].record(|r: &mut Recorder<'_>| r.run(copy(&outer, &mut out)));
            kind!(inner, ErrorKind::WrongDevice { .. });
            Ok(())
        });
        tried.map(drop)
    });
}

#[test]
fn outputs_of_one_graph_feed_that_of_another_device() {
    on(2, |d, s| {
        let value = Slot::new(0u32);
        let mut first = d[0].record(|r: &mut Recorder<'_>| {
            let mut out = r.output::<u32>(32)?;
            r.run(fill(&mut out, &value))?;
            Ok(out)
        })?;
        let mut second = d[1].record(|r: &mut Recorder<'_>| {
            let mut temp = r.alloc::<u32>(32)?;
            let mut out = r.output::<u32>(32)?;
            r.run(copy(first.outputs(), &mut temp))?;
            r.run(copy(&temp, &mut out))?;
            Ok(out)
        })?;
        for round in 0..4 {
            value.set(round);
            first.launch(&s[0])?;
            let out = second.launch_sync(&s[1])?;
            assert_eq!(s[1].read(out)?, [round; 32]);
        }
        drop(first);
        assert_eq!(s[1].read(second.launch_sync(&s[1])?)?, [3; 32]);
        Ok(())
    });
}

#[test]
fn host_buffers_of_one_device_at_another() {
    on(2, |d, s| {
        let (mut host, mut y): (HostBuffer<u32>, Buffer<u32>) = (d[0].host(&[7; 64])?, d[1].zeros(64)?);
        kind!(s[1].run(upload(&host, &mut y)), ErrorKind::WrongDevice { .. });
        kind!(d[1].record(download(&y, &mut host)), ErrorKind::WrongDevice { .. });
        assert_eq!((s[1].read(&y)?, host.to_vec()?), (vec![0; 64], vec![7; 64]));
        Ok(())
    });
}

#[test]
fn nothing_is_copied() {
    on(2, |d, s| {
        let (x, mut y) = (d[0].zeros::<u32>(0)?, d[1].zeros::<u32>(0)?);
        s[0].run(copy(&x, &mut y))?;
        s[1].run(copy(&x, &mut y))?;
        d[0].record(copy(&x, &mut y))?.launch_sync(&s[0])?;
        let (a, mut b) = (d[0].buffer(&[1u32; 4])?, d[1].zeros::<u32>(4)?);
        s[0].run(copy(&a[2..2], &mut b[4..4]))?;
        kind!(s[0].run(copy(&a[1..], &mut b)), ErrorKind::Length { .. });
        assert_eq!(s[1].read(&b)?, [0; 4]);
        Ok(())
    });
}

#[test]
fn parts_of_odd_bytes_go_to_and_fro_between_the_same_two_buffers() {
    on(2, |d, s| {
        let mut x = d[0].buffer(&(0..100u8).collect::<Vec<_>>())?;
        let mut y = d[1].zeros::<u8>(100)?;
        s[0].run(copy(&x[1..34], &mut y[7..40]))?;
        s[1].run(copy(&y[8..30], &mut x[50..72]))?;
        s[0].run(copy(&x[49..73], &mut y[3..27]))?;
        let mut wanted: Vec<u8> = (0..100).collect();
        wanted.copy_within(2..24, 50);
        assert_eq!(s[0].read(&x)?, wanted);
        assert_eq!(s[1].read(&y[3..27])?, wanted[49..73]);
        Ok(())
    });
}

#[test]
fn the_same_memory_on_both_sides() {
    on(2, |d, s| {
        let mut x = d[0].buffer(&[1u32; 16])?;
        let also = x.share();
        kind!(s[0].run(copy(&also[..8], &mut x[4..12])), ErrorKind::Overlap { .. });
        kind!(s[1].run(copy(&also[..8], &mut x[4..12])), ErrorKind::WrongDevice { .. } | ErrorKind::Overlap { .. });
        let mut far = d[1].zeros::<u32>(16)?;
        // Bound at the launch.
        let (a, mut b) = (d[0].zeros::<u32>(8)?, d[0].zeros::<u32>(8)?);
        let mut graph = d[0].graph().record_into(&a[..], &mut b[..], |r, a, b| r.run(copy(a, b)))?;
        kind!(graph.launch(&s[0], &also[..8], &mut x[4..12]), ErrorKind::Overlap { .. });
        s[0].run(copy(&also, &mut far))?;
        assert_eq!(s[1].read(&far)?, [1; 16]);
        Ok(())
    });
}

#[test]
fn launches_reads_and_arenas_of_the_wrong_device() {
    on(2, |d, s| {
        let (x, mut y) = (d[0].buffer(&[5u32; 8])?, d[1].zeros::<u32>(8)?);
        let mut graph = d[0].record(copy(&x, &mut y))?;
        kind!(graph.launch(&s[1]), ErrorKind::WrongDevice { .. });
        kind!(graph.submit(&s[1]), ErrorKind::WrongDevice { .. });
        kind!(graph.preload(&s[1]), ErrorKind::WrongDevice { .. });
        kind!(graph.profile(&s[1]), ErrorKind::WrongDevice { .. });
        kind!(graph.tune(&s[1]), ErrorKind::WrongDevice { .. } | ErrorKind::Unsupported { .. });
        kind!(s[1].run(graph.as_op()), ErrorKind::WrongDevice { .. });
        kind!(d[1].record(graph.as_op()), ErrorKind::WrongDevice { .. });
        kind!(s[1].read(&x), ErrorKind::WrongDevice { .. });
        kind!(s[1].read_later(&x), ErrorKind::WrongDevice { .. });
        kind!(s[0].write(&mut y, &[1; 8]), ErrorKind::WrongDevice { .. });
        let arena = d[0].arena(1 << 12)?;
        let temp = |r: &mut Recorder<'_>| r.alloc::<u32>(4).map(drop);
        kind!(s[1].run_in(&arena, temp), ErrorKind::WrongDevice { .. });
        kind!(d[1].graph().arena(&arena).record(temp), ErrorKind::WrongDevice { .. });
        let pool = d[0].pool();
        kind!(d[1].graph().pool(&pool).record(copy(&x, &mut y)), ErrorKind::WrongDevice { .. });
        graph.launch(&s[0])?;
        assert_eq!(s[1].read(&y)?, [5; 8]);
        Ok(())
    });
}

#[test]
fn scalars_conditions_and_generators_of_the_wrong_device() {
    on(2, |d, s| {
        let mut far: Scalar<u32> = d[1].scalar(1)?;
        let mut x = d[0].zeros::<u32>(8)?;
        kind!(far.get(&s[0]), ErrorKind::WrongDevice { .. });
        kind!(far.set(&s[0], 3), ErrorKind::WrongDevice { .. });
        let when = d[0].record(|r: &mut Recorder<'_>| {
            r.when(nonzero(&far), fill(&mut x, baked(1)))?;
            Ok(())
        });
        kind!(when, ErrorKind::WrongDevice { .. });
        let mut generator = Generator::new(&d[1], 5)?;
        let mut near = d[0].zeros::<u32>(8)?;
        kind!(s[0].run(generator.words(&mut near)), ErrorKind::WrongDevice { .. });
        kind!(s[1].run(generator.words(&mut near)), ErrorKind::WrongDevice { .. });
        kind!(generator.save(&s[0]), ErrorKind::WrongDevice { .. });
        kind!(generator.seed(&s[0], 1), ErrorKind::WrongDevice { .. });
        // Across, as a copy, it may.
        let mut here: Scalar<u32> = d[0].scalar(0)?;
        s[0].run(copy(far.as_slice(), here.as_mut_slice()))?;
        assert_eq!(here.get(&s[0])?, 1);
        let mut graph = d[0].record(|r: &mut Recorder<'_>| {
            r.run(copy(far.as_slice(), here.as_mut_slice()))?;
            r.when(nonzero(&here), fill(&mut x, baked(1)))?;
            Ok(())
        })?;
        for value in [0, 1] {
            s[0].run(fill(&mut x, baked(0)))?;
            far.set(&s[1], value)?;
            graph.launch(&s[0])?;
            assert_eq!(s[0].read(&x)?, [value; 8]);
        }
        Ok(())
    });
}

#[test]
fn a_slot_is_shared_by_graphs_of_two_devices() {
    on(2, |d, s| {
        let value = Slot::new(0u32);
        let (mut a, mut b, mut c) = (d[0].zeros::<u32>(64)?, d[1].zeros::<u32>(64)?, d[1].zeros::<u32>(64)?);
        let mut first = d[0].record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut a, &value))?;
            r.run(copy(&a, &mut b))
        })?;
        let mut second = d[1].record(|r: &mut Recorder<'_>| r.run(fill(&mut c, &value)))?;
        for round in 0..20 {
            value.set(round);
            first.launch(&s[0])?;
            value.set(round + 100);
            second.launch(&s[1])?;
            value.set(u32::MAX);
            if round % 5 == 0 {
                assert_eq!((s[1].read(&b)?, s[1].read(&c)?), (vec![round; 64], vec![round + 100; 64]));
            }
        }
        Ok(())
    });
}

#[test]
fn a_ring_of_graphs_on_four_devices() {
    on(4, |d, s| {
        let cells: Vec<Buffer<u32>> = (0..4).map(|at| d[at].buffer(&[at as u32; 256])).collect::<Result<_>>()?;
        let mut next: Vec<Buffer<u32>> = (0..4).map(|at| d[at].zeros(256)).collect::<Result<_>>()?;
        let mut shifts: Vec<Graph<()>> = Vec::new();
        // Each takes from its neighbour, by turns on the source's and on the target's device.
        for (at, next) in next.iter_mut().enumerate() {
            let from = (at + 3) % 4;
            let on = if at % 2 == 0 { at } else { from };
            shifts.push(d[on].record(copy(&cells[from], next))?);
        }
        let mut back: Vec<Graph<()>> = Vec::new();
        let mut cells = cells;
        for at in 0..4 {
            back.push(d[at].record(copy(&next[at], &mut cells[at]))?);
        }
        for _ in 0..9 {
            for (at, graph) in shifts.iter_mut().enumerate() {
                let on = if at % 2 == 0 { at } else { (at + 3) % 4 };
                graph.launch(&s[on])?;
            }
            for (at, graph) in back.iter_mut().enumerate() {
                graph.launch(&s[at])?;
            }
        }
        drop((shifts, back));
        for at in 0..4 {
            assert_eq!(s[at].read(&cells[at])?, [(at as u32 + 4 * 9 - 9) % 4; 256]);
        }
        Ok(())
    });
}

#[test]
fn threads_of_two_devices_copy_to_and_fro() {
    on(2, |d, s| {
        let (mut x, mut y) = (d[0].buffer(&[1u32; 512])?, d[1].buffer(&[1u32; 512])?);
        let (mut p, mut q) = (d[0].zeros::<u32>(512)?, d[1].zeros::<u32>(512)?);
        let (xs, ys) = (x.share(), y.share());
        std::thread::scope(|scope| {
            scope.spawn(|| (0..30).for_each(|_| s[0].run(copy(&xs, &mut q)).unwrap()));
            scope.spawn(|| (0..30).for_each(|_| s[1].run(copy(&ys, &mut p)).unwrap()));
            scope.spawn(|| (0..30).for_each(|_| s[0].run(fill(&mut x, baked(1))).unwrap()));
            scope.spawn(|| (0..30).for_each(|_| s[1].run(fill(&mut y, baked(1))).unwrap()));
            scope.spawn(|| (0..10).for_each(|_| d[0].synchronize().unwrap()));
        });
        assert_eq!((s[0].read(&p)?, s[1].read(&q)?), (vec![1; 512], vec![1; 512]));
        Ok(())
    });
}

#[test]
fn a_device_of_another_machine() {
    in_time(|| {
        let (one, two) = (Device::software().unwrap(), Device::software().unwrap());
        let d = group(0, 2);
        let (stream, x, mut y) = (one.stream().unwrap(), one.buffer(&[1u32; 4]).unwrap(), two.zeros::<u32>(4).unwrap());
        kind!(stream.run(copy(&x, &mut y)), ErrorKind::WrongDevice { .. });
        let mut z = d[1].zeros::<u32>(4).unwrap();
        kind!(stream.run(copy(&x, &mut z)), ErrorKind::WrongDevice { .. });
        kind!(d[1].record(copy(&x, &mut z)), ErrorKind::WrongDevice { .. });
        // Ranks of two machines are as ranks of two processes: they find each other.
        let joined = dacapo::collective::Join::new().timeout(Duration::from_secs(20)).all(&[one.clone(), d[0].clone()]);
        assert!(joined.is_ok(), "{joined:?}");
        let mut same = one.zeros::<u32>(4).unwrap();
        kind!(
            dacapo::collective::Communicator::alone(&d[0])
                .map(|comm| stream.run(comm.broadcast(&mut same, 0)))
                .unwrap(),
            ErrorKind::WrongDevice { .. }
        );
    });
}

#[test]
fn a_device_breaks_while_others_copy_from_it() {
    for seed in SEEDS {
        in_time(move || {
            let d = group(seed, 3);
            let s: Vec<Stream> = d.iter().map(|device| device.stream().unwrap()).collect();
            let k = Kernels::load(&d[1]).unwrap();
            let mut bad = d[1].zeros::<u32>(4).unwrap();
            let (mut there, mut here) = (d[2].zeros::<u32>(4).unwrap(), d[0].zeros::<u32>(4).unwrap());
            let mut through = d[2].record(copy(&bad, &mut there)).unwrap();
            let mut breaks = d[1].record(k.store_at(baked(1 << 20), &mut bad)).unwrap();
            drop(breaks.launch(&s[1]));
            let launched = through.launch(&s[2]).map(drop);
            let ran = launched.and_then(|()| s[2].synchronize());
            kind!(ran, ErrorKind::OtherLost { .. });
            drop((through, breaks, there));
            drop(bad);
            // Who has nothing to do with it goes on, also between themselves.
            let fresh = d[2].stream().unwrap();
            let x = d[2].buffer(&[4u32; 4]).unwrap();
            s[0].run(copy(&x, &mut here)).unwrap();
            assert_eq!(s[0].read(&here).unwrap(), [4; 4], "seed {seed}");
            let mut z = d[2].zeros::<u32>(4).unwrap();
            fresh.run(copy(&here, &mut z)).unwrap();
            assert_eq!(fresh.read(&z).unwrap(), [4; 4], "seed {seed}");
            kind!(d[1].zeros::<u32>(4).map(drop).and_then(|()| s[1].synchronize()), ErrorKind::Lost { .. });
        });
    }
}

#[test]
fn foreign_work_takes_memory_of_its_own_device_only() {
    on(2, |d, s| {
        let (x, mut y) = (d[0].zeros::<u32>(8)?, d[1].zeros::<u32>(8)?);
        // SAFETY: it enqueues nothing.
        let reads = unsafe { foreign(&x[..], &mut y[..], |_, _, _| -> Result<()> { Ok(()) }) };
        kind!(s[0].run(reads), ErrorKind::WrongDevice { .. });
        Ok(())
    });
}

#[test]
fn pools_and_planned_memory_with_copies_that_stay_in_flight() {
    on(2, |d, s| {
        let pool = d[0].pool();
        let mut far: Vec<Buffer<u32>> = (0..6).map(|_| d[1].zeros(128)).collect::<Result<_>>()?;
        let other = d[0].stream()?;
        for (at, far) in far.iter_mut().enumerate() {
            let mut graph = d[0].graph().pool(&pool).record(|r: &mut Recorder<'_>| {
                let mut temp = r.alloc::<u32>(128)?;
                r.run(fill(&mut temp, baked(at as u32)))?;
                r.run(copy(&temp, far))
            })?;
            graph.launch(if at % 2 == 0 { &s[0] } else { &other })?;
        }
        let used = pool.clear();
        assert!(used.is_ok() || matches!(used.as_ref().unwrap_err().kind(), ErrorKind::PoolInUse { .. }), "{used:?}");
        drop(pool);
        for (at, far) in far.iter().enumerate() {
            assert_eq!(s[1].read(far)?, [at as u32; 128]);
        }
        Ok(())
    });
}

#[test]
fn a_small_machine_runs_out_of_memory_on_one_device() {
    in_time(|| {
        let d = Software::new().capacity(1 << 24).open_group(2).unwrap();
        let held = d[0].zeros::<u8>(1 << 23).unwrap();
        kind!(d[0].zeros::<u8>(1 << 24), ErrorKind::OutOfMemory { .. });
        let mut far = d[1].zeros::<u8>(1 << 23).unwrap();
        let stream = d[1].stream().unwrap();
        stream.run(copy(&held, &mut far)).unwrap();
        let planned = d[1].record(|r: &mut Recorder<'_>| {
            let mut temp = r.alloc::<u8>(1 << 24)?;
            r.run(copy(&held, &mut temp[..1 << 23]))
        });
        kind!(planned, ErrorKind::OutOfMemory { .. });
        stream.synchronize().unwrap();
        drop((held, far, stream));
        gone(&d);
    });
}

/// A copy that a broken device was to make is made, or it is told that it was not: also when nobody has that device any more.
#[test]
fn what_a_broken_device_left_undone_stays_undone_when_it_is_gone() {
    let mut lost = 0;
    for seed in 0..40 {
        for by_graph in [false, true] {
            let mut d = group(seed, 2);
            let stream = d[0].stream().unwrap();
            let (x, mut y) = (d[0].buffer(&[5u32; 64]).unwrap(), d[1].buffer(&[7u32; 64]).unwrap());
            let mut before = d[0].zeros::<u32>(1 << 16).unwrap();
            stream.run(fill(&mut before, baked(1))).unwrap();
            match by_graph {
                true => drop(d[0].record(copy(&x, &mut y)).unwrap().launch(&stream).unwrap()),
                false => stream.run(copy(&x, &mut y)).unwrap(),
            }
            // In its own context.
            drop(d[0].stream());
            d[0].machine().unwrap().lose_context(CUresult::CUDA_ERROR_LAUNCH_FAILED);
            drop((x, stream, before, d.remove(0)));
            let read = || d[0].stream().unwrap().read(&y);
            match read() {
                Ok(seen) => assert_eq!(seen, [5; 64], "seed {seed}, by graph: {by_graph}"),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::OtherLost { .. }), "{error:?}");
                    kind!(read(), ErrorKind::OtherLost { .. });
                    lost += 1;
                }
            }
            drop(y);
        }
    }
    assert!(lost > 0, "some copies were not made yet");
}

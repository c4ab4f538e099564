//! Programs of `cargo xtask programs` as Rust tests. Made by `cargo xtask bless`; do not edit.
#![allow(unused, dropping_copy_types, clippy::all, reason = "printed by a program, read by a person once")]

#[path = "../../src/chance/kernels.rs"]
mod kernels;

// What the tests below have together: the library, the kernels, and small questions.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use dacapo::random::Generator;
use dacapo::{
    Buffer, Device, Error, Recorder, Result, Scalar, Slice, Slot, Software, Stream, baked, copy, download, fill, upload,
};
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, Rows, rows};
use dacapo_driver::{CUresult, Call, Effect, Fault, Hooked};
use dacapo_sim::{Census, Machine, Time};
use kernels::Kernels;

fn software(seed: u64, time: Time) -> Software {
    Software::new().seed(seed).options(|options| {
        options.detectors = dacapo_sim::Detectors::all();
        options.time = time;
        options.capacity = 1 << 32;
    })
}

fn ready(device: Device) -> (Device, Arc<Kernels>, Arc<()>) {
    let kernels = Arc::new(Kernels::load(&device).unwrap());
    (device, kernels, Arc::new(()))
}

/// A device of this seed, with every detector on.
fn open(seed: u64) -> (Device, Arc<Kernels>, Arc<()>) {
    ready(software(seed, Time::Counted).open().unwrap())
}

/// The same on the wall clock.
fn open_live(seed: u64) -> (Device, Arc<Kernels>, Arc<()>) {
    ready(software(seed, Time::Live).open().unwrap())
}

/// The same with one driver call that fails.
fn open_struck(seed: u64, call: Call, nth: u64, code: CUresult, effect: Effect) -> (Device, Arc<Kernels>, Arc<()>) {
    // SAFETY: a fault refuses a call, or answers an error for one that was made: it claims no success.
    let opened = unsafe {
        software(seed, Time::Counted).open_hooked(|machine| {
            let fault = Fault::new().strike(call, nth, code, effect).over(Arc::new(machine.clone()));
            Arc::new(Hooked::new(machine, Arc::new(fault)))
        })
    };
    ready(opened.unwrap())
}

/// The rule that was broken.
fn kind<T>(outcome: Result<T>) -> String {
    let error = outcome.err().expect("an error is expected");
    let text = format!("{:?}", error.kind());
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_string()
}

/// Made once more where it fails: one fault strikes once.
fn again<T>(call: impl Fn() -> Result<T>) -> T {
    call().or_else(|_| call()).unwrap()
}

fn panics(body: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(body)).is_err()
}

fn one(words: Result<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
    words.map(|words| vec![words])
}

fn read(stream: &Stream, outputs: &[Buffer<u32>]) -> Result<Vec<Vec<u32>>> {
    outputs.iter().map(|output| stream.read(output)).collect()
}

/// What is known of some words.
fn same(got: Vec<Vec<u32>>, words: &[Vec<Option<u32>>]) {
    for (got, words) in got.iter().zip(words) {
        let alike = got.iter().zip(words).all(|(got, word)| word.is_none_or(|word| word == *got));
        assert!(alike, "{got:?}, not {words:?}");
    }
}

fn outputs<const N: usize>(outputs: Vec<Buffer<u32>>) -> [Buffer<u32>; N] {
    outputs.try_into().expect("as many outputs as there are names")
}

type Cache = Mutex<GraphCache<u8, Vec<Buffer<u32>>>>;

fn cache(device: &Device, graphs: usize) -> Cache {
    Mutex::new(GraphCache::new(device).max_graphs(graphs))
}

fn lock(cache: &Cache) -> MutexGuard<'_, GraphCache<u8, Vec<Buffer<u32>>>> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

type RowsFunction = Box<
    dyn for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, usize, &'i Slice<u32>) -> Result<(Buffer<u32>, Scalar<u32>)> + Send,
>;

/// A function of rows: 3 times a slot and x for each element, and the sum of all x.
fn rows_of(
    device: &Device,
    k: &Arc<Kernels>,
    buckets: &[usize],
    row: usize,
    pad: Pad<u32>,
    slot: &Slot<u32>,
    larger: bool,
) -> Result<Bucketed<Rows<u32>, (Buffer<u32>, Scalar<u32>), RowsFunction>> {
    let (k, slot) = (k.clone(), slot.clone());
    let body: RowsFunction = Box::new(move |r, n, x| {
        let (mut t, mut y, mut sum) = (r.alloc(n * row)?, r.output(n * row)?, r.output_scalar()?);
        r.run(copy(x, &mut t))?;
        r.run(k.put(&slot, &mut y))?;
        r.run(k.mix(&t, &mut y))?;
        r.run(k.sum(x, &mut sum))?;
        Ok((y, sum))
    });
    let function = Bucketed::new(device, Buckets::new(buckets.iter().copied())?, rows(row, pad), body)?;
    Ok(if larger { function } else { function.refuse_larger() })
}

fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// Nothing of the program is in the machine any more, and no detector has found anything.
fn nothing_left(machine: &Machine, token: &Arc<()>, lost: bool) {
    assert_eq!(machine.findings().iter().map(ToString::to_string).collect::<Vec<_>>(), [] as [String; 0]);
    let census = || match lost {
        true => Census { physical: 0, ranges: 0, ..machine.census() },
        false => machine.census(),
    };
    for _ in 0..2000 {
        if census() == Census::default() && Arc::strong_count(token) == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("left: {}; {} values", machine.census(), Arc::strong_count(token) - 1);
}

#[test]
fn seed_246() {
    let (device, k, token) = open_struck(0xb95ec50a9d4d9ebf, Call::cuThreadExchangeStreamCaptureMode, 105, CUresult(800), Effect::NotDone);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[1540838825, 3205480206, 2, 1, 2045722925, 1967315199, 9, 8]).unwrap();
    let mut b3 = device.buffer::<u32>(&[8, 421954234, 3946037035, 2]).unwrap();
    device.synchronize().unwrap();
    let mut g4 = device.graph().record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b3.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.scale(rest00[1..2].at(0), &mut piece00[..]))?;
        }
        assert_eq!(kind(q1.read(&b3[0..4])), "EagerInRecording");
        r.run(fill(&mut b2[2..8], baked(9)))?;
        r.run(fill(&mut b3[0..4], baked(8)))?;
        r.run(fill(&mut b2[5..8], baked(6)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b3.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.scale(gap00[0..1].at(0), &mut piece00[..]))?;
        }
        r.run(fill(&mut b3[0..4], baked(5)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.add(&b2[1..5], &b2[3..7], &mut b3[0..4]))?;
        r.run(fill(&mut b2[0..1], baked(1)))?;
        r.run(g4.as_op())?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut b5 = device.buffer::<u32>(&[5]).unwrap();
    let mut b6 = device.buffer::<u32>(&[7, 1592847950, 6, 3, 5, 4, 8, 3425800032]).unwrap();
    g4.submit(&q1).and_then(|ticket| ticket.wait()).unwrap();
    drop(b2);
    g4.rerecord(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(k.put(baked(8), &mut y0[1..3]))?;
        r.run(k.put(baked(2), &mut y0[2..3]))?;
        {
            let (gap00, rest00) = b6.split_at_mut(5);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[3..4], &mut piece00[..]))?;
        }
        let mut y1 = r.output::<u32>(6)?;
        assert_eq!(kind(q1.synchronize()), "EagerInRecording");
        r.run(k.mix(&y1[2..4], &mut y0[1..3]))?;
        Ok(vec![y0, y1])
    }).map(drop).unwrap();
    drop(b5);
    assert_eq!(kind(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(4), &mut b6[2..8]))?;
        Err::<Vec<Buffer<u32>>, _>(Error::msg("on purpose"))
    })), "Msg");
    g4.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.bump(b6[6..7].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    let mut h7 = device.host::<u32>(&[7, 4, 3448021791, 2, 9, 6, 1, 25575115]).unwrap();
    g4.preload(&q1).unwrap();
    let mut b8 = device.buffer::<u32>(&[3, 6, 3854300735, 3110784516, 5]).unwrap();
    let mut g9 = device.graph().apart().record(|r: &mut Recorder<'_>| {
        assert_eq!(kind(q1.read(&b3[0..4])), "EagerInRecording");
        r.run(k.put(baked(5), &mut b6[0..8]))?;
        r.run(copy(&b6[1..6], &mut b8[0..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut x10 = device.scalar(8u32).unwrap();
    let budget = device.held().total() + 4096;
    device.set_memory_budget(Some(budget));
    assert_eq!(kind(device.arena(budget + 1).map(drop)), "OverBudget");
    device.set_memory_budget(None);
    let mut g11 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(download(&b6[0..8], &mut h7))?;
        r.run(k.bump(b6[3..4].at_mut(0)))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.bump(b3[1..2].at_mut(0)))?;
            r.run(k.first(baked(6), &mut b8[0..3]))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.run(k.first(baked(0), &mut b3[2..4]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let s12 = Slot::new(1u32);
    s12.set(2);
    assert_eq!(kind(g9.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(1), &mut b8[0..3]))?;
        q1.synchronize()?;
        r.run(k.mix(&b6[1..5], &mut b8[0..4]))?;
        r.run(k.scale(b6[6..7].at(0), &mut x10.as_mut_slice()[0..1]))?;
        r.run(fill(&mut b6[0..7], baked(7)))?;
        let mut y0 = r.output::<u32>(6)?;
        r.run(k.sum(&b3[0..1], y0[3..4].at_mut(0)))?;
        Ok(vec![y0])
    }).map(drop)), "EagerInRecording");
    let mut q13 = device.stream().unwrap();
    let mut g14 = device.graph().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(upload(&h7, &mut b6[0..8]))?;
        let mut y0 = r.output::<u32>(6)?;
        r.run(k.mix(&b6[2..3], &mut x10.as_mut_slice()[0..1]))?;
        {
            let (gap00, rest00) = y0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[2..3], &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(&s12, &mut t0[0..2]))?;
        Ok(vec![y0])
    }).unwrap();
    q13.synchronize().unwrap();
    let mut b15 = device.buffer::<u32>(&[3, 6, 6, 5, 819752472, 1, 6, 523099401, 9, 1, 0, 9, 4, 9, 3, 7, 0, 4, 6, 1, 7, 6, 2474041061, 2796409443, 1, 9, 8, 1, 3, 6, 5, 7, 5, 2522177157, 8, 3021892412, 6, 1, 6, 1]).unwrap();
    g9.launch(&q1).map(drop).unwrap();
    assert_eq!(one(h7.to_vec()).unwrap(), [vec![7, 4, 3448021791, 2, 9, 6, 1, 25575115]]);
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(g11.as_op())?;
        r.run(k.scale(g14.outputs()[0][2..3].at(0), &mut b15[18..40]))?;
        r.run(download(&b6[0..8], &mut h7))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut i16 = device.graph().record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(3).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        {
            let (gap00, rest00) = o0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&rest00[1..2], &b6[7..8], &mut piece00[..]))?;
        }
        {
            let (gap00, rest00) = b15.split_at_mut(12);
            let (piece00, rest00) = rest00.split_at_mut(5);
            r.run(copy(&rest00[15..20], &mut piece00[..]))?;
        }
        s12.set(0);
        r.run(k.sum(&b8[0..5], o1[1..2].at_mut(0)))?;
        r.run(k.scale(x10.as_slice()[0..1].at(0), &mut o1[2..3]))?;
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(k.put(&s12, &mut t0[0..4]))?;
        Ok(())
    }).unwrap();
    let mut i17 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(2).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        {
            let (gap00, rest00) = o0.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        let mut y0 = r.output::<u32>(3)?;
        r.run(k.mix(&y0[1..3], &mut o0[0..2]))?;
        r.run(k.add(&i0[0..2], &i0[0..2], &mut o1[0..2]))?;
        r.run(copy(&b3[0..1], &mut o0[1..2]))?;
        Ok(())
    }).unwrap();
    let mut g18 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.put(&s12, &mut b8[3..5]))?;
        r.run(copy(&b6[4..7], &mut b8[0..3]))?;
        r.run(k.window(baked(0), &b8[0..3], &mut b15[28..29]))?;
        r.run(k.bump(b6[7..8].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    s12.set(0);
    q1.write(&mut b8[0..2], &[0, 4176181473]).unwrap();
    let mut f19 = rows_of(&device, &k, &[1, 4], 2, Pad::Keep, &s12, true).unwrap();
    h7.set(&[4, 6, 2, 1810037856, 4, 2286406283, 2, 8]).unwrap();
    let mut n20 = Generator::new(&device, 2961824558920).unwrap();
    assert!(panics(|| drop(q13.run(|r: &mut Recorder<'_>| {
        r.run(k.add(&b3[3..4], &b15[0..1], &mut x10.as_mut_slice()[0..1]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(copy(&b8[0..1], &mut x10.as_mut_slice()[0..1]))?;
            r.run(fill(&mut b15[26..36], &s12))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        {
            let (gap00, rest00) = b8.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&x10.as_slice()[0..1], &rest00[1..2], &mut piece00[..]))?;
        }
        r.run(k.bump(x10.as_mut_slice()[0..1].at_mut(0)))?;
        r.run(fill(&mut b8[0..4], &s12))?;
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(Vec::<Buffer<u32>>::new())
    }))));
    let last = again(|| device.stream());
    assert_eq!(vec![again(|| last.read(&b3))], [vec![8, 8, 8, 8]]);
    assert_eq!(vec![again(|| last.read(&b6))], [vec![5, 5, 5, 6, 5, 5, 5, 5]]);
    assert_eq!(vec![again(|| h7.to_vec())], [vec![4, 6, 2, 1810037856, 4, 2286406283, 2, 8]]);
    assert_eq!(vec![again(|| last.read(&b8))], [vec![0, 4176181473, 5, 5, 5]]);
    assert_eq!(vec![again(|| x10.get(&last).map(|x| vec![x]))], [vec![8]]);
    assert_eq!(vec![again(|| last.read(&g14.outputs()[0]))], [vec![0, 0, 0, 0, 0, 0]]);
    assert_eq!(vec![again(|| last.read(&b15))], [vec![3, 6, 6, 5, 819752472, 1, 6, 523099401, 9, 1, 0, 9, 4, 9, 3, 7, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(vec![again(|| n20.save(&last).map(|state| state.next_words(4)))], [vec![1172920719, 3014423480, 3663418565, 882030070]]);
    again(|| device.synchronize());
    drop(last);
    drop(device);
    drop(b15);
    drop(q1);
    drop(q13);
    drop(i17);
    drop(b3);
    drop(x10);
    drop(s12);
    drop(f19);
    drop(b6);
    drop(g4);
    drop(h7);
    drop(g14);
    drop(b8);
    drop(g11);
    drop(g9);
    drop(n20);
    drop(k);
    drop(i16);
    drop(g18);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_462() {
    let (device, k, token) = open(0x10ec4917b7c706f);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[5, 3, 9]).unwrap();
    let mut b3 = device.buffer::<u32>(&[1596257272, 5, 4142017522, 9]).unwrap();
    let mut b4 = device.buffer::<u32>(&[1933858207, 3, 0, 2, 6]).unwrap();
    let s5 = Slot::new(4u32);
    let mut x6 = device.scalar(0u32).unwrap();
    let p7 = device.pool();
    let c9 = cache(&device, 3);
    let mut g12 = device.graph().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g13 = device.graph().pool(&p7).record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(fill(&mut t0[0..4], baked(3)))?;
        {
            let (gap00, rest00) = t0.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&gap00[0..1], &rest00[0..1], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g14 = device.graph().pool(&p7).record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g15 = device.graph().straight_line().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g15.launch(&q1).map(drop).unwrap();
    let mut h16 = device.host::<u32>(&[9, 0, 1338827319]).unwrap();
    assert_eq!(kind(p7.clear()), "PoolInUse");
    g14.launch(&q1).map(drop).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut q17 = device.stream().unwrap();
            let mut b18 = device.zeros::<u32>(6).unwrap();
            assert_eq!(one(q17.read(&b4[3..5])).unwrap(), [vec![2, 6]]);
            let [] = outputs(q17.run(|r: &mut Recorder<'_>| {
                r.run(g12.as_op())?;
                {
                    let (gap00, rest00) = b18.split_at_mut(3);
                    let (piece00, rest00) = rest00.split_at_mut(2);
                    r.run(k.mix(&gap00[0..2], &mut piece00[..]))?;
                }
                r.keep(token.clone());
                r.run(k.sum(&b3[0..4], b18[5..6].at_mut(0)))?;
                r.run(g12.as_op())?;
                r.run(k.scale(b4[0..1].at(0), &mut b18[4..6]))?;
                r.run(k.put(baked(6), &mut b18[2..6]))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap());
            q1.synchronize().unwrap();
            assert_eq!(kind(device.graph().record(|r: &mut Recorder<'_>| {
                r.run(k.scale(b2[1..2].at(0), &mut b18[0..6]))?;
                r.run(k.window(baked(0), &b4[0..5], &mut b18[0..1]))?;
                Err::<Vec<Buffer<u32>>, _>(Error::msg("on purpose"))
            })), "Msg");
            let mut g20 = device.graph().warmup_unrestored(2).warmup_cap(0).record(|r: &mut Recorder<'_>| {
                let mut t0 = r.alloc::<u32>(1)?;
                r.run(fill(&mut t0[0..1], baked(9)))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap();
            q1.write(&mut b18[3..6], &[6, 8, 2]).unwrap();
            g20.rerecord_with(device.graph(), |r: &mut Recorder<'_>| {
                let mut t0 = r.alloc::<u32>(2)?;
                r.run(k.put(baked(6), &mut t0[0..2]))?;
                let mut y0 = r.output::<u32>(1)?;
                let mut t1 = r.alloc::<u32>(4)?;
                r.run(copy(&b4[0..3], &mut t1[0..3]))?;
                r.run(k.sum(&b2[1..3], y0[0..1].at_mut(0)))?;
                Ok(vec![y0])
            }).map(drop).unwrap();
            let [mut b21, mut b22] = outputs(q1.run(|r: &mut Recorder<'_>| {
                r.run(k.add(&b2[1..3], &b2[1..3], &mut b18[4..6]))?;
                let mut y0 = r.output::<u32>(4)?;
                r.run(k.sum(&b2[0..3], b18[5..6].at_mut(0)))?;
                r.run(k.put(baked(3), &mut b18[0..6]))?;
                let mut y1 = r.output::<u32>(6)?;
                r.run(k.first(baked(1), &mut y1[0..1]))?;
                Ok(vec![y0, y1])
            }).unwrap());
            g20.reset();
            assert_eq!(one(q17.read(&b22[3..6])).unwrap(), [vec![0, 0, 0]]);
            {
                let other = Software::new().seed(1).open().unwrap();
                let theirs = other.stream().unwrap();
                assert_eq!(kind(g20.launch(&theirs).map(drop)), "Reset");
            }
        });
        scope.spawn(|| {
            let mut q23 = device.stream().unwrap();
            g13.launch(&q1).map(drop).unwrap();
            assert_eq!(one(q23.read(&b3[1..4])).unwrap(), [vec![5, 4142017522, 9]]);
            let mut b24 = device.zeros::<u32>(4).unwrap();
            same(lock(&c9).run(&q23, &0, |r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(3)?;
                r.run(k.put(&s5, &mut y0[0..3]))?;
                Ok(vec![y0])
            }).and_then(|out| read(&q23, out)).unwrap(), &[vec![None, None, None]]);
            let mut x25 = device.scalar(1u32).unwrap();
            let c26 = cache(&device, 2);
            s5.set(2);
            assert_eq!(lock(&c26).run(&q1, &0, |r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(1)?;
                r.run(k.put(baked(3), &mut y0[0..1]))?;
                Ok(vec![y0])
            }).and_then(|out| read(&q1, out)).unwrap(), [vec![3]]);
            g13.launch(&q23).map(drop).unwrap();
            let mut g27 = device.graph().record(|r: &mut Recorder<'_>| {
                r.run(k.mix(&b4[0..4], &mut b24[0..4]))?;
                r.run(k.add(&b3[2..3], &b4[4..5], &mut x25.as_mut_slice()[0..1]))?;
                r.run(k.bump(x25.as_mut_slice()[0..1].at_mut(0)))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap();
            g27.launch(&q23).map(drop).unwrap();
        });
        scope.spawn(|| {
            let mut q28 = device.stream().unwrap();
            let mut f29 = rows_of(&device, &k, &[1, 3], 1, Pad::Value(5), &s5, true).unwrap();
            let mut n30 = Generator::new(&device, 12350591388030).unwrap();
            let mut h31 = device.host::<u32>(&[8, 4, 9, 3424884988, 9, 931305572, 8, 1, 7, 5, 1, 0, 6, 6, 3, 1, 0, 8, 0, 3866985815, 3, 1607051733, 7, 5, 3, 5, 2063251081, 3163586016, 3, 2410057955, 3, 1070971721, 2174222843, 3, 8, 9, 9, 9, 2761839522, 6, 4, 293915979]).unwrap();
            let mut x32 = device.scalar(2926022571u32).unwrap();
            same(lock(&c9).run(&q1, &0, |r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(3)?;
                r.run(k.put(&s5, &mut y0[0..3]))?;
                Ok(vec![y0])
            }).and_then(|out| read(&q1, out)).unwrap(), &[vec![None, None, None]]);
            g14.rerecord(|r: &mut Recorder<'_>| {
                r.run(fill(&mut x32.as_mut_slice()[0..1], &s5))?;
                r.run(k.add(&b3[2..3], &b4[3..4], &mut x32.as_mut_slice()[0..1]))?;
                let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
                    r.run(k.sum(&b3[2..3], x32.as_mut_slice()[0..1].at_mut(0)))?;
                    Err::<(), _>(Error::msg("on purpose"))
                })));
                let mut t0 = r.alloc::<u32>(6)?;
                r.run(fill(&mut t0[0..6], &s5))?;
                r.run(fill(&mut t0[0..3], &s5))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).map(drop).unwrap();
            let mut h33 = device.host::<u32>(&[67015529, 2646025419, 4, 1, 5]).unwrap();
            assert_eq!(one(q28.read(&x32.as_slice()[0..1])).unwrap(), [vec![2926022571]]);
            assert_eq!(one(h31.to_vec()).unwrap(), [vec![8, 4, 9, 3424884988, 9, 931305572, 8, 1, 7, 5, 1, 0, 6, 6, 3, 1, 0, 8, 0, 3866985815, 3, 1607051733, 7, 5, 3, 5, 2063251081, 3163586016, 3, 2410057955, 3, 1070971721, 2174222843, 3, 8, 9, 9, 9, 2761839522, 6, 4, 293915979]]);
            let p34 = device.pool();
            let c35 = cache(&device, 2);
            g14.launch(&q1).and_then(|l| l.wait().map(drop)).unwrap();
        });
        scope.spawn(|| {
            let mut q36 = device.stream().unwrap();
            {
                let other = Software::new().seed(1).open().unwrap();
                let theirs = other.stream().unwrap();
                assert_eq!(kind(g15.launch(&theirs).map(drop)), "WrongDevice");
            }
            g15.rerecord_with(device.graph(), |r: &mut Recorder<'_>| {
                let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
                    Err::<(), _>(Error::msg("on purpose"))
                })));
                Ok(Vec::<Buffer<u32>>::new())
            }).map(drop).unwrap();
            q1.is_done().map(drop).unwrap();
            g15.launch(&q36).map(drop).unwrap();
            g15.rerecord(|r: &mut Recorder<'_>| {
                let mut t0 = r.alloc::<u32>(1)?;
                r.run(k.put(&s5, &mut t0[0..1]))?;
                r.run(k.put(&s5, &mut t0[0..1]))?;
                let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
                    r.run(k.first(baked(2), &mut t0[0..1]))?;
                    r.run(copy(&b4[4..5], &mut t0[0..1]))?;
                    Err::<(), _>(Error::msg("on purpose"))
                })));
                Ok(Vec::<Buffer<u32>>::new())
            }).map(drop).unwrap();
            let mut f37 = rows_of(&device, &k, &[1, 4], 1, Pad::RepeatLast, &s5, false).unwrap();
            let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
                r.run(g15.as_op())?;
                let mut t0 = r.alloc::<u32>(1)?;
                r.run(k.put(baked(4), &mut t0[0..1]))?;
                r.run(k.mix(&b4[0..1], &mut t0[0..1]))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap());
            same(lock(&c9).run(&q1, &0, |r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(3)?;
                r.run(k.put(&s5, &mut y0[0..3]))?;
                Ok(vec![y0])
            }).and_then(|out| read(&q1, out)).unwrap(), &[vec![None, None, None]]);
            let mut b38 = device.buffer::<u32>(&[5, 1996269065, 8, 3]).unwrap();
            let mut b39 = device.buffer::<u32>(&[6, 5, 2, 7, 1357921159, 0, 2]).unwrap();
            let mut n40 = Generator::new(&device, 1571985539160).unwrap();
            g15.launch(&q36).map(drop).unwrap();
        });
    });
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![5, 3, 9]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![1596257272, 5, 4142017522, 9]]);
    assert_eq!(vec![last.read(&b4).unwrap()], [vec![1933858207, 3, 0, 2, 6]]);
    assert_eq!(vec![x6.get(&last).map(|x| vec![x]).unwrap()], [vec![6]]);
    assert_eq!(vec![h16.to_vec().unwrap()], [vec![9, 0, 1338827319]]);
    device.synchronize().unwrap();
    drop(last);
    drop(b2);
    drop(g15);
    drop(h16);
    drop(k);
    drop(b3);
    drop(g14);
    drop(c9);
    drop(g13);
    drop(q1);
    drop(g12);
    drop(b4);
    drop(s5);
    drop(device);
    drop(x6);
    drop(p7);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_622() {
    let (device, k, token) = open_struck(0x7a83932c3d767d66, Call::cuMemcpyHtoDAsync_v2, 3, CUresult(901), Effect::CaptureInvalidated);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[4, 8, 8, 4, 7, 2, 6]).unwrap();
    let mut b3 = device.buffer::<u32>(&[7, 4, 7]).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.add(&b3[0..1], &b3[0..1], &mut b2[6..7]))?;
        r.run(k.bump(b3[2..3].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let [mut b4] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(1), &mut b3[0..1]))?;
        let mut y0 = r.output::<u32>(3)?;
        r.run(k.bump(y0[1..2].at_mut(0)))?;
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[2..3], &mut piece00[..]))?;
        }
        r.run(k.first(baked(1), &mut y0[0..2]))?;
        r.run(k.mix(&y0[2..3], &mut b2[3..4]))?;
        r.run(k.sum(&y0[0..3], b2[0..1].at_mut(0)))?;
        Ok(vec![y0])
    }).unwrap());
    drop(q1);
    let s5 = Slot::new(0u32);
    let mut g6 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.sum(&b2[0..1], b4[0..1].at_mut(0)))?;
        r.run(k.mix(&b2[6..7], &mut b3[2..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut a7 = device.arena(16384).unwrap();
    let mut q8 = device.stream().unwrap();
    let mut n9 = Generator::new(&device, 7213860952174).unwrap();
    let mut i10 = device.graph().record_into((&device.zeros::<u32>(1).unwrap()[..], &device.zeros::<u32>(1).unwrap()[..]), (&mut device.zeros::<u32>(1).unwrap()[..], &mut device.zeros::<u32>(1).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.window(&s5, &o1[0..1], &mut o0[0..1]))?;
        r.run(k.window(&s5, &b4[0..1], &mut b3[0..1]))?;
        r.run(n9.words(&mut o0[0..1]))?;
        r.run(k.window(&s5, &i0[0..1], &mut b3[2..3]))?;
        Ok(())
    }).unwrap();
    let [] = outputs(q8.run(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b4.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    assert_eq!(one(q8.read(&b4[0..2])).unwrap(), [vec![1, 4]]);
    let mut g11 = device.graph().warmup(3).record(|r: &mut Recorder<'_>| {
        r.run(g6.as_op())?;
        r.run(k.bump(b2[2..3].at_mut(0)))?;
        let mut y0 = r.output::<u32>(5)?;
        {
            let (gap00, rest00) = y0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.scale(rest00[2..3].at(0), &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(fill(&mut t0[0..6], baked(4)))?;
        Ok(vec![y0])
    }).unwrap();
    let mut x12 = device.scalar(1u32).unwrap();
    let mut g13 = device.graph().arena(&a7).apart().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(k.put(&s5, &mut t0[0..4]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let budget = device.held().total() + 4096;
    device.set_memory_budget(Some(budget));
    assert_eq!(kind(device.host(&vec![0u32; budget / 4 + 1]).map(drop)), "OverBudget");
    device.set_memory_budget(None);
    g11.launch_sync(&q8).map(drop).unwrap();
    g11.submit(&q8).and_then(|ticket| ticket.wait()).unwrap();
    let p14 = device.pool();
    g11.launch(&q8).map(drop).unwrap();
    assert_eq!(kind(i10.launch(&q8, (&b3[1..2], &b3[0..1]), (&mut b4[1..2], &mut x12.as_mut_slice()[0..1])).map(drop)), "Overlap");
    let p15 = device.pool();
    x12.set(&q8, 3470349924).unwrap();
    g6.launch(&q8).map(drop).unwrap();
    let mut n16 = Generator::new(&device, 7070754238012).unwrap();
    p14.keep(token.clone()).map(drop).unwrap();
    q8.write(&mut b4[1..2], &[8]).unwrap();
    let p17 = device.pool();
    g11.launch(&q8).map(drop).unwrap();
    let mut i18 = device.graph().record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(4).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.first(&s5, &mut o0[1..2]))?;
        r.run(g13.as_op())?;
        let mut y0 = r.output::<u32>(5)?;
        Ok(())
    }).unwrap();
    let mut i19 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(2).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(fill(&mut o0[0..1], &s5))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.put(&s5, &mut o1[1..2]))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.run(k.add(&b4[1..2], &b4[0..1], &mut o1[1..2]))?;
        r.run(k.mix(&b4[0..3], &mut b3[0..3]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.sum(&o1[1..2], o0[0..1].at_mut(0)))?;
            r.run(k.add(&b3[0..2], &o1[0..2], &mut o0[0..2]))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.bump(o1[1..2].at_mut(0)))?;
        Ok(())
    }).unwrap();
    g11.launch(&q8).map(drop).unwrap();
    g13.launch(&q8).map(drop).unwrap();
    let last = again(|| device.stream());
    assert_eq!(vec![again(|| last.read(&b2))], [vec![2, 8, 13, 12, 7, 2, 14]]);
    assert_eq!(vec![again(|| last.read(&b3))], [vec![1, 4, 10928]]);
    assert_eq!(vec![again(|| last.read(&b4))], [vec![2, 8, 0]]);
    assert_eq!(vec![again(|| n9.save(&last).map(|state| state.next_words(4)))], [vec![1961706454, 287679587, 3097363727, 3003496364]]);
    assert_eq!(vec![again(|| last.read(&g11.outputs()[0]))], [vec![0, 0, 0, 0, 0]]);
    assert_eq!(vec![again(|| x12.get(&last).map(|x| vec![x]))], [vec![3470349924]]);
    assert_eq!(vec![again(|| n16.save(&last).map(|state| state.next_words(4)))], [vec![1001204315, 2515207091, 1626411862, 2577530865]]);
    again(|| device.synchronize());
    drop(last);
    drop(b3);
    drop(g6);
    drop(q8);
    drop(b4);
    drop(g13);
    drop(a7);
    drop(i19);
    drop(n9);
    drop(p17);
    drop(i10);
    drop(k);
    drop(p14);
    drop(i18);
    drop(g11);
    drop(s5);
    drop(b2);
    drop(x12);
    drop(p15);
    drop(device);
    drop(n16);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_203() {
    let (device, k, token) = open_struck(0x88a4c60053de7fa2, Call::cuCtxGetCurrent, 58, CUresult(800), Effect::NotDone);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[4, 6, 3]).unwrap();
    let mut b3 = device.buffer::<u32>(&[2, 4, 8, 9, 5, 6]).unwrap();
    let s4 = Slot::new(4u32);
    let mut a5 = device.arena(16384).unwrap();
    let mut f6 = rows_of(&device, &k, &[1, 4], 1, Pad::Keep, &s4, true).unwrap();
    let mut x7 = device.scalar(8u32).unwrap();
    assert_eq!(one(x7.get(&q1).map(|x| vec![x])).unwrap(), [vec![8]]);
    let mut g8 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(9), &mut b3[0..6]))?;
        r.run(k.sum(&b2[0..2], b3[4..5].at_mut(0)))?;
        r.run(k.put(baked(7), &mut b2[2..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    drop(x7);
    let mut g9 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(1)?;
        r.run(k.scale(b3[1..2].at(0), &mut b2[0..3]))?;
        r.run(k.bump(b3[1..2].at_mut(0)))?;
        r.run(k.bump(b2[2..3].at_mut(0)))?;
        s4.set(2);
        Ok(vec![y0])
    }).unwrap();
    assert_eq!(kind(g8.rerecord_with(device.graph(), |r: &mut Recorder<'_>| {
        r.run(g9.as_op())?;
        r.run(k.bump(b3[0..1].at_mut(0)))?;
        r.run(k.bump(b2[1..2].at_mut(0)))?;
        r.run(k.first(&s4, &mut b2[2..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop)), "Requires");
    let mut b10 = device.buffer::<u32>(&[960517483, 9, 5, 7, 8, 9, 3, 5, 5, 189660326, 2, 9, 9, 5, 3824496469, 2472907968, 5, 2, 440241759, 9, 5, 3639074667, 4, 9, 3, 3, 9, 0, 1, 0, 4, 2, 7, 7, 8, 8, 4, 2, 3057914297, 9, 3652773924, 6, 2, 2264033612, 3348702678, 1, 5, 8, 3714048413, 4, 4, 5, 0, 8, 4]).unwrap();
    assert_eq!(f6.call(&q1, 5, &b3[0..5]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]])).unwrap(), [vec![8, 10, 14, 15, 11], vec![28]]);
    s4.set(0);
    assert_eq!(one(q1.read(&b2[2..3])).unwrap(), [vec![3]]);
    g8.launch(&q1).map(drop).unwrap();
    {
        let other = Software::new().seed(1).open().unwrap();
        let theirs = other.stream().unwrap();
        assert_eq!(kind(g8.launch(&theirs).map(drop)), "WrongDevice");
    }
    drop(a5);
    g9.launch(&q1).map(drop).unwrap();
    g9.launch(&q1).map(drop).unwrap();
    s4.set(5);
    s4.set(5);
    assert_eq!(one(q1.read(&b3[4..6])).unwrap(), [vec![10, 9]]);
    g9.launch(&q1).map(drop).unwrap();
    let mut g11 = device.graph().preloaded().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(copy(&b2[1..3], &mut t0[0..2]))?;
        r.run(g9.as_op())?;
        r.run(k.scale(b10[8..9].at(0), &mut b3[5..6]))?;
        r.run(k.sum(&t0[0..2], b2[1..2].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g12 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(4)?;
        {
            let (gap00, rest00) = y0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[2..3], &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(k.put(&s4, &mut t0[0..6]))?;
        Ok(vec![y0])
    }).unwrap();
    s4.set(6);
    let mut b13 = device.buffer::<u32>(&[5, 0, 464680640]).unwrap();
    let mut g14 = device.graph().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(copy(&g12.outputs()[0][2..3], &mut b2[0..1]))?;
        r.run(k.scale(g9.outputs()[0][0..1].at(0), &mut b3[0..6]))?;
        r.run(k.mix(&b10[15..17], &mut b2[0..2]))?;
        r.run(k.sum(&b3[2..3], b13[0..1].at_mut(0)))?;
        r.run(k.mix(&b13[0..1], &mut b3[5..6]))?;
        r.run(k.mix(&g12.outputs()[0][1..4], &mut b2[0..3]))?;
        r.run(k.scale(b10[28..29].at(0), &mut b2[0..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b13.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[1..2], &mut piece00[..]))?;
        }
        r.run(k.put(&s4, &mut b10[0..20]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    assert_eq!(f6.call(&q1, 5, &b3[1..6]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]])).unwrap(), [vec![30, 27, 27, 28, 27], vec![49]]);
    let mut g15 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(g11.as_op())?;
        let mut y0 = r.output::<u32>(4)?;
        r.run(k.sum(&b3[0..6], y0[0..1].at_mut(0)))?;
        r.run(k.scale(b10[22..23].at(0), &mut y0[1..4]))?;
        r.run(k.bump(b10[17..18].at_mut(0)))?;
        r.run(g11.as_op())?;
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[1..2], &mut piece00[..]))?;
        }
        Ok(vec![y0])
    }).unwrap();
    let [mut b16] = outputs(g15.into_outputs());
    assert!(f6.call(&q1, 1, &b16[0..1]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]])).is_err());
    drop(f6);
    let mut g17 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(k.put(&s4, &mut t0[0..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    assert_eq!(kind(device.graph().warmup(2).warmup_cap(0).record(|r: &mut Recorder<'_>| {
        r.run(k.bump(b2[2..3].at_mut(0)))?;
        r.run(k.scale(b3[3..4].at(0), &mut b10[35..53]))?;
        r.run(k.bump(b2[2..3].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "WarmupTooLarge");
    let s19 = Slot::new(4u32);
    drop(s19);
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.scale(b2[0..1].at(0), &mut b10[0..55]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    q1.synchronize().unwrap();
    let mut b20 = device.buffer::<u32>(&[4]).unwrap();
    let mut h21 = device.host::<u32>(&[3232301806, 3565248894, 0, 0]).unwrap();
    g9.launch(&q1).map(drop).unwrap();
    let last = again(|| device.stream());
    assert_eq!(vec![again(|| last.read(&b2))], [vec![47520, 71280, 84625]]);
    assert_eq!(vec![again(|| last.read(&b3))], [vec![9, 13, 9, 9, 10, 9]]);
    assert_eq!(vec![again(|| last.read(&g9.outputs()[0]))], [vec![0]]);
    assert_eq!(vec![again(|| last.read(&b10))], [vec![23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 23760, 19800, 1120403240, 15840, 35640, 11880, 11880, 35640, 0, 3960, 0, 15840, 7920, 27720, 27720, 31680, 31680, 15840, 7920, 1827808696, 35640, 3829853408, 23760, 7920, 1976356768, 2298562128, 3960, 19800, 31680, 1663693976, 15840, 15840, 19800, 0, 31680, 15840]]);
    assert_eq!(vec![again(|| last.read(&g12.outputs()[0]))], [vec![0, 0, 0, 0]]);
    assert_eq!(vec![again(|| last.read(&b13))], [vec![464680655, 0, 464680640]]);
    assert_eq!(vec![again(|| last.read(&b16))], [vec![0, 0, 0, 0]]);
    assert_eq!(vec![again(|| last.read(&b20))], [vec![4]]);
    assert_eq!(vec![again(|| h21.to_vec())], [vec![3232301806, 3565248894, 0, 0]]);
    let _ = g8.launch(&last);
    let _ = g9.launch(&last);
    let _ = g11.launch(&last);
    let _ = g12.launch(&last);
    let _ = g14.launch(&last);
    let _ = g17.launch(&last);
    drop(last);
    drop(h21);
    drop(s4);
    drop(b3);
    drop(b2);
    drop(b20);
    drop(b10);
    drop(g12);
    drop(g9);
    drop(device);
    drop(g11);
    drop(k);
    drop(q1);
    drop(b16);
    drop(b13);
    drop(g14);
    drop(g8);
    drop(g17);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_1008() {
    let (device, k, token) = open(0xda6b9ca559777a21);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[4, 9, 3, 2, 9, 3, 4109043634, 2]).unwrap();
    let mut b3 = device.buffer::<u32>(&[9, 3, 1615799264, 3060842261, 8, 2]).unwrap();
    let mut b4 = device.buffer::<u32>(&[8, 1, 8, 8, 7, 7]).unwrap();
    let s5 = Slot::new(0u32);
    let mut x6 = device.scalar(0u32).unwrap();
    let c9 = cache(&device, 3);
    let mut g12 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g13 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g14 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(x6.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut b15 = device.buffer::<u32>(&[4]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut q16 = device.stream().unwrap();
            let p17 = device.pool();
            let c18 = cache(&device, 1);
            p17.unseal();
            g12.reset();
            assert_eq!(kind(g12.submit(&q16).and_then(block_on)), "Reset");
            same(lock(&c18).run(&q16, &0, |r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(5)?;
                r.run(fill(&mut y0[0..5], &s5))?;
                r.run(k.sum(&b4[0..6], y0[3..4].at_mut(0)))?;
                r.run(k.window(baked(2), &b4[0..5], &mut y0[0..3]))?;
                let mut y1 = r.output::<u32>(1)?;
                Ok(vec![y0, y1])
            }).and_then(|out| read(&q16, out)).unwrap(), &[vec![Some(8), Some(8), Some(7), Some(39), None], vec![Some(0)]]);
            assert_eq!(lock(&c18).evict(&0), true);
            assert_eq!(one(q16.read(&b3[0..3])).unwrap(), [vec![9, 3, 1615799264]]);
            assert_eq!(kind(device.graph().record(|r: &mut Recorder<'_>| {
                r.keep(token.clone());
                let mut t0 = r.alloc::<u32>(4)?;
                r.run(copy(&b2[0..4], &mut t0[0..4]))?;
                let mut t1 = r.alloc::<u32>(1)?;
                r.run(fill(&mut t1[0..1], baked(1)))?;
                Err::<Vec<Buffer<u32>>, _>(Error::msg("on purpose"))
            })), "Msg");
            drop(c18);
            let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
                let mut t0 = r.alloc::<u32>(1)?;
                r.run(copy(&b3[2..3], &mut t0[0..1]))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap());
            let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
                let mut t0 = r.alloc::<u32>(4)?;
                r.run(k.put(&s5, &mut t0[0..4]))?;
                r.run(k.bump(t0[0..1].at_mut(0)))?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap());
        });
        scope.spawn(|| {
            let mut q20 = device.stream().unwrap();
            q1.synchronize().unwrap();
            let mut b21 = device.zeros::<u32>(7).unwrap();
            device.synchronize().unwrap();
            g13.launch(&q1).map(drop).unwrap();
        });
        scope.spawn(|| {
            let mut q22 = device.stream().unwrap();
            g14.launch(&q22).map(drop).unwrap();
            g14.rerecord(|r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(1)?;
                r.run(k.first(baked(0), &mut y0[0..1]))?;
                r.run(k.sum(&b2[1..7], y0[0..1].at_mut(0)))?;
                r.run(copy(&b2[7..8], &mut y0[0..1]))?;
                r.run(k.add(&b15[0..1], &b15[0..1], &mut y0[0..1]))?;
                let mut y1 = r.output::<u32>(3)?;
                {
                    let (gap00, rest00) = y1.split_at_mut(2);
                    let (piece00, rest00) = rest00.split_at_mut(1);
                    r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
                }
                Ok(vec![y0, y1])
            }).map(drop).unwrap();
            let mut g23 = device.graph().record(|r: &mut Recorder<'_>| {
                r.run(g14.as_op())?;
                let mut y0 = r.output::<u32>(2)?;
                r.run(k.scale(b4[5..6].at(0), &mut y0[1..2]))?;
                r.run(k.first(baked(0), &mut y0[1..2]))?;
                r.run(k.add(&g14.outputs()[0][0..1], &g14.outputs()[1][0..1], &mut y0[1..2]))?;
                Ok(vec![y0])
            }).unwrap();
            g14.launch(&q1).map(drop).unwrap();
            assert_eq!(lock(&c9).run(&q22, &0, |r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(5)?;
                r.run(k.put(baked(9), &mut y0[0..5]))?;
                let mut t0 = r.alloc::<u32>(6)?;
                r.run(copy(&b3[0..6], &mut t0[0..6]))?;
                {
                    let (gap00, rest00) = t0.split_at_mut(1);
                    let (piece00, rest00) = rest00.split_at_mut(5);
                    r.run(k.scale(gap00[0..1].at(0), &mut piece00[..]))?;
                }
                Ok(vec![y0])
            }).and_then(|out| read(&q22, out)).unwrap(), [vec![9, 9, 9, 9, 9]]);
            g14.rerecord(|r: &mut Recorder<'_>| {
                let mut y0 = r.output::<u32>(3)?;
                {
                    let (gap00, rest00) = y0.split_at_mut(0);
                    let (piece00, rest00) = rest00.split_at_mut(1);
                    r.run(k.mix(&rest00[0..1], &mut piece00[..]))?;
                }
                let mut y1 = r.output::<u32>(3)?;
                let mut y2 = r.output::<u32>(6)?;
                r.keep(token.clone());
                Ok(vec![y0, y1, y2])
            }).map(drop).unwrap();
            let mut g24 = device.graph().record(|r: &mut Recorder<'_>| {
                r.run(g14.as_op())?;
                Ok(Vec::<Buffer<u32>>::new())
            }).unwrap();
            assert_eq!(one(q22.read(&b15[0..1])).unwrap(), [vec![4]]);
        });
    });
    assert!(panics(|| drop(g13.rerecord_with(device.graph(), |r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(copy(&b4[3..4], &mut t0[0..1]))?;
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop))));
    g13.launch(&q1).map(drop).unwrap();
    assert_eq!(kind(q1.write(&mut b4[0..3], &[3, 1413332457, 3, 6])), "Length");
    let c25 = cache(&device, 0);
    g14.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b15[0..1], &mut b4[5..6]))?;
        let mut y0 = r.output::<u32>(6)?;
        Ok(vec![y0])
    }).map(drop).unwrap();
    let mut b26 = device.buffer::<u32>(&[1, 9, 5, 2, 9, 5, 9]).unwrap();
    let mut g27 = device.graph().record(|r: &mut Recorder<'_>| {
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.scale(b3[3..4].at(0), &mut b4[0..3]))?;
            {
                let (gap00, rest00) = b3.split_at_mut(5);
                let (piece00, rest00) = rest00.split_at_mut(1);
                r.run(k.mix(&gap00[1..2], &mut piece00[..]))?;
            }
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.keep(token.clone());
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.run(k.mix(&b2[1..7], &mut b26[0..6]))?;
        r.run(k.put(&s5, &mut b15[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![4, 9, 3, 2, 9, 3, 4109043634, 2]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![9, 3, 1615799264, 3060842261, 8, 2]]);
    assert_eq!(vec![last.read(&b4).unwrap()], [vec![8, 1, 8, 8, 7, 7]]);
    assert_eq!(vec![x6.get(&last).map(|x| vec![x]).unwrap()], [vec![3]]);
    assert_eq!(vec![last.read(&g14.outputs()[0]).unwrap()], [vec![0, 0, 0, 0, 0, 0]]);
    assert_eq!(vec![last.read(&b15).unwrap()], [vec![4]]);
    assert_eq!(vec![last.read(&b26).unwrap()], [vec![1, 9, 5, 2, 9, 5, 9]]);
    let _ = g12.launch(&last);
    let _ = g13.launch(&last);
    let _ = g14.launch(&last);
    let _ = g27.launch(&last);
    drop(last);
    drop(g14);
    drop(q1);
    drop(s5);
    drop(k);
    drop(x6);
    drop(c9);
    drop(b26);
    drop(g13);
    drop(b3);
    drop(b2);
    drop(device);
    drop(c25);
    drop(g27);
    drop(g12);
    drop(b4);
    drop(b15);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_173() {
    let (device, k, token) = open(0x3e0634bd6bd14221);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[85807670, 7, 1, 9, 8, 4, 1]).unwrap();
    let mut b3 = device.buffer::<u32>(&[330035242, 3, 6, 2, 6]).unwrap();
    let mut g4 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(copy(&b2[1..6], &mut b3[0..5]))?;
        r.run(k.add(&b3[4..5], &b3[4..5], &mut b2[4..5]))?;
        {
            let (gap00, rest00) = b2.split_at_mut(4);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[1..2], &mut piece00[..]))?;
        }
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            {
                let (gap00, rest00) = b2.split_at_mut(5);
                let (piece00, rest00) = rest00.split_at_mut(1);
                r.run(k.add(&gap00[1..2], &gap00[1..2], &mut piece00[..]))?;
            }
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(fill(&mut t0[0..1], baked(8)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut n5 = Generator::new(&device, 16536130904680).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.add(&b2[4..5], &b2[4..5], &mut b3[0..1]))?;
        r.run(k.first(baked(0), &mut b2[3..5]))?;
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(copy(&b2[0..6], &mut t0[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let c6 = cache(&device, 2);
    let mut b7 = device.zeros::<u32>(5).unwrap();
    drop(b7);
    let c8 = cache(&device, 0);
    let mut b9 = device.buffer::<u32>(&[1]).unwrap();
    let mut i10 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(2).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.window(baked(0), &o0[0..2], &mut o1[1..2]))?;
        Ok(())
    }).unwrap();
    let mut i11 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(3).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.put(baked(7), &mut o1[0..2]))?;
        r.run(k.first(baked(3), &mut b3[0..3]))?;
        r.run(fill(&mut o1[0..1], baked(4255672008)))?;
        r.run(k.mix(&i0[0..2], &mut o0[0..2]))?;
        r.run(k.mix(&i0[0..2], &mut o0[0..2]))?;
        {
            let (gap00, rest00) = o1.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[0..1], &mut piece00[..]))?;
        }
        Ok(())
    }).unwrap();
    assert_eq!(kind(lock(&c8).get_or_record(&1, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(2)?;
        r.run(k.put(baked(8), &mut y0[0..2]))?;
        r.run(k.mix(&b2[3..5], &mut b3[3..5]))?;
        Ok(vec![y0])
    }).and_then(|g| read(&q1, g.launch(&q1)?.wait()?))), "OverCap");
    g4.preload(&q1).unwrap();
    let [mut b12] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(copy(&b2[5..6], &mut b9[0..1]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            {
                let (gap00, rest00) = b2.split_at_mut(4);
                let (piece00, rest00) = rest00.split_at_mut(1);
                r.run(k.add(&gap00[0..1], &gap00[0..1], &mut piece00[..]))?;
            }
            r.run(k.first(baked(0), &mut b2[4..5]))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.run(k.mix(&b9[0..1], &mut b3[0..1]))?;
        let mut y0 = r.output::<u32>(6)?;
        r.run(k.mix(&b3[1..2], &mut b9[0..1]))?;
        Ok(vec![y0])
    }).unwrap());
    assert_eq!(lock(&c8).run(&q1, &1, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(2)?;
        r.run(k.put(baked(8), &mut y0[0..2]))?;
        r.run(k.mix(&b2[3..5], &mut b3[3..5]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![8, 8]]);
    g4.launch(&q1).map(drop).unwrap();
    g4.rerecord(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(9), &mut t0[0..1]))?;
        r.run(k.sum(&t0[0..1], b2[1..2].at_mut(0)))?;
        {
            let (gap00, rest00) = b12.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&gap00[0..2], &gap00[1..3], &mut piece00[..]))?;
        }
        r.run(fill(&mut t0[0..1], baked(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    assert_eq!(kind(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(6), &mut b2[3..7]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.mix(&b12[5..6], &mut b9[0..1]))?;
            r.run(k.mix(&b12[0..4], &mut b3[0..4]))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(k.put(baked(9), &mut t0[0..5]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.window(baked(5), &rest00[1..2], &mut piece00[..]))?;
        }
        r.run(k.put(baked(6), &mut b2[4..5]))?;
        let mut y0 = r.output::<u32>(2)?;
        Ok(vec![y0])
    })), "Requires");
    g4.launch(&q1).map(drop).unwrap();
    assert_eq!(one(q1.read(&b12[4..5])).unwrap(), [vec![0]]);
    q1.write(&mut b9[0..1], &[1416946235]).unwrap();
    assert_eq!(one(q1.read(&b9[0..1])).unwrap(), [vec![1416946235]]);
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(copy(&b12[0..6], &mut b2[1..7]))?;
        r.run(n5.words(&mut b9[0..1]))?;
        r.run(k.mix(&b2[4..6], &mut b3[0..2]))?;
        r.run(g4.as_op())?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    assert_eq!(lock(&c8).run(&q1, &0, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(5)?;
        r.run(fill(&mut y0[0..5], baked(885954987)))?;
        r.run(fill(&mut b3[0..4], baked(9)))?;
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(copy(&y0[0..5], &mut t0[0..5]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![885954987, 885954987, 885954987, 885954987, 885954987]]);
    g4.launch(&q1).map(drop).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    let mut w14 = n5.save(&q1).unwrap();
    assert_eq!(vec![w14.next_words(4)], [vec![1881535553, 1093015688, 191030222, 2201313340]]);
    {
        let (gap00, rest00) = b12.split_at_mut(0);
        let (piece00, rest00) = rest00.split_at_mut(2);
        let (gap01, rest01) = rest00.split_at_mut(1);
        let (piece01, rest01) = rest01.split_at_mut(2);
        i10.launch(&q1, (&b3[0..2], &b2[1..3]), (&mut piece00[..], &mut piece01[..])).map(drop).unwrap();
    }
    drop(i11);
    assert_eq!(lock(&c6).run(&q1, &2, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(fill(&mut y0[0..3], baked(4)))?;
        r.run(copy(&b3[1..5], &mut b2[0..4]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![4, 4, 4]]);
    assert_eq!(kind(device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(7), &mut b2[0..7]))?;
        r.run(k.mix(&b2[0..6], &mut b12[0..6]))?;
        r.run(k.put(baked(3453648890), &mut b3[0..4]))?;
        r.run(k.mix(&b2[0..6], &mut b3[0..5]))?;
        {
            let (gap00, rest00) = b12.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[0..1], &mut piece00[..]))?;
        }
        r.run(k.bump(b2[4..5].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "Requires");
    let mut g16 = device.graph().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b2[4..5], baked(3)))?;
        r.run(copy(&b2[0..5], &mut b3[0..5]))?;
        r.run(k.scale(b12[5..6].at(0), &mut b3[1..4]))?;
        let mut y0 = r.output::<u32>(1)?;
        r.run(copy(&b9[0..1], &mut y0[0..1]))?;
        {
            let (gap00, rest00) = b12.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&rest00[1..3], &b3[2..4], &mut piece00[..]))?;
        }
        Ok(vec![y0])
    }).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(fill(&mut t0[0..5], baked(5)))?;
        r.run(k.scale(b12[3..4].at(0), &mut b2[0..7]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut b17 = device.buffer::<u32>(&[2489976553, 6, 7, 8, 5, 5, 3484964266, 0, 1, 3332041034, 2753659576, 2, 9, 7, 8, 3429794241, 6, 8, 4, 0, 5, 9, 5, 9, 6, 6, 1, 2, 6, 7, 828777123, 8, 7, 8, 0, 5, 4, 824007665, 3, 3, 1493803480, 2, 5, 64230962, 8, 1291834655, 2168302638, 9, 0, 2146826930, 8, 4104661579, 3, 3, 956586988, 4, 8, 2422660320, 4, 3, 981501802, 7, 5, 2, 1]).unwrap();
    i10.launch(&q1, (&b3[0..2], &b2[3..5]), (&mut b12[1..3], &mut b17[9..11])).map(drop).unwrap();
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![0, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![9, 9, 9, 9, 4]]);
    assert_eq!(vec![n5.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![1881535553, 1093015688, 191030222, 2201313340]]);
    assert_eq!(vec![last.read(&b9).unwrap()], [vec![1500800019]]);
    assert_eq!(vec![last.read(&b12).unwrap()], [vec![0, 0, 0, 0, 0, 0]]);
    assert_eq!(vec![last.read(&g16.outputs()[0]).unwrap()], [vec![0]]);
    assert_eq!(vec![last.read(&b17).unwrap()], [vec![2489976553, 6, 7, 8, 5, 5, 3484964266, 0, 1, 3332041034, 0, 2, 9, 7, 8, 3429794241, 6, 8, 4, 0, 5, 9, 5, 9, 6, 6, 1, 2, 6, 7, 828777123, 8, 7, 8, 0, 5, 4, 824007665, 3, 3, 1493803480, 2, 5, 64230962, 8, 1291834655, 2168302638, 9, 0, 2146826930, 8, 4104661579, 3, 3, 956586988, 4, 8, 2422660320, 4, 3, 981501802, 7, 5, 2, 1]]);
    device.synchronize().unwrap();
    drop(last);
    drop(i10);
    drop(b12);
    drop(b3);
    drop(c8);
    drop(b9);
    drop(device);
    drop(g16);
    drop(n5);
    drop(b2);
    drop(g4);
    drop(b17);
    drop(k);
    drop(c6);
    drop(q1);
    drop(w14);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_584() {
    let (device, k, token) = open_struck(0xe0cb0f12d8e99895, Call::cuGraphAddKernelNode_v2, 28, CUresult(715), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[2, 4, 1, 2, 3, 4242356779, 2]).unwrap();
    let mut b3 = device.buffer::<u32>(&[1, 2, 6]).unwrap();
    let s4 = Slot::new(6u32);
    let mut f5 = rows_of(&device, &k, &[1, 4], 1, Pad::Zero, &s4, false).unwrap();
    assert_eq!(kind(f5.call(&q1, 5, &b2[2..7]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]]))), "NoBucket");
    assert_eq!(one(q1.read(&b3[1..3])).unwrap(), [vec![2, 6]]);
    let mut b6 = device.buffer::<u32>(&[3571475763, 4, 1, 0, 4, 1, 3]).unwrap();
    drop(s4);
    q1.is_done().map(drop).unwrap();
    let mut g7 = device.graph().warmup_unrestored(1).record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b2.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(copy(&rest00[0..2], &mut piece00[..]))?;
        }
        r.run(k.sum(&b6[0..7], b3[2..3].at_mut(0)))?;
        r.run(copy(&b2[2..3], &mut b3[2..3]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.scale(rest00[0..1].at(0), &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(3), &mut t0[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    q1.write(&mut b6[3..4], &[2465461566]).unwrap();
    assert_eq!(kind(f5.call(&q1, 2, &b3[0..3]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]]))), "NotRows");
    assert!(panics(|| drop(device.graph().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(k.put(baked(6), &mut t0[0..4]))?;
        r.run(copy(&b6[0..7], &mut b2[0..7]))?;
        {
            let (gap00, rest00) = t0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[2..3], &mut piece00[..]))?;
        }
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(Vec::<Buffer<u32>>::new())
    }))));
    g7.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.window(baked(0), &b3[0..3], &mut b6[3..5]))?;
        r.run(k.scale(b2[3..4].at(0), &mut b6[0..6]))?;
        r.run(k.bump(b6[3..4].at_mut(0)))?;
        r.run(k.add(&b6[0..5], &b6[0..5], &mut b2[2..7]))?;
        let mut y0 = r.output::<u32>(6)?;
        Ok(vec![y0])
    }).map(drop).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b6[0..7], baked(9)))?;
        r.run(k.mix(&g7.outputs()[0][0..1], &mut b3[2..3]))?;
        r.run(k.put(baked(3), &mut b6[0..2]))?;
        r.run(k.mix(&b6[3..6], &mut b3[0..3]))?;
        r.run(fill(&mut b3[0..3], baked(338526071)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut b9 = device.zeros::<u32>(2).unwrap();
    let mut b10 = device.buffer::<u32>(&[6, 4, 4]).unwrap();
    let mut g11 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b2[3..4], &b3[0..1], &mut b9[1..2]))?;
        r.run(k.put(baked(5), &mut b3[1..3]))?;
        r.run(k.mix(&g7.outputs()[0][1..3], &mut b9[0..2]))?;
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(6), &mut t0[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    q1.write(&mut b3[1..3], &[2, 3725978167]).unwrap();
    g7.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(0), &mut b10[0..3]))?;
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(7), &mut t0[0..1]))?;
        r.run(k.bump(t0[0..1].at_mut(0)))?;
        let mut y0 = r.output::<u32>(1)?;
        r.run(k.mix(&b6[0..7], &mut b2[0..7]))?;
        let mut y1 = r.output::<u32>(2)?;
        Ok(vec![y0, y1])
    }).map(drop).unwrap();
    let [mut b12, mut b13] = outputs(g7.into_outputs());
    g11.submit(&q1).and_then(|ticket| ticket.wait()).unwrap();
    let mut g14 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(g11.as_op())?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut i15 = device.graph().record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(4).unwrap()[..], &mut device.zeros::<u32>(5).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        {
            let (gap00, rest00) = o1.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        r.run(k.add(&o0[2..4], &i0[1..3], &mut b3[1..3]))?;
        r.run(k.first(baked(0), &mut o0[3..4]))?;
        r.run(k.add(&i1[0..3], &i1[1..4], &mut b3[0..3]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(fill(&mut o1[0..5], baked(9)))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.mix(&o1[4..5], &mut b9[1..2]))?;
        Ok(())
    }).unwrap();
    g11.launch(&q1).and_then(|l| l.wait().map(drop)).unwrap();
    let _ = f5.prepare().map(drop);
    drop(f5);
    drop(b10);
    drop(i15);
    drop(g11);
    drop(b3);
    drop(b2);
    drop(q1);
    drop(b12);
    drop(k);
    drop(b6);
    drop(b9);
    drop(g14);
    drop(b13);
    drop(device);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_436() {
    let (device, k, token) = open(0x7a764812a2e2cfb0);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[0, 5, 9, 6, 9, 3590935611, 7, 4, 9, 9, 2, 8, 3105903622, 1, 6, 7, 9, 0, 9, 4222843231, 8, 0, 2582309042, 3, 3150797264, 5, 1547923499, 0, 4, 5, 5, 3472413657, 2151620947, 3, 2, 2, 1149500106, 7, 3, 6, 6, 3, 0, 3, 7, 2843082107, 7, 0, 8, 7]).unwrap();
    let mut b3 = device.buffer::<u32>(&[4, 8, 2733888308]).unwrap();
    let s4 = Slot::new(0u32);
    let mut n5 = Generator::new(&device, 339883947140).unwrap();
    q1.synchronize().unwrap();
    let mut g6 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.put(&s4, &mut b2[8..37]))?;
        r.run(fill(&mut b2[11..36], baked(4)))?;
        r.run(k.bump(b2[11..12].at_mut(0)))?;
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[0..1], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g6.launch_sync(&q1).map(drop).unwrap();
    g6.launch(&q1).map(drop).unwrap();
    g6.launch_sync(&q1).map(drop).unwrap();
    q1.write(&mut b2[44..47], &[798904328, 9, 1]).unwrap();
    g6.submit(&q1).and_then(|ticket| ticket.wait()).unwrap();
    s4.set(3);
    let mut g7 = device.graph().straight_line().record(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(0), &mut b3[0..3]))?;
        r.run(k.mix(&b2[1..3], &mut b3[0..2]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&rest00[0..1], &rest00[0..1], &mut piece00[..]))?;
        }
        r.run(k.scale(b2[1..2].at(0), &mut b3[0..2]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g8 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.put(&s4, &mut b3[0..3]))?;
        r.run(fill(&mut b3[2..3], baked(2)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    drop(g8);
    g7.launch(&q1).map(drop).unwrap();
    n5.seed(&q1, 7754286).unwrap();
    let mut b9 = device.buffer::<u32>(&[935473409, 0, 4, 7, 0]).unwrap();
    s4.set(4);
    g7.launch(&q1).map(drop).unwrap();
    q1.write(&mut b9[3..4], &[4]).unwrap();
    let s10 = Slot::new(1u32);
    let mut i11 = device.graph().record_into((&device.zeros::<u32>(3).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(3).unwrap()[..], &mut device.zeros::<u32>(3).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.bump(o0[0..1].at_mut(0)))?;
        r.run(k.mix(&o0[1..2], &mut o1[2..3]))?;
        r.run(n5.words(&mut b3[2..3]))?;
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(k.put(&s4, &mut t0[0..5]))?;
        let mut t1 = r.alloc::<u32>(5)?;
        r.run(k.put(&s4, &mut t1[0..5]))?;
        Ok(())
    }).unwrap();
    g7.launch(&q1).map(drop).unwrap();
    g7.launch(&q1).map(drop).unwrap();
    let mut i12 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(1).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(g6.as_op())?;
        Ok(())
    }).unwrap();
    g6.launch(&q1).map(drop).unwrap();
    let mut x13 = device.scalar(4u32).unwrap();
    q1.synchronize().unwrap();
    s10.set(0);
    assert_eq!(one(q1.read(&b3[0..1])).unwrap(), [vec![730440]]);
    let c14 = cache(&device, 0);
    let mut f15 = rows_of(&device, &k, &[1, 3], 1, Pad::RepeatLast, &s10, true).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.put(&s4, &mut b2[0..50]))?;
        r.run(g7.as_op())?;
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(&s4, &mut t0[0..2]))?;
        r.run(k.put(&s10, &mut b3[2..3]))?;
        {
            let (gap00, rest00) = t0.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        r.run(k.mix(&b9[1..3], &mut t0[0..2]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut b16 = device.buffer::<u32>(&[2619097243, 8, 664749169, 2, 6, 0]).unwrap();
    let mut f17 = rows_of(&device, &k, &[2, 3], 1, Pad::Zero, &s4, true).unwrap();
    g7.launch(&q1).map(drop).unwrap();
    s4.set(2);
    let [mut b18] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(6)?;
        r.run(copy(&b3[2..3], &mut y0[0..1]))?;
        r.run(g6.as_op())?;
        {
            let (gap00, rest00) = y0.split_at_mut(2);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&rest00[0..1], &b9[2..3], &mut piece00[..]))?;
        }
        r.run(k.mix(&b3[0..1], &mut b9[2..3]))?;
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(&s10, &mut t0[0..2]))?;
        Ok(vec![y0])
    }).unwrap());
    assert_eq!(kind(device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b9[0..5], &b18[0..5], &mut b16[1..6]))?;
        let mut y0 = r.output::<u32>(4)?;
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(k.sum(&t0[3..5], b18[5..6].at_mut(0)))?;
        r.run(fill(&mut y0[0..4], baked(0)))?;
        Ok(vec![y0])
    })), "UninitTemp");
    assert_eq!(lock(&c14).run(&q1, &2, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(1)?;
        r.run(k.put(&s4, &mut y0[0..1]))?;
        {
            let (gap00, rest00) = b9.split_at_mut(2);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&gap00[0..2], &gap00[0..2], &mut piece00[..]))?;
        }
        r.run(k.scale(b9[1..2].at(0), &mut b3[0..2]))?;
        r.run(k.mix(&b3[2..3], &mut b9[4..5]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![2]]);
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![0, 0, 0]]);
    assert_eq!(vec![n5.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![3370004783, 4142837276, 3727309701, 1201095259]]);
    assert_eq!(vec![last.read(&b9).unwrap()], [vec![935473409, 0, 1870946818, 0, 0]]);
    assert_eq!(vec![x13.get(&last).map(|x| vec![x]).unwrap()], [vec![4]]);
    assert_eq!(vec![last.read(&b16).unwrap()], [vec![2619097243, 8, 664749169, 2, 6, 0]]);
    assert_eq!(vec![last.read(&b18).unwrap()], [vec![0, 0, 4, 0, 0, 0]]);
    device.synchronize().unwrap();
    drop(last);
    drop(f15);
    drop(b2);
    drop(b9);
    drop(g6);
    drop(b16);
    drop(i11);
    drop(b18);
    drop(s10);
    drop(x13);
    drop(g7);
    drop(q1);
    drop(i12);
    drop(s4);
    drop(k);
    drop(c14);
    drop(f17);
    drop(n5);
    drop(device);
    drop(b3);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_167() {
    let (device, k, token) = open_struck(0x76dce3cbacae91e0, Call::cuLaunchKernel, 1, CUresult(999), Effect::Done);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[185640247]).unwrap();
    let mut b3 = device.buffer::<u32>(&[6, 9, 0, 6, 6, 5, 9, 2]).unwrap();
    let s4 = Slot::new(0u32);
    assert!(q1.run(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b2[0..1], baked(5)))?;
        r.run(k.put(baked(3), &mut b2[0..1]))?;
        r.run(k.first(&s4, &mut b3[3..5]))?;
        r.run(k.put(baked(7), &mut b3[3..8]))?;
        let mut t0 = r.alloc::<u32>(3)?;
        r.run(k.put(baked(1), &mut t0[0..3]))?;
        let mut y0 = r.output::<u32>(4)?;
        Ok(vec![y0])
    }).is_err());
    device.synchronize().unwrap();
    s4.set(3);
    drop(b3);
    let mut f6 = rows_of(&device, &k, &[1, 4], 2, Pad::Zero, &s4, true).unwrap();
    s4.set(4);
    let p8 = device.pool();
    s4.set(1);
    let p9 = device.pool();
    let mut h10 = device.host::<u32>(&[3, 2, 0, 4100601269]).unwrap();
    let last = again(|| device.stream());
    same(vec![again(|| last.read(&b2))], &[vec![None]]);
    assert_eq!(vec![again(|| h10.to_vec())], [vec![3, 2, 0, 4100601269]]);
    again(|| device.synchronize());
    drop(last);
    drop(s4);
    drop(device);
    drop(f6);
    drop(p8);
    drop(p9);
    drop(q1);
    drop(h10);
    drop(b2);
    drop(k);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_424() {
    let (device, k, token) = open_struck(0x7b883e0f13a925af, Call::cuGraphAddKernelNode_v2, 24, CUresult(715), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[1544301879, 2, 2, 2389967261, 3, 7]).unwrap();
    let mut b3 = device.buffer::<u32>(&[2731489407, 2, 8, 1]).unwrap();
    q1.write(&mut b2[2..4], &[8, 2863333115]).unwrap();
    let mut b4 = device.zeros::<u32>(7).unwrap();
    let mut g5 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b4[2..7], &mut b2[0..5]))?;
        r.run(k.put(baked(3), &mut b3[2..4]))?;
        r.run(fill(&mut b2[0..4], baked(8)))?;
        r.run(copy(&b4[1..4], &mut b2[0..3]))?;
        r.run(k.mix(&b3[2..3], &mut b2[5..6]))?;
        assert_eq!(kind(q1.read(&b3[0..4])), "EagerInRecording");
        {
            let (gap00, rest00) = b2.split_at_mut(5);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[1..2], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut a6 = device.arena(0).unwrap();
    let mut n7 = Generator::new(&device, 16306870982421).unwrap();
    g5.launch(&q1).map(drop).unwrap();
    {
        let other = Software::new().seed(1).open().unwrap();
        let theirs = Ok::<_, dacapo::Error>(other.pool()).unwrap();
        assert_eq!(kind(device.graph().pool(&theirs).record(|_: &mut Recorder<'_>| Ok(())).map(drop)), "WrongDevice");
    }
    assert_eq!(kind(device.graph().arena(&a6).straight_line().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(8), &mut t0[0..1]))?;
        r.run(k.mix(&b3[0..1], &mut t0[0..1]))?;
        r.run(k.window(baked(0), &b3[1..4], &mut b2[3..4]))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "ArenaExhausted");
    drop(q1);
    let mut b9 = device.buffer::<u32>(&[1, 7, 6]).unwrap();
    let s10 = Slot::new(0u32);
    {
        let other = Software::new().seed(1).open().unwrap();
        let theirs = other.stream().unwrap();
        assert_eq!(kind(g5.launch(&theirs).map(drop)), "WrongDevice");
    }
    let mut n11 = Generator::new(&device, 9991625098696).unwrap();
    let mut g12 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.window(baked(0), &b2[3..5], &mut b3[3..4]))?;
        r.run(k.sum(&b4[0..7], b9[1..2].at_mut(0)))?;
        {
            let (gap00, rest00) = b9.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[0..1], &mut piece00[..]))?;
        }
        r.run(k.first(&s10, &mut b2[0..2]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[2..3], &mut piece00[..]))?;
        }
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[1..2], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g12.rerecord(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b4[0..7], baked(1)))?;
        r.run(k.first(&s10, &mut b2[2..3]))?;
        r.run(k.sum(&b9[0..3], b4[3..4].at_mut(0)))?;
        r.run(k.add(&b4[1..5], &b4[1..5], &mut b3[0..4]))?;
        r.run(k.scale(b9[0..1].at(0), &mut b4[0..6]))?;
        r.run(k.bump(b2[4..5].at_mut(0)))?;
        let mut y0 = r.output::<u32>(4)?;
        Ok(vec![y0])
    }).map(drop).unwrap();
    let mut g13 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(5), &mut b4[0..7]))?;
        r.run(k.bump(b3[0..1].at_mut(0)))?;
        {
            let (gap00, rest00) = b4.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&gap00[1..2], &b2[1..2], &mut piece00[..]))?;
        }
        r.run(k.bump(b2[5..6].at_mut(0)))?;
        r.run(copy(&g12.outputs()[0][1..4], &mut b2[3..6]))?;
        {
            let (gap00, rest00) = b2.split_at_mut(4);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[3..4], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut b14 = device.zeros::<u32>(7).unwrap();
    let mut g15 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        Ok(vec![y0])
    }).unwrap();
    let mut b16 = device.zeros::<u32>(34).unwrap();
    let budget = device.held().total() + 4096;
    device.set_memory_budget(Some(budget));
    assert_eq!(kind(device.arena(budget + 1).map(drop)), "OverBudget");
    device.set_memory_budget(None);
    drop(a6);
    let mut g17 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(b14[2..3].at_mut(0)))?;
        r.run(k.add(&b2[2..5], &b2[2..5], &mut b3[0..3]))?;
        r.run(k.add(&b9[0..1], &b9[0..1], &mut b14[6..7]))?;
        r.run(k.first(&s10, &mut b14[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g17.rerecord(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(&s10, &mut t0[0..1]))?;
        s10.set(0);
        r.run(fill(&mut t0[0..1], baked(3)))?;
        r.run(k.mix(&b16[5..9], &mut b3[0..4]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    let _ = device.graph().warmup(2).record(|r: &mut Recorder<'_>| {
        r.run(k.first(&s10, &mut b3[2..4]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(fill(&mut b2[3..5], &s10))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.first(&s10, &mut b14[1..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    });
    drop(b9);
    drop(g12);
    drop(device);
    drop(g5);
    drop(s10);
    drop(b14);
    drop(n7);
    drop(k);
    drop(g17);
    drop(b16);
    drop(g15);
    drop(n11);
    drop(b4);
    drop(b3);
    drop(b2);
    drop(g13);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_431() {
    let (device, k, token) = open_struck(0x38663204a249af79, Call::cuEventRecord, 8, CUresult(716), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[3, 1, 2, 1, 9, 7]).unwrap();
    let mut b3 = device.buffer::<u32>(&[5]).unwrap();
    let s4 = Slot::new(5u32);
    drop(s4);
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(copy(&b2[2..3], &mut b3[0..1]))?;
        r.run(fill(&mut b2[2..5], baked(4)))?;
        r.run(fill(&mut b2[0..6], baked(2)))?;
        r.run(k.put(baked(0), &mut b3[0..1]))?;
        r.run(k.add(&b2[0..1], &b2[2..3], &mut b3[0..1]))?;
        r.run(k.sum(&b3[0..1], b2[4..5].at_mut(0)))?;
        r.run(k.put(baked(2), &mut b3[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let p5 = device.pool();
    let mut q6 = device.stream().unwrap();
    p5.seal();
    let mut g7 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(copy(&b2[4..5], &mut b3[0..1]))?;
        r.run(k.bump(b3[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g7.launch(&q6).map(drop).unwrap();
    let p8 = device.pool();
    g7.launch(&q6).map(drop).unwrap();
    g7.launch_sync(&q1).map(drop).unwrap();
    let [] = outputs(q6.run(|r: &mut Recorder<'_>| {
        r.run(k.add(&b3[0..1], &b3[0..1], &mut b2[5..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.keep(token.clone());
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    g7.launch(&q6).map(drop).unwrap();
    let s9 = Slot::new(0u32);
    drop(q1);
    let c10 = cache(&device, 3);
    g7.launch(&q6).map(drop).unwrap();
    assert_eq!(kind(device.graph().pool(&p5).record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[0..1], &mut piece00[..]))?;
        }
        r.run(fill(&mut b2[0..6], baked(7)))?;
        r.run(k.first(&s9, &mut b2[3..6]))?;
        r.run(fill(&mut b2[0..6], baked(7)))?;
        r.run(fill(&mut b2[0..2], &s9))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "PoolSealed");
    drop(p8);
    let mut x12 = device.scalar(3u32).unwrap();
    g7.reset();
    assert_eq!(kind(g7.launch(&q6).map(drop)), "Reset");
    assert_eq!(kind(g7.launch(&q6).map(drop)), "Reset");
    s9.set(0);
    drop(x12);
    let _ = q6.run(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(fill(&mut t0[0..1], &s9))?;
        Ok(Vec::<Buffer<u32>>::new())
    });
    drop(c10);
    drop(p5);
    drop(device);
    drop(g7);
    drop(b3);
    drop(s9);
    drop(b2);
    drop(k);
    drop(q6);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_967() {
    let (device, k, token) = open(0xfa5e9bf0767af5f9);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[2, 3, 0, 3872341861, 2368283568, 3533057199, 8]).unwrap();
    let mut b3 = device.buffer::<u32>(&[6, 3115332510, 8]).unwrap();
    let s4 = Slot::new(0u32);
    assert_eq!(one(q1.read(&b2[4..7])).unwrap(), [vec![2368283568, 3533057199, 8]]);
    assert_eq!(one(q1.read(&b3[0..3])).unwrap(), [vec![6, 3115332510, 8]]);
    s4.set(5);
    let mut g5 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(0), &mut b2[0..2]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    q1.write(&mut b2[5..6], &[6]).unwrap();
    assert_eq!(kind(device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b3[1..3], &b3[1..3], &mut b2[0..2]))?;
        r.run(k.first(&s4, &mut b3[2..3]))?;
        r.run(k.bump(b2[0..1].at_mut(0)))?;
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[0..1], &mut piece00[..]))?;
        }
        r.run(k.first(&s4, &mut b2[3..6]))?;
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(k.put(baked(1), &mut t0[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "Requires");
    let mut a7 = device.arena(16384).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(k.put(baked(2), &mut t0[0..4]))?;
        r.run(k.mix(&t0[3..4], &mut b3[2..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut n8 = Generator::new(&device, 3452075985354).unwrap();
    g5.launch(&q1).map(drop).unwrap();
    q1.write(&mut b3[1..2], &[5]).unwrap();
    let mut b9 = device.buffer::<u32>(&[1]).unwrap();
    let [mut b10] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(1)?;
        r.run(k.bump(b9[0..1].at_mut(0)))?;
        r.run(k.put(baked(3), &mut b3[0..3]))?;
        Ok(vec![y0])
    }).unwrap());
    assert_eq!(one(q1.read(&b2[3..6])).unwrap(), [vec![3872341861, 2368283568, 6]]);
    let mut g11 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(fill(&mut t0[0..6], &s4))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut w12 = n8.save(&q1).unwrap();
    assert_eq!(vec![w12.next_words(4)], [vec![1518562583, 15925482, 1897089835, 2277637011]]);
    let mut g13 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(n8.words(&mut b10[0..1]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[0..1], &mut piece00[..]))?;
        }
        r.run(k.bump(b9[0..1].at_mut(0)))?;
        r.run(fill(&mut b3[2..3], baked(2769381240)))?;
        r.run(k.sum(&b3[0..1], b10[0..1].at_mut(0)))?;
        {
            let (gap00, rest00) = b2.split_at_mut(2);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(copy(&rest00[0..2], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let s14 = Slot::new(2u32);
    g13.launch(&q1).map(drop).unwrap();
    let mut q15 = device.stream().unwrap();
    n8.seed(&q15, 5557790).unwrap();
    s14.set(5);
    g13.launch(&q1).map(drop).unwrap();
    let mut q16 = device.stream().unwrap();
    let mut b17 = device.buffer::<u32>(&[3, 3, 8, 6]).unwrap();
    let mut g18 = device.graph().record(|r: &mut Recorder<'_>| {
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.sum(&b17[3..4], b2[5..6].at_mut(0)))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        let mut y0 = r.output::<u32>(1)?;
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(baked(1427898988), &mut t0[0..2]))?;
        r.run(k.put(baked(3), &mut y0[0..1]))?;
        r.run(fill(&mut b3[0..2], &s4))?;
        Ok(vec![y0])
    }).unwrap();
    let mut g19 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(copy(&b17[2..3], &mut t0[0..1]))?;
        r.run(k.bump(b10[0..1].at_mut(0)))?;
        {
            let (gap00, rest00) = b2.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[2..3], &mut piece00[..]))?;
        }
        assert_eq!(kind(q15.read(&b17[0..4])), "EagerInRecording");
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g20 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.mix(&g18.outputs()[0][0..1], &mut b10[0..1]))?;
        r.run(fill(&mut b10[0..1], baked(6)))?;
        r.run(k.bump(b17[2..3].at_mut(0)))?;
        r.run(k.mix(&b2[4..5], &mut b9[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g20.launch(&q15).map(drop).unwrap();
    g19.launch(&q1).map(drop).unwrap();
    g19.launch(&q16).map(drop).unwrap();
    n8.restore(&q1, &w12).unwrap();
    let mut g21 = device.graph().arena(&a7).record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b17[0..4], &s4))?;
        r.run(k.scale(b9[0..1].at(0), &mut b2[0..2]))?;
        r.run(k.mix(&b10[0..1], &mut b9[0..1]))?;
        {
            let (gap00, rest00) = b17.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[2..3], &mut piece00[..]))?;
        }
        {
            let (gap00, rest00) = b2.split_at_mut(4);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[0..1], &mut piece00[..]))?;
        }
        let mut y0 = r.output::<u32>(3)?;
        {
            let (gap00, rest00) = b17.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.sum(&rest00[1..2], piece00[..].at_mut(0)))?;
        }
        Ok(vec![y0])
    }).unwrap();
    q1.synchronize().unwrap();
    q16.synchronize().unwrap();
    g19.launch(&q16).map(drop).unwrap();
    let s22 = Slot::new(0u32);
    let s23 = Slot::new(5u32);
    q1.write(&mut b9[0..1], &[6]).unwrap();
    g21.launch(&q16).map(drop).unwrap();
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![12, 18, 2368283568, 8, 12, 6, 8]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![3, 3, 2769381240]]);
    assert_eq!(vec![n8.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![1518562583, 15925482, 1897089835, 2277637011]]);
    assert_eq!(vec![last.read(&b9).unwrap()], [vec![27]]);
    assert_eq!(vec![last.read(&b10).unwrap()], [vec![9]]);
    assert_eq!(vec![last.read(&b17).unwrap()], [vec![20, 5, 5, 5]]);
    assert_eq!(vec![last.read(&g18.outputs()[0]).unwrap()], [vec![0]]);
    assert_eq!(vec![last.read(&g21.outputs()[0]).unwrap()], [vec![0, 0, 0]]);
    let _ = g5.launch(&last);
    let _ = g11.launch(&last);
    let _ = g13.launch(&last);
    let _ = g18.launch(&last);
    let _ = g19.launch(&last);
    let _ = g20.launch(&last);
    let _ = g21.launch(&last);
    drop(last);
    drop(g19);
    drop(s4);
    drop(g21);
    drop(q1);
    drop(b2);
    drop(g11);
    drop(b17);
    drop(a7);
    drop(s22);
    drop(q15);
    drop(g20);
    drop(b3);
    drop(device);
    drop(w12);
    drop(n8);
    drop(k);
    drop(g18);
    drop(g5);
    drop(s23);
    drop(g13);
    drop(b9);
    drop(q16);
    drop(s14);
    drop(b10);
    nothing_left(&machine, &token, false);
}

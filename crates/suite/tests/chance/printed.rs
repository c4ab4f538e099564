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

use dacapo::flow::{above, at_least, at_most, below, differs, equal, nonzero, unbounded, up_to, zero};
use dacapo::random::Generator;
use dacapo::{
    Buffer, Device, Error, Recorder, Result, Scalar, Slice, Slot, Software, Stream, baked, copy, download, fill, upload,
};
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, Rows, rows};
use dacapo_driver::{CUresult, Call, Effect, Fault, Hooked};
use dacapo_sim::{Census, Machine, Time};
use kernels::Kernels;

fn timed(seed: u64, time: Time) -> Software {
    Software::new().seed(seed).options(|options| {
        options.detectors = dacapo_sim::Detectors::all();
        options.time = time;
        options.capacity = 1 << 32;
    })
}

/// A device of this seed, with every detector on.
fn software(seed: u64) -> Software {
    timed(seed, Time::Counted)
}

/// The same on the wall clock.
fn live(seed: u64) -> Software {
    timed(seed, Time::Live)
}

/// The same with a driver that has neither ELSE nor SWITCH.
fn old(software: Software) -> Software {
    software.options(|options| options.driver_version = 12_040)
}

fn ready(device: Device) -> (Device, Arc<Kernels>, Arc<()>) {
    let kernels = Arc::new(Kernels::load(&device).unwrap());
    (device, kernels, Arc::new(()))
}

/// With one driver call that fails.
fn struck(software: Software, call: Call, nth: u64, code: CUresult, effect: Effect) -> (Device, Arc<Kernels>, Arc<()>) {
    // SAFETY: a fault refuses a call, or answers an error for one that was made: it claims no success.
    let opened = unsafe {
        software.open_hooked(|machine| {
            let fault = Fault::new().strike(call, nth, code, effect).over(Arc::new(machine.clone()));
            Arc::new(Hooked::new(machine, Arc::new(fault)))
        })
    };
    ready(opened.unwrap())
}

/// The bits of a number, as two words.
fn words<T: dacapo::Pod>(number: T) -> Vec<u32> {
    let mut bytes = [0; 8];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&number));
    bytemuck::cast_slice(&[u64::from_le_bytes(bytes)]).to_vec()
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
fn seed_458() {
    let (device, k, token) = struck(software(0xfcfbaa9b1995e7d0), Call::cuEventSynchronize, 8, CUresult(715), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[7, 4, 631580387, 9, 9, 6]).unwrap();
    let mut b3 = device.buffer::<u32>(&[0]).unwrap();
    let s4 = Slot::new(0u32);
    assert_eq!(one(q1.read(&b3[0..1])).unwrap(), [vec![0]]);
    let mut f5 = rows_of(&device, &k, &[2, 3], 2, Pad::Zero, &s4, true).unwrap();
    s4.set(4);
    s4.set(2);
    let mut b6 = device.buffer::<u32>(&[1]).unwrap();
    let mut x7 = device.scalar(1u32).unwrap();
    let mut b8 = device.zeros::<u32>(1).unwrap();
    let mut n9 = Generator::new(&device, 9679990542595).unwrap();
    let mut f10 = rows_of(&device, &k, &[2, 4], 1, Pad::Value(2294283912), &s4, false).unwrap();
    let budget = device.held().total() + 4096;
    device.set_memory_budget(Some(budget));
    device.zeros::<u32>(1000).map(drop).unwrap();
    device.set_memory_budget(None);
    let mut i11 = device.graph().guarded(true).record_into((&device.zeros::<u32>(1).unwrap()[..], &device.zeros::<u32>(1).unwrap()[..]), (&mut device.zeros::<u32>(1).unwrap()[..], &mut device.zeros::<u32>(1).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.mix(&i1[0..1], &mut x7.as_mut_slice()[0..1]))?;
        r.run(k.mix(&i0[0..1], &mut o1[0..1]))?;
        Ok(())
    }).unwrap();
    assert_eq!(one(x7.get(&q1).map(|x| vec![x])).unwrap(), [vec![1]]);
    drop(n9);
    let mut b12 = device.zeros::<u32>(2).unwrap();
    let mut v13 = device.scalar(0u16).unwrap();
    let p14 = device.pool();
    drop(b12);
    let mut g15 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        let rounds0 = r.repeat_times(baked(0u32), |r: &mut Recorder<'_>| {
            Ok(())
        })?;
        r.run(fill(v13.as_mut_slice(), baked(1u16)))?;
        r.run(fill(&mut x7.as_mut_slice()[0..1], &s4))?;
        r.run(k.sum(&x7.as_slice()[0..1], b6[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut i16 = device.graph().record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(5).unwrap()[..]), (&mut device.zeros::<u32>(3).unwrap()[..], &mut device.zeros::<u32>(3).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.first(&s4, &mut o0[1..3]))?;
        let rounds0 = r.repeat_times(&s4, |r: &mut Recorder<'_>| {
            r.run(g15.as_op())?;
            r.run(k.add(&x7.as_slice()[0..1], &x7.as_slice()[0..1], &mut o0[0..1]))?;
            Ok(())
        })?;
        {
            let (gap00, rest00) = o1.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[0..1], &mut piece00[..]))?;
        }
        Ok(())
    }).unwrap();
    q1.write(&mut b6[0..1], &[3]).unwrap();
    q1.write(&mut b8[0..1], &[3384759316]).unwrap();
    let mut f17 = rows_of(&device, &k, &[2, 4], 1, Pad::Zero, &s4, true).unwrap();
    let mut v18 = device.scalar(f64::from_bits(0x4603dee06e262d46)).unwrap();
    let mut g19 = device.graph().pool(&p14).straight_line().preloaded().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(baked(5), &mut t0[0..2]))?;
        r.run(k.mix(&b2[2..3], &mut t0[0..1]))?;
        r.run(k.bump(b6[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let c20 = cache(&device, 3);
    assert_eq!(one(x7.get(&q1).map(|x| vec![x])).unwrap(), [vec![1]]);
    g19.submit(&q1).and_then(|ticket| ticket.wait()).unwrap();
    assert_eq!(lock(&c20).run(&q1, &1, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(fill(&mut y0[0..3], baked(858610242)))?;
        let rounds0 = r.repeat_times(baked(0u32), |r: &mut Recorder<'_>| {
            r.run(fill(&mut b8[0..1], &s4))?;
            Ok(())
        })?;
        r.run(k.put(&s4, &mut y0[0..3]))?;
        let mut y1 = r.output::<u32>(2)?;
        Ok(vec![y0, y1])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![2, 2, 2], vec![0, 0]]);
    let mut b21 = device.buffer::<u32>(&[8, 7, 3, 1, 0]).unwrap();
    s4.set(0);
    x7.set(&q1, 2025671626).unwrap();
    assert_eq!(one(x7.get(&q1).map(|x| vec![x])).unwrap(), [vec![2025671626]]);
    let mut f22 = rows_of(&device, &k, &[2, 3], 1, Pad::Keep, &s4, true).unwrap();
    g15.launch(&q1).map(drop).unwrap();
    {
        let (gap11, rest11) = b2.split_at_mut(2);
        let (piece11, rest11) = rest11.split_at_mut(1);
        i11.launch(&q1, (&b21[3..4], &rest11[2..3]), (&mut b6[0..1], &mut piece11[..])).map(drop).unwrap();
    }
    let mut b23 = device.zeros::<u32>(4).unwrap();
    let mut i24 = device.graph().record_into((&device.zeros::<u32>(1).unwrap()[..], &device.zeros::<u32>(1).unwrap()[..]), (&mut device.zeros::<u32>(1).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.add(&b2[3..6], &b2[3..6], &mut b23[1..4]))?;
        let mut y0 = r.output::<u32>(5)?;
        r.run(k.scale(o1[0..1].at(0), &mut b8[0..1]))?;
        r.run(k.put(&s4, &mut b8[0..1]))?;
        Ok(())
    }).unwrap();
    p14.unseal();
    drop(v13);
    drop(s4);
    drop(c20);
    drop(x7);
    drop(f17);
    drop(f10);
    drop(k);
    drop(b6);
    drop(g15);
    drop(b8);
    drop(q1);
    drop(i11);
    drop(g19);
    drop(b3);
    drop(device);
    drop(b21);
    drop(b2);
    drop(f22);
    drop(f5);
    drop(i24);
    drop(b23);
    drop(v18);
    drop(p14);
    drop(i16);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_558() {
    let (device, k, token) = struck(software(0x7cbae872dfbee1f1), Call::cuGraphExecDestroy, 1, CUresult(999), Effect::Done);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[5, 9, 2, 5, 4, 9, 3020797145, 5]).unwrap();
    let mut b3 = device.buffer::<u32>(&[3]).unwrap();
    let s4 = Slot::new(0u32);
    drop(b3);
    let mut g5 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(1694032221), &mut b2[3..4]))?;
        r.run(k.put(&s4, &mut b2[3..4]))?;
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(3);
            r.run(k.mix(&rest00[0..3], &mut piece00[..]))?;
        }
        r.run(k.bump(b2[6..7].at_mut(0)))?;
        r.run(k.bump(b2[2..3].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut a6 = device.arena(65536).unwrap();
    s4.set(2);
    g5.launch(&q1).map(drop).unwrap();
    drop(a6);
    let mut v7 = device.scalar(half::bf16::from_bits(0x9d83)).unwrap();
    g5.launch(&q1).and_then(|l| l.wait().map(drop)).unwrap();
    g5.rerecord_with(device.graph(), |r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(3);
            r.run(k.mix(&rest00[2..5], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    let mut b8 = device.buffer::<u32>(&[5, 1587449621]).unwrap();
    let s9 = Slot::new(0u32);
    q1.synchronize().unwrap();
    {
        let other = Software::new().seed(1).open().unwrap();
        let theirs = other.zeros::<u32>(2).unwrap();
        assert_eq!(kind(one(q1.read(&theirs[..]))), "WrongDevice");
    }
    g5.reset();
    let d10 = Slot::new(2i8);
    s9.set(2);
    assert_eq!(kind(g5.launch(&q1).map(drop)), "Reset");
    q1.write(&mut b8[1..2], &[7]).unwrap();
    let last = again(|| device.stream());
    assert_eq!(vec![again(|| last.read(&b2))], [vec![53, 97, 58, 2, 4, 9, 3020797147, 5]]);
    assert_eq!(vec![again(|| v7.get(&last).map(words))], [vec![40323, 0]]);
    assert_eq!(vec![again(|| last.read(&b8))], [vec![5, 7]]);
    let _ = g5.launch(&last);
    drop(last);
    drop(k);
    drop(q1);
    drop(s4);
    drop(device);
    drop(b2);
    drop(b8);
    drop(v7);
    drop(s9);
    drop(g5);
    drop(d10);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_177() {
    let (device, k, token) = ready(old(software(0x1be5b3a1d6a75564)).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[2, 7, 854266367, 8]).unwrap();
    let mut b3 = device.buffer::<u32>(&[4, 4128192357, 6, 4066915887, 1]).unwrap();
    let mut g4 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut t1 = r.alloc::<u32>(2)?;
        let rounds0 = r.repeat(up_to(b3.at(4)), |r: &mut Recorder<'_>| {
            r.run(fill(&mut t1[0..2], baked(9)))?;
            r.run(k.window(baked(0), &t1[0..2], &mut b2[2..3]))?;
            let rounds2 = r.repeat(up_to(baked(2u32)), |r: &mut Recorder<'_>| {
                Ok(below(b2.at(1), b2.at(0)))
            })?;
            r.run(k.mix(&b2[2..4], &mut t1[0..2]))?;
            Ok(!equal(baked(3u32), b2.at(1)))
        })?;
        {
            let (gap00, rest00) = t1.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    assert_eq!(one(q1.read(&b2[3..4])).unwrap(), [vec![8]]);
    g4.rerecord(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(6)?;
        let mut t0 = r.alloc::<u32>(3)?;
        r.run(k.put(baked(7), &mut t0[0..3]))?;
        r.run(k.add(&y0[1..6], &y0[0..5], &mut b3[0..5]))?;
        Ok(vec![y0])
    }).map(drop).unwrap();
    let mut b5 = device.buffer::<u32>(&[8, 5, 7, 0, 888650911]).unwrap();
    assert_eq!(one(q1.read(&b2[0..4])).unwrap(), [vec![2, 7, 854266367, 8]]);
    let mut g6 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(k.put(baked(2322301019), &mut t0[0..6]))?;
        r.run(k.scale(t0[4..5].at(0), &mut b5[0..2]))?;
        r.run(k.put(baked(9), &mut b3[0..4]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut h7 = device.host::<u32>(&[2759095578, 9, 7, 5, 4, 9, 6]).unwrap();
    let mut b8 = device.zeros::<u32>(5).unwrap();
    g4.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b2[1..4], &mut b5[2..5]))?;
        r.run(k.put(baked(1), &mut b8[0..5]))?;
        r.switch(b3.share().at(4), 4, |r: &mut Recorder<'_>, case| match case {
            0 => {
                r.run(g6.as_op())?;
                let mut t1 = r.alloc::<u32>(4)?;
                let rounds0 = r.repeat(unbounded(), |r: &mut Recorder<'_>| {
                    r.run(fill(&mut t1[0..4], baked(3)))?;
                    r.run(k.bump(t1[0..1].at_mut(0)))?;
                    Ok(at_most(t1.at(0), baked(2u32)))
                })?;
                r.run(copy(&t1[0..4], &mut b3[0..4]))?;
                Ok(())
            }
            1 => {
                Ok(())
            }
            2 => {
                r.run(k.bump(b3[1..2].at_mut(0)))?;
                let mut t2 = r.alloc::<u32>(4)?;
                r.run(k.put(baked(862816609), &mut t2[0..4]))?;
                Ok(())
            }
            _ => {
                r.run(copy(&b8[1..3], &mut b2[1..3]))?;
                Ok(())
            }
        })?;
        r.run(k.mix(&b8[3..5], &mut b3[0..2]))?;
        r.run(k.sum(&b3[1..3], b5[2..3].at_mut(0)))?;
        r.run(k.put(baked(4), &mut b5[4..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    let mut h9 = device.host::<u32>(&[2234937919, 405462801, 4, 9, 3, 1]).unwrap();
    q1.write(&mut b3[4..5], &[0]).unwrap();
    g6.rerecord(|r: &mut Recorder<'_>| {
        r.run(copy(&b5[1..5], &mut b3[0..4]))?;
        let mut y0 = r.output::<u32>(6)?;
        r.run(k.scale(b3[1..2].at(0), &mut y0[0..1]))?;
        Ok(vec![y0])
    }).map(drop).unwrap();
    let mut v10 = device.scalar(2u8).unwrap();
    let mut b11 = device.buffer::<u32>(&[0, 8, 3, 8, 0]).unwrap();
    assert_eq!(one(h7.to_vec()).unwrap(), [vec![2759095578, 9, 7, 5, 4, 9, 6]]);
    let mut g12 = device.graph().apart().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b8[0..4], &g6.outputs()[0][2..6], &mut b5[0..4]))?;
        r.run(k.mix(&g6.outputs()[0][0..5], &mut b3[0..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let [mut b13] = outputs(g6.into_outputs());
    let mut n14 = Generator::new(&device, 4452836406757).unwrap();
    q1.is_done().map(drop).unwrap();
    h7.set(&[8, 3, 4, 6, 284035255, 5, 3]).unwrap();
    let mut w15 = n14.save(&q1).unwrap();
    assert_eq!(vec![w15.next_words(4)], [vec![50937728, 77081527, 1657212651, 2626285274]]);
    let mut g16 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(fill(&mut t0[0..5], baked(5)))?;
        let rounds1 = r.repeat(up_to(baked(3u32)), |r: &mut Recorder<'_>| {
            r.run(copy(&b8[0..5], &mut b5[0..5]))?;
            {
                let (gap00, rest00) = b8.split_at_mut(0);
                let (piece00, rest00) = rest00.split_at_mut(2);
                r.run(k.mix(&rest00[1..3], &mut piece00[..]))?;
            }
            r.run(k.bump(b8[0..1].at_mut(0)))?;
            Ok(below(b8.at(0), baked(6u32)))
        })?;
        r.run(k.first(baked(2), &mut b8[0..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    drop(b13);
    let mut g17 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(n14.words(&mut b2[1..4]))?;
        r.run(n14.words(&mut b8[0..1]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.add(&b11[2..4], &b11[2..4], &mut b5[3..5]))?;
            r.when(differs(baked(128u8), &v10), |r: &mut Recorder<'_>| {
                Ok(())
            })?.otherwise(|r: &mut Recorder<'_>| {
                Ok(())
            })?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(n14.words(&mut b8[3..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut v18 = device.scalar(1u64).unwrap();
    g12.launch_sync(&q1).map(drop).unwrap();
    g12.launch(&q1).map(drop).unwrap();
    g16.launch(&q1).map(drop).unwrap();
    g16.launch(&q1).map(drop).unwrap();
    assert_eq!(one(v10.get(&q1).map(words)).unwrap(), [vec![2, 0]]);
    let mut i19 = device.graph().guarded(true).record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(1).unwrap()[..]), (&mut device.zeros::<u32>(5).unwrap()[..], &mut device.zeros::<u32>(1).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(fill(&mut b11[0..5], baked(8)))?;
        r.run(copy(&b3[0..5], &mut o0[0..5]))?;
        r.run(k.sum(&i0[0..1], o0[2..3].at_mut(0)))?;
        {
            let (gap00, rest00) = o0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(copy(&rest00[0..2], &mut piece00[..]))?;
        }
        r.run(k.first(baked(0), &mut b2[1..4]))?;
        Ok(())
    }).unwrap();
    g16.launch_sync(&q1).map(drop).unwrap();
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![2, 7, 854266367, 8]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![36, 2793992845, 54, 2242504615, 0]]);
    assert_eq!(vec![last.read(&b5).unwrap()], [vec![44, 4, 0, 0, 0]]);
    assert_eq!(vec![h7.to_vec().unwrap()], [vec![8, 3, 4, 6, 284035255, 5, 3]]);
    assert_eq!(vec![last.read(&b8).unwrap()], [vec![134, 13, 0, 0, 0]]);
    assert_eq!(vec![h9.to_vec().unwrap()], [vec![2234937919, 405462801, 4, 9, 3, 1]]);
    assert_eq!(vec![v10.get(&last).map(words).unwrap()], [vec![2, 0]]);
    assert_eq!(vec![last.read(&b11).unwrap()], [vec![0, 8, 3, 8, 0]]);
    assert_eq!(vec![n14.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![50937728, 77081527, 1657212651, 2626285274]]);
    assert_eq!(vec![v18.get(&last).map(words).unwrap()], [vec![1, 0]]);
    device.synchronize().unwrap();
    drop(last);
    drop(n14);
    drop(g17);
    drop(i19);
    drop(device);
    drop(b5);
    drop(v10);
    drop(v18);
    drop(w15);
    drop(b2);
    drop(g16);
    drop(k);
    drop(h7);
    drop(h9);
    drop(g12);
    drop(b8);
    drop(g4);
    drop(q1);
    drop(b3);
    drop(b11);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_755() {
    let (device, k, token) = struck(software(0x87d9d4a1bb38ee87), Call::cuEventCreate, 9, CUresult(214), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[3, 5]).unwrap();
    let mut b3 = device.buffer::<u32>(&[4, 4]).unwrap();
    let s4 = Slot::new(6u32);
    let mut q5 = device.stream().unwrap();
    let mut b6 = device.buffer::<u32>(&[3, 2734360195, 3, 9, 3567498256, 8, 0, 8]).unwrap();
    let p7 = device.pool();
    let mut b8 = device.buffer::<u32>(&[8, 2, 3, 3, 1, 3, 2638226591, 9]).unwrap();
    let mut n9 = Generator::new(&device, 11450654447527).unwrap();
    assert_eq!(kind(device.graph().pool(&p7).apart().record(|r: &mut Recorder<'_>| {
        q5.synchronize()?;
        device.synchronize()?;
        r.run(copy(&b8[4..6], &mut b3[0..2]))?;
        r.run(k.scale(b2[0..1].at(0), &mut b3[1..2]))?;
        assert_eq!(kind(q5.read(&b8[0..8])), "EagerInRecording");
        r.run(k.add(&b6[2..3], &b6[2..3], &mut b3[0..1]))?;
        Err::<Vec<Buffer<u32>>, _>(Error::msg("on purpose"))
    })), "EagerInRecording");
    p7.keep(token.clone()).map(drop).unwrap();
    let mut i11 = device.graph().guarded(true).record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(4).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        {
            let (gap00, rest00) = b3.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&gap00[0..1], &i1[2..3], &mut piece00[..]))?;
        }
        Ok(())
    }).unwrap();
    let mut f12 = rows_of(&device, &k, &[1, 3], 2, Pad::Keep, &s4, false).unwrap();
    let mut q13 = device.stream().unwrap();
    assert_eq!(kind(f12.call(&q1, 4, &b8[0..8]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]]))), "NoBucket");
    device.synchronize().unwrap();
    let mut i14 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(2).unwrap()[..]), (&mut device.zeros::<u32>(3).unwrap()[..], &mut device.zeros::<u32>(1).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.mix(&i1[0..2], &mut o0[0..2]))?;
        {
            let (gap00, rest00) = b6.split_at_mut(4);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[2..3], &mut piece00[..]))?;
        }
        Ok(())
    }).unwrap();
    s4.set(4);
    let mut g15 = device.graph().record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&rest00[0..1], &b3[0..1], &mut piece00[..]))?;
        }
        {
            let (gap00, rest00) = b8.split_at_mut(6);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&gap00[0..2], &b2[0..2], &mut piece00[..]))?;
        }
        r.run(k.scale(b3[1..2].at(0), &mut b8[6..7]))?;
        r.run(k.add(&b8[3..6], &b8[3..6], &mut b6[0..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut b16 = device.zeros::<u32>(4).unwrap();
    p7.unseal();
    s4.set(0);
    let mut f17 = rows_of(&device, &k, &[2, 4], 1, Pad::Value(7), &s4, true).unwrap();
    g15.launch(&q5).map(drop).unwrap();
    s4.set(0);
    s4.set(6);
    let mut b18 = device.zeros::<u32>(6).unwrap();
    assert_eq!(kind(device.graph().pool(&p7).record(|r: &mut Recorder<'_>| {
        r.run(k.window(baked(5), &b8[1..8], &mut b6[3..8]))?;
        let mut y0 = r.output::<u32>(5)?;
        s4.set(2);
        r.run(k.scale(b3[0..1].at(0), &mut y0[0..3]))?;
        r.run(k.first(&s4, &mut b16[2..4]))?;
        r.run(k.put(&s4, &mut b8[5..8]))?;
        r.run(fill(&mut b18[0..1], baked(0)))?;
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(vec![y0])
    })), "Requires");
    assert_eq!(one(q5.read(&b16[3..4])).unwrap(), [vec![0]]);
    let mut b20 = device.zeros::<u32>(3).unwrap();
    let c21 = cache(&device, 3);
    q5.write(&mut b20[1..3], &[8, 0]).unwrap();
    g15.launch(&q1).map(drop).unwrap();
    let mut q22 = device.stream().unwrap();
    g15.launch_sync(&q13).map(drop).unwrap();
    i11.launch(&q13, (&b8[0..4], &b8[0..4]), (&mut b6[0..4], &mut b16[0..4])).map(drop).unwrap();
    drop(b3);
    drop(q22);
    drop(s4);
    drop(b18);
    drop(i11);
    drop(g15);
    drop(q13);
    drop(b6);
    drop(q1);
    drop(b2);
    drop(f17);
    drop(b16);
    drop(b8);
    drop(device);
    drop(p7);
    drop(c21);
    drop(i14);
    drop(q5);
    drop(f12);
    drop(n9);
    drop(k);
    drop(b20);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_272() {
    let (device, k, token) = struck(software(0xb0be923ff16140b5), Call::cuThreadExchangeStreamCaptureMode, 49, CUresult(800), Effect::NotDone);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[7, 1, 7, 4, 0, 9, 225478551, 0]).unwrap();
    let mut b3 = device.buffer::<u32>(&[6, 2, 4, 0, 2, 1, 1]).unwrap();
    let mut q4 = device.stream().unwrap();
    let mut q5 = device.stream().unwrap();
    assert!(panics(|| drop(device.graph().straight_line().preloaded().record(|r: &mut Recorder<'_>| {
        r.switch(b2.share().at(7), 0, |r: &mut Recorder<'_>, case| Ok(()))?;
        r.run(k.bump(b3[6..7].at_mut(0)))?;
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(fill(&mut t0[0..4], baked(3449001004)))?;
        r.run(k.window(baked(2), &b3[0..7], &mut b2[4..8]))?;
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(Vec::<Buffer<u32>>::new())
    }))));
    assert_eq!(one(q1.read(&b3[4..5])).unwrap(), [vec![2]]);
    let mut b7 = device.buffer::<u32>(&[5, 0]).unwrap();
    drop(q5);
    assert_eq!(kind(device.graph().preloaded().warmup(3).record(|r: &mut Recorder<'_>| {
        r.run(k.bump(b2[7..8].at_mut(0)))?;
        Err::<Vec<Buffer<u32>>, _>(Error::msg("on purpose"))
    })), "Msg");
    let mut g9 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(baked(1), &mut t0[0..2]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b3[6..7], baked(5)))?;
        r.run(k.put(baked(7), &mut b7[0..2]))?;
        r.run(k.bump(b3[4..5].at_mut(0)))?;
        r.run(fill(&mut b3[2..5], baked(1)))?;
        r.switch(baked(2u32), 2, |r: &mut Recorder<'_>, case| match case {
            0 => {
                r.run(k.scale(b2[6..7].at(0), &mut b7[0..2]))?;
                Ok(())
            }
            _ => {
                r.run(k.scale(b3[4..5].at(0), &mut b7[1..2]))?;
                r.run(k.first(baked(3), &mut b2[0..8]))?;
                Ok(())
            }
        })?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut i10 = device.graph().record_into((&device.zeros::<u32>(3).unwrap()[..], &device.zeros::<u32>(3).unwrap()[..]), (&mut device.zeros::<u32>(3).unwrap()[..], &mut device.zeros::<u32>(3).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.add(&i0[1..2], &b7[1..2], &mut b3[0..1]))?;
        {
            let (gap00, rest00) = b7.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[0..1], &mut piece00[..]))?;
        }
        let rounds0 = r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            r.run(copy(&o1[0..3], &mut o0[0..3]))?;
            Ok(!!at_least(i1.at(1), i0.at(2)))
        })?;
        Ok(())
    }).unwrap();
    assert!(q4.run(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(4)?;
        r.when(!(differs(b2.at(3), b7.at(1)) | !differs(b7.at(0), b2.at(3))), |r: &mut Recorder<'_>| {
            r.run(k.put(baked(8), &mut t0[0..4]))?;
            r.run(k.first(baked(1), &mut b3[0..3]))?;
            {
                let (gap00, rest00) = t0.split_at_mut(0);
                let (piece00, rest00) = rest00.split_at_mut(1);
                r.run(k.scale(rest00[0..1].at(0), &mut piece00[..]))?;
            }
            Ok(())
        })?.otherwise(|r: &mut Recorder<'_>| {
            r.run(k.put(baked(5), &mut t0[0..4]))?;
            Ok(())
        })?;
        r.run(copy(&t0[0..4], &mut b3[0..4]))?;
        let mut t1 = r.alloc::<u32>(3)?;
        let mut y0 = r.output::<u32>(2)?;
        let mut t2 = r.alloc::<u32>(5)?;
        r.run(fill(&mut t2[0..5], baked(3359030340)))?;
        Ok(vec![y0])
    }).is_err());
    g9.preload(&q4).unwrap();
    let mut q12 = device.stream().unwrap();
    g9.launch(&q12).map(drop).unwrap();
    let mut b13 = device.buffer::<u32>(&[1, 585802953, 0]).unwrap();
    assert_eq!(kind(q1.write(&mut b2[6..8], &[1, 7, 8])), "Length");
    let [] = outputs(q12.run(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(baked(9), &mut t0[0..2]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut g14 = device.graph().guarded(true).preloaded().record(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(fill(&mut t0[0..1], baked(4)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g9.launch(&q4).map(drop).unwrap();
    g14.launch(&q12).map(drop).unwrap();
    let p15 = device.pool();
    g9.launch_sync(&q1).map(drop).unwrap();
    let mut b17 = device.zeros::<u32>(1).unwrap();
    q1.write(&mut b2[6..7], &[7]).unwrap();
    let mut n18 = Generator::new(&device, 605066306234).unwrap();
    p15.clear().unwrap();
    let mut g19 = device.graph().pool(&p15).warmup(3).record(|r: &mut Recorder<'_>| {
        r.keep(token.clone());
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut h20 = device.host::<u32>(&[6, 6, 1656844799, 1, 6, 2, 2]).unwrap();
    let mut a22 = device.arena(65536).unwrap();
    p15.keep(token.clone()).map(drop).unwrap();
    let mut n23 = Generator::new(&device, 1631451233887).unwrap();
    same(one(q4.read(&b3[0..2])).unwrap(), &[vec![None, None]]);
    q4.synchronize().unwrap();
    let last = again(|| device.stream());
    assert_eq!(vec![again(|| last.read(&b2))], [vec![7, 1, 7, 4, 0, 9, 7, 0]]);
    same(vec![again(|| last.read(&b3))], &[vec![None, None, None, None, Some(1), Some(1), Some(5)]]);
    assert_eq!(vec![again(|| last.read(&b7))], [vec![7, 7]]);
    assert_eq!(vec![again(|| last.read(&b13))], [vec![1, 585802953, 0]]);
    assert_eq!(vec![again(|| last.read(&b17))], [vec![0]]);
    assert_eq!(vec![again(|| n18.save(&last).map(|state| state.next_words(4)))], [vec![3716373851, 3911439181, 2523016081, 4068747010]]);
    assert_eq!(vec![again(|| h20.to_vec())], [vec![6, 6, 1656844799, 1, 6, 2, 2]]);
    assert_eq!(vec![again(|| n23.save(&last).map(|state| state.next_words(4)))], [vec![1355058476, 3852184182, 4286667154, 1473674390]]);
    again(|| device.synchronize());
    drop(last);
    drop(q4);
    drop(p15);
    drop(k);
    drop(b17);
    drop(q1);
    drop(b2);
    drop(i10);
    drop(g19);
    drop(b7);
    drop(n23);
    drop(q12);
    drop(b13);
    drop(a22);
    drop(b3);
    drop(n18);
    drop(g14);
    drop(h20);
    drop(g9);
    drop(device);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_717() {
    let (device, k, token) = ready(live(0x58aa517f77898fd7).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[8]).unwrap();
    let mut b3 = device.buffer::<u32>(&[9, 6, 2, 2, 3, 1159356800, 1, 4, 7, 4, 319180857, 1, 4, 5, 9, 8, 0, 1, 2710327852, 171119312, 8, 5, 6, 9, 6, 3, 3, 2227480102, 3, 4, 5, 9, 1143610857, 1160090489, 1, 8, 8]).unwrap();
    let p4 = device.pool();
    let p5 = device.pool();
    let d6 = Slot::new(f32::from_bits(0x0));
    let mut n7 = Generator::new(&device, 8704765032947).unwrap();
    p4.clear().unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut t1 = r.alloc::<u32>(4)?;
        let rounds0 = r.repeat(up_to(baked(1u32)), |r: &mut Recorder<'_>| {
            r.run(fill(&mut t1[0..4], baked(8)))?;
            r.run(k.first(baked(1), &mut t1[2..4]))?;
            r.run(k.bump(t1[2..3].at_mut(0)))?;
            Ok(below(t1.at(2), baked(0u32)))
        })?;
        r.run(k.put(baked(4), &mut b3[14..23]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut v8 = device.scalar(-2147483648i32).unwrap();
    assert_eq!(one(v8.get(&q1).map(words)).unwrap(), [vec![2147483648, 0]]);
    assert_eq!(one(v8.get(&q1).map(words)).unwrap(), [vec![2147483648, 0]]);
    let [mut b9] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b3[0..1], &mut b2[0..1]))?;
        let mut y0 = r.output::<u32>(6)?;
        let rounds0 = r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            let mut t1 = r.alloc::<u32>(4)?;
            r.run(k.put(baked(4), &mut t1[0..4]))?;
            r.run(k.bump(t1[0..1].at_mut(0)))?;
            Ok(at_most(t1.at(0), baked(0u32)))
        })?;
        let rounds2 = r.repeat_times(b2.share().at(0), |r: &mut Recorder<'_>| {
            Ok(())
        })?;
        r.run(fill(&mut y0[0..6], baked(2315476252)))?;
        {
            let (gap00, rest00) = b3.split_at_mut(2);
            let (piece00, rest00) = rest00.split_at_mut(10);
            r.run(copy(&rest00[8..18], &mut piece00[..]))?;
        }
        r.run(fill(&mut b2[0..1], baked(3586985035)))?;
        Ok(vec![y0])
    }).unwrap());
    let budget = device.held().total() + 4096;
    device.set_memory_budget(Some(budget));
    assert_eq!(kind(device.record(|r: &mut Recorder<'_>| r.output::<u32>(budget / 4 + 1)).map(drop)), "OverBudget");
    device.set_memory_budget(None);
    let mut a10 = device.arena(0).unwrap();
    let mut b11 = device.buffer::<u32>(&[4, 3]).unwrap();
    let c12 = cache(&device, 1);
    let [] = outputs(q1.run_in(&a10, |r: &mut Recorder<'_>| {
        r.run(k.first(baked(0), &mut b11[0..1]))?;
        r.run(k.mix(&b3[32..37], &mut b9[1..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    assert_eq!(lock(&c12).get_or_record(&1, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(k.put(baked(1), &mut y0[0..3]))?;
        r.run(k.bump(b3[26..27].at_mut(0)))?;
        r.run(k.mix(&b9[2..3], &mut b2[0..1]))?;
        Ok(vec![y0])
    }).and_then(|g| read(&q1, g.launch(&q1)?.wait()?)).unwrap(), [vec![1, 1, 1]]);
    let p13 = device.pool();
    let mut h14 = device.host::<u32>(&[2, 2214147335, 1, 3183743147, 9, 3, 0, 4, 7, 4, 9, 4, 2313124219, 3140001634, 4, 6, 6, 4237469085, 7, 4, 6, 3, 0, 7, 3981790912, 4, 0, 8, 2732531181, 8, 2030063851, 4, 0, 4, 3287422024, 6, 5, 1105232580, 3, 2, 3657755531, 2, 9, 6, 7, 1, 9, 0, 5, 3, 1991602445, 3, 6, 3, 4]).unwrap();
    assert_eq!(one(v8.get(&q1).map(words)).unwrap(), [vec![2147483648, 0]]);
    let mut x15 = device.scalar(4u32).unwrap();
    let mut i16 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(2).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(3).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(k.put(baked(6), &mut t0[0..5]))?;
        r.run(n7.words(&mut o0[0..1]))?;
        r.run(k.bump(t0[3..4].at_mut(0)))?;
        r.run(k.add(&t0[2..3], &o1[2..3], &mut b11[0..1]))?;
        r.run(k.scale(t0[1..2].at(0), &mut b9[0..6]))?;
        Ok(())
    }).unwrap();
    n7.seed(&q1, 11511261).unwrap();
    assert_eq!(one(q1.read(&b9[1..4])).unwrap(), [vec![3795072317, 3811551949, 2651461461]]);
    let mut x17 = device.scalar(0u32).unwrap();
    let mut x18 = device.scalar(7u32).unwrap();
    let mut b19 = device.buffer::<u32>(&[5]).unwrap();
    let mut q20 = device.stream().unwrap();
    {
        let (gap01, rest01) = b3.split_at_mut(4);
        let (piece01, rest01) = rest01.split_at_mut(3);
        let (gap00, rest00) = rest01.split_at_mut(1);
        let (piece00, rest00) = rest00.split_at_mut(2);
        assert_eq!(kind(i16.launch(&q20, (&b9[1..3], &b9[2..4]), (&mut piece00[..], &mut piece01[..])).map(drop)), "Overlap");
    }
    q20.synchronize().unwrap();
    drop(x17);
    assert_eq!(lock(&c12).run(&q1, &1, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(k.put(baked(1), &mut y0[0..3]))?;
        r.run(k.bump(b3[26..27].at_mut(0)))?;
        r.run(k.mix(&b9[2..3], &mut b2[0..1]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![1, 1, 1]]);
    assert_eq!(kind(i16.launch(&q20, (&b11[0..2], &b11[0..2]), (&mut b3[15..17], &mut b9[2..5])).map(drop)), "Overlap");
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.bump(b3[4..5].at_mut(0)))?;
        r.run(k.mix(&b3[18..23], &mut b9[1..6]))?;
        r.run(fill(&mut x18.as_mut_slice()[0..1], baked(2)))?;
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(fill(&mut t0[0..5], baked(547946416)))?;
        r.run(k.scale(b9[1..2].at(0), &mut b3[0..21]))?;
        {
            let (gap00, rest00) = t0.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[0..1], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![284432855]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![3682704787, 3886792290, 2591194860, 2591194860, 1091509927, 3682704787, 3886792290, 4090879793, 4090879793, 33486786, 4090879793, 2591194860, 2591194860, 1091509927, 2591194860, 2591194860, 2591194860, 2591194860, 2591194860, 2591194860, 2591194860, 4, 4, 9, 6, 3, 5, 2227480102, 3, 4, 5, 9, 1143610857, 1160090489, 1, 8, 8]]);
    assert_eq!(vec![n7.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![3790440753, 3053357731, 1145111324, 247591276]]);
    assert_eq!(vec![v8.get(&last).map(words).unwrap()], [vec![2147483648, 0]]);
    assert_eq!(vec![last.read(&b9).unwrap()], [vec![2315476252, 2795282363, 2844721259, 3659417091, 3659417112, 3659417112]]);
    assert_eq!(vec![last.read(&b11).unwrap()], [vec![4, 3]]);
    assert_eq!(vec![h14.to_vec().unwrap()], [vec![2, 2214147335, 1, 3183743147, 9, 3, 0, 4, 7, 4, 9, 4, 2313124219, 3140001634, 4, 6, 6, 4237469085, 7, 4, 6, 3, 0, 7, 3981790912, 4, 0, 8, 2732531181, 8, 2030063851, 4, 0, 4, 3287422024, 6, 5, 1105232580, 3, 2, 3657755531, 2, 9, 6, 7, 1, 9, 0, 5, 3, 1991602445, 3, 6, 3, 4]]);
    assert_eq!(vec![x15.get(&last).map(|x| vec![x]).unwrap()], [vec![4]]);
    assert_eq!(vec![x18.get(&last).map(|x| vec![x]).unwrap()], [vec![2]]);
    assert_eq!(vec![last.read(&b19).unwrap()], [vec![5]]);
    device.synchronize().unwrap();
    drop(last);
    drop(h14);
    drop(x18);
    drop(p13);
    drop(q20);
    drop(q1);
    drop(p5);
    drop(b2);
    drop(b3);
    drop(k);
    drop(b11);
    drop(i16);
    drop(b9);
    drop(a10);
    drop(b19);
    drop(c12);
    drop(device);
    drop(n7);
    drop(d6);
    drop(v8);
    drop(p4);
    drop(x15);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_198() {
    let (device, k, token) = struck(software(0xfb1ad1cb891e8608), Call::cuCtxGetCurrent, 21, CUresult(999), Effect::NotDone);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[9, 3388145558, 2, 9]).unwrap();
    let mut b3 = device.buffer::<u32>(&[2, 6, 1947747224, 9, 3]).unwrap();
    let s4 = Slot::new(0u32);
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b3[0..4], &s4))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    q1.write(&mut b2[3..4], &[7]).unwrap();
    let mut f5 = rows_of(&device, &k, &[1, 4], 2, Pad::Value(3), &s4, true).unwrap();
    assert!(device.graph().warmup(2).record(|r: &mut Recorder<'_>| {
        r.run(k.window(&s4, &b2[1..2], &mut b3[1..2]))?;
        let rounds0 = r.repeat_times(baked(3u32), |r: &mut Recorder<'_>| {
            r.run(k.mix(&b2[0..2], &mut b3[0..2]))?;
            r.run(k.bump(b2[3..4].at_mut(0)))?;
            Ok(())
        })?;
        Ok(Vec::<Buffer<u32>>::new())
    }).is_err());
    let p7 = device.pool();
    same(one(q1.read(&b2[3..4])).unwrap(), &[vec![None]]);
    assert_eq!(one(q1.read(&b2[0..3])).unwrap(), [vec![9, 3388145558, 2]]);
    p7.keep(token.clone()).map(drop).unwrap();
    let p8 = device.pool();
    let last = again(|| device.stream());
    same(vec![again(|| last.read(&b2))], &[vec![Some(9), Some(3388145558), Some(2), None]]);
    same(vec![again(|| last.read(&b3))], &[vec![None, None, Some(0), Some(0), Some(3)]]);
    drop(last);
    let kept = device.clone();
    drop(p8);
    drop(p7);
    drop(f5);
    drop(k);
    drop(device);
    drop(b2);
    drop(s4);
    drop(q1);
    drop(b3);
    let _ = kept.synchronize();
    drop(kept);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_295() {
    let (device, k, token) = ready(software(0x38b40db8f65e6b1d).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[1, 3722164745, 6, 1276516065, 8, 4, 0]).unwrap();
    let mut b3 = device.buffer::<u32>(&[6, 1, 6, 9, 5, 6, 7]).unwrap();
    let s4 = Slot::new(0u32);
    let d5 = Slot::new(-32768i16);
    s4.set(3);
    s4.set(3);
    let mut f6 = rows_of(&device, &k, &[2, 4], 1, Pad::RepeatLast, &s4, false).unwrap();
    s4.set(0);
    assert_eq!(kind(f6.call(&q1, 5, &b3[0..6]).and_then(|(y, sum)| Ok(vec![q1.read(y)?, vec![sum.get(&q1)?]]))), "NotRows");
    s4.set(4);
    let mut i7 = device.graph().guarded(true).record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(4).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let mut t0 = r.alloc::<u32>(2)?;
        r.when(at_most(baked(-1i16), baked(1i16)), |r: &mut Recorder<'_>| {
            r.run(fill(&mut t0[0..2], baked(7)))?;
            Ok(())
        })?;
        Ok(())
    }).unwrap();
    let mut a8 = device.arena(0).unwrap();
    assert_eq!(kind(device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(k.window(&s4, &b3[0..7], &mut b2[1..3]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(5);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(2)?;
        let mut t2 = r.alloc::<u32>(1)?;
        r.run(copy(&t0[0..1], &mut t2[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "UninitTemp");
    assert_eq!(one(q1.read(&b2[6..7])).unwrap(), [vec![0]]);
    let mut g10 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(copy(&b3[0..7], &mut b2[0..7]))?;
        r.run(k.mix(&b3[2..7], &mut b2[2..7]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g11 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(k.bump(b3[2..3].at_mut(0)))?;
        r.run(k.put(baked(2), &mut b3[2..6]))?;
        r.when(equal(baked(-32768i16), baked(-1i16)), |r: &mut Recorder<'_>| {
            r.run(k.mix(&b2[2..4], &mut b3[5..7]))?;
            r.run(k.add(&b3[5..6], &b3[4..5], &mut b2[6..7]))?;
            Ok(())
        })?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g11.launch(&q1).map(drop).unwrap();
    d5.set(32767i16);
    let s12 = Slot::new(5u32);
    g10.launch(&q1).map(drop).unwrap();
    let mut g13 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b2[5..7], &b2[5..7], &mut b3[2..4]))?;
        s12.set(0);
        let mut y0 = r.output::<u32>(2)?;
        let mut y1 = r.output::<u32>(6)?;
        {
            let (gap00, rest00) = y1.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&rest00[2..4], &y0[0..2], &mut piece00[..]))?;
        }
        Ok(vec![y0, y1])
    }).unwrap();
    s12.set(2);
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![6, 1, 8, 8, 8, 8, 28]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![6, 1, 2, 2, 2, 2, 7]]);
    assert_eq!(vec![last.read(&g13.outputs()[0]).unwrap()], [vec![0, 0]]);
    assert_eq!(vec![last.read(&g13.outputs()[1]).unwrap()], [vec![0, 0, 0, 0, 0, 0]]);
    device.synchronize().unwrap();
    drop(last);
    drop(a8);
    drop(d5);
    drop(device);
    drop(g11);
    drop(i7);
    drop(s12);
    drop(f6);
    drop(g10);
    drop(k);
    drop(s4);
    drop(q1);
    drop(b2);
    drop(g13);
    drop(b3);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_751() {
    let (device, k, token) = ready(old(software(0x841a254379eb7020)).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[1559822009, 4, 0, 1, 7, 3801254568]).unwrap();
    let mut b3 = device.buffer::<u32>(&[8]).unwrap();
    q1.is_done().map(drop).unwrap();
    let mut g4 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(0), &mut b3[0..1]))?;
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(k.put(baked(7), &mut t0[0..5]))?;
        r.run(copy(&t0[2..5], &mut b2[3..6]))?;
        r.run(k.put(baked(5), &mut t0[0..3]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g4.launch(&q1).map(drop).unwrap();
    let mut g5 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.when((above(b3.at(0), b2.at(0)) | !(at_least(b2.at(2), baked(2u32)) & below(baked(3u32), b3.at(0)))), |r: &mut Recorder<'_>| {
            Ok(())
        })?;
        let mut y0 = r.output::<u32>(6)?;
        {
            let (gap00, rest00) = y0.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&rest00[0..2], &b2[4..6], &mut piece00[..]))?;
        }
        Ok(vec![y0])
    }).unwrap();
    g5.launch(&q1).map(drop).unwrap();
    let mut g6 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(0), &mut b2[1..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut v7 = device.scalar(half::bf16::from_bits(0x7fc0)).unwrap();
    let mut v8 = device.scalar(half::bf16::from_bits(0x3f80)).unwrap();
    let mut g9 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(g4.as_op())?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.bump(b2[2..3].at_mut(0)))?;
            r.run(k.add(&b2[3..4], &b2[3..4], &mut b3[0..1]))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.put(baked(8), &mut y0[1..3]))?;
        r.run(k.scale(y0[2..3].at(0), &mut b2[2..5]))?;
        Ok(vec![y0])
    }).unwrap();
    let mut h10 = device.host::<u32>(&[3962646652, 0, 5, 8, 2, 2124367042, 5, 0, 4165035095, 8, 8, 7, 1, 4, 7, 7, 2, 2, 7, 9, 2873495500, 1316392135, 8, 2, 4, 6, 1, 5, 3, 5, 5, 9, 7, 0, 8, 7, 2, 7, 9]).unwrap();
    let [mut b11, mut b12] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(9), &mut b3[0..1]))?;
        r.run(copy(&g9.outputs()[0][1..2], &mut b3[0..1]))?;
        r.run(g5.as_op())?;
        let mut y0 = r.output::<u32>(1)?;
        r.run(k.put(baked(5), &mut y0[0..1]))?;
        let rounds0 = r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            r.run(k.mix(&b2[2..3], &mut y0[0..1]))?;
            r.run(k.bump(y0[0..1].at_mut(0)))?;
            Ok(below(y0.at(0), baked(2u32)))
        })?;
        let mut y1 = r.output::<u32>(1)?;
        Ok(vec![y0, y1])
    }).unwrap());
    let s13 = Slot::new(0u32);
    let mut g14 = device.graph().guarded(true).preloaded().record(|r: &mut Recorder<'_>| {
        let mut t1 = r.alloc::<u32>(4)?;
        let rounds0 = r.repeat_times(&s13, |r: &mut Recorder<'_>| {
            r.run(k.put(baked(9), &mut t1[0..4]))?;
            Ok(())
        })?;
        r.run(k.sum(&g5.outputs()[0][0..2], b11[0..1].at_mut(0)))?;
        r.run(copy(&g5.outputs()[0][4..5], &mut b11[0..1]))?;
        r.run(k.bump(b2[3..4].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    assert_eq!(one(q1.read(&b11[0..1])).unwrap(), [vec![16]]);
    let mut h15 = device.host::<u32>(&[8, 2]).unwrap();
    device.synchronize().unwrap();
    let [mut b16] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut t1 = r.alloc::<u32>(1)?;
        let rounds0 = r.repeat_while(((differs(&v7, baked(half::bf16::from_bits(0x4000))) | (at_least(&s13, g9.outputs()[0].at(0)) | !above(g5.outputs()[0].at(0), &s13))) & at_most(&s13, baked(1u32))), up_to(baked(0u32)), |r: &mut Recorder<'_>| {
            r.run(k.put(baked(5), &mut t1[0..1]))?;
            Ok(())
        })?;
        r.run(k.add(&b12[0..1], &b2[0..1], &mut t1[0..1]))?;
        r.run(fill(&mut b2[0..3], &s13))?;
        r.keep(token.clone());
        r.run(g5.as_op())?;
        let mut y0 = r.output::<u32>(5)?;
        Ok(vec![y0])
    }).unwrap());
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(g14.as_op())?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    let mut n17 = Generator::new(&device, 8662929796815).unwrap();
    drop(h15);
    assert_eq!(kind(device.graph().apart().record(|r: &mut Recorder<'_>| {
        r.run(copy(&b16[1..2], &mut b11[0..1]))?;
        r.run(fill(&mut b16[0..2], baked(3)))?;
        r.run(k.sum(&b12[0..1], b3[0..1].at_mut(0)))?;
        let round0 = r.round()?;
        r.run(k.first(baked(3), &mut b2[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "NoLoop");
    let mut q19 = device.stream().unwrap();
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![0, 0, 0, 8, 7, 7]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![0]]);
    assert_eq!(vec![last.read(&g5.outputs()[0]).unwrap()], [vec![0, 7, 7, 0, 0, 0]]);
    assert_eq!(vec![v7.get(&last).map(words).unwrap()], [vec![32704, 0]]);
    assert_eq!(vec![v8.get(&last).map(words).unwrap()], [vec![16256, 0]]);
    assert_eq!(vec![last.read(&g9.outputs()[0]).unwrap()], [vec![0, 0, 0]]);
    assert_eq!(vec![h10.to_vec().unwrap()], [vec![3962646652, 0, 5, 8, 2, 2124367042, 5, 0, 4165035095, 8, 8, 7, 1, 4, 7, 7, 2, 2, 7, 9, 2873495500, 1316392135, 8, 2, 4, 6, 1, 5, 3, 5, 5, 9, 7, 0, 8, 7, 2, 7, 9]]);
    assert_eq!(vec![last.read(&b11).unwrap()], [vec![0]]);
    assert_eq!(vec![last.read(&b12).unwrap()], [vec![0]]);
    assert_eq!(vec![last.read(&b16).unwrap()], [vec![0, 0, 0, 0, 0]]);
    assert_eq!(vec![n17.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![795104883, 1923580859, 214552481, 1326746281]]);
    let _ = g4.launch(&last);
    let _ = g5.launch(&last);
    let _ = g6.launch(&last);
    let _ = g9.launch(&last);
    let _ = g14.launch(&last);
    drop(last);
    let kept = device.clone();
    drop(device);
    drop(v8);
    drop(b16);
    drop(b3);
    drop(q19);
    drop(b11);
    drop(g5);
    drop(s13);
    drop(g9);
    drop(g14);
    drop(b2);
    drop(q1);
    drop(h10);
    drop(v7);
    drop(k);
    drop(g6);
    drop(g4);
    drop(n17);
    drop(b12);
    let _ = kept.synchronize();
    drop(kept);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_822() {
    let (device, k, token) = struck(software(0xb544e4f666cbaa7c), Call::cuEventSynchronize, 2, CUresult(220), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[9, 3, 4, 8, 4]).unwrap();
    let mut b3 = device.buffer::<u32>(&[3]).unwrap();
    let s4 = Slot::new(1u32);
    let mut n5 = Generator::new(&device, 15086718996959).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(n5.words(&mut b3[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    assert_eq!(kind(device.graph().warmup(2).warmup_cap(0).record(|r: &mut Recorder<'_>| {
        s4.set(3);
        let mut t0 = r.alloc::<u32>(3)?;
        r.run(k.put(&s4, &mut t0[0..3]))?;
        r.run(k.first(baked(3), &mut t0[0..3]))?;
        r.run(k.scale(t0[1..2].at(0), &mut b2[2..3]))?;
        {
            let (gap00, rest00) = t0.split_at_mut(2);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&gap00[0..1], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    })), "WarmupTooLarge");
    let mut b7 = device.zeros::<u32>(6).unwrap();
    let mut g8 = device.graph().apart().straight_line().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b3[0..1], baked(2970689301)))?;
        r.run(fill(&mut b3[0..1], &s4))?;
        r.run(k.put(&s4, &mut b7[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let [mut b9] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(5)?;
        r.run(k.put(baked(4), &mut b2[2..4]))?;
        r.run(k.scale(b7[2..3].at(0), &mut b2[0..3]))?;
        r.run(k.scale(b7[3..4].at(0), &mut b2[0..5]))?;
        {
            let (gap00, rest00) = y0.split_at_mut(4);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[1..2], &mut piece00[..]))?;
        }
        r.run(k.bump(b7[4..5].at_mut(0)))?;
        r.run(k.put(baked(4), &mut b3[0..1]))?;
        Ok(vec![y0])
    }).unwrap());
    let mut g10 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(4)?;
        r.run(n5.words(&mut b9[4..5]))?;
        r.run(n5.words(&mut b7[0..6]))?;
        Ok(vec![y0])
    }).unwrap();
    g10.launch(&q1).and_then(|l| l.wait().map(drop)).unwrap();
    let mut f11 = rows_of(&device, &k, &[2, 4], 2, Pad::Zero, &s4, false).unwrap();
    g8.launch(&q1).map(drop).unwrap();
    q1.write(&mut b9[3..4], &[1]).unwrap();
    let mut b12 = device.zeros::<u32>(7).unwrap();
    let mut g13 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b2[1..2], &mut b9[0..1]))?;
        r.run(fill(&mut b3[0..1], baked(782836604)))?;
        r.run(fill(&mut b12[0..7], &s4))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut x14 = device.scalar(2864626885u32).unwrap();
    let mut i15 = device.graph().guarded(true).record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(1).unwrap()[..]), (&mut device.zeros::<u32>(4).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(fill(&mut t0[0..1], baked(4)))?;
        r.run(copy(&b2[1..2], &mut t0[0..1]))?;
        r.run(k.first(baked(3), &mut b12[0..7]))?;
        let mut t1 = r.alloc::<u32>(3)?;
        r.run(fill(&mut t1[0..3], &s4))?;
        Ok(())
    }).unwrap();
    assert_eq!(kind(i15.launch(&q1, (&b2[0..4], &b3[0..1]), (&mut b12[3..7], &mut b7[1..5])).map(drop)), "Overlap");
    let mut g16 = device.graph().apart().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(g10.as_op())?;
        let mut y0 = r.output::<u32>(1)?;
        r.run(k.mix(&g10.outputs()[0][2..3], &mut b3[0..1]))?;
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(6), &mut t0[0..1]))?;
        Ok(vec![y0])
    }).unwrap();
    let mut g17 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.sum(&b2[0..5], x14.as_mut_slice()[0..1].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut a18 = device.arena(65536).unwrap();
    let s19 = Slot::new(4u32);
    let mut f20 = rows_of(&device, &k, &[1, 3], 1, Pad::Zero, &s19, true).unwrap();
    q1.write(&mut b3[0..1], &[5]).unwrap();
    assert_eq!(kind(g13.rerecord(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b3[0..1], &s4))?;
        {
            let (gap00, rest00) = b12.split_at_mut(4);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[2..3], &mut piece00[..]))?;
        }
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.first(baked(4), &mut x14.as_mut_slice()[0..1]))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.run(k.first(baked(1), &mut b9[0..5]))?;
        {
            let (gap00, rest00) = b7.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(copy(&rest00[3..4], &mut piece00[..]))?;
        }
        r.run(k.first(&s4, &mut b3[0..1]))?;
        r.run(k.first(&s19, &mut b12[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop)), "Requires");
    g13.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.put(&s19, &mut b3[0..1]))?;
        {
            let (gap00, rest00) = b7.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(2);
            r.run(k.add(&rest00[0..2], &g10.outputs()[0][2..4], &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(k.sum(&b12[0..2], t0[2..3].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    assert_eq!(one(q1.read(&x14.as_slice()[0..1])).unwrap(), [vec![2864626885]]);
    let s21 = Slot::new(2u32);
    drop(g17);
    drop(g10);
    drop(n5);
    drop(b7);
    drop(x14);
    drop(device);
    drop(i15);
    drop(s21);
    drop(g13);
    drop(f20);
    drop(b12);
    drop(a18);
    drop(g8);
    drop(b3);
    drop(s19);
    drop(b2);
    drop(k);
    drop(b9);
    drop(g16);
    drop(f11);
    drop(s4);
    drop(q1);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_415() {
    let (device, k, token) = ready(software(0x12f8760b178bca59).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[4, 4]).unwrap();
    let mut b3 = device.buffer::<u32>(&[1, 8, 0, 0, 4, 6, 9, 5, 88852759, 4, 7, 0, 9, 3095557898, 1, 6, 7, 960200033, 3, 1, 8, 10657767, 1, 3, 2, 5, 8, 0, 4, 9, 0, 3, 2, 1, 1, 4101476592, 2, 2, 2, 5, 0, 0, 1564969028, 4, 8, 5, 3397722316, 6, 7, 6, 6, 3, 9, 3, 5, 1169715781, 0, 2]).unwrap();
    let mut a4 = device.arena(65536).unwrap();
    q1.write(&mut b2[1..2], &[7]).unwrap();
    let p5 = device.pool();
    let mut g6 = device.graph().pool(&p5).guarded(true).record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b2.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&gap00[0..1], &b3[56..57], &mut piece00[..]))?;
        }
        r.run(k.bump(b3[23..24].at_mut(0)))?;
        r.run(k.put(baked(5), &mut b2[1..2]))?;
        r.run(k.first(baked(0), &mut b3[0..47]))?;
        r.run(fill(&mut b3[0..58], baked(7)))?;
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&rest00[0..1], &b3[12..13], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    assert_eq!(kind(p5.clear()), "PoolInUse");
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![4, 7]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![1, 8, 0, 0, 4, 6, 9, 5, 88852759, 4, 7, 0, 9, 3095557898, 1, 6, 7, 960200033, 3, 1, 8, 10657767, 1, 3, 2, 5, 8, 0, 4, 9, 0, 3, 2, 1, 1, 4101476592, 2, 2, 2, 5, 0, 0, 1564969028, 4, 8, 5, 3397722316, 6, 7, 6, 6, 3, 9, 3, 5, 1169715781, 0, 2]]);
    device.synchronize().unwrap();
    drop(last);
    drop(a4);
    drop(g6);
    drop(q1);
    drop(p5);
    drop(device);
    drop(b2);
    drop(b3);
    drop(k);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_500() {
    let (device, k, token) = struck(software(0xa7fffa0cecc203a2), Call::cuMemAllocAsync, 24, CUresult(901), Effect::CaptureInvalidated);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[3, 5, 8, 7, 8, 3295142184, 1, 3]).unwrap();
    let mut b3 = device.buffer::<u32>(&[2894937322, 3737071460, 1501683689, 1399807216, 0, 2, 4, 8, 2, 3, 3245840601, 3, 0, 3, 3469035899, 1, 4018115128, 1, 0, 661800139, 1, 4, 8, 1, 2226085760, 5, 3, 3, 4, 5, 1, 2, 3631860236, 8, 6, 2024166944, 3942423227, 2059761485, 0, 2351870232, 440993687, 4, 4, 9, 2327336718, 757566888, 0, 1, 0, 0, 2988394270, 4, 8, 0, 8, 1, 4, 4, 0, 1, 1, 1559928120, 2, 8, 4, 3, 4, 7, 2]).unwrap();
    let s4 = Slot::new(1u32);
    assert_eq!(kind(device.graph().guarded(true).record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(5).unwrap()[..], &mut device.zeros::<u32>(5).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let mut t0 = r.alloc::<u32>(3)?;
        r.run(copy(&o1[0..3], &mut t0[0..3]))?;
        let mut t1 = r.alloc::<u32>(1)?;
        r.when(at_most(i1.at(3), &s4), |r: &mut Recorder<'_>| {
            r.run(k.put(&s4, &mut t0[0..1]))?;
            Ok(())
        })?.otherwise(|r: &mut Recorder<'_>| {
            r.run(fill(&mut t1[0..1], &s4))?;
            Ok(())
        })?;
        r.run(copy(&t1[0..1], &mut b3[3..4]))?;
        Ok(())
    })), "UninitTemp");
    q1.write(&mut b2[1..3], &[2, 2]).unwrap();
    let mut a6 = device.arena(65536).unwrap();
    let mut a7 = device.arena(65536).unwrap();
    let c8 = cache(&device, 0);
    assert_eq!(lock(&c8).evict(&0), false);
    let mut g9 = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.run(k.first(baked(5), &mut b2[1..7]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    q1.write(&mut b2[1..2], &[2795408553]).unwrap();
    let mut b10 = device.zeros::<u32>(1).unwrap();
    g9.rerecord(|r: &mut Recorder<'_>| {
        r.keep(token.clone());
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(baked(5), &mut t0[0..1]))?;
        let mut t1 = r.alloc::<u32>(1)?;
        r.run(k.put(&s4, &mut t1[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    drop(b10);
    let mut i11 = device.graph().guarded(true).record_into((&device.zeros::<u32>(5).unwrap()[..], &device.zeros::<u32>(5).unwrap()[..]), (&mut device.zeros::<u32>(5).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let rounds0 = r.repeat_times(baked(2u32), |r: &mut Recorder<'_>| {
            r.run(g9.as_op())?;
            Ok(())
        })?;
        r.run(k.put(&s4, &mut o1[0..4]))?;
        r.run(fill(&mut o0[4..5], &s4))?;
        Ok(())
    }).unwrap();
    let mut g12 = device.graph().record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b3.split_at_mut(36);
            let (piece00, rest00) = rest00.split_at_mut(11);
            r.run(k.window(baked(0), &gap00[0..17], &mut piece00[..]))?;
        }
        r.run(k.bump(b2[5..6].at_mut(0)))?;
        r.run(k.mix(&b2[0..4], &mut b3[62..66]))?;
        {
            let (gap00, rest00) = b2.split_at_mut(3);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.window(&s4, &rest00[1..4], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    q1.write(&mut b2[7..8], &[1]).unwrap();
    let budget = device.held().total() + 4096;
    device.set_memory_budget(Some(budget));
    device.zeros::<u32>(1000).map(drop).unwrap();
    device.set_memory_budget(None);
    let mut a13 = device.arena(65536).unwrap();
    let mut v14 = device.scalar(f64::from_bits(0x4000000000000000)).unwrap();
    s4.set(0);
    let s15 = Slot::new(2u32);
    g12.preload(&q1).unwrap();
    g9.launch(&q1).map(drop).unwrap();
    g12.launch(&q1).map(drop).unwrap();
    assert_eq!(one(q1.read(&b2[4..7])).unwrap(), [vec![8, 3295142185, 1]]);
    q1.write(&mut b2[4..7], &[1666264557, 6, 4068183418]).unwrap();
    let mut i16 = device.graph().record_into((&device.zeros::<u32>(3).unwrap()[..], &device.zeros::<u32>(3).unwrap()[..]), (&mut device.zeros::<u32>(3).unwrap()[..], &mut device.zeros::<u32>(3).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        let mut t0 = r.alloc::<u32>(5)?;
        r.run(copy(&b2[1..6], &mut t0[0..5]))?;
        let mut t1 = r.alloc::<u32>(5)?;
        r.run(k.put(&s15, &mut t1[0..5]))?;
        Ok(())
    }).unwrap();
    g12.launch(&q1).map(drop).unwrap();
    let mut x17 = device.scalar(8u32).unwrap();
    g12.launch(&q1).map(drop).unwrap();
    g12.launch(&q1).and_then(|l| l.wait().map(drop)).unwrap();
    assert_eq!(kind(lock(&c8).get_or_record(&2, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(k.put(&s4, &mut y0[0..3]))?;
        Ok(vec![y0])
    }).and_then(|g| read(&q1, g.launch(&q1)?.wait()?))), "OverCap");
    let s18 = Slot::new(3u32);
    s15.set(0);
    g9.rerecord(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(copy(&b3[58..62], &mut t0[0..4]))?;
        r.run(fill(&mut b3[53..69], baked(5)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    {
        let (gap00, rest00) = b3.split_at_mut(41);
        let (piece00, rest00) = rest00.split_at_mut(3);
        assert_eq!(kind(i16.launch(&q1, (&rest00[17..21], &rest00[12..15]), (&mut piece00[..], &mut b2[2..5])).map(drop)), "Length");
    }
    let mut g19 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut b3[0..3], &s4))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            {
                let (gap00, rest00) = b3.split_at_mut(11);
                let (piece00, rest00) = rest00.split_at_mut(10);
                r.run(k.window(&s15, &rest00[23..33], &mut piece00[..]))?;
            }
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.first(&s18, &mut b2[0..8]))?;
        let mut y0 = r.output::<u32>(4)?;
        r.run(k.window(baked(3), &b3[65..69], &mut y0[3..4]))?;
        r.switch(baked(3u32), 3, |r: &mut Recorder<'_>, case| match case {
            0 => {
                r.run(k.first(&s4, &mut b2[2..5]))?;
                r.run(k.bump(b3[68..69].at_mut(0)))?;
                Ok(())
            }
            1 => {
                Ok(())
            }
            _ => {
                Ok(())
            }
        })?;
        Ok(vec![y0])
    }).unwrap();
    s15.set(0);
    let [mut b20, mut b21] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(6)?;
        let mut t1 = r.alloc::<u32>(3)?;
        let rounds0 = r.repeat(up_to(y0.at(1)), |r: &mut Recorder<'_>| {
            Ok(at_most(baked(f64::from_bits(0x389a7f7ded242a9a)), baked(f64::from_bits(0x8000000000000000))))
        })?;
        r.run(k.bump(y0[2..3].at_mut(0)))?;
        let mut y1 = r.output::<u32>(4)?;
        Ok(vec![y0, y1])
    }).unwrap());
    s15.set(6);
    let last = again(|| device.stream());
    assert_eq!(vec![again(|| last.read(&b2))], [vec![3, 2795408553, 2, 9, 1666264557, 9, 4068183418, 1]]);
    assert_eq!(vec![again(|| last.read(&b3))], [vec![2894937322, 3737071460, 1501683689, 1399807216, 0, 2, 4, 8, 2, 3, 3245840601, 3, 0, 3, 3469035899, 1, 4018115128, 1, 0, 661800139, 1, 4, 8, 1, 2226085760, 5, 3, 3, 4, 5, 1, 2, 3631860236, 8, 6, 2024166944, 2894937322, 3737071460, 1501683689, 1399807216, 0, 2, 4, 8, 2, 3, 3245840601, 1, 0, 0, 2988394270, 4, 8, 0, 8, 1, 4, 4, 0, 1, 1, 1559928120, 282, 147193072, 404, 3886476350, 4, 7, 2]]);
    assert_eq!(vec![again(|| v14.get(&last).map(words))], [vec![0, 1073741824]]);
    assert_eq!(vec![again(|| x17.get(&last).map(|x| vec![x]))], [vec![8]]);
    assert_eq!(vec![again(|| last.read(&g19.outputs()[0]))], [vec![0, 0, 0, 0]]);
    assert_eq!(vec![again(|| last.read(&b20))], [vec![0, 0, 1, 0, 0, 0]]);
    assert_eq!(vec![again(|| last.read(&b21))], [vec![0, 0, 0, 0]]);
    again(|| device.synchronize());
    drop(last);
    drop(b2);
    drop(c8);
    drop(k);
    drop(b3);
    drop(b21);
    drop(s18);
    drop(device);
    drop(a6);
    drop(a7);
    drop(i11);
    drop(g9);
    drop(s15);
    drop(x17);
    drop(v14);
    drop(a13);
    drop(g19);
    drop(g12);
    drop(q1);
    drop(i16);
    drop(s4);
    drop(b20);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_654() {
    let (device, k, token) = ready(software(0x5ae2eab6661ee8af).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[3306149061, 2, 1074717244, 2003284653, 7, 4, 1530447191, 3199719442, 8, 7, 9, 2552624276, 9, 1, 7, 6, 7, 3, 3, 3377132879, 3793954194, 4, 5, 8, 0, 5, 4, 4, 6, 7, 2915284662, 3322472261, 7, 5, 2, 3, 2, 0, 7, 102290888, 5, 0, 2, 7, 1, 3]).unwrap();
    let mut b3 = device.buffer::<u32>(&[1230062990, 6, 0, 2, 1, 8, 1, 1343026272]).unwrap();
    let s4 = Slot::new(3u32);
    let mut a5 = device.arena(0).unwrap();
    let mut b6 = device.buffer::<u32>(&[1, 0, 0, 8, 5]).unwrap();
    s4.set(1);
    let mut f7 = rows_of(&device, &k, &[1, 4], 2, Pad::Zero, &s4, true).unwrap();
    let mut a8 = device.arena(0).unwrap();
    drop(b6);
    let mut g9 = device.graph().apart().straight_line().record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b3.split_at_mut(5);
            let (piece00, rest00) = rest00.split_at_mut(3);
            r.run(k.add(&gap00[0..3], &gap00[0..3], &mut piece00[..]))?;
        }
        {
            let (gap00, rest00) = b2.split_at_mut(38);
            let (piece00, rest00) = rest00.split_at_mut(8);
            r.run(k.mix(&gap00[16..24], &mut piece00[..]))?;
        }
        r.run(k.scale(b3[5..6].at(0), &mut b2[3..21]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g10 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(g9.as_op())?;
        let rounds0 = r.repeat_times(b3.share().at(4), |r: &mut Recorder<'_>| {
            r.leave_if(!at_most(&s4, baked(753461076u32)))?;
            Ok(())
        })?;
        {
            let (gap00, rest00) = b2.split_at_mut(42);
            let (piece00, rest00) = rest00.split_at_mut(4);
            r.run(k.add(&gap00[8..12], &gap00[21..25], &mut piece00[..]))?;
        }
        r.run(fill(&mut b3[0..1], baked(9)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    q1.synchronize().unwrap();
    f7.prepare().map(drop).unwrap();
    q1.write(&mut b3[3..5], &[9, 3811348868]).unwrap();
    s4.set(5);
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![3306149061, 2, 1074717244, 2003284653, 7, 4, 1530447191, 3199719442, 8, 7, 9, 2552624276, 9, 1, 7, 6, 7, 3, 3, 3377132879, 3793954194, 4, 5, 8, 0, 5, 4, 4, 6, 7, 2915284662, 3322472261, 7, 5, 2, 3, 2, 0, 7, 102290888, 5, 0, 2, 7, 1, 3]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![1230062990, 6, 0, 9, 3811348868, 8, 1, 1343026272]]);
    device.synchronize().unwrap();
    drop(last);
    drop(a8);
    drop(k);
    drop(g10);
    drop(f7);
    drop(b2);
    drop(a5);
    drop(q1);
    drop(b3);
    drop(s4);
    drop(device);
    drop(g9);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_333() {
    let (device, k, token) = ready(software(0xe51213f69f608f41).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[3, 1650583188, 2781960063, 2]).unwrap();
    let mut b3 = device.buffer::<u32>(&[9, 1894061970]).unwrap();
    let s4 = Slot::new(0u32);
    let mut v5 = device.scalar(half::bf16::from_bits(0x8000)).unwrap();
    s4.set(5);
    q1.write(&mut b2[1..3], &[4167701214, 2835506925]).unwrap();
    let c6 = cache(&device, 1);
    s4.set(0);
    let mut b7 = device.buffer::<u32>(&[8, 829918802, 1, 4, 3]).unwrap();
    assert_eq!(lock(&c6).run(&q1, &0, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(fill(&mut y0[0..3], baked(5)))?;
        r.run(fill(&mut b2[3..4], &s4))?;
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(copy(&b2[0..4], &mut t0[0..4]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![5, 5, 5]]);
    let s8 = Slot::new(3u32);
    assert_eq!(lock(&c6).run(&q1, &0, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(3)?;
        r.run(fill(&mut y0[0..3], baked(5)))?;
        r.run(fill(&mut b2[3..4], &s4))?;
        let mut t0 = r.alloc::<u32>(4)?;
        r.run(copy(&b2[0..4], &mut t0[0..4]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![5, 5, 5]]);
    let mut h9 = device.host::<u32>(&[9, 3568460177, 1100266426, 4]).unwrap();
    let mut g10 = device.graph().guarded(true).preloaded().record(|r: &mut Recorder<'_>| {
        r.run(k.window(&s4, &b7[4..5], &mut b2[2..3]))?;
        {
            let (gap00, rest00) = b7.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[2..3], &mut piece00[..]))?;
        }
        let rounds0 = r.repeat_times(&s4, |r: &mut Recorder<'_>| {
            r.run(k.window(&s8, &b7[0..4], &mut b3[0..1]))?;
            Ok(())
        })?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.bump(b7[1..2].at_mut(0)))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        let rounds1 = r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            {
                let (gap00, rest00) = b3.split_at_mut(0);
                let (piece00, rest00) = rest00.split_at_mut(1);
                r.run(copy(&rest00[0..1], &mut piece00[..]))?;
            }
            r.run(k.bump(b3[0..1].at_mut(0)))?;
            Ok(below(b3.at(0), baked(0u32)))
        })?;
        r.run(fill(&mut b7[3..4], baked(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    v5.set(&q1, half::bf16::from_bits(0xbf80)).unwrap();
    let mut q11 = device.stream().unwrap();
    g10.rerecord_with(device.graph(), |r: &mut Recorder<'_>| {
        r.run(k.first(&s8, &mut b2[0..4]))?;
        r.run(fill(&mut b3[0..2], baked(5)))?;
        r.run(k.first(&s4, &mut b7[1..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    assert_eq!(one(q1.read(&b2[1..2])).unwrap(), [vec![4167701214]]);
    drop(b7);
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![3, 4167701214, 2835506925, 0]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![9, 1894061970]]);
    assert_eq!(vec![v5.get(&last).map(words).unwrap()], [vec![49024, 0]]);
    assert_eq!(vec![h9.to_vec().unwrap()], [vec![9, 3568460177, 1100266426, 4]]);
    device.synchronize().unwrap();
    drop(last);
    drop(h9);
    drop(s4);
    drop(g10);
    drop(q11);
    drop(s8);
    drop(b3);
    drop(b2);
    drop(device);
    drop(q1);
    drop(v5);
    drop(k);
    drop(c6);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_805() {
    let (device, k, token) = struck(software(0xe9b4da4c8a96bba9), Call::cuGraphConditionalHandleCreate, 5, CUresult(226), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[6, 6, 2, 5, 3, 6, 1]).unwrap();
    let mut b3 = device.buffer::<u32>(&[763102174, 2, 2, 4, 4085907241, 0, 3005269987]).unwrap();
    let s4 = Slot::new(2u32);
    let d5 = Slot::new(0i64);
    assert_eq!(one(q1.read(&b2[0..2])).unwrap(), [vec![6, 6]]);
    s4.set(4);
    let _ = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.put(&s4, &mut b3[4..7]))?;
        r.run(k.window(baked(0), &b3[6..7], &mut b2[0..1]))?;
        r.run(k.scale(b3[5..6].at(0), &mut b2[0..7]))?;
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(3);
            r.run(k.scale(rest00[3..4].at(0), &mut piece00[..]))?;
        }
        let mut t1 = r.alloc::<u32>(3)?;
        let rounds0 = r.repeat_while(at_most(baked(9223372036854775807i64), baked(0i64)), up_to(baked(3u32)), |r: &mut Recorder<'_>| {
            r.run(fill(&mut t1[0..3], &s4))?;
            r.run(k.first(&s4, &mut b2[0..6]))?;
            let mut t2 = r.alloc::<u32>(2)?;
            r.when((below(b2.at(4), baked(6u32)) | (at_most(baked(5u32), b3.at(3)) | at_most(baked(3i64), baked(-9223372036854775808i64)))), |r: &mut Recorder<'_>| {
                r.run(k.put(baked(1), &mut t2[0..2]))?;
                let rounds3 = r.repeat_while(!(above(baked(-1i64), baked(9223372036854775807i64)) | at_most(baked(2i64), baked(3i64))), up_to(t1.at(0)), |r: &mut Recorder<'_>| {
                    r.run(k.sum(&t2[0..2], t1[1..2].at_mut(0)))?;
                    let mut t4 = r.alloc::<u32>(2)?;
                    r.run(fill(&mut t4[0..2], baked(6)))?;
                    Ok(())
                })?;
                r.switch(b3.share().at(3), 2, |r: &mut Recorder<'_>, case| match case {
                    0 => {
                        r.run(fill(&mut t1[0..3], baked(3)))?;
                        let round5 = r.round()?;
                        r.run(k.mix(&b3[0..7], &mut b2[0..7]))?;
                        let rounds6 = r.repeat_times(&s4, |r: &mut Recorder<'_>| {
                            let rounds7 = r.repeat_while(!(at_least(t1.at(0), t1.at(2)) & at_least(&s4, t1.at(0))), up_to(&s4), |r: &mut Recorder<'_>| {
                                let mut t8 = r.alloc::<u32>(5)?;
                                r.run(fill(&mut t8[0..5], &s4))?;
                                let rounds9 = r.repeat_times(baked(1u32), |r: &mut Recorder<'_>| {
                                    r.run(k.first(baked(0), &mut t8[2..5]))?;
                                    Ok(())
                                })?;
                                Ok(())
                            })?;
                            Ok(())
                        })?;
                        Ok(())
                    }
                    _ => {
                        r.run(k.sum(&b3[3..4], t2[1..2].at_mut(0)))?;
                        r.run(copy(&t1[1..2], &mut t2[1..2]))?;
                        let rounds10 = r.repeat(up_to(baked(2u32)), |r: &mut Recorder<'_>| {
                            r.run(fill(&mut b3[0..7], &s4))?;
                            let rounds11 = r.repeat_times(b2.share().at(0), |r: &mut Recorder<'_>| {
                                Ok(())
                            })?;
                            Ok(below(b3.at(0), baked(3u32)))
                        })?;
                        Ok(())
                    }
                })?;
                Ok(())
            })?.otherwise(|r: &mut Recorder<'_>| {
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(Vec::<Buffer<u32>>::new())
    });
    drop(device);
    drop(b2);
    drop(b3);
    drop(k);
    drop(s4);
    drop(d5);
    drop(q1);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_349() {
    let (device, k, token) = ready(software(0x2ab24a45ef35f8c6).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[8, 6, 3120352807, 0, 4, 5, 3, 9]).unwrap();
    let mut b3 = device.buffer::<u32>(&[1708046834, 4, 6, 5, 6, 2, 0]).unwrap();
    let s4 = Slot::new(0u32);
    assert_eq!(one(q1.read(&b2[1..6])).unwrap(), [vec![6, 3120352807, 0, 4, 5]]);
    let mut g5 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b2[6..7], &mut b3[6..7]))?;
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(&s4, &mut t0[0..2]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut q6 = device.stream().unwrap();
    g5.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.scale(b2[4..5].at(0), &mut b3[6..7]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    let mut g7 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.bump(b2[4..5].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut a8 = device.arena(0).unwrap();
    let mut b9 = device.buffer::<u32>(&[7, 7]).unwrap();
    g5.submit(&q6).and_then(|ticket| ticket.wait()).unwrap();
    assert_eq!(kind(q6.run_in(&a8, |r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(copy(&b3[1..3], &mut t0[0..2]))?;
        {
            let (gap00, rest00) = t0.split_at_mut(1);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&gap00[0..1], &mut piece00[..]))?;
        }
        r.run(fill(&mut b3[0..7], &s4))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "ArenaExhausted");
    let mut g10 = device.graph().record(|r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(4)?;
        Ok(vec![y0])
    }).unwrap();
    g10.launch(&q1).map(drop).unwrap();
    assert_eq!(one(q1.read(&b3[1..4])).unwrap(), [vec![4, 6, 5]]);
    let mut g11 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(copy(&b2[5..6], &mut b9[0..1]))?;
        r.run(k.bump(b2[3..4].at_mut(0)))?;
        r.run(k.mix(&b3[5..6], &mut b9[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g10.launch(&q6).and_then(|l| l.wait().map(drop)).unwrap();
    s4.set(0);
    g7.preload(&q1).unwrap();
    let [mut b12] = outputs(g10.into_outputs());
    let mut g13 = device.graph().straight_line().record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b2.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.mix(&rest00[4..5], &mut piece00[..]))?;
        }
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    g13.launch(&q1).map(drop).unwrap();
    g13.launch(&q6).and_then(|l| l.wait().map(drop)).unwrap();
    let s14 = Slot::new(0u32);
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(g11.as_op())?;
        r.run(k.window(&s14, &b9[0..2], &mut b3[4..5]))?;
        r.run(k.mix(&b3[1..7], &mut b2[0..6]))?;
        r.run(k.mix(&b2[3..8], &mut b3[2..7]))?;
        r.run(k.mix(&b2[1..8], &mut b3[0..7]))?;
        r.run(k.mix(&b2[7..8], &mut b12[0..1]))?;
        let mut t0 = r.alloc::<u32>(1)?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    g11.launch(&q1).map(drop).unwrap();
    let [mut b15] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.scale(b9[0..1].at(0), &mut b3[6..7]))?;
        r.run(k.window(&s4, &b3[0..7], &mut b2[0..5]))?;
        let mut y0 = r.output::<u32>(4)?;
        r.run(k.scale(b12[0..1].at(0), &mut b9[0..2]))?;
        Ok(vec![y0])
    }).unwrap());
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![829173230, 771123846, 134, 101, 213, 15, 3, 9]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![829173230, 771123846, 134, 101, 213, 30, 2700]]);
    assert_eq!(vec![last.read(&b9).unwrap()], [vec![675, 63]]);
    assert_eq!(vec![last.read(&b12).unwrap()], [vec![9, 0, 0, 0]]);
    assert_eq!(vec![last.read(&b15).unwrap()], [vec![0, 0, 0, 0]]);
    device.synchronize().unwrap();
    drop(last);
    drop(b9);
    drop(g5);
    drop(g11);
    drop(s4);
    drop(b12);
    drop(b3);
    drop(a8);
    drop(g13);
    drop(q1);
    drop(k);
    drop(b15);
    drop(device);
    drop(b2);
    drop(s14);
    drop(q6);
    drop(g7);
    nothing_left(&machine, &token, false);
}

#[test]
fn seed_670() {
    let (device, k, token) = struck(software(0x9b1ff02bdf81f9f8), Call::cuMemcpyDtoHAsync_v2, 5, CUresult(721), Effect::ContextLost);
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[4]).unwrap();
    let mut b3 = device.buffer::<u32>(&[6, 7, 3003817072, 0, 6, 5]).unwrap();
    let c4 = cache(&device, 2);
    q1.write(&mut b3[1..6], &[2575628997, 0, 4061052843, 9, 7]).unwrap();
    q1.synchronize().unwrap();
    drop(q1);
    drop(b2);
    let mut b5 = device.zeros::<u32>(8).unwrap();
    let p6 = device.pool();
    let mut n7 = Generator::new(&device, 8183499571860).unwrap();
    let mut b8 = device.buffer::<u32>(&[8, 0, 8, 538332581, 7, 5, 8, 9, 4, 5, 2, 9, 2, 1, 3, 8, 8, 1, 7, 0, 2, 5, 0, 6, 5, 1464961867, 0, 1, 0, 8, 1958749353, 9, 9, 6]).unwrap();
    let mut g9 = device.graph().preloaded().record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b3[1..3], &b8[7..9], &mut b5[5..7]))?;
        r.run(k.mix(&b5[0..4], &mut b8[0..4]))?;
        let mut t0 = r.alloc::<u32>(2)?;
        r.run(k.put(baked(4), &mut t0[0..2]))?;
        r.run(k.first(baked(1), &mut b3[0..5]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    assert!(panics(|| drop(device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b8[11..19], &b8[3..11], &mut b5[0..8]))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.window(baked(2), &b5[0..8], &mut b8[13..20]))?;
            if true { resume_unwind(Box::new("on purpose")) }
            Ok(())
        })));
        r.run(g9.as_op())?;
        r.run(k.scale(b5[0..1].at(0), &mut b3[5..6]))?;
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(Vec::<Buffer<u32>>::new())
    }))));
    g9.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.put(baked(4), &mut b5[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).map(drop).unwrap();
    let mut h11 = device.host::<u32>(&[8, 1, 5]).unwrap();
    let s12 = Slot::new(2u32);
    let mut g13 = device.graph().pool(&p6).record(|r: &mut Recorder<'_>| {
        r.run(k.sum(&b5[0..7], b3[5..6].at_mut(0)))?;
        r.run(upload(&h11, &mut b3[0..3]))?;
        r.run(g9.as_op())?;
        r.run(n7.words(&mut b8[4..17]))?;
        r.run(copy(&b8[33..34], &mut b5[7..8]))?;
        r.run(k.put(&s12, &mut b3[0..6]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut i14 = device.graph().record_into((&device.zeros::<u32>(2).unwrap()[..], &device.zeros::<u32>(5).unwrap()[..]), (&mut device.zeros::<u32>(2).unwrap()[..], &mut device.zeros::<u32>(2).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.bump(o0[1..2].at_mut(0)))?;
        let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {
            r.run(k.mix(&b3[1..5], &mut b8[30..34]))?;
            Err::<(), _>(Error::msg("on purpose"))
        })));
        r.run(k.mix(&i1[3..5], &mut o1[0..2]))?;
        r.run(fill(&mut o1[0..1], &s12))?;
        {
            let (gap00, rest00) = o1.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(1);
            r.run(k.add(&rest00[0..1], &i1[4..5], &mut piece00[..]))?;
        }
        s12.set(6);
        r.run(upload(&h11, &mut b3[3..6]))?;
        Ok(())
    }).unwrap();
    s12.set(0);
    p6.keep(token.clone()).map(drop).unwrap();
    s12.set(5);
    drop(i14);
    let mut i15 = device.graph().guarded(true).record_into((&device.zeros::<u32>(4).unwrap()[..], &device.zeros::<u32>(4).unwrap()[..]), (&mut device.zeros::<u32>(1).unwrap()[..], &mut device.zeros::<u32>(4).unwrap()[..]), |r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {
        r.run(k.bump(o1[2..3].at_mut(0)))?;
        Ok(())
    }).unwrap();
    let mut b16 = device.buffer::<u32>(&[3385256317, 8, 6]).unwrap();
    p6.seal();
    assert_eq!(kind(device.graph().pool(&p6).warmup(2).record(|r: &mut Recorder<'_>| {
        r.run(n7.words(&mut b3[0..1]))?;
        Ok(Vec::<Buffer<u32>>::new())
    })), "PoolSealed");
    let mut b18 = device.buffer::<u32>(&[4, 1, 9]).unwrap();
    let mut h19 = device.host::<u32>(&[3, 1962985026, 5, 1, 9, 1726043559]).unwrap();
    drop(b5);
    drop(b3);
    drop(n7);
    drop(h19);
    drop(p6);
    drop(b8);
    drop(g13);
    drop(g9);
    drop(s12);
    drop(b18);
    drop(i15);
    drop(c4);
    drop(device);
    drop(h11);
    drop(b16);
    drop(k);
    nothing_left(&machine, &token, true);
}

#[test]
fn seed_1810() {
    let (device, k, token) = ready(old(software(0xe95081bc479bc3f2)).open().unwrap());
    let machine = device.machine().unwrap().clone();
    let mut q1 = device.stream().unwrap();
    let mut b2 = device.buffer::<u32>(&[9]).unwrap();
    let mut b3 = device.buffer::<u32>(&[8, 9, 0, 668793537, 0, 8, 7, 2358299455, 9, 8, 2, 7, 1, 4, 7, 7, 0, 4, 3868246277, 5, 2, 0, 6, 0, 1, 3358298391, 8, 7, 6, 3, 2391347957, 3, 6, 492391031, 3664013255, 5, 5, 3, 6, 3, 7, 7, 8, 1, 4, 7]).unwrap();
    let s4 = Slot::new(6u32);
    assert_eq!(one(q1.read(&b3[2..27])).unwrap(), [vec![0, 668793537, 0, 8, 7, 2358299455, 9, 8, 2, 7, 1, 4, 7, 7, 0, 4, 3868246277, 5, 2, 0, 6, 0, 1, 3358298391, 8]]);
    let mut g5 = device.graph().record(|r: &mut Recorder<'_>| {
        {
            let (gap00, rest00) = b3.split_at_mut(0);
            let (piece00, rest00) = rest00.split_at_mut(21);
            r.run(copy(&rest00[1..22], &mut piece00[..]))?;
        }
        r.run(k.bump(b2[0..1].at_mut(0)))?;
        r.run(fill(&mut b2[0..1], &s4))?;
        r.run(fill(&mut b2[0..1], &s4))?;
        r.run(k.bump(b3[39..40].at_mut(0)))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut g6 = device.graph().record(|r: &mut Recorder<'_>| {
        r.run(k.add(&b2[0..1], &b2[0..1], &mut b3[44..45]))?;
        r.run(fill(&mut b2[0..1], &s4))?;
        r.run(k.add(&b2[0..1], &b2[0..1], &mut b3[44..45]))?;
        let mut y0 = r.output::<u32>(4)?;
        Ok(vec![y0])
    }).unwrap();
    g6.submit(&q1).and_then(|ticket| ticket.wait()).unwrap();
    let c7 = cache(&device, 1);
    assert_eq!(one(q1.read(&b3[1..27])).unwrap(), [vec![9, 0, 668793537, 0, 8, 7, 2358299455, 9, 8, 2, 7, 1, 4, 7, 7, 0, 4, 3868246277, 5, 2, 0, 6, 0, 1, 3358298391, 8]]);
    g6.launch(&q1).map(drop).unwrap();
    let mut g8 = device.graph().warmup(1).record(|r: &mut Recorder<'_>| {
        r.run(k.mix(&b3[34..35], &mut b2[0..1]))?;
        {
            let (gap00, rest00) = b3.split_at_mut(25);
            let (piece00, rest00) = rest00.split_at_mut(15);
            r.run(k.mix(&gap00[1..16], &mut piece00[..]))?;
        }
        {
            let (gap00, rest00) = b3.split_at_mut(35);
            let (piece00, rest00) = rest00.split_at_mut(3);
            r.run(copy(&gap00[11..14], &mut piece00[..]))?;
        }
        let mut t0 = r.alloc::<u32>(6)?;
        r.run(fill(&mut t0[0..6], &s4))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap();
    let mut n9 = Generator::new(&device, 2597430760948).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        r.run(k.scale(g6.outputs()[0][2..3].at(0), &mut b3[17..46]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    assert_eq!(lock(&c7).get_or_record(&0, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(1)?;
        r.run(fill(&mut y0[0..1], baked(1625854955)))?;
        r.run(k.put(baked(1), &mut y0[0..1]))?;
        Ok(vec![y0])
    }).and_then(|g| read(&q1, g.launch(&q1)?.wait()?)).unwrap(), [vec![1]]);
    g6.launch(&q1).map(drop).unwrap();
    let [] = outputs(q1.run(|r: &mut Recorder<'_>| {
        let mut t0 = r.alloc::<u32>(1)?;
        r.run(k.put(&s4, &mut t0[0..1]))?;
        r.run(k.mix(&g6.outputs()[0][1..4], &mut b3[41..44]))?;
        Ok(Vec::<Buffer<u32>>::new())
    }).unwrap());
    g8.launch(&q1).map(drop).unwrap();
    let mut h10 = device.host::<u32>(&[4223916828, 8, 8]).unwrap();
    assert_eq!(lock(&c7).run(&q1, &0, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(1)?;
        r.run(fill(&mut y0[0..1], baked(1625854955)))?;
        r.run(k.put(baked(1), &mut y0[0..1]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![1]]);
    g5.launch(&q1).map(drop).unwrap();
    assert_eq!(lock(&c7).run(&q1, &1, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(5)?;
        r.run(fill(&mut y0[0..5], &s4))?;
        r.run(fill(&mut y0[0..5], baked(9)))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![9, 9, 9, 9, 9]]);
    let mut w11 = n9.save(&q1).unwrap();
    assert_eq!(vec![w11.next_words(4)], [vec![1244225177, 1501472568, 1137240914, 652379443]]);
    g8.submit(&q1).and_then(block_on).unwrap();
    let c12 = cache(&device, 2);
    g5.launch(&q1).map(drop).unwrap();
    g6.launch(&q1).map(drop).unwrap();
    assert_eq!(one(q1.read(&b3[9..39])).unwrap(), [vec![2779931077, 34, 2358299479, 15, 8, 2, 7, 22, 28, 0, 0, 0, 0, 0, 0, 0, 27, 0, 2006380620, 0, 668793561, 21, 2779931077, 34, 2358299479, 15, 8, 2, 7, 22]]);
    assert!(panics(|| drop(device.graph().record(|r: &mut Recorder<'_>| {
        r.run(download(&g6.outputs()[0][0..3], &mut h10))?;
        r.run(k.first(baked(4), &mut b3[0..6]))?;
        if true { resume_unwind(Box::new("on purpose")) }
        Ok(Vec::<Buffer<u32>>::new())
    }))));
    assert_eq!(lock(&c7).run(&q1, &2, |r: &mut Recorder<'_>| {
        let mut y0 = r.output::<u32>(4)?;
        r.run(k.put(baked(4), &mut y0[0..4]))?;
        r.run(copy(&b3[37..38], &mut b2[0..1]))?;
        r.run(k.add(&b3[0..4], &b3[0..4], &mut y0[0..4]))?;
        r.run(k.mix(&y0[3..4], &mut b2[0..1]))?;
        Ok(vec![y0])
    }).and_then(|out| read(&q1, out)).unwrap(), [vec![0, 0, 0, 54]]);
    let mut h14 = device.host::<u32>(&[6, 840734644, 7, 0, 263218971, 5, 5, 4]).unwrap();
    let mut f15 = rows_of(&device, &k, &[1, 3], 1, Pad::Zero, &s4, true).unwrap();
    n9.restore(&q1, &w11).unwrap();
    g6.launch(&q1).map(drop).unwrap();
    let s16 = Slot::new(0u32);
    let last = device.stream().unwrap();
    assert_eq!(vec![last.read(&b2).unwrap()], [vec![6]]);
    assert_eq!(vec![last.read(&b3).unwrap()], [vec![0, 0, 0, 27, 0, 2006380620, 0, 668793561, 21, 2779931077, 34, 2358299479, 15, 8, 2, 7, 22, 28, 0, 0, 0, 0, 0, 0, 0, 27, 0, 2006380620, 0, 668793561, 21, 2779931077, 34, 2358299479, 15, 8, 2, 7, 22, 29, 0, 0, 0, 0, 12, 0]]);
    assert_eq!(vec![last.read(&g6.outputs()[0]).unwrap()], [vec![0, 0, 0, 0]]);
    assert_eq!(vec![n9.save(&last).map(|state| state.next_words(4)).unwrap()], [vec![1244225177, 1501472568, 1137240914, 652379443]]);
    assert_eq!(vec![h10.to_vec().unwrap()], [vec![4223916828, 8, 8]]);
    assert_eq!(vec![h14.to_vec().unwrap()], [vec![6, 840734644, 7, 0, 263218971, 5, 5, 4]]);
    device.synchronize().unwrap();
    drop(last);
    drop(g8);
    drop(h14);
    drop(f15);
    drop(q1);
    drop(s4);
    drop(g6);
    drop(h10);
    drop(b2);
    drop(g5);
    drop(w11);
    drop(s16);
    drop(c12);
    drop(n9);
    drop(device);
    drop(c7);
    drop(b3);
    drop(k);
    nothing_left(&machine, &token, false);
}

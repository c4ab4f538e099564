//! Mistakes with ops, modules, memory and shapes: all but two in safe code, as a user would make them.

use super::super::Error;
use crate::raw::{RawKernel, foreign};
use crate::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use crate::{Device, Op, Recorder, Slice, Software, Stream, baked, copy, fill, grid, upload};

const PTX: &str = include_str!("../../../tests/promises/kernels.ptx");

crate::kernels! {
    pub(super) unsafe struct Kernels(PTX) {
        fn window(offset: u32, n: u32 = y.len(), x: &[f32], y: &out [f32]) {
            requires: within(offset, y.len(), x.len());
            grid: linear(y.len(), 64);
        }
        fn put(value: u32, n: u32 = y.len(), y: &out [u32]) {
            grid: linear(y.len(), 32);
        }
        fn put_few(value: u32, n: u8 = y.len(), y: &mut [u32]) {
            grid: exact([1, 1, 1], [256, 1, 1]);
        }
        fn put_blocks(blocks: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: exact([1, blocks, 1], [32, 1, 1]);
        }
        fn store_at(index: u32, y: &mut [u32]) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

crate::kernels! {
    unsafe struct Misspelt(PTX) {
        #[allow(dead_code, reason = "it does not load")]
        fn windw(offset: u32, n: u32 = y.len(), x: &[f32], y: &out [f32]) {
            grid: linear(y.len(), 64);
        }
    }
}

crate::kernels! {
    unsafe struct NoGlobal(PTX) {
        #[allow(dead_code, reason = "it does not load")]
        fn count(out: &mut u32) {
            state: countr;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

crate::kernels! {
    unsafe struct Few(PTX) {
        #[allow(dead_code, reason = "it does not load")]
        fn put(value: u32, y: &mut [u32]) {
            grid: linear(y.len(), 32);
        }
    }
}

crate::kernels! {
    unsafe struct NotTrue(PTX) {
        #[allow(dead_code, reason = "it does not load")]
        fn put(value: u32, n: u32 = y.len(), y: &[u32]) {
            grid: linear(y.len(), 32);
        }
        #[allow(dead_code, reason = "it does not load")]
        fn bump(v: &u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// What went wrong, of something that must.
#[track_caller]
pub(super) fn refused<T>(outcome: crate::Result<T>) -> Error {
    outcome.err().expect("this is a mistake")
}

/// A device of one seed, so that texts with numbers in them are the same in every run.
pub(super) fn bench() -> (Device, Stream, Kernels) {
    let device = Software::new().seed(1).capacity(1 << 24).open().unwrap();
    let stream = device.stream().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    (device, stream, kernels)
}

/// A mistake, said in half a sentence, and what comes of it.
pub(super) type Mistake = (&'static str, fn() -> Error);

pub(super) const MISTAKES: &[Mistake] = &[
    ("a window that leaves its slice", || {
        let (device, _, k) = bench();
        let (x, mut y) = (device.zeros::<f32>(8).unwrap(), device.zeros::<f32>(4).unwrap());
        refused(device.record(k.window(baked(6), &x, &mut y)))
    }),
    ("a length that its parameter's type cannot hold", || {
        let (device, _, k) = bench();
        let mut y = device.zeros::<u32>(300).unwrap();
        refused(device.record(k.put_few(baked(1), &mut y)))
    }),
    ("a copy between different lengths", || {
        let (device, _, _) = bench();
        let (x, mut y) = (device.zeros::<f32>(2).unwrap(), device.zeros::<f32>(3).unwrap());
        refused(device.graph().label("step").record(copy(&x, &mut y)))
    }),
    ("an upload of a host buffer that is longer than its target", || {
        let (device, _, _) = bench();
        let (host, mut y) = (device.host(&[1.0f32; 4]).unwrap(), device.zeros::<f32>(3).unwrap());
        refused(device.record(upload(&host, &mut y)))
    }),
    ("more elements than the slice has, written at once", || {
        let (device, stream, _) = bench();
        let mut y = device.zeros::<f32>(3).unwrap();
        refused(stream.write(&mut y, &[0.0; 4]))
    }),
    ("a host buffer set to fewer elements than it has", || {
        let (device, _, _) = bench();
        refused(device.host(&[1u32; 4]).unwrap().set(&[1, 2, 3]))
    }),
    ("a graph launched with a shorter slice than it was recorded with", || {
        let (device, stream, _) = bench();
        let (x, mut y) = (device.zeros::<f32>(4).unwrap(), device.zeros::<f32>(4).unwrap());
        let into = device.graph().record_into(&x[..], &mut y[..], |r, x, y| r.run(copy(x, y)));
        refused(into.unwrap().launch(&stream, &x[..3], &mut y))
    }),
    ("foreign work that reads what it writes", || {
        let (device, _, _) = bench();
        let mut y = device.zeros::<u32>(8).unwrap();
        let seen = y.share();
        // SAFETY: it enqueues nothing.
        refused(device.record(unsafe { foreign(&seen[3..], &mut y[..4], |_, _, _| Ok(())) }))
    }),
    ("a temp that nobody has written", || {
        let (device, _, _) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            r.run(fill(&mut t[..2], baked(1)))?;
            r.run(copy(&t, &mut y))
        }))
    }),
    ("a temp that only a kernel with an empty grid would have written", || {
        let (device, _, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            r.run(k.put_blocks(baked(0), &mut t))?;
            r.run(copy(&t, &mut y))
        }))
    }),
    ("a temp in work of another thread", || {
        let (device, stream, _) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        in_another_thread(&device, |t| refused(stream.run(copy(t, &mut y))))
    }),
    ("a temp read at once", || {
        let (device, stream, _) = bench();
        in_another_thread(&device, |t| refused(stream.read(t)))
    }),
    ("a buffer of another device", || {
        let ((device, _, _), (other, _, _)) = (bench(), bench());
        let (x, mut y) = (device.zeros::<u32>(4).unwrap(), other.zeros::<u32>(4).unwrap());
        refused(device.record(copy(&x, &mut y)))
    }),
    ("a launch on a stream of another device", || {
        let ((device, _, k), (_, stream, _)) = (bench(), bench());
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.record(k.put(baked(1), &mut y)).unwrap().launch(&stream))
    }),
    ("a wait inside a recording", || {
        let (device, stream, _) = bench();
        refused(device.record(|_: &mut Recorder<'_>| stream.synchronize()))
    }),
    ("another geometry for a kernel that fixes its own", || {
        let (device, _, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.record(k.put(baked(1), &mut y).with_grid(grid::linear(4, 32))))
    }),
    ("a geometry for something that is no kernel", || {
        let (device, _, _) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.record(fill(&mut y, baked(1)).with_grid(grid::linear(4, 32))))
    }),
    ("more blocks than a launch may have", || {
        let (device, _, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.record(k.put_blocks(baked(70_000), &mut y)))
    }),
    ("a method whose name is misspelt", || refused(Misspelt::load(&bench().0))),
    ("a name that is like none of the module", || refused(RawKernel::load(&bench().0, PTX, "softmax_backward"))),
    ("a global whose name is misspelt", || refused(NoGlobal::load(&bench().0))),
    ("a parameter that was forgotten", || refused(Few::load(&bench().0))),
    ("declarations that say less than the kernels do", || refused(NotTrue::load(&bench().0))),
    ("a line that is no PTX", || {
        let text = ".version 8.4\n.target sm_80\n.address_size 64\nnonsense\n";
        refused(RawKernel::load(&bench().0, text, "f"))
    }),
    ("a tuning with a line that was changed by hand", || {
        let text =
            "dacapo tuning 1 for NVIDIA H200\nsignal scale 8x1x1 256x1x1 0 c0ffee > add 8x1x1 256x1x1 0 c0ffee\n";
        refused(text.parse::<crate::graph::Tuning>())
    }),
    ("more memory than there is", || refused(bench().0.zeros::<u8>(1 << 30))),
    ("more memory than the budget allows", || {
        let (device, _, _) = bench();
        device.set_memory_budget(Some(1 << 20));
        refused(device.zeros::<u8>(1 << 21))
    }),
    ("an arena that is too small", || {
        let (device, _, _) = bench();
        let (arena, mut out) = (device.arena(2000).unwrap(), device.zeros::<u32>(256).unwrap());
        refused(device.graph().arena(&arena).label("step").record(|r: &mut Recorder<'_>| {
            let (mut a, mut b) = (r.alloc::<u32>(256)?, r.alloc::<u32>(256)?);
            r.run(fill(&mut a, baked(1)))?;
            r.run(copy(&a, &mut b).label("second"))?;
            r.run(copy(&b, &mut out))
        }))
    }),
    ("a launch after a reset", || {
        let (device, stream, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
        graph.reset();
        refused(graph.launch(&stream))
    }),
    ("a warm-up that writes more than may be put back", || {
        let (device, _, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        refused(device.graph().warmup(1).warmup_cap(7).record(|r| r.run(k.put(baked(1), &mut y))))
    }),
    ("a graph for a sealed pool", || {
        let (device, _, k) = bench();
        let (pool, mut y) = (device.pool(), device.zeros::<u32>(4).unwrap());
        pool.seal();
        refused(device.graph().pool(&pool).record(k.put(baked(1), &mut y)))
    }),
    ("a pool that is cleared under its graph", || {
        let (device, _, k) = bench();
        let (pool, mut y) = (device.pool(), device.zeros::<u32>(4).unwrap());
        let _graph = device.graph().pool(&pool).record(k.put(baked(1), &mut y)).unwrap();
        refused(pool.clear())
    }),
    ("no buckets", || refused(Buckets::new([]))),
    ("more rows than the largest bucket has", || bucketed(5, 10)),
    ("a call with no rows", || bucketed(0, 0)),
    ("a slice that is no whole number of rows", || bucketed(2, 5)),
    ("a graph that alone is over its cache's cap", || {
        let (device, _, _) = bench();
        let mut cache = GraphCache::new(&device).max_bytes(100);
        let made = cache.get_or_record(&1u32, |r| {
            let (mut t, mut y) = (r.alloc::<u32>(64)?, r.output::<u32>(64)?);
            r.run(fill(&mut t, baked(1)))?;
            r.run(copy(&t, &mut y))
        });
        refused(made.map(drop))
    }),
    ("a key whose clone is another key", || {
        let (device, stream, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut cache = GraphCache::new(&device);
        refused(cache.run(&stream, &Shifty(1), |r| r.run(k.put(baked(1), &mut y))).map(drop))
    }),
    ("an error of the program's own, in words", || {
        refused(bench().0.record(|_: &mut Recorder<'_>| Err::<(), _>(Error::msg("no step without\na batch"))))
    }),
    ("an error of the program's own type, out of foreign work", || {
        let (device, _, _) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        // SAFETY: it enqueues nothing.
        let work = unsafe {
            foreign((), &mut y[..], |_, (), _| {
                let full = std::io::Error::other("the disk is full");
                Err(Error::msg("the tuning table cannot be written").with_source(full))
            })
        };
        refused(device.record(work))
    }),
];

/// Gives a temp of a recording to another thread, where nothing marks the recording.
fn in_another_thread(device: &Device, wrong: impl FnOnce(&Slice<u32>) -> Error + Send) -> Error {
    let mut error = None;
    device
        .record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            r.run(fill(&mut t, baked(2)))?;
            let lent: &Slice<u32> = &t;
            error = Some(std::thread::scope(|scope| scope.spawn(|| wrong(lent)).join().unwrap()));
            Ok(())
        })
        .unwrap();
    error.expect("it was refused")
}

/// A function of rows of two, called with `n` rows that are `len` elements.
fn bucketed(n: usize, len: usize) -> Error {
    let (device, stream, _) = bench();
    let buckets = Buckets::new([1, 2, 4]).unwrap();
    let same = Bucketed::new(&device, buckets, rows(2, Pad::Zero), |r, n, x: &Slice<f32>| {
        let mut y = r.output(n * 2)?;
        r.run(copy(x, &mut y))?;
        Ok(y)
    });
    let x = device.zeros::<f32>(len).unwrap();
    refused(same.unwrap().refuse_larger().call(&stream, n, &x).map(drop))
}

/// A key of which every clone is another.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shifty(u32);

impl Clone for Shifty {
    fn clone(&self) -> Shifty {
        Shifty(self.0 + 1)
    }
}

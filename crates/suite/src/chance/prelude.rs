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

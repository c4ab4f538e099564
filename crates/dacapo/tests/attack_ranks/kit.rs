//! Ranks on threads of their own with a limit of time, and what must be left of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join};
use dacapo::{Buffer, Device, Error, ErrorKind, Result, Software, Stream};
use dacapo_sim::Detectors;

/// How long anything may take that is not told to wait.
const WATCH: Duration = Duration::from_secs(60);

/// What a rank has.
pub struct Rank {
    pub comm: Communicator,
    pub device: Device,
    pub stream: Stream,
    pub rank: usize,
    pub size: usize,
}

impl Rank {
    pub fn buffer(&self, value: f32, len: usize) -> Buffer<f32> {
        self.device.buffer(&vec![value; len]).unwrap()
    }

    /// `0 + 1 + ..` over the ranks, plus `size` times a number.
    pub fn sum(&self, base: f32) -> f32 {
        (0..self.size).map(|rank| base + rank as f32).sum()
    }

    pub fn mine(&self, base: f32) -> f32 {
        base + self.rank as f32
    }
}

/// So many devices of one machine with every detector, whose ranks wait for each other so long.
pub fn group_with(seed: u64, count: usize, patience: Duration) -> Vec<Device> {
    let options = |options: &mut dacapo_sim::Options| {
        options.detectors = Detectors::all();
        options.peers = seed.is_multiple_of(2);
        options.rank_patience = patience;
    };
    Software::new().seed(seed).options(options).open_group(count).expect("devices")
}

pub fn group(seed: u64, count: usize) -> Vec<Device> {
    group_with(seed, count, WATCH / 2)
}

/// How a rank ended: what it said, or the text of its panic.
pub type Ended<T> = std::result::Result<T, String>;

/// Runs a body on every device, as rank of one communicator. Panics if one of them is not done in a minute.
#[track_caller]
pub fn ranks_of<T: Send + 'static>(
    devices: &[Device],
    join: &Join,
    body: impl Fn(Rank) -> T + Clone + Send + 'static,
) -> Vec<Ended<T>> {
    let (size, (tell, told)) = (devices.len(), mpsc::channel());
    for (rank, comm) in join.all(devices).expect("joined").into_iter().enumerate() {
        let (tell, body, device) = (tell.clone(), body.clone(), devices[rank].clone());
        thread::spawn(move || {
            let run = || {
                let stream = device.stream().unwrap();
                body(Rank { comm, device, stream, rank, size })
            };
            let ended = catch_unwind(AssertUnwindSafe(run)).map_err(|panic| said(&*panic));
            let _ = tell.send((rank, ended));
        });
    }
    drop(tell);
    let (until, mut all) = (Instant::now() + WATCH, (0..size).map(|_| None).collect::<Vec<_>>());
    for _ in 0..size {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((rank, how)) => all[rank] = Some(how),
            Err(_) => break,
        }
    }
    let hang: Vec<usize> = (0..size).filter(|rank| all[*rank].is_none()).collect();
    assert!(hang.is_empty(), "ranks {hang:?} have not ended");
    all.into_iter().flatten().collect()
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a text").to_string()
}

/// Two ranks, or more, of which every one must do what the body says; then nothing may be left and nothing found.
#[track_caller]
pub fn all_well(seed: u64, size: usize, body: impl Fn(Rank) -> Result<()> + Clone + Send + 'static) {
    let devices = group(seed, size);
    for (rank, ended) in ranks_of(&devices, &Join::new().timeout(WATCH), body).into_iter().enumerate() {
        ended
            .unwrap_or_else(|panic| panic!("seed {seed}, rank {rank}: {panic}"))
            .unwrap_or_else(|e| panic!("seed {seed}, rank {rank}: {e:?}"));
    }
    gone(&devices);
    nothing_found(&devices);
}

/// As above, where something is to go wrong: what each rank said. Nothing may be left, whatever it was.
#[track_caller]
pub fn ended<T: Send + 'static>(
    seed: u64,
    size: usize,
    timeout: Duration,
    body: impl Fn(Rank) -> Result<T> + Clone + Send + 'static,
) -> Vec<Result<T>> {
    let devices = group_with(seed, size, timeout);
    let all = ranks_of(&devices, &Join::new().timeout(timeout), body);
    let all = all.into_iter().map(|ended| ended.unwrap_or_else(|panic| panic!("seed {seed}: {panic}"))).collect();
    gone(&devices);
    all
}

pub fn nothing_found(devices: &[Device]) {
    let found = devices[0].findings();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

/// Nothing is left. A communicator leaves on a thread of its own, so a while is given.
#[track_caller]
pub fn gone(devices: &[Device]) {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let left: Vec<String> = devices.iter().filter_map(left).collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "{left:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn left(device: &Device) -> Option<String> {
    for _ in 0..2 {
        match device.synchronize() {
            // One that is lost lets go of nothing.
            Err(error) if matches!(error.kind(), ErrorKind::Lost { .. }) => return None,
            Err(error) => return Some(error.to_string()),
            Ok(()) => {}
        }
    }
    let left = device.counters();
    let lasting = [left.allocations, left.graphs, left.streams, left.waiting];
    lasting.iter().any(|left| *left > 0).then(|| format!("left on {device:?}: {left:?}"))
}

/// Runs a body on another thread, and panics if it is not done in a minute.
#[track_caller]
pub fn in_time(body: impl FnOnce() + Send + 'static) {
    let (other, begun) = (thread::spawn(body), Instant::now());
    while !other.is_finished() {
        assert!(begun.elapsed() < WATCH, "it hangs");
        thread::sleep(Duration::from_millis(2));
    }
    other.join().unwrap();
}

/// That the answer is this kind of error.
#[macro_export]
macro_rules! kind {
    ($answer:expr, $kind:pat) => {{
        let answer = $answer;
        match answer {
            Err(error) => assert!(matches!(error.kind(), $kind), "{error:?}"),
            Ok(_) => panic!("no error, and {} was expected", stringify!($kind)),
        }
    }};
}

pub fn is_failed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::RankFailed { .. })
}

pub const SHORT: Duration = Duration::from_millis(700);

/// Waits for a future as a task does.
pub fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        match std::pin::Pin::new(&mut future).poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

//! What a submit costs beside the driver's call, which here does nothing.
//!
//! `cargo bench -p dacapo-ledger` prints the figures; in `cargo test` each line runs once, briefly.
//! Expected for a clean launch: one uncontended lock, one exchange and one reference count, that is four atomic operations,
//! at 5 to 8 ns each on the machines we have seen.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use dacapo_ledger::{LaneKind, Ledger, MemoryId, Queues, Touch, Touching};

/// A device that does nothing.
struct Nothing;

impl Queues for Nothing {
    type Stream = ();
    type Event = ();
    type Error = Infallible;

    fn record(&self, (): &()) -> Result<(), Infallible> {
        Ok(())
    }

    fn wait(&self, (): &(), (): &()) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Times of one call of `work`, over batches: the median of the batches, and the bounds of the middle four
/// fifths, in ns. The slowest say how busy the machine was.
fn measure(name: &str, full: bool, mut work: impl FnMut()) {
    let (batches, size) = if full { (4_001, 500) } else { (3, 100) };
    let mut times: Vec<f64> = (0..batches)
        .map(|_| {
            let started = Instant::now();
            (0..size).for_each(|_| work());
            started.elapsed().as_secs_f64() * 1e9 / f64::from(size)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if !full {
        // Not optimised, and too few: it ran, and that is all.
        return println!("{name}: runs");
    }
    let (low, median, high) = (times[times.len() / 10], times[times.len() / 2], times[times.len() * 9 / 10]);
    println!("{name:<58} {median:8.1} ns  ({low:.1} to {high:.1}, {batches} x {size})");
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let ledger = Ledger::<Nothing>::new();
    let (a, b) = (ledger.add_lane((), LaneKind::User), ledger.add_lane((), LaneKind::User));
    let members: Vec<(MemoryId, Touching)> = (0..100).map(|_| (ledger.add_memory(), Touching::Write)).collect();
    let (mut small, mut large) = (ledger.add_set(&members[..1]), ledger.add_set(&members));
    let submit = |lane, touch: Touch<'_, Nothing>| {
        let done = ledger.submit(&Nothing, lane, touch, |()| Ok::<(), Infallible>(()));
        black_box(done.is_ok());
    };

    measure("clean launch, 1 buffer, one stream", full, || submit(&a, Touch::Set(&mut small)));
    measure("clean launch, 100 buffers, one stream", full, || submit(&a, Touch::Set(&mut large)));
    measure("touch of 1 buffer, one stream", full, || submit(&a, Touch::Memory(&members[..1])));
    measure("touch of 3 buffers, one stream", full, || submit(&a, Touch::Memory(&members[..3])));
    submit(&b, Touch::Memory(&[]));
    measure("clean launch, 100 buffers, two streams in use", full, || submit(&a, Touch::Set(&mut large)));
    let mut turn = false;
    measure("launch of 100 buffers, each on the other stream", full, || {
        turn = !turn;
        submit(if turn { &b } else { &a }, Touch::Set(&mut large));
    });
}

//! Requests of any number of rows, answered by a few graphs, each answer awaited by a task of its own.
//!
//! `cargo run -p dacapo --example serve_rows`; `examples/serve` is the whole of it.

use dacapo::shapes::{Bucketed, Buckets, Pad, rows};
use dacapo::{Device, Result, Slice, copy};

/// Three requests, all under way before the first answer is waited for.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;

    let mut model = Bucketed::new(&device, Buckets::powers_of_two(8)?, rows(2, Pad::Zero), |r, n, x: &Slice<f32>| {
        let mut y = r.output::<f32>(2 * n)?; // `n` rows: those of the bucket
        r.run(copy(x, &mut y))?;
        Ok(y)
    })?;
    model.prepare()?; // records all buckets, the largest first

    let mut x = device.zeros::<f32>(2 * 8)?;
    let mut answers = Vec::new();
    for n in [1, 3, 5] {
        stream.write(&mut x[..2 * n], &vec![n as f32; 2 * n])?;
        let y = model.call(&stream, n, &x[..2 * n])?;
        answers.push((n, stream.read_later(y)?)); // a future that borrows nothing
    }
    let tasks = answers.into_iter().map(|(n, answer)| std::thread::spawn(move || (n, answer.wait())));
    for task in tasks.collect::<Vec<_>>() {
        let (n, answer) = task.join().expect("the task");
        assert_eq!(answer?, vec![n as f32; 2 * n]);
    }
    Ok(())
}

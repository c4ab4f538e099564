//! `mazes`: random recordings of control flow, on the GPU and on the software device.
//!
//! A maze that does not end is named by a thread that watches: nothing else could tell, as its launch is waited for.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dacapo::Device;
use dacapo_driver::Nvidia;
use dacapo_suite::mazes;
use dacapo_suite::session::Session;

const MAZES: u64 = 5000;
/// Longer than any maze, under a debugger too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs them and writes mazes.txt.
pub fn run(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let (gpu, software) = (Device::cuda(0)?, Device::software()?);
    let at = Arc::new(AtomicU64::new(0));
    watch(at.clone());
    let (mut ops, mut differ) = (0, Vec::new());
    for seed in 0..MAZES {
        at.store(seed, Ordering::Relaxed);
        let (want, got) = (mazes::run(&software, seed)?, mazes::run(&gpu, seed)?);
        ops += got.ops;
        if want != got || got.eager != got.replayed {
            println!("maze {seed}: {want:?} on the software device, {got:?} here");
            differ.push(seed);
        }
    }
    at.store(MAZES, Ordering::Relaxed);
    let text = format!(
        "{}, driver {}, commit {}\nmazes: {MAZES} mazes, {ops} operations, {} not as on the software device\n",
        session.device_name()?,
        session.driver_release(),
        crate::COMMIT,
        differ.len()
    );
    print!("{text}");
    std::fs::write(folder.join("mazes.txt"), text)?;
    Ok(differ.is_empty())
}

/// Ends the process, with a word about it, when no maze was finished for a long time.
fn watch(at: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            match at.load(Ordering::Relaxed) {
                MAZES => return,
                now if now != last => (last, since) = (now, Instant::now()),
                now if since.elapsed() > PATIENCE => {
                    eprintln!("maze {now} does not end");
                    std::process::exit(1);
                }
                _ => {}
            }
        }
    });
}

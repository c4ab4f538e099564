//! `cargo xtask cache`: requests of Zipf-distributed sizes through caches that are too small for them.
//!
//! After each request caps and counters are checked, and every so often the result. The last line is
//!
//! ```text
//! cache: N requests of S sizes, C results compared, 0 wrong, 0 over a cap, all counters add up
//! ```
//!
//! `--full` is a hundred thousand requests, on a device with every detector on.

use std::time::Instant;

use dacapo_suite::traffic::{self, Traffic};

/// How many requests, and from which seed.
#[derive(clap::Args)]
pub struct Scale {
    /// 100,000 requests instead of 3,000
    #[arg(long)]
    full: bool,
    /// So many requests
    #[arg(long, conflicts_with = "full")]
    requests: Option<usize>,
    /// Decides the sizes and the software device's choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Sends the traffic.
///
/// # Errors
///
/// - What was wrong first; or what a detector found.
pub fn run(scale: &Scale) -> Result<(), String> {
    let requests = scale.requests.unwrap_or(if scale.full { 100_000 } else { 3_000 });
    let full = if requests >= 100_000 { "in full" } else { "scaled down: `--full` is 100,000" };
    println!("{requests} requests, seed {:#x} ({full})", scale.seed);
    let began = Instant::now();
    let summary = traffic::on_software(Traffic { requests, seed: scale.seed, sample: 17 })?;
    println!("{:.1} s\n{summary}", began.elapsed().as_secs_f64());
    Ok(())
}

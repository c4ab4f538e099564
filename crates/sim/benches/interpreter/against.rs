//! This build against another one: two processes that take turns, in one run.
//!
//! `--serve KERNEL` waits for lines with a number and launches the kernel that often, with the default detectors; it answers
//! with the nanoseconds of processor time that this took. `--against FILE` starts itself and FILE, the same benchmark
//! of another commit, as such servers (`cargo xtask faster COMMIT` builds one). Both are asked in turns, and which one
//! is first changes from pair to pair, so that whatever else the machine does strikes both alike.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::{How, KERNELS, Prepared, prepared};
use dacapo_sim::Detectors;

/// Pairs of blocks for each kernel.
const PAIRS: usize = 41;
/// Processor time of one block, about.
const BLOCK_NS: u64 = 25_000_000;

/// How many times as fast a kernel has to be.
fn goal(kernel: &str) -> f64 {
    if kernel.starts_with("philox") { 1.0 } else { 1.8 }
}

/// Nanoseconds that this thread has been running on a processor.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of a thread");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("its first number is nanoseconds")
}

/// Launches on demand until the other side closes its end.
pub(crate) fn serve(kernel: &str) {
    let kernel = KERNELS.iter().find(|known| **known == kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
    let how = How { word: "", detectors: Detectors::default(), cores: 1, full: true };
    let Prepared { mut bench, kernel, grid, block, params } = prepared(kernel, true, how);
    for line in std::io::stdin().lines() {
        let times: u64 = line.expect("text").trim().parse().expect("a number");
        let start = processor_ns();
        (0..times).for_each(|_| {
            bench.launch(kernel, grid, block, &params);
        });
        println!("{}", processor_ns() - start);
    }
}

struct Server {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn start(binary: &Path, kernel: &str) -> Server {
        let mut command = Command::new(binary);
        command.args(["--serve", kernel]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let (ask, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Server { child, ask, answers: BufReader::new(answers) }
    }

    /// Nanoseconds of processor time that `times` launches take.
    fn launch(&mut self, times: u64) -> u64 {
        writeln!(self.ask, "{times}").expect("the server listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the server answers");
        line.trim().parse().unwrap_or_else(|_| panic!("the server says {line:?}: is it this benchmark?"))
    }

    fn stop(mut self) {
        drop(self.ask);
        let _ = self.child.wait();
    }
}

/// Compares this build with the one in `other`, and says which kernels are as fast as they have to be.
pub(crate) fn against(other: &Path, wanted: &[String]) {
    let this = std::env::current_exe().expect("it runs");
    println!("processor time of the other build over that of this one: {PAIRS} pairs of blocks, in turns");
    println!("{:<20}{:>10}{:>10}{:>9}{:>9}{:>9}{:>7}", "kernel", "other ms", "this ms", "times", "p10", "p90", "goal");
    let mut slow = Vec::new();
    for kernel in KERNELS.into_iter().filter(|name| wanted.is_empty() || wanted.iter().any(|part| name.contains(part)))
    {
        let mut servers = [Server::start(other, kernel), Server::start(&this, kernel)];
        let times = servers.each_mut().map(|server| {
            // The first launch makes the memory that later ones have.
            server.launch(1);
            (BLOCK_NS / server.launch(2).max(2) * 2).max(1)
        });
        let mut pairs = Vec::new();
        for pair in 0..PAIRS {
            let mut ms = [0.0; 2];
            for which in [pair % 2, 1 - pair % 2] {
                ms[which] = servers[which].launch(times[which]) as f64 / times[which] as f64 / 1e6;
            }
            pairs.push(ms);
        }
        servers.into_iter().for_each(Server::stop);
        let sorted = |value: &dyn Fn(&[f64; 2]) -> f64| {
            let mut all: Vec<f64> = pairs.iter().map(value).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let at = |all: &[f64], share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
        let ratios = sorted(&|ms| ms[0] / ms[1]);
        let (times, goal) = (at(&ratios, 0.5), goal(kernel));
        println!(
            "{kernel:<20}{:>10.3}{:>10.3}{times:>9.2}{:>9.2}{:>9.2}{goal:>7.1}",
            at(&sorted(&|ms| ms[0]), 0.5),
            at(&sorted(&|ms| ms[1]), 0.5),
            at(&ratios, 0.1),
            at(&ratios, 0.9),
        );
        if times < goal {
            slow.push(kernel);
        }
    }
    if !slow.is_empty() {
        println!("interpreter: too slow: {}", slow.join(", "));
        std::process::exit(1);
    }
    println!("interpreter: as fast as it has to be");
}

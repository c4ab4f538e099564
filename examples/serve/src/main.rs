//! Serves a model from several threads, awaited, while its weights are swapped, and checks every answer.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use dacapo::{Device, Result};
use dacapo_example_serve::clients::{Load, Served, serve};
use dacapo_example_serve::server::{How, Server};

/// Serves a model of sixteen layers: requests of 1 to 64 rows from several threads, answered by graphs, each answer awaited
/// and checked, while the weights are swapped, within a budget of device memory. Then the same kernel by kernel.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Where to run
    #[arg(long, value_enum, default_value_t = Where::Best)]
    device: Where,
    /// Threads that ask
    #[arg(long, default_value_t = 4)]
    threads: usize,
    /// Requests of each thread; as many as the device has time for where no number is given
    #[arg(long)]
    requests: Option<usize>,
    /// Swap the weights each time so many requests were answered
    #[arg(long)]
    swap_every: Option<u64>,
    /// Device memory that the server may take, in MiB
    #[arg(long, default_value_t = 64)]
    budget: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Where {
    Best,
    Cuda,
    Software,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether every answer was right and everything was given back.
fn run(arguments: &Arguments) -> Result<bool> {
    let device = match arguments.device {
        Where::Best => Device::best()?,
        Where::Cuda => Device::cuda(0)?,
        Where::Software => Device::software()?,
    };
    if let Some(why) = device.why_software() {
        eprintln!("no GPU, running in software: {why}");
    }
    device.set_memory_budget(Some(arguments.budget << 20));
    let requests = arguments.requests.unwrap_or(if device.is_software() { 12 } else { 4000 });
    let swap_every = arguments.swap_every.unwrap_or((arguments.threads * requests / 8) as u64);
    let load = Load { threads: arguments.threads, requests, swap_every };
    println!("{}: {} threads, {requests} requests of 1 to 64 rows each", device.properties().name, load.threads);
    let mut right = true;
    for (name, how) in [("graphs", How::Graphs), ("eager", How::Eager)] {
        let server = Server::new(&device, load.threads, how)?;
        let served = serve(&server, load)?;
        println!("{}", line(name, &device, &served));
        println!("        device memory: {} of {} bytes of the budget", device.held().total(), arguments.budget << 20);
        drop(server);
        device.synchronize()?;
        let left = device.counters();
        println!("        after the end: {left}");
        right &= served.wrong == 0 && served.requests == (load.threads * requests) as u64;
        right &= left.allocations == 0 && left.graphs == 0 && left.streams == 0 && left.waiting == 0;
    }
    device.findings().iter().for_each(|finding| println!("{finding}"));
    right &= device.findings().is_empty();
    println!("{}", if right { "every answer right, everything given back" } else { "NOT right" });
    Ok(right)
}

fn line(name: &str, device: &Device, served: &Served) -> String {
    let Served { requests, rows, wrong, swaps, changed, .. } = served;
    let what =
        format!("{name:<7} {requests} answers, {rows} rows, {wrong} wrong; {swaps} swaps, {changed} graphs in place");
    if device.is_software() {
        // A simulator's time says nothing about a GPU's.
        return what;
    }
    let us = |of_hundred: usize| served.percentile(of_hundred).as_secs_f64() * 1e6;
    let rate = |count: u64| count as f64 / served.time.as_secs_f64();
    format!(
        "{what}\n        {:.0} requests/s, {:.0} rows/s; latency {:.1} us (median), {:.1} us (99 of 100)",
        rate(*requests),
        rate(*rows),
        us(50),
        us(99)
    )
}

//! The program `dacapo-bench`: everything that `dacapo bench` measures, and whole models.
//!
//! It takes the options of `dacapo bench` and writes the same reports. The models are those of `examples/`, which are
//! not published; that is why it is no part of the program `dacapo`.

mod buckets;
mod decode;
mod gpt2;
mod solve;
mod train;
mod until_end;
mod worth;

use std::process::ExitCode;

use clap::Parser;
use dacapo_cli::bench::compare::Bench;
use dacapo_cli::bench::limits::{Limit, Named};
use dacapo_cli::bench::report::Header;
use dacapo_cli::bench::{self, Family, Found};
use dacapo_cli::complaint::Complaint;
use dacapo_cli::output::Output;
use dacapo_cli::pipe;

/// What the library costs over driver calls by hand, measured; whole models too
#[derive(Parser, Debug)]
#[command(name = "dacapo-bench", version)]
struct Program {
    #[command(flatten)]
    bench: bench::Arguments,
    /// Print one JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// Steps of whole models. Those without a limit compare the library with itself, or are about bytes.
const MODELS: Family = Family { names: NAMES, measure };

const NAMES: &[Named] = &[
    ("train-gru/device", Some(Limit::Ratio(1.02))),
    ("train-gru/host-launch", Some(Limit::MicrosecondsOver(0.2))),
    ("train-mlp/device", Some(Limit::Ratio(1.02))),
    ("train-mlp/host-launch", Some(Limit::MicrosecondsOver(0.2))),
    ("decode/batch-1", None),
    ("decode/batch-8", None),
    ("gpt2/batch-1", Some(Limit::Ratio(1.02))),
    ("gpt2/batch-8", Some(Limit::Ratio(1.02))),
    ("gpt2/batch-32", Some(Limit::Ratio(1.02))),
    (solve::DEVICE, Some(Limit::Ratio(1.02))),
    (solve::HOST_LAUNCH, Some(Limit::MicrosecondsOver(0.2))),
    // By hand is a graph a round, with the residual read back after each.
    (solve::ROUND, Some(Limit::Ratio(0.75))),
    ("decode-until-end/batch-1", None),
    ("decode-until-end/batch-8", None),
    (buckets::NAME, None),
];

fn measure(bench: &Bench<'_>, header: &Header) -> Result<Found, Complaint> {
    let mut rows = Vec::new();
    for batch in decode::BATCHES {
        rows.extend(decode::measure(bench, batch)?);
    }
    for batch in until_end::BATCHES {
        rows.extend(until_end::measure(bench, batch)?);
    }
    rows.extend(gpt2::measure(bench)?);
    rows.extend(train::measure(bench)?);
    rows.extend(solve::measure(bench)?);
    let mut notes: Vec<_> = buckets::measure(bench)?.into_iter().collect();
    notes.extend(train::notes(bench, &rows)?);
    notes.extend(decode::notes(&rows, header));
    notes.extend(until_end::notes(&rows, header));
    notes.extend(gpt2::notes(&rows, header));
    Ok((rows, notes))
}

fn main() -> ExitCode {
    pipe::end_quietly_when_closed();
    let Program { bench, json } = Program::parse();
    let output = Output { json };
    bench::run(&bench, output, &[bench::LAUNCHES, MODELS, worth::WORTH, bench::MANY_STREAMS]).unwrap_or_else(
        |complaint| {
            output.complain(&complaint);
            ExitCode::FAILURE
        },
    )
}

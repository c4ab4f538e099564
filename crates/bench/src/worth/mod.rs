//! What each optimisation is worth: everything as it is against the same with one thing left out, in alternating blocks.
//!
//! - Of the library, by options of a recording: [`recording`].
//! - Of the kernels of the decode step for one sequence, by compiling them without it: [`kernels`]. These need NVRTC; without
//!   it they are not measured, and the report says so.
//!
//! Both sides must end with the same numbers: to the bit where only the order of work differs, and to a bound where kernels
//! add in another order.

pub mod kernels;
mod parts;
mod recording;

use std::cell::OnceCell;

use dacapo::half::bf16;
use dacapo_cli::bench::blocks::Contender;
use dacapo_cli::bench::compare::{Bench, LIBRARY, Round, Row};
use dacapo_cli::bench::limits::Named;
use dacapo_cli::bench::report::{Header, Note};
use dacapo_cli::bench::{Family, Found};
use dacapo_cli::complaint::Complaint;
use dacapo_example_decode::gpt2::Weights;
use serde_json::json;

use crate::gpt2;
use kernels::{Variant, Without};
use recording::Switch;

/// The side with one thing left out.
pub const WITHOUT: &str = "without";

/// What is left out, and in what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Recording(Switch),
    Kernels(Without),
}

/// Each with its name and in words.
const ROWS: [(&str, Subject, &str); 13] = [
    ("worth/graph", Subject::Recording(Switch::Graph), "a graph, and not op by op: decode step"),
    ("worth/edges", Subject::Recording(Switch::Edges), "programmatic edges: decode step"),
    ("worth/eager-edges", Subject::Recording(Switch::EagerEdges), "the same between kernels one by one: decode step"),
    ("worth/tuning", Subject::Recording(Switch::Tuning), "edges by `tune`, and not by default: decode step"),
    ("worth/where-it-pays", Subject::Recording(Switch::WhereItPays), "programmatic edges only where they pay: 1 to 16"),
    ("worth/overlap", Subject::Recording(Switch::Overlap), "independent ops at the same time: GRU training step"),
    ("worth/preload", Subject::Recording(Switch::Preload), "`preloaded`: the first launch of 100 kernels, on the host"),
    ("worth/slot", Subject::Recording(Switch::Slot), "a slot, and not `rerecord`: ten kernels, on the host"),
    ("worth/norm-in-product", Subject::Kernels(Without::NormInProduct), "norms and residuals in products: decode step"),
    (
        "worth/attention-in-product",
        Subject::Kernels(Without::AttentionInProduct),
        "attention in its product: decode step",
    ),
    ("worth/rows-in-flight", Subject::Kernels(Without::RowsInFlight), "six rows of weights in flight: decode step"),
    ("worth/past-l1", Subject::Kernels(Without::PastL1), "weights past L1: decode step"),
    ("worth/registers", Subject::Kernels(Without::Registers), "registers of one block at a time: decode step"),
];

/// All of them. None has a limit: the library is compared with itself.
pub const WORTH: Family = Family { names: &NAMES, measure };

const NAMES: [Named; ROWS.len()] = {
    let (mut names, mut at) = ([("", None); ROWS.len()], 0);
    while at < names.len() {
        (names[at].0, at) = (ROWS[at].0, at + 1);
    }
    names
};

/// Measures what was asked for: rows, and what follows from them.
fn measure(bench: &Bench<'_>, _: &Header) -> Result<Found, Complaint> {
    let (mut rows, mut left_out, mut weights) = (Vec::new(), Vec::new(), None);
    let shape = gpt2::shape(1, bench.small);
    for (name, subject, words) in ROWS.into_iter().filter(|(name, ..)| bench.wants(name)) {
        let weights: &Weights<Vec<bf16>> = weights.get_or_insert_with(|| Weights::new(&shape, 1));
        let row = match subject {
            Subject::Recording(switch) => {
                let tuning = OnceCell::new();
                bench.rounds(name, |round| recording::compare(bench, round, switch, (shape, weights), &tuning))?
            }
            Subject::Kernels(without) => match Variant::both(without)? {
                Some(texts) => bench.rounds(name, |round| kernels::compare(bench, round, &texts, (shape, weights)))?,
                None => {
                    left_out.push(words);
                    continue;
                }
            },
        };
        rows.push((words, row));
    }
    let notes = note(&rows, &left_out).into_iter().collect();
    Ok((rows.into_iter().map(|(_, row)| row).collect(), notes))
}

/// The table: with it, without it, and what is lost without it.
fn note(rows: &[(&str, Row)], left_out: &[&str]) -> Option<Note> {
    let (mut lines, mut found) = (Vec::new(), Vec::new());
    for (words, row) in rows {
        let (Some(with), Some(without)) = (row.side(LIBRARY), row.side(WITHOUT)) else { continue };
        let (with, without) = (with.median(), without.median());
        lines.push(format!("{words:<70} {with:>9.2}  without {without:>9.2}  {:>6.3} x", without / with));
        found.push(json!({ "name": row.name, "what": words, "with_us": with, "without_us": without }));
    }
    lines.extend(left_out.iter().map(|words| format!("{words:<70} NOT MEASURED: there is no NVRTC")));
    let name = "what each is worth: microseconds with it and without it, medians".into();
    (!lines.is_empty()).then(|| Note { name, lines, json: found.into() })
}

/// Measures both sides in alternating blocks.
fn sides(round: &Round<'_, '_>, launches: u32, with: Contender<'_>, without: Contender<'_>) -> Result<Row, Complaint> {
    round.compare(launches, vec![(LIBRARY, with), (WITHOUT, without)])
}

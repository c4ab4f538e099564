//! Whole texts of `examples/decode`: the loop around a step in one launch, against the same steps one after the other.
//!
//! - `dacapo` is one launch until every sequence has chosen its end token.
//! - `back-to-back` replays the step's graph as often as that took, without a look at anything: no loop can be faster.
//! - `read-back` replays it and reads after each step how many sequences go on, as a host does that has no loops in graphs.
//!
//! Microseconds are those of a step, a token of each sequence. All three work on the same memory, and every block must choose
//! the tokens of an eager run in as many steps.

use std::cell::RefCell;

use dacapo_example_decode::{Model, Sampling, Shape, Task, Until, Way, Weights, Writer, end_token};
use serde_json::json;

use dacapo_cli::bench::blocks::Contender;
use dacapo_cli::bench::compare::{Bench, LIBRARY, Round, Row};
use dacapo_cli::bench::report::{Header, Note};
use dacapo_cli::complaint::Complaint;

/// Sequences that are decoded together.
pub const BATCHES: [usize; 2] = [1, 8];

const BACK_TO_BACK: &str = "back-to-back";
const READ_BACK: &str = "read-back";

/// What a round of the loop may cost, in microseconds over a step that nobody looks at.
const OVER_MAX: f64 = 3.5;

fn name(batch: usize) -> String {
    format!("decode-until-end/batch-{batch}")
}

/// Measures it for so many sequences, if that was asked for.
///
/// # Errors
///
/// - A refused call, or a token that differs.
pub fn measure(bench: &Bench<'_>, batch: usize) -> Result<Vec<Row>, Complaint> {
    let name = name(batch);
    if !bench.wants(&name) {
        return Ok(Vec::new());
    }
    let shape = Shape { sequences: batch, ..if bench.small { Shape::TINY } else { Shape::SMALL } };
    let new_max = if bench.small { 6 } else { shape.context };
    let weights = Weights::new(&shape, 1);
    Ok(vec![bench.rounds(&name, |round| measure_one(round, &shape, &weights, new_max))?])
}

fn measure_one(
    round: &Round<'_, '_>,
    shape: &Shape,
    weights: &Weights<Vec<f32>>,
    new_max: usize,
) -> Result<Row, Complaint> {
    let device = &round.library.device;
    let model = Model::new(device, *shape, weights)?;
    let task = Task { rows: shape.sequences, new_max, end_token: u32::MAX, until: Until::All, seed: 1 };
    let mut writer = Writer::new(device, &model, Sampling::new(0.8, 40), task)?;
    // What is written without an end says which token makes a late one.
    let endless = writer.write(Way::Eager, 0)?.texts;
    writer.ending.token.set(end_token::late(&endless, shape.vocabulary));
    let expected = writer.write(Way::Eager, 0)?;
    let (writer, steps) = (RefCell::new(writer), expected.steps);
    let contender = |way: Way| -> Contender<'_> {
        let (writer, expected) = (&writer, &expected);
        Box::new(move || {
            let mut writer = writer.borrow_mut();
            let (took, seconds) = writer.run(way, steps)?;
            if took != steps || writer.texts()? != expected.texts {
                let what = format!("{}: other tokens than eagerly, or {took} steps in place of {steps}", way.name());
                return Err(
                    Complaint::new(what).help("this is a bug; `dacapo doctor` tells whether the driver works at all")
                );
            }
            Ok(seconds * 1e6 / steps as f64)
        })
    };
    let contenders = vec![
        (LIBRARY, contender(Way::OneLaunch)),
        (BACK_TO_BACK, contender(Way::BackToBack)),
        (READ_BACK, contender(Way::ReadBack)),
    ];
    round.compare(steps as u32, contenders)
}

/// What a round of the loop costs; nothing of the software device, whose times are no GPU's.
pub fn notes(rows: &[Row], header: &Header) -> Option<Note> {
    let of = |batch: usize| {
        let row = rows.iter().find(|row| row.name == name(batch))?;
        let median = |side: &str| row.side(side).map(|samples| samples.median());
        let (one_launch, back_to_back, read_back) = (median(LIBRARY)?, median(BACK_TO_BACK)?, median(READ_BACK)?);
        let (over, saved) = (one_launch - back_to_back, read_back - one_launch);
        let holds = over <= OVER_MAX && saved > 0.0;
        let line = format!(
            "{batch} at a time, {} steps: one launch {over:+.2} us a step over back-to-back, {saved:.2} under read-back; \
             goal: at most +{OVER_MAX}, and under: {}",
            row.launches,
            if holds { "reached" } else { "MISSED" }
        );
        let json = json!({
            "batch": batch, "steps": row.launches, "one_launch": one_launch, "back_to_back": back_to_back,
            "read_back": read_back, "over": over, "over_max": OVER_MAX, "reached": holds,
        });
        Some((line, json))
    };
    let (lines, found): (Vec<_>, Vec<_>) = BATCHES.into_iter().filter_map(of).unzip();
    if lines.is_empty() || header.is_software {
        return None;
    }
    Some(Note { name: "decode-until-end: what the device's loop costs".into(), lines, json: found.into() })
}

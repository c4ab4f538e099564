//! The decode step of `examples/decode`: launch by launch, and replayed. Both must choose the same tokens.
//!
//! A block is a batch from its beginning, as many steps as its context has or fewer: the steps in it are enqueued one after
//! the other and waited for at the end. Bringing the sequences back to their beginning is not counted.

use dacapo_example_decode::{Engine, How, Model, Sampling, Shape, Weights, steady};
use serde_json::json;

use dacapo_cli::bench::blocks::{Contender, together};
use dacapo_cli::bench::compare::{Bench, LIBRARY, Round, Row};
use dacapo_cli::bench::report::{Header, Note};
use dacapo_cli::complaint::Complaint;

/// Sequences that are decoded together.
pub const BATCHES: [usize; 2] = [1, 8];

/// The contender that launches operation by operation.
const EAGER: &str = "eager";

fn name(batch: usize) -> String {
    format!("decode/batch-{batch}")
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
    let steps = if bench.small { 3 } else { shape.context };
    let weights = Weights::new(&shape, 1);
    Ok(vec![bench.rounds(&name, |round| measure_one(round, &shape, &weights, steps))?])
}

fn measure_one(
    round: &Round<'_, '_>,
    shape: &Shape,
    weights: &Weights<Vec<f32>>,
    steps: usize,
) -> Result<Row, Complaint> {
    let (device, batch) = (&round.library.device, shape.sequences);
    let model = Model::new(device, *shape, weights)?;
    let engine = |how: &How| Engine::new(device, &model, how, Sampling::new(0.8, 40), 1);
    let (mut eager, mut replayed) = (engine(&How::Eager)?, engine(&How::replayed([batch])?)?);
    let eagerly: Contender<'_> = Box::new(|| block(&mut eager, batch, steps));
    let replaying: Contender<'_> = Box::new(|| block(&mut replayed, batch, steps));
    let row = round.compare(steps as u32, vec![(LIBRARY, replaying), (EAGER, eagerly)])?;
    for place in 0..batch {
        if replayed.state.tokens(&replayed.stream, place)? != eager.state.tokens(&eager.stream, place)? {
            return Err(Complaint::new(format!("sequence {place}: replayed steps chose other tokens than eager ones"))
                .help("this is a bug; `dacapo doctor` tells whether the driver works at all"));
        }
    }
    Ok(row)
}

/// A batch from its beginning: microseconds a step.
fn block(engine: &mut Engine<'_>, batch: usize, steps: usize) -> Result<f64, Complaint> {
    steady::begin(engine, batch, steps)?;
    let stream = engine.stream.clone();
    together(steps as u32, || Ok(engine.step(batch).map(drop)?), || Ok(stream.synchronize()?))
}

/// Tokens a second; none of the software device, whose times are no GPU's.
pub fn notes(rows: &[Row], header: &Header) -> Option<Note> {
    let of = |batch: usize| {
        let row = rows.iter().find(|row| row.name == name(batch))?;
        let (replayed, eager) = (row.side(LIBRARY)?.median(), row.side(EAGER)?.median());
        let a_second = |microseconds: f64| batch as f64 * 1e6 / microseconds;
        let line = format!(
            "{batch} at a time: {:.0} eager, {:.0} replayed, {:.2} times as many",
            a_second(eager),
            a_second(replayed),
            eager / replayed
        );
        let json = json!({ "batch": batch, "eager": a_second(eager), "replayed": a_second(replayed), "ratio": eager / replayed });
        Some((line, json))
    };
    let (lines, found): (Vec<_>, Vec<_>) = BATCHES.into_iter().filter_map(of).unzip();
    if lines.is_empty() || header.is_software {
        return None;
    }
    Some(Note { name: "decode: tokens a second".into(), lines, json: found.into() })
}

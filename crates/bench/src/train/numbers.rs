//! What the first steps of a training gave, for a program that compares it with another's.

use dacapo_example_train::{Shape, data};
use serde_json::json;

use super::{LibraryStep, MODELS, SEED, shape};
use dacapo_cli::bench::compare::{Bench, Row};
use dacapo_cli::bench::library::Library;
use dacapo_cli::bench::report::Note;
use dacapo_cli::complaint::Complaint;

/// Steps that are compared.
const STEPS: usize = 10;

/// Parameters that are told, from all over them.
const TOLD: usize = 1024;

/// The first steps of each network whose time on the device was measured.
///
/// # Errors
///
/// - The device refused.
pub fn notes(bench: &Bench<'_>, rows: &[Row]) -> Result<Vec<Note>, Complaint> {
    let measured = |name: &str| rows.iter().any(|row| row.name == format!("{name}/device"));
    let wanted = MODELS.into_iter().filter(|(name, _)| measured(name));
    wanted.map(|(name, model)| first_steps(&bench.library()?, name, shape(model, bench.small))).collect()
}

/// Trains the network for a few steps, by replays: every loss, and every so many parameters one, before and after.
fn first_steps(library: &Library, name: &str, shape: Shape) -> Result<Note, Complaint> {
    let mut recorded = LibraryStep::new(library, shape)?;
    let losses = (0..STEPS).map(|_| recorded.step(library)).collect::<Result<Vec<f32>, _>>()?;
    let told = |all: &[f32]| all.iter().step_by((shape.parameters() / TOLD).max(1)).copied().collect::<Vec<f32>>();
    let after = recorded.outcome(library)?;
    let Shape { hidden, batch, time, layers, .. } = shape;
    let (first, last) = (losses[0], losses[STEPS - 1]);
    Ok(Note {
        name: name.to_string(),
        lines: vec![format!("{name}: the loss falls from {first:.6} to {last:.6} in the first {STEPS} steps")],
        json: json!({
            "hidden": hidden,
            "batch": batch,
            "time": time,
            "layers": layers,
            "losses": losses,
            "parameters_first": told(&data::parameters(shape, SEED)),
            "parameters_last": told(&after[..shape.parameters()]),
        }),
    })
}

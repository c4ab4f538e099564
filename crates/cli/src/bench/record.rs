//! From nothing to an executable graph: recording, planning, lowering and instantiating, against capturing a stream and
//! instantiating by hand. Destroying is not counted on either side; every graph is launched once and its numbers checked.

use dacapo::Buffer;

use super::blocks::{Contender, each};
use super::chain::ELEMENTS;
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::library::{Edges, Library};
use super::raw;
use crate::complaint::Complaint;

/// The library without programmatic edges, which the driver takes longer to instantiate.
const FULL_EDGES: &str = "full edges";

/// Measures it for a chain of `length` kernels, if that was asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>, length: u32) -> Result<Vec<Row>, Complaint> {
    let name = format!("chain-{length}/record");
    if !bench.wants(&name) {
        return Ok(Vec::new());
    }
    let graphs = bench.launches(length, 2000, 10, 100);
    Ok(vec![bench.rounds(&name, |round| measure_one(round, length, graphs))?])
}

fn measure_one(round: &Round<'_, '_>, length: u32, graphs: u32) -> Result<Row, Complaint> {
    let (raw, library) = (round.raw, round.library);
    let stream = raw.stream()?;
    let x = raw.floats(&[0.0; ELEMENTS as usize])?;
    let calls = vec![raw.bump(&x, ELEMENTS); length as usize];
    let by_hand: Contender<'_> = Box::new(|| {
        let made = std::cell::Cell::new(None);
        each(
            graphs,
            || {
                made.set(Some(raw.captured(&calls, &stream)?));
                Ok(())
            },
            || {
                if let Some(graph) = made.take() {
                    graph.launch(&stream)?;
                    stream.synchronize()?;
                }
                Ok(())
            },
        )
    });
    let recordings = [(LIBRARY, Edges::Usual), (FULL_EDGES, Edges::Plain)];
    let mut buffers =
        recordings.iter().map(|_| library.device.zeros::<f32>(ELEMENTS as usize)).collect::<Result<Vec<_>, _>>()?;
    let mut sides = vec![(RAW, by_hand)];
    for ((name, edges), x) in recordings.into_iter().zip(&mut buffers) {
        sides.push((name, recorded(library, (x, edges), (length, graphs))));
    }
    let row = round.compare(graphs, sides)?;
    let bumps = (f64::from(round.launches_in_all(graphs)) * f64::from(length)) as f32;
    raw::all_equal("graphs captured by hand", &raw::read_floats(&x)?, bumps)?;
    buffers.iter().try_for_each(|x| library.all_equal("recorded graphs", x, bumps))?;
    Ok(row)
}

/// Graphs by the library, with some edges.
fn recorded<'x>(
    library: &'x Library,
    (x, edges): (&'x mut Buffer<f32>, Edges<'x>),
    (length, graphs): (u32, u32),
) -> Contender<'x> {
    Box::new(move || {
        let made = std::cell::Cell::new(None);
        each(
            graphs,
            || {
                made.set(Some(library.chain_with(x, length, edges)?));
                Ok(())
            },
            || {
                if let Some(mut graph) = made.take() {
                    graph.launch_sync(&library.stream)?;
                }
                // What was dropped is destroyed here, and not in the next recording.
                Ok(library.device.synchronize()?)
            },
        )
    })
}

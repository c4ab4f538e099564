//! The decode step of `examples/decode --gpt2`: the library's graph against one of the same kernels by hand.
//!
//! GPT-2-small's sizes in bf16, every sequence at position 99 of a context of 128 and held there, as PyTorch's program beside
//! it does (`anchors/torch_decode.py`). Time on the device is taken by events around replays back to back. Both sides must end
//! with the same logits, to the bit.
//!
//! The graph by hand has plain edges, each kernel behind the one before it.

mod by_hand;

use std::cell::OnceCell;

use dacapo::Graph;
use dacapo::graph::{GraphBuilder, Tuned};
use dacapo::half::bf16;
use dacapo_cli::bench::blocks::Contender;
use dacapo_cli::bench::compare::{Bench, LIBRARY, RAW, Round, Row};
use dacapo_cli::bench::edges::TUNED;
use dacapo_cli::bench::library::Library;
use dacapo_cli::bench::raw::Raw;
use dacapo_cli::bench::report::{Header, Note};
use dacapo_cli::complaint::Complaint;
use dacapo_example_decode::gpt2::{Advance, Model, Shape, State, Weights};
use serde_json::json;

use by_hand::ByHand;

/// The kernels in CUDA C.
pub const SOURCE: &str = include_str!("../../../../examples/decode/kernels/gpt2.cu");

/// Sequences that are decoded together, and the names of the measurements.
pub const BATCHES: [(usize, &str); 3] = [(1, "gpt2/batch-1"), (8, "gpt2/batch-8"), (32, "gpt2/batch-32")];

/// Bytes a second of an H200's memory, by its data sheet: what the limit is computed from.
const MEMORY: f64 = 4.8e12;

/// The token that every sequence chooses at GPT-2-small's sizes: plain Rust's choice, clear by a tenth of the largest logit, and
/// PyTorch's in every batch and way (`chosen` in results/decode-torch-h200.jsonl).
const CHOSEN: usize = 29_909;

/// The sizes: GPT-2-small's, or such as the software device does in no time.
pub fn shape(sequences: usize, small: bool) -> Shape {
    if small {
        // Nine are enough for the kernels of up to 32.
        let sequences = sequences.min(9);
        return Shape { layers: 1, dim: 64, hidden: 32, vocabulary: 40, context: 8, sequences };
    }
    Shape { sequences, ..Shape::SMALL }
}

/// Where every sequence stands.
pub fn position(shape: &Shape) -> usize {
    shape.context.min(100) - 1
}

/// Measures what was asked for.
///
/// # Errors
///
/// - A refused call, or a logit that differs.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    let (mut rows, launches) = (Vec::new(), bench.launches(1, 40, 20, 40));
    let wanted = BATCHES.into_iter().filter(|(_, name)| bench.wants(name));
    let mut weights = None;
    for (batch, name) in wanted {
        let shape = shape(batch, bench.small);
        // The same for every batch; making them takes a second.
        let weights = weights.get_or_insert_with(|| Weights::new(&shape, 1));
        let tuned = OnceCell::new();
        rows.push(bench.rounds(name, |round| compare(round, shape, weights, launches, &tuned))?);
        if let Some(tuned) = tuned.into_inner() {
            bench.progress.suspend(|| eprintln!("{name}: tune: {tuned}"));
        }
    }
    Ok(rows)
}

/// `tuned` is found out in the first round, and used in the others.
fn compare(
    round: &Round<'_, '_>,
    shape: Shape,
    weights: &Weights<Vec<bf16>>,
    launches: u32,
    tuned: &OnceCell<Tuned>,
) -> Result<Row, Complaint> {
    let multiprocessors = round.library.device.properties().multiprocessors;
    let raw = ByHand::new(round.raw, shape, weights, multiprocessors)?;
    let again = ByHand::new(round.raw_again, shape, weights, multiprocessors)?;
    let mut recorded = LibraryStep::new(round.library, shape, weights)?;
    recorded.has_edges(raw.edges())?;
    let mut tuned = recorded.tuned(round.library, tuned)?;
    let by_hand: Contender<'_> = Box::new(|| raw.block(round.raw, launches));
    let by_hand_again: Contender<'_> = Box::new(|| again.block(round.raw_again, launches));
    let replayed: Contender<'_> = Box::new(|| block(&mut recorded.graph, round.library, round.raw, launches));
    let by_tuned: Contender<'_> = Box::new(|| block(&mut tuned, round.library, round.raw, launches));
    let sides = vec![(RAW, by_hand), (LIBRARY, replayed), (TUNED, by_tuned), ("raw again", by_hand_again)];
    let row = round.compare(launches, sides)?;
    let (want, got) = (raw.logits()?, recorded.logits(round.library)?);
    for (whose, got) in [("replays", &got), ("the second graph by hand", &again.logits()?)] {
        if let Some(at) = want.iter().zip(got).position(|(want, got)| want.to_bits() != got.to_bits()) {
            let (want, got) = (want[at], got[at]);
            return Err(Complaint::new(format!("{whose}: logit {at} is {got}, the graph by hand has {want}"))
                .help("this is a bug; `dacapo doctor` tells whether the driver works at all"));
        }
    }
    if shape.layers == Shape::SMALL.layers {
        chose_as_pytorch(&want, shape.vocabulary)?;
    }
    Ok(row)
}

/// Refuses logits of which another token is the likeliest.
fn chose_as_pytorch(logits: &[f32], vocabulary: usize) -> Result<(), Complaint> {
    for (sequence, logits) in logits.chunks(vocabulary).enumerate() {
        let chosen = (0..vocabulary).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        if chosen != Some(CHOSEN) {
            return Err(Complaint::new(format!("sequence {sequence} chose {chosen:?}, PyTorch chose {CHOSEN}")));
        }
    }
    Ok(())
}

/// The library's side.
pub struct LibraryStep {
    /// The transformer.
    pub model: Model,
    /// Its sequences.
    pub state: State,
    /// A step of theirs that stays where it is.
    pub graph: Graph<()>,
}

impl LibraryStep {
    fn new(library: &Library, shape: Shape, weights: &Weights<Vec<bf16>>) -> Result<LibraryStep, Complaint> {
        LibraryStep::recorded(library, shape, weights, library.device.graph())
    }

    /// Records the step, with some options.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn recorded(
        library: &Library,
        shape: Shape,
        weights: &Weights<Vec<bf16>>,
        recording: GraphBuilder<'_>,
    ) -> Result<LibraryStep, Complaint> {
        let (device, stream) = (&library.device, &library.stream);
        let model = Model::new(device, shape, weights)?;
        let mut state = State::new(device, stream, &model, &vec![&[0][..]; shape.sequences])?;
        state.stand_at(stream, &model, position(&shape))?;
        let mut graph = recording.record(model.step(&mut state, Advance::Stay))?;
        graph.preload(stream)?;
        library.wait()?;
        Ok(LibraryStep { model, state, graph })
    }

    /// What the last step thought of every token.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn logits(&self, library: &Library) -> Result<Vec<f32>, Complaint> {
        Ok(self.state.logits(&library.stream)?.concat())
    }

    /// Refuses when the graph has other edges than these: then the two sides would not be compared at the same work.
    fn has_edges(&self, by_hand: Vec<(usize, usize)>) -> Result<(), Complaint> {
        let mut edges = self.graph.dependencies();
        edges.sort_unstable();
        match edges == by_hand {
            true => Ok(()),
            false => Err(Complaint::new(format!("by hand the edges are {by_hand:?}, the library's are {edges:?}"))),
        }
    }

    /// The same step on the same memory, with the edges that `tune` has chosen, or chooses now.
    fn tuned(&mut self, library: &Library, tuned: &OnceCell<Tuned>) -> Result<Graph<()>, Complaint> {
        let (device, stream) = (&library.device, &library.stream);
        let recording = match tuned.get() {
            Some(known) => device.graph().tuned(&known.tuning),
            None => device.graph(),
        };
        let mut graph = recording.record(self.model.step(&mut self.state, Advance::Stay))?;
        if tuned.get().is_none() {
            let _ = tuned.set(graph.tune(stream)?);
        }
        graph.preload(stream)?;
        library.wait()?;
        Ok(graph)
    }
}

/// Replays back to back: microseconds of one, by the device's clock.
///
/// # Errors
///
/// - The device refused.
pub fn block(graph: &mut Graph<()>, library: &Library, raw: &Raw<'_>, launches: u32) -> Result<f64, Complaint> {
    let (start, end) = (raw.event(true)?, raw.event(true)?);
    raw.record_on(&start, &library.stream)?;
    for _ in 0..launches {
        graph.launch(&library.stream)?;
    }
    raw.record_on(&end, &library.stream)?;
    library.wait()?;
    Ok(end.microseconds_since(&start)? / f64::from(launches))
}

/// Microseconds, tokens a second, and how much of the memory's speed it is; none of the software device.
pub fn notes(rows: &[Row], header: &Header) -> Option<Note> {
    let of = |(batch, name): (usize, &str)| {
        let (raw, library) = rows.iter().find(|row| row.name == name)?.medians()?;
        let shape = shape(batch, false);
        let bytes = shape.bytes_read(position(&shape));
        let limit = bytes as f64 / MEMORY * 1e6;
        let line = format!(
            "{batch:>2} at a time: {library:.1} us a step, by hand {raw:.1}; {:.0} tokens a second; {:.1} MB take {limit:.1} us at \
             4.8 TB/s, so {:.0}% of that speed",
            batch as f64 * 1e6 / library,
            bytes as f64 / 1e6,
            100.0 * limit / library
        );
        let json = json!({ "batch": batch, "bytes": bytes, "limit_us": limit, "dacapo_us": library, "raw_us": raw });
        Some((line, json))
    };
    let (lines, found): (Vec<_>, Vec<_>) = BATCHES.into_iter().filter_map(of).unzip();
    if lines.is_empty() || header.is_software {
        return None;
    }
    Some(Note { name: "gpt2: a decode step in bf16".into(), lines, json: found.into() })
}

#[cfg(test)]
mod tests {
    use dacapo::Software;
    use dacapo_driver::Driver;

    use super::*;

    #[test]
    fn pytorch_chose_that_token_every_time() {
        let text = include_str!("../../../../results/decode-torch-h200.jsonl");
        let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let steps: Vec<_> = lines.filter(|line| line["figure"] == "torch_decode_step").collect();
        assert!(steps.len() >= 9);
        for step in steps {
            assert!(step["chosen"].as_array().unwrap().iter().all(|token| *token == CHOSEN), "{step}");
        }
        let mut logits = vec![0.0; 2 * Shape::SMALL.vocabulary];
        logits[CHOSEN] = 1.0;
        assert!(chose_as_pytorch(&logits[..Shape::SMALL.vocabulary], Shape::SMALL.vocabulary).is_ok());
        assert!(chose_as_pytorch(&logits, Shape::SMALL.vocabulary).is_err());
    }

    /// The graph by hand is not made from the library's plan; that they have the same kernels in the same order with the
    /// same edges is what makes the comparison fair.
    #[test]
    fn the_graph_by_hand_has_the_librarys_edges() {
        for (batch, name) in BATCHES {
            let shape = shape(batch, true);
            let weights = Weights::new(&shape, 1);
            let device = Software::new().open().unwrap();
            let library = Library::open(&device).unwrap();
            let recorded = LibraryStep::new(&library, shape, &weights).unwrap();
            let machine = device.machine().unwrap().clone();
            // SAFETY: nothing is launched through it.
            let raw = unsafe { Raw::open(&machine as &dyn Driver) }.unwrap();
            let by_hand = ByHand::new(&raw, shape, &weights, 132).unwrap().edges();
            assert_eq!(recorded.has_edges(by_hand.clone()), Ok(()), "{name}");
            assert!(recorded.has_edges(by_hand[1..].to_vec()).is_err());
        }
    }
}

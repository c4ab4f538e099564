//! Whole training steps of `examples/train`: the library's graph against one of the same kernels by hand.
//!
//! Sizes are those of PyTorch's program beside it (`anchors/torch_train.py`), and so are first parameters and data. Time on
//! the device is taken by events around replays back to back. Both sides do as many steps on the same batch, so that their
//! parameters must be the same to the last bit.

mod by_hand;
mod gru;
mod mlp;
mod numbers;

use std::cell::OnceCell;

use dacapo::graph::{GraphBuilder, Tuned};
use dacapo::{Graph, Scalar, Slot};
use dacapo_example_train::{Adam, Kernels, Model, Network, Shape, data};

use by_hand::ByHand;
use dacapo_cli::bench::blocks::{Contender, each};
use dacapo_cli::bench::compare::{Bench, LIBRARY, RAW, Round, Row};
use dacapo_cli::bench::edges::TUNED;
use dacapo_cli::bench::library::Library;
use dacapo_cli::bench::raw::Raw;
use dacapo_cli::complaint::Complaint;
pub use numbers::notes;

/// The seed of the data that is measured with.
pub const SEED: u32 = 1;

/// The networks, as they are called in the names of measurements.
pub const MODELS: [(&str, Model); 2] = [("train-gru", Model::Gru), ("train-mlp", Model::Mlp)];

/// The sizes: PyTorch's, or such as the software device does in no time.
pub fn shape(model: Model, small: bool) -> Shape {
    match small {
        true => Shape { model, hidden: 16, batch: 4, time: 3, layers: 3 },
        false => Shape { model, hidden: 256, batch: 32, time: 16, layers: 4 },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Replays back to back, by the device's clock.
    Device,
    /// The call alone, on an idle device.
    HostLaunch,
}

/// Measures what was asked for of both networks.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    let mut rows = Vec::new();
    for (name, model) in MODELS {
        for (way, what) in [(Way::Device, "device"), (Way::HostLaunch, "host-launch")] {
            let name = format!("{name}/{what}");
            if bench.wants(&name) {
                let launches = bench.launches(1, 40, 20, 40);
                let (shape, tuned) = (shape(model, bench.small), OnceCell::new());
                rows.push(bench.rounds(&name, |round| compare(round, shape, way, launches, &tuned))?);
            }
        }
    }
    Ok(rows)
}

/// `tuned` is found out in the first round, and used in the others.
fn compare(
    round: &Round<'_, '_>,
    shape: Shape,
    way: Way,
    launches: u32,
    tuning: &OnceCell<Tuned>,
) -> Result<Row, Complaint> {
    let (raw, again) = (ByHand::new(round.raw, shape)?, ByHand::new(round.raw_again, shape)?);
    let mut recorded = LibraryStep::new(round.library, shape)?;
    let mut tuned = LibraryStep::tuned(round.library, shape, tuning)?;
    recorded.has_edges(raw.edges())?;
    let by_hand: Contender<'_> = Box::new(|| raw.block(round.raw, way, launches));
    let by_hand_again: Contender<'_> = Box::new(|| again.block(round.raw_again, way, launches));
    let replayed: Contender<'_> = Box::new(|| recorded.block(round.library, round.raw, way, launches));
    let tuned_block: Contender<'_> = Box::new(|| tuned.block(round.library, round.raw, way, launches));
    let sides = vec![(RAW, by_hand), (LIBRARY, replayed), (TUNED, tuned_block), ("raw again", by_hand_again)];
    let row = round.compare(launches, sides)?;
    let (want, got) = (raw.outcome()?, recorded.outcome(round.library)?);
    let got_tuned = tuned.outcome(round.library)?;
    for (whose, got) in
        [("replays", &got), ("tuned replays", &got_tuned), ("the second graph by hand", &again.outcome()?)]
    {
        if let Some(at) = want.iter().zip(got).position(|(want, got)| want.to_bits() != got.to_bits()) {
            let (want, got) = (want[at], got[at]);
            return Err(Complaint::new(format!("{whose}: number {at} is {got}, the graph by hand has {want}"))
                .help("this is a bug; `dacapo doctor` tells whether the driver works at all"));
        }
    }
    Ok(row)
}

/// The library's side.
pub struct LibraryStep {
    network: Network,
    graph: Graph<Scalar<f32>>,
}

impl LibraryStep {
    /// Records the step of a network with the measured data in it.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn new(library: &Library, shape: Shape) -> Result<LibraryStep, Complaint> {
        LibraryStep::recorded(library, shape, library.device.graph())
    }

    /// The same with other options.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn recorded(library: &Library, shape: Shape, recording: GraphBuilder<'_>) -> Result<LibraryStep, Complaint> {
        let (device, stream) = (&library.device, &library.stream);
        let (kernels, adam) = (Kernels::load(device)?, Adam::default());
        let mut network = Network::new(device, shape, adam, &data::parameters(shape, SEED))?;
        network.feed(stream, &data::noise(shape, SEED))?;
        let graph = recording.record(network.step(&kernels, &Slot::new(adam.rate)))?;
        stream.synchronize()?;
        Ok(LibraryStep { network, graph })
    }

    /// The same with the edges that `tune` has chosen, or chooses now.
    fn tuned(library: &Library, shape: Shape, tuning: &OnceCell<Tuned>) -> Result<LibraryStep, Complaint> {
        let Some(known) = tuning.get() else {
            let mut step = LibraryStep::new(library, shape)?;
            let _ = tuning.set(step.graph.tune(&library.stream)?);
            return Ok(step);
        };
        LibraryStep::recorded(library, shape, library.device.graph().tuned(&known.tuning))
    }

    /// Refuses when the graph has other edges than these: then the two sides would not be compared at the same work.
    fn has_edges(&self, mut by_hand: Vec<(usize, usize)>) -> Result<(), Complaint> {
        let mut edges = self.graph.dependencies();
        edges.sort_unstable();
        by_hand.sort_unstable();
        match edges == by_hand {
            true => Ok(()),
            false => Err(Complaint::new(format!("by hand the edges are {by_hand:?}, the library's are {edges:?}"))),
        }
    }

    /// One step, waited for: its loss.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn step(&mut self, library: &Library) -> Result<f32, Complaint> {
        Ok(self.graph.launch_sync(&library.stream)?.get(&library.stream)?)
    }

    /// All parameters and, behind them, the last loss.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn outcome(&self, library: &Library) -> Result<Vec<f32>, Complaint> {
        let mut numbers = self.network.parameters(&library.stream)?;
        numbers.push(self.graph.outputs().get(&library.stream)?);
        Ok(numbers)
    }

    /// Replays back to back: microseconds of one, by the device's clock.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn device_block(&mut self, library: &Library, raw: &Raw<'_>, launches: u32) -> Result<f64, Complaint> {
        self.block(library, raw, Way::Device, launches)
    }

    fn block(&mut self, library: &Library, raw: &Raw<'_>, way: Way, launches: u32) -> Result<f64, Complaint> {
        let graph = &mut self.graph;
        let mut launch = || {
            drop(graph.launch(&library.stream)?);
            Ok(())
        };
        if way == Way::HostLaunch {
            return each(launches, launch, || library.wait());
        }
        let (start, end) = (raw.event(true)?, raw.event(true)?);
        raw.record_on(&start, &library.stream)?;
        (0..launches).try_for_each(|_| launch())?;
        raw.record_on(&end, &library.stream)?;
        library.wait()?;
        Ok(end.microseconds_since(&start)? / f64::from(launches))
    }
}

#[cfg(test)]
mod tests {
    use dacapo::Software;
    use dacapo_driver::Driver;

    use super::*;

    /// PyTorch's side trains the same networks: `torch_train.py --check` read these off its models.
    #[test]
    fn pytorch_trains_networks_of_the_same_sizes() {
        let text = include_str!("../../anchors/torch-train.jsonl");
        let work: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(work.len(), MODELS.len());
        for ((name, model), work) in MODELS.into_iter().zip(&work) {
            let shape = shape(model, false);
            assert_eq!(work["name"], name);
            for (field, ours) in [
                ("hidden", shape.hidden),
                ("batch", shape.batch),
                ("time", shape.time),
                ("layers", shape.layers),
                ("parameters", shape.parameters()),
            ] {
                assert_eq!(work[field], ours, "{name}: {field}");
            }
            assert_eq!((&work["dtype"], &work["optimiser"]), (&"float32".into(), &"adam".into()));
            assert_eq!(work["rate"].as_f64().unwrap() as f32, Adam::default().rate);
        }
    }

    /// The graph by hand is not made from the library's plan; that they have the same kernels in the same order with the
    /// same edges is what makes the comparison fair.
    #[test]
    fn the_graph_by_hand_has_the_librarys_edges() {
        for (name, model) in MODELS {
            for time in [1, 2, 16] {
                let shape = Shape { time, ..shape(model, true) };
                let device = Software::new().open().unwrap();
                let library = Library::open(&device).unwrap();
                let recorded = LibraryStep::new(&library, shape).unwrap();
                let machine = device.machine().unwrap().clone();
                // SAFETY: nothing is launched through it.
                let raw = unsafe { Raw::open(&machine as &dyn Driver) }.unwrap();
                let by_hand = ByHand::new(&raw, shape).unwrap().edges();
                assert_eq!(recorded.has_edges(by_hand.clone()), Ok(()), "{name} {time}");
                assert!(recorded.has_edges(by_hand[1..].to_vec()).is_err());
            }
        }
    }
}

//! Decodes batches: eagerly, launch by launch, or with a graph for each size of a batch.
//!
//! - A batch is rounded up to a bucket; what is left of the rows is padding, which no kernel mixes with real rows.
//! - The graphs of all buckets are in one pool. The largest is recorded first.
//! - Eager steps take the batch as it is, without padding: the tokens must be the same.

use std::collections::BTreeMap;

use dacapo::{Device, Graph, Pool, Result, Stream};

use crate::model::{Model, Sampling, State};
use crate::shape::Shape;

/// How steps reach the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Every step as launches of its own.
    Eager,
    /// Replays of a graph for each of these batch sizes.
    Replayed(Vec<usize>),
}

/// A model with the state of its sequences, and a way to step it.
pub struct Engine<'m> {
    model: &'m Model,
    /// The sequences.
    pub state: State,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Where everything runs.
    pub stream: Stream,
    graphs: Option<Graphs>,
}

struct Graphs {
    pool: Pool,
    of: BTreeMap<usize, Graph<()>>,
}

impl<'m> Engine<'m> {
    /// An engine without sequences. Its graphs are recorded now.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(device: &Device, model: &'m Model, how: &How, sampling: Sampling, seed: u64) -> Result<Engine<'m>> {
        let mut state = State::new(device, model.shape(), seed)?;
        let stream = device.stream()?;
        let graphs = match how {
            How::Eager => None,
            How::Replayed(buckets) => {
                let (pool, mut of) = (device.pool(), BTreeMap::new());
                let mut sizes = buckets.clone();
                sizes.sort_unstable_by(|a, b| b.cmp(a));
                for size in sizes {
                    let recording = device.recording().label(format!("decode {size}")).pool(&pool).uploaded();
                    of.insert(size, recording.record(model.step(&mut state, &sampling, size))?);
                }
                Some(Graphs { pool, of })
            }
        };
        Ok(Engine { model, state, sampling, stream, graphs })
    }

    /// One token for each of the first `rows` rows. Says how many rows ran.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn step(&mut self, rows: usize) -> Result<usize> {
        let Engine { model, state, sampling, stream, graphs } = self;
        match graphs {
            None => {
                stream.run(model.step(state, sampling, rows))?;
                Ok(rows)
            }
            Some(graphs) => {
                let Some((&bucket, graph)) = graphs.of.range_mut(rows..).next() else {
                    return Err(dacapo::Error::msg(format!("no bucket has room for {rows} rows")));
                };
                drop(graph.launch(stream)?);
                Ok(bucket)
            }
        }
    }

    /// The sizes of its model.
    pub fn shape(&self) -> &Shape {
        self.model.shape()
    }

    /// How many sequences it has room for.
    pub fn places(&self) -> usize {
        self.shape().sequences
    }

    /// The graphs: their batch sizes, with how many operations each has.
    pub fn graphs(&self) -> Vec<(usize, usize)> {
        self.graphs.iter().flat_map(|graphs| graphs.of.iter().map(|(size, graph)| (*size, graph.len()))).collect()
    }

    /// The pool that the graphs share.
    pub fn pool(&self) -> Option<&Pool> {
        self.graphs.as_ref().map(|graphs| &graphs.pool)
    }
}

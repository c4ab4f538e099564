//! Decodes batches: eagerly, launch by launch, or with a graph for each size of a batch.
//!
//! - A batch is rounded up to one of the [`Buckets`]; what is left of the rows is padding ([`NOBODY`](crate::NOBODY)), which no
//!   kernel mixes with real rows.
//! - The graphs are in a [`GraphCache`]: they share a pool and so its memory, the largest is recorded first, and where there
//!   may not be as many graphs as buckets, the one that was used longest ago goes.
//! - Eager steps take the batch as it is, without padding: the tokens must be the same.
//!
//! A `Bucketed` would copy its inputs for every call; here the inputs are the state of the device, which a step itself moves
//! on, so a step in the steady state is one launch.

use dacapo::profile::Profile;
use dacapo::shapes::{Buckets, CacheCounters, GraphCache};
use dacapo::{Device, Recorder, Result, Stream};

use crate::model::{Model, Sampling, State};
use crate::shape::Shape;

/// How steps reach the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Every step as launches of its own.
    Eager,
    /// Replays of graphs.
    Replayed {
        /// The batch sizes that they are for.
        buckets: Buckets,
        /// How many there may be at a time.
        graphs_max: usize,
    },
}

impl How {
    /// Replays, with a graph for each of these batch sizes.
    ///
    /// # Errors
    ///
    /// - There is none, or one is 0.
    pub fn replayed(buckets: impl IntoIterator<Item = usize>) -> Result<How> {
        let buckets = Buckets::new(buckets)?;
        Ok(How::Replayed { graphs_max: buckets.len(), buckets })
    }
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
    graphs: Option<(Buckets, GraphCache<usize, ()>)>,
}

impl<'m> Engine<'m> {
    /// An engine without sequences. Its graphs are recorded now, as many as there may be.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(device: &Device, model: &'m Model, how: &How, sampling: Sampling, seed: u64) -> Result<Engine<'m>> {
        let mut state = State::of_part(device, model.shape(), model.split(), seed)?;
        let stream = device.stream()?;
        let graphs = match how {
            How::Eager => None,
            How::Replayed { buckets, graphs_max } => {
                let mut cache = GraphCache::new(device).max_graphs(*graphs_max).label("decode");
                cache.prepare(buckets.iter(), |r: &mut Recorder<'_>, &rows: &usize| {
                    r.run(model.step(&mut state, &sampling, rows))
                })?;
                Some((buckets.clone(), cache))
            }
        };
        Ok(Engine { model, state, sampling, stream, graphs })
    }

    /// One token for each of the first `rows` rows. Says how many rows ran.
    ///
    /// # Errors
    ///
    /// - No bucket has room for so many.
    /// - What the device answered.
    pub fn step(&mut self, rows: usize) -> Result<usize> {
        let Engine { model, state, sampling, stream, graphs } = self;
        let Some((buckets, cache)) = graphs else {
            stream.run(model.step(state, sampling, rows))?;
            return Ok(rows);
        };
        let Some(bucket) = buckets.bucket_for(rows) else {
            return Err(dacapo::Error::msg(format!("no bucket has room for {rows} rows")));
        };
        cache.run(stream, &bucket, |r: &mut Recorder<'_>| r.run(model.step(state, sampling, bucket)))?;
        if bucket > rows {
            cache.count_padded();
        }
        Ok(bucket)
    }

    /// The sizes of its model.
    pub fn shape(&self) -> &Shape {
        self.model.shape()
    }

    /// How many sequences it has room for.
    pub fn places(&self) -> usize {
        self.shape().sequences
    }

    /// What its cache of graphs has done, where it has one.
    pub fn counters(&self) -> Option<CacheCounters> {
        self.graphs.as_ref().map(|(_, cache)| cache.counters())
    }

    /// Bytes of device memory that the graphs share for what a step needs in between; 0 where there are none.
    pub fn arena_bytes(&self) -> usize {
        self.graphs.as_ref().map_or(0, |(_, cache)| cache.pool().arena_bytes())
    }

    /// Nodes and edges of the graph for so many rows, and how many of the nodes are all-reduces; `None` where there is no graph.
    pub fn graph(&self, rows: usize) -> Option<[usize; 3]> {
        let (buckets, cache) = self.graphs.as_ref()?;
        let graph = buckets.bucket_for(rows).and_then(|bucket| cache.peek(&bucket))?;
        let reduced = graph.inspect().nodes.iter().filter(|node| node.name == "all_reduce").count();
        Some([graph.len(), graph.dependencies().len(), reduced])
    }

    /// Bytes of weights, and of keys and values.
    pub fn bytes(&self) -> [usize; 2] {
        [self.model.weight_bytes(), self.state.cache_bytes()]
    }

    /// A timed step of so many rows, as a replay: how long each operation took. None where steps are eager, and where the
    /// graph is not there.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn profile(&mut self, rows: usize) -> Result<Option<Profile>> {
        let Some((buckets, cache)) = &mut self.graphs else { return Ok(None) };
        let graph = buckets.bucket_for(rows).and_then(|bucket| cache.get(&bucket));
        graph.map(|graph| graph.profile(&self.stream)).transpose()
    }

    /// How many operations a step of so many rows has.
    ///
    /// # Errors
    ///
    /// - What an operation refused.
    pub fn operations(&mut self, rows: usize) -> Result<usize> {
        let step = self.model.step(&mut self.state, &self.sampling, rows);
        Ok(self.stream.device().graph().inspect(step)?.nodes.len())
    }
}

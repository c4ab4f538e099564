//! Graphs by key, never more than the caps allow.
//!
//! What one can rely on:
//!
//! - Whenever no call is running, there are no more graphs than `max_graphs`, and they hold no more bytes than
//!   `max_bytes`. (While a graph is recorded, its outputs come on top.)
//! - The graph that was used longest ago goes first. It may be in flight: it is given back when the device is done with it.
//! - A graph that alone is over the cap is never made: what was recorded is run on the stream instead.
//! - Where memory runs out, graphs are dropped until there is enough, or none is left.
//! - All graphs are in one pool: they share its memory and never overlap. When the last one goes, so does the pool, with
//!   its memory.
//! - The counters add up: see [`CacheCounters`].

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use dacapo_ledger::Use;

use crate::arrange::{TempPlan, arranged};
use crate::device::{Cuda, Device, Stream, Ticket, drop_each, go_on, keep_first};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Graph, GraphBuilder, Replayable, Rerecorded, StandIns, Tuning};
use crate::lower::{self, executable_bytes};
use crate::memory::GrowingArena;
use crate::nesting::refuse_in_recording;
use crate::plan::Shape;
use crate::pool::Pool;
use crate::record::{Recorded, Recorder};
use crate::shapes::CacheCounters;

/// So many graphs, unless the cache is told otherwise.
const GRAPHS_MAX: usize = 64;

/// Graphs by key, with limits on their number and bytes. The least recently used is evicted first.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut cache = dacapo::shapes::GraphCache::new(&device).max_graphs(2);
/// for len in [3, 5, 3, 7, 3] {
///     let y = cache.run(&stream, &len, |r| {
///         let mut y = r.output::<f32>(len)?;
///         r.run(dacapo::fill(&mut y, dacapo::baked(len as f32)))?;
///         Ok(y)
///     })?;
///     assert_eq!(stream.read(y)?, vec![len as f32; len]);
/// }
/// let counters = cache.counters();
/// assert_eq!((counters.hits, counters.missed, counters.evicted), (2, 3, 1));
/// # Ok(()) }
/// ```
pub struct GraphCache<K, T> {
    device: Device,
    pool: Pool,
    label: Option<String>,
    shape: Shape,
    /// Which edges its graphs get.
    edges: CacheEdges,
    graphs_max: usize,
    bytes_max: usize,
    /// In the order of keys, so that nothing depends on hashes.
    entries: BTreeMap<K, Entry<T>>,
    /// Counts uses: the entry with the lowest was used longest ago.
    clock: u64,
    counters: CacheCounters,
    /// What the last request gave that ran without a graph.
    overflow: Option<T>,
}

/// Which edges the graphs of a cache get.
enum CacheEdges {
    Usual,
    Plain,
    Tuned(Tuning),
}

struct Entry<T> {
    graph: Graph<T>,
    used: u64,
}

/// What a request gave, and the work that gives it, unless there was none.
pub(crate) type Served<'c, T> = (&'c T, Option<Use<Cuda>>);

/// How a request can be served.
pub(crate) enum Ready<T> {
    /// By the graph of its key.
    Kept,
    /// By running what was recorded: a graph of it would be over the cap.
    Eager(Box<Recorded>, T),
}

impl<K: Ord + Clone, T> GraphCache<K, T> {
    /// An empty cache, for at most 64 graphs of any size.
    pub fn new(device: &Device) -> GraphCache<K, T> {
        GraphCache {
            device: device.clone(),
            pool: device.pool(),
            label: None,
            shape: Shape::Data,
            edges: CacheEdges::Usual,
            graphs_max: GRAPHS_MAX,
            bytes_max: usize::MAX,
            entries: BTreeMap::new(),
            clock: 0,
            counters: CacheCounters::default(),
            overflow: None,
        }
    }

    /// The most graphs that it keeps; with 0 everything runs without a graph.
    pub fn max_graphs(mut self, graphs: usize) -> Self {
        self.graphs_max = graphs;
        self.shrink();
        self
    }

    /// The most bytes that its graphs may hold, as [`bytes`](GraphCache::bytes) counts them.
    ///
    /// On most devices the memory that they share comes in pieces of 2 MiB: with a smaller limit, anything with temps
    /// runs without a graph.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.bytes_max = bytes;
        self.shrink();
        self
    }

    /// Names its graphs.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Its graphs run one op after the other: [`GraphBuilder::straight_line`].
    pub fn straight_line(mut self) -> Self {
        self.shape = Shape::Line;
        self
    }

    /// Its graphs get the edges that were found to be the fastest: [`GraphBuilder::tuned`]. Those that are there keep theirs.
    pub fn tuned(mut self, tuning: &Tuning) -> Self {
        self.edges = CacheEdges::Tuned(tuning.clone());
        self
    }

    /// Its graphs get full edges only: [`GraphBuilder::plain_edges`]. Those that are there keep theirs.
    pub fn plain_edges(mut self) -> Self {
        self.edges = CacheEdges::Plain;
        self
    }

    /// [Tunes](Graph::tune) every graph that it has, uses what was found for those that it records later, and returns it.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill, shapes::GraphCache};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut cache = GraphCache::new(&device);
    /// for len in [64, 128] {
    ///     cache.run(&stream, &len, |r| {
    ///         let mut y = r.output::<f32>(len)?;
    ///         r.run(fill(&mut y, baked(1.0)))?;
    ///         Ok(y)
    ///     })?;
    /// }
    /// let tuning = cache.tune(&stream)?;
    /// std::fs::write(std::env::temp_dir().join("tuning.txt"), tuning.to_string()).unwrap();
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`Graph::tune`]. Graphs that were tuned before it stay so, and what they gave is used.
    #[track_caller]
    pub fn tune(&mut self, stream: &Stream) -> Result<Tuning> {
        self.tune_as(stream, "GraphCache::tune")
    }

    /// The same, for a call of this name.
    #[track_caller]
    pub(crate) fn tune_as(&mut self, stream: &Stream, call: &'static str) -> Result<Tuning> {
        self.refuse(stream, call)?;
        let mut tuning = match &self.edges {
            // To one of another GPU nothing can be added.
            CacheEdges::Tuned(tuning) if tuning.is_for(&self.device) => tuning.clone(),
            _ => Tuning::new(&self.device.properties().name),
        };
        for entry in self.entries.values_mut() {
            tuning.merge(&entry.graph.tune(stream)?.tuning);
            self.edges = CacheEdges::Tuned(tuning.clone());
        }
        Ok(tuning)
    }

    /// Serves a request on a stream, without waiting: replays the graph of its key, and records it first if it is
    /// missing. The outputs are lent until the next call.
    ///
    /// The body may be called more than once: if memory runs out, graphs are dropped and it is recorded again.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::EagerInRecording`], [`ErrorKind::WrongDevice`].
    /// - [`ErrorKind::BadKey`]: a clone of the key is not equal to it.
    /// - Any error from the body or the driver.
    #[track_caller]
    pub fn run(
        &mut self,
        stream: &Stream,
        key: &K,
        mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<&T> {
        // A launch asks for itself what else there is to ask: a hit is one driver call, as `Graph::launch` is.
        self.refuse(stream, "GraphCache::run")?;
        let ready = self.ready(key, &mut body)?;
        self.serve(stream, key, ready)
    }

    /// [`run`](GraphCache::run) with a ticket that borrows nothing, for spawned tasks. The outputs are lent until the
    /// next call; to get them on the host later, ask for them now: [`Stream::read_later`](crate::Stream::read_later).
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut cache = dacapo::shapes::GraphCache::new(&device);
    /// let (y, ticket) = cache.submit(&stream, &3, |r| {
    ///     let mut y = r.output::<u32>(3)?;
    ///     r.run(dacapo::fill(&mut y, dacapo::baked(7)))?;
    ///     Ok(y)
    /// })?;
    /// let answer = stream.read_later(y)?;
    /// ticket.wait()?;
    /// assert_eq!(answer.wait()?, [7; 3]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`run`](GraphCache::run).
    #[track_caller]
    pub fn submit(
        &mut self,
        stream: &Stream,
        key: &K,
        mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<(&T, Ticket)> {
        self.refuse(stream, "GraphCache::submit")?;
        let ready = self.ready(key, &mut body)?;
        let device = self.device.clone();
        let (out, used) = self.serve_used(stream, key, ready, true)?;
        Ok((out, Ticket::new(&device, used, ())))
    }

    /// The graph of a key, recorded now if it is missing. If you rerecord it, its new size counts from the next graph
    /// on.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OverCap`]: the graph alone exceeds the cap.
    /// - Any error from the body or the driver.
    #[track_caller]
    pub fn get_or_record(
        &mut self,
        key: &K,
        mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<&mut Graph<T>> {
        match self.ready(key, &mut body)? {
            Ready::Kept => self.graph(key),
            Ready::Eager(recorded, _) => {
                // It was not run either.
                self.counters.eager -= 1;
                self.counters.failed += 1;
                let wanted = self.alone(Wanted::of(&recorded, self.shape))?;
                let over = ErrorKind::OverCap { wanted, cap: self.bytes_max, graphs: self.graphs_max };
                Err(Error::new(over).on_line(Location::caller()))
            }
        }
    }

    /// The graph of a key, if there is one. Counts as a request and as a use.
    pub fn get(&mut self, key: &K) -> Option<&mut Graph<T>> {
        if self.find(key) { self.graph(key).ok() } else { None }
    }

    /// The graph of a key, if there is one. Counts as neither a request nor a use.
    pub fn peek(&self, key: &K) -> Option<&Graph<T>> {
        self.entries.get(key).map(|entry| &entry.graph)
    }

    /// The keys that have a graph, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.keys()
    }

    /// Records every graph again, for example with other weights: [`Graph::rerecord`] for each key, in order. Returns
    /// what was done for each key.
    ///
    /// All bodies are recorded before the first graph changes: if one fails, all graphs stay as they were. If the
    /// driver refuses a change after that, or a kernel's condition panics, the graphs that could not be changed are
    /// dropped, and recorded again when they are next asked for. Old and new recordings are never mixed. Work in
    /// flight is not affected. Counts as neither request nor use.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{Recorder, baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// fn body(r: &mut Recorder<'_>, len: usize, weight: f32) -> dacapo::Result<dacapo::Buffer<f32>> {
    ///     let mut y = r.output::<f32>(len)?;
    ///     r.run(fill(&mut y, baked(weight)))?;
    ///     Ok(y)
    /// }
    /// let mut cache = dacapo::shapes::GraphCache::new(&device);
    /// for len in [2, 3] {
    ///     cache.run(&stream, &len, |r| body(r, len, 1.0))?;
    /// }
    /// let done = cache.rerecord_all(|r, &len| body(r, len, 2.0))?;
    /// assert!(done.iter().all(|(_, how)| how.is_updated()));
    /// let y = cache.run(&stream, &3, |r| body(r, 3, 2.0))?;
    /// assert_eq!(stream.read(y)?, [2.0; 3]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - Any error from a body: nothing has changed.
    /// - Any error from the driver: see above.
    /// - [`ErrorKind::EagerInRecording`]: inside a recording.
    #[track_caller]
    pub fn rerecord_all(
        &mut self,
        mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>, &K) -> Result<T>,
    ) -> Result<Vec<(K, Rerecorded)>> {
        refuse_in_recording("GraphCache::rerecord_all")?;
        let mut fresh = Vec::new();
        for key in self.entries.keys() {
            let builder = self.recording(&self.pool);
            let (recorded, out) = builder.take_down(|recorder: &mut Recorder<'_>| body(recorder, key))?;
            fresh.push((key.clone(), recorded, out));
        }
        let (mut done, mut before) = (Vec::new(), Vec::new());
        let (mut refused, mut panic) = (Ok(()), None);
        // In the order of keys, as above. Of the user's code only recipes run until none of the old recordings is left, where
        // a graph is built anew; one that panics is as good as a refusal. What the old ones held is dropped at the very end.
        for (entry, (key, recorded, out)) in self.entries.values_mut().zip(fresh) {
            let recording = builder(&self.device, &self.pool, self.shape, &self.edges, self.label.as_deref());
            let options = recording.graph_options();
            match catch_unwind(AssertUnwindSafe(|| entry.graph.rerecord_recorded(recorded, options, out))) {
                Ok(Ok((how, was))) => {
                    done.push((key, how));
                    before.push(was);
                }
                Ok(Err(error)) => {
                    refused = Err(error);
                    break;
                }
                Err(payload) => {
                    panic = Some(payload);
                    break;
                }
            }
        }
        if refused.is_err() || panic.is_some() {
            let kept = self.entries.len().min(done.len());
            self.counters.evicted += (self.entries.len() - kept) as u64;
            // Taken apart by their order: keys are compared by code of the user's.
            let mut entries = std::mem::take(&mut self.entries).into_iter();
            let changed: Vec<_> = entries.by_ref().take(kept).collect();
            before.extend(entries.map(|(_, entry)| entry.graph));
            self.entries.extend(changed);
            self.let_pool_go();
        } else {
            self.shrink();
        }
        keep_first(&mut panic, drop_each(before));
        go_on(panic);
        refused.map(|()| done)
    }

    /// Records the graphs of these keys that are missing, as long as they fit without dropping another. Returns how
    /// many.
    ///
    /// The largest key comes first, so that the shared memory is sized once.
    ///
    /// # Errors
    ///
    /// - Any error from the body or the driver. Graphs recorded before that stay.
    pub fn prepare(
        &mut self,
        keys: impl IntoIterator<Item = K>,
        mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>, &K) -> Result<T>,
    ) -> Result<usize> {
        let mut keys: Vec<K> = keys.into_iter().filter(|key| !self.entries.contains_key(key)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut made = 0;
        for key in keys.iter().rev() {
            let recording = self.recording(&self.pool);
            let (recorded, out) = recording.take_down(|recorder: &mut Recorder<'_>| body(recorder, key))?;
            if !self.fits(Wanted::of(&recorded, self.shape))? {
                // A smaller one may still fit.
                continue;
            }
            self.keep(key, recorded, out)?;
            made += 1;
        }
        Ok(made)
    }

    /// Whether there is a graph for this key.
    pub fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Drops the graph of a key, even while it is in flight. Returns whether there was one.
    pub fn evict(&mut self, key: &K) -> bool {
        // Dropped last: what it holds may be the user's, and panic.
        let gone = self.entries.remove(key);
        self.counters.evicted += u64::from(gone.is_some());
        self.let_pool_go();
        gone.is_some()
    }

    /// Drops all graphs and the memory that they share, even while they are in flight.
    pub fn clear(&mut self) {
        self.counters.evicted += self.entries.len() as u64;
        let (gone, overflow) = (std::mem::take(&mut self.entries), self.overflow.take());
        self.let_pool_go();
        // What they hold may be the user's, and panic, more than once.
        let mut panic = drop_each(gone);
        keep_first(&mut panic, drop_each(overflow));
        go_on(panic);
    }

    /// How many graphs there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes that its graphs hold: the executable (by estimate) and outputs of each, plus the arena that they share,
    /// counted once.
    pub fn bytes(&self) -> usize {
        self.own_bytes() + self.pool.arena_bytes()
    }

    fn own_bytes(&self) -> usize {
        self.entries.values().map(|entry| entry.graph.memory().own()).sum()
    }

    /// What it has done so far.
    pub fn counters(&self) -> CacheCounters {
        self.counters
    }

    /// Counts the last request as smaller than its bucket: for programs that round up themselves.
    pub fn count_padded(&mut self) {
        self.counters.padded += 1;
    }

    /// The pool that its graphs are in now.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Refuses what cannot be run on this stream now, without a driver call.
    #[track_caller]
    fn refuse(&self, stream: &Stream, call: &'static str) -> Result<()> {
        if !stream.device().is(&self.device) {
            return Err(self.device.stranger("the stream", stream.device()).on_line(Location::caller()));
        }
        refuse_in_recording(call)
    }

    /// The same, and makes the device's context current.
    #[track_caller]
    pub(crate) fn enter(&mut self, stream: &Stream, call: &'static str) -> Result<()> {
        self.refuse(stream, call)?;
        stream.0.enter(call)
    }

    /// Finds the graph of a key or records it.
    pub(crate) fn ready(
        &mut self,
        key: &K,
        body: &mut dyn for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<Ready<T>> {
        self.overflow = None;
        if self.find(key) {
            return Ok(Ready::Kept);
        }
        let outcome = loop {
            match self.attempt(key, body) {
                // What is dropped goes back to the driver before it is asked again.
                Err(error) if error.is_memory() && self.make_room() => {}
                outcome => break outcome,
            }
        };
        match &outcome {
            Ok(Ready::Kept) => self.counters.missed += 1,
            Ok(Ready::Eager(..)) => self.counters.eager += 1,
            Err(_) => self.counters.failed += 1,
        }
        outcome
    }

    /// Serves a request that is ready: launches its graph, or runs what was recorded.
    #[track_caller]
    pub(crate) fn serve(&mut self, stream: &Stream, key: &K, ready: Ready<T>) -> Result<&T> {
        self.serve_used(stream, key, ready, false).map(|(out, _)| out)
    }

    /// The same with the work that does it, if that is wanted.
    #[track_caller]
    pub(crate) fn serve_used(
        &mut self,
        stream: &Stream,
        key: &K,
        ready: Ready<T>,
        is_wanted: bool,
    ) -> Result<Served<'_, T>> {
        match ready {
            Ready::Kept => {
                let graph = self.graph(key)?;
                let used = graph.replayable()?.launch_with(stream, &[])?;
                let used = is_wanted.then(|| used.clone());
                Ok((graph.outputs(), used))
            }
            Ready::Eager(recorded, out) => {
                let used = lower::run_or(&stream.0, *recorded, None, &mut || self.make_room())?;
                Ok((self.overflow.insert(out), used))
            }
        }
    }

    /// A request that is run without asking for a graph.
    #[track_caller]
    pub(crate) fn serve_eagerly(
        &mut self,
        stream: &Stream,
        body: &mut dyn for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<Served<'_, T>> {
        self.overflow = None;
        match self.run_eagerly(stream, body) {
            Ok((out, used)) => {
                self.counters.eager += 1;
                Ok((self.overflow.insert(out), used))
            }
            Err(error) => {
                self.counters.failed += 1;
                Err(error)
            }
        }
    }

    fn run_eagerly(
        &mut self,
        stream: &Stream,
        body: &mut dyn for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<(T, Option<Use<Cuda>>)> {
        let (recorded, out) = loop {
            match self.device.graph().take_down(|recorder: &mut Recorder<'_>| body(recorder)) {
                Err(error) if error.is_memory() && self.make_room() => {}
                outcome => break outcome?,
            }
        };
        let used = lower::run_or(&stream.0, recorded, None, &mut || self.make_room())?;
        Ok((out, used))
    }

    /// The outputs of a key whose graph is there.
    pub(crate) fn out_mut(&mut self, key: &K) -> Option<&mut T> {
        self.entries.get_mut(key).map(|entry| entry.graph.out_mut())
    }

    /// Notes a use of the graph of a key, if it is there.
    fn find(&mut self, key: &K) -> bool {
        self.clock += 1;
        let Some(entry) = self.entries.get_mut(key) else { return false };
        entry.used = self.clock;
        self.counters.hits += 1;
        true
    }

    /// The graph of a key that was found or recorded just now. What finds it again is the key's own code.
    fn graph(&mut self, key: &K) -> Result<&mut Graph<T>> {
        match self.entries.get_mut(key) {
            Some(entry) => Ok(&mut entry.graph),
            None => Err(Error::new(ErrorKind::BadKey)),
        }
    }

    fn recording<'c>(&'c self, pool: &Pool) -> GraphBuilder<'c> {
        builder(&self.device, pool, self.shape, &self.edges, self.label.as_deref())
    }

    /// Records once; makes a graph of it if there is room or room can be made.
    fn attempt(
        &mut self,
        key: &K,
        body: &mut dyn for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<Ready<T>> {
        let (recorded, out) = self.recording(&self.pool).take_down(|recorder: &mut Recorder<'_>| body(recorder))?;
        let wanted = Wanted::of(&recorded, self.shape);
        if self.graphs_max == 0 || self.alone(wanted)? > self.bytes_max {
            return Ok(Ready::Eager(Box::new(recorded), out));
        }
        while !self.fits(wanted)? && self.evict_oldest() {}
        self.keep(key, recorded, out)?;
        Ok(Ready::Kept)
    }

    /// Makes a graph of what was recorded, and takes it in.
    fn keep(&mut self, key: &K, recorded: Recorded, out: T) -> Result<()> {
        let kept = key.clone();
        if kept != *key {
            return Err(Error::new(ErrorKind::BadKey));
        }
        let options = self.recording(&self.pool).graph_options();
        let graph = Graph::new(Replayable::make(recorded, options, StandIns::default())?, out);
        self.counters.recorded += 1;
        self.clock += 1;
        self.entries.insert(kept, Entry { graph, used: self.clock });
        Ok(())
    }

    /// Whether one more graph is within the caps.
    fn fits(&self, wanted: Wanted) -> Result<bool> {
        if self.entries.len() >= self.graphs_max {
            return Ok(false);
        }
        if self.bytes_max == usize::MAX {
            return Ok(true);
        }
        let arena = self.pool.arena().bytes_with(&self.device, wanted.arena)?;
        Ok(self.own_bytes().saturating_add(wanted.own).saturating_add(arena) <= self.bytes_max)
    }

    /// What a cache with this graph alone would hold.
    fn alone(&self, wanted: Wanted) -> Result<usize> {
        if self.bytes_max == usize::MAX {
            return Ok(wanted.own + wanted.arena);
        }
        Ok(wanted.own.saturating_add(GrowingArena::default().bytes_with(&self.device, wanted.arena)?))
    }

    /// Drops what a lower cap does not allow.
    fn shrink(&mut self) {
        while (self.entries.len() > self.graphs_max || self.bytes() > self.bytes_max) && self.evict_oldest() {}
    }

    /// Drops the graph that was used longest ago; false if there is none.
    fn evict_oldest(&mut self) -> bool {
        let Some(oldest) = self.entries.values().map(|entry| entry.used).min() else { return false };
        // Counted before it goes: what it holds may be the user's, and panic.
        self.counters.evicted += 1;
        // Not by its key: that would be found by the key's own code.
        self.entries.retain(|_, entry| entry.used != oldest);
        self.let_pool_go();
        true
    }

    /// Drops the graph that was used longest ago, and gives its executable back; false if there is none.
    fn make_room(&mut self) -> bool {
        let is_gone = self.evict_oldest();
        if is_gone {
            self.device.release_finished();
        }
        is_gone
    }

    /// A pool without graphs goes, with its memory.
    fn let_pool_go(&mut self) {
        if self.entries.is_empty() && !self.pool.is_sealed() {
            self.pool = self.device.pool();
        }
    }
}

/// How the graphs of a cache are recorded.
fn builder<'d>(
    device: &'d Device,
    pool: &Pool,
    shape: Shape,
    edges: &CacheEdges,
    label: Option<&str>,
) -> GraphBuilder<'d> {
    let builder = device.graph().pool(pool);
    let builder = if shape == Shape::Line { builder.straight_line() } else { builder };
    let builder = match edges {
        CacheEdges::Usual => builder,
        CacheEdges::Plain => builder.plain_edges(),
        CacheEdges::Tuned(tuning) => builder.tuned(tuning),
    };
    match label {
        Some(label) => builder.label(label),
        None => builder,
    }
}

/// What a graph of a recording will hold.
#[derive(Clone, Copy)]
struct Wanted {
    /// Of its own: executable and outputs.
    own: usize,
    /// Of the arena that all graphs share.
    arena: usize,
}

impl Wanted {
    fn of(recorded: &Recorded, shape: Shape) -> Wanted {
        let order = arranged(&recorded.nodes, shape);
        let outputs: usize = recorded.outputs.iter().map(|output| output.bytes()).sum();
        let executable = executable_bytes(&recorded.nodes, &order);
        Wanted { own: executable + outputs, arena: TempPlan::new(recorded, &order).bytes() }
    }
}

impl<K, T> fmt::Debug for GraphCache<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("GraphCache");
        fields.field("graphs", &self.entries.len()).field("max_graphs", &self.graphs_max);
        if self.bytes_max != usize::MAX {
            fields.field("max_bytes", &self.bytes_max);
        }
        fields.field("counters", &self.counters).finish()
    }
}

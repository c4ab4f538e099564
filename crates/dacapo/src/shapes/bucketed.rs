//! A function of rows, with one graph for each bucket.

use std::fmt;
use std::panic::Location;

use dacapo_ledger::Use;

use crate::device::{Cuda, Device, Stream, Ticket};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Rerecorded, Tuning};
use crate::lower::run_recorded;
use crate::nesting::{Nested, refuse_in_recording};
use crate::record::Recorder;
use crate::shapes::inputs::Span;
use crate::shapes::{Buckets, CacheCounters, GraphCache, Inputs, Outputs};

/// A function of rows: recorded once for each bucket, called with any number of rows.
///
/// A call copies its rows into fixed inputs, fills the other rows of the bucket as each input says
/// ([`Pad`](crate::shapes::Pad)), replays the bucket's graph, and lends the outputs, sliced to the rows of the call. No
/// padded row is in the result.
///
/// ```
/// # use dacapo::{Slice, baked, copy, shapes::{Bucketed, Buckets, Pad, rows}};
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let buckets = Buckets::new([1, 2, 4, 8])?;
/// let mut same = Bucketed::new(&device, buckets, rows(2, Pad::Zero), |r, n, x: &Slice<f32>| {
///     let mut y = r.output(n * 2)?; // `n` rows: those of the bucket
///     r.run(copy(x, &mut y))?;
///     Ok(y)
/// })?;
/// let x = device.buffer(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let y = same.call(&stream, 3, &x)?; // runs the graph for four
/// assert_eq!(stream.read(y)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(same.counters().padded, 1);
/// # Ok(()) }
/// ```
///
/// More rows than the largest bucket are run without a graph, at their real size, or refused
/// ([`refuse_larger`](Bucketed::refuse_larger)).
pub struct Bucketed<I: Inputs, O, F> {
    device: Device,
    buckets: Buckets,
    inputs: I,
    /// Memory for the largest bucket; every graph reads the first rows of it.
    fixed: I::Fixed,
    cache: GraphCache<usize, O>,
    f: F,
    larger: bool,
}

impl<I, O, F> Bucketed<I, O, F>
where
    I: Inputs,
    O: Outputs,
    F: for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, usize, I::At<'i>) -> Result<O>,
{
    /// `f` records the function for a bucket's row count and receives that many rows of each input.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::BadBuckets`]: rows without elements.
    /// - No memory for the inputs of the largest bucket.
    pub fn new(device: &Device, buckets: Buckets, inputs: I, f: F) -> Result<Bucketed<I, O, F>> {
        let fixed = inputs.make(device, buckets.largest())?;
        let cache = GraphCache::new(device).max_graphs(buckets.len());
        Ok(Bucketed { device: device.clone(), buckets, inputs, fixed, cache, f, larger: true })
    }

    /// The most graphs that it keeps; by default one for each bucket.
    pub fn max_graphs(mut self, graphs: usize) -> Self {
        self.cache = self.cache.max_graphs(graphs);
        self
    }

    /// The most bytes that its graphs may hold: [`GraphCache::max_bytes`].
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.cache = self.cache.max_bytes(bytes);
        self
    }

    /// Names its graphs.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.cache = self.cache.label(label);
        self
    }

    /// Its graphs get the edges that were found to be the fastest: [`GraphCache::tuned`]. Those that are there keep theirs.
    pub fn tuned(mut self, tuning: &Tuning) -> Self {
        self.cache = self.cache.tuned(tuning);
        self
    }

    /// Its graphs get full edges only: [`GraphCache::plain_edges`]. Those that are there keep theirs.
    pub fn plain_edges(mut self) -> Self {
        self.cache = self.cache.plain_edges();
        self
    }

    /// Refuses more rows than the largest bucket, instead of running them without a graph.
    pub fn refuse_larger(mut self) -> Self {
        self.larger = false;
        self
    }

    /// Records the missing buckets, the largest first, as long as they fit. Returns how many.
    ///
    /// # Errors
    ///
    /// - Any error from the recording.
    pub fn prepare(&mut self) -> Result<usize> {
        let Bucketed { buckets, inputs, fixed, cache, f, .. } = self;
        cache.prepare(buckets.iter(), |recorder, &bucket| recorded(f, inputs, fixed, recorder, bucket))
    }

    /// Runs it on `n` rows, without waiting. The outputs are lent until the next call, sliced to `n` rows.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotRows`]: an input is not `n` rows of its length.
    /// - [`ErrorKind::NoBucket`]: no rows, or more than the largest bucket if those are refused.
    /// - [`ErrorKind::EagerInRecording`], [`ErrorKind::WrongDevice`].
    /// - Any error from recording or replaying.
    #[track_caller]
    pub fn call(&mut self, stream: &Stream, n: usize, given: I::At<'_>) -> Result<O::At<'_>> {
        self.serve(stream, n, given, None).map(|(out, _)| out)
    }

    /// [`call`](Bucketed::call) with a ticket that borrows nothing, for spawned tasks. The outputs are lent until the
    /// next call; to get them on the host later, ask for them now: [`Stream::read_later`](crate::Stream::read_later).
    ///
    /// ```
    /// # use dacapo::{Slice, copy, shapes::{Bucketed, Buckets, Pad, rows}};
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut same = Bucketed::new(&device, Buckets::new([4])?, rows(1, Pad::Zero), |r, n, x: &Slice<f32>| {
    ///     let mut y = r.output(n)?;
    ///     r.run(copy(x, &mut y))?;
    ///     Ok(y)
    /// })?;
    /// let x = device.buffer(&[1.0, 2.0, 3.0])?;
    /// let (y, ticket) = same.submit(&stream, 3, &x)?;
    /// let answer = stream.read_later(y)?;
    /// ticket.wait()?;
    /// assert_eq!(answer.wait()?, [1.0, 2.0, 3.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`call`](Bucketed::call).
    #[track_caller]
    pub fn submit(&mut self, stream: &Stream, n: usize, given: I::At<'_>) -> Result<(O::At<'_>, Ticket)> {
        let device = self.device.clone();
        let (out, used) = self.serve(stream, n, given, Some("Bucketed::submit"))?;
        Ok((out, Ticket::new(&device, used, ())))
    }

    /// [Tunes](crate::Graph::tune) the graph of every bucket that has one, uses what was found for those that it records later,
    /// and returns it. [`prepare`](Bucketed::prepare) it first, and every bucket has one.
    ///
    /// Each is measured with what its inputs hold from the calls so far.
    ///
    /// ```
    /// # use dacapo::{Slice, copy, graph::Tuning, shapes::{Bucketed, Buckets, Pad, rows}};
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let make = || {
    ///     Bucketed::new(&device, Buckets::new([2, 4])?, rows(1, Pad::Zero), |r, n, x: &Slice<f32>| {
    ///         let mut y = r.output(n)?;
    ///         r.run(copy(x, &mut y))?;
    ///         Ok(y)
    ///     })
    /// };
    /// let mut same = make()?;
    /// same.prepare()?;
    /// let text = same.tune(&stream)?.to_string(); // into a file
    /// let tuning: Tuning = text.parse()?; // in the next process
    /// let mut same = make()?.tuned(&tuning);
    /// assert_eq!(stream.read(same.call(&stream, 1, &device.buffer(&[1.0])?)?)?, [1.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`GraphCache::tune`].
    #[track_caller]
    pub fn tune(&mut self, stream: &Stream) -> Result<Tuning> {
        self.cache.tune_as(stream, "Bucketed::tune")
    }

    /// Records all existing graphs again, for example because `f` now uses other weights: all or none, as
    /// [`GraphCache::rerecord_all`]. Returns what was done for each bucket.
    ///
    /// # Errors
    ///
    /// - As [`GraphCache::rerecord_all`].
    #[track_caller]
    pub fn rerecord_all(&mut self) -> Result<Vec<(usize, Rerecorded)>> {
        refuse_in_recording("Bucketed::rerecord_all")?;
        let Bucketed { inputs, fixed, cache, f, .. } = self;
        cache.rerecord_all(|recorder, &bucket| recorded(f, inputs, fixed, recorder, bucket))
    }

    #[track_caller]
    fn serve(
        &mut self,
        stream: &Stream,
        n: usize,
        given: I::At<'_>,
        submits: Option<&'static str>,
    ) -> Result<(O::At<'_>, Option<Use<Cuda>>)> {
        let at = Location::caller();
        self.cache.enter(stream, submits.unwrap_or("Bucketed::call"))?;
        self.inputs.check(given, n).map_err(|error| error.on_line(at))?;
        let bucket = self.buckets.bucket_for(n).filter(|_| n > 0);
        let Bucketed { inputs, fixed, cache, f, .. } = self;
        let Some(bucket) = bucket else {
            if !self.larger || n == 0 {
                let largest = self.buckets.largest();
                return Err(Error::new(ErrorKind::NoBucket { rows: n, largest }).on_line(at));
            }
            let (out, used) = cache.serve_eagerly(stream, &mut |recorder| {
                let out = f(recorder, n, given)?;
                out.check(n)?;
                Ok(out)
            })?;
            return Ok((out.first(n, n), used));
        };
        let ready = cache.ready(&bucket, &mut |recorder| recorded(f, inputs, fixed, recorder, bucket))?;
        if n < bucket {
            cache.count_padded();
        }
        let mut recorder = Recorder::new(stream.device(), None);
        {
            let _nested = Nested::enter();
            inputs.enter(&mut recorder, fixed, given, Span { rows: n, bucket, at })?;
        }
        run_recorded(stream, recorder)?;
        let (out, used) = cache.serve_used(stream, &bucket, ready, submits.is_some())?;
        Ok((out.first(n, bucket), used))
    }

    /// What it has done so far.
    pub fn counters(&self) -> CacheCounters {
        self.cache.counters()
    }

    /// The sizes it is recorded for.
    pub fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    /// Its graphs.
    pub fn cache(&mut self) -> &mut GraphCache<usize, O> {
        &mut self.cache
    }

    /// Bytes of its fixed inputs, which all buckets share.
    pub fn input_bytes(&self) -> usize {
        I::bytes(&self.fixed)
    }

    /// The device it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// Records the function for a bucket, over the first rows of the fixed inputs.
fn recorded<I, O, F>(f: &mut F, inputs: &I, fixed: &I::Fixed, recorder: &mut Recorder<'_>, bucket: usize) -> Result<O>
where
    I: Inputs,
    O: Outputs,
    F: for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, usize, I::At<'i>) -> Result<O>,
{
    let out = f(recorder, bucket, inputs.first(fixed, bucket))?;
    out.check(bucket)?;
    Ok(out)
}

impl<I: Inputs, O, F> fmt::Debug for Bucketed<I, O, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucketed").field("buckets", &self.buckets).field("cache", &self.cache).finish()
    }
}

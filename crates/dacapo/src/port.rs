//! Helpers for code ported from other frameworks: a function that is recorded at its first call and replayed
//! afterwards.
//!
//! [`graphed`] wraps a function of buffers and makes one graph for each input shape, a [`Graphed`]. [`Forward`] is the
//! trait to write models against, and [`Mirror`] says how an input type of your own is copied.

use std::fmt;

use crate::device::{Device, Stream};
use crate::element::Pod;
use crate::error::Result;
use crate::graph::Tuning;
use crate::held::Purpose;
use crate::lower::run_recorded;
use crate::memory::{Buffer, Scalar};
use crate::nesting::Nested;
use crate::op::copy;
use crate::record::Recorder;
use crate::shapes::{CacheCounters, GraphCache, Ready};

/// A callable that may be backed by a graph. The result is lent until the next call.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Buffer, Result, Stream, copy, port::{Forward, graphed}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn infer<M>(model: &mut M, stream: &Stream, x: &Buffer<f32>) -> Result<Vec<f32>>
/// where
///     M: Forward<Input = Buffer<f32>, Output = Buffer<f32>>,
/// {
///     stream.read(model.forward(stream, x)?)
/// }
/// let mut model = graphed(&device, |r, x: &Buffer<f32>| {
///     let mut y = r.output(x.len())?;
///     r.run(copy(x, &mut y))?;
///     Ok(y)
/// });
/// assert_eq!(infer(&mut model, &stream, &device.buffer(&[1.0, 2.0])?)?, [1.0, 2.0]);
/// # Ok(()) }
/// ```
pub trait Forward {
    /// What it is called with.
    type Input: ?Sized;
    /// What it returns.
    type Output: ?Sized;

    /// Runs it on a stream.
    ///
    /// # Errors
    ///
    /// - Any error from its work.
    fn forward(&mut self, stream: &Stream, input: &Self::Input) -> Result<&Self::Output>;
}

/// Inputs that can be given fixed twins of the same shape: [`Buffer`], [`Scalar`], tuples of up to four, or your own
/// struct.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Buffer, Device, Recorder, Result, port::Mirror};
/// # let device = dacapo::Device::software()?;
/// struct Batch { tokens: Buffer<u32>, mask: Buffer<f32> }
/// impl Mirror for Batch {
///     fn shape(&self, into: &mut Vec<usize>) { into.extend([self.tokens.len(), self.mask.len()]) }
///     fn twin(&self, device: &Device) -> Result<Batch> {
///         Ok(Batch { tokens: self.tokens.twin(device)?, mask: self.mask.twin(device)? })
///     }
///     fn copy_from(&mut self, r: &mut Recorder<'_>, from: &Batch) -> Result<()> {
///         self.tokens.copy_from(r, &from.tokens)?;
///         self.mask.copy_from(r, &from.mask)
///     }
/// }
/// let batch = Batch { tokens: device.zeros(4)?, mask: device.zeros(2)? };
/// let twin = batch.twin(&device)?;
/// assert_eq!((twin.tokens.len(), twin.mask.len()), (4, 2));
/// # Ok(()) }
/// ```
pub trait Mirror: Sized {
    /// Appends the lengths. Two inputs with equal lengths share a graph.
    fn shape(&self, into: &mut Vec<usize>);

    /// New memory of the same shape.
    ///
    /// # Errors
    ///
    /// - As [`Device::zeros`].
    fn twin(&self, device: &Device) -> Result<Self>;

    /// Copies the contents of another of the same shape.
    ///
    /// # Errors
    ///
    /// - As [`copy`].
    fn copy_from(&mut self, recorder: &mut Recorder<'_>, source: &Self) -> Result<()>;
}

impl<T: Pod> Mirror for Buffer<T> {
    fn shape(&self, into: &mut Vec<usize>) {
        into.push(self.len());
    }

    fn twin(&self, device: &Device) -> Result<Self> {
        device.allocate_elements(self.len(), true, Purpose::Buffers)
    }

    #[track_caller]
    fn copy_from(&mut self, recorder: &mut Recorder<'_>, source: &Self) -> Result<()> {
        recorder.run(copy(source, self))
    }
}

impl<T: Pod> Mirror for Scalar<T> {
    fn shape(&self, into: &mut Vec<usize>) {
        into.push(1);
    }

    fn twin(&self, device: &Device) -> Result<Self> {
        Ok(Scalar::new(device.filled(&[T::zeroed()])?))
    }

    #[track_caller]
    fn copy_from(&mut self, recorder: &mut Recorder<'_>, source: &Self) -> Result<()> {
        recorder.run(copy(Scalar::as_slice(source), Scalar::as_mut_slice(self)))
    }
}

macro_rules! mirrors {
    ($($name:ident $index:tt),+) => {
        impl<$($name: Mirror),+> Mirror for ($($name,)+) {
            fn shape(&self, into: &mut Vec<usize>) {
                $(self.$index.shape(into);)+
            }

            fn twin(&self, device: &Device) -> Result<Self> {
                Ok(($(self.$index.twin(device)?,)+))
            }

            #[track_caller]
            fn copy_from(&mut self, recorder: &mut Recorder<'_>, source: &Self) -> Result<()> {
                $(self.$index.copy_from(recorder, &source.$index)?;)+
                Ok(())
            }
        }
    };
}
mirrors!(A 0);
mirrors!(A 0, B 1);
mirrors!(A 0, B 1, C 2);
mirrors!(A 0, B 1, C 2, D 3);

/// Wraps `f` so that it is recorded at the first call with each input shape, and replayed afterwards.
///
/// Inputs are copied into fixed twins before each replay.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Buffer, copy, port::graphed};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut double = graphed(&device, |r, x: &Buffer<f32>| {
///     let mut y = r.output(2 * x.len())?;
///     let (low, high) = y.split_at_mut(x.len());
///     r.run(copy(x, low))?;
///     r.run(copy(x, high))?;
///     Ok(y)
/// });
/// let y = double.call(&stream, &device.buffer(&[1.0, 2.0])?)?;
/// assert_eq!(stream.read(y)?, [1.0, 2.0, 1.0, 2.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "make_graphed_callables")]
pub fn graphed<I: Mirror, O, F>(device: &Device, f: F) -> Graphed<I, O, F>
where
    F: for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, &'i I) -> Result<O>,
{
    Graphed { f, cache: GraphCache::new(device) }
}

/// A function with one graph for each shape of its input: [`graphed`] makes one.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Buffer, copy, port::graphed};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut same = graphed(&device, |r, x: &Buffer<u32>| {
///     let mut y = r.output(x.len())?;
///     r.run(copy(x, &mut y))?;
///     Ok(y)
/// }).max_graphs(8);
/// for len in [3, 3, 5] {
///     same.call(&stream, &device.zeros(len)?)?;
/// }
/// assert_eq!((same.recordings(), same.counters().hits), (2, 1));
/// # Ok(()) }
/// ```
pub struct Graphed<I, O, F> {
    f: F,
    /// By shape, each with the twin that it reads.
    cache: GraphCache<Vec<usize>, (I, O)>,
}

impl<I: Mirror, O, F> Graphed<I, O, F>
where
    F: for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, &'i I) -> Result<O>,
{
    /// The most graphs that it keeps, 64 by default. The least recently used is evicted first, with its twin.
    pub fn max_graphs(mut self, graphs: usize) -> Self {
        self.cache = self.cache.max_graphs(graphs);
        self
    }

    /// The most bytes that its graphs may hold: [`GraphCache::max_bytes`]. Twins are not counted.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.cache = self.cache.max_bytes(bytes);
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

    /// [Tunes](crate::Graph::tune) the graph of every shape, uses what was found for those that it records later, and returns
    /// it.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{Buffer, copy, port::graphed};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut same = graphed(&device, |r, x: &Buffer<u32>| {
    ///     let mut y = r.output(x.len())?;
    ///     r.run(copy(x, &mut y))?;
    ///     Ok(y)
    /// });
    /// same.call(&stream, &device.buffer(&[1, 2])?)?;
    /// let tuning = same.tune(&stream)?; // for `tuned`, in the next process
    /// assert!(tuning.is_empty()); // copies are no kernels
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`GraphCache::tune`].
    #[track_caller]
    pub fn tune(&mut self, stream: &Stream) -> Result<Tuning> {
        self.cache.tune_as(stream, "Graphed::tune")
    }

    /// Copies the input into its twin, replays, waits, and lends the output.
    ///
    /// # Errors
    ///
    /// - Any error from recording or replaying.
    #[track_caller]
    pub fn call(&mut self, stream: &Stream, input: &I) -> Result<&O> {
        let mut shape = Vec::new();
        input.shape(&mut shape);
        self.cache.enter(stream, "Graphed::call")?;
        let Graphed { f, cache } = self;
        let mut ready = cache.ready(&shape, &mut |recorder| {
            let twin = input.twin(recorder.device())?;
            let out = f(recorder, &twin)?;
            Ok((twin, out))
        })?;
        let mut recorder = Recorder::new(stream.device(), None);
        {
            let (twin, _) = match &mut ready {
                Ready::Eager(_, out) => out,
                Ready::Kept => cache.out_mut(&shape).expect("recorded or found above"),
            };
            // Called here and not in a closure, so that an error names the caller's line, or one in a `Mirror` of theirs.
            let _nested = Nested::enter();
            twin.copy_from(&mut recorder, input)?;
        }
        run_recorded(stream, recorder)?;
        let (_, out) = cache.serve(stream, &shape, ready)?;
        stream.synchronize()?;
        Ok(out)
    }

    /// How many shapes have a graph now.
    pub fn recordings(&self) -> usize {
        self.cache.len()
    }

    /// What its cache has done so far.
    pub fn counters(&self) -> CacheCounters {
        self.cache.counters()
    }
}

impl<I: Mirror, O, F> Forward for Graphed<I, O, F>
where
    F: for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, &'i I) -> Result<O>,
{
    type Input = I;
    type Output = O;

    #[track_caller]
    fn forward(&mut self, stream: &Stream, input: &I) -> Result<&O> {
        self.call(stream, input)
    }
}

impl<I, O, F> fmt::Debug for Graphed<I, O, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graphed").field("cache", &self.cache).finish()
    }
}

//! Random numbers whose counter lives on the device.
//!
//! A [`Generator`] draws with Philox4x32-10 (Salmon et al., SC11). Its key and counter are device memory, and every draw
//! is an op that also moves the counter on: inside a graph the counter is advanced by the replay itself, so each replay
//! draws what the eager run would have drawn next. Only exactly rounded operations are used: every device gives the
//! same bits.

mod philox;

use std::fmt;
use std::panic::Location;

use crate::device::{Device, Stream};
use crate::error::Result;
use crate::memory::{Buffer, Slice};
use crate::record::{Op, Recorder};
use crate::value::baked;
use philox::Philox;

kernels! {
    unsafe struct Kernels(include_str!("../../kernels/random.ptx")) {
        fn philox_u32(state: &[u32], out: &out [u32], n: u64 = out.len()) {
            requires: state.len() == 6;
            grid: linear(out.len().div_ceil(4), 128);
        }
        fn philox_uniform(state: &[u32], out: &out [f32], n: u64 = out.len()) {
            requires: state.len() == 6;
            grid: linear(out.len().div_ceil(4), 128);
        }
        fn philox_normal(state: &[u32], out: &out [f32], n: u64 = out.len()) {
            requires: state.len() == 6;
            grid: linear(out.len().div_ceil(4), 128);
        }
        fn philox_advance(state: &mut [u32], n: u64) {
            requires: state.len() == 6;
            grid: exact([1, 1, 1], [32, 1, 1]);
        }
    }
}

/// A random number generator in device memory.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut noise = device.zeros::<f32>(8)?;
/// let mut graph = device.record(random.uniform(&mut noise))?;
/// graph.launch(&stream)?;
/// let first = stream.read(&noise)?;
/// graph.launch(&stream)?;
/// assert_ne!(stream.read(&noise)?, first); // each replay draws what comes next
/// # Ok(()) }
/// ```
pub struct Generator {
    kernels: Kernels,
    state: Buffer<u32>,
}

/// Where a generator stands: its seed and how far it has drawn. Plain data, to be kept in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
pub struct GeneratorState {
    words: [u32; 6],
}

impl Generator {
    /// A generator at the beginning of a seed's sequence.
    ///
    /// # Errors
    ///
    /// - What loading its kernels or allocating its state failed with.
    #[track_caller]
    pub fn new(device: &Device, seed: u64) -> Result<Generator> {
        let state = device.buffer(&Philox::new(seed).state())?;
        Ok(Generator { kernels: Kernels::load(device)?, state })
    }

    /// Fills memory with 32-bit words, and moves on.
    #[track_caller]
    pub fn words(&mut self, out: &mut Slice<u32>) -> impl Op<Out = ()> {
        let (at, n) = (Location::caller(), out.len() as u64);
        let Generator { kernels, state } = self;
        move |r: &mut Recorder<'_>| {
            r.at(at, |r| {
                r.run(kernels.philox_u32(state, out))?;
                r.run(kernels.philox_advance(state, baked(n)))
            })
        }
    }

    /// Fills memory with numbers that are even in [0, 1), and moves on.
    #[track_caller]
    pub fn uniform(&mut self, out: &mut Slice<f32>) -> impl Op<Out = ()> {
        let (at, n) = (Location::caller(), out.len() as u64);
        let Generator { kernels, state } = self;
        move |r: &mut Recorder<'_>| {
            r.at(at, |r| {
                r.run(kernels.philox_uniform(state, out))?;
                r.run(kernels.philox_advance(state, baked(n)))
            })
        }
    }

    /// Fills memory with normal numbers of mean 0 and deviation 1, and moves on.
    #[track_caller]
    pub fn normal(&mut self, out: &mut Slice<f32>) -> impl Op<Out = ()> {
        let (at, n) = (Location::caller(), out.len() as u64);
        let Generator { kernels, state } = self;
        move |r: &mut Recorder<'_>| {
            r.at(at, |r| {
                r.run(kernels.philox_normal(state, out))?;
                r.run(kernels.philox_advance(state, baked(n)))
            })
        }
    }

    /// To the beginning of another seed's sequence, in stream order.
    ///
    /// # Errors
    ///
    /// - As [`Stream::write`].
    pub fn seed(&mut self, stream: &Stream, seed: u64) -> Result<()> {
        stream.write(&mut self.state, &Philox::new(seed).state())
    }

    /// Where it stands after everything that was enqueued before. Waits for it.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    pub fn save(&self, stream: &Stream) -> Result<GeneratorState> {
        let words = stream.read(&self.state)?;
        Ok(GeneratorState { words: words.try_into().expect("a state has six words") })
    }

    /// To where it stood when it was saved, in stream order.
    ///
    /// # Errors
    ///
    /// - As [`Stream::write`].
    pub fn restore(&mut self, stream: &Stream, state: &GeneratorState) -> Result<()> {
        stream.write(&mut self.state, &state.words)
    }
}

impl GeneratorState {
    /// What a generator that stands here would draw next: the reference, computed on the host.
    pub fn next_words(&self, n: usize) -> Vec<u32> {
        Philox::from_state(self.words).words(n)
    }

    /// The same as numbers in [0, 1).
    pub fn next_uniform(&self, n: usize) -> Vec<f32> {
        Philox::from_state(self.words).uniform(n)
    }

    /// The same as normal numbers.
    pub fn next_normal(&self, n: usize) -> Vec<f32> {
        Philox::from_state(self.words).normal(n)
    }

    /// Where a generator stands after it has drawn `n` numbers at once from here.
    #[must_use]
    pub fn advanced(&self, n: usize) -> GeneratorState {
        let mut philox = Philox::from_state(self.words);
        philox.advance(n as u64);
        GeneratorState { words: philox.state() }
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Generator (Philox4x32-10)")
    }
}

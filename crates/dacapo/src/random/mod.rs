//! Random numbers inside graphs: each replay draws the next ones.
//!
//! A [`Generator`] fills memory with words, uniform or normal numbers. A [`GeneratorState`] is its state, for
//! checkpoints, and computes the same numbers on the host.
//!
//! The generator is Philox4x32-10 (Salmon et al., SC11). Its key and counter are device memory, and every draw is an
//! op that also advances the counter, so a replay draws what an eager run would have drawn next. Only exactly rounded
//! operations are used: every device gives the same bits.

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

/// The state of a generator: its seed and position. Plain data, for a checkpoint.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let state = random.save(&stream)?;
/// let mut noise = device.zeros::<f32>(4)?;
/// stream.run(random.uniform(&mut noise))?;
/// assert_eq!(stream.read(&noise)?, state.next_uniform(4)); // the same bits, on the host
/// random.restore(&stream, &state)?;
/// assert_eq!(random.save(&stream)?, state);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
pub struct GeneratorState {
    words: [u32; 6],
}

impl Generator {
    /// A generator at the start of a seed's sequence.
    ///
    /// # Errors
    ///
    /// - Any error from loading its kernels or allocating its state.
    #[track_caller]
    pub fn new(device: &Device, seed: u64) -> Result<Generator> {
        let state = device.buffer(&Philox::new(seed).state())?;
        Ok(Generator { kernels: Kernels::load(device)?, state })
    }

    /// Fills memory with random 32-bit words.
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

    /// Fills memory with uniform numbers in [0, 1).
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

    /// Fills memory with normal numbers of mean 0 and standard deviation 1.
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

    /// Moves to the start of another seed's sequence, in stream order.
    ///
    /// # Errors
    ///
    /// - As [`Stream::write`].
    #[track_caller]
    pub fn seed(&mut self, stream: &Stream, seed: u64) -> Result<()> {
        stream.write(&mut self.state, &Philox::new(seed).state())
    }

    /// Waits for everything enqueued before this call, then returns the state.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    #[track_caller]
    pub fn save(&self, stream: &Stream) -> Result<GeneratorState> {
        let words = stream.read(&self.state)?;
        Ok(GeneratorState { words: words.try_into().expect("a state has six words") })
    }

    /// Returns to a saved state, in stream order.
    ///
    /// # Errors
    ///
    /// - As [`Stream::write`].
    #[track_caller]
    pub fn restore(&mut self, stream: &Stream, state: &GeneratorState) -> Result<()> {
        stream.write(&mut self.state, &state.words)
    }
}

impl GeneratorState {
    /// The next `n` words of a generator in this state, computed on the host.
    pub fn next_words(&self, n: usize) -> Vec<u32> {
        Philox::from_state(self.words).words(n)
    }

    /// The next `n` uniform numbers, computed on the host.
    pub fn next_uniform(&self, n: usize) -> Vec<f32> {
        Philox::from_state(self.words).uniform(n)
    }

    /// The next `n` normal numbers, computed on the host.
    pub fn next_normal(&self, n: usize) -> Vec<f32> {
        Philox::from_state(self.words).normal(n)
    }

    /// The state after drawing `n` numbers at once.
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

//! Records a small graph with every choice of edges, and compares what its launches leave.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use dacapo::graph::Edge;
use dacapo::raw::{RawArg, RawKernel};
use dacapo::{Buffer, Device, Recorder, Result, Stream, baked, grid};

use super::draw::{BUFFERS, Entry, Small, tag};
use crate::chance::Dice;

/// Up to so many choices all are tried; of more, so many by chance.
const CHOICES: u64 = 243;
/// Of each choice, so many launches: each is interleaved in another way.
const LAUNCHES: usize = 2;

dacapo::kernels! {
    /// Safe by: a block touches its own word of each buffer, the first one before its wait, and writes where its mode says so.
    unsafe struct Declared(include_str!("mix.ptx")) {
        fn mix_early(a: &[u32], b: &mut [u32], c: &mut [u32], modes: u32, tag: u32, spin: u32) {
            early: a;
            requires: a.len() == 2, b.len() == 2, c.len() == 2;
            grid: exact([2, 1, 1], [1, 1, 1]);
        }
    }
}

/// Kernels and buffers that all graphs use.
pub struct Checker {
    device: Device,
    stream: Stream,
    kernels: [RawKernel; 3],
    declared: Declared,
    buffers: RefCell<[Buffer<u32>; BUFFERS]>,
    nobody: Buffer<u32>,
    choices: u64,
    slower: u32,
}

/// What was tried with one graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Edges with a choice.
    pub edges: usize,
    /// Choices that were recorded and launched.
    pub choices: u64,
}

/// A choice of edges that gave another result.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The graph.
    pub graph: Small,
    /// The kind of each edge with a choice, by the numbers of its kernels.
    pub edges: Vec<((usize, usize), Edge)>,
    /// What a launch left.
    pub left: [[u32; 2]; BUFFERS],
    /// What it should have.
    pub wanted: [[u32; 2]; BUFFERS],
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "left {:?}, and not {:?}", self.left, self.wanted)?;
        for (number, kernel) in self.graph.kernels.iter().enumerate() {
            writeln!(f, "  {number}: {kernel:?}")?;
        }
        write!(f, "  {:?}", self.edges)
    }
}

impl Checker {
    /// On a device of its own, which interleaves kernels by a seed.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(seed: u64) -> Result<Checker> {
        let finely = |options: &mut dacapo_sim::Options| options.quantum = 3;
        Checker::on(dacapo::Software::new().seed(seed).options(finely).open()?)
    }

    /// On any device.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn on(device: Device) -> Result<Checker> {
        let load = |entry| RawKernel::load(&device, include_str!("mix.ptx"), entry);
        let kernels = [load("mix")?, load("mix_signals")?, load("mix_constant")?];
        let declared = Declared::load(&device)?;
        let buffers = RefCell::new([device.zeros(2)?, device.zeros(2)?, device.zeros(2)?]);
        let (stream, nobody) = (device.stream()?, device.zeros(2)?);
        Ok(Checker { stream, nobody, kernels, declared, buffers, device, choices: CHOICES, slower: 1 })
    }

    /// Tries so many choices of a graph, at most.
    pub fn at_most(mut self, choices: u64) -> Checker {
        self.choices = choices;
        self
    }

    /// Kernels go round so many times as often.
    pub fn slower(mut self, times: u32) -> Checker {
        self.slower = times;
        self
    }

    /// The device, for what it found.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Tries the choices of one graph.
    ///
    /// # Errors
    ///
    /// - What the device answered; the first choice that gave another result is the answer itself.
    pub fn check(&self, small: &Small, seed: u64) -> Result<std::result::Result<Checked, Box<Wrong>>> {
        let mut pairs = self.pairs(small)?;
        pairs.sort_unstable();
        pairs.dedup();
        let all = 3u64.checked_pow(pairs.len() as u32).filter(|all| *all <= self.choices);
        let mut dice = Dice::new(seed);
        let choices = all.unwrap_or(self.choices);
        for choice in 0..choices {
            let mut rest = choice;
            let edges = pairs.iter().map(|pair| {
                let kind = if all.is_some() { rest % 3 } else { dice.below(3) };
                rest /= 3;
                (*pair, [Edge::Full, Edge::Waits, Edge::Signals][kind as usize])
            });
            let edges: Vec<_> = edges.collect();
            if let Some(wrong) = self.launch(small, edges)? {
                return Ok(Err(Box::new(wrong)));
            }
        }
        Ok(Ok(Checked { edges: pairs.len(), choices }))
    }

    /// The edges with a choice.
    fn pairs(&self, small: &Small) -> Result<Vec<(usize, usize)>> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = seen.clone();
        let choose = move |before, after| {
            into.lock().expect("nobody panics here").push((before, after));
            Edge::Full
        };
        self.device.graph().edges_by(choose).record(|r| self.record(small, r))?;
        let pairs = seen.lock().expect("nobody panics here").clone();
        Ok(pairs)
    }

    fn launch(&self, small: &Small, edges: Vec<((usize, usize), Edge)>) -> Result<Option<Wrong>> {
        let kinds: BTreeMap<_, _> = edges.iter().copied().collect();
        let choose = move |before, after| kinds.get(&(before, after)).copied().unwrap_or(Edge::Full);
        let mut graph = self.device.graph().edges_by(choose).record(|r| self.record(small, r))?;
        for launch in 0..LAUNCHES as u32 {
            let first: [[u32; 2]; BUFFERS] = std::array::from_fn(|buffer| [launch + buffer as u32, 7]);
            for (buffer, words) in self.buffers.borrow_mut().iter_mut().zip(&first) {
                self.stream.write(buffer, words)?;
            }
            graph.launch(&self.stream)?;
            let mut left = [[0; 2]; BUFFERS];
            for (words, buffer) in left.iter_mut().zip(self.buffers.borrow().iter()) {
                words.copy_from_slice(&self.stream.read(buffer)?);
            }
            let wanted = small.on_the_host(first);
            if left != wanted {
                return Ok(Some(Wrong { graph: small.clone(), edges, left, wanted }));
            }
        }
        Ok(None)
    }

    fn record(&self, small: &Small, r: &mut Recorder<'_>) -> Result<()> {
        let mut buffers = self.buffers.borrow_mut();
        for (number, kernel) in small.kernels.iter().enumerate() {
            let [modes, tag, spin] = [kernel.modes, tag(number), kernel.spin * self.slower].map(baked);
            let entry = match kernel.entry {
                Entry::Mix => &self.kernels[0],
                Entry::Signals => &self.kernels[1],
                Entry::Constant => &self.kernels[2],
                Entry::Early => {
                    let [a, b, c] = &mut *buffers;
                    r.run(self.declared.mix_early(a, b, c, modes, tag, spin))?;
                    continue;
                }
            };
            let mut arguments = Vec::new();
            for (at, buffer) in buffers.iter_mut().enumerate() {
                arguments.push(match kernel.modes >> (2 * at) & 3 {
                    0 => RawArg::read(&self.nobody),
                    1 => RawArg::read(buffer),
                    _ => RawArg::write(buffer),
                });
            }
            arguments.extend([modes, tag, spin].map(RawArg::value));
            let blocks = grid::exact([if kernel.off { 0 } else { 2 }, 1, 1], [1, 1, 1]);
            // SAFETY: three pointers and three words, as the kernel takes them; a block touches its own word of each buffer,
            // and writes only where its mode says so, which is given as written.
            r.run(unsafe { entry.launch(blocks, arguments) })?;
        }
        Ok(())
    }
}

//! Control flow on the device: loops, branches and switches, alone, inside each other, and with everything else.
//!
//! Most forms are three descriptions of one thing: an op, run eagerly and replayed, and the same in plain Rust.
//! [`agree`]
//! holds them against each other, for several inputs.

mod branches;
mod conditions;
mod foreign;
mod guarded;
mod loops;
mod nested;
mod programs;
mod refusals;
mod reports;
mod rerecords;
mod shapes;
mod streams;
mod temps;

use std::fmt::Debug;

use dacapo::{Buffer, Device, Element, Op, Recorder, Result, Stream, baked, copy, fill};

use super::Form;
use super::check::{Failure, Outcome, same};
use super::kernels::Kernels;

/// The forms of each file.
pub(super) const AREAS: &[&[Form]] = &[
    loops::FORMS,
    branches::FORMS,
    conditions::FORMS,
    nested::FORMS,
    programs::FORMS,
    temps::FORMS,
    shapes::FORMS,
    rerecords::FORMS,
    foreign::FORMS,
    streams::FORMS,
    guarded::FORMS,
    reports::FORMS,
    refusals::FORMS,
];

/// Numbers of each kind that an op has.
const CELLS: usize = 8;

type Cells = [f32; CELLS];
type Words = [u32; CELLS];

/// A stream, and numbers that ops count in.
struct Bench {
    stream: Stream,
    k: Kernels,
    cells: Buffer<f32>,
    words: Buffer<u32>,
}

impl Bench {
    fn new(device: &Device) -> Result<Bench> {
        Ok(Bench {
            stream: device.stream()?,
            k: Kernels::load(device)?,
            cells: device.zeros(CELLS)?.named("cells"),
            words: device.zeros(CELLS)?.named("words"),
        })
    }

    /// `cells[at] += by`
    fn add(&mut self, at: usize, by: f32) -> impl Op<Out = ()> {
        self.k.add_stride(baked(by), &mut self.cells[at..at + 1])
    }

    /// `words[at] += 1`
    fn count(&mut self, at: usize) -> impl Op<Out = ()> {
        self.k.increment_first(baked(1), &mut self.words[at..at + 1])
    }

    /// `words[at] = value`
    fn put(&mut self, at: usize, value: u32) -> impl Op<Out = ()> {
        fill(&mut self.words[at..at + 1], baked(value))
    }

    /// `words[at] = value`, a number on the device
    fn note(&mut self, at: usize, value: &Element<u32>) -> impl Op<Out = ()> {
        copy(value.as_slice(), &mut self.words[at..at + 1])
    }

    fn write(&mut self, cells: &Cells, words: &Words) -> Result<()> {
        self.stream.write(&mut self.cells, cells)?;
        self.stream.write(&mut self.words, words)
    }

    fn read(&self) -> Result<(Vec<f32>, Vec<u32>)> {
        Ok((self.stream.read(&self.cells)?, self.stream.read(&self.words)?))
    }
}

/// Runs an op eagerly, replayed, replayed in a straight line, and with guarded branches, each for all inputs and the replays
/// twice: the cells and words are those that `rust` makes.
///
/// `set` puts an input into the cells and words, and into slots.
fn agree<I: Copy + Debug>(
    device: &Device,
    inputs: &[I],
    set: impl Fn(I, &mut Cells, &mut Words),
    mut op: impl for<'a, 'r> FnMut(&mut Bench, &'a mut Recorder<'r>) -> Result<()>,
    rust: impl Fn(I, &mut Cells, &mut Words),
) -> Outcome {
    let mut b = Bench::new(device)?;
    let stream = b.stream.clone();
    let begin = |b: &mut Bench, input: I| {
        let (mut cells, mut words) = ([0.0; CELLS], [0; CELLS]);
        set(input, &mut cells, &mut words);
        b.write(&cells, &words)?;
        rust(input, &mut cells, &mut words);
        Ok::<_, Failure>((cells.to_vec(), words.to_vec()))
    };
    for &input in inputs {
        let want = begin(&mut b, input)?;
        stream.run(|r: &mut Recorder<'_>| op(&mut b, r))?;
        same(&format!("{input:?}, eagerly"), b.read()?, want)?;
    }
    for (how, recording) in [
        ("with conditional nodes", device.graph().guarded(false)),
        ("in a line", device.graph().straight_line()),
        ("guarded", device.graph().guarded(true)),
    ] {
        let mut graph = recording.record(|r: &mut Recorder<'_>| op(&mut b, r))?;
        for launch in 0..2 {
            for &input in inputs {
                let want = begin(&mut b, input)?;
                graph.launch(&stream)?;
                same(&format!("{input:?}, launch {launch}, {how}"), b.read()?, want)?;
            }
        }
    }
    Ok(())
}

//! Mazes: random recordings of loops and branches, to be held against each other on two devices.
//!
//! A maze is made from a seed: 32 words, and bodies in bodies of copies, fills and kernels over single words, whose ways are
//! chosen by these words. The first eight never change and are small; loops take their bounds from there or from a constant,
//! so every maze has an end. What it must give is not said: the eager run, the replay, and the replay on a GPU must agree.

use dacapo::flow::{above, nonzero, up_to, zero};
use dacapo::{Buffer, Device, Element, Recorder, Result, baked, copy, fill};

use crate::chance::Dice;
use crate::forms::kernels::Kernels;

const WORDS: usize = 32;
/// Words that nothing writes.
const FIXED: usize = 8;
/// Loops and branches in each other, at most.
const DEPTH_MAX: u64 = 4;

/// What a maze leaves in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ways {
    /// After an eager run.
    pub eager: Vec<u32>,
    /// After a replay from the same words.
    pub replayed: Vec<u32>,
    /// After another replay, which goes on from there.
    pub again: Vec<u32>,
    /// Operations, those inside of branches counted once.
    pub ops: usize,
}

/// Runs the maze of a seed; of an odd one with guarded branches.
///
/// # Errors
///
/// - What the device answered.
pub fn run(device: &Device, seed: u64) -> Result<Ways> {
    let stream = device.stream()?;
    let first: Vec<u32> = (0..WORDS as u32).map(|i| if i < FIXED as u32 { i / 2 } else { i % 3 }).collect();
    let mut maze = Maze { kernels: Kernels::load(device)?, words: device.buffer(&first)?, dice: Dice::new(seed) };
    let record = |maze: &mut Maze, r: &mut Recorder<'_>| {
        maze.dice = Dice::new(seed);
        let depth = 1 + maze.dice.below(DEPTH_MAX);
        maze.body(r, depth, None)
    };
    stream.run(|r: &mut Recorder<'_>| record(&mut maze, r))?;
    let eager = stream.read(&maze.words)?;
    let mut graph = device.graph().guarded(seed & 1 == 1).record(|r: &mut Recorder<'_>| record(&mut maze, r))?;
    stream.write(&mut maze.words, &first)?;
    graph.launch(&stream)?;
    let replayed = stream.read(&maze.words)?;
    graph.launch(&stream)?;
    Ok(Ways { eager, replayed, again: stream.read(&maze.words)?, ops: graph.inspect().nodes.len() })
}

struct Maze {
    kernels: Kernels,
    words: Buffer<u32>,
    dice: Dice,
}

impl Maze {
    /// Some ops; `round` is the number of the round where the body is a loop's.
    fn body(&mut self, r: &mut Recorder<'_>, depth: u64, round: Option<&Element<u32>>) -> Result<()> {
        for _ in 0..1 + self.dice.below(6) {
            match if depth == 0 { 0 } else { self.dice.below(10) } {
                1 | 2 => self.branch(r, depth, round)?,
                3 => {
                    let (words, at) = (self.words.share(), self.word());
                    let index = round.filter(|_| self.dice.below(2) == 0).unwrap_or(words.at(at));
                    r.switch(index, 3, |r, _| self.body(r, depth - 1, None))?;
                }
                4 => {
                    let (words, at) = (self.words.share(), self.dice.below(FIXED as u64) as usize);
                    let times = round.filter(|_| self.dice.below(2) == 0).unwrap_or(words.at(at));
                    r.repeat_times(times, |r| self.round(r, depth))?;
                }
                5 => {
                    let (words, at) = (self.words.share(), self.word());
                    r.repeat(up_to(baked(1 + self.dice.below(3) as u32)), |r| {
                        self.round(r, depth)?;
                        Ok(nonzero(words.at(at)))
                    })?;
                }
                6 => {
                    let (words, at, most) = (self.words.share(), self.word(), 1 + self.dice.below(3) as u32);
                    r.repeat_while(above(words.at(at), baked(1)), up_to(baked(most)), |r| self.round(r, depth))?;
                }
                7 if round.is_some() => {
                    let at = self.word();
                    r.leave_if(zero(self.words.share().at(at)))?;
                }
                _ => self.op(r, round)?,
            }
        }
        Ok(())
    }

    fn round(&mut self, r: &mut Recorder<'_>, depth: u64) -> Result<()> {
        let round = r.round()?;
        self.body(r, depth - 1, Some(&round))
    }

    fn branch(&mut self, r: &mut Recorder<'_>, depth: u64, round: Option<&Element<u32>>) -> Result<()> {
        let (words, at) = (self.words.share(), self.word());
        let looked_at = round.filter(|_| self.dice.below(2) == 0).unwrap_or(words.at(at));
        let when = r.when(nonzero(looked_at), |r| self.body(r, depth - 1, None))?;
        if self.dice.below(2) == 0 {
            when.otherwise(|r| self.body(r, depth - 1, None))?;
        }
        Ok(())
    }

    /// Writes one word: by a constant, by another, by the number of the round, or one more than it was.
    fn op(&mut self, r: &mut Recorder<'_>, round: Option<&Element<u32>>) -> Result<()> {
        let to = FIXED + self.dice.below((WORDS - FIXED) as u64) as usize;
        let (before, behind) = self.words.split_at_mut(to);
        let (target, behind) = behind.split_at_mut(1);
        match self.dice.below(5) {
            0 => r.run(fill(target, baked(self.dice.below(4) as u32))),
            1 => match round {
                Some(round) => r.run(copy(round.as_slice(), target)),
                None => r.run(fill(target, baked(0))),
            },
            2 => r.run(self.kernels.increment_first(baked(1), target)),
            _ => {
                let from = self.dice.below(WORDS as u64 - 1) as usize;
                let source = if from < to { &before[from..=from] } else { &behind[from - to..=from - to] };
                r.run(copy(source, target))
            }
        }
    }

    /// Any of the words.
    fn word(&mut self) -> usize {
        self.dice.below(WORDS as u64) as usize
    }
}

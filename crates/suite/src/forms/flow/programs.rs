//! Programs of control flow that a number decides about, against an interpreter of them.

use dacapo::flow::{Condition, above, below, equal, up_to};
use dacapo::{Device, Recorder, Result, baked, copy};

use super::{Bench, Words, agree};
use crate::forms::check::Outcome;
use crate::forms::forms;

forms!("flow": programs_small, programs_deep, programs_with_temps);

/// Words that programs compute with; the others hold input.
const VARIABLES: u64 = 6;

/// One statement.
#[derive(Debug)]
enum Step {
    /// `words[at] += 1`
    Count(usize),
    /// `words[at] = value`
    Put(usize, u32),
    /// `words[to] = words[from]`, through a temp where it says so.
    Move {
        from: usize,
        to: usize,
        temp: bool,
    },
    If(Test, Vec<Step>, Option<Vec<Step>>),
    Switch(usize, Vec<Vec<Step>>),
    Times(usize, u32, Vec<Step>),
    While(Test, u32, Vec<Step>),
    Until(Test, u32, Vec<Step>),
    /// Only directly in a loop.
    Leave(Test),
}

/// A condition over two words.
#[derive(Clone, Copy, Debug)]
enum Test {
    Above(usize, u32),
    Below(usize, usize),
    Neither(usize, usize),
}

impl Test {
    fn condition(self, b: &Bench) -> Condition {
        match self {
            Test::Above(at, number) => above(b.words.at(at), baked(number)),
            Test::Below(at, than) => below(b.words.at(at), b.words.at(than)),
            Test::Neither(at, than) => !(equal(b.words.at(at), b.words.at(than)) | below(b.words.at(at), baked(2))),
        }
    }

    fn holds(self, words: &Words) -> bool {
        match self {
            Test::Above(at, number) => words[at] > number,
            Test::Below(at, than) => words[at] < words[than],
            Test::Neither(at, than) => !(words[at] == words[than] || words[at] < 2),
        }
    }
}

/// Makes programs.
struct Maker {
    state: u64,
    temps: bool,
}

impl Maker {
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn word(&mut self) -> usize {
        self.below(VARIABLES) as usize
    }

    fn test(&mut self) -> Test {
        let (at, than) = (self.below(8) as usize, self.below(8) as usize);
        match self.below(3) {
            0 => Test::Above(at, self.below(4) as u32),
            1 => Test::Below(at, than),
            _ => Test::Neither(at, than),
        }
    }

    fn steps(&mut self, depth: u32, in_loop: bool) -> Vec<Step> {
        let count = 1 + self.below(3);
        (0..count).map(|_| self.step(depth, in_loop)).collect()
    }

    fn step(&mut self, depth: u32, in_loop: bool) -> Step {
        let kinds = if depth == 0 { 3 } else { 9 };
        match self.below(kinds + u64::from(in_loop)) {
            0 => Step::Count(self.word()),
            1 => Step::Put(self.word(), self.below(5) as u32),
            2 => Step::Move { from: self.below(8) as usize, to: self.word(), temp: self.temps },
            _ if depth == 0 => Step::Leave(self.test()),
            3 => {
                let (test, then) = (self.test(), self.steps(depth - 1, false));
                Step::If(test, then, None)
            }
            4 => {
                let (test, then, otherwise) = (self.test(), self.steps(depth - 1, false), self.steps(depth - 1, false));
                Step::If(test, then, Some(otherwise))
            }
            5 => {
                let (at, cases) = (self.below(8) as usize, 1 + self.below(3));
                Step::Switch(at, (0..cases).map(|_| self.steps(depth - 1, false)).collect())
            }
            6 => Step::Times(self.below(8) as usize, 3, self.steps(depth - 1, true)),
            7 => Step::While(self.test(), 1 + self.below(3) as u32, self.steps(depth - 1, true)),
            8 => Step::Until(self.test(), self.below(3) as u32, self.steps(depth - 1, true)),
            _ => Step::Leave(self.test()),
        }
    }
}

fn record(b: &mut Bench, r: &mut Recorder<'_>, steps: &[Step]) -> Result<()> {
    steps.iter().try_for_each(|step| record_one(b, r, step))
}

fn record_one(b: &mut Bench, r: &mut Recorder<'_>, step: &Step) -> Result<()> {
    match step {
        Step::Count(at) => r.run(b.count(*at)),
        Step::Put(at, value) => r.run(b.put(*at, *value)),
        Step::Move { from, to, .. } if from == to => Ok(()),
        Step::Move { from, to, temp: false } => {
            let source = b.words.share();
            r.run(copy(&source[*from..from + 1], &mut b.words[*to..to + 1]))
        }
        Step::Move { from, to, temp: true } => {
            let mut t = r.alloc::<u32>(1)?;
            r.run(copy(&b.words[*from..from + 1], &mut t))?;
            r.run(copy(&t, &mut b.words[*to..to + 1]))
        }
        Step::If(test, then, otherwise) => {
            let when = r.when(test.condition(b), |r: &mut Recorder<'_>| record(b, r, then))?;
            match otherwise {
                Some(steps) => when.otherwise(|r: &mut Recorder<'_>| record(b, r, steps)),
                None => Ok(()),
            }
        }
        Step::Switch(at, cases) => {
            let index = b.words.share();
            r.switch(index.at(*at), cases.len() as u32, |r, case| record(b, r, &cases[case as usize]))
        }
        Step::Times(at, most, steps) => {
            let times = b.words.share();
            // No more than so many: a body may count in what it is asked by.
            r.repeat_times(times.at(*at), |r: &mut Recorder<'_>| {
                let round = r.round()?;
                r.leave_if(equal(&*round, baked(*most)))?;
                record(b, r, steps)
            })
            .map(drop)
        }
        Step::While(test, most, steps) => {
            r.repeat_while(test.condition(b), up_to(baked(*most)), |r: &mut Recorder<'_>| record(b, r, steps)).map(drop)
        }
        Step::Until(test, most, steps) => r
            .repeat(up_to(baked(*most)), |r: &mut Recorder<'_>| {
                record(b, r, steps)?;
                Ok(test.condition(b))
            })
            .map(drop),
        Step::Leave(test) => r.leave_if(test.condition(b)),
    }
}

/// Does the same here. Whether the loop around it is left.
fn interpret(steps: &[Step], words: &mut Words) -> bool {
    for step in steps {
        match step {
            Step::Count(at) => words[*at] = words[*at].wrapping_add(1),
            Step::Put(at, value) => words[*at] = *value,
            Step::Move { from, to, .. } => words[*to] = words[*from],
            Step::If(test, then, otherwise) => match (test.holds(words), otherwise) {
                (true, _) => _ = interpret(then, words),
                (false, Some(steps)) => _ = interpret(steps, words),
                (false, None) => {}
            },
            Step::Switch(at, cases) => {
                if let Some(steps) = cases.get(words[*at] as usize) {
                    interpret(steps, words);
                }
            }
            Step::Times(at, most, steps) => {
                let mut round = 0;
                while round < words[*at] && round != *most && !interpret(steps, words) {
                    round += 1;
                }
            }
            Step::While(test, most, steps) => {
                let mut round = 0;
                while test.holds(words) && round < *most && !interpret(steps, words) {
                    round += 1;
                }
            }
            Step::Until(test, most, steps) => {
                let mut round = 0;
                while !interpret(steps, words) {
                    round += 1;
                    if !test.holds(words) || round >= *most {
                        break;
                    }
                }
            }
            Step::Leave(test) if test.holds(words) => return true,
            Step::Leave(_) => {}
        }
    }
    false
}

/// Programs of these numbers, each with a few inputs.
fn programs(device: &Device, numbers: std::ops::Range<u64>, depth: u32, temps: bool) -> Outcome {
    for number in numbers {
        let mut maker = Maker { state: number, temps };
        let steps: Vec<Step> = (0..3).flat_map(|_| maker.steps(depth, false)).collect();
        let inputs: [[u32; 8]; 3] = [[0; 8], [3, 2, 1, 0, 1, 2, 3, 2], std::array::from_fn(|_| maker.below(5) as u32)];
        agree(
            device,
            &inputs,
            |input, _, words| *words = input,
            |b, r| record(b, r, &steps),
            |_, _, words| _ = interpret(&steps, words),
        )
        .map_err(|failure| super::Failure(format!("program {number}, {depth} deep: {failure:?}\n{steps:?}")))?;
    }
    Ok(())
}

/// Many small ones.
fn programs_small(device: &Device) -> Outcome {
    programs(device, 0..12, 1, false)
}

/// A few of four levels.
fn programs_deep(device: &Device) -> Outcome {
    programs(device, 100..104, 4, false)
}

/// What is moved goes through temps of the bodies.
fn programs_with_temps(device: &Device) -> Outcome {
    programs(device, 200..206, 3, true)
}

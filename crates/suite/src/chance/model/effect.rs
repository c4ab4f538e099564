//! What lines do to memory, and which of them run.
//!
//! A run that nobody can foresee is none: a condition over words that a fault has left unknown, or more rounds than a
//! program here may have.

use super::items::{Item, Rounds, Sight, Test, lines};
use super::taken::{At, Line, Number, Range, Work};
use super::{Model, Word};

/// What a line finds in a slot; none if nobody can know.
pub(super) type Slots<'a> = &'a dyn Fn(usize) -> Word;

/// So many lines and rounds may one run have.
const MOST: u32 = 300;

/// One run of a recording.
struct Running<'a> {
    temps: Vec<Vec<Word>>,
    holes: &'a [Range],
    slots: Slots<'a>,
    /// Whether nobody knows afterwards what is in what it writes.
    poison: bool,
    /// So many more lines and rounds.
    left: u32,
}

impl Running<'_> {
    fn value(&self, number: Number) -> Word {
        match number {
            Number::Baked(value) => Some(value),
            Number::Slot(slot) => (self.slots)(slot),
        }
    }

    fn spend(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }
}

impl Model {
    /// Whether what the kernels ask for holds with these slots; none if nobody can know.
    pub(super) fn holds(&self, items: &[Item], slots: Slots<'_>) -> Option<bool> {
        let value = |number: Number| match number {
            Number::Baked(value) => Some(value),
            Number::Slot(slot) => slots(slot),
        };
        let mut all = true;
        // Also in bodies that will not run: a launch looks at every kernel.
        for line in lines(items) {
            all &= match line.work {
                Work::First(count) => value(count)? as usize <= line.write.len,
                Work::Window(offset) => value(offset)? as usize + line.write.len <= line.reads[0].len,
                _ => true,
            };
        }
        Some(all)
    }

    /// Runs items one after the other. None, half-way, if nobody can foresee it.
    pub(super) fn perform(
        &mut self,
        items: &[Item],
        temps: &[usize],
        holes: &[Range],
        slots: Slots<'_>,
        poison: bool,
    ) -> Option<()> {
        let temps: Vec<Vec<Word>> = temps.iter().map(|len| vec![None; *len]).collect();
        let mut running = Running { temps, holes, slots, poison, left: MOST };
        self.items(items, &mut running).map(drop)
    }

    /// Whether the loop that these are a round of is left.
    fn items(&mut self, items: &[Item], running: &mut Running<'_>) -> Option<bool> {
        for item in items {
            match item {
                Item::Line(line) => {
                    if !running.poison {
                        running.spend()?;
                    }
                    self.line(line, running);
                }
                Item::Loop(rounds) => self.rounds(rounds, running)?,
                Item::Choice(_, then, otherwise) if running.poison => {
                    self.items(then, running)?;
                    self.items(otherwise, running)?;
                }
                Item::Choice(test, then, otherwise) => {
                    let holds = self.decide(test, running)?;
                    if !holds && !otherwise.is_empty() {
                        self.note("an else that is taken");
                    }
                    self.items(if holds { then } else { otherwise }, running)?;
                }
                Item::Switch(_, cases) if running.poison => {
                    for case in cases {
                        self.items(case, running)?;
                    }
                }
                Item::Switch(sight, cases) => match cases.get(self.look(*sight, running)? as usize) {
                    Some(case) => drop(self.items(case, running)?),
                    None => self.note("a switch beyond its cases"),
                },
                Item::Leave(test) => {
                    if !running.poison && self.decide(test, running)? {
                        self.note("a loop that is left");
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    fn rounds(&mut self, rounds: &Rounds, running: &mut Running<'_>) -> Option<()> {
        if running.poison {
            self.items(&rounds.body, running)?;
            self.words(&rounds.state, running).fill(None);
            return Some(());
        }
        let mut count = 0;
        let mut goes_on = if rounds.once { (true, false) } else { self.goes_on(rounds, count, running)? };
        loop {
            let state = [Some(count), Some(u32::from(goes_on.1))];
            self.words(&rounds.state, running).copy_from_slice(&state);
            if !goes_on.0 {
                break;
            }
            running.spend()?;
            let is_left = self.items(&rounds.body, running)?;
            count += 1;
            goes_on = if is_left { (false, false) } else { self.goes_on(rounds, count, running)? };
        }
        let words =
            [(count == 0, "a loop of no rounds"), (goes_on.1, "a bound that is reached"), (count > 1, "rounds")];
        words.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, word)| self.note(word));
        Some(())
    }

    /// Whether there is another round, and if not, whether it is the bound that says so.
    fn goes_on(&mut self, rounds: &Rounds, count: u32, running: &mut Running<'_>) -> Option<(bool, bool)> {
        let holds = self.decide(&rounds.test, running)?;
        let is_below = match rounds.bound {
            Some(bound) if holds => u64::from(count) < self.look(bound, running)?,
            _ => true,
        };
        Some((holds && is_below, holds && !is_below))
    }

    fn decide(&mut self, test: &Test, running: &mut Running<'_>) -> Option<bool> {
        Some(match test {
            Test::True => true,
            Test::Compare(how, of, left, right) => {
                let (left, right) = (self.look(*left, running)?, self.look(*right, running)?);
                if of.is_nan(left) || of.is_nan(right) {
                    self.note("a NaN in a condition");
                }
                of.holds(*how, left, right)
            }
            Test::And(left, right) => self.decide(left, running)? & self.decide(right, running)?,
            Test::Or(left, right) => self.decide(left, running)? | self.decide(right, running)?,
            Test::Not(test) => !self.decide(test, running)?,
        })
    }

    /// The bits that are found there.
    fn look(&mut self, sight: Sight, running: &mut Running<'_>) -> Option<u64> {
        let bits = |low: Word, high: Word| Some(u64::from(low?) | u64::from(high?) << 32);
        match sight {
            Sight::Baked(value) => Some(value),
            Sight::Slot(slot) => (running.slots)(slot).map(u64::from),
            Sight::Dial(slot) => bits((running.slots)(slot), (running.slots)(slot + 1)),
            Sight::At(range) => match *self.words(&range, running) {
                [word] => word.map(u64::from),
                [low, high] => bits(low, high),
                _ => unreachable!("one word, or two"),
            },
        }
    }

    fn line(&mut self, line: &Line, running: &mut Running<'_>) {
        let reads: Vec<Vec<Word>> = line.reads.iter().map(|range| self.words(range, running).to_vec()).collect();
        let old = self.words(&line.write, running).to_vec();
        let len = line.write.len;
        let new: Vec<Word> = match line.work {
            _ if running.poison => vec![None; len],
            Work::Copy => reads[0].clone(),
            Work::Fill(number) => vec![running.value(number); len],
            Work::Add => pairs(&reads[0], &reads[1], u32::wrapping_add),
            Work::Mix => pairs(&old, &reads[0], |y, x| y.wrapping_mul(3).wrapping_add(x)),
            Work::Scale => pairs(&old, &vec![reads[0][0]; len], u32::wrapping_mul),
            Work::Sum => vec![reads[0].iter().try_fold(0u32, |sum, word| word.map(|word| sum.wrapping_add(word)))],
            Work::First(number) => {
                let count = running.value(number).map_or(0, |count| count as usize);
                if count == 0 {
                    self.note("a grid of no blocks");
                }
                let first = |(i, word): (usize, &Word)| word.map(|word| word.wrapping_add(u32::from(i < count)));
                old.iter().enumerate().map(first).collect()
            }
            Work::Window(number) => {
                let offset = running.value(number).map_or(0, |offset| offset as usize);
                reads[0][offset..offset + len].to_vec()
            }
            Work::Bump => old.iter().map(|word| word.map(|word| word.wrapping_add(1))).collect(),
            Work::Words(generator) => match self.generators[generator] {
                Some(state) => state.next_words(len).into_iter().map(Some).collect(),
                None => vec![None; len],
            },
            Work::Bits(sight) => match self.look(sight, running) {
                Some(bits) => vec![Some(bits as u32), Some((bits >> 32) as u32)],
                None => vec![None; 2],
            },
        };
        if let Work::Words(generator) = line.work {
            let state = &mut self.generators[generator];
            *state = state.filter(|_| !running.poison).map(|state| state.advanced(len));
        }
        self.words(&line.write, running).copy_from_slice(&new);
    }

    fn words<'a>(&'a mut self, range: &Range, running: &'a mut Running<'_>) -> &'a mut [Word] {
        let range = match range.at {
            At::Hole(hole) => {
                let bound = running.holes[hole];
                Range { at: bound.at, start: bound.start + range.start, len: range.len }
            }
            _ => *range,
        };
        let all = match range.at {
            At::Memory(memory) => &mut self.memory[memory].words,
            At::Temp(temp) => &mut running.temps[temp],
            At::Hole(_) => unreachable!("a stand-in is bound to memory"),
            At::Own(_) => unreachable!("outputs have memory before anything runs"),
        };
        &mut all[range.start..range.start + range.len]
    }

    /// Something has occurred.
    fn note(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }
}

fn pairs(left: &[Word], right: &[Word], f: impl Fn(u32, u32) -> u32) -> Vec<Word> {
    left.iter().zip(right).map(|(left, right)| Some(f((*left)?, (*right)?))).collect()
}

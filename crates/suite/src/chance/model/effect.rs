//! What lines do to memory.

use super::taken::{At, Line, Number, Range, Work};
use super::{Model, Word};

/// What a line finds in a slot; none if nobody can know.
pub(super) type Slots<'a> = &'a dyn Fn(usize) -> Word;

impl Model {
    /// Whether what the kernels ask for holds with these slots; none if nobody can know.
    pub(super) fn holds(&self, lines: &[Line], slots: Slots<'_>) -> Option<bool> {
        let value = |number: Number| match number {
            Number::Baked(value) => Some(value),
            Number::Slot(slot) => slots(slot),
        };
        let mut all = true;
        for line in lines {
            all &= match line.work {
                Work::First(count) => value(count)? as usize <= line.write.len,
                Work::Window(offset) => value(offset)? as usize + line.write.len <= line.reads[0].len,
                _ => true,
            };
        }
        Some(all)
    }

    /// Runs lines one after the other. Poisoned, nobody knows afterwards what is in what they write.
    pub(super) fn perform(&mut self, lines: &[Line], temps: &[usize], holes: &[Range], slots: Slots<'_>, poison: bool) {
        let mut temps: Vec<Vec<Word>> = temps.iter().map(|len| vec![None; *len]).collect();
        for line in lines {
            let reads: Vec<Vec<Word>> =
                line.reads.iter().map(|range| self.words(range, holes, &mut temps).to_vec()).collect();
            let value = |number: Number| match number {
                Number::Baked(value) => Some(value),
                Number::Slot(slot) => slots(slot),
            };
            let old = self.words(&line.write, holes, &mut temps).to_vec();
            let len = line.write.len;
            let new: Vec<Word> = match line.work {
                _ if poison => vec![None; len],
                Work::Copy => reads[0].clone(),
                Work::Fill(number) => vec![value(number); len],
                Work::Add => pairs(&reads[0], &reads[1], u32::wrapping_add),
                Work::Mix => pairs(&old, &reads[0], |y, x| y.wrapping_mul(3).wrapping_add(x)),
                Work::Scale => pairs(&old, &vec![reads[0][0]; len], u32::wrapping_mul),
                Work::Sum => vec![reads[0].iter().try_fold(0u32, |sum, word| word.map(|word| sum.wrapping_add(word)))],
                Work::First(number) => {
                    let count = value(number).map_or(0, |count| count as usize);
                    self.emptied += u64::from(count == 0);
                    let first = |(i, word): (usize, &Word)| word.map(|word| word.wrapping_add(u32::from(i < count)));
                    old.iter().enumerate().map(first).collect()
                }
                Work::Window(number) => {
                    let offset = value(number).map_or(0, |offset| offset as usize);
                    reads[0][offset..offset + len].to_vec()
                }
                Work::Bump => old.iter().map(|word| word.map(|word| word.wrapping_add(1))).collect(),
                Work::Words(generator) => match self.generators[generator] {
                    Some(state) => state.next_words(len).into_iter().map(Some).collect(),
                    None => vec![None; len],
                },
            };
            if let Work::Words(generator) = line.work {
                let state = &mut self.generators[generator];
                *state = state.filter(|_| !poison).map(|state| state.advanced(len));
            }
            self.words(&line.write, holes, &mut temps).copy_from_slice(&new);
        }
    }

    fn words<'a>(&'a mut self, range: &Range, holes: &[Range], temps: &'a mut [Vec<Word>]) -> &'a mut [Word] {
        let all = match range.at {
            At::Memory(memory) => &mut self.memory[memory].words,
            At::Temp(temp) => &mut temps[temp],
            At::Hole(hole) => {
                let bound = holes[hole];
                let inner = Range { at: bound.at, start: bound.start + range.start, len: range.len };
                return self.words(&inner, &[], temps);
            }
            At::Own(_) => unreachable!("outputs have memory before anything runs"),
        };
        &mut all[range.start..range.start + range.len]
    }
}

fn pairs(left: &[Word], right: &[Word], f: impl Fn(u32, u32) -> u32) -> Vec<Word> {
    left.iter().zip(right).map(|(left, right)| Some(f((*left)?, (*right)?))).collect()
}

//! For each life those that it must not meet.

use super::super::number;
use super::lives::Lives;
use super::reach::Reach;

/// Pairs of lives that are not ordered, from both sides.
pub(super) struct Near {
    /// Where each life's part of `lives` ends.
    ends: Vec<u32>,
    lives: Vec<u32>,
}

impl Near {
    /// None if there are more than so many: with more of them there is less to gain, and a list would cost more than it
    /// finds.
    pub(super) fn new(reach: &Reach, lives: &Lives, most: usize) -> Option<Near> {
        let pairs = pairs(reach, lives, most)?;
        let count = lives.all().len();
        let mut ends = vec![0u32; count + 1];
        for (a, b) in &pairs {
            ends[*a as usize + 1] += 1;
            ends[*b as usize + 1] += 1;
        }
        for life in 0..count {
            ends[life + 1] += ends[life];
        }
        // Now where each begins; moved on to where it ends as it is filled.
        let mut near = vec![0u32; 2 * pairs.len()];
        for (a, b) in pairs {
            for (of, other) in [(a, b), (b, a)] {
                let at = &mut ends[of as usize];
                near[*at as usize] = other;
                *at += 1;
            }
        }
        ends.pop();
        Some(Near { ends, lives: near })
    }

    pub(super) fn of(&self, life: u32) -> &[u32] {
        let begin = if life == 0 { 0 } else { self.ends[life as usize - 1] };
        &self.lives[begin as usize..self.ends[life as usize] as usize]
    }
}

fn pairs(reach: &Reach, lives: &Lives, most: usize) -> Option<Vec<(u32, u32)>> {
    let all = lives.all();
    let ending = Ending::new(reach, lives);
    let mut pairs = Vec::new();
    // Alive still, in the order of moments.
    let mut alive: Vec<u32> = Vec::new();
    let mut is_new = vec![0u32; all.len()];
    let mut effort = 4 * most;
    for (life, it) in all.iter().enumerate() {
        let life = number(life);
        alive.retain(|other| all[*other as usize].last >= it.first);
        pairs.extend(alive.iter().map(|other| (*other, life)));
        alive.push(life);
        // Over by the numbers, but with an end that does not come before each of this one's beginnings.
        for begin in lives.begins(it) {
            let has_all = reach.for_each_beside(begin, it.first, &mut |moment| {
                let ended = ending.at(moment);
                effort = effort.saturating_sub(1 + ended.len());
                for other in ended {
                    if all[*other as usize].last < it.first && is_new[*other as usize] != life {
                        is_new[*other as usize] = life;
                        pairs.push((*other, life));
                    }
                }
                effort > 0
            });
            if !has_all {
                return None;
            }
        }
        if pairs.len() > most {
            return None;
        }
    }
    Some(pairs)
}

/// Which lives end in which moment.
struct Ending {
    ends: Vec<u32>,
    lives: Vec<u32>,
}

impl Ending {
    fn new(reach: &Reach, lives: &Lives) -> Ending {
        if matches!(reach, Reach::Line) {
            return Ending { ends: Vec::new(), lives: Vec::new() };
        }
        let all = lives.all();
        let moments = all.iter().map(|life| life.last as usize + 1).max().unwrap_or(0);
        let mut ends = vec![0u32; moments + 1];
        all.iter().flat_map(|life| lives.ends(life)).for_each(|end| ends[end as usize + 1] += 1);
        for moment in 0..moments {
            ends[moment + 1] += ends[moment];
        }
        let mut list = vec![0u32; ends[moments] as usize];
        for (life, it) in all.iter().enumerate() {
            for end in lives.ends(it) {
                let at = &mut ends[end as usize];
                list[*at as usize] = number(life);
                *at += 1;
            }
        }
        Ending { ends, lives: list }
    }

    fn at(&self, moment: u32) -> &[u32] {
        let begin = if moment == 0 { 0 } else { self.ends[moment as usize - 1] };
        &self.lives[begin as usize..self.ends[moment as usize] as usize]
    }
}

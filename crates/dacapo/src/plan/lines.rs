//! What comes before what by any path, where the work runs in a few lines.
//!
//! A *line* is a row of steps each of which comes after the one before it, by any path. For each step the last step of
//! each line that comes before it is kept, so that "does a come before b" is one comparison for every a that is in a line.
//! There are at most [`LINES`] of them, and a step that fits none is in none: of it nothing is said. Recordings of models
//! are seldom wider, and the effort for each step and each edge stays the same whatever the recording.

use super::Order;

/// So many lines that what is kept for a step is half a line of the cache.
const LINES: usize = 8;

/// For each line, one more than the last step of it that is reached; 0 when none is.
type Reach = [u32; LINES];

/// The lines of the steps so far.
#[derive(Default)]
pub(super) struct Lines {
    /// Of each step: what it reaches, itself included.
    reach: Vec<Reach>,
    /// Of each step: its line, or `LINES` when it is in none.
    line_of: Vec<u8>,
    /// One more than the last step of each line; 0 for a line that has none yet.
    ends: Reach,
}

impl Lines {
    /// The next step, which waits for `waits`.
    fn push(&mut self, waits: &[u32]) {
        let mut waits = waits.iter().map(|wait| &self.reach[*wait as usize]);
        let mut reach = waits.next().copied().unwrap_or([0; LINES]);
        waits.for_each(|other| extend(&mut reach, other));
        // The end of a line is reached where it comes before this step; an empty line is reached by all.
        let line = (0..LINES).find(|line| reach[*line] == self.ends[*line]);
        if let Some(line) = line {
            reach[line] = super::number(self.reach.len()) + 1;
            self.ends[line] = reach[line];
        }
        self.line_of.push(line.unwrap_or(LINES) as u8);
        self.reach.push(reach);
    }

    /// Leaves out of `waits`, which is sorted, what comes before another one of them. They are steps of `order`, which is
    /// looked at only now: where every step waits for one other, nobody asks.
    pub(super) fn reduce(&mut self, waits: &mut Vec<u32>, order: &Order) {
        if waits.len() < 2 {
            return;
        }
        for step in self.reach.len()..order.steps.len() {
            self.push(order.after(step));
        }
        // From the end: only what is later can imply. What is kept moves to the end of the list.
        let mut reach = [0; LINES];
        let mut to = waits.len();
        for from in (0..waits.len()).rev() {
            let step = waits[from] as usize;
            let line = self.line_of[step] as usize;
            if line == LINES || reach[line] <= step as u32 {
                to -= 1;
                waits[to] = waits[from];
            }
            extend(&mut reach, &self.reach[step]);
        }
        waits.drain(..to);
    }
}

fn extend(reach: &mut Reach, by: &Reach) {
    for (mine, other) in reach.iter_mut().zip(by) {
        *mine = (*mine).max(*other);
    }
}

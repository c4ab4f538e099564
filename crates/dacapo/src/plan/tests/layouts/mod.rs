//! Layouts against the definition: each pair of temps, by a search through the edges.

mod antichain;
mod chance;
mod few;
mod golden;
mod models;
mod property;
mod traces;

use super::*;
use crate::plan::layout::{ALIGNMENT, Layout, TempUse, layout};

/// `before[b][a]`: a path leads from op a to op b. By a search from each op, with nothing shared between searches.
fn before(order: &Order) -> Vec<Vec<bool>> {
    let ops = order.steps().iter().filter(|step| step.what != What::Join).count();
    let mut direct = vec![Vec::new(); ops];
    order.op_edges().into_iter().for_each(|(from, to)| direct[to].push(from));
    let search = |of: usize| {
        let mut seen = vec![false; ops];
        let mut open = vec![of];
        while let Some(op) = open.pop() {
            for &from in direct[op].iter().filter(|from| !std::mem::replace(&mut seen[**from], true)) {
                open.push(from);
            }
        }
        seen
    };
    (0..ops).map(search).collect()
}

/// Which ops touch each memory, ascending.
fn uses(ops: &[Vec<TouchedBytes>], memories: usize) -> Vec<Vec<u32>> {
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); memories];
    for (op, touches) in ops.iter().enumerate() {
        for touch in touches {
            if let Some(list) = uses.get_mut(touch.memory as usize)
                && list.last() != Some(&(op as u32))
            {
                list.push(op as u32);
            }
        }
    }
    uses
}

/// What a layout promises, but for its being small.
fn check(before: &[Vec<bool>], temps: &[TempUse<'_>], layout: &Layout) -> Result<(), String> {
    let takes_room = |temp: &TempUse<'_>| temp.bytes > 0 && !temp.ops.is_empty();
    if layout.offsets.len() != temps.len() {
        return Err(format!("{} offsets for {} temps", layout.offsets.len(), temps.len()));
    }
    let mut most = 0;
    for (i, temp) in temps.iter().enumerate() {
        let start = layout.offsets[i];
        if !start.is_multiple_of(ALIGNMENT) || !takes_room(temp) && start != 0 {
            return Err(format!("temp {i} of {} bytes at {start}", temp.bytes));
        }
        if !takes_room(temp) {
            continue;
        }
        most = most.max(start + temp.bytes);
        for (j, other) in temps[..i].iter().enumerate().filter(|(_, other)| takes_room(other)) {
            let (from, to) = (start.max(layout.offsets[j]), (start + temp.bytes).min(layout.offsets[j] + other.bytes));
            let is_apart = || antichain::is_before(before, temp, other) || antichain::is_before(before, other, temp);
            if from < to && !is_apart() {
                return Err(format!("temps {j} and {i} may be alive at the same time, and share {from}..{to}"));
            }
        }
    }
    let needed = most.next_multiple_of(ALIGNMENT);
    if layout.bytes == needed { Ok(()) } else { Err(format!("{} bytes where {needed} are needed", layout.bytes)) }
}

//! Where each slot is, from left to right.
//!
//! Each wants to be at the mean of those that it is linked to, and may not come nearer to its neighbours than it must. For one
//! layer the best places by least squares are found in one walk: neighbours that would meet become one block, at the mean of
//! what they want. Layers are gone through down and up, so that lines become straight.

use super::slots::{Links, Slots};
use super::{BEND, BESIDE};

/// How often all layers are gone through.
const SWEEPS: usize = 8;

/// The centre of each slot; the leftmost edge of all is at 0.
pub(super) fn centres(slots: &Slots) -> Vec<f64> {
    let mut centres = vec![0.0; slots.slots.len()];
    for layer in &slots.layers {
        place(slots, layer, &mut centres, |_, _| 0.0);
    }
    let count = slots.layers.len();
    for sweep in 0..SWEEPS {
        let (links, order): (&Links, Box<dyn Iterator<Item = usize>>) = match sweep % 2 {
            0 => (&slots.above, Box::new(1..count)),
            _ => (&slots.below, Box::new((0..count.saturating_sub(1)).rev())),
        };
        for layer in order {
            place(slots, &slots.layers[layer], &mut centres, |centres, slot| mean(links, centres, slot));
        }
    }
    let left = |(slot, centre): (usize, &f64)| centre - slots.slots[slot].width / 2.0;
    let leftmost = centres.iter().enumerate().map(left).fold(f64::INFINITY, f64::min);
    if leftmost.is_finite() {
        centres.iter_mut().for_each(|centre| *centre -= leftmost);
    }
    centres
}

fn mean(links: &Links, centres: &[f64], slot: u32) -> f64 {
    let others = links.of(slot);
    match others.len() {
        0 => centres[slot as usize],
        count => others.iter().map(|&other| centres[other as usize]).sum::<f64>() / count as f64,
    }
}

/// Slots in a row that have met: where the first wants to be for all of them, the sum of it, and how many.
struct Block {
    sum: f64,
    count: f64,
    first: usize,
}

/// Places one layer, each slot as near to where it wants to be as the others let it.
fn place(slots: &Slots, layer: &[u32], centres: &mut [f64], wanted: impl Fn(&[f64], u32) -> f64) {
    // How far each is from the first at the least.
    let mut apart = Vec::with_capacity(layer.len());
    let mut so_far = 0.0;
    for (at, &slot) in layer.iter().enumerate() {
        if at > 0 {
            let (one, other) = (slots.slots[layer[at - 1] as usize].width, slots.slots[slot as usize].width);
            // Two bends may be closer to each other than boxes.
            let beside = if one.max(other) <= BEND { BEND } else { BESIDE };
            so_far += (one + other) / 2.0 + beside;
        }
        apart.push(so_far);
    }
    let mut blocks: Vec<Block> = Vec::new();
    for (at, &slot) in layer.iter().enumerate() {
        let mut block = Block { sum: wanted(centres, slot) - apart[at], count: 1.0, first: at };
        while let Some(last) = blocks.pop_if(|last| last.sum / last.count >= block.sum / block.count) {
            block = Block { sum: last.sum + block.sum, count: last.count + block.count, first: last.first };
        }
        blocks.push(block);
    }
    for (number, block) in blocks.iter().enumerate() {
        let end = blocks.get(number + 1).map_or(layer.len(), |next| next.first);
        for at in block.first..end {
            centres[layer[at] as usize] = block.sum / block.count + apart[at];
        }
    }
}

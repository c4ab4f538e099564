//! Who is left of whom, so that few lines cross.
//!
//! By the usual way: each slot goes to the mean of those that it is linked to, layer by layer, down and up in turns; of all
//! orders that came up, the one with the fewest crossings stays.

use super::slots::{Links, Slots};

/// How often all layers are gone through, down and up.
const SWEEPS: usize = 6;

/// Orders the slots of each layer.
pub(super) fn settle(slots: &mut Slots) {
    let mut places = vec![0u32; slots.slots.len()];
    note(&slots.layers, &mut places);
    let mut best = (crossings(slots, &places), slots.layers.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let count = slots.layers.len();
        let (links, order): (&Links, Box<dyn Iterator<Item = usize>>) = match sweep % 2 {
            0 => (&slots.above, Box::new(1..count)),
            _ => (&slots.below, Box::new((0..count.saturating_sub(1)).rev())),
        };
        for layer in order {
            let layer = &mut slots.layers[layer];
            let mut wanted: Vec<(f64, u32)> = layer.iter().map(|&slot| (mean(links, &places, slot), slot)).collect();
            wanted.sort_by(|one, other| one.0.total_cmp(&other.0));
            for (place, (_, slot)) in wanted.into_iter().enumerate() {
                layer[place] = slot;
                places[slot as usize] = place as u32;
            }
        }
        let now = crossings(slots, &places);
        if now < best.0 {
            best = (now, slots.layers.clone());
        }
    }
    slots.layers = best.1;
}

fn note(layers: &[Vec<u32>], places: &mut [u32]) {
    for layer in layers {
        layer.iter().enumerate().for_each(|(place, &slot)| places[slot as usize] = place as u32);
    }
}

/// Where a slot would stand; where it stands, if it is linked to nobody.
fn mean(links: &Links, places: &[u32], slot: u32) -> f64 {
    let others = links.of(slot);
    match others.len() {
        0 => f64::from(places[slot as usize]),
        count => others.iter().map(|&other| f64::from(places[other as usize])).sum::<f64>() / count as f64,
    }
}

/// How many pairs of lines cross between neighbouring layers.
pub(super) fn crossings(slots: &Slots, places: &[u32]) -> u64 {
    let mut count = 0;
    for (above, below) in slots.layers.iter().zip(slots.layers.iter().skip(1)) {
        let mut seen = Sums::new(below.len());
        let mut so_far = 0;
        for &slot in above {
            let mut ends: Vec<u32> = slots.below.of(slot).iter().map(|&other| places[other as usize]).collect();
            ends.sort_unstable();
            // Lines that begin further left and end further right.
            count += ends.iter().map(|&end| so_far - seen.up_to(end)).sum::<u64>();
            so_far += ends.len() as u64;
            ends.into_iter().for_each(|end| seen.add(end));
        }
    }
    count
}

/// How many were added at places up to one, in a tree of sums.
struct Sums(Vec<u64>);

impl Sums {
    fn new(places: usize) -> Sums {
        Sums(vec![0; places + 1])
    }

    fn add(&mut self, place: u32) {
        let mut at = place as usize + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn up_to(&self, place: u32) -> u64 {
        let (mut at, mut sum) = (place as usize + 1, 0);
        while at > 0 {
            sum += self.0[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

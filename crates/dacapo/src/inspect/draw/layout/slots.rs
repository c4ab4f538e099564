//! What stands in the layers: boxes, and the bends of lines.

use super::{BEND, Size};

/// A line across more layers than this goes round the outside: its bends would be too many.
const ACROSS_MAX: u32 = 6;

/// A box, or a bend of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) width: f64,
    pub(super) layer: u32,
}

/// How a line gets from one box to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It leads up, or nowhere: not drawn.
    None,
    /// Through so many bends, which are slots in a row, one in each layer between.
    Bends { first: u32, count: u32 },
    /// Round the outside.
    Outside,
}

/// All of them. Those of boxes come first, by their numbers.
pub(super) struct Slots {
    pub(super) slots: Vec<Slot>,
    /// Of each line.
    pub(super) ways: Vec<Way>,
    /// The slots of each layer, from left to right.
    pub(super) layers: Vec<Vec<u32>>,
    /// For each slot, those that it is linked to in the layer above, and in the layer below.
    pub(super) above: Links,
    pub(super) below: Links,
}

impl Slots {
    pub(super) fn new(sizes: &[Size], lines: &[(usize, usize)], layers: &[u32]) -> Slots {
        let of_box = |(size, layer): (&Size, &u32)| Slot { width: size.width, layer: *layer };
        let mut slots: Vec<Slot> = sizes.iter().zip(layers).map(of_box).collect();
        let (mut ways, mut links) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
        for &(from, to) in lines {
            if from >= to || to >= sizes.len() {
                ways.push(Way::None);
                continue;
            }
            let (start, end) = (layers[from], layers[to]);
            if end - start > ACROSS_MAX {
                ways.push(Way::Outside);
                continue;
            }
            let (first, mut last) = (slots.len() as u32, from as u32);
            for layer in start + 1..end {
                links.push((last, slots.len() as u32));
                last = slots.len() as u32;
                slots.push(Slot { width: BEND, layer });
            }
            links.push((last, to as u32));
            ways.push(Way::Bends { first, count: end - start - 1 });
        }
        let count = layers.iter().max().map_or(0, |last| *last as usize + 1);
        let mut in_layers = vec![Vec::new(); count];
        for (number, slot) in slots.iter().enumerate() {
            in_layers[slot.layer as usize].push(number as u32);
        }
        let below = Links::new(slots.len(), links.iter().copied());
        let above = Links::new(slots.len(), links.iter().map(|&(from, to)| (to, from)));
        Slots { slots, ways, layers: in_layers, above, below }
    }
}

/// Who is linked to whom, in one list.
pub(super) struct Links {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Links {
    fn new(count: usize, links: impl Iterator<Item = (u32, u32)> + Clone) -> Links {
        let mut starts = vec![0u32; count + 1];
        links.clone().for_each(|(from, _)| starts[from as usize + 1] += 1);
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let (mut at, mut others) = (starts.clone(), vec![0; starts[count] as usize]);
        for (from, to) in links {
            others[at[from as usize] as usize] = to;
            at[from as usize] += 1;
        }
        Links { starts, others }
    }

    pub(super) fn of(&self, slot: u32) -> &[u32] {
        &self.others[self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize]
    }
}

//! Random traces from a seed: which temp is touched by which op, and how large it is.
//!
//! The order is the real one, from the touches; so are its joins. Besides temps, ops touch pieces of one buffer, which
//! orders them in ways that no temp explains.

use super::*;

/// Splitmix.
pub(super) struct Chance(pub u64);

impl Chance {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % limit
    }

    /// One of these.
    pub(super) fn of(&mut self, list: &[u64]) -> u64 {
        list[self.below(list.len() as u64) as usize]
    }

    /// Of any order of magnitude, from 2^`low` on, `more` of them.
    pub(super) fn size(&mut self, low: u64, more: u64) -> u64 {
        let power = low + self.below(more);
        self.below(1 << power)
    }
}

/// Ops as touches, and the sizes of the temps, which are memories 0, 1, ...
pub(super) struct Trace {
    pub ops: Vec<Vec<TouchedBytes>>,
    pub bytes: Vec<u64>,
    pub shape: Shape,
}

/// The trace of a seed.
pub(super) fn trace(seed: u64) -> Trace {
    let mut chance = Chance(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let most = chance.of(&[4, 16, 17, 40, 80]);
    let count = 1 + chance.below(most);
    let most = chance.of(&[3, 8, 24, 60]);
    let temps = 1 + chance.below(most);
    let locality = chance.of(&[2, 6, 1_000]);
    let buffer = u32::MAX;
    let pieces = chance.of(&[0, 1, 4, 20]);
    let writes = chance.of(&[2, 4]);
    let ops = (0..count)
        .map(|op| {
            let touches = chance.below(4);
            let mut touches: Vec<TouchedBytes> = (0..touches)
                .map(|_| {
                    // Near each other in time, mostly: as temps are.
                    let at = op * temps / count + chance.below(locality);
                    let memory = (at % temps) as u32;
                    let write = chance.below(writes) == 0;
                    TouchedBytes { memory, start: 0, end: 64, write }
                })
                .collect();
            if pieces > 0 && chance.below(2) == 0 {
                let start = chance.below(pieces);
                let end = if chance.below(4) == 0 { pieces } else { start + 1 };
                touches.push(TouchedBytes { memory: buffer, start, end, write: chance.below(2) == 0 });
            }
            touches
        })
        .collect();
    let bytes = (0..temps)
        .map(|_| match chance.below(6) {
            0 => chance.below(4),
            1 => 256 * chance.below(4),
            2 => 255 + chance.below(3),
            _ => chance.size(8, 8),
        })
        .collect();
    let shape = if chance.below(4) == 0 { Shape::Line } else { Shape::Data };
    Trace { ops, bytes, shape }
}

//! Products of small matrices by tensor cores.
//!
//! Three thirds of the tiles are compared in three ways: whole numbers, whose sums are exact in every order, to the bit;
//! fractions, whose sums are not, within a bound; and one odd number a row, to the bit but for those of a NaN.

use super::super::Case;
use super::super::bound::{NUMBER, U};
use super::super::data::Random;
use super::super::{Bound, Bound::Exact};
use super::BLOCK;

const ROWS: usize = 16;
const COLUMNS: usize = 8;
const DEPTH: usize = 16;

/// Sums of sixteen products of two numbers below one, and of one more such number.
const SUMS: Bound = Bound::within(
    0.0,
    16.0 * U * 17.0,
    "the manual leaves open in which order, and how precisely, products are added. Sixteen additions of f32, rounded or cut \
     off, are each off by at most u times the sum m of all magnitudes; one side is exact but for less than that. Here every \
     term is below 1, so m is below 17: 16 u 17",
);

/// One product, as matrices; bits of bf16.
struct Tile {
    a: [[u16; DEPTH]; ROWS],
    b: [[u16; COLUMNS]; DEPTH],
    c: [[f32; COLUMNS]; ROWS],
}

/// Factors and what is added that hurt: numbers that are none, infinite, or too small to be normal.
const ODD: [(u16, u16, f32); 12] = [
    (0x7fc1, 0x3f80, 1.0),
    (0x3f80, 0xffc0, 1.0),
    (0x3f80, 0x3f80, f32::NAN),
    (0x7f80, 0x0000, 1.0),
    (0x7f80, 0x3f80, f32::NEG_INFINITY),
    (0x7f80, 0xbf80, 1e30),
    (0x3f80, 0x3f80, f32::INFINITY),
    (0x0001, 0x3f80, 0.0),
    (0x007f, 0x4380, 0.0),
    (0x0d80, 0x2700, 0.0),
    (0x0000, 0x3f80, 1e-45),
    (0x0001, 0x0001, 1e-45),
];

impl Tile {
    fn whole(random: &mut Random) -> Tile {
        // Sums stay below 2^24.
        let mut one = || bf16((random.next() % 512) as f32 - 256.0);
        let (a, b) =
            ([[0; DEPTH]; ROWS].map(|row| row.map(|_| one())), [[0; COLUMNS]; DEPTH].map(|row| row.map(|_| one())));
        Tile { a, b, c: [[0.0; COLUMNS]; ROWS].map(|row| row.map(|_: f32| (random.next() % 4096) as f32 - 2048.0)) }
    }

    fn fractions(random: &mut Random) -> Tile {
        // Of every size below one, and of both signs.
        let mut bits = || {
            let word = random.next();
            (word as u32 & 0x807f_ffff) | (126 - (word >> 32) as u32 % 24) << 23
        };
        Tile {
            a: [[0; DEPTH]; ROWS].map(|row| row.map(|_: u16| (bits() >> 16) as u16)),
            b: [[0; COLUMNS]; DEPTH].map(|row| row.map(|_: u16| (bits() >> 16) as u16)),
            c: [[0.0; COLUMNS]; ROWS].map(|row| row.map(|_: f32| f32::from_bits(bits()))),
        }
    }

    fn odd((factor, other, added): (u16, u16, f32)) -> Tile {
        let mut tile = Tile { a: [[0; DEPTH]; ROWS], b: [[other; COLUMNS]; DEPTH], c: [[added; COLUMNS]; ROWS] };
        // At another place of the sum in each row.
        (0..ROWS).for_each(|row| tile.a[row][row] = factor);
        tile
    }

    /// Appends the words of each lane, as the manual's figures have them.
    fn append(&self, a: &mut Vec<u32>, b: &mut Vec<u32>, c: &mut Vec<f32>) {
        let pair = |lo: u16, hi: u16| u32::from(lo) | u32::from(hi) << 16;
        for lane in 0..32 {
            let (group, member) = (lane / 4, 2 * (lane % 4));
            for (row, k) in [(group, member), (group + 8, member), (group, member + 8), (group + 8, member + 8)] {
                a.push(pair(self.a[row][k], self.a[row][k + 1]));
            }
            for k in [member, member + 8] {
                b.push(pair(self.b[k][group], self.b[k + 1][group]));
            }
            for row in [group, group + 8] {
                c.extend([self.c[row][member], self.c[row][member + 1]]);
            }
        }
    }
}

/// bf16 bits of a small whole number.
fn bf16(x: f32) -> u16 {
    (x.to_bits() >> 16) as u16
}

pub fn cases() -> Vec<Case> {
    let warps = BLOCK as usize / 32;
    // None, one, and one less and one more than a block, of each kind.
    [0, 1, warps - 1, warps + 1, ODD.len()].map(of).into()
}

fn of(each: usize) -> Case {
    let mut random = Random::of("mma", each);
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    (0..each).for_each(|_| Tile::whole(&mut random).append(&mut a, &mut b, &mut c));
    (0..each).for_each(|_| Tile::fractions(&mut random).append(&mut a, &mut b, &mut c));
    (0..each).for_each(|at| Tile::odd(ODD[at % ODD.len()]).append(&mut a, &mut b, &mut c));
    let case =
        Case::new("mma", "mma_bf16", format!("tiles=3*{each}")).over(3 * each * 32, BLOCK).scalar(3 * each as i32);
    case.input(&a).input(&b).input(&c).planes::<f32>(each * 128, &[Exact, SUMS, NUMBER])
}

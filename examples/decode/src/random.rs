//! Random numbers of the host: weights, prompts, arrivals. Those that choose tokens are the device's own.

/// A source of numbers; the same seed gives the same ones.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// From the start of a seed's sequence.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators; 2014).
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f32 {
        (self.word() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// A whole number below `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end.max(1) as u64) as usize
    }
}

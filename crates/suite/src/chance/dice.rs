//! Choices that a seed decides.

/// A generator of choices (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed);
        dice.roll();
        dice
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below this one, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }

    /// A number from the first to the last.
    pub fn between(&mut self, first: u8, last: u8) -> u8 {
        first + self.below(u64::from(last.saturating_sub(first)) + 1) as u8
    }

    /// True in so many cases of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of them, if there is any.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { Some(of[self.below(of.len() as u64) as usize]) }
    }

    /// The number of one of these weights.
    pub fn weighted(&mut self, weights: impl IntoIterator<Item = u64> + Clone) -> usize {
        let mut at = self.below(weights.clone().into_iter().sum());
        for (number, weight) in weights.into_iter().enumerate() {
            if at < weight {
                return number;
            }
            at -= weight;
        }
        0
    }
}

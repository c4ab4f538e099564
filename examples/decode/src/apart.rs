//! How far logits are from somebody else's, who adds up in another order, and what that says about greedy tokens.
//!
//! If no logit is further away than `d`, and the other's likeliest token is ahead of its second by more than `2 d`, both choose
//! that token. So a place is *clear* if it is that far ahead, by the bound that logits are held to, and there the token must be
//! the same. In a place that is not clear it may be another, and from then on the texts are different texts.

use crate::decoded::Texts;
use crate::reference::{Reference, TOLERANCE, distance, likeliest};
use crate::shape::Shape;
use crate::weights::Weights;

/// How far from plain Rust or from one device without ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// How far logits may be apart, as a part of the largest of their row.
    pub logits_max: f64,
    /// How far they were.
    pub logits: f64,
    /// Tokens that were compared.
    pub places: usize,
    /// Those of them that were clear.
    pub clear: usize,
    /// Clear places in which another token was chosen.
    pub other: usize,
}

impl Apart {
    fn nothing_seen(logits_max: f64) -> Apart {
        Apart { logits_max, logits: 0.0, places: 0, clear: 0, other: 0 }
    }

    /// The first sequences' first steps from plain Rust, which is given the same tokens.
    pub fn from_reference(
        texts: &Texts,
        shape: Shape,
        weights: &Weights<Vec<f32>>,
        [rows, steps]: [usize; 2],
    ) -> Apart {
        let mut apart = Apart::nothing_seen(TOLERANCE);
        for (row, text) in texts.texts.iter().enumerate().take(rows) {
            let mut reference = Reference::new(shape, weights);
            for (logits, tokens) in texts.logits.iter().zip(text.windows(2)).take(steps) {
                apart.see(&logits[row], tokens[1], &reference.step(tokens[0]));
            }
        }
        apart
    }

    /// From another run. Each of the two may be as far from plain Rust as is allowed, in opposite directions.
    pub fn from_other(texts: &Texts, other: &Texts) -> Apart {
        let mut apart = Apart::nothing_seen(2.0 * TOLERANCE);
        for (row, (text, other_text)) in texts.texts.iter().zip(&other.texts).enumerate() {
            let steps = texts.logits.iter().zip(&other.logits).zip(text.windows(2).zip(other_text));
            // Up to the first token that differs they were given the same.
            for ((logits, other), (tokens, _)) in steps.take_while(|(_, (tokens, read))| tokens[0] == **read) {
                let other: Vec<f64> = other[row].iter().map(|&logit| logit.into()).collect();
                apart.see(&logits[row], tokens[1], &other);
            }
        }
        apart
    }

    fn see(&mut self, logits: &[f32], token: u32, other: &[f64]) {
        let far = distance(logits, other);
        self.logits = if far.is_nan() { f64::INFINITY } else { self.logits.max(far) };
        self.places += 1;
        let (best, largest) = (likeliest(other), other.iter().fold(0.0, |most: f64, logit| most.max(logit.abs())));
        let others = other.iter().enumerate().filter(|(token, _)| *token != best as usize);
        let second = others.map(|(_, &logit)| logit).fold(f64::NEG_INFINITY, f64::max);
        if other[best as usize] - second > 2.0 * self.logits_max * largest {
            self.clear += 1;
            self.other += usize::from(token != best);
        }
    }

    /// Whether no logit was too far away and every clear token the same; and whether there was one.
    pub fn held(&self) -> bool {
        self.logits <= self.logits_max && self.clear > 0 && self.other == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One sequence of two steps that chooses these tokens.
    fn texts(tokens: [u32; 2], logits: [[f32; 3]; 2]) -> Texts {
        let [first, second] = tokens;
        Texts { texts: vec![vec![9, first, second]], logits: logits.map(|row| vec![row.to_vec()]).to_vec() }
    }

    #[test]
    fn a_token_must_be_the_same_where_it_is_clear_and_only_there() {
        let clear = texts([0, 2], [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]);
        let apart = Apart::from_other(&clear, &clear);
        assert_eq!((apart.places, apart.clear, apart.other, apart.logits), (2, 2, 0, 0.0));
        assert!(apart.held());
        let other = Apart::from_other(&texts([0, 1], [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]), &clear);
        assert_eq!((other.places, other.clear, other.other, other.held()), (2, 2, 1, false));

        // The first place is a tie by the bound: another token there is none of the ranks' faults, and what is behind it is
        // another text.
        let tie = texts([0, 2], [[1.0, 0.99999, 0.0], [0.0, 0.5, 1.0]]);
        let other = Apart::from_other(&texts([1, 0], [[0.99999, 1.0, 0.0], [5.0, 0.5, 1.0]]), &tie);
        assert_eq!((other.places, other.clear, other.other), (1, 0, 0));
        assert!(!other.held(), "nothing shown is not well shown");
    }

    #[test]
    fn a_logit_that_is_too_far_away_or_none_is_seen() {
        let one = texts([0, 2], [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]);
        for (logit, held) in [(0.50003, true), (0.50005, false), (f32::NAN, false)] {
            let far = texts([0, 2], [[1.0, 0.5, 0.0], [0.0, logit, 1.0]]);
            assert_eq!(Apart::from_other(&far, &one).held(), held, "{logit}");
        }
    }
}

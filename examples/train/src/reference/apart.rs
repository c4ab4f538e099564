//! How far ranks may be from one rank that has the whole batch, by the order of their sums alone.
//!
//! **What is the same.** From the same parameters, a row goes forward and back the same way whoever has it: no sum over a layer's
//! inputs or outputs asks for the other rows. The gradient of a rank's loss is that of the mean over its own rows, so its rows
//! weigh as many times more as there are ranks, and the average divides by that number again. Both are exact, because the
//! number is a power of two. So the ranks add the same terms, and only the order differs: each adds its own rows, then the
//! ranks' sums are added.
//!
//! **A gradient.** A sum of rounded additions is off by at most `γ(d) Σ|term|`, where `d` is the most additions that one term goes
//! through and `γ(d) = d u / (1 - d u)`, `u = 2^-24` (Higham, Accuracy and Stability of Numerical Algorithms, 4.2; a fused
//! multiply-add rounds once). Among `R` rows a thread adds at most `32 ⌈R / 128⌉` terms, then four threads' sums are added:
//! `d(R) = min(R, 32 ⌈R / 128⌉) + 3`. Between `N` ranks there are at most `N - 1` more, whatever the order. So the two gradients are
//! apart by at most `(γ(d(R)) + γ(d(R / N) + N - 1)) Σ|term|`: that factor is the **relative error**, relative to the sum of the
//! terms' sizes. Relative to the gradient itself there is no bound: terms may cancel.
//!
//! **A parameter.** Adam moves it by `rate · m̂ / (√v̂ + ε)`. A gradient that is off by `e` puts `m` off by `(1 - β1) e` and `v` by
//! `(1 - β2)(2|g|e + e²)`. The quotient grows with `m` and has one direction in `v`, so over that box it is furthest away at a corner:
//! the four corners are the bound, and not a derivative, which would be wrong where `v` is as small as its error. There the move
//! may be off by itself, up to twice the rate: a gradient near 0 has a sign by chance. The roundings of Adam itself are added.
//!
//! The bound is for one step, from the state that the ranks had before it. A bound of a whole training would multiply all steps'
//! slopes and say nothing; how far whole trainings come apart is shown, and held to what was seen.

use super::Reference;
use crate::data::Batch;
use crate::shape::Adam;

/// Half of the distance from 1 to the next number.
const U: f64 = 1.0 / (1u64 << 24) as f64;
/// No number goes through more roundings on its way through Adam.
const ADAM: f64 = 12.0;

/// How far one step of ranks and of one rank were apart.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Apart {
    /// The bound of the gradients, relative to the sums of their terms' sizes.
    pub gradient_max: f64,
    /// The largest difference of a parameter.
    pub difference: f64,
    /// The largest difference in units of its bound: over 1 it does not hold.
    pub of_bound: f64,
}

impl Apart {
    /// The worse of both, number by number.
    pub fn or_worse(self, other: Apart) -> Apart {
        let worse = |a: f64, b: f64| if b.is_nan() { b } else { a.max(b) };
        Apart {
            gradient_max: worse(self.gradient_max, other.gradient_max),
            difference: worse(self.difference, other.difference),
            of_bound: worse(self.of_bound, other.of_bound),
        }
    }
}

impl Reference {
    /// How far these ranks' loss and parameters after one step from this state are from those of one rank with the whole batch.
    pub fn apart(&self, rate: f32, batch: &Batch, ranks: usize, after: (f32, &[f32])) -> Apart {
        let (loss, terms) = self.terms(batch);
        let mut one = self.clone();
        one.update(rate, terms.iter().flat_map(super::Terms::sum).collect());
        let mut worst = Apart::default();
        let found = terms.iter().flat_map(|layer| {
            let factor = between(layer.rows(), ranks);
            layer.sum().into_iter().zip(layer.mass()).map(move |(g, mass)| (factor, f64::from(g), f64::from(mass)))
        });
        for (at, (factor, g, mass)) in found.enumerate() {
            // The mass was added with roundings itself. Below the smallest normal number errors are no longer relative.
            let e = factor * mass * (1.0 + 1e-3) + f64::from(f32::MIN_POSITIVE);
            let bound = self.bound(f64::from(rate), [one.powers[0], one.powers[1]], at, [g, e]);
            let difference = (f64::from(one.parameters[at]) - f64::from(after.1[at])).abs();
            worst = worst.or_worse(Apart { gradient_max: factor, difference, of_bound: difference / bound });
        }
        // The loss adds squares, none of which cancels: in a thread, in a block, over the blocks, and over the ranks.
        let parts = self.shape.loss_parts();
        let additions = 4 + 8 + 1 + parts.div_ceil(256) + 8;
        let bound = (gamma(additions) + gamma(additions + ranks)) * f64::from(loss);
        let difference = (f64::from(loss) - f64::from(after.0)).abs();
        worst.or_worse(Apart { of_bound: difference / bound, ..Apart::default() })
    }

    /// How far a parameter may be apart whose gradient `g` may be off by `e`.
    fn bound(&self, rate: f64, powers: [f32; 2], at: usize, [g, e]: [f64; 2]) -> f64 {
        let Adam { beta1, beta2, epsilon, .. } = self.adam;
        let [beta1, beta2, epsilon] = [beta1, beta2, epsilon].map(f64::from);
        let [past1, past2] = powers.map(|power| f64::from(1.0 - power));
        let (p, m, v) = (f64::from(self.parameters[at]), f64::from(self.mean[at]), f64::from(self.square[at]));
        let (m, v) = (beta1 * m + (1.0 - beta1) * g, beta2 * v + (1.0 - beta2) * g * g);
        let rounded = ADAM * U;
        let m_off =
            (1.0 - beta1) * e + rounded * (beta1 * f64::from(self.mean[at]).abs() + (1.0 - beta1) * (g.abs() + e));
        let v_off = (1.0 - beta2) * (2.0 * g.abs() * e + e * e);
        let v_off = v_off + rounded * (v + v_off) + f64::from(f32::MIN_POSITIVE);
        let moved = |m: f64, v: f64| rate * (m / past1) / ((v.max(0.0) / past2).sqrt() + epsilon);
        let corners = [(m - m_off, v - v_off), (m - m_off, v + v_off), (m + m_off, v - v_off), (m + m_off, v + v_off)];
        let off = corners.iter().map(|(m2, v2)| (moved(*m2, *v2) - moved(m, v)).abs()).fold(0.0, f64::max);
        let size = moved(m, v).abs() + off;
        off + rounded * size + 2.0 * U * (p.abs() + size)
    }
}

/// The relative error between a sum over so many rows and the same in parts on so many ranks.
fn between(rows: usize, ranks: usize) -> f64 {
    let depth = |rows: usize| rows.min(32 * rows.div_ceil(128)) + 3;
    gamma(depth(rows)) + gamma(depth(rows / ranks) + ranks - 1)
}

fn gamma(additions: usize) -> f64 {
    let off = additions as f64 * U;
    off / (1.0 - off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;
    use crate::shape::{Model, Shape};

    /// Ranks in plain Rust: each has its part of the rows, and the gradients are averaged.
    fn ranked(state: &Reference, rate: f32, batch: &Batch, ranks: usize) -> (f32, Reference) {
        let shape = state.shape;
        let each = (0..ranks).map(|rank| {
            let mut alone = state.clone();
            alone.shape.batch /= ranks;
            alone.gradient(&batch.part(shape, rank, ranks))
        });
        let share = 1.0 / ranks as f32;
        let sum = each.reduce(|(a, x), (b, y)| (a + b, x.iter().zip(&y).map(|(x, y)| x + y).collect()));
        let (loss, gradient) = sum.expect("there are ranks");
        let mut after = state.clone();
        after.update(rate, gradient.iter().map(|g| g * share).collect());
        (loss * share, after)
    }

    #[test]
    fn ranks_are_within_the_bound_and_a_lost_row_is_not() {
        for model in [Model::Gru, Model::Mlp] {
            let shape = Shape { model, hidden: 16, batch: 8, time: 5, layers: 2 };
            let mut state = Reference::new(shape, Adam::default(), data::parameters(shape, 3));
            let mut differs = false;
            for step in 0..6 {
                let batch = data::lesson(shape, 3, step);
                for ranks in [1, 2, 4, 8] {
                    let (loss, after) = ranked(&state, 0.01, &batch, ranks);
                    let apart = state.apart(0.01, &batch, ranks, (loss, &after.parameters));
                    assert!(apart.of_bound <= 1.0, "{model:?}, {ranks} ranks, step {step}: {apart:?}");
                    assert!(ranks > 1 || apart.difference == 0.0);
                    differs |= apart.difference > 0.0;
                }
                // A rank whose rows are somebody else's.
                let mut wrong = batch.clone();
                let half = wrong.targets.len() / 2;
                wrong.targets.copy_within(..half, half);
                let (loss, after) = ranked(&state, 0.01, &wrong, 2);
                assert!(state.apart(0.01, &batch, 2, (loss, &after.parameters)).of_bound > 10.0);
                state = ranked(&state, 0.01, &batch, 2).1;
            }
            assert!(differs, "the order of sums shows");
        }
    }

    /// The sum instead of the average: Adam forgives a factor, but not with moments from before, and not beside `v`'s epsilon.
    #[test]
    fn a_gradient_that_is_too_large_is_noticed() {
        let shape = Shape { model: Model::Mlp, hidden: 16, batch: 8, time: 2, layers: 2 };
        let mut state = Reference::new(shape, Adam::default(), data::parameters(shape, 3));
        state.step(0.01, &data::lesson(shape, 3, 0));
        let batch = data::lesson(shape, 3, 1);
        let (loss, gradient) = state.gradient(&batch);
        let mut after = state.clone();
        after.update(0.01, gradient.iter().map(|g| 2.0 * g).collect());
        assert!(state.apart(0.01, &batch, 2, (loss, &after.parameters)).of_bound > 10.0);
    }
}

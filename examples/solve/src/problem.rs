//! What is solved: -Δu = f on the unit square, u = 0 on its boundary.
//!
//! The square has side * side inner points at distance h = 1 / (side + 1). The five-point stencil makes A u = h² f of it,
//! with 4 on A's diagonal and -1 for each neighbour; that is the system, in f32. How right a solution is, is judged here in
//! f64 and without the solver's own numbers.

/// A system to solve, and its exact solution where that is known.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Points of a row, and rows.
    pub side: usize,
    /// The right-hand side, h² f, row by row.
    pub b: Vec<f32>,
    /// The function u itself at each point, which the system's solution comes close to as h gets small.
    pub exact: Option<Vec<f64>>,
}

impl Problem {
    /// u = sin(πx) sin(πy), so f = 2π² u. Its values are an eigenvector of A, so conjugate gradients need one round.
    pub fn sine(side: usize) -> Problem {
        use std::f64::consts::PI;
        let u = |x: f64, y: f64| (PI * x).sin() * (PI * y).sin();
        Problem::known(side, u, |x, y| 2.0 * PI * PI * u(x, y))
    }

    /// u = g(x) g(y) with g(t) = t (1 - t) eᵗ, so g'' = -t (t + 3) eᵗ: smooth, and no eigenvector.
    pub fn smooth(side: usize) -> Problem {
        let g = |t: f64| t * (1.0 - t) * t.exp();
        let bend = |t: f64| t * (t + 3.0) * t.exp();
        Problem::known(side, |x, y| g(x) * g(y), |x, y| bend(x) * g(y) + g(x) * bend(y))
    }

    /// f is random, evenly between -1 and 1: no solution is known, but every part of the spectrum takes part.
    pub fn random(side: usize, seed: u64) -> Problem {
        let (mut state, h) = (seed, 1.0 / (side as f64 + 1.0));
        let b = (0..side * side).map(|_| ((2.0 * unit(&mut state) - 1.0) * h * h) as f32).collect();
        Problem { side, b, exact: None }
    }

    fn known(side: usize, u: impl Fn(f64, f64) -> f64, f: impl Fn(f64, f64) -> f64) -> Problem {
        let h = 1.0 / (side as f64 + 1.0);
        let place = |i: usize| ((i % side + 1) as f64 * h, (i / side + 1) as f64 * h);
        let points = || (0..side * side).map(place);
        let b = points().map(|(x, y)| (h * h * f(x, y)) as f32).collect();
        Problem { side, b, exact: Some(points().map(|(x, y)| u(x, y)).collect()) }
    }

    /// The norm of b - A x as a part of that of b, computed anew in f64.
    pub fn residual(&self, x: &[f32]) -> f64 {
        let b_norm = norm(self.b.iter().map(|&b| f64::from(b)));
        let left = norm(self.b.iter().zip(self.apply(x)).map(|(&b, ax)| f64::from(b) - ax));
        if b_norm > 0.0 { left / b_norm } else { left }
    }

    /// The largest distance from the exact solution at any point, where that is known. NaN if there is one in x.
    pub fn error(&self, x: &[f32]) -> Option<f64> {
        let larger = |most: f64, next: f64| if next <= most { most } else { next };
        let exact = self.exact.as_ref()?;
        Some(exact.iter().zip(x).map(|(u, &x)| (f64::from(x) - u).abs()).fold(0.0, larger))
    }

    fn apply(&self, x: &[f32]) -> Vec<f64> {
        let side = self.side;
        let at = |is_there: bool, i: usize| if is_there { f64::from(x[i]) } else { 0.0 };
        let point = |i: usize| {
            let (row, column) = (i / side, i % side);
            let across = at(column > 0, i.wrapping_sub(1)) + at(column + 1 < side, i + 1);
            let along = at(row > 0, i.wrapping_sub(side)) + at(row + 1 < side, i + side);
            4.0 * f64::from(x[i]) - across - along
        };
        (0..x.len()).map(point).collect()
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// A number in [0, 1), by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators; 2014).
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

//! Examples to learn from: points on three arms of a spiral, the arm is the class. Made from a seed, without end.

use crate::shape::Shape;

/// A source of points and of first parameters; the same seed gives the same ones.
pub struct Spiral {
    state: u64,
}

impl Spiral {
    /// From the start of a seed's sequence.
    pub fn new(seed: u64) -> Spiral {
        Spiral { state: seed }
    }

    /// One batch: two coordinates an example, and its class.
    pub fn batch(&mut self, shape: Shape) -> (Vec<f32>, Vec<u32>) {
        let (mut points, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..shape.batch {
            let label = (self.next() % shape.classes as u64) as u32;
            let radius = 0.1 + 0.9 * self.unit();
            let turn = label as f32 / shape.classes as f32 + 0.5 * radius + 0.02 * (self.unit() - 0.5);
            let (sine, cosine) = (turn * std::f32::consts::TAU).sin_cos();
            // More inputs than two see the same point again, turned: the example stays learnable in every shape.
            points.extend((0..shape.inputs).map(|i| radius * if i % 2 == 0 { cosine } else { sine }));
            labels.push(label);
        }
        (points, labels)
    }

    /// First parameters: weights even around 0 and as wide as their fan-in asks, biases 0.
    pub fn parameters(&mut self, shape: Shape) -> [Vec<f32>; 4] {
        let Shape { inputs, hidden, classes, .. } = shape;
        let mut weights = |n: usize, fan: usize| -> Vec<f32> {
            let width = (6.0 / fan as f32).sqrt();
            (0..n).map(|_| width * (2.0 * self.unit() - 1.0)).collect()
        };
        let (first, second) = (weights(hidden * inputs, inputs), weights(classes * hidden, hidden));
        [first, vec![0.0; hidden], second, vec![0.0; classes]]
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators; 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

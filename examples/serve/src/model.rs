//! The model: the same layer sixteen times, on the device and in plain Rust.

use std::sync::Arc;

use dacapo::{Buffer, Device, Recorder, Result, Slice};

/// Numbers of a row.
pub const WIDTH: usize = 64;
/// Layers, each with weights of its own.
pub const LAYERS: usize = 16;

dacapo::kernels! {
    /// The one layer that there is.
    ///
    /// Safe by: the kernel compares its index with rows times width; a row of `x` and one of `w` have `width` elements.
    pub unsafe struct Kernels(include_str!("../kernels/serve.ptx")) {
        /// y ← wrapped(x Wᵀ + b), a row of `y` for each row of `x`.
        fn dense(x: &[f32], w: &[f32], b: &[f32], y: &out [f32], rows: u32 = y.len().checked_div(b.len()).unwrap_or(0),
                 width: u32 = b.len()) {
            requires: x.len() == y.len(), y.len() == rows as usize * b.len(), w.len() == b.len() * b.len();
            grid: linear(y.len(), 128);
        }
    }
}

/// One set of weights, on the device and on the host.
pub struct Weights {
    /// Which one: each answer says by which it was computed.
    pub generation: u32,
    layers: Vec<(Buffer<f32>, Buffer<f32>)>,
    host: Vec<(Vec<i32>, Vec<i32>)>,
}

impl Weights {
    /// The weights of a generation: small whole numbers, other ones for each.
    ///
    /// # Errors
    ///
    /// - No memory.
    pub fn new(device: &Device, generation: u32) -> Result<Arc<Weights>> {
        let mut random = u64::from(generation) + 1;
        let mut numbers = |count: usize| (0..count).map(|_| whole(&mut random, 2)).collect::<Vec<f32>>();
        let (mut layers, mut host) = (Vec::new(), Vec::new());
        for number in 0..LAYERS {
            let (w, b) = (numbers(WIDTH * WIDTH), numbers(WIDTH));
            let named = |what: &str| format!("{what}{number}, generation {generation}");
            layers.push((device.buffer(&w)?.named(named("w")), device.buffer(&b)?.named(named("b"))));
            let as_whole = |numbers: Vec<f32>| numbers.into_iter().map(|number| number as i32).collect();
            host.push((as_whole(w), as_whole(b)));
        }
        Ok(Arc::new(Weights { generation, layers, host }))
    }

    /// Records the model over these weights, for as many rows as `x` has.
    ///
    /// # Errors
    ///
    /// - What recording failed with.
    pub fn forward(&self, r: &mut Recorder<'_>, k: &Kernels, x: &Slice<f32>) -> Result<Buffer<f32>> {
        let (mut here, mut there) = (r.alloc::<f32>(x.len())?, r.alloc::<f32>(x.len())?);
        let mut y = r.output::<f32>(x.len())?;
        let (last, inner) = self.layers.split_last().expect("layers");
        for (number, (w, b)) in inner.iter().enumerate() {
            let from = if number == 0 { x } else { &here };
            r.run(k.dense(from, w, b, &mut there))?;
            std::mem::swap(&mut here, &mut there);
        }
        r.run(k.dense(&here, &last.0, &last.1, &mut y))?;
        Ok(y)
    }

    /// The same in plain Rust. All numbers are whole, so this is it to the bit.
    pub fn expected(&self, x: &[f32]) -> Vec<f32> {
        let mut rows: Vec<i32> = x.iter().map(|&x| x as i32).collect();
        for (w, b) in &self.host {
            let layer = |row: &[i32]| {
                let column = |(w, b): (&[i32], &i32)| (b + row.iter().zip(w).map(|(x, w)| x * w).sum::<i32>()) % 8;
                w.chunks(WIDTH).zip(b).map(column).collect::<Vec<i32>>()
            };
            rows = rows.chunks(WIDTH).flat_map(layer).collect();
        }
        rows.into_iter().map(|number| number as f32).collect()
    }
}

/// The next whole number of a sequence, at most so large.
pub fn whole(random: &mut u64, largest: u64) -> f32 {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*random >> 33) % (2 * largest + 1)) as f32 - largest as f32
}

//! The decode step for one sequence of `examples/decode`, with parts of its kernels left out or apart.

use dacapo::grid::{Grid, exact};
use dacapo::half::bf16;
use dacapo::{Buffer, Device, Graph, Recorder, Result, Slice, Stream, baked};
use dacapo_example_decode::gpt2::kernels::{ATTEND_ROWS, DOWN_STRIPS, QKV_GROUPS, ROWS, STRIPS, UP_GROUPS, WARPS};
use dacapo_example_decode::gpt2::weights::Layer;
use dacapo_example_decode::gpt2::{HEAD, Shape, Weights, head_blocks};

use super::kernels::Without;

dacapo::kernels! {
    /// The kernels of `gpt2.cu` for one sequence, and those of `apart.cu`.
    ///
    /// Safe by: as those of `gpt2.cu`, whose conditions these are; those of `apart.cu` count to `dim`, or have a block a head.
    pub unsafe struct Parts {
        fn gpt2_qkv_1(w: &[bf16], gain: &[bf16], x: &[f32], positions: &[u32], queries: &out [f32], keys: &mut [bf16],
                      values: &mut [bf16], context: u32, dim: u32 = gain.len()) {
            requires: positions.len() == 1, x.len() == gain.len(), w.len() == 3 * x.len() * x.len(), x.len() <= 768,
                queries.len() == x.len(), keys.len() == values.len(), keys.len() == context as usize * x.len(),
                w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: blocks((3 * x.len()).div_ceil(QKV_GROUPS * ROWS), 1, QKV_GROUPS * STRIPS);
        }
        fn gpt2_attend_out_1(w: &[bf16], queries: &[f32], keys: &[bf16], values: &[bf16], positions: &[u32],
                             shares: &out [f32], context: u32, dim: u32 = queries.len()) {
            requires: positions.len() == 1, w.len() == queries.len() * queries.len(), queries.len().is_multiple_of(HEAD),
                shares.len() == queries.len() / HEAD * queries.len(), keys.len() == values.len(),
                keys.len() == context as usize * queries.len(),
                w.aligned(16), queries.aligned(16), keys.aligned(16), values.aligned(16);
            grid: blocks(queries.len() / HEAD, queries.len().div_ceil(ATTEND_ROWS), WARPS);
        }
        /// With no heads, `shares` is not read.
        fn gpt2_up_1(w: &[bf16], gain: &[bf16], x: &[f32], shares: &[f32], y: &out [f32], u: &out [f32], heads: u32,
                     dim: u32 = gain.len(), hidden: u32 = u.len()) {
            requires: x.len() == gain.len(), w.len() == u.len() * x.len(), x.len() <= 768, x.len().is_multiple_of(HEAD),
                shares.len() >= heads as usize * x.len(), heads <= 12, y.len() == x.len(),
                w.aligned(16), gain.aligned(8), x.aligned(16), shares.aligned(16), y.aligned(16);
            grid: blocks(u.len().div_ceil(UP_GROUPS * ROWS), 1, UP_GROUPS * STRIPS);
        }
        fn gpt2_down_1(w: &[bf16], u: &[f32], y: &[f32], x: &out [f32], dim: u32 = x.len(), hidden: u32 = u.len()) {
            requires: w.len() == u.len() * x.len(), y.len() == x.len(), u.len().is_multiple_of(8), w.aligned(16), u.aligned(16);
            grid: blocks(x.len().div_ceil(ROWS), 1, DOWN_STRIPS);
        }
        fn gpt2_head_1(w: &[bf16], gain: &[bf16], x: &[f32], logits: &out [f32], best: &out [u64], dim: u32 = gain.len(),
                       vocabulary: u32 = logits.len()) {
            requires: x.len() == gain.len(), x.len() <= 768, x.len().is_multiple_of(HEAD), w.len() == logits.len() * x.len(),
                !best.is_empty(), w.aligned(16), gain.aligned(16), x.aligned(16);
            grid: blocks(best.len(), 1, WARPS);
        }
        fn apart_norm(gain: &[bf16], x: &[f32], n: &out [f32], dim: u32 = gain.len()) {
            requires: x.len() == gain.len(), n.len() == gain.len();
            grid: blocks(1, 1, WARPS);
        }
        fn apart_join(gain: &[bf16], x: &[f32], shares: &[f32], y: &out [f32], n: &out [f32], heads: u32,
                      dim: u32 = gain.len()) {
            requires: x.len() == gain.len(), y.len() == gain.len(), n.len() == gain.len(),
                shares.len() == heads as usize * gain.len();
            grid: blocks(1, 1, WARPS);
        }
        fn apart_attend(queries: &[f32], keys: &[bf16], values: &[bf16], positions: &[u32], out: &out [f32], context: u32) {
            requires: positions.len() == 1, queries.len().is_multiple_of(HEAD), out.len() == queries.len(),
                keys.len() == values.len(), keys.len() == context as usize * queries.len(), context > 0,
                queries.aligned(16), keys.aligned(16), values.aligned(16);
            grid: blocks(queries.len() / HEAD, 1, WARPS);
        }
    }
}

fn blocks(x: usize, y: usize, warps: usize) -> Grid {
    exact([x as u32, y as u32, 1], [32 * warps as u32, 1, 1])
}

/// A step that stays where it is, up to the logits: the same work in each replay.
pub struct Step {
    /// The step.
    pub graph: Graph<()>,
    /// What it thinks of every token.
    pub logits: Buffer<f32>,
}

impl Step {
    /// Records it. Without something, if that is left out by using other kernels.
    ///
    /// # Errors
    ///
    /// - The device refused.
    pub fn new(
        (device, stream): (&Device, &Stream),
        parts: &Parts,
        without: Option<Without>,
        shape: &Shape,
        weights: &Weights<Buffer<bf16>>,
        (token, position): (usize, usize),
    ) -> Result<Step> {
        let Shape { layers, dim, vocabulary, .. } = *shape;
        let embedded = stream.read(&weights.embedding[token * dim..(token + 1) * dim])?;
        let embedded: Vec<f32> = embedded.into_iter().map(f32::from).collect();
        let (first, mut logits) = (device.buffer(&embedded)?, device.zeros(vocabulary)?);
        let positions = device.buffer(&[position as u32])?;
        let mut keys = device.zeros::<bf16>(layers * shape.cache())?;
        let mut values = device.zeros::<bf16>(layers * shape.cache())?;
        let of = Of { parts, without, shape, positions: &positions };
        let graph = device.record(|r: &mut Recorder<'_>| {
            let mut x = r.alloc(dim)?;
            r.run(dacapo::copy(&first, &mut x))?;
            let caches = keys.chunks_mut(shape.cache()).zip(values.chunks_mut(shape.cache()));
            for (w, cache) in weights.layers.iter().zip(caches) {
                of.layer(r, w, &mut x, cache)?;
            }
            let mut best = r.alloc(head_blocks(shape, device.properties().multiprocessors))?;
            if without == Some(Without::NormInProduct) {
                let mut n = r.alloc(dim)?;
                r.run(parts.apart_norm(&weights.norm, &x, &mut n))?;
                return r.run(parts.gpt2_head_1(&weights.head, &weights.norm, &n, &mut logits, &mut best));
            }
            r.run(parts.gpt2_head_1(&weights.head, &weights.norm, &x, &mut logits, &mut best))
        })?;
        Ok(Step { graph, logits })
    }
}

/// What all layers have in common.
struct Of<'s> {
    parts: &'s Parts,
    without: Option<Without>,
    shape: &'s Shape,
    positions: &'s Buffer<u32>,
}

/// Keys and values of a layer.
type Cache<'s> = (&'s mut Slice<bf16>, &'s mut Slice<bf16>);

impl Of<'_> {
    fn layer(
        &self,
        r: &mut Recorder<'_>,
        w: &Layer<Buffer<bf16>>,
        x: &mut Slice<f32>,
        (keys, values): Cache<'_>,
    ) -> Result<()> {
        let (Of { parts: k, without, positions, .. }, Shape { dim, hidden, context, .. }) = (self, *self.shape);
        let (heads, context) = (baked((dim / HEAD) as u32), baked(context as u32));
        let (mut queries, mut y, mut u) = (r.alloc(dim)?, r.alloc(dim)?, r.alloc(hidden)?);
        let (mut shares, mut n) = (r.alloc(dim / HEAD * dim)?, r.alloc(dim)?);
        let (norm, qkv) = (&w.attention_norm, &w.qkv);
        match without {
            Some(Without::NormInProduct) => {
                r.run(k.apart_norm(norm, x, &mut n))?;
                r.run(k.gpt2_qkv_1(qkv, norm, &n, positions, &mut queries, keys, values, context))?;
                r.run(k.gpt2_attend_out_1(&w.out, &queries, keys, values, positions, &mut shares, context))?;
                let (mut joined, mut unused) = (r.alloc(dim)?, r.alloc(dim)?);
                r.run(k.apart_join(&w.mlp_norm, x, &shares, &mut y, &mut joined, heads))?;
                // No heads: nothing is added, and nothing of the shares is read.
                r.run(k.gpt2_up_1(&w.up, &w.mlp_norm, &joined, &shares, &mut unused, &mut u, baked(0)))?;
            }
            Some(Without::AttentionInProduct) => {
                r.run(k.gpt2_qkv_1(qkv, norm, x, positions, &mut queries, keys, values, context))?;
                let mut joined = r.alloc(dim)?;
                r.run(k.apart_attend(&queries, keys, values, positions, &mut n, context))?;
                r.run(k.gpt2_down_1(&w.out, &n, x, &mut joined))?;
                r.run(k.gpt2_up_1(&w.up, &w.mlp_norm, &joined, &n, &mut y, &mut u, baked(0)))?;
            }
            _ => {
                r.run(k.gpt2_qkv_1(qkv, norm, x, positions, &mut queries, keys, values, context))?;
                r.run(k.gpt2_attend_out_1(&w.out, &queries, keys, values, positions, &mut shares, context))?;
                r.run(k.gpt2_up_1(&w.up, &w.mlp_norm, x, &shares, &mut y, &mut u, heads))?;
            }
        }
        r.run(k.gpt2_down_1(&w.down, &u, &y, x))
    }
}

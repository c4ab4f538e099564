//! The transformer on a device, the state of its sequences, and one decode step as an operation.
//!
//! A step begins with `x`, the vectors of the tokens that the sequences stand at, and ends with the next tokens' vectors in
//! `x`. What it needs of the last step is device memory that the step itself moves on, so the host sets nothing in between.
//!
//! One sequence takes four kernels a layer, more take five; two more choose the token.

use dacapo::half::bf16;
use dacapo::{Buffer, Device, Op, Recorder, Result, Slice, Stream, baked};

use super::kernels::Kernels;
use super::shape::Shape;
use super::weights::Weights;

/// What a step does with the positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// Every sequence goes on to its next token.
    Next,
    /// They stay where they are: the same step again, for measuring.
    Stay,
}

/// The transformer: kernels and weights. It does not change.
pub struct Model {
    shape: Shape,
    kernels: Kernels,
    weights: Weights<Buffer<bf16>>,
    /// Blocks of the last product.
    head_blocks: usize,
}

/// The sequences: what a step reads from the last one and leaves for the next.
pub struct State {
    /// Where each sequence stands.
    positions: Buffer<u32>,
    /// How many tokens of it were given.
    lengths: Buffer<u32>,
    /// The tokens: [sequences, context].
    history: Buffer<u32>,
    /// Layer by layer: [sequences, heads, context, head].
    keys: Buffer<bf16>,
    values: Buffer<bf16>,
    /// The vectors of the tokens where the sequences stand, and the same in bf16.
    x: Buffer<f32>,
    rounded: Buffer<bf16>,
    /// What the last step thought of every token.
    logits: Buffer<f32>,
}

impl State {
    /// Sequences that stand at the first of these tokens, all given ones equally many.
    ///
    /// # Errors
    ///
    /// - Not as many texts as sequences, a text without a token or longer than the context.
    /// - What the device answered.
    pub fn new(device: &Device, stream: &Stream, model: &Model, prompts: &[&[u32]]) -> Result<State> {
        let Shape { layers, dim, vocabulary, context, sequences, .. } = model.shape;
        if prompts.len() != sequences || prompts.iter().any(|text| text.is_empty() || text.len() > context) {
            let what = format!("{} texts of 1 to {context} tokens are needed: one for each sequence", sequences);
            return Err(dacapo::Error::msg(what));
        }
        let mut history = vec![0; sequences * context];
        for (tokens, prompt) in history.chunks_mut(context).zip(prompts) {
            tokens[..prompt.len()].copy_from_slice(prompt);
        }
        let lengths: Vec<u32> = prompts.iter().map(|prompt| prompt.len() as u32).collect();
        let mut state = State {
            positions: device.zeros(sequences)?,
            lengths: device.buffer(&lengths)?,
            history: device.buffer(&history)?,
            keys: device.zeros(layers * model.shape.cache())?,
            values: device.zeros(layers * model.shape.cache())?,
            x: device.zeros(sequences * dim)?,
            rounded: device.zeros(sequences * dim)?,
            logits: device.zeros(sequences * vocabulary)?,
        };
        state.stand_at(stream, model, 0)?;
        Ok(state)
    }

    /// Brings every sequence to this position, wherever it was. What its cache holds of other positions stays.
    ///
    /// # Errors
    ///
    /// - A position that the context does not have.
    /// - What the device answered.
    pub fn stand_at(&mut self, stream: &Stream, model: &Model, position: usize) -> Result<()> {
        if position >= model.shape.context {
            let what = format!("position {position} is not in a context of {}", model.shape.context);
            return Err(dacapo::Error::msg(what));
        }
        stream.write(&mut self.positions, &vec![position as u32; model.shape.sequences])?;
        let State { positions, history, x, rounded, .. } = self;
        stream.run(model.kernels.gpt2_embed(history, positions, &model.weights.embedding, x, rounded))
    }

    /// The tokens of a sequence so far, given and chosen. Waits for them.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    pub fn tokens(&self, stream: &Stream, sequence: usize) -> Result<Vec<u32>> {
        let context = self.history.len() / self.positions.len();
        let position = stream.read(&self.positions[sequence..=sequence])?[0] as usize;
        let length = stream.read(&self.lengths[sequence..=sequence])?[0] as usize;
        stream.read(&self.history[sequence * context..sequence * context + (position + 1).max(length)])
    }

    /// What the last step thought of every token, sequence by sequence. Waits for it.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    pub fn logits(&self, stream: &Stream) -> Result<Vec<Vec<f32>>> {
        let vocabulary = self.logits.len() / self.positions.len();
        Ok(stream.read(&self.logits)?.chunks(vocabulary).map(<[f32]>::to_vec).collect())
    }
}

impl Model {
    /// Loads the kernels and brings the weights onto the device.
    ///
    /// # Errors
    ///
    /// - A shape that the kernels cannot do.
    /// - What the device answered.
    pub fn new(device: &Device, shape: Shape, weights: &Weights<Vec<bf16>>) -> Result<Model> {
        shape.check().map_err(dacapo::Error::msg)?;
        let weights = weights.map(|values| device.buffer(values))?;
        let head_blocks = head_blocks(&shape, device.properties().multiprocessors);
        Ok(Model { shape, kernels: Kernels::load(device)?, weights, head_blocks })
    }

    /// Its sizes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// One token for every sequence: layers, logits, the choice, and the state moved on.
    pub fn step(&self, state: &mut State, advance: Advance) -> impl Op<Out = ()> {
        move |r| {
            let mut best = r.alloc(self.shape.sequences * self.head_blocks)?;
            if self.shape.sequences == 1 {
                self.layers_of_one(r, state)?;
                let (k, w) = (&self.kernels, &self.weights);
                r.run(k.gpt2_head_1(&w.head, &w.norm, &state.x, &mut state.logits, &mut best).label("head"))?;
            } else {
                self.layers_of_many(r, state)?;
                self.head_of_many(r, state, &mut best)?;
            }
            let State { positions, lengths, history, x, rounded, .. } = state;
            let (table, step) = (&self.weights.embedding, baked(u32::from(advance == Advance::Next)));
            let choose = self.kernels.gpt2_choose(&best, lengths, positions, history, table, x, rounded, step);
            r.run(choose.label("choose"))
        }
    }

    fn layers_of_one(&self, r: &mut Recorder<'_>, state: &mut State) -> Result<()> {
        let (k, Shape { dim, hidden, context, .. }) = (&self.kernels, self.shape);
        let State { positions, keys, values, x, .. } = state;
        let (context, cache) = (baked(context as u32), self.shape.cache());
        let caches = keys.chunks_mut(cache).zip(values.chunks_mut(cache));
        for ((number, w), (keys, values)) in self.weights.layers.iter().enumerate().zip(caches) {
            let layer = |r: &mut Recorder<'_>| {
                let (mut queries, mut shares) = (r.alloc(dim)?, r.alloc(self.shape.heads() * dim)?);
                let (mut y, mut u) = (r.alloc(dim)?, r.alloc(hidden)?);
                r.run(k.gpt2_qkv_1(&w.qkv, &w.attention_norm, x, positions, &mut queries, keys, values, context))?;
                r.run(k.gpt2_attend_out_1(&w.out, &queries, keys, values, positions, &mut shares, context))?;
                r.run(k.gpt2_up_1(&w.up, &w.mlp_norm, x, &shares, &mut y, &mut u))?;
                r.run(k.gpt2_down_1(&w.down, &u, &y, x))
            };
            r.run(layer.label(format!("layer {number}")))?;
        }
        Ok(())
    }

    fn layers_of_many(&self, r: &mut Recorder<'_>, state: &mut State) -> Result<()> {
        let (k, Shape { dim, hidden, context, sequences, .. }) = (&self.kernels, self.shape);
        let State { positions, keys, values, x, rounded, .. } = state;
        let (context, cache, batch) = (baked(context as u32), self.shape.cache(), baked(sequences as u32));
        let caches = keys.chunks_mut(cache).zip(values.chunks_mut(cache));
        for ((number, w), (keys, values)) in self.weights.layers.iter().enumerate().zip(caches) {
            let layer = |r: &mut Recorder<'_>| {
                let (mut queries, mut attended) = (r.alloc(sequences * dim)?, r.alloc(sequences * dim)?);
                let mut u = r.alloc(sequences * hidden)?;
                if sequences <= 8 {
                    r.run(k.gpt2_qkv_8(
                        &w.qkv,
                        &w.attention_norm,
                        rounded,
                        positions,
                        &mut queries,
                        keys,
                        values,
                        context,
                    ))?;
                    r.run(k.gpt2_attend_8(&queries, keys, values, positions, &mut attended, context))?;
                    r.run(k.gpt2_add_8(&w.out, &attended, x, rounded, batch))?;
                    r.run(k.gpt2_up_8(&w.up, &w.mlp_norm, rounded, &mut u, batch))?;
                    r.run(k.gpt2_add_8(&w.down, &u, x, rounded, batch))
                } else {
                    r.run(k.gpt2_qkv_32(
                        &w.qkv,
                        &w.attention_norm,
                        rounded,
                        positions,
                        &mut queries,
                        keys,
                        values,
                        context,
                    ))?;
                    r.run(k.gpt2_attend_32(&queries, keys, values, positions, &mut attended, context))?;
                    r.run(k.gpt2_add_32(&w.out, &attended, x, rounded, batch))?;
                    r.run(k.gpt2_up_32(&w.up, &w.mlp_norm, rounded, &mut u, batch))?;
                    r.run(k.gpt2_add_32(&w.down, &u, x, rounded, batch))
                }
            };
            r.run(layer.label(format!("layer {number}")))?;
        }
        Ok(())
    }

    fn head_of_many(&self, r: &mut Recorder<'_>, state: &mut State, best: &mut Slice<u64>) -> Result<()> {
        let (k, Weights { head, norm, .. }, State { rounded, logits, .. }) = (&self.kernels, &self.weights, state);
        let batch = baked(self.shape.sequences as u32);
        if self.shape.sequences <= 8 {
            r.run(k.gpt2_head_8(head, norm, rounded, logits, best, batch).label("head"))
        } else {
            r.run(k.gpt2_head_32(head, norm, rounded, logits, best, batch).label("head"))
        }
    }
}

/// Blocks of the last product: two a multiprocessor, and no more than have something to do.
pub fn head_blocks(shape: &Shape, multiprocessors: u32) -> usize {
    (2 * multiprocessors as usize).clamp(1, shape.vocabulary.div_ceil(32))
}

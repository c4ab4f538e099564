//! The transformer on a device, the state of its sequences, and one decode step as an operation.
//!
//! The operation is written once: run on a stream it is the eager step, recorded it is a graph. All that one step needs of the
//! last one (tokens, positions, keys and values, where the generator stands) is device memory that the step itself moves on,
//! so the host sets nothing between two steps of a batch.
//!
//! Several ranks decode as one: each has a [`Split`] of the layers and of the cache, and the same step asks the others twice a
//! layer. A model without ranks has all of it, and asks nobody.

use dacapo::collective::{Communicator, Reduce};
use dacapo::random::Generator;
use dacapo::{Buffer, Device, Op, Recorder, Result, Slice, Slot, Stream, baked};

use crate::ending::Ending;
use crate::kernels::Kernels;
use crate::shape::Shape;
use crate::split::Split;
use crate::weights::Weights;

/// What a norm adds under its root.
pub const EPSILON: f32 = 1e-5;

/// In place of a sequence: the row of a batch that is padding.
pub const NOBODY: u32 = u32::MAX;

/// The transformer: kernels and weights. It does not change.
pub struct Model {
    shape: Shape,
    kernels: Kernels,
    weights: Weights<Buffer<f32>>,
    /// With whom it is shared. `None` is a model of one device.
    opt_ranks: Option<Communicator>,
}

/// How the next token is chosen. Slots: a change acts on the next step, recorded or not.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// 0 takes the likeliest; the larger, the more even.
    pub temperature: Slot<f32>,
    /// Among how many of the likeliest; 0 is all.
    pub top_k: Slot<u32>,
}

/// The sequences: what a step reads from the last one and leaves for the next.
pub struct State {
    /// Which sequence each row of the batch is; [`NOBODY`] for padding.
    rows: Buffer<u32>,
    /// Where each sequence stands.
    positions: Buffer<u32>,
    /// Where it ends.
    limits: Buffer<u32>,
    /// How many tokens of it were given.
    lengths: Buffer<u32>,
    /// The tokens, one more than the context for each sequence.
    history: Buffer<u32>,
    /// Layer by layer: [sequences, heads of this rank, context, head].
    keys: Buffer<f32>,
    values: Buffer<f32>,
    /// What the last step thought of every token, row by row.
    logits: Buffer<f32>,
    random: Generator,
}

impl Sampling {
    /// With these first values.
    pub fn new(temperature: f32, top_k: u32) -> Sampling {
        Sampling { temperature: Slot::new(temperature), top_k: Slot::new(top_k) }
    }
}

impl State {
    /// No sequence anywhere, and the generator at the beginning of a seed's sequence.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(device: &Device, shape: &Shape, seed: u64) -> Result<State> {
        State::of_part(device, shape, Split::WHOLE, seed)
    }

    /// The same for a rank: its part of the cache, and the rest whole. All ranks must be given the same seed, or they choose
    /// different tokens.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn of_part(device: &Device, shape: &Shape, split: Split, seed: u64) -> Result<State> {
        let Shape { layers, vocabulary, context, sequences, .. } = *shape;
        let cache = layers * split.cache(shape);
        Ok(State {
            rows: device.buffer(&vec![NOBODY; sequences])?,
            positions: device.zeros(sequences)?,
            limits: device.zeros(sequences)?,
            lengths: device.zeros(sequences)?,
            history: device.zeros(sequences * (context + 1))?,
            keys: device.zeros(cache)?,
            values: device.zeros(cache)?,
            logits: device.zeros(sequences * vocabulary)?,
            random: Generator::new(device, seed)?,
        })
    }

    /// Places a sequence: its first tokens, and how many shall come after them.
    ///
    /// # Errors
    ///
    /// - No such place, no first token, or more tokens than the context has.
    /// - What the device answered.
    pub fn admit(&mut self, stream: &Stream, place: usize, prompt: &[u32], new: usize) -> Result<()> {
        let sequences = self.positions.len();
        let room = self.history.len() / sequences;
        if place >= sequences || prompt.is_empty() || prompt.len() + new > room {
            let (given, asked) = (prompt.len(), prompt.len() + new);
            let what =
                format!("place {place} of {sequences}, {given} tokens given and {asked} in all, room for {room}");
            return Err(dacapo::Error::msg(what));
        }
        let start = place * room;
        stream.write(&mut self.history[start..start + prompt.len()], prompt)?;
        stream.write(&mut self.lengths[place..=place], &[prompt.len() as u32])?;
        stream.write(&mut self.limits[place..=place], &[(prompt.len() + new - 1) as u32])?;
        stream.write(&mut self.positions[place..=place], &[0])
    }

    /// Says which sequences the batch consists of, row by row; what is left of the rows is padding.
    ///
    /// # Errors
    ///
    /// - More than there are sequences.
    /// - What the device answered.
    pub fn batch(&mut self, stream: &Stream, places: &[u32]) -> Result<()> {
        if places.len() > self.rows.len() {
            let what = format!("a batch of {} rows, and there are {} sequences", places.len(), self.rows.len());
            return Err(dacapo::Error::msg(what));
        }
        let mut rows = places.to_vec();
        rows.resize(self.rows.len(), NOBODY);
        stream.write(&mut self.rows, &rows)
    }

    /// Brings the generator to the beginning of a seed's sequence.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn seed(&mut self, stream: &Stream, seed: u64) -> Result<()> {
        self.random.seed(stream, seed)
    }

    /// The tokens of a sequence so far, given and chosen. Waits for them.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    pub fn tokens(&self, stream: &Stream, place: usize) -> Result<Vec<u32>> {
        let room = self.history.len() / self.positions.len();
        let position = stream.read(&self.positions[place..=place])?[0] as usize;
        let length = stream.read(&self.lengths[place..=place])?[0] as usize;
        stream.read(&self.history[place * room..place * room + (position + 1).max(length)])
    }

    /// What the last step thought of every token, for the first so many rows. Waits for it.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    pub fn logits(&self, stream: &Stream, rows: usize) -> Result<Vec<Vec<f32>>> {
        let vocabulary = self.logits.len() / self.rows.len();
        let all = stream.read(&self.logits[..rows * vocabulary])?;
        Ok(all.chunks(vocabulary).map(<[f32]>::to_vec).collect())
    }

    /// Bytes of keys and values.
    pub fn cache_bytes(&self) -> usize {
        size_of::<f32>() * (self.keys.len() + self.values.len())
    }
}

impl Model {
    /// Loads the kernels and brings the weights onto the device.
    ///
    /// # Errors
    ///
    /// - A shape that the kernels cannot do.
    /// - What the device answered.
    pub fn new(device: &Device, shape: Shape, weights: &Weights<Vec<f32>>) -> Result<Model> {
        shape.check().map_err(dacapo::Error::msg)?;
        let weights = weights.map(|values| device.buffer(values))?;
        Ok(Model { shape, kernels: Kernels::load(device)?, weights, opt_ranks: None })
    }

    /// One rank's part of it, on the rank's device. All ranks give the same shape and the same weights, whole, and step together.
    ///
    /// # Errors
    ///
    /// - A shape that the kernels cannot do, or that so many ranks cannot share.
    /// - What the device answered.
    pub fn of_rank(comm: &Communicator, shape: Shape, weights: &Weights<Vec<f32>>) -> Result<Model> {
        let split = Split { rank: comm.rank(), size: comm.size() };
        shape.check().and_then(|()| split.check(&shape)).map_err(dacapo::Error::msg)?;
        let model = Model::new(comm.device(), shape, &split.weights(&shape, weights))?;
        Ok(Model { opt_ranks: Some(comm.clone()), ..model })
    }

    /// Its sizes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Which part of the layers it has.
    pub fn split(&self) -> Split {
        self.opt_ranks.as_ref().map_or(Split::WHOLE, |comm| Split { rank: comm.rank(), size: comm.size() })
    }

    /// Bytes of weights on its device.
    pub fn weight_bytes(&self) -> usize {
        size_of::<f32>() * self.weights.elements()
    }

    /// One token for each of the first `batch` rows: embedding, layers, logits, the choice, and the state moved on.
    pub fn step(&self, state: &mut State, sampling: &Sampling, batch: usize) -> impl Op<Out = ()> {
        self.step_with(state, sampling, batch, None)
    }

    /// The same step, but a sequence that chooses the end token ends there, and the sequences that go on are counted. As many
    /// kernels as [`step`](Model::step).
    pub fn step_until(
        &self,
        state: &mut State,
        sampling: &Sampling,
        batch: usize,
        ending: &mut Ending,
    ) -> impl Op<Out = ()> {
        self.step_with(state, sampling, batch, Some(ending))
    }

    fn step_with(
        &self,
        state: &mut State,
        sampling: &Sampling,
        batch: usize,
        ending: Option<&mut Ending>,
    ) -> impl Op<Out = ()> {
        move |r| {
            let (Model { shape, kernels: k, weights, .. }, all) = (self, state);
            let State { rows, positions, limits, lengths, history, keys, values, logits, random } = all;
            let Shape { dim, vocabulary, context, sequences, .. } = *shape;
            // What a rank has of the layers: its heads, its numbers inside the MLP, its cache.
            let split = self.split();
            let (mine, hidden, cache) = (split.dim(shape), split.hidden(shape), split.cache(shape));
            let (rows, logits) = (&rows[..batch], &mut logits[..batch * vocabulary]);
            let (head, scale) = (baked(shape.head() as u32), baked(1.0 / (shape.head() as f32).sqrt()));
            let (context, dim_, hidden_) = (baked(context as u32), baked(dim as u32), baked(hidden as u32));
            let epsilon = baked(EPSILON);

            let mut x = r.alloc(batch * dim)?;
            r.run(k.embed(rows, positions, limits, history, &weights.embedding, &mut x, context, dim_).label("embed"))?;
            let caches = keys.chunks_mut(cache).zip(values.chunks_mut(cache));
            for ((number, layer), (keys, values)) in weights.layers.iter().enumerate().zip(caches) {
                let attention = |r: &mut Recorder<'_>| {
                    let (mut normed, mut qkv) = (r.alloc(batch * dim)?, r.alloc(3 * batch * mine)?);
                    r.run(k.rms_norm(&x, &layer.attention_norm, &mut normed, epsilon))?;
                    r.run(self.linear(&normed, &layer.qkv, &mut qkv, batch))?;
                    let rope =
                        k.rope_append(&mut qkv, &weights.turns, rows, positions, limits, keys, values, context, head);
                    r.run(rope)?;
                    let mut attended = r.alloc(batch * mine)?;
                    r.run(k.attend(&qkv, keys, values, rows, positions, limits, &mut attended, context, head, scale))?;
                    r.run(self.onto_residual(&attended, &layer.out, &mut x, batch))
                };
                r.run(attention.label(format!("layer {number}/attention")))?;
                let mlp = |r: &mut Recorder<'_>| {
                    let (mut normed, mut gated) = (r.alloc(batch * dim)?, r.alloc(2 * batch * hidden)?);
                    r.run(k.rms_norm(&x, &layer.mlp_norm, &mut normed, epsilon))?;
                    r.run(self.linear(&normed, &layer.gate_up, &mut gated, batch))?;
                    let mut inner = r.alloc(batch * hidden)?;
                    r.run(k.swiglu(&gated, &mut inner, hidden_))?;
                    r.run(self.onto_residual(&inner, &layer.down, &mut x, batch))
                };
                r.run(mlp.label(format!("layer {number}/mlp")))?;
            }
            let mut normed = r.alloc(batch * dim)?;
            r.run(k.rms_norm(&x, &weights.norm, &mut normed, epsilon).label("logits"))?;
            r.run(self.linear(&normed, &weights.logits, logits, batch).label("logits"))?;
            // A number for each sequence, in the batch or not: so what a sequence is given does not depend on the batch.
            let (mut noise, mut next) = (r.alloc(sequences)?, r.alloc(batch)?);
            r.run(random.uniform(&mut noise).label("choose"))?;
            let (temperature, top_k) = (&sampling.temperature, &sampling.top_k);
            r.run(k.sample(logits, &noise, rows, &mut next, temperature, top_k).label("choose"))?;
            let Some(Ending { token, running, .. }) = ending else {
                return r.run(k.advance(rows, &next, lengths, limits, positions, history, context).label("advance"));
            };
            let advance = k.advance_until(rows, &next, lengths, limits, positions, history, running, &*token, context);
            r.run(advance.label("advance"))
        }
    }

    /// x ← x + part Wᵀ, where each rank has a part of the inputs and the columns of W that belong to it.
    ///
    /// Every rank has the same residual in `x`. Rank 0 adds its product to it, the others write theirs in its place: so what is
    /// summed over the ranks is the residual once and every product once, and no memory is needed but `x`. All ranks get the
    /// same bits, because the sum is one sum that all are given. One rank adds as a model without ranks does, and its sum is
    /// what it has, so the bits are the same.
    ///
    /// Several ranks add the same numbers in another order: N roundings of sums as large as the residual in place of one, each
    /// 6e-8 of it, beside products that are shorter. With 4 layers of 256 the logits of 1, 2, 4 and 8 ranks were seen within
    /// 3.8e-7, 4.6e-7, 5.3e-7 and 5.6e-7 of the largest from double precision; 2e-5 is allowed. To add up the products first, and
    /// the residual to their sum, would round less often at that size, but takes memory and a kernel more.
    fn onto_residual(&self, part: &Slice<f32>, w: &Slice<f32>, x: &mut Slice<f32>, batch: usize) -> impl Op<Out = ()> {
        move |r| {
            let Some(comm) = &self.opt_ranks else { return r.run(self.linear_add(part, w, x, batch)) };
            match comm.rank() {
                0 => r.run(self.linear_add(part, w, x, batch))?,
                _ => r.run(self.linear(part, w, x, batch))?,
            }
            r.run(comm.all_reduce_in_place(x, Reduce::Sum))
        }
    }

    /// y ← x Wᵀ with the kernel that takes as many rows at once as there are, up to eight.
    fn linear(&self, x: &Slice<f32>, w: &Slice<f32>, y: &mut Slice<f32>, batch: usize) -> impl Op<Out = ()> {
        move |r| {
            let (k, rows) = (&self.kernels, baked(batch as u32));
            match batch {
                0..=1 => r.run(k.linear_1(x, w, y, rows)),
                2 => r.run(k.linear_2(x, w, y, rows)),
                3..=4 => r.run(k.linear_4(x, w, y, rows)),
                _ => r.run(k.linear_8(x, w, y, rows)),
            }
        }
    }

    /// y ← y + x Wᵀ, likewise.
    fn linear_add(&self, x: &Slice<f32>, w: &Slice<f32>, y: &mut Slice<f32>, batch: usize) -> impl Op<Out = ()> {
        move |r| {
            let (k, rows) = (&self.kernels, baked(batch as u32));
            match batch {
                0..=1 => r.run(k.linear_add_1(x, w, y, rows)),
                2 => r.run(k.linear_add_2(x, w, y, rows)),
                3..=4 => r.run(k.linear_add_4(x, w, y, rows)),
                _ => r.run(k.linear_add_8(x, w, y, rows)),
            }
        }
    }
}

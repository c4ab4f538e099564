//! A checkpoint on a device: the step of one sequence as an operation, and what a step leaves for the next.
//!
//! The operation is written once: run on a stream it is the eager step, recorded it is a graph. Token, position, keys and
//! values are device memory that the step itself moves on, so the host sets nothing between two steps.

use dacapo::flow::{nonzero, up_to};
use dacapo::random::Generator;
use dacapo::{Buffer, Device, Op, Recorder, Result, Scalar, Slot, Stream, Temp, baked};

use super::config::Config;
use super::kernels::{Attention, SharedKernels, Step, Weight};
use super::weights::Weights;

/// In place of a token: none of the logits was a number.
pub const NO_TOKEN: u32 = u32::MAX;
/// A context up to this is attended to by one block a head.
const WHOLE_MAX: u32 = 256;
/// A longer one in spans of this, side by side.
const SPAN: u32 = 128;

/// The model: kernels and weights. It does not change.
pub struct Model<T: Weight> {
    config: Config,
    kernels: T::Kernels,
    shared: SharedKernels,
    weights: Weights<T>,
}

/// A sequence: what a step reads from the last one and leaves for the next.
pub struct Sequence<T: Weight> {
    attention: Attention,
    /// Where it stands.
    position: Scalar<u32>,
    /// Tokens that were given.
    length: Scalar<u32>,
    /// Where it ends.
    limit: Scalar<u32>,
    /// Whether there is another step.
    running: Scalar<u32>,
    /// What is being chosen.
    best: Scalar<u64>,
    /// The tokens, given and chosen.
    history: Buffer<u32>,
    /// Tokens that end it.
    ends: Buffer<u32>,
    /// Layer by layer: [kv_heads, context, head].
    keys: Buffer<T>,
    values: Buffer<T>,
    /// Cosine and sine for each position and pair of a head.
    turns: Buffer<f32>,
    /// What the last step thought of every token.
    logits: Buffer<f32>,
    opt_drawing: Option<Drawing>,
}

/// What a step draws tokens with.
struct Drawing {
    temperature: Slot<f32>,
    random: Generator,
}

/// How tokens are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// The likeliest.
    Greedy,
    /// Drawn by their probabilities at a temperature.
    Drawn {
        /// How even they are; above 0.
        temperature: f32,
        /// Decides what is drawn.
        seed: u64,
    },
}

impl<T: Weight> Model<T> {
    /// Loads the kernels for weights that are on the device.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(device: &Device, config: &Config, weights: Weights<T>) -> Result<Model<T>> {
        let (kernels, shared) = (T::load(device)?, SharedKernels::load(device)?);
        Ok(Model { config: config.clone(), kernels, shared, weights })
    }

    /// What config.json says of it.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// One given token on: nothing is chosen, and no logits are computed.
    pub fn feed(&self, sequence: &mut Sequence<T>) -> impl Op<Out = ()> {
        move |r: &mut Recorder<'_>| {
            self.layers(r, sequence)?;
            r.run(self.shared.feed(&mut sequence.position, &sequence.length).label("advance"))
        }
    }

    /// One token: embedding, layers, logits, the choice, and the sequence moved on.
    pub fn step(&self, sequence: &mut Sequence<T>) -> impl Op<Out = ()> {
        move |r: &mut Recorder<'_>| {
            let x = self.layers(r, sequence)?;
            let (k, shared, weights, epsilon) =
                (&self.kernels, &self.shared, &self.weights, baked(self.config.epsilon));
            let Sequence { position, limit, running, best, history, ends, logits, opt_drawing, .. } = sequence;
            let matrix = weights.opt_logits.as_ref().unwrap_or(&weights.embedding);
            r.run(k.norm_linear(&x, &weights.norm, matrix, logits, epsilon).label("logits"))?;
            match opt_drawing {
                None => r.run(shared.choose(logits, best).label("choose"))?,
                Some(Drawing { temperature, random }) => {
                    let mut noise = r.alloc(logits.len())?;
                    r.run(random.uniform(&mut noise).label("choose"))?;
                    r.run(shared.draw(logits, &noise, best, &*temperature).label("choose"))?;
                }
            }
            r.run(shared.advance(best, ends, position, limit, history, running).label("advance"))
        }
    }

    /// The rest of the text: steps until it has ended, in a loop that a graph runs on the device.
    pub fn text(&self, sequence: &mut Sequence<T>) -> impl Op<Out = ()> {
        move |r: &mut Recorder<'_>| {
            // No sequence gets beyond the context: the bound is there for the reader, and for a mistake in a kernel.
            let at_most = up_to(baked(sequence.attention.context));
            r.repeat(at_most, |r| {
                r.run(self.step(sequence))?;
                Ok(nonzero(&sequence.running))
            })
            .map(drop)
        }
    }

    /// The vector of the token that the sequence stands at, through all layers; its keys and values are in the cache.
    fn layers<'r>(&self, r: &mut Recorder<'r>, sequence: &mut Sequence<T>) -> Result<Temp<'r, f32>> {
        let (k, weights, config) = (&self.kernels, &self.weights, &self.config);
        let Sequence { attention, position, history, keys, values, turns, .. } = sequence;
        let (all, spans) = (config.heads * config.head, attention.spans() as usize);
        let (cache, epsilon) = (keys.len() / config.layers, baked(config.epsilon));
        let mut x = r.alloc(config.dim)?;
        r.run(k.embed(history, position, &weights.embedding, &mut x).label("embed"))?;
        let caches = keys.chunks_mut(cache).zip(values.chunks_mut(cache));
        for ((number, layer), (keys, values)) in weights.layers.iter().enumerate().zip(caches) {
            let attend = |r: &mut Recorder<'_>| {
                let (mut qkv, mut attended) = (r.alloc(config.qkv_rows())?, r.alloc(all)?);
                r.run(k.norm_linear(&x, &layer.attention_norm, &layer.qkv, &mut qkv, epsilon))?;
                let mut tops = r.alloc(2 * spans * config.heads)?;
                if spans == 1 {
                    let out = &mut attended;
                    r.run(k.attend(&qkv, turns, position, keys, values, out, &mut tops, *attention))?;
                } else {
                    let (mut parts, [heads, head]) =
                        (r.alloc(spans * all)?, [attention.heads, attention.head].map(baked));
                    let out = &mut parts;
                    r.run(k.attend(&qkv, turns, position, keys, values, out, &mut tops, *attention))?;
                    r.run(self.shared.combine(&parts, &tops, &mut attended, heads, head))?;
                }
                r.run(k.linear_add(&attended, &layer.out, &mut x))
            };
            r.run(attend.label(format!("layer {number}/attention")))?;
            let mlp = |r: &mut Recorder<'_>| {
                let mut inner = r.alloc(config.hidden)?;
                r.run(k.norm_gate(&x, &layer.mlp_norm, &layer.gate_up, &mut inner, epsilon))?;
                r.run(k.linear_add(&inner, &layer.down, &mut x))
            };
            r.run(mlp.label(format!("layer {number}/mlp")))?;
        }
        Ok(x)
    }
}

impl<T: Weight> Sequence<T> {
    /// A sequence that begins with these tokens, with room for so many more.
    ///
    /// # Errors
    ///
    /// - No token was given, or none shall be chosen.
    /// - What the device answered.
    pub fn new(device: &Device, config: &Config, given: &[u32], new: usize, choice: Choice) -> Result<Sequence<T>> {
        Sequence::spanned(device, config, given, new, choice, None)
    }

    /// The same, with attention in spans of so many positions.
    ///
    /// # Errors
    ///
    /// - As [`new`](Sequence::new).
    pub fn spanned(
        device: &Device,
        config: &Config,
        given: &[u32],
        new: usize,
        choice: Choice,
        opt_span: Option<u32>,
    ) -> Result<Sequence<T>> {
        if given.is_empty() || new == 0 {
            return Err(dacapo::Error::msg("a sequence begins with a token and goes on for at least one"));
        }
        // The last token that is chosen is never looked at.
        let context = given.len() + new - 1;
        let size = context as u32;
        let attention = Attention {
            context: size,
            head: config.head as u32,
            heads: config.heads as u32,
            group: (config.heads / config.kv_heads) as u32,
            span: opt_span.unwrap_or(if size <= WHOLE_MAX { size } else { SPAN }),
        };
        let mut history = given.to_vec();
        history.resize(context + 1, 0);
        // A buffer has at least one element, and no token is this one.
        let ends = if config.ends.is_empty() { &[NO_TOKEN] } else { &config.ends[..] };
        let cache = config.layers * config.kv_heads * context * config.head;
        let opt_drawing = match choice {
            Choice::Greedy => None,
            Choice::Drawn { temperature, seed } => {
                Some(Drawing { temperature: Slot::new(temperature), random: Generator::new(device, seed)? })
            }
        };
        Ok(Sequence {
            attention,
            position: device.scalar(0)?.named("position"),
            length: device.scalar(given.len() as u32)?.named("length"),
            limit: device.scalar(size)?.named("limit"),
            running: device.scalar(1)?.named("running"),
            best: device.scalar(0)?.named("best"),
            history: device.buffer(&history)?.named("history"),
            ends: device.buffer(ends)?.named("ends"),
            keys: device.zeros(cache)?.named("keys"),
            values: device.zeros(cache)?.named("values"),
            turns: device.buffer(&config.rope.turns(config.head, context))?.named("turns"),
            logits: device.zeros(config.vocabulary)?.named("logits"),
            opt_drawing,
        })
    }

    /// The tokens, given and chosen; those that were not reached are 0.
    pub fn history(&self) -> &Buffer<u32> {
        &self.history
    }

    /// How many tokens there are by now. Waits for the last step.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn reached(&self, stream: &Stream) -> Result<usize> {
        Ok(self.position.get(stream)? as usize + 1)
    }

    /// What the last step thought of every token. Waits for it.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn logits(&self, stream: &Stream) -> Result<Vec<f32>> {
        stream.read(&self.logits)
    }

    /// Bytes of keys and values.
    pub fn cache_bytes(&self) -> usize {
        size_of::<T>() * (self.keys.len() + self.values.len())
    }
}

//! The weights on the device, brought there in pieces.
//!
//! The files are mapped, so that the host holds no copy of the model: several threads copy pieces from the system's page
//! cache into page-locked memory of the library's, and one stream carries them to the device meanwhile.

use std::borrow::Cow;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dacapo::{Buffer, Device, Result, Slice, Stream};
use half::{bf16, f16};

use super::config::Config;
use super::files::{Files, Tensor};
use super::kernels::Weight;
use super::needs::{EMBEDDING, Kind, LOGITS, NORM, of_layer};

/// Bytes of a piece: what the library copies at once.
const PIECE: usize = 8 << 20;
/// More threads than this copy no faster.
const THREADS_MAX: usize = 8;

/// The weights of one layer. Matrices are [outputs, inputs], row by row.
pub struct Layer<T: Weight> {
    /// Gains of the norm before attention.
    pub attention_norm: Buffer<f32>,
    /// Queries, then keys, then values.
    pub qkv: Buffer<T>,
    /// The projection behind attention.
    pub out: Buffer<T>,
    /// Gains of the norm before the MLP.
    pub mlp_norm: Buffer<f32>,
    /// Gates, then what they gate.
    pub gate_up: Buffer<T>,
    /// Back from inside the MLP.
    pub down: Buffer<T>,
}

/// All weights.
pub struct Weights<T: Weight> {
    /// A vector for each token.
    pub embedding: Buffer<T>,
    /// The layers, first to last.
    pub layers: Vec<Layer<T>>,
    /// Gains of the last norm.
    pub norm: Buffer<f32>,
    /// The matrix of the logits, where it is not the embedding.
    pub opt_logits: Option<Buffer<T>>,
}

/// A part of a tensor on its way.
struct Piece<'w, 'f, T: Weight> {
    tensor: &'f Tensor,
    bytes: Range<usize>,
    target: &'w mut Slice<T>,
}

impl<T: Weight> Weights<T> {
    /// Brings the weights of a checkpoint that was [checked](super::needs::check) onto the device. `progress` hears of bytes.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn upload(
        device: &Device,
        config: &Config,
        files: &Files,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Weights<T>> {
        let mut weights = Weights::empty(device, config, files)?;
        let mut pieces = Vec::new();
        for (name, target) in weights.places(config) {
            let tensor = &files.tensors()[&name];
            let mut start = 0;
            for target in target.chunks_mut(PIECE / size_of::<T>()) {
                let end = start + target.len() * size_of::<T>();
                pieces.push(Piece { tensor, bytes: start..end, target });
                start = end;
            }
        }
        let stream = device.stream()?;
        carry(&stream, files, pieces, progress)?;
        stream.synchronize()?;
        Ok(weights)
    }

    /// The memory, with the gains in it already.
    fn empty(device: &Device, config: &Config, files: &Files) -> Result<Weights<T>> {
        let Config { dim, heads, head, hidden, vocabulary, .. } = *config;
        let gains = |name: &str| device.buffer(&gains(files, &files.tensors()[name]));
        let layer = |layer| {
            Ok(Layer {
                attention_norm: gains(&of_layer(layer, "input_layernorm"))?,
                qkv: device.zeros(config.qkv_rows() * dim)?,
                out: device.zeros(dim * heads * head)?,
                mlp_norm: gains(&of_layer(layer, "post_attention_layernorm"))?,
                gate_up: device.zeros(2 * hidden * dim)?,
                down: device.zeros(dim * hidden)?,
            })
        };
        Ok(Weights {
            embedding: device.zeros(vocabulary * dim)?,
            layers: (0..config.layers).map(layer).collect::<Result<_>>()?,
            norm: gains(NORM)?,
            opt_logits: if config.tied { None } else { Some(device.zeros(vocabulary * dim)?) },
        })
    }

    /// Where each matrix of the files belongs.
    fn places(&mut self, config: &Config) -> Vec<(String, &mut Slice<T>)> {
        let Config { dim, heads, kv_heads, head, hidden, .. } = *config;
        let mut places: Vec<(String, &mut Slice<T>)> = vec![(EMBEDDING.into(), &mut *self.embedding)];
        for (number, layer) in self.layers.iter_mut().enumerate() {
            let (q, kv) = layer.qkv.split_at_mut(heads * head * dim);
            let (k, v) = kv.split_at_mut(kv_heads * head * dim);
            let (gate, up) = layer.gate_up.split_at_mut(hidden * dim);
            for (rest, target) in [
                ("self_attn.q_proj", q),
                ("self_attn.k_proj", k),
                ("self_attn.v_proj", v),
                ("self_attn.o_proj", &mut *layer.out),
                ("mlp.gate_proj", gate),
                ("mlp.up_proj", up),
                ("mlp.down_proj", &mut *layer.down),
            ] {
                places.push((of_layer(number, rest), target));
            }
        }
        if let Some(logits) = &mut self.opt_logits {
            places.push((LOGITS.into(), &mut **logits));
        }
        places
    }
}

/// Copies all pieces, by several threads on one stream.
fn carry<T: Weight>(
    stream: &Stream,
    files: &Files,
    pieces: Vec<Piece<'_, '_, T>>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX).min(pieces.len());
    let (waiting, failed) = (Mutex::new(pieces.into_iter()), AtomicBool::new(false));
    let next = || waiting.lock().ok().and_then(|mut pieces| pieces.next()).filter(|_| !failed.load(Ordering::Relaxed));
    let work = || {
        while let Some(Piece { tensor, bytes, target }) = next() {
            files.populate(tensor, bytes.clone());
            let elements = elements::<T>(&files.bytes(tensor)[bytes.clone()]);
            stream.write(target, &elements).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            progress(bytes.len() as u64);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mine = work();
        others
            .into_iter()
            .map(|other| other.join().expect("a copying thread panics only with the library"))
            .fold(mine, Result::and)
    })
}

/// Bytes as elements. They are copied only where a file does not keep them aligned.
fn elements<T: Weight>(bytes: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(elements) => Cow::Borrowed(elements),
        Err(_) => Cow::Owned(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()),
    }
}

/// The gains of a norm, of whatever type.
fn gains(files: &Files, tensor: &Tensor) -> Vec<f32> {
    fn wide<T: Weight>(bytes: &[u8]) -> Vec<f32> {
        elements::<T>(bytes).iter().map(|&gain| gain.wide()).collect()
    }
    let bytes = files.bytes(tensor);
    match Kind::of(tensor.dtype) {
        Some(Kind::Bf16) => wide::<bf16>(bytes),
        Some(Kind::F16) => wide::<f16>(bytes),
        Some(Kind::F32) => wide::<f32>(bytes),
        None => unreachable!("the types of gains have been checked"),
    }
}

//! The tensors that a model consists of, by name and shape, and the check that a checkpoint has just these.
//!
//! A tensor that is missing, has another shape or type, or belongs to nothing is refused by name. Two are let be: the
//! frequencies that old files carry along and config.json gives, and `lm_head.weight` beside tied embeddings where it is
//! byte by byte the embedding.

use safetensors::tensor::Dtype;

use super::config::Config;
use super::failure::Refused;
use super::files::{Files, Tensor};

/// Table of the tokens' vectors.
pub const EMBEDDING: &str = "model.embed_tokens.weight";
/// The gains of the last norm.
pub const NORM: &str = "model.norm.weight";
/// The matrix of the logits.
pub const LOGITS: &str = "lm_head.weight";

/// The types of weights that there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// bfloat16.
    Bf16,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
}

impl Kind {
    /// The one of a type in a file, if it is one of them.
    pub fn of(dtype: Dtype) -> Option<Kind> {
        match dtype {
            Dtype::BF16 => Some(Kind::Bf16),
            Dtype::F16 => Some(Kind::F16),
            Dtype::F32 => Some(Kind::F32),
            _ => None,
        }
    }
}

/// The name of a tensor of a layer.
pub fn of_layer(layer: usize, rest: &str) -> String {
    format!("model.layers.{layer}.{rest}.weight")
}

/// The matrices of a layer, as files name them, with rows and columns.
fn matrices(config: &Config) -> [(&'static str, [usize; 2]); 7] {
    let Config { dim, heads, kv_heads, head, hidden, .. } = *config;
    [
        ("self_attn.q_proj", [heads * head, dim]),
        ("self_attn.k_proj", [kv_heads * head, dim]),
        ("self_attn.v_proj", [kv_heads * head, dim]),
        ("self_attn.o_proj", [dim, heads * head]),
        ("mlp.gate_proj", [hidden, dim]),
        ("mlp.up_proj", [hidden, dim]),
        ("mlp.down_proj", [dim, hidden]),
    ]
}

/// Finds every tensor of the model, and nothing else. Says which type its matrices have.
///
/// # Errors
///
/// - The first tensor that is not as it must be.
pub fn check(config: &Config, files: &Files) -> Result<Kind, Refused> {
    let table = shaped(files, EMBEDDING, &[config.vocabulary, config.dim])?;
    let kind = Kind::of(table.dtype).ok_or_else(|| unknown_type(files, EMBEDDING, table))?;
    let matrix = |name: &str, shape: [usize; 2]| {
        let tensor = shaped(files, name, &shape)?;
        match Kind::of(tensor.dtype) {
            Some(found) if found == kind => Ok(()),
            Some(_) => {
                let what = format!("`{name}` is {}, and `{EMBEDDING}` is {}", tensor.dtype, table.dtype);
                let help = "the matrices of a model must have one type: convert the checkpoint to one";
                Err(Refused::new("type", files.place(tensor), what, help))
            }
            None => Err(unknown_type(files, name, tensor)),
        }
    };
    let gain = |name: &str| {
        let tensor = shaped(files, name, &[config.dim])?;
        Kind::of(tensor.dtype).map(drop).ok_or_else(|| unknown_type(files, name, tensor))
    };
    for layer in 0..config.layers {
        for (rest, shape) in matrices(config) {
            matrix(&of_layer(layer, rest), shape)?;
        }
        gain(&of_layer(layer, "input_layernorm"))?;
        gain(&of_layer(layer, "post_attention_layernorm"))?;
    }
    gain(NORM)?;
    if !config.tied {
        matrix(LOGITS, [config.vocabulary, config.dim])?;
    }
    nothing_else(config, files).map(|()| kind)
}

/// Refuses the first tensor that is not part of the model.
fn nothing_else(config: &Config, files: &Files) -> Result<(), Refused> {
    for (name, tensor) in files.tensors() {
        if is_part(config, name) || name.ends_with(".self_attn.rotary_emb.inv_freq") {
            continue;
        }
        if name == LOGITS {
            let table = &files.tensors()[EMBEDDING];
            if tensor.dtype == table.dtype && tensor.shape == table.shape && files.bytes(tensor) == files.bytes(table) {
                continue;
            }
            let what = format!("`{LOGITS}` is not `{EMBEDDING}`, and config.json says `tie_word_embeddings`: true");
            let help = "set `tie_word_embeddings` to false if the logits are meant to be computed with it";
            return Err(Refused::new("tensor", files.place(tensor), what, help));
        }
        let what = format!("`{name}` of shape {:?} is no part of the model that config.json describes", tensor.shape);
        let help =
            "config.json and the weights must be of one checkpoint; biases, adapters and scales are not implemented";
        return Err(Refused::new("tensor", files.place(tensor), what, help));
    }
    Ok(())
}

fn is_part(config: &Config, name: &str) -> bool {
    let Some(rest) = name.strip_prefix("model.layers.") else {
        return name == EMBEDDING || name == NORM || (name == LOGITS && !config.tied);
    };
    let Some((layer, rest)) = rest.split_once('.') else { return false };
    // By the name that is asked for, so that `model.layers.01` is no layer.
    let known = layer.parse().is_ok_and(|number: usize| number < config.layers && number.to_string() == layer);
    let norms = ["input_layernorm", "post_attention_layernorm"];
    let mut parts = matrices(config).map(|(part, _)| part).into_iter().chain(norms);
    known && rest.strip_suffix(".weight").is_some_and(|rest| parts.any(|part| part == rest))
}

/// A tensor that must have this shape.
fn shaped<'f>(files: &'f Files, name: &str, shape: &[usize]) -> Result<&'f Tensor, Refused> {
    let Some(tensor) = files.tensors().get(name) else {
        let what = format!("`{name}` is missing; by config.json its shape is {shape:?}");
        let help = "config.json and the weights must be of one checkpoint: copy or download it again";
        return Err(Refused::new("tensor", files.first_place(), what, help));
    };
    if tensor.shape != shape {
        let what = format!("`{name}` has shape {:?}, and must have {shape:?} by config.json", tensor.shape);
        let help = "config.json and the weights must be of one checkpoint: copy or download it again";
        return Err(Refused::new("shape", files.place(tensor), what, help));
    }
    Ok(tensor)
}

fn unknown_type(files: &Files, name: &str, tensor: &Tensor) -> Refused {
    let what = format!("`{name}` has type {}; weights may be BF16, F16 or F32", tensor.dtype);
    let help = "quantised and other weights need kernels of their own: choose a checkpoint without them";
    Refused::new("type", files.place(tensor), what, help)
}

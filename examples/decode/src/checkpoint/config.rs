//! What config.json says of a model. It is decoded only if every key is understood.
//!
//! Accepted is what LlamaForCausalLM computes with grouped heads, rotary positions (plain, or scaled as Llama 3.1 does),
//! RMS norm, a gated MLP with silu and no biases. Keys that may be absent mean what they mean in transformers' LlamaConfig.
//! The tokens that end a text come from generation_config.json, and from config.json where that has none.

use std::path::Path;

use serde_json::{Value, json};

use super::failure::Refused;
use super::keys::{Keys, object};
use super::rope::{Llama3, Rope};

/// Sizes of heads that the kernels can do.
const HEADS: [usize; 4] = [16, 32, 64, 128];

/// Keys that say how the model was trained, saved or run elsewhere.
const IGNORED: &[&str] = &[
    "_name_or_path",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "use_cache",
    "initializer_range",
    "attention_dropout",
    "bos_token_id",
    "pad_token_id",
];

/// A model, as its config.json describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Blocks of attention and MLP.
    pub layers: usize,
    /// Elements of a token's vector.
    pub dim: usize,
    /// Query heads.
    pub heads: usize,
    /// Heads of keys and values.
    pub kv_heads: usize,
    /// Elements of a head.
    pub head: usize,
    /// Elements inside the MLP.
    pub hidden: usize,
    /// Tokens that there are vectors for.
    pub vocabulary: usize,
    /// Positions that the model was made for.
    pub positions_max: usize,
    /// What a norm adds under its root.
    pub epsilon: f32,
    /// How queries and keys are turned.
    pub rope: Rope,
    /// Whether the logits are products with the embedding.
    pub tied: bool,
    /// Tokens that end a text.
    pub ends: Vec<u32>,
}

impl Config {
    /// Reads config.json, and generation_config.json where there is one, of a folder.
    ///
    /// # Errors
    ///
    /// - A file cannot be read; a key is missing, unknown, or has a value that is not implemented.
    pub fn read(folder: &Path) -> Result<Config, Refused> {
        let place = folder.join("config.json");
        let map = object(&place, "--model takes the folder of a checkpoint, with config.json in it")?;
        let mut config = Config::of(&Keys::new(&place, &map))?;
        let place = folder.join("generation_config.json");
        if place.exists() {
            let map = object(&place, "the file is there, but not for this user")?;
            let ends = Keys::new(&place, &map).tokens("eos_token_id")?;
            if !ends.is_empty() {
                config.ends = ends;
            }
        }
        Ok(config)
    }

    fn of(keys: &Keys<'_>) -> Result<Config, Refused> {
        architecture(keys)?;
        let (dim, heads) = (keys.size("hidden_size", 1 << 16)?, keys.size("num_attention_heads", 1 << 12)?);
        let head = keys.opt_size("head_dim", 1 << 12)?;
        let config = Config {
            layers: keys.size("num_hidden_layers", 1 << 12)?,
            dim,
            heads,
            kv_heads: keys.opt_size("num_key_value_heads", 1 << 12)?.unwrap_or(heads),
            head: head.unwrap_or(dim / heads),
            hidden: keys.size("intermediate_size", 1 << 16)?,
            vocabulary: keys.size("vocab_size", 1 << 24)?,
            positions_max: keys.size("max_position_embeddings", 1 << 24)?,
            epsilon: keys.positive("rms_norm_eps")? as f32,
            rope: rope(keys)?,
            tied: keys.flag("tie_word_embeddings", false)?,
            ends: keys.tokens("eos_token_id")?,
        };
        if head.is_none() && !dim.is_multiple_of(heads) {
            return Err(keys.wrong(
                "num_attention_heads",
                &format!("a divisor of `hidden_size`, {dim}"),
                &json!(heads),
            ));
        }
        if !heads.is_multiple_of(config.kv_heads) {
            let expected = format!("a divisor of `num_attention_heads`, {heads}");
            return Err(keys.wrong("num_key_value_heads", &expected, &json!(config.kv_heads)));
        }
        if !HEADS.contains(&config.head) {
            let key = if head.is_some() { "head_dim" } else { "hidden_size / num_attention_heads" };
            return Err(keys.no_kernels(key, "16, 32, 64 or 128", config.head));
        }
        for (key, size) in [("hidden_size", dim), ("intermediate_size", config.hidden)] {
            // 16 bytes of the shortest weights.
            if !size.is_multiple_of(8) {
                return Err(keys.no_kernels(key, "a multiple of 8", size));
            }
        }
        keys.ignore(IGNORED);
        keys.all_known()?;
        Ok(config)
    }

    /// Rows of queries, keys and values together.
    pub fn qkv_rows(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.head
    }
}

/// Refuses what is not this architecture, and options of it that are not implemented.
fn architecture(keys: &Keys<'_>) -> Result<(), Refused> {
    let llama = (json!(["LlamaForCausalLM"]), json!("llama"), json!("silu"));
    for (key, implemented, meaning) in [
        ("architectures", llama.0, "other architectures are not implemented"),
        ("model_type", llama.1, "other types of models are not implemented"),
        ("hidden_act", llama.2, "other activations are not implemented"),
    ] {
        let found = keys.get(key).ok_or_else(|| keys.missing(key))?;
        if *found != implemented {
            return Err(keys.unsupported(key, found, &implemented, meaning));
        }
    }
    for (key, implemented, meaning) in [
        ("quantization_config", Value::Null, "quantised weights need kernels of their own"),
        ("attention_bias", json!(false), "biases are not implemented"),
        ("mlp_bias", json!(false), "biases are not implemented"),
        ("sliding_window", Value::Null, "attention over a part of the positions is not implemented"),
        ("use_sliding_window", json!(false), "attention over a part of the positions is not implemented"),
        ("partial_rotary_factor", json!(1.0), "turning a part of each head is not implemented"),
        ("rope_interleaved", json!(false), "turning neighbouring elements together is not implemented"),
        ("pretraining_tp", json!(1), "products in parts are not implemented"),
        ("is_llama_config", json!(true), "other architectures are not implemented"),
    ] {
        keys.only(key, &implemented, meaning)?;
    }
    Ok(())
}

/// How positions are turned: `rope_theta` and `rope_scaling`, or both in `rope_parameters`, as newer files have it.
fn rope(keys: &Keys<'_>) -> Result<Rope, Refused> {
    let theta = keys.opt_positive("rope_theta")?;
    let (scaling, parameters) = (keys.inner("rope_scaling")?, keys.inner("rope_parameters")?);
    if let (Some(_), Some(found)) = (&scaling, keys.get("rope_parameters")) {
        return Err(keys.wrong("rope_parameters", "absent where there is `rope_scaling`", found));
    }
    let Some(inner) = scaling.or(parameters) else {
        return Ok(Rope { theta: theta.unwrap_or(10_000.0), scaling: None });
    };
    let theta = inner.opt_positive("rope_theta")?.or(theta).unwrap_or(10_000.0);
    inner.only("partial_rotary_factor", &json!(1.0), "turning a part of each head is not implemented")?;
    // Older files call it `type`.
    let (key, kind) = match (inner.get("rope_type"), inner.get("type")) {
        (Some(kind), _) => ("rope_type", kind),
        (None, Some(kind)) => ("type", kind),
        (None, None) => return Err(inner.missing("rope_type")),
    };
    let scaling = match kind.as_str() {
        Some("default") => None,
        Some("llama3") => Some(Llama3 {
            factor: inner.positive("factor")?,
            low: inner.positive("low_freq_factor")?,
            high: inner.positive("high_freq_factor")?,
            original: inner.size("original_max_position_embeddings", 1 << 24)? as f64,
        }),
        _ => {
            return Err(inner.unsupported(
                key,
                kind,
                &json!("llama3"),
                "other ways to scale positions are not implemented",
            ));
        }
    };
    if let Some(Llama3 { low, high, .. }) = scaling
        && high <= low
    {
        return Err(inner.wrong("high_freq_factor", &format!("above `low_freq_factor`, {low}"), &json!(high)));
    }
    inner.all_known()?;
    Ok(Rope { theta, scaling })
}

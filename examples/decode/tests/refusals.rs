//! Checkpoints that are not decoded: each is refused by name, with the file, what was expected, what was found and what to do.
//!
//! The whole messages are in `checkpoints/refused.txt`; `cargo xtask bless --only refusals` writes them anew. Files with bytes
//! changed at random are refused or read, and never a panic.

mod copies;

use std::fmt::Write;
use std::path::Path;

use copies::Copy;
use dacapo_example_decode::checkpoint::program::Checkpoint;
use dacapo_example_decode::checkpoint::{Config, Files, Refused, needs};
use dacapo_example_decode::random::Random;
use serde_json::{Value, json};

/// What is done to a copy of a checkpoint that is whole.
type Break = fn(&Copy);

/// A key of config.json that gets another value.
macro_rules! config {
    ($key:literal: $value:tt) => {
        |copy| copy.config(|config| drop(config.insert($key.into(), json!($value))))
    };
    (without $key:literal) => {
        |copy| copy.config(|config| drop(config.remove($key)))
    };
}

const UP: &str = "model.layers.1.mlp.up_proj.weight";

/// Broken in config.json.
const CONFIGS: &[(&str, Break)] = &[
    ("no config.json", |copy| copy.remove("config.json")),
    ("config.json cut off", |copy| copy.edit("config.json", |bytes| bytes.truncate(100))),
    ("config.json is a list", |copy| copy.write("config.json", b"[1, 2]")),
    ("another architecture", config!("architectures": ["MistralForCausalLM"])),
    ("another type of model", config!("model_type": "qwen2")),
    ("another activation", config!("hidden_act": "gelu_pytorch_tanh")),
    ("biases of attention", config!("attention_bias": true)),
    ("biases of the MLP", config!("mlp_bias": true)),
    ("a sliding window", config!("sliding_window": 4096)),
    ("a part of each head turned", config!("partial_rotary_factor": 0.5)),
    ("another scaling of positions", config!("rope_scaling": {"rope_type": "yarn", "factor": 4.0})),
    ("an old scaling of positions", config!("rope_scaling": {"type": "linear", "factor": 2.0})),
    ("a scaling without its factor", config!("rope_scaling": {"rope_type": "llama3", "low_freq_factor": 1.0})),
    ("a scaling the wrong way round", |copy| {
        let scaling = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0,
            "original_max_position_embeddings": 64});
        copy.config(|config| drop(config.insert("rope_scaling".into(), scaling)));
    }),
    ("an option inside a scaling", config!("rope_scaling": {"rope_type": "default", "mscale": 0.7})),
    ("quantised weights", config!("quantization_config": {"quant_method": "gptq", "bits": 4})),
    ("heads that do not divide", config!("num_key_value_heads": 3)),
    ("a size of heads without kernels", config!("head_dim": 80)),
    ("a width without kernels", config!("intermediate_size": 20)),
    ("an option that nobody knows", config!("attn_logit_softcapping": 50.0)),
    ("a size that is missing", config!(without "hidden_size")),
    ("a size that is 0", config!("num_hidden_layers": 0)),
    ("a size that is too large", config!("vocab_size": 18446744073709551615u64)),
    ("a number that is a text", config!("rms_norm_eps": "1e-5")),
    ("a number that f32 does not have", config!("rms_norm_eps": 1e-60)),
    ("end tokens that are texts", config!("eos_token_id": ["</s>"])),
    ("end tokens of another file", |copy| copy.write("generation_config.json", br#"{"eos_token_id": -1}"#)),
];

/// Broken in the weights.
const WEIGHTS: &[(&str, Break)] = &[
    ("no weights", |copy| copy.remove("model.safetensors")),
    ("an empty file", |copy| copy.write("model.safetensors", b"")),
    ("a file cut off", |copy| copy.edit("model.safetensors", |bytes| bytes.truncate(bytes.len() - 1000))),
    ("a file cut off in its header", |copy| copy.edit("model.safetensors", |bytes| bytes.truncate(500))),
    ("a file of another format", |copy| copy.write("model.safetensors", b"GGUF\x03\x00\x00\x00\x00\x00\x00\x00")),
    ("a header that is no JSON", |copy| copy.edit("model.safetensors", |bytes| bytes[8] = b'[')),
    ("a tensor that is missing", |copy| copy.parts(|parts| parts.tensors.retain(|tensor| tensor.name != UP))),
    ("a tensor that belongs to nothing", |copy| {
        copy.parts(|parts| parts.add("model.layers.1.self_attn.q_proj.bias", "F32", &[64], 256));
    }),
    ("a layer too many", |copy| copy.config(|config| drop(config.insert("num_hidden_layers".into(), json!(1))))),
    ("a layer too few", |copy| copy.config(|config| drop(config.insert("num_hidden_layers".into(), json!(3))))),
    ("another shape", |copy| copy.parts(|parts| parts.of(UP).shape = vec![12, 32])),
    ("another vocabulary", |copy| copy.config(|config| drop(config.insert("vocab_size".into(), json!(281))))),
    ("weights of 8 bits", |copy| {
        copy.parts(|parts| parts.retype(|name| !name.contains("norm"), "F8_E4M3", 1));
    }),
    ("one matrix of 8 bits", |copy| copy.parts(|parts| parts.retype(|name| name == UP, "I8", 1))),
    ("one matrix of another type", |copy| copy.parts(|parts| parts.retype(|name| name == UP, "BF16", 2))),
    ("gains of a type without kernels", |copy| {
        copy.parts(|parts| parts.retype(|name| name == "model.norm.weight", "F64", 8));
    }),
    ("tied, and another matrix all the same", |copy| {
        copy.config(|config| drop(config.insert("tie_word_embeddings".into(), json!(true))));
    }),
];

/// Broken in the index of several files.
const INDICES: &[(&str, Break)] = &[
    ("an index that names a missing file", |copy| copy.remove("model-00002-of-00002.safetensors")),
    ("an index without its map", |copy| {
        copy.json("model.safetensors.index.json", |index| drop(index.remove("weight_map")))
    }),
    ("an index of nothing", |copy| copy.json("model.safetensors.index.json", |index| index["weight_map"] = json!({}))),
    ("an index that leaves its folder", |copy| {
        copy.json("model.safetensors.index.json", |index| {
            index["weight_map"]["model.norm.weight"] = json!("../model.safetensors")
        });
    }),
    ("an index that names another file", |copy| {
        let first = json!("model-00001-of-00002.safetensors");
        copy.json("model.safetensors.index.json", |index| index["weight_map"]["model.norm.weight"] = first);
    }),
    ("an index that names a tensor too many", |copy| {
        let first = json!("model-00001-of-00002.safetensors");
        copy.json("model.safetensors.index.json", |index| index["weight_map"]["lm_head.weight"] = first);
    }),
    ("an index without one of the tensors", |copy| {
        let remove = |index: &mut Value| drop(index.as_object_mut().unwrap().remove("model.norm.weight"));
        copy.json("model.safetensors.index.json", |index| remove(&mut index["weight_map"]));
    }),
    ("an index and a single file", |copy| copy.write("model.safetensors", b"x")),
    ("a tensor in two files", |copy| {
        let bytes = std::fs::read(copy.path("model-00001-of-00002.safetensors")).unwrap();
        copy.write("model-00002-of-00002.safetensors", &bytes);
    }),
];

/// Broken in the tokenizer.
const TOKENIZERS: &[(&str, Break)] = &[
    ("no tokenizer", |copy| copy.remove("tokenizer.json")),
    ("a tokenizer cut off", |copy| copy.edit("tokenizer.json", |bytes| bytes.truncate(500))),
    ("a tokenizer with more tokens than vectors", |copy| {
        copy.json("tokenizer.json", |tokenizer| tokenizer["model"]["vocab"]["capo"] = json!(280));
    }),
];

fn opened(copy: &Copy) -> Refused {
    match Checkpoint::open(copy.folder()) {
        Err(refused) => refused,
        Ok(_) => panic!("it is decoded"),
    }
}

/// The message, without the folder of this run.
fn message(copy: &Copy, refused: &Refused) -> String {
    refused.to_string().replace(&copy.folder().display().to_string(), "FOLDER")
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let mut text = String::new();
    for (of, cases) in [("f32", CONFIGS), ("f32", WEIGHTS), ("bf16", INDICES), ("f32", TOKENIZERS)] {
        for (name, break_it) in cases {
            let copy = Copy::new(of, name);
            assert!(Checkpoint::open(copy.folder()).is_ok(), "whole before it is broken");
            break_it(&copy);
            writeln!(text, "# {name}\n{}\n", message(&copy, &opened(&copy))).unwrap();
        }
    }
    let copy = Copy::new("f32", "prompts");
    let Checkpoint { config, text: words, .. } = Checkpoint::open(copy.folder()).unwrap();
    for (name, prompt, new) in
        [("a prompt that is too long", "x".repeat(161), 1), ("more tokens than positions", "x".repeat(100), 64)]
    {
        let refused = words.encode(&prompt, new, &config).unwrap_err();
        writeln!(text, "# {name}\n{refused}\n").unwrap();
    }
    copy.json("tokenizer.json", |tokenizer| tokenizer["post_processor"] = Value::Null);
    let refused = Checkpoint::open(copy.folder()).unwrap().text.encode("", 1, &config).unwrap_err();
    writeln!(text, "# a prompt without tokens\n{refused}").unwrap();
    expect("refused.txt", &text);
}

/// Holds a text against the one of the repository.
fn expect(file: &str, got: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints").join(file);
    if std::env::var_os("DACAPO_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&place, got).unwrap();
    }
    let expected = std::fs::read_to_string(&place).unwrap_or_default();
    let differs = expected.lines().zip(got.lines()).find(|(expected, got)| expected != got);
    assert!(expected == got, "{file} is stale; first difference: {differs:?}\nhelp: cargo xtask bless --only refusals");
}

/// What is let be, beside what is refused: each of these is decoded.
#[test]
fn what_changes_nothing_is_no_reason_to_refuse() {
    let cases: &[(&str, &str, Break)] = &[
        ("f32", "head_dim is null where it follows", config!("sliding_window": null)),
        ("f32", "newer names of the same", |copy| {
            copy.config(|config| {
                config.remove("rope_theta");
                config.remove("rope_scaling");
                let parameters = json!({"rope_theta": 10000.0, "rope_type": "default"});
                config.insert("rope_parameters".into(), parameters);
                config.insert("dtype".into(), json!("float32"));
            });
        }),
        ("bf16", "the embedding twice, where it is tied", |copy| {
            let first = "model-00001-of-00002.safetensors";
            copy.parts_of(first, |parts| {
                let table = parts.of("model.embed_tokens.weight").clone();
                parts.tensors.push(copies::Part { name: "lm_head.weight".into(), ..table });
            });
            copy.json("model.safetensors.index.json", |index| index["weight_map"]["lm_head.weight"] = json!(first));
        }),
        ("f32", "frequencies of an old file", |copy| {
            copy.parts(|parts| parts.add("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", &[8], 32));
        }),
        ("f32", "gains of more digits than the matrices", |copy| {
            copy.parts(|parts| parts.retype(|name| name == "model.norm.weight", "BF16", 2));
        }),
    ];
    for (of, name, change) in cases {
        let copy = Copy::new(of, name);
        change(&copy);
        if let Err(refused) = Checkpoint::open(copy.folder()) {
            panic!("{name}: {refused}");
        }
    }
}

/// Everything but the tokenizer, which is another crate's.
fn read(folder: &Path) -> Result<(), Refused> {
    let config = Config::read(folder)?;
    needs::check(&config, &Files::open(folder)?).map(drop)
}

#[test]
fn changed_bytes_are_refused_or_read_and_never_a_panic() {
    let mut random = Random::new(0x5eed);
    let mut below = |most: usize| (random.unit() * most as f32) as usize % most.max(1);
    for (file, bytes_max) in [("config.json", usize::MAX), ("model.safetensors", 2600)] {
        let copy = Copy::new("f32", &format!("changed {file}"));
        let whole = std::fs::read(copy.path(file)).unwrap();
        let (reach, mut refused) = (whole.len().min(bytes_max), 0);
        for _ in 0..600 {
            let mut bytes = whole.clone();
            for _ in 0..1 + below(3) {
                let at = below(reach);
                match below(5) {
                    0 => bytes[at] = below(256) as u8,
                    1 => bytes[at] ^= 1 << below(8),
                    2 => drop(bytes.remove(at)),
                    3 => bytes.insert(at, b"0123456789-{}[]\",:e."[below(20)]),
                    _ => bytes.truncate(at),
                }
                if bytes.len() < reach {
                    break;
                }
            }
            copy.write(file, &bytes);
            refused += usize::from(read(copy.folder()).is_err());
        }
        assert!((1..600).contains(&refused), "{file}: {refused} of 600 are refused");
    }
}

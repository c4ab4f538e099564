//! PyTorch's side of the comparison does the same work: sizes and counts are those of `gpt2::Shape`, and for the same weights
//! and tokens its logits are ours.
//!
//! The file was written by `crates/bench/anchors/torch_decode.py --check`, which reads sizes and counts off its model.

use dacapo::Software;
use dacapo_example_decode::gpt2::reference::TOLERANCE;
use dacapo_example_decode::gpt2::shape::HEAD;
use dacapo_example_decode::gpt2::{Advance, Model, Reference, Shape, State, Weights};
use dacapo_example_decode::reference::distance;
use serde_json::Value;

/// How far plain Rust in double precision may be from PyTorch in single precision, as a part of the largest logit.
const SINGLE: f64 = 1e-5;

fn lines(figure: &str) -> Vec<Value> {
    figures(include_str!("../../../crates/bench/anchors/torch-decode.jsonl"), figure)
}

fn figures(text: &str, figure: &str) -> Vec<Value> {
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|line| line["figure"] == figure).collect()
}

/// The logits of the small model, position by position, with the tokens they were made with.
fn logits(dtype: &str) -> (Vec<u32>, Vec<Vec<f64>>) {
    let lines: Vec<Value> = lines("torch_decode_logits").into_iter().filter(|line| line["dtype"] == dtype).collect();
    let tokens = lines.iter().map(|line| line["token"].as_u64().unwrap() as u32).collect();
    let logits = |line: &Value| line["logits"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    (tokens, lines.iter().map(logits).collect())
}

fn single(logits: &[f64]) -> Vec<f32> {
    logits.iter().map(|&logit| logit as f32).collect()
}

#[test]
fn both_sides_decode_the_same_transformer() {
    let work = lines("torch_decode_work");
    let batches: Vec<_> = work.iter().filter_map(|work| work["batch"].as_u64()).collect();
    assert_eq!(batches, [1, 8, 32]);
    // What was measured says the same of itself.
    let measured = figures(include_str!("../../../results/decode-torch-h200.jsonl"), "torch_decode_work");
    assert!(measured.len() >= 3 && measured.iter().all(|measured| work.contains(measured)), "{measured:?}");
    for work in &work {
        let sequences = work["batch"].as_u64().unwrap() as usize;
        let shape = Shape { sequences, ..Shape::SMALL };
        for (field, ours) in [
            ("batch", shape.sequences),
            ("layers", shape.layers),
            ("dim", shape.dim),
            ("heads", shape.heads()),
            ("head", HEAD),
            ("hidden", shape.hidden),
            ("vocabulary", shape.vocabulary),
            ("context", shape.context),
            // Where `dacapo-bench --only gpt2` has every sequence stand.
            ("position", 99),
            ("parameters", shape.parameters()),
            ("weights_read", shape.weights_read()),
        ] {
            assert_eq!(work[field], ours, "{field}");
        }
        for (field, ours) in [("dtype", "bfloat16"), ("cache", "bfloat16"), ("activation", "gelu"), ("norm", "rms")] {
            assert_eq!(work[field], ours, "{field}");
        }
        assert_eq!((&work["approximate"], &work["choice"]), (&"none".into(), &"argmax".into()));
        assert_eq!(work["epsilon"], 1e-5);
    }
}

#[test]
fn plain_rust_has_the_logits_of_pytorch() {
    let (shape, weights) = (Shape::TINY, Weights::new(&Shape::TINY, 1));
    let (tokens, expected) = logits("float32");
    let mut reference = Reference::new(shape, &weights);
    for (position, (token, expected)) in tokens.iter().zip(&expected).enumerate() {
        let apart = distance(&single(&reference.step(*token)), expected);
        assert!(apart < SINGLE, "position {position}: {apart}");
    }
}

#[test]
fn the_device_has_the_logits_of_pytorch() {
    let (shape, weights) = (Shape { sequences: 1, ..Shape::TINY }, Weights::new(&Shape::TINY, 1));
    let (tokens, in_f32) = logits("float32");
    let (same, in_bf16) = logits("bfloat16");
    assert_eq!((tokens.len(), &same), (6, &tokens));
    let device = Software::new().open().unwrap();
    let stream = device.stream().unwrap();
    for sequences in [1, 2] {
        let model = Model::new(&device, Shape { sequences, ..shape }, &weights).unwrap();
        let mut state = State::new(&device, &stream, &model, &vec![tokens.as_slice(); sequences]).unwrap();
        for (position, (in_f32, in_bf16)) in in_f32.iter().zip(&in_bf16).enumerate() {
            stream.run(model.step(&mut state, Advance::Next)).unwrap();
            for ours in state.logits(&stream).unwrap() {
                // PyTorch rounds more often: the residual too, and every result.
                let (to_f32, to_bf16) = (distance(&ours, in_f32), distance(&ours, in_bf16));
                assert!(to_f32 < TOLERANCE && to_bf16 < 2.0 * TOLERANCE, "{position}: {to_f32}, {to_bf16}");
            }
        }
    }
}

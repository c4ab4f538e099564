//! Checkpoints as they are on disk, on the software device: their logits and texts are those that PyTorch has of the same
//! files, in every way to run the steps. `checkpoint.py fixtures` made the files and what is expected of them.

use std::path::{Path, PathBuf};

use dacapo::random::Generator;
use dacapo::{Device, Software};
use dacapo_example_decode::checkpoint::kernels::{SharedKernels, Weight};
use dacapo_example_decode::checkpoint::program::Checkpoint;
use dacapo_example_decode::checkpoint::{Choice, Decoder, Files, How, Model, Sequence, Streaming, Weights};
use half::{bf16, f16};
use safetensors::SafeTensors;

/// How far logits may be from those in double precision, over the largest of a step: bf16 and f16 round what is put into the
/// cache, and nothing else. PyTorch in these types rounds everything, and is three times as far.
const BOUNDS: [(&str, f64); 3] = [("bf16", 1e-2), ("f16", 2e-3), ("f32", 2e-6)];

/// The logits of every so-manieth step are in the file.
const EVERY: usize = 4;

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints").join(kind)
}

/// What PyTorch has of a checkpoint.
struct Expected {
    prompt: String,
    given: Vec<u32>,
    tokens: Vec<u32>,
    /// Before every fourth of the tokens.
    logits: Vec<Vec<f32>>,
    /// How far PyTorch is from itself in double precision.
    apart: f64,
}

impl Expected {
    fn read(kind: &str) -> Expected {
        let bytes = std::fs::read(folder(kind).join("expected.safetensors")).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let data = |name: &str| tensors.tensor(name).unwrap().data();
        let tokens = |name| data(name).chunks(8).map(|x| i64::from_le_bytes(x.try_into().unwrap()) as u32).collect();
        let number = |name| f64::from_le_bytes(data(name).try_into().unwrap());
        let logits: Vec<f32> = data("logits").chunks(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect();
        let tokens_new: Vec<u32> = tokens("tokens");
        Expected {
            prompt: String::from_utf8(data("prompt").to_vec()).unwrap(),
            given: tokens("given"),
            logits: logits.chunks(EVERY * logits.len() / tokens_new.len()).map(<[f32]>::to_vec).collect(),
            tokens: tokens_new,
            apart: number("apart"),
        }
    }
}

/// Runs a body on a software device of its own with every detector on. Nothing may be found, also not by closing it.
fn watched(body: impl FnOnce(&Device)) {
    let all = |options: &mut dacapo_sim::Options| options.detectors = dacapo_sim::Detectors::all();
    let device = Software::new().options(all).open().unwrap();
    let machine = device.machine().cloned().unwrap();
    body(&device);
    drop(device);
    let findings: Vec<String> = machine.findings().iter().map(|finding| finding.to_string()).collect();
    assert_eq!(findings, [] as [String; 0]);
}

fn load<T: Weight>(device: &Device, checkpoint: &Checkpoint) -> Model<T> {
    let weights = Weights::upload(device, &checkpoint.config, &checkpoint.files, &|_| ()).unwrap();
    Model::new(device, &checkpoint.config, weights).unwrap()
}

fn distance(logits: &[f32], expected: &[f32]) -> f64 {
    let largest = expected.iter().fold(0.0_f64, |most, &x| most.max(f64::from(x).abs()));
    logits.iter().zip(expected).fold(0.0_f64, |most, (&a, &b)| most.max((f64::from(a) - f64::from(b)).abs())) / largest
}

/// Step by step, replayed: logits and tokens against PyTorch's.
fn against_torch<T: Weight>(kind: &str, bound: f64) {
    let (checkpoint, expected) = (Checkpoint::open(&folder(kind)).unwrap(), Expected::read(kind));
    let Expected { given, tokens, .. } = &expected;
    if kind != "f32" {
        assert!(3.0 * bound < expected.apart, "PyTorch itself is {} apart", expected.apart);
    }
    watched(|device| {
        let model = load::<T>(device, &checkpoint);
        let sequence = Sequence::new(device, &checkpoint.config, given, tokens.len(), Choice::Greedy).unwrap();
        let mut decoder = Decoder::new(device, &model, sequence, given.len(), How::Replayed).unwrap();
        decoder.prompt().unwrap();
        let mut worst = 0.0_f64;
        for step in 0..tokens.len() {
            decoder.step().unwrap();
            if !step.is_multiple_of(EVERY) {
                continue;
            }
            let logits = decoder.sequence.logits(&decoder.stream).unwrap();
            worst = worst.max(distance(&logits, &expected.logits[step / EVERY]));
        }
        println!("{kind}: at most {worst:.1e} of the largest from PyTorch's");
        assert!(worst <= bound, "{kind}: logits are {worst:.1e} of the largest from PyTorch's, may be {bound:.0e}");
        let history = decoder.stream.read(decoder.sequence.history()).unwrap();
        assert_eq!(history[given.len()..], tokens[..]);
    });
}

#[test]
fn bf16_logits_and_tokens_are_those_of_pytorch() {
    against_torch::<bf16>("bf16", BOUNDS[0].1);
}

#[test]
fn f16_logits_and_tokens_are_those_of_pytorch() {
    against_torch::<f16>("f16", BOUNDS[1].1);
}

#[test]
fn f32_logits_and_tokens_are_those_of_pytorch() {
    against_torch::<f32>("f32", BOUNDS[2].1);
}

/// A text in one of the ways, with attention in spans of so many positions.
fn text<T: Weight>(kind: &str, how: How, opt_span: Option<u32>) {
    let (checkpoint, expected) = (Checkpoint::open(&folder(kind)).unwrap(), Expected::read(kind));
    let Expected { given, tokens, .. } = &expected;
    assert_eq!(checkpoint.text.encode(&expected.prompt, tokens.len(), &checkpoint.config).unwrap(), *given);
    watched(|device| {
        let model = load::<T>(device, &checkpoint);
        let config = &checkpoint.config;
        let sequence = Sequence::spanned(device, config, given, tokens.len(), Choice::Greedy, opt_span).unwrap();
        let mut decoder = Decoder::new(device, &model, sequence, given.len(), how).unwrap();
        decoder.prompt().unwrap();
        let (mut written, mut pieces) = (Vec::new(), String::new());
        let mut streaming = Streaming::behind(&checkpoint.text, given).unwrap();
        let each = |token| {
            written.push(token);
            pieces.push_str(&streaming.push(token).unwrap());
            Ok::<(), dacapo::Error>(())
        };
        decoder.generate(each).unwrap();
        pieces.push_str(&streaming.finish().unwrap());
        assert_eq!(written, *tokens, "{kind}, {how:?}");
        let whole = checkpoint.text.decode(&[&given[..], tokens].concat()).unwrap();
        assert_eq!(format!("{}{pieces}", expected.prompt), whole, "the pieces are the text");
    });
}

#[test]
fn the_text_is_the_same_eagerly_replayed_and_in_one_launch() {
    text::<f32>("f32", How::Eager, None);
    text::<f32>("f32", How::Replayed, None);
    text::<f32>("f32", How::OneLaunch, None);
}

#[test]
fn attention_in_spans_gives_the_same_text() {
    // The last span is not whole, and most of them have nothing to do at first.
    text::<bf16>("bf16", How::Replayed, Some(13));
    text::<f16>("f16", How::OneLaunch, Some(32));
}

#[test]
fn an_end_token_ends_the_text_in_every_way() {
    let (mut checkpoint, expected) = (Checkpoint::open(&folder("f32")).unwrap(), Expected::read("f32"));
    let Expected { given, tokens, .. } = &expected;
    // The first of its kind at this place or before.
    let at = tokens.iter().position(|token| *token == tokens[9]).unwrap();
    checkpoint.config.ends = vec![3_000_000, tokens[9]];
    let device = Device::software().unwrap();
    let model = load::<f32>(&device, &checkpoint);
    for how in [How::Eager, How::Replayed, How::OneLaunch] {
        let sequence = Sequence::new(&device, &checkpoint.config, given, tokens.len(), Choice::Greedy).unwrap();
        let mut decoder = Decoder::new(&device, &model, sequence, given.len(), how).unwrap();
        decoder.prompt().unwrap();
        let mut written = Vec::new();
        let each = |token| -> dacapo::Result<()> {
            written.push(token);
            Ok(())
        };
        decoder.generate(each).unwrap();
        assert_eq!(written, tokens[..=at], "{how:?}");
        assert_eq!(decoder.sequence.reached(&decoder.stream).unwrap(), given.len() + at + 1);
    }
}

#[test]
fn tokens_are_drawn_as_often_as_their_probability_says() {
    const DRAWS: u64 = 4000;
    let device = Device::software().unwrap();
    let (stream, kernels) = (device.stream().unwrap(), SharedKernels::load(&device).unwrap());
    // At temperature 2, one of them is twice as likely as another whose logit is 2 ln 2 below.
    let chances: [f64; 5] = [0.5, 0.25, 0.125, 0.115, 0.01];
    let logits = device.buffer(&chances.map(|chance| (2.0 * chance.ln()) as f32)).unwrap();
    let mut random = Generator::new(&device, 3).unwrap();
    let (mut noise, mut best) = (device.zeros(chances.len()).unwrap(), device.scalar(0_u64).unwrap());
    let mut counts = [0_u64; 5];
    for _ in 0..DRAWS {
        best.set(&stream, 0).unwrap();
        stream.run(random.uniform(&mut noise)).unwrap();
        stream.run(kernels.draw(&logits, &noise, &mut best, dacapo::baked(2.0))).unwrap();
        counts[(u32::MAX - best.get(&stream).unwrap() as u32) as usize] += 1;
    }
    for (count, chance) in counts.iter().zip(chances) {
        let (mean, deviation) = (DRAWS as f64 * chance, (DRAWS as f64 * chance * (1.0 - chance)).sqrt());
        assert!((*count as f64 - mean).abs() < 4.0 * deviation, "{counts:?} of {DRAWS} for chances {chances:?}");
    }
}

#[test]
fn drawn_tokens_follow_the_seed() {
    let (checkpoint, expected) = (Checkpoint::open(&folder("f32")).unwrap(), Expected::read("f32"));
    let device = Device::software().unwrap();
    let model = load::<f32>(&device, &checkpoint);
    let draw = |temperature, seed| {
        let choice = Choice::Drawn { temperature, seed };
        let sequence = Sequence::new(&device, &checkpoint.config, &expected.given, 24, choice).unwrap();
        let mut decoder = Decoder::new(&device, &model, sequence, expected.given.len(), How::Replayed).unwrap();
        decoder.prompt().unwrap();
        let mut written = Vec::new();
        let each = |token| -> dacapo::Result<()> {
            written.push(token);
            Ok(())
        };
        decoder.generate(each).unwrap();
        written
    };
    assert_eq!(draw(1.0, 7), draw(1.0, 7));
    assert_ne!(draw(1.0, 7), draw(1.0, 8));
    assert_eq!(draw(1e-4, 7), expected.tokens[..24], "next to no temperature leaves no choice");
}

#[test]
fn the_files_say_where_their_tensors_are() {
    let files = Files::open(&folder("bf16")).unwrap();
    assert_eq!(files.tensors().len(), 2 * 9 + 2);
    let names = ["model.embed_tokens.weight", "model.norm.weight"];
    let places = names.map(|name| files.place(&files.tensors()[name]).file_name().unwrap().to_owned());
    assert_eq!(places, ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]);
}

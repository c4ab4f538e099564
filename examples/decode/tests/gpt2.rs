//! The step in bf16, small, on the software device with every detector on: its logits and tokens are those of plain Rust, in
//! every batch size, eager and replayed.

use dacapo::half::bf16;
use dacapo::{Device, Software};
use dacapo_example_decode::gpt2::reference::{TOLERANCE, likeliest};
use dacapo_example_decode::gpt2::{Advance, Model, Reference, Shape, State, Weights};
use dacapo_example_decode::reference::distance;

/// Runs a body on a software device of its own with every detector on. Nothing may be found, also not by closing it.
fn watched(seed: u64, body: impl FnOnce(&Device)) {
    let all = |options: &mut dacapo_sim::Options| options.detectors = dacapo_sim::Detectors::all();
    let device = Software::new().seed(seed).options(all).open().unwrap();
    let machine = device.machine().cloned().unwrap();
    body(&device);
    drop(device);
    let findings: Vec<String> = machine.findings().iter().map(|finding| finding.to_string()).collect();
    assert_eq!(findings, [] as [String; 0], "seed {seed}");
}

/// The tokens of `sequences` texts of one to three tokens.
fn prompts(sequences: usize) -> Vec<Vec<u32>> {
    (0..sequences as u32).map(|text| (0..=text % 3).map(|at| (7 * text + 31 * at + 3) % 75).collect()).collect()
}

fn state(device: &Device, stream: &dacapo::Stream, model: &Model) -> State {
    let prompts = prompts(model.shape().sequences);
    State::new(device, stream, model, &prompts.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
}

/// Holds a step of every sequence against plain Rust, which is given the tokens that the device chose.
fn hold(stream: &dacapo::Stream, state: &State, references: &mut [Reference<'_>], step: usize) -> usize {
    let (logits, mut clear) = (state.logits(stream).unwrap(), 0);
    for (number, reference) in references.iter_mut().enumerate() {
        let tokens = state.tokens(stream, number).unwrap();
        let expected = reference.step(tokens[step]);
        let apart = distance(&logits[number], &expected);
        assert!(apart < TOLERANCE, "step {step}, sequence {number}: {apart}");
        let (token, margin) = likeliest(&expected);
        if step >= number % 3 && margin > 2.0 * TOLERANCE {
            assert_eq!(tokens[step + 1], token, "step {step}, sequence {number}: clear by {margin}");
            clear += 1;
        }
    }
    clear
}

fn agrees(device: &Device, weights: &Weights<Vec<bf16>>, sequences: usize, steps: usize) {
    let shape = Shape { sequences, ..Shape::TINY };
    let model = Model::new(device, shape, weights).unwrap();
    let stream = device.stream().unwrap();
    let mut sequence = state(device, &stream, &model);
    let mut references: Vec<_> = (0..sequences).map(|_| Reference::new(shape, weights)).collect();
    stream.run(model.step(&mut sequence, Advance::Next)).unwrap();
    let mut clear = hold(&stream, &sequence, &mut references, 0);
    let mut graph = device.record(model.step(&mut sequence, Advance::Next)).unwrap();
    for step in 1..steps {
        graph.launch(&stream).unwrap();
        clear += hold(&stream, &sequence, &mut references, step);
    }
    assert!(
        3 * clear > sequences * steps,
        "{clear} clear choices of {} are too few to show something",
        sequences * steps
    );
}

#[test]
fn one_sequence_is_decoded_as_by_plain_rust() {
    let weights = Weights::new(&Shape::TINY, 1);
    watched(0, |device| agrees(device, &weights, 1, 12));
}

#[test]
fn batches_are_decoded_as_by_plain_rust() {
    let weights = Weights::new(&Shape::TINY, 1);
    for (seed, sequences, steps) in [(1, 3, 5), (2, 8, 3), (3, 19, 3), (4, 32, 2)] {
        watched(seed, |device| agrees(device, &weights, sequences, steps));
    }
}

#[test]
fn attention_reaches_over_more_keys_than_a_block_has_at_once() {
    // Two positions before the end of a round of 128 keys, and two behind it.
    const FIRST: usize = 126;
    let weights = Weights::new(&Shape::TINY, 1);
    for sequences in [1, 2] {
        let shape = Shape { sequences, context: 132, ..Shape::TINY };
        let device = Software::new().open().unwrap();
        let (model, stream) = (Model::new(&device, shape, &weights).unwrap(), device.stream().unwrap());
        let mut texts = State::new(&device, &stream, &model, &vec![&[0][..]; sequences]).unwrap();
        texts.stand_at(&stream, &model, FIRST).unwrap();
        let mut reference = Reference::behind(shape, &weights, FIRST);
        for step in FIRST..FIRST + 4 {
            stream.run(model.step(&mut texts, Advance::Next)).unwrap();
            let token = texts.tokens(&stream, sequences - 1).unwrap()[step];
            let apart = distance(&texts.logits(&stream).unwrap()[sequences - 1], &reference.step(token));
            assert!(apart < TOLERANCE, "{sequences} sequences, position {step}: {apart}");
        }
    }
}

#[test]
fn a_text_ends_with_its_context_and_a_step_that_stays_changes_nothing() {
    let weights = Weights::new(&Shape::TINY, 1);
    watched(5, |device| {
        let shape = Shape { context: 6, ..Shape::TINY };
        let model = Model::new(device, shape, &weights).unwrap();
        let stream = device.stream().unwrap();
        let mut text = state(device, &stream, &model);
        stream.run(model.step(&mut text, Advance::Next)).unwrap();
        let (before, tokens) = (text.logits(&stream).unwrap(), text.tokens(&stream, 0).unwrap());
        let mut again = device.record(model.step(&mut text, Advance::Stay)).unwrap();
        again.launch(&stream).unwrap();
        let stayed = text.logits(&stream).unwrap();
        assert_ne!(stayed, before, "this is the step of the second position");
        again.launch(&stream).unwrap();
        assert_eq!((text.logits(&stream).unwrap(), text.tokens(&stream, 0).unwrap()), (stayed, tokens));
        let mut on = device.record(model.step(&mut text, Advance::Next)).unwrap();
        for _ in 0..9 {
            on.launch(&stream).unwrap();
        }
        assert_eq!(text.tokens(&stream, 0).unwrap().len(), 6);
        assert!(text.stand_at(&stream, &model, 6).is_err());
        assert!(State::new(device, &stream, &model, &[]).is_err());
    });
}

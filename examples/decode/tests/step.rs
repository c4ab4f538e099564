//! The step itself, over seeds of the software device: what it computes, that padding disturbs nobody, and that nothing is
//! found wrong with it.

use dacapo::{Device, Software};
use dacapo_example_decode::reference::{TOLERANCE, distance, likeliest};
use dacapo_example_decode::{Engine, How, Model, NOBODY, Reference, Sampling, Shape, Weights, traffic};

const SEEDS: [u64; 4] = [0, 1, 7, 0x5eed];
const PROMPTS: [&[u32]; 3] = [&[3, 14, 15], &[9], &[26, 5, 35, 8, 9]];
const NEW: usize = 8;

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

/// Places the prompts at places that are no row numbers, and makes a batch of them in another order.
fn admit(engine: &mut Engine<'_>) -> [u32; 3] {
    let places = [2, 0, 3];
    for (place, prompt) in places.iter().zip(PROMPTS) {
        engine.state.admit(&engine.stream, *place as usize, prompt, NEW).unwrap();
    }
    engine.state.batch(&engine.stream, &places).unwrap();
    places
}

/// The tokens of all three sequences after all steps.
fn decode(device: &Device, model: &Model, how: &How, sampling: Sampling) -> Vec<Vec<u32>> {
    let mut engine = Engine::new(device, model, how, sampling, 42).unwrap();
    let places = admit(&mut engine);
    for _ in 0..PROMPTS[2].len() + NEW {
        engine.step(3).unwrap();
    }
    places.iter().map(|&place| engine.state.tokens(&engine.stream, place as usize).unwrap()).collect()
}

#[test]
fn logits_and_greedy_tokens_are_those_of_plain_rust() {
    let (shape, weights) = (Shape::TINY, Weights::new(&Shape::TINY, 5));
    watched(0, |device| {
        let model = Model::new(device, shape, &weights).unwrap();
        for how in [How::Eager, How::replayed([4]).unwrap()] {
            let mut engine = Engine::new(device, &model, &how, Sampling::new(0.0, 0), 42).unwrap();
            let places = admit(&mut engine);
            let mut references: Vec<_> = PROMPTS.iter().map(|_| Reference::new(shape, &weights)).collect();
            let mut texts: Vec<Vec<u32>> = PROMPTS.iter().map(|prompt| prompt.to_vec()).collect();
            for step in 0..NEW {
                engine.step(3).unwrap();
                let logits = engine.state.logits(&engine.stream, 3).unwrap();
                for (row, reference) in references.iter_mut().enumerate() {
                    let expected = reference.step(texts[row][step]);
                    assert!(distance(&logits[row], &expected) < TOLERANCE, "{how:?}, step {step}, row {row}");
                    if step + 1 == texts[row].len() {
                        texts[row].push(likeliest(&expected));
                    }
                    let tokens = engine.state.tokens(&engine.stream, places[row] as usize).unwrap();
                    assert_eq!(tokens, texts[row], "{how:?}, step {step}, row {row}");
                }
            }
        }
    });
}

#[test]
fn neither_its_row_nor_its_neighbours_change_a_sequence() {
    let weights = Weights::new(&Shape::TINY, 5);
    watched(1, |device| {
        let model = Model::new(device, Shape::TINY, &weights).unwrap();
        let mut texts = Vec::new();
        for rows in [&[2, 0, 3][..], &[3, 2, 0], &[2], &[2, NOBODY, 0], &[NOBODY, 2]] {
            let how = How::replayed([4]).unwrap();
            let mut engine = Engine::new(device, &model, &how, Sampling::new(1.0, 0), 42).unwrap();
            admit(&mut engine);
            engine.state.batch(&engine.stream, rows).unwrap();
            for _ in 0..NEW {
                engine.step(rows.len()).unwrap();
            }
            texts.push(engine.state.tokens(&engine.stream, 2).unwrap());
            if !rows.contains(&3) {
                let untouched = engine.state.tokens(&engine.stream, 3).unwrap();
                assert_eq!(untouched, PROMPTS[2], "who is not in the batch stays as it is");
            }
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    });
}

#[test]
fn progress_hears_of_every_text_once() {
    let weights = Weights::new(&Shape::TINY, 5);
    watched(2, |device| {
        let model = Model::new(device, Shape::TINY, &weights).unwrap();
        let requests = traffic::requests(&Shape::TINY, 6, 3);
        let mut engine = Engine::new(device, &model, &How::Eager, Sampling::new(0.0, 0), 42).unwrap();
        let mut heard = 0;
        let served = traffic::serve(&mut engine, &requests, || heard += 1).unwrap();
        assert_eq!((heard, served.texts.len()), (6, 6));
    });
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let weights = Weights::new(&Shape::TINY, 5);
    watched(7, |device| {
        let model = Model::new(device, Shape::TINY, &weights).unwrap();
        let how = How::replayed([2]).unwrap();
        let mut engine = Engine::new(device, &model, &how, Sampling::new(0.0, 0), 42).unwrap();
        let (state, stream) = (&mut engine.state, &engine.stream);
        for (place, prompt, new) in [(4, &[1][..], 1), (0, &[], 1), (0, &[1; 20], 6)] {
            assert!(state.admit(stream, place, prompt, new).is_err(), "place {place}, {prompt:?}, {new} more");
        }
        assert!(state.batch(stream, &[0, 1, 2, 3, 0]).is_err());
        assert!(engine.step(3).unwrap_err().to_string().contains("no bucket has room for 3 rows"));
        // A full context, to its last token and not beyond.
        engine.state.admit(&engine.stream, 1, &[1; 20], 5).unwrap();
        engine.state.batch(&engine.stream, &[1]).unwrap();
        for _ in 0..30 {
            engine.step(1).unwrap();
        }
        assert_eq!(engine.state.tokens(&engine.stream, 1).unwrap().len(), 25);
    });
}

#[test]
fn eager_replayed_and_padded_steps_give_the_same_tokens_on_every_seed() {
    let weights = Weights::new(&Shape::TINY, 5);
    for (temperature, top_k) in [(0.0, 0), (0.8, 5)] {
        let mut texts = Vec::new();
        for seed in SEEDS {
            watched(seed, |device| {
                let model = Model::new(device, Shape::TINY, &weights).unwrap();
                for how in [How::Eager, How::replayed([3]).unwrap(), How::replayed([1, 4]).unwrap()] {
                    texts.push(decode(device, &model, &how, Sampling::new(temperature, top_k)));
                }
            });
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "temperature {temperature}: {texts:?}");
        let lengths: Vec<usize> = texts[0].iter().map(Vec::len).collect();
        assert_eq!(lengths, [3 + NEW, 1 + NEW, 5 + NEW], "a sequence ends where it was told to");
    }
}

//! Whole texts, over seeds of the software device: every way of running the loop gives the same, a text ends with its own end
//! token and not with a given one, and padding and those who have ended disturb nobody.

use dacapo::{Device, Software};
use dacapo_example_decode::{
    Ending, Engine, How, Model, NOBODY, Sampling, Shape, State, Task, Until, Way, Weights, Writer,
};

const SEEDS: [u64; 3] = [0, 7, 0x5eed];
const PLACES: [u32; 3] = [2, 0, 3];
/// The end token of the tests is in the first of them: given, it ends nothing.
const PROMPTS: [&[u32]; 3] = [&[3, 14, 15], &[9], &[26, 5, 35, 8, 9]];
const END: u32 = 14;
const NEW: usize = 16;

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

fn admit(state: &mut State, stream: &dacapo::Stream, rows: &[u32]) {
    state.seed(stream, 42).unwrap();
    for (place, prompt) in PLACES.iter().zip(PROMPTS) {
        state.admit(stream, *place as usize, prompt, NEW).unwrap();
    }
    state.batch(stream, rows).unwrap();
}

fn tokens(state: &State, stream: &dacapo::Stream) -> Vec<Vec<u32>> {
    PLACES.iter().map(|&place| state.tokens(stream, place as usize).unwrap()).collect()
}

/// What the prompts become without an end token, by eager steps.
fn endless(device: &Device, model: &Model) -> Vec<Vec<u32>> {
    let mut engine = Engine::new(device, model, &How::Eager, Sampling::new(0.8, 0), 42).unwrap();
    admit(&mut engine.state, &engine.stream, &PLACES);
    for _ in 0..PROMPTS[2].len() + NEW {
        engine.step(3).unwrap();
    }
    tokens(&engine.state, &engine.stream)
}

/// What the third sequence would choose behind its first token, if no more were given.
fn passed_over(device: &Device, model: &Model) -> u32 {
    let mut engine = Engine::new(device, model, &How::Eager, Sampling::new(0.8, 0), 42).unwrap();
    engine.state.admit(&engine.stream, PLACES[2] as usize, &PROMPTS[2][..1], 1).unwrap();
    engine.state.batch(&engine.stream, &PLACES[2..]).unwrap();
    engine.step(1).unwrap();
    tokens(&engine.state, &engine.stream)[2][1]
}

/// The texts to their ends: each with the first end token that was not given.
fn cut(texts: &[Vec<u32>], token: u32) -> Vec<Vec<u32>> {
    let cut = |(text, prompt): (&Vec<u32>, &&[u32])| {
        let end = (prompt.len()..text.len()).find(|&at| text[at] == token).map_or(text.len(), |at| at + 1);
        text[..end].to_vec()
    };
    texts.iter().zip(&PROMPTS).map(cut).collect()
}

#[test]
fn every_way_writes_the_same_texts_on_every_seed() {
    let weights = Weights::new(&Shape::TINY, 5);
    for until in [Until::All, Until::First] {
        let mut written = Vec::new();
        for seed in SEEDS {
            watched(seed, |device| {
                let model = Model::new(device, Shape::TINY, &weights).unwrap();
                let task = Task { rows: 3, new_max: NEW, end_token: 22, until, seed: 42 };
                let mut writer = Writer::new(device, &model, Sampling::new(0.8, 8), task).unwrap();
                let steps = writer.write(Way::OneLaunch, 0).unwrap().steps;
                for way in Way::ALL {
                    let texts = writer.write(way, steps).unwrap();
                    written.push((texts.steps, texts.texts));
                }
            });
        }
        assert!(written.iter().all(|one| *one == written[0]), "{until:?}: {written:?}");
        let (steps, texts) = &written[0];
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        // Two end by themselves, one at its limit.
        let expected = if until == Until::All { (16, vec![9, 4, 17]) } else { (3, vec![4, 4, 4]) };
        assert_eq!((*steps, lengths), expected, "{until:?}: {texts:?}");
    }
}

#[test]
fn a_text_ends_with_its_own_end_token_and_not_with_a_given_one() {
    let weights = Weights::new(&Shape::TINY, 5);
    watched(1, |device| {
        let model = Model::new(device, Shape::TINY, &weights).unwrap();
        let endless = endless(device, &model);
        let (mut state, stream) = (State::new(device, &Shape::TINY, 42).unwrap(), device.stream().unwrap());
        let (sampling, mut ending) = (Sampling::new(0.8, 0), Ending::new(device, END, Until::All).unwrap());
        let mut graph = device.record(model.texts(&mut state, &sampling, 4, &mut ending)).unwrap();
        let mut ends = 0;
        let passed_over = passed_over(device, &model);
        assert_ne!(passed_over, PROMPTS[2][1]);
        // A row of nobody in the middle. Tokens that a text has early, late and never, and one that is chosen where another is
        // given, all in the same graph.
        for token in [END, passed_over, endless[0][4], endless[1][10], endless[2][18], u32::MAX] {
            ending.token.set(token);
            admit(&mut state, &stream, &[2, NOBODY, 0, 3]);
            graph.launch(&stream).unwrap();
            let expected = cut(&endless, token);
            assert_eq!(tokens(&state, &stream), expected, "end token {token}");
            let longest = expected.iter().map(|text| text.len() - 1).max();
            assert_eq!(ending.steps.get(&stream).unwrap() as usize, longest.unwrap(), "end token {token}");
            assert_eq!(ending.running.get(&stream).unwrap(), 0);
            ends += expected.iter().zip(&endless).filter(|(cut, whole)| cut.len() < whole.len()).count();
        }
        assert!(ends >= 3, "{ends} ends are too few to show something");
    });
}

#[test]
fn who_has_ended_stands_still_and_those_who_run_are_counted() {
    let weights = Weights::new(&Shape::TINY, 5);
    watched(2, |device| {
        let model = Model::new(device, Shape::TINY, &weights).unwrap();
        let token = endless(device, &model)[1][6];
        let expected = cut(&endless(device, &model), token);
        let (mut state, stream) = (State::new(device, &Shape::TINY, 42).unwrap(), device.stream().unwrap());
        let (sampling, mut ending) = (Sampling::new(0.8, 0), Ending::new(device, token, Until::All).unwrap());
        admit(&mut state, &stream, &PLACES);
        for step in 1..Shape::TINY.context + 3 {
            stream.run(model.step_until(&mut state, &sampling, 3, &mut ending)).unwrap();
            let running = expected.iter().filter(|text| text.len() > step + 1).count();
            assert_eq!(ending.running.get(&stream).unwrap() as usize, running, "after {step} steps");
        }
        assert_eq!(tokens(&state, &stream), expected);
        // A loop over those who have all ended is one step, which changes nothing.
        stream.run(model.texts(&mut state, &sampling, 3, &mut ending)).unwrap();
        assert_eq!(ending.steps.get(&stream).unwrap(), 1);
        assert_eq!(tokens(&state, &stream), expected);
    });
}

#[test]
fn a_step_that_looks_for_the_end_is_as_many_operations_as_one_that_does_not() {
    let weights = Weights::new(&Shape::TINY, 5);
    watched(3, |device| {
        let model = Model::new(device, Shape::TINY, &weights).unwrap();
        let mut state = State::new(device, &Shape::TINY, 42).unwrap();
        let (sampling, mut ending) = (Sampling::new(0.8, 0), Ending::new(device, END, Until::All).unwrap());
        let plain = device.graph().inspect(model.step(&mut state, &sampling, 4)).unwrap();
        let until = device.graph().inspect(model.step_until(&mut state, &sampling, 4, &mut ending)).unwrap();
        assert_eq!(until.nodes.len(), plain.nodes.len());
    });
}

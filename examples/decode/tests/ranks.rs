//! Several ranks: they decode what one device decodes, in one process and in two, and say what they cannot share.

use std::process::{Command, Output, Stdio};

use dacapo::collective::Communicator;
use dacapo::{Device, Software};
use dacapo_example_decode::reference::{TOLERANCE, distance};
use dacapo_example_decode::{Engine, How, Model, NOBODY, Sampling, Shape, Weights};

/// As many heads as four ranks need.
const FOUR_HEADS: Shape = Shape { heads: 4, ..Shape::TINY };
const STEPS: usize = 7;

/// What one rank, or a device without ranks, thought at each step, and the texts.
type Heard = (Vec<Vec<Vec<f32>>>, Vec<Vec<u32>>);

/// Prompts of different lengths, at places that are no row numbers, with a row of padding between them.
fn decode(device: &Device, model: &Model, how: &How, temperature: f32) -> Heard {
    let mut engine = Engine::new(device, model, how, Sampling::new(temperature, 0), 42).unwrap();
    for (place, prompt) in [(3, &[3, 14, 15][..]), (0, &[9])] {
        engine.state.admit(&engine.stream, place, prompt, STEPS).unwrap();
    }
    engine.state.batch(&engine.stream, &[3, NOBODY, 0]).unwrap();
    let step = |_| {
        engine.step(3).unwrap();
        engine.state.logits(&engine.stream, 3).unwrap()
    };
    let logits = (0..STEPS).map(step).collect();
    let texts = [3, 0].map(|place| engine.state.tokens(&engine.stream, place).unwrap());
    (logits, texts.to_vec())
}

/// The same on so many ranks, with every detector on. Nothing may be found.
fn on_ranks(size: usize, seed: u64, shape: Shape, how: &How, temperature: f32) -> Vec<Heard> {
    let all = |options: &mut dacapo_sim::Options| options.detectors = dacapo_sim::Detectors::all();
    let devices = Software::new().seed(seed).options(all).open_group(size).unwrap();
    let (machine, weights) = (devices[0].machine().cloned().unwrap(), Weights::new(&shape, 5));
    let heard = std::thread::scope(|scope| {
        let rank = |comm: Communicator| {
            let weights = &weights;
            scope.spawn(move || {
                let model = Model::of_rank(&comm, shape, weights).unwrap();
                decode(comm.device(), &model, how, temperature)
            })
        };
        let threads: Vec<_> = Communicator::all(&devices).unwrap().into_iter().map(rank).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    drop(devices);
    let findings: Vec<String> = machine.findings().iter().map(|finding| finding.to_string()).collect();
    assert_eq!(findings, [] as [String; 0], "seed {seed}");
    heard
}

fn without_ranks(shape: Shape, how: &How, temperature: f32) -> Heard {
    let device = Device::software().unwrap();
    let model = Model::new(&device, shape, &Weights::new(&shape, 5)).unwrap();
    decode(&device, &model, how, temperature)
}

fn bits(logits: &[Vec<Vec<f32>>]) -> Vec<u32> {
    logits.iter().flatten().flatten().map(|logit| logit.to_bits()).collect()
}

#[test]
fn one_rank_is_a_model_without_ranks_bit_for_bit() {
    for how in [How::Eager, How::replayed([4]).unwrap()] {
        let plain = without_ranks(Shape::TINY, &how, 0.9);
        let one = on_ranks(1, 0, Shape::TINY, &how, 0.9);
        assert_eq!((bits(&one[0].0), &one[0].1), (bits(&plain.0), &plain.1), "{how:?}");
        assert_eq!(plain.0.len(), STEPS);
    }
}

#[test]
fn a_ranks_step_is_the_step_of_one_device_and_two_sums_a_layer() {
    let device = Device::software().unwrap();
    let weights = Weights::new(&Shape::TINY, 5);
    let names = |model: &Model| -> Vec<String> {
        let mut engine = Engine::new(&device, model, &How::Eager, Sampling::new(0.0, 0), 1).unwrap();
        let step = model.step(&mut engine.state, &engine.sampling, 3);
        device
            .graph()
            .inspect(step)
            .unwrap()
            .nodes
            .iter()
            .map(|node| format!("{}: {}", node.label, node.name))
            .collect()
    };
    let plain = names(&Model::new(&device, Shape::TINY, &weights).unwrap());
    let rank = names(&Model::of_rank(&Communicator::alone(&device).unwrap(), Shape::TINY, &weights).unwrap());
    // Each behind what it sums.
    let with_sums = plain.iter().flat_map(|node| {
        let sum = node.contains("linear_add").then(|| format!("{}: all_reduce", node.split(": ").next().unwrap()));
        std::iter::once(node.clone()).chain(sum)
    });
    assert_eq!(rank, with_sums.collect::<Vec<_>>());
    assert_eq!((plain.len(), rank.len()), (25, 25 + 2 * Shape::TINY.layers));
}

#[test]
fn all_ranks_think_and_choose_the_same_and_nearly_what_one_device_does() {
    for (size, shape) in [(2, Shape::TINY), (2, FOUR_HEADS), (4, FOUR_HEADS)] {
        for temperature in [0.0, 0.9] {
            let plain = without_ranks(shape, &How::Eager, temperature);
            let eager = on_ranks(size, 0, shape, &How::Eager, temperature);
            let first = bits(&eager[0].0);
            let replayed = How::replayed([4]).unwrap();
            let others = [0, 7].into_iter().flat_map(|seed| on_ranks(size, seed, shape, &replayed, temperature));
            for (number, heard) in eager.iter().cloned().chain(others).enumerate() {
                assert_eq!((bits(&heard.0), &heard.1), (first.clone(), &eager[0].1), "{size} ranks, {number}");
            }
            // At these prompts and seeds no token is so near to another that the order of sums decides.
            assert_eq!(eager[0].1, plain.1, "{size} ranks, temperature {temperature}");
            for (step, (logits, plain)) in eager[0].0.iter().zip(&plain.0).enumerate() {
                for row in [0, 2] {
                    let plain: Vec<f64> = plain[row].iter().map(|&logit| logit.into()).collect();
                    let apart = distance(&logits[row], &plain);
                    assert!(apart <= 2.0 * TOLERANCE, "{size} ranks, step {step}, row {row}: {apart}");
                }
            }
        }
    }
}

#[test]
fn a_rank_has_its_part_of_the_layers_and_of_the_cache_and_the_rest_whole() {
    let weights = Weights::new(&FOUR_HEADS, 5);
    let bytes = |size: usize| {
        let devices = Device::software_group(size).unwrap();
        let comm = Communicator::all(&devices).unwrap().pop().unwrap();
        let model = Model::of_rank(&comm, FOUR_HEADS, &weights).unwrap();
        Engine::new(comm.device(), &model, &How::Eager, Sampling::new(0.0, 0), 1).unwrap().bytes()
    };
    let Shape { layers, dim, hidden, vocabulary, context, sequences, .. } = FOUR_HEADS;
    let matrices = layers * (4 * dim * dim + 3 * dim * hidden);
    let rest = 2 * vocabulary * dim + (2 * layers + 1) * dim + context * FOUR_HEADS.head();
    let cache = 2 * layers * sequences * context * dim;
    for size in [1, 2, 4] {
        assert_eq!(bytes(size), [4 * (matrices / size + rest), 4 * cache / size], "{size} ranks");
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo-example-decode"));
    command.args(["--device", "software", "--size", "tiny"]).args(arguments);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a decoding on so many ranks printed, which must end well.
fn ranked(arguments: &[&str]) -> String {
    let output = program(arguments).output().expect("the program starts");
    let text = text(&output);
    assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "has the same logits and tokens after every step, bit for bit\nok      logits are at most",
        "of the largest from plain Rust's, may be 2e-5; the likeliest token is the same in 18 of the 18 places",
        "ok      a second run equals the first, bit for bit",
        "ok      another seed changes nothing, bit for bit",
        "ok      the replayed run equals the eager run, bit for bit",
        "ok      steps that nobody looks between choose the same tokens: all 40 of 4 texts",
        "ok      9 steps of each rank: 9 launches, 0 patches, 0 other driver calls",
        "ok      9 steps of each rank, another temperature every fourth: 9 launches, 2 patches, 0 other driver calls",
        "4 of the nodes all-reduces",
        "ok      0 findings",
    ] {
        assert!(text.contains(line), "{arguments:?}: {line} is missing:\n{text}");
    }
    text
}

#[test]
fn ranks_of_one_process_decode_as_one_device() {
    let text = ranked(&["--ranks", "1", "--steps", "9"]);
    assert!(text.contains("1 rank with 2 of 2 heads and 48 of 48 numbers inside each"), "{text}");
    assert!(text.contains("ok      one rank equals the run without ranks, bit for bit"), "{text}");
    for (arguments, line, bytes) in [
        (&["--ranks", "2"][..], "2 ranks with 1 of 2 heads and 24 of 48", "47232 bytes of weights and 24576 of keys"),
        (&["--ranks", "4", "--heads", "4"], "4 ranks with 1 of 4 heads and 12 of 48", "and 12288 of keys and values"),
    ] {
        let text = ranked(&[arguments, &["--steps", "9"]].concat());
        assert!(text.contains(line) && text.contains(bytes), "{text}");
        let one_device = "from one device's, may be 4e-5; the likeliest token is the same in 36 of the 36 places";
        assert!(text.contains(one_device), "{text}");
    }
}

/// As a launcher starts them: they find each other at a port, and each decodes on a device of its own.
#[test]
fn two_processes_choose_the_tokens_of_one_process() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|taken| taken.local_addr()).expect("a port").port();
    let start = |rank: &str| {
        program(&["--ranks", "2", "--steps", "9"])
            .envs([("RANK", rank), ("WORLD_SIZE", "2"), ("LOCAL_RANK", rank), ("MASTER_ADDR", "127.0.0.1")])
            .env("MASTER_PORT", port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    };
    let outputs = ["1", "0"].map(start).map(|process| process.wait_with_output().expect("its output"));
    assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}");
    let [other, first] = outputs.each_ref().map(text);
    assert_eq!(other, "", "only rank 0 speaks");
    let one_process = ranked(&["--ranks", "2", "--steps", "9"]);
    // All but the time of a step is the same: tokens, distances, calls, checks.
    let told = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("us a step")).map(String::from).collect()
    };
    assert_eq!(told(&first), told(&one_process));
    let tokens = |kind: &str| first.lines().any(|line| line.starts_with(kind) && line.split_whitespace().count() == 11);
    assert!(tokens("drawn") && tokens("likeliest"), "{first}");
}

#[test]
fn what_cannot_be_shared_or_makes_no_sense_is_refused() {
    for (arguments, words) in [
        (&["--ranks", "4"][..], "2 heads cannot be shared equally by 4 ranks"),
        (&["--ranks", "2", "--hidden", "44"], "the MLP's 44 numbers cannot be shared by 2 ranks"),
        (&["--ranks", "0"], "0 is not in 1..=64"),
        (&["--ranks", "2", "--gpt2"], "cannot be used with"),
        (&["--ranks", "2", "--model", "folder", "--prompt", "x"], "cannot be used with"),
        (&["--ranks", "2", "--until-end"], "cannot be used with"),
        (&["--ranks", "2", "--trace", "file"], "cannot be used with"),
        (&["--ranks", "2", "--buckets", "1,2"], "cannot be used with"),
        (&["--ranks", "2", "--requests", "3"], "cannot be used with"),
    ] {
        let output = program(arguments).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), text(&output).as_str()), (Some(2), ""), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let mut three = program(&["--ranks", "2"]);
    three.envs([("RANK", "0"), ("WORLD_SIZE", "3"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "1")]);
    let output = three.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the launcher has started 3 processes, and --ranks says 2"), "{said}");
}

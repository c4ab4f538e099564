//! The choice of a token, kernel alone, against the definition: which tokens may be chosen, and which one a number chooses.

use dacapo::{Device, Slot};
use dacapo_example_decode::NOBODY;
use dacapo_example_decode::kernels::Kernels;
use dacapo_example_decode::random::Random;

struct Bench {
    device: Device,
    stream: dacapo::Stream,
    k: Kernels,
}

impl Bench {
    fn new() -> Bench {
        let device = Device::software().unwrap();
        Bench { stream: device.stream().unwrap(), k: Kernels::load(&device).unwrap(), device }
    }

    /// The token of each row; row `r` is sequence `rows[r]`.
    fn choose(&self, logits: &[f32], noise: &[f32], rows: &[u32], temperature: f32, top_k: u32) -> Vec<u32> {
        let (logits, noise) = (self.device.buffer(logits).unwrap(), self.device.buffer(noise).unwrap());
        let (rows, mut next) = (self.device.buffer(rows).unwrap(), self.device.zeros(rows.len()).unwrap());
        let (temperature, top_k) = (Slot::new(temperature), Slot::new(top_k));
        self.stream.run(self.k.sample(&logits, &noise, &rows, &mut next, &temperature, &top_k)).unwrap();
        self.stream.read(&next).unwrap()
    }
}

/// For each token, where its part of [0, 1) begins and ends; empty for those that may not be chosen.
fn parts(logits: &[f32], temperature: f32, top_k: u32) -> Vec<(f64, f64)> {
    let mut sorted = logits.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let least = match top_k as usize {
        0 => f32::NEG_INFINITY,
        k => sorted[k.min(sorted.len()) - 1],
    };
    let weight = |&logit: &f32| {
        if logit < least { 0.0 } else { (f64::from(logit - sorted[0]) / f64::from(temperature)).exp() }
    };
    let total: f64 = logits.iter().map(weight).sum();
    let mut end = 0.0;
    let part = |logit| {
        let begin = end;
        end += weight(logit) / total;
        (begin, end)
    };
    logits.iter().map(part).collect()
}

#[test]
fn a_number_chooses_the_token_whose_part_it_lies_in() {
    let bench = Bench::new();
    let mut random = Random::new(9);
    for vocabulary in [1, 2, 31, 256, 257, 700] {
        let logits: Vec<f32> = (0..vocabulary).map(|_| 8.0 * random.unit() - 4.0).collect();
        let noise = [0.0, 0.1, 0.5, 0.9, 0.999, 1.0 - f32::EPSILON / 2.0, random.unit(), random.unit()];
        let rows: Vec<u32> = (0..noise.len() as u32).rev().collect();
        let all = logits.repeat(rows.len());
        for (temperature, top_k) in [(1.0, 0), (0.5, 3), (2.0, 40), (1.0, 100_000)] {
            let parts = parts(&logits, temperature, top_k);
            let chosen = bench.choose(&all, &noise, &rows, temperature, top_k);
            for (row, token) in rows.iter().zip(chosen) {
                let (number, (begin, end)) = (f64::from(noise[*row as usize]), parts[token as usize]);
                let (context, width) = (format!("{vocabulary} tokens, {temperature}, {top_k}, {number}"), end - begin);
                assert!(width > 0.0, "{context}: token {token} may not be chosen");
                assert!(begin - 1e-5 <= number && number <= end + 1e-5, "{context}: {begin} .. {end}");
            }
        }
    }
    assert_eq!(bench.device.findings(), [] as [String; 0]);
}

#[test]
fn without_a_temperature_it_is_the_first_of_the_largest() {
    let bench = Bench::new();
    let mut logits = vec![-3.0; 300];
    for (at, value) in [(7, 1.0), (123, 2.5), (280, 2.5)] {
        logits[at] = value;
    }
    assert_eq!(bench.choose(&logits, &[0.99], &[0], 0.0, 0), [123]);
    assert_eq!(bench.choose(&[-1.0, -2.0], &[0.5], &[0], 0.0, 5), [0]);
}

#[test]
fn equal_logits_are_all_kept_and_a_row_of_nobody_gets_nothing() {
    let bench = Bench::new();
    let chosen = |noise: f32| bench.choose(&[1.0; 4], &[noise], &[0], 1.0, 2)[0];
    assert_eq!([chosen(0.0), chosen(0.3), chosen(0.6), chosen(0.9)], [0, 1, 2, 3]);
    let two_rows = bench.choose(&[0.0, 9.0, 9.0, 0.0], &[0.5], &[NOBODY, 0], 0.0, 0);
    assert_eq!(two_rows, [0, 0]);
    let two_rows = bench.choose(&[0.0, 9.0, 0.0, 9.0], &[0.5], &[NOBODY, 0], 0.0, 0);
    assert_eq!(two_rows, [0, 1]);
    assert_eq!(bench.device.findings(), [] as [String; 0]);
}

#[test]
fn tokens_come_as_often_as_they_are_likely() {
    let bench = Bench::new();
    let (logits, count) = ([0.0, 1.0, 2.0, -1.0], 4000);
    let mut random = dacapo::random::Generator::new(&bench.device, 3).unwrap();
    let mut noise = bench.device.zeros(count).unwrap();
    bench.stream.run(random.uniform(&mut noise)).unwrap();
    let noise = bench.stream.read(&noise).unwrap();
    let rows: Vec<u32> = (0..count as u32).collect();
    let chosen = bench.choose(&logits.repeat(count), &noise, &rows, 1.0, 0);
    for (token, (begin, end)) in parts(&logits, 1.0, 0).into_iter().enumerate() {
        let (often, likely) = (chosen.iter().filter(|&&one| one == token as u32).count() as f64, end - begin);
        let spread = (count as f64 * likely * (1.0 - likely)).sqrt();
        assert!((often - count as f64 * likely).abs() < 5.0 * spread, "token {token}: {often}");
    }
}

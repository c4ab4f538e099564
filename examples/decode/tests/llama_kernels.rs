//! The kernels of a checkpoint's step at sizes that the small checkpoints do not have, against plain Rust in double precision:
//! rows that no number of warps divides, several rounds of every loop, more query heads to a group than are added up at a time.

use dacapo::{Device, Software, Stream, baked};
use dacapo_example_decode::checkpoint::kernels::{Attention, SharedKernels, Step, Weight};
use dacapo_example_decode::checkpoint::rope::Rope;
use dacapo_example_decode::random::Random;
use half::{bf16, f16};

const EPSILON: f32 = 1e-5;

/// Runs a body on a software device with every detector on. Nothing may be found.
fn watched(body: impl FnOnce(&Device, &Stream)) {
    let all = |options: &mut dacapo_sim::Options| options.detectors = dacapo_sim::Detectors::all();
    let device = Software::new().options(all).open().unwrap();
    let machine = device.machine().cloned().unwrap();
    body(&device, &device.stream().unwrap());
    drop(device);
    let findings: Vec<String> = machine.findings().iter().map(|finding| finding.to_string()).collect();
    assert_eq!(findings, [] as [String; 0]);
}

fn numbers(random: &mut Random, count: usize, width: f32) -> Vec<f32> {
    (0..count).map(|_| width * (2.0 * random.unit() - 1.0)).collect()
}

/// The same, as weights, which are rounded.
fn weights<T: Weight + From32>(random: &mut Random, count: usize, width: f32) -> Vec<T> {
    numbers(random, count, width).into_iter().map(T::from32).collect()
}

trait From32 {
    fn from32(x: f32) -> Self;
}
impl From32 for bf16 {
    fn from32(x: f32) -> bf16 {
        bf16::from_f32(x)
    }
}
impl From32 for f16 {
    fn from32(x: f32) -> f16 {
        f16::from_f32(x)
    }
}
impl From32 for f32 {
    fn from32(x: f32) -> f32 {
        x
    }
}

fn same(what: &str, got: &[f32], expected: &[f64], bound: f64) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((f64::from(*got) - expected).abs() <= bound * largest, "{what}, {i}: {got}, expected {expected}");
    }
}

/// W x, in double precision.
fn product<T: Weight>(w: &[T], x: &[f64]) -> Vec<f64> {
    w.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| f64::from(w.wide()) * x).sum()).collect()
}

fn products<T: Weight + From32>(inputs: usize, outputs: usize) {
    let (random, name) = (&mut Random::new(inputs as u64), format!("{}, {inputs} to {outputs}", T::NAME));
    let (x, gain) = (numbers(random, inputs, 3.0), numbers(random, inputs, 1.0));
    let (w, up) = (weights::<T>(random, inputs * outputs, 0.1), weights::<T>(random, inputs * outputs, 0.1));
    let before = numbers(random, outputs, 1.0);
    let mean = x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / inputs as f64;
    let scale = 1.0 / (mean + f64::from(EPSILON)).sqrt();
    let plain: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let normed: Vec<f64> = x.iter().zip(&gain).map(|(&x, &gain)| f64::from(x) * f64::from(gain) * scale).collect();
    watched(|device, stream| {
        let k = T::load(device).unwrap();
        let [x, gain, mut y] = [&x, &gain, &before].map(|values| device.buffer(values).unwrap());
        let (matrix, both) = (device.buffer(&w).unwrap(), device.buffer(&[&w[..], &up].concat()).unwrap());
        stream.run(k.linear_add(&x, &matrix, &mut y)).unwrap();
        let sums: Vec<f64> = product(&w, &plain).iter().zip(&before).map(|(sum, y)| sum + f64::from(*y)).collect();
        same(&format!("linear_add {name}"), &stream.read(&y).unwrap(), &sums, 1e-5);
        stream.run(k.norm_linear(&x, &gain, &matrix, &mut y, baked(EPSILON))).unwrap();
        same(&format!("norm_linear {name}"), &stream.read(&y).unwrap(), &product(&w, &normed), 1e-5);
        stream.run(k.norm_gate(&x, &gain, &both, &mut y, baked(EPSILON))).unwrap();
        let gates = product(&w, &normed).into_iter().zip(product(&up, &normed));
        let gated: Vec<f64> = gates.map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up).collect();
        same(&format!("norm_gate {name}"), &stream.read(&y).unwrap(), &gated, 1e-5);
    });
}

#[test]
fn products_are_right_whatever_the_sizes() {
    // Less than a warp has at a time; one more than two rounds of two warps; rows that eight warps do not divide.
    products::<bf16>(8, 1);
    products::<bf16>(4104, 19);
    products::<f16>(1288, 37);
    products::<f32>(4, 3);
    products::<f32>(1036, 21);
}

/// Attends at a position, over a cache of which everything before is given and everything behind is not looked at.
fn attends<T: Weight + From32>(of: Attention, position: usize, bound: f64) {
    let Attention { context, head, heads, group, .. } = of;
    let [context, head, heads, group] = [context, head, heads, group].map(|size| size as usize);
    let (kv_heads, random) = (heads / group, &mut Random::new(7));
    let qkv = numbers(random, (heads + 2 * kv_heads) * head, 2.0);
    let [mut keys, mut values] = [0; 2].map(|_| weights::<T>(random, kv_heads * context * head, 2.0));
    let rope = Rope { theta: 10_000.0, scaling: None };
    let turned = |from: &[f32]| -> Vec<f64> {
        let half = head / 2;
        let turn = |i: usize| (position as f64 * rope.frequencies(head)[i % half]).sin_cos();
        let other = |i: usize| if i < half { -f64::from(from[i + half]) } else { f64::from(from[i - half]) };
        (0..head).map(|i| f64::from(from[i]) * turn(i).1 + other(i) * turn(i).0).collect()
    };
    let (given_keys, given_values) = (keys.clone(), values.clone());
    for h in 0..kv_heads {
        let (key, value) = ((heads + h) * head, (heads + kv_heads + h) * head);
        let at = (h * context + position) * head;
        for (i, x) in turned(&qkv[key..key + head]).into_iter().enumerate() {
            keys[at + i] = T::from32(x as f32);
            values[at + i] = T::from32(qkv[value + i]);
        }
    }
    let mut expected = Vec::new();
    for h in 0..heads {
        let (query, base) = (turned(&qkv[h * head..(h + 1) * head]), h / group * context * head);
        let row = |of: &[T], i: usize| -> Vec<f64> {
            of[base + i * head..][..head].iter().map(|x| f64::from(x.wide())).collect()
        };
        let dot = |key: Vec<f64>| query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>() / (head as f64).sqrt();
        let scores: Vec<f64> = (0..=position).map(|i| dot(row(&keys, i)).exp()).collect();
        let sum: f64 = scores.iter().sum();
        let weighted = |d: usize| (0..=position).map(|i| scores[i] / sum * row(&values, i)[d]).sum::<f64>();
        expected.extend((0..head).map(weighted));
    }
    watched(|device, stream| {
        let (k, shared, spans) = (T::load(device).unwrap(), SharedKernels::load(device).unwrap(), of.spans() as usize);
        let qkv = device.buffer(&qkv).unwrap();
        let turns = device.buffer(&rope.turns(head, context)).unwrap();
        let position = device.scalar(position as u32).unwrap();
        let [mut keys, mut values] = [&given_keys, &given_values].map(|cache| device.buffer(cache).unwrap());
        let (mut parts, mut tops) =
            (device.zeros(spans * heads * head).unwrap(), device.zeros(spans * heads * 2).unwrap());
        let mut out = device.zeros(heads * head).unwrap();
        stream.run(k.attend(&qkv, &turns, &position, &mut keys, &mut values, &mut parts, &mut tops, of)).unwrap();
        let whole = match spans {
            1 => &parts,
            _ => {
                let sizes = [of.heads, of.head].map(baked);
                stream.run(shared.combine(&parts, &tops, &mut out, sizes[0], sizes[1])).unwrap();
                &out
            }
        };
        same(&format!("{} {of:?}", T::NAME), &stream.read(whole).unwrap(), &expected, bound);
    });
}

#[test]
fn attention_is_right_over_many_positions_and_wide_groups() {
    // 32 positions are asked for at a time in f32 and 64 in bf16: several rounds, two tiles of heads, one span or several.
    let wide = Attention { context: 60, head: 128, heads: 6, group: 6, span: 60 };
    attends::<f32>(wide, 50, 1e-5);
    attends::<f32>(Attention { span: 25, ..wide }, 50, 1e-5);
    attends::<bf16>(Attention { context: 150, heads: 10, group: 5, span: 150, ..wide }, 149, 1e-2);
    attends::<f16>(Attention { context: 90, head: 64, heads: 2, group: 1, span: 7 }, 6, 1e-3);
    attends::<f16>(Attention { context: 90, head: 64, heads: 2, group: 1, span: 7 }, 7, 1e-3);
    attends::<bf16>(Attention { context: 5, head: 32, heads: 2, group: 2, span: 5 }, 0, 1e-2);
}

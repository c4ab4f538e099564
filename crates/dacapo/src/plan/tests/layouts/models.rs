//! Makes the committed traces: what programs record, with the sizes that they have, and what was made to be hard.

use super::chance::Chance;
use std::fmt::Write as _;

/// Names and texts of all traces.
pub(super) fn all() -> Vec<(&'static str, String)> {
    type Make = fn(&mut Model);
    const MAKE: &[(&str, Make)] = &[
        ("adversarial_by_size", by_size),
        ("adversarial_comb", comb),
        ("adversarial_first_fit", first_fit),
        ("adversarial_staircase", staircase),
        ("chain_any_sizes", chain_any_sizes),
        ("chain_equal", chain_equal),
        ("chain_grows_and_shrinks", chain_grows_and_shrinks),
        ("chain_skips", chain_skips),
        ("chain_workspaces", chain_workspaces),
        ("decode_step", decode_step),
        ("densenet", densenet),
        ("diamond", diamond),
        ("diamonds_in_a_row", diamonds_in_a_row),
        ("diamonds_nested", diamonds_nested),
        ("diamonds_wide", diamonds_wide),
        ("gru_forward", |m| gru(m, 24, false)),
        ("gru_train", |m| gru(m, 16, true)),
        ("heads_in_parallel", heads_in_parallel),
        ("inception", inception),
        ("mlp_train", mlp_train),
        ("moe_block", |m| moe(m, 1)),
        ("moe_four_layers", |m| moe(m, 4)),
        ("random_branches", random_branches),
        ("random_line", random_line),
        ("resnet", resnet),
        ("transformer_block", |m| transformer(m, 1, false)),
        ("transformer_train", |m| transformer(m, 4, true)),
        ("transformer_twelve_layers", |m| transformer(m, 12, false)),
        ("unet", |m| unet(m, 4)),
        ("unet_deep", |m| unet(m, 7)),
    ];
    let made = MAKE.iter().map(|(name, make)| {
        let mut model = Model::default();
        make(&mut model);
        (*name, model.text())
    });
    made.collect()
}

/// A trace being written.
#[derive(Default)]
struct Model {
    about: &'static str,
    is_line: bool,
    temps: String,
    ops: String,
    count: usize,
}

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

impl Model {
    /// A temp, and its name.
    fn temp(&mut self, name: impl AsRef<str>, bytes: u64) -> String {
        writeln!(self.temps, "temp {} {bytes}", name.as_ref()).expect("writing to a string");
        name.as_ref().to_string()
    }

    fn op(&mut self, name: impl AsRef<str>, reads: &[&str], writes: &[&str]) {
        write!(self.ops, "{}:", name.as_ref()).expect("writing to a string");
        if !reads.is_empty() {
            write!(self.ops, " reads {};", reads.join(", ")).expect("writing to a string");
        }
        writeln!(self.ops, " writes {}", writes.join(", ")).expect("writing to a string");
    }

    /// An op that makes a temp of its own name.
    fn make(&mut self, name: impl AsRef<str>, bytes: u64, reads: &[&str]) -> String {
        let name = self.temp(name, bytes);
        self.op(format!("make_{name}"), reads, &[&name]);
        name
    }

    /// A number that no one had.
    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn text(&self) -> String {
        let line = if self.is_line { "straight line\n" } else { "" };
        format!("# {}\n{line}{}{}", self.about, self.temps, self.ops)
    }
}

fn chain_equal(m: &mut Model) {
    m.about = "Sixty ops, each reads what the one before wrote; all of one size.";
    let mut x = "input".to_string();
    for i in 0..60 {
        x = m.make(format!("x{i}"), MB, &[&x]);
    }
    m.op("out", &[&x], &["output"]);
}

fn chain_grows_and_shrinks(m: &mut Model) {
    m.about = "An encoder and a decoder in a chain: widths double, then halve.";
    let mut x = "input".to_string();
    for (i, power) in (0..12).chain((0..12).rev()).enumerate() {
        x = m.make(format!("x{i}"), (3 * KB) << power, &[&x]);
    }
    m.op("out", &[&x], &["output"]);
}

fn chain_any_sizes(m: &mut Model) {
    m.about = "A chain of temps of any size, each also read by the op after next.";
    let mut chance = Chance(11);
    let (mut older, mut x) = ("input".to_string(), "input".to_string());
    for i in 0..200 {
        let new = m.make(format!("x{i}"), 1000 + chance.below(4 * MB), &[&x, &older]);
        older = std::mem::replace(&mut x, new);
    }
    m.op("out", &[&x, &older], &["output"]);
}

fn chain_skips(m: &mut Model) {
    m.about = "A chain with skips of many lengths: some temps live long.";
    let mut chance = Chance(12);
    let mut made: Vec<String> = vec!["input".into()];
    for i in 0..120 {
        let far = made.len() - 1 - chance.below(made.len().min(24) as u64) as usize;
        let (near, far) = (made[made.len() - 1].clone(), made[far].clone());
        let bytes = chance.of(&[256 * KB, 300 * KB, MB, 2 * MB, 3 * MB]);
        made.push(m.make(format!("x{i}"), bytes, &[&near, &far]));
    }
    m.op("out", &[&made[made.len() - 1].clone()], &["output"]);
}

fn chain_workspaces(m: &mut Model) {
    m.about = "Matrix products, each with a workspace that is alive for its own op only.";
    let mut x = "input".to_string();
    for i in 0..40u64 {
        let workspace = m.temp(format!("workspace{i}"), [4 * MB, 32 * MB, 8 * MB][i as usize % 3]);
        let y = m.temp(format!("x{i}"), MB + 64 * KB * (i % 5));
        m.op(format!("product{i}"), &[&x, "weights"], &[&y, &workspace]);
        x = y;
    }
    m.op("out", &[&x], &["output"]);
}

fn diamond(m: &mut Model) {
    m.about = "One fork of two branches of three ops each, and their meeting.";
    let x = m.make("x", 4 * MB, &["input"]);
    let (mut a, mut b) = (x.clone(), x);
    for i in 0..3 {
        a = m.make(format!("a{i}"), 2 * MB, &[&a]);
        b = m.make(format!("b{i}"), 3 * MB, &[&b]);
    }
    let meet = m.make("meet", 4 * MB, &[&a, &b]);
    m.op("out", &[&meet], &["output"]);
}

fn diamonds_in_a_row(m: &mut Model) {
    m.about = "Thirty forks one after another, the branches of different weight.";
    let mut chance = Chance(21);
    let mut x = m.make("x", MB, &["input"]);
    for i in 0..30 {
        let a = m.make(format!("a{i}"), 100 * KB + chance.below(2 * MB), &[&x]);
        let b = m.make(format!("b{i}"), 100 * KB + chance.below(2 * MB), &[&x]);
        let c = m.make(format!("c{i}"), 100 * KB + chance.below(MB), &[&b]);
        x = m.make(format!("x{i}"), MB, &[&a, &c]);
    }
    m.op("out", &[&x], &["output"]);
}

fn diamonds_wide(m: &mut Model) {
    m.about = "Eight branches of five ops, three times.";
    let mut chance = Chance(22);
    let mut x = m.make("x", MB, &["input"]);
    for round in 0..3 {
        let mut ends = Vec::new();
        for branch in 0..8 {
            let mut y = x.clone();
            for i in 0..5 {
                y = m.make(format!("y{round}_{branch}_{i}"), 200 * KB + chance.below(MB), &[&y]);
            }
            ends.push(y);
        }
        let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
        x = m.make(format!("x{round}"), MB, &ends);
    }
    m.op("out", &[&x], &["output"]);
}

fn diamonds_nested(m: &mut Model) {
    m.about = "A fork in each branch of a fork, four deep.";
    fn fork(m: &mut Model, x: &str, depth: u64) -> String {
        let i = m.next();
        if depth == 0 {
            return m.make(format!("leaf{i}"), 300 * KB + 64 * KB * (i as u64 % 7), &[x]);
        }
        let split = m.make(format!("split{i}"), MB * depth, &[x]);
        let (a, b) = (fork(m, &split, depth - 1), fork(m, &split, depth - 1));
        m.make(format!("meet{i}"), 512 * KB * depth, &[&a, &b])
    }
    let end = fork(m, "input", 4);
    m.op("out", &[&end], &["output"]);
}

fn inception(m: &mut Model) {
    m.about = "Blocks of four branches of different depth that are concatenated.";
    let mut x = m.make("stem", 3 * MB, &["input"]);
    for block in 0..6 {
        let width = 768 * KB + 128 * KB * block;
        let a = m.make(format!("a{block}"), width / 4, &[&x]);
        let b = m.make(format!("b{block}_1"), width / 6, &[&x]);
        let b = m.make(format!("b{block}_2"), width / 3, &[&b]);
        let c = m.make(format!("c{block}_1"), width / 8, &[&x]);
        let c = m.make(format!("c{block}_2"), width / 6, &[&c]);
        let c = m.make(format!("c{block}_3"), width / 6, &[&c]);
        let d = m.make(format!("d{block}_1"), width, &[&x]);
        let d = m.make(format!("d{block}_2"), width / 8, &[&d]);
        x = m.make(format!("x{block}"), width, &[&a, &b, &c, &d]);
    }
    m.op("out", &[&x], &["output"]);
}

fn unet(m: &mut Model, levels: u64) {
    m.about = "A U-net: what each level of the way down made is read again on the way up.";
    let size = |level: u64| (16 * MB) >> level;
    let mut x = "input".to_string();
    let mut skips = Vec::new();
    for level in 0..levels {
        let norm = m.make(format!("down{level}_norm"), size(level), &[&x]);
        let conv = m.make(format!("down{level}_conv1"), size(level), &[&norm]);
        let skip = m.make(format!("down{level}_conv2"), size(level), &[&conv]);
        x = m.make(format!("down{level}_pool"), size(level) / 4, &[&skip]);
        skips.push(skip);
    }
    let scores = m.make("middle_scores", 3 * MB, &[&x]);
    x = m.make("middle", size(levels), &[&scores, &x]);
    for (level, skip) in skips.iter().enumerate().rev() {
        let bytes = size(level as u64);
        let up = m.make(format!("up{level}_conv"), bytes, &[&x]);
        let both = m.make(format!("up{level}_concat"), 2 * bytes, &[&up, skip]);
        let conv = m.make(format!("up{level}_conv1"), bytes, &[&both]);
        x = m.make(format!("up{level}_conv2"), bytes, &[&conv]);
    }
    m.op("out", &[&x], &["output"]);
}

fn resnet(m: &mut Model) {
    m.about = "Bottleneck blocks in four stages, each stage of half the size.";
    let mut x = m.make("stem", 6 * MB, &["input"]);
    for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
        let bytes = (6 * MB) >> stage;
        for block in 0..blocks {
            let at = format!("{stage}_{block}");
            let a = m.make(format!("a{at}"), bytes / 4, &[&x]);
            let b = m.make(format!("b{at}"), bytes / 4, &[&a]);
            let c = m.make(format!("c{at}"), bytes, &[&b]);
            let skip = if block == 0 { m.make(format!("skip{at}"), bytes, &[&x]) } else { x };
            x = m.make(format!("x{at}"), bytes, &[&c, &skip]);
        }
    }
    m.op("out", &[&x], &["output"]);
}

fn densenet(m: &mut Model) {
    m.about = "Each layer of a block reads all before it: everything lives to the end of its block.";
    let mut x = m.make("stem", 2 * MB, &["input"]);
    for block in 0..4 {
        let grown = (512 * KB) >> block;
        let mut known = vec![x];
        for layer in 0..8 {
            let reads: Vec<&str> = known.iter().map(String::as_str).collect();
            let concat = m.make(format!("concat{block}_{layer}"), 2 * MB + grown * layer, &reads);
            let squeeze = m.make(format!("squeeze{block}_{layer}"), 4 * grown, &[&concat]);
            known.push(m.make(format!("layer{block}_{layer}"), grown, &[&squeeze]));
        }
        let reads: Vec<&str> = known.iter().map(String::as_str).collect();
        x = m.make(format!("transition{block}"), MB, &reads);
    }
    m.op("out", &[&x], &["output"]);
}

/// One layer forward; what backward needs is returned.
fn layer(m: &mut Model, x: &str, at: &str, tokens: u64) -> (String, Vec<String>) {
    let width = tokens * 512 * 4;
    let norm = m.make(format!("norm_{at}"), width, &[x]);
    let q = m.make(format!("q_{at}"), width, &[&norm, "wq"]);
    let k = m.make(format!("k_{at}"), width / 4, &[&norm, "wk"]);
    let v = m.make(format!("v_{at}"), width / 4, &[&norm, "wv"]);
    let scores = m.make(format!("scores_{at}"), tokens * tokens * 8 * 4, &[&q, &k]);
    let weights = m.make(format!("softmax_{at}"), tokens * tokens * 8 * 4, &[&scores]);
    let mixed = m.make(format!("mixed_{at}"), width, &[&weights, &v]);
    let attended = m.make(format!("attended_{at}"), width, &[&mixed, "wo", x]);
    let norm2 = m.make(format!("norm2_{at}"), width, &[&attended]);
    let gate = m.make(format!("gate_{at}"), 4 * width, &[&norm2, "wg"]);
    let up = m.make(format!("up_{at}"), 4 * width, &[&norm2, "wu"]);
    let act = m.make(format!("act_{at}"), 4 * width, &[&gate, &up]);
    let out = m.make(format!("x_{at}"), width, &[&act, "wd", &attended]);
    (out.clone(), vec![norm, q, k, v, weights, mixed, norm2, gate, up, act])
}

fn transformer(m: &mut Model, layers: usize, train: bool) {
    m.about = if train {
        "Four layers of a transformer forward, and backward with what forward kept."
    } else {
        "Layers of a transformer: attention over 256 tokens, gated MLP."
    };
    let tokens = 256;
    let width = tokens * 512 * 4;
    let mut x = m.make("embedded", width, &["tokens"]);
    let mut kept = Vec::new();
    for i in 0..layers {
        let (out, saved) = layer(m, &x, &i.to_string(), tokens);
        kept.push((std::mem::replace(&mut x, out), saved));
    }
    if !train {
        return m.op("out", &[&x], &["output"]);
    }
    let mut grad = m.make("loss_grad", width, &[&x, "target"]);
    for (i, (x, saved)) in kept.iter().enumerate().rev() {
        let [norm, q, k, v, weights, mixed, norm2, gate, up, act] = &saved[..] else { unreachable!("ten are kept") };
        let g_act = m.make(format!("g_act_{i}"), 4 * width, &[&grad, "wd"]);
        m.op(format!("step_wd_{i}"), &[&grad, act], &[&format!("grad_wd_{i}")]);
        let g_gate = m.make(format!("g_gate_{i}"), 4 * width, &[&g_act, gate, up]);
        let g_up = m.make(format!("g_up_{i}"), 4 * width, &[&g_act, gate]);
        m.op(format!("step_wg_{i}"), &[&g_gate, norm2], &[&format!("grad_wg_{i}")]);
        m.op(format!("step_wu_{i}"), &[&g_up, norm2], &[&format!("grad_wu_{i}")]);
        let g_norm2 = m.make(format!("g_norm2_{i}"), width, &[&g_gate, &g_up]);
        let g_attended = m.make(format!("g_attended_{i}"), width, &[&g_norm2, &grad]);
        let g_mixed = m.make(format!("g_mixed_{i}"), width, &[&g_attended, "wo"]);
        m.op(format!("step_wo_{i}"), &[&g_attended, mixed], &[&format!("grad_wo_{i}")]);
        let g_weights = m.make(format!("g_softmax_{i}"), tokens * tokens * 8 * 4, &[&g_mixed, v]);
        let g_v = m.make(format!("g_v_{i}"), width / 4, &[&g_mixed, weights]);
        let g_scores = m.make(format!("g_scores_{i}"), tokens * tokens * 8 * 4, &[&g_weights, weights]);
        let g_q = m.make(format!("g_q_{i}"), width, &[&g_scores, k]);
        let g_k = m.make(format!("g_k_{i}"), width / 4, &[&g_scores, q]);
        m.op(format!("step_wqkv_{i}"), &[&g_q, &g_k, &g_v, norm], &[&format!("grad_wqkv_{i}")]);
        let g_norm = m.make(format!("g_norm_{i}"), width, &[&g_q, &g_k, &g_v]);
        grad = m.make(format!("g_x_{i}"), width, &[&g_norm, &g_attended, x]);
    }
    m.op("out", &[&grad], &["grad_embedding"]);
}

fn heads_in_parallel(m: &mut Model) {
    m.about = "Two layers of attention, each of the eight heads a branch of its own.";
    let width = 197 * 768 * 4;
    let mut x = m.make("patches", width, &["input"]);
    for layer in 0..2 {
        let norm = m.make(format!("norm{layer}"), width, &[&x]);
        let mut ends = Vec::new();
        for head in 0..8 {
            let at = format!("{layer}_{head}");
            let q = m.make(format!("q{at}"), width / 8, &[&norm]);
            let k = m.make(format!("k{at}"), width / 8, &[&norm]);
            let scores = m.make(format!("scores{at}"), 197 * 197 * 4, &[&q, &k]);
            let weights = m.make(format!("softmax{at}"), 197 * 197 * 4, &[&scores]);
            let v = m.make(format!("v{at}"), width / 8, &[&norm]);
            ends.push(m.make(format!("mixed{at}"), width / 8, &[&weights, &v]));
        }
        let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
        let y = m.make(format!("heads{layer}"), width, &ends);
        let y = m.make(format!("attended{layer}"), width, &[&y, &x]);
        let hidden = m.make(format!("hidden{layer}"), 4 * width, &[&y]);
        x = m.make(format!("x{layer}"), width, &[&hidden, &y]);
    }
    m.op("out", &[&x], &["output"]);
}

fn decode_step(m: &mut Model) {
    m.about = "One step of decoding, batch 8: RMS norm, RoPE, attention over a cache, gated MLP, sampling.";
    let width = 8 * 2048 * 2;
    let mut x = m.make("embedded", width, &["token", "embedding"]);
    for i in 0..8 {
        let norm = m.make(format!("norm{i}"), width, &[&x]);
        let qkv = m.temp(format!("qkv{i}"), 3 * width / 2);
        let workspace = m.temp(format!("workspace{i}"), 256 * KB);
        m.op(format!("project{i}"), &[&norm, "wqkv"], &[&qkv, &workspace]);
        let cache = format!("cache{i}");
        let q = m.temp(format!("q{i}"), width);
        m.op(format!("rope{i}"), &[&qkv, "position"], &[&q, &cache]);
        let parts = m.make(format!("parts{i}"), 16 * width + 4 * KB, &[&q, &cache, "position"]);
        let mixed = m.make(format!("mixed{i}"), width, &[&parts]);
        let attended = m.make(format!("attended{i}"), width, &[&mixed, "wo", &x]);
        let norm2 = m.make(format!("norm2_{i}"), width, &[&attended]);
        let gate_up = m.make(format!("gate_up{i}"), 6 * width, &[&norm2, "wgu"]);
        let act = m.make(format!("act{i}"), 3 * width, &[&gate_up]);
        x = m.make(format!("x{i}"), width, &[&act, "wd", &attended]);
    }
    let norm = m.make("norm_last", width, &[&x]);
    let logits = m.make("logits", 8 * 32_000 * 4, &[&norm, "embedding"]);
    let scaled = m.make("scaled", 8 * 32_000 * 4, &[&logits]);
    let top = m.make("top", 8 * 64 * 8, &[&scaled]);
    m.op("sample", &[&top, "generator"], &["token", "position", "generator"]);
}

fn mlp_train(m: &mut Model) {
    m.about = "Six layers forward, a loss, backward with the activations that were kept, momentum for each weight.";
    let widths = [784u64, 1024, 1024, 512, 512, 256, 10];
    let batch = 512 * 4;
    let mut kept = Vec::new();
    let mut x = "input".to_string();
    for (i, width) in widths[1..].iter().enumerate() {
        let z = m.make(format!("z{i}"), batch * width, &[&x, &format!("w{i}")]);
        let act = m.make(format!("a{i}"), batch * width, &[&z]);
        kept.push((x, z, i));
        x = act;
    }
    let probabilities = m.make("softmax", batch * 10, &[&x]);
    m.op("loss", &[&probabilities, "labels"], &["loss_out"]);
    let mut grad = m.make("g_softmax", batch * 10, &[&probabilities, "labels"]);
    for (input, z, i) in kept.into_iter().rev() {
        let g_z = m.make(format!("g_z{i}"), batch * widths[i + 1], &[&grad, &z]);
        let g_w = m.make(format!("g_w{i}"), widths[i] * widths[i + 1] * 4, &[&g_z, &input]);
        let g_b = m.make(format!("g_b{i}"), widths[i + 1] * 4, &[&g_z]);
        if i > 0 {
            grad = m.make(format!("g_a{i}"), batch * widths[i], &[&g_z, &format!("w{i}")]);
        }
        m.op(format!("momentum{i}"), &[&g_w, &g_b], &[&format!("m{i}")]);
        m.op(format!("step{i}"), &[&format!("m{i}")], &[&format!("w{i}")]);
    }
}

fn gru(m: &mut Model, steps: u64, train: bool) {
    m.about = if train { "A GRU through time, and back." } else { "A GRU forward, the gates side by side." };
    let h_bytes = 64 * 512 * 4;
    let all = m.make("inputs_projected", 3 * steps * h_bytes / 4, &["input", "w_input"]);
    let mut h = m.make("h_first", h_bytes, &["zero"]);
    let mut kept = Vec::new();
    for t in 0..steps {
        let reset = m.make(format!("reset{t}"), h_bytes, &[&h, &all, "w_reset"]);
        let update = m.make(format!("update{t}"), h_bytes, &[&h, &all, "w_update"]);
        let gated = m.make(format!("gated{t}"), h_bytes, &[&reset, &h]);
        let new = m.make(format!("new{t}"), h_bytes, &[&gated, &all, "w_new"]);
        let next = m.make(format!("h{t}"), h_bytes, &[&new, &update, &h]);
        kept.push((std::mem::replace(&mut h, next), reset, update, gated, new));
    }
    m.op("out", &[&h], &["output"]);
    if !train {
        return;
    }
    let mut grad = m.make("g_loss", h_bytes, &[&h, "target"]);
    for (t, (h, reset, update, gated, new)) in kept.iter().enumerate().rev() {
        let g_new = m.make(format!("g_new{t}"), h_bytes, &[&grad, update, new]);
        let g_update = m.make(format!("g_update{t}"), h_bytes, &[&grad, new, h, update]);
        let g_gated = m.make(format!("g_gated{t}"), h_bytes, &[&g_new, "w_new"]);
        let g_reset = m.make(format!("g_reset{t}"), h_bytes, &[&g_gated, h, reset]);
        m.op(format!("sum_w_new{t}"), &[&g_new, gated], &["gw_new"]);
        m.op(format!("sum_w_update{t}"), &[&g_update, h], &["gw_update"]);
        m.op(format!("sum_w_reset{t}"), &[&g_reset, h], &["gw_reset"]);
        let reads = [&grad, update, &g_gated, reset, &g_update, &g_reset].map(String::as_str);
        grad = m.make(format!("g_h{t}"), h_bytes, &reads);
    }
    m.op("out_grad", &[&grad], &["grad_first"]);
}

fn moe(m: &mut Model, layers: usize) {
    m.about = "A mixture of eight experts: each its own branch, with its own share of the tokens.";
    let width = 128 * 1024 * 2;
    let shares = [40u64, 4, 16, 22, 8, 64, 30, 12];
    let mut x = m.make("x", width, &["input"]);
    for layer in 0..layers {
        let norm = m.make(format!("norm{layer}"), width, &[&x]);
        let routes = m.make(format!("routes{layer}"), 128 * 8 * 4, &[&norm, "router"]);
        let mut ends = Vec::new();
        for (expert, tokens) in shares.iter().enumerate() {
            let at = format!("{layer}_{expert}");
            let own = m.make(format!("own{at}"), tokens * 2048, &[&norm, &routes]);
            let gate = m.make(format!("gate{at}"), tokens * 4 * 2048, &[&own]);
            let up = m.make(format!("up{at}"), tokens * 4 * 2048, &[&own]);
            let act = m.make(format!("act{at}"), tokens * 4 * 2048, &[&gate, &up]);
            ends.push(m.make(format!("down{at}"), tokens * 2048, &[&act]));
        }
        let mut reads: Vec<&str> = ends.iter().map(String::as_str).collect();
        reads.extend([routes.as_str(), x.as_str()]);
        x = m.make(format!("x{layer}"), width, &reads);
    }
    m.op("out", &[&x], &["output"]);
}

/// Temps of given lives in a straight line of empty ops: `(bytes, first, last)`.
fn intervals(m: &mut Model, lives: &[(u64, usize, usize)]) {
    m.is_line = true;
    let ops = lives.iter().map(|life| life.2 + 1).max().unwrap_or(0);
    let names: Vec<String> = lives.iter().enumerate().map(|(i, life)| m.temp(format!("t{i}"), life.0)).collect();
    for op in 0..ops {
        let of = |wanted: fn(&(u64, usize, usize)) -> usize| {
            lives.iter().zip(&names).filter(move |(life, _)| wanted(life) == op).map(|(_, name)| name.as_str())
        };
        let writes: Vec<&str> = of(|life| life.1).chain(["state"]).collect();
        let reads: Vec<&str> = of(|life| life.2).collect();
        m.op(format!("op{op}"), &reads, &writes);
    }
}

fn first_fit(m: &mut Model) {
    m.about = "Small temps live on between ever larger ones: the gaps they leave are always a little too small.";
    let mut lives = Vec::new();
    for i in 0..40u64 {
        let at = 2 * i as usize;
        lives.push((64 * KB * (i + 1), at, at + 1));
        lives.push((16 * KB, at + 1, 90));
    }
    intervals(m, &lives);
}

fn by_size(m: &mut Model) {
    m.about =
        "Large temps of short life and small ones of long life: whoever places the large ones first scatters them.";
    let mut chance = Chance(31);
    let mut lives = Vec::new();
    for i in 0..24usize {
        lives.push((MB + 4 * KB * chance.below(32), 3 * i, 3 * i + 2 + chance.below(4) as usize));
        lives.push((300 * KB + 4 * KB * chance.below(64), 3 * i + 1, (3 * i + 20).min(80)));
        lives.push((700 * KB + 4 * KB * chance.below(16), 3 * i + 2, 3 * i + 9));
    }
    intervals(m, &lives);
}

fn comb(m: &mut Model) {
    m.about = "A full arena of which every other temp dies; then temps of twice the size come.";
    let mut lives = Vec::new();
    for i in 0..64usize {
        lives.push((128 * KB, i, if i % 2 == 0 { 70 } else { 200 }));
    }
    for i in 0..16usize {
        lives.push((256 * KB, 80 + i, 120));
    }
    for i in 0..8usize {
        lives.push((512 * KB, 130 + i, 160));
    }
    intervals(m, &lives);
}

fn staircase(m: &mut Model) {
    m.about = "Lives like bricks: each begins while two others are alive, and no two have the same size.";
    let mut lives = Vec::new();
    for i in 0..60u64 {
        let bytes = 64 * KB + 4 * KB * (i * 37 % 61);
        lives.push((bytes, 4 * i as usize, 4 * i as usize + 9 + (i * 5 % 7) as usize));
    }
    intervals(m, &lives);
}

fn random_line(m: &mut Model) {
    m.about = "Eight hundred temps of any size and life in a straight line.";
    let mut chance = Chance(41);
    let mut lives = Vec::new();
    for _ in 0..800 {
        let first = chance.below(600) as usize;
        let most = chance.of(&[4, 12, 40, 200]);
        let span = chance.below(most) as usize;
        lives.push((1 + chance.size(10, 11), first, (first + span).min(640)));
    }
    intervals(m, &lives);
}

fn random_branches(m: &mut Model) {
    m.about = "Three hundred ops on random temps of the last twenty, any sizes.";
    let mut chance = Chance(42);
    let mut made: Vec<String> = vec!["input".into()];
    for i in 0..300 {
        let count = 1 + chance.below(3);
        let reads: Vec<String> = (0..count)
            .map(|_| made[made.len() - 1 - chance.below(made.len().min(20) as u64) as usize].clone())
            .collect();
        let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
        let bytes = 1 + chance.size(12, 9);
        made.push(m.make(format!("t{i}"), bytes, &reads));
    }
}

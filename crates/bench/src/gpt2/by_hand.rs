//! The step by driver calls alone: memory, kernels, and a graph in which every kernel waits for the one before it.

use dacapo::half::bf16;
use dacapo_cli::bench::raw::{KernelNode, Raw, RawGraph, RawStream, read_floats};
use dacapo_cli::complaint::Complaint;
use dacapo_cli::session::{DeviceBytes, Session};
use dacapo_driver::types::CUfunction;
use dacapo_example_decode::gpt2::kernels::*;
use dacapo_example_decode::gpt2::model::head_blocks;
use dacapo_example_decode::gpt2::shape::HEAD;
use dacapo_example_decode::gpt2::weights::Layer;
use dacapo_example_decode::gpt2::{Shape, Weights};

use super::position;

/// The kernels' functions, those of the batch's size.
struct Functions {
    qkv: CUfunction,
    /// `attend_out_1`, `attend_8` or `attend_32`.
    attend: CUfunction,
    up: CUfunction,
    /// `down_1`, `add_8` or `add_32`.
    down: CUfunction,
    head: CUfunction,
    choose: CUfunction,
    embed: CUfunction,
}

/// The sequences, and what one kernel leaves for the next.
struct Memory<'d> {
    positions: DeviceBytes<'d>,
    lengths: DeviceBytes<'d>,
    history: DeviceBytes<'d>,
    keys: Vec<DeviceBytes<'d>>,
    values: Vec<DeviceBytes<'d>>,
    x: DeviceBytes<'d>,
    rounded: DeviceBytes<'d>,
    queries: DeviceBytes<'d>,
    /// The heads' shares, or what was attended.
    attended: DeviceBytes<'d>,
    y: DeviceBytes<'d>,
    u: DeviceBytes<'d>,
    logits: DeviceBytes<'d>,
    best: DeviceBytes<'d>,
}

/// The step as a graph that was made by hand.
pub struct ByHand<'d> {
    shape: Shape,
    functions: Functions,
    weights: Weights<DeviceBytes<'d>>,
    memory: Memory<'d>,
    head_blocks: usize,
    nodes: Vec<KernelNode>,
    graph: Option<RawGraph<'d>>,
    stream: RawStream<'d>,
    /// Has the module with the functions.
    _session: Session<'d>,
}

impl<'d> ByHand<'d> {
    /// The step, with every sequence at its position.
    pub fn new(
        raw: &Raw<'d>,
        shape: Shape,
        weights: &Weights<Vec<bf16>>,
        multiprocessors: u32,
    ) -> Result<ByHand<'d>, Complaint> {
        let mut session = Session::open(raw.session().driver())?;
        let mut find = |name: String| session.kernel("gpt2", PTX, &format!("gpt2_{name}"));
        let rows = if shape.sequences == 1 {
            1
        } else if shape.sequences <= 8 {
            8
        } else {
            32
        };
        let (attend, down) = match rows {
            1 => ("attend_out_1".into(), "down_1".into()),
            _ => (format!("attend_{rows}"), format!("add_{rows}")),
        };
        let functions = Functions {
            qkv: find(format!("qkv_{rows}"))?,
            attend: find(attend)?,
            up: find(format!("up_{rows}"))?,
            down: find(down)?,
            head: find(format!("head_{rows}"))?,
            choose: find("choose".into())?,
            embed: find("embed".into())?,
        };
        let weights = weights.map(|values| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_bits().to_ne_bytes()).collect();
            Ok::<_, Complaint>(raw.session().buffer(&bytes)?)
        })?;
        let head_blocks = head_blocks(&shape, multiprocessors);
        let memory = Memory::new(raw, &shape, head_blocks)?;
        let stream = raw.stream()?;
        let mut by_hand = ByHand {
            shape,
            functions,
            weights,
            memory,
            head_blocks,
            nodes: Vec::new(),
            graph: None,
            stream,
            _session: session,
        };
        raw.graph_of(&[by_hand.embed()])?.launch(&by_hand.stream)?;
        by_hand.stream.synchronize()?;
        by_hand.nodes = by_hand.step();
        by_hand.graph = Some(raw.graph_of(&by_hand.nodes)?);
        Ok(by_hand)
    }

    /// Its edges: which node waits for which.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(to, node)| node.after.iter().map(move |from| (*from, to))).collect()
    }

    /// What the last step thought of every token; everything has been waited for.
    pub fn logits(&self) -> Result<Vec<f32>, Complaint> {
        read_floats(&self.memory.logits)
    }

    pub fn block(&self, raw: &Raw<'_>, launches: u32) -> Result<f64, Complaint> {
        let Some(graph) = &self.graph else { return Err(Complaint::new("the graph by hand was not made")) };
        let (start, end) = (raw.event(true)?, raw.event(true)?);
        self.stream.record(&start)?;
        (0..launches).try_for_each(|_| graph.launch(&self.stream))?;
        self.stream.record(&end)?;
        self.stream.synchronize()?;
        Ok(end.microseconds_since(&start)? / f64::from(launches))
    }

    /// The vectors of the tokens that the sequences stand at.
    fn embed(&self) -> KernelNode {
        let (m, Shape { dim, vocabulary, context, sequences, .. }) = (&self.memory, self.shape);
        let table = self.weights.embedding.address();
        let [history, positions, x, rounded] = [&m.history, &m.positions, &m.x, &m.rounded].map(DeviceBytes::address);
        let words = vec![history, positions, table, x, rounded, context as u64, dim as u64, vocabulary as u64];
        node(self.functions.embed, [sequences, 1], WARPS, words)
    }

    /// All kernels of a step, each behind the one before it.
    fn step(&self) -> Vec<KernelNode> {
        let mut nodes = Vec::new();
        for (number, layer) in self.weights.layers.iter().enumerate() {
            nodes.extend(match self.shape.sequences {
                1 => self.layer_of_one(number, layer),
                _ => self.layer_of_many(number, layer),
            });
        }
        nodes.extend([self.head(), self.choose()]);
        for (number, node) in nodes.iter_mut().enumerate().skip(1) {
            node.after = vec![number - 1];
        }
        nodes
    }

    fn layer_of_one(&self, number: usize, w: &Layer<DeviceBytes<'d>>) -> Vec<KernelNode> {
        let (m, f, Shape { dim, hidden, context, .. }) = (&self.memory, &self.functions, self.shape);
        let Layer { attention_norm, qkv, out, mlp_norm, up, down } = w.map(DeviceBytes::address);
        let [keys, values] = [m.keys[number].address(), m.values[number].address()];
        let [x, y, u] = [&m.x, &m.y, &m.u].map(DeviceBytes::address);
        let [positions, queries, shares] = [&m.positions, &m.queries, &m.attended].map(DeviceBytes::address);
        let [c, d, h, heads] = [context, dim, hidden, dim / HEAD].map(|size| size as u64);
        let qkv = vec![qkv, attention_norm, x, positions, queries, keys, values, c, d];
        let attend = vec![out, queries, keys, values, positions, shares, c, d];
        let up = vec![up, mlp_norm, x, shares, y, u, heads, d, h];
        let down = vec![down, u, y, x, d, h];
        vec![
            node(f.qkv, [(3 * dim).div_ceil(QKV_GROUPS * ROWS), 1], QKV_GROUPS * STRIPS, qkv),
            node(f.attend, [dim / HEAD, dim.div_ceil(ATTEND_ROWS)], WARPS, attend),
            node(f.up, [hidden.div_ceil(UP_GROUPS * ROWS), 1], UP_GROUPS * STRIPS, up),
            node(f.down, [dim.div_ceil(ROWS), 1], DOWN_STRIPS, down),
        ]
    }

    fn layer_of_many(&self, number: usize, w: &Layer<DeviceBytes<'d>>) -> Vec<KernelNode> {
        let (m, f, Shape { dim, hidden, context, sequences, .. }) = (&self.memory, &self.functions, self.shape);
        let Layer { attention_norm, qkv, out, mlp_norm, up, down } = w.map(DeviceBytes::address);
        let [keys, values] = [m.keys[number].address(), m.values[number].address()];
        let [x, rounded, u] = [&m.x, &m.rounded, &m.u].map(DeviceBytes::address);
        let [positions, queries, attended] = [&m.positions, &m.queries, &m.attended].map(DeviceBytes::address);
        let [batch, c, d, h] = [sequences, context, dim, hidden].map(|size| size as u64);
        let qkv = vec![qkv, attention_norm, rounded, positions, queries, keys, values, batch, c, d];
        let attend = vec![queries, keys, values, positions, attended, c, d];
        let add = vec![out, attended, x, rounded, batch, d, d];
        let up = vec![up, mlp_norm, rounded, u, batch, d, h];
        let down = vec![down, u, x, rounded, batch, h, d];
        let attend_warps = if sequences <= 8 { ATTEND_WARPS_8 } else { WARPS };
        vec![
            node(f.qkv, [(3 * dim).div_ceil(8 * QKV_TILES), 1], NORM_WARPS, qkv),
            node(f.attend, [dim / HEAD, sequences], attend_warps, attend),
            node(f.down, [dim.div_ceil(8), 1], ADD_WARPS, add),
            node(f.up, [hidden.div_ceil(8 * UP_TILES), 1], NORM_WARPS, up),
            node(f.down, [dim.div_ceil(8), 1], ADD_WARPS, down),
        ]
    }

    fn head(&self) -> KernelNode {
        let (m, w, Shape { dim, vocabulary, sequences, .. }) = (&self.memory, &self.weights, self.shape);
        let [logits, best] = [&m.logits, &m.best].map(DeviceBytes::address);
        let x = if sequences == 1 { m.x.address() } else { m.rounded.address() };
        let mut words = vec![w.head.address(), w.norm.address(), x, logits, best];
        words.extend((sequences > 1).then_some(sequences as u64));
        words.extend([dim as u64, vocabulary as u64]);
        node(self.functions.head, [self.head_blocks, 1], WARPS, words)
    }

    fn choose(&self) -> KernelNode {
        let (m, Shape { dim, vocabulary, context, sequences, .. }) = (&self.memory, self.shape);
        let [best, lengths, positions, history] =
            [&m.best, &m.lengths, &m.positions, &m.history].map(DeviceBytes::address);
        let [candidates, c, d, v] = [self.head_blocks, context, dim, vocabulary].map(|size| size as u64);
        let [table, x, rounded] = [&self.weights.embedding, &m.x, &m.rounded].map(DeviceBytes::address);
        // The last is the way to the next token: none.
        let words = vec![best, lengths, positions, history, table, x, rounded, candidates, c, d, v, 0];
        node(self.functions.choose, [sequences, 1], WARPS, words)
    }
}

impl<'d> Memory<'d> {
    fn new(raw: &Raw<'d>, shape: &Shape, head_blocks: usize) -> Result<Memory<'d>, Complaint> {
        let Shape { layers, dim, hidden, vocabulary, context, sequences } = *shape;
        let zeros = |bytes: usize| raw.session().buffer(&vec![0; bytes]);
        let words = |value: u32| raw.session().buffer(&value.to_ne_bytes().repeat(sequences));
        let caches = || (0..layers).map(|_| zeros(2 * shape.cache())).collect::<Result<Vec<_>, _>>();
        Ok(Memory {
            positions: words(position(shape) as u32)?,
            lengths: words(1)?,
            history: zeros(4 * sequences * context)?,
            keys: caches()?,
            values: caches()?,
            x: zeros(4 * sequences * dim)?,
            rounded: zeros(2 * sequences * dim)?,
            queries: zeros(4 * sequences * dim)?,
            attended: zeros(4 * dim * sequences.max(shape.heads()))?,
            y: zeros(4 * dim)?,
            u: zeros(4 * sequences * hidden)?,
            logits: zeros(4 * sequences * vocabulary)?,
            best: zeros(8 * sequences * head_blocks)?,
        })
    }
}

fn node(function: CUfunction, blocks: [usize; 2], warps: usize, words: Vec<u64>) -> KernelNode {
    let blocks = [blocks[0] as u32, blocks[1] as u32, 1];
    KernelNode { function, blocks, threads: 32 * warps as u32, words, after: Vec::new() }
}

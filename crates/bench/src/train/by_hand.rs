//! A training step by driver calls alone: memory, kernels, and a graph with every edge written down.

use dacapo_cli::session::{DeviceBytes, Session};
use dacapo_driver::types::*;
use dacapo_example_train::kernels::PTX;
use dacapo_example_train::{Adam, Model, Shape, data};

use super::{SEED, Way, gru, mlp};
use dacapo_cli::bench::blocks::each;
use dacapo_cli::bench::raw::{KernelNode, Raw, RawGraph, RawStream, read_floats};
use dacapo_cli::complaint::Complaint;

/// The kernels' functions.
pub struct Functions {
    pub linear: CUfunction,
    pub linear_gelu: CUfunction,
    pub linear_loss: CUfunction,
    pub linear_gelu_loss: CUfunction,
    pub linear_gelu_backward: CUfunction,
    pub weight_gradient: CUfunction,
    pub gru_forward: CUfunction,
    pub gru_backward: CUfunction,
    pub adam: CUfunction,
}

/// The memory that both networks have.
pub struct Memory<'d> {
    pub parameters: DeviceBytes<'d>,
    pub mean: DeviceBytes<'d>,
    pub square: DeviceBytes<'d>,
    pub powers: DeviceBytes<'d>,
    pub inputs: DeviceBytes<'d>,
    pub targets: DeviceBytes<'d>,
    pub gradient: DeviceBytes<'d>,
    pub parts: DeviceBytes<'d>,
    pub loss: DeviceBytes<'d>,
}

/// The step of a network as a graph that was made by hand.
pub struct ByHand<'d> {
    memory: Memory<'d>,
    /// What only the graph's kernels touch.
    _between: Vec<DeviceBytes<'d>>,
    nodes: Vec<KernelNode>,
    graph: RawGraph<'d>,
    stream: RawStream<'d>,
    /// Has the module with the functions.
    _session: Session<'d>,
}

impl<'d> ByHand<'d> {
    /// A network with the measured data in it, before its first step.
    pub fn new(raw: &Raw<'d>, shape: Shape) -> Result<ByHand<'d>, Complaint> {
        let mut session = Session::open(raw.session().driver())?;
        let mut find = |name| session.kernel("training", PTX, name);
        let functions = Functions {
            linear: find("linear")?,
            linear_gelu: find("linear_gelu")?,
            linear_loss: find("linear_loss")?,
            linear_gelu_loss: find("linear_gelu_loss")?,
            linear_gelu_backward: find("linear_gelu_backward")?,
            weight_gradient: find("weight_gradient")?,
            gru_forward: find("gru_forward")?,
            gru_backward: find("gru_backward")?,
            adam: find("adam")?,
        };
        let (batch, zeros) = (data::noise(shape, SEED), |n: usize| raw.floats(&vec![0.0; n]));
        let memory = Memory {
            parameters: raw.floats(&data::parameters(shape, SEED))?,
            mean: zeros(shape.parameters())?,
            square: zeros(shape.parameters())?,
            powers: raw.floats(&[1.0, 1.0])?,
            inputs: raw.floats(&batch.inputs)?,
            targets: raw.floats(&batch.targets)?,
            gradient: zeros(shape.parameters())?,
            parts: zeros(shape.loss_parts())?,
            loss: zeros(1)?,
        };
        let (between, nodes) = match shape.model {
            Model::Gru => gru::nodes(raw, &functions, &memory, shape)?,
            Model::Mlp => mlp::nodes(raw, &functions, &memory, shape)?,
        };
        let (graph, stream) = (raw.graph_of(&nodes)?, raw.stream()?);
        Ok(ByHand { memory, _between: between, nodes, graph, stream, _session: session })
    }

    /// Its edges: which node waits for which.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(to, node)| node.after.iter().map(move |from| (*from, to))).collect()
    }

    /// All parameters and, behind them, the last loss; everything has been waited for.
    pub fn outcome(&self) -> Result<Vec<f32>, Complaint> {
        let mut numbers = read_floats(&self.memory.parameters)?;
        numbers.extend(read_floats(&self.memory.loss)?);
        Ok(numbers)
    }

    pub(super) fn block(&self, raw: &Raw<'_>, way: Way, launches: u32) -> Result<f64, Complaint> {
        if way == Way::HostLaunch {
            return each(launches, || Ok(self.graph.launch(&self.stream)?), || Ok(self.stream.synchronize()?));
        }
        let (start, end) = (raw.event(true)?, raw.event(true)?);
        self.stream.record(&start)?;
        (0..launches).try_for_each(|_| self.graph.launch(&self.stream))?;
        self.stream.record(&end)?;
        self.stream.synchronize()?;
        Ok(end.microseconds_since(&start)? / f64::from(launches))
    }
}

/// The address of element `at` of floats.
pub fn float(memory: &DeviceBytes<'_>, at: usize) -> u64 {
    memory.address() + 4 * at as u64
}

/// A number as an argument.
pub fn number(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// A product's node: 32 by 32 of `m` by `n` numbers a block.
pub fn product(function: CUfunction, [m, n, layers]: [usize; 3], words: &[u64], after: &[usize]) -> KernelNode {
    let blocks = [n.div_ceil(32) as u32, m.div_ceil(32) as u32, layers as u32];
    KernelNode { function, blocks, threads: 256, words: words.to_vec(), after: after.to_vec() }
}

/// The last node of both networks: Adam, and the sum of the loss.
pub fn adam(function: CUfunction, memory: &Memory<'_>, shape: Shape, after: &[usize]) -> KernelNode {
    let Adam { rate, beta1, beta2, epsilon } = Adam::default();
    let n = shape.parameters();
    let words = vec![
        number(rate),
        number(beta1),
        number(beta2),
        number(epsilon),
        memory.powers.address(),
        memory.gradient.address(),
        memory.parts.address(),
        memory.parameters.address(),
        memory.mean.address(),
        memory.square.address(),
        memory.loss.address(),
        n as u64,
        shape.loss_parts() as u64,
    ];
    let blocks = [n.div_ceil(1024) as u32 + 1, 1, 1];
    KernelNode { function, blocks, threads: 256, words, after: after.to_vec() }
}

//! Conjugate gradients by driver calls alone: memory, kernels, a graph with a WHILE node, and a graph of one round.

use dacapo_cli::bench::blocks::each;
use dacapo_cli::bench::raw::{KernelNode, Pinned, Raw, RawGraph, RawStream, Repeat, read_floats};
use dacapo_cli::complaint::Complaint;
use dacapo_cli::session::{DeviceBytes, Session};
use dacapo_driver::types::*;
use dacapo_example_solve::Problem;
use dacapo_example_solve::kernels::{PTX, THREADS, blocks};

use super::{Ended, ROUNDS_MAX, TOLERANCE, Way, timed};

/// The library's kernel for one comparison, so that both sides decide by the same code.
const CONDITION_PTX: &str = include_str!("../../../dacapo/kernels/condition.ptx");

/// As kernels/condition.cu numbers them: f32, above; what is done before a loop, and at the end of a round.
const ABOVE: u64 = 2 | 10 << 8;
const BEGIN: u64 = 1;
const END: u64 = 2;

/// The kernels' functions.
struct Functions {
    begin: CUfunction,
    measure: CUfunction,
    apply: CUfunction,
    advance: CUfunction,
    turn: CUfunction,
    decide: CUfunction,
}

/// A system on the device, by hand.
struct System<'d> {
    functions: Functions,
    side: u64,
    b: DeviceBytes<'d>,
    x: DeviceBytes<'d>,
    r: DeviceBytes<'d>,
    p: DeviceBytes<'d>,
    q: DeviceBytes<'d>,
    pq_parts: DeviceBytes<'d>,
    rr_parts: DeviceBytes<'d>,
    before: DeviceBytes<'d>,
    residual: DeviceBytes<'d>,
    limit: DeviceBytes<'d>,
    rounds: DeviceBytes<'d>,
    /// Of the loop: whether it goes on, rounds, whether the bound ended it.
    state: DeviceBytes<'d>,
    /// Has the modules with the functions.
    _session: Session<'d>,
}

impl<'d> System<'d> {
    fn new(raw: &Raw<'d>, problem: &Problem) -> Result<System<'d>, Complaint> {
        let mut session = Session::open(raw.session().driver())?;
        let mut find = |name| session.kernel("solve", PTX, name);
        let (begin, measure, apply) = (find("begin")?, find("measure")?, find("apply")?);
        let (advance, turn) = (find("advance")?, find("turn")?);
        let decide = session.kernel("condition", CONDITION_PTX, "decide")?;
        let (points, zeros) = (problem.b.len(), |n: usize| raw.floats(&vec![0.0; n]));
        Ok(System {
            functions: Functions { begin, measure, apply, advance, turn, decide },
            side: problem.side as u64,
            b: raw.floats(&problem.b)?,
            x: zeros(points)?,
            r: zeros(points)?,
            p: zeros(points)?,
            q: zeros(points)?,
            pq_parts: zeros(blocks(points))?,
            rr_parts: zeros(blocks(points))?,
            before: zeros(1)?,
            residual: zeros(1)?,
            limit: zeros(1)?,
            rounds: zeros(1)?,
            state: zeros(4)?,
            _session: session,
        })
    }

    /// A kernel with the grid that all points need, behind node number `after`.
    fn node(&self, function: CUfunction, words: Vec<u64>, after: Option<usize>) -> KernelNode {
        let grid = [self.parts() as u32, 1, 1];
        KernelNode { function, blocks: grid, threads: THREADS as u32, words, after: after.into_iter().collect() }
    }

    fn points(&self) -> u64 {
        self.side * self.side
    }

    fn parts(&self) -> u64 {
        blocks(self.points() as usize) as u64
    }

    /// x = 0, and what the residual must fall to.
    fn start(&self) -> Vec<KernelNode> {
        let [b, x, r, p] = [&self.b, &self.x, &self.r, &self.p].map(DeviceBytes::address);
        let begin = self.node(self.functions.begin, vec![b, x, r, p, self.rr_parts.address(), self.points()], None);
        let words = vec![
            self.rr_parts.address(),
            u64::from(TOLERANCE.to_bits()),
            self.residual.address(),
            self.limit.address(),
            self.rounds.address(),
            self.parts(),
        ];
        let measure = KernelNode { blocks: [1, 1, 1], ..self.node(self.functions.measure, words, Some(0)) };
        vec![begin, measure]
    }

    fn round(&self) -> Vec<KernelNode> {
        let [x, r, p, q] = [&self.x, &self.r, &self.p, &self.q].map(DeviceBytes::address);
        let [pq_parts, rr_parts] = [&self.pq_parts, &self.rr_parts].map(DeviceBytes::address);
        let [before, residual, rounds] = [&self.before, &self.residual, &self.rounds].map(DeviceBytes::address);
        let (n, parts) = (self.points(), self.parts());
        let apply = vec![p, residual, q, pq_parts, before, self.side];
        let advance = vec![p, q, pq_parts, before, x, r, rr_parts, n, parts];
        let turn = vec![r, rr_parts, before, p, residual, rounds, n, parts];
        vec![
            self.node(self.functions.apply, apply, None),
            self.node(self.functions.advance, advance, Some(0)),
            self.node(self.functions.turn, turn, Some(1)),
        ]
    }

    /// Compares the residual with its limit and sets the loop's handle.
    fn decide(&self, mode: u64, handle: u64, after: usize) -> KernelNode {
        let [state, residual, limit] = [&self.state, &self.residual, &self.limit].map(DeviceBytes::address);
        let words = vec![state, 0, 0, residual, limit, 0, 0, ABOVE, mode, u64::from(ROUNDS_MAX), 0, handle];
        KernelNode { blocks: [1, 1, 1], threads: 1, ..self.node(self.functions.decide, words, Some(after)) }
    }

    fn outcome(&self) -> Result<Ended, Complaint> {
        let rounds = read_floats(&self.rounds)?[0].to_bits();
        Ok((rounds, read_floats(&self.x)?.into_iter().map(f32::to_bits).collect()))
    }
}

/// The whole loop as one graph.
pub struct ByHand<'d> {
    system: System<'d>,
    graph: RawGraph<'d>,
    stream: RawStream<'d>,
}

impl<'d> ByHand<'d> {
    pub fn new(raw: &Raw<'d>, problem: &Problem) -> Result<ByHand<'d>, Complaint> {
        let system = System::new(raw, problem)?;
        let graph = raw.graph_with_while(|handle| {
            let (mut before, mut body) = (system.start(), system.round());
            before.push(system.decide(BEGIN, handle, 1));
            body.push(system.decide(END, handle, 2));
            Repeat { before, body }
        })?;
        Ok(ByHand { system, graph, stream: raw.stream()? })
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

    pub(super) fn outcome(&self) -> Result<Ended, Complaint> {
        self.system.outcome()
    }
}

/// The start and a round as graphs, and a loop of the host.
pub struct RoundByHand<'d> {
    system: System<'d>,
    start: RawGraph<'d>,
    round: RawGraph<'d>,
    stream: RawStream<'d>,
    flag: Pinned<'d>,
}

impl<'d> RoundByHand<'d> {
    pub fn new(raw: &Raw<'d>, problem: &Problem) -> Result<RoundByHand<'d>, Complaint> {
        let system = System::new(raw, problem)?;
        let (start, round) = (raw.graph_of(&system.start())?, raw.graph_of(&system.round())?);
        Ok(RoundByHand { system, start, round, stream: raw.stream()?, flag: raw.pinned(&[0.0])? })
    }

    pub(super) fn block(&mut self, launches: u32) -> Result<f64, Complaint> {
        let RoundByHand { system, start, round, stream, flag } = self;
        timed(launches, || {
            start.launch(stream)?;
            let limit = stream.read_float(&system.limit, flag)?;
            let mut rounds = 0;
            loop {
                round.launch(stream)?;
                rounds += 1;
                if stream.read_float(&system.residual, flag)? <= limit || rounds == ROUNDS_MAX {
                    return Ok(rounds);
                }
            }
        })
    }

    pub(super) fn outcome(&self) -> Result<Ended, Complaint> {
        self.system.outcome()
    }
}

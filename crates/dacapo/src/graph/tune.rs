//! Finding out which edges gain: by measuring, on the device, with the graph itself.
//!
//! - Each kind of edge is a pair of kernels: entry points, texts, geometries. For each, full, waits and signals are tried, one
//!   kind after the other, in a second executable graph of the same nodes; what is faster by more than the noise is kept.
//! - Two executables are measured in turns, launch by launch between two events, so that what changes with time (clocks,
//!   neighbours) touches both.
//! - A turn is one piece of work for the ledger: what the graph writes is put aside, put back before each launch, and put
//!   back behind the last. So every launch starts from the same contents, and what others do with the same memory comes
//!   before all of it or after all of it. Host memory is not put back, as in a warm-up.
//! - In the end the choice is held against full edges once more. Where it is not faster, full edges stay.
//! - Where a replay takes long there are fewer launches and turns, and in the end fewer tries; what was compared too seldom
//!   to tell counts as not faster.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo_driver::types::{CUevent, CUgraphExec};
use dacapo_driver::{CUresult, Call};
use dacapo_ledger::Touching;

use crate::arrange::{Arrangement, Edge, EdgeChoice, Pair};
use crate::device::{Device, Garbage, Stream, twice};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::tuning::{TunedKernel, Tuning};
use crate::graph::warm::{CAP_BYTES, written_by};
use crate::graph::{Graph, Replayable};
use crate::held::Purpose;
use crate::lower::{Aside, Built, Parts, PutAside, executable_bytes};
use crate::memory::Extent;
use crate::nesting::refuse_in_recording;
use crate::record::{NodeParams, lock_gates, partners};

/// Turns of a comparison, and what one should take.
const TURNS: usize = 9;
const TURN: Duration = Duration::from_micros(1500);
/// Launches of a turn.
const LAUNCHES: std::ops::RangeInclusive<usize> = 1..=24;
/// The most of them on a software device.
const SOFTWARE_LAUNCHES: usize = 3;
/// No turn and no kind of edge is begun after this.
const ENOUGH: Duration = Duration::from_millis(2_300);
/// Fewer turns than these tell nothing, where there is noise.
const TURNS_MIN: usize = 3;
/// A gain below this share is none.
const LEAST: f64 = 0.002;

/// What [`Graph::tune`] did: times before and after, and the kinds of edges it chose. `Display` is a table.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// # let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(dacapo::fill(&mut y, dacapo::baked(1)))?;
/// let tuned = graph.tune(&stream)?;
/// println!("{tuned}");
/// assert!(tuned.pairs.is_empty()); // one kernel has no edge
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tuned {
    /// A replay with full edges, in nanoseconds.
    pub plain_ns: f64,
    /// One with the edges as they are without tuning.
    pub usual_ns: f64,
    /// One with the edges that were chosen.
    pub tuned_ns: f64,
    /// What was found out of each pair of kernels.
    pub pairs: Vec<TunedPair>,
    /// Whether there was time for all of them.
    pub complete: bool,
    /// How long all of it took.
    pub took: Duration,
    /// The choice, for other graphs and other processes.
    pub tuning: Tuning,
}

/// What [`Graph::tune`] found out about two kernels that follow each other.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// # let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(dacapo::fill(&mut y, dacapo::baked(1)))?;
/// for dacapo::graph::TunedPair { before, after, edges, chosen, .. } in graph.tune(&stream)?.pairs {
///     println!("{edges} edges from {before} to {after}: {chosen}");
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TunedPair {
    /// The first kernel.
    pub before: TunedKernel,
    /// The second one.
    pub after: TunedKernel,
    /// How many edges of the graph are between two such kernels.
    pub edges: usize,
    /// The kind that was chosen.
    pub chosen: Edge,
}

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |ns: f64| ns / 1e3;
        let Tuned { plain_ns, usual_ns, tuned_ns, pairs, .. } = self;
        write!(f, "full edges {:.2} us, usual {:.2}, tuned {:.2}", us(*plain_ns), us(*usual_ns), us(*tuned_ns))?;
        write!(f, "; {} pairs of kernels in {:.2} s", pairs.len(), self.took.as_secs_f64())?;
        if !self.complete {
            write!(f, ", the rest was left as it is")?;
        }
        for TunedPair { before, after, edges, chosen } in pairs {
            write!(
                f,
                "\n{edges:>5}  {chosen:<8} {} {:?} to {} {:?}",
                before.entry, before.blocks, after.entry, after.blocks
            )?;
        }
        Ok(())
    }
}

impl<T> Graph<T> {
    /// Measures which kinds of edges between its kernels are fastest, uses them from now on, and says what it did.
    ///
    /// Kernels that follow each other need not be set up one after the other: the second may be while the first ends, or
    /// while it runs (docs/edges.md). The first is done anyway where it pays as a rule; the second pays or costs by the pair
    /// of kernels, and this tells which. Never slower than full edges, but for noise: then those stay.
    ///
    /// It replays the graph some thousand times in up to three seconds, or about a dozen times where one replay takes long. It
    /// leaves the graph's memory as it was: every replay starts from the same contents, put back when it is over. What others
    /// do with the same memory is neither seen nor undone. Host buffers, and what foreign work does beyond its declared
    /// writes, are not put back. Foreign work is captured again for each try.
    ///
    /// # Errors
    ///
    /// - As a launch. The graph is then as it was.
    /// - [`ErrorKind::Unsupported`]: a graph that was captured or that has collectives of several ranks, or more than 1 GiB would have
    ///   to be put back.
    /// - [`ErrorKind::EagerInRecording`]: inside a recording.
    #[track_caller]
    pub fn tune(&mut self, stream: &Stream) -> Result<Tuned> {
        refuse_in_recording("Graph::tune")?;
        let at = std::panic::Location::caller();
        self.replayable()?.tune(stream).map_err(|error| error.on_line(at))
    }
}

/// What is chosen for each pair; for those that are not in it, the usual.
type Chosen = BTreeMap<(TunedKernel, TunedKernel), Edge>;

/// One choice, ready to be launched. Destroyed when it goes, unless it was given away.
struct Candidate {
    built: Built,
    order: Arrangement,
    device: Device,
}

impl Drop for Candidate {
    fn drop(&mut self) {
        // The driver lets what runs complete.
        let gone = Garbage::Graph(self.built.exec, self.built.template);
        self.device.put(gone.booked(self.built.booking.take()), Vec::new());
    }
}

/// What belongs to all measurements of one graph.
struct Bench<'s> {
    stream: &'s Stream,
    asides: Vec<Aside>,
    events: Vec<CUevent>,
    device: Device,
    /// Launches of a turn, at most and now.
    launches_max: usize,
    launches: usize,
    /// Turns of a comparison.
    turns: usize,
    began: Instant,
}

impl Replayable {
    #[track_caller]
    fn tune(&mut self, stream: &Stream) -> Result<Tuned> {
        self.expect_launchable(stream, "Graph::tune")?;
        let began = Instant::now();
        let device = self.device.clone();
        device.enter()?;
        device.drain()?;
        if self.captured || !self.stand_ins.is_empty() {
            let (what, needs) = ("tuning a graph that was captured".to_string(), "a recording".to_string());
            return Err(Error::new(ErrorKind::Unsupported { what, needs }));
        }
        // How often it is replayed comes from times, which each rank measures for itself.
        if partners(&self.nodes).iter().any(|joint| !joint.with.is_alone()) {
            let what =
                "tuning a graph with collectives, which every rank would replay another number of times,".to_string();
            let needs = "a graph without them: tune one of the kernels between, and record this one with that tuning"
                .to_string();
            return Err(Error::new(ErrorKind::Unsupported { what, needs }));
        }
        self.refresh_quiet()?;
        let pairs = self.pairs();
        let mut bench = Bench::new(self, stream)?;
        let mut best = self.candidate(&EdgeChoice::Plain)?;
        let outcome = self.search(&mut bench, &pairs, &mut best, began);
        let outcome = outcome.inspect(|found| {
            // The graph launches the best from now on. What it has launched so far may still run: the driver lets it.
            std::mem::swap(&mut self.built, &mut best.built);
            self.exec = self.built.exec;
            std::mem::swap(&mut self.order, &mut best.order);
            self.asked.edges = found.tuning.choice(&device);
            self.preloaded = true;
        });
        outcome.map(|found| Tuned { took: began.elapsed(), ..found })
    }

    /// The pairs of kernels with a choice, and how many edges each has.
    fn pairs(&self) -> BTreeMap<(TunedKernel, TunedKernel), usize> {
        let mut pairs = BTreeMap::new();
        let kernels = self.kernels();
        self.order.each_choice(&self.nodes, |one, other| {
            if let (Some(before), Some(after)) = (&kernels[one], &kernels[other]) {
                *pairs.entry((before.clone(), after.clone())).or_insert(0) += 1;
            }
        });
        pairs
    }

    /// Each node as a tuning knows it.
    fn kernels(&self) -> Vec<Option<TunedKernel>> {
        let kernel = |(number, node)| match self.told(number) {
            Some(NodeParams::Kernel { prepared }) => TunedKernel::with(node, prepared.grid),
            _ => None,
        };
        self.nodes.iter().enumerate().map(kernel).collect()
    }

    /// An executable graph with edges of this choice.
    fn candidate(&mut self, choice: &EdgeChoice) -> Result<Candidate> {
        let order = self.order.clone().with_edges(&self.nodes, &[], choice);
        let booking = self.device.book(Purpose::Executables, executable_bytes(&self.nodes, &order))?;
        let (nodes, told) = (&self.nodes, Vec::new());
        let parts = Parts { nodes, told, arrangement: &order, readings: &self.readings, places: &self.stand_ins };
        let built = Built::new(&self.device, parts, booking)?;
        Ok(Candidate { built, order, device: self.device.clone() })
    }

    /// An executable graph with edges that were chosen.
    fn chosen(&mut self, chosen: &Chosen) -> Result<Candidate> {
        let (kernels, chosen) = (Arc::new(self.kernels()), chosen.clone());
        self.candidate(&EdgeChoice::By(Arc::new(move |pair: &Pair<'_>, usual| {
            let (one, other) = pair.numbers;
            let key = kernels[one].clone().zip(kernels[other].clone());
            key.and_then(|key| chosen.get(&key).copied()).unwrap_or(usual)
        })))
    }

    /// Tries what there is to try; `best`, which has full edges, becomes what is fastest.
    fn search(
        &mut self,
        bench: &mut Bench<'_>,
        pairs: &BTreeMap<(TunedKernel, TunedKernel), usize>,
        best: &mut Candidate,
        began: Instant,
    ) -> Result<Tuned> {
        bench.warm(self, best)?;
        let all = |edge: Edge| pairs.keys().map(|pair| (pair.clone(), edge)).collect::<Chosen>();
        let (mut chosen, mut complete) = (all(Edge::Full), true);
        let usual_ns = {
            let usual = self.chosen(&Chosen::new())?;
            let times = bench.compare(self, best, &usual)?;
            if times.gains() {
                *best = usual;
                chosen.clear();
            }
            times.other
        };
        for edge in [Edge::Waits, Edge::Signals] {
            match began.elapsed() > ENOUGH {
                true => complete = false,
                false => _ = self.try_one(bench, best, &mut chosen, all(edge))?,
            }
        }
        // The pairs with the most edges first: they have the most to gain.
        let mut order: Vec<_> = pairs.iter().collect();
        order.sort_by_key(|(_, edges)| std::cmp::Reverse(**edges));
        'passes: for _ in 0..2 {
            let mut changed = false;
            for (pair, _) in &order {
                if order.len() < 2 {
                    break;
                }
                for edge in [Edge::Full, Edge::Waits, Edge::Signals] {
                    if chosen.get(*pair) == Some(&edge) {
                        continue;
                    }
                    if began.elapsed() > ENOUGH {
                        complete = false;
                        break 'passes;
                    }
                    let mut other = chosen.clone();
                    other.insert((*pair).clone(), edge);
                    changed |= self.try_one(bench, best, &mut chosen, other)?;
                }
            }
            if !changed {
                break;
            }
        }
        self.held_against_plain(bench, pairs, best, (chosen, usual_ns, complete))
    }

    /// Takes another choice in place of the best one if it is faster; whether it was.
    fn try_one(
        &mut self,
        bench: &mut Bench<'_>,
        best: &mut Candidate,
        chosen: &mut Chosen,
        other: Chosen,
    ) -> Result<bool> {
        let candidate = self.chosen(&other)?;
        if candidate.order == best.order {
            return Ok(false);
        }
        let gains = bench.compare(self, best, &candidate)?.gains();
        if gains {
            *best = candidate;
            *chosen = other;
        }
        Ok(gains)
    }

    /// The last word: is what was chosen faster than full edges?
    fn held_against_plain(
        &mut self,
        bench: &mut Bench<'_>,
        pairs: &BTreeMap<(TunedKernel, TunedKernel), usize>,
        best: &mut Candidate,
        (mut chosen, usual_ns, complete): (Chosen, f64, bool),
    ) -> Result<Tuned> {
        let plain = self.candidate(&EdgeChoice::Plain)?;
        let times = bench.compare(self, &plain, best)?;
        let (plain_ns, mut tuned_ns) = (times.one, times.other);
        if !times.gains() {
            *best = plain;
            chosen = pairs.keys().map(|pair| (pair.clone(), Edge::Full)).collect();
            tuned_ns = plain_ns;
        }
        let kernels = self.kernels();
        let mut tuning = Tuning::new(&self.device.properties().name);
        // What every edge of a pair has, with the usual kinds spelled out; a pair whose edges differ keeps the usual.
        let mut kinds: BTreeMap<(TunedKernel, TunedKernel), Option<Edge>> = BTreeMap::new();
        best.order.each_kind(&self.nodes, |one, other, edge| {
            if let (Some(before), Some(after)) = (&kernels[one], &kernels[other]) {
                let known = kinds.entry((before.clone(), after.clone())).or_insert(Some(edge));
                if *known != Some(edge) {
                    *known = None;
                }
            }
        });
        let mut report = Vec::new();
        for (pair, edges) in pairs {
            let told = chosen.get(pair).copied();
            let kind = told.or(kinds.get(pair).copied().flatten());
            if let Some(kind) = kind {
                tuning.set(pair.clone(), kind);
            }
            let (before, after) = pair.clone();
            report.push(TunedPair { before, after, edges: *edges, chosen: kind.unwrap_or(Edge::Waits) });
        }
        report.sort_by_key(|pair| std::cmp::Reverse(pair.edges));
        let took = Duration::ZERO;
        Ok(Tuned { plain_ns, usual_ns, tuned_ns, pairs: report, complete, took, tuning })
    }
}

/// Two executables measured in turns: a launch of each, in nanoseconds, how far the second is ahead in each turn, and whether
/// these are enough to tell.
struct Times {
    one: f64,
    other: f64,
    ahead: Vec<f64>,
    are_enough: bool,
}

impl Times {
    /// Whether the second is faster by more than the noise.
    fn gains(&self) -> bool {
        let middle = median(&self.ahead);
        let off: Vec<f64> = self.ahead.iter().map(|ahead| (ahead - middle).abs()).collect();
        let noise = 3.0 * median(&off) / (self.ahead.len() as f64).sqrt();
        self.are_enough && middle > noise.max(LEAST * self.one)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl<'s> Bench<'s> {
    fn new(graph: &Replayable, stream: &'s Stream) -> Result<Bench<'s>> {
        let device = graph.device.clone();
        let places = written_by(&graph.nodes, &[]);
        let bytes: usize = places.iter().map(|place| place.bytes).sum();
        if bytes > CAP_BYTES {
            let what = format!("tuning a graph that writes {bytes} bytes, all put back after each replay,");
            let part = "tune a graph of a part of it, and record this one with that tuning";
            return Err(Error::new(ErrorKind::Unsupported { what, needs: format!("{CAP_BYTES} at most: {part}") }));
        }
        let aside = |place: Extent| {
            let kept = device.allocate_elements::<u8>(place.bytes, false, Purpose::Buffers)?;
            Ok(Aside { place, kept: kept.allocation().clone() })
        };
        let asides = places.into_iter().map(aside).collect::<Result<Vec<_>>>()?;
        // The time of a software device is that of a model: it has no noise that many turns would take out.
        let (turns, launches_max) =
            if device.is_software() { (1, SOFTWARE_LAUNCHES) } else { (TURNS, *LAUNCHES.end()) };
        let launches = *LAUNCHES.start();
        let (events, began) = (Vec::new(), Instant::now());
        let mut bench = Bench { stream, asides, events, device, launches_max, launches, turns, began };
        for _ in 0..2 * launches_max {
            let mut event = CUevent::NULL;
            // SAFETY: `event` is valid for the write.
            let code = unsafe { bench.device.driver().cuEventCreate(&mut event, 0) };
            bench.device.check(code, Call::cuEventCreate)?;
            bench.events.push(event);
        }
        Ok(bench)
    }

    /// Brings a candidate onto the device, and finds out how many launches make a turn.
    fn warm(&mut self, graph: &mut Replayable, candidate: &Candidate) -> Result<()> {
        self.turn(graph, candidate.built.exec)?;
        let began = Instant::now();
        let one = self.turn(graph, candidate.built.exec)?;
        // By whichever clock is slower: of a software device that is the host's.
        let one = one.max(began.elapsed().as_nanos() as f64 / self.launches as f64);
        let launches = (TURN.as_nanos() as f64 / one.max(1.0)) as usize;
        self.launches = launches.clamp(*LAUNCHES.start(), self.launches_max);
        Ok(())
    }

    /// Both in turns.
    fn compare(&mut self, graph: &mut Replayable, one: &Candidate, other: &Candidate) -> Result<Times> {
        // The first launch of an executable graph prepares it.
        self.turn(graph, other.built.exec)?;
        let (mut ones, mut others) = (Vec::new(), Vec::new());
        for turn in 0..self.turns {
            if turn > 0 && self.began.elapsed() > ENOUGH {
                break;
            }
            // Who is first has no advantage.
            for first in [turn % 2 == 0, turn % 2 != 0] {
                let (exec, into) = match first {
                    true => (one.built.exec, &mut ones),
                    false => (other.built.exec, &mut others),
                };
                into.push(self.turn(graph, exec)?);
            }
        }
        let ahead: Vec<f64> = ones.iter().zip(&others).map(|(one, other)| one - other).collect();
        let are_enough = ahead.len() >= self.turns.min(TURNS_MIN);
        Ok(Times { one: median(&ones), other: median(&others), ahead, are_enough })
    }

    /// Some launches, each from the same contents: the time of one, in nanoseconds.
    fn turn(&mut self, graph: &mut Replayable, exec: CUgraphExec) -> Result<f64> {
        let (device, events) = (&self.device, &self.events[..2 * self.launches]);
        let extra: Vec<_> =
            self.asides.iter().filter_map(|aside| Some((aside.kept.memory()?, Touching::Write))).collect();
        graph.expect_whole(self.stream)?;
        self.asides.iter().try_for_each(Aside::expect_whole)?;
        let gates = graph.gates.clone();
        let held = lock_gates(&gates);
        let (set, name) = (&mut graph.set, &graph.name);
        let submitted = device.ledger().launch::<_, Error>(&device.0.cuda, self.stream.lane(), set, &extra, |raw| {
            let _ = raw.notes.push(name);
            let stream = raw.raw.0;
            let put_aside = PutAside::new(device, stream, &self.asides)?;
            let launched = events.chunks_exact(2).try_for_each(|pair| {
                put_aside.put_back_once()?;
                // SAFETY: both events are ours; the executable graph is the caller's and alive; what its nodes touch is held
                // by the graph, which nobody else launches meanwhile.
                let (code, call) = unsafe {
                    match device.driver().cuEventRecord(pair[0], stream) {
                        CUresult::CUDA_SUCCESS => match device.driver().cuGraphLaunch(exec, stream) {
                            CUresult::CUDA_SUCCESS => {
                                (device.driver().cuEventRecord(pair[1], stream), Call::cuEventRecord)
                            }
                            code => (code, Call::cuGraphLaunch),
                        },
                        code => (code, Call::cuEventRecord),
                    }
                };
                device.check(code, call)
            });
            launched.and(put_aside.put_back())
        });
        drop(held);
        submitted.map_err(|error| device.noted(error))?;
        self.stream.synchronize()?;
        let mut times = Vec::with_capacity(self.launches);
        for pair in events.chunks_exact(2) {
            let mut milliseconds = 0f32;
            // SAFETY: `milliseconds` is valid for the write; both events are ours, recorded above, and over.
            let code = unsafe { device.driver().cuEventElapsedTime(&mut milliseconds, pair[0], pair[1]) };
            device.check(code, Call::cuEventElapsedTime)?;
            times.push(f64::from(milliseconds) * 1e6);
        }
        Ok(median(&times))
    }
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        for event in &self.events {
            // SAFETY: ours; the driver lets what is recorded complete.
            twice(Call::cuEventDestroy_v2, || unsafe { self.device.driver().cuEventDestroy_v2(*event) });
        }
    }
}

//! Random programs: two or three ranks with one or two threads each, every thread with a communicator of its own.
//!
//! All ranks do the same steps. What every buffer holds is worked out when a program is made, for every rank, and compared where the
//! program reads. In some programs a rank aborts one communicator: then its threads may be told so from there on and nothing else
//! may be wrong, and the threads of the other communicator do not notice.
//!
//! `ATTACK_SEEDS` says how many programs, `ATTACK_FROM` from which seed on.

use std::collections::BTreeMap;
use std::time::Duration;

use dacapo::collective::{Communicator, Join, Reduce};
use dacapo::flow::nonzero;
use dacapo::graph::Pool;
use dacapo::{Buffer, Device, Graph, Recorder, Result, Slot, Stream, baked, copy, fill};

use crate::kit::{gone, group, in_time, is_failed};

/// Elements of a buffer: parts for two ranks and for three.
const LEN: usize = 24;
/// Buffers that a thread has at a time.
const BUFFERS: usize = 4;
const STREAMS: usize = 2;

/// One thing to run or to record. Numbers are those of buffers, which are never used again.
#[derive(Clone, Debug)]
enum Op {
    /// With the slot's value, plus the rank.
    FillSlot(usize),
    Fill(usize, u32),
    Copy(usize, usize),
    Reduce(usize, Reduce),
    ReduceInto(usize, usize, Reduce),
    /// To one rank only; elsewhere the target stays.
    ReduceTo(usize, usize, Reduce, usize),
    /// Through planned memory.
    Planned(usize, usize, Reduce),
    Broadcast(usize, usize),
    Gather(usize, usize),
    Scatter(usize, usize, Reduce),
    AllToAll(usize, usize),
    /// To the next rank, from the one before.
    Ring(usize, usize),
    Group([usize; 2], [Reduce; 2]),
    Bucket(Vec<usize>, usize, Reduce),
    /// To the neighbour's device.
    There(usize),
    /// And from there.
    Back(usize),
    /// Some of the others in a loop, or in a branch.
    Repeat(u32, Vec<Op>),
    When(bool, Vec<Op>),
}

#[derive(Clone, Debug)]
enum Step {
    Run(usize, Op),
    /// On the stream of the neighbour's device.
    Over(Op),
    Record(usize, Vec<Op>),
    Launch(usize, usize),
    Again(usize, Vec<Op>),
    DropGraph(usize),
    SetSlot(u32),
    /// In place of another one, which is dropped with whatever is in flight.
    Renew(usize, usize, u32),
    NewStream(usize),
    /// What it holds, on each rank.
    Read(usize, usize, Vec<Vec<u32>>),
    ReadThere(Vec<Vec<u32>>),
    Abort(usize),
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % end as u64) as usize
    }

    fn reduce(&mut self) -> Reduce {
        [Reduce::Sum, Reduce::Max, Reduce::Min, Reduce::Product][self.below(4)]
    }
}

/// What is known of a program's memory while it is made.
struct Model {
    size: usize,
    /// For each rank.
    held: Vec<BTreeMap<usize, Vec<u32>>>,
    there: Vec<Vec<u32>>,
    slot: u32,
}

impl Model {
    fn new(size: usize) -> Model {
        Model { size, held: vec![BTreeMap::new(); size], there: vec![vec![0; LEN]; size], slot: 0 }
    }

    fn reduced(&self, at: usize, reduce: Reduce) -> Vec<u32> {
        let fold = |left: u32, right: u32| match reduce {
            Reduce::Sum => left.wrapping_add(right),
            Reduce::Product => left.wrapping_mul(right),
            Reduce::Max => left.max(right),
            _ => left.min(right),
        };
        let all = |number: usize| self.held.iter().map(|held| held[&at][number]).reduce(fold).unwrap();
        (0..LEN).map(all).collect()
    }

    fn apply(&mut self, op: &Op) {
        let (size, part, before) = (self.size, LEN / self.size, self.held.clone());
        match op {
            Op::Group(both, reduces) => {
                let sums = [self.reduced(both[0], reduces[0]), self.reduced(both[1], reduces[1])];
                self.held.iter_mut().for_each(|held| held.extend(both.iter().copied().zip(sums.iter().cloned())));
            }
            Op::Repeat(times, body) => (0..*times).for_each(|_| body.iter().for_each(|op| self.apply(op))),
            Op::When(runs, body) => body.iter().filter(|_| *runs).for_each(|op| self.apply(op)),
            Op::Bucket(all, _, reduce) => all.iter().for_each(|at| self.apply(&Op::Reduce(*at, *reduce))),
            Op::Reduce(at, reduce) => self.apply(&Op::ReduceInto(*at, *at, *reduce)),
            Op::Planned(from, to, reduce) | Op::ReduceInto(from, to, reduce) => {
                let sum = self.reduced(*from, *reduce);
                self.held.iter_mut().for_each(|held| drop(held.insert(*to, sum.clone())));
            }
            Op::ReduceTo(from, to, reduce, root) => {
                let sum = self.reduced(*from, *reduce);
                self.held[*root].insert(*to, sum);
            }
            _ => {
                for rank in 0..size {
                    let mine = &mut self.held[rank];
                    let parts = |at: usize, part_of: fn(usize, usize) -> usize| -> Vec<u32> {
                        (0..size)
                            .flat_map(|from| before[from][&at][part_of(rank, from) * part..][..part].to_vec())
                            .collect()
                    };
                    match op {
                        Op::FillSlot(at) => drop(mine.insert(*at, vec![self.slot + rank as u32; LEN])),
                        Op::Fill(at, value) => drop(mine.insert(*at, vec![value + rank as u32; LEN])),
                        Op::Copy(from, to) => drop(mine.insert(*to, before[rank][from].clone())),
                        Op::Broadcast(at, root) => drop(mine.insert(*at, before[*root][at].clone())),
                        Op::Gather(from, to) => drop(mine.insert(*to, parts(*from, |_, _| 0))),
                        Op::AllToAll(from, to) => drop(mine.insert(*to, parts(*from, |rank, _| rank))),
                        Op::Ring(from, to) => drop(mine.insert(*to, before[(rank + size - 1) % size][from].clone())),
                        Op::There(from) => self.there[rank] = before[rank][from].clone(),
                        Op::Back(to) => drop(mine.insert(*to, self.there[rank].clone())),
                        _ => {}
                    }
                }
                if let Op::Scatter(from, to, reduce) = op {
                    let sum = self.reduced(*from, *reduce);
                    for (rank, held) in self.held.iter_mut().enumerate() {
                        held.get_mut(to).unwrap()[..part].copy_from_slice(&sum[rank * part..][..part]);
                    }
                }
            }
        }
    }
}

/// The steps of one thread on every rank.
fn program(random: &mut Random, size: usize, aborts: bool) -> Vec<Step> {
    let (mut model, mut steps, mut next) = (Model::new(size), Vec::new(), 0);
    let mut live: Vec<usize> = Vec::new();
    let mut graphs: BTreeMap<usize, Vec<Op>> = BTreeMap::new();
    for place in 0..BUFFERS {
        steps.push(Step::Renew(place, next, 1));
        model.apply_new(next, 1);
        live.push(next);
        next += 1;
    }
    for number in 0..16 + random.below(16) {
        let stream = random.below(STREAMS);
        match random.below(16) {
            0..=3 => {
                let op = any_op(random, &live, size);
                model.apply(&op);
                steps.push(Step::Run(stream, op));
            }
            4 => {
                let at = live[random.below(BUFFERS)];
                let op = if random.below(2) == 0 { Op::There(at) } else { Op::Back(at) };
                model.apply(&op);
                steps.push(Step::Over(op));
            }
            5..=6 => {
                let ops: Vec<Op> = (0..1 + random.below(4)).map(|_| any_op(random, &live, size)).collect();
                steps.push(Step::Record(number, ops.clone()));
                graphs.insert(number, ops);
            }
            7..=9 if !graphs.is_empty() => {
                let (key, ops) = graphs.iter().nth(random.below(graphs.len())).unwrap();
                ops.iter().for_each(|op| model.apply(op));
                steps.push(Step::Launch(*key, stream));
            }
            10 if !graphs.is_empty() => {
                let key = *graphs.keys().nth(random.below(graphs.len())).unwrap();
                if random.below(2) == 0 {
                    graphs.remove(&key);
                    steps.push(Step::DropGraph(key));
                } else {
                    let ops: Vec<Op> = (0..1 + random.below(3)).map(|_| any_op(random, &live, size)).collect();
                    graphs.insert(key, ops.clone());
                    steps.push(Step::Again(key, ops));
                }
            }
            11 => {
                model.slot = random.below(1000) as u32;
                steps.push(Step::SetSlot(model.slot));
            }
            12 => {
                let (place, value) = (random.below(BUFFERS), random.below(100) as u32);
                steps.push(Step::Renew(place, next, value));
                model.apply_new(next, value);
                live[place] = next;
                next += 1;
            }
            13 => steps.push(Step::NewStream(stream)),
            14 => steps.push(Step::ReadThere(model.there.clone())),
            _ => {
                let at = live[random.below(BUFFERS)];
                steps.push(Step::Read(stream, at, model.held.iter().map(|held| held[&at].clone()).collect()));
            }
        }
    }
    for at in &live {
        steps.push(Step::Read(0, *at, model.held.iter().map(|held| held[at].clone()).collect()));
    }
    if aborts {
        let at = BUFFERS + random.below(steps.len() - BUFFERS);
        steps.insert(at, Step::Abort(random.below(size)));
    }
    steps
}

impl Model {
    fn apply_new(&mut self, number: usize, value: u32) {
        self.held.iter_mut().for_each(|held| drop(held.insert(number, vec![0; LEN])));
        self.apply(&Op::Fill(number, value));
    }
}

fn any_op(random: &mut Random, live: &[usize], size: usize) -> Op {
    let first = random.below(BUFFERS);
    let (a, b) = (live[first], live[(first + 1 + random.below(BUFFERS - 1)) % BUFFERS]);
    match random.below(18) {
        16 | 17 => {
            let mut body: Vec<Op> = (0..1 + random.below(3)).map(|_| any_op(random, live, size)).collect();
            // Where devices are no peers they copy through the host, and not in a body; of bodies in bodies one is enough.
            body.retain(|op| !matches!(op, Op::There(_) | Op::Back(_) | Op::Repeat(..) | Op::When(..)));
            match random.below(2) {
                0 => Op::Repeat(random.below(4) as u32, body),
                _ => Op::When(random.below(2) == 0, body),
            }
        }
        0 => Op::FillSlot(a),
        1 => Op::Fill(a, random.below(50) as u32),
        2 => Op::Copy(a, b),
        3 | 4 => Op::Reduce(a, random.reduce()),
        5 => Op::ReduceInto(a, b, random.reduce()),
        6 => Op::ReduceTo(a, b, random.reduce(), random.below(size)),
        7 => Op::Planned(a, b, random.reduce()),
        8 => Op::Broadcast(a, random.below(size)),
        9 => Op::Gather(a, b),
        10 => Op::Scatter(a, b, random.reduce()),
        11 => Op::AllToAll(a, b),
        12 => Op::Ring(a, b),
        13 => Op::Group([a, b], [random.reduce(), random.reduce()]),
        14 => Op::Bucket(live.to_vec(), [1, 100, 150, usize::MAX][random.below(4)], random.reduce()),
        _ if random.below(2) == 0 => Op::There(a),
        _ => Op::Back(a),
    }
}

/// What one thread of a rank has.
struct Worker {
    comm: Communicator,
    device: Device,
    streams: Vec<Stream>,
    /// Of the neighbour's device.
    over: Stream,
    there: Buffer<u32>,
    pool: Pool,
    slot: Slot<u32>,
    held: BTreeMap<usize, Buffer<u32>>,
    places: Vec<usize>,
    graphs: BTreeMap<usize, Graph<()>>,
}

type Held = BTreeMap<usize, Buffer<u32>>;

/// Two of them, the second to be written.
fn two<T>(held: &mut Held, a: usize, b: usize, f: impl FnOnce(&Buffer<u32>, &mut Buffer<u32>) -> T) -> T {
    let mut target = held.remove(&b).unwrap();
    let out = f(&held[&a], &mut target);
    held.insert(b, target);
    out
}

impl Worker {
    fn new(comm: Communicator, over: &Device) -> Result<Worker> {
        let device = comm.device().clone();
        let streams = (0..STREAMS).map(|_| device.stream()).collect::<Result<_>>()?;
        let (slot, places) = (Slot::new(comm.rank() as u32), vec![usize::MAX; BUFFERS]);
        let (held, graphs) = (BTreeMap::new(), BTreeMap::new());
        let (pool, there, over) = (device.pool(), over.zeros(LEN)?, over.stream()?);
        Ok(Worker { comm, streams, over, there, pool, slot, device, held, places, graphs })
    }

    fn record(&mut self, number: usize, ops: &[Op]) -> Result<Graph<()>> {
        let (device, pool) = (self.device.clone(), self.pool.clone());
        let builder = match number % 6 {
            0 => device.graph().straight_line(),
            1 => device.graph().apart(),
            2 => device.graph().plain_edges().preloaded(),
            3 => device.graph().pool(&pool),
            4 => device.graph().guarded(true),
            _ => device.graph(),
        };
        builder.record(|r: &mut Recorder<'_>| ops.iter().try_for_each(|op| self.op(r, op)))
    }

    fn op(&mut self, r: &mut Recorder<'_>, op: &Op) -> Result<()> {
        match op {
            Op::Repeat(times, body) => {
                let body = |r: &mut Recorder<'_>| body.iter().try_for_each(|op| self.plain(r, op));
                r.repeat_times(baked(*times), body).map(drop)
            }
            Op::When(runs, body) => {
                let body = |r: &mut Recorder<'_>| body.iter().try_for_each(|op| self.plain(r, op));
                r.when(nonzero(baked(u32::from(*runs))), body).map(drop)
            }
            op => self.plain(r, op),
        }
    }

    fn plain(&mut self, r: &mut Recorder<'_>, op: &Op) -> Result<()> {
        let Worker { comm, held, there, slot, .. } = self;
        let (rank, size) = (comm.rank(), comm.size());
        let part = LEN / size;
        match op {
            Op::FillSlot(at) => r.run(fill(held.get_mut(at).unwrap(), &*slot)),
            Op::Fill(at, value) => r.run(fill(held.get_mut(at).unwrap(), baked(value + rank as u32))),
            Op::Copy(a, b) => two(held, *a, *b, |a, b| r.run(copy(a, b))),
            Op::Reduce(at, reduce) => r.run(comm.all_reduce_in_place(held.get_mut(at).unwrap(), *reduce)),
            Op::ReduceInto(a, b, reduce) => two(held, *a, *b, |a, b| r.run(comm.all_reduce(a, b, *reduce))),
            Op::ReduceTo(a, b, reduce, root) => two(held, *a, *b, |a, b| r.run(comm.reduce(a, b, *reduce, *root))),
            Op::Planned(a, b, reduce) => {
                let mut planned = r.alloc::<u32>(LEN)?;
                r.run(copy(&held[a], &mut planned))?;
                r.run(comm.all_reduce_in_place(&mut planned, *reduce))?;
                r.run(copy(&planned, held.get_mut(b).unwrap()))
            }
            Op::Broadcast(at, root) => r.run(comm.broadcast(held.get_mut(at).unwrap(), *root)),
            Op::Gather(a, b) => two(held, *a, *b, |a, b| r.run(comm.all_gather(&a[..part], b))),
            Op::Scatter(a, b, reduce) => {
                two(held, *a, *b, |a, b| r.run(comm.reduce_scatter(a, &mut b[..part], *reduce)))
            }
            Op::AllToAll(a, b) => two(held, *a, *b, |a, b| r.run(comm.all_to_all(a, b))),
            Op::Ring(a, b) => two(held, *a, *b, |a, b| {
                r.run(comm.group().send(a, (rank + 1) % size).recv(b, (rank + size - 1) % size).op())
            }),
            Op::Group([a, b], [first, second]) => {
                let mut data = held.remove(a).unwrap();
                let both = comm.group().all_reduce_in_place(&mut data, *first);
                let ran = r.run(both.all_reduce_in_place(held.get_mut(b).unwrap(), *second).op());
                held.insert(*a, data);
                ran
            }
            Op::Bucket(all, bytes, reduce) => {
                let mut bucket = comm.bucketed(*bytes, *reduce);
                all.iter().try_for_each(|at| bucket.add(r, held.get_mut(at).unwrap()))?;
                bucket.finish(r)
            }
            Op::There(at) => r.run(copy(&held[at], there)),
            Op::Back(at) => r.run(copy(there, held.get_mut(at).unwrap())),
            Op::Repeat(..) | Op::When(..) => unreachable!("a body in a body"),
        }
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<()> {
        let rank = self.comm.rank();
        match step {
            Step::Run(stream, op) => {
                let stream = self.streams.remove(*stream);
                let ran = stream.run(|r: &mut Recorder<'_>| self.op(r, op));
                self.streams.insert(number % STREAMS, stream);
                ran
            }
            Step::Over(Op::There(at)) => self.over.run(copy(&self.held[at], &mut self.there)),
            Step::Over(Op::Back(at)) => self.over.run(copy(&self.there, self.held.get_mut(at).unwrap())),
            Step::Over(op) => unreachable!("{op:?} is not between devices"),
            Step::Record(key, ops) => {
                let graph = self.record(number, ops)?;
                drop(self.graphs.insert(*key, graph));
                Ok(())
            }
            Step::Again(key, ops) => {
                let mut graph = self.graphs.remove(key).unwrap();
                let ran = graph.rerecord(|r: &mut Recorder<'_>| ops.iter().try_for_each(|op| self.op(r, op)));
                self.graphs.insert(*key, graph);
                ran.map(drop)
            }
            Step::Launch(key, stream) => {
                let graph = self.graphs.get_mut(key).unwrap();
                match number % 3 {
                    0 => graph.launch(&self.streams[*stream]).map(drop),
                    1 => graph.submit(&self.streams[*stream]).map(drop),
                    _ => graph.launch_sync(&self.streams[*stream]).map(drop),
                }
            }
            Step::DropGraph(key) => {
                drop(self.graphs.remove(key));
                Ok(())
            }
            Step::SetSlot(value) => {
                self.slot.set(value + rank as u32);
                Ok(())
            }
            Step::Renew(place, new, value) => {
                let buffer = self.device.buffer(&[value + rank as u32; LEN])?;
                self.held.insert(*new, buffer);
                drop(self.held.remove(&std::mem::replace(&mut self.places[*place], *new)));
                Ok(())
            }
            Step::NewStream(at) => {
                self.streams[*at] = self.device.stream()?;
                Ok(())
            }
            Step::Read(stream, at, wanted) => {
                let got = self.streams[*stream].read(&self.held[at])?;
                self.compare(&got, &wanted[rank], step);
                Ok(())
            }
            Step::ReadThere(wanted) => {
                let got = self.over.read(&self.there)?;
                self.compare(&got, &wanted[rank], step);
                Ok(())
            }
            Step::Abort(who) => {
                if *who == rank {
                    self.comm.abort("as the program says");
                }
                Ok(())
            }
        }
    }

    /// Where a rank has aborted, what was in flight has no defined value.
    fn compare(&self, got: &[u32], wanted: &[u32], step: &Step) {
        if self.comm.death().is_none() {
            assert_eq!(got, wanted, "rank {}: {step:?}", self.comm.rank());
        }
    }

    /// Drops what there is in some order.
    fn end(self, seed: u64) {
        let mut things: Vec<Box<dyn std::any::Any>> = vec![
            Box::new(self.comm),
            Box::new(self.graphs),
            Box::new(self.held),
            Box::new(self.streams),
            Box::new(self.device),
            Box::new((self.over, self.there, self.pool)),
        ];
        let mut random = Random(seed ^ 0xd0b5);
        while !things.is_empty() {
            drop(things.swap_remove(random.below(things.len())));
        }
    }
}

/// One thread of one rank. In a program that aborts nothing may fail; in one that does, only by that.
fn work(comm: Communicator, over: &Device, steps: &[Step], seed: u64) {
    let aborts = steps.iter().any(|step| matches!(step, Step::Abort(_)));
    let mut worker = Worker::new(comm, over).unwrap();
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = worker.step(number, step) {
            assert!(aborts && is_failed(&error), "seed {seed}, step {number} {step:?}: {error:?}");
            // A rank that gives up says so, by leaving.
            break;
        }
    }
    worker.end(seed);
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let (size, threads) = (2 + random.below(2), 1 + random.below(2));
    let aborting = if random.below(4) == 0 { random.below(threads) } else { usize::MAX };
    let programs: Vec<Vec<Step>> = (0..threads).map(|at| program(&mut random, size, at == aborting)).collect();
    let devices = group(seed, size);
    let join = Join::new().timeout(Duration::from_secs(25));
    let comms: Vec<Vec<Communicator>> = (0..threads).map(|_| join.all(&devices).unwrap()).collect();
    std::thread::scope(|scope| {
        for (steps, comms) in programs.iter().zip(comms) {
            for (rank, comm) in comms.into_iter().enumerate() {
                let over = &devices[(rank + 1) % size];
                scope.spawn(move || work(comm, over, steps, seed));
            }
        }
    });
    gone(&devices);
    let found = devices[0].found();
    // What a graph in flight still has in its loops and branches when its communicator ends is told, and does nothing.
    let expected = |code: &str| aborting != usize::MAX && ["missing-rank", "dead-communicator"].contains(&code);
    assert!(found.iter().all(|finding| expected(&finding.code)), "seed {seed}: {found:#?}");
}

#[test]
fn random_programs_end_as_they_should() {
    let of = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (from, count) = (of("ATTACK_FROM", 0), of("ATTACK_SEEDS", 200));
    for seed in from..from + count {
        in_time(move || {
            let ran = std::panic::catch_unwind(|| run(seed));
            assert!(ran.is_ok(), "again: ATTACK_FROM={seed} ATTACK_SEEDS=1");
        });
    }
}

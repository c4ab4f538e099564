//! Running steps on a device.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use dacapo::graph::GraphBuilder;
use dacapo::random::Generator;
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Error, Graph, Recorder, Result, Slice, Software, copy};

use super::body::{Env, Meant};
use super::numbers::{AnyScalar, AnySlot};
use super::program::{Body, Greedy, How, Name, NamedMemory, Padding, Part, Step, Stranger, Wait};
use super::things::{Local, Outputs, RowsBody, Thing, lend};

/// How a step has ended.
pub(super) enum Got {
    /// With these contents, if it gave any.
    Values(Vec<Vec<u32>>),
    /// With an error.
    Error(Error),
    /// With the panic of its closure.
    Panicked,
}

/// More than anything here holds.
const WIDE: usize = 1 << 16;

impl Env<'_> {
    /// Takes a step that the model has taken.
    pub(super) fn step(&mut self, step: &Step) -> Got {
        let caught = catch_unwind(AssertUnwindSafe(|| self.take(step)));
        match caught {
            Ok(Ok(values)) => Got::Values(values),
            Ok(Err(error)) => Got::Error(error),
            Err(panic) if panic.is::<Meant>() => Got::Panicked,
            Err(panic) => resume_unwind(panic),
        }
    }

    fn take(&mut self, step: &Step) -> Result<Vec<Vec<u32>>> {
        let device = self.device.clone();
        match step {
            Step::Buffer(name, words) => self.add(*name, Thing::Buffer(device.buffer(words)?)),
            Step::Zeros(name, len) => self.add(*name, Thing::Buffer(device.zeros((*len).into())?)),
            Step::Scalar(name, value) => self.add(*name, Thing::Scalar(device.scalar(*value)?)),
            Step::Host(name, words) => self.add(*name, Thing::Host(device.host(words)?)),
            Step::Slot(name, value) => self.add(*name, Thing::Slot(dacapo::Slot::new(*value))),
            Step::Number(name, of, bits) => self.add(*name, Thing::Number(AnyScalar::new(&device, *of, *bits)?)),
            Step::Dial(name, of, bits) => self.add(*name, Thing::Dial(AnySlot::new(*of, *bits))),
            Step::Stream(name) => self.add(*name, Thing::Stream(device.stream()?)),
            Step::Pool(name) => self.add(*name, Thing::Pool(device.pool())),
            Step::Arena(name, wide) => {
                self.add(*name, Thing::Arena(device.arena(if *wide { WIDE } else { 0 })?));
            }
            Step::Generator(name, seed) => self.add(*name, Thing::Generator(Generator::new(&device, *seed)?)),
            Step::Run(stream, arena, body, names) => {
                let (stream, arena) = (self.stream(*stream), arena.map(|name| self.arena(name)));
                let op = |r: &mut Recorder<'_>| self.record(r, body, Local::default());
                let outputs = match &arena {
                    Some(arena) => stream.run_in(arena, op)?,
                    None => stream.run(op)?,
                };
                for (name, output) in names.iter().zip(outputs) {
                    self.add(*name, Thing::Buffer(output));
                }
            }
            Step::Record(name, how, body) => {
                let graph = self.recorded(how, body)?;
                self.add(*name, Thing::Graph(graph));
            }
            Step::Launch(graph, stream, wait) => {
                let stream = self.stream(*stream);
                let graph = self.graph(*graph);
                match wait {
                    Wait::Not => drop(graph.launch(&stream)?),
                    Wait::Sync => drop(graph.launch_sync(&stream)?),
                    Wait::Later => drop(graph.launch(&stream)?.wait()?),
                    Wait::Ticket => graph.submit(&stream)?.wait()?,
                    Wait::Await => block_on(graph.submit(&stream)?)?,
                }
            }
            Step::Upload(graph, stream) => {
                let stream = self.stream(*stream);
                self.graph(*graph).preload(&stream)?;
            }
            Step::Rerecord(name, keeps_options, body) => self.rerecord(*name, *keeps_options, body)?,
            Step::Reset(name) => self.graph(*name).reset(),
            Step::IntoOutputs(name, names) => {
                let Some(Thing::Graph(graph)) = self.things.remove(name) else { unreachable!("a graph") };
                for (name, output) in names.iter().zip(graph.into_outputs()) {
                    self.add(*name, Thing::Buffer(output));
                }
            }
            Step::Into(name, ins, outs, body) => {
                let zeros = |len: u8| device.zeros::<u32>(len.into());
                let (a, b, mut c, mut d) = (zeros(ins[0])?, zeros(ins[1])?, zeros(outs[0])?, zeros(outs[1])?);
                let graph = device.graph().guarded(*name % 2 == 1).record_into(
                    (&a[..], &b[..]),
                    (&mut c[..], &mut d[..]),
                    |r: &mut Recorder<'_>, (a, b): (&Slice<u32>, &Slice<u32>), (c, d)| {
                        let local = Local { ins: vec![a, b], outs: vec![c, d], ..Local::default() };
                        self.record(r, body, local).map(drop)
                    },
                )?;
                self.add(*name, Thing::Into(graph));
            }
            Step::LaunchInto(name, stream, ins, outs) => {
                let stream = self.stream(*stream);
                let Some(Thing::Into(mut graph)) = self.things.remove(name) else { unreachable!("a graph") };
                let launched = {
                    let mut local = Local::default();
                    let lent = lend(&mut self.things, self.shared, &mut local, ins, outs, None);
                    let Ok([c, d]) = <[_; 2]>::try_from(lent.writes) else { unreachable!("two are written") };
                    graph.launch(&stream, (lent.reads[0], lent.reads[1]), (c, d)).map(drop)
                };
                self.add(*name, Thing::Into(graph));
                launched?;
            }
            Step::Cache(name, max, bodies) => {
                let cache = GraphCache::new(&device).max_graphs((*max).into());
                self.add(*name, Thing::Cache(Mutex::new(cache), bodies.clone()));
            }
            Step::Evict(name, key) => {
                let Thing::Cache(cache, _) = self.see(*name) else { unreachable!("a cache") };
                let gone = cache.lock().unwrap_or_else(PoisonError::into_inner).evict(key);
                return Ok(vec![vec![u32::from(gone)]]);
            }
            Step::CacheRun(name, stream, key) => return self.request(*name, *stream, *key, false),
            Step::CacheGet(name, stream, key) => return self.request(*name, *stream, *key, true),
            Step::Bucketed(name, buckets, row, padding, slot, larger) => {
                let function = self.bucketed(buckets, (*row).into(), *padding, *slot, *larger)?;
                self.add(*name, Thing::Bucketed(Mutex::new(function)));
            }
            Step::Prepare(name) => {
                let Thing::Bucketed(function) = self.see(*name) else { unreachable!("a function") };
                function.lock().unwrap_or_else(PoisonError::into_inner).prepare()?;
            }
            Step::Call(name, stream, rows, part) => return self.call(*name, *stream, *rows, *part),
            Step::Write(stream, part, words) => {
                let stream = self.stream(*stream);
                let mut local = Local::default();
                let mut lent = lend(&mut self.things, self.shared, &mut local, &[], &[*part], None);
                stream.write(lent.writes.remove(0), words)?;
            }
            Step::Read(stream, part) => {
                let stream = self.stream(*stream);
                let mut local = Local::default();
                let lent = lend(&mut self.things, self.shared, &mut local, &[*part], &[], None);
                return Ok(vec![stream.read(lent.reads[0])?]);
            }
            Step::SetScalar(name, stream, value) => {
                let stream = self.stream(*stream);
                let Some(Thing::Scalar(scalar)) = self.things.get_mut(name) else { unreachable!("a scalar") };
                scalar.set(&stream, *value)?;
            }
            Step::GetScalar(name, stream) => {
                let Thing::Scalar(scalar) = self.see(*name) else { unreachable!("a scalar") };
                return Ok(vec![vec![scalar.get(&self.stream(*stream))?]]);
            }
            Step::WriteNumber(name, stream, bits) => {
                let stream = self.stream(*stream);
                let Some(Thing::Number(number)) = self.things.get_mut(name) else { unreachable!("a number") };
                number.set(&stream, *bits)?;
            }
            Step::ReadNumber(name, stream) => {
                let Thing::Number(number) = self.see(*name) else { unreachable!("a number") };
                return Ok(vec![number.get(&self.stream(*stream))?]);
            }
            Step::SetDial(name, bits) => {
                let Thing::Dial(slot) = self.see(*name) else { unreachable!("a slot") };
                slot.set(*bits);
            }
            Step::SetHost(name, words) => {
                let Some(Thing::Host(host)) = self.things.get_mut(name) else { unreachable!("a host buffer") };
                host.set(words)?;
            }
            Step::ReadHost(name) => {
                let Thing::Host(host) = self.see(*name) else { unreachable!("a host buffer") };
                return Ok(vec![host.to_vec()?]);
            }
            Step::SetSlot(name, value) => self.slot(*name).set(*value),
            Step::Seed(name, stream, seed) => {
                let stream = self.stream(*stream);
                self.generator(*name).seed(&stream, *seed)?;
            }
            Step::Save(name, stream, saved) => {
                let stream = self.stream(*stream);
                let state = self.generator(*name).save(&stream)?;
                self.add(*saved, Thing::Saved(state));
                return Ok(vec![state.next_words(4)]);
            }
            Step::Restore(name, stream, saved) => {
                let stream = self.stream(*stream);
                let Thing::Saved(state) = *self.see(*saved) else { unreachable!("a state") };
                self.generator(*name).restore(&stream, &state)?;
            }
            Step::Sync(stream) => self.stream(*stream).synchronize()?,
            Step::SyncAll => device.synchronize()?,
            Step::IsDone(stream) => drop(self.stream(*stream).is_done()?),
            Step::Seal(name, sealed) => {
                let pool = self.pool(*name);
                if *sealed { pool.seal() } else { pool.unseal() }
            }
            Step::PoolKeep(name) => drop(self.pool(*name).keep(self.token.clone())?),
            Step::PoolClear(name) => self.pool(*name).clear()?,
            Step::Budget(greedy) => {
                let outcome = self.budget(*greedy);
                device.set_memory_budget(None);
                outcome?;
            }
            Step::Stranger(stranger) => self.stranger(*stranger)?,
            Step::Drop(name) => drop(self.things.remove(name)),
        }
        Ok(Vec::new())
    }

    fn add(&mut self, name: Name, thing: Thing) {
        self.things.insert(name, thing);
    }

    fn arena(&self, name: Name) -> dacapo::memory::Arena {
        match self.see(name) {
            Thing::Arena(arena) => arena.clone(),
            _ => unreachable!("the model knows that it is an arena"),
        }
    }

    fn pool(&self, name: Name) -> dacapo::graph::Pool {
        match self.see(name) {
            Thing::Pool(pool) => pool.clone(),
            _ => unreachable!("the model knows that it is a pool"),
        }
    }

    fn graph(&mut self, name: Name) -> &mut Graph<Outputs> {
        match self.things.get_mut(&name) {
            Some(Thing::Graph(graph)) => graph,
            _ => unreachable!("the model knows that it is a graph"),
        }
    }

    fn generator(&mut self, name: Name) -> &mut Generator {
        match self.things.get_mut(&name) {
            Some(Thing::Generator(generator)) => generator,
            _ => unreachable!("the model knows that it is a generator"),
        }
    }

    fn recorded(&mut self, how: &How, body: &Body) -> Result<Graph<Outputs>> {
        let device = self.device.clone();
        let mut recording: GraphBuilder<'_> = device.graph();
        if let Some(pool) = how.pool {
            recording = recording.pool(&self.pool(pool));
        }
        if let Some(arena) = how.arena {
            recording = recording.arena(&self.arena(arena));
        }
        if how.apart {
            recording = recording.apart();
        }
        if how.line {
            recording = recording.straight_line();
        }
        recording = recording.guarded(how.guarded);
        if how.uploaded {
            recording = recording.preloaded();
        }
        let Some(warm) = how.warm else {
            return recording.record(|r: &mut Recorder<'_>| self.record(r, body, Local::default()));
        };
        let runs = warm.runs.into();
        let mut recording = if warm.restored { recording.warmup(runs) } else { recording.warmup_unrestored(runs) };
        if warm.capped {
            recording = recording.warmup_cap(0);
        }
        recording.record(|r: &mut Recorder<'_>| self.record(r, body, Local::default()))
    }

    fn rerecord(&mut self, name: Name, keeps_options: bool, body: &Body) -> Result<()> {
        let Some(Thing::Graph(mut graph)) = self.things.remove(&name) else { unreachable!("a graph") };
        // Back in its place also when the closure panics.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let op = |r: &mut Recorder<'_>| self.record(r, body, Local::default());
            let device = graph.device().clone();
            let done = if keeps_options { graph.rerecord(op) } else { graph.rerecord_with(device.graph(), op) };
            done.map(drop)
        }));
        self.add(name, Thing::Graph(graph));
        caught.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// A request to a cache, with the body that its key has.
    fn request(&mut self, name: Name, stream: Name, key: u8, by_get: bool) -> Result<Vec<Vec<u32>>> {
        let stream = self.stream(stream);
        let own = self.things.remove(&name);
        let shared = self.shared;
        // Back in its place also when the closure panics.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let cache = own.as_ref().or_else(|| shared?.get(&name));
            let Some(Thing::Cache(cache, bodies)) = cache else { unreachable!("a cache") };
            let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
            let op = |r: &mut Recorder<'_>| self.record(r, &bodies[usize::from(key)], Local::default());
            let outputs = match by_get {
                true => cache.get_or_record(&key, op)?.launch(&stream)?.wait()?,
                false => cache.run(&stream, &key, op)?,
            };
            outputs.iter().map(|output| stream.read(output)).collect()
        }));
        if let Some(cache) = own {
            self.add(name, cache);
        }
        caught.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn bucketed(
        &mut self,
        buckets: &[u8],
        row: usize,
        padding: Padding,
        slot: Name,
        larger: bool,
    ) -> Result<super::things::Function> {
        let (kernels, slot) = (self.kernels.clone(), self.slot(slot));
        let pad = match padding {
            Padding::Zero => Pad::Zero,
            Padding::Value(value) => Pad::Value(value),
            Padding::Last => Pad::RepeatLast,
            Padding::Keep => Pad::Keep,
        };
        let body: RowsBody = Box::new(move |r, n, x| {
            let (mut t, mut y, mut sum) = (r.alloc(n * row)?, r.output(n * row)?, r.output_scalar()?);
            r.run(copy(x, &mut t))?;
            r.run(kernels.put(&slot, &mut y))?;
            r.run(kernels.mix(&t, &mut y))?;
            r.run(kernels.sum(x, &mut sum))?;
            Ok((y, sum))
        });
        let buckets = Buckets::new(buckets.iter().map(|bucket| usize::from(*bucket)))?;
        let function = Bucketed::new(&self.device, buckets, rows(row, pad), body)?;
        Ok(if larger { function } else { function.refuse_larger() })
    }

    fn call(&mut self, name: Name, stream: Name, rows: u8, part: Part) -> Result<Vec<Vec<u32>>> {
        let stream = self.stream(stream);
        let Some(own) = self.things.remove(&name) else { unreachable!("a function") };
        let called = (|| {
            let Thing::Bucketed(function) = &own else { unreachable!("a function") };
            let mut function = function.lock().unwrap_or_else(PoisonError::into_inner);
            let mut local = Local::default();
            let lent = lend(&mut self.things, self.shared, &mut local, &[part], &[], None);
            let (y, sum) = function.call(&stream, rows.into(), lent.reads[0])?;
            Ok(vec![stream.read(y)?, vec![sum.get(&stream)?]])
        })();
        self.add(name, own);
        called
    }

    fn budget(&mut self, greedy: Greedy) -> Result<()> {
        let device = &self.device;
        let budget = device.held().total() + 4096;
        device.set_memory_budget(Some(budget));
        let wanted = budget / 4 + 1;
        match greedy {
            Greedy::Fits => device.zeros::<u32>(1000).map(drop),
            Greedy::Buffer => device.zeros::<u32>(wanted).map(drop),
            Greedy::Host => device.host(&vec![0u32; wanted]).map(drop),
            Greedy::Arena => device.arena(budget + 1).map(drop),
            Greedy::Output => device.record(|r: &mut Recorder<'_>| r.output::<u32>(wanted)).map(drop),
        }
    }

    fn stranger(&mut self, stranger: Stranger) -> Result<()> {
        let other = Software::new().seed(1).open()?;
        match stranger {
            Stranger::Read(stream) => self.stream(stream).read(&other.zeros::<u32>(2)?[..]).map(drop),
            Stranger::Copy(stream, part) => {
                let (stream, source) = (self.stream(stream), other.zeros::<u32>(part.len.into())?);
                let mut local = Local::default();
                let mut lent = lend(&mut self.things, self.shared, &mut local, &[], &[part], None);
                stream.run(copy(&source, lent.writes.remove(0)))
            }
            Stranger::Launch(graph) => {
                let stream = other.stream()?;
                self.graph(graph).launch(&stream).map(drop)
            }
            Stranger::Pool => {
                let pool = other.pool();
                self.device.graph().pool(&pool).record(|_: &mut Recorder<'_>| Ok(())).map(drop)
            }
        }
    }

    /// What can be read at the end.
    pub(super) fn contents(&mut self, place: NamedMemory, name: Name, stream: &dacapo::Stream) -> Result<Vec<u32>> {
        match (place, self.see(name)) {
            (NamedMemory::Result(_, output), Thing::Graph(graph)) => stream.read(&graph.outputs()[usize::from(output)]),
            (_, Thing::Buffer(buffer)) => stream.read(buffer),
            (_, Thing::Scalar(scalar)) => Ok(vec![scalar.get(stream)?]),
            (_, Thing::Host(host)) => host.to_vec(),
            (_, Thing::Number(number)) => number.get(stream),
            (_, Thing::Generator(generator)) => Ok(generator.save(stream)?.next_words(4)),
            _ => unreachable!("the model knows what can be read"),
        }
    }
}

/// Waits for a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => std::thread::park(),
        }
    }
}

//! What each step does.

use super::items::{Item, Sight, flat, has_flow, lines};
use super::taken::{Around, At, Ended, Range, Style, Taken, Work};
use super::{Cache, Expect, Graph, Model, Object, Phase, Recording, Rows, drawn, seeded};
use crate::chance::numbers::Type;
use crate::chance::program::{Body, Greedy, How, Name, NamedMemory, Padding, Part, Step, Stranger, Warm};

use Expect::{Done, Panicked, Refused, Values};

/// What a graph is made of: its pools, its lines, the memory of its outputs.
type Made = (Vec<usize>, Recording, Vec<usize>);

impl Model {
    /// Takes a step, and says how it is expected to end; none, and nothing is changed, if it is not valid here.
    pub fn step(&mut self, step: &Step) -> Option<Expect> {
        let runs = matches!(
            step,
            Step::Run(..)
                | Step::Record(_, How { warm: Some(_), .. }, _)
                | Step::Launch(..)
                | Step::LaunchInto(..)
                | Step::CacheRun(..)
                | Step::CacheGet(..)
        );
        // What runs may turn out half-way to be what nobody can foresee.
        let before = runs.then(|| self.clone());
        let expect = self.take(step);
        if let (None, Some(before)) = (&expect, before) {
            *self = before;
        }
        expect
    }

    fn take(&mut self, step: &Step) -> Option<Expect> {
        match step {
            Step::Buffer(name, words) => {
                self.is_new(*name).filter(|()| !words.is_empty())?;
                let memory = self.add_memory(words.iter().copied().map(Some).collect(), false);
                self.add(*name, Object::Buffer(memory));
            }
            Step::Zeros(name, len) => {
                self.is_new(*name).filter(|()| *len > 0)?;
                let memory = self.add_memory(vec![Some(0); (*len).into()], false);
                self.add(*name, Object::Buffer(memory));
            }
            Step::Scalar(name, value) => {
                self.is_new(*name)?;
                let memory = self.add_memory(vec![Some(*value)], false);
                self.add(*name, Object::Scalar(memory));
            }
            Step::Host(name, words) => {
                self.is_new(*name).filter(|()| !words.is_empty())?;
                let memory = self.add_memory(words.iter().copied().map(Some).collect(), true);
                self.add(*name, Object::Host(memory));
            }
            Step::Slot(name, value) => {
                self.is_new(*name)?;
                self.slots.push(Some(*value));
                self.add(*name, Object::Slot(self.slots.len() - 1));
            }
            Step::Number(name, of, bits) => {
                self.is_new(*name).filter(|()| of.fits(*bits) && *of != Type::U32)?;
                let memory = self.add_memory(halves(*bits).to_vec(), false);
                self.add(*name, Object::Number(*of, memory));
            }
            Step::Dial(name, of, bits) => {
                self.is_new(*name).filter(|()| of.fits(*bits) && *of != Type::U32)?;
                self.slots.extend(halves(*bits));
                self.add(*name, Object::Dial(*of, self.slots.len() - 2));
            }
            Step::Stream(name) => {
                self.is_new(*name)?;
                self.add(*name, Object::Stream);
            }
            Step::Pool(name) => {
                self.is_new(*name)?;
                self.pools.push(false);
                self.add(*name, Object::Pool(self.pools.len() - 1));
            }
            Step::Arena(name, wide) => {
                self.is_new(*name)?;
                self.add(*name, Object::Arena(*wide));
            }
            Step::Generator(name, seed) => {
                self.is_new(*name)?;
                self.generators.push(seeded(*seed));
                self.add(*name, Object::Generator(self.generators.len() - 1));
            }
            Step::Run(stream, arena, body, names) => return self.run_step(*stream, *arena, body, names),
            Step::Record(name, how, body) => return self.record_step(*name, how, body),
            Step::Launch(graph, stream, _) => {
                let Object::Graph(found) = self.own(*graph)? else { return None };
                self.stream(*stream)?;
                let Some(recording) = found.recording.clone() else { return Some(Refused("Reset")) };
                return Some(if self.replay(&recording, &[])? { Done } else { Refused("Requires") });
            }
            Step::Upload(graph, stream) => {
                let Object::Graph(found) = self.own(*graph)? else { return None };
                self.stream(*stream)?;
                return Some(if found.recording.is_some() { Done } else { Refused("Reset") });
            }
            Step::Rerecord(graph, keeps_options, body) => return self.rerecord_step(*graph, *keeps_options, body),
            Step::Reset(name) => {
                let Object::Graph(_) = self.own(*name)? else { return None };
                self.graph_mut(*name).recording = None;
            }
            Step::IntoOutputs(name, names) => {
                let Object::Graph(graph) = self.droppable(*name)? else { return None };
                let outputs = graph.outputs.clone();
                self.are_new(names, outputs.len())?;
                self.objects.remove(name);
                for (name, memory) in names.iter().zip(outputs) {
                    self.add(*name, Object::Buffer(memory));
                }
            }
            Step::Into(name, ins, outs, body) => return self.record_into_step(*name, ins, outs, body),
            Step::LaunchInto(name, stream, ins, outs) => return self.launch_into_step(*name, *stream, ins, outs),
            Step::Cache(name, max, bodies) => {
                self.is_new(*name)?;
                let is_shared = self.phase == Phase::Before;
                for body in bodies {
                    self.take_down(body, Around::default(), if is_shared { Style::Pure } else { Style::Free })?;
                }
                let (max, bodies) = ((*max).into(), bodies.clone());
                self.add(*name, Object::Cache(Cache { max, bodies, entries: Vec::new(), is_shared }));
            }
            Step::CacheRun(name, stream, key) => return self.cache_step(*name, *stream, *key, false),
            Step::CacheGet(name, stream, key) => return self.cache_step(*name, *stream, *key, true),
            Step::Evict(name, key) => {
                let Object::Cache(cache) = self.own(*name)? else { return None };
                if cache.is_shared {
                    return None;
                }
                let cache = self.cache_mut(*name);
                let before = cache.entries.len();
                cache.entries.retain(|(known, ..)| known != key);
                return Some(Values(vec![vec![Some(u32::from(cache.entries.len() < before))]]));
            }
            Step::Bucketed(name, buckets, row, padding, slot, larger) => {
                self.is_new(*name)?;
                let Object::Slot(slot) = *self.see(*slot)? else { return None };
                let grows = buckets.windows(2).all(|pair| pair[0] < pair[1]);
                let largest = buckets.last().copied().filter(|_| grows && buckets[0] > 0 && *row > 0)?;
                if self.phase == Phase::Before {
                    return None;
                }
                let fixed = vec![Some(0); usize::from(largest) * usize::from(*row)];
                let (buckets, row, padding, larger) = (buckets.clone(), *row, *padding, *larger);
                self.add(*name, Object::Bucketed(Rows { buckets, row, padding, slot, larger, fixed }));
            }
            Step::Prepare(name) => {
                let Object::Bucketed(_) = self.own(*name)? else { return None };
            }
            Step::Call(name, stream, rows, part) => return self.call_step(*name, *stream, *rows, *part),
            Step::Write(stream, part, words) => {
                self.stream(*stream)?;
                let (range, writable) = self.plain(*part)?;
                writable.then_some(())?;
                if range.len != words.len() {
                    return Some(Refused("Length"));
                }
                self.slice_mut(&range).iter_mut().zip(words).for_each(|(to, word)| *to = Some(*word));
            }
            Step::Read(stream, part) => {
                self.stream(*stream)?;
                let (range, _) = self.plain(*part)?;
                return Some(Values(vec![self.slice_mut(&range).to_vec()]));
            }
            Step::SetScalar(name, stream, value) => {
                let Object::Scalar(memory) = *self.own(*name)? else { return None };
                self.stream(*stream)?;
                self.memory[memory].words = vec![Some(*value)];
            }
            Step::GetScalar(name, stream) => {
                let Object::Scalar(memory) = *self.see(*name)? else { return None };
                self.stream(*stream)?;
                return Some(Values(self.words_of(&[memory])));
            }
            Step::WriteNumber(name, stream, bits) => {
                let Object::Number(of, memory) = *self.own(*name)? else { return None };
                self.stream(*stream).filter(|()| of.fits(*bits))?;
                self.memory[memory].words = halves(*bits).to_vec();
            }
            Step::ReadNumber(name, stream) => {
                let Object::Number(_, memory) = *self.see(*name)? else { return None };
                self.stream(*stream)?;
                return Some(Values(self.words_of(&[memory])));
            }
            Step::SetDial(name, bits) => {
                let Object::Dial(of, slot) = *self.own(*name)? else { return None };
                of.fits(*bits).then_some(())?;
                self.slots[slot..slot + 2].copy_from_slice(&halves(*bits));
            }
            Step::SetHost(name, words) => {
                let Object::Host(memory) = *self.own(*name)? else { return None };
                if self.memory[memory].words.len() != words.len() {
                    return Some(Refused("Length"));
                }
                self.memory[memory].words = words.iter().copied().map(Some).collect();
            }
            Step::ReadHost(name) => {
                let Object::Host(memory) = *self.own(*name)? else { return None };
                return Some(Values(self.words_of(&[memory])));
            }
            Step::SetSlot(name, value) => {
                let Object::Slot(slot) = *self.see(*name)? else { return None };
                self.may_set(*name).then_some(())?;
                let is_threads = self.objects[name].is_threads;
                if is_threads || !matches!(self.phase, Phase::Thread(..)) {
                    self.slots[slot] = Some(*value);
                }
            }
            Step::Seed(name, stream, seed) => {
                let Object::Generator(generator) = *self.own(*name)? else { return None };
                self.stream(*stream)?;
                self.generators[generator] = seeded(*seed);
            }
            Step::Save(name, stream, saved) => {
                let Object::Generator(generator) = *self.own(*name)? else { return None };
                self.stream(*stream)?;
                self.is_new(*saved)?;
                let state = self.generators[generator];
                self.add(*saved, Object::Saved(state));
                return Some(Values(vec![drawn(state)]));
            }
            Step::Restore(name, stream, saved) => {
                let Object::Generator(generator) = *self.own(*name)? else { return None };
                let Object::Saved(state) = *self.own(*saved)? else { return None };
                self.stream(*stream)?;
                self.generators[generator] = state;
            }
            Step::Sync(stream) | Step::IsDone(stream) => self.stream(*stream)?,
            Step::SyncAll => {}
            Step::Seal(name, sealed) => {
                let Object::Pool(pool) = *self.own(*name)? else { return None };
                self.pools[pool] = *sealed;
            }
            Step::PoolKeep(name) => {
                let Object::Pool(pool) = *self.see(*name)? else { return None };
                return Some(if self.pools[pool] { Refused("PoolSealed") } else { Done });
            }
            Step::PoolClear(name) => {
                let Object::Pool(pool) = *self.own(*name)? else { return None };
                return Some(match (self.graphs_in(pool), self.pools[pool]) {
                    (0, false) => Done,
                    (0, true) => Refused("PoolSealed"),
                    _ => Refused("PoolInUse"),
                });
            }
            Step::Budget(greedy) => {
                if matches!(self.phase, Phase::Thread(..)) {
                    return None;
                }
                return Some(if *greedy == Greedy::Fits { Done } else { Refused("OverBudget") });
            }
            Step::Stranger(stranger) => return self.stranger_step(*stranger),
            Step::Drop(name) => {
                self.droppable(*name)?;
                self.objects.remove(name);
            }
        }
        Some(Done)
    }

    /// A fault has ended a step: what it would have made is not there, what it would have written is unknown. Not for a
    /// step that was taken.
    pub fn fail(&mut self, step: &Step) {
        let nothing = Around::default();
        match step {
            Step::Run(_, _, body, _) | Step::Record(_, How { warm: Some(_), .. }, body) => {
                if let Some(taken) = self.take_down(body, nothing, Style::Free) {
                    self.forget(&taken);
                }
            }
            Step::Record(_, _, body) => self.forget_slots(body, nothing),
            Step::Rerecord(name, _, body) => {
                self.forget_slots(body, Around { instead_of: Some(*name), ..Around::default() });
            }
            Step::Into(_, ins, outs, body) => {
                self.forget_slots(body, Around { holes: Some((ins, outs)), ..Around::default() });
            }
            Step::Launch(name, ..) => {
                if let Some(Object::Graph(Graph { recording: Some(recording), .. })) = self.see(*name) {
                    let recording = recording.clone();
                    self.poison(&recording, &[]);
                }
            }
            Step::LaunchInto(name, _, ins, outs) => {
                let bound: Vec<Range> = ins.iter().chain(outs).filter_map(|part| Some(self.plain(*part)?.0)).collect();
                let fits = |graph: &Graph, lens: [&[u8; 2]; 2]| {
                    let lens = lens.into_iter().flatten();
                    let same = bound.iter().zip(lens).all(|(range, len)| range.len == usize::from(*len));
                    graph.recording.clone().filter(|_| same && bound.len() == 4)
                };
                if let Some(Object::Into(graph, ins, outs)) = self.see(*name)
                    && let Some(recording) = fits(graph, [ins, outs])
                {
                    self.poison(&recording, &bound);
                }
            }
            Step::CacheRun(name, _, key) | Step::CacheGet(name, _, key) => {
                if let Some(Object::Cache(cache)) = self.see(*name) {
                    let kept = cache.entries.iter().find(|(known, ..)| known == key).map(|entry| entry.1.clone());
                    let body = cache.bodies.get(usize::from(*key)).cloned();
                    if let Some(kept) = kept {
                        self.poison(&kept, &[]);
                    }
                    if let Some(taken) = body.and_then(|body| self.take_down(&body, nothing, Style::Free)) {
                        self.forget(&taken);
                    }
                }
            }
            Step::Write(_, part, _) => {
                if let Some((range, _)) = self.plain(*part) {
                    self.slice_mut(&range).fill(None);
                }
            }
            Step::SetScalar(name, ..) | Step::SetHost(name, _) | Step::WriteNumber(name, ..) => {
                if let Some(Object::Scalar(memory) | Object::Host(memory) | Object::Number(_, memory)) = self.see(*name)
                {
                    let memory = *memory;
                    self.memory[memory].words.fill(None);
                }
            }
            Step::Seed(name, ..) | Step::Restore(name, ..) => {
                if let Some(Object::Generator(generator)) = self.see(*name) {
                    let generator = *generator;
                    self.generators[generator] = None;
                }
            }
            _ => {}
        }
        if let Some(name) = retired(step) {
            self.objects.remove(&name);
        }
    }

    /// An object that nobody knows the state of any more is taken out.
    pub fn retire(&mut self, name: Name) {
        self.objects.remove(&name);
    }

    fn forget(&mut self, taken: &Taken) {
        let (recording, _) = self.place_outputs(taken);
        self.poison(&recording, &[]);
        taken.sets.keys().for_each(|slot| self.slots[*slot] = None);
    }

    fn forget_slots(&mut self, body: &Body, around: Around<'_>) {
        if let Some(taken) = self.take_down(body, around, Style::Free) {
            taken.sets.keys().for_each(|slot| self.slots[*slot] = None);
        }
    }

    fn are_new(&self, names: &[Name], count: usize) -> Option<()> {
        let distinct = names.iter().enumerate().all(|(i, name)| !names[..i].contains(name));
        (distinct && names.len() == count && names.iter().all(|name| self.is_new(*name).is_some())).then_some(())
    }

    fn graph_mut(&mut self, name: Name) -> &mut Graph {
        match self.objects.get_mut(&name).map(|held| &mut held.object) {
            Some(Object::Graph(graph)) => graph,
            _ => unreachable!("seen as a graph before"),
        }
    }

    fn cache_mut(&mut self, name: Name) -> &mut Cache {
        match self.objects.get_mut(&name).map(|held| &mut held.object) {
            Some(Object::Cache(cache)) => cache,
            _ => unreachable!("seen as a cache before"),
        }
    }

    /// A part outside of recordings, and whether it may be written.
    fn plain(&self, part: Part) -> Option<(Range, bool)> {
        let (memory, writable) = self.memory_of(part.place)?;
        let (start, len) = (usize::from(part.start), usize::from(part.len));
        let range = Range { at: At::Memory(memory), start, len };
        (start + len <= self.memory[memory].words.len()).then_some((range, writable))
    }

    fn slice_mut(&mut self, range: &Range) -> &mut [super::Word] {
        match range.at {
            At::Memory(memory) => &mut self.memory[memory].words[range.start..range.start + range.len],
            _ => unreachable!("a part outside of recordings is memory"),
        }
    }

    fn arena(&self, arena: Option<Name>) -> Option<Option<bool>> {
        let Some(name) = arena else { return Some(None) };
        match self.see(name)? {
            Object::Arena(wide) => Some(Some(*wide)),
            _ => None,
        }
    }

    fn run_step(&mut self, stream: Name, arena: Option<Name>, body: &Body, names: &[Name]) -> Option<Expect> {
        self.stream(stream)?;
        let arena = self.arena(arena)?;
        let taken = self.take_down(body, Around::default(), Style::Free)?;
        self.are_new(names, taken.outputs.len())?;
        self.apply_sets(&taken);
        match taken.ended {
            Ended::Refused(why) => return Some(Refused(why)),
            Ended::Panicked => return Some(Panicked),
            Ended::Good if arena == Some(false) && taken.has_temps() => return Some(Refused("ArenaExhausted")),
            Ended::Good => {}
        }
        let (recording, outputs) = self.place_outputs(&taken);
        self.run(&recording, &taken)?;
        for (name, memory) in names.iter().zip(outputs) {
            self.add(*name, Object::Buffer(memory));
        }
        Some(Done)
    }

    fn record_step(&mut self, name: Name, how: &How, body: &Body) -> Option<Expect> {
        self.is_new(name)?;
        let pool = match how.pool {
            None => None,
            Some(pool) => match self.see(pool)? {
                Object::Pool(pool) => Some(*pool),
                _ => return None,
            },
        };
        let arena = self.arena(how.arena)?;
        self.take_down(body, Around::default(), self.style())?;
        if let Some(warm) = how.warm {
            // Options that a warm-up cannot have: its runs would be told apart by what the pool says.
            if how.apart && arena.is_some() || self.phase == Phase::Before {
                return None;
            }
            let mut after = self.clone();
            let expect = after.warm_up(warm, arena, body)?;
            *self = after;
            if let Some(expect) = expect {
                return Some(expect);
            }
        }
        if pool.is_some_and(|pool| self.pools[pool]) {
            return Some(Refused("PoolSealed"));
        }
        let taken = self.take_down(body, Around::default(), self.style())?;
        let arena = arena.filter(|_| !how.apart);
        let (pools, recording, outputs) = match self.make(&taken, pool, arena) {
            Ok(made) => made,
            Err(expect) => return Some(expect),
        };
        self.add(name, Object::Graph(Graph { recording: Some(recording), outputs, pools, pool, arena }));
        Some(Done)
    }

    /// What a graph is made of, or why there is none.
    fn make(&mut self, taken: &Taken, pool: Option<usize>, arena: Option<bool>) -> Result<Made, Expect> {
        self.apply_sets(taken);
        match taken.ended {
            Ended::Refused(why) => return Err(Refused(why)),
            Ended::Panicked => return Err(Panicked),
            Ended::Good if arena == Some(false) && taken.has_temps() => return Err(Refused("ArenaExhausted")),
            Ended::Good => {}
        }
        let pools = pool.into_iter().chain(taken.pools.iter().copied()).collect();
        let (recording, outputs) = self.place_outputs(taken);
        Ok((pools, recording, outputs))
    }

    /// The eager runs before a recording; how it ends if it ends there. None if it is not valid.
    #[allow(clippy::option_option, reason = "the outer one is whether it is valid at all")]
    fn warm_up(&mut self, warm: Warm, arena: Option<bool>, body: &Body) -> Option<Option<Expect>> {
        for _ in 0..warm.runs {
            let taken = self.take_down(body, Around::default(), Style::Free)?;
            self.apply_sets(&taken);
            let (recording, outputs) = self.place_outputs(&taken);
            let saves = lines(&recording.lines).any(|line| match (line.work, line.write.at) {
                (Work::Words(_), _) => true,
                (_, At::Memory(memory)) => !self.memory[memory].is_host && !outputs.contains(&memory),
                _ => false,
            });
            let ended = match taken.ended {
                Ended::Refused(why) => Some(Refused(why)),
                Ended::Panicked => Some(Panicked),
                Ended::Good if warm.capped && warm.restored && saves => Some(Refused("WarmupTooLarge")),
                Ended::Good if arena == Some(false) && taken.has_temps() => Some(Refused("ArenaExhausted")),
                // What is put back would have to be one piece of work with the runs.
                Ended::Good if warm.restored && saves && has_flow(&recording.lines) => Some(Refused("Unsupported")),
                Ended::Good => None,
            };
            if ended.is_some() {
                return Some(ended);
            }
            let before = warm.restored.then(|| (self.memory.clone(), self.generators.clone()));
            self.run(&recording, &taken)?;
            // Each run begins with what was there before it.
            if let Some((memory, generators)) = before {
                let device = self.memory.iter_mut().zip(memory).filter(|(now, _)| !now.is_host);
                device.for_each(|(now, then)| *now = then);
                self.generators = generators;
            }
        }
        Some(None)
    }

    fn rerecord_step(&mut self, name: Name, keeps_options: bool, body: &Body) -> Option<Expect> {
        let Object::Graph(graph) = self.own(name)? else { return None };
        let keeps_options = keeps_options && graph.recording.is_some();
        let (pool, arena) = if keeps_options { (graph.pool, graph.arena) } else { (None, None) };
        let around = Around { instead_of: Some(name), ..Around::default() };
        let taken = self.take_down(body, around, self.style())?;
        if pool.is_some_and(|pool| self.pools[pool]) {
            return Some(Refused("PoolSealed"));
        }
        let (pools, recording, outputs) = match self.make(&taken, pool, arena) {
            Ok(made) => made,
            Err(expect) => return Some(expect),
        };
        *self.graph_mut(name) = Graph { recording: Some(recording), outputs, pools, pool, arena };
        Some(Done)
    }

    fn record_into_step(&mut self, name: Name, ins: &[u8; 2], outs: &[u8; 2], body: &Body) -> Option<Expect> {
        self.is_new(name)?;
        if self.phase == Phase::Before || ins.iter().chain(outs).any(|len| *len == 0) {
            return None;
        }
        let around = Around { holes: Some((ins, outs)), ..Around::default() };
        let taken = self.take_down(body, around, Style::Free)?;
        let (pools, recording, outputs) = match self.make(&taken, None, None) {
            Ok(made) => made,
            Err(expect) => return Some(expect),
        };
        let graph = Graph { recording: Some(recording), outputs, pools, pool: None, arena: None };
        self.add(name, Object::Into(graph, *ins, *outs));
        Some(Done)
    }

    fn launch_into_step(&mut self, name: Name, stream: Name, ins: &[Part; 2], outs: &[Part; 2]) -> Option<Expect> {
        let Object::Into(graph, in_lens, out_lens) = self.own(name)? else { return None };
        let (recording, lens) = (graph.recording.clone()?, in_lens.iter().chain(out_lens));
        self.stream(stream)?;
        if outs[0].overlaps(outs[1]) || ins.iter().any(|read| outs.iter().any(|write| write.overlaps(*read))) {
            return None;
        }
        let mut bound = Vec::new();
        for (number, part) in ins.iter().chain(outs).enumerate() {
            let (range, writable) = self.plain(*part)?;
            (part.len > 0 && (number < 2 || writable)).then_some(())?;
            bound.push(range);
        }
        if bound.iter().zip(lens).any(|(range, len)| range.len != usize::from(*len)) {
            return Some(Refused("Length"));
        }
        let is_read = |range: &Range| bound[2..].iter().any(|given| given.overlaps(range));
        let clash = flat(&recording.lines).into_iter().any(|item| match item {
            Item::Line(line) => line.reads.iter().any(is_read) || bound.iter().any(|given| given.overlaps(&line.write)),
            _ => item.sights().iter().any(|sight| matches!(sight, Sight::At(range) if is_read(range))),
        });
        if clash {
            return Some(Refused("Overlap"));
        }
        Some(if self.replay(&recording, &bound)? { Done } else { Refused("Requires") })
    }

    fn cache_step(&mut self, name: Name, stream: Name, key: u8, by_get: bool) -> Option<Expect> {
        let Object::Cache(cache) = self.see(name)? else { return None };
        self.stream(stream)?;
        let is_alone = !matches!(self.phase, Phase::Thread(..)) || self.objects[&name].is_threads;
        if by_get && (cache.is_shared || !is_alone) {
            return None;
        }
        let body = cache.bodies.get(usize::from(key))?;
        let style = if cache.is_shared { Style::Pure } else { Style::Free };
        let taken = self.take_down(body, Around::default(), style)?;
        let (max, at) = (cache.max, cache.entries.iter().position(|(known, ..)| *known == key));
        let (recording, outputs) = match at {
            Some(at) => {
                let (_, recording, outputs) = cache.entries[at].clone();
                // Nothing may be changed where nobody can know whether it launches.
                self.holds(&recording.lines, &|slot| self.slots[slot])?;
                let cache = self.cache_mut(name);
                let entry = cache.entries.remove(at);
                cache.entries.push(entry);
                (recording, outputs)
            }
            None => {
                self.apply_sets(&taken);
                match taken.ended {
                    Ended::Refused(why) => return Some(Refused(why)),
                    Ended::Panicked => return Some(Panicked),
                    Ended::Good => {}
                }
                if max == 0 && by_get {
                    return Some(Refused("OverCap"));
                }
                let (recording, outputs) = self.place_outputs(&taken);
                if max == 0 {
                    self.run(&recording, &taken)?;
                    return Some(Values(self.words_of(&outputs)));
                }
                let cache = self.cache_mut(name);
                while cache.entries.len() >= max {
                    cache.entries.remove(0);
                }
                cache.entries.push((key, recording.clone(), outputs.clone()));
                (recording, outputs)
            }
        };
        match self.replay(&recording, &[])? {
            true => Some(Values(self.words_of(&outputs))),
            false => Some(Refused("Requires")),
        }
    }

    fn call_step(&mut self, name: Name, stream: Name, rows: u8, part: Part) -> Option<Expect> {
        let Object::Bucketed(function) = self.own(name)? else { return None };
        self.stream(stream)?;
        let (given, _) = self.plain(part)?;
        let mut function = function.clone();
        let (n, row) = (usize::from(rows), usize::from(function.row));
        if given.len != n * row {
            return Some(Refused("NotRows"));
        }
        let x = self.slice_mut(&given).to_vec();
        let add = self.slots[function.slot];
        let y = x.iter().map(|x| Some(add?.wrapping_mul(3).wrapping_add((*x)?))).collect();
        let sum = |words: &[super::Word]| words.iter().try_fold(0u32, |sum, word| Some(sum.wrapping_add((*word)?)));
        let bucket = function.buckets.iter().copied().find(|bucket| *bucket >= rows).filter(|_| rows > 0);
        let Some(bucket) = bucket else {
            if rows == 0 || !function.larger {
                return Some(Refused("NoBucket"));
            }
            return Some(Values(vec![y, vec![sum(&x)]]));
        };
        let fixed = &mut function.fixed[..usize::from(bucket) * row];
        let (real, rest) = fixed.split_at_mut(x.len());
        real.copy_from_slice(&x);
        match function.padding {
            Padding::Zero => rest.fill(Some(0)),
            Padding::Value(value) => rest.fill(Some(value)),
            Padding::Last => rest.chunks_mut(row).for_each(|to| to.copy_from_slice(&x[x.len() - row..])),
            Padding::Keep => {}
        }
        let total = sum(fixed);
        self.add_again(name, Object::Bucketed(function));
        Some(Values(vec![y, vec![total]]))
    }

    fn add_again(&mut self, name: Name, object: Object) {
        if let Some(held) = self.objects.get_mut(&name) {
            held.object = object;
        }
    }

    fn stranger_step(&mut self, stranger: Stranger) -> Option<Expect> {
        match stranger {
            Stranger::Read(stream) => self.stream(stream)?,
            Stranger::Copy(stream, part) => {
                self.stream(stream)?;
                let (range, writable) = self.plain(part)?;
                (writable && range.len > 0 && !matches!(part.place, NamedMemory::Result(..))).then_some(())?;
            }
            Stranger::Launch(graph) => {
                let Object::Graph(graph) = self.own(graph)? else { return None };
                if graph.recording.is_none() {
                    return Some(Refused("Reset"));
                }
            }
            Stranger::Pool => {}
        }
        Some(Refused("WrongDevice"))
    }
}

/// The bits of a number, as two words.
fn halves(bits: u64) -> [super::Word; 2] {
    [Some(bits as u32), Some((bits >> 32) as u32)]
}

/// The object whose state nobody knows after a fault in this step.
pub(in crate::chance) fn retired(step: &Step) -> Option<Name> {
    match step {
        Step::CacheRun(name, ..) | Step::CacheGet(name, ..) => Some(*name),
        Step::Call(name, ..) | Step::Prepare(name) => Some(*name),
        _ => None,
    }
}

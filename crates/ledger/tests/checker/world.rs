//! Buffers and graphs as a library would hold them over the ledger, and what threads do with them.
//!
//! A buffer or a graph is owned by whoever has an `Arc` of it; a graph owns its buffers. The last owner's drop takes it
//! out of the ledger and leaves it in the queue of drops. Work borrows what it touches; the host's own accesses borrow
//! it alone. That is all the discipline the ledger asks for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, RwLock, TryLockError};

use dacapo_ledger::{Drops, Lane, LaneKind, Ledger, MemoryId, Touch, Touching, Use, UseSet};

use crate::baton::step;
use crate::device::{Device, Refused, Stream};
use crate::dice::Dice;

/// What buffers and graphs reach in their drop.
pub struct Core {
    pub device: Device,
    /// One, or two beside each other: those of two devices that touch each other's memory.
    ledgers: Vec<Ledger<Device>>,
    pub drops: Drops<Device, usize>,
}

impl Core {
    /// The ledger of the device that an object is on.
    fn ledger(&self, object: usize) -> &Ledger<Device> {
        &self.ledgers[object % self.ledgers.len()]
    }
}

/// A lane, and the ledger that it was added to.
struct Queue {
    lane: Lane<Device>,
    ledger: usize,
}

pub struct Buffer {
    core: Arc<Core>,
    id: MemoryId,
    object: usize,
    borrow: RwLock<()>,
}

pub struct Graph {
    core: Arc<Core>,
    /// Launched by one thread at a time.
    set: Mutex<UseSet<Device>>,
    /// The executable: each launch uses it alone.
    object: usize,
    members: Vec<(Arc<Buffer>, Touching)>,
    home: usize,
    /// Whether its buffers go before it does.
    members_first: bool,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.core.drops.put(self.object, self.core.ledger(self.object).remove_memory(self.id));
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.members_first {
            self.members.clear();
        }
        let set = self.set.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let last = self.core.ledger(self.object).remove_set(set);
        self.core.drops.put(self.object, last.into_iter().collect());
    }
}

pub struct World {
    pub core: Arc<Core>,
    lanes: Vec<Queue>,
    /// One for each ledger.
    reapers: Vec<Queue>,
    buffers: Mutex<Vec<Arc<Buffer>>>,
    graphs: Mutex<Vec<Arc<Graph>>>,
    /// One user lane only: then no event may ever be recorded, and no set looks twice.
    single: bool,
    /// How many members the sets had that were ever launched.
    launched_members: Mutex<std::collections::BTreeMap<usize, u64>>,
}

impl World {
    pub fn new(seed: u64, single: bool, faults: bool, devices: usize) -> Self {
        let mut dice = Dice::new(seed, 7);
        let faults = faults.then(|| Dice::new(seed, 8));
        let mut ledgers = vec![Ledger::new()];
        if devices == 2 {
            ledgers.push(ledgers[0].beside());
            // As devices do it that others wait for; and as they did before.
            ledgers.iter().filter(|_| dice.percent(50)).for_each(Ledger::part_work);
        }
        let core = Arc::new(Core { device: Device::new(faults), ledgers, drops: Drops::new() });
        let count = if single { 1 } else { 2 + dice.below(2) };
        let queue = |stream: usize, ledger: usize, kind| {
            let lane = core.ledgers[ledger].add_lane(Stream(stream), kind);
            Queue { lane, ledger }
        };
        let lanes = (0..count).map(|lane| queue(lane, lane % devices, LaneKind::User)).collect();
        let reapers = (0..devices).map(|ledger| queue(3 + ledger, ledger, LaneKind::Internal)).collect();
        let world = World {
            core,
            lanes,
            reapers,
            buffers: Mutex::default(),
            graphs: Mutex::default(),
            single,
            launched_members: Mutex::default(),
        };
        for _ in 0..3 {
            world.add_buffer();
        }
        for _ in 0..2 {
            world.add_graph(&mut dice);
        }
        world
    }

    fn add_buffer(&self) {
        let object = self.core.device.new_object();
        let core = Arc::clone(&self.core);
        let buffer = Buffer { id: core.ledger(object).add_memory(), core, object, borrow: RwLock::new(()) };
        self.buffers.lock().unwrap().push(Arc::new(buffer));
    }

    fn add_graph(&self, dice: &mut Dice) {
        let members: Vec<_> = (0..1 + dice.below(3)).filter_map(|_| Some((self.buffer(dice)?, access(dice)))).collect();
        let list: Vec<_> = members.iter().map(|(buffer, access)| (buffer.id, *access)).collect();
        let core = Arc::clone(&self.core);
        let object = core.device.new_object();
        let set = Mutex::new(core.ledger(object).add_set(&list));
        let (home, members_first) = (dice.below(self.lanes.len()), dice.percent(50));
        let graph = Graph { core, set, object, members, home, members_first };
        self.graphs.lock().unwrap().push(Arc::new(graph));
    }

    fn buffer(&self, dice: &mut Dice) -> Option<Arc<Buffer>> {
        let buffers = self.buffers.lock().unwrap();
        (!buffers.is_empty()).then(|| Arc::clone(&buffers[dice.below(buffers.len())]))
    }

    fn graph(&self, dice: &mut Dice) -> Option<Arc<Graph>> {
        let graphs = self.graphs.lock().unwrap();
        (!graphs.is_empty()).then(|| Arc::clone(&graphs[dice.below(graphs.len())]))
    }

    /// One random thing.
    pub fn act(&self, dice: &mut Dice, label: &str, kept: &mut Vec<Use<Device>>) {
        match dice.below(100) {
            0..34 => self.touch(dice, label, kept),
            34..66 => self.launch(dice, label, kept),
            66..71 => self.add_buffer(),
            71..75 => {
                let taken = take(&self.buffers, dice);
                drop(taken);
            }
            75..79 => self.add_graph(dice),
            79..83 => {
                let taken = take(&self.graphs, dice);
                drop(taken);
            }
            83..89 => self.drain(dice, label),
            89..95 => self.host(dice, label),
            _ => self.finish(dice, label, kept),
        }
    }

    fn touch(&self, dice: &mut Dice, label: &str, kept: &mut Vec<Use<Device>>) {
        let touched: Vec<_> = (0..1 + dice.below(2)).filter_map(|_| Some((self.buffer(dice)?, access(dice)))).collect();
        let queue = &self.lanes[dice.below(self.lanes.len())];
        self.submit(dice, queue, None, &touched, label, kept);
    }

    fn launch(&self, dice: &mut Dice, label: &str, kept: &mut Vec<Use<Device>>) {
        let Some(graph) = self.graph(dice) else { return };
        let lane = if dice.percent(60) { graph.home } else { dice.below(self.lanes.len()) };
        let extra = if dice.percent(20) { self.buffer(dice) } else { None };
        let extra: Vec<_> = extra.into_iter().map(|buffer| (buffer, access(dice))).collect();
        self.submit(dice, &self.lanes[lane], Some(&graph), &extra, label, kept);
    }

    fn submit(
        &self,
        dice: &mut Dice,
        queue: &Queue,
        graph: Option<&Arc<Graph>>,
        touched: &[(Arc<Buffer>, Touching)],
        label: &str,
        kept: &mut Vec<Use<Device>>,
    ) {
        let all = touched.iter().chain(graph.into_iter().flat_map(|graph| &graph.members));
        let mut objects: Vec<_> = all.clone().map(|(buffer, access)| (buffer.object, *access)).collect();
        objects.extend(graph.map(|graph| (graph.object, Touching::Write)));
        let Some(_borrows) = all.map(|(buffer, _)| buffer.borrow.try_read().ok()).collect::<Option<Vec<_>>>() else {
            return;
        };
        let memory: Vec<_> = touched.iter().map(|(buffer, access)| (buffer.id, *access)).collect();
        // Another thread may be launching it: nobody waits for a set here, because nobody would hand the baton on.
        let mut set = match graph.map(|graph| graph.set.try_lock()) {
            None => None,
            Some(Ok(set)) => Some(set),
            Some(Err(TryLockError::Poisoned(poisoned))) => Some(poisoned.into_inner()),
            Some(Err(TryLockError::WouldBlock)) => return,
        };
        let touch = match &mut set {
            None => Touch::Memory(&memory),
            Some(set) if memory.is_empty() => Touch::Set(set),
            Some(set) => Touch::SetAnd(set, &memory),
        };
        if let Some(graph) = graph {
            let mut members: Vec<_> = graph.members.iter().map(|(buffer, _)| buffer.object).collect();
            members.sort_unstable();
            members.dedup();
            self.launched_members.lock().unwrap().insert(graph.object, members.len() as u64);
        }
        let device = &self.core.device;
        // How an enqueue fails: with all of its work on the stream, with none (an empty piece stands for it), or by a
        // panic.
        let how = if device.fails(12) { 1 + dice.below(3) } else { 0 };
        let kind = if graph.is_some() { "launch" } else { "touch" };
        let label = format!("{kind} of {label}");
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.core.ledgers[queue.ledger].submit(device, &queue.lane, touch, |stream| match how {
                0 => {
                    device.enqueue(stream, &objects, &label);
                    Ok(())
                }
                1 => {
                    device.enqueue(stream, &objects, &label);
                    Err(Refused)
                }
                2 => {
                    device.enqueue(stream, &[], &label);
                    Err(Refused)
                }
                _ => {
                    device.enqueue(stream, &objects, &label);
                    std::panic::resume_unwind(Box::new(Refused))
                }
            })
        }));
        match done {
            Ok(Ok(((), used))) => kept.push(used),
            Ok(Err(Refused)) => {}
            Err(thrown) if thrown.is::<Refused>() => {}
            Err(thrown) => std::panic::resume_unwind(thrown),
        }
    }

    /// Releases what was dropped, behind its uses.
    pub fn drain(&self, dice: &mut Dice, label: &str) {
        if self.core.drops.is_empty() {
            return;
        }
        let device = &self.core.device;
        let on_user_lane = self.single || dice.percent(30);
        let user = &self.lanes[dice.below(self.lanes.len())];
        let mut again = 0;
        for (object, uses) in self.core.drops.take() {
            let queue = if on_user_lane { user } else { &self.reapers[object % self.reapers.len()] };
            let (ledger, lane) = (&self.core.ledgers[queue.ledger], &queue.lane);
            while ledger.order_after(device, lane, &uses).is_err() {
                again += 1;
                assert!(again < 1000, "a refusal does not last");
            }
            let release = |stream: &Stream| {
                device.release(stream, object, &format!("release of {label}"));
                Ok::<(), Refused>(())
            };
            let released = ledger.submit(device, lane, Touch::Memory(&[]), release);
            assert!(released.is_ok(), "it touches nothing, so it waits for nothing");
        }
    }

    /// The host waits for what it conflicts with, and then touches a buffer itself.
    fn host(&self, dice: &mut Dice, label: &str) {
        let Some(buffer) = self.buffer(dice) else { return };
        let (access, by_stream) = (access(dice), self.single || dice.percent(50));
        if dice.percent(50) {
            // Others go on submitting: what it was told to wait for must be over, more it cannot ask.
            let _shared = buffer.borrow.try_read();
            for used in self.core.ledger(buffer.object).wait_list(buffer.id, access) {
                self.wait_for(&used, by_stream, label);
            }
            return;
        }
        let Ok(_alone) = buffer.borrow.try_write() else { return };
        for used in self.core.ledger(buffer.object).wait_list(buffer.id, access) {
            self.wait_for(&used, by_stream, label);
        }
        self.core.device.host(buffer.object, access, label);
    }

    fn wait_for(&self, used: &Use<Device>, by_stream: bool, label: &str) {
        // Any device may be asked for the event of another one's work.
        let (device, ledger) = (&self.core.device, self.core.ledger(used.position() as usize));
        if by_stream {
            device.synchronize_stream(used.lane().stream());
        } else {
            let mut again = 0;
            let event = loop {
                match ledger.event_for(device, used) {
                    Ok(event) => break event,
                    Err(Refused) => again += 1,
                }
                assert!(again < 1000, "a refusal does not last");
            };
            device.synchronize(&event);
        }
        ledger.finished(used);
        // Each submit here puts one piece of work on the stream, so that positions are the device's numbers.
        device.must_be_over(used.lane().stream(), used.position(), label);
    }

    fn finish(&self, dice: &mut Dice, label: &str, kept: &mut Vec<Use<Device>>) {
        for used in kept.iter().filter(|used| self.core.ledgers[0].is_finished(used)) {
            self.core.device.must_be_over(used.lane().stream(), used.position(), label);
        }
        let by_stream = self.single || dice.percent(50);
        if !kept.is_empty() && dice.percent(60) {
            let used = kept.swap_remove(dice.below(kept.len()));
            self.wait_for(&used, by_stream, label);
        } else {
            let queue = &self.lanes[dice.below(self.lanes.len())];
            if let Some(used) = self.core.ledgers[queue.ledger].last_use(&queue.lane) {
                self.wait_for(&used, by_stream, label);
            }
        }
        step();
    }

    /// Drops everything, releases it, and says what is wrong with the whole.
    pub fn close(&self, dice: &mut Dice) {
        self.graphs.lock().unwrap().clear();
        self.buffers.lock().unwrap().clear();
        let looked = self.core.ledgers[0].members_visited();
        self.drain(dice, "the end");
        let device = &self.core.device;
        let unreleased = device.unreleased();
        if unreleased > 0 {
            device.fail(format!("{unreleased} objects were never released"));
        }
        if self.single {
            let events = device.with(|machine| machine.tally.events);
            if events > 0 {
                device.fail(format!("{events} events though one stream was in use"));
            }
            let members: u64 = self.launched_members.lock().unwrap().values().sum();
            if looked != members {
                device.fail(format!("launches looked at {looked} members instead of each set's once, {members}"));
            }
        }
    }
}

fn access(dice: &mut Dice) -> Touching {
    if dice.percent(45) { Touching::Write } else { Touching::Read }
}

fn take<T>(list: &Mutex<Vec<T>>, dice: &mut Dice) -> Option<T> {
    let mut list = list.lock().unwrap();
    let at = if list.is_empty() { return None } else { dice.below(list.len()) };
    Some(list.swap_remove(at))
}

//! Queues with vector clocks. Each call is one step: its lock is loom's, so that loom tries what comes between.

use dacapo_ledger::{Drops, Lane, LaneKind, Ledger, Queues, Touch, Touching, Use};
use loom::sync::Mutex;
use std::sync::Arc;

pub const STREAMS: usize = 4;
type Clock = [u64; STREAMS];

pub struct Device(Mutex<Machine>);

#[derive(Default)]
struct Machine {
    clocks: [Clock; STREAMS],
    completed: Clock,
    /// For each object and stream: the number of the last read and of the last write there.
    objects: [[[u64; 2]; STREAMS]; 3],
    released: [bool; 3],
}

pub struct Stream(pub usize);

#[derive(Clone)]
pub struct Event(Arc<Clock>);

#[derive(Debug)]
pub struct Refused;

fn join(into: &mut Clock, from: &Clock) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = (*into).max(*from));
}

impl Device {
    pub fn enqueue(&self, stream: &Stream, touches: &[(usize, Touching)]) {
        let machine = &mut *self.0.lock().unwrap();
        let completed = machine.completed;
        join(&mut machine.clocks[stream.0], &completed);
        machine.clocks[stream.0][stream.0] += 1;
        let clock = machine.clocks[stream.0];
        for &(object, access) in touches {
            assert!(!machine.released[object], "object {object} is used behind its release");
            for (other, [read, write]) in machine.objects[object].iter().enumerate() {
                let last = if access == Touching::Write { *read.max(write) } else { *write };
                assert!(last <= clock[other], "no order on object {object} between streams {other} and {}", stream.0);
            }
            machine.objects[object][stream.0][access as usize] = clock[stream.0];
        }
    }

    fn release(&self, stream: &Stream, object: usize) {
        self.enqueue(stream, &[(object, Touching::Write)]);
        self.0.lock().unwrap().released[object] = true;
    }

    /// The host waits for an event, which must stand for the use it was given for.
    pub fn synchronize(&self, event: &Event, used: &Use<Device>) {
        let stream = used.lane().stream().0;
        assert!(event.0[stream] >= used.position(), "an event came before the work it stands for");
        join(&mut self.0.lock().unwrap().completed, &event.0);
    }
}

impl Queues for Device {
    type Stream = Stream;
    type Event = Event;
    type Error = Refused;

    fn record(&self, stream: &Stream) -> Result<Event, Refused> {
        Ok(Event(Arc::new(self.0.lock().unwrap().clocks[stream.0])))
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<(), Refused> {
        join(&mut self.0.lock().unwrap().clocks[stream.0], &event.0);
        Ok(())
    }
}

/// What the threads of a model share.
pub struct World {
    pub device: Device,
    pub ledger: Ledger<Device>,
    pub drops: Drops<Device, usize>,
    pub lanes: Vec<Lane<Device>>,
}

impl World {
    /// User lanes 0 to 2, and an internal one.
    pub fn new() -> Self {
        let ledger = Ledger::new();
        let kind = |lane| if lane == STREAMS - 1 { LaneKind::Internal } else { LaneKind::User };
        let lanes = (0..STREAMS).map(|lane| ledger.add_lane(Stream(lane), kind(lane))).collect();
        World { device: Device(Mutex::new(Machine::default())), ledger, drops: Drops::new(), lanes }
    }

    /// Work that the ledger is told `touch` of and that touches `objects`.
    pub fn submit(&self, lane: usize, touch: Touch<'_, Device>, objects: &[(usize, Touching)]) -> Use<Device> {
        let enqueue = |stream: &Stream| {
            self.device.enqueue(stream, objects);
            Ok::<(), Refused>(())
        };
        self.ledger.submit(&self.device, &self.lanes[lane], touch, enqueue).expect("nothing is refused here").1
    }

    /// Releases what was dropped, on the internal lane.
    pub fn drain(&self) {
        let lane = &self.lanes[STREAMS - 1];
        for (object, uses) in self.drops.take() {
            self.ledger.order_after(&self.device, lane, &uses).expect("nothing is refused here");
            let release = |stream: &Stream| {
                self.device.release(stream, object);
                Ok::<(), Refused>(())
            };
            self.ledger.submit(&self.device, lane, Touch::Memory(&[]), release).expect("nothing is refused here");
        }
    }
}

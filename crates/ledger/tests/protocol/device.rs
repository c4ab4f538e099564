//! A device that writes down the calls it gets, and refuses those that a test tells it to refuse.

use std::sync::{Arc, Mutex};

use dacapo_ledger::{Lane, LaneKind, Ledger, Queues, Touch, Touching, Use};

/// Calls as text: `b: wait a1` is stream b told to wait for the first event of stream a.
#[derive(Default)]
pub struct Device {
    log: Mutex<Vec<String>>,
    /// How many of the next waits, and of the next records, are refused.
    pub refuse: Mutex<(u32, u32)>,
}

/// A stream's name, how many events were recorded on it, and what is counted while it lives.
pub struct Stream(&'static str, Mutex<u32>, #[expect(dead_code, reason = "its count is read")] Arc<()>);

#[derive(Debug, PartialEq)]
pub enum Refused {
    Wait,
    Record,
    Enqueue,
}

impl Queues for Device {
    type Stream = Stream;
    type Event = String;
    type Error = Refused;

    fn record(&self, stream: &Stream) -> Result<String, Refused> {
        let mut refuse = self.refuse.lock().unwrap();
        if refuse.1 > 0 {
            refuse.1 -= 1;
            return Err(Refused::Record);
        }
        let mut count = stream.1.lock().unwrap();
        *count += 1;
        let event = format!("{}{}", stream.0, *count);
        self.log.lock().unwrap().push(format!("{}: record {event}", stream.0));
        Ok(event)
    }

    fn wait(&self, stream: &Stream, event: &String) -> Result<(), Refused> {
        let mut refuse = self.refuse.lock().unwrap();
        if refuse.0 > 0 {
            refuse.0 -= 1;
            return Err(Refused::Wait);
        }
        self.log.lock().unwrap().push(format!("{}: wait {event}", stream.0));
        Ok(())
    }
}

impl Device {
    /// What was called since the last time, a line each.
    pub fn said(&self) -> String {
        std::mem::take(&mut *self.log.lock().unwrap()).join("\n")
    }
}

/// A device, its ledger, and some lanes.
pub struct Bench {
    pub device: Device,
    pub ledger: Ledger<Device>,
    /// One more than there are streams alive.
    pub alive: Arc<()>,
}

impl Bench {
    pub fn new() -> Self {
        Bench { device: Device::default(), ledger: Ledger::new(), alive: Arc::default() }
    }

    pub fn lane(&self, name: &'static str) -> Lane<Device> {
        self.ledger.add_lane(Stream(name, Mutex::new(0), Arc::clone(&self.alive)), LaneKind::User)
    }

    pub fn internal(&self, name: &'static str) -> Lane<Device> {
        self.ledger.add_lane(Stream(name, Mutex::new(0), Arc::clone(&self.alive)), LaneKind::Internal)
    }

    /// Work called `name`.
    pub fn work(&self, lane: &Lane<Device>, touch: Touch<'_, Device>, name: &str) -> Use<Device> {
        self.try_work(lane, touch, name, Ok(())).unwrap()
    }

    pub fn try_work(
        &self,
        lane: &Lane<Device>,
        touch: Touch<'_, Device>,
        name: &str,
        answer: Result<(), Refused>,
    ) -> Result<Use<Device>, Refused> {
        let done = self.ledger.submit(&self.device, lane, touch, |stream| {
            self.device.log.lock().unwrap().push(format!("{}: {name}", stream.0));
            answer
        });
        done.map(|((), used)| used)
    }

    /// Two lanes, a third in use beside them so that submits record events. Each has one event and one finished use.
    pub fn two_lanes(&self) -> (Lane<Device>, Lane<Device>) {
        let (a, b, other) = (self.lane("a"), self.lane("b"), self.lane("other"));
        for lane in [&other, &a, &b] {
            let used = self.work(lane, Touch::Memory(&[]), "first");
            self.ledger.finished(&used);
        }
        self.device.said();
        (a, b)
    }
}

pub const READ: Touching = Touching::Read;
pub const WRITE: Touching = Touching::Write;

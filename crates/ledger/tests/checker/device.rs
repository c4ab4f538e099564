//! A device that knows which work is ordered, and which touches what.
//!
//! Each stream has a vector clock: of each stream, up to which piece of work everything is surely over when its next
//! piece begins. An event is a copy of it, a wait joins it, and what the host saw finish is joined by everything that
//! is enqueued later. Two accesses to one object, one of them a write, of which the later does not have the earlier in
//! its clock, are a failure; so is a release like that, and any use behind a release.

use std::sync::{Arc, Mutex};

use dacapo_ledger::{Queues, Touching};

use crate::baton::step;
use crate::dice::Dice;

/// At most so many streams.
pub const STREAMS: usize = 5;

type Clock = [u64; STREAMS];

pub struct Device(Mutex<Machine>);

pub struct Machine {
    clocks: [Clock; STREAMS],
    /// Which pieces of work the host saw finish.
    completed: Clock,
    /// For each stream, which work of each other stream it was told to wait for.
    awaited: [Clock; STREAMS],
    objects: Vec<Object>,
    faults: Option<Dice>,
    pub failure: Option<String>,
    pub tally: Tally,
    /// A digest of all that happened, in order.
    pub digest: u64,
}

/// How much of what was done.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub work: u64,
    pub events: u64,
    pub waits: u64,
    pub frees: u64,
    pub host: u64,
    pub refused: u64,
    pub checked: u64,
}

#[derive(Default)]
struct Object {
    /// The last read and the last write on each stream: its number there, and who.
    last: [[Option<(u64, String)>; 2]; STREAMS],
    released: Option<String>,
}

pub struct Stream(pub usize);

#[derive(Clone)]
pub struct Event(Arc<(usize, u64, Clock)>);

#[derive(Debug)]
pub struct Refused;

fn join(into: &mut Clock, from: &Clock) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = (*into).max(*from));
}

const NAMES: [&str; STREAMS] = ["a", "b", "c", "reaper", "other reaper"];

impl Device {
    pub fn new(faults: Option<Dice>) -> Self {
        Device(Mutex::new(Machine {
            clocks: [[0; STREAMS]; STREAMS],
            completed: [0; STREAMS],
            awaited: [[0; STREAMS]; STREAMS],
            objects: Vec::new(),
            faults,
            failure: None,
            tally: Tally::default(),
            digest: 0,
        }))
    }

    pub fn with<R>(&self, look: impl FnOnce(&mut Machine) -> R) -> R {
        look(&mut self.0.lock().unwrap())
    }

    pub fn new_object(&self) -> usize {
        self.with(|machine| {
            machine.objects.push(Object::default());
            machine.objects.len() - 1
        })
    }

    /// Puts work on a stream. What it touches is checked against all that was ever enqueued.
    pub fn enqueue(&self, stream: &Stream, touches: &[(usize, Touching)], label: &str) {
        step();
        self.with(|machine| machine.enqueue(stream.0, touches, label));
    }

    /// Puts a release on a stream.
    pub fn release(&self, stream: &Stream, object: usize, label: &str) {
        step();
        self.with(|machine| {
            machine.enqueue(stream.0, &[(object, Touching::Write)], label);
            machine.objects[object].released = Some(format!("{label} on {}", NAMES[stream.0]));
            machine.tally.frees += 1;
        });
    }

    /// The host reads or writes an object itself.
    pub fn host(&self, object: usize, access: Touching, label: &str) {
        step();
        self.with(|machine| {
            let completed = machine.completed;
            machine.check(&completed, None, object, access, &format!("{label} by the host"));
            machine.tally.host += 1;
        });
    }

    /// The host waits for an event.
    pub fn synchronize(&self, event: &Event) {
        step();
        self.with(|machine| join(&mut machine.completed, &event.0.2));
    }

    /// The host waits for a stream.
    pub fn synchronize_stream(&self, stream: &Stream) {
        step();
        self.with(|machine| {
            let clock = machine.clocks[stream.0];
            join(&mut machine.completed, &clock);
        });
    }

    /// The host was told that a piece of work is over.
    pub fn must_be_over(&self, stream: &Stream, number: u64, label: &str) {
        self.with(|machine| {
            if machine.completed[stream.0] < number {
                let name = NAMES[stream.0];
                machine.fail(format!("{label} takes number {number} of {name} for finished, and it is not"));
            }
        });
    }

    /// Whether the next call, of which one in so many fails, is to fail.
    pub fn fails(&self, percent: u64) -> bool {
        self.with(|machine| {
            let fails = machine.faults.as_mut().is_some_and(|faults| faults.percent(percent));
            machine.tally.refused += u64::from(fails);
            fails
        })
    }

    pub fn fail(&self, failure: String) {
        self.with(|machine| machine.fail(failure));
    }

    pub fn unreleased(&self) -> usize {
        self.with(|machine| machine.objects.iter().filter(|object| object.released.is_none()).count())
    }
}

impl Machine {
    fn fail(&mut self, failure: String) {
        self.failure.get_or_insert(failure);
    }

    fn happened(&mut self, what: u64) {
        self.digest = (self.digest.rotate_left(5) ^ what).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn enqueue(&mut self, stream: usize, touches: &[(usize, Touching)], label: &str) {
        let completed = self.completed;
        join(&mut self.clocks[stream], &completed);
        let before = self.clocks[stream];
        self.clocks[stream][stream] += 1;
        let number = self.clocks[stream][stream];
        self.tally.work += 1;
        self.happened(stream as u64 * 8 + 1);
        for &(object, access) in touches {
            self.check(&before, Some(stream), object, access, label);
            self.objects[object].last[stream][access as usize] = Some((number, label.to_owned()));
        }
    }

    /// Whether everything that conflicts is over by `clock`.
    fn check(&mut self, clock: &Clock, stream: Option<usize>, object: usize, access: Touching, label: &str) {
        self.tally.checked += 1;
        let on = stream.map_or("", |stream| NAMES[stream]);
        let known = &self.objects[object];
        let mut failure =
            known.released.as_ref().map(|by| format!("{label} on {on} touches object {object} behind {by}"));
        for (other, last) in known.last.iter().enumerate().filter(|(other, _)| Some(*other) != stream) {
            for (kind, last) in [Touching::Read, Touching::Write].into_iter().zip(last) {
                if let Some((number, by)) = last
                    && kind.conflicts_with(access)
                    && *number > clock[other]
                {
                    failure.get_or_insert(format!(
                        "no order on object {object} between\n  {kind:?} by {by} on {} (number {number}), and\n  \
                         {access:?} by {label} on {on}",
                        NAMES[other]
                    ));
                }
            }
        }
        if let Some(failure) = failure {
            self.fail(failure);
        }
    }
}

impl Queues for Device {
    type Stream = Stream;
    type Event = Event;
    type Error = Refused;

    fn record(&self, stream: &Stream) -> Result<Event, Refused> {
        step();
        if self.fails(6) {
            return Err(Refused);
        }
        let event = self.with(|machine| {
            machine.tally.events += 1;
            machine.happened(stream.0 as u64 * 8 + 2);
            let clock = machine.clocks[stream.0];
            Event(Arc::new((stream.0, clock[stream.0], clock)))
        });
        Ok(event)
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<(), Refused> {
        step();
        if self.fails(6) {
            return Err(Refused);
        }
        let (source, number, clock) = &*event.0;
        self.with(|machine| {
            machine.tally.waits += 1;
            machine.happened(stream.0 as u64 * 8 + 3 + *number * 64);
            if *source == stream.0 {
                machine.fail(format!("{} waits for itself", NAMES[stream.0]));
            } else if *number > 0 && machine.awaited[stream.0][*source] >= *number {
                let (waits, other) = (NAMES[stream.0], NAMES[*source]);
                machine.fail(format!("{waits} waits for number {number} of {other} though it did before"));
            }
            machine.awaited[stream.0][*source] = *number;
            join(&mut machine.clocks[stream.0], clock);
        });
        Ok(())
    }
}

//! Who waits for whom: the order of GPU work across streams, graphs and drops.
//!
//! A device has streams; work on one stream happens in order, work on two does not, unless one is told to wait for an
//! event of the other. The [`Ledger`] is told of every piece of work what it touches, and makes the waits, so that
//! **two pieces of work that touch the same memory, one of them writing, are never unordered**, and nothing is released
//! before its last use. There is no CUDA in it: a device is the trait [`Queues`], two calls.
//!
//! ```
//! use dacapo_ledger::{LaneKind, Ledger, Queues, Touch, Touching};
//!
//! struct Device;
//! impl Queues for Device {
//!     type Stream = &'static str;
//!     type Event = String;
//!     type Error = String;
//!     fn record(&self, stream: &&'static str) -> Result<String, String> {
//!         Ok(format!("what is on {stream} so far"))
//!     }
//!     fn wait(&self, stream: &&'static str, event: &String) -> Result<(), String> {
//!         println!("{stream} waits for {event}");
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), String> {
//! let ledger = Ledger::new();
//! let (copies, compute) = (ledger.add_lane("copies", LaneKind::User), ledger.add_lane("compute", LaneKind::User));
//! let input = ledger.add_memory();
//! let mut graph = ledger.add_set(&[(input, Touching::Read)]);
//!
//! ledger.submit(&Device, &copies, Touch::Memory(&[(input, Touching::Write)]), |_| Ok::<_, String>(()))?;
//! // Waits for the copy:
//! let ((), launch) = ledger.submit(&Device, &compute, Touch::Set(&mut graph), |_| Ok::<_, String>(()))?;
//! assert_eq!(launch.position(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # The protocol
//!
//! **What is known** (`records.rs`). Memory knows its last write and the reads since, at most one of each a lane. A
//! graph's memory is a *set*, which knows its last launch. Who looks at memory looks at the last launches of the sets it
//! is in, and *disturbs* those that are on other lanes. A set that nobody disturbed is *clean*: launching it again on the
//! same lane replaces its last launch and looks at nothing else. Where its last launch is and whether it is clean are one
//! atomic word (`set.rs`), which its owner has too: such a launch takes its lane's lock and no other.
//!
//! **A submit** (`submit.rs`), all of it under its lane's lock:
//!
//! 1. under the records' lock: look at what conflicts. What is on the own lane, finished, or already waited for (each
//!    lane remembers how far) is passed over; of each other lane only the latest is kept;
//! 2. if something is left: make the waits, and look again (only if somebody entered a use meanwhile);
//! 3. if nothing is left: *in the same critical section* take the next position of the lane and enter the use;
//! 4. enqueue the work;
//! 5. with two user lanes in use, record an event and add it to the use in the records.
//!
//! Steps 1 to 3 are `try_to_enter`; for a clean launch they are `enter_clean`, with nothing to look at: one exchange of the
//! set's word, which fails if somebody has looked at the set since.
//!
//! **Events.** While one user lane is in use nobody records any. From the second on each submit on a user lane has its
//! own (`wants_event`). What has none (it is older, or on an internal lane, or its event was refused, or it is being
//! enqueued this moment) is *covered* when somebody needs it (`enter_waiting`, `cover`): that one lets go of its own lane,
//! takes the other lane's lock alone, takes the newest event there if it is behind it or records one, and starts over. Where
//! others than the lanes of a ledger wait ([`part_work`](Ledger::part_work)), an event *parts* what is on a lane from
//! other work that comes behind it (`part`), so that a cover is never later than it must be. Such events are also beside the
//! lane's lock (`Lane::parting_behind`): the call that enqueues what is behind one may wait for whoever asks for it.
//!
//! **Several devices.** Ledgers [`beside`](Ledger::beside) each other share what is known, and each counts the lanes of its
//! own device. All of the above holds across them: a lane's lock is the lane's, and the records' lock is one.
//!
//! **Failures.** A refused wait or cover: nothing was enqueued, nothing is entered, and the wait does not count as made.
//! A failed or panicking enqueue: the use stays entered, because part of it may be on the stream; as a write it does not
//! count for who asks who wrote last (`not_made`). A refused event: the
//! work counts, its use has no event, and whoever needs one tries again. Sets that were disturbed stay so: a launch looks
//! once more than it had to.
//!
//! # Why this is safe
//!
//! 1. *Of two conflicting submits, the later one to enter has seen the earlier.* The last look and the entry are one
//!    critical section of the records (`try_to_enter`), or nobody entered a use between them who went through one. A clean
//!    launch goes through none; but the look has disturbed each set that it conflicts with and that is on another lane, in
//!    the step in which it read the set's last launch (`Set::look`, `Word::disturb`). So a clean launch is either before
//!    that step, and the look has seen it; or its exchange fails, and it enters under the records' lock after all. So
//!    either the later one waited for the earlier, or they share a lane, or the earlier is over.
//! 2. *A use that is seen and not yet enqueued is never waited for too early.* A use has no event until its work is on
//!    the stream, and an event for it can be had only under its lane's lock (`record_behind`, `cover`), which its
//!    submitter holds from the entry until the work is there (`enter_and_enqueue`). So an event recorded under that lock
//!    is behind every position that was given out.
//! 3. *What is no longer listed is still ordered.* A write replaces the uses before it, and a read the one before it on
//!    its lane (`Memory::enter`); each waited for what it replaces, or is behind it on the stream. The last launch of a
//!    removed set joins what its members know and replaces nothing (`remove_set`). A launch replaces the one before it
//!    (`Word::launch`, `Word::launch_again`), and always comes after it: same lane, or a wait. Nobody else launches the
//!    set meanwhile: its owner lends it out alone (`&mut UseSet`).
//! 4. *What is passed over is ordered* (`passed_over`). A lane remembers only what it has waited for (`wait`), and its
//!    later work is behind its waits; one event covers its position and all before it. What is finished is over before
//!    anything enqueued later.
//! 5. *A clean launch needs no look*: the invariant and its proof are in `records.rs`.
//! 6. *Nothing is released early.* Removing memory names every last use: its writes, its reads, the last launches of
//!    its sets (`remove_memory`). The owner removes it once nobody can submit with it any more. A released thing is
//!    enqueued behind [`Ledger::order_after`], or after the host saw the uses finish.
//! 7. *Nobody waits for ever.* A lane's lock is outside the records' lock; no thread holds two lanes' locks
//!    (`enter_waiting` lets go of its own before it covers), and none holds the records' lock over a call. A submit
//!    starts over only because another one entered a use: somebody always gets on. A clean launch makes one exchange and,
//!    where that fails, goes the long way once. (One that loses each time may wait long; fairness is the lock's.)
//! 8. *A panic closes nothing.* Locks are taken whether poisoned or not (`sync.rs`); what they protect is complete
//!    whenever code that is not ours runs.
//!
//! | what a caller does instead | what happens |
//! |---|---|
//! | enqueues work beside the ledger | it has no order; the library has one door, and it is `submit` |
//! | says `Read` and writes | no order with other reads: what an op declares is checked above this crate |
//! | calls the ledger inside `enqueue` | a deadlock if it is about a lane; documented, not detected |
//! | removes memory that others still submit with | a panic: "memory is touched only while it is in the ledger", or, where the number was given out again, an order too many |
//! | synchronises a stream and finishes a use that came from `remove_memory` | the use may not have been on the stream: take [`Ledger::event_for`] |
//! | destroys a stream that has a lane | a stream belongs to its lane and goes when no use names it; see [`Queues::Stream`] |
//!
//! # How it is checked
//!
//! - `tests/protocol`: each sentence above on a device that writes down its calls.
//! - `tests/checker`: random programs of four threads over a device with vector clocks, with faults; seeds reproduce.
//! - `tests/loom`: small programs in every interleaving that loom tells apart.
//! - `cargo xtask mutants`: each patch in `xtask/mutants/ledger` breaks one rule of the protocol, and one of the first
//!   two must notice.
#![forbid(unsafe_code)]

mod drops;
mod lane;
mod ledger;
mod queues;
mod records;
mod set;
mod slots;
mod submit;
mod sync;
mod uses;

pub use drops::Drops;
pub use lane::{Lane, LaneKind};
pub use ledger::Ledger;
pub use queues::{Queues, Touch, Touching};
pub use set::UseSet;
#[cfg(all(feature = "baton", not(loom)))]
#[doc(hidden)]
pub use sync::when_locked;
pub use uses::Use;

/// A piece of memory in a ledger. Its number is given out again after it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(u32);

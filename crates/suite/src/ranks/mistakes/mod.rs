//! Programs in which ranks make one mistake, and their near misses.
//!
//! - `<name>.rs` is a body that every rank runs, on a thread and a software device of its own. It makes its mistake, or does the
//!   nearest right thing in its place ([`Way`]); the rest of it is shared, and no line is written twice.
//! - With the mistake, `<name>.stderr` is the whole report: how each rank ended, with the text of its error as a user reads it,
//!   and every finding of the devices. The near miss ends well on every rank, nothing is found, and its numbers are right.
//! - [`Found`] says when a mistake is found.
//!
//! `tests/rank_mistakes.rs` runs them under several seeds, and with each rank late in turn: what is said does not depend on luck.
//! [`programs`](crate::programs) are the same at the level of driver calls.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dacapo::collective::{Join, UniqueId};
use dacapo::{Device, Pod, Result, Slice, Software};

use super::Rank;
use super::run::{self, Ended};
use crate::forms::Failure;
pub use crate::programs::Way;
use crate::programs::Way::{Mistake, NearMiss};

/// What a hang looks like.
const PATIENCE: Duration = Duration::from_secs(60);
/// After which ranks that do not come are missing, where a program waits for that.
const SHORT: Duration = Duration::from_millis(500);
/// The same where nobody waits for it: longer than a busy machine holds up a thread.
const LONG: Duration = Duration::from_secs(30);
/// How much later a rank begins that is late.
const LATE: Duration = Duration::from_millis(20);

/// When a mistake is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// While the communicator is made: an error on every rank that joins, and no finding.
    Joining,
    /// Before anything runs, while ranks make their graphs: an error on every rank, and no finding.
    Recording,
    /// By the rank itself, which says so to the others: an error on every rank, and no finding.
    Told,
    /// As soon as the ranks have met, or one of them has gone: a finding with both sides, and an error on whoever waits.
    Running,
    /// After `Options::rank_patience`: the same.
    Waiting,
}

/// A mistake with its near miss.
#[derive(Clone, Copy)]
pub struct Listed {
    /// The file it stands in.
    pub name: &'static str,
    /// When it is found.
    pub found: Found,
    /// How many ranks it has.
    pub size: usize,
    body: fn(&Side<'_>) -> Result<()>,
    /// The committed report about the mistake.
    pub expected: &'static str,
}

/// What a rank sees.
pub struct Side<'r> {
    /// Whether the mistake is made.
    pub way: Way,
    rank: &'r Rank,
    comparisons: &'r AtomicUsize,
}

impl Deref for Side<'_> {
    type Target = Rank;

    fn deref(&self) -> &Rank {
        self.rank
    }
}

impl Side<'_> {
    /// Whether this is the rank that makes the mistake.
    fn errs(&self, rank: usize) -> bool {
        self.way == Mistake && self.number() == rank
    }

    /// Waits for what is in this memory, and compares it with what should be there. With the mistake nobody looks.
    #[track_caller]
    fn expect<T: Pod + PartialEq + Debug>(&self, memory: &Slice<T>, want: &[T]) -> Result<()> {
        let got = self.stream.read(memory)?;
        if self.way == NearMiss {
            assert_eq!(got, want, "the numbers of rank {}", self.number());
            self.comparisons.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// An id that rank 0 has made, told to all by the communicator that there is.
    fn new_id(&self) -> Result<UniqueId> {
        let id = if self.number() == 0 { UniqueId::new(&self.device)?.to_bytes() } else { [0; 128] };
        let mut told = self.device.buffer(&id)?;
        self.stream.run(self.comm.broadcast(&mut told, 0))?;
        let told = self.stream.read(&told)?;
        Ok(UniqueId::from_bytes(told.try_into().expect("as many bytes as were sent")))
    }

    /// Does something else for so long that the communicator is dead behind it.
    fn does_something_else(&self) {
        while self.comm.death().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What came of a program.
#[derive(Debug)]
pub struct Ran {
    /// Of each rank in order, how it ended; then what was found, and what is left. As a report has it.
    pub events: Vec<String>,
    /// Whether every rank ended well, nothing was found, and nothing is left.
    pub is_well: bool,
    /// Ranks that have not ended.
    pub hang: usize,
    /// How many findings there are.
    pub findings: usize,
    /// How often numbers were compared.
    pub comparisons: usize,
}

impl Listed {
    /// Runs every rank, on software devices of this seed; rank `late` begins later than the others.
    ///
    /// # Errors
    ///
    /// - The devices do not open.
    pub fn run(&self, way: Way, seed: u64, late: Option<usize>) -> Result<Ran> {
        let waits = matches!(self.found, Found::Joining | Found::Waiting);
        let patience = if way == Mistake && waits { SHORT } else { LONG };
        let software = Software::new().seed(seed).options(|options| options.rank_patience = patience);
        let devices = software.open_group(self.size)?;
        let comparisons = Arc::new(AtomicUsize::new(0));
        let (body, count) = (self.body, comparisons.clone());
        let every_rank = move |rank: &Rank| {
            if late == Some(rank.number()) {
                std::thread::sleep(LATE);
            }
            // What a user reads who unwraps it.
            body(&Side { way, rank, comparisons: &count }).map_err(|error| Failure(format!("{error:?}")))
        };
        let ended = run::all_ranks(every_rank, &devices, vec![Join::new().timeout(LONG); self.size], PATIENCE);
        Ok(ran(&ended, &devices, comparisons.load(Ordering::Relaxed)))
    }
}

fn ran(ended: &[Ended], devices: &[Device], comparisons: usize) -> Ran {
    let said = |(rank, ended): (usize, &Ended)| match ended.said() {
        None => format!("rank {rank} ended well"),
        Some(said) => format!("rank {rank} ended with\n{said}"),
    };
    let mut events: Vec<String> = ended.iter().enumerate().map(said).collect();
    // They are of one machine: what one of them has found is what all have.
    let findings = devices.first().map(Device::findings).unwrap_or_default();
    events.extend(findings.iter().map(|finding| format!("found\n{finding}")));
    let hang = ended.iter().filter(|ended| **ended == Ended::Hangs).count();
    let left = if hang == 0 { run::left(devices) } else { Vec::new() };
    let is_well = ended.iter().all(|ended| *ended == Ended::Well) && findings.is_empty() && left.is_empty();
    events.extend(left);
    Ran { events, is_well, hang, findings: findings.len(), comparisons }
}

/// The one list of the programs, by when their mistake is found, each with its number of ranks: hands it to the macro that is
/// named.
#[macro_export]
macro_rules! for_each_rank_mistake {
    ($consume:ident) => {
        $consume! {
            Joining {
                does_not_join: 2,
                joins_as_the_same_rank: 2,
                joins_with_another_size: 2,
            }
            Recording {
                another_kind: 2,
                another_length: 2,
                another_order: 2,
                another_reduction: 3,
                another_root: 2,
                another_type: 2,
                bucket_never_finished: 2,
                buckets_of_another_size: 2,
                one_fewer: 2,
            }
            Told {
                aborts: 2,
            }
            Running {
                both_send_first: 2,
                eager_another_length: 2,
                eager_another_order: 2,
                eager_another_root: 3,
                in_a_branch: 2,
                leaves_early: 2,
                memory_of_another_device: 2,
                nothing_to_compare: 2,
                one_launch_more: 2,
                recv_of_another_length: 2,
                threads_in_another_order: 2,
            }
            Waiting {
                comes_too_late: 2,
                two_communicators: 2,
            }
        }
    };
}

macro_rules! list {
    ($($found:ident { $($name:ident: $size:literal),* $(,)? })*) => {
        $($( mod $name; )*)*

        /// Every program.
        pub const LISTED: &[Listed] = &[$($(Listed {
            name: stringify!($name),
            found: Found::$found,
            size: $size,
            body: $name::program,
            expected: include_str!(concat!(stringify!($name), ".stderr")),
        },)*)*];
    };
}

for_each_rank_mistake!(list);

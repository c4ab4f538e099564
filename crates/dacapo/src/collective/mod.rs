//! Collectives over several GPUs as ops: typed, ordered, kept alive, recorded and replayed like any other.
//!
//! ```
//! use dacapo::collective::{Communicator, Reduce};
//! use dacapo::Device;
//!
//! /// What every rank does. It owns its communicator: if it ends early, the others are told.
//! fn rank(comm: Communicator) -> dacapo::Result<Vec<f32>> {
//!     let (device, stream) = (comm.device(), comm.device().stream()?);
//!     let x = device.buffer(&[1.0f32, 2.0])?;
//!     let mut sum = device.zeros::<f32>(2)?;
//!     let mut graph = device.record(comm.all_reduce(&x, &mut sum, Reduce::Sum))?;
//!     graph.launch(&stream)?;
//!     stream.read(&sum)
//! }
//!
//! # fn main() -> dacapo::Result<()> {
//! let devices = Device::software_group(2)?; // or Device::cuda(0)?, Device::cuda(1)?
//! let ranks = Communicator::all(&devices)?;
//! let running: Vec<_> = ranks.into_iter().map(|comm| std::thread::spawn(move || rank(comm))).collect();
//! for running in running {
//!     assert_eq!(running.join().expect("no rank panics")?, [2.0, 4.0]);
//! }
//! # Ok(()) }
//! ```
//!
//! - **Each rank is driven by a thread or a process of its own**, because the calls of one rank wait for those of the others:
//!   making a communicator, making a graph (below), and reading what a collective has written.
//! - **NCCL is found at run time**: `libnccl.so.2` where the loader looks, else in the toolkit's `lib64`, else in the active
//!   Python or conda environment, in its `lib` or in a wheel; `DACAPO_LIBNCCL` names a file instead. Version 2.14 or later.
//! - **On software devices the collectives are ours**, between threads of one process or several processes, with every detector.
//!   Sums are taken in the order of the ranks.
//!
//! # The order of collectives
//!
//! Every rank must do the collectives of one communicator in the same order. Inside a graph that is the order in which they were
//! recorded; between graphs, eager runs and streams it is the order of the calls that launch them. What one rank orders, the
//! others must order alike; so before a recording becomes a graph, the ranks compare what they have recorded. If they differ,
//! recording fails on all of them with the first collective that differs ([`ErrorKind::RanksDiffer`]). That is one small
//! collective for each recording that has collectives; [`Join::without_agreement`] switches it off. What two ranks do with each
//! other (`send`, `recv`) is not compared.
//!
//! # When a rank dies
//!
//! A communicator dies when its rank calls [`abort`](Communicator::abort), when NCCL reports an error in the background, or when
//! something of it is in flight for longer than its [`timeout`](Join::timeout). Then it is aborted, so that nothing hangs, and
//! every call that needs it answers [`ErrorKind::RankFailed`] with what happened and which launches were in flight: waiting for
//! such a launch, launching its graphs again, recording with it. What such a launch should have written has no defined value.
//! Graphs, memory and streams that have nothing to do with it go on; a stream on which such a launch was in flight answers every
//! call with the error from then on.
//!
//! Then it dies on the other ranks too. In the same process: at most about a second later, whatever NCCL says. In other
//! processes it depends on NCCL: over the network NCCL notices a closed connection; between processes on one machine it may say
//! nothing, and the others end at their [`timeout`](Join::timeout). On software devices everybody is told at once, in other
//! processes too.
//!
//! # Why this is safe
//!
//! 1. A collective is recorded as foreign work: it touches what it declares, whose lengths are compared with the number of ranks,
//!    and the recording holds all of it.
//! 2. All collectives of a communicator write one word of device memory that nobody else can name. So two of them always have
//!    an order on the device, whatever graphs, threads and streams they come from.
//! 3. Its work holds the communicator. It leaves NCCL when neither the user, nor a graph, nor work in flight needs it.
//! 4. What is captured is captured alone, in relaxed mode, on a stream that nobody else can name: neither NCCL's threads nor
//!    those of the program can break it, and if something does the graph is built again.
//!
//! | who does something else | what happens |
//! |---|---|
//! | ranks that record other collectives | `RanksDiffer`, before anything runs |
//! | ranks that run other collectives eagerly | on software devices `RankFailed` and a finding, with both sides; NCCL may hang: then the timeout |
//! | a rank that never comes, or ends | `RankFailed`; with NCCL perhaps only after the timeout |
//! | lengths that do not fit the number of ranks | `Length`, when the op is recorded or run |
//! | dropping the communicator before its graphs | nothing: they hold it |
//! | two threads with one communicator | the order in which they launch; other ranks must have the same |
//!
//! [`ErrorKind::RanksDiffer`]: crate::ErrorKind::RanksDiffer
//! [`ErrorKind::RankFailed`]: crate::ErrorKind::RankFailed

mod agree;
mod bucketed;
mod call;
mod communicator;
mod family;
mod gather;
mod group;
mod id;
mod join;
mod launcher;
mod library;
mod member;
mod number;
mod transfer;
mod watch;

pub use bucketed::Bucketed;
pub use communicator::Communicator;
pub use group::Group;
pub use id::UniqueId;
pub use join::Join;
pub use launcher::Launcher;
pub use number::{Number, Reduce};

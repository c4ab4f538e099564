//! What the user holds of a communicator, and its collectives.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::collective::call::Written;
use crate::collective::group::Group;
use crate::collective::join::Join;
use crate::collective::member::Member;
use crate::collective::number::{Number, Reduce};
use crate::collective::{Bucketed, UniqueId};
use crate::device::Device;
use crate::element::Pod;
use crate::error::{Error, Result};
use crate::memory::Slice;
use crate::record::{Op, Recorder};

/// One rank of several that work together. Clones are the same rank.
///
/// Its methods are ops: run them on a stream or record them. They take memory of the rank's own device.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::collective::{Communicator, Reduce};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let comm = Communicator::alone(&device)?; // one rank: for a program that may have several
/// let mut x = device.buffer(&[3.0f32, 4.0])?;
/// stream.run(comm.all_reduce_in_place(&mut x, Reduce::Average))?;
/// assert_eq!(stream.read(&x)?, [3.0, 4.0]);
/// # Ok(()) }
/// ```
///
/// An op borrows its memory until it is run or recorded:
///
/// ```compile_fail,E0502
/// # fn main() -> dacapo::Result<()> {
/// # use dacapo::collective::{Communicator, Reduce};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// # let comm = Communicator::alone(&device)?;
/// # let mut x = device.buffer(&[3.0f32, 4.0])?;
/// let op = comm.all_reduce_in_place(&mut x, Reduce::Sum);
/// stream.read(&x)?; // not while `op` has it
/// stream.run(op)
/// # }
/// ```
#[doc(alias = "ncclComm_t")]
#[doc(alias = "ProcessGroup")]
#[derive(Clone)]
pub struct Communicator(pub(super) Arc<Member>);

impl Communicator {
    /// One rank for each of these devices, all in this process: the first is rank 0.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotJoined`](crate::ErrorKind::NotJoined): no device, one twice, or a rank that could not join.
    /// - [`ErrorKind::NoLibrary`](crate::ErrorKind::NoLibrary): NCCL was not found.
    #[doc(alias = "ncclCommInitAll")]
    #[track_caller]
    pub fn all(devices: &[Device]) -> Result<Vec<Communicator>> {
        Join::new().all(devices)
    }

    /// The only rank.
    ///
    /// # Errors
    ///
    /// - As [`all`](Communicator::all).
    #[track_caller]
    pub fn alone(device: &Device) -> Result<Communicator> {
        let id = UniqueId::new(device)?;
        Communicator::join(device, &id, 0, 1)
    }

    /// Rank `rank` of `size`, where every rank calls this with the same id, from a thread or process of its own. Waits for all.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotJoined`](crate::ErrorKind::NotJoined): the rank is not below `size`, is there twice, or not all came in time.
    /// - [`ErrorKind::NoLibrary`](crate::ErrorKind::NoLibrary): NCCL was not found.
    #[doc(alias = "ncclCommInitRank")]
    #[track_caller]
    pub fn join(device: &Device, id: &UniqueId, rank: usize, size: usize) -> Result<Communicator> {
        Join::new().join(device, id, rank, size)
    }

    /// This rank's number.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// The rank's device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// What killed it; `None` as long as it is alive.
    pub fn death(&self) -> Option<&Error> {
        self.0.death()
    }

    /// Ends it now, for this rank: what is in flight ends without a result, and every later call answers with this reason.
    ///
    /// Then it dies on the other ranks too: in the same process at most about a second later; in other processes when NCCL
    /// notices it, else at their [`timeout`](Join::timeout). On software devices all are told at once.
    #[doc(alias = "ncclCommAbort")]
    pub fn abort(&self, why: &str) {
        self.0.die_saying(format!("it was aborted: {why}"));
    }

    /// `target` is the reduction of all ranks' `source`, on every rank.
    #[doc(alias = "ncclAllReduce")]
    #[track_caller]
    pub fn all_reduce<'a, T: Number>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
    ) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::all_reduce(source, target, reduce))
    }

    /// `data` becomes the reduction of all ranks' `data`, on every rank.
    #[track_caller]
    pub fn all_reduce_in_place<'a, T: Number>(
        &self,
        data: &'a mut Slice<T>,
        reduce: Reduce,
    ) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::all_reduce_in_place(data, reduce))
    }

    /// `target` is the reduction of all ranks' `source`, on rank `root` only.
    ///
    /// On the other ranks `target` is not written, but must still be as long as `source`.
    #[doc(alias = "ncclReduce")]
    #[track_caller]
    pub fn reduce<'a, T: Number>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
        root: usize,
    ) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::reduce(self, source, target, reduce, root))
    }

    /// The reduction of all ranks' `source`, cut into as many parts as there are ranks: this rank's `target` is its part.
    ///
    /// `source` has `target.len() * size()` elements.
    #[doc(alias = "ncclReduceScatter")]
    #[track_caller]
    pub fn reduce_scatter<'a, T: Number>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
    ) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::reduce_scatter(self, source, target, reduce))
    }

    /// `target` is all ranks' `source`, one after the other.
    ///
    /// `target` has `source.len() * size()` elements.
    #[doc(alias = "ncclAllGather")]
    #[track_caller]
    pub fn all_gather<'a, T: Pod>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
    ) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::all_gather(self, source, target))
    }

    /// `data` becomes that of rank `root`, on every rank.
    #[doc(alias = "ncclBroadcast")]
    #[track_caller]
    pub fn broadcast<'a, T: Pod>(&self, data: &'a mut Slice<T>, root: usize) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::broadcast(self, data, root))
    }

    /// `source` is cut into as many parts as there are ranks: part `i` goes to rank `i`, and part `i` of `target` comes from it.
    ///
    /// `source` and `target` have the same length, a multiple of `size()`.
    #[doc(alias = "ncclAlltoAll")]
    #[track_caller]
    pub fn all_to_all<'a, T: Pod>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
    ) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::all_to_all(self, source, target))
    }

    /// Sends `source` to rank `to`, which must [`recv`](Communicator::recv) as many elements. Two ranks that send to each other
    /// do it in a [`group`](Communicator::group).
    #[doc(alias = "ncclSend")]
    #[track_caller]
    pub fn send<'a, T: Pod>(&self, source: &'a Slice<T>, to: usize) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::send(self, source, to).not_with_itself(self, to))
    }

    /// Receives what rank `from` [`send`](Communicator::send)s.
    #[doc(alias = "ncclRecv")]
    #[track_caller]
    pub fn recv<'a, T: Pod>(&self, target: &'a mut Slice<T>, from: usize) -> impl Op<Out = ()> + use<'a, T> {
        self.op(Written::recv(self, target, from).not_with_itself(self, from))
    }

    /// Several calls that begin together, as one op: two ranks that send to each other, or small calls at the price of one.
    #[doc(alias = "ncclGroupStart")]
    #[track_caller]
    pub fn group<'a>(&self) -> Group<'a> {
        Group::new(self, Location::caller())
    }

    /// Collects pieces; as soon as they have at least `bytes` bytes, one all-reduce of them is recorded. For gradients.
    ///
    /// A piece is never split, so a bucket may be larger. All ranks must use the same `bytes`.
    #[doc(alias = "DistributedDataParallel")]
    #[track_caller]
    pub fn bucketed(&self, bytes: usize, reduce: Reduce) -> Bucketed {
        Bucketed::new(self, bytes, reduce, Location::caller())
    }

    #[track_caller]
    fn op(&self, call: Written) -> impl Op<Out = ()> + use<> {
        let (Written { name, checked, transfer }, at) = (call, Location::caller());
        let op = transfer.op(self.0.clone(), name, at);
        move |recorder: &mut Recorder<'_>| {
            checked.map_err(|error| error.of(name, recorder.label(), at))?;
            recorder.run(op)
        }
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let life = if self.0.expect_alive().is_ok() { "" } else { ", dead" };
        write!(f, "Communicator(rank {} of {}{life})", self.rank(), self.size())
    }
}

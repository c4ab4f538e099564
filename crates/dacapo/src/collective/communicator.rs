//! What the user holds of a communicator, and its collectives.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::collective::group::Group;
use crate::collective::join::Join;
use crate::collective::member::Member;
use crate::collective::number::{Number, Reduce};
use crate::collective::transfer::{Kind, Transfer};
use crate::collective::{Bucketed, UniqueId};
use crate::device::Device;
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Access, Slice};
use crate::record::Op;

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
    /// - [`ErrorKind::NotJoined`]: no device, one twice, or a rank that could not join.
    /// - [`ErrorKind::NoLibrary`]: NCCL was not found.
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
    /// - [`ErrorKind::NotJoined`]: the rank is not below `size`, is there twice, or not all came in time.
    /// - [`ErrorKind::NoLibrary`]: NCCL was not found.
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

    /// Ends it now, for this rank: what is in flight ends without a result, every later call answers with this reason, and the
    /// other ranks' communicators die.
    #[doc(alias = "ncclCommAbort")]
    pub fn abort(&self, why: &str) {
        self.0.die(format!("it was aborted: {why}"));
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
        let checked = lengths("all_reduce", ("source", source.len()), ("target", target.len()));
        let count = source.len();
        self.made("all_reduce", checked, Transfer::reducing(Kind::AllReduce(reduce), source, Some(target), count))
    }

    /// `data` becomes the reduction of all ranks' `data`, on every rank.
    #[track_caller]
    pub fn all_reduce_in_place<'a, T: Number>(
        &self,
        data: &'a mut Slice<T>,
        reduce: Reduce,
    ) -> impl Op<Out = ()> + use<'a, T> {
        let count = data.len();
        self.made("all_reduce", Ok(()), Transfer::reducing_in_place(Kind::AllReduce(reduce), data, count))
    }

    /// `target` is the reduction of all ranks' `source`, on rank `root` only: elsewhere it is not written, and is `source` in
    /// size all the same.
    #[doc(alias = "ncclReduce")]
    #[track_caller]
    pub fn reduce<'a, T: Number>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
        root: usize,
    ) -> impl Op<Out = ()> + use<'a, T> {
        let checked = lengths("reduce", ("source", source.len()), ("target", target.len()))
            .and_then(|()| self.expect_rank("reduce", root));
        let (kind, count) = (Kind::Reduce(reduce, root), source.len());
        let transfer = match self.rank() == root {
            true => Transfer::reducing(kind, source, Some(target), count),
            // NCCL does not look at the target of another rank.
            false => Transfer::reducing(kind, source, None, count),
        };
        self.made("reduce", checked, transfer)
    }

    /// The reduction of all ranks' `source`, cut into as many parts as there are ranks: this rank's `target` is its part.
    #[doc(alias = "ncclReduceScatter")]
    #[track_caller]
    pub fn reduce_scatter<'a, T: Number>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
    ) -> impl Op<Out = ()> + use<'a, T> {
        let (name, count) = ("reduce_scatter", target.len());
        let checked = lengths(name, ("source", source.len()), ("target, for every rank", count * self.size()));
        self.made(name, checked, Transfer::reducing(Kind::ReduceScatter(reduce), source, Some(target), count))
    }

    /// `target` is all ranks' `source`, one after the other.
    #[doc(alias = "ncclAllGather")]
    #[track_caller]
    pub fn all_gather<'a, T: Pod>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
    ) -> impl Op<Out = ()> + use<'a, T> {
        let (name, count) = ("all_gather", source.len());
        let checked = lengths(name, ("source, of every rank", count * self.size()), ("target", target.len()));
        self.made(name, checked, Transfer::moving(Kind::AllGather, source, target, count))
    }

    /// `data` becomes that of rank `root`, on every rank.
    #[doc(alias = "ncclBroadcast")]
    #[track_caller]
    pub fn broadcast<'a, T: Pod>(&self, data: &'a mut Slice<T>, root: usize) -> impl Op<Out = ()> + use<'a, T> {
        let checked = self.expect_rank("broadcast", root);
        let access = match self.rank() == root {
            true => Access::write("data", data),
            false => Access::out("data", data),
        };
        let count = data.len();
        self.made("broadcast", checked, Transfer::of_bytes::<T>(Kind::Broadcast(root), vec![access], count))
    }

    /// `source` is cut into as many parts as there are ranks: part `i` goes to rank `i`, and part `i` of `target` comes from it.
    #[doc(alias = "ncclAlltoAll")]
    #[track_caller]
    pub fn all_to_all<'a, T: Pod>(
        &self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
    ) -> impl Op<Out = ()> + use<'a, T> {
        let name = "all_to_all";
        let part = source.len() / self.size();
        let checked = lengths(name, ("source", source.len()), ("target", target.len()))
            .and_then(|()| lengths(name, ("source", source.len()), ("a part, for every rank", part * self.size())));
        self.made(name, checked, Transfer::moving(Kind::AllToAll, source, target, part))
    }

    /// Sends `source` to rank `to`, which must [`recv`](Communicator::recv) as many elements. Two ranks that send to each other
    /// do it in a [`group`](Communicator::group).
    #[doc(alias = "ncclSend")]
    #[track_caller]
    pub fn send<'a, T: Pod>(&self, source: &'a Slice<T>, to: usize) -> impl Op<Out = ()> + use<'a, T> {
        let checked = self.expect_other("send", to);
        let access = vec![Access::read("source", source)];
        self.made("send", checked, Transfer::of_bytes::<T>(Kind::Send(to), access, source.len()))
    }

    /// Receives what rank `from` [`send`](Communicator::send)s.
    #[doc(alias = "ncclRecv")]
    #[track_caller]
    pub fn recv<'a, T: Pod>(&self, target: &'a mut Slice<T>, from: usize) -> impl Op<Out = ()> + use<'a, T> {
        let checked = self.expect_other("recv", from);
        let (access, count) = (vec![Access::out("target", target)], target.len());
        self.made("recv", checked, Transfer::of_bytes::<T>(Kind::Recv(from), access, count))
    }

    /// Several calls that begin together, as one op: two ranks that send to each other, or small calls at the price of one.
    #[doc(alias = "ncclGroupStart")]
    #[track_caller]
    pub fn group<'a>(&self) -> Group<'a> {
        Group::new(self, Location::caller())
    }

    /// All-reduces of many small pieces, joined until they have so many bytes: for gradients.
    #[doc(alias = "DistributedDataParallel")]
    #[track_caller]
    pub fn bucketed(&self, bytes: usize, reduce: Reduce) -> Bucketed {
        Bucketed::new(self, bytes, reduce, Location::caller())
    }

    /// The op of one call; what is wrong with its arguments is told when it is recorded.
    #[track_caller]
    fn made(&self, name: &'static str, checked: Result<()>, transfer: Transfer) -> impl Op<Out = ()> + use<> {
        let (op, at) = (transfer.op(self.0.clone(), name, Location::caller()), Location::caller());
        move |recorder: &mut crate::record::Recorder<'_>| {
            checked.map_err(|error| error.of(name, recorder.label(), at))?;
            recorder.run(op)
        }
    }

    pub(super) fn expect_rank(&self, what: &'static str, rank: usize) -> Result<()> {
        match rank < self.size() {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Rank { what, rank, size: self.size() })),
        }
    }

    /// As above, and another rank: alone, without a group, a rank that sends to itself would wait for itself.
    fn expect_other(&self, what: &'static str, rank: usize) -> Result<()> {
        self.expect_rank(what, rank)?;
        match rank != self.rank() {
            true => Ok(()),
            false => Err(Error::msg(format!(
                "`{what}` names the rank's own number, {rank}, and would wait for itself: put both sides into one `group()`, \
                 or use `copy`"
            ))),
        }
    }
}

/// # Errors
///
/// - The lengths differ.
pub(super) fn lengths(what: &'static str, left: (&'static str, usize), right: (&'static str, usize)) -> Result<()> {
    if left.1 == right.1 { Ok(()) } else { Err(Error::lengths(what, [left, right], "elements")) }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let life = if self.0.expect_alive().is_ok() { "" } else { ", dead" };
        write!(f, "Communicator(rank {} of {}{life})", self.rank(), self.size())
    }
}

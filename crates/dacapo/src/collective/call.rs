//! A call as it was written: what it moves, and what is wrong with it.

use crate::collective::Communicator;
use crate::collective::number::{Number, Reduce};
use crate::collective::transfer::{Kind, Transfer};
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Access, Slice};

/// One call of a communicator, alone or in a group. What is wrong with its arguments is told when it is recorded.
pub(super) struct Written {
    pub(super) name: &'static str,
    pub(super) checked: Result<()>,
    pub(super) transfer: Transfer,
}

impl Written {
    pub(super) fn all_reduce<T: Number>(source: &Slice<T>, target: &mut Slice<T>, reduce: Reduce) -> Written {
        let (name, count) = ("all_reduce", source.len());
        let checked = lengths(name, ("source", count), ("target", target.len()));
        Written { name, checked, transfer: Transfer::reducing(Kind::AllReduce(reduce), source, Some(target), count) }
    }

    pub(super) fn all_reduce_in_place<T: Number>(data: &mut Slice<T>, reduce: Reduce) -> Written {
        let count = data.len();
        let transfer = Transfer::reducing_in_place(Kind::AllReduce(reduce), data, count);
        Written { name: "all_reduce", checked: Ok(()), transfer }
    }

    pub(super) fn reduce<T: Number>(
        comm: &Communicator,
        source: &Slice<T>,
        target: &mut Slice<T>,
        reduce: Reduce,
        root: usize,
    ) -> Written {
        let (name, kind, count) = ("reduce", Kind::Reduce(reduce, root), source.len());
        let checked =
            lengths(name, ("source", count), ("target", target.len())).and_then(|()| expect_rank(comm, name, root));
        // NCCL does not look at the target of another rank.
        let target = (comm.rank() == root).then_some(target);
        Written { name, checked, transfer: Transfer::reducing(kind, source, target, count) }
    }

    pub(super) fn reduce_scatter<T: Number>(
        comm: &Communicator,
        source: &Slice<T>,
        target: &mut Slice<T>,
        reduce: Reduce,
    ) -> Written {
        let (name, count) = ("reduce_scatter", target.len());
        let checked =
            lengths(name, ("source", source.len()), ("target, for every rank", count.saturating_mul(comm.size())));
        Written {
            name,
            checked,
            transfer: Transfer::reducing(Kind::ReduceScatter(reduce), source, Some(target), count),
        }
    }

    pub(super) fn all_gather<T: Pod>(comm: &Communicator, source: &Slice<T>, target: &mut Slice<T>) -> Written {
        let (name, count) = ("all_gather", source.len());
        let checked =
            lengths(name, ("source, of every rank", count.saturating_mul(comm.size())), ("target", target.len()));
        Written { name, checked, transfer: Transfer::moving(Kind::AllGather, source, target, count) }
    }

    pub(super) fn broadcast<T: Pod>(comm: &Communicator, data: &mut Slice<T>, root: usize) -> Written {
        let (name, count) = ("broadcast", data.len());
        let access = match comm.rank() == root {
            true => Access::write("data", data),
            false => Access::out("data", data),
        };
        let transfer = Transfer::moving_one::<T>(Kind::Broadcast(root), vec![access], count);
        Written { name, checked: expect_rank(comm, name, root), transfer }
    }

    pub(super) fn all_to_all<T: Pod>(comm: &Communicator, source: &Slice<T>, target: &mut Slice<T>) -> Written {
        let (name, part) = ("all_to_all", source.len() / comm.size());
        let checked = lengths(name, ("source", source.len()), ("target", target.len()))
            .and_then(|()| lengths(name, ("source", source.len()), ("a part, for every rank", part * comm.size())));
        Written { name, checked, transfer: Transfer::moving(Kind::AllToAll, source, target, part) }
    }

    pub(super) fn send<T: Pod>(comm: &Communicator, source: &Slice<T>, to: usize) -> Written {
        let transfer = Transfer::moving_one::<T>(Kind::Send(to), vec![Access::read("source", source)], source.len());
        Written { name: "send", checked: expect_rank(comm, "send", to), transfer }
    }

    pub(super) fn recv<T: Pod>(comm: &Communicator, target: &mut Slice<T>, from: usize) -> Written {
        let (count, access) = (target.len(), vec![Access::out("target", target)]);
        let transfer = Transfer::moving_one::<T>(Kind::Recv(from), access, count);
        Written { name: "recv", checked: expect_rank(comm, "recv", from), transfer }
    }

    /// A `send` or `recv` without a group: one with the rank itself would wait for itself.
    pub(super) fn not_with_itself(self, comm: &Communicator, rank: usize) -> Written {
        let Written { name, checked, transfer } = self;
        let checked = checked.and_then(|()| match rank != comm.rank() {
            true => Ok(()),
            false => Err(Error::msg(format!(
                "`{name}` names the rank's own number, {rank}, and would wait for itself: put both sides into one `group()`, \
                 or use `copy`"
            ))),
        });
        Written { name, checked, transfer }
    }
}

/// # Errors
///
/// - The lengths differ.
fn lengths(what: &'static str, left: (&'static str, usize), right: (&'static str, usize)) -> Result<()> {
    if left.1 == right.1 { Ok(()) } else { Err(Error::lengths(what, [left, right], "elements")) }
}

/// # Errors
///
/// - There is no such rank.
fn expect_rank(comm: &Communicator, what: &'static str, rank: usize) -> Result<()> {
    match rank < comm.size() {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Rank { what, rank, size: comm.size() })),
    }
}

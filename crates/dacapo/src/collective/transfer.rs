//! One collective call as data: what is read and written, and how NCCL is told.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use dacapo_nccl::NcclCall;
use dacapo_nccl::types::{c_int, c_void, ncclDataType};

use crate::collective::member::{Member, OpenGroup};
use crate::collective::number::{Moved, Number, OWN, Reduce};
use crate::device::RawStream;
use crate::element::Pod;
use crate::error::Result;
use crate::memory::{Access, Accesses, Extent, Mode, Slice};
use crate::record::{ForeignWork, Joint, Node, Op, Work};

/// Which call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    AllReduce(Reduce),
    Reduce(Reduce, usize),
    ReduceScatter(Reduce),
    AllGather,
    Broadcast(usize),
    /// To each rank an equal part of the source, from each rank one of the target.
    AllToAll,
    Send(usize),
    Recv(usize),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::AllReduce(_) => f.write_str("all_reduce"),
            Kind::Reduce(..) => f.write_str("reduce"),
            Kind::ReduceScatter(_) => f.write_str("reduce_scatter"),
            Kind::AllGather => f.write_str("all_gather"),
            Kind::Broadcast(_) => f.write_str("broadcast"),
            Kind::AllToAll => f.write_str("all_to_all"),
            Kind::Send(_) => f.write_str("send"),
            Kind::Recv(_) => f.write_str("recv"),
        }
    }
}

/// One call: its memory is held by its accesses.
#[derive(Clone)]
pub(super) struct Transfer {
    kind: Kind,
    /// Elements: what the user has.
    count: usize,
    datatype: ncclDataType,
    /// How many of NCCL's elements one of them is.
    unit: usize,
    /// Bytes of one.
    element: usize,
    type_name: &'static str,
    /// The source, then the target; one of them alone where there is only one, or where they are the same.
    access: Vec<Access>,
}

impl Transfer {
    /// A call that computes.
    pub(super) fn reducing<T: Number>(
        kind: Kind,
        source: &Slice<T>,
        target: Option<&mut Slice<T>>,
        count: usize,
    ) -> Transfer {
        let mut access = vec![Access::read("source", source)];
        access.extend(target.map(|target| Access::out("target", target)));
        Transfer::of_numbers::<T>(kind, access, count)
    }

    /// A call that computes where its numbers lie.
    pub(super) fn reducing_in_place<T: Number>(kind: Kind, data: &mut Slice<T>, count: usize) -> Transfer {
        Transfer::of_numbers::<T>(kind, vec![Access::write("data", data)], count)
    }

    fn of_numbers<T: Number>(kind: Kind, access: Vec<Access>, count: usize) -> Transfer {
        Transfer { kind, count, datatype: T::TYPE, unit: 1, element: size_of::<T>(), type_name: T::NAME, access }
    }

    /// A call that only moves elements of any type.
    pub(super) fn moving<T: Pod>(kind: Kind, source: &Slice<T>, target: &mut Slice<T>, count: usize) -> Transfer {
        Transfer::moving_one::<T>(kind, vec![Access::read("source", source), Access::out("target", target)], count)
    }

    /// The same with one place: a `send`, a `recv`, or a `broadcast`.
    pub(super) fn moving_one<T: Pod>(kind: Kind, access: Vec<Access>, count: usize) -> Transfer {
        let Moved { datatype, unit, name } = Moved::of::<T>();
        Transfer { kind, count, datatype, unit, element: size_of::<T>(), type_name: name, access }
    }

    /// Numbers of every rank that the library itself asks for.
    pub(super) fn own(source: &Slice<u64>, target: &mut Slice<u64>) -> Transfer {
        let unit = size_of::<u64>();
        Transfer { datatype: OWN, unit, ..Transfer::moving(Kind::AllGather, source, target, source.len()) }
    }

    /// What all ranks must do alike; `None` where they need not.
    fn alike(&self) -> Option<String> {
        let Transfer { kind, count, type_name, .. } = self;
        match kind {
            Kind::Send(_) | Kind::Recv(_) => None,
            Kind::AllReduce(reduce) | Kind::ReduceScatter(reduce) => {
                Some(format!("{kind} of {count} {type_name}, {reduce}"))
            }
            Kind::Reduce(reduce, root) => Some(format!("{kind} of {count} {type_name}, {reduce}, to rank {root}")),
            Kind::Broadcast(root) => Some(format!("{kind} of {count} {type_name} from rank {root}")),
            Kind::AllGather | Kind::AllToAll => Some(format!("{kind} of {count} {type_name}")),
        }
    }

    /// Whether nobody has to do anything, or to know of it.
    fn is_nothing(&self) -> bool {
        self.count * self.element == 0 && self.alike().is_none()
    }

    /// Whether it touches a byte of this place.
    pub(super) fn touches(&self, place: &Extent) -> bool {
        self.access.iter().any(|access| access.place.overlaps(place))
    }

    /// Makes the call. The places are those of its accesses, in their order.
    ///
    /// # Safety
    ///
    /// - The places are those of the accesses, and stay valid until the work on the stream is over.
    /// - The stream is of the member's device.
    unsafe fn enqueue(
        &self,
        member: &Member,
        stream: RawStream,
        places: &mut dyn Iterator<Item = (u64, usize)>,
    ) -> Result<()> {
        let mut next = || places.next().map_or(0, |(address, _)| address);
        let first = next();
        let second = if self.access.len() > 1 { next() } else { first };
        let (send, recv) = (first as usize as *const c_void, second as usize as *mut c_void);
        let (count, datatype, stream) = (self.count * self.unit, self.datatype, stream.0);
        let peer = |rank: usize| rank as c_int;
        // SAFETY: both places are inside their allocations and as long as the call needs: lengths were compared with the number
        // of ranks when the op was made. They stay until the work is over, as the caller promises. The handle is alive:
        // `call` asks.
        unsafe {
            match self.kind {
                Kind::AllReduce(reduce) => member.call(NcclCall::ncclAllReduce, |nccl, comm| {
                    nccl.ncclAllReduce(send, recv, count, datatype, reduce.raw(), comm, stream)
                }),
                Kind::Reduce(reduce, root) => member.call(NcclCall::ncclReduce, |nccl, comm| {
                    nccl.ncclReduce(send, recv, count, datatype, reduce.raw(), peer(root), comm, stream)
                }),
                Kind::ReduceScatter(reduce) => member.call(NcclCall::ncclReduceScatter, |nccl, comm| {
                    nccl.ncclReduceScatter(send, recv, count, datatype, reduce.raw(), comm, stream)
                }),
                Kind::AllGather => member.call(NcclCall::ncclAllGather, |nccl, comm| {
                    nccl.ncclAllGather(send, recv, count, datatype, comm, stream)
                }),
                Kind::Broadcast(root) => member.call(NcclCall::ncclBroadcast, |nccl, comm| {
                    nccl.ncclBroadcast(send, recv, count, datatype, peer(root), comm, stream)
                }),
                Kind::Send(to) => member.call(NcclCall::ncclSend, |nccl, comm| {
                    nccl.ncclSend(send, count, datatype, peer(to), comm, stream)
                }),
                Kind::Recv(from) => member.call(NcclCall::ncclRecv, |nccl, comm| {
                    nccl.ncclRecv(recv, count, datatype, peer(from), comm, stream)
                }),
                Kind::AllToAll => {
                    let bytes = self.count * self.element;
                    let peers = if bytes == 0 { 0..0 } else { 0..member.size };
                    peers.into_iter().try_for_each(|rank| {
                        let (from, to) = (send.wrapping_byte_add(rank * bytes), recv.wrapping_byte_add(rank * bytes));
                        member.call(NcclCall::ncclSend, |nccl, comm| {
                            nccl.ncclSend(from, count, datatype, peer(rank), comm, stream)
                        })?;
                        member.call(NcclCall::ncclRecv, |nccl, comm| {
                            nccl.ncclRecv(to, count, datatype, peer(rank), comm, stream)
                        })
                    })
                }
            }
        }
    }

    /// It alone as an op of this name.
    pub(super) fn op(
        self,
        member: Arc<Member>,
        name: &'static str,
        at: &'static Location<'static>,
    ) -> impl Op<Out = ()> {
        op_of(vec![self], member, name, at)
    }
}

/// Calls that NCCL is told of together, as one op.
pub(super) fn op_of(
    transfers: Vec<Transfer>,
    member: Arc<Member>,
    name: &'static str,
    at: &'static Location<'static>,
) -> impl Op<Out = ()> {
    move |recorder| {
        // A call of no elements that all ranks make alike is still one: it is compared like any other. Without it, what comes next
        // would meet what another rank does now, if only this one has none.
        let transfers: Vec<Transfer> = transfers.into_iter().filter(|transfer| !transfer.is_nothing()).collect();
        let mut access: Accesses = transfers.iter().flat_map(|transfer| transfer.access.iter().cloned()).collect();
        if transfers.is_empty() {
            return Ok(());
        }
        member.expect_alive_at(name, at)?;
        // Nobody reads what is there: behind another communicator's dead launch this one goes on.
        let turn = Access { place: member.turn.clone(), mode: Mode::Out, name: "the communicator", element: 4 };
        access.push(turn);
        let alike: Vec<String> = transfers.iter().filter_map(Transfer::alike).collect();
        let what = match &alike[..] {
            [] => None,
            // Other ranks may make that call alone: sends and receives beside it are not theirs.
            [one] => Some(one.clone()),
            many => Some(format!("a group of {}", many.join("; "))),
        };
        let is_group = transfers.len() > 1 || transfers[0].kind == Kind::AllToAll;
        let joint = Some(Joint { with: member.clone(), what, is_group });
        let call = move |stream: RawStream, places: &mut dyn Iterator<Item = (u64, usize)>| {
            let group = is_group.then(|| member.open_group()).transpose()?;
            for transfer in &transfers {
                // SAFETY: the places are the accesses of the node in their order, which are those of the transfers in theirs;
                // the recording holds them until the work is over. Foreign work is called with a stream of the device of
                // its memory, which is the communicator's: that of its turn.
                unsafe { transfer.enqueue(&member, stream, places)? };
            }
            group.map_or(Ok(()), OpenGroup::close)
        };
        recorder
            .push(Node::new(name.into(), at, access, Work::Foreign(ForeignWork { call: Arc::new(call), joint })), &[])
    }
}

impl Member {
    /// # Errors
    ///
    /// - It is dead; the error names the op.
    fn expect_alive_at(&self, name: &str, at: &'static Location<'static>) -> Result<()> {
        match self.death() {
            None => Ok(()),
            Some(error) => Err(error.clone().of(name, "", at)),
        }
    }
}

//! Several calls as one op.

use std::marker::PhantomData;
use std::panic::Location;

use crate::collective::Communicator;
use crate::collective::call::Written;
use crate::collective::number::{Number, Reduce};
use crate::collective::transfer::{Transfer, op_of};
use crate::element::Pod;
use crate::error::Result;
use crate::memory::Slice;
use crate::record::{Op, Recorder};

/// Calls that begin together: [`Communicator::group`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # use dacapo::collective::Communicator;
/// # let devices = dacapo::Device::software_group(2)?;
/// # let ranks = Communicator::all(&devices)?;
/// # let running: Vec<_> = ranks.into_iter().map(|comm| std::thread::spawn(move || -> dacapo::Result<()> {
/// # let (device, stream) = (comm.device(), comm.device().stream()?);
/// let other = 1 - comm.rank();
/// let mine = device.buffer(&[comm.rank() as u32])?;
/// let mut theirs = device.zeros::<u32>(1)?;
/// stream.run(comm.group().send(&mine, other).recv(&mut theirs, other).op())?; // neither waits for the other to begin
/// assert_eq!(stream.read(&theirs)?, [other as u32]);
/// # Ok(()) })).collect();
/// # running.into_iter().try_for_each(|rank| rank.join().expect("no rank panics"))
/// # }
/// ```
///
/// All of it is one op: no call may write what another one touches.
///
/// ```compile_fail,E0499
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let comm = dacapo::collective::Communicator::alone(&device)?;
/// # let mut x = device.zeros::<u32>(1)?;
/// let _ = comm.group().broadcast(&mut x, 0).broadcast(&mut x, 0).op();
/// # Ok(()) }
/// ```
#[must_use = "a group is recorded by `op()`"]
pub struct Group<'a> {
    comm: Communicator,
    at: &'static Location<'static>,
    transfers: Vec<Transfer>,
    checked: Result<()>,
    /// What its calls touch is borrowed until it is recorded.
    touched: PhantomData<&'a mut [u8]>,
}

impl<'a> Group<'a> {
    pub(super) fn new(comm: &Communicator, at: &'static Location<'static>) -> Group<'a> {
        Group { comm: comm.clone(), at, transfers: Vec::new(), checked: Ok(()), touched: PhantomData }
    }

    fn with(mut self, call: Written) -> Group<'a> {
        self.checked = self.checked.and(call.checked);
        self.transfers.push(call.transfer);
        self
    }

    /// As [`Communicator::send`]; to the rank itself too, if the group receives it.
    pub fn send<T: Pod>(self, source: &'a Slice<T>, to: usize) -> Group<'a> {
        let call = Written::send(&self.comm, source, to);
        self.with(call)
    }

    /// As [`Communicator::recv`].
    pub fn recv<T: Pod>(self, target: &'a mut Slice<T>, from: usize) -> Group<'a> {
        let call = Written::recv(&self.comm, target, from);
        self.with(call)
    }

    /// As [`Communicator::all_reduce`].
    pub fn all_reduce<T: Number>(self, source: &'a Slice<T>, target: &'a mut Slice<T>, reduce: Reduce) -> Group<'a> {
        self.with(Written::all_reduce(source, target, reduce))
    }

    /// As [`Communicator::all_reduce_in_place`].
    pub fn all_reduce_in_place<T: Number>(self, data: &'a mut Slice<T>, reduce: Reduce) -> Group<'a> {
        self.with(Written::all_reduce_in_place(data, reduce))
    }

    /// As [`Communicator::reduce`].
    pub fn reduce<T: Number>(
        self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
        root: usize,
    ) -> Group<'a> {
        let call = Written::reduce(&self.comm, source, target, reduce, root);
        self.with(call)
    }

    /// As [`Communicator::reduce_scatter`].
    pub fn reduce_scatter<T: Number>(
        self,
        source: &'a Slice<T>,
        target: &'a mut Slice<T>,
        reduce: Reduce,
    ) -> Group<'a> {
        let call = Written::reduce_scatter(&self.comm, source, target, reduce);
        self.with(call)
    }

    /// As [`Communicator::all_gather`].
    pub fn all_gather<T: Pod>(self, source: &'a Slice<T>, target: &'a mut Slice<T>) -> Group<'a> {
        let call = Written::all_gather(&self.comm, source, target);
        self.with(call)
    }

    /// As [`Communicator::broadcast`].
    pub fn broadcast<T: Pod>(self, data: &'a mut Slice<T>, root: usize) -> Group<'a> {
        let call = Written::broadcast(&self.comm, data, root);
        self.with(call)
    }

    /// As [`Communicator::all_to_all`].
    pub fn all_to_all<T: Pod>(self, source: &'a Slice<T>, target: &'a mut Slice<T>) -> Group<'a> {
        let call = Written::all_to_all(&self.comm, source, target);
        self.with(call)
    }

    /// All of them as one op.
    pub fn op(self) -> impl Op<Out = ()> + use<'a> {
        let Group { comm, at, transfers, checked, .. } = self;
        let op = op_of(transfers, comm.0, "group", at);
        move |recorder: &mut Recorder<'_>| {
            checked.map_err(|error| error.of("group", recorder.label(), at))?;
            recorder.run(op)
        }
    }
}

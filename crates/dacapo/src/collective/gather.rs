//! A few numbers of every rank, now: what the library itself asks of the others, to compare recordings.

use std::panic::Location;

use crate::collective::member::Member;
use crate::collective::transfer::Transfer;
use crate::device::Stream;
use crate::error::Result;

/// The numbers of all ranks, one after the other; every rank gives as many. Reports name the op so, made there.
///
/// # Errors
///
/// - The communicator died meanwhile, or a call was refused.
pub(super) fn gather(
    member: &Member,
    mine: &[u64],
    (name, at): (&'static str, &'static Location<'static>),
) -> Result<Vec<u64>> {
    let stream = Stream::internal(&member.device)?;
    let source = member.device.buffer(mine)?;
    let mut target = member.device.zeros::<u64>(mine.len() * member.size)?;
    let me = member.me.upgrade().expect("a member is held while it is used");
    stream.run(Transfer::own(&source, &mut target).op(me, name, at))?;
    stream.read(&target)
}

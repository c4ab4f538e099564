//! A device: what each has of its own in a machine of several.

use super::objects::{Context, Pool};
use super::table::Key;
use crate::machine::FaultState;

/// Most devices of a machine: who may touch an allocation is a word with a bit for each.
pub(crate) const DEVICES_MAX: usize = 64;

/// A device of a machine. Its number is its place among them.
pub(crate) struct Device {
    pub(crate) primary: Key<Context>,
    pub(crate) primary_retains: u32,
    pub(crate) default_pool: Key<Pool>,
    /// Where `cuMemAllocAsync` takes memory from.
    pub(crate) current_pool: Key<Pool>,
    /// Bytes that pools have handed out and that streams have yet to map.
    pub(crate) promised: u64,
    /// What broke it.
    pub(crate) fault: Option<FaultState>,
}

/// Where a piece of work is done: a device, and the context that its rights are those of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct On {
    pub(crate) device: usize,
    pub(crate) context: Key<Context>,
}

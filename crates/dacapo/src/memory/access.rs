//! Byte ranges of an allocation, and what an op does with them.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::element::Pod;
use crate::memory::{Allocation, Slice};

/// A byte range of an allocation, held.
#[derive(Clone)]
pub(crate) struct Extent {
    pub(crate) allocation: Arc<Allocation>,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

impl Extent {
    /// Whether two places have a byte in common; one without bytes has none in common with any.
    pub(crate) fn overlaps(&self, other: &Extent) -> bool {
        self.allocation.number() == other.allocation.number()
            && self.bytes > 0
            && other.bytes > 0
            && self.start < other.start + other.bytes
            && other.start < self.start + self.bytes
    }

    /// Its address. 0 for a range of memory that has none.
    pub(crate) fn address(&self) -> u64 {
        match self.allocation.address() {
            0 => 0,
            base => base + self.start as u64,
        }
    }
}

/// What an op does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Reads it.
    Read,
    /// Writes it, and may read it.
    Write,
    /// Writes all of it and reads nothing of it before.
    Out,
}

impl Mode {
    pub(crate) fn writes(self) -> bool {
        self != Mode::Read
    }
}

/// One argument of an op that is memory.
#[doc(hidden)]
#[derive(Clone)]
pub struct Access {
    pub(crate) place: Extent,
    pub(crate) mode: Mode,
    /// The parameter's name; `src` and `dst` for copies.
    pub(crate) name: &'static str,
    /// Bytes of one element.
    pub(crate) element: u32,
}

/// What one op does with memory, argument by argument. Room for what most ops touch is in the node itself; a node is one of
/// many, and all of them are gone through several times.
pub(crate) type Accesses = SmallVec<[Access; 3]>;

impl Access {
    pub(crate) fn new<T: Pod>(name: &'static str, slice: &Slice<T>, mode: Mode) -> Access {
        Access { place: slice.place(), mode, name, element: size_of::<T>() as u32 }
    }

    pub(crate) fn read<T: Pod>(name: &'static str, slice: &Slice<T>) -> Access {
        Access::new(name, slice, Mode::Read)
    }

    pub(crate) fn write<T: Pod>(name: &'static str, slice: &mut Slice<T>) -> Access {
        Access::new(name, slice, Mode::Write)
    }

    pub(crate) fn out<T: Pod>(name: &'static str, slice: &mut Slice<T>) -> Access {
        Access::new(name, slice, Mode::Out)
    }

    pub(crate) fn len(&self) -> usize {
        self.place.bytes / (self.element as usize).max(1)
    }

    /// For errors: the parameter and its range in its allocation.
    pub(crate) fn describe(&self) -> String {
        let Extent { allocation, start, bytes } = &self.place;
        match allocation.name() {
            Some(name) => format!("`{}` (bytes {start}..{} of `{name}`)", self.name, start + bytes),
            None => format!("`{}` (bytes {start}..{})", self.name, start + bytes),
        }
    }
}

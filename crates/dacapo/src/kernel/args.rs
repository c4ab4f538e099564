//! A kernel's arguments as the driver takes them.

use smallvec::SmallVec;

use crate::element::{Pod, bytes_of};
use crate::kernel::Grid;
use crate::memory::{Element, Slice};
use crate::value::Snapshot;

/// The arguments of one launch: values are in place, addresses are filled in when they are known.
///
/// The n-th pointer is the address of the node's n-th access.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// Each argument begins at a word of its own, so that it is aligned.
    words: SmallVec<[u64; 6]>,
    /// Where each begins.
    starts: SmallVec<[u16; 8]>,
    /// Which words are pointers.
    pointers: SmallVec<[u16; 4]>,
}

impl Args {
    pub(crate) fn value(&mut self, bytes: &[u8]) {
        self.starts.push(self.words.len() as u16);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.words.push(u64::from_ne_bytes(word));
        }
    }

    pub(crate) fn pointer(&mut self) {
        self.starts.push(self.words.len() as u16);
        self.pointers.push(self.words.len() as u16);
        self.words.push(0);
    }

    /// Fills the addresses in.
    pub(crate) fn resolve(&mut self, address: impl Fn(usize) -> u64) {
        for (access, &word) in self.pointers.iter().enumerate() {
            self.words[word as usize] = address(access);
        }
    }

    /// Pointers to the arguments, as a launch takes them. They are good as long as this is neither moved nor changed.
    pub(crate) fn as_pointers(&mut self) -> SmallVec<[*mut std::ffi::c_void; 8]> {
        let base = self.words.as_mut_ptr();
        // SAFETY: each start is the index of a word that was pushed.
        self.starts.iter().map(|&start| unsafe { base.add(start as usize) }.cast()).collect()
    }
}

/// What a recipe computes: the geometry and the arguments of one launch.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub(crate) grid: Grid,
    pub(crate) args: Args,
}

impl Prepared {
    pub fn new(grid: Grid, args: &[&dyn ToArg]) -> Prepared {
        let mut list = Args::default();
        for arg in args {
            arg.put(&mut list);
        }
        Prepared { grid, args: list }
    }
}

/// Anything that is an argument in the end.
#[doc(hidden)]
pub trait ToArg {
    fn put(&self, into: &mut Args);
    /// For errors: `a = 1.0`, `x.len() = 2`.
    fn show(&self, name: &str) -> Option<String>;
    /// For reports: a value as its `Debug` text; none for an address.
    fn text(&self) -> Option<String> {
        None
    }
}

impl<T: Pod> ToArg for T {
    fn put(&self, into: &mut Args) {
        into.value(bytes_of(std::slice::from_ref(self)));
    }

    fn show(&self, name: &str) -> Option<String> {
        Some(format!("{name} = {self:?}"))
    }

    fn text(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
}

/// A slice argument inside a recipe: which access it is, and its length.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SliceArg {
    access: usize,
    len: usize,
}

impl SliceArg {
    pub fn new<T: Pod>(slice: &Slice<T>) -> SliceArg {
        SliceArg { access: 0, len: slice.len() }
    }

    /// The same as the next access.
    pub fn numbered(mut self, accesses: &mut usize) -> SliceArg {
        self.access = *accesses;
        *accesses += 1;
        self
    }

    /// As conditions and geometry see it in this launch.
    pub fn seen(&self, snapshot: &Snapshot<'_>) -> SliceSeen {
        SliceSeen { len: self.len, start: snapshot.start(self.access) }
    }
}

/// A slice as conditions and geometry see it: its length and its alignment, not its elements.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SliceSeen {
    len: usize,
    start: u64,
}

impl SliceSeen {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether its first element is at a multiple of `bytes`. Allocations begin at multiples of 256, so more than that
    /// cannot be promised and is answered with no.
    pub fn aligned(&self, bytes: usize) -> bool {
        bytes.is_power_of_two() && bytes <= 256 && self.start.is_multiple_of(bytes as u64)
    }
}

impl ToArg for SliceSeen {
    fn put(&self, into: &mut Args) {
        into.pointer();
    }

    fn show(&self, name: &str) -> Option<String> {
        Some(format!("{name}.len() = {}", self.len))
    }
}

/// A device scalar inside a recipe: nothing about it is known to the host.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ElementArg;

impl ElementArg {
    pub fn new<T: Pod>(_: &Element<T>) -> ElementArg {
        ElementArg
    }

    /// The same as the next access.
    pub fn numbered(self, accesses: &mut usize) -> ElementArg {
        *accesses += 1;
        self
    }

    pub fn seen(&self, _: &Snapshot<'_>) -> ElementArg {
        ElementArg
    }
}

impl ToArg for ElementArg {
    fn put(&self, into: &mut Args) {
        into.pointer();
    }

    fn show(&self, _: &str) -> Option<String> {
        None
    }
}

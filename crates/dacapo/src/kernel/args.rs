//! A kernel's arguments as the driver takes them.

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use crate::element::{Pod, bytes_of};
use crate::kernel::Grid;
use crate::value::Snapshot;

/// The arguments of one launch: values are in place, addresses are filled in when they are known.
///
/// The n-th pointer is the address of the node's n-th access. They are written once, and may then be written again from
/// the start by the same recipe, which gives as many, of the same sizes: then a value is compared and overwritten where
/// it is, and an address is left as it is.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
#[repr(C)] // what a changed value touches comes first
pub struct Args {
    /// Which argument is put next.
    next: u16,
    /// Whether one has changed since they were begun.
    changed: bool,
    /// Where each begins.
    starts: SmallVec<[u16; 8]>,
    /// Each argument begins at a word of its own, so that it is aligned.
    words: SmallVec<[u64; 6]>,
    /// Which words are pointers.
    pointers: SmallVec<[u16; 4]>,
}

impl PartialEq for Args {
    fn eq(&self, other: &Args) -> bool {
        self.words == other.words && self.starts == other.starts && self.pointers == other.pointers
    }
}

impl Args {
    /// From the first argument again.
    #[inline]
    pub(crate) fn begin(&mut self) {
        (self.next, self.changed) = (0, false);
    }

    /// Whether a value is another than before it was begun; always for those that were never there.
    #[inline]
    pub(crate) fn changed(&self) -> bool {
        self.changed
    }

    /// The words of the next argument; those of a new one are zero.
    #[inline]
    fn next(&mut self, words: usize) -> &mut [u64] {
        let start = match self.starts.get(self.next as usize) {
            Some(&start) => start as usize,
            None => self.push(words),
        };
        self.next += 1;
        &mut self.words[start..start + words]
    }

    /// Room for one more.
    #[inline(never)]
    fn push(&mut self, words: usize) -> usize {
        let start = self.words.len();
        self.starts.push(start as u16);
        // Nearly always one: cheaper than `resize`.
        (0..words).for_each(|_| self.words.push(0));
        self.changed = true;
        start
    }

    /// The next argument, a value.
    #[inline]
    pub(crate) fn value<T: Pod>(&mut self, value: &T) {
        let bytes = bytes_of(std::slice::from_ref(value));
        if bytes.len() > 8 {
            return self.bytes(bytes);
        }
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        self.word(u64::from_ne_bytes(word));
    }

    /// The next argument, a value in one word. One function for all recipes: its code is in the cache by the second call.
    #[inline(never)]
    fn word(&mut self, word: u64) {
        let place = &mut self.next(1)[0];
        let changed = *place != word;
        *place = word;
        self.changed |= changed;
    }

    /// The next argument, a value of these bytes.
    #[inline(never)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let mut changed = false;
        for (place, chunk) in self.next(bytes.len().div_ceil(8)).iter_mut().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = u64::from_ne_bytes(word);
            changed |= *place != word;
            *place = word;
        }
        self.changed |= changed;
    }

    /// The next argument, an address.
    #[inline]
    pub(crate) fn pointer(&mut self) {
        if self.next as usize == self.starts.len() {
            self.push_pointer();
        }
        self.next += 1;
    }

    /// The next argument, the handle of a condition, which is filled in when it is known.
    pub(crate) fn handle(&mut self) {
        if self.next as usize == self.starts.len() {
            self.push(1);
        }
        self.next += 1;
    }

    /// Fills the handles in: they are the last arguments.
    pub(crate) fn set_handles(&mut self, handles: impl ExactSizeIterator<Item = u64>) {
        let first = self.starts.len() - handles.len();
        for (place, handle) in self.starts[first..].iter().zip(handles) {
            self.words[*place as usize] = handle;
        }
    }

    #[inline(never)]
    fn push_pointer(&mut self) {
        self.pointers.push(self.words.len() as u16);
        self.push(1);
    }

    /// Which arguments are others, by number, and whether each is an address. For reports.
    pub(crate) fn differing(&self, other: &Args) -> Vec<(usize, bool)> {
        let end = |args: &Args, at: usize| args.starts.get(at + 1).map_or(args.words.len(), |&next| next as usize);
        let part = |args: &Args, at: usize| {
            let start = *args.starts.get(at)? as usize;
            Some((args.pointers.contains(&(start as u16)), args.words[start..end(args, at)].to_vec()))
        };
        let differs = |at: &usize| part(self, *at) != part(other, *at);
        let is_address = |at: usize| part(other, at).is_some_and(|(is_address, _)| is_address);
        (0..self.starts.len().max(other.starts.len())).filter(differs).map(|at| (at, is_address(at))).collect()
    }

    /// Fills the addresses in.
    pub(crate) fn resolve(&mut self, address: impl Fn(usize) -> u64) {
        for (access, &word) in self.pointers.iter().enumerate() {
            self.words[word as usize] = address(access);
        }
    }

    /// The address that stands for an access, if an argument does.
    pub(crate) fn address(&self, access: usize) -> Option<u64> {
        self.pointers.get(access).map(|&word| self.words[word as usize])
    }

    /// Pointers to the arguments, as a launch takes them. They are good as long as this is neither moved nor changed.
    #[inline]
    pub(crate) fn as_pointers(&mut self) -> Pointers {
        let base = self.words.as_mut_ptr();
        // SAFETY: each start is the index of a word that was pushed.
        Pointers::new(&self.starts, |start| unsafe { base.add(start as usize) }.cast())
    }
}

/// A pointer to each argument of a launch.
pub(crate) struct Pointers {
    /// How many, if they are few; `many` has them otherwise.
    count: usize,
    few: [*mut c_void; Pointers::FEW],
    many: Vec<*mut c_void>,
}

impl Pointers {
    /// Most kernels have no more. An array that is written through costs a third of what a list does that grows.
    const FEW: usize = 12;

    #[inline]
    fn new(starts: &[u16], pointer: impl Fn(u16) -> *mut c_void) -> Pointers {
        let mut pointers = Pointers { count: starts.len(), few: [std::ptr::null_mut(); Self::FEW], many: Vec::new() };
        if starts.len() <= Self::FEW {
            pointers.few.iter_mut().zip(starts).for_each(|(place, &start)| *place = pointer(start));
        } else {
            pointers.many = starts.iter().map(|&start| pointer(start)).collect();
        }
        pointers
    }
}

impl Deref for Pointers {
    type Target = [*mut c_void];

    #[inline]
    fn deref(&self) -> &[*mut c_void] {
        if self.count <= Self::FEW { &self.few[..self.count] } else { &self.many }
    }
}

impl DerefMut for Pointers {
    #[inline]
    fn deref_mut(&mut self) -> &mut [*mut c_void] {
        if self.count <= Self::FEW { &mut self.few[..self.count] } else { &mut self.many }
    }
}

/// What a recipe computes: the geometry and the arguments of one launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prepared {
    pub(crate) grid: Grid,
    pub(crate) args: Args,
}

/// What only the library can implement: a type of the user's that wrote its own bytes, or none, would be believed.
pub(crate) mod sealed {
    pub trait Sealed {}
    impl<T: super::Pod> Sealed for T {}
    impl Sealed for super::SliceSeen<'_> {}
    impl Sealed for super::ElementArg {}
}

/// Anything that is an argument in the end: plain data, or an address. Implemented by the library only.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data that a kernel can be given by value",
    note = "numbers and arrays of them are; a struct of one's own implements `dacapo::Pod`"
)]
pub trait ToArg: sealed::Sealed {
    /// Writes it as the next argument.
    fn put(&self, into: &mut Args);
    /// For errors: `a = 1.0`, `x.len() = 2`.
    fn show(&self, name: &str) -> Option<String>;
    /// For reports: a value as its `Debug` text; none for an address.
    fn text(&self) -> Option<String> {
        None
    }
}

impl<T: Pod> ToArg for T {
    #[inline]
    fn put(&self, into: &mut Args) {
        into.value(self);
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
    pub(crate) fn new(access: usize, len: usize) -> SliceArg {
        SliceArg { access, len }
    }

    /// As conditions and geometry see it in this launch.
    pub fn seen<'s>(&self, snapshot: &'s Snapshot<'s>) -> SliceSeen<'s> {
        SliceSeen { len: self.len, access: self.access, snapshot }
    }
}

/// A slice as conditions and geometry see it: its length and its alignment, not its elements.
///
/// Where it begins is looked up by those who ask: few do.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SliceSeen<'s> {
    len: usize,
    access: usize,
    snapshot: &'s Snapshot<'s>,
}

impl SliceSeen<'_> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether its first element is at a multiple of `bytes`. Allocations begin at multiples of 256, so more than that
    /// cannot be promised and is answered with no.
    pub fn aligned(&self, bytes: usize) -> bool {
        bytes.is_power_of_two() && bytes <= 256 && self.snapshot.start(self.access).is_multiple_of(bytes as u64)
    }
}

impl ToArg for SliceSeen<'_> {
    #[inline]
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
    /// The same: it is an address, whatever the launch.
    pub fn seen(&self, _: &Snapshot<'_>) -> ElementArg {
        ElementArg
    }
}

impl ToArg for ElementArg {
    #[inline]
    fn put(&self, into: &mut Args) {
        into.pointer();
    }

    fn show(&self, _: &str) -> Option<String> {
        None
    }
}

//! A kernel's arguments as the driver takes them.

use std::ffi::c_void;

use crate::element::{Pod, bytes_of};
use crate::kernel::Grid;
use crate::value::Snapshot;

/// The arguments of one launch: values are in place, addresses are filled in when they are known.
///
/// The n-th pointer is the address of the node's n-th access. They are written once, and may then be written again from
/// the start by the same recipe, which gives as many, of the same sizes: then a value is compared and overwritten where
/// it is, and an address is left as it is. A guard's arguments stand behind them, and are left as they are, too.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
#[repr(C)] // what a changed value touches comes first
pub struct Args {
    /// The first word of the argument that is put next.
    next: u16,
    /// How many words there are, if they are few.
    count: u16,
    /// Whether one has changed since they were begun.
    changed: bool,
    /// What each word is.
    kinds: [Word; FEW],
    /// Each argument begins at a word of its own, so that it is aligned.
    words: [u64; FEW],
    /// All of the words and what they are, if there is not enough room here.
    many: Option<Box<Many>>,
}

/// Most kernels have no more words of arguments.
const FEW: usize = 8;

#[derive(Clone, Debug, Default)]
struct Many {
    kinds: Vec<Word>,
    words: Vec<u64>,
}

/// What a word of the arguments is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Word {
    /// An argument begins here, a value.
    #[default]
    Value,
    /// An argument that is an address.
    Address,
    /// The value before goes on.
    More,
}

impl PartialEq for Args {
    fn eq(&self, other: &Args) -> bool {
        self.words() == other.words() && self.kinds() == other.kinds()
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

    #[inline]
    fn words(&self) -> &[u64] {
        match &self.many {
            None => &self.words[..self.count as usize],
            Some(many) => &many.words,
        }
    }

    #[inline]
    fn kinds(&self) -> &[Word] {
        match &self.many {
            None => &self.kinds[..self.count as usize],
            Some(many) => &many.kinds,
        }
    }

    #[inline]
    fn parts_mut(&mut self) -> (&mut [u64], &[Word]) {
        match &mut self.many {
            None => (&mut self.words[..self.count as usize], &self.kinds[..self.count as usize]),
            Some(many) => (&mut many.words, &many.kinds),
        }
    }

    /// The next word. One that was not there yet is zero.
    #[inline]
    fn one(&mut self, kind: Word) -> &mut u64 {
        let at = self.next as usize;
        self.next += 1;
        if self.many.is_some() || at == FEW {
            return self.one_of_many(at, kind);
        }
        if at == self.count as usize {
            self.kinds[at] = kind;
            self.count += 1;
            self.changed = true;
        }
        &mut self.words[at]
    }

    #[cold]
    fn one_of_many(&mut self, at: usize, kind: Word) -> &mut u64 {
        let many =
            self.many.get_or_insert_with(|| Box::new(Many { kinds: self.kinds.into(), words: self.words.into() }));
        if at == many.words.len() {
            many.kinds.push(kind);
            many.words.push(0);
            self.changed = true;
        }
        &mut many.words[at]
    }

    /// The next word, of a value.
    #[inline]
    fn put(&mut self, kind: Word, word: u64) {
        let place = self.one(kind);
        let changed = *place != word;
        *place = word;
        self.changed |= changed;
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
        self.put(Word::Value, word);
    }

    /// The next argument, a value of these bytes.
    #[inline(never)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let mut kind = Word::Value;
        // An argument without bytes has a word, too.
        for chunk in bytes.chunks(8).chain(bytes.is_empty().then_some(bytes)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.put(kind, u64::from_ne_bytes(word));
            kind = Word::More;
        }
    }

    /// The next argument, an address.
    #[inline(never)]
    pub(crate) fn pointer(&mut self) {
        self.one(Word::Address);
    }

    /// The next argument, the handle of a condition, which is filled in when it is known.
    pub(crate) fn handle(&mut self) {
        self.one(Word::Value);
    }

    /// Fills the handles in: they are the last arguments.
    pub(crate) fn set_handles(&mut self, handles: impl ExactSizeIterator<Item = u64>) {
        let (words, _) = self.parts_mut();
        let first = words.len() - handles.len();
        for (place, handle) in words[first..].iter_mut().zip(handles) {
            *place = handle;
        }
    }

    /// The arguments of a guard, behind those that the recipe has written: an address, and the side.
    pub(crate) fn guard(&mut self, flag: u64, side: bool) {
        let (next, changed) = (self.next, self.changed);
        self.put(Word::Value, flag);
        self.put(Word::Value, u64::from(side));
        (self.next, self.changed) = (next, changed);
    }

    /// Where addresses stand, in order.
    fn addresses(&self) -> impl Iterator<Item = usize> {
        self.kinds().iter().enumerate().filter(|(_, kind)| **kind == Word::Address).map(|(at, _)| at)
    }

    /// Each argument: whether it is an address, and its words.
    fn parts(&self) -> Vec<(bool, &[u64])> {
        let (mut parts, all): (Vec<(bool, &[u64])>, _) = (Vec::new(), self.words());
        for (at, kind) in self.kinds().iter().enumerate() {
            match (kind, parts.last_mut()) {
                (Word::More, Some((_, words))) => *words = &all[at - words.len()..=at],
                _ => parts.push((*kind == Word::Address, &all[at..=at])),
            }
        }
        parts
    }

    /// Which arguments are others, by number, and whether each is an address. For reports.
    pub(crate) fn differing(&self, other: &Args) -> Vec<(usize, bool)> {
        let (mine, theirs) = (self.parts(), other.parts());
        let differs = |at: &usize| mine.get(*at) != theirs.get(*at);
        let is_address = |at: usize| theirs.get(at).is_some_and(|(is_address, _)| *is_address);
        (0..mine.len().max(theirs.len())).filter(differs).map(|at| (at, is_address(at))).collect()
    }

    /// Fills the addresses in.
    #[inline]
    pub(crate) fn resolve(&mut self, address: impl Fn(usize) -> u64) {
        let mut access = 0;
        let (words, kinds) = self.parts_mut();
        for (word, kind) in words.iter_mut().zip(kinds) {
            if *kind == Word::Address {
                *word = address(access);
                access += 1;
            }
        }
    }

    /// The address that stands for an access, if an argument does.
    pub(crate) fn address(&self, access: usize) -> Option<u64> {
        self.addresses().nth(access).map(|at| self.words()[at])
    }

    /// Pointers to the arguments, as a launch takes them. They are good as long as this is neither moved nor changed.
    #[inline]
    pub(crate) fn pointers<'r>(&mut self, room: &'r mut PointerRoom) -> &'r mut [*mut c_void] {
        let (words, kinds) = self.parts_mut();
        let base = words.as_mut_ptr();
        // SAFETY: there is a word for each kind.
        room.fill(kinds, |at| unsafe { base.add(at) }.cast())
    }
}

/// Room for a pointer to each argument of a launch.
pub(crate) struct PointerRoom {
    few: [*mut c_void; FEW],
    /// All of them, if that is not enough room.
    many: Vec<*mut c_void>,
}

impl PointerRoom {
    #[inline]
    pub(crate) fn new() -> PointerRoom {
        PointerRoom { few: [std::ptr::null_mut(); FEW], many: Vec::new() }
    }

    /// An array that is written through costs a third of what a list does that grows.
    #[inline]
    fn fill(&mut self, kinds: &[Word], pointer: impl Fn(usize) -> *mut c_void) -> &mut [*mut c_void] {
        if kinds.len() <= FEW {
            let mut count = 0;
            for (at, kind) in kinds.iter().enumerate() {
                self.few[count.min(at)] = pointer(at);
                count += usize::from(*kind != Word::More);
            }
            &mut self.few[..count]
        } else {
            let begins = |(_, kind): &(usize, &Word)| **kind != Word::More;
            self.many = kinds.iter().enumerate().filter(begins).map(|(at, _)| pointer(at)).collect();
            &mut self.many
        }
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

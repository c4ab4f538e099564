//! One bit for every byte of a region: has anybody written it?
//!
//! Ranges are set, tested and copied 64 bits at a time. The number of set bits is kept, so that "everything is
//! initialised" is one comparison: after that point neither loads nor stores look at bits any more.

use super::backing;

/// The initialised bits of one region.
#[derive(Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
    len: usize,
    set: usize,
}

impl Bits {
    /// Bits for `len` bytes, all unset; `None` where the host has no memory for them.
    pub(crate) fn new(len: usize) -> Option<Bits> {
        Some(Bits { words: backing::zeroed_words(len.div_ceil(64))?, len, set: 0 })
    }

    /// Is every byte of the region initialised?
    #[inline(always)]
    pub(crate) fn full(&self) -> bool {
        self.set == self.len
    }

    /// Marks every byte unset.
    pub(crate) fn clear(&mut self) {
        if self.set != 0 {
            self.words.fill(0);
            self.set = 0;
        }
    }

    /// Are the bytes `start..start + len` all initialised? The range lies inside the region.
    #[inline]
    pub(crate) fn all(&self, start: usize, len: usize) -> bool {
        if self.full() || len == 0 {
            return true;
        }
        let (first, last) = (start / 64, (start + len - 1) / 64);
        let head = !0u64 << (start % 64);
        let tail = !0u64 >> (63 - (start + len - 1) % 64);
        if first == last {
            let mask = head & tail;
            return self.words[first] & mask == mask;
        }
        self.words[first] & head == head
            && self.words[first + 1..last].iter().all(|&w| w == !0)
            && self.words[last] & tail == tail
    }

    /// Which of the bytes from `start` on are initialised, the first in the lowest bit: as far as the next multiple of 64.
    #[inline(always)]
    pub(crate) fn from(&self, start: usize) -> u64 {
        self.words[start / 64] >> (start % 64)
    }

    /// Marks the bytes `start..start + len` as initialised. The range lies inside the region.
    #[inline]
    pub(crate) fn mark(&mut self, start: usize, len: usize) {
        if self.full() || len == 0 {
            return;
        }
        let (first, last) = (start / 64, (start + len - 1) / 64);
        let head = !0u64 << (start % 64);
        let tail = !0u64 >> (63 - (start + len - 1) % 64);
        if first == last {
            self.or(first, head & tail);
            return;
        }
        self.or(first, head);
        for word in first + 1..last {
            self.or(word, !0);
        }
        self.or(last, tail);
    }

    #[inline(always)]
    fn or(&mut self, word: usize, mask: u64) {
        let old = self.words[word];
        self.words[word] = old | mask;
        self.set += (mask & !old).count_ones() as usize;
    }

    fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    fn put(&mut self, at: usize, value: bool) {
        let bit = 1u64 << (at % 64);
        let old = self.words[at / 64] & bit != 0;
        match (old, value) {
            (false, true) => {
                self.words[at / 64] |= bit;
                self.set += 1;
            }
            (true, false) => {
                self.words[at / 64] &= !bit;
                self.set -= 1;
            }
            _ => {}
        }
    }

    /// Calls `f` with start and length of every run of set bits, lowest first.
    pub(crate) fn runs(&self, mut f: impl FnMut(usize, usize)) {
        let mut open: Option<usize> = None;
        for (at, &word) in self.words.iter().enumerate() {
            // Bits that differ from the one below them: where a run begins or ends.
            let mut edges = word ^ (word << 1 | u64::from(open.is_some()));
            while edges != 0 {
                let edge = at * 64 + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                match open.take() {
                    Some(start) => f(start, edge - start),
                    None => open = Some(edge),
                }
            }
        }
        if let Some(start) = open {
            f(start, self.len - start);
        }
    }

    /// Calls `f` with start and length of every run of unset bits in `start..start + len`, lowest first; a run that goes on in the
    /// next word comes in parts.
    pub(crate) fn gaps(&self, start: usize, len: usize, mut f: impl FnMut(usize, usize)) {
        let (mut at, end) = (start, start + len);
        if self.full() {
            return;
        }
        while at < end {
            // The rest of this word, with what lies behind it or behind the range as set.
            let rest = (64 - at % 64).min(end - at);
            let outside = if rest == 64 { 0 } else { !0u64 << rest };
            let mut unset = !(self.from(at) | outside);
            while unset != 0 {
                let first = unset.trailing_zeros() as usize;
                let run = (unset >> first).trailing_ones() as usize;
                f(at + first, run);
                unset &= if first + run == 64 { 0 } else { !0u64 << (first + run) };
            }
            at += rest;
        }
    }

    /// Marks the bytes `start..start + len` as not initialised. The range lies inside the region.
    pub(crate) fn unmark(&mut self, start: usize, len: usize) {
        (start..start + len).for_each(|at| self.put(at, false));
    }

    /// The bits of `from..from + len`, for a copy whose source and target may overlap.
    pub(crate) fn extract(&self, from: usize, len: usize) -> Piece {
        if self.full() {
            return Piece::All;
        }
        Piece::Some((from..from + len).map(|at| self.get(at)).collect())
    }

    /// Stores what [`Bits::extract`] gave at `to..to + len`.
    pub(crate) fn insert(&mut self, to: usize, len: usize, piece: &Piece) {
        match piece {
            Piece::All => self.mark(to, len),
            Piece::Some(bits) => {
                for (i, &bit) in bits.iter().enumerate() {
                    self.put(to + i, bit);
                }
            }
        }
    }
}

/// Bits on their way from one region to another.
pub(crate) enum Piece {
    /// All set.
    All,
    /// One value for each byte.
    Some(Vec<bool>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_across_words_are_exact() {
        for start in [0usize, 1, 63, 64, 65, 127] {
            for len in [1usize, 2, 63, 64, 65, 128, 190] {
                let mut bits = Bits::new(400).expect("small");
                bits.mark(start, len);
                assert!(bits.all(start, len));
                assert!(!bits.all(start, len + 1), "{start} {len}");
                assert!(start == 0 || !bits.all(start - 1, len + 1), "{start} {len}");
                assert_eq!(bits.set, len);
                bits.mark(start, len);
                assert_eq!(bits.set, len, "marking twice counts once");
            }
        }
    }

    #[test]
    fn runs_are_what_was_marked() {
        for marked in [vec![(0, 1)], vec![(0, 64)], vec![(63, 2), (66, 1), (127, 1)], vec![(5, 190), (256, 44)]] {
            let mut bits = Bits::new(300).expect("small");
            marked.iter().for_each(|&(start, len)| bits.mark(start, len));
            let mut runs = Vec::new();
            bits.runs(|start, len| runs.push((start, len)));
            assert_eq!(runs, marked);
        }
        Bits::new(300).expect("small").runs(|start, len| panic!("{start} {len}"));
    }

    #[test]
    fn gaps_are_what_was_not_marked() {
        let mut random = crate::random::Random::new(5);
        for _ in 0..300 {
            let mut bits = Bits::new(300).expect("small");
            for _ in 0..random.below(6) {
                let start = random.below(300);
                bits.mark(start, random.below(301 - start));
            }
            let start = random.below(300);
            let len = random.below(301 - start);
            let mut unset = vec![false; 300];
            bits.gaps(start, len, |at, len| unset[at..at + len].fill(true));
            for (at, unset) in unset.iter().enumerate() {
                assert_eq!(*unset, (start..start + len).contains(&at) && !bits.get(at), "{at}");
            }
            bits.unmark(start, len);
            assert!((0..300).all(|at| !(start..start + len).contains(&at) || !bits.get(at)));
            assert_eq!(bits.set, (0..300).filter(|at| bits.get(*at)).count());
        }
    }

    #[test]
    fn full_when_every_byte_was_marked() {
        let mut bits = Bits::new(100).expect("small");
        bits.mark(0, 99);
        assert!(!bits.full());
        bits.mark(99, 1);
        assert!(bits.full());
        bits.clear();
        assert!(!bits.all(5, 1));
    }
}

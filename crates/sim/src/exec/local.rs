//! The local memory of a warp: words of four bytes, the same word of all 32 lanes side by side.
//!
//! Lanes usually touch the same offset together, and then an access is a copy of columns. Every byte of every lane has
//! an initialised bit.

/// Local memory of the 32 lanes of a warp.
#[derive(Default)]
pub(super) struct Local {
    words: Vec<[u32; 32]>,
    /// For each byte of a word, the lanes that have written it.
    written: Vec<[u32; 4]>,
}

impl Local {
    /// At least `bytes` bytes for each lane.
    pub(super) fn reserve(&mut self, bytes: u32) {
        let words = bytes.div_ceil(4) as usize;
        if words > self.words.len() {
            self.words.resize(words, [0; 32]);
            self.written.resize(words, [0; 4]);
        }
    }

    /// Forgets what was written, for all lanes.
    pub(super) fn clear(&mut self) {
        self.written.fill([0; 4]);
    }

    /// Forgets what the lanes in `mask` wrote in `start..start + bytes`.
    pub(super) fn forget(&mut self, start: u32, bytes: u32, mask: u32) {
        let range = start as usize / 4..(start + bytes).div_ceil(4) as usize;
        if let Some(words) = self.written.get_mut(range) {
            words.iter_mut().flatten().for_each(|lanes| *lanes &= !mask);
        }
    }

    /// One lane's value of 1, 2, 4 or 8 bytes, aligned; and whether all of it was written. The range was checked.
    pub(super) fn load(&self, lane: usize, offset: u32, bytes: u32) -> (u64, bool) {
        let word = offset as usize / 4;
        let bit = 1u32 << lane;
        match bytes {
            8 => {
                let value = u64::from(self.words[word][lane]) | u64::from(self.words[word + 1][lane]) << 32;
                let written = self.written[word..word + 2].iter().flatten().all(|lanes| lanes & bit != 0);
                (value, written)
            }
            _ => {
                let at = offset as usize % 4;
                let value = u64::from(self.words[word][lane]) >> (8 * at) & (u64::MAX >> (64 - 8 * bytes));
                let written = self.written[word][at..at + bytes as usize].iter().all(|lanes| lanes & bit != 0);
                (value, written)
            }
        }
    }

    /// Stores one lane's value of 1, 2, 4 or 8 bytes, aligned. The range was checked.
    pub(super) fn store(&mut self, lane: usize, offset: u32, bytes: u32, value: u64) {
        let word = offset as usize / 4;
        let bit = 1u32 << lane;
        match bytes {
            8 => {
                self.words[word][lane] = value as u32;
                self.words[word + 1][lane] = (value >> 32) as u32;
                self.written[word..word + 2].iter_mut().flatten().for_each(|lanes| *lanes |= bit);
            }
            _ => {
                let at = offset as usize % 4;
                let field = (u64::MAX >> (64 - 8 * bytes)) << (8 * at);
                let old = u64::from(self.words[word][lane]);
                self.words[word][lane] = (old & !field | value << (8 * at) & field) as u32;
                self.written[word][at..at + bytes as usize].iter_mut().for_each(|lanes| *lanes |= bit);
            }
        }
    }

    /// The word at `offset`, aligned, of all lanes; and whether the lanes in `mask` wrote all of it.
    pub(super) fn row(&self, offset: u32, mask: u32) -> (&[u32; 32], bool) {
        let word = offset as usize / 4;
        let [a, b, c, d] = self.written[word];
        (&self.words[word], a & b & c & d & mask == mask)
    }

    /// Stores the word at `offset`, aligned, of the lanes in `mask`.
    pub(super) fn store_row(&mut self, offset: u32, values: &[u32; 32], mask: u32) {
        let word = offset as usize / 4;
        super::lanes::put(&mut self.words[word], values, mask);
        self.written[word].iter_mut().for_each(|lanes| *lanes |= mask);
    }

    /// Copies `bytes` bytes from one place to another, both at multiples of four, for the lanes in `mask`.
    pub(super) fn copy(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
        for n in 0..bytes.div_ceil(4) as usize {
            let (source, target) = (from as usize / 4 + n, to as usize / 4 + n);
            let value = self.words[source];
            super::lanes::put(&mut self.words[target], &value, mask);
            let written = self.written[source];
            for (target, source) in self.written[target].iter_mut().zip(written) {
                *target = *target & !mask | source & mask;
            }
        }
    }
}

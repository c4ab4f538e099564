//! Which bytes of a range nobody has written, for what carries memory elsewhere and brings it back.

use std::ops::Range;

use super::{AccessError, Backing, Memory};

impl Memory {
    /// Which bytes of a range nobody has written, as ranges from where it begins, in order and one apart from the next.
    ///
    /// # Errors
    ///
    /// When the range is not in one live allocation.
    pub(crate) fn unwritten(&self, address: u64, bytes: u64) -> Result<Vec<Range<u64>>, AccessError> {
        let mut all: Vec<Range<u64>> = Vec::new();
        for (at, bytes) in self.pieces(address, bytes).unwrap_or_else(|| vec![(address, bytes)]) {
            let (index, offset) = self.locate(at, bytes)?;
            let bits = match &self.slots[index as usize].backing {
                Backing::Device(region) => &region.bits,
                Backing::Lent(region) => &region.bits,
                Backing::Host(_) => continue,
            };
            bits.gaps(offset, bytes as usize, |start, len| {
                let start = at - address + (start - offset) as u64;
                match all.last_mut().filter(|last| last.end == start) {
                    Some(last) => last.end += len as u64,
                    None => all.push(start..start + len as u64),
                }
            });
        }
        Ok(all)
    }

    /// From now on nobody has written these bytes. Memory of the host stays written.
    ///
    /// # Errors
    ///
    /// When the range is not in one live allocation.
    pub(crate) fn mark_unwritten(&mut self, address: u64, bytes: u64) -> Result<(), AccessError> {
        for (at, bytes) in self.pieces(address, bytes).unwrap_or_else(|| vec![(address, bytes)]) {
            let (index, offset) = self.locate(at, bytes)?;
            if let Backing::Device(region) = &mut self.slots[index as usize].backing {
                region.bits.unmark(offset, bytes as usize);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges, and not of what they hold")]
mod tests {
    use super::super::{Kind, MemoryOptions, Request};
    use super::*;

    #[test]
    fn what_is_unwritten_is_told_and_taken_back() {
        let mut m = Memory::new(MemoryOptions { capacity: 1 << 20, seed: 3 });
        let at = m.alloc(Request { bytes: 256, align: 256, kind: Kind::Device, label: "" }).expect("fits");
        assert_eq!(m.unwritten(at + 3, 200).expect("there"), [0..200]);
        m.write(at + 10, &[1; 5]).expect("there");
        m.write(at + 100, &[1; 100]).expect("there");
        assert_eq!(m.unwritten(at, 256).expect("there"), [0..10, 15..100, 200..256]);
        assert_eq!(m.unwritten(at + 12, 100).expect("there"), [3..88]);
        m.mark_unwritten(at + 110, 60).expect("there");
        assert_eq!(m.unwritten(at + 100, 100).expect("there"), [10..70]);
        assert!(m.unwritten(at, 257).is_err() && m.mark_unwritten(at + 1, 256).is_err());
    }
}

//! Bytes with their initialised bits: the backing of an allocation, and of a block's shared memory.
//!
//! Offsets are checked by slicing; nothing here knows addresses. Accesses of a whole warp are in `rows`.

use super::backing::Bytes;
use super::bits::Bits;

/// Bytes and one bit for each.
#[derive(Default)]
pub(crate) struct Region {
    pub(crate) data: Bytes,
    pub(crate) bits: Bits,
}

impl Region {
    /// `len` bytes, zero and not initialised; `None` where the host has no memory.
    pub(crate) fn new(len: usize) -> Option<Region> {
        Some(Region { data: Bytes::zeroed(len)?, bits: Bits::new(len)? })
    }

    /// Bytes it holds.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Stores `data` at `offset` and marks it.
    #[inline]
    pub(crate) fn write(&mut self, offset: usize, data: &[u8]) {
        self.data[offset..offset + data.len()].copy_from_slice(data);
        self.bits.mark(offset, data.len());
    }

    /// Reads a little-endian value of 1, 2, 4 or 8 bytes.
    #[inline]
    pub(crate) fn load(&self, offset: usize, bytes: usize) -> u64 {
        let mut raw = [0u8; 8];
        raw[..bytes].copy_from_slice(&self.data[offset..offset + bytes]);
        u64::from_le_bytes(raw)
    }

    /// Writes the low `bytes` bytes of `value` and marks them.
    #[inline]
    pub(crate) fn store(&mut self, offset: usize, bytes: usize, value: u64) {
        self.data[offset..offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        self.bits.mark(offset, bytes);
    }
}

/// What a lane reads or writes in one piece.
pub(crate) trait Element: Copy + Default {
    /// Size in bytes.
    const BYTES: usize;
    /// From the first bytes of a slice of exactly `BYTES` bytes.
    fn get(bytes: &[u8]) -> Self;
    /// Into a slice of exactly `BYTES` bytes.
    fn put(self, bytes: &mut [u8]);
    /// `new` where `active` has all bits set, itself where it has none.
    fn blend(self, new: Self, active: i32) -> Self;
    /// Many, from as many times `BYTES` bytes.
    fn get_row(bytes: &[u8], row: &mut [Self]);
    /// Many, into as many times `BYTES` bytes.
    fn put_row(row: &[Self], bytes: &mut [u8]);
}

macro_rules! element {
    ($($t:ty),*) => { $(impl Element for $t {
        const BYTES: usize = size_of::<$t>();
        #[inline(always)]
        fn get(bytes: &[u8]) -> $t {
            let mut raw = [0u8; size_of::<$t>()];
            raw.copy_from_slice(bytes);
            <$t>::from_le_bytes(raw)
        }
        #[inline(always)]
        fn put(self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_le_bytes());
        }
        #[inline(always)]
        fn blend(self, new: $t, active: i32) -> $t {
            self ^ (self ^ new) & active as $t
        }
        #[inline(always)]
        fn get_row(bytes: &[u8], row: &mut [$t]) {
            assert_eq!(bytes.len(), size_of_val(row), "as many bytes as the row has");
            // SAFETY: both have the same number of bytes by the assertion, they cannot overlap since one of them is
            // borrowed mutably, and any bits are a value of an integer.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), row.as_mut_ptr().cast::<u8>(), bytes.len()) };
            if cfg!(target_endian = "big") {
                row.iter_mut().for_each(|value| *value = <$t>::from_le(*value));
            }
        }
        #[inline(always)]
        fn put_row(row: &[$t], bytes: &mut [u8]) {
            assert_eq!(bytes.len(), size_of_val(row), "as many bytes as the row has");
            if cfg!(target_endian = "big") {
                return row.iter().zip(bytes.chunks_exact_mut(size_of::<$t>())).for_each(|(value, bytes)| value.put(bytes));
            }
            // SAFETY: both have the same number of bytes by the assertion, and they cannot overlap since one of them is
            // borrowed mutably.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr().cast::<u8>(), bytes.as_mut_ptr(), bytes.len()) };
        }
    })* };
}
element!(u8, u16, u32, u64);

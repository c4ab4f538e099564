//! Bytes with their initialised bits: the backing of an allocation, and of a block's shared memory.
//!
//! Offsets are checked by slicing; nothing here knows addresses. Accesses of a whole warp are in `rows`.

use super::backing;
use super::bits::Bits;

/// Bytes and one bit for each.
#[derive(Default)]
pub(crate) struct Region {
    pub(crate) data: Vec<u8>,
    pub(crate) bits: Bits,
}

impl Region {
    /// `len` bytes, zero and not initialised; `None` where the host has no memory.
    pub(crate) fn new(len: usize) -> Option<Region> {
        Some(Region { data: backing::zeroed_bytes(len)?, bits: Bits::new(len)? })
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
    /// 16 of them from a slice of `16 * BYTES` bytes.
    fn get_row(bytes: &[u8]) -> [Self; 16];
    /// 16 of them into a slice of `16 * BYTES` bytes.
    fn put_row(row: &[Self; 16], bytes: &mut [u8]);
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
        fn get_row(bytes: &[u8]) -> [$t; 16] {
            assert_eq!(bytes.len(), 16 * size_of::<$t>(), "the slice is a row");
            // SAFETY: the slice has the size of the array by the assertion, the read is unaligned, and any bits are
            // a value of an integer.
            let row = unsafe { bytes.as_ptr().cast::<[$t; 16]>().read_unaligned() };
            row.map(<$t>::from_le)
        }
        #[inline(always)]
        fn put_row(row: &[$t; 16], bytes: &mut [u8]) {
            assert_eq!(bytes.len(), 16 * size_of::<$t>(), "the slice is a row");
            // SAFETY: the slice has the size of the array by the assertion, and the write is unaligned.
            unsafe { bytes.as_mut_ptr().cast::<[$t; 16]>().write_unaligned(row.map(<$t>::to_le)) };
        }
    })* };
}
element!(u8, u16, u32, u64);

//! Bytes with their initialised bits: the backing of an allocation, and of a block's shared memory.
//!
//! Offsets are checked by the caller or by slicing; nothing here knows addresses. `gather` and `scatter` are the
//! interpreter's paths for a whole warp.

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
    })* };
}
element!(u8, u16, u32, u64);

impl Region {
    /// 32 consecutive elements from `offset`.
    #[inline(always)]
    pub(crate) fn load_row<T: Element>(&self, offset: usize) -> [T; 32] {
        let row = &self.data[offset..offset + 32 * T::BYTES];
        let mut out = [T::default(); 32];
        for (value, bytes) in out.iter_mut().zip(row.chunks_exact(T::BYTES)) {
            *value = T::get(bytes);
        }
        out
    }

    /// Stores 32 consecutive elements at `offset` and marks them.
    #[inline(always)]
    pub(crate) fn store_row<T: Element>(&mut self, offset: usize, values: &[T; 32]) {
        let row = &mut self.data[offset..offset + 32 * T::BYTES];
        for (value, bytes) in values.iter().zip(row.chunks_exact_mut(T::BYTES)) {
            value.put(bytes);
        }
        self.bits.mark(offset, 32 * T::BYTES);
    }

    /// The element at every offset whose lane is in `mask`; other lanes get zero.
    #[inline(always)]
    pub(crate) fn gather<T: Element>(&self, offsets: &[u64; 32], mask: u32) -> [T; 32] {
        let mut out = [T::default(); 32];
        if mask == u32::MAX {
            for lane in 0..32 {
                let at = offsets[lane] as usize;
                out[lane] = T::get(&self.data[at..at + T::BYTES]);
            }
        } else {
            let mut rest = mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let at = offsets[lane] as usize;
                out[lane] = T::get(&self.data[at..at + T::BYTES]);
            }
        }
        out
    }

    /// Stores the element of every lane in `mask` at its offset, in lane order, and marks the bytes.
    #[inline(always)]
    pub(crate) fn scatter<T: Element>(&mut self, offsets: &[u64; 32], mask: u32, values: &[T; 32]) {
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let at = offsets[lane] as usize;
            values[lane].put(&mut self.data[at..at + T::BYTES]);
            self.bits.mark(at, T::BYTES);
        }
    }
}

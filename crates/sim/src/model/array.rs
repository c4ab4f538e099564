//! Arrays: memory that is named by a handle and by texels, not by addresses.

use dacapo_driver::types::*;

use super::objects::Context;
use super::table::Key;

/// An array. Its texels lie in memory row by row, without gaps.
pub(crate) struct Array {
    pub(crate) context: Key<Context>,
    /// As the program described it.
    pub(crate) descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    /// Where it lies; no program is told.
    pub(crate) address: u64,
}

/// Bytes of one channel, for the formats that are known.
pub(crate) fn channel_bytes(format: CUarray_format) -> Option<u64> {
    Some(match format {
        CU_AD_FORMAT_UNSIGNED_INT8 | CU_AD_FORMAT_SIGNED_INT8 => 1,
        CU_AD_FORMAT_UNSIGNED_INT16 | CU_AD_FORMAT_SIGNED_INT16 | CU_AD_FORMAT_HALF => 2,
        CU_AD_FORMAT_UNSIGNED_INT32 | CU_AD_FORMAT_SIGNED_INT32 | CU_AD_FORMAT_FLOAT => 4,
        _ => return None,
    })
}

impl Array {
    /// Bytes of a texel.
    pub(crate) fn texel(&self) -> u64 {
        channel_bytes(self.descriptor.Format).unwrap_or(1) * u64::from(self.descriptor.NumChannels)
    }

    /// Bytes of a row, rows of a slice, slices: at least one of each.
    pub(crate) fn extent(&self) -> [u64; 3] {
        let d = &self.descriptor;
        [d.Width as u64 * self.texel(), d.Height.max(1) as u64, d.Depth.max(1) as u64]
    }

    /// Bytes of all of it.
    pub(crate) fn bytes(&self) -> u64 {
        self.extent().iter().product()
    }
}

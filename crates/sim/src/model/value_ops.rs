//! Memory operations of streams: a word is written, or waited for.
//!
//! The comparisons are those of the driver API's page for `cuStreamWaitValue32`: GEQ is cyclic, so that a counter may wrap.

use dacapo_driver::types::*;

use super::device::On;

/// A batch of operations, done one after the other.
#[derive(Debug)]
pub(crate) struct ValueWork {
    pub(crate) ops: Vec<ValueOp>,
    /// As the program gave them: asked for, they are handed back.
    pub(crate) given: Vec<CUstreamBatchMemOpParams>,
    /// The flags of the batch.
    pub(crate) flags: u32,
    /// Where it is done.
    pub(crate) on: Option<On>,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueOp {
    /// Writes a word of 4 or 8 bytes.
    Write { address: u64, value: u64, bytes: u64 },
    /// Waits for a word of 4 or 8 bytes.
    Wait { address: u64, value: u64, bytes: u64, how: u32 },
    /// A fence: writes are seen at once here.
    Fence,
}

impl ValueOp {
    /// Whether a wait that sees `seen` is over.
    pub(crate) fn is_over(how: u32, bytes: u64, seen: u64, value: u64) -> bool {
        match how {
            CU_STREAM_WAIT_VALUE_GEQ if bytes == 4 => (seen as u32).wrapping_sub(value as u32) as i32 >= 0,
            CU_STREAM_WAIT_VALUE_GEQ => seen.wrapping_sub(value) as i64 >= 0,
            CU_STREAM_WAIT_VALUE_EQ => seen == value,
            CU_STREAM_WAIT_VALUE_AND => seen & value != 0,
            _ if bytes == 4 => !(seen as u32 | value as u32) != 0,
            _ => !(seen | value) != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_compare_as_the_manual_says() {
        let (geq, eq, and, nor) =
            (CU_STREAM_WAIT_VALUE_GEQ, CU_STREAM_WAIT_VALUE_EQ, CU_STREAM_WAIT_VALUE_AND, CU_STREAM_WAIT_VALUE_NOR);
        for (how, bytes, seen, value, over) in [
            (geq, 4, 5, 5, true),
            (geq, 4, 4, 5, false),
            // Wrapped around: 2 comes after 2^32 - 1.
            (geq, 4, 2, 0xffff_ffff, true),
            (geq, 8, 2, 0xffff_ffff, false),
            (geq, 8, 2, u64::MAX, true),
            (eq, 4, 6, 5, false),
            (eq, 8, 5, 5, true),
            (and, 4, 0b110, 0b010, true),
            (and, 4, 0b110, 0b001, false),
            (nor, 4, 0xffff_0000, 0x0000_ffff, false),
            (nor, 4, 0xffff_0000, 0x0000_fffe, true),
            (nor, 8, 0xffff_0000, 0x0000_ffff, true),
        ] {
            assert_eq!(ValueOp::is_over(how, bytes, seen, value), over, "{how} {bytes} {seen:#x} {value:#x}");
        }
    }
}

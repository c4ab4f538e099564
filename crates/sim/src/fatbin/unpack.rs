//! What is compressed, unpacked within limits.

use std::io::Read;

use super::Broken;

/// Most bytes that one entry may unpack to, and all texts of one image together. The largest text seen in NVIDIA's own libraries has some 20 MiB.
pub(crate) const BYTES_MAX: u64 = 256 << 20;
/// A block of LZ4 is at most 255 times as long unpacked, and a little.
const LZ4_RATIO: u64 = 255;

/// A bare block of LZ4 that says it unpacks to `bytes`.
pub(super) fn lz4(packed: &[u8], bytes: u64) -> Result<Vec<u8>, Broken> {
    if bytes > BYTES_MAX {
        return Err(Broken::TooLarge(bytes));
    }
    // Memory is taken for what it says, so it must be possible.
    if bytes > (packed.len() as u64).saturating_mul(LZ4_RATIO) + 64 {
        return Err(Broken::Packed("LZ4"));
    }
    let mut out = vec![0; bytes as usize];
    let written = lz4_flex::block::decompress_into(packed, &mut out).map_err(|_| Broken::Packed("LZ4"))?;
    out.truncate(written);
    Ok(out)
}

/// A frame of zstd that says it unpacks to `bytes`, which may be 0 where nobody says.
pub(super) fn zstd(packed: &[u8], bytes: u64) -> Result<Vec<u8>, Broken> {
    if bytes > BYTES_MAX {
        return Err(Broken::TooLarge(bytes));
    }
    let limit = if bytes == 0 { BYTES_MAX } else { bytes };
    let broken = || Broken::Packed("zstd");
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|_| broken())?;
    let mut out = Vec::new();
    decoder.take(limit + 1).read_to_end(&mut out).map_err(|_| broken())?;
    if out.len() as u64 > limit {
        return Err(if limit == BYTES_MAX { Broken::TooLarge(limit + 1) } else { broken() });
    }
    Ok(out)
}

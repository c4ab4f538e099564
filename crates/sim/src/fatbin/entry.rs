//! One entry of a container.

use super::Broken;
use super::unpack;

/// Least bytes of an entry's header: what comes behind differs from tool to tool.
const HEADER_MIN: usize = 64;
const SMALLEST_FIELD: usize = 8;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// Machine code.
    Elf,
    /// Something else, by its number: link-time code is 8.
    Other(u16),
}

/// An entry, not yet unpacked.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// What it holds.
    pub kind: Kind,
    /// 90 for `sm_90`.
    pub architecture: u32,
    /// For that architecture alone, or its family: the letter of `sm_90a`, `sm_100f`.
    pub letter: Option<char>,
    /// All flags, as they are written.
    pub flags: u64,
    /// The name of the source, where it is kept.
    pub name: Option<String>,
    /// Words to the compiler: ` --generate-line-info `, `--compile-only`.
    pub options: String,
    packed: &'a [u8],
    unpacked_bytes: u64,
}

/// Flags: how it is packed, and what it is for.
pub(super) const LZ4: u64 = 0x2000;
pub(super) const ZSTD: u64 = 0x8000;
const THIS_ONE_ONLY: u64 = 0x10_0000;
const FAMILY: u64 = 0x20_0000;

impl<'a> Entry<'a> {
    /// The entry at `at` of a container, and where the next one begins.
    pub(super) fn read(bytes: &'a [u8], at: usize) -> Result<(Entry<'a>, usize), Broken> {
        let cut = Broken::Cut(at);
        let rest = bytes.get(at..).ok_or(cut.clone())?;
        if rest.len() < HEADER_MIN {
            return Err(cut);
        }
        let u32_at = |at| u32_at(rest, at).ok_or(Broken::Cut(at));
        let u64_at = |at| u64_at(rest, at).ok_or(Broken::Cut(at));
        let header = u32_at(4)? as usize;
        let stored = usize::try_from(u64_at(8)?).map_err(|_| cut.clone())?;
        let end = header.checked_add(stored).filter(|end| *end <= rest.len()).ok_or(cut.clone())?;
        if header < HEADER_MIN {
            return Err(cut);
        }
        let payload = &rest[header..end];
        let (compressed, flags) = (u32_at(16)? as usize, u64_at(40)?);
        let packed = if compressed == 0 { payload } else { payload.get(..compressed).ok_or(cut)? };
        let kind = match u16_at(rest, 0).unwrap_or(0) {
            // Seen on an H200: 0x40 is taken for PTX as well.
            1 | 0x40 => Kind::Ptx,
            2 => Kind::Elf,
            other => Kind::Other(other),
        };
        let letter = match flags {
            flags if flags & THIS_ONE_ONLY != 0 => Some('a'),
            flags if flags & FAMILY != 0 => Some('f'),
            _ => None,
        };
        let name = text(rest, u32_at(32)? as usize, u32_at(36)? as usize);
        let record = u32_at(20)? as usize;
        let options = match rest.get(record..record.saturating_add(SMALLEST_FIELD)) {
            Some(record) if kind == Kind::Ptx => {
                let field = |at| self::u32_at(record, at).unwrap_or(0) as usize;
                text(rest, field(0), field(4))
            }
            _ => None,
        };
        let entry = Entry {
            kind,
            architecture: u32_at(28)?,
            letter,
            flags,
            name,
            options: options.unwrap_or_default(),
            packed,
            unpacked_bytes: u64_at(56)?,
        };
        Ok((entry, at + end))
    }

    /// What is in it, unpacked.
    ///
    /// # Errors
    ///
    /// [`Broken::Packed`] and [`Broken::TooLarge`].
    pub fn contents(&self) -> Result<Vec<u8>, Broken> {
        if self.flags & LZ4 != 0 {
            return unpack::lz4(self.packed, self.unpacked_bytes);
        }
        if self.flags & ZSTD != 0 {
            return unpack::zstd(self.packed, self.unpacked_bytes);
        }
        Ok(self.packed.to_vec())
    }

    /// The architecture as compilers spell it: `sm_90a`.
    pub fn target(&self) -> String {
        let letter = self.letter.map(String::from).unwrap_or_default();
        format!("{}{}{letter}", if self.kind == Kind::Ptx { "compute_" } else { "sm_" }, self.architecture)
    }
}

/// The text of `len` bytes at `at`; `None` where there is none.
fn text(bytes: &[u8], at: usize, len: usize) -> Option<String> {
    let found = bytes.get(at..at.checked_add(len)?).filter(|found| at != 0 && !found.is_empty())?;
    let found = found.split(|byte| *byte == 0).next()?;
    (!found.is_empty()).then(|| String::from_utf8_lossy(found).into_owned())
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

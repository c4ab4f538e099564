//! Containers made here: the images that a link gives out, and those that tests load.

use super::MAGIC;
use super::entry::{LZ4, ZSTD};

/// Marks the entries of a linked image: all of them are one module. No tool of NVIDIA's sets this flag.
pub const LINKED: u64 = 1 << 62;

const ENTRY_HEADER: usize = 80;

/// How what is stored is packed. It is packed already: this module only says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As it is.
    Plain,
    /// A bare block of LZ4 of a text of this many bytes.
    Lz4(u64),
    /// A frame of zstd of a text of this many bytes.
    Zstd(u64),
}

/// An entry to write.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// 1 is PTX, 2 machine code.
    pub kind: u16,
    /// 90 for `sm_90`.
    pub architecture: u32,
    /// Further flags, such as [`LINKED`].
    pub flags: u64,
    /// The name of the source; empty for none.
    pub name: &'a str,
    /// What is stored.
    pub stored: &'a [u8],
    /// How that is packed.
    pub packing: Packing,
}

/// A container of these entries.
pub fn write(entries: &[Written<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(MAGIC.to_le_bytes());
    out.extend(1u16.to_le_bytes());
    out.extend(16u16.to_le_bytes());
    out.extend(0u64.to_le_bytes());
    for entry in entries {
        put(&mut out, entry);
    }
    let bytes = out.len() as u64 - 16;
    out[8..16].copy_from_slice(&bytes.to_le_bytes());
    out
}

fn put(out: &mut Vec<u8>, entry: &Written<'_>) {
    let Written { kind, architecture, flags, name, stored, packing } = *entry;
    let padded = |bytes: usize| bytes.next_multiple_of(8);
    let header = ENTRY_HEADER + padded(name.len());
    let (compressed, unpacked, how) = match packing {
        Packing::Plain => (0, 0, 0),
        Packing::Lz4(bytes) => (stored.len() as u32, bytes, LZ4),
        Packing::Zstd(bytes) => (stored.len() as u32, bytes, ZSTD),
    };
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend(0x0101u16.to_le_bytes());
    out.extend((header as u32).to_le_bytes());
    out.extend((padded(stored.len()) as u64).to_le_bytes());
    out.extend(compressed.to_le_bytes());
    // The options record: a text of no bytes.
    out.extend(64u32.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    out.extend(9u16.to_le_bytes());
    out.extend(architecture.to_le_bytes());
    let named = if name.is_empty() { 0 } else { ENTRY_HEADER as u32 };
    out.extend(named.to_le_bytes());
    out.extend((name.len() as u32).to_le_bytes());
    // 64-bit addresses, Linux.
    out.extend((flags | how | 0x11).to_le_bytes());
    out.extend(0u64.to_le_bytes());
    out.extend(unpacked.to_le_bytes());
    out.extend([72u32.to_le_bytes(), 0u32.to_le_bytes(), [0; 4], [0; 4]].concat());
    out.extend(name.bytes());
    out.resize(start + header, 0);
    out.extend(stored);
    out.resize(start + header + padded(stored.len()), 0);
}

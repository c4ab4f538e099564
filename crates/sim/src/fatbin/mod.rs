//! Fat binaries: containers that hold a program for several architectures, as `nvcc` and `fatbinary` write them.
//!
//! The layout is not in NVIDIA's manuals; it was read off files that the tools of CUDA 12.4 to 13.0 wrote. A container is a
//! header of 16 bytes and entries behind each other; an entry is a header, whose length it says itself, and what is
//! stored, which may be compressed (LZ4 as a bare block, or a zstd frame).
//!
//! - Nothing in here panics or reads outside the bytes it is given, whatever they are.
//! - What is unpacked has a limit, and a frame that says it is larger than it can be is not begun.
//! - Entries that are not PTX are listed and not looked into: machine code is not run here.
//!
//! [`write()`] makes containers, which is what linked images are ([`Image::Linked`]).

mod choose;
mod entry;
mod host;
mod unpack;
mod write;

pub use choose::{Image, choose};
pub use entry::{Entry, Kind};
pub use host::{containers_of, is_archive, members};
pub(crate) use unpack::BYTES_MAX;
pub use write::{LINKED, Packing, Written, write};

/// What a container begins with.
pub const MAGIC: u32 = 0xba55_ed50;
/// What the wrapper around a container begins with, which a compiler puts into a program.
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// Bytes of a container's own header.
pub const HEADER_BYTES: usize = 16;

/// Why a container cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It does not begin as a container does.
    NotAContainer,
    /// It ends before it says it does, or an entry does not fit into it: the byte where that shows.
    Cut(usize),
    /// What is compressed cannot be unpacked: `LZ4` or `zstd`.
    Packed(&'static str),
    /// Unpacked it would be larger than is allowed: bytes.
    TooLarge(u64),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Broken::NotAContainer => f.write_str("it does not begin as a fat binary does"),
            Broken::Cut(at) => write!(f, "it is cut off, or its lengths are wrong: byte {at}"),
            Broken::Packed(how) => write!(f, "what is compressed in it ({how}) is damaged"),
            Broken::TooLarge(bytes) => {
                write!(f, "it unpacks to more than is taken: {bytes} bytes, of {BYTES_MAX} at most")
            }
        }
    }
}

impl std::error::Error for Broken {}

/// How long the container is whose header this is, header included.
///
/// # Errors
///
/// Bytes that are no header.
pub fn length(header: &[u8]) -> Result<u64, Broken> {
    let magic = entry::u32_at(header, 0).ok_or(Broken::NotAContainer)?;
    let version = entry::u16_at(header, 4).ok_or(Broken::NotAContainer)?;
    let own = entry::u16_at(header, 6).ok_or(Broken::NotAContainer)?;
    let bytes = entry::u64_at(header, 8).ok_or(Broken::NotAContainer)?;
    if magic != MAGIC || version != 1 || usize::from(own) < HEADER_BYTES {
        return Err(Broken::NotAContainer);
    }
    bytes.checked_add(own.into()).ok_or(Broken::Cut(8))
}

/// Is it an image that was linked here?
pub fn is_linked(bytes: &[u8]) -> bool {
    entries(bytes).is_ok_and(|entries| !entries.is_empty() && entries.iter().all(|entry| entry.flags & LINKED != 0))
}

/// The entries of a container; bytes behind its end are not looked at.
///
/// # Errors
///
/// [`Broken::NotAContainer`] and [`Broken::Cut`].
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Broken> {
    let end = usize::try_from(length(bytes)?).map_err(|_| Broken::Cut(8))?;
    let bytes = bytes.get(..end).ok_or(Broken::Cut(bytes.len()))?;
    let mut at = entry::u16_at(bytes, 6).map_or(HEADER_BYTES, usize::from);
    let mut entries = Vec::new();
    while at < bytes.len() {
        let (entry, next) = Entry::read(bytes, at)?;
        entries.push(entry);
        at = next;
    }
    Ok(entries)
}

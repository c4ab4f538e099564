//! Fat binaries in the objects of a host compiler, and in archives of those: ELF, and `ar` as `nvcc -lib` writes it.

use super::entry::{u16_at, u32_at, u64_at};
use super::{MAGIC, length};

/// Sections that `nvcc` puts containers into; the second is of `-rdc=true`.
const SECTIONS: [&[u8]; 2] = [b".nv_fatbin", b"__nv_relfatbin"];
const ARCHIVE: &[u8] = b"!<arch>\n";
/// Bytes of the header of a member.
const MEMBER: usize = 60;

/// Is it an archive?
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(ARCHIVE)
}

/// The members of an archive, as far as it is whole. Those that are tables of the archive itself are among them.
pub fn members(archive: &[u8]) -> Vec<&[u8]> {
    let mut members = Vec::new();
    let mut at = ARCHIVE.len();
    while let Some(header) = archive.get(at..).and_then(|rest| rest.get(..MEMBER)) {
        let digits = String::from_utf8_lossy(&header[48..58]).trim().to_string();
        let Ok(size) = digits.parse::<usize>() else { break };
        let start = at + MEMBER;
        let Some(member) = start.checked_add(size).and_then(|end| archive.get(start..end)) else { break };
        members.push(member);
        // Members begin at even bytes.
        at = start + size + size % 2;
    }
    members
}

/// The containers in an object of a host compiler; `None` where it is no such object.
pub fn containers_of(object: &[u8]) -> Option<Vec<&[u8]>> {
    // ELF, 64 bits, little endian.
    if object.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let start = usize::try_from(u64_at(object, 40)?).ok()?;
    let (size, count, names) = (u16_at(object, 58)?, u16_at(object, 60)?, u16_at(object, 62)?);
    let section = |index: u16| {
        let at = start.checked_add(usize::from(index).checked_mul(size.into())?)?;
        object.get(at..)?.get(..64)
    };
    let contents = |header: &[u8]| {
        let (from, bytes) = (usize::try_from(u64_at(header, 24)?).ok()?, usize::try_from(u64_at(header, 32)?).ok()?);
        object.get(from..from.checked_add(bytes)?)
    };
    let table = section(names).and_then(contents).unwrap_or(&[]);
    let mut containers = Vec::new();
    // Sections lie apart from each other, so all of them together are no longer than the object. One whose headers all mean
    // the same bytes would take for ever.
    let mut left = object.len();
    for header in (0..count).filter_map(section) {
        let name = u32_at(header, 0).and_then(|at| table.get(at as usize..)).unwrap_or(&[]);
        let name = name.split(|byte| *byte == 0).next().unwrap_or(name);
        if SECTIONS.contains(&name) {
            let found = contents(header).unwrap_or(&[]);
            let Some(rest) = left.checked_sub(found.len()) else { break };
            left = rest;
            containers.extend(behind_each_other(found));
        }
    }
    Some(containers)
}

/// Containers in a section; each begins at a multiple of 8.
fn behind_each_other(mut section: &[u8]) -> Vec<&[u8]> {
    let mut containers = Vec::new();
    while section.len() >= 16 {
        let whole = match (u32_at(section, 0), length(section)) {
            (Some(MAGIC), Ok(bytes)) => usize::try_from(bytes).ok().filter(|bytes| *bytes <= section.len()),
            _ => None,
        };
        let Some(whole) = whole else {
            section = &section[8..];
            continue;
        };
        containers.push(&section[..whole]);
        section = &section[whole.next_multiple_of(8).min(section.len())..];
    }
    containers
}

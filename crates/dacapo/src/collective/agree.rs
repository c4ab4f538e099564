//! Comparing recordings before they become graphs.
//!
//! Ranks whose graphs hold different collectives would hang in their first replay, or worse. So each tells the others what it
//! has recorded:
//!
//! 1. how many collectives, and a hash of all: 16 bytes a rank, and nearly always that is all;
//! 2. where that differs, a hash of each one, so that everybody finds the first that differs;
//! 3. the words for that one, which become the error, the same on every rank.
//!
//! What only two ranks do (`send`, `recv`) is different on every rank by nature, and not compared. All three steps are gathered
//! by the communicator itself, on a stream of the library's own.

use crate::collective::gather::gather;
use crate::collective::member::Member;
use crate::device::JointOp;
use crate::error::{Error, ErrorKind, Result};
use crate::nesting::refuse_in_recording;

/// How errors name what is done here.
const OP: &str = "compare recordings";

/// Bytes of one op's words.
const WORDS: usize = 512;

/// # Errors
///
/// - [`ErrorKind::RanksDiffer`], on every rank.
/// - [`ErrorKind::RankFailed`]: a rank did not come, or has ended.
/// - [`ErrorKind::EagerInRecording`]: the ranks are asked now, and inside a recording nothing may be.
pub(super) fn agree(member: &Member, ops: &[JointOp]) -> Result<()> {
    // Whoever waits for a rank that compares nothing is told of the first op that is compared: the others lack it.
    let Some(JointOp { at, .. }) = ops.first() else { return Ok(()) };
    let blame = |error: Error| error.on_behalf(OP, at);
    refuse_in_recording("making a graph with collectives of several ranks").map_err(blame)?;
    let gather = |mine: &[u64]| gather(member, mine, (OP, at)).map_err(blame).map_err(unanswered);
    let hashes: Vec<u64> = ops.iter().map(|op| hash(op.what.bytes())).collect();
    let all = hash(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    let heads = gather(&[ops.len() as u64, all])?;
    let heads: Vec<[u64; 2]> = heads.chunks_exact(2).map(|head| [head[0], head[1]]).collect();
    if heads.iter().all(|head| *head == heads[0]) {
        return Ok(());
    }
    let longest = longest_row(&heads, ops.len());
    let mut row = hashes;
    row.resize(longest, 0);
    let rows = gather(&row)?;
    let at = |rank: usize, number: usize| rows[rank * longest + number];
    let differs = |number: &usize| (1..member.size).any(|rank| at(rank, *number) != at(0, *number));
    // Equal hashes of each and another hash of all cannot be.
    let number = (0..longest).find(differs).unwrap_or(0);
    let here = match ops.get(number) {
        Some(JointOp { what, named, .. }) => format!("{what}, {named}"),
        None => "nothing: it has fewer".to_string(),
    };
    let words = gather(&packed(&here))?;
    let each = words.chunks_exact(WORDS / 8).map(unpacked).enumerate();
    let ranks = each.map(|(rank, words)| format!("rank {rank}: {words}")).collect();
    Err(Error::new(ErrorKind::RanksDiffer { rank: member.rank, number: number + 1, here, ranks }))
}

/// How many ops the ranks tell each other of: as far as the first that can differ, which is behind the last one of whoever has the
/// fewest. So it is no more than what is recorded here (`mine`) and one, whatever others say, also of this rank: it may be at a
/// collective of its own.
fn longest_row(heads: &[[u64; 2]], mine: usize) -> usize {
    let counts = || heads.iter().map(|[count, _]| usize::try_from(*count).unwrap_or(usize::MAX));
    let (shortest, longest) = (counts().min().unwrap_or(0).min(mine), counts().max().unwrap_or(0));
    longest.min(shortest.saturating_add(1))
}

/// Another rank did not answer. Perhaps it had nothing to compare, and nobody could tell from what the error says.
fn unanswered(error: Error) -> Error {
    let ErrorKind::RankFailed { rank, size, why, in_flight } = error.kind() else { return error };
    let note = "a recording with collectives is compared with those of the other ranks before it becomes a graph, and one without \
                any is not: every rank must record some, or none";
    let why = format!("{why}\nnote: {note}");
    Error::new(ErrorKind::RankFailed { rank: *rank, size: *size, why, in_flight: in_flight.clone() })
}

/// FNV-1a: the same on every machine.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn packed(text: &str) -> Vec<u64> {
    let mut bytes = [0; WORDS];
    let mut end = text.len().min(WORDS);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn unpacked(words: &[u64]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rank_decides_for_others_how_much_is_compared() {
        for (heads, mine, rows) in [
            (vec![[2, 7], [2, 8]], 2, 2),
            (vec![[0, 7], [5, 8]], 5, 1),
            (vec![[3, 7], [u64::MAX, 8], [4, 9]], 3, 4),
            (vec![[u64::MAX, 7], [u64::MAX, 8]], 3, 4),
        ] {
            assert_eq!(longest_row(&heads, mine), rows, "{heads:?}");
        }
    }

    #[test]
    fn words_come_back() {
        let long = "ü".repeat(WORDS);
        for text in ["", "all_reduce of 4 f32, sum", &long] {
            let back = unpacked(&packed(text));
            assert!(text.starts_with(&back) && back.len() + 2 > text.len().min(WORDS), "{back}");
        }
        assert_ne!(hash(b"a".iter().copied()), hash(b"b".iter().copied()));
    }
}

//! What a rank gives or is given: bytes, and which of them nobody has written.

use std::ops::Range;

/// Bytes, with what is not initialised among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    bytes: Vec<u8>,
    /// Ranges that nobody has written: not empty, in order, one apart from the next, all within the bytes.
    unwritten: Vec<Range<u64>>,
}

impl Content {
    /// Bytes that somebody has written.
    pub(crate) fn written(bytes: Vec<u8>) -> Content {
        Content { bytes, unwritten: Vec::new() }
    }

    /// `None` where the ranges are not in order within the bytes.
    pub(crate) fn new(bytes: Vec<u8>, unwritten: Vec<Range<u64>>) -> Option<Content> {
        let are_ranges = unwritten.iter().all(|range| range.start < range.end && range.end <= bytes.len() as u64);
        let in_order = unwritten.windows(2).all(|pair| pair[0].end < pair[1].start);
        (are_ranges && in_order).then_some(Content { bytes, unwritten })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_written(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// What nobody has written of a part, counted from where that begins.
    pub(crate) fn unwritten(&self, part: Range<usize>) -> impl Iterator<Item = Range<u64>> {
        let (start, end) = (part.start as u64, part.end as u64);
        let cut = move |range: &Range<u64>| range.start.max(start)..range.end.min(end);
        let within = self.unwritten.iter().map(cut).filter(|range| range.start < range.end);
        within.map(move |range| range.start - start..range.end - start)
    }

    /// One behind the other.
    pub(crate) fn concat<'c>(parts: impl IntoIterator<Item = &'c Content>) -> Content {
        let mut all = Content::default();
        for part in parts {
            let start = all.bytes.len() as u64;
            all.bytes.extend(&part.bytes);
            for range in &part.unwritten {
                let range = range.start + start..range.end + start;
                match all.unwritten.last_mut().filter(|last| last.end == range.start) {
                    Some(last) => last.end = range.end,
                    None => all.unwritten.push(range),
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: usize, unwritten: &[(u64, u64)]) -> Content {
        Content::new(vec![7; bytes], unwritten.iter().map(|(start, end)| *start..*end).collect()).expect("in order")
    }

    #[test]
    fn parts_know_what_is_unwritten_in_them() {
        let content = of(100, &[(0, 4), (50, 60), (99, 100)]);
        let in_part = |part| content.unwritten(part).map(|range| (range.start, range.end)).collect::<Vec<_>>();
        assert_eq!(in_part(0..100), [(0, 4), (50, 60), (99, 100)]);
        assert_eq!(in_part(2..55), [(0, 2), (48, 53)]);
        assert_eq!(in_part(4..50), []);
        assert_eq!(in_part(52..53), [(0, 1)]);
    }

    #[test]
    fn one_behind_the_other_is_one() {
        let all = Content::concat([&of(8, &[(4, 8)]), &of(8, &[(0, 2), (6, 7)]), &of(8, &[])]);
        assert_eq!(all, of(24, &[(4, 10), (14, 15)]));
    }

    #[test]
    #[allow(
        clippy::single_range_in_vec_init,
        clippy::reversed_empty_ranges,
        reason = "lists of ranges, and one that ends before it begins"
    )]
    fn ranges_that_make_no_sense_are_refused() {
        for ranges in [vec![0..9], vec![3..3], vec![4..2], vec![0..2, 2..3], vec![4..5, 0..1]] {
            assert_eq!(Content::new(vec![0; 8], ranges.clone()), None, "{ranges:?}");
        }
    }
}

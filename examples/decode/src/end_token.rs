//! Which token makes a good end: found in texts that were written without one.
//!
//! A text does not change before its end, so where each would end by a token is known from what it is without an end.

/// After how many chosen tokens each text, of one given token, ends with this one; None where it does not.
fn ends(texts: &[Vec<u32>], token: u32) -> impl Iterator<Item = Option<usize>> {
    texts.iter().map(move |text| text[1..].iter().position(|&chosen| chosen == token).map(|at| at + 1))
}

/// The token that ends texts farthest from each other. Those that do not choose it end at their limits.
pub fn spread(texts: &[Vec<u32>], vocabulary: usize) -> u32 {
    let farthest = |token: &u32| {
        let mut lengths: Vec<usize> =
            ends(texts, *token).zip(texts).map(|(end, text)| end.unwrap_or(text.len() - 1)).collect();
        lengths.sort_unstable();
        let gap = lengths.windows(2).map(|pair| pair[1] - pair[0]).min();
        let last = ends(texts, *token).flatten().max();
        (gap, ends(texts, *token).flatten().count(), last)
    };
    (0..vocabulary as u32).max_by_key(farthest).unwrap_or(0)
}

/// The token that all texts choose and that ends the last of them latest; none of the vocabulary where no token is in all.
pub fn late(texts: &[Vec<u32>], vocabulary: usize) -> u32 {
    let last = |token: &u32| ends(texts, *token).collect::<Option<Vec<_>>>()?.into_iter().max();
    (0..vocabulary as u32).filter(|token| last(token).is_some()).max_by_key(last).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_spread_over_the_texts() {
        // 1 ends two of them after 1 and 2 tokens, the third has 4; every other token ends two together, or none.
        let texts = [vec![9, 1, 2, 5, 5], vec![2, 3, 1, 5, 5], vec![1, 3, 2, 3, 3]];
        assert_eq!(spread(&texts, 10), 1);
        assert_eq!(spread(&[vec![9, 4, 4, 6]], 10), 6, "of one text, the latest");
    }

    #[test]
    fn the_late_token_is_one_that_all_texts_choose() {
        // 9 is chosen last of all, but by one text; 2 is in both, later than 1.
        assert_eq!(late(&[vec![5, 1, 2, 9], vec![5, 1, 1, 2]], 10), 2);
        assert_eq!(late(&[vec![3, 1, 1], vec![3, 2, 2]], 10), u32::MAX);
    }
}

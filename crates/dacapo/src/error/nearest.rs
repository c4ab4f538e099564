//! Which of some names was meant, when another was written.

/// The names, the most similar to `wanted` first; those that are as similar as each other in the alphabet's order.
#[cold]
pub(crate) fn nearest_first(wanted: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names.sort_by_key(|name| distance(wanted, name));
    names
}

/// Whether somebody who wrote `wanted` may well have meant `name`: a few letters differ, or one is a part of the other, as
/// where C++ has put a name among others.
pub(super) fn is_near(wanted: &str, name: &str) -> bool {
    distance(wanted, name) <= wanted.chars().count().div_ceil(3).min(4)
}

/// How many letters must be changed, added or left out. One that contains the other is next to it.
fn distance(a: &str, b: &str) -> usize {
    if a != b && a.len().min(b.len()) >= 3 && (a.contains(b) || b.contains(a)) {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, one) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(one != other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_are_changed_added_left_out_or_of_another_case() {
        assert_eq!(distance("saxpy", "saxpy"), 0);
        assert_eq!([distance("saxpy", "sexpy"), distance("saxpy", "sxpy"), distance("sxpy", "saxpy")], [1, 1, 1]);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("Saxpy", "saxpy"), 0);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn the_most_similar_name_comes_first_and_the_rest_in_a_fixed_order() {
        let names = ["scale", "saxpy", "add", "scale"].map(String::from).to_vec();
        assert_eq!(nearest_first("saxpyy", names), ["saxpy", "add", "scale"]);
    }

    #[test]
    fn a_mangled_name_is_near_and_a_strange_one_is_not() {
        assert!(is_near("saxpy", "_Z5saxpyPfS_") && is_near("saxpyy", "saxpy") && is_near("Saxpy", "saxpy"));
        assert!(!is_near("saxpy", "softmax_backward") && !is_near("add", "mul"));
    }
}

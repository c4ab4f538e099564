//! What the program has said of managed memory: advice and prefetches, by pages, as ranges are asked for it.
//!
//! Nothing moves here: host and kernels use the same bytes. What is kept is what an H200 answers afterwards.

use std::collections::BTreeMap;

/// Advice and prefetches are kept for whole pages.
pub(crate) const PAGE: u64 = 4096;

/// Where something is, or ought to be: `CU_MEM_LOCATION_TYPE_*` and which one of that type.
pub(crate) type Residence = Option<(u32, i32)>;

/// What is known of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) read_mostly: bool,
    pub(crate) preferred: Residence,
    /// The devices that it was said to be accessed by, a bit for each.
    pub(crate) accessed_by: u64,
    pub(crate) accessed_by_host: bool,
    /// Where it was prefetched to last.
    pub(crate) prefetched: Residence,
}

/// The pages of one allocation.
#[derive(Clone, Debug)]
pub(crate) struct Managed {
    /// Each holds from its page to the next one's.
    runs: BTreeMap<u64, Page>,
}

impl Default for Managed {
    fn default() -> Managed {
        Managed { runs: BTreeMap::from([(0, Page::default())]) }
    }
}

impl Managed {
    /// Changes the pages that the bytes `from..to` touch.
    pub(crate) fn change(&mut self, from: u64, to: u64, change: impl Fn(&mut Page)) {
        let (first, end) = (from / PAGE, to.div_ceil(PAGE));
        for cut in [first, end] {
            let before = self.runs.range(..=cut).next_back().map(|(_, page)| *page).unwrap_or_default();
            self.runs.insert(cut, before);
        }
        self.runs.range_mut(first..end).for_each(|(_, page)| change(page));
        // What does not differ from the run before it is one with it.
        let mut last = None;
        self.runs.retain(|_, page| last.replace(*page) != Some(*page));
    }

    /// The pages that the bytes `from..to` touch, one for each run.
    pub(crate) fn pages(&self, from: u64, to: u64) -> impl Iterator<Item = &Page> {
        let (first, end) = (from / PAGE, to.div_ceil(PAGE));
        let start = self.runs.range(..=first).next_back().map_or(0, |(at, _)| *at);
        self.runs.range(start..end.max(start + 1)).map(|(_, page)| page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mostly(managed: &Managed, from: u64, to: u64) -> Vec<bool> {
        managed.pages(from, to).map(|page| page.read_mostly).collect()
    }

    #[test]
    fn a_change_holds_for_the_pages_it_touches_and_no_others() {
        let mut managed = Managed::default();
        managed.change(PAGE + 5, PAGE + 6, |page| page.read_mostly = true);
        assert_eq!(mostly(&managed, PAGE, 2 * PAGE), [true], "its whole page");
        assert_eq!(mostly(&managed, 0, PAGE), [false]);
        assert_eq!(mostly(&managed, 0, 3 * PAGE), [false, true, false]);
        managed.change(0, 3 * PAGE, |page| page.read_mostly = true);
        assert_eq!(mostly(&managed, 0, 3 * PAGE), [true], "runs that agree are one");
        managed.change(0, 9 * PAGE, |page| page.read_mostly = false);
        assert_eq!(managed.runs.len(), 1);
    }
}

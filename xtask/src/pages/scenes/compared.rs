//! Two recordings on one page.

use super::{chosen, has, in_other_windows, looks_chosen, ready, same};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("what is new", tab.count("#after .op.added")?, 4)?;
    same("what is gone", tab.count("#before .op.removed")?, 0)?;
    tab.holds("document.querySelectorAll('#after .op.changed').length >= 2")?;
    same("the list of differences", tab.count_shown("#difference")?, 1)?;
    has("what has changed", &tab.text("#differences")?, "by: 1.0 (baked) -> 2.0 (baked)")?;
    tab.click("#differences [data-pick='12'][data-of='after']")?;
    same("what is new", chosen(tab)?, "12 add_stride")?;
    has("what is told of it", &tab.text("#details")?, "only in the second recording")?;
    looks_chosen(tab, 12)?;
    tab.click("#differences [data-pick='5'][data-of='after']")?;
    same("what has changed", chosen(tab)?, "5 add")?;
    looks_chosen(tab, 5)?;
    tab.picture("changed")?;
    tab.check()?;
    tab.click("#switch [data-view='before']")?;
    same("the first recording", (tab.count_shown("#before")?, tab.count_shown("#after")?), (1, 0))?;
    same("nothing is chosen", chosen(tab)?, "layers")?;
    tab.picture("before")?;
    tab.check()?;
    tab.key("b")?;
    same("the second recording", (tab.count_shown("#before")?, tab.count_shown("#after")?), (0, 1))?;
    in_other_windows(tab)
}

//! Two recordings on one page.

use super::{SOON, chosen, has, in_other_windows, same};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    tab.wait_until("document.documentElement.dataset.ready === 'yes'", SOON)?;
    same("what is new", tab.count("#after .op.added")?, 4)?;
    same("what is gone", tab.count("#before .op.removed")?, 0)?;
    tab.holds("document.querySelectorAll('#after .op.changed').length >= 2")?;
    same("the list of differences", tab.count_shown("#difference")?, 1)?;
    has("what has changed", &tab.text("#differences")?, "by: 1.0 (baked) -> 2.0 (baked)")?;
    tab.click("#differences .tilde + .go, #differences .go")?;
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

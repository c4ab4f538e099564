//! Texts that want to be something else: each is shown as it is, and does nothing.

use dacapo_suite::scenes::ODD_TEXTS;
use serde_json::json;

use super::{chosen, has, in_other_windows, list_fits, ready, same, search};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    harmless(tab)?;
    tab.key("f")?;
    tab.check().map_err(|error| format!("fitted: {error}"))?;
    tab.key("Escape")?;
    for (at, text) in ODD_TEXTS.iter().enumerate() {
        tab.key(if at == 0 { "ArrowDown" } else { "ArrowRight" })?;
        tab.holds(&format!("location.hash === '#op={at}'"))?;
        // As it is, but for what a page cannot hold.
        let shown = tab.eval("document.querySelector('#details h2').textContent")?;
        let wanted = format!("{at} {text}").replace('\u{0}', "\u{fffd}");
        if shown != json!(wanted) && shown != json!(format!("{at} {text}")) {
            return Err(format!("`{text}` is shown as {shown}"));
        }
        tab.check().map_err(|error| format!("with `{text}` chosen: {error}"))?;
    }
    tab.key("ArrowRight")?;
    has("10,000 characters", &chosen(tab)?, "long long")?;
    tab.picture("long")?;
    tab.check().map_err(|error| format!("with the long one chosen: {error}"))?;
    tab.key("ArrowRight")?;
    same("the one behind the long one", chosen(tab)?, format!("{} after", ODD_TEXTS.len() + 1))?;
    search(tab, "<img")?;
    tab.picture("found")?;
    tab.check()?;
    list_fits(tab, "<img")?;
    same("markup is found", tab.text("#count")?, format!("1 of {}", ODD_TEXTS.len() + 2))?;
    search(tab, "שלום")?;
    tab.key("Enter")?;
    has("text from right to left is found", &chosen(tab)?, "שלום עולם")?;
    tab.click("#tab-memory")?;
    tab.picture("memory")?;
    tab.check()?;
    tab.click("#tab-memory")?;
    tab.key("Escape")?;
    in_other_windows(tab)?;
    harmless(tab)
}

/// Nothing of the texts has become part of the page.
fn harmless(tab: &mut Tab) -> Result<(), String> {
    tab.holds("document.title !== 'hacked'")?;
    same("pictures", tab.count("img, image, iframe, object")?, 0)?;
    same("scripts", tab.count("script")?, 3)
}

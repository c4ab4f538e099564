//! Two timelines, of a replay and of the same ops one after the other.

use serde_json::json;

use super::{chosen, click_op, has, in_other_windows, ready, rect, same};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("the times are shown", tab.count_shown("#time")?, 1)?;
    same("bars of both", tab.count("#time .timeline [data-timed]")?, 2 * 18)?;
    let bar = "#time .timeline [data-timed='1']";
    tab.click(bar)?;
    same("the op of the bar", chosen(tab)?, "1 add")?;
    same("its bars", tab.count(".timeline [data-timed].pick")?, 2)?;
    let times = tab.text("#times")?;
    has("its time in the replay", &times, "replay")?;
    has("its time alone", &times, "eager")?;
    tab.picture("bar")?;
    tab.check()?;
    click_op(tab, 2)?;
    tab.holds("[...document.querySelectorAll('.timeline .pick')].every(bar => bar.dataset.timed === '2')")?;
    stretched(tab, bar)?;
    has("in numbers", &tab.text("#beside")?, "critical path")?;
    tab.eval("const by = document.querySelector('#colour'); by.value = 'time'; by.dispatchEvent(new Event('change'))")?;
    tab.picture("by-time")?;
    tab.check()?;
    let colours =
        "new Set([...document.querySelectorAll('#after .op > rect')].map(e => getComputedStyle(e).fill)).size";
    tab.holds(&format!("{colours} > 1"))?;
    tab.click("#tab-time")?;
    same("the times are away", tab.count_shown("#time")?, 0)?;
    in_other_windows(tab)
}

/// The timelines are as much wider as the slider says, both of them.
fn stretched(tab: &mut Tab, bar: &str) -> Result<(), String> {
    let before = rect(tab, &format!("{bar} rect"))?;
    tab.click("input[data-stretch]")?;
    let times = tab.eval("Number(document.querySelector('input[data-stretch]').value)")?;
    let times = times.as_f64().filter(|times| *times > 2.0).ok_or("the slider did not move")?;
    let after = rect(tab, &format!("{bar} rect"))?;
    if (after[2] / before[2] - times).abs() > times * 0.1 {
        return Err(format!("stretched {times} times, a bar of {} pixels is {} wide", before[2], after[2]));
    }
    tab.picture("stretched")?;
    tab.check()?;
    tab.key("Home")?;
    same("the slider is back", tab.eval("document.querySelector('input[data-stretch]').value")?, json!("1"))
}

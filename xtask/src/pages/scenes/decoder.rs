//! A decoder of a hundred ops, and of ten thousand: what was quick stays quick.

use std::time::{Duration, Instant};

use super::{chosen, click_op, has, in_other_windows, ready, rect, same, search};
use crate::pages::tab::Tab;

/// Uses the page of a hundred ops.
pub fn hundred(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after [data-op]")?, 100)?;
    click_op(tab, 1)?;
    same("what was clicked", chosen(tab)?, "1 linear")?;
    has("whom it waits for", &tab.text("#details")?, "0 norm")?;
    tab.check()?;
    // A reader who was sent a place finds it.
    tab.eval("location.hash = '#op=57'")?;
    tab.reload()?;
    same("the place in the address", chosen(tab)?, "57 act")?;
    tab.holds(
        "(() => { const a = document.querySelector('.op.pick rect').getBoundingClientRect(), \
         b = document.querySelector('#graph').getBoundingClientRect(); \
         return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom })()",
    )?;
    in_other_windows(tab)
}

/// Uses the page of ten thousand ops.
pub fn many(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after [data-op]")?, 10_000)?;
    tab.picture("folded")?;
    let quick = |what: &str, limit: Duration, began: Instant| {
        let took = began.elapsed();
        if took < limit { Ok(()) } else { Err(format!("{what} took {} ms", took.as_millis())) }
    };
    let began = Instant::now();
    search(tab, "layer777 down")?;
    quick("a search", Duration::from_secs(10), began)?;
    same("how many are found", tab.text("#count")?, "1 of 10000")?;
    let began = Instant::now();
    tab.key("Enter")?;
    quick("unfolding around an op", Duration::from_secs(10), began)?;
    same("what is found", chosen(tab)?, "7778 linear")?;
    tab.picture("found")?;
    tab.check()?;
    let began = Instant::now();
    tab.click("#fold")?;
    tab.key("f")?;
    quick("unfolding all", Duration::from_secs(20), began)?;
    tab.picture("unfolded")?;
    tab.check()?;
    let began = Instant::now();
    let [left, top, width, height] = rect(tab, "#graph")?;
    for _ in 0..9 {
        tab.wheel(left + width / 2.0, top + height / 2.0, -240.0)?;
    }
    quick("zooming in", Duration::from_secs(20), began)?;
    tab.holds(
        "[...document.querySelectorAll('#after .op > rect')].some(rect => {
           const box = rect.getBoundingClientRect();
           return box.width > 20 && box.left > 0 && box.right < innerWidth && box.top > 0 && box.bottom < innerHeight;
         })",
    )
    .map_err(|error| format!("no op can be seen: {error}"))
}

//! A decoder of a hundred ops, and of ten thousand: what was quick stays quick.

use std::time::{Duration, Instant};

use super::{chosen, click_op, has, in_other_windows, ready, rect, same, search};
use crate::pages::tab::Tab;

/// Uses the page of a hundred ops.
pub fn hundred(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after [data-op]")?, 100)?;
    same("under 300 KiB", tab.bytes()? < 300 << 10, true)?;
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
    // In a browser that does nothing else a search is done, and shown, in less than this; here others may build beside it.
    for words in ["linear", "layer777 down", "n"] {
        let took = tab.eval(&answer(words))?.as_f64().ok_or("no time")?;
        println!("    search for `{words}` in 10,000 ops: {took:.0} ms until its list is shown");
        let limit = if tab.is_strict { 100.0 } else { 1000.0 };
        if took > limit {
            return Err(format!("a search for `{words}` took {took:.0} ms, may take {limit} ms"));
        }
    }
    search(tab, "layer777 down")?;
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

/// A search, and how many milliseconds later its answer has been drawn.
fn answer(words: &str) -> String {
    format!(
        "(async () => {{ const field = document.getElementById('search'); const drawn = () => new Promise(done => \
         requestAnimationFrame(() => setTimeout(done))); await drawn(); const began = performance.now(); \
         field.value = {words:?}; field.dispatchEvent(new Event('input')); await drawn(); return performance.now() - began }})()"
    )
}

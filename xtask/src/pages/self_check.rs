//! A small page on which the harness shows that it does what it says: each event arrives, each question is answered.
//!
//! That it also sees what is wrong is in `tests.rs`: a page of a scene must be right.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::scenes::{self, same};
use super::tab::Tab;

/// Writes the page.
pub fn write(file: &Path) -> Result<(), String> {
    scenes::write(file, include_str!("self_check.html"))
}

/// Uses everything a script can use.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    mouse(tab)?;
    keys(tab)?;
    window(tab)
}

fn mouse(tab: &mut Tab) -> Result<(), String> {
    for clicks in 1..=10 {
        tab.click("#count")?;
        same("clicks that a user's hand made, a frame later", tab.text("#count")?, format!("clicked {clicks}"))?;
    }
    tab.holds("!document.querySelector('#note').hidden")?;
    // The note lies on the heading, and hides it: no text overlaps another.
    tab.check()?;
    tab.hover("h1 b").err().ok_or("the note does not cover the heading")?;
    tab.hover("#find")?;
    tab.holds("document.querySelector('#note').hidden")?;
    tab.click(".list p:nth-child(70)")?;
    tab.click("#line")?;
    same("what was clicked", tab.eval("log")?, json!(["line 69", "line of the drawing"]))?;
    same("text of a drawing", tab.text("#drawing text:nth-of-type(2)")?, "twobelow")?;
    let (x, y) = tab.aim("#board")?;
    tab.drag((x, y), (x + 40.0, y - 20.0))?;
    same("the way of a drag", tab.eval("[to[0] - from[0], to[1] - from[1], moves]")?, json!([40, -20, 8]))?;
    tab.wheel(x, y, -120.0)?;
    same("the wheel", tab.eval("turned")?, json!(-120))
}

fn keys(tab: &mut Tab) -> Result<(), String> {
    tab.key("ArrowDown")?;
    tab.holds("log.at(-1) === 'down'")?;
    tab.key("/")?;
    tab.type_text("a/é→")?;
    same("what was typed", tab.eval("document.querySelector('#find').value")?, json!("a/é→"))?;
    tab.wait_until("document.querySelector('#found').textContent === '4'", Duration::from_secs(5))?;
    tab.key("Control+a")?;
    tab.type_text("b")?;
    same("what was typed over all", tab.eval("document.querySelector('#find').value")?, json!("b"))?;
    tab.key("Escape")?;
    tab.holds("document.querySelector('#find').value === '' && document.activeElement === document.body")?;
    tab.holds("!document.querySelector('#inside').checkVisibility()")?;
    tab.click("summary")?;
    tab.key("Enter")?;
    tab.key("Enter")?;
    same("what is unfolded", tab.text("#inside")?, "unfolded")
}

fn window(tab: &mut Tab) -> Result<(), String> {
    same("lines", tab.count(".list p")?, 100)?;
    let paper = "getComputedStyle(document.body).backgroundColor";
    same("paper by day", tab.eval(paper)?, json!("rgb(255, 255, 255)"))?;
    tab.dark(true)?;
    same("paper by night", tab.eval(paper)?, json!("rgb(16, 16, 16)"))?;
    tab.picture("dark")?;
    tab.dark(false)?;
    tab.holds("document.querySelector('#wide').checkVisibility()")?;
    tab.size(500, 700)?;
    same("the window", tab.eval("[innerWidth, innerHeight]")?, json!([500, 700]))?;
    tab.holds("!document.querySelector('#wide').checkVisibility()")?;
    same("a promise", tab.eval("new Promise(done => setTimeout(() => done({a: 1}), 10))")?, json!({"a": 1}))
}

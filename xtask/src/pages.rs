//! `cargo xtask pages`: the pages that Dacapo writes, opened in a headless Chromium and used as a user would.
//!
//! A scene makes a page and has a script: it clicks, searches, zooms, and says what must be there then. Of every page, when
//! it is opened and when its script is done: nothing in the console, no request but for the file itself, and no text that
//! overlaps another or is cut off. The last line is
//!
//! ```text
//! pages: N scenes, P passed, F failed, in Chromium <version>
//! ```
//!
//! A machine without Chromium is no failure: the last line says `NOT RUN`, and where it was looked for.
//!
//! - `browser`: the process, and the protocol.
//! - `tab`: a page; `input`: mouse and keys; `texts`: what cannot be read; `pictures`: which are kept, and `base64`, as which
//!   they come.
//! - `scenes`: the list. `self_check`: a small page of its own on which the harness shows that it sees and does what it
//!   says.

mod base64;
mod browser;
mod input;
mod pictures;
mod scenes;
mod self_check;
mod tab;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::workspace;
use browser::Browser;
use pictures::Pictures;
use scenes::Scene;
use tab::Tab;

/// No page is larger, and each is there in this time: ten times of it where others build beside it (without `--full`).
const BYTES_MAX: u64 = 12 << 20;
const LOADED_MAX: Duration = Duration::from_secs(2);

/// Which scenes are run, and what is kept.
#[derive(clap::Args, Default)]
pub struct Scale {
    /// Hold pages to the times that they are promised to have; for a machine that does nothing else
    #[arg(long)]
    full: bool,
    /// Only scenes whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Write pictures into this folder
    #[arg(long, value_name = "DIR")]
    screenshots: Option<PathBuf>,
    /// Of the pictures, only those that show what pages are, without a number in their names
    #[arg(long, requires = "screenshots")]
    chosen: bool,
    // The scene of a test that fails runs this program again.
    #[arg(long, hide = true, conflicts_with = "only")]
    fail_as_a_test: bool,
}

/// Runs the scenes; an error if one failed.
///
/// # Errors
///
/// - What failed, in numbers; no scene has that name; Chromium is there and does not start.
pub fn run(scale: &Scale) -> Result<(), String> {
    if scale.fail_as_a_test {
        return scenes::failing::fail();
    }
    let only = scale.only.as_deref().unwrap_or_default();
    let scenes: Vec<Scene> = scenes::all().into_iter().filter(|scene| scene.name.contains(only)).collect();
    if scenes.is_empty() {
        return Err(format!("no scene's name contains `{only}`"));
    }
    let Some(program) = browser::find()? else {
        println!("{}", not_run());
        return Ok(());
    };
    let folder = workspace::target(&workspace::root()).join("pages");
    for folder in [Some(&folder), scale.screenshots.as_ref()].into_iter().flatten() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut browser = Browser::start(&program)?;
    // A panic is a failure of the scene, and is told with it.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut failures = Vec::new();
    for scene in &scenes {
        let began = Instant::now();
        let (word, times) = match play(&mut browser, scene, &folder, scale) {
            Ok(times) => ("passed", times.to_string()),
            Err(failure) => {
                failures.push((scene.name, failure));
                ("FAILED", String::new())
            }
        };
        println!("{:<28} {word} {:>7.0} ms in all{times}", scene.name, began.elapsed().as_secs_f64() * 1e3);
    }
    std::panic::set_hook(hook);
    for (name, failure) in &failures {
        println!("\n{name} failed: {failure}");
        println!("see {}", folder.join(format!("{}.html", file_name(name))).display());
        println!("reproduce: cargo xtask pages --only {name}");
    }
    let (passed, failed) = (scenes.len() - failures.len(), failures.len());
    let times =
        if scale.full { "times held to what is promised" } else { "times held to ten times of what is promised" };
    println!("{times}: 2 s to open, 100 ms to search");
    println!("pages: {} scenes, {passed} passed, {failed} failed, in Chromium {}", scenes.len(), browser.version());
    if failed == 0 { Ok(()) } else { Err(format!("{failed} scenes failed")) }
}

/// The pictures of a scene, where some are wanted.
fn pictures_of(scale: &Scale, scene: &Scene) -> Option<Pictures> {
    let folder = scale.screenshots.as_ref()?;
    Some(Pictures::new(folder, scene.name, scale.chosen))
}

/// The last line where there is no browser.
fn not_run() -> String {
    format!("pages: NOT RUN, no Chromium on this machine (looked for {})", browser::NAMES.join(", "))
}

/// How long the parts of a scene took.
struct Times {
    made: Duration,
    loaded: Duration,
    bytes: u64,
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (made_ms, loaded_ms) = (self.made.as_secs_f64() * 1e3, self.loaded.as_secs_f64() * 1e3);
        write!(f, ", {made_ms:>6.0} ms made, {loaded_ms:>5.0} ms loaded, {:>6} kB", self.bytes.div_ceil(1000))
    }
}

/// Makes the page of a scene in `folder`, opens it, runs its script, and checks what is checked of every page.
fn play(browser: &mut Browser, scene: &Scene, folder: &Path, scale: &Scale) -> Result<Times, String> {
    let name = file_name(scene.name);
    let file = folder.join(format!("{name}.html"));
    let began = Instant::now();
    caught(|| (scene.write)(&file)).map_err(|error| format!("its page was not made: {error}"))?;
    let made = began.elapsed();
    let bytes = std::fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
    if bytes > BYTES_MAX {
        return Err(format!("its page has {bytes} bytes, may have {BYTES_MAX}"));
    }
    let mut tab = Tab::new(browser)?;
    tab.is_strict = scale.full;
    if let Some(pictures) = pictures_of(scale, scene) {
        tab.keep_pictures(pictures);
    }
    let loaded = tab.open(&file)?;
    let limit = if scale.full { LOADED_MAX } else { 10 * LOADED_MAX };
    if loaded > limit {
        return Err(format!("it was there after {} ms, may take {}", loaded.as_millis(), limit.as_millis()));
    }
    tab.picture("opened")?;
    tab.check().map_err(|error| format!("as it was opened: {error}"))?;
    let done = caught(|| (scene.script)(&mut tab));
    // Also of a script that failed: its errors may say why.
    let checked = tab.check();
    tab.picture("done")?;
    match (done, checked) {
        (Ok(()), Ok(())) => Ok(Times { made, loaded, bytes }),
        (Ok(()), Err(found)) => Err(format!("when its script was done: {found}")),
        (Err(error), Ok(())) => Err(error),
        (Err(error), Err(found)) => Err(format!("{error}\nand then: {found}")),
    }
}

/// A panic as an error.
fn caught<T>(act: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        Err(format!("it panicked: {}", text.unwrap_or("without a text")))
    })
}

/// A scene's name as part of a file's.
fn file_name(name: &str) -> String {
    name.replace('/', "-")
}

#[cfg(test)]
mod tests;

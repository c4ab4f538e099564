//! Pages of what went wrong, written without a change to the program: `DACAPO_PAGES=FOLDER`.
//!
//! - A page is written for a graph that is dropped while its thread panics, as a test that fails does, or at whose ops the
//!   software device has found something; for an eager run in the second case. `DACAPO_PAGES=all:FOLDER` writes one for every
//!   graph.
//! - Graphs and runs that are over are remembered as reports, the last few of them: what fails may be noticed later. They are
//!   decided on when the device is dropped.
//! - Nothing here may disturb the program: a page that cannot be made or written is said to standard error, and that is all.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::device::{Device, Guest};
use crate::inspect::{Finding, Report};
use crate::page::Page;

/// How many graphs and runs that are over are remembered.
const KEPT_MAX: usize = 32;
/// How many of one name are written.
const SAME_MAX: usize = 1000;
/// How many characters of a label are said.
const LABEL_MAX: usize = 200;

/// What the environment asks for.
struct Asked {
    folder: PathBuf,
    are_all: bool,
}

/// Graphs and runs of a device that are over, and may become pages.
pub(crate) struct Pages {
    asked: &'static Asked,
    kept: Mutex<VecDeque<Kept>>,
    /// Whose findings they are, when the device is no more.
    #[cfg(feature = "software")]
    machine: Option<dacapo_sim::Machine>,
}

/// A graph or an eager run that is over.
struct Kept {
    page: Page,
    is_graph: bool,
}

/// The variable, read once.
fn asked() -> Option<&'static Asked> {
    static ASKED: OnceLock<Option<Asked>> = OnceLock::new();
    let read = || {
        let folder = std::env::var_os("DACAPO_PAGES").filter(|folder| !folder.is_empty())?;
        let (folder, are_all) = match folder.to_str().and_then(|text| text.strip_prefix("all:")) {
            Some(rest) => (PathBuf::from(rest), true),
            None => (PathBuf::from(folder), false),
        };
        // The program may go to another folder before it fails.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Some(Asked { folder, are_all })
    };
    ASKED.get_or_init(read).as_ref()
}

impl Guest for Pages {
    /// What was kept is decided on.
    fn leave(&self, _: bool) {
        #[cfg(feature = "software")]
        let found: Vec<Finding> =
            self.machine.iter().flat_map(|machine| machine.findings()).map(|found| Finding::of(&found)).collect();
        #[cfg(not(feature = "software"))]
        let found: Vec<Finding> = Vec::new();
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        for Kept { page, is_graph } in kept {
            let found = found_at(&page, &found);
            if !found.is_empty() || (is_graph && std::thread::panicking()) {
                self.write(page, found);
            }
        }
    }
}

impl Pages {
    /// Those of a device, if the environment asks for some.
    pub(crate) fn of(device: &Device) -> Option<Arc<Pages>> {
        let asked = asked()?;
        Some(device.guest().unwrap_or_else(|| {
            #[cfg(feature = "software")]
            let machine = device.machine().cloned();
            device.take_in(Pages {
                asked,
                kept: Mutex::default(),
                #[cfg(feature = "software")]
                machine,
            })
        }))
    }

    /// A graph of this label is about to go; `make` makes its page.
    pub(crate) fn graph_goes(&self, device: &Device, label: &str, make: impl FnOnce() -> Page) {
        // A report shows values of the program's slots, by code of the program's.
        let Ok(page) = catch_unwind(AssertUnwindSafe(make)) else {
            return say(&format!("no page of graph `{}`: it could not be inspected", one_line(label)));
        };
        let page = match device.memory_report_aside() {
            Some(report) => page.books(&report),
            None => page,
        };
        let found = found_at(&page, &device.found());
        match self.asked.are_all || std::thread::panicking() || !found.is_empty() {
            true => self.write(page, found),
            false => self.keep(Kept { page, is_graph: true }),
        }
    }

    /// An eager run is about to begin; `make` says what it does.
    pub(crate) fn run_begins(&self, make: impl FnOnce() -> Report) {
        if let Ok(mut report) = catch_unwind(AssertUnwindSafe(make)) {
            // No node is added to any graph.
            for node in &mut report.nodes {
                (node.calls, node.patched_by) = (Vec::new(), None);
            }
            self.keep(Kept { page: Page::new(report), is_graph: false });
        }
    }

    fn keep(&self, one: Kept) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(one);
    }

    fn write(&self, page: Page, found: Vec<Finding>) {
        let (count, name, label) = (found.len(), file_name(&page.report.label), one_line(&page.report.label));
        let Ok(html) = catch_unwind(AssertUnwindSafe(|| page.findings(found).html())) else {
            return say(&format!("no page of graph `{label}`: it could not be drawn"));
        };
        let findings = match count {
            0 => String::new(),
            1 => ", with 1 finding".to_string(),
            _ => format!(", with {count} findings"),
        };
        say(&match written(&self.asked.folder, &name, &html) {
            Ok(path) => format!("a page of graph `{label}`{findings}: {}", path.display()),
            Err(error) => format!("no page of graph `{label}`: {}: {error}", self.asked.folder.display()),
        });
    }
}

/// A line on standard error. That may be closed, which `eprintln` answers with a panic; only it is captured by tests.
fn say(line: &str) {
    // In one piece: a panic's message on another thread must not come in between.
    let line = format!("dacapo: {line}\n");
    let _ = catch_unwind(|| eprint!("{line}"));
}

/// A label in one line: without what moves a terminal's cursor or turns its text, and not all of a long one.
fn one_line(label: &str) -> String {
    let mut line = String::new();
    for character in label.chars().take(LABEL_MAX) {
        match character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    if label.chars().nth(LABEL_MAX).is_some() {
        line.push('…');
    }
    line
}

/// The findings that happened at ops of a page.
fn found_at(page: &Page, found: &[Finding]) -> Vec<Finding> {
    let is_here = |finding: &&Finding| page.report.nodes.iter().any(|node| finding.is_at(node));
    found.iter().filter(is_here).cloned().collect()
}

/// The name of the thread, which is that of a test, and the label.
fn file_name(label: &str) -> String {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("thread");
    let name = format!("{thread}-{}", if label.is_empty() { "graph" } else { label });
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => character,
        _ => '_',
    };
    name.chars().map(plain).take(120).collect()
}

/// Writes a file under a name that none has yet: tests run side by side, and so do processes.
fn written(folder: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    for number in 1..=SAME_MAX {
        let file = if number == 1 { format!("{name}.html") } else { format!("{name}-{number}.html") };
        let path = folder.join(OsStr::new(&file));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other(format!("there are {SAME_MAX} pages of this name; remove them")))
}

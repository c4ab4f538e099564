//! The scenes: pages, and what must be true of them when one uses them.

use std::path::Path;

use super::self_check;
use super::tab::Tab;

/// A page and what is done with it.
pub struct Scene {
    /// Unique, with the area before a slash.
    pub name: &'static str,
    /// Writes the page into this file.
    pub write: fn(&Path) -> Result<(), String>,
    /// Uses the page once it is open.
    pub script: fn(&mut Tab) -> Result<(), String>,
}

/// Every scene, in the order in which they run.
pub fn all() -> Vec<Scene> {
    vec![Scene { name: "harness/self-check", write: self_check::write, script: self_check::script }]
}

/// Writes a page.
pub fn write(file: &Path, html: &str) -> Result<(), String> {
    std::fs::write(file, html).map_err(|error| format!("{}: {error}", file.display()))
}

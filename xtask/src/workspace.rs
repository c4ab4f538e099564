//! Where the workspace is, and where cargo puts what it builds.

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    // xtask/ lies in the root, and so has a parent.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Cargo's target folder: `CARGO_TARGET_DIR`, or `target` in the root.
pub fn target(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
}

/// Every Rust source of the crates and examples, in order.
///
/// # Errors
///
/// - A folder cannot be read.
pub fn rust_sources(root: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut waiting, mut found) = (vec![root.join("crates"), root.join("examples")], Vec::new());
    while let Some(folder) = waiting.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            match path.is_dir() {
                true => waiting.push(path),
                false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

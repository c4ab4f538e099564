//! The packages, as `cargo package` makes them: one `.crate` file each.
//!
//! Files that are not committed are packed too: a contributor looks before the commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// The most that the registry takes.
const BYTES_MAX: u64 = 10 << 20;

/// A package that was made.
pub struct Made {
    /// With its version, as its folder inside the file is called: `dacapo-0.1.0`.
    pub folder: String,
    /// The `.crate` file.
    pub file: PathBuf,
}

/// Makes the packages of these names.
///
/// # Errors
///
/// - cargo refuses, or a package is too large.
pub fn packages(root: &Path, names: &[&str]) -> Result<Vec<Made>, String> {
    let target = workspace::target(root).join("packages");
    let mut command = Command::new(env!("CARGO"));
    // Not verified here: cargo would build each alone, and their tests not at all.
    command.args(["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&target);
    command.args(names.iter().flat_map(|name| ["--package", name])).current_dir(root);
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo package:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let made = names.iter().map(|name| {
        let folder = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let file = target.join("package").join(format!("{folder}.crate"));
        let bytes = std::fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
        println!("{folder}.crate: {} KiB", bytes.div_ceil(1024));
        match bytes <= BYTES_MAX {
            true => Ok(Made { folder, file }),
            false => Err(format!("{folder}.crate has {bytes} bytes, the registry takes {BYTES_MAX}")),
        }
    });
    made.collect()
}

//! The unpacked packages as a workspace outside of the tree, in which each dependency on one of them is that one.
//!
//! ```text
//! <temporary folder>/dacapo-packages-<number>/
//!   Cargo.toml            the workspace, with a patch for each package
//!   Cargo.lock            the repository's: the same versions of everything else
//!   packages/dacapo-0.1.0/, ..
//!   outside/<name>/       from tests/outside of the repository
//! ```
//!
//! Built in the repository's target folder: what the packages use of others is built already.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::make::Made;
use crate::workspace;

/// Crates of strangers, from the root of the repository.
const STRANGERS: &str = "tests/outside";

/// The workspace.
pub struct Outside {
    folder: PathBuf,
    target: PathBuf,
    /// The packages by their folders.
    packages: Vec<String>,
    strangers: Vec<Stranger>,
}

/// A crate of a stranger's.
pub struct Stranger {
    name: String,
    /// It cannot be linked here: it would need NVIDIA's libraries.
    pub check_only: bool,
}

/// Libraries that a crate which is only checked asks for by name, and which are not looked into.
const ASKED_FOR: [&str; 2] = ["libcudart_static.a", "libstdc++.a"];

impl Outside {
    /// Unpacks the packages, and copies the crates of strangers beside them.
    ///
    /// # Errors
    ///
    /// - A file cannot be read or written.
    pub fn unpack(root: &Path, made: &[Made]) -> Result<Outside, String> {
        // The same folder each time for one checkout, so that cargo finds what it built.
        let mut number = DefaultHasher::new();
        root.hash(&mut number);
        let folder = std::env::temp_dir().join(format!("dacapo-packages-{:016x}", number.finish()));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let packages = folder.join("packages");
        std::fs::create_dir_all(&packages).map_err(|error| format!("{}: {error}", packages.display()))?;
        for made in made {
            // With the time of today: the times in a package are all the same, and cargo would take new sources for
            // old.
            let mut tar = Command::new("tar");
            succeed(tar.arg("-xmzf").arg(&made.file).arg("-C").arg(&packages))?;
        }
        let strangers = copy_strangers(&root.join(STRANGERS), &folder.join("outside"))?;
        let packages = made.iter().map(|made| made.folder.clone()).collect();
        let outside = Outside { folder, target: workspace::target(root), packages, strangers };
        outside.write("Cargo.toml", &outside.manifest())?;
        let lock = std::fs::read_to_string(root.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
        outside.write("Cargo.lock", &lock)?;
        // For what is built anywhere below this folder, also by a program that knows nothing of it.
        outside.write(".cargo/config.toml", &outside.patches())?;
        Ok(outside)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The repository's target folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The folder of each package.
    pub fn packages(&self) -> impl Iterator<Item = PathBuf> {
        self.packages.iter().map(|package| self.folder.join("packages").join(package))
    }

    /// The crates of strangers, by name.
    pub fn strangers(&self) -> &[Stranger] {
        &self.strangers
    }

    /// Tests a stranger's crate, or checks it.
    ///
    /// # Errors
    ///
    /// - It does not build, or a test fails.
    pub fn try_stranger(&self, stranger: &Stranger) -> Result<(), String> {
        if !stranger.check_only {
            return self.test(&["--package", &stranger.name]);
        }
        for library in ASKED_FOR {
            // An archive of nothing.
            self.write(&format!("asked-for/{library}"), "!<arch>\n")?;
        }
        println!("cargo check --package {}", stranger.name);
        let libraries = format!("-L native={}", self.folder.join("asked-for").display());
        succeed(self.cargo().args(["check", "--quiet", "--package", &stranger.name]).env("RUSTFLAGS", libraries))
    }

    /// `cargo test` with these arguments.
    ///
    /// # Errors
    ///
    /// - Something does not build, or a test fails.
    pub fn test(&self, arguments: &[&str]) -> Result<(), String> {
        println!("cargo test {}", arguments.join(" "));
        succeed(self.cargo().args(["test", "--quiet"]).args(arguments))
    }

    /// cargo in this workspace.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// Removes it.
    pub fn remove(&self) {
        // A rest in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    fn manifest(&self) -> String {
        let mut text = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"packages/*\"");
        if !self.strangers.is_empty() {
            text.push_str(", \"outside/*\"");
        }
        text.push_str("]\n");
        // What the documentation asks a user to write.
        for package in ["dacapo-ptx", "dacapo-sim"] {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n[profile.dev.package.{package}]\nopt-level = 3\n");
        }
        text
    }

    fn patches(&self) -> String {
        let mut text = String::from("[patch.crates-io]\n");
        let version = format!("-{}", env!("CARGO_PKG_VERSION"));
        for package in &self.packages {
            let path = self.folder.join("packages").join(package);
            let _ = writeln!(text, "{} = {{ path = {path:?} }}", package.trim_end_matches(&version));
        }
        text
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Copies every crate of the folder; its name is that of its folder. No folder is no crates.
fn copy_strangers(from: &Path, to: &Path) -> Result<Vec<Stranger>, String> {
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries.flatten().filter(|entry| entry.path().join("Cargo.toml").is_file()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        copy(&entry.path(), &to.join(&name))?;
        let manifest = std::fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        names.push(Stranger { name, check_only: manifest.contains("check-only = true") });
    }
    names.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(names)
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    if !from.is_dir() {
        return std::fs::copy(from, to).map(drop).map_err(failed);
    }
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // What was built there by hand stays there.
        if entry.file_name() != "target" {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Runs it; an error names the command, and what it said went to the terminal.
pub fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

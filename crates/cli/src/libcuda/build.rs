//! Builds the software driver's `libcuda.so.1` from its published package, once for each version, into the user's
//! cache.
//!
//! - The package `dacapo-libcuda` of this program's own version, built in release by the user's cargo.
//! - The library appears under its name when it is whole and was opened: built in a folder of its own, then renamed. Two
//!   programs that build at the same time do not meet, also where both have the same number in containers of their own.
//! - A build that was killed leaves its folder behind; a later build removes it when it is a day old.
//! - cargo's own words go to standard error, on a terminal with progress and else only complaints.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{NAME, expect_software};
use crate::complaint::Complaint;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the folder of one build is called, with a number behind it.
const PROJECT: &str = "build-";

/// No build takes so long: a folder that was not touched since is of one that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A package that has the driver as its only dependency, and nothing in it. It is a workspace of its own, whatever lies
/// above it.
const MANIFEST: &str = r#"[package]
name = "dacapo-run"
version = "0.0.0"
edition = "2024"

[lib]
path = "lib.rs"

[dependencies]
dacapo-libcuda = "=VERSION"

[workspace]
"#;

/// Where the library of this version belongs, by the XDG Base Directory Specification; none without a home.
pub fn folder(get: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The specification: a path that is not absolute is to be ignored.
    let cache = get("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(get("HOME")?).join(".cache")).filter(|path| path.is_absolute()))?;
    Some(cache.join("dacapo").join(VERSION))
}

/// Builds the library into `folder` and gives its path.
///
/// # Errors
///
/// - There is no cargo, the build failed, or the folder cannot be written.
pub fn build(folder: &Path) -> Result<PathBuf, Complaint> {
    eprintln!("dacapo: building the software driver, once, into {}", folder.display());
    remove_abandoned(folder, ABANDONED);
    let project = project_in(folder)?;
    let built = build_in(&project, folder);
    // Of no use to anyone, whether it worked or not; a rest in the cache harms nobody.
    let _ = std::fs::remove_dir_all(&project);
    built
}

/// What went wrong with this file.
fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Complaint {
    let path = path.display().to_string();
    move |error| Complaint::new(format!("{path}: {error}"))
}

/// A new folder that is this build's alone. A process number is not: two containers may share the cache.
fn project_in(folder: &Path) -> Result<PathBuf, Complaint> {
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    let first = std::process::id();
    for number in first..=first.saturating_add(1000) {
        let project = folder.join(format!("{PROJECT}{number}"));
        match std::fs::create_dir(&project) {
            Ok(()) => return Ok(project),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(at(&project)(error)),
        }
    }
    Err(Complaint::new(format!("{} is full of builds", folder.display())).help("remove the folders in it"))
}

/// Removes the folders of builds that were killed.
fn remove_abandoned(folder: &Path, age: Duration) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PROJECT)) {
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|since| since >= age) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn build_in(project: &Path, folder: &Path) -> Result<PathBuf, Complaint> {
    std::fs::write(project.join("Cargo.toml"), MANIFEST.replace("VERSION", VERSION)).map_err(at(project))?;
    std::fs::write(project.join("lib.rs"), "").map_err(at(project))?;
    let built = library_in(&cargo(project)?)
        .ok_or_else(|| Complaint::new("cargo built no shared library of `dacapo-libcuda`").help("this is a bug"))?;
    let fresh = project.join(NAME);
    std::fs::copy(&built, &fresh).map_err(at(&built))?;
    // Else a library that cannot be opened would be found there for ever: cargo may be told to build for another machine.
    expect_software(&fresh).map_err(|complaint| {
        complaint.help("what was built cannot be opened here: is `build.target` set in cargo's configuration?")
    })?;
    place(project, folder)
}

/// Puts what was built in its place; the library last, because it is found by its name.
fn place(project: &Path, folder: &Path) -> Result<PathBuf, Complaint> {
    name_without_number(project, folder).map_err(at(folder))?;
    let path = folder.join(NAME);
    std::fs::rename(project.join(NAME), &path).map_err(at(&path))?;
    Ok(path)
}

/// `libcuda.so`, a link to the library: a program that asks for this name first must not find another driver by it.
#[cfg(unix)]
fn name_without_number(project: &Path, folder: &Path) -> std::io::Result<()> {
    let fresh = project.join("libcuda.so");
    std::os::unix::fs::symlink(NAME, &fresh)?;
    std::fs::rename(&fresh, folder.join("libcuda.so"))
}

/// Elsewhere there is no such name.
#[cfg(not(unix))]
fn name_without_number(_project: &Path, _folder: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Builds the project; what cargo says about files, as JSON lines.
fn cargo(project: &Path) -> Result<String, Complaint> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.args(["build", "--release", "--package", "dacapo-libcuda"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    // For this machine, whatever the program's own build is for.
    command.env_remove("CARGO_BUILD_TARGET");
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    let help = "the driver is built by cargo, which must be there: or set DACAPO_LIBCUDA to a library that is built";
    let output = command
        .current_dir(project)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Complaint::new(format!("{}: {error}", cargo.display())).help(help))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Complaint::new(format!("the software driver {VERSION} could not be built ({})", output.status))
            .help("cargo's words are above; `dacapo libcuda` tries again")),
    }
}

/// The shared library among the files that cargo made.
fn library_in(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = messages
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "dacapo_libcuda");
    let files = ours.flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    let mut files = files.filter_map(|file| file.as_str().map(PathBuf::from));
    files.find(|file| file.extension().is_some_and(|extension| extension == "so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        folder(|name| pairs.iter().find(|(of, _)| *of == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_cache_is_where_the_user_says_or_in_the_home_and_each_version_has_its_own() {
        let named = [("XDG_CACHE_HOME", "/var/cache/me"), ("HOME", "/home/me")];
        assert_eq!(folder_of(&named), Some(Path::new("/var/cache/me/dacapo").join(VERSION)));
        assert_eq!(folder_of(&named[1..]), Some(Path::new("/home/me/.cache/dacapo").join(VERSION)));
        let relative = [("XDG_CACHE_HOME", "cache"), ("HOME", "/home/me")];
        assert_eq!(folder_of(&relative), Some(Path::new("/home/me/.cache/dacapo").join(VERSION)));
        assert_eq!(folder_of(&[]), None);
    }

    /// A folder for one test, without what another run left.
    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dacapo-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn two_builds_with_one_process_number_have_folders_of_their_own_and_old_ones_go() {
        let folder = empty("builds");
        let (one, two) = (project_in(&folder).unwrap(), project_in(&folder).unwrap());
        assert!(one != two && one.is_dir() && two.is_dir());
        remove_abandoned(&folder, ABANDONED);
        assert!(one.is_dir() && two.is_dir(), "neither is a day old");
        std::fs::write(folder.join(NAME), "").unwrap();
        remove_abandoned(&folder, Duration::ZERO);
        assert!(!one.exists() && !two.exists() && folder.join(NAME).exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Who is killed in between leaves nothing that would be taken for a whole one.
    #[cfg(unix)]
    #[test]
    fn the_library_comes_after_the_other_name_for_it() {
        let folder = empty("place");
        let project = project_in(&folder).unwrap();
        assert!(place(&project, &folder).is_err(), "nothing was built");
        assert!(folder.join("libcuda.so").is_symlink() && !folder.join(NAME).exists());
        std::fs::write(project.join(NAME), "whole").unwrap();
        assert_eq!(place(&project, &folder), Ok(folder.join(NAME)));
        assert_eq!(std::fs::read_to_string(folder.join("libcuda.so")).unwrap(), "whole");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_library_is_the_file_that_cargo_names() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"dacapo_sim"},"filenames":["/t/liby.so"]}
not json
{"reason":"compiler-artifact","target":{"name":"dacapo_libcuda"},"filenames":["/t/libx.rlib","/t/libx-1f.so"]}"#;
        assert_eq!(library_in(messages), Some("/t/libx-1f.so".into()));
        assert_eq!(library_in(""), None);
    }
}

//! Builds the software driver's `libcuda.so.1` from its published package, once for each version, into the user's
//! cache.
//!
//! - The package `dacapo-libcuda` of this program's own version, built in release by the user's cargo.
//! - The library appears under its name when it is whole: built in a folder of its own, then renamed. Two programs that
//!   build at the same time do not meet.
//! - cargo's own words go to standard error, on a terminal with progress and else only complaints.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::NAME;
use crate::complaint::Complaint;

const VERSION: &str = env!("CARGO_PKG_VERSION");

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
    let project = folder.join(format!("build-{}", std::process::id()));
    let built = build_in(&project, folder);
    // Of no use to anyone, whether it worked or not; a rest in the cache harms nobody.
    let _ = std::fs::remove_dir_all(&project);
    built
}

fn build_in(project: &Path, folder: &Path) -> Result<PathBuf, Complaint> {
    let at = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| Complaint::new(format!("{path}: {error}"))
    };
    std::fs::create_dir_all(project).map_err(at(project))?;
    std::fs::write(project.join("Cargo.toml"), MANIFEST.replace("VERSION", VERSION)).map_err(at(project))?;
    std::fs::write(project.join("lib.rs"), "").map_err(at(project))?;
    let built = library_in(&cargo(project)?)
        .ok_or_else(|| Complaint::new("cargo built no shared library of `dacapo-libcuda`").help("this is a bug"))?;
    let (fresh, path) = (project.join(NAME), folder.join(NAME));
    std::fs::copy(&built, &fresh).map_err(at(&built))?;
    std::fs::rename(&fresh, &path).map_err(at(&path))?;
    name_without_number(project, folder).map_err(at(folder))?;
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

    #[test]
    fn the_library_is_the_file_that_cargo_names() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"dacapo_sim"},"filenames":["/t/liby.so"]}
not json
{"reason":"compiler-artifact","target":{"name":"dacapo_libcuda"},"filenames":["/t/libx.rlib","/t/libx-1f.so"]}"#;
        assert_eq!(library_in(messages), Some("/t/libx-1f.so".into()));
        assert_eq!(library_in(""), None);
    }
}

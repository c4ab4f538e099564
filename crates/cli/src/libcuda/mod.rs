//! `dacapo libcuda`: the software driver as a `libcuda.so.1`, found or built, and where it is.
//!
//! It is looked for in this order: the file that `DACAPO_LIBCUDA` names; beside this program; in the target folder of
//! cargo's that this program was built in, or of the repository around it; in the user's cache. Where it is in none of
//! these it is built into the cache (`build`). What is given out was opened, and says of itself that it is the software
//! driver. No other folder above this program is looked into: who may write there would decide what is run.

mod build;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dacapo_driver::Nvidia;
use serde_json::{Value, json};

use crate::complaint::Complaint;
use crate::output::{Output, Told};

/// What the dynamic loader looks for.
const NAME: &str = "libcuda.so.1";

/// Files of cargo's own in a target folder; one of them is there.
const TARGET_MARKS: [&str; 2] = [".rustc_info.json", "CACHEDIR.TAG"];

/// The arguments of `dacapo libcuda`.
#[derive(clap::Args, Debug)]
pub struct Arguments {}

/// Prints the path of the library, which is built if there is none yet.
///
/// # Errors
///
/// - There is none, and it cannot be built; or it is not the software driver.
pub fn run(_arguments: &Arguments, output: Output) -> Result<ExitCode, Complaint> {
    output.tell(&Library(library()?));
    Ok(ExitCode::SUCCESS)
}

struct Library(PathBuf);

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl Told for Library {
    fn json(&self) -> Value {
        // A path need not be UTF-8, and JSON must be.
        let text = |path: &Path| path.display().to_string();
        json!({ "library": text(&self.0), "folder": self.0.parent().map(text) })
    }
}

/// The library, by an absolute path: a program may change its folder before it opens it.
///
/// # Errors
///
/// - As [`run`].
pub fn library() -> Result<PathBuf, Complaint> {
    let executable =
        std::env::current_exe().map_err(|error| Complaint::new(format!("this program's path: {error}")))?;
    let cache = build::folder(|name| std::env::var_os(name));
    let path = match find(&executable, std::env::var_os(Nvidia::VARIABLE), cache.as_deref(), Path::exists)? {
        Found::There(path) => path,
        Found::ToBuild(folder) => build::build(&folder)?,
    };
    let is_cached = cache.is_some_and(|folder| path.starts_with(folder));
    // Before it is opened: a name without a folder would be looked for by the loader, in other places.
    let path = std::path::absolute(&path).map_err(|error| Complaint::new(format!("{}: {error}", path.display())))?;
    match expect_software(&path) {
        Err(complaint) if is_cached => Err(complaint.help("remove this file: `dacapo libcuda` then builds it anew")),
        other => other.map(|()| path),
    }
}

/// Whether this file, by an absolute path, is the software driver: it is opened and asked.
///
/// # Errors
///
/// - It cannot be opened, or is another driver.
fn expect_software(path: &Path) -> Result<(), Complaint> {
    // SAFETY: it is the file that who started this program named, or one of ours.
    let driver = unsafe { Nvidia::open_path(path) }.map_err(Complaint::from)?;
    match driver.is_software() {
        true => Ok(()),
        false => Err(Complaint::new(format!("{} is not the software driver", path.display()))
            .help(format!("unset {}, or set it to the file that `dacapo libcuda` names", Nvidia::VARIABLE))),
    }
}

/// Where the library is.
#[derive(Debug, PartialEq)]
enum Found {
    There(PathBuf),
    /// Nowhere yet; it belongs in this folder.
    ToBuild(PathBuf),
}

fn find(
    executable: &Path,
    named: Option<OsString>,
    cache: Option<&Path>,
    exists: impl Fn(&Path) -> bool,
) -> Result<Found, Complaint> {
    if let Some(path) = named.map(PathBuf::from) {
        return named_file(path, exists).map(Found::There);
    }
    let beside = executable.parent().map(|folder| folder.join(NAME));
    // `target/release/dacapo` lies beside `target/dacapo/`. What cargo leaves in a target folder tells it from others.
    let is_target = |folder: &&Path| TARGET_MARKS.iter().any(|mark| exists(&folder.join(mark)));
    let target = executable.ancestors().skip(1).find(is_target).map(|folder| folder.join("dacapo").join(NAME));
    let repository = executable.ancestors().find(|folder| exists(&folder.join("crates/libcuda/Cargo.toml")));
    let made = repository.map(|folder| folder.join("target/dacapo").join(NAME));
    if let Some(path) = [beside, target, made].into_iter().flatten().find(|path| exists(path)) {
        return Ok(Found::There(path));
    }
    // What a repository's program runs on is the repository's driver, never a published one.
    if repository.is_some() {
        return Err(Complaint::new(format!("no {NAME} of the software driver under the `target` folder"))
            .help(format!("make it with `cargo xtask libcuda`, or set {} to it", Nvidia::VARIABLE)));
    }
    let Some(folder) = cache else {
        return Err(Complaint::new(format!("no folder to build {NAME} in: neither XDG_CACHE_HOME nor HOME is set"))
            .help(format!("set one of them, or set {} to the library", Nvidia::VARIABLE)));
    };
    let path = folder.join(NAME);
    Ok(if exists(&path) { Found::There(path) } else { Found::ToBuild(folder.to_path_buf()) })
}

/// The file that the variable names, if a program would find it.
fn named_file(path: PathBuf, exists: impl Fn(&Path) -> bool) -> Result<PathBuf, Complaint> {
    if path.as_os_str().is_empty() {
        return Err(Complaint::new(format!("{} is set to nothing", Nvidia::VARIABLE))
            .help(format!("unset {}, or set it to the library", Nvidia::VARIABLE)));
    }
    if path.file_name() != Some(OsStr::new(NAME)) {
        return Err(Complaint::new(format!("{} names {}", Nvidia::VARIABLE, path.display()))
            .help(format!("a program looks for a file called {NAME}: name one that is called so")));
    }
    match exists(&path) {
        true => Ok(path),
        false => Err(Complaint::new(format!("{} names {}, which is not there", Nvidia::VARIABLE, path.display()))
            .help(format!("unset {}: `dacapo libcuda` then finds or builds the library", Nvidia::VARIABLE))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHE: &str = "/home/me/.cache/dacapo/0.1.0";

    fn found_by(executable: &str, named: Option<&str>, there: &[&str]) -> Result<Found, Complaint> {
        let exists = |path: &Path| there.iter().any(|file| Path::new(file) == path);
        find(Path::new(executable), named.map(OsString::from), Some(Path::new(CACHE)), exists)
    }

    fn found(named: Option<&str>, there: &[&str]) -> Result<Found, Complaint> {
        found_by("/home/me/w/target/release/dacapo", named, there)
    }

    fn there(path: &str) -> Result<Found, Complaint> {
        Ok(Found::There(path.into()))
    }

    #[test]
    fn the_named_file_wins_then_the_one_beside_then_the_repositorys_then_the_cache() {
        let (beside, made) = ("/home/me/w/target/release/libcuda.so.1", "/home/me/w/target/dacapo/libcuda.so.1");
        let (named, cached) = ("/elsewhere/libcuda.so.1", "/home/me/.cache/dacapo/0.1.0/libcuda.so.1");
        for mark in ["/home/me/w/target/.rustc_info.json", "/home/me/w/crates/libcuda/Cargo.toml"] {
            assert_eq!(found(Some(named), &[named, beside, made, cached, mark]), there(named));
            assert_eq!(found(None, &[named, beside, made, cached, mark]), there(beside));
            assert_eq!(found(None, &[named, made, cached, mark]), there(made));
        }
        assert_eq!(found(None, &[named, cached]), there(cached));
    }

    /// `/home/dacapo` may be somebody's home.
    #[test]
    fn folders_above_the_program_that_are_not_cargo_s_are_not_looked_into() {
        let planted = ["/home/dacapo/libcuda.so.1", "/home/me/dacapo/libcuda.so.1", "/target/dacapo/libcuda.so.1"];
        assert_eq!(found_by("/home/me/.cargo/bin/dacapo", None, &planted), Ok(Found::ToBuild(CACHE.into())));
    }

    #[test]
    fn an_installed_program_builds_it_and_one_of_a_repository_does_not() {
        assert_eq!(found_by("/home/me/.cargo/bin/dacapo", None, &[]), Ok(Found::ToBuild(CACHE.into())));
        let complaint = found(None, &["/home/me/w/crates/libcuda/Cargo.toml"]).unwrap_err();
        assert!(complaint.to_string().contains("cargo xtask libcuda"), "{complaint}");
    }

    #[test]
    fn a_named_file_that_is_not_there_or_that_no_program_would_look_for_is_refused() {
        let complaint = found(Some("/x/libcuda.so.1"), &[]).unwrap_err();
        assert!(complaint.to_string().contains("help: unset DACAPO_LIBCUDA"), "{complaint}");
        let complaint = found(Some(""), &[]).unwrap_err();
        assert!(complaint.to_string().contains("DACAPO_LIBCUDA is set to nothing"), "{complaint}");
        let complaint = found(Some("/x/libdacapo_libcuda.so"), &["/x/libdacapo_libcuda.so"]).unwrap_err();
        assert!(complaint.to_string().contains("called libcuda.so.1"), "{complaint}");
    }
}

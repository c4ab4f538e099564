//! An installed program builds the software driver into the user's cache, once, and gives out what can be opened.
//!
//! The program is a copy of ours outside of the repository; its cargo is a script that names a library that is built
//! already.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: a program that is written by one thread cannot be started while another thread has just forked.
static ALONE: Mutex<()> = Mutex::new(());

/// A home of one test: the program in `bin`, a cargo, a cache.
struct Home(PathBuf, #[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Home {
    fn new(name: &str) -> Home {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let home = std::env::temp_dir().join(format!("dacapo {name} {}", std::process::id()));
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_dacapo"), home.join("bin/dacapo")).unwrap();
        Home(home, alone)
    }

    /// The same with a cargo that says it built this file, and notes that it was asked.
    fn with_cargo(self, built: &Path) -> Home {
        let message = serde_json::json!({
            "reason": "compiler-artifact", "target": { "name": "dacapo_libcuda" }, "filenames": [built],
        });
        let script =
            format!("#!/bin/sh\necho asked >> '{}'\ncat <<'END'\n{message}\nEND\n", self.0.join("asked").display());
        std::fs::write(self.0.join("cargo"), script).unwrap();
        std::fs::set_permissions(self.0.join("cargo"), PermissionsExt::from_mode(0o755)).unwrap();
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.0.join("bin/dacapo"));
        command.arg("libcuda").env_remove("DACAPO_LIBCUDA");
        command.env("XDG_CACHE_HOME", self.0.join("cache")).env("CARGO", self.0.join("cargo"));
        command
    }

    fn libcuda(&self) -> Output {
        self.command().output().unwrap()
    }

    fn folder(&self) -> PathBuf {
        self.0.join("cache/dacapo").join(env!("CARGO_PKG_VERSION"))
    }

    fn names_in_folder(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn times_built(&self) -> usize {
        std::fs::read_to_string(self.0.join("asked")).map_or(0, |asked| asked.lines().count())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The library as cargo built it for this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().skip(1).take(2).map(|folder| folder.join("libdacapo_libcuda.so"));
    built.into_iter().find(|path| path.exists()).expect("cargo builds the library before this test")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_is_built_once_and_found_from_then_on() {
    let home = Home::new("once").with_cargo(&built());
    let path = home.folder().join("libcuda.so.1");
    for _ in 0..2 {
        let output = home.libcuda();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(Path::new(text(&output.stdout).trim_end()), path);
        assert_eq!(home.names_in_folder(), ["libcuda.so", "libcuda.so.1"]);
    }
    assert_eq!(home.times_built(), 1);
}

#[test]
fn many_that_build_at_the_same_time_all_get_a_whole_one() {
    let home = Home::new("many").with_cargo(&built());
    let running: Vec<_> =
        (0..6).map(|_| home.command().stdout(std::process::Stdio::piped()).spawn().unwrap()).collect();
    for program in running {
        let output = program.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(Path::new(text(&output.stdout).trim_end()), home.folder().join("libcuda.so.1"));
    }
    assert_eq!(home.names_in_folder(), ["libcuda.so", "libcuda.so.1"]);
}

#[test]
fn what_cannot_be_opened_here_never_gets_into_the_cache() {
    let home = Home::new("foreign");
    let foreign = home.0.join("libdacapo_libcuda.so");
    std::fs::write(&foreign, "a library for another machine").unwrap();
    let home = home.with_cargo(&foreign);
    let output = home.libcuda();
    assert!(!output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("help: what was built cannot be opened here"), "{output:?}");
    assert_eq!(home.names_in_folder(), [""; 0]);
}

#[test]
fn a_broken_file_in_the_cache_is_named_and_what_to_do_with_it() {
    let home = Home::new("broken").with_cargo(&built());
    std::fs::create_dir_all(home.folder()).unwrap();
    std::fs::write(home.folder().join("libcuda.so.1"), "half a libr").unwrap();
    let output = home.libcuda();
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains(&home.folder().display().to_string()), "{said}");
    assert!(said.contains("help: remove this file") && !said.contains("install NVIDIA's driver"), "{said}");
}

#[test]
fn a_cache_that_is_no_folder_is_said_with_its_path() {
    let home = Home::new("no folder").with_cargo(&built());
    std::fs::write(home.0.join("cache"), "").unwrap();
    let output = home.libcuda();
    assert!(!output.status.success() && text(&output.stderr).contains("/cache/dacapo"), "{output:?}");
    assert_eq!(home.times_built(), 0);
}

#[test]
fn without_a_cargo_it_says_so() {
    let output = Home::new("no cargo").libcuda();
    assert!(!output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("help: the driver is built by cargo, which must be there"), "{output:?}");
}

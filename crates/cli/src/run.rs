//! `dacapo run -- PROGRAM ARGS..`: a program that nobody here wrote, on the software driver.
//!
//! The program is the one named and nothing else: it takes the place of this process, so that its exit code, its
//! signals and its terminal are its own. Only its environment differs:
//!
//! - `LD_LIBRARY_PATH` begins with the folder of our `libcuda.so.1`, and `DACAPO_LIBCUDA` names that file;
//! - `DACAPO_SEED`, `DACAPO_MEMORY`, `DACAPO_DETECT`, `DACAPO_CORES` and `DACAPO_FINDINGS` are set where the command line
//!   sets them.
//!
//! Exit codes of its own are those of `env` and `timeout`: 125 for no library, 126 for a program that cannot be run, 127
//! for one that is not there.
//!
//! Not promised: that the program uses it. One with an absolute path or an `RPATH` to NVIDIA's library keeps that.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use dacapo_driver::Nvidia;

use crate::complaint::Complaint;

/// What the dynamic loader looks for.
const NAME: &str = "libcuda.so.1";

/// The arguments of `dacapo run`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The seed of every choice of the software driver: a number, `0x` for base 16
    #[arg(long)]
    pub seed: Option<String>,
    /// Bytes of device memory, such as 16G
    #[arg(long)]
    pub memory: Option<String>,
    /// What is looked for: all, default, none, or names of detectors with commas between
    #[arg(long, allow_hyphen_values = true)]
    pub detect: Option<String>,
    /// Threads that the blocks of a kernel may run on, where nothing is looked for
    #[arg(long)]
    pub cores: Option<String>,
    /// A file that findings are appended to, instead of standard error
    #[arg(long)]
    pub findings: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Runs the program; returns only when it could not be started.
pub fn run(arguments: &Arguments) -> ExitCode {
    let library = match library() {
        Ok(library) => library,
        Err(complaint) => {
            eprintln!("{complaint}");
            return ExitCode::from(125);
        }
    };
    let error = replace(command(arguments, &library));
    eprintln!("error: `{}` cannot be run: {error}", arguments.program[0].display());
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}

/// The program with its environment.
fn command(arguments: &Arguments, library: &Path) -> Command {
    let mut command = Command::new(&arguments.program[0]);
    command.args(&arguments.program[1..]);
    let folder = library.parent().unwrap_or(Path::new("."));
    command.env("LD_LIBRARY_PATH", prepended(folder, std::env::var_os("LD_LIBRARY_PATH")));
    command.env(Nvidia::VARIABLE, library);
    let settings = [
        ("DACAPO_SEED", arguments.seed.as_deref().map(OsStr::new)),
        ("DACAPO_MEMORY", arguments.memory.as_deref().map(OsStr::new)),
        ("DACAPO_DETECT", arguments.detect.as_deref().map(OsStr::new)),
        ("DACAPO_CORES", arguments.cores.as_deref().map(OsStr::new)),
        ("DACAPO_FINDINGS", arguments.findings.as_deref().map(Path::as_os_str)),
    ];
    for (name, value) in settings {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

/// `folder` before what was there.
fn prepended(folder: &Path, before: Option<OsString>) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    // An empty entry would mean the working directory.
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    path
}

#[cfg(unix)]
fn replace(mut command: Command) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// Our library, looked at before a program is started with it.
fn library() -> Result<PathBuf, Complaint> {
    let executable =
        std::env::current_exe().map_err(|error| Complaint::new(format!("this program's path: {error}")))?;
    let path = find(&executable, std::env::var_os(Nvidia::VARIABLE), Path::exists)?;
    // SAFETY: it is the file that who started this program named, or the one of ours beside it.
    let driver = unsafe { Nvidia::open_path(&path) }.map_err(Complaint::from)?;
    if !driver.is_software() {
        return Err(Complaint::new(format!("{} is not the software driver", path.display()))
            .help(format!("unset {}, or set it to the file that `cargo xtask libcuda` makes", Nvidia::VARIABLE)));
    }
    // Absolute: the program may change its folder before it opens the library.
    std::path::absolute(&path).map_err(|error| Complaint::new(format!("{}: {error}", path.display())))
}

/// The file that the variable names; else the one beside the executable; else the one under the `target` folder of
/// the workspace that the executable lies in.
fn find(executable: &Path, named: Option<OsString>, exists: impl Fn(&Path) -> bool) -> Result<PathBuf, Complaint> {
    if let Some(path) = named.map(PathBuf::from) {
        if path.file_name() != Some(OsStr::new(NAME)) {
            return Err(Complaint::new(format!("{} names {}", Nvidia::VARIABLE, path.display()))
                .help(format!("a program looks for a file called {NAME}: name one that is called so")));
        }
        return match exists(&path) {
            true => Ok(path),
            false => Err(Complaint::new(format!("{} names {}, which is not there", Nvidia::VARIABLE, path.display()))
                .help(format!("unset {}, or make the library with `cargo xtask libcuda`", Nvidia::VARIABLE))),
        };
    }
    let beside = executable.parent().map(|folder| folder.join(NAME));
    let under = executable.ancestors().skip(1).flat_map(|folder| {
        // `target/release/dacapo` lies beside `target/dacapo/`; an executable elsewhere in the workspace lies above.
        [folder.join("dacapo").join(NAME), folder.join("target/dacapo").join(NAME)]
    });
    beside.into_iter().chain(under).find(|path| exists(path)).ok_or_else(|| {
        Complaint::new(format!(
            "no {NAME} of the software driver: not beside {}, nor under a `target` folder above it",
            { executable.display() }
        ))
        .help(format!("make it with `cargo xtask libcuda`, or set {} to it", Nvidia::VARIABLE))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(named: Option<&str>, there: &[&str]) -> Result<PathBuf, Complaint> {
        find(Path::new("/home/me/w/target/release/dacapo"), named.map(OsString::from), |path| {
            there.iter().any(|file| Path::new(file) == path)
        })
    }

    #[test]
    fn the_named_file_wins_then_the_one_beside_then_the_workspaces() {
        let (beside, made) = ("/home/me/w/target/release/libcuda.so.1", "/home/me/w/target/dacapo/libcuda.so.1");
        let named = "/elsewhere/libcuda.so.1";
        assert_eq!(found(Some(named), &[named, beside, made]), Ok(named.into()));
        assert_eq!(found(None, &[named, beside, made]), Ok(beside.into()));
        assert_eq!(found(None, &[named, made]), Ok(made.into()));
    }

    #[test]
    fn an_absent_library_is_refused_with_the_command_that_makes_it() {
        for complaint in [found(None, &[]).unwrap_err(), found(Some("/x/libcuda.so.1"), &[]).unwrap_err()] {
            assert!(complaint.to_string().contains("cargo xtask libcuda"), "{complaint}");
        }
    }

    #[test]
    fn a_file_that_no_program_would_look_for_is_refused() {
        let complaint = found(Some("/x/libdacapo_libcuda.so"), &["/x/libdacapo_libcuda.so"]).unwrap_err();
        assert!(complaint.to_string().contains("called libcuda.so.1"), "{complaint}");
    }

    #[test]
    fn what_was_searched_before_is_searched_after() {
        assert_eq!(prepended(Path::new("/a"), Some("/b:/c".into())), "/a:/b:/c");
        assert_eq!(prepended(Path::new("/a"), Some("".into())), "/a");
        assert_eq!(prepended(Path::new("/a"), None), "/a");
    }
}

//! `dacapo run -- PROGRAM ARGS..`: a program that nobody here wrote, on the software driver.
//!
//! The program is the one named and nothing else: it takes the place of this process, so that its exit code, its
//! signals and its terminal are its own. Only its environment differs:
//!
//! - `LD_LIBRARY_PATH` begins with the folder of our `libcuda.so.1`, and `DACAPO_LIBCUDA` names that file;
//! - `LD_PRELOAD` begins with it, and `DACAPO_STAND_INS` is 1: where the program asks NVRTC or nvJitLink for a cubin, it is
//!   handed PTX, and the findings say so. `--no-stand-ins` leaves both out;
//! - `DACAPO_SEED`, `DACAPO_DEVICES`, `DACAPO_MEMORY`, `DACAPO_DETECT`, `DACAPO_STRICT`, `DACAPO_CORES` and
//!   `DACAPO_FINDINGS` are set where the command line sets them; with `--json` `DACAPO_FINDINGS_FORMAT` is `json`, and each finding is one line of JSON.
//!
//! A value that the software driver would not take is refused before anything is started. So is a library in a folder
//! that `LD_LIBRARY_PATH` cannot name: the program would find another driver, and nobody would know.
//!
//! Exit codes of its own are those of `env` and `timeout`: 125 for no library, 126 for a program that cannot be run,
//! 127 for one that is not there.
//!
//! Not promised: that the program uses it. One with an absolute path or an `RPATH` to NVIDIA's library keeps that.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use dacapo_driver::Nvidia;

use crate::complaint::Complaint;
use crate::output::Output;
use crate::{libcuda, settings};

/// Asks our library to stand before NVRTC and nvJitLink.
const STAND_INS: &str = "DACAPO_STAND_INS";

/// The arguments of `dacapo run`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The seed of every choice of the software driver: a number, `0x` for base 16
    #[arg(long, value_parser = settings::seed)]
    pub seed: Option<u64>,
    /// How many devices there are, from 1 to 64
    #[arg(long, value_parser = settings::devices)]
    pub devices: Option<usize>,
    /// Bytes of memory of each device, such as 16G
    #[arg(long, value_parser = settings::bytes)]
    pub memory: Option<u64>,
    /// What is looked for: all, default, none, or names of detectors with commas between
    #[arg(long, allow_hyphen_values = true, value_parser = settings::detectors)]
    pub detect: Option<String>,
    /// A kernel faults at its first byte beyond an allocation, even where a GPU would not notice
    #[arg(long)]
    pub strict: bool,
    /// Threads that the blocks of a kernel may run on, where nothing is looked for
    #[arg(long, value_parser = settings::cores)]
    pub cores: Option<usize>,
    /// A file that findings are appended to, instead of standard error
    #[arg(long)]
    pub findings: Option<PathBuf>,
    /// Let NVRTC and nvJitLink hand out cubins, which the software driver refuses; nothing is preloaded
    #[arg(long)]
    pub no_stand_ins: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Runs the program; returns only when it could not be started.
pub fn run(arguments: &Arguments, output: Output) -> ExitCode {
    let library = match libcuda::library() {
        Ok(library) => library,
        Err(complaint) => {
            output.complain(&complaint);
            return ExitCode::from(125);
        }
    };
    let folder = library.parent().unwrap_or(Path::new("/"));
    if let Some(letter) = unnameable(folder) {
        let what =
            format!("`{}` has `{letter}` in its path, and LD_LIBRARY_PATH knows no way to say that", folder.display());
        let help = format!("set {} to a copy of the library in another folder", Nvidia::VARIABLE);
        output.complain(&Complaint::new(what).help(help));
        return ExitCode::from(125);
    }
    let error = replace(command(arguments, &library, output));
    let program = arguments.program[0].display();
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    let complaint = Complaint::new(format!("`{program}` cannot be run: {error}"));
    output.complain(&match is_missing && program.to_string().starts_with('-') {
        // What is no option of ours is the program's name, since a program's own options may be anything.
        true => complaint
            .help(format!("`{program}` is no option of `dacapo run`; `dacapo run --help` lists those there are")),
        false => complaint,
    });
    ExitCode::from(if is_missing { 127 } else { 126 })
}

/// The program with its environment.
fn command(arguments: &Arguments, library: &Path, output: Output) -> Command {
    let mut command = Command::new(&arguments.program[0]);
    command.args(&arguments.program[1..]);
    let folder = library.parent().unwrap_or(Path::new("/"));
    command.env("LD_LIBRARY_PATH", prepended(folder, std::env::var_os("LD_LIBRARY_PATH")));
    command.env(Nvidia::VARIABLE, library);
    match arguments.no_stand_ins {
        true => command.env_remove(STAND_INS),
        false => command.env(STAND_INS, "1").env("LD_PRELOAD", preloaded(library, std::env::var_os("LD_PRELOAD"))),
    };
    let settings = [
        ("DACAPO_SEED", arguments.seed.map(|seed| seed.to_string().into())),
        ("DACAPO_DEVICES", arguments.devices.map(|devices| devices.to_string().into())),
        ("DACAPO_MEMORY", arguments.memory.map(|bytes| bytes.to_string().into())),
        ("DACAPO_DETECT", arguments.detect.clone().map(OsString::from)),
        ("DACAPO_STRICT", arguments.strict.then(|| "1".into())),
        ("DACAPO_CORES", arguments.cores.map(|cores| cores.to_string().into())),
        ("DACAPO_FINDINGS", arguments.findings.as_deref().map(findings_file)),
        ("DACAPO_FINDINGS_FORMAT", output.json.then(|| "json".into())),
    ];
    for (name, value) in settings {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

/// The file of findings as it is meant here: the program may change its folder before it opens it. `-` is standard error.
fn findings_file(path: &Path) -> OsString {
    if path == Path::new("-") {
        return path.into();
    }
    std::path::absolute(path).map_or_else(|_| path.into(), PathBuf::into_os_string)
}

/// What of a folder's path means something else in `LD_LIBRARY_PATH`, if anything does: ld.so(8) cuts at colons and
/// semicolons, puts something in for `$ORIGIN` and others, and has no way to write these letters themselves.
fn unnameable(folder: &Path) -> Option<char> {
    folder.to_string_lossy().chars().find(|letter| matches!(letter, ':' | ';' | '$'))
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

/// `library` before what was there. The loader cuts the list at blanks and colons; a library whose path has some is named
/// by its name alone, and found in the folder that `LD_LIBRARY_PATH` begins with.
fn preloaded(library: &Path, before: Option<OsString>) -> OsString {
    let is_cut = library.to_string_lossy().contains([' ', '\t', '\n']);
    let name = if is_cut { library.file_name().unwrap_or(library.as_os_str()) } else { library.as_os_str() };
    let mut list = name.to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        list.push(":");
        list.push(before);
    }
    list
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_loader_would_not_understand_is_known_as_that() {
        assert_eq!(unnameable(Path::new("/home/me/software driver")), None);
        assert_eq!(["/a:b", "/a;b", "/$LIB"].map(|folder| unnameable(Path::new(folder))), [':', ';', '$'].map(Some));
    }

    #[test]
    fn the_library_is_preloaded_before_what_was_by_a_name_that_the_loader_does_not_cut() {
        let list = |library: &str, before: Option<&str>| preloaded(Path::new(library), before.map(OsString::from));
        assert_eq!(list("/a/libcuda.so.1", None), "/a/libcuda.so.1");
        assert_eq!(list("/a/libcuda.so.1", Some("/b.so /c.so")), "/a/libcuda.so.1:/b.so /c.so");
        assert_eq!(list("/my folder/libcuda.so.1", Some("")), "libcuda.so.1");
    }

    #[test]
    fn what_was_searched_before_is_searched_after() {
        assert_eq!(prepended(Path::new("/a"), Some("/b:/c".into())), "/a:/b:/c");
        assert_eq!(prepended(Path::new("/a"), Some("".into())), "/a");
        assert_eq!(prepended(Path::new("/a"), None), "/a");
    }
}

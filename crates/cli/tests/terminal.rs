//! Colour and progress are for a terminal: here a real one, made for the test, beside a pipe.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The two ends of a new terminal: ours, and the program's.
fn terminal() -> (OwnedFd, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (ours, theirs)
}

fn dacapo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    // No GPU, also where there is one, and no wishes of whoever runs the test.
    command.args(arguments).env("TERM", "xterm").env_remove("NO_COLOR").env_remove("DACAPO_LIBCUDA");
    command
}

/// Everything that a program on a terminal prints, to both streams.
fn on_a_terminal(mut command: Command) -> String {
    let (ours, theirs) = terminal();
    let end = || Stdio::from(theirs.try_clone().unwrap());
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the program starts");
    // The command holds copies of the program's end too; the terminal ends when the last of them is closed.
    drop((command, theirs));
    let (mut said, mut ours, mut some) = (Vec::new(), File::from(ours), [0; 4096]);
    // At the end a terminal answers an error (EIO) instead of nothing more.
    while let Ok(bytes @ 1..) = ours.read(&mut some) {
        said.extend_from_slice(&some[..bytes]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&said).into_owned()
}

fn in_a_pipe(mut command: Command) -> (String, String) {
    let output = command.output().expect("the program starts");
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const DOCTOR: &[&str] = &["doctor"];
const REFUSED: &[&str] = &["inspect", "/nowhere/report.json"];
const SOAK: &[&str] = &["soak", "--device", "software", "--replays", "2000"];

#[test]
fn a_terminal_gets_colour_and_a_pipe_none() {
    assert!(on_a_terminal(dacapo(DOCTOR)).contains("\x1b[32myes\x1b[0m"));
    assert!(on_a_terminal(dacapo(REFUSED)).contains("\x1b[1;31merror:\x1b[0m"));
    for arguments in [DOCTOR, REFUSED, SOAK] {
        let (said, complained) = in_a_pipe(dacapo(arguments));
        assert!(!said.contains('\x1b') && !complained.contains('\x1b'), "{arguments:?}: {said}{complained}");
    }
}

#[test]
fn a_terminal_gets_progress_and_a_pipe_none() {
    let said = on_a_terminal(dacapo(SOAK));
    assert!(said.contains(" %  ") && said.contains("soak: 2000 replays"), "{said}");
    let (said, complained) = in_a_pipe(dacapo(SOAK));
    assert!(!said.contains(" %  ") && complained.is_empty(), "{said}{complained}");
}

#[test]
fn a_terminal_that_wants_no_colour_gets_none() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut command = dacapo(DOCTOR);
        command.env(name, value);
        let said = on_a_terminal(command);
        assert!(said.contains("yes") && !said.contains("\x1b["), "{name}={value}: {said}");
    }
}

#[test]
fn json_has_no_colour_on_a_terminal_either() {
    let said = on_a_terminal(dacapo(&["doctor", "--json"]));
    assert!(!said.contains('\x1b'), "{said}");
    assert!(serde_json::from_str::<serde_json::Value>(&said).unwrap()["works"].is_boolean());
}

//! Pages that the environment asks for, in [`programs`](crate::programs) that end oddly.
//!
//! A program is run without the variable and with it, in each form. It must end the same, say the same, and print no more
//! than a line for each page.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use dacapo::page::Page;

use crate::kit::LONG;

/// What a program did.
#[derive(Debug, PartialEq)]
struct Ended {
    status: String,
    said: Vec<String>,
    /// Standard error without the lines that are about pages.
    printed: Vec<String>,
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("attack-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn command(program: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("programs::{program}");
    command.args(["--ignored", "--exact", &name, "--nocapture", "--test-threads", "1"]).env_remove("RUST_BACKTRACE");
    command.env_remove("DACAPO_PAGES");
    command
}

/// Runs it; what it did, and the lines about pages.
fn run(program: &str, pages: Option<&str>) -> (Ended, Vec<String>) {
    let mut command = command(program);
    pages.map(|pages| command.env("DACAPO_PAGES", pages));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let readers = [std::thread::spawn(move || read(&mut out)), std::thread::spawn(move || read(&mut err))];
    let began = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.to_string(),
            None if began.elapsed() > LONG => {
                child.kill().unwrap();
                break "it hangs".to_string();
            }
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    let [out, err] = readers.map(|reader| reader.join().unwrap());
    let said =
        out.lines().filter(|line| line.contains("said: ") || line.starts_with("test programs")).map(String::from);
    let (ours, printed) = err.lines().map(without_numbers).partition(|line: &String| line.starts_with("dacapo: "));
    (Ended { status, said: said.collect(), printed }, ours)
}

fn read(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A panic names its thread by a number too.
fn without_numbers(line: &str) -> String {
    match line.split_once("' (") {
        Some((name, rest)) => format!("{name}'{}", rest.split_once(')').unwrap().1),
        None => line.to_string(),
    }
}

/// The pages in a folder, all of which can be read.
fn pages_in(folder: &Path) -> Vec<Page> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    files.map(|file| Page::from_html(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
}

/// It does the same with pages and without; how many there are when something went wrong, and of all.
#[track_caller]
fn expect_undisturbed(program: &str) -> (usize, usize) {
    let (plain, none) = run(program, None);
    assert!(none.is_empty(), "{none:?}");
    let counts = ["", "all:"].map(|how| {
        let folder = folder(&format!("{program}-{}", how.trim_end_matches(':')));
        let (ended, ours) = run(program, Some(&format!("{how}{}", folder.display())));
        assert_eq!(ended, plain, "{program} with {how}: {ours:?}");
        let pages = pages_in(&folder).len();
        assert_eq!(pages, ours.len(), "{ours:?}");
        assert!(ours.iter().all(|line| line.len() < 1000 && !line.contains(char::is_control)), "{ours:?}");
        pages
    });
    let (ended, ours) = run(program, Some("all:/proc/no/such/folder"));
    assert_eq!(ended, plain, "{program} with a folder that cannot be: {ours:?}");
    (counts[0], counts[1])
}

#[test]
fn a_panic_in_a_drop() {
    assert_eq!(expect_undisturbed("panics_in_a_drop"), (2, 2));
    assert_eq!(expect_undisturbed("panics_in_a_drop_while_it_panics"), (1, 1));
}

#[test]
fn a_panic_in_a_thread_or_in_a_closure() {
    assert_eq!(expect_undisturbed("panics_in_a_thread_and_goes_on"), (1, 1));
    assert_eq!(expect_undisturbed("panics_in_a_closure_while_recording"), (1, 2));
}

#[test]
fn graphs_that_go_where_nothing_may_be_called() {
    let (_, all) = expect_undisturbed("drops_a_graph_in_a_recording_in_foreign_work_and_in_a_capture");
    assert_eq!(all, 5);
    assert_eq!(expect_undisturbed("keeps_graphs_in_graphs").1, 5);
}

#[test]
fn statics_thread_locals_and_graphs_that_never_go() {
    assert_eq!(expect_undisturbed("has_its_device_in_a_static"), (1, 1));
    assert_eq!(expect_undisturbed("has_a_graph_in_a_thread_local").1, 1);
    assert_eq!(expect_undisturbed("forgets_its_graphs"), (0, 0));
}

#[test]
fn many_at_once() {
    assert_eq!(expect_undisturbed("fails_on_two_threads_at_once"), (40, 40));
    assert_eq!(expect_undisturbed("fails_with_40_graphs"), (40, 40));
    assert_eq!(expect_undisturbed("succeeds"), (0, 40));
}

#[test]
fn a_device_that_is_lost() {
    assert_eq!(expect_undisturbed("loses_its_device"), (2, 2));
}

#[test]
fn labels_of_many_lines_are_said_in_one() {
    assert_eq!(expect_undisturbed("has_labels_of_many_lines"), (4, 4));
}

#[test]
fn the_context_of_the_thread_stays() {
    assert_eq!(expect_undisturbed("has_another_context_current"), (0, 1));
}

#[test]
fn a_value_whose_showing_is_work() {
    let (_, all) = expect_undisturbed("works_while_it_is_shown");
    assert!(all >= 1);
}

#[test]
fn a_relative_folder_is_the_one_where_the_program_began() {
    let (here, elsewhere) = (folder("here"), folder("elsewhere"));
    std::fs::create_dir_all(&here).unwrap();
    let mut command = command("changes_its_folder");
    let output = command.current_dir(&here).env("DACAPO_PAGES", "pages").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((pages_in(&here.join("pages")).len(), elsewhere.join("pages").exists()), (1, false), "{said}");
    assert!(said.contains(&format!("{}", here.join("pages").display())), "{said}");
}

/// Nobody reads what the program prints.
#[test]
fn a_standard_error_that_is_closed() {
    for program in ["succeeds", "fails_with_40_graphs"] {
        let ends = [None, Some(format!("all:{}", folder("closed").display()))].map(|pages| {
            let mut command = command(program);
            pages.map(|pages| command.env("DACAPO_PAGES", pages));
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            drop(child.stderr.take());
            child.wait_with_output().unwrap().status.to_string()
        });
        assert_eq!(ends[0], ends[1], "{program}");
    }
}

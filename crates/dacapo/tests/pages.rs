//! `DACAPO_PAGES`: the page of a test that fails, without a change to it.
//!
//! The tests that fail are in here too, ignored: each is run as a process of its own.
#![cfg(feature = "json")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dacapo::page::Page;
use dacapo::{Device, Graph, Op, Recorder, Slot, baked, copy, fill};

dacapo::kernels! {
    /// Declarations that promise too much.
    unsafe struct Careless(include_str!("promises/kernels.ptx")) {
        /// y ← x[offset ..]
        fn window_of(offset: u32, n: u32 = y.len(), x: &[u32], y: &out [u32]) {
            entry: "window";
            grid: linear(y.len(), 64);
        }
    }
}

/// What a test does: reads beyond `x`, in a graph or eagerly.
fn beyond(r: &mut Recorder<'_>) -> dacapo::Result<()> {
    let k = Careless::load(r.device())?;
    let mut t = r.alloc::<u32>(64)?;
    let (mut x, mut y) = (r.output::<u32>(64)?, r.output::<u32>(64)?);
    r.run(fill(&mut x, baked(1)))?;
    r.run(k.window_of(baked(1 << 20), &x, &mut t).label("reads"))?;
    r.run(copy(&t, &mut y))
}

fn steps(device: &Device) -> Graph<()> {
    let (mut x, mut y) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    let record = |r: &mut Recorder<'_>| r.run(fill(&mut x, baked(1))).and_then(|()| r.run(copy(&x, &mut y)));
    device.graph().label("steps").record(record).unwrap()
}

#[test]
#[ignore = "fails: run by others"]
fn fails_at_an_op() {
    let device = Device::software().unwrap();
    let stream = device.stream().unwrap();
    let mut graph = device.graph().label("step/<b>").record(beyond).unwrap();
    graph.launch(&stream).unwrap().wait().unwrap();
}

#[test]
#[ignore = "fails: run by others"]
fn fails_eagerly() {
    let device = Device::software().unwrap();
    let stream = device.stream().unwrap();
    stream.run(beyond).unwrap();
    stream.synchronize().unwrap();
}

#[test]
#[ignore = "fails: run by others"]
fn fails_by_its_own_numbers() {
    let device = Device::software().unwrap();
    let _graph = steps(&device);
    assert_eq!(1, 2);
}

#[test]
#[ignore = "fails: run by others"]
fn fails_when_its_graph_is_gone() {
    let device = Device::software().unwrap();
    drop(steps(&device));
    drop(device.record(|_: &mut Recorder<'_>| Ok(())).unwrap());
    assert_eq!(1, 2);
}

/// A value that cannot be shown.
#[derive(Clone, Copy, PartialEq, dacapo::Pod)]
#[repr(C)]
struct Shy(u32);

impl std::fmt::Debug for Shy {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("cannot be shown")
    }
}

#[test]
#[ignore = "fails: run by others"]
fn fails_with_what_cannot_be_shown() {
    let device = Device::software().unwrap();
    let mut x = device.buffer(&[Shy(1); 2]).unwrap();
    let _graph = device.record(fill(&mut x, &Slot::new(Shy(2)))).unwrap();
    assert_eq!(1, 2);
}

#[test]
#[ignore = "run by others"]
fn succeeds() {
    let device = Device::software().unwrap();
    let mut graph = steps(&device);
    graph.launch_sync(&device.stream().unwrap()).unwrap();
}

/// Runs one of the tests above with pages in a folder of its name; what it said, and the pages.
fn run(test: &str, how: &str) -> (Output, Vec<(PathBuf, Page)>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pages-{test}-{}", how.trim_end_matches(':')));
    let _ = std::fs::remove_dir_all(&folder);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", test, "--nocapture", "--test-threads", "1"]);
    let output = command.env("DACAPO_PAGES", format!("{how}{}", folder.display())).output().unwrap();
    let files = std::fs::read_dir(&folder).into_iter().flatten().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let read = |file: PathBuf| {
        let page = Page::from_html(&std::fs::read_to_string(&file).unwrap()).unwrap();
        (file, page)
    };
    (output, files.into_iter().map(read).collect())
}

fn name(file: &Path) -> &str {
    file.file_name().unwrap().to_str().unwrap()
}

#[test]
fn a_test_that_fails_at_an_op_leaves_a_page_with_the_report_there() {
    let (output, pages) = run("fails_at_an_op", "");
    assert!(!output.status.success());
    let [(file, page)] = &pages[..] else { panic!("{} pages: {output:?}", pages.len()) };
    assert_eq!(name(file), "fails_at_an_op-step__b_.html");
    let [finding] = &page.findings[..] else { panic!("{:?}", page.findings) };
    assert_eq!(finding.code, "out-of-bounds", "{finding}");
    let at: Vec<&str> =
        page.report.nodes.iter().filter(|node| finding.is_at(node)).map(|node| node.name.as_str()).collect();
    assert_eq!(at, ["window_of"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains(&format!("dacapo: a page of graph `step/<b>`, with 1 finding: {}", file.display())),
        "{said}"
    );
}

#[test]
fn an_eager_run_leaves_a_page_where_something_was_found() {
    let (output, pages) = run("fails_eagerly", "");
    assert!(!output.status.success());
    let [(file, page)] = &pages[..] else { panic!("{} pages: {output:?}", pages.len()) };
    assert_eq!((name(file), page.findings.len()), ("fails_eagerly-eager_run.html", 1));
    assert!(page.report.nodes.iter().all(|node| node.calls.is_empty()), "no graph was made of it");
}

#[test]
fn a_test_whose_own_numbers_are_wrong_leaves_pages_of_its_graphs() {
    let (output, pages) = run("fails_by_its_own_numbers", "");
    assert!(!output.status.success() && pages.len() == 1, "{output:?}");
    assert_eq!((pages[0].1.report.label.as_str(), pages[0].1.findings.len()), ("steps", 0));
    assert!(pages[0].1.books.is_some() && !pages[0].1.memory.is_empty());
    let (output, pages) = run("fails_when_its_graph_is_gone", "");
    assert!(!output.status.success());
    let labels: Vec<&str> = pages.iter().map(|(_, page)| page.report.label.as_str()).collect();
    assert_eq!(labels, ["", "steps"], "{output:?}");
}

#[test]
fn what_cannot_be_shown_is_said_and_changes_nothing() {
    let (output, pages) = run("fails_with_what_cannot_be_shown", "");
    let said = String::from_utf8_lossy(&output.stderr);
    // It ended as a test that fails, and not by a panic in a drop.
    assert_eq!((output.status.code(), pages.len()), (Some(101), 0), "{said}");
    assert!(said.contains("dacapo: no page of graph ``: it could not be inspected"), "{said}");
    let command = |folder: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "fails_by_its_own_numbers", "--nocapture"]);
        command.env("DACAPO_PAGES", folder).output().unwrap()
    };
    let output = command("/proc/no/such/folder");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{said}");
    assert!(said.contains("dacapo: no page of graph `steps`: /proc/no/such/folder: "), "{said}");
}

#[test]
fn a_test_that_succeeds_leaves_none_unless_all_are_asked_for() {
    let (output, pages) = run("succeeds", "");
    assert!(output.status.success() && pages.is_empty(), "{output:?}");
    let (output, pages) = run("succeeds", "all:");
    assert!(output.status.success() && pages.len() == 1, "{output:?}");
    assert_eq!(name(&pages[0].0), "succeeds-steps.html");
}

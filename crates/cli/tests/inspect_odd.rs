//! `dacapo inspect` with what a stranger gives it: no panic, no page of half of it, and a sentence instead.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use dacapo::inspect::{Kind, Node, Report};
use dacapo::{Device, baked, fill};

fn written(file: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("odd-{file}"));
    std::fs::write(&path, text).unwrap();
    path
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.arg("inspect");
    command
}

fn inspect(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the program starts")
}

/// It is refused: with what is wrong on standard error, nothing on standard output, and no panic.
#[track_caller]
fn expect_refused(arguments: &[&str], why: &str) {
    let Output { status, stdout, stderr } = inspect(arguments);
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.code().is_some_and(|code| code != 0 && code != 101), "{status}: {said}");
    assert!(
        (said.starts_with("error") || said.starts_with("{\"error\""))
            && said.contains(why)
            && !said.contains("panicked"),
        "{said}"
    );
    assert!(stdout.is_empty() && said.len() < 2000, "{said}");
}

fn report(nodes: usize) -> Report {
    let nodes = (0..nodes).map(|at| Node::new(Kind::Kernel, format!("k{at}"))).collect();
    Report::new("a device", "odd", nodes, Vec::new(), Vec::new())
}

#[test]
fn files_that_are_none_are_refused() {
    let binary: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let wide: Vec<u8> = "{\"version\":2}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    expect_refused(&[], "FILE");
    expect_refused(&["/no/such/file.json"], "/no/such/file.json");
    expect_refused(&[env!("CARGO_TARGET_TMPDIR")], env!("CARGO_TARGET_TMPDIR"));
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("blank", b" \n".to_vec()),
        ("binary", binary),
        ("wide", wide),
        ("half", report(3).to_json().into_bytes()[..200].to_vec()),
        ("half.html", report(3).html().into_bytes()[..2000].to_vec()),
        ("other.html", b"<!doctype html><title>other</title>".to_vec()),
        ("deep", "[".repeat(200_000).into_bytes()),
    ] {
        let path = written(name, bytes);
        for form in [&[][..], &["--html"], &["--svg"], &["--dot"], &["--json"]] {
            let mut arguments = vec![path.to_str().unwrap()];
            arguments.extend(form);
            expect_refused(&arguments, path.to_str().unwrap());
        }
    }
}

#[test]
fn profiles_that_do_not_fit_are_refused() {
    let device = Device::software().unwrap();
    let stream = device.stream().unwrap();
    let mut y = device.zeros::<u32>(4).unwrap();
    let mut graph = device.record(fill(&mut y, baked(1))).unwrap();
    let graph_json = written("graph.json", graph.inspect().to_json());
    let replay = written("replay.json", graph.profile(&stream).unwrap().to_json());
    let eager = written("eager.json", stream.profile(graph.as_op()).unwrap().to_json());
    let [graph, replay, eager] = [&graph_json, &replay, &eager].map(|path| path.to_str().unwrap());
    assert!(inspect(&[graph, "--html", "--profile", replay, "--profile", eager]).status.success());
    expect_refused(&[graph, "--html", "--profile", replay, "--profile", replay], "two profiles of a replay");
    expect_refused(&[graph, "--html", "--profile", eager, "--profile", eager], "two profiles of an eager run");
    expect_refused(&[graph, "--html", "--profile", graph], graph);
    expect_refused(&[graph, "--profile", replay], "--html");
    expect_refused(&[graph, "--svg=time"], "no profile");
    expect_refused(&[graph, "--svg=memory"], "no temps");
    expect_refused(&[graph, "--svg=nonsense"], "nonsense");
    expect_refused(&[graph, "--svg", "--html"], "--html");
    // A report is where a profile should be, and the other way round.
    expect_refused(&[replay], replay);
}

#[test]
fn a_report_against_itself_is_the_same_in_every_form() {
    let path = written("itself.json", report(20).to_json());
    let page = written("itself.html", report(20).html());
    for other in [&path, &page] {
        for form in [&[][..], &["--html"], &["--json"]] {
            let mut arguments = vec![path.to_str().unwrap(), "--against", other.to_str().unwrap()];
            arguments.extend(form);
            let output = inspect(&arguments);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
    }
}

/// `dacapo inspect FILE .. | head -c 10`.
#[test]
fn one_who_reads_no_further_hears_no_complaint() {
    let path = written("long.json", report(3000).to_json());
    for form in ["--html", "--svg", "--dot", "--json"] {
        let mut child = command().arg(&path).arg(form).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut few = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut few).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_report_for_a_profile_and_a_profile_for_a_report_are_told_apart() {
    let device = Device::software().unwrap();
    let mut y = device.zeros::<f32>(4).unwrap();
    let mut graph = device.record(fill(&mut y, baked(1.0))).unwrap();
    let profile = graph.profile(&device.stream().unwrap()).unwrap();
    let report = written("swapped-report.json", graph.inspect().to_json());
    let times = written("swapped-times.json", profile.to_json());
    let (report, times) = (report.to_str().unwrap(), times.to_str().unwrap());
    expect_refused(
        &[report, "--html", "--profile", report],
        "this is a report or a page, and no profile\nhelp: `Profile",
    );
    expect_refused(&[times], "this is a profile: give it with --profile");
    expect_refused(&[report, "--svg=time"], "there is no profile in this file\nhelp: ");
    let other = written("swapped.txt", "# A text");
    expect_refused(&[other.to_str().unwrap()], "help: `Report::to_json` writes such a file");
}

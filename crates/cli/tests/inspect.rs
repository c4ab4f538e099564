//! Reports from files: printed, drawn, compared, and refused when they are none.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dacapo::graph::Edge;
use dacapo::inspect::{Kind, Node, Report};

/// A file with a report of two kernels, the second of this name.
fn report(file: &str, second: &str) -> PathBuf {
    report_with(file, second, Edge::Full)
}

/// The same, with an edge of this kind between them.
fn report_with(file: &str, second: &str, kind: Edge) -> PathBuf {
    let nodes = vec![Node::new(Kind::Kernel, "first"), Node::new(Kind::Kernel, second)];
    let report = Report::new("a device", "a label", nodes, Vec::new(), vec![(0, 1, kind)]);
    written(file, &report.to_json())
}

fn written(file: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    std::fs::write(&path, text).unwrap();
    path
}

fn inspect(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.arg("inspect").args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_report_is_printed_or_drawn() {
    let path = report("two.json", "second");
    let table = inspect(&[&path]);
    assert!(table.status.success(), "{table:?}");
    let said = text(&table.stdout);
    assert!(said.contains("first") && said.contains("second") && said.contains("a device"), "{said}");
    let svg = text(&inspect(&[&path, Path::new("--svg")]).stdout);
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("data-op=\"0\""), "{svg}");
    let dot = text(&inspect(&[&path, Path::new("--dot")]).stdout);
    assert!(dot.starts_with("digraph") && dot.contains("->"), "{dot}");
}

#[test]
fn two_reports_are_compared_and_the_exit_code_says_whether_they_differ() {
    let (one, other) = (report("one.json", "second"), report("other.json", "third"));
    let against = Path::new("--against");
    let same = inspect(&[&one, against, &one]);
    assert_eq!((same.status.code(), text(&same.stdout).as_str()), (Some(0), "no difference\n"));
    let different = inspect(&[&other, against, &one]);
    let said = text(&different.stdout);
    assert_eq!(different.status.code(), Some(1), "{said}");
    assert!(said.contains("- node 1 `second`") && said.contains("+ node 1 `third`"), "{said}");
}

#[test]
fn a_page_shows_a_report_and_is_one_to_read_it_from() {
    let (one, other) = (report("page_one.json", "second"), report("page_other.json", "third"));
    let html = text(&inspect(&[Path::new("--html"), &one]).stdout);
    assert!(html.starts_with("<!doctype html>") && html.contains("data-op=\"1\""), "{html}");
    let page = written("page.html", &html);
    assert_eq!(text(&inspect(&[&page]).stdout), text(&inspect(&[&one]).stdout));
    let both = inspect(&[&other, Path::new("--against"), &page, Path::new("--html")]);
    assert_eq!(both.status.code(), Some(1));
    let both = text(&both.stdout);
    assert!(both.contains("id=\"before\"") && both.contains("Difference"), "{both}");
    let no_temps = inspect(&[&one, Path::new("--svg=memory")]);
    assert!(!no_temps.status.success() && text(&no_temps.stderr).contains("no temps"), "{no_temps:?}");
}

#[test]
fn another_kind_of_edge_is_said_and_the_reports_are_still_the_same() {
    let (plain, tuned) = (report("plain.json", "second"), report_with("tuned.json", "second", Edge::Signals));
    let said = inspect(&[&tuned, Path::new("--against"), &plain]);
    let kind = "edge from node 0 `first` to node 1 `second`: full -> signals";
    assert_eq!((said.status.code(), text(&said.stdout)), (Some(0), format!("  {kind}\nno difference\n")));
    let json = text(&inspect(&[&tuned, Path::new("--json"), Path::new("--against"), &plain]).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json, serde_json::json!({ "same": true, "differences": [], "kinds": [kind] }));
    let drawn = text(&inspect(&[&tuned, Path::new("--dot")]).stdout);
    assert!(drawn.contains("label=signals"), "{drawn}");
}

#[test]
fn what_is_no_report_is_refused_with_its_path() {
    let no_report = written("no_report.json", "{}");
    let newer = written("newer.json", "{\"version\": 4000}");
    let absent = Path::new("/nowhere/report.json");
    for (path, why) in [(no_report.as_path(), "not a report"), (&newer, "version 4000"), (absent, "No such file")] {
        let output = inspect(&[path]);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{said}");
        assert!(said.starts_with(&format!("error: {}: ", path.display())), "{said}");
    }
}

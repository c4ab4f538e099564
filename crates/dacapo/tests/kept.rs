//! What is kept opens later: files in `tests/kept`, as earlier versions wrote them, are read and shown, and say what they said.
//!
//! They are never rewritten, only added to: `tests/kept/README.md`.
#![cfg(feature = "json")]

use std::path::Path;

use dacapo::inspect::{How, Kind, MemoryKind, Report};
use dacapo::page::Page;
use dacapo::profile::Profile;
use dacapo::{inspect, page, profile};
use serde_json::Value;

/// Every file that was kept of this kind, with its version: `report-2.json`.
fn kept(kind: &str, ending: &str) -> Vec<(u64, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    let mut files = Vec::new();
    for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let version = name.strip_prefix(&format!("{kind}-")).and_then(|rest| rest.strip_suffix(ending));
        if let Some(version) = version {
            files.push((version.parse().unwrap(), std::fs::read_to_string(&file).unwrap()));
        }
    }
    files.sort();
    files
}

/// The versions of all files of a kind end with today's.
fn expect_todays(files: &[(u64, String)], version: u32) {
    let last = files.last().map(|(version, _)| *version);
    assert_eq!(last, Some(u64::from(version)), "tests/kept/README.md says how a new version is kept");
}

/// Everything that was said is said again; more may be said now.
fn expect_said(was: &Value, is: &Value, at: &str) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (name, was) in was {
                // Written again, it is in today's format.
                if name != "version" && name != "page" {
                    expect_said(was, is.get(name).unwrap_or(&Value::Null), &format!("{at}/{name}"));
                }
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (place, (was, is)) in was.iter().zip(is).enumerate() {
                expect_said(was, is, &format!("{at}/{place}"));
            }
        }
        _ => assert_eq!(was, is, "at {at}"),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The JSON in a page.
fn data(html: &str) -> Value {
    let (_, data) = html.split_once("id=\"data\">").unwrap();
    json(data.split_once("</script>").unwrap().0)
}

#[test]
fn reports_that_were_kept_are_read_and_say_what_they_said() {
    let files = kept("report", ".json");
    expect_todays(&files, inspect::VERSION);
    for (version, text) in files {
        assert_eq!(json(&text)["version"], version);
        let report = Report::from_json(&text).unwrap();
        expect_said(&json(&text), &json(&report.to_json()), "");
        expect_everything(&report);
        assert_eq!(report.to_svg().matches("data-op=").count(), report.nodes.len());
        assert!(report.to_string().contains("everything") && report.to_dot().contains("window_of"));
    }
}

/// What the recording has, whichever version of the format told it.
fn expect_everything(report: &Report) {
    assert_eq!(report.label, "everything");
    let labels = ["everything/layer0/attend", "everything/layer1/mlp", "everything/reads"];
    for label in labels {
        assert!(report.nodes.iter().any(|node| node.label == label), "no op labelled {label}");
    }
    let of = |kind: Kind| report.nodes.iter().filter(|node| node.kind == kind).map(|node| node.index).next();
    let (repeats, when) = (of(Kind::Loop).unwrap(), of(Kind::Branch).unwrap());
    assert_eq!(report.nodes[when].inside.map(|inside| inside.node), Some(repeats), "the branch is in the loop");
    let slots = report.nodes.iter().flat_map(|node| &node.arguments);
    let slots: Vec<&str> =
        slots.filter(|one| matches!(one.how, How::Slot { .. })).map(|one| one.name.as_str()).collect();
    assert_eq!(slots, ["offset"]);
    // Two of a layer and the first; what decides about the loop and the branch is in others.
    let temps = report.memories.iter().filter(|memory| memory.kind == MemoryKind::Temp && memory.bytes == 1024);
    let offsets: Vec<Option<u64>> = temps.map(|temp| temp.offset).collect();
    assert!(offsets.len() == 5 && offsets.iter().all(Option::is_some), "{offsets:?}");
    assert!((1..5).any(|at| offsets[..at].contains(&offsets[at])), "temps share memory: {offsets:?}");
}

#[test]
fn profiles_that_were_kept_are_read_and_say_what_they_said() {
    let files = kept("profile", ".json");
    expect_todays(&files, profile::VERSION);
    for (version, text) in files {
        assert_eq!(json(&text)["version"], version);
        let profile = Profile::from_json(&text).unwrap();
        expect_said(&json(&text), &json(&profile.to_json()), "");
        assert_eq!((profile.label.as_str(), profile.eager), ("everything", false));
        let repeats = profile.ops.iter().find(|op| op.kind == Kind::Loop).unwrap().index;
        assert_eq!(profile.rounds(repeats), Some(3));
        assert!(profile.to_string().contains("window_of") && profile.trace().contains("window_of"));
    }
}

#[test]
fn pages_that_were_kept_are_read_and_shown_again() {
    let files = kept("page", ".html");
    expect_todays(&files, page::VERSION);
    for (version, text) in files {
        assert_eq!(data(&text)["page"], version);
        let page = Page::from_html(&text).unwrap();
        expect_said(&data(&text), &json(&page.to_json()), "");
        expect_everything(&page.report);
        let (before, after) = (page.before.as_ref().unwrap(), &page.report);
        assert!(before.nodes.len() + 3 == after.nodes.len(), "the earlier recording has a layer less");
        let ops = after.nodes.iter().filter(|node| node.kind != Kind::Join).count();
        let (replayed, eager) = (page.profile.as_ref().unwrap(), page.eager.as_ref().unwrap());
        assert_eq!((replayed.ops.len(), replayed.eager, eager.eager), (ops, false, true));
        let [finding] = &page.findings[..] else { panic!("{:?}", page.findings) };
        let at: Vec<&str> =
            after.nodes.iter().filter(|node| finding.is_at(node)).map(|node| node.name.as_str()).collect();
        assert_eq!((finding.code.as_str(), at), ("out-of-bounds", vec!["window_of"]));
        assert!(page.memory.iter().any(|purpose| purpose.name == "arena" && purpose.bytes > 0), "{:?}", page.memory);
        assert!(page.books.as_ref().unwrap().total > 0);
        // Shown by today's code, it is the same page.
        let again = page.html();
        assert_eq!(Page::from_html(&again).unwrap(), page);
        assert_eq!(again.matches(" data-op=").count(), before.nodes.len() + after.nodes.len());
    }
}

#[test]
fn versions_that_do_not_exist_yet_are_refused_with_a_sentence() {
    let later = |text: &str, of: &str, version: u32| {
        let changed = text.replacen(&format!("{of}{version}"), &format!("{of}{}", version + 1), 1);
        assert_ne!(text, changed, "{of}");
        changed
    };
    let last = |kind: &str, ending: &str| kept(kind, ending).pop().unwrap().1;
    let expect = |what: &str, said: String, version: u32| {
        let (wanted, known) =
            (format!("this {what} has version {} ", version + 1), format!("reads version {version}\n"));
        assert!(said.starts_with(&wanted) && said.contains(&known) && said.contains("help: "), "{said}");
    };
    let report = later(&last("report", ".json"), "\"version\": ", inspect::VERSION);
    expect("report", Report::from_json(&report).unwrap_err().to_string(), inspect::VERSION);
    let profile = later(&last("profile", ".json"), "\"version\": ", profile::VERSION);
    expect("profile", Profile::from_json(&profile).unwrap_err().to_string(), profile::VERSION);
    let html = last("page", ".html");
    let refused = |html: &str| Page::from_html(html).unwrap_err().to_string();
    expect("page", refused(&later(&html, "{\"page\":", page::VERSION)), page::VERSION);
    // Also where only a part of the page is from later, and has fields that nobody knows.
    for part in ["report", "before"] {
        let start = format!("\"{part}\":{{\"version\":");
        expect("report", refused(&later(&html, &start, inspect::VERSION)), inspect::VERSION);
        let unknown = html.replacen(
            &format!("{start}{}", inspect::VERSION),
            &format!("{start}{},\"knots\":[0]", inspect::VERSION + 1),
            1,
        );
        expect("report", refused(&unknown.replace("\"nodes\":[", "\"knots\":[")), inspect::VERSION);
    }
    for part in ["profile", "eager"] {
        expect(
            "profile",
            refused(&later(&html, &format!("\"{part}\":{{\"version\":"), profile::VERSION)),
            profile::VERSION,
        );
    }
}

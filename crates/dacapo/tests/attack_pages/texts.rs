//! Texts that would be markup, or are no texts at all.

use dacapo::inspect::{Argument, How};
use dacapo::inspect::{Finding, FoundAt, KernelOf, Place, Report, Value};
use dacapo::page::{Page, Purpose};

use crate::kit::{profiles, rich, show};

fn texts() -> Vec<String> {
    let plain = [
        "",
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "]]>",
        "<![CDATA[",
        "&#x3c;img src=x onerror=alert(1)&#x3e;",
        "<img src=x onerror=\"alert(1)\">",
        "\"><b>bold</b>",
        "' onclick='alert(1)",
        "\0\u{1}\u{8}\u{b}\u{1f}\u{7f}\u{85}\u{9f}\u{fffe}\u{ffff}",
        "\r\n\r\t\n",
        "\u{202e}drawkcab\u{2066}\u{2069}\u{200f}",
        "e\u{301}\u{301}\u{301} 👨‍👩‍👧‍👦 日本語",
        "\u{2028}\u{2029}\u{feff}",
        "javascript:alert(1)",
        "${alert(1)} {{alert(1)}} %s %n \\u003c",
        "__proto__",
        "constructor",
        "NaN",
        "-inf",
    ];
    let mut texts: Vec<String> = plain.map(String::from).to_vec();
    texts.extend(["x".repeat(100_000), "/".repeat(10_000), "a/".repeat(10_000), "<".repeat(10_000)]);
    texts.extend(["日".repeat(10_000), "\n".repeat(10_000), "\u{202e}".repeat(1000)]);
    texts
}

/// Every text of a report is this one.
fn told(text: &str) -> Report {
    let mut report = rich();
    (report.device, report.label, report.dacapo) = (text.to_string(), text.to_string(), text.to_string());
    for (at, node) in report.nodes.iter_mut().enumerate() {
        (node.name, node.label) = (text.to_string(), format!("{text}{}", if at % 2 == 0 { "/x" } else { "" }));
        node.location = Some(Place::new(text, 1, 1));
        node.warnings.push(text.to_string());
        node.calls.push(text.to_string());
        node.patched_by = Some(text.to_string());
        node.arguments.push(Argument::new(text, How::Slot { value: Value::new(text, None) }));
    }
    report.memories.iter_mut().for_each(|memory| memory.name = text.to_string());
    report.kernels = vec![KernelOf::new(text, text, text)];
    report
}

fn page(text: &str) -> Page {
    let (mut replay, mut eager) = profiles();
    for profile in [&mut replay, &mut eager] {
        (profile.device, profile.label) = (text.to_string(), text.to_string());
        for op in &mut profile.ops {
            (op.name, op.label) = (text.to_string(), text.to_string());
            op.location = Some(Place::new(text, 1, 1));
        }
    }
    let report = told(text);
    let node = &report.nodes[0];
    let at = FoundAt::new(node.name.clone(), node.label.clone(), node.location.clone());
    let findings = vec![Finding::new(text, text, text, vec![at])];
    Page::new(report).profile(replay).profile(eager).findings(findings)
}

#[test]
fn stay_texts() {
    for text in texts() {
        let start: String = text.chars().take(20).collect();
        let shown = std::panic::catch_unwind(|| {
            show(&page(&text));
            show(&Page::new(rich()).since(told(&text)));
        });
        assert!(shown.is_ok(), "{start:?}, {} bytes", text.len());
    }
}

#[test]
fn of_what_memory_is_for_stay_texts() {
    let device = dacapo::Device::software().unwrap();
    let mut page = Page::new(rich()).books(&device.memory_report().unwrap());
    let markup = "</table><script>alert(1)</script>";
    let mut books = page.books.take().unwrap();
    let purpose = |bytes: u64| -> Purpose {
        serde_json::from_value(serde_json::json!({ "name": markup, "bytes": bytes })).unwrap()
    };
    (books.free, books.total, books.budget) = (u64::MAX, 0, Some(u64::MAX));
    books.purposes = vec![purpose(u64::MAX), purpose(0)];
    page.memory = vec![purpose(u64::MAX), purpose(1)];
    page.books = Some(books);
    show(&page);
}

/// A page that holds the marks by which its own data are found.
#[test]
fn that_look_like_the_data_of_a_page_are_not_read_as_them() {
    let marks = "<script type=\"application/json\" id=\"data\">{}</script>";
    let page = page(marks);
    assert_eq!(Page::from_html(&page.html()).unwrap(), page);
}

//! A page as HTML.
//!
//! Every text of the program's is escaped, or is JSON in a script element that nothing in it can end. The page forbids itself the
//! network.

use std::fmt::Write as _;

use super::Page;
use super::derived::Derived;
use super::json::{DATA, END, in_script};
use super::panels::{Panel, panels};
use crate::inspect::Kind;
use crate::inspect::draw::Escaped;
use crate::inspect::table::count;

const STYLE: &str = include_str!("page.css");
/// One function that runs when the page is there, in parts.
const SCRIPT: [&str; 6] = [
    include_str!("script/begin.js"),
    include_str!("script/view.js"),
    include_str!("script/fold.js"),
    include_str!("script/details.js"),
    include_str!("script/search.js"),
    include_str!("script/page.js"),
];
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

const KEYS: [(&str, &str); 9] = [
    ("/", "search; arrows and Enter choose"),
    ("arrows", "the op before, behind, left and right in the recording"),
    ("Shift and arrows", "move the drawing"),
    ("+ -", "zoom"),
    ("f", "fit the whole graph"),
    ("e", "fold or unfold the label around the chosen op, or all labels"),
    ("b", "the other recording, where two are compared"),
    ("Escape", "choose nothing, search nothing"),
    ("?", "this list"),
];

pub(super) fn written(page: &Page) -> String {
    let derived = Derived::of(page);
    let report = &page.report;
    let label = if report.label.is_empty() { "graph" } else { &report.label };
    let mut to = String::new();
    let mut put = |text: &str| to.push_str(text);
    put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
    put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    put(&format!(
        "<title>{}</title>\n<style>\n{STYLE}</style>\n<noscript><style>.opening svg {{ display: block; }}</style></noscript>\n</head>\n<body>\n",
        Escaped(&short(label))
    ));
    put(&head(page, label));
    put("<main>\n<section id=\"graph\" tabindex=\"0\" aria-label=\"the graph: arrow keys go from op to op\">\n");
    put(&format!("<div class=\"drawing opening\" id=\"after\">{}</div>\n", report.svg_in_page()));
    if let Some(before) = &page.before {
        put(&format!("<div class=\"drawing opening\" id=\"before\" hidden>{}</div>\n", before.svg_in_page()));
        put(
            "<div id=\"switch\"><button data-view=\"before\" aria-pressed=\"false\">first recording</button><button data-view=\"after\" aria-pressed=\"true\">second recording</button></div>\n",
        );
    }
    put(
        "<div class=\"legend\" id=\"legend\"></div>\n</section>\n<aside id=\"details\" aria-label=\"details\" tabindex=\"0\"></aside>\n</main>\n",
    );
    put(&below(&panels(page, &derived)));
    put(&keys());
    put("<div id=\"status\" role=\"status\" style=\"position: absolute; left: -9999px\"></div>\n");
    put(&format!("{DATA}{}{END}\n", in_script(page)));
    put(&format!("<script type=\"application/json\" id=\"derived\">{}{END}\n", in_script(&derived)));
    put("<script>\n");
    SCRIPT.iter().for_each(|part| put(part));
    put("</script>\n</body>\n</html>\n");
    to
}

pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

fn head(page: &Page, label: &str) -> String {
    let report = &page.report;
    let ops = report.nodes.iter().filter(|node| node.kind != Kind::Join).count();
    let about = format!(
        "{} · {} · {} · dacapo {}",
        short(&report.device),
        count(ops, "op"),
        count(report.edges.len(), "edge"),
        short(&report.dacapo)
    );
    format!(
        "<header>\n<h1 title=\"{0}\">{0}</h1>\n<span class=\"about\" title=\"{1}\">{1}</span>\n<span class=\"gap\"></span>\n\
         <span class=\"finding-box\"><input id=\"search\" type=\"search\" placeholder=\"search  ( / )\" aria-label=\"search ops\" role=\"combobox\" aria-expanded=\"false\" aria-controls=\"results\" autocomplete=\"off\" spellcheck=\"false\"> <span id=\"count\" aria-live=\"polite\"></span>\n\
         <ul id=\"results\" role=\"listbox\" hidden></ul></span>\n\
         <label>colour by <select id=\"colour\"><option value=\"label\">label</option><option value=\"kind\">kind</option>{2}</select></label>\n\
         <button id=\"fold\" aria-pressed=\"false\">Fold labels</button>\n<button id=\"fit\">Fit</button>\n\
         <button id=\"smaller\" aria-label=\"smaller\">−</button>\n<button id=\"larger\" aria-label=\"larger\">+</button>\n<button id=\"help\" aria-label=\"keys\">?</button>\n</header>\n",
        Escaped(&short(label)),
        Escaped(&about),
        if page.profile.is_some() { "<option value=\"time\">time</option>" } else { "" },
    )
}

fn keys() -> String {
    let rows: String =
        KEYS.iter().map(|(key, what)| format!("<tr><th><kbd>{key}</kbd></th><td>{what}</td></tr>\n")).collect();
    format!(
        "<dialog id=\"keys\"><h2>Keys</h2><table>\n{rows}</table><form method=\"dialog\"><button>Close</button></form></dialog>\n"
    )
}

/// The panels below the drawing, each behind a tab.
fn below(panels: &[Panel]) -> String {
    if panels.is_empty() {
        return "<section id=\"below\" hidden></section>\n".to_string();
    }
    let mut html = String::from("<section id=\"below\">\n<div role=\"tablist\" aria-label=\"more\">\n");
    for Panel { id, title, is_open, .. } in panels {
        let open = if *is_open { " data-open" } else { "" };
        writeln!(
            html,
            "<button role=\"tab\" id=\"tab-{id}\" aria-controls=\"{id}\" aria-selected=\"false\"{open}>{}</button>",
            Escaped(title)
        )
        .expect("writing to a string");
    }
    html.push_str("</div>\n");
    for panel in panels {
        writeln!(
            html,
            "<div role=\"tabpanel\" id=\"{0}\" aria-labelledby=\"tab-{0}\" tabindex=\"0\" hidden>\n{1}</div>",
            panel.id, panel.html
        )
        .expect("writing to a string");
    }
    html + "</section>\n"
}

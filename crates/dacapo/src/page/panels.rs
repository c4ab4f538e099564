//! What stands below the drawing: findings, differences, times and memory, each behind a tab.

use std::fmt::Write as _;

use super::derived::Derived;
use super::html::short;
use super::{Books, Page, Purpose};
use crate::inspect::draw::{Escaped, Lives, about};
use crate::inspect::table::size;
use crate::inspect::{Difference, EdgeOf, NodeOf, Report};
use crate::profile::Profile;

/// A part of the page below the drawing.
pub(super) struct Panel {
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) html: String,
    /// Whether it is open when the page is.
    pub(super) is_open: bool,
}

/// Those that there is something to say in.
pub(super) fn panels(page: &Page, derived: &Derived) -> Vec<Panel> {
    let difference = derived.difference.as_ref().zip(page.before.as_ref());
    let panels = [
        findings_panel(page, derived),
        difference.map(|(difference, before)| difference_panel(difference, before, &page.report)),
        time_panel(page),
        memory_panel(page),
    ];
    panels.into_iter().flatten().collect()
}

/// What was found, with the ops at which it was.
fn findings_panel(page: &Page, derived: &Derived) -> Option<Panel> {
    if page.findings.is_empty() {
        return None;
    }
    let mut html = String::from("<div id=\"findings-list\">\n");
    for (finding, nodes) in page.findings.iter().zip(&derived.findings) {
        let link = |node: &usize| link(&NodeOf::new(&page.report.nodes[*node]), "after");
        let ops: Vec<String> = nodes.iter().map(link).collect();
        let at = if ops.is_empty() { "at no op of this graph".to_string() } else { format!("at {}", ops.join(", ")) };
        writeln!(html, "<div class=\"wrongness\"><p>{at}</p><pre>{}</pre></div>", Escaped(&finding.report))
            .expect("writing to a string");
    }
    let title = format!("Findings ({})", page.findings.len());
    Some(Panel { id: "findings", title, html: html + "</div>\n", is_open: true })
}

/// The timeline of a replay, and of an eager run beside it, to one scale.
fn time_panel(page: &Page) -> Option<Panel> {
    let profiles: Vec<&Profile> = [&page.profile, &page.eager].into_iter().flatten().collect();
    let span = profiles.iter().map(|profile| profile.total_ns).max()?;
    let mut html = String::from(
        "<p><label>stretch <input type=\"range\" data-stretch min=\"1\" max=\"40\" step=\"0.5\" value=\"1\"></label> \
         <span class=\"soft\">bold: the critical path; red: ready, and not begun; a click shows the op</span></p>\n<div class=\"two\">\n",
    );
    for profile in &profiles {
        let what = if profile.eager { "Eager: one op after the other" } else { "Replay" };
        writeln!(html, "<div><h3>{what}</h3><div class=\"strip timeline\">{}</div></div>", profile.svg_over(span))
            .expect("writing to a string");
    }
    html.push_str("</div>\n");
    if let [replay, eager] = profiles[..] {
        html.push_str(&beside(replay, eager));
    }
    Some(Panel { id: "time", title: "Time".to_string(), html, is_open: true })
}

/// Two profiles in numbers.
fn beside(replay: &Profile, eager: &Profile) -> String {
    let row = |what: &str, of: &dyn Fn(&Profile) -> u64| {
        let number = |profile: &Profile| format!("<td class=\"num\">{}</td>", profile.clock.told(of(profile)));
        format!("<tr><td>{what}</td>{}{}</tr>\n", number(replay), number(eager))
    };
    let gaps = |profile: &Profile| {
        profile.ops.iter().filter(|op| op.critical).fold(0u64, |sum, op| sum.saturating_add(op.gap_ns))
    };
    format!(
        "<h3>Beside each other</h3>\n<table id=\"beside\"><tr><th></th><th>replay</th><th>eager</th></tr>\n{}{}{}</table>\n",
        row("critical path", &Profile::critical_ns),
        row("of it gaps", &gaps),
        row("all ops together", &Profile::sum_ns),
    )
}

/// The map of temps, and what memory is for.
fn memory_panel(page: &Page) -> Option<Panel> {
    let lives = Lives::of(&page.report);
    let map = page.report.memory_svg();
    if map.is_none() && page.books.is_none() && page.memory.is_empty() && page.report.memories.is_empty() {
        return None;
    }
    let mut html = String::new();
    if let Some(map) = map {
        write!(html, "<h3>Temps: bytes down, ops across</h3><div class=\"strip\">{map}</div>\n<p class=\"soft\">{}. Bars beside each other share bytes. A click tells who touches one.</p>\n", Escaped(&about(&lives))).expect("writing to a string");
        let at_peak = lives.lives.iter().filter(|life| lives.is_at_peak(life));
        let mut alive: Vec<_> = at_peak.collect();
        alive.sort_by_key(|life| (std::cmp::Reverse(life.bytes), life.memory));
        html.push_str("<h3>The largest live set</h3>\n<table id=\"largest\">\n");
        for life in alive.iter().take(40) {
            let name = short(&page.report.memories[life.memory].name);
            writeln!(
                html,
                "<tr><td><button class=\"go\" data-memory=\"{}\">{}</button></td><td class=\"num\">{}</td></tr>",
                life.memory,
                Escaped(&name),
                size(life.bytes)
            )
            .expect("writing to a string");
        }
        html.push_str("</table>\n");
        if alive.len() > 40 {
            writeln!(html, "<p class=\"soft\">and {} more</p>", alive.len() - 40).expect("writing to a string");
        }
    }
    if !page.memory.is_empty() {
        html.push_str("<h3>This graph</h3>\n");
        html.push_str(&purposes(&page.memory));
    }
    if let Some(Books { purposes: rows, budget, free, total }) = &page.books {
        html.push_str("<h3>The device's books: what the library holds</h3>\n");
        html.push_str(&purposes(rows));
        let budget = budget.map_or_else(|| "no budget".to_string(), |budget| format!("a budget of {}", size(budget)));
        writeln!(
            html,
            "<p class=\"soft\">{budget}; {} of {} are free on the device, by whomever it is used</p>",
            size(*free),
            size(*total)
        )
        .expect("writing to a string");
    }
    html.push_str("<h3>All memories</h3>\n<table id=\"memories\">\n");
    for memory in page.report.memories.iter().take(1000) {
        writeln!(
            html,
            "<tr><td><button class=\"go\" data-memory=\"{}\">{}</button></td><td>{}</td><td class=\"num\">{}</td></tr>",
            memory.index,
            Escaped(&short(&memory.name)),
            memory.kind,
            size(memory.bytes)
        )
        .expect("writing to a string");
    }
    html.push_str("</table>\n");
    Some(Panel { id: "memory", title: "Memory".to_string(), html, is_open: false })
}

fn purposes(rows: &[Purpose]) -> String {
    let row =
        |row: &Purpose| format!("<tr><td>{}</td><td class=\"num\">{}</td></tr>\n", Escaped(&row.name), size(row.bytes));
    format!("<table>\n{}</table>\n", rows.iter().filter(|row| row.bytes > 0).map(row).collect::<String>())
}

/// What differs, as a list; each node is a link to its drawing.
fn difference_panel(difference: &Difference, before: &Report, after: &Report) -> Panel {
    let mut html = String::from("<div id=\"differences\">\n");
    let mut line = |class: &str, sign: &str, text: String| {
        writeln!(html, "<div class=\"mono\"><span class=\"{class}\">{sign}</span> {text}</div>")
            .expect("writing to a string");
    };
    for change in &difference.about {
        line("soft", " ", Escaped(&short(&change.to_string())).to_string());
    }
    difference.removed.iter().for_each(|node| line("minus", "-", link(node, "before")));
    difference.added.iter().for_each(|node| line("plus", "+", link(node, "after")));
    for node in &difference.changed {
        let changes: Vec<String> = node.changes.iter().map(|change| short(&change.to_string())).collect();
        line(
            "tilde",
            "~",
            format!("{}: <span class=\"soft\">{}</span>", link(&node.second, "after"), Escaped(&changes.join("; "))),
        );
    }
    let edge = |edge: &EdgeOf, of: &str| format!("edge from {} to {}", link(&edge.before, of), link(&edge.after, of));
    difference.edges_removed.iter().for_each(|one| line("minus", "-", edge(one, "before")));
    difference.edges_added.iter().for_each(|one| line("plus", "+", edge(one, "after")));
    for changed in &difference.edges_changed {
        line("soft", " ", format!("{}: {} -> {}", edge(&changed.edge, "after"), changed.from, changed.to));
    }
    difference.memories.iter().for_each(|change| line("tilde", "~", Escaped(&short(&change.to_string())).to_string()));
    if difference.is_empty() {
        line("soft", " ", "no difference in what is done".to_string());
    }
    let (was, is) = (Lives::of(before), Lives::of(after));
    let memory = [
        ("all memories", before.totals.bytes_memory, after.totals.bytes_memory),
        ("temps together", was.bytes, is.bytes),
    ];
    html.push_str("</div>\n<h3>Memory, before and after</h3>\n<table>\n");
    for (what, was, is) in memory {
        writeln!(
            html,
            "<tr><td>{what}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>",
            size(was),
            size(is)
        )
        .expect("writing to a string");
    }
    html.push_str("</table>\n");
    let count = difference.added.len() + difference.removed.len() + difference.changed.len();
    Panel {
        id: "difference",
        title: format!("Difference ({})", crate::inspect::table::count(count, "op")),
        html,
        is_open: true,
    }
}

fn link(node: &NodeOf, of: &str) -> String {
    format!(
        "<button class=\"go mono\" data-pick=\"{}\" data-of=\"{of}\">{}</button>",
        node.index,
        Escaped(&short(&node.to_string()))
    )
}

//! `dacapo inspect FILE`: a report of a recording or graph from a file, as a table, a drawing or a page, or compared with
//! an earlier one.
//!
//! The file is what `Report::to_json` of the library wrote, or a page. A file of another version of the format is refused as
//! that. Exit codes of a comparison are those of `diff`: 0 for no difference, 1 for some.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dacapo::inspect::{Difference, diff};
use dacapo::page::{Page, ReadError};
use dacapo::profile::Profile;
use serde_json::json;

use crate::complaint::Complaint;
use crate::output::Output;

/// The arguments of `dacapo inspect`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The report: JSON, as the library writes it, or a page of one
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write a page that shows it: dacapo inspect --html FILE > graph.html
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
    /// With --html: how long its ops took, as `Profile::to_json` writes it; twice, for a replay and an eager run
    #[arg(long, value_name = "FILE", requires = "html")]
    pub profile: Vec<PathBuf>,
    /// Draw it instead: dacapo inspect FILE --svg > graph.svg; or its memory or its time, where the file has it: --svg=memory
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "graph", conflicts_with_all = ["json", "html"])]
    pub svg: Option<Drawing>,
    /// Draw it for Graphviz instead: dacapo inspect FILE --dot | dot -Tsvg
    #[arg(long, conflicts_with_all = ["json", "svg", "html"])]
    pub dot: bool,
    /// Say what is different since this earlier report; ends with 1 if anything is. With --html, a page of both
    #[arg(long, value_name = "EARLIER", conflicts_with_all = ["dot", "svg"])]
    pub against: Option<PathBuf>,
}

/// What is drawn.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Ops and edges
    Graph,
    /// Where temps lie in memory, and how long
    Memory,
    /// When ops ran in a replay
    Time,
}

/// Prints what was asked for.
///
/// # Errors
///
/// - A file that cannot be read, or that is no report.
pub fn run(arguments: &Arguments, output: Output) -> Result<ExitCode, Complaint> {
    let mut page = read(&arguments.file)?;
    if let Some(earlier) = &arguments.against {
        page = page.since(read(earlier)?.report);
    }
    let (mut replay_given, mut eager_given) = (false, false);
    for path in &arguments.profile {
        let profile = read_profile(path)?;
        // One that the page had before may be replaced; of two that were given, one would be lost.
        let (given, what) =
            if profile.eager { (&mut eager_given, "an eager run") } else { (&mut replay_given, "a replay") };
        if std::mem::replace(given, true) {
            let help = "--profile can be given twice: for a replay, and for an eager run";
            return Err(Complaint::new(format!("there are two profiles of {what}")).at(path.display()).help(help));
        }
        page = page.profile(profile);
    }
    let difference = arguments.against.as_ref().and(page.before.as_ref()).map(|before| diff(before, &page.report));
    match (&difference, arguments) {
        (_, Arguments { html: true, .. }) => print!("{}", page.html()),
        (_, Arguments { svg: Some(Drawing::Graph), .. }) => print!("{}", page.report.to_svg()),
        (_, Arguments { svg: Some(Drawing::Memory), .. }) => {
            let map = page.report.memory_svg();
            let none = "this graph has no temps, or was saved by a dacapo that did not say where they lie";
            print!("{}", map.ok_or_else(|| Complaint::new(none).at(arguments.file.display()))?);
        }
        (_, Arguments { svg: Some(Drawing::Time), .. }) => {
            let none = "there is no profile in this file";
            let help =
                "draw it from a page that has one: Page::new(graph.inspect()).profile(graph.profile(&stream)?).html()";
            let profile = page.profile.as_ref().or(page.eager.as_ref());
            print!("{}", profile.ok_or_else(|| Complaint::new(none).help(help).at(arguments.file.display()))?.to_svg());
        }
        (_, Arguments { dot: true, .. }) => print!("{}", page.report.to_dot()),
        (Some(difference), _) => say(difference, output),
        (None, _) if output.json => println!("{}", page.report.to_json().trim_end()),
        (None, _) => print!("{}", page.report),
    }
    Ok(if difference.is_none_or(|difference| difference.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn say(difference: &Difference, output: Output) {
    if !output.json {
        return print!("{difference}");
    }
    // Two equal reports have one line too, which says so.
    let lines = difference.to_string();
    let lines: Vec<&str> = lines.lines().filter(|_| !difference.is_empty()).collect();
    let kinds: Vec<String> = difference.edges_changed.iter().map(ToString::to_string).collect();
    println!("{:#}", json!({ "same": difference.is_empty(), "differences": lines, "kinds": kinds }));
}

fn text_of(path: &Path, help: &str) -> Result<String, Complaint> {
    std::fs::read_to_string(path).map_err(|error| Complaint::new(format!("{}: {error}", path.display())).help(help))
}

fn read_profile(path: &Path) -> Result<Profile, Complaint> {
    let help = "`Profile::to_json` writes such a file, as in std::fs::write(\"times.json\", graph.profile(&stream)?.to_json())";
    let text = text_of(path, help)?;
    Profile::from_json(&text).map_err(|error| match Page::from_json(&text) {
        // Of another file, what its version says is beside the point.
        Ok(_) => Complaint::new("this is a report or a page, and no profile").help(help).at(path.display()),
        Err(_) => Complaint::from(error).at(path.display()),
    })
}

fn read(path: &Path) -> Result<Page, Complaint> {
    let place = path.display();
    let help = "`Report::to_json` writes such a file, as in std::fs::write(\"graph.json\", graph.inspect().to_json())";
    let text = text_of(path, help)?;
    let page = if text.trim_start().starts_with('<') { Page::from_html(&text) } else { Page::from_json(&text) };
    page.map_err(|error| match (&error, Profile::from_json(&text)) {
        (_, Ok(_)) => {
            Complaint::new("this is a profile: give it with --profile, beside the report that it is of").at(place)
        }
        (ReadError::Syntax(_), _) => Complaint::from(error).help(help).at(place),
        _ => Complaint::from(error).at(place),
    })
}

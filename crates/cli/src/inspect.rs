//! `dacapo inspect FILE`: a report of a recording or graph from a file, as a table or a drawing, or compared with
//! another.
//!
//! The file is what `Report::to_json` of the library wrote; a file of another version of the format is refused as that.
//! Exit codes of a comparison are those of `diff`: 0 for no difference, 1 for some.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dacapo::inspect::{Report, diff};
use serde_json::json;

use crate::complaint::Complaint;
use crate::output::Output;

/// The arguments of `dacapo inspect`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The report: JSON, as the library writes it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Draw it instead: dacapo inspect FILE --svg > graph.svg
    #[arg(long, conflicts_with = "json")]
    pub svg: bool,
    /// Draw it for Graphviz instead: dacapo inspect FILE --dot | dot -Tsvg
    #[arg(long, conflicts_with_all = ["json", "svg"])]
    pub dot: bool,
    /// Say what is different in this other report; ends with 1 if anything is
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["dot", "svg"])]
    pub diff: Option<PathBuf>,
}

/// Prints what was asked for.
///
/// # Errors
///
/// - A file that cannot be read, or that is no report.
pub fn run(arguments: &Arguments, output: Output) -> Result<ExitCode, Complaint> {
    let report = read(&arguments.file)?;
    if let Some(other) = &arguments.diff {
        let difference = diff(&report, &read(other)?);
        match output.json {
            true => {
                // Two equal reports have one line too, which says so.
                let lines = difference.to_string();
                let lines: Vec<&str> = lines.lines().filter(|_| !difference.is_empty()).collect();
                let kinds: Vec<String> = difference.edges_changed.iter().map(ToString::to_string).collect();
                println!("{:#}", json!({ "same": difference.is_empty(), "differences": lines, "kinds": kinds }));
            }
            false => print!("{difference}"),
        }
        return Ok(if difference.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    match (arguments.svg, arguments.dot, output.json) {
        (true, ..) => print!("{}", report.to_svg()),
        (false, true, _) => print!("{}", report.to_dot()),
        (false, false, true) => println!("{}", report.to_json().trim_end()),
        (false, false, false) => print!("{report}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Report, Complaint> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| Complaint::new(format!("{place}: {error}")))?;
    Report::from_json(&text).map_err(|error| Complaint::from(error).at(place))
}

//! `dacapo bench`: the library against the same work by driver calls.
//!
//! - Every measurement is alternating blocks of both sides in one process, in rounds that each have streams, memory and
//!   graphs of their own; figures are medians with their spread.
//! - Every result is checked: data is read back and compared, and a wrong number ends the run.
//! - Limits are judged on a GPU only, over at least 21 blocks.
//!
//! What is measured comes in families: [`LAUNCHES`] and, as the last of all, [`MANY_STREAMS`] here, whole models in `crates/bench`, whose program measures both.

pub mod blocks;
mod chain;
pub mod compare;
pub mod edges;
mod fork_join;
mod ifs;
pub mod library;
pub mod limits;
mod overlap;
pub mod raw;
mod record;
pub mod report;
mod slot;
pub mod statistics;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::complaint::Complaint;
use crate::output::{Output, Told};
use crate::target::{Target, Which};
use compare::{BLOCKS_OF_A_ROUND, Bench, Row};
use limits::{BLOCKS_MIN, Named};
use report::{Header, Note, Report};

/// Blocks of a quick look.
const BLOCKS_QUICK: u32 = 3;

/// How long the device works before anything is measured: its clocks rise with work.
const WARM_UP: Duration = Duration::from_secs(1);

/// What was found: times of launches, and what is none.
pub type Found = (Vec<Row>, Vec<Note>);

/// Measurements that belong together.
pub struct Family {
    /// Their names, and what each may cost.
    pub names: &'static [Named],
    /// Makes those that were asked for.
    pub measure: fn(&Bench<'_>, &Header) -> Result<Found, Complaint>,
}

/// What launching and recording costs; no models.
pub const LAUNCHES: Family = Family { names: limits::LAUNCHES, measure: launches };

/// The same when kernels have been run on many streams, which changes the device for all that is measured afterwards.
pub const MANY_STREAMS: Family = Family {
    names: limits::MANY_STREAMS,
    measure: |bench, _| Ok((edges::measure_with_many_streams(bench)?, Vec::new())),
};

/// The arguments of `dacapo bench`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Where to measure; the GPU where there is one, else the software device
    #[arg(long, value_enum)]
    pub device: Option<Which>,
    /// Blocks of each side; a claim needs at least 21
    #[arg(long, default_value_t = BLOCKS_MIN, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub blocks: u32,
    /// Write everything that was measured to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Only measurements whose name contains this, such as chain-10/
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// A few short blocks: shows that all of it works, and claims nothing
    #[arg(long, conflicts_with_all = ["check", "blocks"])]
    pub quick: bool,
    /// End with exit code 1 if a limit does not hold
    #[arg(long)]
    pub check: bool,
    /// The commit that the report names, if the build does not know it
    #[arg(long)]
    pub commit: Option<String>,
}

/// Measures, prints the table, and writes the JSON.
///
/// # Errors
///
/// - A GPU that was asked for and is not there, a refused call, a wrong number, a file that cannot be written.
pub fn run(arguments: &Arguments, output: Output, families: &[Family]) -> Result<ExitCode, Complaint> {
    let target = Target::open(arguments.device, 0)?;
    let blocks = if arguments.quick { BLOCKS_QUICK } else { arguments.blocks };
    if arguments.check && (target.is_software() || blocks < BLOCKS_MIN) {
        return Err(Complaint::new(match target.is_software() {
            true => "limits are for a GPU, and this is the software device".to_string(),
            false => format!("limits are judged over at least {BLOCKS_MIN} blocks, not {blocks}"),
        })
        .help("leave out `--check` to measure without a verdict"));
    }
    let small = arguments.quick || target.is_software();
    let mut bench = Bench::open(&target, families, blocks, small, arguments.only.clone())?;
    // Most measurements have three sides, and rounds one block more than is counted.
    let rows = bench.names().filter(|name| bench.wants(name)).count() as u64;
    bench.progress = output.progress(rows * 3 * u64::from(blocks + blocks.div_ceil(BLOCKS_OF_A_ROUND)));
    let header = header(&bench, &target, arguments.commit.as_deref())?;
    let measured = measure(&bench, families, &header);
    bench.progress.finish_and_clear();
    let (rows, notes) = measured?;
    let report = Report { header, rows, notes };
    output.tell(&report);
    if let Some(path) = &arguments.report {
        std::fs::write(path, format!("{:#}\n", report.json()))
            .map_err(|error| Complaint::new(format!("{}: {error}", path.display())))?;
    }
    Ok(if arguments.check && !report.failed().is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Every measurement that was asked for.
fn measure(bench: &Bench<'_>, families: &[Family], header: &Header) -> Result<Found, Complaint> {
    chain::warm_up(&bench.raw, if bench.small { Duration::ZERO } else { WARM_UP })?;
    let mut found: Found = (Vec::new(), Vec::new());
    for family in families {
        let (rows, notes) = (family.measure)(bench, header)?;
        found.0.extend(rows);
        found.1.extend(notes);
    }
    match found.0.is_empty() && found.1.is_empty() {
        false => Ok(found),
        true => Err(Complaint::new(format!("no measurement is called {:?}", bench.only.as_deref().unwrap_or("")))
            .help(format!("names are {}", bench.names().collect::<Vec<_>>().join(", ")))),
    }
}

fn launches(bench: &Bench<'_>, _header: &Header) -> Result<Found, Complaint> {
    let mut rows = Vec::new();
    for length in chain::LENGTHS {
        rows.extend(chain::measure(bench, length)?);
    }
    for length in chain::LENGTHS {
        rows.extend(record::measure(bench, length)?);
    }
    rows.extend(edges::measure(bench)?);
    rows.extend(ifs::measure(bench)?);
    rows.extend(slot::measure(bench)?);
    rows.extend(fork_join::measure(bench)?);
    rows.extend(overlap::measure(bench)?);
    Ok((rows, Vec::new()))
}

fn header(bench: &Bench<'_>, target: &Target, commit: Option<&str>) -> Result<Header, Complaint> {
    let session = bench.raw.session();
    let api = session.driver_version()?;
    Ok(Header {
        device: session.device_name()?,
        is_software: target.is_software(),
        driver_api: format!("{}.{}", api / 1000, api % 1000 / 10),
        driver_release: if target.is_software() { "in software".to_string() } else { session.driver_release() },
        commit: commit.or(option_env!("DACAPO_COMMIT")).unwrap_or("of an unknown commit").to_string(),
        command: command(),
        blocks: bench.blocks,
    })
}

/// The command as it was typed; the path of the program is nobody's business.
fn command() -> String {
    let mut words = std::env::args();
    let program = words.next().map(PathBuf::from);
    let program = program.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let words = words.map(|word| if word.contains(' ') { format!("'{word}'") } else { word });
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

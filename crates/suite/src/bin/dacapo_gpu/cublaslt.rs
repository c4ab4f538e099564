//! `dacapo-gpu cublaslt`: cuBLASLt in graphs that outlive everything else, and beside the kernels that stand in for it.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use dacapo::Device;
use dacapo::interop::cublaslt::CublasLt;
use dacapo_driver::Nvidia;
use dacapo_suite::cublaslt::compare::{self, compare};
use dacapo_suite::cublaslt::facts::facts;
use dacapo_suite::cublaslt::survive::{Effort, survive};
use dacapo_suite::session::Session;

use crate::COMMIT;

/// Runs everything and writes cublaslt.txt.
pub fn run(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn std::error::Error>> {
    let device = Device::cuda(0)?;
    let blas = CublasLt::load(&device)?;
    let (gpu, release) = (session.device_name()?, session.driver_release());
    let mut text = format!("{gpu}, driver {release}, commit {COMMIT}\n");
    let version = blas.version().map_or("kernels of our own".to_string(), |(x, y, z)| format!("{x}.{y}.{z}"));
    let file = blas.path().map(|path| path.display().to_string()).unwrap_or_default();
    writeln!(text, "cuBLASLt {version} {file}\n")?;
    drop(blas);
    let replays = std::env::var("DACAPO_REPLAYS").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let began = Instant::now();
    let survived = survive(&device, Effort { replays, every: 100.min(replays), size: 64 });
    let seconds = began.elapsed().as_secs_f64();
    let mut well = survived.is_ok();
    match survived {
        Ok(survived) => writeln!(
            text,
            "survive: {} replays in {seconds:.1} s, results compared {} times, always the same bits; {} other graphs came \
             and went;\n  arena {} bytes, of which {} are workspace; {} bytes of workspace were the program's and are dropped; largest difference from our own kernels {:.2e} of the \
             largest element\n",
            survived.replays,
            survived.compared,
            survived.other_graphs,
            survived.arena.0,
            survived.arena.1,
            survived.dropped_workspace,
            survived.difference
        )?,
        Err(error) => writeln!(text, "survive: FAILED: {error:?}\n")?,
    }
    if std::env::var_os("DACAPO_ONLY").is_none() {
        let shapes = if device.is_software() { compare::SMALL } else { compare::SHAPES };
        writeln!(
            text,
            "{:<26} {:>8} {:>15} {:>11} {:>12} {:>18} {:>7}",
            "compare", "products", "with workspace", "unsupported", "difference", "share of tolerance", "strict"
        )?;
        for row in compare(&device, shapes)? {
            well &= row.holds();
            let mark = if row.holds() { "" } else { "  FAILED" };
            let worst = if row.share_max < 0.5 { String::new() } else { format!("\n    {}", row.worst) };
            writeln!(
                text,
                "{:<26} {:>8} {:>15} {:>11} {:>12.2e} {:>18.3} {:>7.3}{mark}{worst}",
                row.what,
                row.products,
                row.with_workspace,
                row.unsupported,
                row.difference_max,
                row.share_max,
                row.strict_max
            )?;
        }
        writeln!(text)?;
        for fact in facts(&device)? {
            writeln!(text, "seen: {fact}")?;
        }
    }
    drop(device);
    writeln!(text, "{}", if well { "all well" } else { "NOT well" })?;
    print!("{text}");
    std::fs::write(folder.join("cublaslt.txt"), text)?;
    Ok(well)
}

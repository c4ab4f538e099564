//! `cargo xtask kernels`: the committed PTX, made from the CUDA C beside it.
//!
//! - NVRTC comes from its Python wheel, pinned exactly, into a virtual environment under target/; it needs no GPU.
//! - Each `kernels/NAME.cu` becomes `kernels/ptx/NAME.ptx`; where it has a line `// fast: ..`, also `NAME.fast.ptx` with
//!   fast maths. A line `// arch: compute_80` asks for another architecture than the default; `// also: compute_80,
//!   compute_90 fast` asks for more of them, `NAME.compute_80.ptx` and `NAME.compute_90.fast.ptx`.
//! - The corpus runs what is in `kernels/`; what the library, its examples and the benchmarks load has folders of its own
//!   ([`PLACES`]), with the PTX next to its source.
//! - A `kernels.json` in each folder says what was made from what: hashes, options, the compiler's version. What is still
//!   of the same source, options and compiler is kept as it is.
//! - `--check` (and a test) hold files and hashes against each other, offline and without Python.
//! - A source that includes a header is refused: NVIDIA's header code would be in the PTX that we commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_suite::digest::sha256;
use serde::{Deserialize, Serialize};

use crate::workspace;

/// The wheel; its version is the compiler's.
const WHEEL: &str = "nvidia-cuda-nvrtc-cu12==12.4.127";
/// Old enough to load on every GPU that the library supports.
const ARCH: &str = "compute_75";
/// Where the `.fast` variants may use what came later.
const ARCH_FAST: &str = "compute_80";

/// Folders with sources, from the workspace's root, and the folder in each that takes the PTX.
const PLACES: &[(&str, &str)] = &[
    ("kernels", "ptx"),
    ("crates/dacapo/kernels", ""),
    ("crates/bench/kernels", ""),
    ("crates/cli/kernels", ""),
    ("examples/train/kernels", ""),
    ("examples/decode/kernels", ""),
    ("examples/port/kernels", ""),
    ("examples/serve/kernels", ""),
    ("examples/solve/kernels", ""),
    ("crates/suite/kernels", ""),
];

/// A folder with sources.
struct Folder {
    /// From the workspace's root: how messages and the PTX name it.
    name: &'static str,
    sources: PathBuf,
    ptx: PathBuf,
}

impl Folder {
    fn new(root: &Path, (name, ptx): (&'static str, &str)) -> Folder {
        Folder { name, sources: root.join(name), ptx: root.join(name).join(ptx) }
    }
}

/// A kernels.json.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Manifest {
    nvrtc: String,
    ptx: Vec<Entry>,
}

/// One PTX file and what it was made from.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Entry {
    file: String,
    sha256: String,
    source: String,
    source_sha256: String,
    options: Vec<String>,
}

/// A PTX file that shall be made.
struct Plan {
    file: String,
    source: String,
    arch: String,
    fast: bool,
}

/// Makes the PTX, or only checks it.
///
/// # Errors
///
/// - What failed, in words; for a check, the first file that is not as it should be.
pub fn run(check_only: bool) -> Result<(), String> {
    let root = workspace::root();
    for place in PLACES.iter().map(|place| Folder::new(&root, *place)) {
        if !check_only {
            compile(&place)?;
        }
        let count = check(&place)?;
        println!("{}: {count} PTX files as kernels.json says", place.name);
    }
    Ok(())
}

/// Every source with each PTX file that is made of it.
///
/// # Errors
///
/// - A folder or a source cannot be read.
pub fn pairs(root: &Path) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let mut pairs = Vec::new();
    for place in PLACES.iter().map(|place| Folder::new(root, *place)) {
        let plans = plans(&place)?;
        pairs.extend(plans.iter().map(|plan| (place.sources.join(&plan.source), place.ptx.join(&plan.file))));
    }
    Ok(pairs)
}

fn compile(place: &Folder) -> Result<(), String> {
    let plans = plans(place)?;
    let python = environment()?;
    let script = workspace::root().join("kernels/compile.py");
    let before = read(&place.sources.join("kernels.json")).ok().and_then(|text| serde_json::from_str(&text).ok());
    let mut ptx = Vec::new();
    for plan in &plans {
        let (source, output) = (place.sources.join(&plan.source), place.ptx.join(&plan.file));
        if let Some(entry) = before.as_ref().and_then(|before| still_good(before, place, plan)) {
            ptx.push(entry);
            continue;
        }
        let mut command = Command::new(&python);
        command.arg(&script).arg(&source).arg(&output).args(["--arch", &plan.arch, "--folder", place.name]);
        if plan.fast {
            command.arg("--fast-math");
        }
        succeed(&mut command, &plan.file)?;
        ptx.push(Entry {
            file: plan.file.clone(),
            sha256: hash(&output)?,
            source: plan.source.clone(),
            source_sha256: hash(&source)?,
            options: options(plan),
        });
    }
    let manifest = Manifest { nvrtc: WHEEL.to_string(), ptx };
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| error.to_string())? + "\n";
    write(&place.sources.join("kernels.json"), &text)
}

/// What was made before of the same source with the same options and compiler: kept. NVRTC may number registers otherwise
/// when asked again, and recordings belong to the very text.
fn still_good(before: &Manifest, place: &Folder, plan: &Plan) -> Option<Entry> {
    let entry = before.ptx.iter().find(|entry| entry.file == plan.file)?;
    let same = before.nvrtc == WHEEL
        && entry.source == plan.source
        && entry.options == options(plan)
        && hash(&place.sources.join(&plan.source)).is_ok_and(|hash| hash == entry.source_sha256)
        && hash(&place.ptx.join(&plan.file)).is_ok_and(|hash| hash == entry.sha256);
    same.then(|| entry.clone())
}

/// What compile.py passes to NVRTC for this plan.
fn options(plan: &Plan) -> Vec<String> {
    let fast = plan.fast.then(|| "--use_fast_math".to_string());
    [format!("--gpu-architecture={}", plan.arch), "-lineinfo".to_string()].into_iter().chain(fast).collect()
}

/// Every PTX file that the sources ask for, in order.
fn plans(place: &Folder) -> Result<Vec<Plan>, String> {
    let mut plans = Vec::new();
    for source in names(&place.sources, "cu")? {
        let text = read(&place.sources.join(&source))?;
        if let Some(line) = text.lines().find(|line| line.trim_start().starts_with("#include")) {
            return Err(format!("{}/{source}: `{line}`: PTX with header code inside is not committed", place.name));
        }
        let note = |mark: &str| text.lines().find_map(|line| line.strip_prefix(mark).map(str::trim));
        let name = source.trim_end_matches(".cu").to_string();
        let arch = note("// arch:").unwrap_or(ARCH).to_string();
        plans.push(Plan { file: format!("{name}.ptx"), source: source.clone(), arch, fast: false });
        if note("// fast:").is_some() {
            let (file, source) = (format!("{name}.fast.ptx"), source.clone());
            plans.push(Plan { file, source, arch: ARCH_FAST.to_string(), fast: true });
        }
        for more in note("// also:").into_iter().flat_map(|list| list.split(',')) {
            let (arch, fast) = match more.trim().strip_suffix(" fast") {
                Some(arch) => (arch.to_string(), true),
                None => (more.trim().to_string(), false),
            };
            let file = format!("{name}.{arch}{}.ptx", if fast { ".fast" } else { "" });
            plans.push(Plan { file, source: source.clone(), arch, fast });
        }
    }
    plans.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(plans)
}

/// Holds sources, PTX and kernels.json against each other; returns the number of PTX files.
fn check(place: &Folder) -> Result<usize, String> {
    const AGAIN: &str = "run `cargo xtask kernels`";
    let name = place.name;
    let manifest: Manifest = serde_json::from_str(&read(&place.sources.join("kernels.json"))?)
        .map_err(|error| format!("{name}/kernels.json: {error}; {AGAIN}"))?;
    if manifest.nvrtc != WHEEL {
        return Err(format!("{name}/kernels.json: made with {}, pinned is {WHEEL}; {AGAIN}", manifest.nvrtc));
    }
    let plans = plans(place)?;
    let planned: Vec<&str> = plans.iter().map(|plan| plan.file.as_str()).collect();
    let listed: Vec<&str> = manifest.ptx.iter().map(|entry| entry.file.as_str()).collect();
    let present = names(&place.ptx, "ptx")?;
    if planned != listed || planned != present {
        let all = [&planned[..], &listed[..]].concat().into_iter().chain(present.iter().map(String::as_str));
        let odd = all.into_iter().find(|file| {
            !(planned.contains(file) && listed.contains(file) && present.iter().any(|present| present == file))
        });
        return Err(format!(
            "{name}: {}: not in sources, kernels.json and the folder of PTX alike; {AGAIN}",
            odd.unwrap_or("")
        ));
    }
    for (plan, entry) in plans.iter().zip(&manifest.ptx) {
        if entry.source_sha256 != hash(&place.sources.join(&plan.source))? {
            return Err(format!("{name}/{} has changed since its PTX was made; {AGAIN}", plan.source));
        }
        if entry.source != plan.source || entry.options != options(plan) {
            return Err(format!("{name}: {} was made with other options; {AGAIN}", plan.file));
        }
        let path = place.ptx.join(&plan.file);
        if entry.sha256 != hash(&path)? {
            return Err(format!("{name}: {} is not what the compiler made; {AGAIN}", plan.file));
        }
        let ours = format!("\"{name}/");
        let text = read(&path)?;
        if let Some(line) = text.lines().find(|line| line.contains(".file") && !line.contains(&ours)) {
            return Err(format!("{name}: {} names a path of some machine: {}", plan.file, line.trim()));
        }
    }
    Ok(plans.len())
}

/// A Python that has the wheel and nothing else.
///
/// # Errors
///
/// - There is no Python, or the wheel could not be had.
pub fn environment() -> Result<PathBuf, String> {
    let root = workspace::root();
    let folder = workspace::target(&root).join("kernels-venv");
    let python = folder.join("bin/python");
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == WHEEL) {
        return Ok(python);
    }
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), "python3 -m venv")?;
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-deps", WHEEL]), "pip install")?;
    write(&stamp, WHEEL)?;
    Ok(python)
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: {status}")) }
}

/// File names with an extension, sorted.
fn names(folder: &Path, extension: &str) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|found| found == extension))
        .collect();
    names.sort();
    Ok(names)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn hash(path: &Path) -> Result<String, String> {
    std::fs::read(path).map(|bytes| sha256(&bytes)).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_ptx_belongs_to_the_committed_sources() {
        let root = workspace::root();
        for place in PLACES {
            check(&Folder::new(&root, *place)).unwrap();
        }
    }

    #[test]
    fn a_change_on_either_side_is_noticed() {
        let root = std::env::temp_dir().join(format!("dacapo-kernels-{}", std::process::id()));
        let (place, folder) = (Folder::new(&root, PLACES[0]), root.join(PLACES[0].0));
        let from = workspace::root().join("kernels");
        std::fs::create_dir_all(folder.join("ptx")).unwrap();
        for (part, extension) in [("", "cu"), ("", "json"), ("ptx", "ptx")] {
            for name in names(&from.join(part), extension).unwrap() {
                std::fs::copy(from.join(part).join(&name), folder.join(part).join(&name)).unwrap();
            }
        }
        assert!(check(&place).is_ok());
        let spoiled = |file: &str, text: &str, word: &str| {
            let path = folder.join(file);
            let whole = read(&path).unwrap();
            write(&path, &(whole.clone() + text)).unwrap();
            let error = check(&place).unwrap_err();
            assert!(error.contains(word), "{error}");
            write(&path, &whole).unwrap();
        };
        spoiled("saxpy.cu", "// a remark\n", "saxpy.cu has changed");
        spoiled("saxpy.cu", "#include <cuda_fp16.h>\n", "header code");
        spoiled("ptx/saxpy.ptx", "// a remark\n", "not what the compiler made");
        std::fs::write(folder.join("ptx/stray.ptx"), "").unwrap();
        assert!(check(&place).unwrap_err().contains("stray.ptx"));
        std::fs::remove_dir_all(&root).unwrap();
    }
}

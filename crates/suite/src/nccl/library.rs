//! NCCL of this machine: where it is looked for, and which one was opened.
//!
//! - `DACAPO_LIBNCCL` names the file to open, and no other is tried. Else the loader's own search, then the folders in which
//!   Python's packages keep it.
//! - It is never unloaded: it has threads of its own.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use dacapo_nccl::{Nccl, NvidiaNccl};

/// The variable that names the file to open instead of searching.
pub const VARIABLE: &str = "DACAPO_LIBNCCL";

const FILE: &str = "libnccl.so.2";

/// A library that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Its calls.
    pub nccl: NvidiaNccl,
    /// Where it was.
    pub path: PathBuf,
    /// Its version as it counts: 22_703 is 2.27.3.
    pub version: i32,
}

impl Opened {
    /// The version as one says it.
    pub fn release(&self) -> String {
        let version = self.version;
        format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }
}

/// Opens the first that is there.
///
/// # Errors
///
/// - Every place that was tried, with the reason, a line each.
pub fn open() -> Result<Opened, String> {
    let mut tried = Vec::new();
    for path in candidates() {
        match open_one(&path) {
            Ok(opened) => return Ok(opened),
            Err(why) => tried.push(format!("{}: {why}", path.display())),
        }
    }
    Err(format!("no libnccl: {}", tried.join("; ")))
}

/// The named file; else what the loader finds, and what stands in the folders of Python's packages.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return vec![PathBuf::from(path)];
    }
    let inside = packages().into_iter().map(|folder| folder.join("nvidia/nccl/lib").join(FILE));
    std::iter::once(PathBuf::from(FILE)).chain(inside.filter(|path| path.exists())).collect()
}

/// Every folder that may hold Python's packages: of the interpreter in the path, of an active environment, and of the usual
/// roots.
fn packages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let program =
        "import site, sys; print('\\n'.join(sys.path + site.getsitepackages() + [site.getusersitepackages()]))";
    for python in ["python3", "python"] {
        let asked = std::process::Command::new(python).args(["-c", program]).output();
        let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        found.extend(said.lines().filter(|line| line.starts_with('/')).map(PathBuf::from));
    }
    let mut roots: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(std::env::var_os).map(Into::into).collect();
    roots.extend(["/usr", "/usr/local", "/root/.local", "/venv", "/.venv"].map(PathBuf::from));
    roots.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local")));
    for folder in ["/opt", "/opt/conda/envs", "/root", "/home"] {
        roots.extend(inside(Path::new(folder)));
    }
    for root in roots {
        for python in inside(&root.join("lib")).into_iter().filter(|path| named(path, "python3")) {
            found.extend(["site-packages", "dist-packages"].map(|name| python.join(name)));
        }
    }
    let mut once = Vec::new();
    for folder in found {
        if !once.contains(&folder) {
            once.push(folder);
        }
    }
    once
}

fn named(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn open_one(path: &Path) -> Result<Opened, String> {
    if path.as_os_str().is_empty() {
        // An empty name would open the running program itself.
        return Err("the name is empty".to_string());
    }
    // SAFETY: opening runs the library's initialisers. Whoever named the file has promised that they do no harm, or it is the
    // system's, or of who started this process.
    let library: &libloading::Library = match unsafe { libloading::Library::new(path) } {
        Ok(library) => Box::leak(Box::new(library)),
        Err(error) => {
            return Err(std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string));
        }
    };
    let find = |symbol: &'static str| {
        // SAFETY: an address is asked for, and nothing is done with it here.
        let symbol = unsafe { library.get::<*mut c_void>(symbol) }.ok()?;
        // SAFETY: the library is never closed, so the address may outlive the borrow.
        unsafe { symbol.try_as_raw_ptr() }.and_then(NonNull::new)
    };
    // SAFETY: the file is NCCL's, by its name or by who named it; it is never closed.
    let nccl = unsafe { NvidiaNccl::resolve(find) }.map_err(|missing| missing.to_string())?;
    let mut version = 0;
    // SAFETY: `version` is valid for the one write.
    let asked = unsafe { nccl.ncclGetVersion(&mut version) };
    match asked.is_success() {
        true => Ok(Opened { nccl, path: file_of(path), version }),
        false => Err(format!("ncclGetVersion: {asked}")),
    }
}

/// The file behind a name that the loader searched for, where the system tells.
fn file_of(path: &Path) -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let found = if path.is_absolute() { None } else { files.find(|file| named(file, "libnccl.so")) };
    found.unwrap_or(path).to_path_buf()
}

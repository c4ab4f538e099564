//! Wheels into an environment under target/clients, and packages of crates beside it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::pins::{Crate, Wheels};
use super::program::Workshop;

/// Whether there is a Python that can make environments, and pip.
pub fn python_is_there() -> bool {
    let modules = ["import venv, ensurepip", "import pip"];
    modules.iter().all(|modules| {
        let tried = Command::new("python3").args(["-c", modules]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    })
}

/// Whether gcc is there: crates that make their bindings, and Triton, ask for it.
pub fn gcc_is_there() -> bool {
    let tried = Command::new("gcc").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Installs these wheels into the environment in `target/clients`, unless they are there already.
///
/// # Errors
///
/// - The environment cannot be made, or a wheel cannot be had.
pub fn wheels(folder: &Path, wheels: &Wheels) -> Result<(), String> {
    let environment = folder.join("venv");
    let python = environment.join("bin/python");
    let stamp = environment.join(format!("pins-{}.txt", wheels.name));
    let pins = wheels.pins.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == pins) && python.exists() {
        return Ok(());
    }
    if !python.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let list = folder.join(format!("requirements-{}.txt", wheels.name));
    write(&list, &pins)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"]);
    succeed(pip.arg(&list))?;
    write(&stamp, &pins)
}

/// Copies the source of a crate's package, as cargo fetches it, and says where it is.
///
/// # Errors
///
/// - Cargo cannot fetch it, or it cannot be copied.
pub fn source(place: &Workshop, package: &Crate) -> Result<PathBuf, String> {
    let folder = place.source(package);
    if folder.exists() {
        return Ok(folder);
    }
    let part = folder.with_extension("part");
    copy(&fetched(place, package)?, &part)?;
    // A workspace of its own: it lies in the folder of ours.
    let text =
        std::fs::read_to_string(part.join("Cargo.toml")).map_err(|error| format!("{}: {error}", part.display()))?;
    write(&part.join("Cargo.toml"), &format!("{text}\n[workspace]\n"))?;
    if let Some(lock) = package.lock {
        write(&part.join("Cargo.lock"), lock)?;
    }
    // Renamed when it is complete: a copy that was cut off is made again.
    std::fs::rename(&part, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The folder of the package in cargo's registry: a manifest that asks for it makes cargo fetch it.
fn fetched(place: &Workshop, package: &Crate) -> Result<PathBuf, String> {
    let folder = place.folder.join("rust/fetch").join(package.name);
    let Crate { name, version, .. } = package;
    let asking = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n{name} = {{ version = \
         \"={version}\", default-features = false }}\n\n[workspace]\n"
    );
    write(&folder.join("Cargo.toml"), &asking)?;
    write(&folder.join("src/lib.rs"), "")?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1"]).current_dir(&folder).stderr(Stdio::inherit());
    let run = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    let metadata: Value = serde_json::from_slice(&run.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut found = packages.filter(|package| package["name"] == *name && package["version"] == *version);
    let manifest = found.find_map(|package| package["manifest_path"].as_str()).map(Path::new);
    let folder = manifest.and_then(Path::parent).map(Path::to_path_buf);
    folder.ok_or_else(|| format!("cargo cannot fetch {name} {version}"))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    if !from.is_dir() {
        return std::fs::copy(from, to).map(drop).map_err(failed);
    }
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Writes a file, and the folders above it.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

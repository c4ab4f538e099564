//! Pages that programs leave behind: `DACAPO_PAGES` in the environment of a process, and no change to it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use crate::workspace;

/// The variable.
const VARIABLE: &str = "DACAPO_PAGES";

/// The crates that examples are made of.
const LIBRARY: &[&str] = &["dacapo", "derive", "driver", "ledger", "ptx", "sim"];

/// Runs an example with pages of all its graphs, which must end well; the pages, in the order in which they were written.
///
/// # Errors
///
/// - It is not built, does not end well, or leaves no page.
pub fn by_example(name: &str, arguments: &[&str]) -> Result<Vec<PathBuf>, String> {
    let folder = empty(name)?;
    let mut command = example(name);
    command.args(arguments).env(VARIABLE, format!("all:{}", folder.display()));
    let output = command.output().map_err(|error| format!("{name} does not start: {error}"))?;
    match output.status.success() {
        true => in_order(&folder, &output),
        false => Err(format!("{name} ends with {}: {}", output.status, said(&output))),
    }
}

/// Runs this program with arguments of its own and pages of what goes wrong, which something must; the pages.
///
/// # Errors
///
/// - It ends well, or leaves no page.
pub fn by_failure(arguments: &[&str]) -> Result<Vec<PathBuf>, String> {
    let folder = empty("failing")?;
    let program = std::env::current_exe().map_err(|error| format!("this program has no name: {error}"))?;
    let output = Command::new(program).args(arguments).env(VARIABLE, &folder).output();
    let output = output.map_err(|error| format!("it does not start again: {error}"))?;
    match output.status.success() {
        true => Err(format!("what should fail does not: {}", said(&output))),
        false => in_order(&folder, &output),
    }
}

/// A folder of this name with nothing in it, from the last time.
fn empty(name: &str) -> Result<PathBuf, String> {
    let folder = workspace::target(&workspace::root()).join("pages").join(format!("left-by-{name}"));
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => Ok(folder),
    }
}

/// The program that lies beside this one, unless a source is newer; else cargo builds and runs it.
fn example(name: &str) -> Command {
    let root = workspace::root();
    let package = format!("dacapo-example-{name}");
    let built = std::env::current_exe().ok().map(|program| program.with_file_name(&package));
    let sources = LIBRARY.iter().map(|name| format!("crates/{name}/src")).chain([format!("examples/{name}")]);
    let sources = sources.filter_map(|folder| newest(&root.join(folder))).max();
    match built.filter(|built| sources < changed(built)) {
        Some(built) => Command::new(built),
        None => {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["run", "--quiet", "--package", &package, "--"]).current_dir(root);
            cargo
        }
    }
}

fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|about| about.modified()).ok()
}

/// When the last of all files below a folder was changed.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter_map(|path| if path.is_dir() { newest(&path) } else { changed(&path) })
        .max()
}

/// The pages of a folder, the oldest first: by their names, which are numbered.
fn in_order(folder: &Path, output: &Output) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    pages.sort_by_key(|page| (page.as_os_str().len(), page.clone()));
    if pages.is_empty() { Err(format!("it left no page: {}", said(output))) } else { Ok(pages) }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_the_order_of_their_numbers() {
        let folder = empty("a-test").unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["main-decode-10.html", "main-decode-2.html", "main-decode.html"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let output = Command::new("true").output().unwrap();
        let names = in_order(&folder, &output).unwrap().into_iter().map(|page| page.file_name().unwrap().to_owned());
        assert_eq!(names.collect::<Vec<_>>(), ["main-decode.html", "main-decode-2.html", "main-decode-10.html"]);
        assert!(!empty("a-test").unwrap().exists() && in_order(&folder, &output).is_err());
    }
}

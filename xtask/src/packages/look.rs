//! No source of a package includes a file that is not in it, and each package has what a registry's page shows.
//!
//! Looked at, in code and in the examples of documentation: `include_str!`, `include_bytes!`, `include!` and `#[path =
//! ..]`. A path that a test puts together when it runs is not seen here; `--full` runs all of them.

use std::path::{Component, Path, PathBuf};

use super::outside::Outside;

/// Files that every package has.
const HAS: &[&str] = &["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT", "src/lib.rs"];

/// What stands before the path of a file.
const MARKS: &[&str] = &["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""];

/// Looks at all packages; how many sources they have.
///
/// # Errors
///
/// - Every include that leaves its package or names no file, a line each.
pub fn all(outside: &Outside) -> Result<usize, String> {
    let (mut sources, mut wrong) = (0, Vec::new());
    for package in outside.packages() {
        let missing = HAS.iter().filter(|file| !package.join(file).is_file());
        wrong.extend(missing.map(|file| format!("{}: no {file}", package.display())));
        let mut waiting = vec![package.clone()];
        while let Some(folder) = waiting.pop() {
            let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    waiting.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text =
                        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                    let inside = path.strip_prefix(&package).unwrap_or(&path);
                    wrong.extend(includes(inside, &text, &|file| package.join(file).is_file()));
                    sources += 1;
                }
            }
        }
    }
    if wrong.is_empty() { Ok(sources) } else { Err(format!("packages are not whole:\n  {}", wrong.join("\n  "))) }
}

/// What is wrong with the includes of a source. `file` is its path inside the package.
fn includes(file: &Path, text: &str, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for mark in MARKS {
            for (start, _) in line.match_indices(mark) {
                let named = line[start + mark.len()..].split('"').next().unwrap_or_default();
                // The text of a macro, not a path.
                if named.contains(['$', '{']) {
                    continue;
                }
                let found = inside(file.parent().unwrap_or(Path::new("")), Path::new(named));
                if !found.is_some_and(|path| exists(&path)) {
                    wrong.push(format!("{}:{}: {named} is not in the package", file.display(), at + 1));
                }
            }
        }
    }
    wrong
}

/// The path from the package's root; none if it leaves the package.
fn inside(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts.is_relative().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_include_that_leaves_the_package_or_names_nothing_is_told_with_its_line() {
        let text = "x\n/// include_str!(\"../../a.ptx\")\n#[path = \"b.rs\"]\ninclude_str!(\"../tests/c.ptx\")\n";
        let wrong = includes(Path::new("src/lib.rs"), text, &|path| path == Path::new("tests/c.ptx"));
        let told = ["src/lib.rs:2: ../../a.ptx is not in the package", "src/lib.rs:3: b.rs is not in the package"];
        assert_eq!(wrong, told);
    }

    #[test]
    fn the_files_of_an_include_may_be_anywhere_in_the_package() {
        let text = "include_str!(\"../../kernels/a.ptx\") include_bytes!(\"b\")";
        let there = [Path::new("kernels/a.ptx"), Path::new("src/op/b")];
        assert_eq!(includes(Path::new("src/op/own.rs"), text, &|path| there.contains(&path)), [""; 0]);
    }
}

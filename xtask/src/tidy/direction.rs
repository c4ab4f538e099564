//! The modules of `crates/dacapo` import in one direction: docs/ARCHITECTURE.md has their order, and each names only those
//! before it.
//!
//! - A path inside the library begins with a module, `crate::memory::Buffer`, never with what the root exports: so the
//!   direction can be seen.
//! - Tests may name anything.

use std::collections::BTreeSet;
use std::path::Path;

use super::code;

/// The heading above the list.
const HEADING: &str = "### The order of modules";
/// The library's sources.
const SOURCES: &str = "crates/dacapo/src";

/// What goes against the order. `sources` are all files of the workspace, `text` is docs/ARCHITECTURE.md.
pub fn check<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>, text: &str) -> Vec<String> {
    let order = order_in(text);
    let (mut found, mut modules) = (Vec::new(), BTreeSet::new());
    for (file, source) in sources {
        let Some(module) = module_of(file) else { continue };
        modules.insert(module.to_string());
        let Some(own) = order.iter().position(|known| *known == module) else { continue };
        for (line, named) in names_in(source) {
            let at = format!("{}:{line}", file.display());
            match order.iter().position(|known| *known == named) {
                Some(other) if other <= own => {}
                Some(_) => found.push(format!("{at}: `{module}` names `{named}`, which comes after it")),
                None => found.push(format!("{at}: `crate::{named}` is no module: name the one that it is in")),
            }
        }
    }
    let listed: BTreeSet<String> = order.iter().map(|name| name.to_string()).collect();
    let missing = modules.difference(&listed);
    found.extend(missing.map(|module| format!("docs/ARCHITECTURE.md: the order of modules lacks `{module}`")));
    let stale = listed.difference(&modules);
    found.extend(stale.map(|module| format!("docs/ARCHITECTURE.md: `{module}` in the order of modules is none")));
    found
}

/// The list: the words of the first fenced block below the heading.
fn order_in(text: &str) -> Vec<&str> {
    let below = text.lines().skip_while(|line| *line != HEADING).skip_while(|line| !line.starts_with("```")).skip(1);
    let block = below.take_while(|line| !line.starts_with("```"));
    block
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The module at the root that a source of the library belongs to; none for the root itself and for tests.
fn module_of(file: &Path) -> Option<&str> {
    let inside = file.strip_prefix(SOURCES).ok()?;
    let mut parts = inside.iter().filter_map(|part| part.to_str());
    let first = parts.next()?;
    let is_test = parts.any(|part| part == "tests" || part == "tests.rs");
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (module != "lib" && !is_test).then_some(module)
}

/// What stands behind `crate::`, with its line; of a group each name.
fn names_in(source: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    for (at, line) in code::lines(source) {
        for (start, _) in line.match_indices("crate::") {
            let before = line[..start].chars().next_back();
            if before.is_some_and(|c| c == '$' || c.is_alphanumeric() || c == '_') {
                continue;
            }
            let rest = &line[start + "crate::".len()..];
            match rest.strip_prefix('{') {
                Some(group) => names.extend(group.split(',').map(|name| (at, word(name.trim_start())))),
                None => names.push((at, word(rest))),
            }
        }
    }
    names
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "text\n### The order of modules\n\n```text\nerror, device\nmemory\n```\n";

    fn found(sources: &[(&str, &str)]) -> Vec<String> {
        check(sources.iter().map(|(file, text)| (Path::new(file), *text)), ORDER)
    }

    const ERROR: (&str, &str) = ("crates/dacapo/src/error.rs", "use std::fmt;\n");
    const DEVICE: (&str, &str) = ("crates/dacapo/src/device/mod.rs", "use crate::error::Error;\n");

    #[test]
    fn a_module_may_name_those_before_it_and_itself() {
        let memory = "use crate::device::Device;\nuse crate::memory::slice;\n$crate::graph::x;\n/// [`crate::Graph`]\n";
        assert_eq!(found(&[ERROR, DEVICE, ("crates/dacapo/src/memory/mod.rs", memory)]), [""; 0]);
    }

    #[test]
    fn a_cycle_is_refused_with_its_line() {
        let device = ("crates/dacapo/src/device/stream.rs", "\nuse crate::memory::Buffer;\n");
        let memory = ("crates/dacapo/src/memory/mod.rs", "use crate::device::Device;\n");
        assert_eq!(
            found(&[ERROR, device, memory]),
            ["crates/dacapo/src/device/stream.rs:2: `device` names `memory`, which comes after it"]
        );
    }

    #[test]
    fn what_the_root_exports_is_refused_also_in_a_group() {
        let memory = ("crates/dacapo/src/memory/mod.rs", "use crate::{Device, error};\n");
        assert_eq!(
            found(&[ERROR, DEVICE, memory]),
            ["crates/dacapo/src/memory/mod.rs:1: `crate::Device` is no module: name the one that it is in"]
        );
    }

    #[test]
    fn tests_may_name_anything_and_what_follows_them_may_not() {
        let inside = "#[cfg(test)]\nmod tests {\n    use crate::graph::Graph;\n}\nuse crate::memory::Buffer;\n";
        let whole = ("crates/dacapo/src/device/tests/mod.rs", "use crate::graph::Graph;\n");
        let memory = ("crates/dacapo/src/memory/mod.rs", "");
        assert_eq!(
            found(&[ERROR, ("crates/dacapo/src/device/mod.rs", inside), whole, memory]),
            ["crates/dacapo/src/device/mod.rs:5: `device` names `memory`, which comes after it"]
        );
    }

    #[test]
    fn tests_of_a_feature_are_tests() {
        let device = "#[cfg(all(test, feature = \"software\"))]\nmod tests {\n    use crate::Graph;\n}\n";
        let memory = ("crates/dacapo/src/memory/mod.rs", "");
        assert_eq!(found(&[ERROR, ("crates/dacapo/src/device/mod.rs", device), memory]), [""; 0]);
    }

    #[test]
    fn the_list_and_the_folders_are_the_same() {
        let extra = ("crates/dacapo/src/shapes.rs", "");
        assert_eq!(
            found(&[ERROR, DEVICE, extra]),
            [
                "docs/ARCHITECTURE.md: the order of modules lacks `shapes`",
                "docs/ARCHITECTURE.md: `memory` in the order of modules is none"
            ]
        );
    }
}

//! Lists of CONTRIBUTING.md are true: what CI runs, the tasks of `cargo xtask`, what is meant to come.
//!
//! - The block below "What CI runs" is the steps of `.ci/run`, in order; a `task` there is one of `cargo xtask`.
//! - The table below "cargo xtask" has a row for each task.
//! - A sentence that begins with "Meant to come:" names no feature of the library, no instruction that docs/ptx.md has among
//!   the interpreted, and no call that docs/driver-calls.md says the software driver knows.

use std::collections::BTreeSet;

use super::quoted;

/// Where the block of CONTRIBUTING.md and `.ci/run` differ.
pub fn steps(contributing: &str, script: &str) -> Vec<String> {
    let as_told = |step: &str| match step.strip_prefix("task ") {
        Some(task) => format!("cargo xtask {task}"),
        None => step.to_string(),
    };
    let steps = script.lines().filter_map(|line| line.trim().strip_prefix("step ")).map(as_told);
    let steps: Vec<String> = steps.collect();
    let block = section(contributing, "## What CI runs").skip_while(|line| !line.starts_with("```")).skip(1);
    let told: Vec<String> = block.take_while(|line| !line.starts_with("```")).map(String::from).collect();
    let missing = steps.iter().filter(|step| !told.contains(step));
    let missing = missing.map(|step| format!("CONTRIBUTING.md: what CI runs lacks `{step}`"));
    let stale = told.iter().filter(|step| !steps.contains(step));
    let stale = stale.map(|step| format!("CONTRIBUTING.md: CI does not run `{step}`"));
    let mut found: Vec<String> = missing.chain(stale).collect();
    if found.is_empty() && steps != told {
        found.push("CONTRIBUTING.md: CI runs the same steps in another order".to_string());
    }
    found
}

/// Where the table of CONTRIBUTING.md and the tasks differ.
pub fn tasks(contributing: &str, tasks: &BTreeSet<String>) -> Vec<String> {
    let rows = section(contributing, "## cargo xtask").filter(|line| line.starts_with("| `"));
    let told: BTreeSet<&str> = rows.filter_map(|row| quoted(row).next()).collect();
    let missing = tasks.iter().filter(|task| !told.contains(task.as_str()));
    let stale = told.iter().filter(|task| !tasks.contains(**task));
    let missing = missing.map(|task| format!("CONTRIBUTING.md: the tasks lack `{task}`"));
    missing.chain(stale.map(|task| format!("CONTRIBUTING.md: there is no task `{task}`"))).collect()
}

/// What is said to come and is there. `manifest` is the library's, `ptx` and `calls` the two documents.
pub fn to_come(contributing: &str, manifest: &str, ptx: &str, calls: &str) -> Vec<String> {
    let text = contributing.lines().collect::<Vec<_>>().join(" ");
    let features: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .collect();
    let interpreted: BTreeSet<&str> = section(ptx, "### Interpreted")
        .filter(|line| line.starts_with("9."))
        .filter_map(|line| opcode(line.split_whitespace().nth(1)?))
        .collect();
    let known: BTreeSet<&str> =
        calls.lines().filter(|line| line.ends_with("| yes |")).filter_map(|line| quoted(line).next()).collect();
    let mut found = Vec::new();
    for sentence in text.split("Meant to come:").skip(1) {
        let sentence = sentence.split(". ").next().unwrap_or(sentence);
        let words: BTreeSet<String> =
            sentence.split(|c: char| !c.is_alphanumeric() && c != '-').map(str::to_lowercase).collect();
        let feature = features.iter().copied().filter(|feature| words.contains(*feature));
        let instruction = quoted(sentence).filter(|name| opcode(name).is_some_and(|name| interpreted.contains(name)));
        let call = quoted(sentence).filter(|name| known.contains(name));
        let there = feature.chain(instruction).chain(call);
        found.extend(there.map(|name| format!("CONTRIBUTING.md: `{name}` is there, and is said to be meant to come")));
    }
    found
}

/// The first word of an instruction.
fn opcode(instruction: &str) -> Option<&str> {
    instruction.split(|c: char| !c.is_alphanumeric()).next().filter(|name| !name.is_empty())
}

/// The lines below a heading, up to the next of its depth or above.
fn section<'t>(text: &'t str, heading: &str) -> impl Iterator<Item = &'t str> {
    let depth = heading.split(' ').next().map_or(0, str::len);
    let ends = move |line: &str| {
        let marks = line.split(' ').next().unwrap_or_default();
        !marks.is_empty() && marks.len() <= depth && marks.chars().all(|c| c == '#')
    };
    let heading = heading.to_string();
    text.lines().skip_while(move |line| *line != heading).skip(1).take_while(move |line| !ends(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_the_steps_in_order() {
        let script = "step() {\n}\nstep cargo test\nif x; then\n    step cargo xtask probe\nfi\n";
        let text =
            |steps: &str| format!("## What CI runs\n\nwords\n\n```text\n{steps}```\n\n## Next\n```text\nno\n```\n");
        assert_eq!(super::steps(&text("cargo test\ncargo xtask probe\n"), script), [""; 0]);
        assert_eq!(
            super::steps(&text("cargo test\ncargo xtask gone\n"), script),
            [
                "CONTRIBUTING.md: what CI runs lacks `cargo xtask probe`",
                "CONTRIBUTING.md: CI does not run `cargo xtask gone`"
            ]
        );
        assert_eq!(super::steps(&text("cargo xtask probe\ncargo test\n"), script).len(), 1);
    }

    #[test]
    fn each_task_has_a_row() {
        let text =
            "## cargo xtask\n\n| command | |\n|---|---|\n| `api` | `x` |\n| `gone` | |\n\n## Next\n| `other` | |\n";
        let names = ["api", "tidy"].map(str::to_string).into();
        assert_eq!(
            tasks(text, &names),
            ["CONTRIBUTING.md: the tasks lack `tidy`", "CONTRIBUTING.md: there is no task `gone`"]
        );
    }

    #[test]
    fn what_is_there_is_not_meant_to_come() {
        let manifest = "[features]\ncudarc = [\"dep:cudarc\"]\n\n[lints]\nworkspace = true\n";
        let ptx = "### Interpreted\n9.7.1.1   add{.sat}?.s32\n### Not interpreted\n9.7.13.4  mma.sync.aligned\n";
        let calls = "| `cuInit` | 2.0 | yes |\n| `cuGone` | 2.0 |  |\n";
        let found =
            |sentence: &str| to_come(&format!("Meant to come: {sentence}. Not meant: `add`.\n"), manifest, ptx, calls);
        assert_eq!(found("`mma.sync`, `cuGone`,\nworkspaces"), [""; 0]);
        assert_eq!(found("memory shared with\ncudarc, `add.s32`, `cuInit`").len(), 3);
    }
}

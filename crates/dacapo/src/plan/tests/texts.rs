//! `tests/plan/*.rec` gives the plan in the `.plan` beside it.
//!
//! A `.rec` has one op a line: `name: reads a, b[0..4]; writes c`. A memory without a range is touched as a whole, which
//! is 64 bytes. `#` begins a comment; the drawing of the graph is one. `cargo xtask bless` writes new expectations; read
//! the difference before you commit it.

use super::*;
use std::fmt::Write as _;
use std::path::Path;

const WHOLE: (u64, u64) = (0, 64);

/// A recording as text.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// The names of the ops.
    pub names: Vec<String>,
    /// What they touch.
    pub ops: Vec<Vec<TouchedBytes>>,
    /// The names of the memories, by number.
    pub memories: Vec<String>,
}

pub(super) fn parse(text: &str) -> Result<Text, String> {
    let Text { mut names, mut ops, mut memories } = Text::default();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty()) {
        let (name, touches) = line.split_once(':').ok_or_else(|| format!("no `name:` in {line:?}"))?;
        names.push(name.trim().to_string());
        let mut op = Vec::new();
        for part in touches.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (verb, places) = part.split_once(' ').ok_or_else(|| format!("no place in {part:?}"))?;
            let write = match verb {
                "reads" => false,
                "writes" => true,
                other => return Err(format!("{other:?} is neither `reads` nor `writes`")),
            };
            for place in places.split(',').map(str::trim) {
                let (memory, (start, end)) = match place.split_once('[') {
                    None => (place, WHOLE),
                    Some((memory, range)) => {
                        let bounds = range.trim_end_matches(']').split_once("..");
                        let parsed = bounds.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                        (memory, parsed.ok_or_else(|| format!("{range:?} is no range"))?)
                    }
                };
                let known = memories.iter().position(|known| known == memory);
                let index = known.unwrap_or_else(|| {
                    memories.push(memory.to_string());
                    memories.len() - 1
                });
                op.push(TouchedBytes { memory: index as u32, start, end, write });
            }
        }
        ops.push(op);
    }
    Ok(Text { names, ops, memories })
}

fn listing(names: &[String], order: &Order) -> String {
    let mut joins = 0;
    let mut called = Vec::new();
    for step in order.steps() {
        called.push(match step.what {
            What::Op(op) => names[op as usize].clone(),
            What::Join => {
                joins += 1;
                format!("(join {joins})")
            }
        });
    }
    let width = called.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (step, name) in called.iter().enumerate() {
        let after: Vec<&str> = order.after(step).iter().map(|one| called[*one as usize].as_str()).collect();
        let line = if after.is_empty() { name.clone() } else { format!("{name:width$}  after {}", after.join(", ")) };
        writeln!(text, "{line}").expect("writing to a string");
    }
    text
}

#[test]
fn recordings_are_planned_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of cases is part of the crate")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rec"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 8, "cases are missing");
    let mut failures = Vec::new();
    for path in paths {
        let Text { names, ops, .. } = match parse(&std::fs::read_to_string(&path).expect("readable")) {
            Ok(parsed) => parsed,
            Err(error) => {
                failures.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let got = listing(&names, &by_data(&ops));
        let expected_path = path.with_extension("plan");
        if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
            std::fs::write(&expected_path, got).expect("writable");
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if expected != got {
            failures.push(format!("{}\n--- expected\n{expected}--- got\n{got}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\n`cargo xtask bless` accepts what was got", failures.join("\n"));
}

//! A report as text, and the comparison with the one that is committed.
//!
//! - Addresses and handles differ from run to run and from seed to seed: they become `ADDRESS#1`, `ADDRESS#2`, in the
//!   order in which they appear. Smaller numbers, such as a mask, stay.
//! - With `DACAPO_BLESS=1` in the environment the report becomes the expectation.

use std::fmt::Write as _;
use std::path::Path;

/// Numbers below this are no addresses: offsets from null, masks of lanes. They say something to the reader.
const LOWEST_ADDRESS: u64 = 0x1_0000_0000;

/// One text of all events.
pub fn render(events: &[String]) -> String {
    let mut text = String::new();
    let mut before_was_finding = false;
    for event in events {
        let is_finding = event.contains('\n');
        if !text.is_empty() && (is_finding || before_was_finding) {
            text.push('\n');
        }
        let _ = writeln!(text, "{event}");
        before_was_finding = is_finding;
    }
    with_addresses_numbered(&text)
}

/// Replaces each address by a name that does not depend on the run.
fn with_addresses_numbered(text: &str) -> String {
    let mut known: Vec<u64> = Vec::new();
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
        match u64::from_str_radix(&part[..digits], 16) {
            Ok(address) if address >= LOWEST_ADDRESS => {
                let at = known.iter().position(|seen| *seen == address).unwrap_or_else(|| {
                    known.push(address);
                    known.len() - 1
                });
                let _ = write!(out, "ADDRESS#{}{}", at + 1, &part[digits..]);
            }
            _ => {
                let _ = write!(out, "0x{part}");
            }
        }
    }
    out
}

/// Whether what tests get becomes what they expect: `cargo xtask bless` says so by `DACAPO_BLESS=1`.
pub fn is_blessing() -> bool {
    std::env::var_os("DACAPO_BLESS").is_some_and(|value| value == "1")
}

/// Compares `got` with the file, or writes it there under `DACAPO_BLESS=1`; `Err` is what to tell the person.
pub fn compare(file: &Path, got: &str) -> Result<(), String> {
    if is_blessing() {
        return std::fs::write(file, got).map_err(|error| format!("{}: {error}", file.display()));
    }
    let name = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display();
    let want = std::fs::read_to_string(file)
        .map_err(|error| format!("{name}: {error}\nthe report is\n{got}\n`cargo xtask bless` writes the file"))?;
    if want == got {
        return Ok(());
    }
    Err(format!(
        "the report is not what {name} says (- expected, + got)\n\n{}\n\
         `cargo xtask bless` accepts the new report; read the difference first",
        difference(&want, got)
    ))
}

/// The two texts line by line: what is only in the first with `-`, only in the second with `+`.
pub fn difference(want: &str, got: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (want.lines().collect(), got.lines().collect());
    // common[i][j]: lines that a[i..] and b[j..] share in order. Reports are some dozens of lines.
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, String::new());
    while i < a.len() || j < b.len() {
        let (mark, line) = if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
            (' ', a[i - 1])
        } else if j == b.len() || i < a.len() && common[i + 1][j] >= common[i][j + 1] {
            i += 1;
            ('-', a[i - 1])
        } else {
            j += 1;
            ('+', b[j - 1])
        };
        let _ = writeln!(out, "{mark} {line}");
    }
    out
}

//! Wrong declarations: small kernels, each with one lie and with the truth beside it.
//!
//! A file of `wrong` is PTX that opens with what is declared and what is expected:
//!
//! ```text
//! // why: the store is in a function that is called with the pointer
//! // false: fn k(x: &[f32], y: &[f32])
//! // true: fn k(x: &mut [f32], y: &[f32])
//! // finds: stored x
//! ```
//!
//! `finds` are words for what must be found, each with the parameter it must be found in: `stored`, `address`,
//! `number`, `type`, `global` are refused, `memory`, `narrow`, `unwritten`, `unread` are warned about. Behind the list
//! of parameters may stand `state: a, b`. The truth must be without a warning, or say `unchecked` where nothing else
//! would be true.

use std::path::Path;

use dacapo::__private::check_text;
use dacapo::Device;
use dacapo::inspect::{FalseDeclaration, WarningKind};
use dacapo::raw::RawKernel;

use super::declared::{Declaration, bracketed, params};

/// How many there are, and how many were found just as expected, with a near miss that loads without a word.
pub fn run(folder: &Path) -> Result<(usize, usize), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let device = Device::software().map_err(|error| error.to_string())?;
    let (mut found, mut kinds) = (0, Vec::new());
    for file in &files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match one(&device, &text) {
            Ok(kind) => {
                found += 1;
                kinds.push(kind);
            }
            Err(why) => println!("wrong/{name}: {why}"),
        }
    }
    for kind in ["stored", "address", "number", "type", "global", "memory", "narrow", "unwritten", "unread"] {
        let of_kind = kinds.iter().filter(|found| **found == kind).count();
        println!("{kind}: {of_kind} found");
        if of_kind == 0 {
            return Err(format!("no wrong declaration of the kind `{kind}`"));
        }
    }
    Ok((files.len(), found))
}

/// One of them: the kind that was found.
fn one(device: &Device, text: &str) -> Result<String, String> {
    let line = |word: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("// {word}: ")));
        line.ok_or_else(|| format!("there is no line `// {word}: `"))
    };
    line("why")?;
    let finds = line("finds")?.split(", ").map(|one| one.split_once(' ').unwrap_or((one, "")));
    let finds: Vec<(&str, String)> = finds.map(|(kind, param)| (kind, param.to_string())).collect();
    let (wrong, right) = (declaration(line("false")?)?.leak(), declaration(line("true")?)?.leak());
    RawKernel::load(device, text, "k").map_err(|error| format!("the text does not load: {error}"))?;
    let (checked, lies) = check_text(text, &[right]);
    if let Some(lie) = lies.first() {
        return Err(format!("the near miss is refused: {lie}"));
    }
    if let Some((_, warning)) = checked.warnings().next() {
        return Err(format!("the near miss is warned about: {}", warning.text));
    }
    let (checked, lies) = check_text(text, &[wrong]);
    let mut found: Vec<(&str, String)> = lies.iter().map(|lie| (word_of(lie), lie.param.clone())).collect();
    found.extend(checked.warnings().map(|(_, warning)| (word(warning.kind), warning.param.clone())));
    if found != finds {
        return Err(format!("expected {finds:?}, found {found:?}"));
    }
    for lie in &lies {
        if lie.line == 0 || text.lines().count() < lie.line as usize {
            return Err(format!("line {} is not in the text", lie.line));
        }
    }
    Ok(finds[0].0.to_string())
}

/// Which refusal it is, by its words.
fn word_of(lie: &FalseDeclaration) -> &'static str {
    match &lie.what {
        what if what.contains("global") => "global",
        what if what.contains("an address that is") => "address",
        what if what.contains("no address is made of it") => "number",
        what if what.starts_with("takes") => "type",
        _ => "stored",
    }
}

fn word(kind: WarningKind) -> &'static str {
    match kind {
        WarningKind::AddressFromMemory => "memory",
        WarningKind::Narrow => "narrow",
        WarningKind::NeverWritten => "unwritten",
        WarningKind::NeverRead => "unread",
        _ => "another",
    }
}

/// `fn k(x: &[f32]) state: a`.
fn declaration(text: &str) -> Result<Declaration, String> {
    let (name, rest) = text.strip_prefix("fn ").and_then(|rest| rest.split_once('(')).ok_or("no `fn`")?;
    let open = text.len() - rest.len() - 1;
    let (list, behind) = bracketed(&text[open..]).ok_or("unbalanced parameters")?;
    let state = behind.trim().strip_prefix("state: ").map(|names| names.split(", ").map(String::from).collect());
    Ok(Declaration { name: name.into(), entry: name.into(), params: params(list)?, state: state.unwrap_or_default() })
}

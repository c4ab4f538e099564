//! The declarations in our own Rust sources: `kernels!`, with the PTX that each names.

use std::path::{Path, PathBuf};

use super::declared::{Declaration, bracketed, params, split, without_comments};

/// Structs whose declaration is false on purpose, or whose PTX is made when it is loaded.
const LEFT_OUT: &[(&str, &str)] = &[
    ("NotPtx", "the text is none, on purpose"),
    ("Missing", "names an entry point that is not there, on purpose"),
    ("Few", "has a parameter too few, on purpose"),
    ("Kernels2", "names an entry point that is not there, on purpose"),
    ("Misspelt", "names an entry point that is not there, on purpose"),
    ("NoGlobal", "names a global that is not there, on purpose"),
    ("NotTrue", "says that kernels read what they write, on purpose"),
    ("Wide", "has a parameter that is too wide, on purpose"),
    ("Scale", "compiled at run time"),
];

/// One `kernels!`.
pub struct Declared {
    /// `crates/cli/src/bench/library.rs: Kernels`.
    pub place: String,
    pub ptx: String,
    pub kernels: Vec<Declaration>,
}

/// Every `kernels!` of a source, but for those in documentation.
pub fn declared(root: &Path, file: &Path, source: &str) -> Result<Vec<Declared>, String> {
    let text = without_comments(source);
    let mut found = Vec::new();
    let mut rest = &text[..];
    while let Some(at) = rest.find("kernels!") {
        rest = rest[at + "kernels!".len()..].trim_start();
        let Some((block, behind)) = rest.starts_with('{').then(|| bracketed(rest)).flatten() else { continue };
        rest = behind;
        // What defines the macro says `$`.
        let Some((_, after)) = block.split_once("unsafe struct ").filter(|_| !block.contains('$')) else { continue };
        // Without a source it is for a text that is made at run time.
        let Some(open) = after.find(['(', '{']).filter(|open| after[*open..].starts_with('(')) else { continue };
        let (name, (from, body)) = (&after[..open], bracketed(&after[open..]).ok_or("an unbalanced source")?);
        let place = format!("{}: {name}", file.strip_prefix(root).unwrap_or(file).display());
        if LEFT_OUT.iter().any(|(left_out, _)| *left_out == name) {
            continue;
        }
        let ptx = source_of(file, source, from.trim()).ok_or_else(|| format!("{place}: which PTX is `{from}`?"))?;
        let (body, _) = bracketed(body.trim_start()).ok_or_else(|| format!("{place}: unbalanced"))?;
        let kernels = kernels(body).map_err(|error| format!("{place}: {error}"))?;
        found.push(Declared { place, ptx, kernels });
    }
    Ok(found)
}

/// `fn name(params) { clauses }`, again and again.
fn kernels(mut body: &str) -> Result<Vec<Declaration>, String> {
    let mut found = Vec::new();
    while let Some(at) = body.find("fn ") {
        body = &body[at + 3..];
        let open = body.find('(').ok_or("a kernel without parameters")?;
        let name = body[..open].trim().to_string();
        let (list, behind) = bracketed(&body[open..]).ok_or("unbalanced parameters")?;
        let (clauses, behind) = bracketed(behind.trim_start()).ok_or("unbalanced clauses")?;
        let clause = |word: &str| {
            let clauses = split(clauses, ';');
            clauses.iter().find_map(|clause| clause.trim().strip_prefix(word).map(|rest| rest.trim().to_string()))
        };
        let entry = clause("entry:").map_or_else(|| name.clone(), |entry| entry.trim_matches('"').to_string());
        let state = clause("state:").map(|names| split(&names, ',').iter().map(|name| name.trim().into()).collect());
        found.push(Declaration { name, entry, params: params(list)?, state: state.unwrap_or_default() });
        body = behind;
    }
    Ok(found)
}

/// The text that an expression names: an `include_str!`, a literal, or a constant that is one of these here or in the
/// file that it is named by.
fn source_of(file: &Path, source: &str, expression: &str) -> Option<String> {
    if let Some(path) = expression.strip_prefix("include_str!(\"").and_then(|rest| rest.strip_suffix("\")")) {
        return std::fs::read_to_string(file.parent()?.join(path)).ok();
    }
    if expression.starts_with('"') {
        let unescaped = expression.trim_matches('"').replace("\\n", "\n").replace("\\\"", "\"");
        return Some(unescaped).filter(|text| text.contains(".entry"));
    }
    let name = expression.rsplit("::").next()?;
    let constant = |text: &str| {
        let (_, behind) = text.split_once(&format!("const {name}: &str ="))?;
        let value = behind.trim_start();
        // A text of PTX has semicolons; one between quotes is no end.
        let end = if let Some(raw) = value.strip_prefix("r#\"") {
            return Some(raw.split("\"#").next()?.to_string());
        } else if let Some(plain) = value.strip_prefix('"') {
            plain.find("\";")? + 2
        } else {
            value.find(';')?
        };
        Some(value[..end].trim().to_string())
    };
    if let Some(value) = constant(source) {
        return if value.contains(".entry") {
            Some(value.trim_matches('"').into())
        } else {
            source_of(file, source, &value)
        };
    }
    // `use super::raw::PTX` or `super::kernels::PTX`: a file beside this one.
    let path = match expression.contains("::") {
        true => expression.to_string(),
        false => source.lines().find(|line| line.starts_with("use ") && line.contains(name))?.to_string(),
    };
    let of = path.trim_end_matches(';').rsplit("::").nth(1)?;
    let folder = file.parent()?;
    let beside: [PathBuf; 2] = [folder.join(format!("{of}.rs")), folder.join(of).join("mod.rs")];
    let beside = beside.into_iter().find(|path| path.is_file())?;
    let text = std::fs::read_to_string(&beside).ok()?;
    let value = constant(&text)?;
    source_of(&beside, &text, &value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_without_a_text_is_passed_over() {
        let without = "kernels! { unsafe struct Later { fn f(x: &[f32]) { grid: g(); } } }";
        let with = "kernels! { unsafe struct Now(\".entry f\") { fn f(x: &[f32]) { grid: g(); } } }";
        let found = declared(Path::new(""), Path::new("a.rs"), &format!("{without}\n{with}")).unwrap();
        assert_eq!(found.iter().map(|declared| &*declared.place).collect::<Vec<_>>(), ["a.rs: Now"]);
    }

    #[test]
    fn a_declaration_is_read_with_its_clauses() {
        let body =
            "fn a(n: u32 = y.len(), unchecked x: &[f32], y: &out [[f32; 2]]) { entry: \"b\"; state: s, t; grid: g(); }";
        let [kernel] = &kernels(body).unwrap()[..] else { panic!("one kernel") };
        let params: Vec<String> = kernel.params.iter().map(|param| format!("{}: {}", param.name, param.ty)).collect();
        assert_eq!(params, ["n: u32", "x: &[f32]", "y: &out [[f32; 2]]"]);
        assert!(kernel.params[1].unchecked);
        assert_eq!((&*kernel.entry, &kernel.state[..]), ("b", &["s".to_string(), "t".into()][..]));
    }
}

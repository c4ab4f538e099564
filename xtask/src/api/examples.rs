//! Which documentation has an example that runs.
//!
//! A block of code that rustdoc compiles and runs: neither `ignore`, `text`, `no_run` nor `compile_fail`, nor in
//! another language. A file that the documentation includes counts by its blocks.

use std::path::Path;

use syn::{Attribute, Expr, Meta};

use super::attributes;
use super::tree::Files;

/// Words behind the fence that leave a block of Rust one that runs.
const RUNS: &[&str] = &["rust", "should_panic", "standalone_crate"];

/// Whether the documentation of these attributes has an example that runs. `file` is where they are written.
pub fn has_example(attributes: &[Attribute], file: &Path, files: &Files<'_>) -> bool {
    let docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines = docs.filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) => text_of(&pair.value, file, files),
        _ => None,
    });
    runs(&lines.collect::<Vec<_>>().join("\n"))
}

fn text_of(value: &Expr, file: &Path, files: &Files<'_>) -> Option<String> {
    let Expr::Macro(call) = value else { return attributes::literal(value) };
    let name = call.mac.path.segments.last()?.ident.to_string();
    let path = call.mac.parse_body::<syn::LitStr>().ok()?;
    (name == "include_str").then(|| files(&file.parent()?.join(path.value()))).flatten()
}

/// Whether a text has a block that runs.
fn runs(text: &str) -> bool {
    let mut open: Option<&str> = None;
    for line in text.lines().map(str::trim_start) {
        let marks = line.len() - line.trim_start_matches(['`', '~']).len();
        let (fence, words) = line.split_at(marks);
        match open {
            None if marks >= 3 => {
                let mut words = words.split([',', ' ']).filter(|word| !word.is_empty());
                if words.all(|word| RUNS.contains(&word) || word.starts_with("edition")) {
                    return true;
                }
                open = Some(fence);
            }
            Some(opened) if line.trim_end() == fence && fence.starts_with(opened) => open = None,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_block_that_rustdoc_runs_is_an_example() {
        assert!(runs("Words.\n\n```\nf();\n```"));
        assert!(runs("```rust,should_panic\nf();\n```"));
        assert!(runs("```text\na\n```\n~~~\nf();\n~~~"));
        for words in ["ignore", "text", "no_run", "compile_fail", "rust,no_run", "compile_fail,E0277", "console"] {
            assert!(!runs(&format!("```{words}\nf();\n```\nand `code`")), "{words}");
        }
        assert!(!runs("Words, and ``` in the middle."));
    }

    #[test]
    fn an_included_file_counts() {
        let files = |path: &Path| (path == Path::new("src/../README.md")).then(|| "```\nf();\n```".to_string());
        let attributes = |name: &str| -> Vec<Attribute> { vec![syn::parse_quote!(#[doc = include_str!(#name)])] };
        assert!(has_example(&attributes("../README.md"), Path::new("src/lib.rs"), &files));
        assert!(!has_example(&attributes("../OTHER.md"), Path::new("src/lib.rs"), &files));
    }
}

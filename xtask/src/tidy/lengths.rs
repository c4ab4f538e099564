//! Functions fit on a screen: no body in `crates/dacapo`, `crates/ledger` and `crates/sim` has more than 80 lines.
//!
//! - Counted are the lines between the braces, comments and blank lines too. Tests count as code does.
//! - Longer are only those in [`LONG`]: tables, and the interpreter's loop, each with its reason. One that is no longer
//!   long, or is gone, is stale.
//!
//! Not seen: functions that a `macro_rules!` writes.

use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Where functions are measured.
const FOLDERS: &[&str] = &["crates/dacapo/", "crates/ledger/", "crates/sim/"];

/// How many lines a body may have.
const LINES_MAX: usize = 80;

/// Functions that may be longer: file, name, why.
const LONG: &[(&str, &str, &str)] = &[(
    "crates/sim/src/exec/machine.rs",
    "run_counted",
    "the interpreter's loop: where the lanes are stays in registers as long as it is one function",
)];

/// What is too long, and what is allowed to be and is not. `sources` are all files of the workspace.
pub fn check<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>) -> Vec<String> {
    check_with(sources, LONG)
}

fn check_with<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>, allowed: &[(&str, &str, &str)]) -> Vec<String> {
    let (mut found, mut stale) = (Vec::new(), allowed.to_vec());
    for (file, text) in sources.filter(|(file, _)| FOLDERS.iter().any(|folder| file.starts_with(folder))) {
        let at = file.display();
        let parsed = match syn::parse_file(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                found.push(format!("{at}: {error}"));
                continue;
            }
        };
        let mut long = Long::default();
        long.visit_file(&parsed);
        for Function { name, line, lines } in long.functions {
            let is_this = |row: &(&str, &str, &str)| Path::new(row.0) == file && row.1 == name;
            match stale.iter().position(is_this) {
                Some(row) => drop(stale.remove(row)),
                None => found.push(format!("{at}:{line}: `{name}` has {lines} lines, more than {LINES_MAX}: cut it")),
            }
        }
    }
    found.extend(stale.iter().map(|(file, name, _)| {
        format!("{file}: `{name}` is not longer than {LINES_MAX} lines: take it off the list in tidy/lengths.rs")
    }));
    found
}

/// A function that is too long.
struct Function {
    name: String,
    line: usize,
    lines: usize,
}

/// Collects the functions of a file that are too long.
#[derive(Default)]
struct Long {
    functions: Vec<Function>,
}

impl Long {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let braces = body.brace_token.span;
        let lines = braces.close().start().line.saturating_sub(braces.open().start().line + 1);
        if lines > LINES_MAX {
            let (name, line) = (signature.ident.to_string(), signature.span().start().line);
            self.functions.push(Function { name, line, lines });
        }
    }
}

impl<'ast> Visit<'ast> for Long {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.measure(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/sim/src/exec/loop.rs";
    const ALLOWED: &[(&str, &str, &str)] = &[(FILE, "run", "the loop")];

    /// A method with a body of `lines` lines, and a function beside it.
    fn source(lines: usize) -> String {
        format!("impl Machine {{\n    fn run() {{\n{}    }}\n}}\nfn short() {{}}\n", "        a();\n".repeat(lines))
    }

    fn found_in(file: &str, text: &str, allowed: &[(&str, &str, &str)]) -> Vec<String> {
        check_with([(Path::new(file), text)].into_iter(), allowed)
    }

    #[test]
    fn a_long_function_is_refused_with_its_line() {
        assert_eq!(found_in(FILE, &source(80), &[]), [""; 0]);
        assert_eq!(found_in(FILE, &source(81), &[]), [format!("{FILE}:2: `run` has 81 lines, more than 80: cut it")]);
        assert_eq!(found_in("crates/suite/src/lib.rs", &source(81), &[]), [""; 0]);
    }

    #[test]
    fn functions_in_functions_modules_and_traits_are_measured() {
        let body = "    a();\n".repeat(81);
        for around in [("trait T {", "}"), ("mod tests {", "}"), ("fn outer() { const A: u8 = {", "0 }; }")] {
            let text = format!("{}\nfn inner() {{\n{body}}}\n{}\n", around.0, around.1);
            let found = found_in(FILE, &text, &[]);
            assert!(found.iter().any(|line| line.contains("`inner` has 81 lines")), "{}", around.0);
        }
    }

    #[test]
    fn an_allowed_function_that_is_short_or_gone_is_stale() {
        assert_eq!(found_in(FILE, &source(81), ALLOWED), [""; 0]);
        let stale = format!("{FILE}: `run` is not longer than 80 lines: take it off the list in tidy/lengths.rs");
        assert_eq!(found_in(FILE, &source(80), ALLOWED), std::slice::from_ref(&stale));
        assert_eq!(found_in("crates/sim/src/other.rs", &source(80), ALLOWED), [stale]);
    }
}

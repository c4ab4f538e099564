//! Code in the pages for users is code that runs.
//!
//! Every block of Rust in these pages must stand, line by line, in one of the programs that CI runs. Indentation, runs of
//! spaces and the `pub` of a `main` do not count. Links to files must lead somewhere.

use std::path::Path;

/// Pages whose code must run.
const PAGES: [&str; 3] = ["README.md", "docs/tutorial.md", "docs/recipes.md"];
/// Where such programs are.
const PROGRAMS: [&str; 2] = ["crates/dacapo/examples/", "examples/serve/"];

/// What is not so, a line each.
pub fn check<'s>(root: &Path, sources: impl Iterator<Item = (&'s Path, &'s str)>) -> Vec<String> {
    let is_program = |file: &Path| PROGRAMS.iter().any(|folder| file.to_string_lossy().starts_with(folder));
    let programs: Vec<Vec<String>> =
        sources.filter(|(file, _)| is_program(file)).map(|(_, text)| text.lines().map(plain).collect()).collect();
    let mut found = Vec::new();
    for page in PAGES {
        let Ok(text) = std::fs::read_to_string(root.join(page)) else {
            found.push(format!("{page}: is not there"));
            continue;
        };
        found.extend(
            blocks_that_run_nowhere(&text, &programs)
                .map(|line| format!("{page}:{line}: this code is in no program of {}", PROGRAMS.join(" or "))),
        );
    }
    found
}

/// The lines at which blocks of Rust begin that are in none of the programs.
fn blocks_that_run_nowhere<'a>(text: &'a str, programs: &'a [Vec<String>]) -> impl Iterator<Item = usize> + 'a {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        loop {
            let (at, fence) = lines.next()?;
            if fence.trim() != "```rust" {
                continue;
            }
            let block: Vec<String> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").map(plain).collect();
            let runs = |program: &Vec<String>| program.windows(block.len().max(1)).any(|lines| lines == block);
            if !programs.iter().any(runs) {
                return Some(at + 1);
            }
        }
    })
}

/// A line without what may differ.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").replace("pub fn main", "fn main").replace("../kernels/", "")
}

/// Links of a page that lead to no file, with their lines.
pub fn dead_links(root: &Path, page: &Path, text: &str) -> Vec<String> {
    let folder = root.join(page).parent().map(Path::to_path_buf).unwrap_or_default();
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for part in line.split("](").skip(1) {
            let target = part.split([')', '#']).next().unwrap_or_default();
            let is_file = !target.is_empty() && !target.contains("://") && !target.contains([' ', '`', '<']);
            if is_file && !folder.join(target).exists() {
                found.push(format!("{}:{}: `{target}` is no file", page.display(), at + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(page: &str, program: &str) -> Vec<usize> {
        let programs = vec![program.lines().map(plain).collect()];
        blocks_that_run_nowhere(page, &programs).collect()
    }

    #[test]
    fn a_block_that_stands_in_a_program_is_found_whatever_its_indentation() {
        let program = "pub fn main() {\n    let x = 1;   // one\n    f(x);\n}\n";
        assert_eq!(runs("a\n```rust\nlet x = 1; // one\nf(x);\n```\n", program), [0usize; 0]);
        assert_eq!(runs("```rust\nfn main() {\n```\n", program), [0usize; 0]);
    }

    #[test]
    fn a_block_that_was_changed_is_named_by_its_line() {
        let program = "let x = 1;\nf(x);\n";
        assert_eq!(runs("a\n\n```rust\nlet x = 1;\ng(x);\n```\n", program), [3]);
        // Lines that stand apart in the program are not together.
        assert_eq!(runs("```rust\nlet x = 1;\nh(x);\n```\n", "let x = 1;\n\nh(x);\n"), [1]);
    }

    #[test]
    fn a_link_to_nowhere_is_named() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "[a](Cargo.toml) [b](https://x.y/z) [c](#here)\n[d](gone.md#part)";
        assert_eq!(dead_links(root, Path::new("page.md"), text), ["page.md:2: `gone.md` is no file"]);
    }
}

//! What a program that must not compile says about itself, and whether the compiler's errors are that.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A program that must not compile.
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    pub code: String,
    pub says: Vec<String>,
    pub why: String,
    pub codegen: bool,
    pub anywhere: bool,
    /// The number of the line with the mark, from 1.
    pub marked: Option<u64>,
    /// The same program with the marked line replaced.
    pub near_miss: Option<String>,
}

/// An error that the compiler has reported.
pub struct Reported {
    pub code: String,
    pub lines: Vec<u64>,
    pub rendered: String,
}

impl Program {
    /// Every program of a folder, by name.
    pub fn all(folder: &Path) -> Vec<Program> {
        let listed = std::fs::read_dir(folder).expect("the programs are there");
        let paths = listed.filter_map(|entry| Some(entry.ok()?.path()));
        let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let mut programs: Vec<Program> = sources
            .filter(|path| path.file_name().is_some_and(|name| name != "expectation.rs"))
            .map(|path| Program::read(&path))
            .collect();
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        programs
    }

    fn read(path: &Path) -> Program {
        let text = std::fs::read_to_string(path).expect("a program can be read");
        let all = |key: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.strip_prefix(key)).map(|rest| rest.trim().to_string()).collect()
        };
        let one = |key: &str| all(key).into_iter().next().unwrap_or_default();
        let marked = text.lines().position(|line| line.trim_end().ends_with("//~")).map(|index| index as u64 + 1);
        Program {
            name: path.file_stem().and_then(|name| name.to_str()).expect("a plain name").to_string(),
            path: path.to_path_buf(),
            code: one("// error:"),
            says: all("// says:"),
            why: one("// why:"),
            codegen: one("// stage:") == "codegen",
            anywhere: one("// where:") == "anywhere",
            marked,
            near_miss: near_miss(&text),
        }
    }

    /// Whether these errors are what it says.
    pub fn check(&self, errors: &[Reported]) -> Result<(), String> {
        let all: String = errors.iter().map(|error| error.rendered.as_str()).collect();
        if errors.is_empty() {
            return Err("it compiles".into());
        }
        let here = |error: &&Reported| self.anywhere || self.marked.is_some_and(|line| error.lines.contains(&line));
        let mut expected = errors.iter().filter(|error| error.code == self.code).filter(here).peekable();
        if expected.peek().is_none() {
            return Err(format!("no error {} on the marked line, but:\n{all}", self.code));
        }
        if !expected.any(|error| self.says.iter().all(|words| error.rendered.contains(words.as_str()))) {
            return Err(format!("the error does not say {:?}, but:\n{all}", self.says));
        }
        Ok(())
    }
}

/// The program without its marked line, and with what stands behind `//+` instead.
fn near_miss(text: &str) -> Option<String> {
    let mut replaced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_end().ends_with("//~") {
            lines.push("");
        } else if let Some(code) = line.trim_start().strip_prefix("//+") {
            replaced = true;
            lines.push(code);
        } else {
            lines.push(line);
        }
    }
    replaced.then(|| lines.join("\n"))
}

/// The errors among the compiler's messages.
pub fn errors_of(messages: &str) -> Vec<Reported> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors = parsed.filter(|message| message["level"] == "error");
    let errors = errors.map(|message| {
        let spans = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let primary = spans.iter().filter(|span| span["is_primary"] == true);
        let lines = primary.flat_map(|span| {
            // An error inside a macro is where the program calls the macro.
            let mut called = span;
            while called["expansion"]["span"].is_object() {
                called = &called["expansion"]["span"];
            }
            called["line_start"].as_u64().unwrap_or(0)..=called["line_end"].as_u64().unwrap_or(0)
        });
        Reported {
            code: message["code"]["code"].as_str().unwrap_or("none").to_string(),
            lines: lines.collect(),
            rendered: message["rendered"].as_str().unwrap_or_default().to_string(),
        }
    });
    // The last word of the compiler, that it gives up, is no error of its own.
    errors.filter(|error| !error.rendered.starts_with("error: aborting due to")).collect()
}

//! `cargo xtask ptx-forms`: which of the instruction forms that compilers emit the software driver runs.
//!
//! The forms are those of crates/ptx/tests/ptx_forms.txt, an inventory of what NVRTC 12.4 and 13.0 made of 48 files.

use std::fs;

use dacapo_ptx::{Support, classify};

use crate::workspace;

/// Prints what is unsupported by family, and the count.
///
/// # Errors
///
/// - The inventory cannot be read.
pub fn run() -> Result<(), String> {
    let path = workspace::root().join("crates/ptx/tests/ptx_forms.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut all, mut supported) = (0, 0);
    for (family, forms) in families(&text) {
        let missing: Vec<&str> = forms.iter().copied().filter(|form| classify(form) != Support::Supported).collect();
        all += forms.len();
        supported += forms.len() - missing.len();
        println!("{family:<16}{:>4} of {:>4}  {}", forms.len() - missing.len(), forms.len(), missing.join(" "));
    }
    println!("ptx-forms: {supported} of {all} supported, {} unsupported", all - supported);
    Ok(())
}

/// The families of the inventory with their forms. Its later sections count other things (directives, operand
/// shapes) and have no such count in their heading.
fn families(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut families: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut counts_forms = false;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("== ") {
            let name = heading.split(':').next().unwrap_or(heading);
            counts_forms = heading.contains(" in 12.4 optimised");
            if counts_forms {
                families.push((name, Vec::new()));
            }
        } else if counts_forms
            && let Some(form) = line.split_whitespace().next()
            && let Some((_, forms)) = families.last_mut()
        {
            forms.push(form);
        }
    }
    families
}

//! `cargo xtask declarations`: true declarations are neither refused nor warned about, and wrong ones are found.
//!
//! - True are the `kernels!` of all our sources, and the signatures in CUDA C of every kernel that is committed as PTX
//!   ([`c`]), which know nothing of the analysis.
//! - Wrong are the declarations in `declarations/wrong`, each a small kernel with one lie ([`wrong`]). The same kernel
//!   with the true declaration is the near miss: it must load without a warning.
//! - A pointer parameter is decided where every access that can go through it is known.
//!
//! The last line is the verdict.

mod c;
mod declared;
mod rust;
mod wrong;

use std::path::Path;

use dacapo::__private::{KernelDecl, check_text};
use dacapo::inspect::{Found, WarningKind};

use crate::{kernels, workspace};
use declared::Declaration;

/// Kernels of ours about which a warning is true, with what it is.
const RIGHTLY_WARNED: &[(&str, WarningKind)] =
    // Reads through a pointer that a variable in constant memory holds.
    &[("constant_lookup", WarningKind::AddressFromMemory)];

/// How many kernels and pointer parameters there must be, and which part of those must be decided.
const ENTRIES_MIN: usize = 300;
const DECIDED_MIN: f64 = 0.95;
const WRONG_MIN: usize = 40;

#[derive(Default)]
struct Count {
    entries: usize,
    pointers: usize,
    decided: usize,
    alarms: usize,
}

/// Checks all of them, and prints what is not as it should be.
pub fn run(verbose: bool) -> Result<(), String> {
    let mut count = Count::default();
    for (place, ptx, kernels) in true_ones(&workspace::root())? {
        count.check(&place, &ptx, &kernels, verbose);
    }
    let (wrong, found) = wrong::run(&workspace::root().join("xtask/src/declarations/wrong"))?;
    let Count { entries, pointers, decided, alarms } = count;
    println!("{entries} entries with a true declaration");
    println!(
        "declarations: {pointers} pointer parameters, {decided} decided, {alarms} false alarms; \
         {wrong} wrong declarations, {found} refused or found"
    );
    if entries < ENTRIES_MIN || wrong < WRONG_MIN {
        return Err(format!("at least {ENTRIES_MIN} entries and {WRONG_MIN} wrong declarations are wanted"));
    }
    if (decided as f64) < DECIDED_MIN * pointers as f64 || alarms > 0 || found < wrong {
        return Err("a declaration was judged wrongly, or too many were not decided".into());
    }
    Ok(())
}

/// Every true declaration with its text.
fn true_ones(root: &Path) -> Result<Vec<(String, String, Vec<Declaration>)>, String> {
    let mut all = Vec::new();
    for (source, ptx) in kernels::pairs(root)? {
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let place = ptx.strip_prefix(root).unwrap_or(&ptx).display().to_string();
        let kernels = c::kernels(&read(&source)?).map_err(|error| format!("{}: {error}", source.display()))?;
        let text = read(&ptx)?;
        let declared = |name: &str| kernels.iter().any(|kernel| kernel.entry == name);
        let module = dacapo_ptx::parse(&text).map_err(|errors| format!("{place}: {errors}"))?;
        if let Some(entry) = module.functions.iter().find(|entry| entry.is_kernel && !declared(&entry.name)) {
            return Err(format!("{place}: `{}` was not found in {}", entry.name, source.display()));
        }
        all.push((place, text, kernels));
    }
    for file in workspace::rust_sources(root)? {
        // Programs that must not compile, and this task itself.
        if file.components().any(|part| ["ui", "declarations"].iter().any(|name| part.as_os_str() == *name)) {
            continue;
        }
        let source = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if source.contains("kernels!") {
            let declared = rust::declared(root, &file, &source)?;
            all.extend(declared.into_iter().map(|one| (one.place, one.ptx, one.kernels)));
        }
    }
    Ok(all)
}

impl Count {
    fn check(&mut self, place: &str, ptx: &str, kernels: &[Declaration], verbose: bool) {
        let decls: Vec<KernelDecl> = kernels.iter().map(Declaration::leak).collect();
        let (checked, lies) = check_text(ptx, &decls);
        for lie in &lies {
            println!("false alarm: {place}: {lie}");
        }
        self.alarms += lies.len();
        for (kernel, warning) in checked.warnings() {
            let right = RIGHTLY_WARNED.contains(&(&*kernel.entry, warning.kind));
            println!("{}: {place}: {}: {}", if right { "warned" } else { "false alarm" }, kernel.name, warning.text);
            self.alarms += usize::from(!right);
        }
        for (kernel, declared) in checked.kernels.iter().zip(kernels) {
            self.entries += 1;
            if verbose {
                print!("{place}: {kernel}");
            }
            for (param, declared) in kernel.params.iter().zip(&declared.params).filter(|(_, param)| param.is_pointer())
            {
                self.pointers += 1;
                match &param.found {
                    Found::Memory { .. } => self.decided += 1,
                    other => println!("not decided: {place}: {}: {}: {other}", kernel.name, declared.name),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_true_declaration_passes_and_every_wrong_one_is_found() {
        super::run(false).unwrap();
    }
}

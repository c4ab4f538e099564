//! `cargo xtask packages`: what would be published, made, unpacked outside of the tree, built and tested there.
//!
//! - `make`: cargo makes the packages. Each has a README, both licences and a description.
//! - `look`: no source of a package includes a file that is not in it.
//! - `outside`: a workspace in the temporary folder has the unpacked packages as members, and every dependency between
//!   them is patched to these. The crates of strangers in `tests/outside` are members too.
//! - `install`: `cargo install` of the program from its package, and a C program on `dacapo run` with the driver that
//!   the installed program builds.
//!
//! Without `--full` only some tests run outside. What a package lacks is found all the same: all of them are built, and
//! all includes are looked at; only a path that a test puts together when it runs is not.

mod install;
mod look;
mod make;
mod outside;

use std::time::Instant;

use crate::workspace;
use outside::Outside;

/// How much is tested.
#[derive(clap::Args)]
pub struct Scale {
    /// Run every test of every package, and build with every feature
    #[arg(long)]
    full: bool,
    /// Only make the packages and look at them
    #[arg(long, conflicts_with = "full")]
    look: bool,
}

/// The published packages, each behind those that it uses, with what `cargo test` is told in a full run.
const PACKAGES: &[(&str, &[&str])] = &[
    ("dacapo-driver", &[]),
    ("dacapo-ptx", &[]),
    // In the repository a dev-dependency on itself switches this on; such a one is not in the package.
    ("dacapo-ledger", &["--features", "baton"]),
    ("dacapo-nccl", &[]),
    ("dacapo-sim", &[]),
    ("dacapo-derive", &[]),
    ("dacapo", &["--features", "json,tracing,cublaslt,nccl,nvrtc,cudarc,cudarc/dynamic-loading,cudarc/cuda-13000"]),
    ("dacapo-libcuda", &[]),
    ("dacapo-cli", &[]),
];

/// What a quick run tests: examples of the documentation, and tests that read files or open the shared library.
const QUICK: &[&[&str]] =
    &[&["--doc"], &["--test", "texts", "--test", "exports", "--test", "run", "--test", "inspect"]];

/// Makes, looks, builds, tests and installs.
///
/// # Errors
///
/// - The first thing that does not work, in words; what was unpacked is kept then, and named.
pub fn run(scale: &Scale) -> Result<(), String> {
    let root = workspace::root();
    let started = Instant::now();
    let names: Vec<&str> = PACKAGES.iter().map(|(name, _)| *name).collect();
    let made = make::packages(&root, &names)?;
    let outside = Outside::unpack(&root, &made)?;
    println!("outside of the tree, in {}", outside.folder().display());
    let looked = look::all(&outside)?;
    println!("{looked} sources include nothing from outside of their package");
    if !scale.look {
        match scale.full {
            // One by one: what a package needs of another's features must be its own wish.
            true => PACKAGES.iter().try_for_each(|(name, how)| outside.test(&[&["--package", name], *how].concat()))?,
            // All in one, so that nothing is built twice; without the strangers, who ask for what cannot be together.
            false => {
                let all: Vec<&str> = names.iter().flat_map(|name| ["--package", name]).collect();
                QUICK.iter().try_for_each(|how| outside.test(&[&all, *how].concat()))?;
            }
        }
        let strangers = outside.strangers();
        strangers.iter().try_for_each(|stranger| outside.try_stranger(stranger))?;
        let checked = strangers.iter().filter(|stranger| stranger.check_only).count();
        println!("{} crates of strangers, {checked} of them checked and not linked", strangers.len());
        install::run(&outside)?;
    }
    outside.remove();
    let scale = match (scale.look, scale.full) {
        (true, _) => "looked at, not built",
        (_, true) => "every test",
        _ => "quick tests only: `--full` runs every one",
    };
    println!("packages: {} made, built and tested outside ({scale}), {} s", made.len(), started.elapsed().as_secs());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_is_in_the_list_and_nothing_else() {
        let root = workspace::root();
        let mut published = Vec::new();
        for entry in std::fs::read_dir(root.join("crates")).unwrap().flatten() {
            let text = std::fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
            let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).unwrap();
            if !text.contains("publish = false") {
                published.push(name.to_string());
            }
        }
        let mut listed: Vec<&str> = PACKAGES.iter().map(|(name, _)| *name).collect();
        published.sort();
        listed.sort();
        assert_eq!(published, listed);
    }
}

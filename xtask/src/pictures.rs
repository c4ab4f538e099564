//! The drawings of the documentation, docs/pictures/*.svg: made by the library, so that they show what it draws today.
//!
//! - `cargo xtask bless --only pictures` writes them; `cargo xtask tidy` makes them again, and says which are not the same.
//! - Nothing in them depends on the machine: no times, and no places in sources, which move with every line above them.
//! - A picture of what only a GPU knows is made of a file under results/ that was written there: its row reads that file.

use std::path::Path;

use dacapo::inspect::Report;
use dacapo::page::Page;
use dacapo_suite::scenes;

/// Where they are, from the root.
pub const FOLDER: &str = "docs/pictures";

/// A file's name, and how its text is made, given the root of the workspace.
type Picture = (&'static str, fn(&Path) -> Result<String, String>);

const PICTURES: &[Picture] = &[
    ("saxpy.svg", |_| Ok(report(scenes::saxpy())?.to_svg())),
    ("layers.svg", |_| Ok(report(scenes::layers(2))?.to_svg())),
    ("flow.svg", |_| Ok(report(scenes::loop_with_a_branch())?.to_svg())),
    ("memory.svg", |_| report(scenes::layers(6))?.memory_svg().ok_or_else(|| "the layers have no temps".into())),
    ("timeline.svg", |root| timeline(&root.join("results/pages/demo-h200.html"))),
];

/// Writes all of them.
///
/// # Errors
///
/// - One cannot be made or written.
pub fn bless(root: &Path) -> Result<(), String> {
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, make) in PICTURES {
        let file = folder.join(name);
        let text = make(root).map_err(|error| format!("{name}: {error}"))?;
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// What is not as the library draws it, and files that nobody makes.
pub fn check(root: &Path) -> Vec<String> {
    let made = PICTURES.iter().map(|(name, make)| (*name, make(root)));
    let found =
        made.filter_map(|(name, made)| fault(name, made, std::fs::read_to_string(root.join(FOLDER).join(name)).ok()));
    let mut found: Vec<String> = found.collect();
    for entry in std::fs::read_dir(root.join(FOLDER)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !PICTURES.iter().any(|(known, _)| *known == name) {
            found.push(format!("{FOLDER}/{name}: no row of xtask/src/pictures.rs makes it"));
        }
    }
    found
}

/// What is wrong with one that was made now and stands there like this.
fn fault(name: &str, made: Result<String, String>, there: Option<String>) -> Option<String> {
    const HELP: &str = "look at it and accept it with `cargo xtask bless --only pictures`";
    match (made, there) {
        (Err(error), _) => Some(format!("{FOLDER}/{name}: cannot be made: {error}")),
        (Ok(_), None) => Some(format!("{FOLDER}/{name}: is not there; {HELP}")),
        (Ok(made), Some(there)) if made == there => None,
        (Ok(made), Some(there)) => {
            let same = made.lines().zip(there.lines()).take_while(|(made, there)| made == there).count();
            Some(format!("{FOLDER}/{name}:{}: the library draws it otherwise now; {HELP}", same + 1))
        }
    }
}

/// The report of a scene, without places in sources.
fn report(page: dacapo::Result<Page>) -> Result<Report, String> {
    let mut report = page.map_err(|error| error.to_string())?.report;
    for node in &mut report.nodes {
        node.location = None;
    }
    Ok(report)
}

/// The timeline of the replay in a page that a GPU's machine wrote.
fn timeline(page: &Path) -> Result<String, String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", page.display());
    let html = std::fs::read_to_string(page).map_err(|error| at(&error))?;
    let profile = Page::from_html(&html).map_err(|error| at(&error))?.profile;
    Ok(profile.ok_or_else(|| at(&"there is no profile in it"))?.to_svg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn a_picture_is_the_same_every_time_and_names_no_machine() {
        let root = workspace::root();
        for (name, make) in PICTURES {
            let text = make(&root).unwrap();
            assert_eq!(text, make(&root).unwrap(), "{name}");
            assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{name}");
            let parts = [env!("CARGO_PKG_VERSION"), ".rs:", &root.display().to_string()];
            assert!(parts.iter().all(|part| !text.contains(part)), "{name} tells a version, a place or a folder");
        }
    }

    #[test]
    fn one_that_is_drawn_otherwise_is_named_with_its_line_and_what_to_do() {
        let is = |made: &str, there: Option<&str>| fault("a.svg", Ok(made.into()), there.map(str::to_string));
        assert_eq!(is("1\n2\n", Some("1\n2\n")), None);
        let text = is("1\n2\n", Some("1\n3\n")).unwrap();
        assert!(
            text.starts_with("docs/pictures/a.svg:2: ") && text.contains("cargo xtask bless --only pictures"),
            "{text}"
        );
        assert!(is("1\n", None).unwrap().contains("is not there"));
        assert!(fault("a.svg", Err("no".into()), None).unwrap().ends_with("cannot be made: no"));
    }
}

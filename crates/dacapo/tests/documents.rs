//! The documents of the repository say what this crate does: `docs/holes.md` names every hole, and a page says how to
//! get PTX.
//!
//! Not part of the package, which has neither document.

use std::path::Path;

/// What the documentation says is tested is tested.
#[test]
fn the_documentation_names_every_hole_and_only_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("../../docs/holes.md")).unwrap();
    let mut sources = String::new();
    for file in ["main.rs", "capture.rs", "left_behind.rs", "lifetimes.rs", "order.rs", "ours.rs", "served.rs"] {
        sources += &std::fs::read_to_string(root.join("tests/holes").join(file)).unwrap();
    }
    let named: Vec<&str> = text.split('`').filter(|word| word.starts_with("hole_")).collect();
    for name in &named {
        assert!(sources.contains(&format!("fn {name}(")), "docs/holes.md names `{name}`, which is no test");
    }
    for line in sources.lines().filter_map(|line| line.strip_prefix("fn hole_")) {
        let name = format!("hole_{}", line.split('(').next().unwrap());
        assert!(named.contains(&name.as_str()), "docs/holes.md does not name `{name}`");
    }
    let flow = std::fs::read_to_string(root.join("tests/attack_flow.rs")).unwrap();
    for row in text.lines().filter(|line| line.starts_with("| W")) {
        let name = row.rsplit('`').nth(1).unwrap();
        assert!(flow.contains(&format!("fn {name}(")), "docs/holes.md names `{name}`, which is no test");
    }
    for program in text.split('`').filter_map(|word| word.strip_prefix("ui/")) {
        assert!(root.join(format!("tests/ui/{program}.rs")).exists(), "docs/holes.md names `ui/{program}`");
    }
}

/// Somebody who has CUDA C and no PTX finds out how to get it.
#[test]
fn a_page_says_how_to_get_ptx() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = std::fs::read_dir(docs).unwrap().filter_map(|page| std::fs::read_to_string(page.ok()?.path()).ok());
    let says_all = |page: &String| ["nvcc", "NVRTC", "build script"].iter().all(|words| page.contains(words));
    assert!(pages.into_iter().any(|page| says_all(&page)));
}

//! The list of forms in `docs/ptx.md` is made from the table, and this says when it is not.
//!
//! `cargo xtask bless` writes it anew.

use dacapo_ptx::{Family, FormRow, Status, supported_forms};
use std::path::Path;

const BEGIN: &str = "<!-- made from the table of forms: begin -->\n";
const END: &str = "<!-- made from the table of forms: end -->\n";

fn section(rows: &[FormRow]) -> String {
    let mut out = String::new();
    for (status, heading) in [(Status::Now, "Interpreted"), (Status::Later, "Decoded and checked, not promised yet")] {
        out.push_str(&format!("### {heading}\n\n"));
        let mut families: Vec<Family> = rows.iter().filter(|r| r.status == status).map(|r| r.family).collect();
        families.sort();
        families.dedup();
        for family in families {
            out.push_str(&format!("**{family}**\n\n```text\n"));
            for row in rows.iter().filter(|r| r.status == status && r.family == family) {
                out.push_str(&format!("{:9} {}\n", row.section, row.pattern));
            }
            out.push_str("```\n\n");
        }
    }
    out
}

#[test]
fn the_documented_list_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ptx.md");
    let text = std::fs::read_to_string(&path).expect("docs/ptx.md is part of the project");
    let (before, rest) = text.split_once(BEGIN).expect("the first mark is there");
    let (listed, behind) = rest.split_once(END).expect("the second mark is there");
    let made = section(&supported_forms());
    if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, format!("{before}{BEGIN}{made}{END}{behind}")).expect("writable");
    } else {
        assert!(listed == made, "docs/ptx.md is stale; `cargo xtask bless` renews it");
    }
}

//! Variants: every kernel of ours with another beginning, and those that keep theirs.

use std::path::Path;

use dacapo_ptx::ir::{Opcode, Type};
use dacapo_ptx::{Left, Opening, parse, variant};

const HEAD: &str = ".version 6.0 // .version 3.0\n.target sm_70, debug\n.address_size 64\n";

fn made(text: &str, opening: Opening) -> (Vec<String>, Vec<(String, Left)>) {
    let made = variant(text, opening).unwrap();
    parse(&made.text).unwrap();
    (made.changed, made.left)
}

/// All PTX of this crate's tests, and in the workspace that of all crates: whether it is the workspace, and the texts.
fn texts() -> (bool, Vec<(String, String)>) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let is_workspace = root.join("xtask").is_dir();
    let mut folders = match is_workspace {
        true => ["kernels", "crates", "examples"].map(|folder| root.join(folder)).to_vec(),
        false => vec![here.join("tests")],
    };
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
            if file.is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "ptx") {
                let bytes = std::fs::read(&file).unwrap();
                texts.push((file.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    (is_workspace, texts)
}

#[test]
fn every_text_of_ours_keeps_its_lines_and_gains_the_instructions_and_nothing_else() {
    let (mut entries, mut modules) = (0, 0);
    let (is_workspace, texts) = texts();
    for (file, text) in texts {
        let Ok(before) = parse(&text) else { continue };
        for (opening, gained) in [(Opening::Waits, 1), (Opening::WaitsAndSignals, 2)] {
            let Some(made) = variant(&text, opening) else { continue };
            modules += 1;
            assert_eq!(made.text.lines().count(), text.lines().count(), "{file}");
            let after = parse(&made.text).unwrap_or_else(|errors| panic!("{file}: {errors}"));
            assert!(after.version >= (7, 8) && after.version >= before.version, "{file}");
            for (old, new) in before.functions.iter().zip(&after.functions) {
                let is_changed = made.changed.contains(&old.name);
                let more = if is_changed { gained } else { 0 };
                assert_eq!(new.body.len(), old.body.len() + more, "{file}: {}", old.name);
                entries += usize::from(is_changed);
                for new in new.body.iter().take(more) {
                    assert_eq!(new.form.opcode, Opcode::Griddepcontrol, "{file}: {}", old.name);
                }
                // The rest is where it was, but for what stands in the line of the brace.
                for (old, new) in old.body.iter().zip(&new.body[more..]) {
                    assert_eq!((&old.form, old.span.line), (&new.form, new.span.line), "{file}");
                }
            }
            let kernels =
                after.functions.iter().filter(|function| function.is_kernel && !function.body.is_empty()).count();
            assert!(made.changed.len() + made.left.len() >= kernels, "{file}");
            // What has been opened has control of its own.
            assert!(variant(&made.text, opening).is_none_or(|again| again.changed.is_empty()), "{file}");
        }
    }
    let least = if is_workspace { (300, 60) } else { (30, 10) };
    assert!(entries > least.0 && modules > least.1, "{entries} entries in {modules} modules");
}

/// What a guard is made of.
const GUARD: [Opcode; 7] = [Opcode::Ld, Opcode::Cvta, Opcode::Ld, Opcode::Min, Opcode::Ld, Opcode::Setp, Opcode::Ret];

#[test]
fn every_text_of_ours_can_be_guarded_and_keeps_the_rest() {
    let mut entries = 0;
    let (is_workspace, texts) = texts();
    for (file, text) in texts {
        let Ok(before) = parse(&text) else { continue };
        for (opening, waits) in [(Opening::Guarded, 0), (Opening::WaitsGuarded, 1)] {
            let Some(made) = variant(&text, opening) else { continue };
            assert_eq!(made.text.lines().count(), text.lines().count(), "{file}");
            let after = parse(&made.text).unwrap_or_else(|errors| panic!("{file}: {errors}"));
            assert!(opening != Opening::Guarded || after.version == before.version, "{file}");
            for (old, new) in before.functions.iter().zip(&after.functions) {
                let (is_changed, types) = (made.changed.contains(&old.name), |at: usize| new.params[at].ty);
                let (more, params) = if is_changed { (waits + GUARD.len(), 2) } else { (0, 0) };
                entries += usize::from(is_changed);
                // The guard's parameters are the last, and those before are as they were.
                assert_eq!(new.params.len(), old.params.len() + params, "{file}: {}", old.name);
                for (old, new) in old.params.iter().zip(&new.params) {
                    assert_eq!((&old.name, old.offset, old.size), (&new.name, new.offset, new.size), "{file}");
                }
                if is_changed {
                    let last = old.params.len();
                    assert_eq!((types(last), types(last + 1)), (Type::U64, Type::U32), "{file}: {}", old.name);
                    let gained: Vec<Opcode> = new.body[waits..more].iter().map(|new| new.form.opcode).collect();
                    assert_eq!(gained, GUARD, "{file}: {}", old.name);
                    assert!(waits == 0 || new.body[0].form.opcode == Opcode::Griddepcontrol, "{file}: {}", old.name);
                }
                assert_eq!(new.body.len(), old.body.len() + more, "{file}: {}", old.name);
                for (old, new) in old.body.iter().zip(&new.body[more..]) {
                    assert_eq!((&old.form, old.span.line), (&new.form, new.span.line), "{file}");
                }
            }
            // What is guarded can be guarded again, in other names; one that waits has control of its own by now.
            let again = variant(&made.text, Opening::Guarded).unwrap();
            parse(&again.text).unwrap_or_else(|errors| panic!("{file}: {errors}"));
            assert!(again.changed == made.changed || waits == 1, "{file}");
        }
    }
    let least = if is_workspace { 300 } else { 30 };
    assert!(entries > least, "{entries} entries");
}

#[test]
fn a_guard_stands_behind_the_parameters_that_are_there() {
    let guarded = |entry: &str| variant(&format!("{HEAD}{entry}\n"), Opening::Guarded).unwrap().text;
    for (list, with) in [
        (" {", "(.param .u64 dacapo_guard_flag, .param .u32 dacapo_guard_side) {"),
        ("()", "(.param .u64 dacapo_guard_flag, .param .u32 dacapo_guard_side)"),
        ("( )", "( .param .u64 dacapo_guard_flag, .param .u32 dacapo_guard_side)"),
        ("(.param .u8 p)", "(.param .u8 p, .param .u64 dacapo_guard_flag, .param .u32 dacapo_guard_side)"),
        (
            "(.param .b8 p[(2 * 4)] // )\n)",
            "(.param .b8 p[(2 * 4)] // )\n, .param .u64 dacapo_guard_flag, .param .u32 dacapo_guard_side)",
        ),
    ] {
        let entry = format!(".visible .entry k{list}{}\n  ret;\n}}", if list == " {" { "" } else { " .maxntid 32 {" });
        let made = guarded(&entry);
        assert!(made.contains(&format!(".entry k{with}")), "{made}");
        assert_eq!(parse(&made).unwrap().functions[0].params.len(), if list.contains('p') { 3 } else { 2 }, "{made}");
    }
    // Names that are there are left alone.
    let made = guarded(".entry dacapo_guard(.param .u64 dacapo_guard__flag)\n{\n  ret;\n}");
    assert!(made.contains(".param .u64 dacapo_guard____flag, .param .u32 dacapo_guard____side)"), "{made}");
    parse(&made).unwrap();
    // The version stays, and a wait comes first.
    assert!(made.starts_with(HEAD), "{made}");
    let made = variant(&format!("{HEAD}.entry k()\n{{\n  ret;\n}}\n"), Opening::WaitsGuarded).unwrap().text;
    assert!(made.starts_with(".version 7.8") && made.contains("\n{ griddepcontrol.wait; { .reg .pred"), "{made}");
}

#[test]
fn an_old_text_is_raised_and_a_new_one_is_not() {
    let entry = ".visible .entry k()\n{\n  ret;\n}\n";
    let made = variant(&format!("{HEAD}{entry}"), Opening::Waits).unwrap().text;
    assert!(made.starts_with(".version 7.8 // .version 3.0\n.target sm_90, debug\n"), "{made}");
    for target in ["sm_90", "sm_90a", "sm_100", "sm_120f"] {
        let head = format!(".version 8.7\n.target {target}\n.address_size 64\n");
        let made = variant(&format!("{head}{entry}"), Opening::Waits).unwrap().text;
        assert!(made.starts_with(&head), "{made}");
    }
}

#[test]
fn the_place_is_the_body_and_not_what_looks_like_it() {
    let text = format!(
        "{HEAD}// .entry a() {{\n.global .align 1 .b8 text[2] = {{123, 0}};\n.visible .entry k(.param .align 4 .b8 p[8])\n\
         .maxntid 32, 1, 1 /* {{ */ .minnctapersm 1\n{{ // {{\n  ret;\n}}\n.section .debug_x\n{{\n.b8 1\n}}\n"
    );
    let made = variant(&text, Opening::WaitsAndSignals).unwrap();
    let line = "{ griddepcontrol.wait; griddepcontrol.launch_dependents; // {";
    assert_eq!(made.text.lines().filter(|found| *found == line).count(), 1, "{}", made.text);
    assert_eq!(made.changed, ["k"]);
}

#[test]
fn what_must_keep_its_beginning_does() {
    let own = ".entry own()\n{\n  griddepcontrol.wait;\n  ret;\n}\n";
    let cluster = ".entry cluster() .reqnctapercluster 2, 1, 1\n{\n  ret;\n}\n";
    let tables = ".const .align 4 .b32 table = 3;\n.global .align 4 .b32 count;\n";
    let reads = ".entry reads()\n{\n  .reg .b32 %r<2>;\n  ld.const.u32 %r1, [table];\n  ret;\n}\n";
    let counts = ".entry counts()\n{\n  .reg .b32 %r<2>;\n  ld.global.u32 %r1, [count];\n  ret;\n}\n";
    let plain = ".entry plain()\n{\n  ret;\n}\n";
    let text = format!("{HEAD}{tables}{own}{cluster}{reads}{counts}{plain}");
    let left = |names: &[(&str, Left)]| names.iter().map(|(name, why)| (name.to_string(), *why)).collect::<Vec<_>>();
    let always = [("own", Left::Controls), ("cluster", Left::Cluster), ("reads", Left::Constants)];
    assert_eq!(made(&text, Opening::Waits), (vec!["counts".into(), "plain".into()], left(&always)));
    let mut signals = left(&always);
    signals.push(("counts".into(), Left::Variables));
    assert_eq!(made(&text, Opening::WaitsAndSignals), (vec!["plain".into()], signals.clone()));
    assert_eq!(made(&text, Opening::WaitsGuarded), (vec!["plain".into()], signals));
    // Nothing begins early there: a constant is a variable like others.
    let guarded =
        [("own", Left::Controls), ("cluster", Left::Cluster), ("reads", Left::Variables), ("counts", Left::Variables)];
    assert_eq!(made(&text, Opening::Guarded), (vec!["plain".into()], left(&guarded)));
}

#[test]
fn variables_of_the_module_count_wherever_they_are_declared() {
    let inside = ".entry inside()\n{\n  .reg .b32 %r<2>;\n  .global .align 4 .b32 count;\n  ld.global.u32 %r1, [count];\n  ret;\n}\n";
    let text = format!("{HEAD}{inside}");
    assert_eq!(made(&text, Opening::Waits), (vec!["inside".into()], vec![]), "no copy of the module");
    for copy in [Opening::WaitsAndSignals, Opening::Guarded, Opening::WaitsGuarded] {
        assert_eq!(made(&text, copy), (vec![], vec![("inside".into(), Left::Variables)]));
    }
    let text = text.replace(".global .align", ".const .align").replace("ld.global", "ld.const");
    assert_eq!(made(&text, Opening::Waits), (vec![], vec![("inside".into(), Left::Constants)]));
    // Three variables in short: their names do not stand in the text.
    let numbered = format!("{HEAD}.global .align 4 .b32 g<3>;\n.entry k()\n{{\n  ret;\n}}\n");
    assert_eq!(variant(&numbered, Opening::Guarded), None);
}

#[test]
fn a_kernel_that_signals_and_never_waits_is_told_from_one_that_waits() {
    let text = format!("{HEAD}.entry never()\n{{\n  griddepcontrol.launch_dependents;\n  ret;\n}}\n");
    assert_eq!(made(&text, Opening::Waits), (vec![], vec![("never".into(), Left::Signals)]));
}

#[test]
fn what_a_function_does_its_callers_may_do() {
    let waits = ".func waits()\n{\n  griddepcontrol.wait;\n  ret;\n}\n";
    let calls = ".entry calls()\n{\n  call.uni waits;\n  ret;\n}\n";
    let plain = ".entry plain()\n{\n  ret;\n}\n";
    let (changed, left) = made(&format!("{HEAD}{waits}{calls}{plain}"), Opening::Waits);
    assert_eq!((changed, left), (vec!["plain".into()], vec![("calls".into(), Left::Controls)]));
    let reads = ".const .align 4 .b32 table = 3;\n.func reads()\n{\n  .reg .b32 %r<2>;\n  ld.const.u32 %r1, [table];\n  ret;\n}\n";
    let calls = ".entry calls()\n{\n  call.uni reads;\n  ret;\n}\n";
    let (changed, left) = made(&format!("{HEAD}{reads}{calls}{plain}"), Opening::Waits);
    assert_eq!((changed, left), (vec!["plain".into()], vec![("calls".into(), Left::Constants)]));
}

#[test]
fn a_text_that_is_not_understood_has_no_variant() {
    let plain = ".entry plain()\n{\n  ret;\n}\n";
    for text in [
        "",
        "no PTX",
        ".version 8.0",
        ".version 8.0\n.target sm_70",
        &format!(".version 8.0\n.target sm_70\n.target sm_80\n{plain}"),
        &format!(".version 8.0\n.target sm_13, map_f64_to_f32\n{plain}"),
        &format!("{HEAD}.entry open()\n{{\n  ret;\n"),
        &format!("{HEAD}.entry \u{1f600}()\n{{\n  ret;\n}}\n"),
        HEAD,
    ] {
        assert!(variant(text, Opening::Waits).is_none(), "{text}");
    }
}

//! Declarations that the text of a kernel contradicts, and those that it does not.
//!
//! `cargo xtask declarations` has fifty wrong ones, as texts, which are looked at here too; then the words for each kind,
//! and the ways in which a program meets them.

use std::path::Path;

use dacapo::inspect::{FalseDeclaration, Found, WarningKind};
use dacapo::{Device, ErrorKind};

use crate::kit::{Bench, benches};

#[path = "declared.rs"]
#[allow(dead_code, reason = "shared with `cargo xtask declarations`, which uses more of it")]
mod declared;
#[path = "wrong.rs"]
mod wrong;

/// y ← x, and a counter; with lines of a source.
const COPY: &str = r#".version 8.4
.target sm_80
.address_size 64
.file 1 "copy.cu"
.visible .global .align 4 .u32 copies;
.visible .entry copy(.param .u64 n, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [n];
    ld.param.u64 %rd2, [x];
    ld.param.u64 %rd3, [y];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd4, %r1;
    setp.ge.u64 %p1, %rd4, %rd1;
    @%p1 bra END;
    shl.b64 %rd5, %rd4, 2;
    add.s64 %rd6, %rd2, %rd5;
    add.s64 %rd7, %rd3, %rd5;
    .loc 1 4 5
    ld.global.u32 %r2, [%rd6];
    .loc 1 5 9
    st.global.u32 [%rd7], %r2;
    red.global.add.u32 [copies], 1;
END:
    ret;
}
.visible .entry scale(.param .f32 a, .param .u64 y)
{
    .reg .f32 %f<4>;
    .reg .b64 %rd<3>;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [y];
    ld.global.f32 %f2, [%rd1];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd1], %f3;
    ret;
}
.visible .entry tensors(.param .u64 x)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    wgmma.fence.sync.aligned;
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry either(.param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    selp.b64 %rd3, %rd1, %rd2, %p1;
    st.global.u32 [%rd3], %r1;
    ret;
}
"#;

/// Kernels of [`COPY`], declared as `$params`, in a module of its own.
macro_rules! declared {
    ($name:ident, $f:ident($($params:tt)*) $($clauses:tt)*) => {
        mod $name {
            dacapo::kernels! {
                pub unsafe struct Kernels(super::COPY) {
                    #[allow(dead_code, reason = "loaded, never run")]
                    fn $f($($params)*) { $($clauses)* grid: exact([1, 1, 1], [32, 1, 1]); }
                }
            }
        }
    };
}

declared!(right, copy(n: u64 = y.len(), x: &[u32], y: &mut [u32]) state: copies; requires: x.len() == y.len(););
const STORED_LINE: u32 = line!() + 1;
declared!(stored, copy(n: u64 = y.len(), x: &[u32], y: &[u32]) state: copies;);
declared!(address, copy(n: u64, x: u64, y: &mut [u32]) state: copies;);
declared!(number, copy(n: &[u32], x: &[u32], y: &mut [u32]) state: copies;);
declared!(global, copy(n: u64 = y.len(), x: &[u32], y: &mut [u32]));
declared!(several, copy(n: u64, x: u64, y: &[u32]));
declared!(doubtful, copy(n: u64 = y.len(), x: &mut [u32], y: &mut [u32]) state: copies;);
declared!(narrow, copy(n: u64 = y.len(), x: &[f64], y: &mut [u32]) state: copies;);
declared!(let_be, copy(n: u64 = y.len(), x: &[u32], unchecked y: &[u32]) state: copies;);
declared!(whole, scale(a: u32, y: &mut [f32]));
declared!(float, scale(a: f32, y: &mut [f32]));
declared!(either_way, either(x: &[u32], y: &mut [u32]));
declared!(both_read, either(x: &[u32], y: &[u32]));
declared!(unknown, tensors(x: &[u32]));

/// What a refused load says.
fn refused<T>(loaded: dacapo::Result<T>) -> (Vec<FalseDeclaration>, String) {
    let Err(error) = loaded else { panic!("loaded") };
    let text = format!("{error:?}");
    match error.kind() {
        ErrorKind::Declaration(found) => (found.clone(), text),
        other => panic!("{other:?}"),
    }
}

/// What each of them says: parameter, what is declared, what would be true.
fn said(found: &[FalseDeclaration]) -> Vec<(&str, &str, &str)> {
    found.iter().map(|found| (&*found.param, &*found.declared, &*found.instead)).collect()
}

fn device() -> Device {
    Bench::seeded(0).device
}

#[test]
fn what_the_text_contradicts_is_refused_with_the_declaration_that_would_be_true() {
    let device = device();
    let (found, text) = refused(stored::Kernels::load(&device));
    assert_eq!(said(&found), [("y", "y: &[u32]", "y: &mut [u32]")]);
    assert_eq!((found[0].line, found[0].source.as_deref()), (24, Some("copy.cu:5")));
    // The place is that of the declaration: there is what must be edited.
    let place = format!("{}:{STORED_LINE}:1", file!());
    assert_eq!(
        text,
        format!(
            "error[declaration]: `copy` writes 4 bytes through `y` (line 24 of the PTX, copy.cu:5); declared is \
             `y: &[u32]`, true would be `y: &mut [u32]`\n  --> {place}\nhelp: declare `y: &mut [u32]` in `copy`; if the \
             kernel never does it where it is used, say `unchecked` before the parameter"
        )
    );
    assert_eq!(said(&refused(address::Kernels::load(&device)).0), [("x", "x: u64", "x: &[u32]")]);
    assert_eq!(said(&refused(number::Kernels::load(&device)).0), [("n", "n: &[u32]", "n: u64")]);
    assert_eq!(said(&refused(global::Kernels::load(&device)).0), [("copies", "no `state`", "state: copies")]);
    assert_eq!(said(&refused(whole::Kernels::load(&device)).0), [("a", "a: u32", "a: f32")]);
    float::Kernels::load(&device).unwrap();
}

#[test]
fn everything_that_is_false_is_told_at_once() {
    let (found, text) = refused(several::Kernels::load(&device()));
    assert_eq!(found.iter().map(|found| &*found.param).collect::<Vec<_>>(), ["y", "x", "copies"]);
    assert_eq!(text.matches("\nand: ").count(), 2, "{text}");
}

#[test]
fn a_refused_module_leaves_nothing_behind_and_the_device_goes_on() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let modules = device.counters().modules;
        refused(stored::Kernels::load(device));
        device.synchronize().unwrap();
        assert_eq!(device.counters().modules, modules);
        let k = right::Kernels::load(device).unwrap();
        let (x, mut y) = (device.buffer(&[1u32, 2, 3]).unwrap(), device.zeros::<u32>(3).unwrap());
        stream.run(k.copy(&x, &mut y)).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [1, 2, 3]);
        bench.expect_no_findings();
    }
}

#[test]
fn a_true_declaration_is_decided_without_a_warning() {
    let k = right::Kernels::load(&device()).unwrap();
    let checked = k.checked();
    assert_eq!(checked.warnings().count(), 0);
    assert_eq!(
        checked.to_string(),
        "copy\n  n: u64  a value\n  x: &[u32]  read, 4 bytes at once\n  y: &mut [u32]  written, 4 bytes at once\n"
    );
}

#[test]
fn what_is_doubtful_loads_and_is_told_by_checked_and_by_inspect() {
    let device = device();
    let k = doubtful::Kernels::load(&device).unwrap();
    let warnings: Vec<_> = k.checked().warnings().map(|(kernel, warning)| (&*kernel.name, warning.kind)).collect();
    assert_eq!(warnings, [("copy", WarningKind::NeverWritten)]);
    let (mut x, mut y) = (device.zeros::<u32>(3).unwrap(), device.zeros::<u32>(3).unwrap());
    let report = device.graph().inspect(k.copy(&mut x, &mut y)).unwrap();
    assert_eq!(report.nodes[0].warnings, ["`x: &mut [u32]` is never written"]);
    assert!(report.to_string().contains("    warning: `x: &mut [u32]` is never written\n"), "{report}");
    #[cfg(feature = "json")]
    assert_eq!(dacapo::inspect::Report::from_json(&report.to_json()), Ok(report));
    // Without a warning there is no word of them, so that a report is what it was.
    let k = right::Kernels::load(&device).unwrap();
    let report = device.graph().inspect(k.copy(&x, &mut y)).unwrap();
    assert!(!report.to_string().contains("warning"));
    #[cfg(feature = "json")]
    assert!(!report.to_json().contains("warning"));
    let k = narrow::Kernels::load(&device).unwrap();
    assert_eq!(k.checked().warnings().map(|(_, warning)| warning.kind).collect::<Vec<_>>(), [WarningKind::Narrow]);
}

#[test]
fn an_unchecked_parameter_is_let_be_and_said_to_be() {
    let k = let_be::Kernels::load(&device()).unwrap();
    let params = &k.checked().kernels[0].params;
    assert_eq!(params[2].found, Found::Unchecked);
    assert_eq!(params[1].found.to_string(), "read, 4 bytes at once");
}

#[test]
fn a_form_that_is_not_known_loads_and_is_not_decided() {
    let k = unknown::Kernels::load(&device()).unwrap();
    let kernel = &k.checked().kernels[0];
    let why = kernel.not_decided.as_deref().unwrap_or_default();
    assert_eq!(why, "`wgmma.fence.sync.aligned` is not a form that is known, line 44 of the PTX");
    assert!(matches!(kernel.params[0].found, Found::NotDecided { .. }));
    assert_eq!(kernel.warnings, []);
}

#[test]
fn a_store_that_may_go_elsewhere_is_not_decided_and_one_that_cannot_is_refused() {
    let device = device();
    let k = either_way::Kernels::load(&device).unwrap();
    let params = &k.checked().kernels[0].params;
    assert!(matches!(params[0].found, Found::NotDecided { .. }), "{:?}", params[0]);
    assert_eq!(params[1].found.to_string(), "written, 4 bytes at once");
    let (found, _) = refused(both_read::Kernels::load(&device));
    assert_eq!(said(&found), [("x", "x: &[u32]", "x: &mut [u32]"), ("y", "y: &[u32]", "y: &mut [u32]")]);
}

#[test]
fn a_text_of_run_time_is_held_against_the_declaration_too() {
    let device = device();
    let other = COPY.replace("st.global.u32 [%rd7], %r2;", "ld.global.u32 %r2, [%rd7];");
    // SAFETY: nothing of it is launched.
    let k = unsafe { right::Kernels::load_ptx(&device, &other) }.unwrap();
    let kinds: Vec<_> = k.checked().warnings().map(|(_, warning)| warning.kind).collect();
    assert_eq!(kinds, [WarningKind::NeverWritten]);
    let swapped =
        COPY.replace("[%rd6];", "[%rd8];").replace("[%rd7], %r2;", "[%rd6], %r2;").replace("[%rd8]", "[%rd7]");
    // SAFETY: as above.
    let (found, _) = refused(unsafe { right::Kernels::load_ptx(&device, &swapped) });
    assert_eq!(said(&found), [("x", "x: &[u32]", "x: &mut [u32]")]);
}

/// Addresses that are put together of halves: one that was loaded, and a parameter that was taken apart; each with an offset
/// in bytes that is declared as a value.
const HALVES: &str = ".version 8.4 .target sm_80 .address_size 64
.visible .entry loaded(.param .u64 table, .param .u64 offset) {
    .reg .b32 %r<4>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [offset];
    ld.global.v2.u32 {%r1, %r2}, [%rd1]; mov.b64 %rd3, {%r1, %r2};
    add.s64 %rd4, %rd3, %rd2; ld.global.u32 %r3, [%rd4]; st.global.u32 [%rd1], %r3; ret;
}
.visible .entry apart(.param .u64 x, .param .u64 offset) {
    .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [offset];
    shr.u64 %rd3, %rd1, 32; cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd3; mov.b64 %rd4, {%r1, %r2};
    add.s64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], 1; ret;
}";

#[test]
fn an_offset_beside_an_address_of_halves_is_no_address() {
    dacapo::kernels! {
        unsafe struct Halves(HALVES) {
            fn loaded(offset_of: &mut [u64], offset: u64) {
                grid: exact([1, 1, 1], [1, 1, 1]);
            }
            fn apart(x: &mut [u32], offset: u64) {
                grid: exact([1, 1, 1], [1, 1, 1]);
            }
        }
    }
    Halves::load(&device()).unwrap();
}

#[test]
fn every_wrong_declaration_is_found_and_the_true_one_beside_it_loads_without_a_word() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises/wrong");
    let (files, found) = wrong::run(&folder).unwrap();
    assert!(files >= 50, "{files}");
    assert_eq!(found, files, "those that are not are printed");
}

/// What is said of a kernel `k` of this body, of parameters `x`, `y` and `n`, under a declaration.
fn words_for(declared_as: &str, params: &str, body: &str) -> Vec<String> {
    let registers = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;";
    let loads = "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];";
    let text = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 one;\n.visible .global .align 4 \
         .u32 two;\n.visible .entry k({params})\n{{ {registers}\n{loads}\n{body}\nret; }}\n"
    );
    let (list, state) = declared_as.split_once("; state: ").unwrap_or((declared_as, ""));
    let state = state.split(", ").filter(|name| !name.is_empty()).map(String::from).collect();
    let params = declared::params(list).unwrap();
    let kernel = declared::Declaration { name: "kernel".into(), entry: "k".into(), params, state };
    let (checked, lies) = dacapo::__private::check_text(&text, &[kernel.leak()]);
    assert_eq!(checked.kernels[0].not_decided, None);
    let warnings = checked.warnings().map(|(_, warning)| warning.text.clone());
    lies.iter().map(FalseDeclaration::to_string).chain(warnings).collect()
}

#[test]
fn each_kind_of_finding_has_its_words_and_the_line_that_says_most() {
    let two = ".param .u64 x, .param .u64 y";
    let three = ".param .u64 x, .param .u64 y, .param .s32 n";
    let add = "red.global.add.u32 [%rd1], 1;\nst.global.u32 [%rd2], 1;";
    assert_eq!(
        words_for("x: &[u32], y: &u32", two, add),
        [
            "`kernel` changes 4 bytes at once through `x` (line 10 of the PTX); declared is `x: &[u32]`, true would be \
             `x: &mut [u32]`",
            "`kernel` writes 4 bytes through `y` (line 11 of the PTX); declared is `y: &u32`, true would be `y: &mut u32`"
        ]
    );
    // The first that reads, unless one writes; the first of those then.
    let reads = "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd2], %r1;";
    assert_eq!(
        words_for("x: u64, y: &mut [u32]", two, reads),
        ["`kernel` reads 4 bytes at an address that is `x` (line 10 of the PTX); declared is `x: u64`, true would be \
          `x: &[u32]`"]
    );
    let writes = "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+8], %r1;\n\
                  ld.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd2], %r2;";
    assert_eq!(
        words_for("x: u64, y: &mut [u32]", two, writes),
        [
            "`kernel` writes 4 bytes at an address that is `x` (line 11 of the PTX); declared is `x: u64`, true would be \
          `x: &mut [u32]`"
        ]
    );
    let counts = "ld.param.s32 %r1, [n];\nsetp.ge.s32 %p1, %r1, 4;\n@%p1 bra END;\nld.global.u32 %r2, [%rd1];\n\
                  st.global.u32 [%rd2], %r2;\nEND:";
    assert_eq!(
        words_for("x: &[u32], y: &mut [u32], n: f32", three, counts),
        ["`kernel` takes `n` as a whole number of 32 bits, and uses it as no other (line 6 of the PTX); declared is \
          `n: f32`, true would be `n: i32`"]
    );
    let globals =
        "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd2], %r1;\nst.global.u32 [one], 1;\nst.global.u32 [two], 1;";
    assert_eq!(
        words_for("x: &[u32], y: &mut [u32]; state: one", two, globals),
        ["`kernel` writes 4 bytes of the global `two` (line 13 of the PTX); declared is `state: one`, true would be \
          `state: one, two`"]
    );
    let scaled = "mul.lo.u64 %rd3, %rd2, 4;\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], 1;";
    assert_eq!(
        words_for("x: &mut [u32], y: &[u32]", two, scaled),
        ["`kernel` uses `y` as a number, and no address is made of it (line 10 of the PTX); declared is `y: &[u32]`, \
          true would be `y: u64`"]
    );
    let table = "ld.global.u64 %rd3, [%rd1];\nst.global.u32 [%rd3], 1;\nst.global.u32 [%rd2], 1;";
    assert_eq!(
        words_for("x: &[u64], y: &mut [u32]", two, table),
        [
            "writes 4 bytes at an address that came out of memory, through `x`: what is there is not declared, line 11 of the \
          PTX"
        ]
    );
    assert_eq!(words_for("unchecked x: &[u64], y: &mut [u32]", two, table), [] as [String; 0]);
    let nowhere =
        "mov.u64 %rd3, 4096;\nld.global.u32 %r1, [%rd3];\nld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd2], %r1;";
    assert_eq!(
        words_for("x: &[u32], y: &mut [u32]", two, nowhere),
        ["reads 4 bytes at an address that comes from no parameter: what is there is not declared, line 11 of the PTX"]
    );
    let copies = "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;";
    let pairs = [
        ("x: &[f64], y: &mut [f32]", "`x: &[f64]` has elements of 8 bytes, and no access is wider than 4"),
        ("x: &mut [f32], y: &mut [f32]", "`x: &mut [f32]` is never written"),
        ("x: &out [f32], y: &mut [f32]", "`x: &out [f32]` is never written"),
    ];
    for (declared_as, warning) in pairs {
        let body = if declared_as.contains("f64") { copies.replace("[%rd1]", "[%rd1+4]") } else { copies.into() };
        assert_eq!(words_for(declared_as, two, &body), [warning]);
    }
    let unread = "st.global.f32 [%rd2], 0f00000000;";
    assert_eq!(words_for("x: &[f32], y: &mut [f32]", two, unread), ["`x: &[f32]` is never read"]);
    // Memory of the kernel's own stays its own, also where the offset was loaded.
    let own = ".shared .align 4 .b8 box[64];\nld.global.u64 %rd3, [%rd1];\nmov.u64 %rd4, box;\ncvta.shared.u64 %rd5, %rd4;\n\
               add.s64 %rd6, %rd5, %rd3;\nst.u32 [%rd6], 1;\nst.global.u32 [%rd2], 1;";
    assert_eq!(words_for("x: &[u64], y: &mut [u32]", two, own), [] as [String; 0]);
}

/// A driver may know a text that the library does not: it loads, and what was not looked into says why.
#[test]
fn a_text_that_cannot_be_read_is_not_decided_with_the_first_thing_that_is_wrong_in_it() {
    let params = declared::params("x: &[u32], n: u32").unwrap();
    let kernel = declared::Declaration { name: "k".into(), entry: "k".into(), params, state: Vec::new() };
    let (checked, lies) = dacapo::__private::check_text("what is this", &[kernel.leak()]);
    let why = checked.kernels[0].not_decided.as_deref().unwrap_or_default();
    assert!(lies.is_empty() && why.starts_with("the PTX could not be read: error"), "{why}");
    assert_eq!(checked.to_string(), format!("k: not decided: {why}\n  x: &[u32]\n  n: u32  a value\n"));
}

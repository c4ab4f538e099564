//! Texts and containers for the cases of links, images and libraries.

use dacapo_sim::fatbin::{Packing, Written, write};

const HEAD: &str = ".version 8.0\n.target sm_70\n.address_size 64\n";

/// Calls `f`, reads `v`, and neither: what a kernel may do.
pub(super) const CALL: &str = "{ .param .b32 r; call.uni (r), f, (); ld.param.b32 %r1, [r]; }";
pub(super) const READ: &str = "ld.global.u32 %r1, [v];";
pub(super) const ZERO: &str = "mov.u32 %r1, 0;";

/// Containers that NVIDIA's `fatbinary` made; their `k` stores 7.
pub(super) const PACKED: [(&str, &[u8]); 3] = [
    ("a container", include_bytes!("../../../../sim/tests/fatbin/plain.fatbin")),
    ("a container with LZ4", include_bytes!("../../../../sim/tests/fatbin/lz4.fatbin")),
    ("a container with zstd", include_bytes!("../../../../sim/tests/fatbin/zstd.fatbin")),
];

/// A text of declarations.
pub(super) fn with(declarations: &str) -> String {
    format!("{HEAD}{declarations}")
}

/// A kernel that stores what `body` leaves in `%r1`.
pub(super) fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 out) {{
            .reg .b64 %rd<9>; .reg .b32 %r<9>; ld.param.u64 %rd1, [out]; {body} st.global.u32 [%rd1], %r1; ret;
        }}\n"
    )
}

/// A text whose `k` stores `value`.
pub(super) fn alone(value: u32) -> String {
    with(&kernel("k", &format!("mov.u32 %r1, {value};")))
}

/// A text whose `k` calls `f` of another text.
pub(super) fn caller() -> String {
    with(&format!(".extern .func (.param .b32 r) f();\n{}", kernel("k", CALL)))
}

/// A text whose `k` reads `v`, which `declaration` declares.
pub(super) fn reader(declaration: &str) -> String {
    with(&format!("{declaration}\n{}", kernel("k", READ)))
}

/// A text with a function that gives `value`.
pub(super) fn function(linkage: &str, name: &str, value: u32) -> String {
    with(&format!(
        "{linkage} .func (.param .b32 r) {name}() {{
            .reg .b32 %r<2>; mov.u32 %r1, {value}; st.param.b32 [r], %r1; ret;
        }}\n"
    ))
}

/// A text that does not compile.
pub(super) fn bad() -> String {
    with(".visible .entry k(.param .u64 out) { nonsense.b32 ; }\n")
}

/// A container of texts: architecture, flags, text.
pub(super) fn container(entries: &[(u32, u64, &str)]) -> Vec<u8> {
    let terminated: Vec<String> = entries.iter().map(|(_, _, text)| format!("{text}\0")).collect();
    let written = entries.iter().zip(&terminated).map(|(&(architecture, flags, _), text)| Written {
        kind: 1,
        architecture,
        flags,
        name: "",
        stored: text.as_bytes(),
        packing: Packing::Plain,
    });
    write(&written.collect::<Vec<_>>())
}

//! What the fuzzer loads, and the names it asks for.

/// Kernels that end well, write where they are told, fault, trap, assert nothing, run long, and set a condition.
pub(super) const PTX: &str = include_str!("kernels.ptx");

/// A text that shares no name with that one, to be linked with it.
const ALONE: &str = ".version 8.0
.target sm_75
.address_size 64
.visible .entry alone() { ret; }
";

/// Names that kernels, variables and symbols have, and names that nothing has.
pub(super) const NAMES: &[&str] = &[
    "store",
    "add",
    "fault",
    "trap",
    "spin",
    "shared",
    "choose",
    "counter",
    "table",
    "both",
    "cuInit",
    "cuMemAlloc",
    "nothing",
    "",
    "st\u{f6}re",
];

/// An image from a number: most are whole.
pub(super) fn image(choice: u64, cut: usize) -> Vec<u8> {
    let whole = PTX.as_bytes();
    match choice {
        0 => whole[..cut % whole.len()].to_vec(),
        1 => b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xbe\0".to_vec(),
        2 => b"\x50\xed\x55\xba\x01\0\x10\0".to_vec(),
        3 => Vec::new(),
        4 => PTX.replace("sm_75", "sm_120").into_bytes(),
        10 => ALONE.as_bytes().to_vec(),
        5 => PTX.replace("add.u32", "add.u33").into_bytes(),
        _ => whole.to_vec(),
    }
}

//! Every opcode that PTX has, whether we decode it or not.
//!
//! A word that is none of these is a mistake in the text, and the assembler says so too; a word that is one of them
//! and has no row in the table is merely unsupported. The names are those of the instruction chapters of the PTX
//! ISA manual, version 9.0; text for a newer version is refused by the driver before it comes to its opcodes.

/// The opcodes, in alphabetical order.
#[rustfmt::skip]
const OPCODES: &[&str] = &[
    "abs", "activemask", "add", "addc", "alloca", "and", "applypriority", "atom", "bar", "barrier", "bfe", "bfi", "bfind", "bmsk",
    "bra", "brev", "brkpt", "brx", "call", "clusterlaunchcontrol", "clz", "cnot", "copysign", "cos", "cp", "createpolicy", "cvt",
    "cvta", "discard", "div", "dp2a", "dp4a", "elect", "ex2", "exit", "fence", "fma", "fns", "getctarank", "griddepcontrol",
    "isspacep", "istypep", "ld", "ldmatrix", "ldu", "lg2", "lop3", "mad", "mad24", "madc", "mapa", "match", "max", "mbarrier",
    "membar", "min", "mma", "mov", "movmatrix", "mul", "mul24", "multimem", "nanosleep", "neg", "not", "or", "pmevent", "popc",
    "prefetch", "prefetchu", "prmt", "rcp", "red", "redux", "rem", "ret", "rsqrt", "sad", "selp", "set", "setmaxnreg", "setp",
    "shf", "shfl", "shl", "shr", "sin", "slct", "sqrt", "st", "stackrestore", "stacksave", "stmatrix", "sub", "subc", "suld",
    "suq", "sured", "sust", "szext", "tanh", "tcgen05", "tensormap", "testp", "tex", "tld4", "trap", "txq", "vabsdiff",
    "vabsdiff2", "vabsdiff4", "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2",
    "vmin4", "vote", "vset", "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "wgmma", "wmma", "xor",
];

/// Whether PTX has an instruction of this name.
pub(crate) fn is_opcode(name: &str) -> bool {
    OPCODES.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_every_opcode_of_the_table() {
        assert!(OPCODES.is_sorted());
        for row in crate::supported_forms() {
            let opcode = row.pattern.split(['.', '{', '[', '(']).next().unwrap_or_default();
            assert!(is_opcode(opcode), "{}", row.pattern);
        }
        assert!(!is_opcode("bogus"));
    }
}

//! The PTX of `kernels/`, embedded: a binary that runs the corpus needs no other file.

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        /// Every module by name, with its PTX.
        pub const MODULES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../kernels/ptx/", $name, ".ptx")))),*];
    };
}

modules! {
    "activations", "activations.compute_90", "activations.compute_90.fast", "activations.fast", "approx",
    "arith_f32", "arith_f32.compute_90", "arith_f64", "atomics", "attention", "attention.compute_90", "barriers",
    "bf16", "constant", "control", "control.compute_80", "control.compute_90", "convert", "convert.compute_80",
    "cooperative", "cooperative.compute_90", "cross_entropy", "embedding", "functions", "functions.compute_90",
    "gru", "half", "half.compute_90", "integer", "integer.compute_90", "linear", "matmul", "matmul.compute_80",
    "matmul.compute_90.fast", "matvec", "memory_model", "mma", "norm", "norm.compute_75.fast", "norm.compute_90",
    "norm.fast", "optimiser", "parameters", "philox", "predicates", "reduce", "reduce.compute_80",
    "reduce.compute_90", "redux", "rope", "saxpy", "saxpy.compute_90", "saxpy.compute_90.fast", "scan",
    "scan.compute_75.fast", "scan.compute_80", "shared", "softmax", "softmax.compute_90", "softmax.compute_90.fast",
    "softmax.fast", "transpose", "transpose.compute_75.fast", "vector", "vector.compute_90", "warp",
    "warp.compute_80", "wide", "wide.compute_90",
}

/// Modules that no GPU has run yet. Their cases run on the software driver and are recorded with all others the next time; until
/// then they are held against nothing, and counted. Who commits a recording takes them out of this list: a test says so.
pub const AWAITED: &[&str] = &[];

/// Modules that are another compilation of the source of the second one: for another architecture, or with fast maths.
/// They run the same cases.
pub const VARIANTS: &[(&str, &str)] = &[
    ("activations.compute_90", "activations"),
    ("activations.compute_90.fast", "activations.fast"),
    ("arith_f32.compute_90", "arith_f32"),
    ("attention.compute_90", "attention"),
    ("control.compute_80", "control"),
    ("control.compute_90", "control"),
    ("convert.compute_80", "convert"),
    ("cooperative.compute_90", "cooperative"),
    ("functions.compute_90", "functions"),
    ("half.compute_90", "half"),
    ("integer.compute_90", "integer"),
    ("matmul.compute_80", "matmul"),
    ("matmul.compute_90.fast", "matmul"),
    ("norm.compute_75.fast", "norm.fast"),
    ("norm.compute_90", "norm"),
    ("reduce.compute_80", "reduce"),
    ("reduce.compute_90", "reduce"),
    ("saxpy.compute_90", "saxpy"),
    ("saxpy.compute_90.fast", "saxpy"),
    ("scan.compute_75.fast", "scan"),
    ("scan.compute_80", "scan"),
    ("softmax.compute_90", "softmax"),
    ("softmax.compute_90.fast", "softmax.fast"),
    ("transpose.compute_75.fast", "transpose"),
    ("vector.compute_90", "vector"),
    ("warp.compute_80", "warp"),
    ("wide.compute_90", "wide"),
];

/// The PTX of a module.
pub fn ptx(module: &str) -> Option<&'static str> {
    MODULES.iter().find(|(name, _)| *name == module).map(|(_, ptx)| *ptx)
}

#[cfg(test)]
mod tests {
    use super::MODULES;

    #[test]
    fn every_committed_ptx_file_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/ptx");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.trim_end_matches(".ptx").to_string())
            .collect();
        files.sort();
        let names: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
        assert_eq!(files, names);
    }
}

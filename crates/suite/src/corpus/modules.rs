//! The PTX of `kernels/`, embedded: a binary that runs the corpus needs no other file.

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        /// Every module by name, with its PTX.
        pub const MODULES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../kernels/ptx/", $name, ".ptx")))),*];
    };
}

modules! {
    "activations", "activations.fast", "approx", "arith_f32", "arith_f64", "atomics", "attention", "barriers",
    "constant", "convert", "cross_entropy", "embedding", "functions", "gru", "integer", "linear", "matmul", "matvec",
    "memory_model", "norm", "norm.fast", "optimiser", "parameters", "philox", "predicates", "reduce", "redux", "rope",
    "saxpy", "scan", "shared", "softmax", "softmax.fast", "transpose", "vector", "warp",
}

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

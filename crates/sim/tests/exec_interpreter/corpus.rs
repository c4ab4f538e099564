//! The kernels of the `kernels` folder: all of them decode.

use std::sync::Arc;

use dacapo_sim::exec::Program;

#[test]
fn every_kernel_of_the_folder_decodes() {
    let folder = format!("{}/tests/kernels", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    let mut refused = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|e| e != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let module = dacapo_ptx::parse(&text).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let program = Arc::new(Program::new(module, &name));
        for (id, info) in program.kernels() {
            count += 1;
            refused.extend(program.unsupported(id).into_iter().map(|f| format!("{}: {f}", info.name)));
        }
    }
    assert!(count > 100, "only {count} kernels");
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

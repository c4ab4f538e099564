//! Reads PTX files and says what is wrong with them and what in them is not supported.
//!
//! `cargo run -p dacapo-ptx --example check -- a.ptx b.ptx`

use std::collections::BTreeMap;

fn main() {
    let mut failed = 0;
    let mut total = 0;
    let mut unsupported: BTreeMap<String, usize> = BTreeMap::new();
    let begin = std::time::Instant::now();
    let mut bytes_read = 0;
    for path in std::env::args().skip(1) {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{path}: {error}");
                failed += 1;
                continue;
            }
        };
        total += 1;
        bytes_read += bytes.len();
        match dacapo_ptx::parse_bytes(&bytes) {
            Ok(module) => {
                for entry in module.functions.iter().flat_map(|f| &f.unsupported) {
                    *unsupported.entry(entry.why.clone()).or_default() += 1;
                }
            }
            Err(errors) => {
                failed += 1;
                println!("{}\n", errors.render(&path));
            }
        }
    }
    for (why, count) in &unsupported {
        println!("{count:6}  {why}");
    }
    println!("{total} files, {failed} with errors, {bytes_read} bytes, {} ms", begin.elapsed().as_millis());
    std::process::exit(i32::from(failed > 0));
}

//! A short soak, on the software device: threads share graphs, graphs are dropped and recorded again, nothing leaks.

use std::process::Command;

#[test]
fn nothing_leaks_and_every_number_is_right() {
    for seed in ["0", "1"] {
        let output = Command::new(env!("CARGO_BIN_EXE_dacapo"))
            .args(["soak", "--device", "software", "--replays", "10000", "--seed", seed])
            .output()
            .expect("the program starts");
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}{complained}");
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("soak: 10000 replays, ") && last.contains("nothing leaked"), "{said}");
        // Twelve graphs to begin with; one more for each 500 replays of one.
        let recordings: u32 = last.split(", ").nth(1).and_then(|part| part.split(' ').next()?.parse().ok()).unwrap();
        assert!(recordings > 16, "{said}");
    }
}

//! The program as a user runs it, on the software device.

#[test]
fn every_form_gives_the_same_results() {
    let program = env!("CARGO_BIN_EXE_dacapo-example-port");
    let output = std::process::Command::new(program).args(["--device", "software"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().filter(|line| line.starts_with("ok  ")).count(), 4, "{text}");
}

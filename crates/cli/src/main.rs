//! The program `dacapo`.
fn main() {}

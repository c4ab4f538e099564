//! What a contributor runs that is not plain cargo.
fn main() {}

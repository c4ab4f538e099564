//! The README's examples, compiled and run as tests. Here, beside the PTX that they include.
#![doc = include_str!("../../../README.md")]

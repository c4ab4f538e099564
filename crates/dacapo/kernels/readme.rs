//! The examples of the package's README, compiled and run as tests. Here, beside the PTX that they include.
#![doc = include_str!("../README.md")]

//! The examples of the repository's documents, compiled and run as tests. In a folder of its own: the README's example
//! includes `saxpy.ptx`, which lies here too.

#[doc = include_str!("../../../../README.md")]
struct Readme;

#[doc = include_str!("../../../../docs/software-driver.md")]
struct SoftwareDriver;

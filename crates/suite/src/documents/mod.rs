//! The examples of the repository's documents, compiled and run as tests. The README's is in `tests/outside/readme`.

#[doc = include_str!("../../../../docs/software-driver.md")]
struct SoftwareDriver;

#[doc = include_str!("../../../../docs/several-gpus.md")]
struct SeveralGpus;

//! Models of the ledger: small programs of two or three threads, in every interleaving that loom tells apart.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p dacapo-ledger --release --test loom -- --nocapture
//! ```
//!
//! Enqueue, record and wait are steps on a queue that keeps vector clocks. Checked in each interleaving: conflicting
//! accesses are ordered; an event never comes before the work it stands for; nothing is released before its last use;
//! no thread waits for ever. Nothing is bounded but the programs; their number of interleavings is printed.
#![cfg(loom)]
#![allow(missing_docs, reason = "a test binary")]

mod device;
mod models;

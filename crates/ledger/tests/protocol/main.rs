//! What a user of the ledger can rely on, one sentence a test, on a device that only writes down what it is told.
#![allow(missing_docs, reason = "a test binary")]

mod beside;
mod device;
mod economy;
mod failures;
mod order;
mod releases;
mod writers;

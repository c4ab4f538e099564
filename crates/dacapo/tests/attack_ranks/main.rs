//! What a stranger tries on ranks and on copies between devices, in safe code, with every detector on.
//!
//! Every test ends in bounded time: one that hangs is failed by its watch.
#![cfg(all(feature = "software", feature = "nccl", feature = "json"))]

mod copies;
mod endings;
mod items;
mod kit;
mod lifetimes;
mod numbers;
mod panics;
mod random;
mod recordings;
mod siblings;
mod threads;
mod unwritten;

//! What a kernel may touch, as whoever launches it has declared it: told to drivers that look. No C call.
//!
//! A library that knows which memory an op was given says so around the call that hands the kernel over
//! ([`Driver::declare`](crate::Driver::declare)). The software driver holds every access of the kernel against it.
//! NVIDIA's does not want to know, and is never told.

use std::panic::Location;

use crate::types::{CUgraphExec, CUgraphNode};

/// Which kernels a declaration is about.
#[derive(Clone, Copy, Debug)]
pub enum DeclaredOf {
    /// Those that the calling thread launches, adds to graphs, or sets on nodes of graphs from now on, until it says
    /// something else.
    Next,
    /// The one that a node of an executable graph has now.
    Node(CUgraphExec, CUgraphNode),
}

/// What one kernel may touch, and who says so.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// The op, as the program calls it.
    pub op: &'a str,
    /// Its label; empty if it has none.
    pub label: &'a str,
    /// The line of the program that made it.
    pub at: &'static Location<'static>,
    /// All the memory that it was given.
    pub slices: &'a [DeclaredSlice<'a>],
}

/// A range of memory that a kernel was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredSlice<'a> {
    /// The parameter, or the global of the module.
    pub name: &'a str,
    /// Where it begins.
    pub address: u64,
    /// How long it is.
    pub bytes: u64,
    /// What may be done with it.
    pub mode: DeclaredMode,
    /// Whether it may be touched before the kernel has executed a `griddepcontrol.wait` that it has.
    pub early: bool,
}

/// What a kernel may do with memory that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclaredMode {
    /// Read it: `&`.
    Read,
    /// Read and write it: `&mut`, and globals named by `state`.
    Write,
    /// Write all of it: `&out`.
    Out,
}

impl DeclaredMode {
    /// Whether it may be written.
    pub fn writes(self) -> bool {
        self != DeclaredMode::Read
    }
}

//! Whose work it is, and what a kernel may touch, as whoever launches it has declared it: told to drivers that look. No C
//! call.
//!
//! A library that knows which op a piece of work is, and which memory that was given, says so around the call that hands
//! it over ([`Driver::declare`](crate::Driver::declare)). The software driver names the op in what it finds, and holds every
//! access of a kernel against the memory. NVIDIA's does not want to know, and is never told.

use std::panic::Location;

use crate::types::{CUgraphExec, CUgraphNode};

/// Which work a declaration is about: kernels, copies, sets, and conditional nodes.
#[derive(Clone, Copy, Debug)]
pub enum DeclaredOf {
    /// What the calling thread launches, adds to graphs, or sets on nodes of graphs from now on, until it says something
    /// else.
    Next,
    /// What a node of an executable graph does now.
    Node(CUgraphExec, CUgraphNode),
}

/// Whose work it is, and what one kernel of it may touch.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// The op, as the program calls it.
    pub op: &'a str,
    /// Its label; empty if it has none.
    pub label: &'a str,
    /// The line of the program that made it.
    pub at: &'static Location<'static>,
    /// All the memory that it was given, if its kernels are to be held against that: `None` for what is no kernel, and for
    /// work of another library, of which only the op is known.
    pub slices: Option<&'a [DeclaredSlice<'a>]>,
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

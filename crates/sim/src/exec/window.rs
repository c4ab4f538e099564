//! Where the state spaces lie among generic addresses.
//!
//! Shared, local and parameter memory have windows above everything that a process or a device can be given, so
//! that a generic address tells its space. Global and constant memory are themselves.

/// Start of the window of shared memory.
pub(super) const SHARED: u64 = 0x0001_0000_0000_0000;
/// Start of the window of local memory.
pub(super) const LOCAL: u64 = 0x0002_0000_0000_0000;
/// Start of the window of kernel parameters.
pub(super) const PARAM: u64 = 0x0004_0000_0000_0000;
/// Start of the addresses of functions.
pub(super) const CODE: u64 = 0x0005_0000_0000_0000;
/// Each window ends before this distance from its start.
pub(super) const SPAN: u64 = 0x0000_8000_0000_0000;
/// Everything below is global.
pub(super) const GLOBAL_END: u64 = SHARED;

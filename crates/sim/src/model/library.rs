//! Libraries, their kernels, and links in progress: objects of the process, which no context owns.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_ptx::link::Gathered;

use super::objects::{Context, Module};
use super::table::Key;
use crate::calls::log::Logs;
use crate::exec::Program;

/// A library: a program, which becomes a module in each context that uses it.
pub(crate) struct Library {
    /// What came of compiling it; a code is answered to whoever wants something of it.
    pub(crate) program: Result<Arc<Program>, CUresult>,
    /// Its modules. One whose context is gone is made anew, and its variables have their first values again.
    pub(crate) modules: BTreeMap<Key<Context>, Key<Module>>,
    /// By name.
    pub(crate) kernels: BTreeMap<String, Key<Kernel>>,
}

/// A kernel of a library, in no context yet.
pub(crate) struct Kernel {
    pub(crate) library: Key<Library>,
    pub(crate) name: CString,
}

/// A link in progress.
#[derive(Default)]
pub(crate) struct Link {
    /// The texts that were added, parsed and as they were.
    pub(crate) texts: Gathered,
    pub(crate) sources: Vec<Vec<u8>>,
    /// An input that ended it: every `cuLinkComplete` answers so.
    pub(crate) failed: Option<CUresult>,
    /// It was completed, whatever came of it.
    pub(crate) is_over: bool,
    /// What was handed out; it lives as long as the link.
    pub(crate) image: Option<Box<[u8]>>,
    pub(crate) logs: Logs,
    /// What the log says so far.
    pub(crate) log: String,
}

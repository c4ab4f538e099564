//! Canonical names: what a transcript calls handles and addresses, so that it does not depend on the run.
//!
//! - A handle is named by its kind and the order in which the case met it: `stream#1`, `graph#2`.
//! - An address is named by the memory it lies in: `mem#3+0x40`.
//! - Something new gets a new name even when the driver hands out an old number again; whether it did is a question that
//!   a case asks in so many words.

use std::collections::HashMap;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};

/// What has been named in one case.
#[derive(Default)]
pub(super) struct Names {
    counts: HashMap<&'static str, usize>,
    handles: HashMap<(&'static str, u64), String>,
    /// First address, bytes, name; the youngest last.
    regions: Vec<(u64, u64, String)>,
}

impl Names {
    fn next(&mut self, kind: &'static str) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        format!("{kind}#{count}")
    }

    /// Names a handle that was just made.
    pub fn new_handle(&mut self, kind: &'static str, bits: u64) -> String {
        let name = self.next(kind);
        self.handles.insert((kind, bits), name.clone());
        name
    }

    /// Gives a handle this very name.
    pub fn call_it(&mut self, kind: &'static str, bits: u64, name: &str) {
        self.handles.insert((kind, bits), name.to_string());
    }

    /// The name of a handle; one that was not seen before is named now.
    pub fn handle(&mut self, kind: &'static str, bits: u64) -> String {
        match (bits, self.handles.get(&(kind, bits))) {
            (_, Some(name)) => name.clone(),
            (0, None) => format!("no {kind}"),
            _ => self.new_handle(kind, bits),
        }
    }

    /// Names memory that was just made.
    pub fn new_region(&mut self, kind: &'static str, base: u64, bytes: u64) -> String {
        let name = self.next(kind);
        self.regions.push((base, bytes, name.clone()));
        name
    }

    /// What to call an address; a number that lies in no memory stands for itself.
    pub fn address(&self, address: u64) -> String {
        let within = |(base, bytes, _): &&(u64, u64, String)| (*base..=*base + *bytes).contains(&address);
        match self.regions.iter().rev().find(within) {
            Some((base, _, name)) if *base == address => name.clone(),
            Some((base, _, name)) => format!("{name}+{:#x}", address - base),
            None => address.to_string(),
        }
    }
}

/// What can stand in a transcript.
pub(super) trait Told {
    /// Its text, in the names of this case.
    fn told(&self, names: &mut Names) -> String;
}

macro_rules! told_as_number {
    ($($ty:ty)*) => { $(impl Told for $ty {
        fn told(&self, _: &mut Names) -> String {
            self.to_string()
        }
    })* };
}

told_as_number!(u8 u16 u32 i32 usize bool);

impl Told for u64 {
    fn told(&self, names: &mut Names) -> String {
        names.address(*self)
    }
}

impl Told for &str {
    fn told(&self, _: &mut Names) -> String {
        format!("\"{self}\"")
    }
}

impl<T: Told> Told for &[T] {
    fn told(&self, names: &mut Names) -> String {
        let parts: Vec<String> = self.iter().map(|part| part.told(names)).collect();
        format!("[{}]", parts.join(", "))
    }
}

/// A handle that a transcript names, and how to be rid of it.
pub(super) trait Handle: Copy {
    /// What its names begin with.
    const KIND: &'static str;
    /// The handle as a number.
    fn number(self) -> u64;
    /// Gives it back; what the driver answers is not recorded.
    fn discard(self, driver: &dyn Driver) -> CUresult;
}

macro_rules! handles {
    ($($ty:ty, $kind:literal, $destroy:ident;)*) => { $(
        impl Told for $ty {
            fn told(&self, names: &mut Names) -> String {
                names.handle($kind, self.bits())
            }
        }
        impl Handle for $ty {
            const KIND: &'static str = $kind;
            fn number(self) -> u64 {
                self.bits()
            }
            fn discard(self, driver: &dyn Driver) -> CUresult {
                // SAFETY: the case made the handle with this driver and has not destroyed it: see `Case::keep`.
                unsafe { driver.$destroy(self) }
            }
        }
    )* };
}

handles! {
    CUarray, "array", cuArrayDestroy;
    CUevent, "event", cuEventDestroy_v2;
    CUgraph, "graph", cuGraphDestroy;
    CUgraphExec, "exec", cuGraphExecDestroy;
    CUmemoryPool, "pool", cuMemPoolDestroy;
    CUmodule, "module", cuModuleUnload;
    CUlibrary, "library", cuLibraryUnload;
    CUlinkState, "link", cuLinkDestroy;
    CUcontext, "context", cuCtxDestroy_v2;
}

impl Handle for CUstream {
    const KIND: &'static str = "stream";
    fn number(self) -> u64 {
        self.bits()
    }
    fn discard(self, driver: &dyn Driver) -> CUresult {
        // SAFETY: the case made the stream with this driver and has not destroyed it.
        unsafe { driver.cuStreamDestroy_v2(self) }
    }
}

impl Told for CUstream {
    fn told(&self, names: &mut Names) -> String {
        match self.bits() {
            0 => "stream 0".into(),
            1 => "the legacy stream".into(),
            2 => "the per-thread stream".into(),
            bits => names.handle("stream", bits),
        }
    }
}

macro_rules! seen {
    ($($ty:ty, $kind:literal;)*) => { $(impl Told for $ty {
        fn told(&self, names: &mut Names) -> String {
            names.handle($kind, self.bits())
        }
    })* };
}

seen! { CUgraphNode, "node"; CUfunction, "function"; CUkernel, "kernel"; CUuserObject, "object"; }

/// A conditional handle: a number of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition(pub u64);

impl Told for Condition {
    fn told(&self, names: &mut Names) -> String {
        names.handle("condition", self.0)
    }
}

/// Physical memory of the virtual memory calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Physical(pub u64);

impl Told for Physical {
    fn told(&self, names: &mut Names) -> String {
        names.handle("physical", self.0)
    }
}

/// A code without the prefix that all of them share.
pub(super) fn code_name(code: CUresult) -> String {
    let name = code.to_string();
    name.trim_start_matches("CUDA_").trim_start_matches("ERROR_").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_named_by_the_youngest_memory_it_lies_in() {
        let mut names = Names::default();
        names.new_region("mem", 0x1000, 0x100);
        assert_eq!(names.address(0x1040), "mem#1+0x40");
        names.new_region("mem", 0x1000, 0x10);
        assert_eq!((names.address(0x1000), names.address(0x1040)), ("mem#2".into(), "mem#1+0x40".into()));
        assert_eq!(names.address(7), "7");
    }

    #[test]
    fn a_number_handed_out_again_is_something_new() {
        let mut names = Names::default();
        assert_eq!((names.new_handle("graph", 8), names.handle("graph", 8)), ("graph#1".into(), "graph#1".into()));
        assert_eq!((names.new_handle("graph", 8), names.handle("graph", 8)), ("graph#2".into(), "graph#2".into()));
        assert_eq!(names.handle("graph", 0), "no graph");
    }
}

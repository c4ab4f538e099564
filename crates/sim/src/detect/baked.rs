//! What the nodes of a graph name: memory that was freed and whose address was given out again, and pageable memory.
//!
//! - When a graph is instantiated, and when a node's parameters were changed, its addresses are looked up: which
//!   allocation they meant. At every launch they are looked up again. An address that is in another allocation by then,
//!   of another size or under another name, is reported, with both: the node reads or changes memory of a stranger. Of
//!   the same size and without names it is not: who freed memory and got it back may know that the address is right.
//! - A copy node that names pageable memory of the host reads or writes it at every launch, wherever the program is by
//!   then. Whether the memory is still there cannot be seen, so every such node is reported, once.
//!
//! A kernel's arguments have no types: any eight bytes that are an address in an allocation count as one. Memory of
//! allocation nodes and of modules is looked after by others, and left out.

use std::sync::Arc;

use crate::calls::memory::holding;
use crate::finding::{Ending, Finding, FindingOp};
use crate::model::executable::{Body, ExecKind, ExecNode, Executable};
use crate::model::objects::Owner;
use crate::model::table::Key;
use crate::model::work::{CopyMemory, CopyWork, KernelWork, SetWork};
use crate::nccl::CollectiveWork;
use crate::visit::Visit;

/// What one node meant.
pub(crate) struct Meant {
    work: Held,
    named: Vec<Named>,
    told: bool,
}

/// The work that was looked at: its addresses are those as long as it is the same.
#[derive(Clone)]
enum Held {
    Kernel(Arc<KernelWork>),
    Copy(Arc<CopyWork>),
    Set(Arc<SetWork>),
    Collective(Arc<CollectiveWork>),
}

/// An address, and the allocation it was in.
struct Named {
    address: u64,
    id: u64,
    bytes: u64,
    label: String,
    described: String,
}

impl Named {
    /// Is this surely something else than `before`? A program that has freed memory, and has got the same address and size
    /// again, may mean the new one.
    fn is_a_stranger_to(&self, before: &Named) -> bool {
        let other_name = self.label != before.label && !self.label.is_empty() && !before.label.is_empty();
        self.id != before.id && (self.bytes != before.bytes || other_name)
    }
}

impl Held {
    fn of(node: &ExecNode) -> Option<Held> {
        match &node.kind {
            _ if !node.enabled => None,
            ExecKind::Kernel(work) => Some(Held::Kernel(work.clone())),
            ExecKind::Copy(work) => Some(Held::Copy(work.clone())),
            ExecKind::Set(work) => Some(Held::Set(work.clone())),
            ExecKind::Collective(work) => Some(Held::Collective(work.clone())),
            _ => None,
        }
    }

    fn is(&self, other: &Held) -> bool {
        match (self, other) {
            (Held::Kernel(a), Held::Kernel(b)) => Arc::ptr_eq(a, b),
            (Held::Copy(a), Held::Copy(b)) => Arc::ptr_eq(a, b),
            (Held::Set(a), Held::Set(b)) => Arc::ptr_eq(a, b),
            (Held::Collective(a), Held::Collective(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn by(&self) -> Option<&Arc<FindingOp>> {
        match self {
            Held::Kernel(work) => work.by.as_ref(),
            Held::Copy(work) => work.by.as_ref(),
            Held::Set(work) => work.by.as_ref(),
            Held::Collective(work) => work.by(),
        }
    }

    fn addresses(&self) -> Vec<u64> {
        match self {
            Held::Kernel(work) => {
                let words = work.params.chunks_exact(8).filter_map(|word| word.try_into().ok());
                words.map(u64::from_le_bytes).filter(|address| *address != 0).collect()
            }
            Held::Copy(work) => vec![work.source.address, work.target.address],
            Held::Set(work) => vec![work.address],
            Held::Collective(work) => work.ranges().map(|(address, _)| address).collect(),
        }
    }

    fn name(&self) -> String {
        match self {
            Held::Kernel(work) => format!("`{}`", work.function.name.to_string_lossy()),
            Held::Copy(work) => format!("a memcpy of {} bytes", work.extent.iter().product::<u64>()),
            Held::Collective(work) => work.name(),
            Held::Set(work) => format!("a memset of {} bytes", work.width * work.height * u64::from(work.element)),
        }
    }

    /// The side that is pageable memory, if one is.
    fn pageable(&self) -> Option<(&'static str, u64)> {
        let Held::Copy(work) = self else { return None };
        match (work.source.place, work.target.place) {
            (CopyMemory::Pageable, _) => Some(("reads", work.source.address)),
            (_, CopyMemory::Pageable) => Some(("writes", work.target.address)),
            _ => None,
        }
    }
}

fn collect(body: &Body, all: &mut Vec<(u32, Held)>) {
    for node in &body.nodes {
        match &node.kind {
            ExecKind::Child(child) => collect(child, all),
            ExecKind::Conditional(_, _, _, bodies) => bodies.iter().for_each(|body| collect(body, all)),
            _ => all.extend(Held::of(node).map(|held| (node.number, held))),
        }
    }
}

/// What lies at an address and who it is, if that is memory that a program frees.
fn meaning(v: &Visit<'_>, address: u64) -> Option<Named> {
    let (base, seen) = holding(v, address)?;
    let freed_by_programs = matches!(
        seen.owner,
        Owner::Plain | Owner::Managed | Owner::Pool(_) | Owner::HostAllocated { .. } | Owner::HostRegistered { .. }
    );
    freed_by_programs.then(|| {
        let label = v.memory.containing(base).map_or(String::new(), |found| found.label.clone());
        let described = match label.as_str() {
            "" => format!("an allocation of {} bytes at {base:#x}", seen.bytes),
            label => format!("`{label}` ({} bytes at {base:#x})", seen.bytes),
        };
        Named { address, id: seen.id, bytes: seen.bytes, label, described }
    })
}

/// Looks at what the nodes of an executable name, and reports what is not what it was.
pub(crate) fn check(v: &mut Visit<'_>, key: Key<Executable>) {
    let detectors = v.options.detectors;
    if !detectors.freed && !detectors.host_pointers {
        return;
    }
    let mut nodes = Vec::new();
    let Some(exec) = v.executables.get_mut(key) else { return };
    collect(&exec.body, &mut nodes);
    let mut before = std::mem::take(&mut exec.meant).into_iter();
    let is_launch = exec.is_looked_at;
    exec.is_looked_at = true;
    let mut meant = Vec::with_capacity(nodes.len());
    for (at, work) in nodes {
        let mut here = match before.next().filter(|known| known.work.is(&work)) {
            Some(known) => known,
            None => {
                let named = work.addresses().into_iter().filter_map(|address| meaning(v, address)).collect();
                Meant { work, named, told: false }
            }
        };
        if !here.told && is_launch {
            let finding = (detectors.freed.then(|| reused(v, at, &here)).flatten())
                .or_else(|| detectors.host_pointers.then(|| pageable(at, &here)).flatten());
            here.told = finding.is_some();
            finding.into_iter().for_each(|finding| v.find(finding));
        }
        meant.push(here);
    }
    if let Some(exec) = v.executables.get_mut(key) {
        exec.meant = meant;
    }
}

fn reused(v: &Visit<'_>, at: u32, meant: &Meant) -> Option<Finding> {
    let changed = |named: &Named| meaning(v, named.address).filter(|now| now.is_a_stranger_to(named));
    let (named, now) = meant.named.iter().find_map(|named| changed(named).map(|now| (named, now)))?;
    let name = meant.work.name();
    let what = format!("{name} of a replayed graph names memory that was freed, and somebody else has its address now");
    Some(
        Finding::new("reused-address", Ending::YourProgram, what)
            .at(v.call.symbol(), format!("node {at}, {name}, names {:#x}", named.address))
            .by(meant.work.by())
            .note(format!("it was in {}, which was freed", named.described))
            .note(format!("it is in {} now", now.described))
            .help("keep the memory until the last launch, or give the node the new address: cuGraphExecKernelNodeSetParams and its kin"),
    )
}

fn pageable(at: u32, meant: &Meant) -> Option<Finding> {
    let (does, address) = meant.work.pageable()?;
    let name = meant.work.name();
    let what = format!("{name} of a graph {does} pageable memory of the host, at every launch anew");
    Some(
        Finding::new("baked-host-pointer", Ending::YourProgram, what)
            .at("cuGraphLaunch", format!("node {at}, {name}, {does} {address:#x}"))
            .by(meant.work.by())
            .note("a graph keeps the address, not the bytes: what lies there when it runs is what counts")
            .note("whether the memory is still there when the graph runs cannot be seen")
            .help("copy from pinned memory that lives as long as the graph (cuMemHostAlloc), or change the node before each launch"),
    )
}

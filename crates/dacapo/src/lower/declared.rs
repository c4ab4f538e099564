//! Tells a driver that wants to know whose work it is given, and what a kernel may touch: the slices that its op was given.
//!
//! The software driver does: it names the op in what it finds, and looks for accesses outside of the slices. On NVIDIA's
//! driver this is one branch.

use std::panic::Location;

use dacapo_driver::types::{CUgraphExec, CUgraphNode};
use dacapo_driver::{Declared, DeclaredMode, DeclaredOf, DeclaredSlice};
use smallvec::SmallVec;

use crate::device::Device;
use crate::kernel::Args;
use crate::memory::Mode;
use crate::record::Node;

/// Makes a call that hands a kernel over to the driver, with its arguments, whose addresses are filled in.
#[inline]
pub(crate) fn declared<R>(device: &Device, node: &Node, args: &mut Args, call: impl FnOnce(&mut Args) -> R) -> R {
    if device.0.wants_declared { tell_around(device, node, args, call) } else { call(args) }
}

#[cold]
#[inline(never)]
fn tell_around<R>(device: &Device, node: &Node, args: &mut Args, call: impl FnOnce(&mut Args) -> R) -> R {
    let _until_then = TakenBack(device);
    tell(device, DeclaredOf::Next, node, args);
    call(args)
}

/// Makes calls that hand other work of an op over to the driver: no kernel of ours, so nothing is said of memory.
#[inline]
pub(crate) fn named<R>(device: &Device, node: &Node, call: impl FnOnce() -> R) -> R {
    named_as(device, (&node.name, &node.label, node.at), call)
}

/// The same for work that has no node yet: of an op of this name and label, made here.
#[inline]
pub(crate) fn named_as<R>(
    device: &Device,
    op: (&str, &str, &'static Location<'static>),
    call: impl FnOnce() -> R,
) -> R {
    if device.0.wants_declared { name_around(device, op, call) } else { call() }
}

#[cold]
#[inline(never)]
fn name_around<R>(device: &Device, op: (&str, &str, &'static Location<'static>), call: impl FnOnce() -> R) -> R {
    let _until_then = TakenBack(device);
    name(device, DeclaredOf::Next, op);
    call()
}

/// Takes back what was told, also when a call panics: what this thread launches next may be another library's work, of
/// which nothing is known.
struct TakenBack<'d>(&'d Device);

impl Drop for TakenBack<'_> {
    fn drop(&mut self) {
        self.0.driver().declare(DeclaredOf::Next, None);
    }
}

/// Another op has taken over a driver's node, with the same parameters, and so without a call; with arguments, if it is a
/// kernel.
#[cold]
pub(crate) fn declare_kept(device: &Device, exec: CUgraphExec, handle: CUgraphNode, node: &Node, args: Option<&Args>) {
    if device.0.wants_declared {
        let of = DeclaredOf::Node(exec, handle);
        match args {
            Some(args) => tell(device, of, node, args),
            None => name(device, of, (&node.name, &node.label, node.at)),
        }
    }
}

fn name(device: &Device, of: DeclaredOf, (op, label, at): (&str, &str, &'static Location<'static>)) {
    device.driver().declare(of, Some(&Declared { op, label, at, slices: None }));
}

fn tell(device: &Device, of: DeclaredOf, node: &Node, args: &Args) {
    let early = node.early();
    let slice = |(number, access): (usize, &crate::memory::Access)| DeclaredSlice {
        name: access.name,
        // Globals of the module are no arguments.
        address: args.address(number).unwrap_or_else(|| access.place.address()),
        bytes: access.place.bytes as u64,
        early: early.is_none_or(|early| early.contains(&access.name)),
        mode: match access.mode {
            Mode::Read => DeclaredMode::Read,
            Mode::Write => DeclaredMode::Write,
            Mode::Out => DeclaredMode::Out,
        },
    };
    let slices: SmallVec<[DeclaredSlice<'_>; 8]> = node.access.iter().enumerate().map(slice).collect();
    let declared = Declared { op: &node.name, label: &node.label, at: node.at, slices: Some(&slices) };
    device.driver().declare(of, Some(&declared));
}

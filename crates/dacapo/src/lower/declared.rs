//! Tells a driver that wants to know what a kernel may touch: the slices that its op was given.
//!
//! The software driver does, for its detector `undeclared`. On NVIDIA's driver this is one branch.

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
    tell(device, DeclaredOf::Next, node, args);
    let answer = call(args);
    // Taken back at once: what this thread launches next may be another library's work, of which nothing is known.
    device.driver().declare(DeclaredOf::Next, None);
    answer
}

/// Another op has taken over a driver's node, with the same arguments, and so without a call.
#[cold]
pub(crate) fn declare_kept(device: &Device, exec: CUgraphExec, handle: CUgraphNode, node: &Node, args: &Args) {
    if device.0.wants_declared {
        tell(device, DeclaredOf::Node(exec, handle), node, args);
    }
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
    let declared = Declared { op: &node.name, label: &node.label, at: node.at, slices: &slices };
    device.driver().declare(of, Some(&declared));
}

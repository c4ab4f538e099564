//! What the driver is told about one node.

use std::ffi::c_void;
use std::sync::Arc;

use dacapo_driver::types::*;
use smallvec::SmallVec;

use crate::device::Device;
use crate::error::Result;
use crate::kernel::{Grid, Prepared};
use crate::memory::{Access, Allocation, Extent, Kind};
use crate::record::{FillRecipe, Node, NodeParams, Side, Work};
use crate::value::{Readings, Snapshot};

/// Where places are: most are where their allocation is, stand-ins are where a launch has bound them.
pub(crate) trait Resolve {
    /// The place that stands behind this one.
    fn place<'p>(&'p self, place: &'p Extent) -> (u64, u64);

    /// The allocation that stands behind this one.
    fn allocation<'p>(&'p self, allocation: &'p Arc<Allocation>) -> &'p Arc<Allocation> {
        allocation
    }
}

/// Places are where their allocations are.
pub(crate) struct AsAllocated;

impl Resolve for AsAllocated {
    fn place<'p>(&'p self, place: &'p Extent) -> (u64, u64) {
        (place.address(), place.start as u64)
    }
}

/// Of a condition that is not one of a graph.
const NO_HANDLE: u64 = 0;

impl NodeParams {
    /// The parameters of a node with the current slots; none for foreign work, which has no parameters of ours. `handles` are
    /// those of the conditions; without them a node that sets one sets none.
    ///
    /// # Errors
    ///
    /// - A condition or a limit that does not hold (any more).
    pub(crate) fn of(
        device: &Device,
        node: &Node,
        readings: &Readings,
        places: &dyn Resolve,
        handles: &[u64],
        recorded: Option<Prepared>,
    ) -> Result<Option<NodeParams>> {
        let with_addresses = |prepared: Prepared| {
            let mut params = NodeParams::Kernel { prepared };
            params.fill_in(node, places, handles);
            Ok(Some(params))
        };
        // As it was recorded: the slots are those of the recording.
        if let Some(prepared) = recorded {
            return with_addresses(prepared);
        }
        let resolved: SmallVec<[(u64, u64); 4]> = node.access.iter().map(|a| places.place(&a.place)).collect();
        let starts: SmallVec<[u64; 4]> = resolved.iter().map(|(_, start)| *start).collect();
        let snapshot = Snapshot::new(readings, &node.access).bound(&starts);
        let params = match &node.work {
            Work::Kernel(kernel) => return with_addresses(node.prepare(device, kernel, &snapshot)?),
            Work::Copy | Work::Upload(_) | Work::Download(_) => {
                let bytes = node.access[0].place.bytes;
                if is_nothing(node) {
                    return Ok(Some(NodeParams::Nothing));
                }
                let side =
                    |access: &Access, address| Side { address, host: access.place.allocation.kind() == Kind::Host };
                NodeParams::Copy {
                    source: side(&node.access[0], resolved[0].0),
                    target: side(&node.access[1], resolved[1].0),
                    bytes,
                }
            }
            Work::Fill(recipe) => {
                if is_nothing(node) {
                    return Ok(Some(NodeParams::Nothing));
                }
                let (value, size) = fill_value(recipe, &snapshot);
                NodeParams::Fill { target: resolved[0].0, value, size, count: node.access[0].len() }
            }
            Work::Branch(_) => NodeParams::Nothing,
            Work::Foreign(_) | Work::Captured => return Ok(None),
        };
        Ok(Some(params))
    }

    /// Fills in what a kernel's recipe does not know: a guard's arguments, addresses, and handles of conditions.
    pub(crate) fn fill_in(&mut self, node: &Node, places: &dyn Resolve, handles: &[u64]) {
        let (NodeParams::Kernel { prepared }, Work::Kernel(kernel)) = (self, &node.work) else { return };
        if let Some(guard) = &kernel.guard {
            let flag = node.access.last().expect("the flag is the last access of a guarded kernel");
            prepared.args.guard(places.place(&flag.place).0, guard.side);
        }
        let access = &node.access[..];
        prepared.args.resolve(|number| places.place(&access[number].place).0);
        if let Some(sets) = &kernel.sets {
            let handle = |condition: &u32| handles.get(*condition as usize).copied().unwrap_or(NO_HANDLE);
            prepared.args.set_handles(sets.iter().map(handle));
        }
    }
}

/// Whether a copy or a fill has no bytes.
pub(super) fn is_nothing(node: &Node) -> bool {
    node.access.first().is_some_and(|access| access.place.bytes == 0)
}

/// A kernel node's parameters for the driver. A grid without blocks is given one: the node is disabled then.
#[inline]
pub(crate) fn kernel_params(function: CUfunction, grid: Grid, pointers: &mut [*mut c_void]) -> CUDA_KERNEL_NODE_PARAMS {
    let [x, y, z] = if grid.is_empty() { [1; 3] } else { grid.blocks };
    let [tx, ty, tz] = grid.threads;
    CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: x,
        gridDimY: y,
        gridDimZ: z,
        blockDimX: tx,
        blockDimY: ty,
        blockDimZ: tz,
        sharedMemBytes: grid.shared,
        kernelParams: pointers.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: CUkernel::NULL,
        ctx: CUcontext::NULL,
    }
}

/// A copy's parameters for the driver: one row.
pub(crate) fn copy_params(source: Side, target: Side, bytes: usize) -> CUDA_MEMCPY3D {
    let kind = |side: Side| if side.host { CU_MEMORYTYPE_HOST } else { CU_MEMORYTYPE_DEVICE };
    let host = |side: Side| -> *mut c_void {
        let address = if side.host { side.address as usize } else { 0 };
        std::ptr::with_exposed_provenance_mut(address)
    };
    let device = |side: Side| if side.host { 0 } else { side.address };
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: kind(source),
        srcHost: host(source),
        srcDevice: device(source),
        srcArray: CUarray::NULL,
        reserved0: std::ptr::null_mut(),
        srcPitch: 0,
        srcHeight: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: kind(target),
        dstHost: host(target),
        dstDevice: device(target),
        dstArray: CUarray::NULL,
        reserved1: std::ptr::null_mut(),
        dstPitch: 0,
        dstHeight: 0,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}

/// What a fill writes, and how many bytes of it.
pub(crate) fn fill_value(recipe: &FillRecipe, snapshot: &Snapshot<'_>) -> (u32, u32) {
    let bytes = recipe(snapshot);
    let mut value = [0; 4];
    value[..bytes.len()].copy_from_slice(&bytes);
    (u32::from_le_bytes(value), bytes.len() as u32)
}

/// A fill's parameters for the driver: one row.
pub(crate) fn fill_params(target: u64, value: u32, size: u32, count: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst: target, pitch: 0, value, elementSize: size, width: count, height: 1 }
}

/// Tells the driver about the shared memory that a launch of this node wants.
#[inline]
pub(crate) fn want_shared(device: &Device, node: &Node, function: CUfunction, params: &NodeParams) -> Result<()> {
    match (&node.work, params) {
        (Work::Kernel(kernel), NodeParams::Kernel { prepared }) if prepared.grid.shared > 0 => {
            kernel.function.of_handle(function).want_shared(device, prepared.grid.shared)
        }
        _ => Ok(()),
    }
}

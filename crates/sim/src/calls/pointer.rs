//! What can be asked of an address.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_int, c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::holding;
use crate::foreign::{list, put};
use crate::model::objects::Owner;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// Device ordinal of an address that belongs to none.
const NO_DEVICE: c_int = -2;

/// A value of the size that the attribute has.
enum Value {
    Int(c_uint),
    Long(u64),
}

fn attribute(v: &mut Visit<'_>, attribute: CUpointer_attribute, address: u64) -> Result<Value, CUresult> {
    if !(1..=22).contains(&attribute) {
        return Err(INVALID);
    }
    let (base, seen) = holding(v, address).ok_or(INVALID)?;
    let of_host_pool = matches!(seen.owner, Owner::Pool(pool)
        if v.pools.get(pool).is_some_and(|pool| pool.place.is_host()));
    let managed = super::managed::is_managed(v, base);
    // Memory of the device's that was allocated the plain way; what the others answer to these was not all seen.
    let plain = seen.owner == Owner::Plain;
    let is_known = plain || managed || of_host_pool || matches!(seen.owner, Owner::HostAllocated { .. });
    let unreachable = super::pool::is_out_of_reach(v, &seen.owner);
    let is_host = of_host_pool || matches!(seen.owner, Owner::HostAllocated { .. } | Owner::HostRegistered { .. });
    let asks_origin = matches!(attribute, CU_POINTER_ATTRIBUTE_CONTEXT | CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
    if asks_origin && matches!(seen.owner, Owner::Graph | Owner::Mapped) {
        return Err(v.unsupported("the context or the pool of graph memory and of mapped memory"));
    }
    let context = match seen.owner {
        // Pool memory belongs to the device, not to a context.
        Owner::Pool(_) => 0,
        // As observed.
        Owner::Module if managed => 0,
        _ => v.contexts.handle(seen.context),
    };
    // Of mapped memory it is the reserved range, as observed.
    let range = match seen.owner {
        Owner::Mapped => v.virtual_memory.reserved_around(base, seen.bytes).unwrap_or((base, seen.bytes)),
        _ => (base, seen.bytes),
    };
    Ok(match attribute {
        CU_POINTER_ATTRIBUTE_CONTEXT => Value::Long(context),
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE => Value::Int(if is_host { CU_MEMORYTYPE_HOST } else { CU_MEMORYTYPE_DEVICE }),
        // The device does not see it: as observed.
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER if unreachable => return Err(INVALID),
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR if unreachable => Value::Long(0),
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER => Value::Long(address),
        CU_POINTER_ATTRIBUTE_HOST_POINTER if is_host || managed => Value::Long(address),
        // Nobody can set it here. Managed memory has it set, as observed.
        CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => Value::Int(c_uint::from(managed)),
        CU_POINTER_ATTRIBUTE_BUFFER_ID => Value::Long(seen.id),
        CU_POINTER_ATTRIBUTE_IS_MANAGED => Value::Int(c_uint::from(managed)),
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => Value::Int(seen.device as c_uint),
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => Value::Long(range.0),
        CU_POINTER_ATTRIBUTE_RANGE_SIZE => Value::Long(range.1),
        CU_POINTER_ATTRIBUTE_MAPPED => Value::Int(1),
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES if is_known => Value::Long(0),
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        | CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
            if is_known =>
        {
            Value::Int(c_uint::from(plain))
        }
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => match seen.owner {
            Owner::Pool(pool) => Value::Long(v.pools.handle(pool)),
            _ => Value::Long(0),
        },
        CU_POINTER_ATTRIBUTE_HOST_POINTER => return Err(INVALID),
        other => return Err(v.unsupported(format!("pointer attribute {other}"))),
    })
}

unsafe fn write(out: *mut c_void, value: Value) -> Answer {
    match value {
        // SAFETY: the attribute has this size, by the page of the call that passes `out` on.
        Value::Int(value) => unsafe { put(out.cast(), value) },
        // SAFETY: as above.
        Value::Long(value) => unsafe { put(out.cast(), value) },
    }
}

pub(crate) unsafe fn get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_void,
    which: CUpointer_attribute,
    address: CUdeviceptr,
) -> Answer {
    let value = attribute(v, which, address)?;
    // SAFETY: an out pointer of this call.
    unsafe { write(out, value) }
}

/// Several at once; an address that is nobody's is no error here: every answer is then zero, the ordinal -2.
pub(crate) unsafe fn get_attributes(
    v: &mut Visit<'_>,
    count: c_uint,
    attributes: *mut CUpointer_attribute,
    out: *mut *mut c_void,
    address: CUdeviceptr,
) -> Answer {
    if count == 0 {
        return Err(INVALID);
    }
    // SAFETY: arrays of `count` elements, by this call's page.
    let (attributes, out) = unsafe { (list(attributes, count as usize)?, list(out, count as usize)?) };
    for (which, out) in attributes.into_iter().zip(out) {
        let value = match attribute(v, which, address) {
            Ok(value) => value,
            Err(CUresult::CUDA_ERROR_INVALID_VALUE) => match which {
                CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => Value::Int(NO_DEVICE as c_uint),
                CU_POINTER_ATTRIBUTE_MEMORY_TYPE | CU_POINTER_ATTRIBUTE_IS_MANAGED | CU_POINTER_ATTRIBUTE_MAPPED => {
                    Value::Int(0)
                }
                1..=CU_POINTER_ATTRIBUTE_RANGE_SIZE => Value::Long(0),
                _ => return Err(INVALID),
            },
            Err(other) => return Err(other),
        };
        // SAFETY: an out pointer of this call.
        unsafe { write(out, value) }?;
    }
    Ok(())
}

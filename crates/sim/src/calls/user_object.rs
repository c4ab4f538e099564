//! User objects: memory of the program that graphs keep alive. The rules stand in [`crate::model::user_object`].
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::graph_named;
use crate::finding::{Ending, Finding};
use crate::foreign::put;
use crate::model::table::{Key, Lookup};
use crate::model::user_object::{Released, UserObject};
use crate::model::work::HostWork;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn named(v: &mut Visit<'_>, handle: CUuserObject) -> Result<Key<UserObject>, CUresult> {
    match v.graphs.objects.table.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("user object", "its last reference");
            Err(INVALID)
        }
        Lookup::Foreign => Err(INVALID),
    }
}

/// More was released than there is: a GPU's driver says nothing, and nothing is released.
fn note_too_many(v: &mut Visit<'_>, released: Released, count: c_uint, whose: &str) {
    if released == Released::TooMany {
        let (call, what) =
            (v.call, format!("{} gives back {count} references that {whose} does not hold", v.call.name()));
        v.find(
            Finding::new("user-object-over-release", Ending::YourProgram, what)
                .at(call.symbol(), "answered CUDA_SUCCESS, as a GPU's driver does, and released nothing")
                .help("release each reference once, where it was taken"),
        );
    }
}

pub(crate) unsafe fn create(
    v: &mut Visit<'_>,
    out: *mut CUuserObject,
    data: *mut c_void,
    destroy: CUhostFn,
    count: c_uint,
    flags: c_uint,
) -> Answer {
    let function = destroy.ok_or(INVALID)?;
    if out.is_null() || count == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC {
        return Err(INVALID);
    }
    let destructor = HostWork { function: function as usize, data: data as usize };
    let key = v.graphs.objects.create(destructor, u64::from(count));
    let handle = CUuserObject::from_bits(v.graphs.objects.table.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn retain(v: &mut Visit<'_>, object: CUuserObject, count: c_uint) -> Answer {
    let key = named(v, object)?;
    if count == 0 {
        return Err(INVALID);
    }
    v.graphs.objects.retain_own(key, u64::from(count));
    Ok(())
}

pub(crate) unsafe fn release(v: &mut Visit<'_>, object: CUuserObject, count: c_uint) -> Answer {
    let key = named(v, object)?;
    if count == 0 {
        return Err(INVALID);
    }
    let released = v.graphs.objects.release_own(key, u64::from(count));
    note_too_many(v, released, count, "the program");
    Ok(())
}

pub(crate) unsafe fn graph_retain(
    v: &mut Visit<'_>,
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> Answer {
    let (graph, key) = (graph_named(v, graph)?, named(v, object)?);
    if count == 0 || flags > CU_GRAPH_USER_OBJECT_MOVE {
        return Err(INVALID);
    }
    if flags == CU_GRAPH_USER_OBJECT_MOVE {
        if v.graphs.objects.move_own(key, u64::from(count)) == Released::TooMany {
            return Err(v.unsupported("moving more references of a user object than the program holds"));
        }
    } else {
        v.graphs.objects.retain(key, u64::from(count));
    }
    v.graphs.give_object(graph, key, u64::from(count))
}

pub(crate) unsafe fn graph_release(v: &mut Visit<'_>, graph: CUgraph, object: CUuserObject, count: c_uint) -> Answer {
    let (graph, key) = (graph_named(v, graph)?, named(v, object)?);
    if count == 0 {
        return Err(INVALID);
    }
    let released = v.graphs.take_object(graph, key, u64::from(count));
    note_too_many(v, released, count, "the graph");
    Ok(())
}

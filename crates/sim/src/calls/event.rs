//! Events: marks in the order of work, in a stream or in a capture.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_uint;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use crate::foreign::put;
use crate::machine::State;
use crate::model::capture::Rule;
use crate::model::graph::NodeKind;
use crate::model::objects::{Event, EventState};
use crate::model::table::Key;
use crate::model::work::Work;
use crate::visit::{Answer, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

/// What to do where an event and what it is to be recorded on are of two devices.
pub(crate) const OWN_EVENT: &str = "create the event in the stream's context (cuCtxSetCurrent before cuEventCreate); waiting for it is allowed on every device";

pub(crate) unsafe fn create(v: &mut Visit<'_>, out: *mut CUevent, flags: c_uint) -> Answer {
    let known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    let interprocess_with_timing = flags & (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING) == CU_EVENT_INTERPROCESS;
    if out.is_null() || flags & !known != 0 || interprocess_with_timing {
        return Err(INVALID);
    }
    let context = v.context()?;
    let timing = flags & CU_EVENT_DISABLE_TIMING == 0;
    let key = v.events.insert(Event { context, timing, recorded: EventState::Never });
    let handle = CUevent::from_bits(v.events.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, handle: CUevent) -> Answer {
    let key = v.event(handle)?;
    v.events.remove(key);
    Ok(())
}

pub(crate) unsafe fn record(v: &mut Visit<'_>, handle: CUevent, stream: CUstream) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { record_with_flags(v, handle, stream, CU_EVENT_RECORD_DEFAULT) }
}

pub(crate) unsafe fn record_with_flags(v: &mut Visit<'_>, handle: CUevent, stream: CUstream, flags: c_uint) -> Answer {
    let key = v.event(handle)?;
    if flags > CU_EVENT_RECORD_EXTERNAL {
        return Err(INVALID);
    }
    let target = v.target(stream)?;
    let (Target::Run(stream) | Target::Record(_, stream)) = target;
    let contexts = (v.events.get(key).map(|e| e.context), v.streams.get(stream).map(|s| s.context));
    if contexts.0 != contexts.1 {
        let [of_event, of_stream] = [contexts.0, contexts.1].map(|c| c.map_or(0, |context| v.device_of(context)));
        let these = [("the event", of_event), ("the stream", of_stream)];
        return Err(v.refuse_two_devices(INVALID_HANDLE, these, OWN_EVENT));
    }
    match target {
        Target::Run(_) if flags == CU_EVENT_RECORD_EXTERNAL => return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE),
        Target::Run(stream) => {
            let number = v.number();
            let task = v.submit(stream, Work::Record(key, number));
            if let Some(event) = v.events.get_mut(key) {
                event.recorded = EventState::Stream { number, task, time_ns: None };
            }
        }
        Target::Record(capture, stream) if flags == CU_EVENT_RECORD_EXTERNAL => {
            super::capture::record(v, capture, stream, NodeKind::EventRecord(key))?;
        }
        Target::Record(capture, stream) => {
            let branch = v.captures.get(capture).and_then(|capture| capture.branches.get(&stream));
            let nodes = branch.map(|branch| branch.after.clone()).unwrap_or_default();
            if let Some(event) = v.events.get_mut(key) {
                event.recorded = EventState::Capture { capture, nodes };
            }
        }
    }
    Ok(())
}

/// What can be said of an event at the moment.
enum Standing {
    /// Nothing to wait for.
    Past,
    /// Work that is not done.
    Ahead,
    /// Nodes of a capture in progress.
    Captured(Key<crate::model::capture::Capture>),
    /// Nodes of a capture that is over.
    Left,
}

fn standing(state: &State, key: Key<Event>) -> Standing {
    match state.events.get(key).map(|event| &event.recorded) {
        None | Some(EventState::Never) => Standing::Past,
        Some(EventState::Stream { task, .. } | EventState::Graph { task: Some(task), .. }) => {
            if state.tasks.is_done(*task) { Standing::Past } else { Standing::Ahead }
        }
        Some(EventState::Graph { task: None, .. }) => Standing::Past,
        Some(EventState::Capture { capture, .. }) => {
            // A capture that is broken has let go of its events, though it has not ended.
            if state.captures.get(*capture).is_some_and(|capture| capture.broken.is_none()) {
                Standing::Captured(*capture)
            } else {
                Standing::Left
            }
        }
    }
}

/// Whether the event may be asked about: not if it stands for nodes.
fn ask(v: &mut Visit<'_>, key: Key<Event>) -> Answer {
    match standing(v, key) {
        Standing::Captured(capture) => {
            let code = CUresult::CUDA_ERROR_CAPTURED_EVENT;
            v.invalidate(capture, code, Rule::CapturedEvent);
            Err(code)
        }
        Standing::Left => Err(INVALID),
        Standing::Past | Standing::Ahead => v.check_unsafe(),
    }
}

/// The host knows that what the event stands for is done.
fn host_has(v: &mut Visit<'_>, key: Key<Event>) {
    if let Some(EventState::Stream { task, .. } | EventState::Graph { task: Some(task), .. }) =
        v.events.get(key).map(|event| event.recorded.clone())
    {
        v.tasks.host_has([task]);
    }
}

pub(crate) unsafe fn query(v: &mut Visit<'_>, handle: CUevent) -> Answer {
    let key = v.event(handle)?;
    ask(v, key)?;
    v.event_is_lost(key).map_or(Ok(()), Err)?;
    match standing(v, key) {
        Standing::Past => {
            host_has(v, key);
            Ok(())
        }
        _ => Err(CUresult::CUDA_ERROR_NOT_READY),
    }
}

pub(crate) unsafe fn synchronize(v: &mut Visit<'_>, handle: CUevent) -> Answer {
    let key = v.event(handle)?;
    ask(v, key)?;
    // The record of this call: another thread may record the event again meanwhile.
    let recorded = v.events.get(key).map(|event| event.recorded.clone());
    if let Some(EventState::Stream { task, .. } | EventState::Graph { task: Some(task), .. }) = recorded {
        let device = v.events.get(key).map_or(0, |event| v.device_of(event.context));
        v.wait_until(device, |state| state.tasks.is_done(task))?;
        v.event_is_lost(key).map_or(Ok(()), Err)?;
        v.tasks.host_has([task]);
    }
    super::pool::release_unused(v);
    Ok(())
}

pub(crate) unsafe fn elapsed_time(v: &mut Visit<'_>, out: *mut f32, start: CUevent, end: CUevent) -> Answer {
    let (start, end) = (v.event(start)?, v.event(end)?);
    let devices = [start, end].map(|key| v.events.get(key).map_or(0, |event| v.device_of(event.context)));
    if devices[0] != devices[1] {
        let these = [("the first event", devices[0]), ("the second", devices[1])];
        let help = "measure time between events of one device: each has a clock of its own";
        return Err(v.refuse_two_devices(INVALID_HANDLE, these, help));
    }
    let mut times = [0; 2];
    for (key, time) in [start, end].into_iter().zip(&mut times) {
        match standing(v, key) {
            // Not invalidated by this question, as observed.
            Standing::Captured(_) => return Err(CUresult::CUDA_ERROR_CAPTURED_EVENT),
            Standing::Left => return Err(INVALID),
            Standing::Ahead => return Err(CUresult::CUDA_ERROR_NOT_READY),
            Standing::Past => host_has(v, key),
        }
        *time = match v.events.get(key) {
            Some(Event { timing: false, .. }) => return Err(INVALID_HANDLE),
            Some(Event {
                recorded: EventState::Stream { time_ns, .. } | EventState::Graph { time_ns, .. }, ..
            }) => time_ns.ok_or(INVALID_HANDLE)?,
            _ => return Err(INVALID_HANDLE),
        };
    }
    if out.is_null() {
        return Err(INVALID_HANDLE);
    }
    let milliseconds = (times[1] as f64 - times[0] as f64) / 1e6;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, milliseconds as f32) }
}

pub(crate) unsafe fn stream_wait(v: &mut Visit<'_>, stream: CUstream, event: CUevent, flags: c_uint) -> Answer {
    let event = v.event(event)?;
    let stream = v.stream(stream)?;
    if flags > CU_EVENT_WAIT_EXTERNAL {
        return Err(INVALID);
    }
    let external = flags == CU_EVENT_WAIT_EXTERNAL;
    let captured = match v.events.get(event).map(|event| event.recorded.clone()) {
        Some(EventState::Capture { capture, nodes }) if !external => Some((capture, nodes)),
        _ => None,
    };
    // The legacy stream never joins a capture.
    let is_legacy = v.streams.get(stream).is_some_and(|s| s.kind == crate::model::objects::StreamKind::Legacy);
    if is_legacy
        && let Some((capture, _)) = &captured
        && v.captures.get(*capture).is_some()
    {
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        v.invalidate(*capture, code, Rule::LegacyJoin);
        return Err(code);
    }
    match (v.target_of(stream)?, captured) {
        (Target::Run(_), None) if external => Err(CUresult::CUDA_ERROR_ILLEGAL_STATE),
        (Target::Run(stream), None) => {
            // What another device broke in the middle of never happens.
            v.event_is_lost(event).map_or(Ok(()), Err)?;
            let recorded = v.events.get(event).map(|event| event.recorded.clone());
            if let Some(EventState::Stream { task, .. } | EventState::Graph { task: Some(task), .. }) = recorded {
                v.submit_after(stream, Work::Nothing, [task]);
            }
            Ok(())
        }
        (Target::Run(stream), Some((capture, nodes))) => match v.captures.get_mut(capture) {
            None => Err(INVALID),
            Some(joined) if joined.broken.is_some() => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
            Some(joined) => {
                joined.join(stream, &nodes);
                if let Some(stream) = v.streams.get_mut(stream) {
                    stream.capture = Some(capture);
                }
                Ok(())
            }
        },
        (Target::Record(capture, stream), None) if external => {
            super::capture::record(v, capture, stream, NodeKind::EventWait(event)).map(|_| ())
        }
        (Target::Record(capture, _), None) => {
            if matches!(v.events.get(event).map(|event| &event.recorded), Some(EventState::Never)) {
                return Ok(());
            }
            let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
            v.invalidate(capture, code, Rule::Isolation);
            Err(code)
        }
        (Target::Record(capture, stream), Some((other, nodes))) => {
            if capture == other {
                if let Some(capture) = v.captures.get_mut(capture) {
                    capture.join(stream, &nodes);
                }
                return Ok(());
            }
            if v.captures.get(other).is_none() {
                v.invalidate(capture, INVALID, Rule::FinishedEvent);
                return Err(INVALID);
            }
            let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE;
            v.invalidate(capture, code, Rule::Merge);
            v.invalidate_too(other, code, Rule::Merge);
            Err(code)
        }
    }
}

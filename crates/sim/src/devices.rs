//! Which device it is: of a call, of a context, of a stream, of work in progress; and what is broken with it.
//!
//! - A call is made on the device of the context that is current. Without one it is on the first device, if there is no other.
//! - A fault breaks the device whose work it was, and no other. What other devices were to do behind that work is dropped as
//!   well: it has not been done and never will be, so the streams and events that stand for it answer with the fault.

use std::collections::{BTreeSet, HashSet};

use dacapo_driver::CUresult;
use dacapo_driver::types::{CUcontext, CUdevice};

use crate::finding::{Ending, Finding};
use crate::machine::{FaultState, State};
use crate::memory::home::{Home, View};
use crate::model::device::On;
use crate::model::objects::{Context, Event, EventState, Stream};
use crate::model::table::{Key, Lookup};
use crate::model::tasks::Task;
use crate::model::work::{CallbackWork, Work};
use crate::visit::{Answer, Visit};

impl State {
    pub(crate) fn has_several_devices(&self) -> bool {
        self.devices.len() > 1
    }

    /// Whether a device can be given access to memory of another one.
    pub(crate) fn has_peers(&self) -> bool {
        self.has_several_devices() && self.options.peers
    }

    /// The device of a context; of one that is gone, the first.
    pub(crate) fn device_of(&self, context: Key<Context>) -> usize {
        self.contexts.get(context).map_or(0, |context| context.device)
    }

    /// The device of the context that has this number.
    fn device_numbered(&self, context: u64) -> usize {
        if !self.has_several_devices() {
            return 0;
        }
        self.contexts.iter().find(|(_, found)| found.id == context).map_or(0, |(_, found)| found.device)
    }

    /// The device of a stream.
    pub(crate) fn device_of_stream(&self, stream: Key<Stream>) -> usize {
        self.streams.get(stream).map_or(0, |stream| self.device_of(stream.context))
    }

    /// Whose memory is that a context allocates.
    pub(crate) fn home_of(&self, context: Key<Context>) -> Home {
        match self.contexts.get(context) {
            Some(found) if self.has_several_devices() => Home::of_context(found.device, found.id),
            _ => Home::default(),
        }
    }

    /// Where work of a context is done.
    pub(crate) fn on(&self, context: Key<Context>) -> On {
        On { device: self.device_of(context), context }
    }

    /// The device that does a task.
    pub(crate) fn device_of_task(&self, key: Key<Task>) -> usize {
        let Some(task) = self.tasks.table.get(key) else { return 0 };
        task.on.map_or_else(|| self.device_numbered(task.context), |on| on.device)
    }

    /// Memory is from now on as whoever does this task sees it.
    pub(crate) fn look_for(&mut self, on: Option<On>) {
        let Some(on) = on.filter(|_| self.has_several_devices()) else { return };
        self.memory.look_as(Some(self.view_of(on)));
    }

    fn view_of(&self, on: On) -> View {
        let (context, peers) = match self.contexts.get(on.context) {
            Some(found) => (found.id, found.peers.iter().copied().collect()),
            // A graph may outlive the context of its kernels; nobody is its peer then.
            None => (0, Vec::new()),
        };
        View { device: on.device, context, peers }
    }

    /// Whether work of a context has access to the memory at an address, as far as there is any.
    pub(crate) fn has_access(&self, context: Key<Context>, address: u64) -> bool {
        let view = self.view_of(self.on(context));
        !self.has_several_devices() || self.memory.home_at(address).is_none_or(|home| view.sees(&home))
    }

    /// Memory is as it is without anybody's eyes.
    pub(crate) fn look_away(&mut self) {
        self.memory.look_as(None);
    }

    pub(crate) fn fault_of(&self, device: usize) -> Option<FaultState> {
        self.devices.get(device).and_then(|device| device.fault)
    }

    /// What a stream callback is told: the fault of its device, or of another one that its stream had waited for.
    pub(crate) fn status_for(&self, key: Key<Task>, work: CallbackWork) -> CUresult {
        let lost = match self.streams.look_up(work.stream) {
            Lookup::Live(stream) => self.streams.get(stream).and_then(|stream| stream.lost),
            Lookup::Stale | Lookup::Foreign => None,
        };
        let fault = self.fault_of(self.device_of_task(key)).map(|fault| fault.code);
        fault.or(lost).unwrap_or(CUresult::CUDA_SUCCESS)
    }

    /// Any device is broken.
    pub(crate) fn is_broken(&self) -> bool {
        self.devices.iter().any(|device| device.fault.is_some())
    }

    /// The code of a fault that an event will never happen for: its record was dropped.
    pub(crate) fn event_is_lost(&self, event: Key<Event>) -> Option<CUresult> {
        let (EventState::Stream { task, time_ns: None, .. }
        | EventState::Graph { task: Some(task), time_ns: None, .. }) = self.events.get(event)?.recorded
        else {
            return None;
        };
        let is_lost = self.has_several_devices() && self.tasks.is_done(task);
        self.devices.iter().find_map(|device| device.fault).filter(|_| is_lost).map(|fault| fault.code)
    }

    /// Drops the work of a device that is broken, and what other devices were to do behind it.
    pub(crate) fn abandon_work(&mut self, device: usize) {
        let keep = |work: &Work| matches!(work, Work::Callback(_) | Work::Called | Work::Release(_));
        if !self.has_several_devices() {
            return self.tasks.abandon(keep);
        }
        let Some(code) = self.fault_of(device).map(|fault| fault.code) else { return };
        let of_device = |key: &Key<Task>| {
            let launched_on = self.tasks.table.get(*key).map_or(0, |task| self.device_numbered(task.context));
            launched_on == device || self.device_of_task(*key) == device
        };
        let own: Vec<_> = self.tasks.table.keys().into_iter().filter(of_device).collect();
        let is_kept = |key: &Key<Task>| self.tasks.table.get(*key).is_none_or(|task| keep(&task.work));
        let behind = self.tasks.behind(own);
        let lost: HashSet<_> = behind.iter().copied().filter(|key| !is_kept(key)).collect();
        // Memory that a healthy device has promised comes and goes as promised.
        let mut ordered: Vec<_> = lost.iter().copied().collect();
        ordered.sort_unstable();
        for key in ordered {
            match self.tasks.get_mut(key).map(|task| std::mem::replace(&mut task.work, Work::Nothing)) {
                Some(Work::Map { address, bytes, label, home }) => self.run_map(address, bytes, &label, home),
                Some(Work::Unmap { address }) => {
                    self.memory.free(address);
                }
                _ => {}
            }
        }
        self.tasks.abandon_these(&lost);
        self.mark_lost(device, &behind, code);
    }

    /// Streams of other devices that stand for work which is lost answer with the fault from here on.
    fn mark_lost(&mut self, broken: usize, lost: &HashSet<Key<Task>>, code: CUresult) {
        let mut devices = BTreeSet::new();
        for key in self.streams.keys() {
            let device = self.device_of_stream(key);
            let Some(stream) = self.streams.get_mut(key).filter(|_| device != broken) else { continue };
            if stream.tail.is_some_and(|tail| lost.contains(&tail)) {
                stream.lost = Some(code);
                devices.insert(device);
            }
        }
        for device in devices {
            let what =
                format!("work of device {device} was dropped: it waited for work of device {broken}, which broke");
            let finding = Finding::new("work-lost", Ending::YourProgram, what)
                .note(format!("its streams answer {code} from now on; other streams of device {device} go on"))
                .help(
                    "mend the fault that was found before this; destroy the stream and make a new one to go on without",
                );
            self.find(finding);
        }
    }
}

impl Visit<'_> {
    /// The device of this number.
    pub(crate) fn device(&self, number: CUdevice) -> Result<usize, CUresult> {
        let device = usize::try_from(number).ok().filter(|device| *device < self.devices.len());
        device.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
    }

    /// Whether there is a device of this number.
    pub(crate) fn is_device(&self, number: i32) -> bool {
        self.device(number).is_ok()
    }

    /// The device that this call is made on, if one can say.
    pub(crate) fn here(&mut self) -> Option<usize> {
        let current = self.this().contexts.last().copied();
        match current.and_then(|current| self.contexts.get(current)) {
            Some(context) => Some(context.device),
            None => (!self.has_several_devices()).then_some(0),
        }
    }

    /// The code of a known fault of a device that is named; of one that is not there, as of the call's own.
    pub(crate) fn check_fault_of(&mut self, number: CUdevice) -> Answer {
        match self.device(number).ok().or_else(|| self.here()) {
            Some(device) => self.check_known_fault(device),
            None => Ok(()),
        }
    }

    /// Runs `body` as if `context` were current.
    pub(crate) fn within<R>(&mut self, context: Key<Context>, body: impl FnOnce(&mut Self) -> R) -> R {
        self.this().contexts.push(context);
        let result = body(self);
        self.this().contexts.pop();
        result
    }

    /// Where a node is done that was given this context: null is the current one. On one device it is not looked at.
    pub(crate) fn place_of_node(&mut self, handle: CUcontext) -> Result<On, CUresult> {
        if !self.has_several_devices() {
            return Ok(On { device: 0, context: self.context()? });
        }
        let context = match self.contexts.look_up(handle.bits()) {
            Lookup::Live(key) => key,
            Lookup::Foreign if handle.is_null() => self.context()?,
            Lookup::Stale => return Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
            Lookup::Foreign => return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        };
        Ok(self.on(context))
    }

    /// A stream whose work was dropped because another device broke.
    pub(crate) fn check_lost(&self, stream: Key<Stream>) -> Answer {
        self.streams.get(stream).and_then(|stream| stream.lost).map_or(Ok(()), Err)
    }

    /// Refuses what joins things of two devices, and says so. Of two contexts of one device nothing is said: an H200 was seen
    /// to answer so, and the code speaks for itself.
    pub(crate) fn refuse_two_devices(
        &mut self,
        code: CUresult,
        these: [(&str, usize); 2],
        help: &'static str,
    ) -> CUresult {
        let [(this, a), (that, b)] = these;
        if a == b {
            return code;
        }
        let what = format!("{}: {this} is of device {a}, and {that} is of device {b}", self.call.name());
        self.refuse(crate::visit::Refusal::new(code, "other-device", what, help))
    }
}

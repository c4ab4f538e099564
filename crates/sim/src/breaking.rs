//! Breaking a machine from outside: what a hook needs to have a fault happen, and not only be answered.
//!
//! Neither leaves a finding: nobody has broken a rule.

use dacapo_driver::{Breakable, CUresult, Call};

use crate::machine::{FaultState, Machine, this_thread};
use crate::model::capture::{Cause, Rule};
use crate::model::table::Lookup;
use crate::model::work::Work;

impl Breakable for Machine {
    /// As if a kernel had faulted just now, on the device of the context that is current on this thread: what waits is dropped, and the next call that looks answers `code`.
    fn lose_context(&self, code: CUresult) {
        let mut state = self.lock();
        let current = state.threads.get(&this_thread()).and_then(|thread| thread.contexts.last().copied());
        let device = current.map_or(0, |context| state.device_of(context));
        if state.devices[device].fault.is_none() {
            state.devices[device].fault = Some(FaultState::known(code));
            match state.has_several_devices() {
                true => state.abandon_work(device),
                false => state.tasks.abandon(|work| matches!(work, Work::Callback(_) | Work::Called)),
            }
        }
        drop(state);
        self.inner.changed.notify_all();
    }

    /// As if another thread had synchronised the context just now, which breaks captures of every mode.
    fn invalidate_capture(&self, stream: u64) -> bool {
        let mut state = self.lock();
        let Lookup::Live(key) = state.streams.look_up(stream) else { return false };
        let capture = state.streams.get(key).and_then(|stream| stream.capture);
        match capture.and_then(|capture| state.captures.get_mut(capture)) {
            Some(capture) if capture.broken.is_none() => {
                capture.broken = Some(Cause {
                    call: Call::cuCtxSynchronize,
                    thread: this_thread(),
                    code: CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    rule: Rule::Anywhere,
                });
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use dacapo_driver::{Effect, lawful};

    use crate::driver::NEEDS;
    use crate::visit::Needs;

    /// The fault model says of which calls a broken context is the answer; the machine answers by what each call needs.
    #[test]
    fn the_machine_and_the_fault_model_agree_on_who_reports_a_lost_context() {
        let differs = NEEDS.iter().filter(|(call, needs)| {
            let says = lawful(*call).iter().any(|fault| fault.effect == Effect::ContextLost);
            says != matches!(needs, Needs::Init | Needs::Device | Needs::Context | Needs::Stream | Needs::OwnStream)
        });
        let differs: Vec<_> = differs.collect();
        assert!(differs.is_empty(), "{differs:?}");
    }
}

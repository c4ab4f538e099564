//! Contexts, streams, captures, events, modules, threads.
//!
//! - Each device has one primary context; a context that is not active has no streams of its own, no events and no modules.
//! - A stream lives in a context that does; default streams are known to their context, and others are not default ones.
//! - A stream and its capture know each other; the capture's origin is in it, and its graph and its nodes belong together.
//! - An event whose record is done knows when that was.
//! - A module and its functions know each other.

use super::Report;
use crate::machine::State;
use crate::model::objects::{EventState, StreamKind};
use crate::model::table::Key;

impl State {
    pub(super) fn check_objects(&self, report: &mut Report) {
        self.check_contexts(report);
        self.check_streams(report);
        self.check_captures(report);
        for (key, event) in self.events.iter() {
            let lives = self.contexts.get(event.context).is_some_and(|context| context.is_active);
            report.ask("event-context", lives, || format!("event {key:?} is in no active context"));
            if let EventState::Stream { task, time_ns: None, .. } = &event.recorded {
                let is_open = self.is_broken() || !self.tasks.is_done(*task);
                report.ask("event-time", is_open, || format!("event {key:?} has happened and does not know when"));
            }
        }
        for (key, module) in self.modules.iter() {
            let lives = self.contexts.get(module.context).is_some_and(|context| context.is_active);
            report.ask("module-context", lives, || format!("module {key:?} is in no active context"));
            for (name, function) in &module.functions {
                let knows = self.functions.get(*function).is_some_and(|function| function.module == key);
                report.ask("module-functions", knows, || format!("`{name}` of module {key:?} is not its function"));
            }
        }
        for (key, function) in self.functions.iter() {
            let module = self.modules.get(function.module);
            let known = module.is_some_and(|module| module.functions.values().any(|known| *known == key));
            report.ask("function-module", known, || format!("function {key:?} is in no module"));
        }
        let mut numbers: Vec<u64> = self.threads.values().map(|thread| thread.number).collect();
        numbers.sort_unstable();
        let in_order = numbers.iter().enumerate().all(|(at, number)| *number == at as u64 + 1);
        report.ask("thread-numbers", in_order, || format!("threads are numbered {numbers:?}"));
    }

    fn check_contexts(&self, report: &mut Report) {
        for (key, context) in self.contexts.iter() {
            report.ask(
                "context-primary",
                context.is_primary == self.devices.iter().any(|device| device.primary == key),
                || format!("context {key:?} is, or is not, the primary one"),
            );
            let is_peer = |id: &u64| self.contexts.iter().any(|(_, c)| c.id == *id && c.device != context.device);
            report.ask("context-peers", context.peers.iter().all(is_peer), || {
                format!("context {key:?} may touch memory of contexts that are gone, or of its own device")
            });
            report.ask("context-active", context.is_active || context.is_primary, || {
                format!("context {key:?} was made by the program and is not active")
            });
            let of_kind = |stream: Key<_>, kind| {
                self.streams.get(stream).is_some_and(|found| found.kind == kind && found.context == key)
            };
            let legacy = context.legacy.is_none_or(|stream| of_kind(stream, StreamKind::Legacy));
            let own = context.per_thread.values().all(|stream| of_kind(*stream, StreamKind::PerThread));
            report.ask("context-streams", legacy && own, || format!("a default stream of {key:?} is not its own"));
        }
        for (number, device) in self.devices.iter().enumerate() {
            let active = self.contexts.get(device.primary).is_some_and(|primary| primary.is_active);
            report.ask("context-retains", !active || device.primary_retains > 0, || {
                format!("the primary context of device {number} is active and nobody has retained it")
            });
        }
    }

    fn check_streams(&self, report: &mut Report) {
        for (key, stream) in self.streams.iter() {
            let context = self.contexts.get(stream.context);
            let lives = context.is_some_and(|context| context.is_active);
            report.ask("stream-context", lives, || format!("stream {key:?} is in no active context"));
            let known = context.is_some_and(|context| match stream.kind {
                StreamKind::Legacy => context.legacy == Some(key),
                StreamKind::PerThread => context.per_thread.values().any(|own| *own == key),
                StreamKind::Created => context.legacy != Some(key),
            });
            report.ask("stream-default", known, || format!("default stream {key:?} is not known to its context"));
            if let Some(capture) = stream.capture {
                let is_in = self.captures.get(capture).is_some_and(|capture| capture.branches.contains_key(&key));
                report.ask("stream-capture", is_in, || format!("stream {key:?} is not in its capture {capture:?}"));
            }
        }
    }

    fn check_captures(&self, report: &mut Report) {
        for (key, capture) in self.captures.iter() {
            report.ask("capture-origin", capture.branches.contains_key(&capture.origin), || {
                format!("capture {key:?} has lost the stream it began on")
            });
            let has_graph = self.graphs.graphs.get(capture.graph).is_some();
            report.ask("capture-graph", has_graph || capture.broken.is_some(), || {
                format!("the graph of capture {key:?} is gone, and it goes on")
            });
            for (stream, branch) in &capture.branches {
                let knows = self.streams.get(*stream).is_some_and(|stream| stream.capture == Some(key));
                report.ask("capture-branch", knows, || format!("stream {stream:?} does not know of capture {key:?}"));
                for node in branch.after.iter().map(|(node, _)| node).chain(&branch.last) {
                    // The program may have destroyed it meanwhile; another graph's it never becomes.
                    let belongs = self.graphs.nodes.get(*node).is_none_or(|node| node.graph == capture.graph);
                    report.ask("capture-nodes", belongs, || {
                        format!("capture {key:?} comes after {node:?} of another graph")
                    });
                }
            }
        }
    }
}

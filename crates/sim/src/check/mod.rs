//! What always holds of a machine between two calls, whatever a program does; for tests and `cargo xtask fuzz`.
//!
//! | file | rules |
//! |---|---|
//! | this one | tables and their handles agree |
//! | `order` | tasks: pending counts, the ready list, no circle |
//! | `objects` | contexts, streams, captures, events, modules, threads |
//! | `graphs` | nodes, edges, embedded graphs, executables, references of user objects |
//! | `holdings` | memory, what the program sees of it, pools, graph memory, virtual memory |
//!
//! One pass looks at everything there is, once: its time grows with what is alive, some microseconds for a machine with a
//! hundred objects. After a fault, work is dropped with its effects, and rules about effects to come are not asked.

mod graphs;
mod holdings;
mod objects;
mod order;

use std::fmt;

use crate::machine::{Machine, State};

/// A rule that a machine has broken: a bug of the software driver, whatever the program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule's name.
    pub rule: &'static str,
    /// Which objects break it, and how.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.what)
    }
}

/// What was found broken so far.
#[derive(Default)]
struct Report(Vec<Broken>);

impl Report {
    fn tell(&mut self, rule: &'static str, what: impl Into<String>) {
        self.0.push(Broken { rule, what: what.into() });
    }

    /// The rule holds if `holds`; else `what` says who breaks it.
    fn ask(&mut self, rule: &'static str, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.tell(rule, what());
        }
    }
}

impl Machine {
    /// Which of its invariants the machine breaks: none, unless the software driver has a bug. For tests.
    ///
    /// ```
    /// let machine = dacapo_sim::Machine::new(dacapo_sim::Options::default());
    /// assert_eq!(machine.check(), []);
    /// ```
    pub fn check(&self) -> Vec<Broken> {
        let state = self.lock();
        let mut report = Report::default();
        state.check_tables(&mut report);
        state.check_order(&mut report);
        state.check_objects(&mut report);
        state.check_graphs(&mut report);
        state.check_holdings(&mut report);
        report.0
    }
}

impl State {
    fn check_tables(&self, report: &mut Report) {
        let tables = [
            ("contexts", self.contexts.broken()),
            ("streams", self.streams.broken()),
            ("events", self.events.broken()),
            ("arrays", self.arrays.broken()),
            ("textures", self.textures.broken()),
            ("modules", self.modules.broken()),
            ("functions", self.functions.broken()),
            ("libraries", self.libraries.broken()),
            ("kernels", self.kernels.broken()),
            ("links", self.links.broken()),
            ("pools", self.pools.broken()),
            ("captures", self.captures.broken()),
            ("graphs", self.graphs.graphs.broken()),
            ("nodes", self.graphs.nodes.broken()),
            ("user objects", self.graphs.objects.table.broken()),
            ("executables", self.executables.broken()),
            ("physical memory", self.virtual_memory.physical.broken()),
            ("tasks", self.tasks.table.broken()),
        ];
        for (table, broken) in tables {
            if let Some(what) = broken {
                report.tell("table", format!("{table}: {what}"));
            }
        }
    }
}

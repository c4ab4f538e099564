//! How many objects of a program are alive in a machine: for tests that look for leaks below the library.
//!
//! Counted is what a program has made and not given back, as the API sees it: memory that was freed in stream order is
//! gone with the call, an executable that was destroyed while it runs likewise. What the machine has for itself (the legacy
//! stream, the default pool, freed blocks of pools) is not counted.

use std::fmt;

use crate::machine::{Machine, State};
use crate::model::objects::{Owner, StreamKind};

/// How many objects are alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Device memory, of pools too; not the variables of modules.
    pub allocations: usize,
    /// Memory made apart from its addresses.
    pub physical: usize,
    /// Ranges of addresses that are reserved.
    pub ranges: usize,
    /// Page-locked or registered memory of the host.
    pub host_allocations: usize,
    /// Arrays.
    pub arrays: usize,
    /// Texture and surface objects.
    pub textures: usize,
    /// Streams that were created.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// Modules and libraries.
    pub modules: usize,
    /// Graphs that were not instantiated: templates, and what is being captured.
    pub graphs: usize,
    /// Executable graphs.
    pub executables: usize,
    /// Captures under way, invalidated ones too.
    pub captures: usize,
    /// How often the primary context is retained.
    pub retains: usize,
}

impl Machine {
    /// How many objects of the program are alive.
    pub fn census(&self) -> Census {
        self.lock().census()
    }
}

impl State {
    fn census(&self) -> Census {
        let owned = |wanted: fn(&Owner) -> bool| self.visible.values().filter(|seen| wanted(&seen.owner)).count();
        Census {
            allocations: owned(|owner| matches!(owner, Owner::Plain | Owner::Managed | Owner::Pool(_))),
            physical: self.virtual_memory.physical.len(),
            ranges: self.virtual_memory.reserved.len(),
            host_allocations: owned(|owner| {
                matches!(owner, Owner::HostAllocated { .. } | Owner::HostRegistered { .. })
            }),
            arrays: self.arrays.len(),
            textures: self.textures.len(),
            streams: self.streams.iter().filter(|(_, stream)| stream.kind == StreamKind::Created).count(),
            events: self.events.len(),
            modules: self.modules.iter().filter(|(_, module)| !module.is_library).count() + self.libraries.len(),
            graphs: self.graphs.graphs.len(),
            executables: self.executables.len(),
            captures: self.captures.len(),
            retains: self.devices.iter().map(|device| device.primary_retains as usize).sum(),
        }
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.allocations, "allocations"),
            (self.physical, "physical allocations"),
            (self.ranges, "reserved ranges"),
            (self.host_allocations, "host allocations"),
            (self.arrays, "arrays"),
            (self.textures, "texture objects"),
            (self.streams, "streams"),
            (self.events, "events"),
            (self.modules, "modules"),
            (self.graphs, "graphs"),
            (self.executables, "executables"),
            (self.captures, "captures"),
            (self.retains, "retains"),
        ];
        let some: Vec<String> =
            all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        f.write_str(if some.is_empty() { "nothing" } else { "" })?;
        f.write_str(&some.join(", "))
    }
}

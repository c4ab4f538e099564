//! Bytes by what they are for: what the books of a device count, and what an error about memory says.

use std::fmt;

/// What memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Buffers and scalars.
    Buffers,
    /// Outputs of recordings.
    Outputs,
    /// Arenas of graphs, of the caller's, and of eager runs.
    Arenas,
    /// What the graphs of pools share.
    Pools,
    /// Executable graphs, by estimate.
    Executables,
    /// Page-locked buffers.
    Host,
    /// Page-locked blocks that reads and writes go through.
    Staging,
}

/// Bytes of a device's memory that the library holds, by purpose: [`Device::held`](crate::Device::held).
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let x = device.zeros::<f32>(1000)?;
/// let held: dacapo::memory::Held = device.held();
/// assert_eq!((held.buffers, held.total()), (4000, 4000));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held {
    /// Buffers and scalars.
    pub buffers: usize,
    /// Outputs of recordings, no matter who holds them now.
    pub outputs: usize,
    /// The memory of temps: graphs' own, and arenas that you made.
    pub arenas: usize,
    /// What the graphs of pools share.
    pub pools: usize,
    /// Executable graphs, by estimate: the most that was ever alive at once, because the driver keeps that memory.
    pub executables: usize,
    /// Page-locked buffers.
    pub host: usize,
    /// Page-locked blocks that reads and writes go through.
    pub staging: usize,
}

impl Held {
    /// The sum of all purposes.
    pub fn total(&self) -> usize {
        self.rows().iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Each kind with its name.
    pub(crate) fn rows(&self) -> [(&'static str, usize); 7] {
        let Held { buffers, outputs, arenas, pools, executables, host, staging } = *self;
        [
            ("buffers", buffers),
            ("outputs", outputs),
            ("arenas", arenas),
            ("pools", pools),
            ("executables", executables),
            ("host buffers", host),
            ("staging", staging),
        ]
    }

    pub(crate) fn of(&mut self, purpose: Purpose) -> &mut usize {
        match purpose {
            Purpose::Buffers => &mut self.buffers,
            Purpose::Outputs => &mut self.outputs,
            Purpose::Arenas => &mut self.arenas,
            Purpose::Pools => &mut self.pools,
            Purpose::Executables => &mut self.executables,
            Purpose::Host => &mut self.host,
            Purpose::Staging => &mut self.staging,
        }
    }
}

/// What is held, in one line: only what there is.
impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.total())?;
        let rows = self.rows();
        let parts: Vec<String> =
            rows.iter().filter(|(_, bytes)| *bytes > 0).map(|(name, bytes)| format!("{bytes} in {name}")).collect();
        if parts.is_empty() { Ok(()) } else { write!(f, " ({})", parts.join(", ")) }
    }
}

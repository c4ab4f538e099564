//! One timed eager run.

use super::measured::Subject;
use crate::arrange::EdgeChoice;
use crate::device::Stream;
use crate::error::Result;
use crate::lower::{Stamps, Wanted, report_of, run_stamped};
use crate::nesting::Nested;
use crate::plan::Shape;
use crate::profile::{Clock, Profile};
use crate::record::{Op, Recorder};

impl Stream {
    /// Runs an op now, without a graph, timed: how long each op in it took when one came after the other.
    ///
    /// It runs as in [`run`](Stream::run): all of it is recorded and checked first, and the host reads what branches and loops
    /// have decided. A one-thread kernel that stores the device's timer is launched before and after each op. This call waits
    /// for all of it. What the op returns is dropped.
    ///
    /// The ops of [`graph.as_op()`](crate::Graph::as_op) have the indices that they have in
    /// [`Graph::profile`](crate::Graph::profile), so that the two profiles can be compared op by op.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut y = device.zeros::<f32>(1024)?;
    /// let mut graph = device.record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
    /// let (eager, replayed) = (stream.profile(graph.as_op())?, graph.profile(&stream)?);
    /// assert!(eager.eager && !replayed.eager);
    /// assert_eq!(eager.ops[0].name, replayed.ops[0].name);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`run`](Stream::run).
    #[track_caller]
    pub fn profile<O: Op>(&self, op: O) -> Result<Profile> {
        self.0.enter("Stream::profile")?;
        let device = self.device();
        let mut recorder = Recorder::new(device, None);
        // Kept until the run is over, as an output is.
        let _out = {
            let _nested = Nested::enter();
            recorder.run(op)?
        };
        let recorded = recorder.complete()?;
        // Only for what the ops are called, and that they stand in a line: no graph is made.
        let wanted = Wanted { label: "", shape: Shape::Line, edges: &EdgeChoice::Plain, apart: true };
        let report = report_of(&recorded, &wanted);
        let edges = report.edges.iter().map(|(before, after, _)| (*before, *after)).collect();
        let stamps = Stamps::new(device, recorded.nodes.len())?;
        run_stamped(&self.0, recorded, &stamps)?;
        let (first, ops) = stamps.read(self)?;
        Ok(Subject { report, edges, clock: Clock::of(device), eager: true }.profile(&first, &ops))
    }
}

//! How much device memory executable graphs take, as the driver counts it.
//!
//! - A [`Case`] makes graphs of one kind of node and asks `cuMemGetInfo` how much less is free after each step: template
//!   built, instantiated, uploaded, launched; and how much has not come back after all are destroyed.
//! - Each case is done twice in a row: the second round says what the driver kept and used again.
//! - A case is about the process it runs in: drivers keep what they once took. `dacapo-gpu memory` gives each a process
//!   of its own.
//!
//! Not measured: other processes on the same GPU. There must be none.

use std::ffi::c_void;

use dacapo_driver::types::*;
use dacapo_driver::{Call, Driver};
use serde::{Deserialize, Serialize};

use crate::session::{Geometry, Refused, Session, checked};

/// What the nodes of a graph are, and how they are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Kernels with four parameters, one after the other.
    Kernel,
    /// The same in eight branches.
    Branches,
    /// Copies of four bytes from device to device, one after the other.
    Memcpy,
    /// Memsets of four bytes, one after the other.
    Memset,
    /// Nothing, one after the other.
    Empty,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Kernel, Kind::Branches, Kind::Memcpy, Kind::Memset, Kind::Empty];

    fn branches(self) -> usize {
        if self == Kind::Branches { 8 } else { 1 }
    }
}

/// Graphs to be made: so many, alive at once, of so many nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What the nodes are.
    pub kind: Kind,
    /// How many nodes each graph has.
    pub nodes: usize,
    /// How many graphs are alive at once.
    pub graphs: usize,
}

/// Bytes by which the free memory of the device had become less than before the round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// After the templates were built.
    pub built: i64,
    /// After all were instantiated.
    pub instantiated: i64,
    /// After all were uploaded.
    pub uploaded: i64,
    /// After all were launched once.
    pub launched: i64,
    /// After all were launched ten times more.
    pub launched_again: i64,
    /// After executables and templates were destroyed.
    pub destroyed: i64,
}

/// A case and what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// What was made.
    #[serde(flatten)]
    pub case: Case,
    /// The first round of the process, and the one after it.
    pub rounds: Vec<Round>,
}

/// What a GPU gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Its name.
    pub gpu: String,
    /// The driver's release.
    pub driver: String,
    /// The commit that measured.
    pub commit: String,
    /// Every case.
    pub cases: Vec<Measured>,
}

/// Every case: 1 to 10,000 nodes of each kind, and many graphs at once.
pub fn all() -> Vec<Case> {
    let sizes = [1, 10, 100, 1_000, 3_000, 10_000];
    let mut cases: Vec<Case> =
        Kind::ALL.iter().flat_map(|&kind| sizes.map(|nodes| Case { kind, nodes, graphs: 1 })).collect();
    for (nodes, graphs) in [(100, 8), (100, 64), (10, 64), (1, 64), (1_000, 8), (10, 512)] {
        cases.push(Case { kind: Kind::Kernel, nodes, graphs });
    }
    cases
}

/// Measures one case in this process.
///
/// # Errors
///
/// - A call that was refused.
pub fn measure(session: &mut Session<'_>, case: Case) -> Result<Measured, Refused> {
    let saxpy = session.kernel("forms", crate::forms::kernels::PTX, "saxpy")?;
    let (x, y) = (session.buffer(&[0; 256])?, session.buffer(&[0; 256])?);
    let mut stream = CUstream::NULL;
    // SAFETY: `stream` is valid for the write.
    let made = unsafe { session.driver().cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) };
    checked(made, Call::cuStreamCreate, "")?;
    let bench = Bench { driver: session.driver(), saxpy, x: x.address(), y: y.address(), stream };
    // What the driver takes for the first launch, copy and fill of a process is not a graph's.
    bench.warm_up(session)?;
    let rounds = (0..2).map(|_| bench.round(session, case)).collect::<Result<_, _>>();
    // SAFETY: made above; everything on it is over.
    let gone = unsafe { session.driver().cuStreamDestroy_v2(stream) };
    checked(gone, Call::cuStreamDestroy_v2, "")?;
    Ok(Measured { case, rounds: rounds? })
}

struct Bench<'d> {
    driver: &'d dyn Driver,
    saxpy: CUfunction,
    x: CUdeviceptr,
    y: CUdeviceptr,
    stream: CUstream,
}

/// Graphs of a round, with their executables.
type Made = Vec<(CUgraph, CUgraphExec)>;

impl Bench<'_> {
    fn warm_up(&self, session: &Session<'_>) -> Result<(), Refused> {
        let arguments = [
            1u32.to_ne_bytes().to_vec(),
            1f32.to_ne_bytes().to_vec(),
            self.x.to_ne_bytes().to_vec(),
            self.y.to_ne_bytes().to_vec(),
        ];
        let geometry = Geometry { grid: [1, 1, 1], block: [32, 1, 1], shared_bytes: 0 };
        session.launch(self.saxpy, geometry, self.stream, &arguments, "saxpy")?;
        // SAFETY: both addresses are of 256 bytes that live until the end of `measure`.
        let copied = unsafe { self.driver.cuMemcpyDtoDAsync_v2(self.y, self.x, 4, self.stream) };
        checked(copied, Call::cuMemcpyDtoDAsync_v2, "")?;
        // SAFETY: as above.
        let set = unsafe { self.driver.cuMemsetD32Async(self.y, 0, 1, self.stream) };
        checked(set, Call::cuMemsetD32Async, "")?;
        session.synchronize(self.stream, "")
    }

    fn round(&self, session: &Session<'_>, case: Case) -> Result<Round, Refused> {
        let before = self.free()?;
        let less = || Ok::<i64, Refused>(before - self.free()?);
        let mut graphs: Made = Vec::new();
        let mut round = Round::default();
        for _ in 0..case.graphs {
            graphs.push((self.build(case)?, CUgraphExec::NULL));
        }
        round.built = less()?;
        for (graph, exec) in &mut graphs {
            // SAFETY: `exec` is valid for the write, and the graph was built above.
            let made = unsafe { self.driver.cuGraphInstantiateWithFlags(exec, *graph, 0) };
            checked(made, Call::cuGraphInstantiateWithFlags, "")?;
        }
        round.instantiated = less()?;
        for (_, exec) in &graphs {
            // SAFETY: instantiated above.
            let uploaded = unsafe { self.driver.cuGraphUpload(*exec, self.stream) };
            checked(uploaded, Call::cuGraphUpload, "")?;
        }
        session.synchronize(self.stream, "uploads")?;
        round.uploaded = less()?;
        for (times, seen) in [(1, &mut round.launched), (10, &mut round.launched_again)] {
            for (_, exec) in (0..times).flat_map(|_| &graphs) {
                // SAFETY: instantiated above; its nodes touch memory that lives until the end of `measure`.
                let launched = unsafe { self.driver.cuGraphLaunch(*exec, self.stream) };
                checked(launched, Call::cuGraphLaunch, "")?;
            }
            session.synchronize(self.stream, "launches")?;
            *seen = less()?;
        }
        for (graph, exec) in graphs {
            // SAFETY: made above, and nothing of it runs any more.
            checked(unsafe { self.driver.cuGraphExecDestroy(exec) }, Call::cuGraphExecDestroy, "")?;
            // SAFETY: as above.
            checked(unsafe { self.driver.cuGraphDestroy(graph) }, Call::cuGraphDestroy, "")?;
        }
        round.destroyed = less()?;
        Ok(round)
    }

    fn free(&self) -> Result<i64, Refused> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for the write.
        checked(unsafe { self.driver.cuMemGetInfo_v2(&mut free, &mut total) }, Call::cuMemGetInfo_v2, "")?;
        Ok(free as i64)
    }

    fn build(&self, case: Case) -> Result<CUgraph, Refused> {
        let mut graph = CUgraph::NULL;
        // SAFETY: `graph` is valid for the write.
        checked(unsafe { self.driver.cuGraphCreate(&mut graph, 0) }, Call::cuGraphCreate, "")?;
        let branches = case.kind.branches();
        let mut nodes: Vec<CUgraphNode> = Vec::with_capacity(case.nodes);
        for number in 0..case.nodes {
            let after = if number < branches { &[][..] } else { &nodes[number - branches..=number - branches] };
            nodes.push(self.add(graph, case.kind, after)?);
        }
        Ok(graph)
    }

    fn add(&self, graph: CUgraph, kind: Kind, after: &[CUgraphNode]) -> Result<CUgraphNode, Refused> {
        let mut node = CUgraphNode::NULL;
        let (driver, from, count) = (self.driver, after.as_ptr(), after.len());
        match kind {
            Kind::Kernel | Kind::Branches => {
                let (n, a, x, y) = (1u32, 1f32, self.x, self.y);
                let mut pointers: [*mut c_void; 4] = [
                    (&raw const n).cast_mut().cast(),
                    (&raw const a).cast_mut().cast(),
                    (&raw const x).cast_mut().cast(),
                    (&raw const y).cast_mut().cast(),
                ];
                let params = CUDA_KERNEL_NODE_PARAMS {
                    func: self.saxpy,
                    gridDimX: 1,
                    gridDimY: 1,
                    gridDimZ: 1,
                    blockDimX: 32,
                    blockDimY: 1,
                    blockDimZ: 1,
                    sharedMemBytes: 0,
                    kernelParams: pointers.as_mut_ptr(),
                    extra: std::ptr::null_mut(),
                    kern: CUkernel::NULL,
                    ctx: CUcontext::NULL,
                };
                // SAFETY: a pointer for each of the kernel's four parameters, all in place until the call returns; the
                // dependencies are nodes of this graph.
                let added = unsafe { driver.cuGraphAddKernelNode_v2(&mut node, graph, from, count, &params) };
                checked(added, Call::cuGraphAddKernelNode_v2, "")?;
            }
            Kind::Memcpy => {
                let params = copy_of_four_bytes(self.x, self.y);
                // SAFETY: both addresses are of memory that lives as long as the graph; the context is the current one.
                let added =
                    unsafe { driver.cuGraphAddMemcpyNode(&mut node, graph, from, count, &params, self.context()?) };
                checked(added, Call::cuGraphAddMemcpyNode, "")?;
            }
            Kind::Memset => {
                let params =
                    CUDA_MEMSET_NODE_PARAMS { dst: self.y, pitch: 0, value: 0, elementSize: 4, width: 1, height: 1 };
                // SAFETY: as above.
                let added =
                    unsafe { driver.cuGraphAddMemsetNode(&mut node, graph, from, count, &params, self.context()?) };
                checked(added, Call::cuGraphAddMemsetNode, "")?;
            }
            Kind::Empty => {
                // SAFETY: as above.
                let added = unsafe { driver.cuGraphAddEmptyNode(&mut node, graph, from, count) };
                checked(added, Call::cuGraphAddEmptyNode, "")?;
            }
        }
        Ok(node)
    }

    fn context(&self) -> Result<CUcontext, Refused> {
        let mut context = CUcontext::NULL;
        // SAFETY: `context` is valid for the write.
        checked(unsafe { self.driver.cuCtxGetCurrent(&mut context) }, Call::cuCtxGetCurrent, "")?;
        Ok(context)
    }
}

fn copy_of_four_bytes(source: CUdeviceptr, target: CUdeviceptr) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null_mut(),
        srcDevice: source,
        srcArray: CUarray::NULL,
        reserved0: std::ptr::null_mut(),
        srcPitch: 0,
        srcHeight: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CU_MEMORYTYPE_DEVICE,
        dstHost: std::ptr::null_mut(),
        dstDevice: target,
        dstArray: CUarray::NULL,
        reserved1: std::ptr::null_mut(),
        dstPitch: 0,
        dstHeight: 0,
        WidthInBytes: 4,
        Height: 1,
        Depth: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_software_driver_counts_nothing_for_executables_and_every_kind_is_made() {
        let machine = dacapo_sim::Machine::new(dacapo_sim::Options::default());
        let mut session = Session::open(&machine).unwrap();
        for kind in Kind::ALL {
            for (nodes, graphs) in [(1, 1), (20, 3)] {
                let measured = measure(&mut session, Case { kind, nodes, graphs }).unwrap();
                assert_eq!(measured.rounds, [Round::default(), Round::default()], "{kind:?}");
            }
        }
        assert!(machine.findings().is_empty());
    }
}

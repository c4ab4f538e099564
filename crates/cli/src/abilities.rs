//! What a driver can do, each ability with the calls it needs.

use dacapo_driver::Call;

/// Something a program may want of a driver.
pub struct Ability {
    /// Its name.
    pub name: &'static str,
    /// The calls without which it is not there.
    pub needs: &'static [Call],
}

/// Everything `doctor` looks for.
pub const ABILITIES: &[Ability] = &[
    Ability { name: "kernels from PTX", needs: &[Call::cuModuleLoadData, Call::cuLaunchKernel] },
    Ability {
        name: "streams and events",
        needs: &[Call::cuStreamCreate, Call::cuEventRecord, Call::cuStreamWaitEvent],
    },
    Ability { name: "stream-ordered memory", needs: &[Call::cuMemAllocAsync, Call::cuMemFreeAsync] },
    Ability { name: "pinned host memory", needs: &[Call::cuMemHostAlloc, Call::cuMemHostRegister_v2] },
    Ability { name: "stream capture", needs: &[Call::cuStreamBeginCapture_v2, Call::cuStreamEndCapture] },
    Ability { name: "capture into a graph", needs: &[Call::cuStreamBeginCaptureToGraph] },
    Ability {
        name: "graphs by explicit nodes",
        needs: &[Call::cuGraphAddKernelNode_v2, Call::cuGraphInstantiateWithFlags],
    },
    Ability {
        name: "updates of executable graphs",
        needs: &[Call::cuGraphExecUpdate_v2, Call::cuGraphExecKernelNodeSetParams_v2],
    },
    Ability { name: "nodes switched on and off", needs: &[Call::cuGraphNodeSetEnabled] },
    Ability { name: "memory nodes", needs: &[Call::cuGraphAddMemAllocNode, Call::cuGraphAddMemFreeNode] },
    Ability { name: "conditional nodes", needs: &[Call::cuGraphConditionalHandleCreate] },
    Ability { name: "user objects", needs: &[Call::cuUserObjectCreate, Call::cuGraphRetainUserObject] },
    Ability { name: "virtual memory", needs: &[Call::cuMemCreate, Call::cuMemMap] },
];

impl Ability {
    /// The calls it needs that `has` does not have.
    pub fn lacking(&self, has: impl Fn(Call) -> bool) -> Vec<Call> {
        self.needs.iter().copied().filter(|call| !has(*call)).collect()
    }
}

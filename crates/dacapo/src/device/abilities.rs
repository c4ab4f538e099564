//! What a device and its driver can do, each ability with what it needs.

use std::fmt;

use dacapo_driver::Call;

/// A feature of the driver, and the entry points it needs: an item of [`Abilities`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let capture = device.abilities().iter().find(|ability| ability.name == "stream capture").unwrap();
/// assert!(capture.is_supported() && capture.required);
/// assert_eq!(capture.needs[0].symbol(), "cuStreamBeginCapture_v2");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// What it is called.
    pub name: &'static str,
    /// The driver's entry points that it needs.
    pub needs: &'static [Call],
    /// Those that this driver lacks; empty if the ability is supported.
    pub lacking: Vec<Call>,
    /// Whether this library refuses a driver without it.
    pub required: bool,
}

impl Ability {
    /// Whether the driver has everything it needs.
    pub fn is_supported(&self) -> bool {
        self.lacking.is_empty()
    }
}

/// What a device and its driver can do: [`Device::abilities`](crate::Device::abilities). `Display` prints a table.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let abilities = device.abilities();
/// assert!(abilities.has("graphs by explicit nodes"));
/// for missing in abilities.iter().filter(|ability| !ability.is_supported()) {
///     println!("{}: lacks {:?}", missing.name, missing.lacking);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities(Vec<Ability>);

/// Name, needs, whether the library cannot do without it.
const ALL: &[(&str, &[Call], bool)] = &[
    ("kernels from PTX", &[Call::cuModuleLoadDataEx, Call::cuModuleGetFunction, Call::cuLaunchKernel], true),
    ("kernel parameters", &[Call::cuFuncGetParamInfo], true),
    ("streams and events", &[Call::cuStreamCreate, Call::cuEventRecord, Call::cuStreamWaitEvent], true),
    ("stream-ordered memory", &[Call::cuMemAllocAsync, Call::cuMemFreeAsync], true),
    ("pinned host memory", &[Call::cuMemHostAlloc, Call::cuMemFreeHost], true),
    (
        "graphs by explicit nodes",
        &[
            Call::cuGraphCreate,
            Call::cuGraphAddKernelNode_v2,
            Call::cuGraphAddMemcpyNode,
            Call::cuGraphAddMemsetNode,
            Call::cuGraphAddEmptyNode,
            Call::cuGraphInstantiateWithFlags,
            Call::cuGraphLaunch,
        ],
        true,
    ),
    (
        "changed nodes of executable graphs",
        &[
            Call::cuGraphExecKernelNodeSetParams_v2,
            Call::cuGraphExecMemcpyNodeSetParams,
            Call::cuGraphExecMemsetNodeSetParams,
            Call::cuGraphNodeSetEnabled,
        ],
        true,
    ),
    (
        "stream capture",
        &[Call::cuStreamBeginCapture_v2, Call::cuStreamEndCapture, Call::cuThreadExchangeStreamCaptureMode],
        true,
    ),
    ("capture into a graph", &[Call::cuStreamBeginCaptureToGraph, Call::cuStreamGetCaptureInfo_v3], true),
    ("update of whole graphs", &[Call::cuGraphExecUpdate_v2], false),
    ("memory nodes", &[Call::cuGraphAddMemAllocNode, Call::cuGraphAddMemFreeNode], false),
    ("conditional nodes", &[Call::cuGraphConditionalHandleCreate], false),
    ("programmatic edges", &[Call::cuGraphAddNode_v2], false),
    ("user objects", &[Call::cuUserObjectCreate, Call::cuGraphRetainUserObject], false),
    (
        "virtual memory",
        &[
            Call::cuMemGetAllocationGranularity,
            Call::cuMemAddressReserve,
            Call::cuMemCreate,
            Call::cuMemMap,
            Call::cuMemSetAccess,
            Call::cuMemUnmap,
            Call::cuMemRelease,
            Call::cuMemAddressFree,
        ],
        false,
    ),
];

impl Abilities {
    /// With a driver that has the calls that `has` says.
    pub(crate) fn with(has: impl Fn(Call) -> bool) -> Abilities {
        let ability = |&(name, needs, required): &(&'static str, &'static [Call], bool)| {
            let lacking = needs.iter().copied().filter(|call| !has(*call)).collect();
            Ability { name, needs, lacking, required }
        };
        Abilities(ALL.iter().map(ability).collect())
    }

    /// All abilities.
    pub fn iter(&self) -> impl Iterator<Item = &Ability> {
        self.0.iter()
    }

    /// Whether the ability with this name is supported; false for an unknown name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|ability| ability.name == name && ability.is_supported())
    }

    /// What the library cannot do without and is not there.
    pub(crate) fn missing(&self) -> Option<&Ability> {
        self.0.iter().find(|ability| ability.required && !ability.is_supported())
    }
}

impl fmt::Display for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ability in &self.0 {
            let answer = if ability.is_supported() { "yes" } else { "no" };
            write!(f, "{:<36} {answer}", ability.name)?;
            for call in &ability.lacking {
                let (major, minor) = (call.since() / 1000, call.since() % 1000 / 10);
                write!(f, "  lacks {} (CUDA {major}.{minor})", call.symbol())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_named_with_the_release_that_has_it() {
        let lacking = [Call::cuStreamBeginCaptureToGraph, Call::cuMemMap];
        let abilities = Abilities::with(|call| !lacking.contains(&call));
        let text = abilities.to_string();
        assert_eq!(text.lines().next(), Some("kernels from PTX                     yes"));
        let said: Vec<&str> = text.lines().filter(|line| line.contains("lacks")).collect();
        assert_eq!(
            said,
            [
                "capture into a graph                 no  lacks cuStreamBeginCaptureToGraph (CUDA 12.3)",
                "virtual memory                       no  lacks cuMemMap (CUDA 10.2)"
            ]
        );
    }
}

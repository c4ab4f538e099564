//! Copies from one device to another, in a report.

use std::fmt;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

/// From which device to which a copy goes, and how.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::{Across, Route};
/// let devices = dacapo::Device::software_group(2)?;
/// let (x, mut y) = (devices[0].zeros::<f32>(8)?, devices[1].zeros::<f32>(8)?);
/// let report = devices[0].graph().inspect(dacapo::copy(&x, &mut y))?;
/// assert_eq!(report.nodes[0].across, Some(Across::new(0, 1, Route::Direct)));
/// assert!(report.to_string().contains("from device 0 to device 1, directly"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Across {
    /// The number of the source's device.
    pub source: usize,
    /// The number of the target's device.
    pub target: usize,
    /// How it goes.
    pub route: Route,
}

impl Across {
    /// A copy between the devices of these numbers.
    pub fn new(source: usize, target: usize, route: Route) -> Across {
        Across { source, target, route }
    }
}

/// How a copy gets from one device to another.
///
/// ```
/// use dacapo::inspect::Route;
/// assert_eq!(Route::Staged.to_string(), "through memory of the host: the devices are no peers");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Route {
    /// The device that runs the copy has access to the memory of the other one.
    Direct,
    /// The driver takes it through memory of the host, because the two cannot be peers.
    Staged,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Route::Direct => "directly",
            Route::Staged => "through memory of the host: the devices are no peers",
        })
    }
}

impl fmt::Display for Across {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from device {} to device {}, {}", self.source, self.target, self.route)
    }
}

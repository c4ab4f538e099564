//! Captures three kernels on a stream, replays them as a graph, and checks the numbers after every replay.
//!
//! The numbers are small and whole, so every step is exact and the host can say what must come out.

use dacapo_driver::Call;
use dacapo_driver::types::*;

use crate::corpus::ptx;
use crate::session::{DeviceBytes, Geometry, Refused, Session, checked};

/// What is wrong with the numbers, or which call was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayError {
    /// A driver call was refused.
    Refused(Refused),
    /// After `replays` replays element `element` was `got` and not `want`.
    Wrong {
        /// How often the graph had been launched.
        replays: u32,
        /// Which element.
        element: usize,
        /// What it was.
        got: f32,
        /// What it should have been.
        want: f32,
    },
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::Refused(refused) => refused.fmt(f),
            ReplayError::Wrong { replays, element, got, want } => {
                write!(f, "after {replays} replays element {element} is {got}, should be {want}")
            }
        }
    }
}

impl std::error::Error for ReplayError {}

impl From<Refused> for ReplayError {
    fn from(refused: Refused) -> ReplayError {
        ReplayError::Refused(refused)
    }
}

const ELEMENTS: usize = 1000;

/// `y = 2 x + y; z = 3 y + z; z = z + 1`, captured once and replayed `replays` times.
pub fn capture_and_replay(session: &mut Session<'_>, replays: u32) -> Result<(), ReplayError> {
    let x: Vec<f32> = (0..ELEMENTS).map(|at| (at % 7) as f32).collect();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let (device_x, device_y, device_z) = (
        session.buffer(&bytes(&x))?,
        session.buffer(&bytes(&[0.0; ELEMENTS]))?,
        session.buffer(&bytes(&[0.0; ELEMENTS]))?,
    );

    let saxpy = session.kernel("saxpy", ptx("saxpy").unwrap_or_default(), "saxpy_f32")?;
    let add_one = session.kernel("parameters", ptx("parameters").unwrap_or_default(), "bounded")?;
    let geometry = Geometry { grid: [(ELEMENTS as u32).div_ceil(128), 1, 1], block: [128, 1, 1], shared_bytes: 0 };
    let n = (ELEMENTS as i32).to_le_bytes().to_vec();
    let pointer = |buffer: &DeviceBytes<'_>| buffer.address().to_le_bytes().to_vec();
    let scaled =
        |factor: f32, source, target| vec![n.clone(), factor.to_le_bytes().to_vec(), pointer(source), pointer(target)];

    let driver = session.driver();
    let mut stream = CUstream::NULL;
    // SAFETY: `stream` is valid for the write.
    checked(unsafe { driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) }, Call::cuStreamCreate, "")?;
    let captured = (|| {
        // SAFETY: the stream was made above and is destroyed at the end.
        let begun = unsafe { driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) };
        checked(begun, Call::cuStreamBeginCapture_v2, "")?;
        session.launch(saxpy, geometry, stream, &scaled(2.0, &device_x, &device_y), "y = 2 x + y")?;
        session.launch(saxpy, geometry, stream, &scaled(3.0, &device_y, &device_z), "z = 3 y + z")?;
        session.launch(add_one, geometry, stream, &[n.clone(), pointer(&device_z)], "z = z + 1")
    })();
    // Ended even when a launch failed: a stream left capturing refuses the calls that follow, and the report would be
    // about those instead of about the mistake.
    let mut graph = CUgraph::NULL;
    // SAFETY: `graph` is valid for the write.
    let ended = checked(unsafe { driver.cuStreamEndCapture(stream, &mut graph) }, Call::cuStreamEndCapture, "");
    captured.and(ended)?;
    let mut exec = CUgraphExec::NULL;
    // SAFETY: the capture gave the graph; `exec` is valid for the write.
    let instantiated = unsafe { driver.cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
    checked(instantiated, Call::cuGraphInstantiateWithFlags, "")?;
    // SAFETY: the executable graph does not need the graph it was made from.
    checked(unsafe { driver.cuGraphDestroy(graph) }, Call::cuGraphDestroy, "")?;

    let (mut y, mut z) = (vec![0.0f32; ELEMENTS], vec![0.0f32; ELEMENTS]);
    for replay in 1..=replays {
        // SAFETY: the three buffers live until this function returns, and each replay is waited for.
        checked(unsafe { driver.cuGraphLaunch(exec, stream) }, Call::cuGraphLaunch, "")?;
        session.synchronize(stream, "a replay")?;
        let got = device_z.read()?;
        for element in 0..ELEMENTS {
            y[element] += 2.0 * x[element];
            z[element] += 3.0 * y[element] + 1.0;
            let bits = [0, 1, 2, 3].map(|byte| got[4 * element + byte]);
            let (got, want) = (f32::from_le_bytes(bits), z[element]);
            if got != want {
                return Err(ReplayError::Wrong { replays: replay, element, got, want });
            }
        }
    }
    // SAFETY: the last replay has been waited for, and neither handle is used again.
    checked(unsafe { driver.cuGraphExecDestroy(exec) }, Call::cuGraphExecDestroy, "")?;
    // SAFETY: as above.
    checked(unsafe { driver.cuStreamDestroy_v2(stream) }, Call::cuStreamDestroy_v2, "")?;
    Ok(())
}

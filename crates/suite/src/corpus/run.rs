//! Runs one case on a driver.

use std::fmt;

use dacapo_driver::types::CUstream;

use super::case::{Argument, Case};
use super::modules::ptx;
use crate::session::{DeviceBytes, Refused, Session};

/// Bytes behind every buffer that no kernel may change.
const GUARD: [u8; 64] = [0xa7; 64];

/// Why a case gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The driver refused a call, or the kernel faulted.
    Refused(Refused),
    /// The kernel wrote behind argument number `argument`, or changed an input.
    Touched {
        /// The argument, from 0.
        argument: usize,
        /// The first byte that is not as it was, from the start of the buffer.
        byte: usize,
    },
    /// The case names a module that is not embedded.
    NoModule(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refused) => refused.fmt(f),
            Failure::Touched { argument, byte } => {
                write!(f, "argument {argument}: byte {byte} was changed, which is behind the data or in an input")
            }
            Failure::NoModule(module) => write!(f, "there is no module `{module}`"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        Failure::Refused(refused)
    }
}

/// Runs a case and returns the bytes of its outputs, in the order of [`Case::outputs`].
pub fn run(session: &mut Session<'_>, case: &Case) -> Result<Vec<Vec<u8>>, Failure> {
    let name = case.name();
    let text = ptx(case.module).ok_or(Failure::NoModule(case.module))?;
    let function = session.kernel(case.module, text, case.kernel)?;

    let mut buffers: Vec<Option<DeviceBytes<'_>>> = Vec::new();
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    for argument in &case.arguments {
        let (value, buffer) = match argument {
            Argument::Scalar(bytes) => (bytes.clone(), None),
            Argument::Null => (vec![0; 8], None),
            Argument::Buffer(buffer) => {
                let buffer = session.buffer(&[&buffer.bytes[..], &GUARD].concat())?;
                (buffer.address().to_le_bytes().to_vec(), Some(buffer))
            }
        };
        arguments.push(value);
        buffers.push(buffer);
    }
    match case.cooperative {
        true => session.launch_cooperative(function, case.geometry, CUstream::NULL, &arguments, &name)?,
        false => session.launch(function, case.geometry, CUstream::NULL, &arguments, &name)?,
    }
    session.synchronize(CUstream::NULL, &name)?;

    let mut outputs = Vec::new();
    for (at, (argument, buffer)) in case.arguments.iter().zip(&buffers).enumerate() {
        let (Argument::Buffer(before), Some(buffer)) = (argument, buffer) else { continue };
        let mut after = buffer.read()?;
        let guard = after.split_off(before.bytes.len());
        let changed = |was: &[u8], is: &[u8]| was.iter().zip(is).position(|(was, is)| was != is);
        if let Some(byte) = changed(&GUARD, &guard) {
            return Err(Failure::Touched { argument: at, byte: before.bytes.len() + byte });
        }
        match before.output {
            Some(_) => outputs.push(after),
            None => {
                if let Some(byte) = changed(&before.bytes, &after) {
                    return Err(Failure::Touched { argument: at, byte });
                }
            }
        }
    }
    Ok(outputs)
}

//! One rank sends a halo of four cells, and the other receives three.
//!
//! In NCCL: waits for ever, or writes beyond what was to be written.
//!
//! Near miss: it receives as many as are sent.

use dacapo::Recorder;

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let cells = match p.way {
        Mistake => 3,
        NearMiss => 4,
    };
    let mut halo = p.device.buffer(&[p.number() as u32; 4])?;
    let mut step = p.device.record(|r: &mut Recorder<'_>| match p.number() {
        0 => r.run(p.comm.send(&halo, 1)),
        _ => r.run(p.comm.recv(&mut halo[..cells], 0)),
    })?;
    step.launch(&p.stream)?;
    p.expect(&halo, &[0; 4])
}

//! Two ranks that each send first and receive then: neither send ends before the other rank receives.
//!
//! In NCCL: waits for ever, or not, as the size of the message has it.
//!
//! Near miss: the send and the receive begin together, as a group.

use dacapo::Recorder;

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let other = 1 - p.number();
    let (mine, mut theirs) = (p.device.buffer(&[p.number() as u32; 4])?, p.device.zeros::<u32>(4)?);
    let mut swap = p.device.record(|r: &mut Recorder<'_>| match p.way {
        Mistake => {
            r.run(p.comm.send(&mine, other))?;
            r.run(p.comm.recv(&mut theirs, other))
        }
        NearMiss => r.run(p.comm.group().send(&mine, other).recv(&mut theirs, other).op()),
    })?;
    swap.launch(&p.stream)?;
    p.expect(&theirs, &[other as u32; 4])
}

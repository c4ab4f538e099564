//! Two threads of each rank share a communicator, and nothing says which of them is first: on each rank it is another one.
//!
//! In NCCL: waits for ever, or leaves wrong numbers; as luck has it.
//!
//! Near miss: the thread that logs comes behind the one that trains, on every rank.

use std::thread;

use dacapo::collective::Reduce;

use super::{Result, Side};

type Turn<'t> = &'t mut (dyn FnMut() -> Result<()> + Send);

pub fn program(p: &Side<'_>) -> Result<()> {
    let (mut gradient, mut loss) = (p.device.buffer(&[1.0f32; 4])?, p.device.buffer(&[2.0f32])?);
    let mut trains = || {
        p.stream.run(p.comm.all_reduce_in_place(&mut gradient, Reduce::Sum))?;
        p.expect(&gradient, &[2.0; 4])
    };
    let mut logs = || {
        let stream = p.device.stream()?;
        stream.run(p.comm.all_reduce_in_place(&mut loss, Reduce::Average))?;
        p.expect(&loss, &[2.0])
    };
    let turns: [Turn<'_>; 2] = if p.errs(1) { [&mut logs, &mut trains] } else { [&mut trains, &mut logs] };
    thread::scope(|scope| turns.into_iter().try_for_each(|turn| scope.spawn(turn).join().expect("no thread panics")))
}

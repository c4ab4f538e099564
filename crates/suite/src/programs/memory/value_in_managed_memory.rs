//! Lets a stream write a flag into managed memory.
//!
//! On a GPU: INVALID_VALUE: streams write and wait for words of device memory and of pinned memory only.
//!
//! Near miss: the flag is in device memory.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let flag = match p.way {
        Mistake => p.managed("flag", 1)?,
        NearMiss => p.empty("flag", 1)?,
    };
    p.write_value(stream, &flag, 7)?;
    p.synchronize(stream)?;
    p.expect(&flag, &[7])
}

//! `cp.async`: 4, 8 or 16 bytes from global to shared memory, for each lane.
//!
//! The copy is complete when the instruction is: waiting for it does nothing. A kernel that forgets to wait therefore
//! works here; that is not reported yet.

use super::access::lanes;
use super::lanes::Regs;
use super::lanes::rows::addresses;
use super::machine::{Machine, Stop};
use super::op::NONE;
use super::report::{Bad, Doing};
use super::warp::Fragment;
use super::window;

impl Machine<'_> {
    /// Runs copy `index`.
    #[inline(never)]
    pub(super) fn copy_async(&mut self, index: u32, regs: &mut Regs<'_>, fragment: &Fragment, mask: u32) -> Stop<()> {
        let copy = self.code.copies[index as usize];
        let bytes = u64::from(copy.bytes);
        let (targets, sources) = (addresses(regs, &copy.target), addresses(regs, &copy.source));
        self.progress.effects += 1;
        for lane in lanes(mask) {
            let (target, source) = (targets[lane], sources[lane]);
            // What is not copied is filled with zeros (PTX ISA, `cp.async`).
            let count = match copy.count {
                NONE => bytes,
                column => u64::from(regs.r32[column as usize][lane]).min(bytes),
            };
            let one = 1 << lane;
            let inside = (self.shared.len() as u64).checked_sub(bytes).is_some_and(|room| target <= room);
            if !inside || !target.is_multiple_of(bytes) {
                return Err(self.bad_address(fragment, one, &targets, bytes, Doing::Write, Bad::Shared));
            }
            let mut data = [0; 16];
            if count > 0 {
                if source >= window::GLOBAL_END || !source.is_multiple_of(bytes) {
                    return Err(self.bad_address(fragment, one, &sources, bytes, Doing::Read, Bad::Address));
                }
                let inside = self.memory.read(source, &mut data[..count as usize]).is_ok();
                if !inside {
                    let Some(owner) = self.memory.passes(source, count) else {
                        return Err(self.bad_address(fragment, one, &sources, bytes, Doing::Read, Bad::Address));
                    };
                    self.passed_beyond(fragment, one, &sources, count, Doing::Read);
                    self.memory.read_beyond(owner, source, &mut data[..count as usize]);
                }
                let declared = if inside { one } else { 0 };
                self.check_declared(fragment.pc, declared, &sources, count, Doing::Read);
                if inside && self.uninitialised && !self.memory.initialised(source, count) {
                    let what = format!(
                        "copies {count} bytes that nothing has written, at {source:#x}, {}",
                        self.memory.describe(source)
                    );
                    let help = "write the memory first: a memset, a copy, or a store by this kernel";
                    self.note("uninitialised-read", fragment.pc, lane, &what, help);
                }
            }
            if self.watched {
                self.watch_global_copy(index, fragment.pc, &sources, lane, count as u32);
                self.watch_shared_copy(fragment.pc, lane, target as usize, &data[..bytes as usize]);
            }
            self.shared.write(target as usize, &data[..bytes as usize]);
        }
        Ok(())
    }
}

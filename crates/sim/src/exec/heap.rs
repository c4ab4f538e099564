//! `malloc` and `free` of a kernel, lane by lane.

use super::local::Local;
use super::machine::Machine;
use super::warp::Fragment;

impl Machine<'_> {
    /// `malloc(bytes)`: a block for each lane; 0 where the heap has no room.
    pub(super) fn allocate(&mut self, call: u32, local: &mut Local, fragment: &Fragment) {
        let call = &self.code.calls[call as usize];
        let base = fragment.base.local;
        let (&[(bytes, 8)], &[(result, 8)]) = (&call.args[..], &call.returns[..]) else { return };
        let label = format!("malloc in {}", self.kernel());
        for lane in super::access::lanes(fragment.mask) {
            let bytes = local.load(lane, base + bytes, 8).0;
            let block = self.memory.heap_alloc(bytes, &label);
            local.store(lane, base + result, 8, block);
        }
        self.progress.effects += 1;
    }

    /// `free(block)`; null is nothing. What is no block is told, and nothing happens to it.
    pub(super) fn release(&mut self, call: u32, local: &Local, fragment: &Fragment) {
        let call = &self.code.calls[call as usize];
        let &[(block, 8)] = &call.args[..] else { return };
        for lane in super::access::lanes(fragment.mask) {
            let block = local.load(lane, fragment.base.local + block, 8).0;
            if block != 0 && !self.memory.heap_free(block) {
                let what = format!("frees {block:#x}, which is {}", self.memory.describe(block));
                let help = "free once, and only what `malloc` gave a kernel";
                self.note("bad-free", fragment.pc, lane, &what, help);
            }
        }
        self.progress.effects += 1;
    }
}

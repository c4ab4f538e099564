//! Accesses outside of what a kernel was declared to touch.
//!
//! - Looked at only where the launch was told (`detect/declared.rs`). An access goes on as if nothing were wrong.
//! - Variables of modules may be read by whoever likes, unless some launch is declared to write them (`state`); who
//!   writes one must name it. A store to a constant is reported as such, and not once more.
//! - The workspace of a cooperative launch is the kernel's own.

use super::access::lanes;
use super::machine::Machine;
use super::report::Doing;
use dacapo_driver::DeclaredMode;

use crate::detect::declared::{Declared, Given, Window};
use crate::finding::{Ending, Finding};
use crate::memory::{Allocation, Kind};

impl Machine<'_> {
    /// The range around `address`, inside its allocation, that the kernel may read, or write.
    #[inline(never)]
    pub(super) fn find_window(&self, address: u64, writes: bool) -> Option<Window> {
        let declared = self.declared?;
        let allocation = self.memory.containing(address)?;
        let whole = Window { start: allocation.base, bytes: allocation.bytes };
        match declared.window(address, writes) {
            Some(window) => Some(window.within(whole)),
            None => self.is_free_to(allocation, writes).then_some(whole),
        }
    }

    /// May the kernel touch memory that nobody has declared?
    fn is_free_to(&self, allocation: &Allocation, writes: bool) -> bool {
        match allocation.kind {
            Kind::Heap => return true,
            Kind::Module => {}
            _ => return false,
        }
        let is_constant = || self.launch.image.constants().iter().any(|(from, _)| *from == allocation.base);
        match writes {
            true => allocation.base == self.workspace || is_constant(),
            false => !self.memory.is_written_state(allocation.base),
        }
    }

    /// Reports the lanes in `mask` whose access of `total` bytes is not declared. All are in allocations.
    #[inline]
    pub(super) fn check_declared(&mut self, pc: u32, mask: u32, addresses: &[u64; 32], total: u64, doing: Doing) {
        if self.declared.is_some() {
            self.check_declared_lanes(pc, mask, addresses, total, doing);
        }
    }

    #[inline(never)]
    fn check_declared_lanes(&mut self, pc: u32, mask: u32, addresses: &[u64; 32], total: u64, doing: Doing) {
        let writes = doing != Doing::Read;
        let mut outside = 0u32;
        for lane in lanes(mask) {
            let address = addresses[lane];
            if self.progress.lane_windows[usize::from(writes)].holds(address, total) {
                continue;
            }
            match self.find_window(address, writes) {
                Some(window) if window.holds(address, total) => {
                    self.progress.lane_windows[usize::from(writes)] = window;
                }
                _ => outside |= 1 << lane,
            }
        }
        if outside != 0 {
            self.undeclared(pc, mask, outside, addresses, total, doing);
        }
    }

    /// One report for each instruction of a launch and word.
    fn undeclared(&mut self, pc: u32, mask: u32, outside: u32, addresses: &[u64; 32], total: u64, doing: Doing) {
        let Some(declared) = self.declared else { return };
        let lane = outside.trailing_zeros() as usize;
        let address = addresses[lane];
        let Some(allocation) = self.memory.containing(address).cloned() else { return };
        let size = if total == 1 { "1 byte".to_string() } else { format!("{total} bytes") };
        let (code, why, help) = judge(declared, &allocation, address, doing);
        if !self.progress.first_time(pc, code) {
            return;
        }
        let what = format!("`{}` {} {size} at {address:#x}, {why}", self.kernel(), doing.verb());
        let finding = Finding::new(code, Ending::YourProgram, what);
        let mut finding = self.placed(finding, pc, Some(lane)).note(format!(
            "what lies there is {}, so that a GPU finds nothing wrong with it",
            self.memory.describe(address)
        ));
        if outside.count_ones() > 1 {
            finding = finding.note(format!(
                "{} of the {} threads that run here together do so",
                outside.count_ones(),
                mask.count_ones()
            ));
        }
        self.progress.findings.push(finding.help(help));
    }
}

/// The word, why the access is wrong, and what to do.
fn judge(declared: &Declared, allocation: &Allocation, address: u64, doing: Doing) -> (&'static str, String, String) {
    let nearest = declared.nearest(address);
    if allocation.kind == Kind::Module && nearest.is_none_or(|(_, distance)| distance != 0) {
        let name = &allocation.label;
        let (code, why) = match doing {
            Doing::Read => ("undeclared-access", "which other ops are declared to write and this one does not name"),
            Doing::Write | Doing::Update => ("undeclared-write", "which its op does not name"),
        };
        let why = format!("in the variable `{name}` of the module, {why}");
        return (code, why, format!("add `state: {name};` to the kernel's declaration"));
    }
    if declared.is_before_wait
        && let Some((given, 0)) = nearest
    {
        let (byte, name) = (address - given.window.start, &given.name);
        let why =
            format!("byte {byte} of `{name}`, before its `griddepcontrol.wait`, while kernels before it still run");
        let help = match given.mode {
            DeclaredMode::Read => {
                format!("touch `{name}` behind the wait, or add it to `early` in the kernel's declaration")
            }
            _ => format!("touch `{name}` behind the wait: what a kernel writes cannot be early"),
        };
        return ("undeclared-access", why, help);
    }
    let named = |given: &Given| format!("`{}` ({} bytes at {:#x})", given.name, given.window.bytes, given.window.start);
    let Some((given, distance)) = nearest else {
        let help = "give the op the memory that it touches: a parameter `&[T]`, `&mut [T]` or `&out [T]`";
        return ("undeclared-access", "and its op was given no memory".into(), help.into());
    };
    if distance == 0 && given.window.holds(address, 1) && doing != Doing::Read && !given.mode.writes() {
        let why = format!("byte {} of {}, which its op was given to read", address - given.window.start, named(given));
        let help = format!(
            "declare `{}` as `&mut` (`RawArg::write` for a raw kernel), or write to other memory: what is given by `&` may \
             be read by others at the same time",
            given.name
        );
        return ("undeclared-write", why, help);
    }
    let place = match distance {
        0 => format!("across the end of {}", named(given)),
        1 if address > given.window.start => format!("right past the end of {}", named(given)),
        n if address > given.window.start => format!("{} bytes past the end of {}", n - 1, named(given)),
        n => format!("{n} bytes before {}", named(given)),
    };
    let why = format!("which its op was not given: {place}");
    let help = "compare the index with the length before the access, or give the op all of the memory that it touches";
    ("undeclared-access", why, help.into())
}

//! Findings of the interpreter: one function for each kind, all texts in one place.
//!
//! Every finding about a kernel names the kernel, the place in the CUDA source where `.loc` gives one, the place in the
//! PTX, the block and the thread.

use dacapo_ptx::ir::{self, Instruction};

use super::access::{Group, lanes};
use super::launch::Fault;
use super::machine::{Machine, Problem};
use super::op::{Atomic, Code, LoadStore};
use super::program::{KernelId, Program};
use super::warp::{Fragment, State, Warp};
use super::window;
use crate::finding::{Ending, Finding};
use crate::memory::AccessErrorKind;

/// What a lane was about to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Read,
    Write,
    Update,
}

impl Doing {
    pub(super) fn verb(self) -> &'static str {
        match self {
            Doing::Read => "reads",
            Doing::Write => "writes",
            Doing::Update => "updates",
        }
    }
}

/// Why an access was refused; which lane is to blame is found here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// In no global allocation.
    Address,
    Alignment,
    /// An address of another space than the instruction's.
    Space,
    /// Something is wrong with an access to shared memory.
    Shared,
    Local,
    Param,
    /// A store to constants or parameters.
    ReadOnly,
}

fn cuda_place(module: &ir::Module, loc: Option<ir::SourceLoc>) -> Option<String> {
    let loc = loc?;
    let file = module.files.get(loc.file as usize).map_or("?", String::as_str);
    Some(match loc.column {
        0 => format!("{file}:{}", loc.line),
        column => format!("{file}:{}:{column}", loc.line),
    })
}

/// An instruction that is not interpreted.
pub(super) fn unsupported(
    module: &ir::Module,
    name: &str,
    i: &Instruction,
    known: Option<&ir::Unsupported>,
    why: &str,
) -> Finding {
    let (form, why) = match known {
        Some(known) => (known.form.clone(), known.why.clone()),
        None => (i.form.to_string(), why.to_string()),
    };
    let what = if why.contains('`') && known.is_some() { why } else { format!("`{form}`: {why}") };
    let mut finding = Finding::new("unsupported", Ending::Unsupported, what);
    if let Some(place) = cuda_place(module, i.loc) {
        finding = finding.at(place, "");
    }
    finding
        .at(format!("{name}:{}:{}", i.span.line, i.span.column), format!("`{form}`"))
        .help("run this kernel on a GPU, or write it without this instruction")
}

/// A function with more registers than the interpreter can number.
pub(super) fn too_many_registers(function: &str) -> Finding {
    Finding::new("unsupported", Ending::Unsupported, format!("`{function}` has more than 65000 registers of one kind"))
        .help("split the function")
}

/// A function with more local memory than a thread can have.
pub(super) fn too_much_local(function: &str, bytes: u64) -> Finding {
    let what = format!("`{function}` has local arrays of {bytes} bytes, and a thread has 524288");
    Finding::new("unsupported", Ending::Unsupported, what).help("keep the array in global memory")
}

/// `block (1,0,0), thread (3,0,0)`.
pub(super) fn who([bx, by, bz]: [u32; 3], tid: &[[u32; 32]; 3], lane: usize) -> String {
    format!("block ({bx},{by},{bz}), thread {}", thread(tid, lane))
}

/// `(3,0,0)`.
pub(super) fn thread(tid: &[[u32; 32]; 3], lane: usize) -> String {
    let [x, y, z] = tid.map(|column| column[lane]);
    format!("({x},{y},{z})")
}

/// Adds the places of the record at `pc`, as run by `who`.
pub(super) fn placed(program: &Program, code: &Code, finding: Finding, pc: u32, who: Option<String>) -> Finding {
    let found = code.origins.get(pc as usize).and_then(|origin| {
        program.module.functions.get(origin.function as usize)?.body.get(origin.instruction as usize)
    });
    let Some(i) = found else { return finding };
    let function = code.origins.get(pc as usize).map_or(0, |origin| origin.function);
    let text = program.module.text_of(dacapo_ptx::ir::FunctionId(function)).unwrap_or(&program.name);
    let ptx = format!("{text}:{}:{}", i.span.line, i.span.column);
    let form = format!("`{}`", i.form);
    match (cuda_place(&program.module, i.loc), who) {
        (Some(cuda), who) => finding.at(cuda, who.unwrap_or_default()).at(ptx, form),
        (None, Some(who)) => finding.at(ptx, format!("{form}, {who}")),
        (None, None) => finding.at(ptx, form),
    }
}

/// Adds the places of record `pc` of a kernel, as run by `who`.
pub(crate) fn placed_in(program: &Program, kernel: KernelId, finding: Finding, pc: u32, who: String) -> Finding {
    placed(program, program.code(kernel), finding, pc, Some(who))
}

impl Machine<'_> {
    /// Adds the places of the instruction at `pc`, as run by `lane`.
    pub(super) fn placed(&self, finding: Finding, pc: u32, lane: Option<usize>) -> Finding {
        placed(self.program, self.code, finding, pc, lane.map(|lane| who(self.block, self.tid, lane)))
    }

    pub(super) fn kernel(&self) -> &str {
        &self.program.info(self.launch.kernel).name
    }

    /// The problem of a refused load or store.
    pub(super) fn bad_access(&self, group: &Group<'_>, doing: Doing, bad: Bad) -> Box<Problem> {
        self.bad_address(group.fragment, group.mask, group.addresses, group.access.total(), doing, bad)
    }

    /// The problem of a refused atomic.
    pub(super) fn bad_atomic(
        &self,
        fragment: &Fragment,
        mask: u32,
        addresses: &[u64; 32],
        atomic: &Atomic,
        bad: Bad,
    ) -> Box<Problem> {
        self.bad_address(fragment, mask, addresses, atomic.bytes.into(), Doing::Update, bad)
    }

    /// The problem of a refused access of `total` bytes.
    pub(super) fn bad_address(
        &self,
        fragment: &Fragment,
        mask: u32,
        addresses: &[u64; 32],
        total: u64,
        doing: Doing,
        bad: Bad,
    ) -> Box<Problem> {
        let Some((fault, finding)) = self.bad_finding(fragment, mask, addresses, total, doing, bad) else {
            let what = "an access was refused and no lane is to blame";
            return Box::new(Problem::Fault(Fault::IllegalAddress, Finding::new("bug", Ending::OurBug, what)));
        };
        Box::new(Problem::Fault(fault, finding))
    }

    /// Notes an access beyond an allocation that a GPU lets pass; once for each instruction of a launch.
    #[inline(never)]
    pub(super) fn passed_beyond(
        &mut self,
        fragment: &Fragment,
        mask: u32,
        addresses: &[u64; 32],
        total: u64,
        doing: Doing,
    ) {
        if !self.progress.first_time(fragment.pc, "out-of-bounds") {
            return;
        }
        if let Some((_, finding)) = self.bad_finding(fragment, mask, addresses, total, doing, Bad::Address) {
            let what = match doing {
                Doing::Read => "what nobody has written there reads as zeros",
                Doing::Write | Doing::Update => "what was written is kept apart from all other memory",
            };
            self.progress.findings.push(finding.note(format!(
                "a GPU does not notice: the address lies in the same piece of mapped memory. The kernel goes on, and {what}"
            )));
        }
    }

    /// What is wrong with an access, and the fault it is.
    fn bad_finding(
        &self,
        fragment: &Fragment,
        mask: u32,
        addresses: &[u64; 32],
        total: u64,
        doing: Doing,
        bad: Bad,
    ) -> Option<(Fault, Finding)> {
        let judge = |lane: usize| self.judge(addresses[lane], total, bad, fragment);
        let verdicts: Vec<(usize, Verdict)> = lanes(mask).filter_map(|lane| Some((lane, judge(lane)?))).collect();
        let (lane, verdict) = verdicts.first()?;
        let size = if total == 1 { "1 byte".to_string() } else { format!("{total} bytes") };
        let what = format!("`{}` {} {size} {}", self.kernel(), doing.verb(), verdict.what);
        let mut finding = Finding::new(verdict.code, Ending::YourProgram, what);
        finding = self.placed(finding, fragment.pc, Some(*lane));
        let others = verdicts.iter().filter(|(_, v)| v.code == verdict.code).count();
        if others > 1 {
            finding =
                finding.note(format!("{others} of the {} threads that run here together do so", mask.count_ones()));
        }
        Some((verdict.fault, finding.help(verdict.help)))
    }

    /// What is wrong with one lane's access; `None` where nothing is.
    fn judge(&self, address: u64, total: u64, bad: Bad, fragment: &Fragment) -> Option<Verdict> {
        match bad {
            Bad::ReadOnly => Some(Verdict {
                code: "wrong-space",
                fault: Fault::InvalidAddressSpace,
                what: format!("at {address:#x}, in memory that kernels can only read"),
                help: "copy the value to a variable of your own before changing it",
            }),
            Bad::Shared => {
                let len = self.shared.len() as u64;
                let (fixed, dynamic) = (self.code.static_shared, self.launch.dynamic_shared);
                let size = format!("{len} bytes ({fixed} static, {dynamic} dynamic)");
                self.judge_in("shared", len, size, address, total)
            }
            Bad::Local => {
                let len = self.local_top(fragment.function, fragment.base);
                self.judge_in("local", len, format!("{len} bytes"), address, total)
            }
            Bad::Param => {
                let len = self.launch.params.len() as u64;
                self.judge_in("parameter", len, format!("{len} bytes"), address, total)
            }
            Bad::Address | Bad::Alignment | Bad::Space => self.judge_in_global(address, total),
        }
    }

    /// The same for a space of `len` bytes that is addressed from 0; `size` are the words for its size.
    fn judge_in(&self, space: &str, len: u64, size: String, address: u64, total: u64) -> Option<Verdict> {
        if len.checked_sub(total).is_some_and(|room| address <= room) {
            return (!address.is_multiple_of(total)).then(|| {
                Verdict::misaligned(format!("at byte {address} of {space} memory, not a multiple of {total}"))
            });
        }
        if self.memory.containing(address).is_some() || address >= window::GLOBAL_END {
            let what = format!("through an address of another space: {address:#x} is not in {space} memory");
            // The code an H200 answers for shared memory; for the other spaces none was seen.
            let fault = if space == "shared" { Fault::IllegalInstruction } else { Fault::InvalidAddressSpace };
            return Some(Verdict { fault, ..Verdict::foreign(what) });
        }
        Some(Verdict {
            code: "out-of-bounds",
            fault: Fault::IllegalAddress,
            what: format!("at byte {address} of {space} memory, which has {size}"),
            help: if space == "shared" {
                "make the shared array larger, or pass the size of dynamic shared memory at the launch"
            } else {
                "compare the index with the length before the access"
            },
        })
    }

    /// The same for global memory.
    fn judge_in_global(&self, address: u64, total: u64) -> Option<Verdict> {
        if address >= window::GLOBAL_END {
            let what = format!("through an address of another space: {address:#x} is not in global memory");
            return Some(Verdict::foreign(what));
        }
        if !address.is_multiple_of(total) {
            let what = format!("at {address:#x}, not a multiple of {total}: {}", self.memory.describe(address));
            return Some(Verdict::misaligned(what));
        }
        let error = self.memory.check(address, total).err()?;
        let (code, help) = match error.kind {
            AccessErrorKind::Null => ("null-pointer", "pass a device pointer for this parameter"),
            AccessErrorKind::Freed => {
                ("use-after-free", "free the memory after the last kernel that uses it has finished")
            }
            AccessErrorKind::OutOfBounds => {
                ("out-of-bounds", "compare the index with the length before the access: `if (i < n)`")
            }
            AccessErrorKind::NotAllocated => (
                "graph-memory-not-allocated",
                "order this work behind the launch, and behind the node, that allocates the memory",
            ),
            AccessErrorKind::NoAccess => (
                "no-access",
                "call cuMemMap and then cuMemSetAccess for the range before the first kernel that uses it",
            ),
            AccessErrorKind::PeerAccess => ("peer-access", "call cuCtxEnablePeerAccess first"),
        };
        if let Some((who, help)) = self.memory.out_of_reach(error.address) {
            let what = format!("at {address:#x}, {}: {who}", error.what);
            return Some(Verdict { code: "peer-access", fault: Fault::IllegalAddress, what, help });
        }
        let straddles = self.memory.straddles(address, total).filter(|_| error.kind == AccessErrorKind::OutOfBounds);
        let what = format!("at {address:#x}, {}", straddles.unwrap_or(error.what));
        Some(Verdict { code, fault: Fault::IllegalAddress, what, help })
    }

    /// Notes that lanes read what nobody wrote; once for each instruction of a launch.
    #[inline(never)]
    pub(super) fn uninitialised_read(
        &mut self,
        fragment: &Fragment,
        unwritten: u32,
        address: u64,
        access: &LoadStore,
        memory: &str,
    ) {
        if !self.progress.first_time(fragment.pc, "uninitialised-read") {
            return;
        }
        let lane = unwritten.trailing_zeros() as usize;
        let total = access.total();
        let size = if total == 1 { "1 byte".to_string() } else { format!("{total} bytes") };
        let place = match memory {
            "global memory" => format!("at {address:#x}, {}", self.memory.describe(address)),
            space => format!("at byte {address} of {space}"),
        };
        let what = format!("`{}` reads {size} that nothing has written, {place}", self.kernel());
        let finding = Finding::new("uninitialised-read", Ending::YourProgram, what);
        let mut finding = self.placed(finding, fragment.pc, Some(lane));
        if unwritten.count_ones() > 1 {
            finding = finding.note(format!("{} threads of this warp do so", unwritten.count_ones()));
        }
        self.progress
            .findings
            .push(finding.help("write the memory first: a memset, a copy, or a store by this kernel"));
    }

    /// Notes a mistake that does not end the kernel; once for each instruction of a launch.
    pub(super) fn note(&mut self, code: &'static str, pc: u32, lane: usize, what: &str, help: &str) {
        let asked_for = match code {
            "barrier-divergence" | "barrier-count" => self.detectors.barriers,
            "shuffle-missing-lane" | "warp-member-gone" | "warp-mask-without-self" => self.detectors.shuffles,
            _ => true,
        };
        if asked_for && self.progress.first_time(pc, code) {
            let finding = Finding::new(code, Ending::YourProgram, format!("`{}` {what}", self.kernel()));
            let finding = self.placed(finding, pc, Some(lane)).help(help);
            self.progress.findings.push(finding);
        }
    }

    /// Nothing in the block can run any more.
    pub(super) fn deadlock(&mut self, warps: &[Warp]) -> Box<Problem> {
        let waiting: Vec<(&Warp, &Fragment)> =
            warps.iter().flat_map(|w| w.flow.fragments.iter().map(move |f| (w, &**f))).collect();
        let threads: u32 = waiting.iter().map(|(_, f)| f.mask.count_ones()).sum();
        let live: u32 = warps.iter().map(|w| w.flow.live.count_ones()).sum();
        let exited: u32 = warps.iter().map(|w| w.lanes.count_ones()).sum::<u32>() - live;
        let [x, y, z] = self.block;
        let what = format!(
            "`{}` cannot go on: all {threads} threads of block ({x},{y},{z}) that have not exited wait",
            self.kernel()
        );
        let mut finding = Finding::new("deadlock", Ending::YourProgram, what);
        let mut places: Vec<u32> = waiting.iter().map(|(_, f)| f.pc).collect();
        places.sort_unstable();
        places.dedup();
        for &pc in places.iter().take(4) {
            let here = waiting.iter().filter(|(_, f)| f.pc == pc);
            let count: u32 = here.clone().map(|(_, f)| f.mask.count_ones()).sum();
            if let Some((warp, fragment)) = here.clone().next() {
                self.enter_warp(warp);
                finding = self.placed(finding, pc, Some(fragment.mask.trailing_zeros() as usize));
                let kind = match fragment.state {
                    State::Barrier(id) => format!("at barrier {id}"),
                    State::Warp(members) => format!("for the lanes {members:#010x} of their warp"),
                    State::Ready | State::Joining => "for each other".to_string(),
                };
                finding = finding.note(format!("{count} threads wait {kind} there"));
            }
        }
        if exited > 0 {
            finding = finding.note(format!("{exited} threads of the block have exited"));
        }
        let help = "let all threads that a barrier or a mask names come to it: move it out of the branch";
        Box::new(Problem::Fault(Fault::Timeout, finding.help(help)))
    }

    /// A fault at an instruction.
    pub(super) fn fault(
        &self,
        fault: Fault,
        code: &'static str,
        pc: u32,
        lane: usize,
        what: &str,
        help: &str,
    ) -> Box<Problem> {
        let finding = Finding::new(code, Ending::YourProgram, format!("`{}` {what}", self.kernel()));
        Box::new(Problem::Fault(fault, self.placed(finding, pc, Some(lane)).help(help)))
    }
}

/// What is wrong with an access.
struct Verdict {
    code: &'static str,
    fault: Fault,
    what: String,
    help: &'static str,
}

impl Verdict {
    fn misaligned(what: String) -> Verdict {
        Verdict {
            code: "misaligned",
            fault: Fault::MisalignedAddress,
            what,
            help: "the address must be a multiple of the access's size: look at casts to wider or vector types",
        }
    }

    fn foreign(what: String) -> Verdict {
        Verdict {
            code: "wrong-space",
            fault: Fault::InvalidAddressSpace,
            what,
            help: "pass generic pointers to functions that do not know the space, or convert them with `cvta`",
        }
    }
}

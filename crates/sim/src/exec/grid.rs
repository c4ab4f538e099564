//! A launch in progress: which blocks run, and when to stop.
//!
//! Blocks run in order, one to its end before the next begins, as long as that works. A block that uses up its turn
//! lets another one in, so that blocks may wait for each other up to the number of resident blocks; a cooperative
//! launch has all of them resident from the start. Where several cores are allowed, `apart` is tried first.

use std::io::Write as _;
use std::sync::Arc;

use super::apart;
use super::block::{Block, BlockTurn};
use super::global_race::KernelWatch;
use super::lanes::dispatch::Isa;
use super::launch::{Clock, ExecOptions, Fault, Launch, Outcome};
use super::machine::{Parts, Problem, Progress, Seen};
use super::op::{At, Code};
use super::report;
use super::warp::constants64;
use crate::detect::declared::{Announced, Declared};
use crate::finding::{Ending, Finding, FindingOp};
use crate::memory::{Kind, Memory, Request};

/// Warp instructions of a block before another one is let in.
const TURN: u64 = 1 << 18;
/// The same when all blocks are resident and may wait for each other.
const TURN_COOPERATIVE: u64 = 1 << 13;
/// Bytes of the workspace of a cooperative launch.
const WORKSPACE: u64 = 4096;

/// A launch in progress: owns all of its state, can be left after any quantum and continued later.
pub struct Grid {
    launch: Launch,
    options: ExecOptions,
    constants: Vec<Vec<u64>>,
    isa: Isa,
    progress: Progress,
    /// In boxes: each goes from one of the two to the other.
    #[allow(clippy::vec_box, reason = "to move a block is to move its address")]
    resident: Vec<Box<Block>>,
    #[allow(clippy::vec_box, reason = "to move a block is to move its address")]
    spare: Vec<Box<Block>>,
    /// The resident block whose turn is next.
    current: usize,
    next: u64,
    total: u64,
    /// Blocks in a row that only polled.
    polling: usize,
    /// Warp instructions of the current block's turn so far.
    turn_used: u64,
    /// Warp instructions so far, without those that only polled.
    used: u64,
    workspace: Option<u64>,
    over: bool,
    /// Blocks that have executed `griddepcontrol.launch_dependents`, or are over.
    triggered: u64,
    /// Threads that its blocks ran on; 0 before that is decided.
    cores: usize,
    /// Whose it is, where that was told.
    by: Option<Arc<FindingOp>>,
    /// What it may touch, where that was told and is asked for.
    declared: Option<Arc<Declared>>,
    /// Which blocks have touched global memory, where that is asked for.
    blocks: Option<Box<KernelWatch>>,
}

impl Grid {
    /// A launch of which nothing has run yet.
    pub fn new(launch: Launch, options: &ExecOptions) -> Grid {
        let code = launch.image.program().code(launch.kernel);
        let constants = constants64(code, |index| launch.image.address(index));
        let progress = Progress::new(code);
        let total = launch.grid.iter().fold(1u64, |all, &n| all.saturating_mul(u64::from(n)));
        // One block has nobody to race with.
        let watches = options.detectors.global_races && total > 1;
        let blocks = watches.then(|| Box::new(KernelWatch::new(launch.image.program(), code, launch.block)));
        Grid {
            blocks,
            constants,
            progress,
            isa: Isa::at_most(options.instructions),
            options: options.clone(),
            launch,
            resident: Vec::new(),
            spare: Vec::new(),
            current: 0,
            next: 0,
            total,
            polling: 0,
            turn_used: 0,
            used: 0,
            workspace: None,
            over: false,
            triggered: 0,
            cores: 0,
            by: None,
            declared: None,
        }
    }

    /// Whose the launch is, and what it may touch, as a driver is told it ([`dacapo_driver::Driver::declare`]): findings
    /// name the op, and all else that is touched is a finding, where that is asked for.
    pub fn declare(&mut self, declared: &dacapo_driver::Declared<'_>) {
        self.announce(Announced::new(declared));
    }

    /// The same, where it may be that nobody has told.
    pub(crate) fn announce(&mut self, announced: Announced) {
        self.by = announced.by;
        self.declared = announced.declared.filter(|_| self.options.detectors.undeclared);
    }

    /// Whose it is, where that was told.
    pub(crate) fn by(&self) -> Option<&Arc<FindingOp>> {
        self.by.as_ref()
    }

    /// Runs up to about `warp_instructions` instructions of warps.
    ///
    /// After [`Outcome::Done`], [`Outcome::Fault`] or [`Outcome::Unsupported`] the launch is over, and another call
    /// answers `Done`.
    pub fn run(&mut self, memory: &mut Memory, clock: &mut dyn Clock, warp_instructions: u64) -> Outcome {
        let outcome = self.advance(memory, clock, warp_instructions);
        if !matches!(outcome, Outcome::Yield | Outcome::Waits) {
            self.over = true;
            self.resident.clear();
            self.spare.clear();
            self.blocks = None;
            if let Some(workspace) = self.workspace.take() {
                memory.free(workspace);
            }
        }
        outcome
    }

    fn advance(&mut self, memory: &mut Memory, clock: &mut dyn Clock, warp_instructions: u64) -> Outcome {
        if self.over || self.launch.block.contains(&0) {
            return Outcome::Done;
        }
        if self.launch.cooperative && self.workspace.is_none() && !self.make_workspace(memory) {
            return self.no_host_memory();
        }
        if self.cores == 0 {
            self.cores = 1;
            if self.run_apart(memory) {
                return Outcome::Done;
            }
        }
        let turn_length = if self.launch.cooperative { TURN_COOPERATIVE } else { TURN };
        let wanted = if self.launch.cooperative { self.total } else { 1 };
        let mut left = warp_instructions.max(1);
        loop {
            while self.next < self.total && (self.resident.len() as u64) < wanted.max(1) {
                if !self.admit() {
                    return self.no_host_memory();
                }
            }
            if self.resident.is_empty() {
                return Outcome::Done;
            }
            self.current %= self.resident.len();
            let program = self.launch.image.program();
            let declared = self.declared.as_deref().map(|whole| match &whole.before_wait {
                Some(early) if self.progress.held => early,
                _ => whole,
            });
            let parts = Parts {
                code: program.code(self.launch.kernel),
                program,
                launch: &self.launch,
                options: &self.options,
                constants: &self.constants,
                isa: self.isa,
                memory,
                clock,
                progress: &mut self.progress,
                workspace: self.workspace.unwrap_or(0),
                declared,
                blocks: self.blocks.as_deref_mut(),
            };
            let (turn, ran) = match self.resident[self.current].run(parts, turn_length.min(left)) {
                Ok(done) => done,
                Err(problem) => {
                    return match *problem {
                        Problem::Fault(fault, finding) => Outcome::Fault(fault, self.labelled(finding)),
                        Problem::Unsupported(finding) => Outcome::Unsupported(self.labelled(finding)),
                    };
                }
            };
            left = left.saturating_sub(ran.max(1));
            if let Some(outcome) = self.count_turn(turn, ran, left, turn_length) {
                return outcome;
            }
            if self.used > self.options.budget {
                return self.endless();
            }
            if left == 0 {
                let finished = self.resident.is_empty() && self.next == self.total;
                return if finished { Outcome::Done } else { Outcome::Yield };
            }
        }
    }

    /// Memory for a cooperative launch to synchronise its blocks with; false where the host has none.
    fn make_workspace(&mut self, memory: &mut Memory) -> bool {
        let request = Request { bytes: WORKSPACE, align: 256, kind: Kind::Module, label: "cooperative workspace" };
        self.workspace = memory.alloc(request).ok();
        self.workspace.inspect(|&address| memory.mark_initialised(address)).is_some()
    }

    /// The current block has had its turn of `ran` instructions, and there are `left` for others: who is next, and what to
    /// answer if this call is over.
    fn count_turn(&mut self, turn: BlockTurn, ran: u64, left: u64, turn_length: u64) -> Option<Outcome> {
        let triggers = std::mem::take(&mut self.progress.triggered) || turn == BlockTurn::Done;
        let newly = triggers && !std::mem::replace(&mut self.resident[self.current].triggered, true);
        self.triggered += u64::from(newly);
        match turn {
            BlockTurn::Done => {
                self.used += ran;
                self.polling = 0;
                self.turn_used = 0;
                let block = self.resident.remove(self.current);
                if let Some(blocks) = &mut self.blocks {
                    blocks.end(&self.launch, block.index());
                }
                self.spare.push(block);
            }
            BlockTurn::Over if triggers => {
                self.used += ran;
                self.polling = 0;
                self.turn_used = 0;
                self.rotate();
                if newly && self.triggered == self.total {
                    // Whoever waits for this may run next.
                    return Some(Outcome::Yield);
                }
            }
            BlockTurn::Over => {
                self.used += ran;
                self.polling = 0;
                // A block's turn goes on over calls: a short quantum must not keep the others out for ever.
                self.turn_used += ran;
                if left > 0 || self.turn_used >= turn_length {
                    self.turn_used = 0;
                    self.rotate();
                }
            }
            BlockTurn::Polls => {
                self.polling += 1;
                let full = !self.rotate();
                if full && self.polling >= self.resident.len() {
                    self.polling = 0;
                    return Some(Outcome::Waits);
                }
            }
        }
        None
    }

    /// Runs all blocks on several threads, if that can be done and is worth it; false: nothing has happened.
    fn run_apart(&mut self, memory: &mut Memory) -> bool {
        // A wait would wait.
        if self.progress.held {
            return false;
        }
        let whole = apart::Whole {
            launch: &self.launch,
            options: &self.options,
            constants: &self.constants,
            isa: self.isa,
            blocks: self.total,
        };
        let Some(done) = apart::run(&whole, memory) else { return false };
        self.progress.executed = done.executed;
        self.progress.effects = done.effects;
        self.used = done.used;
        self.cores = done.cores;
        (self.next, self.triggered) = (self.total, self.total);
        true
    }

    /// Goes to the next resident block, and lets another one in if there is one. Gives whether it did.
    fn rotate(&mut self) -> bool {
        let room = self.resident.len() < self.options.resident_blocks as usize;
        let admitted = room && self.next < self.total && self.admit();
        self.current += 1;
        admitted
    }

    /// Starts the next block; false where the host has no memory for it.
    fn admit(&mut self) -> bool {
        let code = self.launch.image.program().code(self.launch.kernel);
        let shared = code.dynamic_shared_at as usize + self.launch.dynamic_shared as usize;
        let (mut block, fresh) = match self.spare.pop() {
            Some(block) => (block, false),
            None => {
                match Block::new(self.launch.block, shared, self.options.detectors.shared_races.then(|| grain(code))) {
                    Some(block) => (Box::new(block), true),
                    None => return false,
                }
            }
        };
        let (index, seed) = block_of(&self.launch, &self.options, self.next);
        block.start(index, code, &self.constants, fresh, seed);
        self.next += 1;
        self.resident.push(block);
        true
    }

    fn no_host_memory(&self) -> Outcome {
        let what = format!("the host has no memory left to run `{}`", self.name());
        Outcome::Unsupported(Finding::new("unsupported", Ending::Unsupported, what).by(self.by()))
    }

    fn endless(&self) -> Outcome {
        let what = format!("`{}` is still running after {} warp instructions", self.name(), self.used);
        let mut finding = Finding::new("endless-loop", Ending::YourProgram, what);
        // Where it happens to be: inside the loop, if it is one.
        let program = self.launch.image.program();
        let at = self.current.min(self.resident.len().saturating_sub(1));
        if let Some((pc, who)) = self.resident.get(at).and_then(|block| block.position()) {
            finding = report::placed(program, program.code(self.launch.kernel), finding, pc, Some(who));
        }
        if self.next < self.total {
            finding = finding.note(format!(
                "{} of {} blocks have not started: a block that waits for one of them waits for ever, because blocks are \
                 not promised to run at the same time",
                self.total - self.next,
                self.total
            ));
        }
        let finding = finding.help("look for a loop whose condition never changes, or raise the instruction budget");
        Outcome::Fault(Fault::Timeout, self.labelled(finding))
    }

    fn name(&self) -> &str {
        &self.launch.image.program().info(self.launch.kernel).name
    }

    /// A finding on its way out: with the op that the launch is of, and with the name of the launch.
    fn labelled(&self, finding: Finding) -> Finding {
        let finding = finding.by(self.by());
        if self.launch.label.is_empty() || self.launch.label == self.name() {
            return finding;
        }
        finding.note(format!("in the launch `{}`", self.launch.label))
    }

    /// What was found so far and did not end the kernel; each is given once.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        let found = std::mem::take(&mut self.progress.findings);
        found.into_iter().map(|finding| self.labelled(finding)).collect()
    }

    /// What the kernel has printed since the last call, by `printf`. What nobody takes goes to the standard output when
    /// the launch is dropped, as a CUDA program would see it.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.progress.output)
    }

    /// Values that the kernel gave to graph conditionals so far, in order: (handle, value); each is given once.
    pub fn take_conditionals(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.progress.conditionals)
    }

    /// All blocks have begun.
    pub fn has_begun(&self) -> bool {
        self.next == self.total
    }

    /// All blocks have executed `griddepcontrol.launch_dependents`, or are over.
    pub fn has_triggered(&self) -> bool {
        self.triggered == self.total
    }

    /// Whether kernels that this one may overlap with are not over: `griddepcontrol.wait` then waits.
    pub fn hold(&mut self, held: bool) {
        self.progress.held = held;
        self.progress.at_wait &= held;
    }

    /// Somebody stands at a `griddepcontrol.wait` that waits.
    pub fn is_at_wait(&self) -> bool {
        self.progress.held && self.progress.at_wait
    }

    /// What its instructions touch from now on is told apart from what they have touched.
    pub(crate) fn touch_anew(&mut self) {
        self.progress.touches.iter_mut().for_each(|memos| memos.fill(Default::default()));
    }

    /// Where its instructions were last is forgotten: memory may be another's, or out of reach, by now.
    pub(crate) fn look_anew(&mut self) {
        self.progress.seen.iter_mut().for_each(|seen| *seen = Seen::NOWHERE);
        self.progress.atomic_slots.fill(u32::MAX);
    }

    /// Instructions executed so far, counted once for each active lane.
    pub fn executed(&self) -> u64 {
        self.progress.executed
    }

    /// Threads of the host that its blocks ran on, or run on.
    pub fn cores(&self) -> usize {
        self.cores.max(1)
    }

    /// What was launched.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        if !self.progress.output.is_empty() {
            // A closed output is no reason to fail: the program can do nothing about what a kernel prints.
            let _ = std::io::stdout().write_all(&self.progress.output);
        }
    }
}

/// `%ctaid` of block number `n`, and what decides the order inside it.
pub(super) fn block_of(launch: &Launch, options: &ExecOptions, n: u64) -> ([u32; 3], u64) {
    let [x, y, _] = launch.grid.map(u64::from);
    let index = [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32];
    let seed = if options.seed == 0 { 0 } else { (options.seed ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 };
    (index, seed)
}

/// The smallest piece in which a kernel may access shared memory.
fn grain(code: &Code) -> u8 {
    let may_be_shared = |at: At| matches!(at, At::Shared | At::Generic);
    let accesses = code.accesses.iter().filter(|a| may_be_shared(a.address.at)).map(|a| a.bytes);
    let atomics = code.atomics.iter().filter(|a| may_be_shared(a.address.at)).map(|a| a.bytes);
    accesses.chain(atomics).min().unwrap_or(4)
}

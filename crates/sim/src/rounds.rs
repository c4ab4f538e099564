//! A WHILE node that does not end: what is said of it, and when.
//!
//! - After [`Options::rounds_max`](crate::Options::rounds_max) rounds the launch ends with the finding `endless-while` and
//!   the context is broken, as by a kernel that does not end.
//! - The finding names the node, its condition, each kernel of the body that sets that condition, the memory that such a
//!   kernel decides by, and what in the body could change that memory. Kernels that were launched by the library are named
//!   by their ops.
//! - In live time a loop whose body is given memory of the host may wait for the host, which is no mistake.

use std::sync::Arc;

use dacapo_ptx::effects::AccessKind;

use crate::detect::declared::Window;
use crate::enqueue::{Choice, Piece};
use crate::exec::placed_in;
use crate::finding::{Ending, Finding, FindingOp};
use crate::machine::State;
use crate::memory::Kind;
use crate::model::conditional::Condition;
use crate::model::work::KernelWork;
use crate::options::Time;

/// The whole numbers of eight bytes among the arguments of a kernel, by their places.
fn words(work: &KernelWork) -> impl Iterator<Item = (usize, u64)> {
    let word = |(at, bytes): (usize, &[u8])| Some((8 * at, u64::from_le_bytes(bytes.try_into().ok()?)));
    work.params.chunks_exact(8).enumerate().filter_map(word)
}

/// What is in the bodies of a conditional node.
fn pieces(choice: &Choice) -> Vec<(u32, Piece<'_>)> {
    let mut all = Vec::new();
    choice.bodies.iter().for_each(|body| body.pieces(&mut all));
    all
}

/// The kernels among them.
fn kernels<'p>(pieces: &'p [(u32, Piece<'p>)]) -> impl Iterator<Item = &'p KernelWork> {
    pieces.iter().filter_map(|(_, piece)| match piece {
        Piece::Kernel(work) => Some(*work),
        _ => None,
    })
}

/// Whether a kernel is one that sets a condition, and is given this one.
fn sets(work: &KernelWork, condition: &Condition) -> bool {
    let calls = work.function.image.program().sets_condition(work.function.kernel).is_some();
    calls && words(work).any(|(_, word)| word == condition.handle)
}

/// How reports name what is in a body.
fn described(number: u32, piece: &Piece<'_>) -> String {
    let named = |name: &str, by: Option<&Arc<FindingOp>>| match by {
        Some(op) => format!("{name} ({op}, {})", op.place()),
        None => format!("{name} of node {number}"),
    };
    match piece {
        Piece::Copy(work) => named("the copy", work.by.as_ref()),
        Piece::Set(work) => named("the memset", work.by.as_ref()),
        Piece::Kernel(work) => named(&format!("`{}`", work.function.name.to_string_lossy()), work.by.as_ref()),
    }
}

impl State {
    /// Whether the body of a loop may decide by what the host writes meanwhile.
    pub(crate) fn may_wait_for_host(&self, choice: &Choice) -> bool {
        let is_host = |address| {
            let kind = self.memory.containing(address).map(|allocation| allocation.kind);
            matches!(kind, Some(Kind::HostPinned | Kind::HostRegistered | Kind::Managed))
        };
        self.options.time == Time::Live
            && kernels(&pieces(choice)).any(|work| words(work).any(|(_, address)| is_host(address)))
    }

    /// The finding about a WHILE node after so many rounds.
    pub(crate) fn endless_while(&self, choice: &Choice, rounds: u64) -> Finding {
        let (condition, value) = (&choice.condition, choice.condition.value());
        let what = format!("WHILE node {} is still running after {rounds} rounds", choice.number);
        let mut finding = Finding::new("endless-while", Ending::YourProgram, what);
        let default = condition.default.map_or("no default".to_string(), |default| format!("default {default}"));
        let which = format!("condition {} (handle {:#x}, {default})", condition.number(), condition.handle);
        let mut notes = vec![format!("it runs by {which}, which is {value} now; it ends when its body leaves 0 there")];
        let pieces = pieces(choice);
        let setters: Vec<&KernelWork> = kernels(&pieces).filter(|work| sets(work, condition)).collect();
        if setters.is_empty() {
            notes.push(format!("no kernel of its body is given condition {}", condition.number()));
        }
        let mut help =
            "let a kernel of the body call cudaGraphSetConditional with 0 at some time, or raise `rounds_max`";
        for work in setters {
            let (program, kernel) = (work.function.image.program(), work.function.kernel);
            let mut name = format!("`{}`", work.function.name.to_string_lossy());
            if let (Some(op), Some(_)) = (&work.by, &work.declared) {
                // The library's own kernel: what there is to edit is the op.
                let label = if op.label.is_empty() { String::new() } else { format!(" (labelled `{}`)", op.label) };
                name = format!("op `{}`{label}", op.op);
                finding = finding.at(op.place(), format!("{name} sets the condition"));
                finding.ops.push(FindingOp::clone(op));
                help =
                    "let an op of the body change what the condition looks at, or give the loop a bound: `up_to(..)`";
            } else if let Some(pc) = program.sets_condition(kernel) {
                finding = placed_in(program, kernel, finding, pc, format!("{name} sets the condition"));
                finding = finding.by(work.by.as_ref());
            }
            notes.extend(self.decides_by(work, &pieces).into_iter().map(|by| format!("{name} reads {by}")));
        }
        finding.notes = notes;
        finding.help(help)
    }

    /// What a kernel decides by, and what in the body could change that.
    fn decides_by(&self, work: &KernelWork, pieces: &[(u32, Piece<'_>)]) -> Vec<String> {
        let read = match &work.declared {
            // What it may write as well is its own books.
            Some(declared) => {
                declared.given.iter().filter(|given| !given.mode.writes()).map(|given| given.window).collect()
            }
            None => self.behind(work, |kind| kind != AccessKind::Write),
        };
        if read.is_empty() && work.declared.is_some() {
            return vec!["no memory: it decides by values that are the same in each round".into()];
        }
        let by = |window: Window| {
            let place = self.memory.describe(window.start);
            let mut who: Vec<String> = pieces
                .iter()
                .filter(|(_, piece)| self.written_by(piece).into_iter().any(|written| written.meets(window)))
                .map(|(number, piece)| described(*number, piece))
                .collect();
            who.dedup();
            match who.is_empty() {
                true => format!("{place}, which nothing in the body writes: each round decides the same"),
                false => format!("{place}; in the body that can be written by {}", who.join(", ")),
            }
        };
        let mut all: Vec<String> = read.into_iter().map(by).collect();
        all.dedup();
        all
    }

    /// The memory that something in a body may write.
    fn written_by(&self, piece: &Piece<'_>) -> Vec<Window> {
        match piece {
            Piece::Kernel(KernelWork { declared: Some(declared), .. }) => {
                declared.given.iter().filter(|given| given.mode.writes()).map(|given| given.window).collect()
            }
            Piece::Kernel(work) => self.behind(work, |kind| kind != AccessKind::Read),
            Piece::Copy(work) => {
                let [bytes, rows, slices] = work.extent;
                let before = slices.saturating_sub(1) * work.target.slice + rows.saturating_sub(1) * work.target.pitch;
                vec![Window { start: work.target.address, bytes: before + bytes }]
            }
            Piece::Set(work) => {
                let bytes = work.height.saturating_sub(1) * work.pitch + work.width * u64::from(work.element);
                vec![Window { start: work.address, bytes }]
            }
        }
    }

    /// The memory that a kernel touches through its parameters: from each address to the end of the allocation.
    fn behind(&self, work: &KernelWork, wanted: fn(AccessKind) -> bool) -> Vec<Window> {
        let touched = work.function.image.program().touches_through(work.function.kernel, wanted);
        let pointers = words(work).filter(|(at, _)| touched.iter().any(|p| p.offset == *at && p.size == 8));
        let window = |(_, address)| {
            let found = self.memory.containing(address)?;
            Some(Window { start: address, bytes: found.base + found.bytes - address })
        };
        pointers.filter_map(window).collect()
    }
}

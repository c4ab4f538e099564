//! A WHILE node that does not end: what is said of it, and when.
//!
//! - After [`Options::rounds_max`](crate::Options::rounds_max) rounds the launch ends with the finding `endless-while` and
//!   the context is broken, as by a kernel that does not end.
//! - The finding names the node, its condition, each kernel of the body that sets that condition, and the memory that
//!   such a kernel reads: a decision that never changes was made there.
//! - In live time a loop whose body is given memory of the host may wait for the host, which is no mistake.

use crate::enqueue::Choice;
use crate::exec::placed_in;
use crate::finding::{Ending, Finding};
use crate::machine::State;
use crate::memory::Kind;
use crate::model::work::KernelWork;
use crate::options::Time;

/// The whole numbers of eight bytes among the arguments of a kernel, by their places.
fn words(work: &KernelWork) -> impl Iterator<Item = (usize, u64)> {
    let word = |(at, bytes): (usize, &[u8])| Some((8 * at, u64::from_le_bytes(bytes.try_into().ok()?)));
    work.params.chunks_exact(8).enumerate().filter_map(word)
}

/// The kernels of the bodies of a conditional node.
fn kernels(choice: &Choice) -> Vec<&KernelWork> {
    let mut all = Vec::new();
    choice.bodies.iter().for_each(|body| body.kernels(&mut all));
    all
}

impl State {
    /// Whether the body of a loop may decide by what the host writes meanwhile.
    pub(crate) fn may_wait_for_host(&self, choice: &Choice) -> bool {
        let is_host = |address| {
            let kind = self.memory.containing(address).map(|allocation| allocation.kind);
            matches!(kind, Some(Kind::HostPinned | Kind::HostRegistered))
        };
        self.options.time == Time::Live
            && kernels(choice).into_iter().any(|work| words(work).any(|(_, address)| is_host(address)))
    }

    /// The finding about a WHILE node after so many rounds.
    pub(crate) fn endless_while(&self, choice: &Choice, rounds: u64) -> Finding {
        let (condition, value) = (&choice.condition, choice.condition.value());
        let what = format!("WHILE node {} is still running after {rounds} rounds", choice.number);
        let mut finding = Finding::new("endless-while", Ending::YourProgram, what);
        let default = condition.default.map_or("no default".to_string(), |default| format!("default {default}"));
        let which = format!("condition {} ({default})", condition.number());
        let is_setter = |work: &&KernelWork| {
            let program = work.function.image.program();
            program.sets_condition(work.function.kernel).is_some()
                && words(work).any(|(_, word)| word == condition.handle)
        };
        let setters: Vec<&KernelWork> = kernels(choice).into_iter().filter(is_setter).collect();
        let mut notes = vec![format!("it runs by {which}, which is {value} now; it ends when its body leaves 0 there")];
        if setters.is_empty() {
            notes.push(format!("no kernel of its body is given condition {}", condition.number()));
        }
        for work in setters {
            let (program, kernel) = (work.function.image.program(), work.function.kernel);
            let name = work.function.name.to_string_lossy();
            if let Some(pc) = program.sets_condition(kernel) {
                finding = placed_in(program, kernel, finding, pc, format!("`{name}` sets the condition"));
            }
            notes.extend(self.read_by(work).map(|read| format!("`{name}` reads {read}")));
        }
        finding.notes = notes;
        finding.help("let a kernel of the body call cudaGraphSetConditional with 0 at some time, or raise `rounds_max`")
    }

    /// The memory that a kernel reads through its parameters.
    fn read_by(&self, work: &KernelWork) -> impl Iterator<Item = String> {
        let read = work.function.image.program().reads_through(work.function.kernel);
        let pointers = words(work).filter(move |(at, _)| read.iter().any(|p| p.offset == *at && p.size == 8));
        let mut read: Vec<String> = pointers.map(|(_, address)| self.memory.describe(address)).collect();
        read.dedup();
        read.into_iter()
    }
}

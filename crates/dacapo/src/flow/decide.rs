//! The kernel that decides conditions, as a node.
//!
//! One launch of one thread: it compares, keeps the state of a loop, and sets the handles of conditional nodes. In an eager run
//! there are no handles, and the host reads the state.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::device::{Device, Guest};
use crate::error::{Error, ErrorKind, Result};
use crate::flow::condition::Term;
use crate::flow::operand::{Side, Word};
use crate::kernel::{Args, Function, ModuleSource, grid};
use crate::memory::Access;
use crate::record::{KernelWork, Node, Recorder, Work};
use crate::value::{AnySlot, Snapshot};

/// What the kernel does with what it has found: the numbers of kernels/condition.cu.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    If = 0,
    Begin = 1,
    End = 2,
    Leave = 3,
    Switch = 4,
}

/// One decision.
pub(super) struct Decision {
    pub(super) name: &'static str,
    pub(super) at: &'static Location<'static>,
    pub(super) mode: Mode,
    pub(super) on: On,
    /// How many rounds there may be; none is no bound.
    pub(super) bound: Option<Side>,
    pub(super) state: Access,
    /// The state of the rest of a round, behind a way out of it.
    pub(super) rest: Option<Access>,
    /// The conditions that it sets: that of the rest first, where there is one.
    pub(super) sets: SmallVec<[u32; 2]>,
}

/// What is looked at.
pub(super) enum On {
    Condition(Term),
    Index(Side),
}

/// Elements, and values, that one condition can have.
const SIDES_MAX: usize = 8;
/// Bytes of a program.
const CODE_MAX: usize = 60;

const AND: u8 = 0x10;
const OR: u8 = 0x11;
const NOT: u8 = 0x12;
const TRUE: u8 = 0x13;

/// A condition as the kernel takes it: operands below 8 are elements, those above are values.
#[derive(Default)]
struct Program {
    code: Vec<u8>,
    elements: Vec<Access>,
    words: Vec<Word>,
}

impl Program {
    fn of(on: &On) -> Result<Program> {
        let mut program = Program::default();
        match on {
            On::Condition(term) => program.term(term),
            On::Index(side) => {
                let index = program.side(side);
                program.code.push(index);
            }
        }
        let too_many = |what: String| {
            let needs = "a kernel of yours that writes a `Scalar<u32>`, and `nonzero` of it".into();
            Err(Error::new(ErrorKind::Unsupported { what, needs }))
        };
        if program.elements.len() > SIDES_MAX || program.words.len() > SIDES_MAX {
            return too_many(format!("a condition over more than {SIDES_MAX} elements, or as many slots and constants"));
        }
        if program.code.len() > CODE_MAX {
            return too_many(format!("a condition of more than {} comparisons", CODE_MAX / 4));
        }
        Ok(program)
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::True => self.code.push(TRUE),
            Term::Compare { how, number, left, right } => {
                let (left, right) = (self.side(left), self.side(right));
                self.code.extend([*how as u8, *number, left, right]);
            }
            Term::And(left, right) => self.pair(left, right, AND),
            Term::Or(left, right) => self.pair(left, right, OR),
            Term::Not(term) => {
                self.term(term);
                self.code.push(NOT);
            }
        }
    }

    fn pair(&mut self, left: &Term, right: &Term, code: u8) {
        self.term(left);
        self.term(right);
        self.code.push(code);
    }

    fn side(&mut self, side: &Side) -> u8 {
        match side {
            Side::Element(access) => {
                let place = &access.place;
                let is_same = |known: &Access| {
                    known.place.allocation.number() == place.allocation.number() && known.place.start == place.start
                };
                let known = self.elements.iter().position(is_same);
                let number = known.unwrap_or_else(|| {
                    self.elements.push(access.clone());
                    self.elements.len() - 1
                });
                number as u8
            }
            Side::Value(word) => {
                self.words.push(word.clone());
                (SIDES_MAX + self.words.len() - 1) as u8
            }
        }
    }

    /// The argument that the kernel takes by value.
    fn bytes(&self, snapshot: &Snapshot<'_>) -> [u8; 4 + CODE_MAX + 8 * SIDES_MAX] {
        let mut bytes = [0; 4 + CODE_MAX + 8 * SIDES_MAX];
        bytes[..4].copy_from_slice(&(self.code.len() as u32).to_le_bytes());
        bytes[4..4 + self.code.len()].copy_from_slice(&self.code);
        for (word, place) in self.words.iter().zip(bytes[4 + CODE_MAX..].chunks_mut(8)) {
            place.copy_from_slice(&(word.seen)(snapshot).to_le_bytes());
        }
        bytes
    }
}

/// The kernel, loaded when the first condition is recorded.
struct FlowKernels {
    decide: Arc<Function>,
}

impl Guest for FlowKernels {}

fn kernel(device: &Device) -> Result<Arc<Function>> {
    if let Some(kernels) = device.guest::<FlowKernels>() {
        return Ok(kernels.decide.clone());
    }
    let (module, text) = ModuleSource::load(device, include_str!("../../kernels/condition.ptx"))?;
    let decide = Arc::new(Function::find(device, &module, &text, Cow::Borrowed("decide"))?);
    Ok(device.take_in(FlowKernels { decide }).decide.clone())
}

/// Takes a decision in.
pub(super) fn decide(recorder: &mut Recorder<'_>, decision: Decision) -> Result<()> {
    let Decision { name, at, mode, on, bound, state, rest, sets } = decision;
    let function = kernel(recorder.device())?;
    let program = Program::of(&on).map_err(|error| recorder.blame(error, name, at))?;
    let (limit, most) = match bound {
        Some(Side::Element(access)) => (Some(access), None),
        Some(Side::Value(word)) => (None, Some(word)),
        None => (None, None),
    };
    let mut slots: Vec<Option<Arc<AnySlot>>> = program.words.iter().map(|word| word.slot.clone()).collect();
    slots.extend(most.as_ref().map(|word| word.slot.clone()));
    let (has_rest, has_limit, elements) = (rest.is_some(), limit.is_some(), program.elements.len());
    let mut access: SmallVec<[Access; 4]> = std::iter::once(state).collect();
    access.extend(rest);
    access.extend(limit);
    access.extend(program.elements.iter().cloned());
    let recipe = move |snapshot: &Snapshot<'_>, into: &mut Args| {
        into.pointer();
        let there = [has_rest, has_limit].into_iter().chain((0..SIDES_MAX).map(|number| number < elements));
        for is_there in there {
            if is_there { into.pointer() } else { into.value(&0u64) }
        }
        into.bytes(&program.bytes(snapshot));
        into.value(&(mode as u32));
        into.value(&most.as_ref().map_or(u32::MAX, |most| (most.seen)(snapshot) as u32));
        if !has_rest {
            into.value(&0u64);
            into.handle();
        } else {
            into.handle();
            into.handle();
        }
        Ok(grid::linear(1, 1))
    };
    let work = Work::Kernel(KernelWork {
        function,
        decl: None,
        geometry: None,
        recipe: Arc::new(recipe),
        prepared: None,
        sets: Some(sets.into_vec().into_boxed_slice()),
    });
    recorder.push(Node::new(name.into(), at, access, work), &slots)
}

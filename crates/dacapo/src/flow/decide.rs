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
use crate::flow::Number;
use crate::flow::condition::{STEPS_MAX, Term};
use crate::flow::operand::{Side, Word};
use crate::flow::told::Listing;
use crate::kernel::{Args, Function, ModuleSource, grid};
use crate::memory::{Access, Accesses};
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

const AND: u32 = 16;
const OR: u32 = 17;
const NOT: u32 = 18;
const TRUE: u32 = 19;

/// A condition as the kernels take it: operands below 8 are elements, those above are values.
#[derive(Default)]
struct Program {
    steps: Vec<u32>,
    elements: Vec<Access>,
    words: Vec<Word>,
    comparisons: usize,
}

/// What the comparisons of a condition are called in reports: no condition has more.
const LEFT: [&str; STEPS_MAX.div_ceil(2)] = ["left0", "left1", "left2", "left3", "left4", "left5", "left6", "left7"];
const RIGHT: [&str; LEFT.len()] = ["right0", "right1", "right2", "right3", "right4", "right5", "right6", "right7"];

impl Program {
    fn of(term: &Term) -> Result<(Program, Listing)> {
        let (mut program, mut sides) = (Program::default(), Listing::default());
        let text = program.term(term, &mut sides);
        let too_many = |what: String| {
            let needs = "a kernel of yours that writes a `Scalar<u32>`, and `nonzero` of it".into();
            Err(Error::new(ErrorKind::Unsupported { what, needs }))
        };
        if program.elements.len() > SIDES_MAX || program.words.len() > SIDES_MAX {
            return too_many(format!(
                "a condition over more than {SIDES_MAX} elements, or as many slots and constants"
            ));
        }
        if program.steps.len() > STEPS_MAX || matches!(term, Term::TooLarge) {
            return too_many(format!("a condition of more than {STEPS_MAX} comparisons and what combines them"));
        }
        let mut told = Listing::default();
        told.condition(text);
        Ok((program, told.then(sides)))
    }

    /// Takes it in, and returns it in the names of what it compares.
    fn term(&mut self, term: &Term, told: &mut Listing) -> String {
        match term {
            Term::True => {
                self.steps.push(TRUE);
                "true".into()
            }
            // Never inside another: what is combined with it is too large itself.
            Term::TooLarge => String::new(),
            Term::Compare { how, number, left, right } => {
                let at = self.comparisons.min(LEFT.len() - 1);
                self.comparisons += 1;
                let (left, left_name) = self.side(left, LEFT[at], told);
                let (right, right_name) = self.side(right, RIGHT[at], told);
                self.steps.push(*how as u32 | u32::from(*number) << 8 | left << 16 | right << 24);
                format!("{left_name} {} {right_name}", how.sign())
            }
            Term::And(left, right) => self.pair(left, right, (AND, "&"), told),
            Term::Or(left, right) => self.pair(left, right, (OR, "|"), told),
            Term::Not(term) => {
                let text = self.term(term, told);
                self.steps.push(NOT);
                format!("!({text})")
            }
        }
    }

    fn pair(&mut self, left: &Term, right: &Term, (step, sign): (u32, &str), told: &mut Listing) -> String {
        let (left, right) = (self.term(left, told), self.term(right, told));
        self.steps.push(step);
        format!("({left} {sign} {right})")
    }

    /// Its number, and its name: an element that was compared before keeps both.
    fn side(&mut self, side: &Side, name: &'static str, told: &mut Listing) -> (u32, &'static str) {
        let mut side = side.clone();
        if let Side::Element(Access { place, .. }) = &side {
            let is_same = |known: &Access| {
                known.place.allocation.number() == place.allocation.number() && known.place.start == place.start
            };
            if let Some(number) = self.elements.iter().position(is_same) {
                return (number.min(255) as u32, self.elements[number].name);
            }
        }
        told.side(name, &mut side);
        let number = match side {
            Side::Element(access) => {
                self.elements.push(access);
                self.elements.len() - 1
            }
            Side::Value(word) => {
                self.words.push(word);
                SIDES_MAX + self.words.len() - 1
            }
        };
        // Refused where there are more than a byte can say.
        (number.min(255) as u32, name)
    }

    /// The argument that the kernel takes by value.
    fn bytes(&self, snapshot: &Snapshot<'_>) -> [u8; 4 + 4 * STEPS_MAX + 8 * SIDES_MAX] {
        let mut bytes = [0; 4 + 4 * STEPS_MAX + 8 * SIDES_MAX];
        bytes[..4].copy_from_slice(&(self.steps.len() as u32).to_le_bytes());
        for (step, place) in self.steps.iter().zip(bytes[4..].chunks_mut(4)) {
            place.copy_from_slice(&step.to_le_bytes());
        }
        for (word, place) in self.words.iter().zip(bytes[4 + 4 * STEPS_MAX..].chunks_mut(8)) {
            place.copy_from_slice(&word.value.bits(snapshot).to_le_bytes());
        }
        bytes
    }
}

/// The kernels, loaded when the first condition is recorded.
struct FlowKernels {
    /// One comparison, or a number.
    one: Arc<Function>,
    many: Arc<Function>,
}

impl Guest for FlowKernels {}

fn kernels(device: &Device) -> Result<Arc<FlowKernels>> {
    if let Some(kernels) = device.guest::<FlowKernels>() {
        return Ok(kernels);
    }
    let (module, text) = ModuleSource::load(device, include_str!("../../kernels/condition.ptx"))?;
    let find = |name| Function::find(device, &module, &text, Cow::Borrowed(name)).map(Arc::new);
    Ok(device.take_in(FlowKernels { one: find("decide")?, many: find("decide_many")? }))
}

/// Takes a decision in.
pub(super) fn decide(recorder: &mut Recorder<'_>, decision: Decision) -> Result<()> {
    let kernels = kernels(recorder.device())?;
    match decision.on {
        On::Index(_) | On::Condition(Term::True | Term::Compare { .. }) => push_one(recorder, &kernels, decision),
        On::Condition(_) => push_many(recorder, &kernels, decision),
    }
}

/// One operand of the kernel for one comparison: an element, or a value.
#[derive(Default)]
struct Operand {
    element: Option<Access>,
    word: Option<Word>,
}

impl From<Side> for Operand {
    fn from(side: Side) -> Operand {
        match side {
            Side::Element(access) => Operand { element: Some(access), word: None },
            Side::Value(word) => Operand { element: None, word: Some(word) },
        }
    }
}

fn push_one(recorder: &mut Recorder<'_>, kernels: &FlowKernels, mut decision: Decision) -> Result<()> {
    let on = std::mem::replace(&mut decision.on, On::Condition(Term::True));
    let mut told = Listing::default();
    let (step, left, right) = match on {
        On::Index(mut side) => {
            told.side("index", &mut side);
            (u32::from(<u32 as Number>::TYPE) << 8, side.into(), Operand::default())
        }
        On::Condition(Term::Compare { how, number, mut left, mut right }) => {
            told.condition(format!("left {} right", how.sign()));
            told.side("left", &mut left);
            told.side("right", &mut right);
            (how as u32 | u32::from(number) << 8, left.into(), right.into())
        }
        On::Condition(_) => (TRUE, Operand::default(), Operand::default()),
    };
    let values = [left.word, right.word];
    let there = [left.element.is_some(), right.element.is_some()];
    let elements: Vec<Access> = [left.element, right.element].into_iter().flatten().collect();
    let slots = values.iter().flatten().map(|word| word.slot.clone()).collect();
    let operands = move |snapshot: &Snapshot<'_>, into: &mut Args| {
        for is_there in there {
            if is_there { into.pointer() } else { into.value(&0u64) }
        }
        for value in &values {
            into.value(&value.as_ref().map_or(0, |word| word.value.bits(snapshot)));
        }
        into.value(&step);
    };
    push(recorder, kernels.one.clone(), decision, Compared { elements, slots, told }, operands)
}

fn push_many(recorder: &mut Recorder<'_>, kernels: &FlowKernels, decision: Decision) -> Result<()> {
    let On::Condition(term) = &decision.on else { unreachable!("an index is one number") };
    let (program, told) = Program::of(term).map_err(|error| recorder.blame(error, decision.name, decision.at))?;
    let elements = program.elements.clone();
    let slots = program.words.iter().map(|word| word.slot.clone()).collect();
    let operands = move |snapshot: &Snapshot<'_>, into: &mut Args| {
        for number in 0..SIDES_MAX {
            if number < program.elements.len() { into.pointer() } else { into.value(&0u64) }
        }
        into.bytes(&program.bytes(snapshot));
    };
    push(recorder, kernels.many.clone(), decision, Compared { elements, slots, told }, operands)
}

/// What a decision compares.
struct Compared {
    elements: Vec<Access>,
    slots: Vec<Option<Arc<AnySlot>>>,
    told: Listing,
}

/// The node of a decision; `operands` writes what the two kernels do not have in common.
fn push(
    recorder: &mut Recorder<'_>,
    function: Arc<Function>,
    decision: Decision,
    Compared { elements, mut slots, told }: Compared,
    operands: impl Fn(&Snapshot<'_>, &mut Args) + Send + Sync + 'static,
) -> Result<()> {
    let Decision { name, at, mode, mut bound, state, rest, sets, .. } = decision;
    let mut first = Listing::default();
    std::iter::once(&state).chain(&rest).for_each(|_| first.memory());
    if let Some(bound) = &mut bound {
        first.side("limit", bound);
    }
    let told = first.then(told);
    let (limit, most) = match bound {
        Some(Side::Element(access)) => (Some(access), None),
        Some(Side::Value(word)) => (None, Some(word)),
        None => (None, None),
    };
    slots.extend(most.as_ref().map(|word| word.slot.clone()));
    let there = [rest.is_some(), limit.is_some()];
    let mut access: Accesses = std::iter::once(state).collect();
    access.extend(rest.into_iter().chain(limit).chain(elements));
    let recipe = move |snapshot: &Snapshot<'_>, into: &mut Args| {
        if snapshot.wants_texts() {
            told.tell(snapshot);
        }
        into.pointer();
        for is_there in there {
            if is_there { into.pointer() } else { into.value(&0u64) }
        }
        operands(snapshot, into);
        into.value(&(mode as u32));
        into.value(&most.as_ref().map_or(u32::MAX, |most| most.value.bits(snapshot) as u32));
        // That of the rest, and its own; those that it does not set stay 0.
        into.handle();
        into.handle();
        Ok(grid::linear(1, 1))
    };
    let work = Work::Kernel(KernelWork {
        function,
        decl: None,
        geometry: None,
        recipe: Arc::new(recipe),
        sets: Some(Box::new(sets)),
        guard: None,
    });
    recorder.push(Node::new(name.into(), at, access, work), &slots)
}

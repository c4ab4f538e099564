//! How often each kind of thing occurred, so that a kind that stopped occurring is seen.

use std::collections::BTreeMap;
use std::fmt;

use super::model::Expect;
use super::program::{Asks, Body, End, NamedMemory, Op, Side, Step, Term, Value};

/// Counts by area and word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<(&'static str, &'static str), u64>);

/// What must occur in a run of some thousand programs.
const MUST: &[(&str, &[&str])] = &[
    (
        "step",
        &[
            "buffer",
            "zeros",
            "scalar",
            "host",
            "slot",
            "number",
            "number slot",
            "stream",
            "pool",
            "arena",
            "generator",
            "run",
            "record",
            "launch",
            "upload",
            "rerecord",
            "rerecord_with",
            "reset",
            "into_outputs",
            "record_into",
            "launch_into",
            "cache",
            "cache_run",
            "cache_get",
            "evict",
            "bucketed",
            "prepare",
            "call",
            "write",
            "read",
            "set_scalar",
            "get_scalar",
            "write_number",
            "read_number",
            "set_number_slot",
            "set_host",
            "read_host",
            "set_slot",
            "seed",
            "save",
            "restore",
            "sync",
            "sync_all",
            "is_done",
            "seal",
            "pool_keep",
            "pool_clear",
            "budget",
            "stranger",
            "drop",
        ],
    ),
    (
        "op",
        &[
            "alloc",
            "output",
            "copy",
            "fill",
            "upload",
            "download",
            "add",
            "mix",
            "scale",
            "sum",
            "first",
            "window",
            "put",
            "bump",
            "words",
            "replay",
            "set_slot",
            "keep",
            "eager call",
            "attempt",
            "repeat",
            "repeat_while",
            "repeat_times",
            "when",
            "otherwise",
            "switch",
            "leave_if",
            "round",
            "set_number",
        ],
    ),
    (
        "refused",
        &[
            "ArenaExhausted",
            "EagerInRecording",
            "Length",
            "Msg",
            "NoBucket",
            "NoLoop",
            "NotRows",
            "OverBudget",
            "OverCap",
            "Overlap",
            "PoolInUse",
            "PoolSealed",
            "Requires",
            "Reset",
            "UninitTemp",
            "Unsupported",
            "WarmupTooLarge",
            "WrongDevice",
        ],
    ),
    (
        "with",
        &[
            "a NaN in a condition",
            "a bound from a slot",
            "a bound from memory",
            "a bound that is reached",
            "a cache of no graphs",
            "a combined condition",
            "a drop behind a launch",
            "a grid of no blocks",
            "a loop of no rounds",
            "a loop that is left",
            "a panic inside a recording",
            "a panic out of a recording",
            "a switch beyond its cases",
            "a switch without cases",
            "an arena",
            "an awaited launch",
            "an else that is taken",
            "apart",
            "bodies five deep and more",
            "bodies two to four deep",
            "disjoint parts of one buffer",
            "guarded branches",
            "live time",
            "neither ELSE nor SWITCH",
            "no bound",
            "numbers of a loop as operands",
            "overlapping reads",
            "pool",
            "rounds",
            "slot",
            "straight line",
            "uploaded",
            "warm-up",
        ],
    ),
    (
        "condition over",
        &["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "half::f16", "half::bf16", "f32", "f64"],
    ),
    ("fault", &["capture or context", "done", "not done", "seen by a step", "survived by a step"]),
];

impl Tally {
    /// One more.
    pub fn count(&mut self, area: &'static str, word: &'static str) {
        *self.0.entry((area, word)).or_default() += 1;
    }

    /// So many more.
    pub fn count_many(&mut self, area: &'static str, word: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry((area, word)).or_default() += count;
        }
    }

    /// All of another.
    pub fn add(&mut self, other: &Tally) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }

    /// What should have occurred and did not.
    pub fn missing(&self) -> Vec<String> {
        let all = MUST.iter().flat_map(|(area, words)| words.iter().map(move |word| (*area, *word)));
        all.filter(|key| !self.0.contains_key(key)).map(|(area, word)| format!("{area}: {word}")).collect()
    }

    /// A step that has ended like this.
    pub fn step(&mut self, step: &Step, expect: &Expect, is_behind_launch: bool) {
        self.count("step", word(step));
        match expect {
            Expect::Refused(why) => self.count("refused", why),
            Expect::Panicked => self.count("with", "a panic out of a recording"),
            Expect::Done | Expect::Values(_) => {}
        }
        match step {
            Step::Run(_, arena, body, _) => {
                self.body(body);
                if arena.is_some() {
                    self.count("with", "an arena");
                }
            }
            Step::Record(_, how, body) => {
                self.body(body);
                let options = [
                    (how.pool.is_some(), "pool"),
                    (how.arena.is_some(), "an arena"),
                    (how.apart, "apart"),
                    (how.line, "straight line"),
                    (how.uploaded, "uploaded"),
                    (how.guarded, "guarded branches"),
                    (how.warm.is_some(), "warm-up"),
                ];
                options.iter().filter(|(is_on, _)| *is_on).for_each(|(_, word)| self.count("with", word));
            }
            Step::Rerecord(_, _, body) | Step::Into(_, _, _, body) => self.body(body),
            Step::Cache(_, max, bodies) => {
                bodies.iter().for_each(|body| self.body(body));
                if *max == 0 {
                    self.count("with", "a cache of no graphs");
                }
            }
            Step::Launch(_, _, super::program::Wait::Await) => self.count("with", "an awaited launch"),
            Step::Drop(_) if is_behind_launch => self.count("with", "a drop behind a launch"),
            _ => {}
        }
    }

    fn body(&mut self, body: &Body) {
        for op in &body.ops {
            self.op(op);
        }
        match body.ops.iter().map(depth).max() {
            None | Some(0 | 1) => {}
            Some(2..=4) => self.count("with", "bodies two to four deep"),
            Some(_) => self.count("with", "bodies five deep and more"),
        }
    }

    /// What is special about control flow.
    fn flow(&mut self, op: &Op) {
        for term in op.terms() {
            self.term(term);
            if term.steps() > 1 {
                self.count("with", "a combined condition");
            }
        }
        match (op, op.side()) {
            (Op::SetNumber(..), _) => {}
            (Op::Loop(..), None) => self.count("with", "no bound"),
            (_, Some(Side::Slot(_))) => self.count("with", "a bound from a slot"),
            (_, Some(Side::At(..))) => self.count("with", "a bound from memory"),
            _ => {}
        }
        if let Op::When(_, _, Some(_)) = op {
            self.count("op", "otherwise");
        }
        if matches!(op, Op::Switch(_, cases) if cases.is_empty()) {
            self.count("with", "a switch without cases");
        }
        let of_loop = |place: NamedMemory| matches!(place, NamedMemory::Rounds(_) | NamedMemory::Round(_));
        let sides = op.terms().into_iter().flat_map(|term| term.sides()).chain(op.side());
        let looks = sides.filter(|side| matches!(side, Side::At(place, _) if of_loop(*place))).count();
        let reads = op.parts().0.iter().filter(|part| of_loop(part.place)).count();
        self.count_many("with", "numbers of a loop as operands", (looks + reads) as u64);
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Compare(_, of, ..) => self.count("condition over", of.text()),
            Term::And(left, right) | Term::Or(left, right) => {
                self.term(left);
                self.term(right);
            }
            Term::Not(term) => self.term(term),
        }
    }

    fn op(&mut self, op: &Op) {
        let (reads, write) = op.parts();
        let shared = |place: NamedMemory| !matches!(place, NamedMemory::Temp(_) | NamedMemory::Output(_));
        if write.is_some_and(|write| reads.iter().any(|read| read.place == write.place && shared(read.place))) {
            self.count("with", "disjoint parts of one buffer");
        }
        if let [a, b] = reads[..]
            && a.overlaps(b)
        {
            self.count("with", "overlapping reads");
        }
        if let Op::Fill(Value::Slot(_), _)
        | Op::First(Value::Slot(_), _)
        | Op::Window(Value::Slot(_), ..)
        | Op::Put(Value::Slot(_), _) = op
        {
            self.count("with", "slot");
        }
        self.flow(op);
        op.bodies().into_iter().flatten().for_each(|op| self.op(op));
        let word = match op {
            Op::Alloc(..) => "alloc",
            Op::Output(..) => "output",
            Op::Copy(..) => "copy",
            Op::Fill(..) => "fill",
            Op::Upload(..) => "upload",
            Op::Download(..) => "download",
            Op::Add(..) => "add",
            Op::Mix(..) => "mix",
            Op::Scale(..) => "scale",
            Op::Sum(..) => "sum",
            Op::First(..) => "first",
            Op::Window(..) => "window",
            Op::Put(..) => "put",
            Op::Bump(..) => "bump",
            Op::Words(..) => "words",
            Op::Replay(..) => "replay",
            Op::SetSlot(..) => "set_slot",
            Op::Keep => "keep",
            Op::Eager(..) => "eager call",
            Op::Loop(_, Asks::Behind(..), _) => "repeat",
            Op::Loop(_, Asks::Before(..), _) => "repeat_while",
            Op::Loop(_, Asks::Times(_), _) => "repeat_times",
            Op::When(..) => "when",
            Op::Switch(..) => "switch",
            Op::Leave(_) => "leave_if",
            Op::Round(_) => "round",
            Op::SetNumber(..) => "set_number",
            Op::Attempt(_, end) => {
                if *end == End::Panic {
                    self.count("with", "a panic inside a recording");
                }
                "attempt"
            }
        };
        self.count("op", word);
    }
}

/// How deep bodies of control flow lie in each other.
fn depth(op: &Op) -> usize {
    let inside = op.bodies().into_iter().flatten().map(depth).max().unwrap_or(0);
    inside + usize::from(matches!(op, Op::Loop(..) | Op::When(..) | Op::Switch(..)))
}

/// The name of a step.
fn word(step: &Step) -> &'static str {
    match step {
        Step::Buffer(..) => "buffer",
        Step::Zeros(..) => "zeros",
        Step::Scalar(..) => "scalar",
        Step::Host(..) => "host",
        Step::Slot(..) => "slot",
        Step::Number(..) => "number",
        Step::Dial(..) => "number slot",
        Step::WriteNumber(..) => "write_number",
        Step::ReadNumber(..) => "read_number",
        Step::SetDial(..) => "set_number_slot",
        Step::Stream(..) => "stream",
        Step::Pool(..) => "pool",
        Step::Arena(..) => "arena",
        Step::Generator(..) => "generator",
        Step::Run(..) => "run",
        Step::Record(..) => "record",
        Step::Launch(..) => "launch",
        Step::Upload(..) => "upload",
        Step::Rerecord(_, true, _) => "rerecord",
        Step::Rerecord(_, false, _) => "rerecord_with",
        Step::Reset(..) => "reset",
        Step::IntoOutputs(..) => "into_outputs",
        Step::Into(..) => "record_into",
        Step::LaunchInto(..) => "launch_into",
        Step::Cache(..) => "cache",
        Step::CacheRun(..) => "cache_run",
        Step::CacheGet(..) => "cache_get",
        Step::Evict(..) => "evict",
        Step::Bucketed(..) => "bucketed",
        Step::Prepare(..) => "prepare",
        Step::Call(..) => "call",
        Step::Write(..) => "write",
        Step::Read(..) => "read",
        Step::SetScalar(..) => "set_scalar",
        Step::GetScalar(..) => "get_scalar",
        Step::SetHost(..) => "set_host",
        Step::ReadHost(..) => "read_host",
        Step::SetSlot(..) => "set_slot",
        Step::Seed(..) => "seed",
        Step::Save(..) => "save",
        Step::Restore(..) => "restore",
        Step::Sync(..) => "sync",
        Step::SyncAll => "sync_all",
        Step::IsDone(..) => "is_done",
        Step::Seal(..) => "seal",
        Step::PoolKeep(..) => "pool_keep",
        Step::PoolClear(..) => "pool_clear",
        Step::Budget(..) => "budget",
        Step::Stranger(..) => "stranger",
        Step::Drop(..) => "drop",
    }
}

/// An area a paragraph, with the counts of its words.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut areas: Vec<&str> = self.0.keys().map(|(area, _)| *area).collect();
        areas.dedup();
        for area in areas {
            let words: Vec<String> = self
                .0
                .iter()
                .filter(|((of, _), _)| *of == area)
                .map(|((_, word), count)| format!("{word} {count}"))
                .collect();
            let mut line = format!("{area}:");
            for (number, word) in words.iter().enumerate() {
                if line.len() + word.len() > 118 {
                    writeln!(f, "{line}")?;
                    line = "   ".into();
                }
                let comma = if number + 1 < words.len() { "," } else { "" };
                line += &format!(" {word}{comma}");
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

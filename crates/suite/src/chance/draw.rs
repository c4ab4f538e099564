//! A program from a seed, by weighted choice.
//!
//! A step is drawn from what there is, and kept if the model takes it. What is to be refused is drawn on purpose now
//! and then (lengths that differ, slots that break a condition, temps that nobody wrote); the model says what it ends
//! in.

use super::dice::Dice;
use super::draw_body::Bodies;
use super::model::{Kind, Model, Phase};
use super::numbers::Type;
use super::program::{
    Body, End, Greedy, How, Name, NamedMemory, Op, Padding, Part, Program, Step, Stranger, Value, Wait, Warm,
};

/// A program, and where a fault shall strike: which of its driver calls, and with which of the lawful faults, both
/// modulo how many there are.
pub struct Drawn {
    /// The program, without a strike.
    pub program: Program,
    /// None for a program without a fault.
    pub wants_strike: Option<(u64, u64)>,
}

/// The most steps that a program without threads has.
const STEPS_MAX: u64 = 40;

/// The program of a seed.
pub fn draw(seed: u64) -> Drawn {
    let mut dice = Dice::new(seed);
    let sort = dice.below(100);
    let (is_threaded, has_fault) = (sort < 24, (24..50).contains(&sort));
    let live = !has_fault && dice.chance(15);
    let (flows, old) = (dice.chance(45), dice.chance(20));
    let program = Program {
        seed: dice.roll(),
        live,
        old,
        quiet: dice.chance(80),
        strike: None,
        before: Vec::new(),
        threads: Vec::new(),
        after: Vec::new(),
    };
    let wants_strike = has_fault.then(|| (dice.roll(), dice.roll()));
    let mut drawer = Drawer { dice, model: Model::new(is_threaded), next: 1, flows, guarded: program.seed };
    let program = if is_threaded { drawer.threaded(program) } else { drawer.alone(program) };
    Drawn { program, wants_strike }
}

pub(super) struct Drawer {
    pub(super) dice: Dice,
    pub(super) model: Model,
    next: Name,
    /// Whether there is control flow.
    pub(super) flows: bool,
    /// Whether small branches become guarded kernels, a bit for each graph.
    guarded: u64,
}

/// A way to draw a step, and how often it is tried.
type Way = (u64, fn(&mut Drawer) -> Option<Step>);

const WAYS: &[Way] = &[
    (6, Drawer::buffer),
    (3, |d| Some(Step::Zeros(d.name(), d.len()))),
    (3, |d| Some(Step::Scalar(d.name(), d.number()))),
    (3, |d| {
        let len = d.len();
        Some(Step::Host(d.name(), d.words(len)))
    }),
    (4, |d| Some(Step::Slot(d.name(), d.small()))),
    (3, |d| {
        let of = d.number_type()?;
        Some(Step::Number(d.name(), of, of.draw(&mut d.dice)))
    }),
    (2, |d| {
        let of = d.number_type()?;
        Some(Step::Dial(d.name(), of, of.draw(&mut d.dice)))
    }),
    (3, |d| Some(Step::Stream(d.name()))),
    (2, |d| Some(Step::Pool(d.name()))),
    (2, |d| Some(Step::Arena(d.name(), d.dice.chance(75)))),
    (2, |d| Some(Step::Generator(d.name(), d.dice.roll() >> 20))),
    (10, Drawer::run),
    (16, Drawer::record),
    (26, Drawer::launch),
    (1, |d| Some(Step::Upload(d.graph()?, d.stream()?))),
    (6, Drawer::rerecord),
    (1, |d| Some(Step::Reset(d.graph()?))),
    (2, Drawer::of_graph),
    (5, Drawer::into),
    (9, Drawer::launch_into),
    (3, Drawer::cache),
    (9, |d| {
        let (cache, keys) = d.cache_of()?;
        Some(Step::CacheRun(cache, d.stream()?, d.dice.below(keys.into()) as u8))
    }),
    (3, |d| {
        let (cache, keys) = d.cache_of()?;
        Some(Step::CacheGet(cache, d.stream()?, d.dice.below(keys.into()) as u8))
    }),
    (1, |d| {
        let (cache, keys) = d.cache_of()?;
        Some(Step::Evict(cache, d.dice.below(keys.into()) as u8))
    }),
    (2, Drawer::bucketed),
    (1, |d| Some(Step::Prepare(d.pick(|kind| matches!(kind, Kind::Bucketed(..)))?.0))),
    (6, Drawer::call),
    (6, |d| {
        let part = d.part(true)?;
        let len = if d.dice.chance(4) { part.len + 1 } else { part.len };
        Some(Step::Write(d.stream()?, part, d.words(len)))
    }),
    (6, |d| Some(Step::Read(d.stream()?, d.part(false)?))),
    (3, |d| Some(Step::SetScalar(d.pick(|kind| kind == Kind::Scalar)?.0, d.stream()?, d.number()))),
    (3, |d| Some(Step::GetScalar(d.pick(|kind| kind == Kind::Scalar)?.0, d.stream()?))),
    (1, |d| {
        let (number, Kind::Number(of)) = d.pick(|kind| matches!(kind, Kind::Number(_)))? else { return None };
        Some(Step::WriteNumber(number, d.stream()?, of.draw(&mut d.dice)))
    }),
    (1, |d| Some(Step::ReadNumber(d.pick(|kind| matches!(kind, Kind::Number(_)))?.0, d.stream()?))),
    (2, |d| {
        let (slot, Kind::Dial(of)) = d.pick(|kind| matches!(kind, Kind::Dial(_)))? else { return None };
        Some(Step::SetDial(slot, of.draw(&mut d.dice)))
    }),
    (4, |d| {
        let (host, Kind::Host(len)) = d.pick(|kind| matches!(kind, Kind::Host(_)))? else { return None };
        let len = if d.dice.chance(4) { len + 1 } else { len };
        Some(Step::SetHost(host, d.words(len)))
    }),
    (3, |d| Some(Step::ReadHost(d.pick(|kind| matches!(kind, Kind::Host(_)))?.0))),
    (11, |d| Some(Step::SetSlot(d.pick(|kind| kind == Kind::Slot)?.0, d.small()))),
    (1, |d| Some(Step::Seed(d.generator()?, d.stream()?, d.dice.roll() >> 40))),
    (1, |d| Some(Step::Save(d.generator()?, d.stream()?, d.name()))),
    (1, |d| Some(Step::Restore(d.generator()?, d.stream()?, d.pick(|kind| kind == Kind::Saved)?.0))),
    (2, |d| Some(Step::Sync(d.stream()?))),
    (1, |_| Some(Step::SyncAll)),
    (1, |d| Some(Step::IsDone(d.stream()?))),
    (1, |d| Some(Step::Seal(d.pick(|kind| kind == Kind::Pool)?.0, d.dice.chance(60)))),
    (1, |d| Some(Step::PoolKeep(d.pick(|kind| kind == Kind::Pool)?.0))),
    (1, |d| Some(Step::PoolClear(d.pick(|kind| kind == Kind::Pool)?.0))),
    (1, |d| {
        let all = [Greedy::Fits, Greedy::Buffer, Greedy::Host, Greedy::Arena, Greedy::Output];
        Some(Step::Budget(d.dice.pick(&all)?))
    }),
    (1, Drawer::stranger),
    (7, |d| Some(Step::Drop(d.pick(|_| true)?.0))),
];

impl Drawer {
    fn alone(&mut self, mut program: Program) -> Program {
        let count = 5 + self.dice.below(STEPS_MAX - 4);
        self.start(&mut program.before, 2);
        self.steps(&mut program.before, count);
        program
    }

    fn threaded(&mut self, mut program: Program) -> Program {
        let threads = self.dice.between(2, 4);
        self.start(&mut program.before, 3);
        let scalar = self.name();
        self.keep(&mut program.before, Step::Scalar(scalar, 0));
        for step in [Step::Pool(self.name()), Step::Arena(self.name(), true)] {
            if self.dice.chance(60) {
                self.keep(&mut program.before, step);
            }
        }
        if self.dice.chance(60)
            && let Some(cache) = self.cache()
        {
            self.keep(&mut program.before, cache);
        }
        for thread in 0..threads {
            if self.dice.chance(70) {
                self.team_graph(&mut program.before, scalar, thread, threads);
            }
        }
        let more = self.dice.below(5);
        self.steps(&mut program.before, more);
        for thread in 0..threads {
            self.model.enter(Phase::Thread(thread.into(), threads.into()));
            let mut steps = Vec::new();
            if self.dice.chance(80) {
                let name = self.name();
                self.keep(&mut steps, Step::Stream(name));
            }
            let count = 4 + self.dice.below(10);
            self.steps(&mut steps, count);
            program.threads.push(steps);
        }
        self.model.enter(Phase::Alone);
        let count = self.dice.below(8);
        self.steps(&mut program.after, count);
        program
    }

    /// A graph for one of the threads: it bumps the scalar of all, and has memory of its own.
    fn team_graph(&mut self, steps: &mut Vec<Step>, scalar: Name, thread: u8, threads: u8) {
        while self.next % Name::from(threads) != Name::from(thread) {
            self.next += 1;
        }
        let name = self.name();
        let how = self.how();
        let mut ops = vec![Op::Bump(Part { place: NamedMemory::Scalar(scalar), start: 0, len: 1 })];
        ops.extend(Bodies::of(self, None, None).team_ops());
        if self.dice.chance(50) {
            ops.rotate_left(1);
        }
        self.keep(steps, Step::Record(name, how, Body { ops, end: End::Good }));
    }

    /// What nearly every program needs.
    fn start(&mut self, steps: &mut Vec<Step>, buffers: usize) {
        let name = self.name();
        self.keep(steps, Step::Stream(name));
        for _ in 0..buffers {
            let step = self.buffer();
            step.into_iter().for_each(|step| self.keep(steps, step));
        }
        if self.dice.chance(70) {
            let step = Step::Slot(self.name(), self.small());
            self.keep(steps, step);
        }
    }

    fn steps(&mut self, steps: &mut Vec<Step>, count: u64) {
        let wanted = steps.len() + count as usize;
        for _ in 0..count * 8 {
            if steps.len() >= wanted {
                break;
            }
            let way = self.dice.weighted(WAYS.iter().map(|(weight, _)| *weight));
            if let Some(step) = (WAYS[way].1)(self) {
                self.keep(steps, step);
            }
        }
    }

    fn keep(&mut self, steps: &mut Vec<Step>, step: Step) {
        if self.model.step(&step).is_some() {
            steps.push(step);
        }
    }

    fn name(&mut self) -> Name {
        self.next += 1;
        self.next - 1
    }

    fn len(&mut self) -> u8 {
        if self.dice.chance(10) { self.dice.between(30, 70) } else { self.dice.between(1, 8) }
    }

    /// A number that shows in sums.
    pub(super) fn number(&mut self) -> u32 {
        if self.dice.chance(80) { self.dice.below(10) as u32 } else { self.dice.roll() as u32 }
    }

    /// A number that may be a count or an offset.
    pub(super) fn small(&mut self) -> u32 {
        if self.dice.chance(25) { 0 } else { self.dice.below(7) as u32 }
    }

    fn words(&mut self, len: u8) -> Vec<u32> {
        (0..len).map(|_| self.number()).collect()
    }

    /// The type of a number that only conditions look at; the same ones often, so that two can be compared.
    fn number_type(&mut self) -> Option<Type> {
        let others: Vec<Type> = Type::ALL.iter().copied().filter(|of| *of != Type::U32).collect();
        let known = self.pick(|kind| matches!(kind, Kind::Number(_) | Kind::Dial(_)));
        match known {
            _ if !self.flows => None,
            Some((_, Kind::Number(of) | Kind::Dial(of))) if self.dice.chance(60) => Some(of),
            _ => self.dice.pick(&others),
        }
    }

    fn buffer(&mut self) -> Option<Step> {
        let len = self.len();
        Some(Step::Buffer(self.name(), self.words(len)))
    }

    /// Something of a kind.
    pub(super) fn pick(&mut self, wanted: impl Fn(Kind) -> bool) -> Option<(Name, Kind)> {
        let all: Vec<_> =
            self.model.names().filter(|(_, kind, _)| wanted(*kind)).map(|(name, kind, _)| (name, kind)).collect();
        // What is new is used more: it is what has just been made for something.
        let newest = all.len().saturating_sub(3);
        if self.dice.chance(40) { self.dice.pick(&all[newest..]) } else { self.dice.pick(&all) }
    }

    pub(super) fn stream(&mut self) -> Option<Name> {
        Some(self.pick(|kind| kind == Kind::Stream)?.0)
    }

    pub(super) fn graph(&mut self) -> Option<Name> {
        Some(self.pick(|kind| matches!(kind, Kind::Graph(_)))?.0)
    }

    pub(super) fn generator(&mut self) -> Option<Name> {
        Some(self.pick(|kind| kind == Kind::Generator)?.0)
    }

    fn cache_of(&mut self) -> Option<(Name, u8)> {
        match self.pick(|kind| matches!(kind, Kind::Cache(_)))? {
            (name, Kind::Cache(keys)) => Some((name, keys)),
            _ => None,
        }
    }

    /// A place outside of recordings, with its length.
    fn place(&mut self, writable: bool) -> Option<(NamedMemory, u8)> {
        let mut all = Vec::new();
        for (name, kind, may_change) in self.model.names() {
            match kind {
                Kind::Buffer(len) if may_change || !writable => all.push((NamedMemory::Buffer(name), len)),
                Kind::Scalar if may_change || !writable => all.push((NamedMemory::Scalar(name), 1)),
                Kind::Graph(outputs) if !writable => {
                    for output in 0..outputs {
                        let len = self.model.output_len(name, output);
                        all.extend(len.map(|len| (NamedMemory::Result(name, output), len)));
                    }
                }
                _ => {}
            }
        }
        self.dice.pick(&all)
    }

    fn part(&mut self, writable: bool) -> Option<Part> {
        let (place, len) = self.place(writable)?;
        let start = self.dice.between(0, len - 1);
        let len = self.dice.between(1, len - start);
        Some(Part { place, start, len })
    }

    /// A part of this length.
    fn part_of(&mut self, writable: bool, wanted: u8) -> Option<Part> {
        for _ in 0..6 {
            let (place, len) = self.place(writable)?;
            if len >= wanted {
                return Some(Part { place, start: self.dice.between(0, len - wanted), len: wanted });
            }
        }
        None
    }

    pub(super) fn end(&mut self) -> End {
        match self.dice.below(100) {
            0..3 => End::Error,
            3..6 => End::Panic,
            _ => End::Good,
        }
    }

    fn body(&mut self) -> Body {
        Bodies::of(self, None, None).body()
    }

    fn outputs(body: &Body) -> usize {
        body.ops.iter().filter(|op| matches!(op, Op::Output(..))).count()
    }

    fn run(&mut self) -> Option<Step> {
        let (stream, body) = (self.stream()?, self.body());
        let arena =
            if self.dice.chance(20) { self.pick(|kind| kind == Kind::Arena).map(|(name, _)| name) } else { None };
        let names = (0..Self::outputs(&body)).map(|_| self.name()).collect();
        Some(Step::Run(stream, arena, body, names))
    }

    fn how(&mut self) -> How {
        let mut how = How::default();
        if self.dice.chance(30) {
            how.pool = self.pick(|kind| kind == Kind::Pool).map(|(name, _)| name);
        }
        if self.dice.chance(25) {
            how.arena = self.pick(|kind| kind == Kind::Arena).map(|(name, _)| name);
        }
        how.apart = self.dice.chance(6);
        how.line = self.dice.chance(6);
        how.uploaded = self.dice.chance(8);
        how.guarded = self.flows && self.guarded >> (self.next % 64) & 1 == 1;
        how
    }

    fn record(&mut self) -> Option<Step> {
        let (mut how, body) = (self.how(), self.body());
        if self.dice.chance(12) {
            let (restored, capped) = (self.dice.chance(75), self.dice.chance(15));
            how.warm = Some(Warm { runs: self.dice.between(1, 3), restored, capped });
        }
        Some(Step::Record(self.name(), how, body))
    }

    fn launch(&mut self) -> Option<Step> {
        let wait = match self.dice.below(100) {
            0..70 => Wait::Not,
            70..80 => Wait::Sync,
            80..90 => Wait::Later,
            90..97 => Wait::Ticket,
            _ => Wait::Await,
        };
        Some(Step::Launch(self.graph()?, self.stream()?, wait))
    }

    fn rerecord(&mut self) -> Option<Step> {
        let graph = self.graph()?;
        let body = Bodies::of(self, None, Some(graph)).body();
        Some(Step::Rerecord(graph, self.dice.chance(75), body))
    }

    fn of_graph(&mut self) -> Option<Step> {
        let (graph, Kind::Graph(outputs)) = self.pick(|kind| matches!(kind, Kind::Graph(1..)))? else { return None };
        let names = (0..outputs).map(|_| self.name()).collect();
        Some(Step::IntoOutputs(graph, names))
    }

    fn into(&mut self) -> Option<Step> {
        let len = self.dice.between(1, 5);
        let near = |drawer: &mut Drawer| if drawer.dice.chance(70) { len } else { drawer.dice.between(1, 5) };
        let (ins, outs) = ([near(self), near(self)], [near(self), near(self)]);
        let body = Bodies::of(self, Some((ins, outs)), None).body();
        Some(Step::Into(self.name(), ins, outs, body))
    }

    fn launch_into(&mut self) -> Option<Step> {
        let (name, Kind::Into(ins, outs)) = self.pick(|kind| matches!(kind, Kind::Into(..)))? else { return None };
        let stream = self.stream()?;
        for _ in 0..4 {
            let wrong = u8::from(self.dice.chance(3));
            let step = Step::LaunchInto(
                name,
                stream,
                [self.part_of(false, ins[0] + wrong)?, self.part_of(false, ins[1])?],
                [self.part_of(true, outs[0])?, self.part_of(true, outs[1])?],
            );
            if self.model.clone().step(&step).is_some() {
                return Some(step);
            }
        }
        None
    }

    fn cache(&mut self) -> Option<Step> {
        let keys = self.dice.between(1, 3);
        let bodies = (0..keys).map(|_| Bodies::of(self, None, None).for_cache()).collect();
        let max = if self.dice.chance(12) { 0 } else { self.dice.between(1, 3) };
        Some(Step::Cache(self.name(), max, bodies))
    }

    fn bucketed(&mut self) -> Option<Step> {
        let slot = self.pick(|kind| kind == Kind::Slot)?.0;
        let (first, second) = (self.dice.between(1, 2), self.dice.between(3, 4));
        let padding = match self.dice.below(4) {
            0 => Padding::Zero,
            1 => Padding::Value(self.number()),
            2 => Padding::Last,
            _ => Padding::Keep,
        };
        let row = self.dice.between(1, 2);
        Some(Step::Bucketed(self.name(), vec![first, second], row, padding, slot, self.dice.chance(60)))
    }

    fn call(&mut self) -> Option<Step> {
        let (name, Kind::Bucketed(largest, row)) = self.pick(|kind| matches!(kind, Kind::Bucketed(..)))? else {
            return None;
        };
        let rows = if self.dice.chance(5) { 0 } else { self.dice.between(1, largest + 1) };
        let len = if self.dice.chance(4) { rows * row + 1 } else { rows * row };
        Some(Step::Call(name, self.stream()?, rows, self.part_of(false, len)?))
    }

    fn stranger(&mut self) -> Option<Step> {
        Some(Step::Stranger(match self.dice.below(4) {
            0 => Stranger::Read(self.stream()?),
            1 => Stranger::Copy(self.stream()?, self.part(true)?),
            2 => Stranger::Launch(self.graph()?),
            _ => Stranger::Pool,
        }))
    }

    /// A number by value.
    pub(super) fn value(&mut self, small: bool) -> Value {
        match self.pick(|kind| kind == Kind::Slot) {
            Some((slot, _)) if self.dice.chance(55) => Value::Slot(slot),
            _ => Value::Baked(if small { self.small() } else { self.number() }),
        }
    }
}

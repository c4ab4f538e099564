//! One program on a fresh software device, held against the model.
//!
//! Right means: every step ends as the model says; all that can be read at the end is what the model has; nothing is
//! left in the machine when everything was dropped, in an order that the seed decides; no detector has found
//! anything; and no panic but those that are meant.
//!
//! With a strike, the step in which a driver call fails ends as the model says, or with an error that names the call.
//! What it would have written is unknown then, and everything else holds as before. If the context is lost, the
//! device says so, and what is left to hold is that nothing is left.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dacapo::{Error, ErrorKind, Software};
use dacapo_driver::{Argument, CUresult, Call, Effect, Fault, Hook, Hooked, Lawful, Source};
use dacapo_sim::{Census, Detectors, Machine, Time};

use super::body::{Env, kind_of};
use super::dice::Dice;
use super::kernels::Kernels;
use super::model::{Expect, Model, Phase, Word, steps};
use super::program::{Program, Step, Strike};
use super::run::Got;
use super::tally::Tally;
use super::things::{Thing, Things};
use crate::faults;

/// How long what another thread gives back may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A driver with conditional nodes that has neither ELSE nor SWITCH.
const OLD_DRIVER: i32 = 12_040;

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A step ended otherwise than the model says, or memory is not what it says.
    Wrong(String),
    /// Something is left.
    Leaked(String),
    /// A detector found something.
    Finding(String),
    /// A panic that is not meant.
    Panic(String),
}

impl Failure {
    /// Its kind in one word, for findings with the word of the finding: a shorter program must fail the same way.
    pub fn kind(&self) -> String {
        match self {
            Failure::Wrong(_) => "wrong".into(),
            Failure::Leaked(_) => "leaked".into(),
            Failure::Finding(text) => text.split(':').next().unwrap_or_default().into(),
            Failure::Panic(_) => "panic".into(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Wrong(text) => write!(f, "wrong: {text}"),
            Failure::Leaked(text) => write!(f, "leaked: {text}"),
            Failure::Finding(text) => write!(f, "finding: {text}"),
            Failure::Panic(text) => write!(f, "panic: {text}"),
        }
    }
}

/// How one step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As the model says.
    As(Expect),
    /// It was not taken: what it names was never made.
    Skipped,
    /// By the fault.
    Failed,
    /// By the fault, or not; the context is lost, and nothing comes after it.
    Lost,
}

/// What came of a run.
#[derive(Default)]
pub struct Played {
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// Whether the strike came.
    pub is_struck: bool,
    /// The driver calls from the first step to the last, if they were counted; those before the first step first.
    pub calls: Vec<Call>,
    /// How many of them came before the first step.
    pub opening: usize,
    /// What occurred.
    pub tally: Tally,
    /// How the steps before and after the threads ended.
    pub ended: Vec<Ended>,
}

/// Writes down calls.
#[derive(Default)]
struct Counted(Mutex<Vec<Call>>);

impl Hook for Counted {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        run()
    }
}

impl Counted {
    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Runs a program; if asked to, counts its driver calls.
pub fn play(program: &Program, counts_calls: bool) -> Played {
    let mut played = Played::default();
    let caught = catch_unwind(AssertUnwindSafe(|| Run::new(program, counts_calls).map(|run| run.all(&mut played))));
    match caught {
        Ok(Ok(())) => {}
        Ok(Err(error)) => played.failure = Some(Failure::Wrong(format!("no device: {error:?}"))),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            played.failure = Some(Failure::Panic(text.unwrap_or("without a text").into()));
        }
    }
    played
}

/// A program under way.
struct Run<'p> {
    program: &'p Program,
    machine: Machine,
    token: Arc<()>,
    env: Env<'static>,
    model: Model,
    counted: Option<Arc<Counted>>,
    fault: Option<Arc<Fault>>,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    /// Nothing can be done with the device any more.
    Lost,
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, counts_calls: bool) -> Result<Run<'p>, Error> {
        let software = Software::new().seed(program.seed).options(|options| {
            options.detectors = Detectors::all();
            options.time = if program.live { Time::Live } else { Time::Counted };
            options.capacity = 1 << 32;
            if program.old {
                options.driver_version = OLD_DRIVER;
            }
        });
        let (mut counted, mut fault) = (None, None);
        let device = match (program.strike, counts_calls) {
            (Some(strike), _) => {
                let place = &mut fault;
                // SAFETY: a fault refuses a call, or answers an error for one that was made: it claims no success.
                unsafe {
                    software.open_hooked(move |machine| {
                        let Strike { call, nth, code, effect } = strike;
                        let hook = Fault::new().strike(call, nth, code, effect).over(Arc::new(machine.clone()));
                        let hook = Arc::new(hook);
                        *place = Some(hook.clone());
                        Arc::new(Hooked::new(machine, hook))
                    })
                }?
            }
            (None, true) => {
                let hook = counted.insert(Arc::new(Counted::default())).clone();
                // SAFETY: every call is passed on.
                unsafe { software.open_hooked(move |machine| Arc::new(Hooked::new(machine, hook))) }?
            }
            (None, false) => software.open()?,
        };
        let machine = device.machine().cloned().ok_or_else(|| Error::msg("no software device"))?;
        let token = Arc::new(());
        let kernels = Arc::new(Kernels::load(&device)?);
        let env = Env { device, kernels, token: token.clone(), things: Things::new(), shared: None };
        let model = Model::new(program.is_threaded());
        Ok(Run { program, machine, token, env, model, counted, fault })
    }

    fn all(mut self, played: &mut Played) {
        played.opening = self.counted.as_ref().map_or(0, |counted| counted.len());
        if self.program.live {
            played.tally.count("with", "live time");
        }
        if self.program.old && self.program.has_flow() {
            played.tally.count("with", "neither ELSE nor SWITCH");
        }
        let outcome = self.steps(played);
        self.model.seen().for_each(|(word, count)| played.tally.count_many("with", word, count));
        if let Some(counted) = &self.counted {
            played.calls.clone_from(&counted.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
        played.is_struck = self.is_struck();
        let lost = matches!(outcome, Ok(Next::Lost));
        let (machine, ended) = (self.machine.clone(), self.end(lost));
        played.failure = outcome.err().or(ended);
        // What a detector saw explains the rest.
        if let Some(finding) = machine.findings().first() {
            played.failure = Some(Failure::Finding(finding.to_string()));
        }
    }

    fn is_struck(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.all_fired())
    }

    fn steps(&mut self, played: &mut Played) -> Result<Next, Failure> {
        let program = self.program;
        if self.list(&program.before, played)? == Next::Lost {
            return Ok(Next::Lost);
        }
        if program.is_threaded() {
            self.threads(played)?;
        }
        if self.list(&program.after, played)? == Next::Lost {
            return Ok(Next::Lost);
        }
        self.compare_all(played)
    }

    fn list(&mut self, steps: &[Step], played: &mut Played) -> Result<Next, Failure> {
        let mut is_behind_launch = false;
        for step in steps {
            let struck_before = self.is_struck();
            let before = (self.fault.is_some() && !struck_before).then(|| self.model.clone());
            let Some(expect) = self.model.step(step) else {
                played.ended.push(Ended::Skipped);
                continue;
            };
            let got = self.env.step(step);
            played.tally.step(step, &expect, is_behind_launch);
            is_behind_launch = matches!(step, Step::Launch(..) | Step::LaunchInto(..));
            let Some(before) = before.filter(|_| self.is_struck()) else {
                hold(&expect, &got).map_err(|text| Failure::Wrong(format!("{step:?}: {text}")))?;
                played.ended.push(Ended::As(expect));
                continue;
            };
            match self.struck(step, &expect, got, before, played)? {
                Next::Go => {}
                Next::Lost => return Ok(Next::Lost),
            }
        }
        Ok(Next::Go)
    }

    /// After the step in which the call failed.
    fn struck(
        &mut self,
        step: &Step,
        expect: &Expect,
        got: Got,
        before: Model,
        played: &mut Played,
    ) -> Result<Next, Failure> {
        let Some(strike) = self.program.strike else { unreachable!("it has struck") };
        played.tally.count(
            "fault",
            match strike.effect {
                Effect::NotDone => "not done",
                Effect::Done => "done",
                Effect::CaptureInvalidated | Effect::ContextLost => "capture or context",
            },
        );
        let is_lost = strike.effect == Effect::ContextLost;
        let as_expected = hold(expect, &got);
        match (&as_expected, &got) {
            (Ok(()), _) => played.tally.count("fault", "survived by a step"),
            (Err(_), Got::Error(error)) => {
                played.tally.count("fault", "seen by a step");
                name_check(error, strike).inspect_err(|_| played.ended.push(Ended::Failed))?;
                self.model = before;
                self.model.fail(step);
            }
            (Err(_), _) if is_lost => {}
            (Err(text), _) => return Err(Failure::Wrong(format!("{step:?}, under a fault: {text}"))),
        }
        if is_lost {
            played.ended.push(Ended::Lost);
            let after = self.env.device.zeros::<u32>(1).err();
            return match after.as_ref().map(Error::kind) {
                Some(ErrorKind::Lost { .. }) => Ok(Next::Lost),
                _ => Err(Failure::Wrong(format!("the context is lost, and the device says {after:?}"))),
            };
        }
        // It may have made room for itself: who is in it now, nobody can say.
        if let Some(name) = steps::retired(step) {
            self.model.retire(name);
            self.env.things.remove(&name);
        }
        played.ended.push(if as_expected.is_ok() { Ended::As(expect.clone()) } else { Ended::Failed });
        Ok(Next::Go)
    }

    /// Everything that can be read.
    fn compare_all(&mut self, played: &mut Played) -> Result<Next, Failure> {
        let mut refused = 0;
        let strike = self.program.strike;
        loop {
            let struck_before = self.is_struck();
            let outcome = self.compare_once();
            match outcome {
                Ok(None) => return Ok(Next::Go),
                Ok(Some(text)) => return Err(Failure::Wrong(text)),
                Err(error) => {
                    let Some(strike) = strike.filter(|_| !struck_before && self.is_struck()) else {
                        return Err(Failure::Wrong(format!("reading at the end: {error:?}")));
                    };
                    played.tally.count("fault", "seen by a step");
                    name_check(&error, strike)?;
                    if strike.effect == Effect::ContextLost {
                        played.ended.push(Ended::Lost);
                        return Ok(Next::Lost);
                    }
                    refused += 1;
                    assert!(refused < 2, "one fault strikes once");
                }
            }
        }
    }

    fn compare_once(&mut self) -> Result<Option<String>, Error> {
        let stream = self.env.device.stream()?;
        for (place, name, words) in self.model.contents() {
            let got = self.env.contents(place, name, &stream)?;
            if let Err(text) = same(&words, &got) {
                return Ok(Some(format!("at the end, {place:?}: {text}")));
            }
        }
        Ok(None)
    }

    fn threads(&mut self, played: &mut Played) -> Result<(), Failure> {
        let count = self.program.threads.len();
        let mut plans: Vec<Vec<(&Step, Expect)>> = Vec::new();
        for (number, steps) in self.program.threads.iter().enumerate() {
            self.model.enter(Phase::Thread(number, count));
            plans.push(steps.iter().filter_map(|step| Some((step, self.model.step(step)?))).collect());
        }
        self.model.enter(Phase::Alone);
        let mut shared = std::mem::take(&mut self.env.things);
        let mut given: Vec<Things> = (0..count).map(|_| BTreeMap::new()).collect();
        let graphs: Vec<_> =
            shared.iter().filter(|(_, thing)| matches!(thing, Thing::Graph(_))).map(|(n, _)| *n).collect();
        for name in graphs {
            if let Some(graph) = shared.remove(&name) {
                given[usize::from(name) % count].insert(name, graph);
            }
        }
        let (env, shared_ref) = (&self.env, &shared);
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = plans
                .into_iter()
                .zip(given)
                .map(|(plan, given)| {
                    let (device, kernels, token) = (env.device.clone(), env.kernels.clone(), env.token.clone());
                    scope.spawn(move || {
                        let ours: Vec<_> = given.keys().copied().collect();
                        let mut env = Env { device, kernels, token, things: given, shared: Some(shared_ref) };
                        let mut tally = Tally::default();
                        let mut failure = None;
                        for (step, expect) in plan {
                            let got = env.step(step);
                            tally.step(step, &expect, false);
                            if let Err(text) = hold(&expect, &got) {
                                failure = Some(Failure::Wrong(format!("in a thread, {step:?}: {text}")));
                                break;
                            }
                        }
                        env.things.retain(|name, _| ours.contains(name));
                        (env.things, tally, failure)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut failed = None;
        for result in results {
            match result {
                Ok((things, tally, failure)) => {
                    shared.extend(things);
                    played.tally.add(&tally);
                    failed = failed.or(failure);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        self.env.things = shared;
        failed.map_or(Ok(()), Err)
    }

    /// Drops everything, and looks at what is left.
    fn end(self, lost: bool) -> Option<Failure> {
        let Run { program, machine, token, env, fault, counted, mut model } = self;
        let Env { device, kernels, token: held, mut things, .. } = env;
        drop((held, fault, counted));
        if program.quiet && !lost {
            let _ = device.synchronize();
        } else if let Ok(stream) = device.stream() {
            for (name, thing) in &mut things {
                if let Thing::Graph(graph) = thing
                    && program.may_launch_last(*name, &mut model)
                {
                    let _ = graph.launch(&stream);
                }
            }
        }
        let last = program.may_outlast_drops().then(|| device.clone());
        let mut all: Vec<Box<dyn Any>> = vec![Box::new(device), Box::new(kernels)];
        all.extend(std::mem::take(&mut things).into_values().map(|thing| Box::new(thing) as Box<dyn Any>));
        let mut dice = Dice::new(program.seed ^ 0xd209);
        while !all.is_empty() {
            drop(all.swap_remove(dice.below(all.len() as u64) as usize));
        }
        if let Some(device) = last {
            let _ = device.synchronize();
        }
        // Memory apart from its addresses is of no context: what a lost one does not let us unmap goes with the
        // process.
        let census = || match lost {
            true => Census { physical: 0, ranges: 0, ..machine.census() },
            false => machine.census(),
        };
        let is_gone = || census() == Census::default() && Arc::strong_count(&token) == 1;
        let began = Instant::now();
        while !is_gone() {
            if began.elapsed() > PATIENCE {
                let values = Arc::strong_count(&token) - 1;
                return Some(Failure::Leaked(format!("{}; {values} values of the program's", machine.census())));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        None
    }
}

/// Whether an error names the call that failed.
fn name_check(error: &Error, strike: Strike) -> Result<(), Failure> {
    let fault = Lawful { code: strike.code, effect: strike.effect, source: Source::Prudence };
    match faults::names_the_call(error, strike.call, fault).as_slice() {
        [] => Ok(()),
        [text, ..] => Err(Failure::Wrong(text.clone())),
    }
}

/// Whether a step has ended as expected.
fn hold(expect: &Expect, got: &Got) -> Result<(), String> {
    match (expect, got) {
        (Expect::Done, Got::Values(values)) if values.is_empty() => Ok(()),
        (Expect::Values(words), Got::Values(values)) if words.len() == values.len() => {
            words.iter().zip(values).try_for_each(|(words, values)| same(words, values))
        }
        (Expect::Refused(why), Got::Error(error)) if kind_of(error) == *why => Ok(()),
        (Expect::Panicked, Got::Panicked) => Ok(()),
        (expect, Got::Values(values)) => Err(format!("expected {expect:?}, got {values:?}")),
        (expect, Got::Error(error)) => Err(format!("expected {expect:?}, got {error:?}")),
        (expect, Got::Panicked) => Err(format!("expected {expect:?}, and it panicked")),
    }
}

/// Whether all words that are known are these.
fn same(words: &[Word], got: &[u32]) -> Result<(), String> {
    let alike =
        words.len() == got.len() && words.iter().zip(got).all(|(word, got)| word.is_none_or(|word| word == *got));
    if alike { Ok(()) } else { Err(format!("expected {words:?}, got {got:?}")) }
}

//! A shorter program that fails the same way.
//!
//! Steps are taken out, in ever smaller groups; then lines of recordings; then options and numbers are made plain. What
//! the model does not take any more goes with what it named. A program with threads or in live time is tried several
//! times, because it may fail only sometimes.

use std::time::{Duration, Instant};

use super::judge::play;
use super::model::{Model, Phase};
use super::program::{Asks, Body, End, Op, Program, Step, Term, Value, Wait};

/// Drops the steps that are not valid any more.
pub fn valid(mut program: Program) -> Program {
    let mut model = Model::new(program.is_threaded());
    program.before.retain(|step| model.step(step).is_some());
    let threads = program.threads.len();
    for (number, steps) in program.threads.iter_mut().enumerate() {
        model.enter(Phase::Thread(number, threads));
        steps.retain(|step| model.step(step).is_some());
    }
    if threads > 0 {
        model.enter(Phase::Alone);
    }
    // What a fault leaves unmade, the run itself skips.
    program.after.retain(|step| model.step(step).is_some());
    program
}

/// Makes a program that fails with a failure of this kind as short as can be had in this time.
pub fn shrink(program: &Program, kind: &str, time: Duration) -> Program {
    let mut shrinking = Shrinking { best: program.clone(), kind, until: Instant::now() + time };
    loop {
        let before = format!("{:?}", shrinking.best);
        shrinking.steps();
        shrinking.ops();
        shrinking.plain();
        if format!("{:?}", shrinking.best) == before || shrinking.is_late() {
            return shrinking.best;
        }
    }
}

struct Shrinking<'k> {
    best: Program,
    kind: &'k str,
    until: Instant,
}

impl Shrinking<'_> {
    fn is_late(&self) -> bool {
        Instant::now() > self.until
    }

    /// Takes the candidate if it fails the same way.
    fn attempt(&mut self, candidate: Program) -> bool {
        if self.is_late() {
            return false;
        }
        let candidate = valid(candidate);
        let tries = if candidate.is_threaded() || candidate.live { 5 } else { 1 };
        let first = candidate.strike.map_or(1, |strike| strike.nth);
        // With steps gone, the call that failed is an earlier one of its kind.
        for less in 0..first.min(12) {
            let mut candidate = candidate.clone();
            if let Some(strike) = &mut candidate.strike {
                strike.nth -= less;
            }
            for _ in 0..tries {
                let failure = play(&candidate, false).failure;
                if failure.is_some_and(|failure| failure.kind() == self.kind) {
                    self.best = candidate;
                    return true;
                }
            }
        }
        false
    }

    /// Takes steps out: halves first, at last one by one.
    fn steps(&mut self) {
        if self.best.strike.is_some() {
            let mut without = self.best.clone();
            without.strike = None;
            self.attempt(without);
        }
        if self.best.is_threaded() {
            let mut without = self.best.clone();
            let threads = std::mem::take(&mut without.threads);
            let after = std::mem::take(&mut without.after);
            without.before.extend(threads.into_iter().flatten().chain(after));
            self.attempt(without);
        }
        let mut size = self.best.steps().count().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < self.best.steps().count() {
                let mut number = 0;
                let mut candidate = self.best.clone();
                let mut keep = |_: &Step| {
                    number += 1;
                    !(at..at + size).contains(&(number - 1))
                };
                candidate.before.retain(&mut keep);
                candidate.threads.iter_mut().for_each(|steps| steps.retain(&mut keep));
                candidate.after.retain(&mut keep);
                if !self.attempt(candidate) {
                    at += size;
                }
            }
            if size == 1 || self.is_late() {
                return;
            }
            size = size.div_ceil(2).max(1);
        }
    }

    /// Takes lines out of bodies: a line with others inside whole, or its lines take its place.
    fn ops(&mut self) {
        let ways: [fn(Op) -> Vec<Op>; 2] =
            [|_| Vec::new(), |mut op| op.bodies_mut().into_iter().flat_map(std::mem::take).collect()];
        for way in ways {
            let mut at = 0;
            loop {
                let mut candidate = self.best.clone();
                let mut number = at;
                let mut all = all_steps(&mut candidate).flat_map(bodies);
                if !all.any(|body| exchange(&mut body.ops, &mut number, way)) {
                    break;
                }
                drop(all);
                if format!("{candidate:?}") == format!("{:?}", self.best) || !self.attempt(candidate) {
                    at += 1;
                }
            }
        }
    }

    /// Changes what is special to what is plain, one thing at a time.
    fn plain(&mut self) {
        let whole: [fn(&mut Program); 3] =
            [|program| program.live = false, |program| program.quiet = true, |program| program.old = false];
        for change in whole {
            let mut candidate = self.best.clone();
            change(&mut candidate);
            let of = |program: &Program| (program.live, program.quiet, program.old);
            if of(&candidate) != of(&self.best) {
                self.attempt(candidate);
            }
        }
        for make_plain in WAYS {
            let mut at = 0;
            loop {
                let mut candidate = self.best.clone();
                let mut steps = all_steps(&mut candidate);
                let Some(step) = steps.nth(at) else { break };
                let was = step.clone();
                make_plain(step);
                if *step != was {
                    drop(steps);
                    self.attempt(candidate);
                }
                at += 1;
            }
        }
    }
}

/// Ways to make a step plainer.
const WAYS: &[fn(&mut Step)] = &[
    |step| {
        if let Step::Record(_, how, _) = step {
            *how = Default::default();
        }
    },
    |step| {
        if let Step::Record(_, how, _) = step {
            (how.apart, how.line, how.uploaded, how.arena) = (false, false, false, None);
        }
    },
    |step| {
        if let Step::Record(_, how, _) = step {
            how.guarded = false;
        }
    },
    |step| {
        if let Step::Launch(_, _, wait) = step {
            *wait = Wait::Not;
        }
    },
    |step| bodies(step).into_iter().for_each(|body| body.end = End::Good),
    |step| {
        if let Step::Buffer(_, words) | Step::Host(_, words) = step {
            words.fill(0);
        }
    },
    |step| {
        if let Step::Buffer(_, words) | Step::Host(_, words) = step
            && words.len() > 1
        {
            words.truncate(words.len() / 2);
        }
    },
    |step| {
        if let Step::Buffer(_, words) | Step::Host(_, words) = step
            && words.len() > 1
        {
            words.pop();
        }
    },
    |step| {
        if let Step::Slot(_, value) | Step::Scalar(_, value) | Step::SetSlot(_, value) = step {
            *value = (*value).min(1);
        }
    },
    |step| {
        for body in bodies(step) {
            each_op(&mut body.ops, &mut |op| {
                if let Op::Fill(value, _) | Op::Put(value, _) | Op::First(value, _) | Op::Window(value, ..) = op {
                    *value = match *value {
                        Value::Baked(number) => Value::Baked(number.min(1)),
                        Value::Slot(_) => Value::Baked(1),
                    };
                }
            });
        }
    },
    // One comparison in place of several, and no other side of a branch.
    |step| {
        for body in bodies(step) {
            each_op(&mut body.ops, &mut |op| match op {
                Op::When(term, _, otherwise) => {
                    *otherwise = None;
                    first(term);
                }
                Op::Leave(term) | Op::Loop(_, Asks::Behind(term, _) | Asks::Before(term, _), _) => first(term),
                _ => {}
            });
        }
    },
];

/// The first comparison of a condition in place of all.
fn first(term: &mut Term) {
    while let Term::And(inner, _) | Term::Or(inner, _) | Term::Not(inner) = term {
        *term = (**inner).clone();
    }
}

fn bodies(step: &mut Step) -> Vec<&mut Body> {
    match step {
        Step::Run(_, _, body, _)
        | Step::Record(_, _, body)
        | Step::Rerecord(_, _, body)
        | Step::Into(_, _, _, body) => vec![body],
        Step::Cache(_, _, bodies) => bodies.iter_mut().collect(),
        _ => Vec::new(),
    }
}

fn all_steps(program: &mut Program) -> impl Iterator<Item = &mut Step> {
    program.before.iter_mut().chain(program.threads.iter_mut().flatten()).chain(&mut program.after)
}

/// Puts others in the place of a line, counted over all lines; whether there was one.
fn exchange(ops: &mut Vec<Op>, at: &mut usize, by: fn(Op) -> Vec<Op>) -> bool {
    for line in 0..ops.len() {
        if *at == 0 {
            let op = ops.remove(line);
            ops.splice(line..line, by(op));
            return true;
        }
        *at -= 1;
        if ops[line].bodies_mut().into_iter().any(|inside| exchange(inside, at, by)) {
            return true;
        }
    }
    false
}

/// Does something to each line, wherever it is.
fn each_op(ops: &mut [Op], f: &mut dyn FnMut(&mut Op)) {
    for op in ops {
        f(op);
        op.bodies_mut().into_iter().for_each(|inside| each_op(inside, f));
    }
}

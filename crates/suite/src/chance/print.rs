//! A program as a Rust test.
//!
//! The test needs what [`PRELUDE`] has: the kernels and a few small questions. It makes the same calls in the same
//! order, and asserts how each ends: as the model says, or, where a fault has ended a step, that it failed.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::dice::Dice;
use super::judge::{Ended, play};
use super::model::{Expect, Model, Phase, Word};
use super::numbers::Type;
use super::print_body::{body, part, split};
use super::program::{Body, Greedy, Name, NamedMemory, Padding, Program, Step, Stranger, Wait};

/// What printed tests have together.
pub const PRELUDE: &str = include_str!("prelude.rs");

/// A test that does what a program does.
pub fn print(name: &str, program: &Program) -> String {
    let mut printer = Printer {
        model: Model::new(program.is_threaded()),
        letters: BTreeMap::new(),
        bodies: BTreeMap::new(),
        types: BTreeMap::new(),
    };
    // Only a run tells in which step a fault ends.
    let ended = if program.strike.is_some() { play(program, false).ended } else { Vec::new() };
    let mut ended = ended.into_iter();
    let mut text = format!("#[test]\nfn {name}() {{\n");
    let software = match (program.old, program.live) {
        (false, false) => format!("software({:#x})", program.seed),
        (false, true) => format!("live({:#x})", program.seed),
        (true, false) => format!("old(software({:#x}))", program.seed),
        (true, true) => format!("old(live({:#x}))", program.seed),
    };
    let open = match program.strike {
        None => format!("ready({software}.open().unwrap())"),
        Some(strike) => format!(
            "struck({software}, Call::{:?}, {}, CUresult({}), Effect::{:?})",
            strike.call, strike.nth, strike.code.0, strike.effect
        ),
    };
    let _ = writeln!(text, "    let (device, k, token) = {open};");
    let _ = writeln!(text, "    let machine = device.machine().unwrap().clone();");
    let mut is_lost = printer.list(&program.before, &mut ended, 1, &mut text);
    if program.is_threaded() {
        let count = program.threads.len();
        text += "    std::thread::scope(|scope| {\n";
        for (number, steps) in program.threads.iter().enumerate() {
            printer.model.enter(Phase::Thread(number, count));
            text += "        scope.spawn(|| {\n";
            let outside = printer.letters.clone();
            printer.list(steps, &mut std::iter::empty(), 3, &mut text);
            // What the thread made is gone with it.
            printer.letters = outside;
            text += "        });\n";
        }
        printer.model.enter(Phase::Alone);
        text += "    });\n";
    }
    is_lost = is_lost || printer.list(&program.after, &mut ended, 1, &mut text);
    // Lost while everything was read.
    is_lost = is_lost || ended.next() == Some(Ended::Lost);
    printer.end(program, is_lost, &mut text);
    text += "}\n";
    text
}

struct Printer {
    model: Model,
    /// How each object's variable begins.
    letters: BTreeMap<Name, char>,
    /// What caches record.
    bodies: BTreeMap<Name, Vec<Body>>,
    /// Of numbers, and of slots that are not of `u32`.
    types: BTreeMap<Name, Type>,
}

impl Printer {
    /// Steps, a line or more each; whether the context was lost in one.
    fn list(
        &mut self,
        steps: &[Step],
        ended: &mut dyn Iterator<Item = Ended>,
        depth: usize,
        text: &mut String,
    ) -> bool {
        for step in steps {
            let ended = match ended.next() {
                Some(Ended::As(_)) | None => match self.model.step(step) {
                    Some(expect) => Ended::As(expect),
                    None => Ended::Skipped,
                },
                Some(Ended::Failed) => {
                    self.model.fail(step);
                    Ended::Failed
                }
                Some(other) => other,
            };
            if ended == Ended::Skipped {
                continue;
            }
            let line = self.step(step, &ended);
            for line in line.lines() {
                let _ = writeln!(text, "{:width$}{line}", "", width = depth * 4);
            }
            if ended == Ended::Lost {
                return true;
            }
            if ended == Ended::Failed
                && let Some(name) = super::model::steps::retired(step)
            {
                let _ = writeln!(text, "{:width$}drop({});", "", self.variable(name), width = depth * 4);
                self.letters.remove(&name);
            }
        }
        false
    }

    fn variable(&self, name: Name) -> String {
        format!("{}{name}", self.letters.get(&name).copied().unwrap_or('?'))
    }

    /// A new variable of an expression that may fail.
    fn make(&mut self, name: Name, letter: char, expression: &str, ended: &Ended) -> String {
        match ended {
            Ended::As(Expect::Done | Expect::Values(_)) => {
                self.letters.insert(name, letter);
                format!("let mut {letter}{name} = {expression}.unwrap();")
            }
            _ => does(expression, ended),
        }
    }

    /// A value of a number or a slot.
    fn number(&self, name: Name, bits: u64) -> String {
        self.types[&name].value(bits)
    }

    fn step(&mut self, step: &Step, ended: &Ended) -> String {
        if let Step::Number(name, of, _) | Step::Dial(name, of, _) = step {
            self.types.insert(*name, *of);
        }
        match step {
            Step::Buffer(name, words) => self.make(*name, 'b', &format!("device.buffer::<u32>(&{words:?})"), ended),
            Step::Zeros(name, len) => self.make(*name, 'b', &format!("device.zeros::<u32>({len})"), ended),
            Step::Scalar(name, value) => self.make(*name, 'x', &format!("device.scalar({value}u32)"), ended),
            Step::Host(name, words) => self.make(*name, 'h', &format!("device.host::<u32>(&{words:?})"), ended),
            Step::Slot(name, value) => {
                self.letters.insert(*name, 's');
                format!("let s{name} = Slot::new({value}u32);")
            }
            Step::Number(name, of, bits) => {
                self.make(*name, 'v', &format!("device.scalar({})", of.value(*bits)), ended)
            }
            Step::Dial(name, of, bits) => {
                self.letters.insert(*name, 'd');
                format!("let d{name} = Slot::new({});", of.value(*bits))
            }
            Step::Stream(name) => self.make(*name, 'q', "device.stream()", ended),
            Step::Pool(name) => {
                self.letters.insert(*name, 'p');
                format!("let p{name} = device.pool();")
            }
            Step::Arena(name, wide) => {
                self.make(*name, 'a', &format!("device.arena({})", if *wide { 1 << 16 } else { 0 }), ended)
            }
            Step::Generator(name, seed) => self.make(*name, 'n', &format!("Generator::new(&device, {seed})"), ended),
            Step::Run(stream, arena, recorded, names) => {
                let op = format!("|r: &mut Recorder<'_>| {}", body(recorded, false));
                let expression = match arena {
                    Some(arena) => format!("q{stream}.run_in(&a{arena}, {op})"),
                    None => format!("q{stream}.run({op})"),
                };
                match ended {
                    Ended::As(Expect::Done) => self.outputs(names, &format!("{expression}.unwrap()")),
                    _ => does(&expression, ended),
                }
            }
            Step::Record(name, how, recorded) => {
                let mut options = String::new();
                how.pool.iter().for_each(|pool| options += &format!(".pool(&p{pool})"));
                how.arena.iter().for_each(|arena| options += &format!(".arena(&a{arena})"));
                let flags = [
                    (how.apart, ".apart()"),
                    (how.line, ".straight_line()"),
                    (how.guarded, ".guarded(true)"),
                    (how.uploaded, ".preloaded()"),
                ];
                flags.iter().filter(|(is_on, _)| *is_on).for_each(|(_, call)| options += call);
                if let Some(warm) = how.warm {
                    let call = if warm.restored { "warmup" } else { "warmup_unrestored" };
                    options += &format!(".{call}({})", warm.runs);
                    options += if warm.capped { ".warmup_cap(0)" } else { "" };
                }
                let op = format!("|r: &mut Recorder<'_>| {}", body(recorded, false));
                self.make(*name, 'g', &format!("device.graph(){options}.record({op})"), ended)
            }
            Step::Launch(graph, stream, wait) => {
                let call = match wait {
                    Wait::Not => format!("g{graph}.launch(&q{stream}).map(drop)"),
                    Wait::Sync => format!("g{graph}.launch_sync(&q{stream}).map(drop)"),
                    Wait::Later => format!("g{graph}.launch(&q{stream}).and_then(|l| l.wait().map(drop))"),
                    Wait::Ticket => format!("g{graph}.submit(&q{stream}).and_then(|ticket| ticket.wait())"),
                    Wait::Await => format!("g{graph}.submit(&q{stream}).and_then(block_on)"),
                };
                does(&call, ended)
            }
            Step::Upload(graph, stream) => does(&format!("g{graph}.preload(&q{stream})"), ended),
            Step::Rerecord(graph, keeps_options, recorded) => {
                let op = format!("|r: &mut Recorder<'_>| {}", body(recorded, false));
                let call = if *keeps_options { "rerecord(" } else { "rerecord_with(device.graph(), " };
                does(&format!("g{graph}.{call}{op}).map(drop)"), ended)
            }
            Step::Reset(graph) => format!("g{graph}.reset();"),
            Step::IntoOutputs(graph, names) => {
                self.letters.remove(graph);
                self.outputs(names, &format!("g{graph}.into_outputs()"))
            }
            Step::Into(name, ins, outs, recorded) => {
                let zeros = |len: &u8| format!("device.zeros::<u32>({len}).unwrap()");
                let op = format!(
                    "|r: &mut Recorder<'_>, (i0, i1): (&Slice<u32>, &Slice<u32>), \
                     (o0, o1): (&mut Slice<u32>, &mut Slice<u32>)| {}",
                    body(recorded, true)
                );
                let expression = format!(
                    "device.graph(){}.record_into((&{}[..], &{}[..]), (&mut {}[..], &mut {}[..]), {op})",
                    if *name % 2 == 1 { ".guarded(true)" } else { "" },
                    zeros(&ins[0]),
                    zeros(&ins[1]),
                    zeros(&outs[0]),
                    zeros(&outs[1])
                );
                self.make(*name, 'i', &expression, ended)
            }
            Step::LaunchInto(name, stream, ins, outs) => {
                let (lines, reads, writes) = split(ins, outs);
                let call = format!(
                    "i{name}.launch(&q{stream}, ({}, {}), ({}, {})).map(drop)",
                    reads[0], reads[1], writes[0], writes[1]
                );
                scoped(&lines, &does(&call, ended))
            }
            Step::Cache(name, max, bodies) => {
                self.letters.insert(*name, 'c');
                self.bodies.insert(*name, bodies.clone());
                format!("let c{name} = cache(&device, {max});")
            }
            Step::CacheRun(name, stream, key) | Step::CacheGet(name, stream, key) => {
                let op = format!("|r: &mut Recorder<'_>| {}", body(&self.bodies[name][usize::from(*key)], false));
                let call = match step {
                    Step::CacheRun(..) => {
                        format!("lock(&c{name}).run(&q{stream}, &{key}, {op}).and_then(|out| read(&q{stream}, out))")
                    }
                    _ => format!(
                        "lock(&c{name}).get_or_record(&{key}, {op})\
                         .and_then(|g| read(&q{stream}, g.launch(&q{stream})?.wait()?))"
                    ),
                };
                does(&call, ended)
            }
            Step::Evict(name, key) => match ended {
                Ended::As(Expect::Values(values)) => {
                    format!("assert_eq!(lock(&c{name}).evict(&{key}), {});", values[0][0] == Some(1))
                }
                _ => format!("lock(&c{name}).evict(&{key});"),
            },
            Step::Bucketed(name, buckets, row, padding, slot, larger) => {
                let pad = match padding {
                    Padding::Zero => "Pad::Zero".into(),
                    Padding::Value(value) => format!("Pad::Value({value})"),
                    Padding::Last => "Pad::RepeatLast".into(),
                    Padding::Keep => "Pad::Keep".to_string(),
                };
                let expression = format!("rows_of(&device, &k, &{buckets:?}, {row}, {pad}, &s{slot}, {larger})");
                self.make(*name, 'f', &expression, ended)
            }
            Step::Prepare(name) => does(&format!("f{name}.prepare().map(drop)"), ended),
            Step::Call(name, stream, rows, of) => {
                let given = part(*of, false);
                let call = format!(
                    "f{name}.call(&q{stream}, {rows}, {given})\
                     .and_then(|(y, sum)| Ok(vec![q{stream}.read(y)?, vec![sum.get(&q{stream})?]]))"
                );
                does(&call, ended)
            }
            Step::Write(stream, to, words) => does(&format!("q{stream}.write({}, &{words:?})", part(*to, true)), ended),
            Step::Read(stream, of) => does(&format!("one(q{stream}.read({}))", part(*of, false)), ended),
            Step::SetScalar(name, stream, value) => does(&format!("x{name}.set(&q{stream}, {value})"), ended),
            Step::GetScalar(name, stream) => does(&format!("one(x{name}.get(&q{stream}).map(|x| vec![x]))"), ended),
            Step::WriteNumber(name, stream, bits) => {
                does(&format!("v{name}.set(&q{stream}, {})", self.number(*name, *bits)), ended)
            }
            Step::ReadNumber(name, stream) => does(&format!("one(v{name}.get(&q{stream}).map(words))"), ended),
            Step::SetDial(name, bits) => format!("d{name}.set({});", self.number(*name, *bits)),
            Step::SetHost(name, words) => does(&format!("h{name}.set(&{words:?})"), ended),
            Step::ReadHost(name) => does(&format!("one(h{name}.to_vec())"), ended),
            Step::SetSlot(name, value) => format!("s{name}.set({value});"),
            Step::Seed(name, stream, seed) => does(&format!("n{name}.seed(&q{stream}, {seed})"), ended),
            Step::Save(name, stream, saved) => {
                let line = self.make(*saved, 'w', &format!("n{name}.save(&q{stream})"), ended);
                match ended {
                    Ended::As(Expect::Values(values)) => {
                        format!("{line}\n{}", compare(&format!("vec![w{saved}.next_words(4)]"), values))
                    }
                    _ => line,
                }
            }
            Step::Restore(name, stream, saved) => does(&format!("n{name}.restore(&q{stream}, &w{saved})"), ended),
            Step::Sync(stream) => does(&format!("q{stream}.synchronize()"), ended),
            Step::SyncAll => does("device.synchronize()", ended),
            Step::IsDone(stream) => does(&format!("q{stream}.is_done().map(drop)"), ended),
            Step::Seal(name, true) => format!("p{name}.seal();"),
            Step::Seal(name, false) => format!("p{name}.unseal();"),
            Step::PoolKeep(name) => does(&format!("p{name}.keep(token.clone()).map(drop)"), ended),
            Step::PoolClear(name) => does(&format!("p{name}.clear()"), ended),
            Step::Budget(greedy) => {
                let what = match greedy {
                    Greedy::Fits => "device.zeros::<u32>(1000).map(drop)",
                    Greedy::Buffer => "device.zeros::<u32>(budget / 4 + 1).map(drop)",
                    Greedy::Host => "device.host(&vec![0u32; budget / 4 + 1]).map(drop)",
                    Greedy::Arena => "device.arena(budget + 1).map(drop)",
                    Greedy::Output => "device.record(|r: &mut Recorder<'_>| r.output::<u32>(budget / 4 + 1)).map(drop)",
                };
                format!(
                    "let budget = device.held().total() + 4096;\ndevice.set_memory_budget(Some(budget));\n{}\n\
                     device.set_memory_budget(None);",
                    does(what, ended)
                )
            }
            Step::Stranger(stranger) => {
                let (make, call) = match stranger {
                    Stranger::Read(stream) => {
                        ("other.zeros::<u32>(2)".to_string(), format!("one(q{stream}.read(&theirs[..]))"))
                    }
                    Stranger::Copy(stream, to) => (
                        format!("other.zeros::<u32>({})", to.len),
                        format!("q{stream}.run(copy(&theirs, {}))", part(*to, true)),
                    ),
                    Stranger::Launch(graph) => ("other.stream()".into(), format!("g{graph}.launch(&theirs).map(drop)")),
                    Stranger::Pool => (
                        "Ok::<_, dacapo::Error>(other.pool())".into(),
                        "device.graph().pool(&theirs).record(|_: &mut Recorder<'_>| Ok(())).map(drop)".into(),
                    ),
                };
                let lines = [
                    "let other = Software::new().seed(1).open().unwrap();".into(),
                    format!("let theirs = {make}.unwrap();"),
                ];
                scoped(&lines, &does(&call, ended))
            }
            Step::Drop(name) => {
                let line = format!("drop({});", self.variable(*name));
                self.letters.remove(name);
                line
            }
        }
    }

    /// Outputs get names.
    fn outputs(&mut self, names: &[Name], expression: &str) -> String {
        self.letters.extend(names.iter().map(|name| (*name, 'b')));
        let names: Vec<String> = names.iter().map(|name| format!("mut b{name}")).collect();
        format!("let [{}] = outputs({expression});", names.join(", "))
    }

    /// Everything is compared, and dropped in the order that the seed decides.
    fn end(&mut self, program: &Program, is_lost: bool, text: &mut String) {
        let mut line = |line: &str| {
            let _ = writeln!(text, "    {line}");
        };
        if !is_lost {
            // The call that fails may be one of these.
            let sure = |call: String| match program.strike {
                Some(_) => format!("again(|| {call})"),
                None => format!("{call}.unwrap()"),
            };
            line(&format!("let last = {};", sure("device.stream()".into())));
            for (place, name, words) in self.model.contents() {
                let variable = self.variable(name);
                let expression = match (place, self.letters.get(&name)) {
                    (NamedMemory::Result(_, output), _) => format!("last.read(&{variable}.outputs()[{output}])"),
                    (_, Some('x')) => format!("{variable}.get(&last).map(|x| vec![x])"),
                    (_, Some('v')) => format!("{variable}.get(&last).map(words)"),
                    (_, Some('h')) => format!("{variable}.to_vec()"),
                    (_, Some('n')) => format!("{variable}.save(&last).map(|state| state.next_words(4))"),
                    _ => format!("last.read(&{variable})"),
                };
                line(&compare(&format!("vec![{}]", sure(expression)), &[words]));
            }
            match program.quiet {
                true => line(&format!("{};", sure("device.synchronize()".into()))),
                false => {
                    let graphs = self.letters.iter().filter(|(_, letter)| **letter == 'g');
                    let graphs: Vec<Name> = graphs.map(|(name, _)| *name).collect();
                    let launched = graphs.iter().filter(|name| program.may_launch_last(**name, &mut self.model));
                    launched.for_each(|name| line(&format!("let _ = g{name}.launch(&last);")));
                }
            }
            line("drop(last);");
        }
        if program.may_outlast_drops() {
            line("let kept = device.clone();");
        }
        let mut all: Vec<String> = vec!["device".into(), "k".into()];
        all.extend(self.letters.keys().map(|name| self.variable(*name)));
        let mut dice = Dice::new(program.seed ^ 0xd209);
        while !all.is_empty() {
            let next = all.swap_remove(dice.below(all.len() as u64) as usize);
            line(&format!("drop({next});"));
        }
        if program.may_outlast_drops() {
            line("let _ = kept.synchronize();\n    drop(kept);");
        }
        line(&format!("nothing_left(&machine, &token, {is_lost});"));
    }
}

/// A line that does something and says how it ends.
fn does(expression: &str, ended: &Ended) -> String {
    match ended {
        Ended::As(Expect::Done) => format!("{expression}.unwrap();"),
        Ended::As(Expect::Values(values)) => compare(&format!("{expression}.unwrap()"), values),
        Ended::As(Expect::Refused(why)) => format!("assert_eq!(kind({expression}), {why:?});"),
        Ended::As(Expect::Panicked) => format!("assert!(panics(|| drop({expression})));"),
        Ended::Failed => format!("assert!({expression}.is_err());"),
        Ended::Lost => format!("let _ = {expression};"),
        Ended::Skipped => String::new(),
    }
}

fn compare(expression: &str, values: &[Vec<Word>]) -> String {
    let is_known = values.iter().flatten().all(Option::is_some);
    let texts: Vec<String> = values
        .iter()
        .map(|words| match is_known {
            true => format!("vec!{:?}", words.iter().flatten().collect::<Vec<_>>()),
            false => format!("vec!{words:?}"),
        })
        .collect();
    match (values.is_empty(), is_known) {
        (true, _) => format!("assert!({expression}.is_empty());"),
        (_, true) => format!("assert_eq!({expression}, [{}]);", texts.join(", ")),
        (_, false) => format!("same({expression}, &[{}]);", texts.join(", ")),
    }
}

/// Lines that belong together.
fn scoped(lines: &[String], last: &str) -> String {
    match lines {
        [] => last.to_string(),
        lines => format!("{{\n    {}\n    {}\n}}", lines.join("\n    "), last.replace('\n', "\n    ")),
    }
}

//! What the check of declarations calls certain, held against what kernels do when they run.
//!
//! Every kernel of the corpus is run on the software driver, in its smallest case, with every pointer declared `&mut`:
//!
//! - memory that changed is found to be written;
//! - memory that is found to be never read may hold anything: all other results stay the same;
//! - memory that is found to be never written is as it was.

use std::collections::BTreeMap;

use dacapo::__private::{KernelDecl, Param, ParamKind, PointerMode, check_text};
use dacapo::inspect::Found;
use dacapo_sim::{Detectors, Machine, Options};
use dacapo_suite::corpus::{Argument, Buffer, Case, all, ptx, run};
use dacapo_suite::session::Session;

#[test]
fn what_is_certain_of_a_kernel_is_true_when_it_runs() {
    let machine = Machine::new(Options { seed: 1, detectors: Detectors::none(), ..Default::default() });
    let mut session = Session::open(&machine).expect("the software device opens");
    let (mut written, mut unread) = (0, 0);
    for case in smallest() {
        let found = found(&case);
        let before = outputs(&mut session, &case);
        for (at, argument) in case.arguments.iter().enumerate() {
            let Argument::Buffer(buffer) = argument else { continue };
            let Found::Memory { read, written: writes, .. } = found[at] else {
                panic!("{}: parameter {at} is not decided", case.name())
            };
            // An input that changed has failed the run already.
            let changed = before.get(&at).is_some_and(|after| *after != buffer.bytes);
            assert!(writes || !changed, "{}: parameter {at} was written, and found never to be", case.name());
            written += usize::from(changed);
            if !read {
                let other = scrambled(&case, at, &buffer.bytes);
                let after = outputs(&mut session, &other);
                let Argument::Buffer(given) = &other.arguments[at] else { unreachable!("it was one before") };
                assert_eq!(without(at, &before), without(at, &after), "{}: parameter {at} was read", case.name());
                let same_where_written = before.get(&at).zip(after.get(&at)).is_none_or(|(before, after)| {
                    let pairs = before.iter().zip(after).zip(&given.bytes);
                    pairs.into_iter().all(|((before, after), given)| before == after || after == given)
                });
                assert!(same_where_written, "{}: parameter {at} was read into itself", case.name());
                unread += 1;
            }
        }
    }
    // The test is worth something only if it looked at much.
    assert!(written > 100 && unread > 80, "{written} written, {unread} never read");
}

/// Each kernel's case with the fewest bytes that runs at all.
fn smallest() -> Vec<Case> {
    let mut by_kernel: BTreeMap<(&str, &str), Case> = BTreeMap::new();
    let bytes = |case: &Case| -> usize {
        let buffers = case.arguments.iter().map(|argument| match argument {
            Argument::Buffer(buffer) => buffer.bytes.len(),
            _ => 0,
        });
        buffers.sum()
    };
    // Cases of nothing show nothing.
    for case in all().into_iter().filter(|case| bytes(case) > 64) {
        let known = by_kernel.entry((case.module, case.kernel)).or_insert_with(|| case.clone());
        if bytes(&case) < bytes(known) {
            *known = case;
        }
    }
    by_kernel.into_values().collect()
}

/// What is found of each parameter, where all that are given memory are declared as memory that is written.
fn found(case: &Case) -> Vec<Found> {
    let param = |argument: &Argument| match argument {
        Argument::Scalar(_) => Param::value::<[u8; 1]>("value", "[u8; 1]", ParamKind::Value),
        _ => Param::pointer::<[u8; 1]>("memory", "[u8; 1]", PointerMode::Write, false),
    };
    let params: Vec<Param> = case.arguments.iter().map(param).collect();
    let text = ptx(case.module).expect("the module is embedded");
    let decl = KernelDecl::new(case.kernel, Vec::leak(params));
    let (checked, _) = check_text(text, &[decl]);
    checked.kernels[0].params.iter().map(|param| param.found.clone()).collect()
}

/// Bytes by argument.
type Outputs = BTreeMap<usize, Vec<u8>>;

/// The outputs by argument.
fn outputs(session: &mut Session<'_>, case: &Case) -> Outputs {
    let outputs = run(session, case).unwrap_or_else(|failure| panic!("{}: {failure}", case.name()));
    let is_output = |argument: &Argument| matches!(argument, Argument::Buffer(Buffer { output: Some(_), .. }));
    let places = case.arguments.iter().enumerate().filter(|(_, argument)| is_output(argument)).map(|(at, _)| at);
    places.zip(outputs).collect()
}

/// All outputs but one.
fn without(at: usize, outputs: &Outputs) -> Outputs {
    outputs.iter().filter(|(key, _)| **key != at).map(|(key, value)| (*key, value.clone())).collect()
}

/// The same case with other bytes in one buffer.
fn scrambled(case: &Case, at: usize, bytes: &[u8]) -> Case {
    let mut other = case.clone();
    if let Argument::Buffer(buffer) = &mut other.arguments[at] {
        buffer.bytes = bytes.iter().map(|byte| byte ^ 0x5a).collect();
    }
    other
}

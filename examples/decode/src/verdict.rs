//! What the program must have shown to end well.

use dacapo_driver::Call;

use crate::apart::Apart;
use crate::calls::Calls;
use crate::decoded::Decoded;
use crate::ending::Until;
use crate::ranks::{RanksOutcome, RanksRuns};
use crate::traffic::Served;
use crate::ways::Task;

/// One promise, and whether it held.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// The promise, with what was found.
    pub what: String,
    /// Whether it held.
    pub held: bool,
}

/// Whether two runs gave the same texts.
pub fn same_texts(what: &str, left: &[Vec<u32>], right: &[Vec<u32>]) -> Check {
    let tokens: usize = left.iter().map(Vec::len).sum();
    if left.len() != right.len() {
        return Check { what: format!("{what}: {} texts here, {} there", left.len(), right.len()), held: false };
    }
    for (number, (left, right)) in left.iter().zip(right).enumerate() {
        if left != right {
            let at =
                left.iter().zip(right).position(|(left, right)| left != right).unwrap_or(left.len().min(right.len()));
            return Check { what: format!("{what}: text {number} differs from token {at} on"), held: false };
        }
    }
    Check { what: format!("{what}: all {tokens} of {} texts", left.len()), held: !left.is_empty() }
}

/// Whether so many steps were so many launches and, where slots changed, so many patches; and nothing else at all.
///
/// A patch is two calls: the node's parameters, and before them the question which context the thread has, because they are
/// understood in that one.
pub fn only_launches(calls: &Calls, steps: u64, patches: u64) -> Check {
    let of = [Call::cuGraphLaunch, Call::cuGraphExecKernelNodeSetParams_v2, Call::cuCtxGetCurrent];
    let [launched, patched, asked] = of.map(|call| calls.times(call));
    let others: u64 = calls.made.iter().filter(|(call, _)| !of.contains(call)).map(|(_, times)| times).sum();
    let others = others + asked.saturating_sub(patched);
    let what = &calls.what;
    Check {
        what: format!("{what}: {launched} launches, {patched} patches, {others} other driver calls, so no allocation"),
        held: (launched, patched, others) == (steps, patches, 0),
    }
}

/// Whether the cache of graphs has counted every step once, padded ones as padded, and never held more than it may.
pub fn counters_add_up(served: &Served, graphs_max: u64) -> Check {
    let Some(cache) = &served.cache else {
        return Check { what: "there was no cache of graphs".into(), held: false };
    };
    let steps = |padded: bool| -> usize {
        served.batches.iter().filter(|((real, ran), _)| !padded || real < ran).map(|(_, steps)| steps).sum()
    };
    let counted = (cache.requests(), cache.padded, cache.failed);
    let held = counted == (steps(false) as u64, steps(true) as u64, 0) && cache.alive() <= graphs_max;
    Check { what: format!("the cache counts what was asked of it, never over {graphs_max} graphs: {cache}"), held }
}

/// Whether each text, one token of which was given, ends where it must: with its first end token or at its limit, or where
/// the loop ended because another had ended. And whether the loop took no step more and none less than that.
pub fn ends(texts: &[Vec<u32>], task: &Task, steps: usize) -> Check {
    let own_end = |text: &Vec<u32>| {
        let chosen = text.get(1..).unwrap_or_default();
        let first = chosen.iter().position(|&token| token == task.end_token).map(|at| at + 1);
        first.unwrap_or(if chosen.len() == task.new_max { task.new_max } else { usize::MAX })
    };
    let ends: Vec<usize> = texts.iter().map(own_end).collect();
    let loop_end = match task.until {
        Until::All => ends.iter().max(),
        Until::First => ends.iter().min(),
    };
    let right = texts.iter().zip(&ends).filter(|(text, end)| text.len() == steps.min(**end) + 1).count();
    let tokens = texts.iter().filter(|text| text.len() > 1 && text.last() == Some(&task.end_token)).count();
    let until = match task.until {
        Until::All => "the last",
        Until::First => "the first",
    };
    Check {
        what: format!(
            "{right} of {} texts end where they must, {tokens} of them with token {}; {steps} steps, until {until}",
            texts.len(),
            task.end_token
        ),
        held: !texts.is_empty() && right == texts.len() && loop_end == Some(&steps),
    }
}

/// What a decoding on so many ranks must have shown.
pub fn ranks_checks(ranks: usize, runs: &RanksRuns) -> Vec<Check> {
    let RanksRuns { eager, replayed, again, other_seed, plain, apart, .. } = runs;
    let all: Vec<&RanksOutcome> = [eager, replayed, again].into_iter().chain(other_seed).collect();
    let replays = &replayed.outcome.decoded;
    let mut checks = vec![same_on_all_ranks(ranks, &all)];
    checks.extend(apart.map(|apart| near("plain Rust's", apart)));
    checks.push(match ranks {
        1 => same_bits("one rank equals the run without ranks", replays, &plain.decoded),
        _ => near("one device's", Apart::from_other(&replays.greedy, &plain.decoded.greedy)),
    });
    checks.push(same_bits("a second run equals the first", &again.outcome.decoded, replays));
    checks.extend(
        other_seed.as_ref().map(|run| same_bits("another seed changes nothing", &run.outcome.decoded, replays)),
    );
    checks.push(same_bits("the replayed run equals the eager run", replays, &eager.outcome.decoded));
    let what = "steps that nobody looks between choose the same tokens";
    checks.push(same_texts(what, &replays.unwatched.texts, &replays.greedy.texts));
    let steps = replays.greedy.logits.len() as u64;
    checks.extend(again.calls.iter().map(|(calls, patches)| only_launches(calls, steps, *patches)));
    let findings: Vec<&String> = all.iter().flat_map(|run| &run.findings).collect();
    if other_seed.is_some() && findings.is_empty() {
        checks.push(Check { what: "0 findings".to_string(), held: true });
    }
    checks.extend(findings.into_iter().map(|finding| Check { what: finding.clone(), held: false }));
    checks
}

/// Whether every rank thought and chose what rank 0 did, in every run.
fn same_on_all_ranks(ranks: usize, runs: &[&RanksOutcome]) -> Check {
    let first = |of: usize| runs.iter().filter_map(|run| run.differs[of]).min();
    match [first(0), first(1)] {
        [None, None] => Check {
            what: format!("every rank of {ranks} has the same logits and tokens after every step, bit for bit"),
            held: true,
        },
        [Some(step), tokens] if tokens.is_none_or(|other| step <= other) => {
            Check { what: format!("after step {step} the ranks have different logits"), held: false }
        }
        [_, step] => {
            let step = step.unwrap_or(0);
            Check { what: format!("after step {step} the ranks have chosen different tokens"), held: false }
        }
    }
}

/// Logits within their bound, and the same greedy tokens where the bound says that they must be.
fn near(whose: &str, apart: Apart) -> Check {
    let Apart { logits_max, logits, places, clear, other } = apart;
    Check {
        what: format!(
            "logits are at most {logits:.1e} of the largest from {whose}, may be {logits_max:.0e}; the likeliest token is the same \
             in {} of the {clear} places where that makes it clear, {places} in all",
            clear - other
        ),
        held: apart.held(),
    }
}

/// Whether two runs gave the same logits and tokens, to the last bit.
fn same_bits(what: &str, left: &Decoded, right: &Decoded) -> Check {
    match left.differs(right) {
        None => Check { what: format!("{what}, bit for bit"), held: true },
        Some(differs) => Check { what: format!("{what}: not the {differs}"), held: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::Texts;
    use crate::ranks::Outcome;
    use crate::steady::Round;

    #[test]
    fn a_text_that_ends_too_early_or_too_late_is_seen() {
        let held = |texts: &[&[u32]], until: Until, steps: usize| {
            let texts: Vec<Vec<u32>> = texts.iter().map(|text| text.to_vec()).collect();
            let task = Task { rows: texts.len(), new_max: 4, end_token: 9, until, seed: 0 };
            ends(&texts, &task, steps).held
        };
        // Given 9 is no end. One text ends with its token, the other at its limit.
        let (short, long): (&[u32], &[u32]) = (&[9, 1, 9], &[2, 3, 4, 5, 6]);
        assert!(held(&[short, long], Until::All, 4));
        assert!(!held(&[short, long], Until::All, 5) && !held(&[short, long], Until::All, 2), "steps");
        assert!(!held(&[&[9, 1, 9, 7], long], Until::All, 4), "beyond its end");
        assert!(!held(&[&[9, 1], long], Until::All, 4), "before its end");
        assert!(held(&[short, &[2, 3, 4]], Until::First, 2));
        assert!(!held(&[short, long], Until::First, 4), "beyond the first end");
        assert!(!held(&[&[1, 2], &[2, 3]], Until::First, 1), "nobody ended");
        assert!(!held(&[], Until::All, 0));
    }

    #[test]
    fn ranks_that_differ_are_told_by_the_first_step_and_what_differs() {
        let round = Round { texts: Vec::new(), seconds: 0.0 };
        let texts = Texts { texts: Vec::new(), logits: Vec::new() };
        let decoded = Decoded { drawn: texts.clone(), greedy: texts, unwatched: round };
        let outcome = Outcome { decoded, graph: None, bytes: [0; 2] };
        let told = |first: [Option<usize>; 2], second: [Option<usize>; 2]| {
            let run =
                |differs| RanksOutcome { outcome: outcome.clone(), differs, calls: Vec::new(), findings: Vec::new() };
            let check = same_on_all_ranks(2, &[&run(first), &run(second)]);
            (check.held, check.what)
        };
        assert!(told([None; 2], [None; 2]).0);
        let logits = (false, "after step 3 the ranks have different logits".to_string());
        assert_eq!(told([None; 2], [Some(3), None]), logits);
        assert_eq!(told([Some(4), Some(4)], [Some(3), Some(3)]), logits);
        let tokens = (false, "after step 2 the ranks have chosen different tokens".to_string());
        assert_eq!(told([Some(4), Some(2)], [None; 2]), tokens);
        assert_eq!(told([None, Some(2)], [None; 2]), tokens);
    }

    #[test]
    fn one_token_more_or_less_or_other_is_a_difference() {
        let held = |left: &[&[u32]], right: &[&[u32]]| {
            let texts = |texts: &[&[u32]]| texts.iter().map(|text| text.to_vec()).collect::<Vec<_>>();
            same_texts("", &texts(left), &texts(right)).held
        };
        assert!(held(&[&[1, 2], &[3]], &[&[1, 2], &[3]]));
        assert!(!held(&[&[1, 2], &[3]], &[&[1, 2], &[4]]));
        assert!(!held(&[&[1, 2], &[3]], &[&[1, 2, 2], &[3]]));
        assert!(!held(&[&[1, 2]], &[&[1, 2], &[3]]));
        assert!(!held(&[], &[]), "nothing shown is not well shown");
    }

    #[test]
    fn one_call_more_or_less_is_seen() {
        let calls = |made: &[(Call, u64)]| Calls { what: String::new(), made: made.to_vec() };
        let held = |made: &[(Call, u64)]| only_launches(&calls(made), 5, 1).held;
        let (launch, patch) = (Call::cuGraphLaunch, Call::cuGraphExecKernelNodeSetParams_v2);
        assert!(held(&[(launch, 5), (patch, 1)]));
        assert!(!held(&[(launch, 5)]) && !held(&[(launch, 6), (patch, 1)]));
        assert!(!held(&[(launch, 5), (patch, 1), (Call::cuMemAllocAsync, 1)]));
        assert!(held(&[(launch, 5), (patch, 1), (Call::cuCtxGetCurrent, 1)]));
        assert!(!held(&[(launch, 5), (patch, 1), (Call::cuCtxGetCurrent, 2)]));
    }
}

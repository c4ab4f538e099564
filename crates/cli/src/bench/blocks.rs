//! Alternating blocks: contenders that are compared take turns in one process.
//!
//! A block is a run of launches by one contender. Blocks alternate, and every second round goes the other way round, so that a
//! clock that drifts or a machine that warms up favours nobody. The first round warms up and is not counted.

use std::time::Instant;

use super::statistics::Samples;
use crate::complaint::Complaint;

/// One of those that are compared: runs a block and says how many microseconds a launch took.
pub type Contender<'a> = Box<dyn FnMut() -> Result<f64, Complaint> + 'a>;

/// Runs `blocks` blocks of each contender and gives their samples in the order of the contenders. Odd rounds begin the
/// other way round.
///
/// # Errors
///
/// - The first thing that went wrong in a block.
pub fn alternate(
    round: u32,
    blocks: u32,
    contenders: &mut [Contender<'_>],
    mut after_block: impl FnMut(),
) -> Result<Vec<Samples>, Complaint> {
    for contender in contenders.iter_mut() {
        contender()?;
        after_block();
    }
    let mut samples = vec![Samples::default(); contenders.len()];
    for block in 0..blocks {
        for turn in 0..contenders.len() {
            let whose = if (round + block).is_multiple_of(2) { turn } else { contenders.len() - 1 - turn };
            samples[whose].push(contenders[whose]()?);
            after_block();
        }
    }
    Ok(samples)
}

/// Mean microseconds of `times` calls of `timed`, with `between` called after each and not counted.
///
/// The mean and not the median of a block: what a contender does once in many launches is its cost too.
///
/// # Errors
///
/// - What either of them answers.
pub fn each(
    times: u32,
    mut timed: impl FnMut() -> Result<(), Complaint>,
    mut between: impl FnMut() -> Result<(), Complaint>,
) -> Result<f64, Complaint> {
    let mut microseconds = 0.0;
    for _ in 0..times {
        let start = Instant::now();
        timed()?;
        microseconds += start.elapsed().as_secs_f64() * 1e6;
        between()?;
    }
    Ok(microseconds / f64::from(times))
}

/// Microseconds a call when `timed` is called `times` times and `wait` once at the end, all of it counted.
///
/// # Errors
///
/// - What either of them answers.
pub fn together(
    times: u32,
    mut timed: impl FnMut() -> Result<(), Complaint>,
    mut wait: impl FnMut() -> Result<(), Complaint>,
) -> Result<f64, Complaint> {
    let start = Instant::now();
    for _ in 0..times {
        timed()?;
    }
    wait()?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(times))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn blocks_alternate_and_every_second_round_goes_the_other_way() {
        let order = RefCell::new(String::new());
        let contender = |name: char| -> Contender<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(f64::from(name as u32))
            })
        };
        let samples = alternate(0, 3, &mut [contender('a'), contender('b')], || order.borrow_mut().push('.')).unwrap();
        // The first round is the one that warms up.
        assert_eq!(order.borrow().as_str(), "a.b.a.b.b.a.a.b.");
        assert_eq!(samples, [[97.0; 3].into_iter().collect(), [98.0; 3].into_iter().collect()]);
        order.borrow_mut().clear();
        alternate(1, 1, &mut [contender('a'), contender('b')], || ()).unwrap();
        assert_eq!(order.borrow().as_str(), "abba", "an odd round begins the other way round");
    }

    #[test]
    fn a_block_that_fails_ends_the_measurement() {
        let mut contenders: [Contender<'_>; 1] = [Box::new(|| Err(Complaint::new("no")))];
        assert_eq!(alternate(0, 3, &mut contenders, || ()), Err(Complaint::new("no")));
    }

    #[test]
    fn what_is_between_is_not_counted_and_what_is_waited_for_together_is() {
        let nap = || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            Ok(())
        };
        assert!(each(3, || Ok(()), nap).unwrap() < 2_000.0);
        assert!(together(2, || Ok(()), nap).unwrap() >= 2_500.0);
    }
}

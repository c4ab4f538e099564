//! Branches and switches: one body runs, or none, by what was there when it was decided.

use dacapo::flow::{above, below, equal, nonzero, zero};
use dacapo::{Device, Slot, baked, copy, fill};

use super::agree;
use crate::forms::check::Outcome;
use crate::forms::forms;

forms!("flow":
    when_alone, when_otherwise, decided_once, one_behind_the_other, empty_sides, both_sides_write_a_temp,
    switch_every_case, switch_index_changes, switch_of_a_slot, switch_few_cases, switch_in_a_switch_body_writes,
);

/// `if` without `else`, by a number on the device.
fn when_alone(device: &Device) -> Outcome {
    agree(
        device,
        &[0.0f32, 1.0, -1.0],
        |x, cells, _| cells[0] = x,
        |b, r| {
            r.when(above(b.cells.at(0), baked(0.0)), |r| r.run(b.count(0)))?;
            r.when(below(b.cells.at(0), baked(0.0)), |r| {
                r.run(b.count(1))?;
                r.run(b.add(1, 5.0))?;
                r.run(b.count(1))
            })?;
            r.run(b.count(2))
        },
        |x, cells, words| {
            words[0] = u32::from(x > 0.0);
            if x < 0.0 {
                words[1] = 2;
                cells[1] = 5.0;
            }
            words[2] = 1;
        },
    )
}

/// `if` and `else`, by a slot: the same graph goes either way.
fn when_otherwise(device: &Device) -> Outcome {
    let flag = Slot::new(9i32);
    agree(
        device,
        &[0i32, 1, 0, 0, -5, 1],
        |x, _, _| flag.set(x),
        |b, r| {
            r.when(nonzero(&flag), |r| r.run(b.put(0, 7)))?.otherwise(|r| {
                r.run(b.put(0, 9))?;
                r.run(b.count(0))
            })?;
            r.run(b.count(0))
        },
        |x, _, words| words[0] = if x != 0 { 8 } else { 11 },
    )
}

/// What was decided stays, whatever the first body does to what was looked at.
fn decided_once(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1],
        |x, _, words| words[0] = x,
        |b, r| {
            r.when(nonzero(b.words.at(0)), |r| {
                r.run(b.put(0, 0))?;
                r.run(b.count(1))
            })?
            .otherwise(|r| {
                r.run(b.put(0, 1))?;
                r.run(b.count(2))
            })
        },
        |x, _, words| {
            words[0] = 1 - x;
            words[if x == 1 { 1 } else { 2 }] = 1;
        },
    )
}

/// Each looks at what the one before wrote.
fn one_behind_the_other(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 3, 4],
        |x, _, words| words[0] = x,
        |b, r| {
            for step in 0..4 {
                r.when(equal(b.words.at(0), baked(step)), |r| r.run(b.count(0)))?;
            }
            Ok(())
        },
        |x, _, words| words[0] = x.max(4),
    )
}

/// A side without anything in it, on either side and on both.
fn empty_sides(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1],
        |x, _, words| words[7] = x,
        |b, r| {
            let set = || nonzero(b.words.at(7));
            let (first, second, third, fourth) = (set(), set(), set(), set());
            r.when(first, |_| Ok(()))?.otherwise(|r| r.run(b.count(0)))?;
            r.when(second, |r| r.run(b.count(1)))?.otherwise(|_| Ok(()))?;
            r.when(third, |_| Ok(()))?.otherwise(|_| Ok(()))?;
            r.when(fourth, |_| Ok(())).map(drop)?;
            r.switch(baked(1), 2, |_, _| Ok(()))
        },
        |x, _, words| words[..2].copy_from_slice(&[1 - x, x]),
    )
}

/// A temp that both sides write can be read behind them.
fn both_sides_write_a_temp(device: &Device) -> Outcome {
    agree(
        device,
        &[0.0f32, 3.0],
        |x, cells, _| cells[0] = x,
        |b, r| {
            let mut t = r.alloc::<f32>(2)?;
            r.when(zero(b.cells.at(0)), |r| r.run(fill(&mut t, baked(4.0))))?.otherwise(|r| {
                r.run(fill(&mut t[..1], baked(5.0)))?;
                r.run(b.k.add(&b.cells[0..1], baked(1.0), &mut t[1..]))
            })?;
            r.run(copy(&t, &mut b.cells[1..3]))
        },
        |x, cells, _| {
            let pair = if x == 0.0 { [4.0, 4.0] } else { [5.0, x + 1.0] };
            cells[1..3].copy_from_slice(&pair);
        },
    )
}

/// Every case, and numbers beyond them.
fn switch_every_case(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 3, 4, 5, u32::MAX, 2],
        |x, _, words| words[7] = x,
        |b, r| {
            let index = b.words.share();
            r.switch(index.at(7), 5, |r, case| {
                // More ops in later cases.
                (0..=case).try_for_each(|_| r.run(b.count(case as usize)))
            })?;
            r.run(b.count(5))
        },
        |x, _, words| {
            if x < 5 {
                words[x as usize] = x + 1;
            }
            words[5] = 1;
        },
    )
}

/// A case that changes what was looked at does not run another.
fn switch_index_changes(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 3],
        |x, _, words| words[7] = x,
        |b, r| {
            let index = b.words.share();
            r.switch(index.at(7), 3, |r, case| {
                r.run(b.put(7, (case + 1) % 3))?;
                r.run(b.count(case as usize))
            })
        },
        |x, _, words| {
            if x < 3 {
                words[x as usize] = 1;
                words[7] = (x + 1) % 3;
            }
        },
    )
}

/// By a slot, and by a number that never changes.
fn switch_of_a_slot(device: &Device) -> Outcome {
    let index = Slot::new(0u32);
    agree(
        device,
        &[2u32, 0, 7, 1],
        |x, _, _| index.set(x),
        |b, r| {
            r.switch(&index, 3, |r, case| r.run(b.put(0, 100 + case)))?;
            r.switch(baked(1), 3, |r, case| r.run(b.put(1, 200 + case)))?;
            r.switch(baked(3), 3, |r, case| r.run(b.put(2, 300 + case)))
        },
        |x, _, words| {
            words[0] = if x < 3 { 100 + x } else { 0 };
            words[1] = 201;
        },
    )
}

/// One case, or none at all.
fn switch_few_cases(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1],
        |x, _, words| words[7] = x,
        |b, r| {
            let index = b.words.share();
            r.switch(index.at(7), 1, |r, _| r.run(b.count(0)))?;
            r.switch(index.at(7), 0, |r, _| r.run(b.count(1)))?;
            r.run(b.count(2))
        },
        |x, _, words| words[..3].copy_from_slice(&[1 - x, 0, 1]),
    )
}

/// A switch whose cases are switches over the same number, which they write.
fn switch_in_a_switch_body_writes(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 3],
        |x, _, words| words[7] = x,
        |b, r| {
            let index = b.words.share();
            r.switch(index.at(7), 3, |r, outer| {
                r.run(b.put(7, outer + 1))?;
                r.switch(index.at(7), 3, |r, inner| r.run(b.put(outer as usize, 10 * outer + inner)))
            })
        },
        |x, _, words| {
            if x < 3 {
                words[7] = x + 1;
            }
            if x < 2 {
                words[x as usize] = 10 * x + x + 1;
            }
        },
    )
}

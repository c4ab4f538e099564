//! Conditions: every number type, every comparison, combined ones, and where their sides come from.

use std::cmp::Ordering;
use std::fmt::Debug;

use dacapo::flow::{Condition, Number, above, at_least, at_most, below, differs, equal, nonzero, up_to, zero};
use dacapo::half::{bf16, f16};
use dacapo::{Device, ErrorKind, Recorder, Slot, baked, fill};

use super::{Bench, agree};
use crate::forms::check::{Outcome, refused, same};
use crate::forms::forms;

forms!("flow":
    whole_numbers, fractions, not_a_number, sides_of_every_kind, packed_bytes, combined_by_slots,
    combined_to_the_limit, looked_at_late, written_by_a_kernel, debug_names_both_sides,
);

/// All comparisons of each pair of these numbers: from device memory, from slots and baked.
fn compares<T: Number + PartialOrd + Debug>(device: &Device, values: &[T]) -> Outcome {
    let stream = device.stream()?;
    let (mut sides, mut found) = (device.buffer(&[T::ZERO; 3])?, device.zeros::<u32>(8)?);
    let (left, right) = (Slot::new(T::ZERO), Slot::new(T::ZERO));
    let (shared, seen) = (sides.share(), found.share());
    let mut op = |r: &mut Recorder<'_>| {
        r.run(fill(&mut found, baked(0)))?;
        // An element that is not the first of its memory; a slot; either on either side.
        let (x, y) = (shared.at(1), shared.at(2));
        let all = [
            equal(x, y),
            differs(x, &right),
            above(&left, y),
            at_least(&left, &right),
            below(x, y),
            at_most(x, &right),
            nonzero(x),
            zero(&left),
        ];
        for (number, condition) in all.into_iter().enumerate() {
            r.when(condition, |r| r.run(fill(&mut found[number..number + 1], baked(1))))?;
        }
        Ok(())
    };
    let mut graph = device.record(&mut op)?;
    for &x in values {
        for &y in values {
            stream.write(&mut sides, &[T::ZERO, x, y])?;
            left.set(x);
            right.set(y);
            graph.launch(&stream)?;
            let want = [x == y, x != y, x > y, x >= y, x < y, x <= y, x != T::ZERO, x == T::ZERO].map(u32::from);
            same(&format!("{x:?} and {y:?}"), stream.read(&seen)?, want)?;
        }
    }
    drop(graph);
    stream.run(&mut op)?;
    let (x, y) = (values[values.len() - 1], values[values.len() - 1]);
    let want = [x == y, x != y, x > y, x >= y, x < y, x <= y, x != T::ZERO, x == T::ZERO].map(u32::from);
    same("the last pair, eagerly", stream.read(&found)?, want)
}

/// The ends of each type: signed and unsigned differ, and nothing is cut to fewer bits.
fn whole_numbers(device: &Device) -> Outcome {
    compares(device, &[0u8, 1, 127, 128, 255])?;
    compares(device, &[0u16, 255, 256, 32_768, u16::MAX])?;
    compares(device, &[0u32, 1, 1 << 31, u32::MAX])?;
    compares(device, &[0u64, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX])?;
    compares(device, &[0i8, -1, i8::MIN, i8::MAX])?;
    compares(device, &[0i16, -1, i16::MIN, 256])?;
    compares(device, &[0i32, -1, i32::MIN, i32::MAX])?;
    compares(device, &[0i64, -1, i64::MIN, i64::MAX, 1 << 32, (1 << 53) + 1, 1 << 53])
}

/// Fractions: the smallest, the largest, both zeros, both infinities.
fn fractions(device: &Device) -> Outcome {
    compares(device, &[0.0f32, -0.0, f32::MIN_POSITIVE / 2.0, f32::MAX, f32::NEG_INFINITY])?;
    compares(device, &[0.0f64, -0.0, 0.1, 0.1 + f64::EPSILON, f64::from(0.1f32), f64::INFINITY])?;
    compares(device, &[f16::ZERO, f16::NEG_ZERO, f16::MIN_POSITIVE_SUBNORMAL, f16::MAX, f16::NEG_INFINITY])?;
    compares(device, &[bf16::ZERO, bf16::NEG_ZERO, bf16::MIN_POSITIVE_SUBNORMAL, bf16::MAX, bf16::INFINITY])
}

/// A NaN is neither above nor below nor equal to anything, itself included.
fn not_a_number(device: &Device) -> Outcome {
    compares(device, &[f32::NAN, 0.0, -f32::NAN])?;
    compares(device, &[f64::NAN, f64::INFINITY])?;
    compares(device, &[f16::NAN, f16::ONE])?;
    compares(device, &[bf16::NAN, bf16::ONE])?;
    // A loop as long as a number differs from itself, and one as long as it does not.
    let (stream, number) = (device.stream()?, device.scalar(f32::NAN)?);
    let mut counts = device.zeros::<u32>(2)?;
    let mut graph = device.record(|r| {
        let rounds = r.repeat_while(differs(&number, &number), up_to(baked(3)), |_| Ok(()))?;
        r.run(dacapo::copy(rounds.count().as_slice(), &mut counts[..1]))?;
        let rounds = r.repeat_while(!below(&number, baked(1.0)), up_to(baked(2)), |_| Ok(()))?;
        r.run(dacapo::copy(rounds.count().as_slice(), &mut counts[1..]))
    })?;
    graph.launch(&stream)?;
    same("rounds", stream.read(&counts)?, [3, 2])
}

/// A scalar, a temp, an element, a slot and a constant, on either side.
fn sides_of_every_kind(device: &Device) -> Outcome {
    let slot = Slot::new(0u32);
    let five = device.scalar(5u32)?;
    agree(
        device,
        &[4u32, 5, 6],
        |x, _, words| {
            words[7] = x;
            slot.set(x);
        },
        |b, r| {
            let mut temp = r.alloc_scalar::<u32>()?;
            r.run(dacapo::copy(&b.words[7..8], temp.as_mut_slice()))?;
            let element = b.words.share();
            let conditions = [
                above(&temp, &five),
                above(&five, &temp),
                equal(element.at(7), &five),
                at_least(baked(5), element.at(7)),
                below(&slot, baked(5)),
                equal(&slot, &temp),
            ];
            for (at, condition) in conditions.into_iter().enumerate() {
                r.when(condition, |r| r.run(b.count(at)))?;
            }
            Ok(())
        },
        |x, _, words| {
            let holds = [x > 5, 5 > x, x == 5, 5 >= x, x < 5, true];
            words[..6].copy_from_slice(&holds.map(u32::from));
        },
    )
}

/// Bytes beside each other: a condition looks at its own, whatever the neighbours are.
fn packed_bytes(device: &Device) -> Outcome {
    let (stream, mut found) = (device.stream()?, device.zeros::<u32>(7)?);
    let bytes = device.buffer(&[0u8, 255, 0, 7, 0, 0, 128])?;
    let mut op = |r: &mut Recorder<'_>| {
        for at in 0..7 {
            r.when(nonzero(bytes.at(at)), |r: &mut Recorder<'_>| r.run(fill(&mut found[at..at + 1], baked(1))))?;
        }
        Ok(())
    };
    stream.run(&mut op)?;
    device.record(&mut op)?.launch(&stream)?;
    same("those that are set", stream.read(&found)?, [0, 1, 0, 1, 0, 0, 1])
}

/// `&`, `|` and `!` over two slots and two numbers, for all sixteen.
fn combined_by_slots(device: &Device) -> Outcome {
    let (p, q) = (Slot::new(0u32), Slot::new(0u32));
    let all: Vec<u32> = (0..16).collect();
    agree(
        device,
        &all,
        |bits, _, words| {
            p.set(bits & 1);
            q.set(bits >> 1 & 1);
            words[6..].copy_from_slice(&[bits >> 2 & 1, bits >> 3 & 1]);
        },
        |b, r| {
            let (s, t) = (|| nonzero(b.words.at(6)), || nonzero(b.words.at(7)));
            let (p, q) = (|| nonzero(&p), || nonzero(&q));
            let conditions: [Condition; 4] = [
                p() & q() & s() & t(),
                (p() | s()) & !(q() | t()),
                !(!p() & !(q() & (s() | !t()))),
                (p() & !q()) | (s() & t()),
            ];
            for (at, condition) in conditions.into_iter().enumerate() {
                r.when(condition, |r| r.run(b.count(at)))?;
            }
            Ok(())
        },
        |bits, _, words| {
            let [p, q, s, t] = [0, 1, 2, 3].map(|bit| bits >> bit & 1 == 1);
            let holds = [p && q && s && t, (p || s) && !(q || t), p || (q && (s || !t)), (p && !q) || (s && t)];
            words[..4].copy_from_slice(&holds.map(u32::from));
        },
    )
}

/// As many comparisons as one condition takes: the last of them counts; one more is refused.
fn combined_to_the_limit(device: &Device) -> Outcome {
    let joined = |b: &Bench, sides: usize| {
        let mut all = nonzero(b.words.at(0));
        for at in 1..sides {
            all = all & nonzero(b.words.at(at % 7));
        }
        all
    };
    agree(
        device,
        &[0usize, 3, 6, 7],
        |missing, _, words| {
            words[..7].fill(1);
            if missing < 7 {
                words[missing] = 0;
            }
        },
        |b, r| r.when(joined(b, 8), |r| r.run(b.count(7))).map(drop),
        |missing, _, words| words[7] = u32::from(missing == 7),
    )?;
    let b = Bench::new(device)?;
    let over = device.record(|r: &mut Recorder<'_>| r.when(joined(&b, 9), |_: &mut Recorder<'_>| Ok(())).map(drop));
    refused("nine comparisons", over, |kind| matches!(kind, ErrorKind::Unsupported { .. })).map(drop)
}

/// A condition is decided where it is used, not where it is made.
fn looked_at_late(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 4],
        |x, _, words| words[0] = x,
        |b, r| {
            let early = equal(b.words.at(0), baked(5));
            let again = early.clone();
            r.when(early, |r| r.run(b.count(1)))?;
            r.run(b.count(0))?;
            r.when(again.clone(), |r| r.run(b.count(2)))?;
            r.run(b.put(0, 5))?;
            r.when(again, |r| r.run(b.count(3))).map(drop)
        },
        |x, _, words| words[..4].copy_from_slice(&[5, 0, u32::from(x == 4), 1]),
    )
}

/// Anything else: a kernel writes a number, and a condition looks at it.
fn written_by_a_kernel(device: &Device) -> Outcome {
    agree(
        device,
        &[0.0f32, 1.0, 2.5, 7.0],
        |x, cells, _| cells[..3].copy_from_slice(&[x, x, x]),
        |b, r| {
            let rounds = r.repeat(up_to(baked(20)), |r| {
                let mut total = r.alloc_scalar::<f32>()?;
                r.run(b.add(0, 1.0))?;
                r.run(b.k.sum(&b.cells[..3], &mut total))?;
                Ok(below(&total, baked(12.0)))
            })?;
            r.run(b.note(0, rounds.count()))
        },
        |_, cells, words| {
            loop {
                cells[0] += 1.0;
                words[0] += 1;
                if cells[..3].iter().sum::<f32>().partial_cmp(&12.0) != Some(Ordering::Less) {
                    break;
                }
            }
        },
    )
}

/// What is printed of a condition has the names of what it looks at.
fn debug_names_both_sides(device: &Device) -> Outcome {
    let b = Bench::new(device)?;
    let slot = Slot::new(1.0f32);
    let condition = !(above(b.cells.at(3), &slot) | equal(b.cells.at(0), baked(2.0)));
    same("as text", format!("{condition:?}"), "Condition(!((cells > a slot | cells == a constant)))")
}

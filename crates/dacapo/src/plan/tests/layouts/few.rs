//! A few temps whose best layout one can see, without the search that would find it for larger ones too.

use super::*;
use crate::plan::layout::{LIMITS, Limits, layout_within};

/// Only what lays out in the order of time.
const SWEEPS: Limits = Limits { pairs: 0, ..LIMITS };

/// The first goes, the last comes: laid out from the first on, the last does not fit beside the second.
///
/// ```text
///   op      0 1 2 3 4 5
///   first   ─────              2
///   second    ───────          1
///   last          ─────        4
/// ```
fn three(unit: u64) -> [TempUse<'static>; 3] {
    [(2, [0, 2].as_slice()), (1, &[1, 4]), (4, &[3, 5])].map(|(units, ops)| TempUse { bytes: units * unit, ops })
}

/// Six ops one after another, and so many beside them.
fn six_and(beside: u32) -> Order {
    let line = [TouchedBytes { memory: 0, start: 0, end: 4, write: true }];
    let others: Vec<[TouchedBytes; 1]> = (1..=beside).map(|memory| [TouchedBytes { memory, ..line[0] }]).collect();
    let ops: Vec<&[TouchedBytes]> = std::iter::repeat_n(&line[..], 6).chain(others.iter().map(|op| &op[..])).collect();
    order(ops.into_iter(), Shape::Data)
}

#[test]
fn what_is_smaller_when_time_runs_backwards_is_laid_out_so() {
    for beside in [0, 1] {
        let order = six_and(beside);
        let found = layout_within(&order, &three(ALIGNMENT), SWEEPS);
        check(&before(&order), &three(ALIGNMENT), &found).unwrap();
        assert_eq!(found.bytes, 5 * ALIGNMENT, "{beside} beside: the last two are alive together, and no more");
        assert_eq!(layout(&order, &three(ALIGNMENT)).bytes, 5 * ALIGNMENT);
    }
}

/// Whoever allocates refuses them; until then nothing overflows.
#[test]
fn more_bytes_than_there_are_anywhere_stay_more() {
    let order = six_and(0);
    for unit in [1 << 59, 1 << 61, (1 << 61) + 1] {
        assert!(layout(&order, &three(unit)).bytes > 1 << 60, "{unit}");
    }
    let most = TempUse { bytes: u64::MAX, ops: &[1, 2] };
    let alone = layout(&order, &[most]).bytes;
    assert!(alone > 1 << 60 && alone.is_multiple_of(ALIGNMENT), "{alone}");
    let twice = layout(&order, &[most, TempUse { ops: &[3, 4], ..most }]).bytes;
    assert!(twice > 1 << 60, "{twice}");
    let together = layout(&order, &[TempUse { ops: &[1, 3], ..most }, TempUse { ops: &[2, 4], ..most }]).bytes;
    assert!(together > 1 << 60, "{together}");
    // Several of them, alive at several times: no sum on the way to a layout may overflow either.
    let mut random = 1u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for _ in 0..200 {
        let lives: Vec<(u64, [u32; 2])> = (0..6)
            .map(|_| {
                let first = next(5);
                ((1 + next(7)) << 60, [first as u32, (first + 1 + next(5 - first)) as u32])
            })
            .collect();
        let temps: Vec<TempUse<'_>> = lives.iter().map(|(bytes, ops)| TempUse { bytes: *bytes, ops }).collect();
        assert!(layout(&order, &temps).bytes > 1 << 60, "{lives:?}");
    }
}

//! `cvt` between any two number formats, one value at a time.
//!
//! Every source is an integer of 128 bits or an f64, both exact; the result is rounded once. Float to integer clamps
//! to the target's range (PTX ISA, `cvt`); integer to integer cuts off unless `.sat` is given.

use super::super::op::{ConvertOp, Num, Round};
use super::{half, nan, round};

/// Converts the bits of one value; the result is extended to 64 bits as its type says.
pub(crate) fn convert(op: &ConvertOp, bits: u64) -> u64 {
    if op.to == op.from && float_kind(op.to).is_some() && !(op.integral || op.ftz || op.sat || op.relu || op.finite) {
        // A move.
        return bits;
    }
    match source(op, bits) {
        Value::Float(x) if x.is_nan() && float_kind(op.to).is_some() && !op.sat => nan_of(op, bits),
        Value::Int(n) => match float_kind(op.to) {
            None => from_int(op, n),
            Some(_) => to_float_of_int(op, n),
        },
        Value::Float(x) => match float_kind(op.to) {
            None => to_int(op, x),
            Some(_) => to_float(op, x),
        },
    }
}

/// What a NaN becomes: see [`nan`].
fn nan_of(op: &ConvertOp, bits: u64) -> u64 {
    // Sign, and payload at the top of 52 bits.
    let (sign, payload) = match op.from {
        Num::F64 => (bits >> 63, bits << 12 >> 12),
        Num::F32 => (bits >> 31 & 1, (bits & 0x7f_ffff) << 29),
        Num::F16 => (bits >> 15 & 1, (bits & 0x3ff) << 42),
        _ => (bits >> 15 & 1, (bits & 0x7f) << 45),
    };
    match (op.from, op.to) {
        (Num::F32, Num::F64) if op.ftz => nan::F64_OF_F32,
        (_, Num::F64) => nan::quiet(sign << 63 | 0x7ff << 52 | payload),
        (Num::F64, Num::F32) => sign << 31 | 0x7fc0_0000 | payload >> 29,
        (Num::F64, Num::F16) => sign << 15 | 0x7e00 | payload >> 42,
        (Num::F64, Num::Bf16) => sign << 15 | 0x7fc0 | payload >> 45,
        (Num::Bf16, Num::F32) if !op.ftz => bits << 16 & 0xffff_ffff,
        (_, Num::F32) => nan::F32.into(),
        _ => nan::HALF.into(),
    }
}

enum Value {
    Int(i128),
    Float(f64),
}

fn float_kind(num: Num) -> Option<Num> {
    matches!(num, Num::F16 | Num::Bf16 | Num::F32 | Num::F64).then_some(num)
}

fn source(op: &ConvertOp, bits: u64) -> Value {
    match op.from {
        Num::U8 => Value::Int((bits as u8).into()),
        Num::U16 => Value::Int((bits as u16).into()),
        Num::U32 => Value::Int((bits as u32).into()),
        Num::U64 => Value::Int(bits.into()),
        Num::S8 => Value::Int((bits as i8).into()),
        Num::S16 => Value::Int((bits as i16).into()),
        Num::S32 => Value::Int((bits as i32).into()),
        Num::S64 => Value::Int((bits as i64).into()),
        Num::F16 => Value::Float(half::to_f64(bits as u16, false)),
        Num::Bf16 => Value::Float(half::to_f64(bits as u16, true)),
        Num::F32 => {
            let x = f32::from_bits(bits as u32);
            Value::Float((if op.ftz { round::flush(x) } else { x }).into())
        }
        Num::F64 => Value::Float(f64::from_bits(bits)),
    }
}

/// Bits and sign of an integer format.
fn integer(num: Num) -> (u32, bool) {
    match num {
        Num::U8 => (8, false),
        Num::U16 => (16, false),
        Num::U32 => (32, false),
        Num::S8 => (8, true),
        Num::S16 => (16, true),
        Num::S32 => (32, true),
        Num::S64 => (64, true),
        _ => (64, false),
    }
}

fn clamp(n: i128, bits: u32, signed: bool) -> i128 {
    if signed { n.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { n.clamp(0, (1 << bits) - 1) }
}

fn from_int(op: &ConvertOp, n: i128) -> u64 {
    let (bits, signed) = integer(op.to);
    if op.sat {
        return clamp(n, bits, signed) as u64;
    }
    let up = 128 - bits;
    (if signed { n << up >> up } else { ((n as u128) << up >> up) as i128 }) as u64
}

fn integral(x: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => x.round_ties_even(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    }
}

fn to_int(op: &ConvertOp, x: f64) -> u64 {
    let (bits, signed) = integer(op.to);
    if x.is_nan() {
        return nan::to_integer(bits, signed, op.from == Num::F64);
    }
    // `as` clamps to the range of i128.
    clamp(integral(x, op.round) as i128, bits, signed) as u64
}

fn to_float_of_int(op: &ConvertOp, n: i128) -> u64 {
    let n = if op.sat { n.clamp(0, 1) } else { n };
    let nearest = n as f64;
    let error = n - nearest as i128;
    if op.to == Num::F64 {
        let wrong = match op.round {
            Round::Nearest => false,
            Round::Down => error < 0,
            Round::Up => error > 0,
            Round::Zero => (error < 0) == (n > 0) && error != 0,
        };
        let x = match (wrong, op.round) {
            (false, _) => nearest,
            (true, Round::Up) => nearest.next_up(),
            (true, Round::Down) => nearest.next_down(),
            (true, _) if n > 0 => nearest.next_down(),
            (true, _) => nearest.next_up(),
        };
        return x.to_bits();
    }
    // An odd f64 remembers that something was cut off, so rounding again is safe in every direction.
    narrow(op, round::odd(nearest, error.signum() as f64))
}

fn to_float(op: &ConvertOp, x: f64) -> u64 {
    let mut x = if op.integral { integral(x, op.round) } else { x };
    if op.sat {
        x = if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
        if x == 0.0 {
            x = 0.0;
        }
    }
    narrow(op, x)
}

fn narrow(op: &ConvertOp, x: f64) -> u64 {
    match op.to {
        Num::F64 => x.to_bits(),
        Num::F32 => {
            let y = round::narrow(x, op.round);
            let tiny = op.ftz && y.abs() == f32::MIN_POSITIVE && round::is_tiny_sum(x, 0.0, op.round);
            let y = if tiny { 0f32.copysign(y) } else { y };
            (if op.ftz { round::flush(y) } else { y }).to_bits().into()
        }
        Num::F16 | Num::Bf16 => {
            let brain = op.to == Num::Bf16;
            if op.relu && x <= 0.0 {
                return 0;
            }
            let bits = half::from_f64(x, brain, op.round);
            half::finite_if(op.finite, bits, brain).into()
        }
        _ => unreachable!("integers are made by `to_int` and `from_int`"),
    }
}

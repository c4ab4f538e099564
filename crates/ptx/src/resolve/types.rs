//! Which register fits which instruction type, and how a constant looks in it.
//!
//! The rules (PTX ISA 9.4, and what the assembler was seen to accept):
//!
//! - sizes agree; where the row says so (`ld`, `st`, `cvt`) the register may be wider;
//! - untyped bits (`.b32`) go with everything of their size; signed and unsigned go with each other;
//! - floats go with floats of the same size only, and with bits;
//! - half precision goes with itself, and with bits;
//! - predicates go with predicates only.

use crate::ir::Type;
use crate::parse::tree::Const;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bits,
    Int,
    Float,
    Half,
    Pred,
}

fn kind(ty: Type) -> Kind {
    use Type::*;
    match ty {
        B8 | B16 | B32 | B64 | B128 => Kind::Bits,
        U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => Kind::Int,
        F32 | F64 => Kind::Float,
        F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | E4m3 | E5m2 | E4m3x2 | E5m2x2 => Kind::Half,
        Pred => Kind::Pred,
    }
}

/// Whether a register of type `register` can stand where an instruction has type `wanted`.
pub(super) fn register_fits(wanted: Type, register: Type, wider: bool) -> bool {
    let (want, have) = (kind(wanted), kind(register));
    if want == Kind::Pred || have == Kind::Pred {
        return want == have;
    }
    let size = if wider { register.bytes() >= wanted.bytes() } else { register.bytes() == wanted.bytes() };
    size && match (want, have) {
        (Kind::Bits, _) | (_, Kind::Bits) => true,
        (Kind::Half, Kind::Half) => wanted == register,
        // The assembler takes a `.f16x2` register for 32 untyped bits, but not a `.f16` one for 16.
        (Kind::Int, Kind::Half) => register == Type::F16x2,
        // And it lets integers hold `.bf16` and smaller in places; where, it does not say.
        (Kind::Half, Kind::Int) => !matches!(wanted, Type::F16 | Type::F16x2),
        (Kind::Float, Kind::Float) => register.bytes() == wanted.bytes(),
        (a, b) => a == b,
    }
}

/// Whether a register of this type can hold an address.
pub(super) fn can_address(register: Type) -> bool {
    matches!(kind(register), Kind::Bits | Kind::Int)
}

/// The bits of `value` in `ty`; `None` where the assembler refuses it (an integer for a float, or the reverse).
pub(super) fn constant_bits(value: Const, ty: Type) -> Option<u64> {
    match (value, kind(ty)) {
        (Const::Int { bits, .. }, Kind::Int | Kind::Bits | Kind::Half) => Some(truncated(bits, ty)),
        (Const::Int { bits, .. }, Kind::Pred) => Some(u64::from(bits != 0)),
        (Const::Int { .. }, Kind::Float) => None,
        (Const::F32(_) | Const::F64(_), Kind::Int | Kind::Pred) => None,
        (Const::F32(bits), _) if ty.bytes() == 8 => Some(f64::from(f32::from_bits(bits)).to_bits()),
        (Const::F32(bits), _) => Some(u64::from(bits)),
        (Const::F64(bits), _) if ty.bytes() >= 8 => Some(bits),
        (Const::F64(bits), _) => Some(u64::from((f64::from_bits(bits) as f32).to_bits())),
    }
}

/// `bits` cut to the size of `ty`, and extended by its sign where it has one.
pub(super) fn truncated(bits: u64, ty: Type) -> u64 {
    let size = 8 * ty.bytes();
    if size >= 64 {
        return bits;
    }
    let shift = 64 - size;
    match ty {
        Type::S8 | Type::S16 | Type::S32 => (((bits << shift) as i64) >> shift) as u64,
        _ => (bits << shift) >> shift,
    }
}

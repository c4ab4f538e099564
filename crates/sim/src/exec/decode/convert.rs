//! `cvt`.

use dacapo_ptx::ir::{Instruction, Operand, Rounding, Type};

use super::lower::{Class, Lower, Lowered};
use crate::exec::op::{ConvertOp, Eight, MoveOp, NONE, Num, Op, RareKind, Round};

impl Lower<'_> {
    pub(super) fn cvt(&mut self, i: &Instruction) -> Lowered<()> {
        let [to, from] = i.form.types[..] else { return Err("this number of types".to_string()) };
        let (relu, finite) = (i.form.relu, i.form.rare.iter().any(|word| word == "satfinite"));
        if let (Some(format), _) | (_, Some(format)) = (eight(to), eight(from)) {
            return self.cvt_eight(i, to, from, format);
        }
        if (relu || finite) && !matches!(to, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) {
            return Err("`.relu` and `.satfinite` to this type are not interpreted yet".to_string());
        }
        let (round, integral) = rounding(i.form.rounding)?;
        if matches!(to, Type::F16x2 | Type::Bf16x2) {
            return self.cvt_pair(i, to, from, round, finite);
        }
        let [d, a] = super::moves::two(i)?;
        let (to, from) = (num(to)?, num(from)?);
        let (d_wide, d_short, d) = match d {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Word { short }, column) => (false, short, column),
                (Class::Wide, column) => (true, false, column),
                _ => return Err("the result is of no known size".to_string()),
            },
            _ => return Err("the result is not a register".to_string()),
        };
        let (a_wide, a) = match a {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Word { .. }, column) => (false, column),
                (Class::Wide, column) => (true, column),
                _ => return Err("the source is of no known size".to_string()),
            },
            a if matches!(from, Num::U64 | Num::S64 | Num::F64) => (true, self.source64(a)?),
            a => (false, self.source32(a, matches!(from, Num::F16 | Num::Bf16 | Num::U16 | Num::S16))?),
        };
        if matches!(from, Num::U64 | Num::S64 | Num::F64) && !a_wide {
            return Err("the source is narrower than its type".to_string());
        }
        if matches!(to, Num::U64 | Num::S64 | Num::F64) && !d_wide {
            return Err("the result is narrower than its type".to_string());
        }
        let (ftz, sat) = (i.form.ftz, i.form.sat);
        self.emit(Op::Convert(ConvertOp {
            to,
            from,
            round,
            integral,
            ftz,
            sat,
            relu,
            finite,
            d_short,
            d_wide,
            a_wide,
            d,
            a,
        }));
        Ok(())
    }

    /// Two floats to a pair of 16-bit ones: the first source becomes the upper half.
    fn cvt_pair(&mut self, i: &Instruction, to: Type, from: Type, round: Round, finite: bool) -> Lowered<()> {
        let [d, a, b] = super::moves::three(i)?;
        let to = if to == Type::F16x2 { Num::F16 } else { Num::Bf16 };
        if from != Type::F32 {
            return Err("a pair of this source type".to_string());
        }
        let (a, b, d) = (self.source32(a, false)?, self.source32(b, false)?, self.target32(d)?);
        let (hi, lo) = (self.temp32(), self.temp32());
        for (d, a) in [(hi, a), (lo, b)] {
            self.emit(Op::Convert(ConvertOp {
                to,
                from: Num::F32,
                round,
                integral: false,
                ftz: i.form.ftz,
                sat: i.form.sat,
                relu: i.form.relu,
                finite,
                d_short: true,
                d_wide: false,
                a_wide: false,
                d,
                a,
            }));
        }
        self.emit_move(MoveOp::Pack32 { d, lo, hi });
        Ok(())
    }

    /// To and from pairs of 8-bit floats, in a register of 16 bits.
    fn cvt_eight(&mut self, i: &Instruction, to: Type, from: Type, format: Eight) -> Lowered<()> {
        let relu = i.form.relu;
        let [d, a, rest @ ..] = &i.operands[..] else { return Err("this number of operands".to_string()) };
        let (kind, a, b) = match (to, from, rest) {
            (Type::F16x2, _, []) => (RareKind::FromEight { format, relu }, self.source32(a, true)?, NONE),
            (_, Type::F16x2, []) => (RareKind::ToEight { format, pair: true, relu }, self.source32(a, false)?, NONE),
            (_, Type::F32, [b]) => {
                let kind = RareKind::ToEight { format, pair: false, relu };
                (kind, self.source32(a, false)?, self.source32(b, false)?)
            }
            _ => return Err("8-bit floats from or to this type".to_string()),
        };
        let d = self.target32(d)?;
        self.rare(kind, d, a, b, NONE);
        Ok(())
    }
}

/// The direction, and whether the result is an integer.
fn rounding(rounding: Option<Rounding>) -> Lowered<(Round, bool)> {
    Ok(match rounding {
        None | Some(Rounding::Rn) => (Round::Nearest, false),
        Some(Rounding::Rz) => (Round::Zero, false),
        Some(Rounding::Rm) => (Round::Down, false),
        Some(Rounding::Rp) => (Round::Up, false),
        Some(Rounding::Rni) => (Round::Nearest, true),
        Some(Rounding::Rzi) => (Round::Zero, true),
        Some(Rounding::Rmi) => (Round::Down, true),
        Some(Rounding::Rpi) => (Round::Up, true),
        Some(Rounding::Rna | Rounding::Rs) => return Err("this rounding is not interpreted yet".to_string()),
    })
}

fn eight(ty: Type) -> Option<Eight> {
    match ty {
        Type::E4m3x2 => Some(Eight::E4m3),
        Type::E5m2x2 => Some(Eight::E5m2),
        _ => None,
    }
}

fn num(ty: Type) -> Lowered<Num> {
    Ok(match ty {
        Type::U8 | Type::B8 => Num::U8,
        Type::U16 | Type::B16 => Num::U16,
        Type::U32 | Type::B32 => Num::U32,
        Type::U64 | Type::B64 => Num::U64,
        Type::S8 => Num::S8,
        Type::S16 => Num::S16,
        Type::S32 => Num::S32,
        Type::S64 => Num::S64,
        Type::F16 => Num::F16,
        Type::Bf16 => Num::Bf16,
        Type::F32 => Num::F32,
        Type::F64 => Num::F64,
        _ => return Err("conversions of this type are not interpreted yet".to_string()),
    })
}

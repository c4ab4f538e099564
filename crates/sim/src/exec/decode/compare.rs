//! `setp`, `set`, `testp`.

use dacapo_ptx::ir::{BoolOp, Compare, Instruction, Mode, Operand, Type};

use super::lower::{Lower, Lowered};
use super::moves::two;
use crate::exec::op::{
    Col, CompareAs, CompareOp, Const64, ConvertOp, Int, IntOp, MoveOp, NONE, Num, Op, RareKind, Round, Test,
};

impl Lower<'_> {
    pub(super) fn setp(&mut self, i: &Instruction) -> Lowered<()> {
        let (d, a, b, c) = match i.operands.as_slice() {
            [d, a, b] => (d, a, b, None),
            [d, a, b, c] => (d, a, b, Some(c)),
            _ => return Err("this number of operands".to_string()),
        };
        let (p, q) = match d {
            Operand::Pair(p, q) => {
                let p = p.map(|r| self.target_p(&Operand::Reg(r))).transpose()?;
                let q = q.map(|r| self.target_p(&Operand::Reg(r))).transpose()?;
                (p, q)
            }
            d => (Some(self.target_p(d)?), None),
        };
        if matches!(i.form.ty(), Type::F16x2 | Type::Bf16x2) {
            // The first predicate is of the lower halves, the second of the upper ones.
            let tests = self.compare_pair(i, i.form.ty(), a, b)?;
            let c = c.map(|c| self.source_p(c)).transpose()?;
            let results = tests.map(|test| self.combined(i.form.bool_op, test, c));
            for (d, a) in [p, q].into_iter().zip(results) {
                if let Some(d) = d {
                    self.emit_move(MoveOp::MovP { d, a });
                }
            }
            return Ok(());
        }
        let test = self.temp_p();
        self.compare(i, i.form.ty(), test, a, b)?;
        let inverse = match q {
            Some(_) => {
                let inverse = self.temp_p();
                self.emit_move(MoveOp::NotP { d: inverse, a: test });
                Some(inverse)
            }
            None => None,
        };
        let c = c.map(|c| self.source_p(c)).transpose()?;
        // The combining predicate may be one of the targets, so both results are made before either is written.
        let first = self.combined(i.form.bool_op, test, c);
        let second = inverse.map(|inverse| self.combined(i.form.bool_op, inverse, c));
        if let Some(p) = p {
            self.emit_move(MoveOp::MovP { d: p, a: first });
        }
        if let (Some(q), Some(second)) = (q, second) {
            self.emit_move(MoveOp::MovP { d: q, a: second });
        }
        self.shorten_setp(p, q, test);
        Ok(())
    }

    /// `setp` with nothing to combine is one record: the comparison writes its target at once.
    fn shorten_setp(&mut self, p: Option<Col>, q: Option<Col>, test: Col) {
        let (Some(p), None) = (p, q) else { return };
        let n = self.code.ops.len();
        if n < 2 {
            return;
        }
        if let (Op::Compare(mut compare), Op::Move(MoveOp::MovP { d, a })) =
            (self.code.ops[n - 2], self.code.ops[n - 1])
            && a == test
            && compare.d == test
            && d == p
        {
            compare.d = p;
            self.code.ops[n - 2] = Op::Compare(compare);
            self.code.ops.pop();
            self.code.origins.pop();
        }
    }

    pub(super) fn combined(&mut self, op: Option<BoolOp>, a: Col, c: Option<Col>) -> Col {
        let (Some(op), Some(b)) = (op, c) else { return a };
        let d = self.temp_p();
        self.emit_move(match op {
            BoolOp::And => MoveOp::AndP { d, a, b },
            BoolOp::Or => MoveOp::OrP { d, a, b },
            BoolOp::Xor => MoveOp::XorP { d, a, b },
        });
        d
    }

    pub(super) fn set(&mut self, i: &Instruction) -> Lowered<()> {
        let (d, a, b, c) = match i.operands.as_slice() {
            [d, a, b] => (d, a, b, None),
            [d, a, b, c] => (d, a, b, Some(c)),
            _ => return Err("this number of operands".to_string()),
        };
        let [to, from] = i.form.types[..] else { return Err("this number of types".to_string()) };
        let c = c.map(|c| self.source_p(c)).transpose()?;
        let one = match to {
            Type::U32 | Type::S32 => u32::MAX,
            Type::F32 => 1f32.to_bits(),
            Type::F16 => 0x3c00,
            Type::Bf16 => 0x3f80,
            Type::U16 | Type::S16 => 0xffff,
            Type::F16x2 | Type::Bf16x2 => 0,
            _ => return Err("a result of this type".to_string()),
        };
        let zero = self.constant32(0);
        let d = self.target32(d)?;
        if !matches!(from, Type::F16x2 | Type::Bf16x2) {
            let test = self.temp_p();
            self.compare(i, from, test, a, b)?;
            let p = self.combined(i.form.bool_op, test, c);
            let one = self.constant32(one);
            self.emit_move(MoveOp::Sel32 { d, a: one, b: zero, p });
            return Ok(());
        }
        let one = match to {
            Type::F16x2 => 0x3c00,
            Type::Bf16x2 => 0x3f80,
            _ => 0xffff,
        };
        let one = self.constant32(one);
        let halves = self.compare_pair(i, from, a, b)?.map(|test| {
            let (p, half) = (self.combined(i.form.bool_op, test, c), self.temp32());
            self.emit_move(MoveOp::Sel32 { d: half, a: one, b: zero, p });
            half
        });
        self.emit_move(MoveOp::Pack32 { d, lo: halves[0], hi: halves[1] });
        Ok(())
    }

    /// Compares the lower halves, and the upper ones.
    fn compare_pair(&mut self, i: &Instruction, ty: Type, a: &Operand, b: &Operand) -> Lowered<[Col; 2]> {
        let (test, brain) = (test_of(i.form.compare)?.0, ty == Type::Bf16x2);
        let (a, b) = (self.source32(a, false)?, self.source32(b, false)?);
        let (a0, a1, b0, b1) = (self.temp32(), self.temp32(), self.temp32(), self.temp32());
        self.emit_move(MoveOp::Unpack32 { lo: a0, hi: a1, a });
        self.emit_move(MoveOp::Unpack32 { lo: b0, hi: b1, a: b });
        Ok([(a0, b0), (a1, b1)].map(|(a, b)| {
            let (a, b) = (self.half_to_f32(a, brain, i.form.ftz), self.half_to_f32(b, brain, i.form.ftz));
            let d = self.temp_p();
            self.emit(Op::Compare(CompareOp { kind: CompareAs::F32, test, d, a, b }));
            d
        }))
    }

    fn half_to_f32(&mut self, a: Col, brain: bool, ftz: bool) -> Col {
        // A subnormal f16 is a normal f32, so it is flushed before.
        let a = match ftz && !brain {
            true => {
                let flushed = self.temp32();
                self.rare(RareKind::FlushF16, flushed, a, NONE, NONE);
                flushed
            }
            false => a,
        };
        let d = self.temp32();
        let from = if brain { Num::Bf16 } else { Num::F16 };
        self.emit(Op::Convert(ConvertOp {
            to: Num::F32,
            from,
            round: Round::Nearest,
            integral: false,
            ftz: brain && ftz,
            sat: false,
            relu: false,
            finite: false,
            d_short: false,
            d_wide: false,
            a_wide: false,
            d,
            a,
        }));
        d
    }

    fn compare(&mut self, i: &Instruction, ty: Type, d: Col, a: &Operand, b: &Operand) -> Lowered<()> {
        let (test, unsigned) = test_of(i.form.compare)?;
        let signed = |s, u| if unsigned { u } else { s };
        let (kind, a, b) = match ty {
            Type::F32 => {
                let kind = if i.form.ftz { CompareAs::F32Ftz } else { CompareAs::F32 };
                (kind, self.source32(a, false)?, self.source32(b, false)?)
            }
            Type::F64 => (CompareAs::F64, self.source64(a)?, self.source64(b)?),
            Type::F16 | Type::Bf16 => {
                let (a, b) = (self.source32(a, true)?, self.source32(b, true)?);
                let brain = ty == Type::Bf16;
                let ftz = i.form.ftz;
                (CompareAs::F32, self.half_to_f32(a, brain, ftz), self.half_to_f32(b, brain, ftz))
            }
            Type::U32 | Type::B32 => (CompareAs::U32, self.source32(a, false)?, self.source32(b, false)?),
            Type::S32 => (signed(CompareAs::S32, CompareAs::U32), self.source32(a, false)?, self.source32(b, false)?),
            Type::U64 | Type::B64 => (CompareAs::U64, self.source64(a)?, self.source64(b)?),
            Type::S64 => (signed(CompareAs::S64, CompareAs::U64), self.source64(a)?, self.source64(b)?),
            Type::U16 | Type::B16 => (CompareAs::U32, self.source32(a, true)?, self.source32(b, true)?),
            Type::S16 => {
                let (a, b) = (self.source32(a, true)?, self.source32(b, true)?);
                (CompareAs::S32, self.sext16(a), self.sext16(b))
            }
            _ => return Err("a comparison of this type".to_string()),
        };
        self.emit(Op::Compare(CompareOp { kind, test, d, a, b }));
        Ok(())
    }

    pub(super) fn testp(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a] = two(i)?;
        let d = self.target_p(d)?;
        let wide = i.form.ty() == Type::F64;
        if !wide && i.form.ty() != Type::F32 {
            return Err("a test of this type".to_string());
        }
        // All tests are comparisons of the bits without the sign.
        let (kind, a, infinity, least, none) = if wide {
            let a = self.source64(a)?;
            let mask = self.constant64(Const64::Value(u64::MAX >> 1));
            let bits = self.temp64();
            self.emit(Op::Int(IntOp { code: Int::And, wide, d: bits, a, b: mask, c: NONE, e: NONE }));
            let [infinity, least, none] =
                [f64::INFINITY.to_bits(), f64::MIN_POSITIVE.to_bits(), 0].map(|v| self.constant64(Const64::Value(v)));
            (CompareAs::U64, bits, infinity, least, none)
        } else {
            let a = self.source32(a, false)?;
            let mask = self.constant32(u32::MAX >> 1);
            let bits = self.temp32();
            self.emit(Op::Int(IntOp { code: Int::And, wide, d: bits, a, b: mask, c: NONE, e: NONE }));
            let [infinity, least, none] =
                [f32::INFINITY.to_bits(), f32::MIN_POSITIVE.to_bits(), 0].map(|v| self.constant32(v));
            (CompareAs::U32, bits, infinity, least, none)
        };
        let compare = |test, d, b| Op::Compare(CompareOp { kind, test, d, a, b });
        let mut both = |first: (Test, Col), second: (Test, Col)| {
            let other = self.temp_p();
            let here = self.temp_p();
            self.emit(compare(first.0, other, first.1));
            self.emit(compare(second.0, here, second.1));
            self.emit_move(MoveOp::AndP { d, a: other, b: here });
        };
        match i.form.mode {
            Some(Mode::Finite) => self.emit(compare(Test::Lt, d, infinity)),
            Some(Mode::Infinite) => self.emit(compare(Test::Eq, d, infinity)),
            Some(Mode::Number) => self.emit(compare(Test::Le, d, infinity)),
            Some(Mode::NotANumber) => self.emit(compare(Test::Gt, d, infinity)),
            // Zero counts as normal (settled on an H200).
            Some(Mode::Normal) => {
                let (zero, large, small) = (self.temp_p(), self.temp_p(), self.temp_p());
                self.emit(compare(Test::Eq, zero, none));
                self.emit(compare(Test::Ge, large, least));
                self.emit(compare(Test::Lt, small, infinity));
                self.emit_move(MoveOp::AndP { d: small, a: small, b: large });
                self.emit_move(MoveOp::OrP { d, a: zero, b: small });
            }
            Some(Mode::Subnormal) => both((Test::Lt, least), (Test::Gt, none)),
            _ => return Err("a test of this kind".to_string()),
        }
        Ok(())
    }
}

/// The test, and whether its name alone says that it is unsigned.
fn test_of(compare: Option<Compare>) -> Lowered<(Test, bool)> {
    Ok(match compare.ok_or("no comparison is named")? {
        Compare::Eq => (Test::Eq, false),
        Compare::Ne => (Test::Ne, false),
        Compare::Lt => (Test::Lt, false),
        Compare::Le => (Test::Le, false),
        Compare::Gt => (Test::Gt, false),
        Compare::Ge => (Test::Ge, false),
        Compare::Lo => (Test::Lt, true),
        Compare::Ls => (Test::Le, true),
        Compare::Hi => (Test::Gt, true),
        Compare::Hs => (Test::Ge, true),
        Compare::Equ => (Test::Equ, false),
        Compare::Neu => (Test::Neu, false),
        Compare::Ltu => (Test::Ltu, false),
        Compare::Leu => (Test::Leu, false),
        Compare::Gtu => (Test::Gtu, false),
        Compare::Geu => (Test::Geu, false),
        Compare::Num => (Test::Num, false),
        Compare::Nan => (Test::Nan, false),
    })
}

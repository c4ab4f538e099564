//! Arithmetic, logic and bit fields, of integers and of floats.

use dacapo_ptx::ir::{Half, Instruction, Mode, Opcode, Operand, Rounding, Type};

use super::lower::{Lower, Lowered};
use super::moves::{four, operands, three, two};
use crate::exec::op::{
    Carry, Col, CompareAs, CompareOp, Float, FloatOp, Int, IntOp, MoveOp, NONE, Op, Rare, RareKind, Round, Test,
};

/// Width and sign of an integer type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Short,
    Word,
    Wide,
}

fn width(ty: Type) -> Lowered<(Width, bool)> {
    Ok(match ty {
        Type::S16 => (Width::Short, true),
        Type::U16 | Type::B16 => (Width::Short, false),
        Type::S32 => (Width::Word, true),
        Type::U32 | Type::B32 => (Width::Word, false),
        Type::S64 => (Width::Wide, true),
        Type::U64 | Type::B64 => (Width::Wide, false),
        _ => return Err("arithmetic on this type is not interpreted yet".to_string()),
    })
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64 | Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

impl Lower<'_> {
    pub(super) fn sext16(&mut self, a: Col) -> Col {
        let d = self.temp32();
        self.int(Int::Sext16, false, d, [a, NONE, NONE, NONE]);
        d
    }

    fn int(&mut self, code: Int, wide: bool, d: Col, [a, b, c, e]: [Col; 4]) {
        self.emit(Op::Int(IntOp { code, wide, d, a, b, c, e }));
    }

    /// An instruction with all operands of its type; 16-bit ones are done in 32 bits and cut.
    fn plain(&mut self, i: &Instruction, code: Int) -> Lowered<()> {
        let (width, signed) = width(i.form.ty())?;
        let [d, sources @ ..] = &i.operands[..] else { return Err("it has no operands".to_string()) };
        if sources.is_empty() || sources.len() > 3 {
            return Err("this number of operands".to_string());
        }
        let mut cols = [NONE; 4];
        if width == Width::Wide {
            for (col, source) in cols.iter_mut().zip(sources) {
                *col = self.source64(source)?;
            }
            let d = self.target64(d)?;
            self.int(code, true, d, cols);
            return Ok(());
        }
        let short = width == Width::Short;
        for (col, source) in cols.iter_mut().zip(sources) {
            *col = self.source32(source, short)?;
            if short && signed {
                *col = self.sext16(*col);
            }
        }
        let d = self.target32(d)?;
        if short {
            self.cut(d, |this, t| this.int(code, false, t, cols));
        } else {
            self.int(code, false, d, cols);
        }
        Ok(())
    }

    /// Makes a 32-bit value by `make` and stores its low 16 bits in `d`.
    fn cut(&mut self, d: Col, make: impl FnOnce(&mut Self, Col)) {
        let t = self.temp32();
        make(self, t);
        let mask = self.constant32(0xffff);
        self.int(Int::And, false, d, [t, mask, NONE, NONE]);
    }

    pub(super) fn add_sub(&mut self, i: &Instruction) -> Lowered<()> {
        let sub = i.form.opcode == Opcode::Sub;
        if is_float(i.form.ty()) {
            return self.float(i, if sub { Float::Sub } else { Float::Add });
        }
        if i.form.carry_in || i.form.carry_out {
            let carry = Carry { reads: i.form.carry_in, writes: i.form.carry_out };
            return self.carry_form(i, if sub { Int::SubCarry(carry) } else { Int::AddCarry(carry) });
        }
        match (i.form.sat, i.form.ty()) {
            (false, _) => self.plain(i, if sub { Int::Sub } else { Int::Add }),
            (true, Type::S32) => self.plain(i, if sub { Int::SubSat } else { Int::AddSat }),
            (true, _) => Err("saturation of this type".to_string()),
        }
    }

    fn carry_form(&mut self, i: &Instruction, code: Int) -> Lowered<()> {
        let [d, sources @ ..] = &i.operands[..] else { return Err("it has no operands".to_string()) };
        let wide = match width(i.form.ty())?.0 {
            Width::Word => false,
            Width::Wide => true,
            Width::Short => return Err("carries of 16 bits".to_string()),
        };
        let mut cols = [NONE; 4];
        for (col, source) in cols[..3].iter_mut().zip(sources) {
            *col = if wide { self.source64(source)? } else { self.source32(source, false)? };
        }
        cols[3] = self.carry();
        let d = if wide { self.target64(d)? } else { self.target32(d)? };
        self.int(code, wide, d, cols);
        Ok(())
    }

    pub(super) fn mul(&mut self, i: &Instruction) -> Lowered<()> {
        if is_float(i.form.ty()) {
            return self.float(i, Float::Mul);
        }
        let (width, signed) = width(i.form.ty())?;
        match (i.form.half, width) {
            (Some(Half::Wide), Width::Word) => {
                let [d, a, b] = three(i)?;
                let (a, b, d) = (self.source32(a, false)?, self.source32(b, false)?, self.target64(d)?);
                self.int(if signed { Int::MulWideS } else { Int::MulWideU }, false, d, [a, b, NONE, NONE]);
                Ok(())
            }
            (Some(Half::Wide | Half::Hi), Width::Short) => {
                let [d, a, b] = three(i)?;
                let (a, b) = self.short_pair(a, b, signed)?;
                let d = self.target32(d)?;
                if i.form.half == Some(Half::Wide) {
                    self.int(Int::Mul, false, d, [a, b, NONE, NONE]);
                } else {
                    let (product, by) = (self.temp32(), self.constant32(16));
                    self.int(Int::Mul, false, product, [a, b, NONE, NONE]);
                    self.int(Int::ShrU, false, d, [product, by, NONE, NONE]);
                }
                Ok(())
            }
            (Some(Half::Wide), Width::Wide) => Err("products of 128 bits".to_string()),
            (Some(Half::Hi), _) => self.plain(i, if signed { Int::MulHiS } else { Int::MulHiU }),
            _ => self.plain(i, Int::Mul),
        }
    }

    fn short_pair(&mut self, a: &Operand, b: &Operand, signed: bool) -> Lowered<(Col, Col)> {
        let (a, b) = (self.source32(a, true)?, self.source32(b, true)?);
        Ok(if signed { (self.sext16(a), self.sext16(b)) } else { (a, b) })
    }

    pub(super) fn mad(&mut self, i: &Instruction) -> Lowered<()> {
        if is_float(i.form.ty()) {
            return self.float(i, Float::Fma);
        }
        let (width, signed) = width(i.form.ty())?;
        if i.form.carry_in || i.form.carry_out {
            let carry = Carry { reads: i.form.carry_in, writes: i.form.carry_out };
            return self.carry_form(
                i,
                match (i.form.half, signed) {
                    (Some(Half::Hi), true) => Int::MadHiSCarry(carry),
                    (Some(Half::Hi), false) => Int::MadHiUCarry(carry),
                    _ => Int::MadLoCarry(carry),
                },
            );
        }
        if i.form.sat {
            let [d, a, b, c] = four(i)?;
            if (i.form.half, width, signed) != (Some(Half::Hi), Width::Word, true) {
                return Err("saturation of this type".to_string());
            }
            let (a, b, c) = (self.source32(a, false)?, self.source32(b, false)?, self.source32(c, false)?);
            let (high, d) = (self.temp32(), self.target32(d)?);
            self.int(Int::MulHiS, false, high, [a, b, NONE, NONE]);
            self.int(Int::AddSat, false, d, [high, c, NONE, NONE]);
            return Ok(());
        }
        match (i.form.half, width) {
            (Some(Half::Wide), Width::Word) => {
                let [d, a, b, c] = four(i)?;
                let (a, b) = (self.source32(a, false)?, self.source32(b, false)?);
                let (c, d) = (self.source64(c)?, self.target64(d)?);
                self.int(if signed { Int::MadWideS } else { Int::MadWideU }, false, d, [a, b, c, NONE]);
                Ok(())
            }
            (Some(Half::Wide | Half::Hi), Width::Short) => {
                let [d, a, b, c] = four(i)?;
                let (a, b) = self.short_pair(a, b, signed)?;
                if i.form.half == Some(Half::Wide) {
                    let (c, d) = (self.source32(c, false)?, self.target32(d)?);
                    self.int(Int::Mad, false, d, [a, b, c, NONE]);
                } else {
                    let (c, d) = (self.source32(c, true)?, self.target32(d)?);
                    let (product, by, high) = (self.temp32(), self.constant32(16), self.temp32());
                    self.int(Int::Mul, false, product, [a, b, NONE, NONE]);
                    self.int(Int::ShrU, false, high, [product, by, NONE, NONE]);
                    self.cut(d, |this, t| this.int(Int::Add, false, t, [high, c, NONE, NONE]));
                }
                Ok(())
            }
            (Some(Half::Wide), Width::Wide) => Err("products of 128 bits".to_string()),
            (Some(Half::Hi), _) => self.plain(i, if signed { Int::MadHiS } else { Int::MadHiU }),
            _ => self.plain(i, Int::Mad),
        }
    }

    /// `div`, `rem`, `min`, `max`, `sad`: the sign is in the type.
    pub(super) fn signed_form(&mut self, i: &Instruction) -> Lowered<()> {
        let ty = i.form.ty();
        if is_float(ty) {
            let code = match i.form.opcode {
                Opcode::Div if i.form.approx => Float::DivApprox,
                Opcode::Div if i.form.full => Float::DivFull,
                Opcode::Div => Float::Div,
                Opcode::Min if i.form.nan => Float::MinNan,
                Opcode::Min => Float::Min,
                Opcode::Max if i.form.nan => Float::MaxNan,
                Opcode::Max => Float::Max,
                _ => return Err("no such operation on floats".to_string()),
            };
            if ty == Type::F32 && i.form.rare.iter().any(|word| word == "xorsign") {
                let [d, a, b] = three(i)?;
                let (a, b, d) = (self.source32(a, false)?, self.source32(b, false)?, self.target32(d)?);
                let (least, nan) = (i.form.opcode == Opcode::Min, i.form.nan);
                self.rare(RareKind::XorSign { least, nan, ftz: i.form.ftz }, d, a, b, NONE);
                return Ok(());
            }
            return self.float(i, code);
        }
        let signed = width(ty)?.1;
        if i.form.relu {
            let [d, a, b] = three(i)?;
            let code = if i.form.opcode == Opcode::Min { Int::MinS } else { Int::MaxS };
            let (a, b, zero) = (self.source32(a, false)?, self.source32(b, false)?, self.constant32(0));
            let (t, d) = (self.temp32(), self.target32(d)?);
            self.int(code, false, t, [a, b, NONE, NONE]);
            self.int(Int::MaxS, false, d, [t, zero, NONE, NONE]);
            return Ok(());
        }
        self.plain(
            i,
            match (i.form.opcode, signed) {
                (Opcode::Div, true) => Int::DivS,
                (Opcode::Div, false) => Int::DivU,
                (Opcode::Rem, true) => Int::RemS,
                (Opcode::Rem, false) => Int::RemU,
                (Opcode::Min, true) => Int::MinS,
                (Opcode::Min, false) => Int::MinU,
                (Opcode::Max, true) => Int::MaxS,
                (Opcode::Max, false) => Int::MaxU,
                (_, true) => Int::SadS,
                (_, false) => Int::SadU,
            },
        )
    }

    pub(super) fn neg_abs(&mut self, i: &Instruction) -> Lowered<()> {
        let neg = i.form.opcode == Opcode::Neg;
        if is_float(i.form.ty()) {
            return self.float(i, if neg { Float::Neg } else { Float::Abs });
        }
        self.plain(i, if neg { Int::Neg } else { Int::Abs })
    }

    pub(super) fn logic(&mut self, i: &Instruction) -> Lowered<()> {
        if i.form.ty() == Type::Pred {
            if i.form.opcode == Opcode::Not {
                let [d, a] = two(i)?;
                let (d, a) = (self.target_p(d)?, self.source_p(a)?);
                self.emit_move(MoveOp::NotP { d, a });
                return Ok(());
            }
            let [d, a, b] = three(i)?;
            let (d, a, b) = (self.target_p(d)?, self.source_p(a)?, self.source_p(b)?);
            self.emit_move(match i.form.opcode {
                Opcode::And => MoveOp::AndP { d, a, b },
                Opcode::Or => MoveOp::OrP { d, a, b },
                _ => MoveOp::XorP { d, a, b },
            });
            return Ok(());
        }
        self.plain(
            i,
            match i.form.opcode {
                Opcode::And => Int::And,
                Opcode::Or => Int::Or,
                Opcode::Xor => Int::Xor,
                Opcode::Not => Int::Not,
                _ => Int::Cnot,
            },
        )
    }

    /// `shl`, `shr`: the amount has 32 bits at any width.
    pub(super) fn shift(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a, by] = three(i)?;
        let (width, signed) = width(i.form.ty())?;
        let by = self.source32(by, false)?;
        let code = match (i.form.opcode, signed) {
            (Opcode::Shl, _) => Int::Shl,
            (_, true) => Int::ShrS,
            (_, false) => Int::ShrU,
        };
        match width {
            Width::Wide => {
                let (a, d) = (self.source64(a)?, self.target64(d)?);
                self.int(code, true, d, [a, by, NONE, NONE]);
            }
            Width::Word => {
                let (a, d) = (self.source32(a, false)?, self.target32(d)?);
                self.int(code, false, d, [a, by, NONE, NONE]);
            }
            Width::Short => {
                let mut a = self.source32(a, true)?;
                if signed {
                    a = self.sext16(a);
                }
                let d = self.target32(d)?;
                self.cut(d, |this, t| this.int(code, false, t, [a, by, NONE, NONE]));
            }
        }
        Ok(())
    }

    /// `popc`, `clz`, `bfind`: a 32-bit result; `brev`: one of its own width.
    pub(super) fn bits(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a] = two(i)?;
        let (width, signed) = width(i.form.ty())?;
        let wide = width == Width::Wide;
        let shift = i.form.mode == Some(Mode::ShiftAmount);
        let code = match (i.form.opcode, signed, shift) {
            (Opcode::Popc, ..) => Int::Popc,
            (Opcode::Clz, ..) => Int::Clz,
            (Opcode::Brev, ..) => Int::Brev,
            (_, false, false) => Int::FindU,
            (_, true, false) => Int::FindS,
            (_, false, true) => Int::FindShiftU,
            (_, true, true) => Int::FindShiftS,
        };
        let a = if wide { self.source64(a)? } else { self.source32(a, false)? };
        let d = if wide && code == Int::Brev { self.target64(d)? } else { self.target32(d)? };
        self.int(code, wide, d, [a, NONE, NONE, NONE]);
        Ok(())
    }

    pub(super) fn bfe(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a, b, c] = four(i)?;
        let (width, signed) = width(i.form.ty())?;
        let wide = width == Width::Wide;
        let code = if signed { Int::BfeS } else { Int::BfeU };
        let (b, c) = (self.source32(b, false)?, self.source32(c, false)?);
        let a = if wide { self.source64(a)? } else { self.source32(a, false)? };
        let d = if wide { self.target64(d)? } else { self.target32(d)? };
        self.int(code, wide, d, [a, b, c, NONE]);
        Ok(())
    }

    pub(super) fn bfi(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a, b, c, e] = operands::<5>(i)?;
        let wide = width(i.form.ty())?.0 == Width::Wide;
        let (c, e) = (self.source32(c, false)?, self.source32(e, false)?);
        let (a, b) = if wide {
            (self.source64(a)?, self.source64(b)?)
        } else {
            (self.source32(a, false)?, self.source32(b, false)?)
        };
        let d = if wide { self.target64(d)? } else { self.target32(d)? };
        self.int(Int::Bfi, wide, d, [a, b, c, e]);
        Ok(())
    }

    pub(super) fn lop3(&mut self, i: &Instruction) -> Lowered<()> {
        if i.form.bool_op.is_some() {
            return self.lop3_with_predicate(i);
        }
        let [d, a, b, c, Operand::Imm(table)] = operands::<5>(i)? else {
            return Err("this shape of operands".to_string());
        };
        let (a, b, c) = (self.source32(a, false)?, self.source32(b, false)?, self.source32(c, false)?);
        let d = self.target32(d)?;
        self.int(Int::Lop3, false, d, [a, b, c, (*table & 0xff) as Col]);
        Ok(())
    }

    /// `lop3.or.b32 d|p, a, b, c, table, q`: the predicate is whether any bit is set, combined with `q`.
    fn lop3_with_predicate(&mut self, i: &Instruction) -> Lowered<()> {
        let [pair, a, b, c, Operand::Imm(table), q] = operands::<6>(i)? else {
            return Err("this shape of operands".to_string());
        };
        let Operand::Pair(d, p) = pair else { return Err("the predicate is missing".to_string()) };
        let (a, b, c) = (self.source32(a, false)?, self.source32(b, false)?, self.source32(c, false)?);
        let q = self.source_p(q)?;
        let d = match d {
            Some(d) => self.target32(&Operand::Reg(*d))?,
            None => self.temp32(),
        };
        let (zero, any) = (self.constant32(0), self.temp_p());
        self.int(Int::Lop3, false, d, [a, b, c, (*table & 0xff) as Col]);
        self.emit(Op::Compare(CompareOp { kind: CompareAs::U32, test: Test::Ne, d: any, a: d, b: zero }));
        let result = self.combined(i.form.bool_op, any, Some(q));
        if let Some(p) = p {
            let p = self.target_p(&Operand::Reg(*p))?;
            self.emit_move(MoveOp::MovP { d: p, a: result });
        }
        Ok(())
    }

    pub(super) fn shf(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a, b, c] = four(i)?;
        let code = match i.form.mode {
            Some(Mode::LeftWrap) => Int::ShfLeftWrap,
            Some(Mode::LeftClamp) => Int::ShfLeftClamp,
            Some(Mode::RightWrap) => Int::ShfRightWrap,
            Some(Mode::RightClamp) => Int::ShfRightClamp,
            _ => return Err("no direction is named".to_string()),
        };
        let (a, b, c) = (self.source32(a, false)?, self.source32(b, false)?, self.source32(c, false)?);
        let d = self.target32(d)?;
        self.int(code, false, d, [a, b, c, NONE]);
        Ok(())
    }

    pub(super) fn rare(&mut self, kind: RareKind, d: Col, a: Col, b: Col, c: Col) {
        let index = self.code.rare.len() as u32;
        self.code.rare.push(Rare { kind, d, a, b, c });
        self.emit(Op::Rare(index));
    }

    /// Forms of three 32-bit sources that are done lane by lane.
    pub(super) fn rare_form(&mut self, i: &Instruction) -> Lowered<()> {
        let form = &i.form;
        let signed = |n: usize| matches!(form.types.get(n), Some(Type::S32));
        let kind = match form.opcode {
            Opcode::Prmt => form.mode.map_or(RareKind::PrmtDefault, RareKind::Prmt),
            Opcode::Fns => RareKind::Fns,
            Opcode::Dp4a => RareKind::Dp4a { a_signed: signed(0), b_signed: signed(1) },
            Opcode::Dp2a => {
                let high = form.half == Some(Half::Hi);
                RareKind::Dp2a { a_signed: signed(0), b_signed: signed(1), high }
            }
            Opcode::Bmsk if form.rare.iter().any(|w| w == "wrap") => RareKind::BmskWrap,
            Opcode::Bmsk => RareKind::BmskClamp,
            _ => RareKind::Mul24 { signed: signed(0), high: form.half == Some(Half::Hi) },
        };
        let [d, sources @ ..] = &i.operands[..] else { return Err("it has no operands".to_string()) };
        let mut cols = [NONE; 3];
        if sources.len() > 3 || sources.len() < 2 {
            return Err("this number of operands".to_string());
        }
        for (col, source) in cols.iter_mut().zip(sources) {
            *col = self.source32(source, false)?;
        }
        let d = self.target32(d)?;
        if form.opcode == Opcode::Mad24 {
            let code = if form.sat { Int::AddSat } else { Int::Add };
            let product = self.temp32();
            self.rare(kind, product, cols[0], cols[1], NONE);
            self.int(code, false, d, [product, cols[2], NONE, NONE]);
        } else {
            self.rare(kind, d, cols[0], cols[1], cols[2]);
        }
        Ok(())
    }

    /// `fma`, `rcp`, `sqrt`, `ex2` and all others that exist for floats only.
    pub(super) fn float_form(&mut self, i: &Instruction) -> Lowered<()> {
        let approx = i.form.approx;
        let code = match i.form.opcode {
            Opcode::Fma => Float::Fma,
            Opcode::Rcp if approx => Float::RcpApprox,
            Opcode::Rcp => Float::Rcp,
            Opcode::Sqrt if approx => Float::SqrtApprox,
            Opcode::Sqrt => Float::Sqrt,
            Opcode::Rsqrt => Float::RsqrtApprox,
            Opcode::Ex2 => Float::Ex2,
            Opcode::Lg2 => Float::Lg2,
            Opcode::Sin => Float::Sin,
            Opcode::Cos => Float::Cos,
            Opcode::Tanh => Float::Tanh,
            Opcode::Copysign => Float::CopySign,
            _ => return Err("it is not interpreted yet".to_string()),
        };
        self.float(i, code)
    }

    fn float(&mut self, i: &Instruction, code: Float) -> Lowered<()> {
        let form = &i.form;
        let round = match form.rounding {
            None | Some(Rounding::Rn) => Round::Nearest,
            Some(Rounding::Rz) => Round::Zero,
            Some(Rounding::Rm) => Round::Down,
            Some(Rounding::Rp) => Round::Up,
            Some(_) => return Err("this rounding of arithmetic".to_string()),
        };
        let [d, sources @ ..] = &i.operands[..] else { return Err("it has no operands".to_string()) };
        let expected = match code {
            Float::Fma => 3,
            Float::Add | Float::Sub | Float::Mul | Float::Div | Float::DivApprox | Float::DivFull => 2,
            Float::Min | Float::Max | Float::MinNan | Float::MaxNan | Float::CopySign => 2,
            _ => 1,
        };
        if sources.len() != expected {
            return Err(format!("it has {} sources, where {expected} are known", sources.len()));
        }
        let mut cols = [NONE; 3];
        let ty = form.ty();
        let (ftz, sat) = (form.ftz, form.sat);
        if form.types.len() > 1 && form.types.iter().any(|&t| t != ty) {
            return Err("mixed types are not interpreted yet".to_string());
        }
        match ty {
            Type::F64 => {
                for (col, source) in cols.iter_mut().zip(sources) {
                    *col = self.source64(source)?;
                }
                let d = self.target64(d)?;
                let [a, b, c] = cols;
                self.emit(Op::Float(FloatOp { code, double: true, round, ftz, sat, d, a, b, c }));
            }
            Type::F32 => {
                if form.relu {
                    return Err("`.relu` is not interpreted yet".to_string());
                }
                for (col, source) in cols.iter_mut().zip(sources) {
                    *col = self.source32(source, false)?;
                }
                let d = self.target32(d)?;
                let [a, b, c] = cols;
                self.emit(Op::Float(FloatOp { code, double: false, round, ftz, sat, d, a, b, c }));
            }
            _ => {
                let brain = matches!(ty, Type::Bf16 | Type::Bf16x2);
                let pair = matches!(ty, Type::F16x2 | Type::Bf16x2);
                let known = matches!(
                    code,
                    Float::Add
                        | Float::Sub
                        | Float::Mul
                        | Float::Fma
                        | Float::Min
                        | Float::Max
                        | Float::MinNan
                        | Float::MaxNan
                        | Float::Neg
                        | Float::Abs
                        | Float::Ex2
                        | Float::Tanh
                );
                if !known || round != Round::Nearest {
                    return Err("this operation on 16-bit floats is not interpreted yet".to_string());
                }
                for (col, source) in cols.iter_mut().zip(sources) {
                    *col = self.source32(source, !pair)?;
                }
                let d = self.target32(d)?;
                let [a, b, c] = cols;
                let (relu, xorsign) = (form.relu, form.rare.iter().any(|word| word == "xorsign"));
                self.rare(RareKind::Half { code, brain, pair, ftz, sat, relu, xorsign }, d, a, b, c);
            }
        }
        Ok(())
    }
}

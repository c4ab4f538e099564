//! `mov`, `cvta`, `isspacep`, `selp`, `slct`.

use dacapo_ptx::ir::{Instruction, Operand, Space, Special, Type};

use super::lower::{Class, Lower, Lowered, class};
use crate::exec::op::{CompareAs, CompareOp, Const64, Int, IntOp, MoveOp, NONE, Op, Test, Window};
use crate::exec::window;

/// Special registers of 64 bits.
pub(super) fn is_wide(special: Special) -> bool {
    matches!(special, Special::Clock64 | Special::GlobalTimer | Special::GridId)
}

impl Lower<'_> {
    pub(super) fn mov(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a] = two(i)?;
        match (d, a) {
            (Operand::Vector(parts), _) => return self.unpack(parts, a, i.form.ty()),
            (_, Operand::Vector(parts)) => return self.pack(d, parts, i.form.ty()),
            _ => {}
        }
        match class(i.form.ty()) {
            Class::Pred => {
                let d = self.target_p(d)?;
                match a {
                    Operand::Imm(bits) => self.emit_move(MoveOp::ConstP { d, value: *bits != 0 }),
                    _ => {
                        let a = self.source_p(a)?;
                        self.emit_move(MoveOp::MovP { d, a });
                    }
                }
            }
            Class::Word { short } => {
                let d = self.target32(d)?;
                if let Operand::Special(which) = a {
                    if is_wide(*which) {
                        let wide = self.source64(a)?;
                        self.emit_move(MoveOp::Unpack64 { lo: d, hi: NONE, a: wide });
                    } else {
                        self.emit(Op::Special { d, which: *which });
                    }
                    return Ok(());
                }
                let a = self.source32(a, short)?;
                self.emit_move(MoveOp::Mov32 { d, a });
            }
            Class::Wide => {
                let d = self.target64(d)?;
                if let Operand::Special(which) = a
                    && is_wide(*which)
                {
                    self.emit(Op::Special { d, which: *which });
                    return Ok(());
                }
                let a = self.source64(a)?;
                self.emit_move(MoveOp::Mov64 { d, a });
            }
            Class::Huge => return Err("registers of 128 bits are not interpreted yet".to_string()),
        }
        Ok(())
    }

    fn pack(&mut self, d: &Operand, parts: &[Option<Operand>], ty: Type) -> Lowered<()> {
        let part = |n: usize| parts[n].as_ref().ok_or_else(|| "a sink cannot be packed".to_string());
        match (ty.bytes(), parts.len()) {
            (8, 2) => {
                let (lo, hi) = (self.source32(part(0)?, false)?, self.source32(part(1)?, false)?);
                let d = self.target64(d)?;
                self.emit_move(MoveOp::Pack64 { d, lo, hi });
            }
            (4, 2) => {
                let (lo, hi) = (self.source32(part(0)?, true)?, self.source32(part(1)?, true)?);
                let d = self.target32(d)?;
                self.emit_move(MoveOp::Pack32 { d, lo, hi });
            }
            (8, 4) => {
                let mut halves = [0; 2];
                for (n, half) in halves.iter_mut().enumerate() {
                    let lo = self.source32(part(2 * n)?, true)?;
                    let hi = self.source32(part(2 * n + 1)?, true)?;
                    *half = self.temp32();
                    self.emit_move(MoveOp::Pack32 { d: *half, lo, hi });
                }
                let d = self.target64(d)?;
                self.emit_move(MoveOp::Pack64 { d, lo: halves[0], hi: halves[1] });
            }
            _ => return Err("a vector of this shape is not moved yet".to_string()),
        }
        Ok(())
    }

    fn unpack(&mut self, parts: &[Option<Operand>], a: &Operand, ty: Type) -> Lowered<()> {
        let mut targets = Vec::new();
        for part in parts {
            targets.push(match part {
                None | Some(Operand::Sink) => NONE,
                Some(part) => self.target32(part)?,
            });
        }
        match (ty.bytes(), targets.as_slice()) {
            (8, &[lo, hi]) => {
                let a = self.source64(a)?;
                self.emit_move(MoveOp::Unpack64 { lo, hi, a });
            }
            (4, &[lo, hi]) => {
                let a = self.source32(a, false)?;
                self.emit_move(MoveOp::Unpack32 { lo, hi, a });
            }
            (8, &[w, x, y, z]) => {
                let a = self.source64(a)?;
                let (lo, hi) = (self.temp32(), self.temp32());
                self.emit_move(MoveOp::Unpack64 { lo, hi, a });
                self.emit_move(MoveOp::Unpack32 { lo: w, hi: x, a: lo });
                self.emit_move(MoveOp::Unpack32 { lo: y, hi: z, a: hi });
            }
            _ => return Err("a vector of this shape is not moved yet".to_string()),
        }
        Ok(())
    }

    pub(super) fn cvta(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a] = two(i)?;
        if i.form.ty().bytes() != 8 {
            return Err("generic addresses have 64 bits here".to_string());
        }
        // `mov`ed addresses of the four window spaces count from the window's start.
        let window = match i.form.space {
            Space::Global | Space::Const | Space::Generic => None,
            Space::Shared | Space::SharedCluster => Some(window::SHARED),
            Space::Local => Some(window::LOCAL),
            Space::Param => Some(window::PARAM),
        };
        let (d, a) = (self.target64(d)?, self.source64(a)?);
        match window {
            None => self.emit_move(MoveOp::Mov64 { d, a }),
            Some(start) => {
                let b = self.constant64(Const64::Value(start));
                let code = if i.form.to { Int::Sub } else { Int::Add };
                self.emit(Op::Int(IntOp { code, wide: true, d, a, b, c: NONE, e: NONE }));
            }
        }
        Ok(())
    }

    pub(super) fn isspacep(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a] = two(i)?;
        let window = match i.form.space {
            Space::Global => Window::Global,
            Space::Shared | Space::SharedCluster => Window::Shared,
            Space::Local => Window::Local,
            Space::Param => Window::Param,
            Space::Const => return self.is_constant(d, a),
            Space::Generic => return Err("no space is named".to_string()),
        };
        let (d, a) = (self.target_p(d)?, self.source64(a)?);
        self.emit_move(MoveOp::IsSpace { d, a, window });
        Ok(())
    }

    /// Is the address in one of the module's constant variables? They lie among the global ones, without a window of their own.
    fn is_constant(&mut self, d: &Operand, a: &Operand) -> Lowered<()> {
        let (d, a) = (self.target_p(d)?, self.source64(a)?);
        let (any, here, offset) = (self.temp_p(), self.temp_p(), self.temp64());
        self.emit_move(MoveOp::ConstP { d: any, value: false });
        let module = self.module;
        for (index, variable) in (0u32..).zip(&module.variables).filter(|(_, v)| v.space == Space::Const) {
            let start = self.constant64(Const64::Variable(index, 0));
            let size = self.constant64(Const64::Value(variable.size));
            self.emit(Op::Int(IntOp { code: Int::Sub, wide: true, d: offset, a, b: start, c: NONE, e: NONE }));
            self.emit(Op::Compare(CompareOp { kind: CompareAs::U64, test: Test::Lt, d: here, a: offset, b: size }));
            self.emit_move(MoveOp::OrP { d: any, a: any, b: here });
        }
        self.emit_move(MoveOp::MovP { d, a: any });
        Ok(())
    }

    pub(super) fn selp(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a, b, p] = four(i)?;
        let p = self.source_p(p)?;
        self.select(i.form.ty(), d, a, b, p)
    }

    fn select(&mut self, ty: Type, d: &Operand, a: &Operand, b: &Operand, p: u16) -> Lowered<()> {
        match class(ty) {
            Class::Word { short } => {
                let (a, b, d) = (self.source32(a, short)?, self.source32(b, short)?, self.target32(d)?);
                self.emit_move(MoveOp::Sel32 { d, a, b, p });
            }
            Class::Wide => {
                let (a, b, d) = (self.source64(a)?, self.source64(b)?, self.target64(d)?);
                self.emit_move(MoveOp::Sel64 { d, a, b, p });
            }
            _ => return Err("a selection of this type".to_string()),
        }
        Ok(())
    }

    pub(super) fn slct(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, a, b, c] = four(i)?;
        let kind = match i.form.types.get(1) {
            Some(Type::S32) => CompareAs::S32,
            Some(Type::F32) if i.form.ftz => CompareAs::F32Ftz,
            Some(Type::F32) => CompareAs::F32,
            _ => return Err("a selector of this type".to_string()),
        };
        let c = self.source32(c, false)?;
        let zero = self.constant32(0);
        let p = self.temp_p();
        self.emit(Op::Compare(CompareOp { kind, test: Test::Ge, d: p, a: c, b: zero }));
        self.select(i.form.ty(), d, a, b, p)
    }
}

/// The operands of an instruction that has two.
pub(super) fn two(i: &Instruction) -> Lowered<[&Operand; 2]> {
    operands(i)
}

/// The operands of an instruction that has three.
pub(super) fn three(i: &Instruction) -> Lowered<[&Operand; 3]> {
    operands(i)
}

/// The operands of an instruction that has four.
pub(super) fn four(i: &Instruction) -> Lowered<[&Operand; 4]> {
    operands(i)
}

/// Exactly `N` operands.
pub(super) fn operands<const N: usize>(i: &Instruction) -> Lowered<[&Operand; N]> {
    let all: Vec<&Operand> = i.operands.iter().collect();
    let count = all.len();
    all.try_into().map_err(|_| format!("it has {count} operands, where {N} are known"))
}

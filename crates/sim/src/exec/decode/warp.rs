//! Barriers, and operations among the lanes of a warp.

use dacapo_ptx::ir::{BoolOp, Instruction, Mode, Opcode, Operand, Reduce, Type};

use super::lower::{Lower, Lowered};
use super::moves::{three, two};
use crate::exec::op::{Barrier, BarrierKind, Col, Mma, NONE, Op, WarpKind, WarpOp};

impl Lower<'_> {
    pub(super) fn bar(&mut self, i: &Instruction) -> Lowered<()> {
        let form = &i.form;
        let (d, rest) = match (form.mode, &i.operands[..]) {
            (Some(Mode::Red), [d, rest @ ..]) => (Some(d), rest),
            (_, rest) => (None, rest),
        };
        let (rest, p) = match (d, rest) {
            (Some(_), [rest @ .., p]) => (rest, self.source_p(p)?),
            (_, rest) => (rest, NONE),
        };
        let (id, count) = match rest {
            [id] => (self.source32(id, false)?, NONE),
            [id, count] => (self.source32(id, false)?, self.source32(count, false)?),
            _ => return Err("this number of operands".to_string()),
        };
        let kind = match (form.mode, form.bool_op, form.reduce) {
            (Some(Mode::Sync) | None, ..) => BarrierKind::Sync,
            (Some(Mode::Arrive), ..) => BarrierKind::Arrive,
            (Some(Mode::Red), Some(BoolOp::And), _) | (Some(Mode::Red), _, Some(Reduce::And)) => BarrierKind::RedAnd,
            (Some(Mode::Red), Some(BoolOp::Or), _) | (Some(Mode::Red), _, Some(Reduce::Or)) => BarrierKind::RedOr,
            (Some(Mode::Red), _, Some(Reduce::Popc)) => BarrierKind::RedPopc,
            _ => return Err("a barrier of this kind".to_string()),
        };
        let d = match (kind, d) {
            (BarrierKind::RedPopc, Some(d)) => self.target32(d)?,
            (_, Some(d)) => self.target_p(d)?,
            (_, None) => NONE,
        };
        let index = self.code.barriers.len() as u32;
        self.code.barriers.push(Barrier { kind, aligned: form.aligned, id, count, p, d });
        self.emit(Op::Barrier(index));
        Ok(())
    }

    pub(super) fn warp_form(&mut self, i: &Instruction) -> Lowered<()> {
        let form = &i.form;
        let op = match form.opcode {
            Opcode::Activemask => {
                let [d] = super::moves::operands::<1>(i)?;
                let d = self.target32(d)?;
                self.emit(Op::ActiveMask { d });
                return Ok(());
            }
            Opcode::BarWarp => {
                let [members] = super::moves::operands::<1>(i)?;
                let members = self.source32(members, false)?;
                WarpOp { kind: WarpKind::Sync, d: NONE, p: NONE, a: NONE, b: NONE, c: NONE, members }
            }
            Opcode::Shfl => {
                let [d, a, b, c, members] = super::moves::operands::<5>(i)?;
                let kind = match form.mode {
                    Some(Mode::Up) => WarpKind::ShflUp,
                    Some(Mode::Down) => WarpKind::ShflDown,
                    Some(Mode::Bfly) => WarpKind::ShflBfly,
                    Some(Mode::Idx) => WarpKind::ShflIdx,
                    _ => return Err("no mode is named".to_string()),
                };
                let (d, p) = self.pair32(d)?;
                let [a, b, c, members] = self.all32([a, b, c, members])?;
                WarpOp { kind, d, p, a, b, c, members }
            }
            Opcode::Vote => {
                let [d, a, members] = three(i)?;
                let kind = match form.mode {
                    Some(Mode::All) => WarpKind::VoteAll,
                    Some(Mode::Any) => WarpKind::VoteAny,
                    Some(Mode::Uni) => WarpKind::VoteUni,
                    Some(Mode::Ballot) => WarpKind::Ballot,
                    _ => return Err("no mode is named".to_string()),
                };
                let d = if kind == WarpKind::Ballot { self.target32(d)? } else { self.target_p(d)? };
                let (a, members) = (self.source_p(a)?, self.source32(members, false)?);
                WarpOp { kind, d, p: NONE, a, b: NONE, c: NONE, members }
            }
            Opcode::Match => {
                let [d, a, members] = three(i)?;
                let wide = form.ty().bytes() == 8;
                let kind = match (form.mode, wide) {
                    (Some(Mode::Any), false) => WarpKind::MatchAny,
                    (Some(Mode::Any), true) => WarpKind::MatchAny64,
                    (Some(Mode::All), false) => WarpKind::MatchAll,
                    (Some(Mode::All), true) => WarpKind::MatchAll64,
                    _ => return Err("no mode is named".to_string()),
                };
                let (d, p) = self.pair32(d)?;
                let a = if wide { self.source64(a)? } else { self.source32(a, false)? };
                let members = self.source32(members, false)?;
                WarpOp { kind, d, p, a, b: NONE, c: NONE, members }
            }
            Opcode::Redux => self.redux(i)?,
            Opcode::Mma => self.mma(i)?,
            _ => {
                let [d, members] = two(i)?;
                let (d, p) = self.pair32(d)?;
                let members = self.source32(members, false)?;
                WarpOp { kind: WarpKind::Elect, d, p, a: NONE, b: NONE, c: NONE, members }
            }
        };
        let index = self.code.warp_ops.len() as u32;
        self.code.warp_ops.push(op);
        self.emit(Op::Warp(index));
        Ok(())
    }

    fn redux(&mut self, i: &Instruction) -> Lowered<WarpOp> {
        let form = &i.form;
        let [d, a, members] = three(i)?;
        let signed = form.ty() == Type::S32;
        if !matches!(form.ty(), Type::S32 | Type::U32 | Type::B32) || !form.rare.is_empty() || form.nan {
            return Err("a reduction of this type is not interpreted yet".to_string());
        }
        let reduce = form.reduce.or(form.bool_op.map(|b| match b {
            BoolOp::And => Reduce::And,
            BoolOp::Or => Reduce::Or,
            BoolOp::Xor => Reduce::Xor,
        }));
        let kind = match (reduce, signed) {
            (Some(Reduce::Add), _) => WarpKind::ReduxAdd,
            (Some(Reduce::And), _) => WarpKind::ReduxAnd,
            (Some(Reduce::Or), _) => WarpKind::ReduxOr,
            (Some(Reduce::Xor), _) => WarpKind::ReduxXor,
            (Some(Reduce::Min), true) => WarpKind::ReduxMinS,
            (Some(Reduce::Min), false) => WarpKind::ReduxMinU,
            (Some(Reduce::Max), true) => WarpKind::ReduxMaxS,
            (Some(Reduce::Max), false) => WarpKind::ReduxMaxU,
            _ => return Err("no operation is named".to_string()),
        };
        let d = self.target32(d)?;
        let [a, members] = self.all32([a, members])?;
        Ok(WarpOp { kind, d, p: NONE, a, b: NONE, c: NONE, members })
    }

    /// The one shape and types that [`matrix`](crate::exec::matrix) multiplies.
    fn mma(&mut self, i: &Instruction) -> Lowered<WarpOp> {
        let form = &i.form;
        // The row of this one has its shape in its pattern. All others keep theirs as text.
        if !form.rare.is_empty() {
            return Err("a product of this shape or of these types is not interpreted yet".to_string());
        }
        let [d, a, b, c] = super::moves::operands::<4>(i)?;
        let mma = Mma {
            d: self.fragment(d, true)?,
            a: self.fragment(a, false)?,
            b: self.fragment(b, false)?,
            c: self.fragment(c, false)?,
        };
        let index =
            Col::try_from(self.code.mmas.len()).map_err(|_| "there are too many of them in a kernel".to_string())?;
        self.code.mmas.push(mma);
        let members = self.constant32(u32::MAX);
        Ok(WarpOp { kind: WarpKind::Mma, d: NONE, p: NONE, a: index, b: NONE, c: NONE, members })
    }

    /// The 32-bit columns of a `{a, b, ..}`.
    fn fragment<const N: usize>(&mut self, operand: &Operand, target: bool) -> Lowered<[Col; N]> {
        let Operand::Vector(parts) = operand else { return Err("a fragment is a vector of registers".to_string()) };
        let mut cols = Vec::with_capacity(N);
        for part in parts {
            let part = part.as_ref().ok_or("a fragment has no sink")?;
            cols.push(if target { self.target32(part)? } else { self.source32(part, false)? });
        }
        cols.try_into().map_err(|_| "a fragment of another size".to_string())
    }

    /// A 32-bit target with an optional predicate behind `|`.
    fn pair32(&mut self, d: &Operand) -> Lowered<(Col, Col)> {
        match d {
            Operand::Pair(d, p) => {
                let d = match d {
                    Some(d) => self.target32(&Operand::Reg(*d))?,
                    None => self.temp32(),
                };
                let p = match p {
                    Some(p) => self.target_p(&Operand::Reg(*p))?,
                    None => NONE,
                };
                Ok((d, p))
            }
            d => Ok((self.target32(d)?, NONE)),
        }
    }

    fn all32<const N: usize>(&mut self, sources: [&Operand; N]) -> Lowered<[Col; N]> {
        let mut cols = [NONE; N];
        for (col, source) in cols.iter_mut().zip(sources) {
            *col = self.source32(source, false)?;
        }
        Ok(cols)
    }
}

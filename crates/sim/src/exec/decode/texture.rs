//! `tex`, `suld`, `sust`.

use dacapo_ptx::ir::{Instruction, Operand, Type};

use super::lower::{Lower, Lowered};
use super::memory::parts;
use crate::exec::op::{Col, NONE, Op, Outside, TexelKind, TexelOp, Value};

impl Lower<'_> {
    pub(super) fn tex(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, texel] = &i.operands[..] else { return Err("this number of operands".to_string()) };
        let float = i.form.types.get(1) == Some(&Type::F32);
        let values = self.targets(d, Type::B32)?;
        self.texel(i, TexelKind::Read { float }, texel, values, 4)
    }

    pub(super) fn suld(&mut self, i: &Instruction) -> Lowered<()> {
        let [d, texel] = &i.operands[..] else { return Err("this number of operands".to_string()) };
        let values = self.targets(d, i.form.ty())?;
        self.texel(i, TexelKind::Load(outside(i)?), texel, values, i.form.ty().bytes() as u8)
    }

    pub(super) fn sust(&mut self, i: &Instruction) -> Lowered<()> {
        let [texel, a] = &i.operands[..] else { return Err("this number of operands".to_string()) };
        let ty = i.form.ty();
        let mut values = Vec::new();
        for part in parts(a) {
            values.push(match part {
                Some(Operand::Reg(r)) => self.value(*r, ty)?,
                Some(other) if ty.bytes() == 8 => Value { col: self.source64(other)?, wide: true, short: false },
                Some(other) => Value { col: self.source32(other, false)?, wide: false, short: false },
                None => return Err("a sink cannot be stored".to_string()),
            });
        }
        self.texel(i, TexelKind::Store(outside(i)?), texel, values, ty.bytes() as u8)
    }

    fn targets(&mut self, d: &Operand, ty: Type) -> Lowered<Vec<Value>> {
        let one = |part| match part {
            None | Some(&Operand::Sink) => Ok(Value { col: NONE, wide: false, short: false }),
            Some(Operand::Reg(r)) => self.value(*r, ty),
            Some(_) => Err("a load into something that is no register".to_string()),
        };
        parts(d).into_iter().map(one).collect()
    }

    fn texel(
        &mut self,
        i: &Instruction,
        kind: TexelKind,
        texel: &Operand,
        values: Vec<Value>,
        bytes: u8,
    ) -> Lowered<()> {
        let Operand::Vector(parts) = texel else { return Err("the texture is not named by a register".to_string()) };
        let dimensions = match i.form.rare.first().map(String::as_str) {
            Some("1d") => 1,
            Some("2d") => 2,
            _ => 3,
        };
        // Three dimensions are written with a fourth coordinate that means nothing.
        if parts.len() != [2, 3, 5][dimensions - 1] {
            return Err(format!("{} coordinates for {dimensions} dimensions", parts.len() - 1));
        }
        let mut parts = parts.iter().flatten();
        let Some(handle) = parts.next() else { return Err("there is no texture".to_string()) };
        let handle = self.source64(handle)?;
        let mut at: [Col; 3] = [NONE; 3];
        for (column, part) in at[..dimensions].iter_mut().zip(parts) {
            *column = self.source32(part, false)?;
        }
        let index = self.code.texels.len() as u32;
        self.code.texels.push(TexelOp { kind, dimensions, handle, at, values, bytes });
        self.emit(Op::Texel(index));
        Ok(())
    }
}

/// What happens outside of the surface.
fn outside(i: &Instruction) -> Lowered<Outside> {
    match i.form.rare.get(1).map(String::as_str) {
        Some("trap") => Ok(Outside::Trap),
        Some("clamp") => Ok(Outside::Clamp),
        Some("zero") => Ok(Outside::Zero),
        _ => Err("what happens outside of the surface is not said".to_string()),
    }
}

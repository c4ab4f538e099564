//! `ld`, `st`, `atom`, `red`.

use dacapo_ptx::ir::{AddressBase, Instruction, Operand, Reduce, Space, Type};

use super::lower::{Class, Home, Lower, Lowered};
use crate::exec::op::{Address, At, Atomic, Const64, CopyAsync, LoadStore, NONE, Op, Rmw, Value};

impl Lower<'_> {
    pub(super) fn ld(&mut self, i: &Instruction) -> Lowered<()> {
        let (d, address) = match i.operands.as_slice() {
            [d, address, ..] => (d, address),
            _ => return Err("this number of operands".to_string()),
        };
        let ty = i.form.ty();
        let address = self.address(i.form.space, address)?;
        let mut values = Vec::new();
        for part in parts(d) {
            values.push(match part {
                None | Some(Operand::Sink) => Value { col: NONE, wide: false, short: false },
                Some(Operand::Reg(r)) => self.value(*r, ty)?,
                Some(_) => return Err("a load into something that is no register".to_string()),
            });
        }
        let copied = parts(d).into_iter().flatten().all(|part| match part {
            Operand::Reg(r) => self.only_stored(*r),
            _ => true,
        });
        if let Some(used) = i.used_bytes {
            return self.ld_used(i, used, address, &values, copied);
        }
        self.access(ty, address, values, false, copied)
    }

    pub(super) fn st(&mut self, i: &Instruction) -> Lowered<()> {
        let (address, a) = match i.operands.as_slice() {
            [address, a, ..] => (address, a),
            _ => return Err("this number of operands".to_string()),
        };
        let ty = i.form.ty();
        let address = self.address(i.form.space, address)?;
        let mut values = Vec::new();
        for part in parts(a) {
            values.push(match part {
                Some(Operand::Reg(r)) => self.value(*r, ty)?,
                Some(other) if ty.bytes() == 8 => Value { col: self.source64(other)?, wide: true, short: false },
                Some(other) => Value { col: self.source32(other, false)?, wide: false, short: false },
                None => return Err("a sink cannot be stored".to_string()),
            });
        }
        self.access(ty, address, values, true, false)
    }

    pub(super) fn value(&self, r: dacapo_ptx::ir::Reg, ty: Type) -> Lowered<Value> {
        let (class, col) = self.column(r)?;
        let value = match class {
            Class::Word { short } => Value { col, wide: false, short },
            Class::Wide => Value { col, wide: true, short: false },
            _ => return Err("a register of this size in a memory access".to_string()),
        };
        if ty.bytes() == 8 && !value.wide {
            return Err("a register narrower than the access".to_string());
        }
        Ok(value)
    }

    pub(super) fn access(
        &mut self,
        ty: Type,
        address: Address,
        values: Vec<Value>,
        store: bool,
        copied: bool,
    ) -> Lowered<()> {
        if ty.bytes() > 8 || ty == Type::Pred || !matches!(values.len(), 1 | 2 | 4 | 8) {
            return Err("an access of this size is not interpreted yet".to_string());
        }
        let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
        let index = self.code.accesses.len() as u32;
        let word = ty.bytes() == 4 && matches!(values[..], [Value { col, wide: false, .. }] if col != NONE);
        self.code.accesses.push(LoadStore { address, bytes: ty.bytes() as u8, signed, values, copied, word });
        self.emit(if store { Op::Store(index) } else { Op::Load(index) });
        Ok(())
    }

    fn address(&mut self, space: Space, operand: &Operand) -> Lowered<Address> {
        let Operand::Address { base, offset } = operand else {
            return Err("the address is not in brackets".to_string());
        };
        let at = match space {
            Space::Generic => At::Generic,
            Space::Global => At::Global,
            Space::Const => At::Const,
            Space::Shared => At::Shared,
            Space::Local => At::Local,
            Space::Param => At::Param,
            Space::SharedCluster => return Err("shared memory of other blocks is not interpreted yet".to_string()),
        };
        match base {
            AddressBase::Reg(r) => {
                if at == At::Param && !self.f.is_kernel {
                    return Err("a function's parameters at an address from a register".to_string());
                }
                let (class, base) = self.column(*r)?;
                let wide = match class {
                    Class::Wide => true,
                    Class::Word { short: false } => false,
                    _ => return Err("an address of this size".to_string()),
                };
                Ok(Address { at, base, wide, offset: *offset })
            }
            AddressBase::Absolute => Ok(Address { at, base: NONE, wide: true, offset: *offset }),
            AddressBase::Variable(variable) => Ok(match self.place(*variable)? {
                Home::Shared(o) => Address { at: At::Shared, base: NONE, wide: true, offset: i64::from(o) + offset },
                Home::Frame(o) => Address { at: At::Frame, base: NONE, wide: true, offset: i64::from(o) + offset },
                Home::KernelParam(o) => {
                    Address { at: At::Param, base: NONE, wide: true, offset: i64::from(o) + offset }
                }
                Home::Memory(index) => {
                    let base = self.constant64(Const64::Variable(index, 0));
                    let at = if at == At::Const { At::Const } else { At::Global };
                    Address { at, base, wide: true, offset: *offset }
                }
            }),
        }
    }

    pub(super) fn atom(&mut self, i: &Instruction, returns: bool) -> Lowered<()> {
        let operands = &i.operands[..];
        let (d, rest) = match operands {
            [d, rest @ ..] if returns => (Some(d), rest),
            rest => (None, rest),
        };
        let (address, a, b) = match rest {
            [address, a] => (address, a, None),
            [address, a, b] => (address, a, Some(b)),
            _ => return Err("this number of operands".to_string()),
        };
        if i.form.vector > 1 {
            return Err("atomics on vectors are not interpreted yet".to_string());
        }
        let ty = i.form.ty();
        let signed = matches!(ty, Type::S32 | Type::S64);
        let reduce = i.form.reduce.ok_or("no operation is named")?;
        let op = match (reduce, ty) {
            (Reduce::Add, Type::F32) => Rmw::AddF32,
            (Reduce::Add, Type::F64) => Rmw::AddF64,
            (Reduce::Add, Type::F16) => Rmw::AddF16,
            (Reduce::Add, Type::Bf16) => Rmw::AddBf16,
            (Reduce::Add, Type::F16x2) => Rmw::AddF16x2,
            (Reduce::Add, Type::Bf16x2) => Rmw::AddBf16x2,
            (_, Type::F32 | Type::F64 | Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => {
                return Err("this operation on floats is not interpreted yet".to_string());
            }
            (Reduce::Add, _) => Rmw::Add,
            (Reduce::And, _) => Rmw::And,
            (Reduce::Or, _) => Rmw::Or,
            (Reduce::Xor, _) => Rmw::Xor,
            (Reduce::Min, _) => {
                if signed {
                    Rmw::MinS
                } else {
                    Rmw::MinU
                }
            }
            (Reduce::Max, _) => {
                if signed {
                    Rmw::MaxS
                } else {
                    Rmw::MaxU
                }
            }
            (Reduce::Inc, _) => Rmw::Inc,
            (Reduce::Dec, _) => Rmw::Dec,
            (Reduce::Exch, _) => Rmw::Exchange,
            (Reduce::Cas, _) => Rmw::CompareExchange,
            (Reduce::Popc, _) => return Err("no such operation on memory".to_string()),
        };
        let bytes = ty.bytes() as u8;
        if !matches!(bytes, 2 | 4 | 8) {
            return Err("an atomic of this size is not interpreted yet".to_string());
        }
        let address = self.address(i.form.space, address)?;
        if matches!(address.at, At::Frame | At::Param | At::Local | At::Const) {
            return Err("an atomic in this space".to_string());
        }
        let wide = bytes == 8;
        let value = |this: &mut Self, o: &Operand| if wide { this.source64(o) } else { this.source32(o, bytes == 2) };
        let a = value(self, a)?;
        let b = match b {
            Some(b) => value(self, b)?,
            None if op == Rmw::CompareExchange => return Err("the new value is missing".to_string()),
            None => NONE,
        };
        let d = match d {
            Some(Operand::Sink) | None => NONE,
            Some(d) if wide => self.target64(d)?,
            Some(d) => self.target32(d)?,
        };
        let index = self.code.atomics.len() as u32;
        self.code.atomics.push(Atomic { address, op, bytes, d, a, b });
        self.emit(Op::Atomic(index));
        Ok(())
    }
}

impl Lower<'_> {
    pub(super) fn cp_async(&mut self, i: &Instruction) -> Lowered<()> {
        let has = |word: &str| i.form.rare.iter().any(|w| w == word);
        if has("commit_group") || has("wait_all") || has("wait_group") {
            // Copies are complete at once.
            self.emit(Op::Nothing);
            return Ok(());
        }
        let (target, source, size, count) = match &i.operands[..] {
            [target, source, size] => (target, source, size, None),
            [target, source, size, count] => (target, source, size, Some(count)),
            _ => return Err("this number of operands".to_string()),
        };
        if has("L2::cache_hint") {
            return Err("copies with a cache policy are not interpreted yet".to_string());
        }
        let &Operand::Imm(bytes @ (4 | 8 | 16)) = size else { return Err("a copy of this size".to_string()) };
        let target = self.address(Space::Shared, target)?;
        let source = self.address(Space::Global, source)?;
        let count = count.map_or(Ok(NONE), |count| self.source32(count, false))?;
        let index = self.code.copies.len() as u32;
        self.code.copies.push(CopyAsync { target, source, bytes: bytes as u8, count });
        self.emit(Op::CopyAsync(index));
        Ok(())
    }
}

/// The elements of a vector, or the one operand.
pub(super) fn parts(operand: &Operand) -> Vec<Option<&Operand>> {
    match operand {
        Operand::Vector(parts) => parts.iter().map(Option::as_ref).collect(),
        one => vec![Some(one)],
    }
}

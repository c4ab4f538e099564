//! What an instruction makes of the values it reads.
//!
//! Sums, differences, moves and choices keep what a value comes from. Everything else mixes its operands, so that what
//! comes out is known to depend on them. Only results too small to hold an address are plain numbers.

use super::value::{NUMBER, Value, Values};
use super::walk::{Here, Walk, is_float};
use crate::forms::{self, shape::OperandType, shape::Role};
use crate::ir::{Compare, Form, Half, Instruction, Opcode, Operand, Reg, Type};

/// Masks and moduli below this leave a number, and masks above its negative leave an address where it was.
const SMALL: i64 = 4096;

impl Walk<'_> {
    /// An instruction that touches no memory.
    pub(super) fn compute(&mut self, here: &mut Here<'_>, instruction: &Instruction) {
        let Some(shapes) = forms::operands_of(&instruction.form) else { return };
        let form = &instruction.form;
        let (mut targets, mut sources) = (Vec::new(), Vec::new());
        for (operand, shape) in instruction.operands.iter().zip(shapes) {
            match shape.role {
                Role::Dest => targets.push(operand),
                Role::Source => {
                    let ty = match shape.ty {
                        OperandType::Nth(nth) => form.types.get(nth).copied(),
                        OperandType::Fixed(ty) => Some(ty),
                        OperandType::Wide => None,
                    };
                    if let Some(ty) = ty {
                        self.used_as(here, operand, ty);
                    }
                    sources.push(self.operand(here, operand));
                }
                _ => {}
            }
        }
        self.used_as_number(here, form, &sources);
        let value = self.result(form, &sources);
        let value = if form.opcode == Opcode::Cvt { self.converted(form, value) } else { value };
        let mut defined: Vec<(Reg, Value)> = Vec::with_capacity(targets.len());
        for target in targets {
            match target {
                Operand::Reg(reg) => defined.push((*reg, value)),
                // The second register of a pair is a predicate.
                Operand::Pair(first, second) => {
                    defined.extend(first.map(|reg| (reg, value)));
                    defined.extend(second.map(|reg| (reg, NUMBER)));
                }
                Operand::Vector(parts) => {
                    let part = self.values.mixed(value);
                    defined.extend(parts.iter().flatten().filter_map(|operand| match operand {
                        Operand::Reg(reg) => Some((*reg, part)),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        self.define(here, instruction.guard.is_some(), &defined);
    }

    fn result(&mut self, form: &Form, sources: &[Value]) -> Value {
        use Opcode::*;
        let whole = !form.types.first().is_some_and(|ty| is_float(*ty));
        match (form.opcode, sources) {
            (Mov | Cvta | Cvt, [a, ..]) => *a,
            // The value of another lane is one that this register had there.
            (Shfl, [a, ..]) => *a,
            (Add, &[a, b]) if whole && !form.sat => self.total(form, a, b),
            (Sub, &[a, b]) if whole && !form.sat => {
                let b = self.values.negated(b);
                self.total(form, a, b)
            }
            (Mad, &[a, b, c]) if whole && !form.sat && form.half != Some(Half::Hi) => {
                let product = self.product(a, b);
                self.values.sum(product, c)
            }
            (Mul, &[a, b]) if whole && form.half != Some(Half::Hi) => self.product(a, b),
            (Shl, &[a, b]) => match self.values.known(b) {
                Some(bits) => self.values.scaled(a, bits.clamp(0, 64) as u8),
                None => self.mix(&[a, b]),
            },
            (Neg, &[a]) if whole => self.values.negated(a),
            (Selp | Slct, &[a, b, ..]) => self.values.join(a, b),
            (Min | Max, &[a, b]) if whole && !form.relu => self.values.join(a, b),
            (And, &[a, b]) => self.masked(a, b),
            // Compilers add with `or` where they know that no bit meets another; a small `xor` moves within a row.
            (Or | Xor, &[a, b]) => {
                let sum = self.values.sum(a, b);
                self.values.shifted(sum)
            }
            (Rem, &[_, b]) if whole && self.values.known(b).is_some_and(|b| (1..SMALL).contains(&b)) => NUMBER,
            (Bfe, &[_, _, len]) if self.values.known(len).is_some_and(|len| (0..=12).contains(&len)) => NUMBER,
            (Setp | Set | Testp | Popc | Clz | Bfind | Isspacep | Vote | Match | Activemask | Elect | Fns, _) => NUMBER,
            _ => self.mix(sources),
        }
    }

    /// Everything that went into it.
    fn mix(&mut self, sources: &[Value]) -> Value {
        let mut all = NUMBER;
        for &source in sources.iter().filter(|source| **source != NUMBER) {
            let source = self.values.mixed(source);
            all = self.values.sum(all, source);
        }
        all
    }

    /// A sum. A narrow one may overflow, and a carry adds one: then the constant in it is not known.
    fn total(&mut self, form: &Form, a: Value, b: Value) -> Value {
        let sum = self.values.sum(a, b);
        match (form.carry_in, form.ty().bytes() < 8) {
            (true, _) => self.values.moved(sum),
            (false, true) => self.values.shifted(sum),
            (false, false) => sum,
        }
    }

    /// A product, which is no sum of what goes into it.
    fn product(&mut self, a: Value, b: Value) -> Value {
        let by = |values: &Values, value| values.known(value).map(|by| by.trailing_zeros() as u8);
        match (by(&self.values, a), by(&self.values, b)) {
            (_, Some(by)) => self.values.scaled(a, by),
            (Some(by), None) => self.values.scaled(b, by),
            _ => self.mix(&[a, b]),
        }
    }

    fn masked(&mut self, a: Value, b: Value) -> Value {
        let (mask, other) = if self.values.known(a).is_some() { (a, b) } else { (b, a) };
        match self.values.known(mask) {
            Some(bits) if (0..SMALL).contains(&bits) => self.values.scaled(NUMBER, bits.trailing_zeros() as u8),
            Some(bits) if (-SMALL..0).contains(&bits) => self.values.moved(other),
            _ => self.mix(&[a, b]),
        }
    }

    /// A conversion keeps whole numbers that fit, and narrower ones are no longer what they were.
    fn converted(&mut self, form: &Form, value: Value) -> Value {
        let (&[to, from, ..], false) = (&form.types[..], form.sat) else { return self.values.mixed(value) };
        if is_float(to) || is_float(from) || to.bytes() < from.bytes() {
            return self.values.mixed(value);
        }
        if to.bytes() > from.bytes() { self.values.widened(value) } else { value }
    }

    /// Notes that a parameter is used as a floating-point number.
    pub(super) fn used_as(&mut self, here: &Here<'_>, operand: &Operand, ty: Type) {
        if !is_float(ty) {
            return;
        }
        let parts: &[Option<Operand>] = match operand {
            Operand::Vector(parts) => parts,
            _ => &[],
        };
        for operand in parts.iter().flatten().chain((parts.is_empty()).then_some(operand)) {
            let value = self.operand(here, operand);
            if let Some(index) = self.values.exact(value) {
                self.params[index as usize].float = true;
            }
        }
    }

    /// Notes that a parameter is used as a number.
    fn used_as_number(&mut self, here: &Here<'_>, form: &Form, sources: &[Value]) {
        use Opcode::*;
        // Before the last pass a value may still turn out to be more than it seems.
        if !self.telling {
            return;
        }
        let float = form.types.first().is_some_and(|ty| is_float(*ty));
        let looked_at: &[Value] = match (form.opcode, sources) {
            (Mov | Selp | Slct | Cvta | Isspacep | Shfl | And | Or | Xor | Not | Match, _) => &[],
            (Add | Sub | Min | Max | Neg | Abs, _) if !float => &[],
            (Mad, [a, b, ..]) if !float => return self.note_number(here, &[*a, *b]),
            (Shl | Shr, [a, ..]) => return self.note_number(here, &[*a]),
            (Cvt, _) if !form.types.iter().any(|ty| is_float(*ty)) => &[],
            // A size is held against a number; an address against an address or zero.
            (Setp | Set, &[a, b, ..]) if !float => {
                let ordered = !matches!(form.compare, Some(Compare::Eq | Compare::Ne) | None);
                let (a_free, b_free) = (self.values.is_number(a), self.values.is_number(b));
                match ordered {
                    true if b_free && self.values.known(b).is_none() => return self.note_number(here, &[a]),
                    true if a_free && self.values.known(a).is_none() => return self.note_number(here, &[b]),
                    _ => &[],
                }
            }
            (_, all) => all,
        };
        self.note_number(here, looked_at);
    }

    fn note_number(&mut self, here: &Here<'_>, values: &[Value]) {
        for &value in values {
            if let Some(index) = self.values.exact(value) {
                self.params[index as usize].number.get_or_insert(here.place);
            }
        }
    }
}

//! Loads of which the program uses some bytes only: `.pragma "used_bytes_mask N"` in front of them.
//!
//! Compilers widen a load so, and promise to look at the bytes in the mask alone. It becomes a check that the whole is
//! aligned, and one load for each piece that is used; so what is not used may lie behind the end of an array, and need
//! never have been written. The other bytes are what lies there, where something does, and else zero: a compiler copies the
//! padding of a struct through them.

use dacapo_ptx::ir::{Instruction, Type};

use super::lower::{Lower, Lowered};
use crate::exec::op::{Address, Col, Const64, Int, IntOp, LoadStore, MoveOp, NONE, Op, Value};

impl Lower<'_> {
    /// A load of the bytes in `used` alone into `values`.
    pub(super) fn ld_used(
        &mut self,
        i: &Instruction,
        used: u32,
        mut address: Address,
        values: &[Value],
        copied: bool,
    ) -> Lowered<()> {
        let bytes = i.form.ty().bytes();
        let overwritten = values.iter().any(|v| v.col == address.base && v.wide == address.wide);
        if address.base != NONE && overwritten {
            // The pieces behind the one that writes the register count from what was in it.
            let a = address.base;
            address.base = if address.wide { self.temp64() } else { self.temp32() };
            let d = address.base;
            self.emit_move(if address.wide { MoveOp::Mov64 { d, a } } else { MoveOp::Mov32 { d, a } });
        }
        self.emit_aligned(address, bytes, values.len());
        let whole = u32::MAX >> (32 - bytes);
        let mut at = 0;
        while let Some(&value) = values.get(at) {
            let mask = |k: usize| used >> (k as u32 * bytes) & whole;
            let here = Address { offset: address.offset + at as i64 * i64::from(bytes), ..address };
            if mask(at) == whole {
                // As many together as are aligned together: neighbours are one access in the detectors' eyes, too.
                let run = (at..values.len()).take_while(|&k| mask(k) == whole).count();
                let count = [8, 4, 2].into_iter().find(|n| run >= *n && at.is_multiple_of(*n)).unwrap_or(1);
                self.access(i.form.ty(), here, values[at..at + count].to_vec(), false, copied)?;
                at += count;
            } else {
                self.pieces(here, mask(at), value, bytes, copied)?;
                at += 1;
            }
        }
        Ok(())
    }

    /// One element of `bytes` of which those in `mask` are read, the others if they can be.
    fn pieces(&mut self, address: Address, mut mask: u32, value: Value, bytes: u32, copied: bool) -> Lowered<()> {
        if value.col == NONE {
            return Ok(());
        }
        let wide = value.wide;
        let Value { col: d, .. } = value;
        let zero = if wide { self.constant64(Const64::Value(0)) } else { self.constant32(0) };
        self.emit_move(if wide { MoveOp::Mov64 { d, a: zero } } else { MoveOp::Mov32 { d, a: zero } });
        let part = if wide { self.temp64() } else { self.temp32() };
        let unused = !mask & (u32::MAX >> (32 - bytes));
        for at in (0..bytes).filter(|at| unused >> at & 1 == 1) {
            self.emit_peek(Address { offset: address.offset + i64::from(at), ..address }, part, wide);
            self.put_byte(d, part, at, wide);
        }
        while mask != 0 {
            let from = mask.trailing_zeros();
            let fits =
                |n: u32| from.is_multiple_of(n) && (mask >> from) & (u32::MAX >> (32 - n)) == u32::MAX >> (32 - n);
            let (count, ty) = match (fits(4), fits(2)) {
                (true, _) => (4, Type::B32),
                (_, true) => (2, Type::B16),
                _ => (1, Type::B8),
            };
            let here = Address { offset: address.offset + i64::from(from), ..address };
            self.access(ty, here, vec![Value { col: part, wide, short: false }], false, copied)?;
            self.put_byte(d, part, from, wide);
            mask &= !((u32::MAX >> (32 - count)) << from);
        }
        Ok(())
    }

    /// Adds `part` to `d`, from byte `at` on.
    fn put_byte(&mut self, d: Col, part: Col, at: u32, wide: bool) {
        let by = self.constant32(at * 8);
        self.emit(Op::Int(IntOp { code: Int::Shl, wide, d: part, a: part, b: by, c: NONE, e: NONE }));
        self.emit(Op::Int(IntOp { code: Int::Or, wide, d, a: d, b: part, c: NONE, e: NONE }));
    }

    /// One byte that nobody relies on.
    fn emit_peek(&mut self, address: Address, col: Col, wide: bool) {
        let values = vec![Value { col, wide, short: false }];
        let index = self.code.accesses.len() as u32;
        self.code.accesses.push(LoadStore { address, bytes: 1, signed: false, values, copied: true, word: false });
        self.emit(Op::Peek(index));
    }

    /// The vector as a whole must be aligned, whatever of it is used.
    fn emit_aligned(&mut self, address: Address, bytes: u32, count: usize) {
        let values = vec![Value { col: NONE, wide: false, short: false }; count];
        let index = self.code.accesses.len() as u32;
        let (bytes, signed, copied, word) = (bytes as u8, false, false, false);
        self.code.accesses.push(LoadStore { address, bytes, signed, values, copied, word });
        self.emit(Op::Aligned(index));
    }
}

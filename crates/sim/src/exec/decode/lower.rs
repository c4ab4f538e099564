//! The state of lowering one function: columns, constants, labels, and operands as columns.

use std::collections::HashMap;

use dacapo_ptx::ir::{self, FunctionId, Instruction, Opcode, Operand, Reg, Space, Type, VariableRef};

use super::SharedLayout;
use crate::exec::machine::LOCAL_MAX;
use crate::exec::op::{Code, Col, Const64, Function, MoveOp, NONE, Op, Origin};
use crate::exec::report;

/// Columns of each kind that a single instruction may use in between.
const TEMPS: u32 = 24;

/// Why an instruction cannot be decoded, as the end of a sentence about it.
pub(super) type Lowered<T> = Result<T, String>;

/// What a register is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Pred,
    /// Up to 32 bits; `short` for 16 and 8.
    Word {
        short: bool,
    },
    Wide,
    /// 128 bits.
    Huge,
}

pub(super) fn class(ty: Type) -> Class {
    match ty {
        Type::Pred => Class::Pred,
        Type::B128 => Class::Huge,
        _ => match ty.bytes() {
            8 => Class::Wide,
            4 => Class::Word { short: false },
            _ => Class::Word { short: true },
        },
    }
}

/// One function on its way into records.
pub(super) struct Lower<'a> {
    pub(super) module: &'a ir::Module,
    pub(super) f: &'a ir::Function,
    pub(super) id: FunctionId,
    name: &'a str,
    shared: &'a SharedLayout,
    pub(super) numbers: &'a HashMap<u32, u32>,
    pub(super) code: &'a mut Code,
    out: Function,
    columns: Vec<(Class, Col)>,
    counts: [u32; 3],
    temps: [u32; 3],
    const32: HashMap<u32, Col>,
    const64: HashMap<Const64, Col>,
    frame: HashMap<VariableRef, (u32, u32)>,
    /// First record of each instruction of the body, and one behind the last.
    starts: Vec<u32>,
    /// (record, instruction of the body that it jumps to).
    pub(super) labels: Vec<(u32, u32)>,
    /// (table, entry, instruction).
    pub(super) table_labels: Vec<(u32, u32, u32)>,
    current: u32,
    /// Registers that are read, and only as the value of a store.
    stored: Vec<bool>,
}

impl<'a> Lower<'a> {
    pub(super) fn new(
        module: &'a ir::Module,
        id: FunctionId,
        name: &'a str,
        shared: &'a SharedLayout,
        numbers: &'a HashMap<u32, u32>,
        code: &'a mut Code,
    ) -> Lower<'a> {
        let f = &module.functions[id.0 as usize];
        let mut counts = [0u32; 3];
        let columns = f
            .registers
            .iter()
            .map(|r| {
                let class = class(r.ty);
                let kind = match class {
                    Class::Word { .. } => 0,
                    Class::Wide | Class::Huge => 1,
                    Class::Pred => 2,
                };
                let column = counts[kind];
                counts[kind] += 1;
                (class, column.min(u32::from(NONE)) as Col)
            })
            .collect();
        let mut this = Lower {
            module,
            f,
            id,
            name,
            shared,
            numbers,
            out: Function { source: id.0, entry: code.ops.len() as u32, ..Function::default() },
            code,
            columns,
            counts,
            temps: [0; 3],
            const32: HashMap::new(),
            const64: HashMap::new(),
            frame: HashMap::new(),
            starts: Vec::new(),
            labels: Vec::new(),
            table_labels: Vec::new(),
            current: 0,
            stored: only_stored(f),
        };
        this.lay_out_frame();
        this
    }

    /// Gives offsets to what lives in the frame's memory.
    fn lay_out_frame(&mut self) {
        let mut at = 0u32;
        let mut place = |v: &ir::Variable| {
            // Words of four bytes are the unit of frames, so that parameters are copied by the word.
            at = at.checked_next_multiple_of(v.align.max(4)).unwrap_or(u32::MAX);
            let size = u32::try_from(v.size).unwrap_or(u32::MAX);
            let here = (at, size);
            at = at.saturating_add(size);
            here
        };
        if !self.f.is_kernel {
            for (i, v) in self.f.params.iter().enumerate() {
                let here = place(v);
                self.out.params.push(here);
                self.frame.insert(VariableRef::Param(i as u32), here);
            }
            for (i, v) in self.f.returns.iter().enumerate() {
                let here = place(v);
                self.out.returns.push(here);
                self.frame.insert(VariableRef::Return(i as u32), here);
            }
        }
        for (i, v) in self.f.variables.iter().enumerate() {
            if matches!(v.space, Space::Local | Space::Param) {
                let here = place(v);
                self.frame.insert(VariableRef::Function(i as u32), here);
            }
        }
        self.out.frame_bytes = at.checked_next_multiple_of(16).unwrap_or(u32::MAX);
    }

    /// Lowers the whole body.
    pub(super) fn run(mut self) -> Function {
        let f = self.f;
        for (i, instruction) in f.body.iter().enumerate() {
            self.current = i as u32;
            self.starts.push(self.pc());
            self.temps = [0; 3];
            self.instruction(instruction);
        }
        self.starts.push(self.pc());
        self.current = f.body.len().saturating_sub(1) as u32;
        // Running off the end of a body returns, as `ret` does.
        self.emit(Op::Return);
        self.resolve_labels();
        self.finish()
    }

    fn resolve_labels(&mut self) {
        for &(pc, instruction) in &self.labels {
            let to = self.starts[(instruction as usize).min(self.starts.len() - 1)];
            match &mut self.code.ops[pc as usize] {
                Op::Jump { target } | Op::Branch { target, .. } => *target = to,
                _ => {}
            }
        }
        for &(table, entry, instruction) in &self.table_labels {
            let to = self.starts[(instruction as usize).min(self.starts.len() - 1)];
            self.code.tables[table as usize][entry as usize] = to;
        }
    }

    fn finish(mut self) -> Function {
        let [words, wides, preds] = self.counts;
        self.out.constants32_at = words + TEMPS;
        self.out.columns32 = words + TEMPS + self.out.constants32.len() as u32;
        self.out.constants64_at = wides + TEMPS;
        self.out.columns64 = wides + TEMPS + self.out.constants64.len() as u32;
        // One more: the carry flag.
        self.out.predicates = preds + TEMPS + 1;
        if self.out.columns32.max(self.out.columns64).max(self.out.predicates) >= u32::from(NONE) {
            let finding = report::too_many_registers(&self.f.name);
            let entry = self.out.entry as usize;
            let index = self.code.unsupported.len() as u32;
            self.code.unsupported.push(finding);
            self.code.ops[entry] = Op::Unsupported(index);
            // Nothing behind the first record runs, so columns out of reach are never looked at.
        }
        let bytes: u64 = self.f.variables.iter().filter(|v| v.space == Space::Local).map(|v| v.size).sum();
        if bytes > u64::from(LOCAL_MAX) || self.out.frame_bytes > LOCAL_MAX {
            let index = self.code.unsupported.len() as u32;
            self.code.unsupported.push(report::too_much_local(&self.f.name, bytes));
            self.code.ops[self.out.entry as usize] = Op::Unsupported(index);
            self.out.frame_bytes = 0;
        }
        self.out
    }

    fn instruction(&mut self, i: &Instruction) {
        let start = self.pc();
        let guard = match (&i.guard, i.form.opcode) {
            (Some(guard), opcode) if opcode != Opcode::Bra => {
                match self.column(guard.reg) {
                    Ok((Class::Pred, p)) => self.emit(Op::Guard { p, negated: guard.negated }),
                    _ => return self.refuse(start, i, "its guard is not a predicate"),
                }
                Some(*guard)
            }
            _ => None,
        };
        if let Err(why) = self.form(i) {
            return self.refuse(start, i, &why);
        }
        if let Some(guard) = guard {
            let end = self.pc();
            let simple = end == start + 2 && self.code.ops[start as usize + 1].is_simple();
            if !simple && let Op::Guard { p, .. } = self.code.ops[start as usize] {
                self.code.ops[start as usize] = Op::Branch { p, negated: !guard.negated, target: end, join: end };
            }
        }
    }

    fn refuse(&mut self, start: u32, i: &Instruction, why: &str) {
        self.code.ops.truncate(start as usize);
        self.code.origins.truncate(start as usize);
        self.labels.retain(|&(pc, _)| pc < start);
        let known = self.f.unsupported.iter().find(|u| u.span == i.span);
        let finding = report::unsupported(self.module, self.name, i, known, why);
        let index = self.code.unsupported.len() as u32;
        self.code.unsupported.push(finding);
        self.emit(Op::Unsupported(index));
    }

    /// The next record's number.
    pub(super) fn pc(&self) -> u32 {
        self.code.ops.len() as u32
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
        self.code.origins.push(Origin { function: self.id.0, instruction: self.current });
    }

    pub(super) fn emit_move(&mut self, op: MoveOp) {
        self.emit(Op::Move(op));
    }

    /// Is a register read only to be stored somewhere?
    pub(super) fn only_stored(&self, Reg(r): Reg) -> bool {
        self.stored.get(r as usize).copied().unwrap_or(false)
    }

    /// The class and the column of a register.
    pub(super) fn column(&self, Reg(r): Reg) -> Lowered<(Class, Col)> {
        self.columns.get(r as usize).copied().ok_or_else(|| "a register is not declared".to_string())
    }

    pub(super) fn temp32(&mut self) -> Col {
        self.temp(0)
    }

    pub(super) fn temp64(&mut self) -> Col {
        self.temp(1)
    }

    pub(super) fn temp_p(&mut self) -> Col {
        self.temp(2)
    }

    fn temp(&mut self, kind: usize) -> Col {
        let n = self.temps[kind];
        assert!(n < TEMPS, "one instruction needs fewer than {TEMPS} columns in between");
        self.temps[kind] += 1;
        (self.counts[kind] + n).min(u32::from(NONE)) as Col
    }

    /// The predicate column of the carry flag.
    pub(super) fn carry(&self) -> Col {
        (self.counts[2] + TEMPS).min(u32::from(NONE)) as Col
    }

    pub(super) fn constant32(&mut self, value: u32) -> Col {
        let next = self.counts[0] + TEMPS + self.out.constants32.len() as u32;
        *self.const32.entry(value).or_insert_with(|| {
            self.out.constants32.push(value);
            next.min(u32::from(NONE)) as Col
        })
    }

    pub(super) fn constant64(&mut self, value: Const64) -> Col {
        let next = self.counts[1] + TEMPS + self.out.constants64.len() as u32;
        *self.const64.entry(value).or_insert_with(|| {
            self.out.constants64.push(value);
            next.min(u32::from(NONE)) as Col
        })
    }

    /// A 32-bit column that holds the operand; `short` where the instruction reads 16 bits.
    pub(super) fn source32(&mut self, operand: &Operand, short: bool) -> Lowered<Col> {
        match operand {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Word { .. }, column) => Ok(column),
                _ => Err("an operand is not a 32-bit register".to_string()),
            },
            Operand::Imm(bits) => Ok(self.constant32(if short { *bits as u32 & 0xffff } else { *bits as u32 })),
            Operand::Special(special) => {
                let d = self.temp32();
                self.emit(Op::Special { d, which: *special });
                Ok(d)
            }
            Operand::Variable { variable, offset } => match self.place(*variable)? {
                Home::Shared(at) => Ok(self.constant32(at.wrapping_add(*offset as u32))),
                Home::KernelParam(at) => Ok(self.constant32(at.wrapping_add(*offset as u32))),
                Home::Frame(at) => {
                    let d = self.temp32();
                    self.emit(Op::FrameAddress { d, offset: at.wrapping_add(*offset as u32), wide: false });
                    Ok(d)
                }
                Home::Memory(_) => Err("the address of a global variable has 64 bits".to_string()),
            },
            _ => Err("an operand of this kind is not read here".to_string()),
        }
    }

    /// A 64-bit column that holds the operand.
    pub(super) fn source64(&mut self, operand: &Operand) -> Lowered<Col> {
        match operand {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Wide, column) => Ok(column),
                _ => Err("an operand is not a 64-bit register".to_string()),
            },
            Operand::Imm(bits) => Ok(self.constant64(Const64::Value(*bits))),
            Operand::Special(special) => {
                let d = self.temp64();
                if super::moves::is_wide(*special) {
                    self.emit(Op::Special { d, which: *special });
                } else {
                    let narrow = self.temp32();
                    self.emit(Op::Special { d: narrow, which: *special });
                    let zero = self.constant32(0);
                    self.emit_move(MoveOp::Pack64 { d, lo: narrow, hi: zero });
                }
                Ok(d)
            }
            Operand::Variable { variable, offset } => match self.place(*variable)? {
                Home::Shared(at) | Home::KernelParam(at) => {
                    Ok(self.constant64(Const64::Value(u64::from(at).wrapping_add_signed(*offset))))
                }
                Home::Frame(at) => {
                    let d = self.temp64();
                    self.emit(Op::FrameAddress { d, offset: at.wrapping_add(*offset as u32), wide: true });
                    Ok(d)
                }
                Home::Memory(index) => Ok(self.constant64(Const64::Variable(index, *offset))),
            },
            Operand::Function(FunctionId(f)) => Ok(self.constant64(Const64::Value(crate::exec::function_address(*f)))),
            _ => Err("an operand of this kind is not read here".to_string()),
        }
    }

    /// A predicate column that holds the operand.
    pub(super) fn source_p(&mut self, operand: &Operand) -> Lowered<Col> {
        match operand {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Pred, column) => Ok(column),
                _ => Err("an operand is not a predicate".to_string()),
            },
            Operand::NotReg(r) => match self.column(*r)? {
                (Class::Pred, a) => {
                    let d = self.temp_p();
                    self.emit_move(MoveOp::NotP { d, a });
                    Ok(d)
                }
                _ => Err("an operand is not a predicate".to_string()),
            },
            Operand::Imm(bits) => {
                let d = self.temp_p();
                self.emit_move(MoveOp::ConstP { d, value: *bits != 0 });
                Ok(d)
            }
            _ => Err("an operand of this kind is not a predicate".to_string()),
        }
    }

    /// The 32-bit column that is written; a sink gets one of its own.
    pub(super) fn target32(&mut self, operand: &Operand) -> Lowered<Col> {
        match operand {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Word { .. }, column) => Ok(column),
                _ => Err("the result is not a 32-bit register".to_string()),
            },
            Operand::Sink => Ok(self.temp32()),
            _ => Err("the result is not a register".to_string()),
        }
    }

    /// The 64-bit column that is written.
    pub(super) fn target64(&mut self, operand: &Operand) -> Lowered<Col> {
        match operand {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Wide, column) => Ok(column),
                _ => Err("the result is not a 64-bit register".to_string()),
            },
            Operand::Sink => Ok(self.temp64()),
            _ => Err("the result is not a register".to_string()),
        }
    }

    /// The predicate column that is written.
    pub(super) fn target_p(&mut self, operand: &Operand) -> Lowered<Col> {
        match operand {
            Operand::Reg(r) => match self.column(*r)? {
                (Class::Pred, column) => Ok(column),
                _ => Err("the result is not a predicate".to_string()),
            },
            Operand::Sink => Ok(self.temp_p()),
            _ => Err("the result is not a predicate".to_string()),
        }
    }

    /// Where a variable lives.
    pub(super) fn place(&self, variable: VariableRef) -> Lowered<Home> {
        let missing = || "a variable is not declared".to_string();
        if let Some(&(at, _)) = self.frame.get(&variable) {
            return Ok(Home::Frame(at));
        }
        match variable {
            VariableRef::Module(i) => {
                let v = self.module.variables.get(i as usize).ok_or_else(missing)?;
                match v.space {
                    Space::Shared => Ok(Home::Shared(self.shared.get(&(None, i)).copied().ok_or_else(missing)?)),
                    Space::Global | Space::Const => Ok(Home::Memory(i)),
                    _ => Err("a module variable of this space".to_string()),
                }
            }
            VariableRef::Function(i) => {
                let key = (Some(self.id.0), i);
                Ok(Home::Shared(
                    self.shared
                        .get(&key)
                        .copied()
                        .ok_or_else(|| "a variable inside a function that is neither shared nor local".to_string())?,
                ))
            }
            VariableRef::Param(i) => {
                let v = self.f.params.get(i as usize).ok_or_else(missing)?;
                Ok(Home::KernelParam(v.offset as u32))
            }
            VariableRef::Return(_) => Err(missing()),
        }
    }

    /// Offset and size in the frame's memory of a parameter variable.
    pub(super) fn frame_range(&self, operand: &Operand) -> Lowered<(u32, u32)> {
        match operand {
            Operand::Variable { variable, offset: 0 } => {
                self.frame.get(variable).copied().ok_or_else(|| "an argument is not a parameter variable".to_string())
            }
            _ => Err("an argument that is not a parameter variable".to_string()),
        }
    }
}

/// For each register: is it read, and only as the value of a store?
fn only_stored(f: &ir::Function) -> Vec<bool> {
    let mut stored = vec![false; f.registers.len()];
    let mut used = vec![false; f.registers.len()];
    fn each(operand: &Operand, seen: &mut impl FnMut(Reg)) {
        match operand {
            Operand::Reg(r) | Operand::NotReg(r) => seen(*r),
            Operand::Address { base: ir::AddressBase::Reg(r), .. } => seen(*r),
            Operand::Vector(parts) => parts.iter().flatten().for_each(|part| each(part, seen)),
            Operand::Call(call) => call.args.iter().for_each(|part| each(part, seen)),
            _ => {}
        }
    }
    for i in &f.body {
        let store = i.form.opcode == Opcode::St;
        // What stands first is written, except in a store, where it is the address.
        for (n, operand) in i.operands.iter().enumerate() {
            let target = match (store, n) {
                (true, 1..) => &mut stored,
                (true, 0) => &mut used,
                (false, 0) if i.form.opcode == Opcode::Sust => &mut used,
                (false, 0) if !matches!(operand, Operand::Address { .. } | Operand::Call(_)) => continue,
                _ => &mut used,
            };
            each(operand, &mut |Reg(r)| {
                if let Some(flag) = target.get_mut(r as usize) {
                    *flag = true;
                }
            });
        }
    }
    stored.iter().zip(used).map(|(&stored, used)| stored && !used).collect()
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Offset in shared memory.
    Shared(u32),
    /// Offset in the frame's memory.
    Frame(u32),
    /// Offset in the kernel's parameter block.
    KernelParam(u32),
    /// Number of a module variable in global or constant memory.
    Memory(u32),
}

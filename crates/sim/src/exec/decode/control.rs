//! Which instruction is lowered by whom; branches and calls.

use dacapo_ptx::ir::{self, CallTarget, Instruction, Mode, Opcode, Operand};

use super::lower::{Class, Lower, Lowered};
use crate::exec::op::{AT_RETURN, Call, Op, Target};

impl Lower<'_> {
    /// Lowers one instruction without its guard.
    pub(super) fn form(&mut self, i: &Instruction) -> Lowered<()> {
        match i.form.opcode {
            Opcode::Mov => self.mov(i),
            Opcode::Cvta => self.cvta(i),
            Opcode::Isspacep => self.isspacep(i),
            Opcode::Selp => self.selp(i),
            Opcode::Slct => self.slct(i),
            Opcode::Setp => self.setp(i),
            Opcode::Set => self.set(i),
            Opcode::Testp => self.testp(i),
            Opcode::Cvt => self.cvt(i),
            Opcode::Ld | Opcode::Ldu => self.ld(i),
            Opcode::St => self.st(i),
            Opcode::Atom => self.atom(i, true),
            Opcode::Red => self.atom(i, false),
            Opcode::CpAsync => self.cp_async(i),
            Opcode::Tex => self.tex(i),
            Opcode::Suld => self.suld(i),
            Opcode::Sust => self.sust(i),
            Opcode::Add | Opcode::Sub => self.add_sub(i),
            Opcode::Mul => self.mul(i),
            Opcode::Mad => self.mad(i),
            Opcode::Div | Opcode::Rem | Opcode::Min | Opcode::Max | Opcode::Sad => self.signed_form(i),
            Opcode::Neg | Opcode::Abs => self.neg_abs(i),
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Cnot => self.logic(i),
            Opcode::Shl | Opcode::Shr => self.shift(i),
            Opcode::Popc | Opcode::Clz | Opcode::Brev | Opcode::Bfind => self.bits(i),
            Opcode::Bfe => self.bfe(i),
            Opcode::Bfi => self.bfi(i),
            Opcode::Lop3 => self.lop3(i),
            Opcode::Shf => self.shf(i),
            Opcode::Prmt | Opcode::Fns | Opcode::Dp4a | Opcode::Dp2a | Opcode::Mul24 | Opcode::Mad24 | Opcode::Bmsk => {
                self.rare_form(i)
            }
            Opcode::Fma
            | Opcode::Rcp
            | Opcode::Sqrt
            | Opcode::Rsqrt
            | Opcode::Ex2
            | Opcode::Lg2
            | Opcode::Sin
            | Opcode::Cos
            | Opcode::Tanh
            | Opcode::Copysign => self.float_form(i),
            // One thread runs everything in order, so fences have nothing to add to values.
            Opcode::Griddepcontrol => {
                let waits = i.form.mode == Some(Mode::Wait);
                self.emit(if waits { Op::GridWait } else { Op::LaunchDependents });
                Ok(())
            }
            Opcode::Membar | Opcode::Fence | Opcode::Prefetch | Opcode::Nanosleep => self.alone(Op::Nothing),
            Opcode::Bra => self.bra(i),
            Opcode::Brx => self.brx(i),
            Opcode::Call => self.call(i),
            Opcode::Ret => self.alone(Op::Return),
            Opcode::Exit => self.alone(Op::Exit),
            Opcode::Trap | Opcode::Brkpt => self.alone(Op::Trap),
            Opcode::Bar => self.bar(i),
            Opcode::BarWarp
            | Opcode::Shfl
            | Opcode::Vote
            | Opcode::Match
            | Opcode::Redux
            | Opcode::Activemask
            | Opcode::Elect
            | Opcode::Mma => self.warp_form(i),
            Opcode::Unsupported | Opcode::BarrierCluster | Opcode::Ldmatrix | Opcode::Mapa | Opcode::Wmma => {
                Err("it is not interpreted yet".to_string())
            }
        }
    }

    fn bra(&mut self, i: &Instruction) -> Lowered<()> {
        let [Operand::Label(label)] = &i.operands[..] else { return Err("the target is not a label".to_string()) };
        let op = match &i.guard {
            None => Op::Jump { target: 0 },
            Some(guard) => match self.column(guard.reg)? {
                (Class::Pred, p) => Op::Branch { p, negated: guard.negated, target: 0, join: AT_RETURN },
                _ => return Err("its guard is not a predicate".to_string()),
            },
        };
        self.labels.push((self.pc(), *label));
        self.emit(op);
        Ok(())
    }

    fn brx(&mut self, i: &Instruction) -> Lowered<()> {
        let [index, Operand::Labels(labels)] = &i.operands[..] else {
            return Err("the targets are not a list of labels".to_string());
        };
        let index = self.source32(index, false)?;
        let table = self.code.tables.len() as u32;
        self.code.tables.push(vec![0; labels.len()]);
        self.table_labels.extend(labels.iter().enumerate().map(|(n, &label)| (table, n as u32, label)));
        self.emit(Op::Switch { index, table, join: AT_RETURN });
        Ok(())
    }

    /// An instruction that is one record, whatever its operands.
    fn alone(&mut self, op: Op) -> Lowered<()> {
        self.emit(op);
        Ok(())
    }

    fn call(&mut self, i: &Instruction) -> Lowered<()> {
        let [Operand::Call(call)] = &i.operands[..] else { return Err("the callee is missing".to_string()) };
        let args = call.args.iter().map(|a| self.frame_range(a)).collect::<Lowered<Vec<_>>>()?;
        let returns = call.returns.iter().map(|a| self.frame_range(a)).collect::<Lowered<Vec<_>>>()?;
        let target = match call.target {
            CallTarget::Direct(ir::FunctionId(f)) => {
                let callee = self.module.functions.get(f as usize).ok_or("the callee is not declared")?;
                match self.numbers.get(&f) {
                    Some(&number) if callee.has_body => {
                        if callee.params.len() != args.len() || callee.returns.len() != returns.len() {
                            return Err(format!("`{}` takes other parameters", callee.name));
                        }
                        Target::Function(number)
                    }
                    _ => match callee.name.as_str() {
                        "__assertfail" => Target::AssertFail,
                        "cudaGraphSetConditional" => Target::SetConditional,
                        "vprintf" => Target::Printf,
                        "malloc" => Target::Malloc,
                        "free" => Target::Free,
                        name => return Err(format!("the external function `{name}` is not interpreted yet")),
                    },
                }
            }
            CallTarget::Indirect(r, _) => match self.column(r)? {
                (Class::Wide, column) => Target::Indirect(column),
                _ => return Err("the callee's address is not a 64-bit register".to_string()),
            },
        };
        let index = self.code.calls.len() as u32;
        let join = self.pc() + 1;
        self.code.calls.push(Call { target, args, returns, join });
        self.emit(Op::Call(index));
        Ok(())
    }
}

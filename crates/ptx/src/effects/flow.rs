//! Which definitions of a register reach which block.
//!
//! Compilers give most registers one definition, and such a register has one value everywhere. Only the others are
//! followed from block to block. A definition under a guard does not end those before it.

use crate::forms::{self, shape::Role};
use crate::ir::{Function, Instruction, Opcode, Operand, Reg};

/// A run of instructions that is entered at its start only.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) reachable: bool,
    next: Vec<usize>,
    /// Bits of the definitions that reach its start.
    reaching: Vec<u64>,
}

/// The flow of one function, whatever it is called with.
pub(super) struct Flow {
    pub(super) blocks: Vec<Block>,
    /// How many values one call of it needs: one for each register and for each followed definition.
    pub(super) slots: usize,
    /// Its number among the registers with several definitions, by register.
    several: Vec<Option<u32>>,
    /// Register and slot of each followed definition.
    definitions: Vec<(u32, u32)>,
    /// The first followed definition that each instruction makes.
    first: Vec<u32>,
    count: usize,
}

/// The registers that an instruction writes.
pub(super) fn written(instruction: &Instruction, mut each: impl FnMut(Reg)) {
    let Some(shapes) = forms::operands_of(&instruction.form) else { return };
    for (operand, shape) in instruction.operands.iter().zip(shapes) {
        if shape.role != Role::Dest {
            continue;
        }
        match operand {
            Operand::Reg(reg) => each(*reg),
            Operand::Pair(a, b) => a.iter().chain(b).for_each(|reg| each(*reg)),
            Operand::Vector(parts) => parts.iter().flatten().for_each(|part| {
                if let Operand::Reg(reg) = part {
                    each(*reg);
                }
            }),
            _ => {}
        }
    }
}

impl Flow {
    pub(super) fn of(function: &Function) -> Flow {
        let registers = function.registers.len();
        let mut defined = vec![0u32; registers];
        for instruction in &function.body {
            written(instruction, |reg| defined[reg.0 as usize] += 1);
        }
        let mut count = 0;
        let several: Vec<Option<u32>> = defined
            .iter()
            .map(|&times| {
                (times > 1).then(|| {
                    count += 1;
                    count as u32 - 1
                })
            })
            .collect();
        let (mut definitions, mut first) = (Vec::new(), Vec::with_capacity(function.body.len()));
        for instruction in &function.body {
            first.push(definitions.len() as u32);
            written(instruction, |reg| {
                if let Some(number) = several[reg.0 as usize] {
                    definitions.push((number, (registers + definitions.len()) as u32));
                }
            });
        }
        let slots = registers + definitions.len();
        let mut flow = Flow { blocks: blocks(function), slots, several, definitions, first, count };
        flow.reach(function);
        flow
    }

    fn reach(&mut self, function: &Function) {
        let words = self.definitions.len().div_ceil(64);
        let mut of_register: Vec<Vec<u64>> = vec![vec![0; words]; self.count];
        for (at, &(number, _)) in self.definitions.iter().enumerate() {
            of_register[number as usize][at / 64] |= 1 << (at % 64);
        }
        for block in &mut self.blocks {
            block.reaching = vec![0; words];
        }
        let mut waiting = vec![0usize];
        if let Some(entry) = self.blocks.first_mut() {
            entry.reachable = true;
        }
        while let Some(at) = waiting.pop() {
            let Some(block) = self.blocks.get(at) else { continue };
            let mut out = block.reaching.clone();
            for index in block.start..block.end {
                let guarded = function.body[index].guard.is_some();
                let mut definition = self.first[index] as usize;
                written(&function.body[index], |reg| {
                    let Some(number) = self.several[reg.0 as usize] else { return };
                    if !guarded {
                        out.iter_mut().zip(&of_register[number as usize]).for_each(|(out, all)| *out &= !all);
                    }
                    out[definition / 64] |= 1 << (definition % 64);
                    definition += 1;
                });
            }
            for next in self.blocks[at].next.clone() {
                let next_block = &mut self.blocks[next];
                let mut changed = !std::mem::replace(&mut next_block.reachable, true);
                for (into, from) in next_block.reaching.iter_mut().zip(&out) {
                    changed |= *into | from != *into;
                    *into |= from;
                }
                if changed && !waiting.contains(&next) {
                    waiting.push(next);
                }
            }
        }
    }

    /// The registers' definitions at the start of a block.
    pub(super) fn enter(&self, block: &Block) -> Current {
        let mut slots = vec![Vec::new(); self.count];
        for (word, bits) in block.reaching.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let (number, slot) = self.definitions[word * 64 + bits.trailing_zeros() as usize];
                slots[number as usize].push(slot);
                bits &= bits - 1;
            }
        }
        Current { slots }
    }

    /// Where the value of a register stands here.
    pub(super) fn read<'c>(&self, current: &'c Current, reg: Reg) -> Read<'c> {
        match self.several[reg.0 as usize] {
            None => Read::One(reg.0),
            Some(number) => Read::Several(&current.slots[number as usize]),
        }
    }

    /// The slot of the `nth` register that the instruction writes, which from here on is what a reader finds.
    pub(super) fn write(&self, current: &mut Current, index: usize, guarded: bool, nth: &mut u32, reg: Reg) -> u32 {
        let Some(number) = self.several[reg.0 as usize] else { return reg.0 };
        let (_, slot) = self.definitions[(self.first[index] + *nth) as usize];
        *nth += 1;
        let slots = &mut current.slots[number as usize];
        if !guarded {
            slots.clear();
        }
        slots.push(slot);
        slot
    }
}

/// The definitions that reach one place.
pub(super) struct Current {
    slots: Vec<Vec<u32>>,
}

/// Where a register's value stands.
pub(super) enum Read<'c> {
    One(u32),
    Several(&'c [u32]),
}

fn blocks(function: &Function) -> Vec<Block> {
    let body = &function.body;
    let mut starts = vec![false; body.len() + 1];
    starts[0] = true;
    for (at, instruction) in body.iter().enumerate() {
        for operand in &instruction.operands {
            match operand {
                Operand::Label(label) => starts[*label as usize] = true,
                Operand::Labels(labels) => labels.iter().for_each(|label| starts[*label as usize] = true),
                _ => {}
            }
        }
        if ends(instruction) {
            starts[at + 1] = true;
        }
    }
    let begins: Vec<usize> = (0..body.len()).filter(|at| starts[*at]).collect();
    let block_at = |place: usize| begins.binary_search(&place).ok();
    let mut blocks = Vec::with_capacity(begins.len());
    for (number, &start) in begins.iter().enumerate() {
        let end = begins.get(number + 1).copied().unwrap_or(body.len());
        let last = &body[end - 1];
        let mut next = Vec::new();
        for operand in &last.operands {
            match operand {
                Operand::Label(label) => next.extend(block_at(*label as usize)),
                Operand::Labels(labels) => next.extend(labels.iter().filter_map(|label| block_at(*label as usize))),
                _ => {}
            }
        }
        if last.guard.is_some() || !ends(last) {
            next.extend(block_at(end));
        }
        blocks.push(Block { start, end, reachable: false, next, reaching: Vec::new() });
    }
    blocks
}

/// Whether control does not go on behind it, unless it is guarded.
fn ends(instruction: &Instruction) -> bool {
    matches!(instruction.form.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap)
}

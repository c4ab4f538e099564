//! How many registers a kernel needs: an estimate, since the assembler that decides it is not ours.
//!
//! The estimate is the largest number of 32-bit registers that hold a value which is still wanted, over all places
//! of the function, plus a few for addresses and the stack. The assembler reorders and spills, so its number differs;
//! what hangs on ours is how many threads of a block fit.

use dacapo_ptx::ir::{AddressBase, Function, Instruction, Opcode, Operand, Reg, Type};

/// What every kernel has besides its values.
const BASE: u32 = 8;
/// No thread has more.
const MOST: u32 = 255;

/// The estimate for one function.
pub(super) fn registers(f: &Function) -> u32 {
    let words = f.registers.len().div_ceil(64);
    let leaders = leaders(f);
    let mut live_in = vec![vec![0u64; words]; leaders.len()];
    // Backwards until nothing changes; loops need a second round, deep nests one more each.
    loop {
        let mut changed = false;
        for block in (0..leaders.len()).rev() {
            let live = walk(f, &leaders, block, &live_in, &mut |_| {});
            changed |= live != live_in[block];
            live_in[block] = live;
        }
        if !changed {
            break;
        }
    }
    let mut most = 0;
    for block in 0..leaders.len() {
        walk(f, &leaders, block, &live_in, &mut |live| most = most.max(size(f, live)));
    }
    (most + BASE).min(MOST)
}

/// The first instruction of each basic block.
fn leaders(f: &Function) -> Vec<usize> {
    let mut leaders = vec![0];
    for (at, instruction) in f.body.iter().enumerate() {
        for target in targets(instruction) {
            leaders.push(target);
        }
        if matches!(instruction.form.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit) {
            leaders.push(at + 1);
        }
    }
    leaders.retain(|at| *at < f.body.len());
    leaders.sort_unstable();
    leaders.dedup();
    leaders
}

fn targets(instruction: &Instruction) -> Vec<usize> {
    let mut targets = Vec::new();
    for operand in &instruction.operands {
        match operand {
            Operand::Label(at) => targets.push(*at as usize),
            Operand::Labels(all) => targets.extend(all.iter().map(|at| *at as usize)),
            _ => {}
        }
    }
    targets
}

/// Walks a block backwards; `see` is shown what is live at each place. The answer is what is live at its beginning.
fn walk(f: &Function, leaders: &[usize], block: usize, live_in: &[Vec<u64>], see: &mut impl FnMut(&[u64])) -> Vec<u64> {
    let (start, end) = (leaders[block], leaders.get(block + 1).copied().unwrap_or(f.body.len()));
    let mut live = vec![0u64; f.registers.len().div_ceil(64)];
    let mut join = |at: usize| {
        if let Ok(next) = leaders.binary_search(&at) {
            live.iter_mut().zip(&live_in[next]).for_each(|(live, more)| *live |= more);
        }
    };
    if let Some(last) = f.body[start..end].last() {
        targets(last).into_iter().for_each(&mut join);
        let leaves = matches!(last.form.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap);
        if !leaves || last.guard.is_some() {
            join(end);
        }
    }
    for instruction in f.body[start..end].iter().rev() {
        see(&live);
        let written = written(instruction);
        for operand in instruction.operands.iter().take(written) {
            // A guarded write keeps the old value for the lanes that do not write.
            each_register(operand, &mut |Reg(r)| {
                if instruction.guard.is_none() {
                    live[r as usize / 64] &= !(1 << (r % 64));
                }
            });
        }
        let mut read = |Reg(r): Reg| live[r as usize / 64] |= 1 << (r % 64);
        instruction.operands.iter().skip(written).for_each(|operand| each_register(operand, &mut read));
        if let Some(guard) = instruction.guard {
            read(guard.reg);
        }
    }
    see(&live);
    live
}

/// How many of the first operands are written.
fn written(instruction: &Instruction) -> usize {
    use Opcode::*;
    match instruction.form.opcode {
        St | Red | Bra | Brx | Call | Ret | Exit | Trap | Brkpt | Membar | Fence | Prefetch | Nanosleep | BarWarp
        | Sust => 0,
        Bar => usize::from(instruction.operands.len() > 2),
        _ => 1,
    }
}

fn each_register(operand: &Operand, see: &mut impl FnMut(Reg)) {
    match operand {
        Operand::Reg(reg) | Operand::NotReg(reg) | Operand::Address { base: AddressBase::Reg(reg), .. } => see(*reg),
        Operand::Vector(parts) => parts.iter().flatten().for_each(|part| each_register(part, see)),
        Operand::Pair(a, b) => a.iter().chain(b).for_each(|reg| see(*reg)),
        Operand::Call(call) => call.args.iter().for_each(|part| each_register(part, see)),
        _ => {}
    }
}

/// 32-bit registers for a set of live ones; predicates have registers of their own.
fn size(f: &Function, live: &[u64]) -> u32 {
    let mut total = 0;
    for (word, mut bits) in live.iter().copied().enumerate() {
        while bits != 0 {
            let at = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            total += match f.registers.get(at).map(|register| register.ty) {
                Some(Type::Pred) | None => 0,
                Some(ty) => ty.bytes().div_ceil(4),
            };
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(body: &str) -> u32 {
        let text = format!(".version 7.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p) {{ {body} }}");
        registers(&dacapo_ptx::parse(&text).expect("the text is good").functions[0])
    }

    #[test]
    fn values_that_are_still_wanted_count() {
        let chain =
            ".reg .b32 %r<9>; mov.u32 %r1, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; st.global.u32 [0], %r3; ret;";
        assert_eq!(estimate(chain), BASE + 1);
        let together = ".reg .b32 %r<9>; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; \
                        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [0], %r1; ret;";
        assert_eq!(estimate(together), BASE + 3);
    }

    #[test]
    fn a_value_lives_through_a_loop_that_reads_it_later() {
        let text = ".reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<2>; mov.u64 %rd1, 5; mov.u32 %r1, 0; \
                    L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; st.global.u64 [0], %rd1; ret;";
        assert_eq!(estimate(text), BASE + 3);
    }
}

//! Where the two sides of a branch meet again: the immediate post-dominator.
//!
//! For each function the records are cut into basic blocks; post-dominators are found by the iteration of Cooper,
//! Harvey and Kennedy on the reversed graph, with one virtual exit. A branch whose sides meet only at the exit gets
//! [`AT_RETURN`]. The blocks also say which records run one behind the other.

use super::lanes::steps::{self, Cols};
use super::op::{AT_RETURN, Code, Op, Plan};

/// Sets the `join` of every branch of `code`, and the plan of every record.
pub(super) fn set_joins(code: &mut Code) {
    code.plans =
        code.ops.iter().map(|op| Plan { straight: 0, step: steps::step(op), pair: 0, cols: Cols::of(op) }).collect();
    let ends: Vec<(u32, u32)> = (0..code.functions.len())
        .map(|i| {
            let end = code.functions.get(i + 1).map_or(code.ops.len() as u32, |next| next.entry);
            (code.functions[i].entry, end)
        })
        .collect();
    for (start, end) in ends {
        let blocks = Blocks::new(code, start, end);
        let joins = blocks.post_dominators();
        for (b, &at) in blocks.starts.iter().enumerate() {
            let last = blocks.starts.get(b + 1).copied().unwrap_or(end) - 1;
            debug_assert!(at <= last);
            let to = joins[b].map_or(AT_RETURN, |meet| blocks.starts[meet]);
            match &mut code.ops[last as usize] {
                Op::Branch { join, .. } | Op::Switch { join, .. } => *join = to,
                _ => {}
            }
            let mut straight = 0u16;
            for pc in (at..=last).rev() {
                straight = if code.ops[pc as usize].is_simple() { straight.saturating_add(1) } else { 0 };
                code.plans[pc as usize].straight = straight;
                if straight > 1 {
                    let [first, second] = [pc, pc + 1].map(|pc| &code.plans[pc as usize]);
                    code.plans[pc as usize].pair = steps::pair((first.step, first.cols), (second.step, second.cols));
                }
            }
        }
    }
}

/// The basic blocks of one function.
struct Blocks {
    /// First record of each.
    starts: Vec<u32>,
    /// Successors of each; the number of blocks stands for the exit.
    next: Vec<Vec<usize>>,
}

impl Blocks {
    fn new(code: &Code, start: u32, end: u32) -> Blocks {
        let mut leader = vec![false; (end - start) as usize + 1];
        leader[0] = true;
        let mut mark = |pc: u32| {
            if (start..end).contains(&pc) {
                leader[(pc - start) as usize] = true;
            }
        };
        for pc in start..end {
            match &code.ops[pc as usize] {
                Op::Jump { target } | Op::Branch { target, .. } => {
                    mark(*target);
                    mark(pc + 1);
                }
                Op::Switch { table, .. } => {
                    code.tables[*table as usize].iter().for_each(|&t| mark(t));
                    mark(pc + 1);
                }
                Op::Return | Op::Exit | Op::Trap | Op::Unsupported(_) => mark(pc + 1),
                _ => {}
            }
        }
        let starts: Vec<u32> = (start..end).filter(|pc| leader[(pc - start) as usize]).collect();
        let block_of = |pc: u32| starts.partition_point(|&s| s <= pc) - 1;
        let exit = starts.len();
        let next = starts
            .iter()
            .enumerate()
            .map(|(b, _)| {
                let last = starts.get(b + 1).copied().unwrap_or(end) - 1;
                let fall = if last + 1 < end { block_of(last + 1) } else { exit };
                let mut to = match &code.ops[last as usize] {
                    Op::Jump { target } => vec![block_of(*target)],
                    Op::Branch { target, .. } => vec![fall, block_of(*target)],
                    Op::Switch { table, .. } => code.tables[*table as usize].iter().map(|&t| block_of(t)).collect(),
                    Op::Return | Op::Exit | Op::Trap | Op::Unsupported(_) => vec![exit],
                    _ => vec![fall],
                };
                to.sort_unstable();
                to.dedup();
                to
            })
            .collect();
        Blocks { starts, next }
    }

    /// The immediate post-dominator of each block; `None` for the exit, and for blocks that never reach it.
    fn post_dominators(&self) -> Vec<Option<usize>> {
        let exit = self.starts.len();
        let mut before = vec![Vec::new(); exit + 1];
        for (b, next) in self.next.iter().enumerate() {
            for &n in next {
                before[n].push(b);
            }
        }
        // Post-order of the reversed graph from the exit.
        let mut order = Vec::new();
        let mut seen = vec![false; exit + 1];
        let mut stack = vec![(exit, 0)];
        seen[exit] = true;
        while let Some((b, child)) = stack.pop() {
            match before[b].get(child) {
                Some(&n) => {
                    stack.push((b, child + 1));
                    if !std::mem::replace(&mut seen[n], true) {
                        stack.push((n, 0));
                    }
                }
                None => order.push(b),
            }
        }
        let mut rank = vec![usize::MAX; exit + 1];
        for (i, &b) in order.iter().enumerate() {
            rank[b] = i;
        }
        let mut idom = vec![usize::MAX; exit + 1];
        idom[exit] = exit;
        let mut changed = true;
        while changed {
            changed = false;
            for &b in order.iter().rev().filter(|&&b| b != exit) {
                let mut meet = usize::MAX;
                for &n in &self.next[b] {
                    if idom[n] == usize::MAX {
                        continue;
                    }
                    meet = if meet == usize::MAX { n } else { intersect(&idom, &rank, meet, n) };
                }
                if meet != usize::MAX && idom[b] != meet {
                    idom[b] = meet;
                    changed = true;
                }
            }
        }
        (0..exit).map(|b| Some(idom[b]).filter(|&m| m != usize::MAX && m != exit)).collect()
    }
}

fn intersect(idom: &[usize], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while rank[a] < rank[b] {
            a = idom[a];
        }
        while rank[b] < rank[a] {
            b = idom[b];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joins(ops: Vec<Op>) -> Vec<u32> {
        let mut code = Code { ops, functions: vec![super::super::op::Function::default()], ..Code::default() };
        set_joins(&mut code);
        code.ops
            .iter()
            .filter_map(|op| match op {
                Op::Branch { join, .. } => Some(*join),
                _ => None,
            })
            .collect()
    }

    fn branch(target: u32) -> Op {
        Op::Branch { p: 0, negated: false, target, join: 0 }
    }

    #[test]
    fn if_else_meets_behind_both() {
        // 0: branch 3; 1: nothing; 2: jump 4; 3: nothing; 4: return
        assert_eq!(joins(vec![branch(3), Op::Nothing, Op::Jump { target: 4 }, Op::Nothing, Op::Return]), [4]);
    }

    #[test]
    fn a_loop_meets_at_its_exit() {
        // 0: nothing; 1: branch 0; 2: return
        assert_eq!(joins(vec![Op::Nothing, branch(0), Op::Return]), [2]);
    }

    #[test]
    fn two_returns_never_meet() {
        assert_eq!(joins(vec![branch(2), Op::Return, Op::Return]), [AT_RETURN]);
    }

    #[test]
    fn nested_branches_meet_inside_out() {
        // 0: branch 5; 1: branch 3; 2: nothing; 3: nothing; 4: jump 6; 5: nothing; 6: return
        let ops = vec![branch(5), branch(3), Op::Nothing, Op::Nothing, Op::Jump { target: 6 }, Op::Nothing, Op::Return];
        assert_eq!(joins(ops), [6, 3]);
    }

    #[test]
    fn an_endless_loop_has_no_meeting_place() {
        // 0: branch 2; 1: return; 2: jump 2
        assert_eq!(joins(vec![branch(2), Op::Return, Op::Jump { target: 2 }]), [1]);
    }
}

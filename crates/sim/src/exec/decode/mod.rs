//! Makes records of PTX: one kernel with every function that it can reach.
//!
//! - Registers get columns, immediates and addresses become constant columns, modifiers become codes.
//! - Static shared variables of the kernel and its functions are laid out one behind the other; what is declared
//!   `.extern .shared` starts behind them.
//! - Local arrays, and the parameters of calls, get offsets in the frame's memory.
//! - A guard on anything but a branch becomes a [`Op::Guard`] in front of a single record, or a branch around several.
//! - What is not understood becomes an [`Op::Unsupported`] with its finding; it ends the kernel only when reached.

mod arith;
mod compare;
mod control;
mod convert;
mod lower;
mod memory;
mod moves;
mod texture;
mod used_bytes;
mod warp;

use std::collections::HashMap;

use dacapo_ptx::ir::{self, CallTarget, FunctionId, Linkage, Operand, Space, VariableRef};

use super::op::{Code, Op};
use lower::Lower;

/// Decodes `kernel` of `module`; reports call the module `name`.
pub(super) fn decode(module: &ir::Module, kernel: FunctionId, name: &str) -> Code {
    let order = reachable(module, kernel);
    let numbers: HashMap<u32, u32> = order.iter().enumerate().map(|(i, f)| (f.0, i as u32)).collect();
    let (shared, static_shared, dynamic_shared_at) = shared_layout(module, &order);
    let mut code = Code { static_shared, dynamic_shared_at, ..Code::default() };
    for &id in &order {
        let name = module.text_of(id).unwrap_or(name);
        let function = Lower::new(module, id, name, &shared, &numbers, &mut code).run();
        code.functions.push(function);
    }
    super::flow::set_joins(&mut code);
    code.local_bytes = deepest(&code, 0, &mut vec![Depth::Unknown; code.functions.len()]);
    code
}

/// The kernel first, then all that it can call.
fn reachable(module: &ir::Module, kernel: FunctionId) -> Vec<FunctionId> {
    let mut order = vec![kernel];
    let mut known = std::collections::HashSet::from([kernel]);
    let mut at = 0;
    while let Some(&FunctionId(f)) = order.get(at) {
        at += 1;
        let Some(function) = module.functions.get(f as usize) else { continue };
        for instruction in &function.body {
            for operand in &instruction.operands {
                let Operand::Call(call) = operand else { continue };
                match call.target {
                    CallTarget::Direct(id) => {
                        if module.functions.get(id.0 as usize).is_some_and(|f| f.has_body) && known.insert(id) {
                            order.push(id);
                        }
                    }
                    // Any function may be meant.
                    CallTarget::Indirect(..) => {
                        for (i, f) in module.functions.iter().enumerate() {
                            let id = FunctionId(i as u32);
                            if f.has_body && !f.is_kernel && known.insert(id) {
                                order.push(id);
                            }
                        }
                    }
                }
            }
        }
    }
    order
}

/// The shared variable of `kernel` that byte `offset` lies in: its name, and the byte in it.
pub(super) fn shared_variable(module: &ir::Module, kernel: FunctionId, offset: u32) -> Option<(String, u32)> {
    let (layout, _, _) = shared_layout(module, &reachable(module, kernel));
    let nearest = layout.iter().filter(|(_, at)| **at <= offset).max_by_key(|(key, at)| (**at, **key))?;
    let (&(function, index), &at) = nearest;
    let variables = match function {
        Some(f) => &module.functions.get(f as usize)?.variables,
        None => &module.variables,
    };
    Some((variables.get(index as usize)?.name.clone(), offset - at))
}

/// Offsets of shared variables: `(None, i)` is module variable `i`, `(Some(f), i)` variable `i` of function `f`.
pub(super) type SharedLayout = HashMap<(Option<u32>, u32), u32>;

/// Also the bytes of the static ones, and where the dynamic memory begins behind them.
fn shared_layout(module: &ir::Module, order: &[FunctionId]) -> (SharedLayout, u32, u32) {
    let mut used = vec![false; module.variables.len()];
    for FunctionId(f) in order {
        for instruction in &module.functions[*f as usize].body {
            for operand in &instruction.operands {
                each_variable(operand, &mut |v| {
                    if let VariableRef::Module(i) = v
                        && let Some(flag) = used.get_mut(i as usize)
                    {
                        *flag = true;
                    }
                });
            }
        }
    }
    let mut all: Vec<((Option<u32>, u32), &ir::Variable)> = Vec::new();
    for (i, v) in module.variables.iter().enumerate() {
        if v.space == Space::Shared && used[i] {
            all.push(((None, i as u32), v));
        }
    }
    for FunctionId(f) in order {
        for (i, v) in module.functions[*f as usize].variables.iter().enumerate() {
            if v.space == Space::Shared {
                all.push(((Some(*f), i as u32), v));
            }
        }
    }
    let mut layout = SharedLayout::new();
    let mut at = 0u32;
    let dynamic = |v: &ir::Variable| v.linkage == Linkage::Extern && v.size == 0;
    for (key, v) in all.iter().filter(|(_, v)| !dynamic(v)) {
        at = at.checked_next_multiple_of(v.align.max(1)).unwrap_or(u32::MAX);
        layout.insert(*key, at);
        at = at.saturating_add(u32::try_from(v.size).unwrap_or(u32::MAX));
    }
    // All of them name the same memory, which begins where the one that is aligned most may begin.
    let align = all.iter().filter(|(_, v)| dynamic(v)).map(|(_, v)| v.align.max(1)).max().unwrap_or(1);
    let dynamic_at = at.checked_next_multiple_of(align).unwrap_or(u32::MAX);
    for (key, _) in all.iter().filter(|(_, v)| dynamic(v)) {
        layout.insert(*key, dynamic_at);
    }
    (layout, at, dynamic_at)
}

fn each_variable(operand: &Operand, f: &mut impl FnMut(VariableRef)) {
    match operand {
        Operand::Variable { variable, .. } => f(*variable),
        Operand::Address { base: ir::AddressBase::Variable(variable), .. } => f(*variable),
        Operand::Vector(parts) => parts.iter().flatten().for_each(|part| each_variable(part, f)),
        Operand::Call(call) => call.args.iter().chain(&call.returns).for_each(|part| each_variable(part, f)),
        _ => {}
    }
}

/// What is known of a function's frames.
#[derive(Clone, Copy)]
enum Depth {
    Unknown,
    /// On the chain of calls that is being followed.
    Open,
    Known(u32),
}

/// Bytes of frames along the deepest chain of direct calls from `function`; a recursive call counts nothing more.
fn deepest(code: &Code, function: u32, known: &mut [Depth]) -> u32 {
    // On a stack of our own: a chain of calls in a module may be longer than the host's stack is deep.
    let mut open: Vec<(u32, usize, u32)> = Vec::new();
    let begin = |function: u32| (function, code.functions[function as usize].entry as usize, 0);
    match known[function as usize] {
        Depth::Known(bytes) => return bytes,
        Depth::Open => return 0,
        Depth::Unknown => open.push(begin(function)),
    }
    known[function as usize] = Depth::Open;
    let mut answer = 0;
    while let Some((f, at, below)) = open.pop() {
        let end = code.functions.get(f as usize + 1).map_or(code.ops.len(), |next| next.entry as usize);
        let called = (at..end).find_map(|at| match code.ops[at] {
            Op::Call(call) => match code.calls[call as usize].target {
                super::op::Target::Function(callee) => Some((at, callee)),
                _ => None,
            },
            _ => None,
        });
        let Some((at, callee)) = called else {
            let bytes = code.functions[f as usize].frame_bytes.saturating_add(below);
            known[f as usize] = Depth::Known(bytes);
            answer = bytes;
            continue;
        };
        match known[callee as usize] {
            Depth::Known(bytes) => open.push((f, at + 1, below.max(bytes))),
            // A recursion: how deep it goes is known only when it runs.
            Depth::Open => open.push((f, at + 1, below)),
            Depth::Unknown => {
                known[callee as usize] = Depth::Open;
                open.push((f, at, below));
                open.push(begin(callee));
            }
        }
    }
    answer
}

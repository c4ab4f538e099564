//! The way through a kernel and the functions it calls, until nothing new is learned.
//!
//! Each call has a frame of its own, so one function called with two pointers is two functions here. Passes over the
//! whole text are repeated until no value changes. A register that nothing was ever stored to is a number then, and
//! the passes go on with that.

use std::collections::HashMap;
use std::rc::Rc;

use super::flow::{Block, Current, Flow, Read};
use super::memory::Objects;
use super::value::{ANYWHERE, Factor, NOTHING, NUMBER, Origin, Target, Term, Value, Values};
use super::{AccessKind, Base, Effects, MemoryOp, Opaque, ParamFacts, PtxPlace, Route};
use crate::ir::{
    Call, CallTarget, Function, FunctionId, Instruction, Module, Opcode, Operand, Reg, Space, Type, Variable,
    VariableRef,
};

/// More calls than this, one inside another or in all, are not followed.
const DEPTH_MAX: usize = 32;
const FRAMES_MAX: usize = 512;
/// A kernel that is not understood after so many passes is opaque. Real ones take two to five.
const PASSES_MAX: usize = 64;

pub(super) fn walk(module: &Module, entry: FunctionId) -> Effects {
    let Some(function) = module.functions.get(entry.0 as usize) else { return Effects::default() };
    if let Some(unsupported) = module.unsupported_in(entry).first() {
        let place = PtxPlace::new(unsupported.span, unsupported.loc);
        return opaque(unsupported.why.clone(), place);
    }
    if let Some(place) = through_textures(module, entry) {
        return opaque("it reads or writes through textures or surfaces, which is not followed".into(), place);
    }
    let mut walk = Walk {
        module,
        entry: entry.0 as usize,
        values: Values::new(),
        objects: Objects::default(),
        flows: HashMap::new(),
        frames: Vec::new(),
        params: vec![ParamFacts::default(); function.params.len()],
        accesses: Vec::new(),
        changed: false,
        settled: false,
        telling: false,
    };
    let frame = walk.frame(walk.entry, Vec::new(), Vec::new());
    for _ in 0..PASSES_MAX {
        walk.changed = false;
        walk.pass(frame, &mut Vec::new());
        if walk.changed || !walk.settled {
            // What was told on the way is told again: it was too early.
            walk.accesses.clear();
            walk.params.iter_mut().for_each(|facts| facts.number = None);
            walk.settled |= !walk.changed;
            walk.telling = walk.settled;
            continue;
        }
        walk.accesses.sort_by_key(|access| access.place);
        return Effects { opaque: None, params: walk.params, accesses: walk.accesses };
    }
    let why = format!("`{}` is too involved to be followed", function.name);
    opaque(why, PtxPlace::new(function.span, None))
}

/// Where some function of a module goes through a texture or a surface: what lies behind a handle is nowhere in the text.
fn through_textures(module: &Module, entry: FunctionId) -> Option<PtxPlace> {
    let is_texel = |i: &&Instruction| matches!(i.form.opcode, Opcode::Tex | Opcode::Suld | Opcode::Sust);
    let calls = |f: &Function| f.body.iter().any(|i| i.form.opcode == Opcode::Call);
    let function = module.functions.get(entry.0 as usize)?;
    let found = function.body.iter().find(is_texel).or_else(|| {
        let others = module.functions.iter().filter(|_| calls(function));
        others.filter(|f| !f.is_kernel).flat_map(|f| &f.body).find(is_texel)
    });
    found.map(|i| PtxPlace::new(i.span, i.loc))
}

fn opaque(why: String, place: PtxPlace) -> Effects {
    Effects { opaque: Some(Opaque { why, place }), ..Effects::default() }
}

/// One call of one function.
struct Frame {
    function: usize,
    /// By slot of the function's flow.
    values: Vec<Value>,
    /// Local variables and parameters of calls, by variable of the function.
    variables: Vec<Option<u32>>,
    /// Where the caller keeps what it passes and what it gets. Empty in the kernel itself.
    params: Vec<u32>,
    returns: Vec<u32>,
    /// The frame of each call, by instruction.
    calls: HashMap<usize, usize>,
}

pub(super) struct Walk<'m> {
    pub(super) module: &'m Module,
    entry: usize,
    pub(super) values: Values,
    objects: Objects,
    flows: HashMap<usize, Rc<Flow>>,
    frames: Vec<Frame>,
    pub(super) params: Vec<ParamFacts>,
    accesses: Vec<MemoryOp>,
    changed: bool,
    /// Whether what has no value by now is a number.
    settled: bool,
    /// Whether this may be the last pass, which tells what it sees.
    pub(super) telling: bool,
}

/// Where in which frame the walk is.
pub(super) struct Here<'f> {
    frame: usize,
    function: &'f Function,
    flow: Rc<Flow>,
    current: Current,
    index: usize,
    pub(super) place: PtxPlace,
}

impl<'m> Walk<'m> {
    fn frame(&mut self, function: usize, params: Vec<u32>, returns: Vec<u32>) -> usize {
        let text = &self.module.functions[function];
        let flow = self.flows.entry(function).or_insert_with(|| Rc::new(Flow::of(text)));
        let values = vec![NOTHING; flow.slots];
        let objects = &mut self.objects;
        let object = |variable: &Variable| (variable.space != Space::Shared).then(|| objects.add());
        let variables = text.variables.iter().map(object).collect();
        self.frames.push(Frame { function, values, variables, params, returns, calls: HashMap::new() });
        self.frames.len() - 1
    }

    /// Once through the text of a frame. `above` are the functions that led here.
    fn pass(&mut self, frame: usize, above: &mut Vec<usize>) {
        let number = self.frames[frame].function;
        let function = &self.module.functions[number];
        let flow = self.flows[&number].clone();
        above.push(number);
        for block in flow.blocks.iter().filter(|block| block.reachable) {
            self.block(frame, function, &flow, block, above);
        }
        above.pop();
    }

    fn block(&mut self, frame: usize, function: &'m Function, flow: &Rc<Flow>, block: &Block, above: &mut Vec<usize>) {
        let (flow, current) = (flow.clone(), flow.enter(block));
        let mut here = Here { frame, function, flow, current, index: block.start, place: PtxPlace::default() };
        for index in block.start..block.end {
            let instruction = &function.body[index];
            here.index = index;
            here.place = PtxPlace::new(instruction.span, instruction.loc);
            match instruction.form.opcode {
                Opcode::Call => {
                    if let Some(Operand::Call(call)) = instruction.operands.first() {
                        self.call(&here, call, above);
                    }
                }
                Opcode::Ld | Opcode::Ldu => self.load(&mut here, instruction),
                Opcode::St => self.store(&here, instruction),
                Opcode::Atom | Opcode::Red => self.atomic(&mut here, instruction),
                _ => self.compute(&mut here, instruction),
            }
        }
    }

    // ---- registers

    pub(super) fn register(&mut self, here: &Here<'_>, reg: Reg) -> Value {
        if here.function.registers[reg.0 as usize].ty == Type::Pred {
            return NUMBER;
        }
        let slots = &self.frames[here.frame].values;
        let value = match here.flow.read(&here.current, reg) {
            Read::One(slot) => slots[slot as usize],
            Read::Several(several) => {
                let mut joined = NOTHING;
                for &slot in several {
                    joined = self.values.join(joined, slots[slot as usize]);
                }
                joined
            }
        };
        if value == NOTHING && self.settled { NUMBER } else { value }
    }

    /// Gives registers of one instruction their values, in the order in which it names them.
    pub(super) fn define(&mut self, here: &mut Here<'_>, guarded: bool, defined: &[(Reg, Value)]) {
        let mut nth = 0;
        for &(reg, value) in defined {
            let slot = here.flow.write(&mut here.current, here.index, guarded, &mut nth, reg);
            let place = &mut self.frames[here.frame].values[slot as usize];
            let joined = self.values.join(*place, value);
            self.changed |= std::mem::replace(place, joined) != joined;
        }
    }

    pub(super) fn operand(&mut self, here: &Here<'_>, operand: &Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.register(here, *reg),
            Operand::Imm(bits) => self.values.constant(*bits as i64),
            Operand::Variable { variable, offset } => self.variable(here, *variable, *offset),
            Operand::Address { base, offset } => {
                let base = match base {
                    crate::ir::AddressBase::Reg(reg) => self.register(here, *reg),
                    crate::ir::AddressBase::Variable(variable) => self.variable(here, *variable, 0),
                    crate::ir::AddressBase::Absolute => self.values.constant(0),
                };
                let offset = self.values.constant(*offset);
                self.values.sum(base, offset)
            }
            Operand::Function(_) => self.values.of(Origin::Unknown, Factor::Once, None),
            Operand::Vector(parts) => {
                let mut all = NUMBER;
                for part in parts.iter().flatten() {
                    let part = self.operand(here, part);
                    all = self.values.sum(all, part);
                }
                self.values.mixed(all)
            }
            _ => NUMBER,
        }
    }

    /// The address of a variable.
    fn variable(&mut self, here: &Here<'_>, variable: VariableRef, offset: i64) -> Value {
        let frame = &self.frames[here.frame];
        let is_entry = here.frame == 0;
        let origin = match variable {
            VariableRef::Module(index) => match self.module.variables[index as usize].space {
                Space::Global | Space::Const => Origin::Global(index),
                _ => Origin::Shared,
            },
            VariableRef::Function(index) => frame.variables[index as usize].map_or(Origin::Shared, Origin::Object),
            VariableRef::Param(index) if is_entry => Origin::Block(index),
            VariableRef::Param(index) => {
                frame.params.get(index as usize).map_or(Origin::Unknown, |o| Origin::Object(*o))
            }
            VariableRef::Return(index) => {
                frame.returns.get(index as usize).map_or(Origin::Unknown, |o| Origin::Object(*o))
            }
        };
        self.values.of(origin, Factor::Once, Some(offset))
    }

    // ---- memory

    fn load(&mut self, here: &mut Here<'_>, instruction: &Instruction) {
        let [target, address, ..] = &instruction.operands[..] else { return };
        let (form, place) = (&instruction.form, self.operand(here, address));
        self.tell(here, instruction, AccessKind::Read, place);
        let bytes = form.ty().bytes();
        let targets: Vec<Option<Reg>> = match target {
            Operand::Reg(reg) => vec![Some(*reg)],
            Operand::Vector(parts) => {
                let reg = |part: &Option<Operand>| match part {
                    Some(Operand::Reg(reg)) => Some(*reg),
                    _ => None,
                };
                parts.iter().map(reg).collect()
            }
            _ => Vec::new(),
        };
        let mut defined = Vec::with_capacity(targets.len());
        for (lane, reg) in targets.into_iter().enumerate() {
            let Some(reg) = reg else { continue };
            let mut value = self.loaded(place, form.space, lane as i64 * i64::from(bytes), form.ty());
            // A register that is wider than what is loaded holds a number made of it.
            if here.function.registers[reg.0 as usize].ty.bytes() > bytes {
                value = self.values.widened(value);
            }
            defined.push((reg, value));
        }
        self.define(here, instruction.guard.is_some(), &defined);
    }

    /// What a load at `place` plus `offset` gives.
    fn loaded(&mut self, place: Value, space: Space, offset: i64, ty: Type) -> Value {
        let bytes = ty.bytes();
        let memory = if bytes == 8 { Factor::Once } else { Factor::Mixed };
        let mut loaded = NOTHING;
        for term in self.values.terms(place).to_vec() {
            let value = match (term.target(), space) {
                (Target::Of(Origin::Object(object), at), Space::Local | Space::Param | Space::Generic) => {
                    let at = at.and_then(|at| at.checked_add(offset));
                    self.objects.load(&mut self.values, object, at, bytes)
                }
                (Target::Of(Origin::Block(index), at), Space::Param | Space::Generic) => {
                    self.field(index, at.and_then(|at| at.checked_add(offset)), ty)
                }
                (Target::Several, _) | (_, Space::Local | Space::Param) => self.any_own(),
                _ => self.values.of(Origin::Memory(term.leads_through()), memory, None),
            };
            loaded = self.values.join(loaded, value);
        }
        loaded
    }

    /// What a load from one of the kernel's variables or parameters gives, whichever it is.
    fn any_own(&mut self) -> Value {
        let mut loaded = self.objects.load_any(&mut self.values);
        for index in 0..self.params.len() as u32 {
            let param = self.values.of(Origin::Param(index, ANYWHERE), Factor::Mixed, None);
            loaded = self.values.join(loaded, param);
        }
        loaded
    }

    /// The bytes of a parameter of the kernel.
    fn field(&mut self, index: u32, offset: Option<i64>, ty: Type) -> Value {
        let facts = &mut self.params[index as usize];
        facts.float |= is_float(ty);
        let size = self.module.functions[self.entry].params[index as usize].size;
        let inside = offset.and_then(|offset| u32::try_from(offset).ok()).filter(|offset| u64::from(*offset) < size);
        // Half an address is told as the address, mixed in.
        let whole = ty.bytes() == 8 || u64::from(ty.bytes()) == size;
        match (inside, whole) {
            (Some(offset), true) => self.values.of(Origin::Param(index, offset), Factor::Once, Some(0)),
            (Some(offset), false) => self.values.of(Origin::Param(index, offset & !7), Factor::Mixed, None),
            (None, true) => self.values.of(Origin::Param(index, ANYWHERE), Factor::Once, None),
            (None, false) => self.values.of(Origin::Param(index, ANYWHERE), Factor::Mixed, None),
        }
    }

    fn store(&mut self, here: &Here<'_>, instruction: &Instruction) {
        let [address, source, ..] = &instruction.operands[..] else { return };
        let (form, place) = (&instruction.form, self.operand(here, address));
        self.tell(here, instruction, AccessKind::Write, place);
        self.used_as(here, source, form.ty());
        let bytes = form.ty().bytes();
        let parts: Vec<Option<&Operand>> = match source {
            Operand::Vector(parts) => parts.iter().map(Option::as_ref).collect(),
            other => vec![Some(other)],
        };
        for (lane, part) in parts.into_iter().enumerate() {
            let Some(part) = part else { continue };
            let mut value = self.operand(here, part);
            if let Operand::Reg(reg) = part
                && here.function.registers[reg.0 as usize].ty.bytes() > bytes
            {
                value = self.values.mixed(value);
            }
            self.stored(here, place, form.space, lane as i64 * i64::from(bytes), bytes, value);
        }
    }

    fn stored(&mut self, here: &Here<'_>, place: Value, space: Space, offset: i64, bytes: u32, value: Value) {
        for term in self.values.terms(place).to_vec() {
            match (term.target(), space) {
                (Target::Of(Origin::Object(object), at), Space::Local | Space::Param | Space::Generic) => {
                    let at = at.and_then(|at| at.checked_add(offset));
                    self.changed |= self.objects.store(&mut self.values, object, at, bytes, value);
                    if self.objects.is_escaped(object) {
                        self.escape(here.place, value);
                    }
                }
                (Target::Several, _) | (_, Space::Local | Space::Param) => {
                    self.changed |= self.objects.lose(&mut self.values, value);
                    self.escape(here.place, value);
                }
                _ => self.escape(here.place, value),
            }
        }
    }

    fn atomic(&mut self, here: &mut Here<'_>, instruction: &Instruction) {
        let returns = instruction.form.opcode == Opcode::Atom;
        let (target, rest) = match &instruction.operands[..] {
            [target, rest @ ..] if returns => (Some(target), rest),
            rest => (None, rest),
        };
        let [address, sources @ ..] = rest else { return };
        let (form, place) = (&instruction.form, self.operand(here, address));
        self.tell(here, instruction, AccessKind::Atomic, place);
        for source in sources {
            self.used_as(here, source, form.ty());
            let value = self.operand(here, source);
            self.stored(here, place, form.space, 0, form.ty().bytes(), value);
        }
        if let Some(Operand::Reg(reg)) = target {
            let value = self.loaded(place, form.space, 0, form.ty());
            self.define(here, instruction.guard.is_some(), &[(*reg, value)]);
        }
    }

    /// What goes where it cannot be followed.
    fn escape(&mut self, place: PtxPlace, value: Value) {
        for term in self.values.terms(value).to_vec() {
            for (origin, _) in term.parts {
                match origin {
                    // Who has the address of a parameter has the parameter.
                    Origin::Param(index, _) | Origin::Block(index) => {
                        let known = &mut self.params[index as usize].escapes;
                        self.changed |= known.is_none();
                        known.get_or_insert(place);
                    }
                    Origin::Object(object) => {
                        for inside in self.objects.escape(object).into_iter().flatten() {
                            self.changed = true;
                            self.escape(place, inside);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Lists an access.
    fn tell(&mut self, here: &Here<'_>, instruction: &Instruction, kind: AccessKind, place: Value) {
        let form = &instruction.form;
        if !self.telling || !matches!(form.space, Space::Global | Space::Generic) {
            return;
        }
        let routes: Vec<Route> = self.values.terms(place).iter().map(route).collect();
        if routes.iter().any(tells) {
            let (ty, vector) = (form.ty(), form.vector);
            self.accesses.push(MemoryOp { kind, ty, vector, place: here.place, routes });
        }
    }

    // ---- calls

    fn call(&mut self, here: &Here<'_>, call: &Call, above: &mut Vec<usize>) {
        let objects = |walk: &Walk<'_>, operands: &[Operand]| -> Option<Vec<u32>> {
            let object = |operand: &Operand| match operand {
                Operand::Variable { variable: VariableRef::Function(index), .. } => {
                    walk.frames[here.frame].variables[*index as usize]
                }
                Operand::Variable { variable: VariableRef::Param(index), .. } if here.frame != 0 => {
                    walk.frames[here.frame].params.get(*index as usize).copied()
                }
                _ => None,
            };
            operands.iter().map(object).collect()
        };
        let (args, returns) = (objects(self, &call.args), objects(self, &call.returns));
        let target = match call.target {
            CallTarget::Direct(id) => Some(id.0 as usize),
            CallTarget::Indirect(..) => None,
        };
        if let (Some(target), Some(args), Some(returns)) = (target, &args, &returns)
            && let Some(function) = self.module.functions.get(target)
            && function.has_body
            && (function.params.len(), function.returns.len()) == (args.len(), returns.len())
            && !above.contains(&target)
            && above.len() < DEPTH_MAX
        {
            let known = self.frames[here.frame].calls.get(&here.index).copied();
            let callee = known.or_else(|| {
                (self.frames.len() < FRAMES_MAX).then(|| {
                    let callee = self.frame(target, args.clone(), returns.clone());
                    self.frames[here.frame].calls.insert(here.index, callee);
                    callee
                })
            });
            if let Some(callee) = callee {
                return self.pass(callee, above);
            }
        }
        let name = target.and_then(|target| self.module.functions.get(target)).map(|function| function.name.as_str());
        // These read what they are given, and keep nothing.
        let harmless = matches!(name, Some("vprintf" | "__assertfail"));
        for operand in &call.args {
            // What lies in the argument is passed, not its address.
            let Some(object) = objects(self, std::slice::from_ref(operand)).and_then(|one| one.first().copied()) else {
                let value = self.operand(here, operand);
                self.escape(here.place, value);
                continue;
            };
            let passed = self.objects.load(&mut self.values, object, None, 8);
            if !harmless {
                self.escape(here.place, passed);
            }
        }
        let unknown = self.values.of(Origin::Unknown, Factor::Once, None);
        let Some(returns) = returns else {
            self.changed |= self.objects.lose(&mut self.values, unknown);
            return;
        };
        for object in returns {
            self.changed |= self.objects.store(&mut self.values, object, None, 8, unknown);
        }
    }
}

fn route(term: &Term) -> Route {
    let mut route = Route { multiple: 1 << term.align, ..Route::default() };
    for &(origin, factor) in &term.parts {
        let base = match origin {
            Origin::Param(index, offset) => Base::Param { index, offset: (offset != ANYWHERE).then_some(offset) },
            Origin::Global(index) => Base::Global(index),
            Origin::Block(_) | Origin::Object(_) | Origin::Shared => Base::Own,
            Origin::Memory(through) => Base::Memory { through: (through != ANYWHERE).then_some(through) },
            Origin::Unknown => Base::Unknown,
        };
        if factor == Factor::Once { &mut route.bases } else { &mut route.mixed }.push(base);
    }
    route
}

/// Whether a route is worth telling: the kernel's own memory, reached by nothing else, is not.
fn tells(route: &Route) -> bool {
    route.bases != [Base::Own] || route.mixed.iter().any(|base| matches!(base, Base::Param { .. }))
}

pub(super) fn is_float(ty: Type) -> bool {
    use Type::*;
    matches!(ty, F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | F32 | F64)
}

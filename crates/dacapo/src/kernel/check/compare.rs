//! One declaration against one kernel.
//!
//! An access is judged by the ways in which its address may have come about (its routes), each by what is *declared*:
//!
//! | in the sum | is |
//! |---|---|
//! | one declared pointer, and numbers | an access through that pointer |
//! | no declared pointer, and a declared value once | a value used as an address |
//! | a global of the module, and numbers | an access to that global |
//! | what was loaded from memory, and numbers | an address out of memory |
//! | two declared pointers, or one that was taken apart | not decided, for all of them |
//!
//! A declaration is refused where every route of an access contradicts it. So what is refused is false whichever way
//! the kernel takes that comes to it, and what is merely possible is not decided.

use std::collections::BTreeMap;

use dacapo_ptx::effects::{AccessKind, Base, Effects, MemoryOp, ParamFacts, PtxPlace, Route, effects};
use dacapo_ptx::ir::{Function, FunctionId, Module, Type, Variable};

use super::facts::{CheckedKernel, CheckedParam, Found, Warning, WarningKind};
use super::words::Words;
use crate::error::FalseDeclaration;
use crate::kernel::declare::{Class, KernelDecl, Param, PointerMode};

/// What is known of one declared pointer.
#[derive(Clone, Default)]
struct Pointer {
    read: bool,
    written: bool,
    atomic: bool,
    bytes: Option<(u32, u32)>,
    /// What every offset from it is known to be a multiple of.
    multiple: Option<u32>,
    not_decided: Option<String>,
}

/// What a route is, by the declaration.
enum Judged {
    Through(usize),
    Value(usize),
    Global(u32),
    Memory,
    Own,
    Ambiguous(Vec<usize>),
}

pub(super) fn compare(text: Result<&Module, &str>, decl: &KernelDecl) -> (CheckedKernel, Vec<FalseDeclaration>) {
    let blank = CheckedKernel { name: decl.name.into(), entry: decl.entry.into(), ..CheckedKernel::default() };
    let undecided = |why: String| {
        let params = decl.params.iter().map(|param| told(param, not_decided(param, &why))).collect();
        (CheckedKernel { params, not_decided: Some(why.clone()), ..blank.clone() }, Vec::new())
    };
    let module = match text {
        Ok(module) => module,
        Err(why) => return undecided(why.to_string()),
    };
    let mut functions = module.functions.iter().enumerate();
    let is_it = |function: &Function| function.is_kernel && function.has_body && function.name == decl.entry;
    let Some((id, function)) = functions.find(|(_, function)| is_it(function)) else {
        return undecided("the text has no such entry point".into());
    };
    if function.params.len() != decl.params.len() {
        return undecided("the text has other parameters".into());
    }
    let found = effects(module, FunctionId(id as u32));
    let words = Words { module, decl };
    let mut comparison = Comparison {
        decl,
        module,
        function,
        found: &found,
        words: &words,
        pointers: vec![Pointer::default(); decl.params.len()],
        lies: Vec::new(),
        warnings: Vec::new(),
    };
    comparison.types();
    match &found.opaque {
        Some(opaque) => {
            let (kernel, _) = undecided(words.opaque(opaque));
            (kernel, comparison.lies)
        }
        None => {
            comparison.memory();
            comparison.pointers();
            let Comparison { pointers, lies, warnings, .. } = comparison;
            let params = decl.params.iter().zip(pointers).map(|(param, pointer)| told(param, verdict(param, pointer)));
            (CheckedKernel { params: params.collect(), warnings, ..blank }, lies)
        }
    }
}

fn told(param: &Param, found: Found) -> CheckedParam {
    CheckedParam { name: param.name.into(), declared: param.written(), found }
}

fn not_decided(param: &Param, why: &str) -> Found {
    match (param.unchecked, param.mode) {
        (true, _) => Found::Unchecked,
        (false, None) => Found::Value,
        (false, Some(_)) => Found::NotDecided { why: why.into() },
    }
}

fn verdict(param: &Param, pointer: Pointer) -> Found {
    let Pointer { read, written, atomic, bytes, not_decided, .. } = pointer;
    let (bytes_min, bytes_max) = bytes.unwrap_or_default();
    match (param.unchecked, param.mode, not_decided) {
        (true, ..) => Found::Unchecked,
        (false, None, _) => Found::Value,
        (false, Some(_), Some(why)) => Found::NotDecided { why },
        (false, Some(_), None) => Found::Memory { read, written, atomic, bytes_min, bytes_max },
    }
}

struct Comparison<'c> {
    decl: &'c KernelDecl,
    module: &'c Module,
    function: &'c Function,
    found: &'c Effects,
    words: &'c Words<'c>,
    pointers: Vec<Pointer>,
    lies: Vec<FalseDeclaration>,
    warnings: Vec<Warning>,
}

impl Comparison<'_> {
    fn is_pointer(&self, index: usize) -> bool {
        self.decl.params[index].mode.is_some()
    }

    /// The types that the text writes in the list of parameters.
    fn types(&mut self) {
        for (index, (param, variable)) in self.decl.params.iter().zip(&self.function.params).enumerate() {
            if param.unchecked || variable.size != u64::from(variable.ty.bytes()) {
                continue;
            }
            let float = matches!(variable.ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64);
            let whole = is_whole(variable);
            // A float may be handed over in the bits of an integer; then something loads or uses it as a float.
            let used_as_float = self.found.params.get(index).is_none_or(|facts| facts.float);
            let class = (param.plain)().class;
            if float && (param.mode.is_some() || class == Class::Whole) {
                self.lies.push(self.words.float_declared_otherwise(param, variable));
            } else if whole && param.mode.is_none() && class == Class::Float && !used_as_float {
                self.lies.push(self.words.whole_declared_as_float(param, variable));
            }
        }
    }

    /// Every access.
    fn memory(&mut self) {
        let numbers = self.numbers();
        let (mut stored, mut addresses) = (BTreeMap::new(), BTreeMap::new());
        let (mut globals, mut from_memory) = (BTreeMap::new(), None);
        for access in &self.found.accesses {
            let judged: Vec<Judged> = access.routes.iter().map(|route| self.judge(route, &numbers)).collect();
            let writes = access.kind != AccessKind::Read;
            let is_lie = |judged: &Judged| match judged {
                Judged::Through(index) => writes && self.is_read_only(*index),
                Judged::Value(index) => !self.decl.params[*index].unchecked,
                Judged::Global(index) => writes && self.is_undeclared(*index),
                _ => false,
            };
            let certain = judged.iter().all(is_lie);
            for (one, route) in judged.iter().zip(&access.routes) {
                match one {
                    Judged::Through(index) => {
                        note(&mut self.pointers[*index], access, route);
                        if writes && self.is_read_only(*index) {
                            match certain {
                                true => drop(stored.entry(*index).or_insert(access)),
                                false => {
                                    self.undecided(*index, "written, or something else in its place", access.place)
                                }
                            }
                        }
                    }
                    Judged::Value(index) if certain => {
                        let (first, written) = addresses.entry(*index).or_insert((access, false));
                        *written |= writes;
                        // The first access that writes says best what it would have to be.
                        if writes && first.kind == AccessKind::Read {
                            *first = access;
                        }
                    }
                    Judged::Global(index) if certain => drop(globals.entry(*index).or_insert(access)),
                    Judged::Memory if !self.is_told(route) => drop(from_memory.get_or_insert((access, route))),
                    Judged::Ambiguous(params) => {
                        for index in params {
                            self.undecided(*index, "part of an address that has more to it", access.place);
                        }
                    }
                    _ => {}
                }
            }
        }
        let words = self.words;
        self.lies.extend(stored.iter().map(|(index, access)| words.stored(&self.decl.params[*index], access)));
        // That it is an address says more than that its type is another.
        let is_address = |name: &str| addresses.keys().any(|index: &usize| self.decl.params[*index].name == name);
        self.lies.retain(|lie| !is_address(&lie.param));
        self.lies.extend(
            addresses
                .iter()
                .map(|(index, (access, written))| words.value_as_address(&self.decl.params[*index], access, *written)),
        );
        self.lies.extend(globals.iter().map(|(index, access)| words.global(*index, access)));
        for index in numbers {
            if !self.decl.params[index].unchecked
                && let Some(place) = self.found.params[index].number
            {
                self.lies.push(words.pointer_as_number(&self.decl.params[index], &self.function.params[index], place));
            }
        }
        if let Some((access, route)) = from_memory {
            self.warnings.push(words.out_of_memory(access, route));
        }
    }

    /// Declared pointers that are nothing but numbers: no address counts from them or is made of them alone, and
    /// something is done with them that is not done with an address.
    fn numbers(&self) -> Vec<usize> {
        let is_number = |index: &usize| {
            let facts: &ParamFacts = &self.found.params[*index];
            let is_it = |base: &Base| matches!(base, Base::Param { index: of, .. } if *of as usize == *index);
            // Put together of its parts, with nothing but offsets beside it, it is an address too.
            let stands_alone = |route: &Route| {
                let has_another = route.bases.iter().any(|base| !self.is_value(base));
                route.bases.iter().any(is_it) || (!has_another && route.mixed.iter().any(is_it))
            };
            facts.number.is_some()
                && facts.escapes.is_none()
                && !self.found.accesses.iter().any(|access| access.routes.iter().any(stands_alone))
        };
        (0..self.decl.params.len()).filter(|index| self.is_pointer(*index)).filter(is_number).collect()
    }

    fn judge(&self, route: &Route, numbers: &[usize]) -> Judged {
        let pointer = |base: &Base| match base {
            Base::Param { index, .. } => {
                Some(*index as usize).filter(|index| self.is_pointer(*index) && !numbers.contains(index))
            }
            _ => None,
        };
        let pointers: Vec<usize> = route.bases.iter().chain(&route.mixed).filter_map(pointer).collect();
        let once = route.bases.iter().filter_map(pointer).count();
        let has = |wanted: fn(&Base) -> bool| route.bases.iter().any(wanted);
        let elsewhere = has(|base| matches!(base, Base::Global(_) | Base::Own | Base::Unknown));
        match pointers[..] {
            [index] if once == 1 && !elsewhere => return Judged::Through(index),
            [] => {}
            _ => return Judged::Ambiguous(pointers),
        }
        let mut globals = route.bases.iter().filter_map(|base| match base {
            Base::Global(index) => Some(*index),
            _ => None,
        });
        match (globals.next(), globals.next()) {
            (Some(index), None) if !has(|base| matches!(base, Base::Own | Base::Unknown)) => Judged::Global(index),
            _ if has(|base| matches!(base, Base::Own)) => Judged::Own,
            _ if elsewhere || has(|base| matches!(base, Base::Memory { .. })) => Judged::Memory,
            _ => match route.bases.first() {
                // Beside an address that was put together of parts, a value is an offset.
                Some(Base::Param { index, .. }) if route.mixed.iter().all(|base| self.is_value(base)) => {
                    Judged::Value(*index as usize)
                }
                // An address of nothing but numbers leads nowhere that is known.
                _ => Judged::Memory,
            },
        }
    }

    /// Whether it is a parameter that is declared as a value.
    fn is_value(&self, base: &Base) -> bool {
        matches!(base, Base::Param { index, .. } if !self.is_pointer(*index as usize))
    }

    fn is_read_only(&self, index: usize) -> bool {
        let param = &self.decl.params[index];
        param.mode == Some(PointerMode::Read) && !param.unchecked
    }

    /// Whether an address came out of memory of parameters whose declaration says that they are not checked.
    fn is_told(&self, route: &Route) -> bool {
        let told = |base: &Base| match base {
            Base::Memory { through: Some(index) } => self.decl.params[*index as usize].unchecked,
            Base::Param { .. } => true,
            _ => false,
        };
        !route.bases.is_empty() && route.bases.iter().all(told)
    }

    fn is_undeclared(&self, global: u32) -> bool {
        !self.decl.state.contains(&self.module.variables[global as usize].name.as_str())
    }

    fn undecided(&mut self, index: usize, what: &str, place: PtxPlace) {
        let why = self.words.at(what, place);
        self.pointers[index].not_decided.get_or_insert(why);
    }

    /// What is left to say of each pointer, once all accesses are known.
    fn pointers(&mut self) {
        for (index, param) in self.decl.params.iter().enumerate() {
            let (Some(mode), false) = (param.mode, param.unchecked) else { continue };
            if let Some(place) = self.found.params[index].escapes {
                self.undecided(index, "stored, or passed where it cannot be followed", place);
            }
            let pointer = &self.pointers[index];
            let named = |lie: &FalseDeclaration| lie.param == param.name;
            if pointer.not_decided.is_some() || self.lies.iter().any(named) {
                continue;
            }
            let plain = (param.plain)();
            let kind = match (mode, pointer.bytes) {
                (PointerMode::Write | PointerMode::Out, _) if !pointer.written => WarningKind::NeverWritten,
                (PointerMode::Read, _) if !pointer.read => WarningKind::NeverRead,
                // A compiler loads a part of each element where it needs no more; then the offsets are still those of
                // elements.
                (_, Some((_, max)))
                    if plain.class != Class::Other
                        && (max as usize) < plain.bytes
                        && pointer.multiple.is_some_and(|multiple| (multiple as usize) < plain.bytes) =>
                {
                    WarningKind::Narrow
                }
                _ => continue,
            };
            let used = pointer.bytes.map(|bytes| bytes.1);
            self.warnings.push(self.words.warning(kind, param, used));
        }
    }
}

fn is_whole(variable: &Variable) -> bool {
    use Type::*;
    matches!(variable.ty, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
}

fn note(pointer: &mut Pointer, access: &MemoryOp, route: &Route) {
    let bytes = access.bytes();
    pointer.read |= access.kind != AccessKind::Write;
    pointer.written |= access.kind != AccessKind::Read;
    pointer.atomic |= access.kind == AccessKind::Atomic;
    let (min, max) = pointer.bytes.unwrap_or((bytes, bytes));
    pointer.bytes = Some((min.min(bytes), max.max(bytes)));
    pointer.multiple = Some(pointer.multiple.unwrap_or(u32::MAX).min(route.multiple));
}

//! Operands: names to registers, variables and labels, each checked against what its row takes.

use super::function::Body;
use super::names::Found;
use super::special::{is_known_elsewhere, special};
use super::symbols::Symbol;
use super::types::{constant_bits, register_fits};
use crate::error::{Error, ErrorKind};
use crate::forms::shape::{self, OperandType, Role, widened};
use crate::forms::{operands_of, word_of_type};
use crate::ir::{AddressBase, Form, Operand, Reg, Span, Special, Type};
use crate::parse::tree::{Const, InstructionTree, OperandKind, OperandTree};

/// Why an operand could not be resolved.
pub(super) enum Trouble {
    /// An error has been reported.
    Reported,
    /// The text may be right; we do not know enough. The sentence says what.
    Unsupported(String),
}

impl<'t> Body<'t, '_> {
    /// All operands of an instruction, against the row of its form.
    pub(super) fn operands(
        &mut self,
        form: &Form,
        tree: &InstructionTree<'t>,
        operands: &[OperandTree<'t>],
    ) -> Result<Vec<Operand>, Trouble> {
        let specs = operands_of(form).unwrap_or(&[]);
        let required = specs.iter().filter(|spec| !spec.optional).count();
        if operands.len() < required || operands.len() > specs.len() {
            let expected =
                if required == specs.len() { required.to_string() } else { format!("{required} to {}", specs.len()) };
            let message = format!("`{}` takes {expected} operands, not {}", tree.opcode, operands.len());
            return Err(self.report(ErrorKind::Operands, tree.span, message, "here"));
        }
        // What may be missing is left out from the back.
        let mut missing = specs.len() - operands.len();
        let mut kept: Vec<&shape::Operand> = Vec::with_capacity(specs.len());
        for spec in specs.iter().rev() {
            if missing > 0 && spec.optional {
                missing -= 1;
            } else {
                kept.push(spec);
            }
        }
        let mut resolved = Vec::with_capacity(operands.len());
        let mut trouble = None;
        for (spec, operand) in kept.into_iter().rev().zip(operands) {
            match self.operand(form, spec, operand) {
                Ok(operand) => resolved.push(operand),
                // All operands are looked at, so that each wrong one is reported.
                Err(Trouble::Reported) => trouble = Some(Trouble::Reported),
                Err(other) => trouble = trouble.or(Some(other)),
            }
        }
        trouble.map_or(Ok(resolved), Err)
    }

    pub(super) fn report(&mut self, kind: ErrorKind, span: Span, message: String, label: &str) -> Trouble {
        self.errors.push(Error::new(kind, span, message, label));
        Trouble::Reported
    }

    fn operand(&mut self, form: &Form, spec: &shape::Operand, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        let ty = match spec.ty {
            OperandType::Nth(n) => form.types.get(n).copied().unwrap_or_else(|| form.ty()),
            OperandType::Wide => widened(form.ty()),
            OperandType::Fixed(ty) => ty,
        };
        match spec.role {
            Role::Memory => {
                let operand = self.memory(tree)?;
                self.check_space(form, &operand, tree.span)?;
                Ok(operand)
            }
            Role::Texel => self.texel(ty, tree),
            Role::Label => self.label(tree),
            Role::Targets => self.label_list(tree),
            Role::Any => self.anything(tree),
            Role::Call => Err(Trouble::Unsupported("a call is not resolved here".into())),
            Role::Dest | Role::Source if spec.fragment > 0 => self.vector(spec, ty, spec.fragment, tree),
            Role::Dest | Role::Source => {
                if spec.vector
                    && let OperandKind::Vector(elements) = &tree.kind
                    && let [single] = &elements[..]
                    && form.vector == 1
                {
                    return self.scalar(spec, ty, single);
                }
                if spec.vector && form.vector > 1 {
                    return self.vector(spec, ty, form.vector as usize, tree);
                }
                if spec.mov
                    && let OperandKind::Vector(elements) = &tree.kind
                {
                    return self.packed(spec, ty, elements, tree.span);
                }
                self.scalar(spec, ty, tree)
            }
        }
    }

    fn scalar(&mut self, spec: &shape::Operand, ty: Type, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        let span = tree.span;
        match &tree.kind {
            OperandKind::Name("_") if spec.sink => Ok(Operand::Sink),
            OperandKind::Name("_") => {
                let message = "the result cannot be thrown away here".to_string();
                Err(self.report(ErrorKind::Operands, span, message, "a register is needed here"))
            }
            OperandKind::Name(name) => {
                // Scopes first: a program may call a register of its own `%laneid`.
                if spec.role == Role::Source && self.find(name).is_none() {
                    if let Some(special) = special(name, None) {
                        self.special_allowed(spec, name, span)?;
                        return self.special_fits(special, ty, name, span);
                    }
                    if is_known_elsewhere(name) {
                        return Err(Trouble::Unsupported(format!("the special register `{name}` is not known yet")));
                    }
                }
                match self.lookup(name, span)? {
                    Found::Register(reg, have) => {
                        self.check_register(spec, ty, name, have, span)?;
                        Ok(Operand::Reg(reg))
                    }
                    Found::Lanes(regs, lane) if spec.mov => {
                        let whole = lane.bytes() as usize * regs.len();
                        if whole != ty.bytes() as usize {
                            return Err(self.mismatch(name, lane, ty, span));
                        }
                        Ok(Operand::Vector(regs.into_iter().map(|r| Some(Operand::Reg(r))).collect()))
                    }
                    Found::Variable(variable) if spec.role == Role::Source && (spec.mov || spec.variable) => {
                        Ok(Operand::Variable { variable, offset: 0 })
                    }
                    Found::Function(function) if spec.role == Role::Source && spec.mov => {
                        Ok(Operand::Function(function))
                    }
                    _ => {
                        let message = format!("`{name}` is not a register");
                        Err(self.report(ErrorKind::WrongSort, span, message, "a register is needed here"))
                    }
                }
            }
            OperandKind::Not(name) if spec.role == Role::Source && ty == Type::Pred => {
                match self.predicate(name, span) {
                    Some(reg) => Ok(Operand::NotReg(reg)),
                    None => Err(Trouble::Reported),
                }
            }
            OperandKind::Const(value) if spec.role == Role::Source => match constant_bits(*value, ty) {
                Some(bits) => Ok(Operand::Imm(bits)),
                None => {
                    let (is, wanted) = match value {
                        Const::Int { .. } => ("an integer", "write it as `0f..`, `0d..` or with a decimal point"),
                        _ => ("a float", "an integer is needed here"),
                    };
                    let message = format!("{is} cannot stand where `.{}` is needed", word_of_type(ty));
                    Err(self.report(ErrorKind::TypeMismatch, span, message, wanted))
                }
            },
            OperandKind::Component(name, component) => self.component(spec, ty, name, component, span),
            OperandKind::NameOffset(name, offset) if spec.role == Role::Source && (spec.mov || spec.variable) => {
                match self.lookup(name, span)? {
                    Found::Variable(variable) => Ok(Operand::Variable { variable, offset: *offset }),
                    _ => Err(Trouble::Unsupported(format!("an offset on `{name}` is not known here"))),
                }
            }
            // The address of an element, not what is in it.
            OperandKind::Element { .. } if spec.role == Role::Source && (spec.mov || spec.variable) => {
                match self.memory(tree)? {
                    Operand::Address { base: AddressBase::Variable(variable), offset } => {
                        Ok(Operand::Variable { variable, offset })
                    }
                    other => Ok(other),
                }
            }
            OperandKind::Pair(first, second) if spec.pair => {
                let first = self.half_of_pair(ty, first)?;
                let second = self.half_of_pair(Type::Pred, second)?;
                Ok(Operand::Pair(first, second))
            }
            _ => {
                let message = "this operand has the wrong shape".to_string();
                let label =
                    if spec.role == Role::Dest { "a register is needed here" } else { "a value is needed here" };
                Err(self.report(ErrorKind::Operands, span, message, label))
            }
        }
    }

    fn special_allowed(&mut self, spec: &shape::Operand, name: &str, span: Span) -> Result<(), Trouble> {
        if spec.mov {
            return Ok(());
        }
        let error = Error::new(
            ErrorKind::Operands,
            span,
            format!("the special register `{name}` can be read by `mov` and `cvt` only"),
            "here",
        );
        self.errors.push(error.help(format!("move it to a register first: `mov.u32 %r1, {name};`")));
        Err(Trouble::Reported)
    }

    /// Most special registers have 32 bits, and the assembler does not widen them.
    fn special_fits(&mut self, special: Special, ty: Type, name: &str, span: Span) -> Result<Operand, Trouble> {
        let wide = matches!(special, Special::Clock64 | Special::GlobalTimer | Special::GridId);
        if matches!(ty, Type::U64 | Type::S64 | Type::B64) && !wide {
            let message = format!("`{name}` has 32 bits, and `.{}` is needed here", word_of_type(ty));
            return Err(self.report(ErrorKind::TypeMismatch, span, message, "of another size"));
        }
        Ok(Operand::Special(special))
    }

    fn component(
        &mut self,
        spec: &shape::Operand,
        ty: Type,
        name: &'t str,
        component: &str,
        span: Span,
    ) -> Result<Operand, Trouble> {
        if let Some(Symbol::Register { lanes, .. }) = self.find(name)
            && lanes > 1
        {
            let lane = match component {
                "x" | "r" => 0,
                "y" | "g" => 1,
                "z" | "b" => 2,
                "w" | "a" => 3,
                _ => usize::MAX,
            };
            if let Found::Lanes(regs, have) = self.lookup(name, span)?
                && let Some(reg) = regs.get(lane)
            {
                self.check_register(spec, ty, name, have, span)?;
                return Ok(Operand::Reg(*reg));
            }
        } else if spec.role == Role::Source
            && let Some(special) = special(name, Some(component))
        {
            let whole = format!("{name}.{component}");
            self.special_allowed(spec, &whole, span)?;
            return self.special_fits(special, ty, &whole, span);
        }
        self.unknown(&format!("{name}.{component}"), span, "no such part");
        Err(Trouble::Reported)
    }

    fn half_of_pair(&mut self, ty: Type, tree: &OperandTree<'t>) -> Result<Option<Reg>, Trouble> {
        match &tree.kind {
            OperandKind::Name("_") => Ok(None),
            OperandKind::Name(name) => match self.lookup(name, tree.span)? {
                Found::Register(_, have) if !register_fits(ty, have, false) => {
                    Err(self.mismatch(name, have, ty, tree.span))
                }
                Found::Register(reg, _) => Ok(Some(reg)),
                _ => {
                    let message = format!("`{name}` is not a register");
                    Err(self.report(ErrorKind::WrongSort, tree.span, message, "a register is needed here"))
                }
            },
            _ => {
                let message = "this operand has the wrong shape".to_string();
                Err(self.report(ErrorKind::Operands, tree.span, message, "a register or `_` is needed here"))
            }
        }
    }

    fn check_register(
        &mut self,
        spec: &shape::Operand,
        ty: Type,
        name: &str,
        have: Type,
        span: Span,
    ) -> Result<(), Trouble> {
        if register_fits(ty, have, spec.wider) { Ok(()) } else { Err(self.mismatch(name, have, ty, span)) }
    }

    pub(super) fn mismatch(&mut self, name: &str, have: Type, wanted: Type, span: Span) -> Trouble {
        let (have, wanted) = (word_of_type(have), word_of_type(wanted));
        let message = format!("`{name}` is declared `.{have}`, and `.{wanted}` is needed here");
        let error = Error::new(ErrorKind::TypeMismatch, span, message, "of another type or size");
        let pred = have == "pred" || wanted == "pred";
        self.errors.push(match (pred, digits(have) == digits(wanted)) {
            (true, _) => error.help("`setp` makes a predicate of a value, `selp` a value of a predicate"),
            (_, true) => error.help(format!("`mov.b{}` moves the bits, `cvt` converts the value", digits(have))),
            _ => error.help("`cvt` makes a value wider or narrower"),
        });
        Trouble::Reported
    }

    /// `{a, b}` of a vector load or store.
    fn vector(
        &mut self,
        spec: &shape::Operand,
        ty: Type,
        lanes: usize,
        tree: &OperandTree<'t>,
    ) -> Result<Operand, Trouble> {
        let elements = match &tree.kind {
            OperandKind::Vector(elements) => elements,
            OperandKind::Name(name) => {
                if let Found::Lanes(regs, have) = self.lookup(name, tree.span)?
                    && regs.len() == lanes
                {
                    self.check_register(spec, ty, name, have, tree.span)?;
                    return Ok(Operand::Vector(regs.into_iter().map(|r| Some(Operand::Reg(r))).collect()));
                }
                return Err(self.not_a_vector(lanes, tree.span));
            }
            _ => return Err(self.not_a_vector(lanes, tree.span)),
        };
        if elements.len() != lanes {
            return Err(self.not_a_vector(lanes, tree.span));
        }
        let spec = shape::Operand { vector: false, ..*spec };
        let mut out = Vec::with_capacity(lanes);
        for element in elements {
            // The assembler looks at the sizes of elements only: `{%f1, %r2}` is fine where `.u32` is loaded.
            let ty = match &element.kind {
                OperandKind::Name(name) => self.same_size(name, ty),
                OperandKind::Const(value) if constant_bits(*value, ty).is_none() => bits_of_size(ty),
                _ => ty,
            };
            out.push(match element.kind {
                OperandKind::Name("_") if spec.role == Role::Dest => None,
                _ => Some(self.scalar(&spec, ty, element)?),
            });
        }
        Ok(Operand::Vector(out))
    }

    /// The type of the register `name` where it has the size of `ty`, else `ty`.
    fn same_size(&mut self, name: &'t str, ty: Type) -> Type {
        match self.find(name) {
            Some(Symbol::Register { ty: have, .. }) if have != Type::Pred && have.bytes() == ty.bytes() => have,
            _ => ty,
        }
    }

    fn not_a_vector(&mut self, lanes: usize, span: Span) -> Trouble {
        let message = format!("a vector of {lanes} is needed here");
        self.report(ErrorKind::Operands, span, message, "here")
    }

    /// `[texture, {x, y}]`: the handle and the coordinates, as one vector.
    fn texel(&mut self, ty: Type, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        let OperandKind::Texel { base, at } = &tree.kind else {
            let message = "a texture and coordinates are needed here".to_string();
            return Err(self.report(ErrorKind::Operands, tree.span, message, "write `[texture, {x, y}]`"));
        };
        let handle = match self.lookup(base, tree.span)? {
            Found::Register(reg, have) if have.bytes() == 8 => Operand::Reg(reg),
            Found::Register(_, have) => return Err(self.mismatch(base, have, Type::B64, tree.span)),
            _ => return Err(Trouble::Unsupported(format!("`{base}`: textures by reference are not known"))),
        };
        let spec = shape::operand("s");
        let mut out = vec![Some(handle)];
        for coordinate in at {
            // The assembler looks at their size.
            let ty = match &coordinate.kind {
                OperandKind::Name(name) => self.same_size(name, ty),
                _ => ty,
            };
            out.push(Some(self.scalar(&spec, ty, coordinate)?));
        }
        Ok(Operand::Vector(out))
    }

    /// `{lo, hi}` of a `mov` that packs or unpacks.
    fn packed(
        &mut self,
        spec: &shape::Operand,
        ty: Type,
        elements: &[OperandTree<'t>],
        span: Span,
    ) -> Result<Operand, Trouble> {
        let bytes = ty.bytes() as usize;
        let element = match (elements.len(), bytes.checked_div(elements.len())) {
            (2 | 4, Some(1)) => Type::B8,
            (2 | 4, Some(2)) => Type::B16,
            (2 | 4, Some(4)) => Type::B32,
            (2, Some(8)) => Type::B64,
            _ => {
                let message = format!("{} parts do not make a `.{}`", elements.len(), word_of_type(ty));
                return Err(self.report(ErrorKind::Operands, span, message, "here"));
            }
        };
        let spec = shape::Operand { mov: false, ..*spec };
        let mut out = Vec::with_capacity(elements.len());
        for tree in elements {
            out.push(match tree.kind {
                OperandKind::Name("_") => None,
                _ => Some(self.scalar(&spec, element, tree)?),
            });
        }
        Ok(Operand::Vector(out))
    }

    /// An operand of an instruction whose operands are not checked: resolved as far as that goes.
    pub(super) fn anything(&mut self, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        Ok(match &tree.kind {
            OperandKind::Name("_") => Operand::Sink,
            OperandKind::Name(name) => match self.lookup(name, tree.span)? {
                Found::Register(reg, _) => Operand::Reg(reg),
                Found::Lanes(regs, _) => Operand::Vector(regs.into_iter().map(|r| Some(Operand::Reg(r))).collect()),
                Found::Variable(variable) => Operand::Variable { variable, offset: 0 },
                Found::Function(function) => Operand::Function(function),
            },
            OperandKind::Const(Const::Int { bits, .. }) => Operand::Imm(*bits),
            OperandKind::Const(Const::F32(bits)) => Operand::Imm(u64::from(*bits)),
            OperandKind::Const(Const::F64(bits)) => Operand::Imm(*bits),
            OperandKind::Address { .. } | OperandKind::Element { .. } => self.memory(tree)?,
            OperandKind::Vector(elements) => {
                let mut out = Vec::with_capacity(elements.len());
                for element in elements {
                    out.push(match self.anything(element)? {
                        Operand::Sink => None,
                        operand => Some(operand),
                    });
                }
                Operand::Vector(out)
            }
            _ => return Err(Trouble::Unsupported("an operand of this shape is not known here".into())),
        })
    }
}

/// Untyped bits as wide as `ty`.
fn bits_of_size(ty: Type) -> Type {
    match ty.bytes() {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        8 => Type::B64,
        _ => Type::B128,
    }
}

/// `f32` to `32`.
fn digits(word: &str) -> &str {
    word.trim_start_matches(|c: char| !c.is_ascii_digit())
}

//! A body: scopes, registers, labels, instructions.
//!
//! Parameters and results declared as `.reg` become `.param` ones: loads stand at the entry, stores in front of
//! every `ret`, so that the interpreter knows one way of passing values.

use super::symbols::{Block, Entry, Label, Range, Scopes, Symbol};
use super::{Names, duplicate, variables};
use crate::error::{Error, ErrorKind};
use crate::forms::{self, Status};
use crate::ir::{
    AddressBase, Form, Function, Guard, Instruction, Module, Opcode, Operand, Prototype, Reg, Register, SourceLoc,
    Space, Span, Type, Unsupported, VariableRef,
};
use crate::parse::tree::{Declaration, FunctionTree, InstructionTree, Name, Statement, Storage};

/// The function at `index` of `module`, whose tree has a body.
pub(super) fn body<'t>(
    module: &mut Module,
    names: &Names<'t>,
    index: usize,
    tree: &FunctionTree<'t>,
    gaps: &mut u64,
    errors: &mut Vec<Error>,
) -> Function {
    let function = module.functions[index].clone();
    let statements = tree.body.as_deref().unwrap_or(&[]);
    let mut body = Body {
        module,
        names,
        function,
        scopes: Scopes::new(),
        blocks: vec![Block::default()],
        targets: Vec::new(),
        listed_targets: 0,
        label_places: Vec::new(),
        register_results: Vec::new(),
        loc: None,
        used_bytes: None,
        gaps,
        errors,
    };
    body.collect_labels(statements);
    body.declare_parameters(tree);
    body.statements(statements);
    if body.falls_off() {
        body.store_results(None, tree.name.span);
    }
    body.place_labels();
    body.function
}

pub(super) struct Body<'t, 'm> {
    pub(super) module: &'m mut Module,
    pub(super) names: &'m Names<'t>,
    pub(super) function: Function,
    pub(super) scopes: Scopes<'t>,
    pub(super) blocks: Vec<Block<'t>>,
    /// The labels of each `.branchtargets`, by number of label.
    pub(super) targets: Vec<Vec<u32>>,
    /// How many targets all `brx.idx` so far carry.
    pub(super) listed_targets: usize,
    /// Where each label stands in the body, once it is known.
    label_places: Vec<u32>,
    /// Results declared as `.reg`: which result, in which register.
    register_results: Vec<(u32, Reg)>,
    pub(super) loc: Option<SourceLoc>,
    /// What a pragma says of the load behind it.
    used_bytes: Option<u32>,
    /// Bytes of zeros that initialisers may still leave between values.
    gaps: &'m mut u64,
    pub(super) errors: &'m mut Vec<Error>,
}

impl<'t> Body<'t, '_> {
    /// Numbers all labels, prototypes and lists of targets, block by block. Blocks are numbered in the order in
    /// which they open, here and in [`Body::statements`] alike.
    fn collect_labels(&mut self, statements: &[Statement<'t>]) {
        let mut open = vec![0usize];
        let mut lists: Vec<(usize, &[Name<'t>])> = Vec::new();
        for statement in statements {
            let here = open.last().copied().unwrap_or(0);
            let (name, label) = match statement {
                Statement::Open => {
                    self.blocks.push(Block { parent: Some(here), ..Block::default() });
                    open.push(self.blocks.len() - 1);
                    continue;
                }
                Statement::Close => {
                    open.pop();
                    continue;
                }
                Statement::Label(name) => {
                    self.label_places.push(0);
                    (name, Label::Code(self.label_places.len() as u32 - 1))
                }
                Statement::Prototype { name, returns, params } => {
                    let prototype = Prototype {
                        name: name.text.to_string(),
                        returns: variables::parameters(returns, self.errors),
                        params: variables::parameters(params, self.errors),
                    };
                    self.function.prototypes.push(prototype);
                    (name, Label::Prototype(self.function.prototypes.len() as u32 - 1))
                }
                Statement::Targets { name, targets } => {
                    lists.push((here, targets));
                    (name, Label::Targets(lists.len() as u32 - 1))
                }
                _ => continue,
            };
            let labels = &mut self.blocks[here].labels;
            if let Some((_, first)) = labels.get(name.text) {
                self.errors.push(duplicate(*name, *first));
            } else {
                labels.insert(name.text, (label, name.span));
            }
        }
        for (block, targets) in lists {
            let mut numbers = Vec::new();
            for target in targets {
                match super::symbols::find_label(&self.blocks, block, target.text) {
                    Some(Label::Code(number)) => numbers.push(number),
                    // The targets of an indirect call are functions; the list only helps an optimiser.
                    _ if self.names.contains_key(target.text) => {}
                    _ => self.unknown(target.text, target.span, "no label of this name in this block or around it"),
                }
            }
            self.targets.push(numbers);
        }
    }

    fn declare_parameters(&mut self, tree: &FunctionTree<'t>) {
        for (i, declaration) in tree.params.iter().enumerate() {
            let Some(declarator) = declaration.names.first() else { continue };
            let name = declarator.name;
            match declaration.place {
                Storage::Memory(_) => self.declare(name, Symbol::Variable(VariableRef::Param(i as u32))),
                Storage::Register => {
                    if tree.is_kernel {
                        let message = format!("the kernel's parameter `{}` must be `.param`", name.text);
                        self.errors.push(Error::new(ErrorKind::Directive, name.span, message, "not in a register"));
                    }
                    let reg = self.new_register(name.text, declaration.ty);
                    self.declare(name, Symbol::Register { ty: declaration.ty, lanes: 1, number: Some(reg) });
                    let place = address(VariableRef::Param(i as u32));
                    self.emit_synthetic(Opcode::Ld, declaration.ty, vec![Operand::Reg(reg), place], None, name.span);
                }
            }
        }
        for (i, declaration) in tree.returns.iter().enumerate() {
            let Some(declarator) = declaration.names.first() else { continue };
            let name = declarator.name;
            match declaration.place {
                Storage::Memory(_) => self.declare(name, Symbol::Variable(VariableRef::Return(i as u32))),
                Storage::Register => {
                    let reg = self.new_register(name.text, declaration.ty);
                    self.declare(name, Symbol::Register { ty: declaration.ty, lanes: 1, number: Some(reg) });
                    self.register_results.push((i as u32, reg));
                }
            }
        }
    }

    fn statements(&mut self, statements: &[Statement<'t>]) {
        let mut blocks_seen = 0;
        let mut labels_seen = 0;
        for statement in statements {
            match statement {
                Statement::Open => {
                    blocks_seen += 1;
                    self.scopes.open(blocks_seen);
                }
                Statement::Close => self.scopes.close(),
                Statement::Declare(declaration) => self.declaration(declaration),
                Statement::Label(name) => {
                    self.label_places[labels_seen] = self.function.body.len() as u32;
                    labels_seen += 1;
                    if let Some(first) = self.scopes.declared_here(name.text) {
                        self.errors.push(duplicate(*name, first));
                    }
                }
                Statement::Loc(loc) => {
                    let file = if (loc.file as usize) < self.module.files.len() { loc.file } else { 0 };
                    self.loc = Some(SourceLoc { file, ..*loc });
                }
                Statement::Prototype { .. } | Statement::Targets { .. } => {}
                Statement::UsedBytes(mask) => self.used_bytes = Some(*mask),
                Statement::Instruction(tree) => {
                    self.instruction(tree);
                    self.used_bytes = None;
                }
            }
        }
    }

    fn declare(&mut self, name: Name<'t>, symbol: Symbol) {
        // `_` is no name: prototypes use it for every parameter.
        if name.text == "_" {
            return;
        }
        let entry = Entry { symbol, span: name.span };
        if let Some(first) = self.scopes.declare(name.text, entry) {
            self.errors.push(duplicate(name, first));
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'t>) {
        for declarator in &declaration.names {
            let name = declarator.name;
            match declaration.place {
                Storage::Register => {
                    let (ty, lanes) = (declaration.ty, declaration.vector);
                    match declarator.range {
                        Some(count) => {
                            let range = Range { count, ty, lanes, span: name.span };
                            let first = self.scopes.declare_range(name.text, range);
                            if let Some(first) = first {
                                self.errors.push(duplicate(name, first));
                            }
                        }
                        None => self.declare(name, Symbol::Register { ty, lanes, number: None }),
                    }
                }
                Storage::Memory(space) => {
                    let mut variable = variables::variable(declaration, declarator, self.errors);
                    variable.init = variables::initial_contents(
                        &variable,
                        declaration,
                        declarator,
                        self.names,
                        self.gaps,
                        self.errors,
                    );
                    // A `.global` or `.const` in a body is a variable of the module that only this block can name.
                    let symbol = if matches!(space, Space::Global | Space::Const) {
                        self.module.variables.push(variable);
                        VariableRef::Module(self.module.variables.len() as u32 - 1)
                    } else {
                        self.function.variables.push(variable);
                        VariableRef::Function(self.function.variables.len() as u32 - 1)
                    };
                    self.declare(name, Symbol::Variable(symbol));
                }
            }
        }
    }

    /// A new register.
    pub(super) fn new_register(&mut self, name: &str, ty: Type) -> Reg {
        self.function.registers.push(Register { name: name.to_string(), ty });
        Reg(self.function.registers.len() as u32 - 1)
    }

    pub(super) fn unknown(&mut self, name: &str, span: Span, label: &str) {
        let message = format!("`{name}` is not declared");
        self.errors.push(Error::new(ErrorKind::UnknownName, span, message, label));
    }

    fn instruction(&mut self, tree: &InstructionTree<'t>) {
        let guard = tree.guard.as_ref().and_then(|(name, negated)| {
            let reg = self.predicate(name.text, name.span)?;
            Some(Guard { reg, negated: *negated })
        });
        let form = tree.operands.as_ref().and_then(|_| forms::decode(tree.opcode, &tree.modifiers));
        let (Some(form), Some(operands)) = (form, &tree.operands) else {
            if !forms::is_opcode(tree.opcode) {
                let span = Span { len: tree.opcode.len() as u32, ..tree.span };
                let message = format!("PTX has no instruction called `{}`", tree.opcode);
                let error = Error::new(ErrorKind::UnknownName, span, message, "no opcode of PTX 9.0");
                self.errors.push(error.help("check the spelling"));
                return;
            }
            return self.unsupported(tree, guard, |text| format!("`{text}` is not a form that is known"));
        };
        let status = forms::status_of(&form);
        if form.opcode == Opcode::Ret {
            self.store_results(guard, tree.span);
        }
        if form.opcode == Opcode::Call {
            return self.call(tree, form, guard, operands);
        }
        match self.operands(&form, tree, operands) {
            Ok(operands) => {
                let used_bytes = self.used_bytes_of(&form);
                if status == Some(Status::Later) {
                    self.note_unsupported(
                        &spelled(tree),
                        tree.span,
                        format!("`{}` is not interpreted yet", spelled(tree)),
                    );
                }
                self.function.body.push(Instruction {
                    form,
                    guard,
                    operands,
                    span: tree.span,
                    loc: self.loc,
                    used_bytes,
                });
            }
            Err(super::operand::Trouble::Reported) => {}
            Err(super::operand::Trouble::Unsupported(why)) => self.unsupported(tree, guard, |_| why),
        }
    }

    /// What the pragma in front of `form` leaves of its bytes; `None` where that is all of them, or where it is no load.
    fn used_bytes_of(&self, form: &Form) -> Option<u32> {
        let bytes = form.ty().bytes() * u32::from(form.vector);
        let all = u32::MAX >> 32u32.checked_sub(bytes)?;
        let used = self.used_bytes? & all;
        (form.opcode == Opcode::Ld && used != all).then_some(used)
    }

    /// Puts an instruction in the body that stands for one we cannot decode.
    pub(super) fn unsupported(
        &mut self,
        tree: &InstructionTree<'t>,
        guard: Option<Guard>,
        why: impl FnOnce(&str) -> String,
    ) {
        let text = spelled(tree);
        let mut form = Form::new(Opcode::Unsupported);
        form.rare.push(text.clone());
        self.note_unsupported(&text, tree.span, why(&text));
        self.function.body.push(Instruction {
            form,
            guard,
            operands: Vec::new(),
            span: tree.span,
            loc: self.loc,
            used_bytes: None,
        });
    }

    pub(super) fn note_unsupported(&mut self, form: &str, span: Span, why: String) {
        self.function.unsupported.push(Unsupported { form: form.to_string(), span, loc: self.loc, why });
    }

    /// Whether control can come to the end of the body.
    fn falls_off(&self) -> bool {
        let end = self.function.body.len() as u32;
        let returns = self.function.body.last().is_some_and(|i| i.form.opcode == Opcode::Ret && i.guard.is_none());
        !returns || self.label_places.contains(&end)
    }

    /// Results that the text keeps in registers go to where the caller finds them.
    fn store_results(&mut self, guard: Option<Guard>, span: Span) {
        for (result, reg) in self.register_results.clone() {
            let ty = self.function.registers[reg.0 as usize].ty;
            let place = address(VariableRef::Return(result));
            self.emit_synthetic(Opcode::St, ty, vec![place, Operand::Reg(reg)], guard, span);
        }
    }

    /// A `ld.param` or `st.param` that the text does not have.
    pub(super) fn emit_synthetic(
        &mut self,
        opcode: Opcode,
        ty: Type,
        operands: Vec<Operand>,
        guard: Option<Guard>,
        span: Span,
    ) {
        let spelling = if opcode == Opcode::Ld { "ld" } else { "st" };
        // Memory has no half types and no predicates; bits of that size do.
        let ty = match ty {
            Type::Pred => Type::B8,
            Type::F16 | Type::Bf16 => Type::B16,
            Type::F16x2 | Type::Bf16x2 => Type::B32,
            other => other,
        };
        if let Some(form) = forms::decode(spelling, &["param", forms::word_of_type(ty)]) {
            self.function.body.push(Instruction { form, guard, operands, span, loc: self.loc, used_bytes: None });
        }
    }

    /// Numbers of labels become places in the body.
    fn place_labels(&mut self) {
        for instruction in &mut self.function.body {
            for operand in &mut instruction.operands {
                match operand {
                    Operand::Label(label) => *label = self.label_places[*label as usize],
                    Operand::Labels(labels) => {
                        for label in labels {
                            *label = self.label_places[*label as usize];
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The whole of a variable, as an address.
pub(super) fn address(variable: VariableRef) -> Operand {
    Operand::Address { base: AddressBase::Variable(variable), offset: 0 }
}

/// Opcode and modifiers as written.
pub(super) fn spelled(tree: &InstructionTree<'_>) -> String {
    let mut text = tree.opcode.to_string();
    for modifier in &tree.modifiers {
        text.push('.');
        text.push_str(modifier);
    }
    text
}

//! Calls: `call (results), f, (arguments), prototype;`.
//!
//! Arguments and results that are registers or constants, rather than `.param` variables, are passed through
//! `.param` variables made here, so that every call the interpreter sees looks the same.

use super::function::{Body, address};
use super::names::Found;
use super::operand::Trouble;
use super::symbols::{Label, find_label};
use super::types::{constant_bits, register_fits};
use crate::error::{Error, ErrorKind};
use crate::forms::{self, Status, word_of_type};
use crate::ir::{
    Call, CallTarget, Form, Guard, Instruction, Linkage, Opcode, Operand, Reg, Space, Type, Variable, VariableRef,
};
use crate::parse::tree::{InstructionTree, OperandKind, OperandTree};

/// The parts of a call as written.
struct Parts<'a, 't> {
    returns: &'a [OperandTree<'t>],
    target: (&'t str, &'a OperandTree<'t>),
    args: &'a [OperandTree<'t>],
    prototype: Option<&'a OperandTree<'t>>,
}

impl<'t> Body<'t, '_> {
    pub(super) fn call(
        &mut self,
        tree: &InstructionTree<'t>,
        form: Form,
        guard: Option<Guard>,
        operands: &[OperandTree<'t>],
    ) {
        let Some(parts) = parts(operands) else {
            let error = Error::new(ErrorKind::Operands, tree.span, "this call has the wrong shape", "here")
                .help("write `call (results), function, (arguments);`");
            self.errors.push(error);
            return;
        };
        match self.call_parts(tree, form, guard, &parts) {
            Ok(()) | Err(Trouble::Reported) => {}
            Err(Trouble::Unsupported(why)) => self.unsupported(tree, guard, |_| why),
        }
    }

    fn call_parts(
        &mut self,
        tree: &InstructionTree<'t>,
        form: Form,
        guard: Option<Guard>,
        parts: &Parts<'_, 't>,
    ) -> Result<(), Trouble> {
        let (name, target_tree) = parts.target;
        let target = match self.lookup(name, target_tree.span)? {
            Found::Function(id) => CallTarget::Direct(id),
            Found::Register(reg, _) => CallTarget::Indirect(reg, self.prototype(parts.prototype, tree)?),
            _ => {
                let message = format!("`{name}` cannot be called");
                let error =
                    Error::new(ErrorKind::WrongSort, target_tree.span, message, "neither function nor register");
                self.errors.push(error);
                return Err(Trouble::Reported);
            }
        };
        let (returns, params) = match &target {
            CallTarget::Direct(id) => {
                let callee = &self.module.functions[id.0 as usize];
                (&callee.returns, &callee.params)
            }
            CallTarget::Indirect(_, index) => {
                let prototype = &self.function.prototypes[*index as usize];
                (&prototype.returns, &prototype.params)
            }
        };
        // `.param .b8 rest[]` at the end takes any number of bytes, and may be left out.
        let open_ended = params.last().is_some_and(|p| p.size == 0);
        let args_fit = parts.args.len() == params.len() || (open_ended && parts.args.len() + 1 == params.len());
        if !args_fit || parts.returns.len() != returns.len() {
            let message = format!(
                "`{name}` takes {} arguments and gives {} results, and here are {} and {}",
                params.len(),
                returns.len(),
                parts.args.len(),
                parts.returns.len()
            );
            self.errors.push(Error::new(ErrorKind::Operands, target_tree.span, message, "here"));
            return Err(Trouble::Reported);
        }
        // As many as the call has written out, so copying them costs no more than reading it did.
        let (returns, params) = (returns.clone(), params.clone());
        let mut args = Vec::with_capacity(parts.args.len());
        for (arg, formal) in parts.args.iter().zip(&params) {
            let arg = self.argument(arg, formal, guard)?;
            args.push(arg);
        }
        let mut results = Vec::with_capacity(returns.len());
        let mut loads: Vec<(Reg, Type, VariableRef)> = Vec::new();
        for (result, formal) in parts.returns.iter().zip(&returns) {
            results.push(match self.anything(result)? {
                Operand::Reg(reg) => {
                    self.check_passed(reg, formal, result)?;
                    let variable = self.passing(formal);
                    loads.push((reg, formal.ty, variable));
                    Operand::Variable { variable, offset: 0 }
                }
                other => other,
            });
        }
        if let CallTarget::Indirect(..) = target
            && forms::INDIRECT_CALLS == Status::Later
        {
            self.note_unsupported("call", tree.span, "a call through a register is not interpreted yet".into());
        }
        let call = Operand::Call(Box::new(Call { target, returns: results, args }));
        self.function.body.push(Instruction {
            form,
            guard,
            operands: vec![call],
            span: tree.span,
            loc: self.loc,
            used_bytes: None,
        });
        for (reg, ty, variable) in loads {
            self.emit_synthetic(Opcode::Ld, ty, vec![Operand::Reg(reg), address(variable)], guard, tree.span);
        }
        Ok(())
    }

    fn prototype(&mut self, tree: Option<&OperandTree<'t>>, call: &InstructionTree<'t>) -> Result<u32, Trouble> {
        let block = self.scopes.block();
        let Some(tree) = tree else {
            let error =
                Error::new(ErrorKind::Operands, call.span, "a call through a register needs a prototype", "here")
                    .help("add the label of a `.callprototype` as the last operand");
            self.errors.push(error);
            return Err(Trouble::Reported);
        };
        let OperandKind::Name(name) = tree.kind else {
            let error = Error::new(ErrorKind::Operands, tree.span, "the label of a `.callprototype` is needed", "here");
            self.errors.push(error);
            return Err(Trouble::Reported);
        };
        match find_label(&self.blocks, block, name) {
            Some(Label::Prototype(index)) => Ok(index),
            Some(Label::Targets(_)) => {
                Err(Trouble::Unsupported("a call with `.calltargets` is not interpreted yet".into()))
            }
            _ => {
                self.unknown(name, tree.span, "no `.callprototype` of this name");
                Err(Trouble::Reported)
            }
        }
    }

    /// An argument as a `.param` variable.
    fn argument(
        &mut self,
        tree: &OperandTree<'t>,
        formal: &Variable,
        guard: Option<Guard>,
    ) -> Result<Operand, Trouble> {
        let value = match &tree.kind {
            OperandKind::Const(value) => match constant_bits(*value, formal.ty) {
                Some(bits) => Operand::Imm(bits),
                None => {
                    let message = format!("this constant cannot be passed as `.{}`", word_of_type(formal.ty));
                    self.errors.push(Error::new(ErrorKind::TypeMismatch, tree.span, message, "here"));
                    return Err(Trouble::Reported);
                }
            },
            _ => self.anything(tree)?,
        };
        if let Operand::Reg(reg) = value {
            self.check_passed(reg, formal, tree)?;
        }
        if let Operand::Variable { variable, .. } = value {
            let size = self.variable(variable).size;
            if size != formal.size && formal.size != 0 {
                let message = format!("{size} bytes are passed, and the function takes {} here", formal.size);
                self.errors.push(Error::new(ErrorKind::TypeMismatch, tree.span, message, "of another size"));
                return Err(Trouble::Reported);
            }
        }
        if !matches!(value, Operand::Reg(_) | Operand::Imm(_)) {
            return Ok(value);
        }
        let variable = self.passing(formal);
        self.emit_synthetic(Opcode::St, formal.ty, vec![address(variable), value], guard, tree.span);
        Ok(Operand::Variable { variable, offset: 0 })
    }

    fn check_passed(&mut self, reg: Reg, formal: &Variable, tree: &OperandTree<'t>) -> Result<(), Trouble> {
        let register = &self.function.registers[reg.0 as usize];
        if register_fits(formal.ty, register.ty, false) {
            return Ok(());
        }
        let (have, wanted) = (word_of_type(register.ty), word_of_type(formal.ty));
        let message = format!("`{}` is declared `.{have}`, and the function has `.{wanted}` here", register.name);
        self.errors.push(Error::new(ErrorKind::TypeMismatch, tree.span, message, "of another type or size"));
        Err(Trouble::Reported)
    }

    /// A new `.param` variable like `formal`, without a name that the text could use.
    fn passing(&mut self, formal: &Variable) -> VariableRef {
        let variable = Variable {
            name: format!("({})", formal.name),
            space: Space::Param,
            offset: 0,
            linkage: Linkage::Internal,
            init: Vec::new(),
            ..formal.clone()
        };
        self.function.variables.push(variable);
        VariableRef::Function(self.function.variables.len() as u32 - 1)
    }
}

fn parts<'a, 't>(operands: &'a [OperandTree<'t>]) -> Option<Parts<'a, 't>> {
    let mut rest = operands;
    let mut returns: &[OperandTree<'t>] = &[];
    if let Some((OperandTree { kind: OperandKind::List(list), .. }, behind)) = rest.split_first() {
        returns = list;
        rest = behind;
    }
    let (first, behind) = rest.split_first()?;
    let OperandKind::Name(name) = first.kind else { return None };
    rest = behind;
    let mut args: &[OperandTree<'t>] = &[];
    if let Some((OperandTree { kind: OperandKind::List(list), .. }, behind)) = rest.split_first() {
        args = list;
        rest = behind;
    }
    match rest {
        [] => Some(Parts { returns, target: (name, first), args, prototype: None }),
        [prototype] => Some(Parts { returns, target: (name, first), args, prototype: Some(prototype) }),
        _ => None,
    }
}

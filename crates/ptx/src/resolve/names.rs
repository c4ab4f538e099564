//! What a name stands for at a place in a body.

use super::function::Body;
use super::operand::Trouble;
use super::symbols::{Label, Symbol, find_label};
use crate::error::{Error, ErrorKind};
use crate::ir::{FunctionId, Operand, Reg, Span, Type, Variable, VariableRef};
use crate::parse::tree::{OperandKind, OperandTree};

/// Each `brx.idx` carries its targets; a function with more of them together is not taken.
const TARGETS_MAX: usize = 1 << 20;

/// A name that has been looked up.
pub(super) enum Found {
    Register(Reg, Type),
    /// A register of several lanes.
    Lanes(Vec<Reg>, Type),
    Variable(VariableRef),
    Function(FunctionId),
}

impl<'t> Body<'t, '_> {
    /// The innermost symbol called `name`.
    pub(super) fn find(&mut self, name: &'t str) -> Option<Symbol> {
        if let Some(entry) = self.scopes.get(name) {
            return Some(entry.symbol);
        }
        self.names.get(name).map(|entry| entry.symbol)
    }

    /// What `name` stands for; registers get their number at this, their first use.
    pub(super) fn lookup(&mut self, name: &'t str, span: Span) -> Result<Found, Trouble> {
        match self.find(name) {
            Some(Symbol::Register { ty, lanes, number }) => {
                let reg = match number {
                    Some(reg) => reg,
                    None => self.number(name, ty, lanes),
                };
                if lanes == 1 {
                    return Ok(Found::Register(reg, ty));
                }
                Ok(Found::Lanes((0..u32::from(lanes)).map(|lane| Reg(reg.0 + lane)).collect(), ty))
            }
            Some(Symbol::Variable(variable)) => Ok(Found::Variable(variable)),
            Some(Symbol::Function(function)) => Ok(Found::Function(function)),
            Some(Symbol::Unsupported(what)) => {
                Err(Trouble::Unsupported(format!("`{name}` is declared by `{what}`, which is not supported")))
            }
            None => {
                let block = self.scopes.block();
                if find_label(&self.blocks, block, name).is_some() {
                    let message = format!("`{name}` is a label");
                    return Err(self.report(
                        ErrorKind::WrongSort,
                        span,
                        message,
                        "a register or variable is needed here",
                    ));
                }
                let message = format!("`{name}` is not declared");
                let error = Error::new(ErrorKind::UnknownName, span, message, "nothing of this name is in scope");
                let range = self.scopes.range_like(name);
                self.errors.push(match range {
                    Some((prefix, count)) if count > 0 => {
                        error.help(format!("`{prefix}<{count}>` declares `{prefix}0` to `{prefix}{}`", count - 1))
                    }
                    _ => error,
                });
                Err(Trouble::Reported)
            }
        }
    }

    /// Numbers the register `name`: as many as it has lanes, side by side.
    fn number(&mut self, name: &'t str, ty: Type, lanes: u8) -> Reg {
        let first = if lanes == 1 {
            self.new_register(name, ty)
        } else {
            let first = self.function.registers.len() as u32;
            for lane in ["x", "y", "z", "w", "4", "5", "6", "7"].into_iter().take(lanes as usize) {
                self.new_register(&format!("{name}.{lane}"), ty);
            }
            Reg(first)
        };
        if let Some(entry) = self.scopes.get(name) {
            entry.symbol = Symbol::Register { ty, lanes, number: Some(first) };
        }
        first
    }

    /// The predicate register `name`.
    pub(super) fn predicate(&mut self, name: &'t str, span: Span) -> Option<Reg> {
        match self.lookup(name, span) {
            Ok(Found::Register(reg, Type::Pred)) => Some(reg),
            Ok(Found::Register(_, ty)) => {
                self.mismatch(name, ty, Type::Pred, span);
                None
            }
            Ok(_) => {
                let message = format!("`{name}` is not a register");
                self.report(ErrorKind::WrongSort, span, message, "a predicate is needed here");
                None
            }
            Err(_) => None,
        }
    }

    pub(super) fn variable(&self, variable: VariableRef) -> &Variable {
        match variable {
            VariableRef::Module(i) => &self.module.variables[i as usize],
            VariableRef::Function(i) => &self.function.variables[i as usize],
            VariableRef::Param(i) => &self.function.params[i as usize],
            VariableRef::Return(i) => &self.function.returns[i as usize],
        }
    }

    pub(super) fn label(&mut self, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        let OperandKind::Name(name) = tree.kind else {
            let message = "a label is needed here".to_string();
            return Err(self.report(ErrorKind::Operands, tree.span, message, "here"));
        };
        let block = self.scopes.block();
        match find_label(&self.blocks, block, name) {
            Some(Label::Code(number)) => Ok(Operand::Label(number)),
            Some(_) => {
                let message = format!("`{name}` is not a place in the code");
                Err(self.report(ErrorKind::WrongSort, tree.span, message, "a label is needed here"))
            }
            None if self.find(name).is_some() => {
                let message = format!("`{name}` is not a label");
                Err(self.report(ErrorKind::WrongSort, tree.span, message, "a label is needed here"))
            }
            None => {
                self.unknown(name, tree.span, "no label of this name in this block or around it");
                Err(Trouble::Reported)
            }
        }
    }

    pub(super) fn label_list(&mut self, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        let block = self.scopes.block();
        if let OperandKind::Name(name) = tree.kind
            && let Some(Label::Targets(list)) = find_label(&self.blocks, block, name)
        {
            let labels = &self.targets[list as usize];
            self.listed_targets += labels.len();
            if self.listed_targets > TARGETS_MAX {
                return Err(Trouble::Unsupported(format!("more than {TARGETS_MAX} targets of branches in a function")));
            }
            return Ok(Operand::Labels(labels.clone()));
        }
        let message = "the name of a `.branchtargets` is needed here".to_string();
        Err(self.report(ErrorKind::WrongSort, tree.span, message, "here"))
    }
}

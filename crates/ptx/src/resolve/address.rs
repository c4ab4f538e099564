//! Addresses: `[register+offset]`, `[variable+offset]`, `array[index]`.

use super::function::Body;
use super::names::Found;
use super::operand::Trouble;
use super::types::can_address;
use crate::error::{Error, ErrorKind};
use crate::forms::word_of_type;
use crate::ir::{AddressBase, Form, Opcode, Operand, Space, Span, VariableRef};
use crate::parse::tree::{OperandKind, OperandTree};

impl<'t> Body<'t, '_> {
    pub(super) fn memory(&mut self, tree: &OperandTree<'t>) -> Result<Operand, Trouble> {
        match &tree.kind {
            OperandKind::Address { base: None, offset } => {
                Ok(Operand::Address { base: AddressBase::Absolute, offset: *offset })
            }
            OperandKind::Address { base: Some(name), offset } => {
                let base = match self.lookup(name, tree.span)? {
                    Found::Register(reg, ty) if can_address(ty) => AddressBase::Reg(reg),
                    Found::Variable(variable) => AddressBase::Variable(variable),
                    Found::Register(_, ty) => {
                        let message = format!("`{name}` is declared `.{}` and cannot be an address", word_of_type(ty));
                        return Err(self.report(ErrorKind::TypeMismatch, tree.span, message, "here"));
                    }
                    _ => {
                        let message = format!("`{name}` is neither a register nor a variable");
                        return Err(self.report(ErrorKind::WrongSort, tree.span, message, "an address is needed here"));
                    }
                };
                Ok(Operand::Address { base, offset: *offset })
            }
            OperandKind::Element { array, index } => match self.lookup(array, tree.span)? {
                Found::Variable(variable) => {
                    let element = i64::from(self.variable(variable).ty.bytes());
                    let offset = index.wrapping_mul(element);
                    Ok(Operand::Address { base: AddressBase::Variable(variable), offset })
                }
                _ => {
                    let message = format!("`{array}` is not an array");
                    Err(self.report(ErrorKind::WrongSort, tree.span, message, "here"))
                }
            },
            OperandKind::Other => Err(Trouble::Unsupported("this kind of address is not known yet".into())),
            _ => {
                let error =
                    Error::new(ErrorKind::Operands, tree.span, "an address in brackets is needed here", "no brackets");
                self.errors.push(error.help("write `[%rd1]` or `[name+4]`"));
                Err(Trouble::Reported)
            }
        }
    }

    /// A variable can only be reached in the state space it lives in, and a parameter cannot be written.
    pub(super) fn check_space(&mut self, form: &Form, operand: &Operand, span: Span) -> Result<(), Trouble> {
        let Operand::Address { base: AddressBase::Variable(reference), .. } = operand else { return Ok(()) };
        let variable = self.variable(*reference);
        let (name, space) = (variable.name.clone(), variable.space);
        // Without a space in the instruction a variable is reached in its own, except parameters.
        let same = match form.space {
            Space::Generic => space != Space::Param,
            Space::SharedCluster => true,
            named => named == space,
        };
        if !same && !matches!(form.opcode, Opcode::CpAsync | Opcode::Prefetch) {
            let message = format!("`{name}` is in another state space");
            let label = "the instruction names one, its declaration another";
            return Err(self.report(ErrorKind::TypeMismatch, span, message, label));
        }
        if form.opcode == Opcode::St && matches!(reference, VariableRef::Param(_)) {
            let message = format!("the parameter `{name}` cannot be written");
            return Err(self.report(ErrorKind::WrongSort, span, message, "here"));
        }
        Ok(())
    }
}

//! A [`tree`](crate::parse::tree) to [`ir`](crate::ir): names become numbers, modifiers become fields.
//!
//! What is checked here: names (declared, not twice in one scope, of the right sort), the number, shape and types
//! of operands, sizes of variables and of their initial contents.
//!
//! Not checked: what depends on the target (a form newer than `.target`), spaces of addresses in registers, whether
//! a register is written before it is read.

mod address;
mod call;
mod function;
mod names;
mod operand;
mod special;
mod symbols;
mod types;
mod variables;

use crate::error::{Error, ErrorKind};
use crate::ir::{Function, FunctionId, Linkage, Module, Span, Variable, VariableRef};
use crate::parse::tree::{Declaration, Declarator, FunctionTree, Item, Name, Tree};
use std::collections::HashMap;
use symbols::{Entry, Symbol};

/// Names at module scope.
type Names<'t> = HashMap<&'t str, Entry>;

/// Resolves `tree`; trouble goes to `errors`.
pub(crate) fn resolve<'t>(tree: &Tree<'t>, errors: &mut Vec<Error>) -> Module {
    let mut module = Module {
        version: tree.version,
        target: tree.target.clone(),
        address_size: tree.address_size.unwrap_or(64),
        files: files(tree),
        ..Module::default()
    };
    let mut names = Names::new();
    // All names first: an initialiser may speak of a function that comes later.
    let mut variables: Vec<(usize, &Declaration<'t>, &Declarator<'t>)> = Vec::new();
    let mut bodies: Vec<(usize, &FunctionTree<'t>)> = Vec::new();
    for item in &tree.items {
        match item {
            Item::Variables(declaration) => {
                for declarator in &declaration.names {
                    let index = declare_variable(&mut module, &mut names, declaration, declarator, errors);
                    variables.extend(index.map(|i| (i, declaration, declarator)));
                }
            }
            Item::Function(function) => {
                if let Some(index) = declare_function(&mut module, &mut names, function, errors)
                    && function.body.is_some()
                {
                    bodies.push((index, function));
                }
            }
            Item::Unsupported { name, what } => {
                let entry = Entry { symbol: Symbol::Unsupported(what), span: name.span };
                // `.alias f, g` follows a prototype of `f`, which says nothing about where `f` is.
                names.insert(name.text, entry);
            }
        }
    }
    let mut gaps = variables::GAPS_MAX;
    for (index, declaration, declarator) in variables {
        if declarator.init.is_some() {
            let init = variables::initial_contents(
                &module.variables[index],
                declaration,
                declarator,
                &names,
                &mut gaps,
                errors,
            );
            module.variables[index].init = init;
        }
    }
    for (index, tree) in bodies {
        let body = function::body(&mut module, &names, index, tree, &mut gaps, errors);
        module.functions[index] = body;
    }
    module
}

fn files(tree: &Tree<'_>) -> Vec<String> {
    let mut files = vec![String::new()];
    for (number, path) in &tree.files {
        let number = *number as usize;
        if files.len() <= number {
            files.resize(number + 1, String::new());
        }
        files[number] = path.clone();
    }
    files
}

fn duplicate(name: Name<'_>, first: Span) -> Error {
    let message = format!("`{}` is declared twice", name.text);
    Error::new(ErrorKind::DuplicateName, name.span, message, "the second time").other(first, "the first time")
}

/// The index of a new variable; a declaration after an `.extern` one, or the reverse, is the same variable.
fn declare_variable<'t>(
    module: &mut Module,
    names: &mut Names<'t>,
    declaration: &Declaration<'t>,
    declarator: &Declarator<'t>,
    errors: &mut Vec<Error>,
) -> Option<usize> {
    let variable = variables::variable(declaration, declarator, errors);
    if let Some(entry) = names.get(declarator.name.text) {
        if let Symbol::Variable(VariableRef::Module(index)) = entry.symbol {
            let there = &mut module.variables[index as usize];
            if there.linkage == Linkage::Extern {
                *there = variable;
                return Some(index as usize);
            }
            if matches!(variable.linkage, Linkage::Extern | Linkage::Weak | Linkage::Common) {
                return None;
            }
        }
        errors.push(duplicate(declarator.name, entry.span));
        return None;
    }
    let index = module.variables.len();
    let symbol = Symbol::Variable(VariableRef::Module(index as u32));
    let masked = declarator.init.as_ref().is_some_and(variables::has_masked);
    let symbol = if masked { Symbol::Unsupported("a masked address in an initialiser") } else { symbol };
    names.insert(declarator.name.text, Entry { symbol, span: declarator.name.span });
    module.variables.push(variable);
    Some(index)
}

/// The index of a function; a prototype and its body share one.
fn declare_function<'t>(
    module: &mut Module,
    names: &mut Names<'t>,
    tree: &FunctionTree<'t>,
    errors: &mut Vec<Error>,
) -> Option<usize> {
    let mut function = Function {
        name: tree.name.text.to_string(),
        is_kernel: tree.is_kernel,
        linkage: tree.linkage,
        returns: variables::parameters(&tree.returns, errors),
        params: variables::parameters(&tree.params, errors),
        directives: tree.directives,
        has_body: tree.body.is_some(),
        span: tree.name.span,
        ..Function::default()
    };
    if let Some(entry) = names.get(tree.name.text) {
        let Symbol::Function(FunctionId(index)) = entry.symbol else {
            errors.push(duplicate(tree.name, entry.span));
            return None;
        };
        let there = &mut module.functions[index as usize];
        if there.has_body && function.has_body {
            errors.push(duplicate(tree.name, entry.span));
            return None;
        }
        let differs =
            |a: &[Variable], b: &[Variable]| a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.size != b.size);
        if differs(&there.params, &function.params) || differs(&there.returns, &function.returns) {
            let message = format!("`{}` is declared with other parameters before", tree.name.text);
            let error = Error::new(ErrorKind::DuplicateName, tree.name.span, message, "here");
            errors.push(error.other(there.span, "the first declaration"));
        }
        if function.has_body {
            if function.linkage == Linkage::Internal && there.linkage != Linkage::Extern {
                function.linkage = there.linkage;
            }
            *there = function;
        }
        return Some(index as usize);
    }
    let index = module.functions.len();
    let symbol = Symbol::Function(FunctionId(index as u32));
    names.insert(tree.name.text, Entry { symbol, span: tree.name.span });
    module.functions.push(function);
    Some(index)
}

//! Which definition a name means, across texts.

use std::collections::HashMap;

use super::{LinkError, LinkErrorKind, LinkPlace, Text};
use crate::ir::{Function, Linkage, Module, Space, Span, Variable};

/// Something of a module, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    Function(u32),
    Variable(u32),
}

/// How strongly a definition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Common,
    Weak,
    Strong,
}

/// The definition that a name means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) text: usize,
    pub(super) item: Item,
    strength: Strength,
}

/// The definitions of all names that texts share.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    by_name: HashMap<String, Definition>,
    /// Who declares a name: text and item.
    declared: HashMap<String, Vec<(usize, Item)>>,
}

/// What a module says of a symbol.
pub(super) enum Role {
    /// It belongs to its text.
    Own,
    /// Another text may define it.
    Declared,
    Defined,
}

/// Does `function` define its name for others?
pub(super) fn role_of_function(function: &Function) -> Role {
    match (function.has_body, function.linkage) {
        (true, Linkage::Internal) if !function.is_kernel => Role::Own,
        (true, _) => Role::Defined,
        (false, _) => Role::Declared,
    }
}

/// Does `variable`, of module scope, define its name for others?
pub(super) fn role_of_variable(variable: &Variable) -> Role {
    match variable.linkage {
        // All arrays of this kind name the dynamic memory of a launch.
        Linkage::Extern if variable.space == Space::Shared && variable.size == 0 => Role::Own,
        Linkage::Extern => Role::Declared,
        Linkage::Internal => Role::Own,
        _ => Role::Defined,
    }
}

fn strength(linkage: Linkage) -> Strength {
    match linkage {
        Linkage::Weak => Strength::Weak,
        Linkage::Common => Strength::Common,
        _ => Strength::Strong,
    }
}

/// Where an item stands.
pub(super) fn place(texts: &[Text], text: usize, item: Item) -> LinkPlace {
    let module = &texts[text].module;
    let span = match item {
        Item::Function(i) => module.functions.get(i as usize).map(|f| f.span),
        Item::Variable(i) => module.variables.get(i as usize).map(|v| v.span),
    };
    LinkPlace { text: texts[text].name.clone(), span: span.unwrap_or(Span::default()) }
}

fn bytes_of(texts: &[Text], definition: &Definition) -> u64 {
    match definition.item {
        Item::Variable(i) => texts[definition.text].module.variables.get(i as usize).map_or(0, |v| v.size),
        Item::Function(_) => 0,
    }
}

impl Symbols {
    /// Every shared name's definition, and what is wrong: among definitions, then of declarations.
    pub(super) fn collect(texts: &[Text]) -> (Symbols, Vec<LinkError>) {
        let mut symbols = Symbols::default();
        let mut errors = Vec::new();
        for at in 0..texts.len() {
            symbols.define(texts, at, &mut errors);
        }
        for at in 0..texts.len() {
            for (item, name) in declarations(&texts[at].module) {
                errors.extend(symbols.mismatch(texts, (at, item), name));
            }
        }
        (symbols, errors)
    }

    /// Takes in the last of `texts`, and says what is wrong between it and the others.
    pub(super) fn add_last(&mut self, texts: &[Text]) -> Vec<LinkError> {
        let mut errors = Vec::new();
        let Some(at) = texts.len().checked_sub(1) else { return errors };
        self.define(texts, at, &mut errors);
        // What was declared before, where this text has brought the definition.
        for (_, name) in definitions(&texts[at].module) {
            if self.by_name.get(name).is_some_and(|found| found.text == at) {
                let declared = self.declared.get(name).into_iter().flatten();
                errors.extend(declared.filter_map(|item| self.mismatch(texts, *item, name)));
            }
        }
        for (item, name) in declarations(&texts[at].module) {
            errors.extend(self.mismatch(texts, (at, item), name));
            self.declared.entry(name.to_string()).or_default().push((at, item));
        }
        errors
    }

    /// Takes in the definitions of a text.
    fn define(&mut self, texts: &[Text], text: usize, errors: &mut Vec<LinkError>) {
        let module = &texts[text].module;
        for (item, name) in definitions(module) {
            let linkage = match item {
                Item::Function(i) => module.functions[i as usize].linkage,
                Item::Variable(i) => module.variables[i as usize].linkage,
            };
            self.add(texts, name, Definition { text, item, strength: strength(linkage) }, errors);
        }
    }

    fn add(&mut self, texts: &[Text], name: &str, new: Definition, errors: &mut Vec<LinkError>) {
        let Some(old) = self.by_name.get_mut(name) else {
            self.by_name.insert(name.to_string(), new);
            return;
        };
        let wrong = |kind, difference: &str| LinkError {
            kind,
            name: name.to_string(),
            first: place(texts, old.text, old.item),
            second: Some(place(texts, new.text, new.item)),
            difference: difference.to_string(),
        };
        match (old.item, new.item) {
            (Item::Function(_), Item::Variable(_)) | (Item::Variable(_), Item::Function(_)) => {
                errors.push(wrong(LinkErrorKind::Mismatch, "a function in one text and a variable in another"));
            }
            _ if (old.strength, new.strength) == (Strength::Strong, Strength::Strong) => {
                errors.push(wrong(LinkErrorKind::Duplicate, ""));
            }
            _ if new.strength > old.strength => *old = new,
            _ if new.strength == Strength::Common && bytes_of(texts, &new) > bytes_of(texts, old) => *old = new,
            _ => {}
        }
    }

    /// What a declaration says otherwise than the definition, if there is one.
    fn mismatch(&self, texts: &[Text], (text, item): (usize, Item), name: &str) -> Option<LinkError> {
        let found = self.by_name.get(name)?;
        let (kind, difference) = difference(&texts[found.text].module, found.item, &texts[text].module, item)?;
        let (first, second) = (place(texts, found.text, found.item), Some(place(texts, text, item)));
        Some(LinkError { kind, name: name.to_string(), first, second, difference })
    }

    /// What `name` means to a text that declares it.
    pub(super) fn find(&self, name: &str) -> Option<&Definition> {
        self.by_name.get(name)
    }
}

/// What a module defines for others: functions, then variables.
fn definitions(module: &Module) -> impl Iterator<Item = (Item, &str)> {
    items(module, |role| matches!(role, Role::Defined))
}

/// What it declares that others may define.
fn declarations(module: &Module) -> impl Iterator<Item = (Item, &str)> {
    items(module, |role| matches!(role, Role::Declared))
}

fn items(module: &Module, is_wanted: fn(Role) -> bool) -> impl Iterator<Item = (Item, &str)> {
    let functions = module.functions.iter().enumerate().filter(move |(_, f)| is_wanted(role_of_function(f)));
    let functions = functions.map(|(i, f)| (Item::Function(i as u32), f.name.as_str()));
    let variables = module.variables.iter().enumerate().filter(move |(_, v)| is_wanted(role_of_variable(v)));
    functions.chain(variables.map(|(i, v)| (Item::Variable(i as u32), v.name.as_str())))
}

/// What a declaration says otherwise than the definition, if anything.
fn difference(
    defined_in: &Module,
    defined: Item,
    declared_in: &Module,
    declared: Item,
) -> Option<(LinkErrorKind, String)> {
    match (defined, declared) {
        (Item::Function(d), Item::Function(e)) => {
            let (d, e) = (defined_in.functions.get(d as usize)?, declared_in.functions.get(e as usize)?);
            let sizes = |list: &[Variable]| list.iter().map(|v| v.size).collect::<Vec<_>>();
            let same = sizes(&d.params) == sizes(&e.params) && sizes(&d.returns) == sizes(&e.returns);
            (!same).then(|| (LinkErrorKind::Prototype, "a function of other parameters or results".to_string()))
        }
        (Item::Variable(d), Item::Variable(e)) => {
            let (d, e) = (defined_in.variables.get(d as usize)?, declared_in.variables.get(e as usize)?);
            if d.space != e.space {
                return Some((LinkErrorKind::Mismatch, "in another state space".to_string()));
            }
            // `extern v[]` leaves the size to the definition.
            let differs = e.size != 0 && e.size != d.size;
            differs.then(|| {
                (LinkErrorKind::Mismatch, format!("{} bytes long in one text and {} in another", d.size, e.size))
            })
        }
        _ => Some((LinkErrorKind::Mismatch, "a function in one text and a variable in another".to_string())),
    }
}

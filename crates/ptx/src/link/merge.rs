//! Numbers of functions and variables from those of each text to those of the whole.

use std::collections::{HashMap, HashSet};

use super::symbols::{Item, Role, Symbols, place, role_of_function, role_of_variable};
use super::{LinkError, LinkErrorKind, Text};
use crate::ir::{
    AddressBase, Call, CallTarget, Function, FunctionId, Init, Instruction, Module, Operand, SourceLoc, Variable,
    VariableRef,
};

/// Where everything goes.
pub(super) struct Merge {
    texts: Vec<Numbers>,
    /// Declarations that nothing defines, by text and number there.
    open: Vec<(usize, Item)>,
}

/// The numbers of one text's items in the whole, and which of the items stay.
#[derive(Default)]
struct Numbers {
    functions: Vec<u32>,
    variables: Vec<u32>,
    kept: HashSet<Item>,
    files_from: u32,
}

impl Merge {
    /// Gives out the numbers.
    pub(super) fn new(texts: &[Text], symbols: &Symbols) -> Merge {
        let mut merge = Merge { texts: Vec::new(), open: Vec::new() };
        let (mut functions, mut variables, mut files) = (0u32, 0u32, 0u32);
        // Of declarations that nothing defines the first one of each name stays.
        let mut undefined: HashMap<&str, (usize, Item)> = HashMap::new();
        for (at, Text { module, .. }) in texts.iter().enumerate() {
            let mut numbers = Numbers { files_from: files, ..Numbers::default() };
            files += module.files.len().saturating_sub(1) as u32;
            let mut keep = |item: Item, name, role| {
                let kept = match role {
                    Role::Own => true,
                    _ => match symbols.find(name) {
                        Some(found) => (found.text, found.item) == (at, item),
                        None => *undefined.entry(name).or_insert((at, item)) == (at, item),
                    },
                };
                let next = match item {
                    Item::Function(_) => &mut functions,
                    Item::Variable(_) => &mut variables,
                };
                let number = *next;
                *next += u32::from(kept);
                if kept {
                    numbers.kept.insert(item);
                }
                number
            };
            for (i, f) in module.functions.iter().enumerate() {
                let number = keep(Item::Function(i as u32), &f.name, role_of_function(f));
                numbers.functions.push(number);
            }
            for (i, v) in module.variables.iter().enumerate() {
                let number = keep(Item::Variable(i as u32), &v.name, role_of_variable(v));
                numbers.variables.push(number);
            }
            merge.texts.push(numbers);
        }
        merge.point(texts, symbols, &undefined);
        merge
    }

    /// What does not stay is what stays in its place.
    fn point(&mut self, texts: &[Text], symbols: &Symbols, undefined: &HashMap<&str, (usize, Item)>) {
        for (at, Text { module, .. }) in texts.iter().enumerate() {
            let functions = module.functions.iter().map(|f| (f.name.as_str(), role_of_function(f)));
            let functions = functions.enumerate().map(|(i, (name, role))| (Item::Function(i as u32), name, role));
            let variables = module.variables.iter().map(|v| (v.name.as_str(), role_of_variable(v)));
            let variables = variables.enumerate().map(|(i, (name, role))| (Item::Variable(i as u32), name, role));
            for (item, name, role) in functions.chain(variables) {
                if matches!(role, Role::Own) {
                    continue;
                }
                let target = match symbols.find(name) {
                    Some(found) => (found.text, found.item),
                    None => {
                        self.open.push((at, item));
                        undefined.get(name).copied().unwrap_or((at, item))
                    }
                };
                match (item, target.1) {
                    (Item::Function(i), Item::Function(to)) => {
                        self.texts[at].functions[i as usize] = self.texts[target.0].functions[to as usize];
                    }
                    (Item::Variable(i), Item::Variable(to)) => {
                        self.texts[at].variables[i as usize] = self.texts[target.0].variables[to as usize];
                    }
                    // A function here and a variable there: an error of its own.
                    _ => {}
                }
            }
        }
    }

    /// What is used and neither defined nor provided.
    pub(super) fn unresolved(&self, texts: &[Text], provided: &[&str]) -> Vec<LinkError> {
        let mut errors = Vec::new();
        let mut told = HashSet::new();
        let used: Vec<HashSet<Item>> = texts.iter().map(|text| used_in(&text.module)).collect();
        for &(text, item) in &self.open {
            let name = name_of(&texts[text].module, item);
            let is_provided = matches!(item, Item::Function(_)) && provided.contains(&name);
            if used[text].contains(&item) && !is_provided && told.insert(name) {
                errors.push(LinkError {
                    kind: LinkErrorKind::Unresolved,
                    name: name.to_string(),
                    first: place(texts, text, item),
                    second: None,
                    difference: String::new(),
                });
            }
        }
        errors
    }

    /// The whole.
    pub(super) fn run(self, texts: Vec<Text>) -> Module {
        let mut whole = Module { address_size: 64, files: vec![String::new()], ..Module::default() };
        for (at, (Text { name, module }, numbers)) in texts.into_iter().zip(&self.texts).enumerate() {
            whole.version = whole.version.max(module.version);
            if newer(&module.target, &whole.target) {
                whole.target = module.target;
            }
            whole.address_size = module.address_size;
            whole.texts.push(name);
            whole.files.extend(module.files.into_iter().skip(1));
            for (i, mut function) in module.functions.into_iter().enumerate() {
                if numbers.kept.contains(&Item::Function(i as u32)) {
                    numbers.function(&mut function);
                    function.text = at as u32;
                    whole.functions.push(function);
                }
            }
            for (i, mut variable) in module.variables.into_iter().enumerate() {
                if numbers.kept.contains(&Item::Variable(i as u32)) {
                    numbers.variable(&mut variable);
                    whole.variables.push(variable);
                }
            }
        }
        whole
    }
}

impl Numbers {
    fn function(&self, function: &mut Function) {
        for variable in &mut function.variables {
            self.variable(variable);
        }
        for unsupported in &mut function.unsupported {
            self.loc(&mut unsupported.loc);
        }
        for Instruction { operands, loc, .. } in &mut function.body {
            self.loc(loc);
            operands.iter_mut().for_each(|operand| self.operand(operand));
        }
    }

    fn loc(&self, loc: &mut Option<SourceLoc>) {
        if let Some(loc) = loc
            && loc.file > 0
        {
            loc.file += self.files_from;
        }
    }

    fn operand(&self, operand: &mut Operand) {
        match operand {
            Operand::Address { base: AddressBase::Variable(variable), .. } | Operand::Variable { variable, .. } => {
                self.reference(variable);
            }
            Operand::Function(id) => self.id(id),
            Operand::Vector(parts) => parts.iter_mut().flatten().for_each(|part| self.operand(part)),
            Operand::Call(call) => {
                let Call { target, returns, args } = &mut **call;
                if let CallTarget::Direct(id) = target {
                    self.id(id);
                }
                returns.iter_mut().chain(args).for_each(|part| self.operand(part));
            }
            _ => {}
        }
    }

    fn variable(&self, variable: &mut Variable) {
        for piece in &mut variable.init {
            match piece {
                Init::Address { variable, .. } => self.reference(variable),
                Init::Function { function, .. } => self.id(function),
                Init::Bytes(_) => {}
            }
        }
    }

    fn reference(&self, variable: &mut VariableRef) {
        if let VariableRef::Module(i) = variable {
            *i = self.variables[*i as usize];
        }
    }

    fn id(&self, FunctionId(i): &mut FunctionId) {
        *i = self.functions[*i as usize];
    }
}

fn name_of(module: &Module, item: Item) -> &str {
    match item {
        Item::Function(i) => &module.functions[i as usize].name,
        Item::Variable(i) => &module.variables[i as usize].name,
    }
}

/// Every item of a module that code or an initialiser of it names.
fn used_in(module: &Module) -> HashSet<Item> {
    let mut used = HashSet::new();
    for piece in module.variables.iter().flat_map(|v| &v.init) {
        match piece {
            Init::Address { variable: VariableRef::Module(i), .. } => used.insert(Item::Variable(*i)),
            Init::Function { function: FunctionId(i), .. } => used.insert(Item::Function(*i)),
            _ => false,
        };
    }
    for operand in module.functions.iter().flat_map(|f| &f.body).flat_map(|i| &i.operands) {
        note(operand, &mut used);
    }
    used
}

fn note(operand: &Operand, used: &mut HashSet<Item>) {
    match operand {
        Operand::Address { base: AddressBase::Variable(VariableRef::Module(i)), .. }
        | Operand::Variable { variable: VariableRef::Module(i), .. } => {
            used.insert(Item::Variable(*i));
        }
        Operand::Function(FunctionId(i)) => {
            used.insert(Item::Function(*i));
        }
        Operand::Vector(parts) => parts.iter().flatten().for_each(|part| note(part, used)),
        Operand::Call(call) => {
            if let CallTarget::Direct(FunctionId(i)) = call.target {
                used.insert(Item::Function(i));
            }
            call.args.iter().chain(&call.returns).for_each(|part| note(part, used));
        }
        _ => {}
    }
}

/// Is the architecture of `new` above that of `old`?
fn newer(new: &[String], old: &[String]) -> bool {
    let number = |target: &[String]| {
        let digits = target.first()?.strip_prefix("sm_")?.trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<u32>().ok()
    };
    old.is_empty() || number(new) > number(old)
}

/// The first name that a module declares, uses and does not define.
pub(super) fn undefined_in(module: &Module, provided: &[&str]) -> Option<String> {
    let used = used_in(module);
    let is_used = |item| used.contains(&item);
    let function = module.functions.iter().enumerate().find(|(i, f)| {
        matches!(role_of_function(f), Role::Declared)
            && !f.is_kernel
            && !provided.contains(&f.name.as_str())
            && is_used(Item::Function(*i as u32))
    });
    let defined = module.variables.iter().filter(|v| matches!(role_of_variable(v), Role::Defined));
    let defined: HashSet<&str> = defined.map(|v| v.name.as_str()).collect();
    let variable = module.variables.iter().enumerate().find(|(i, v)| {
        matches!(role_of_variable(v), Role::Declared)
            && is_used(Item::Variable(*i as u32))
            && !defined.contains(v.name.as_str())
    });
    function.map(|(_, f)| f.name.clone()).or_else(|| variable.map(|(_, v)| v.name.clone()))
}

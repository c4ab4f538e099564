//! Variables: sizes, alignments, offsets of parameters, initial contents.

use super::Names;
use super::types::constant_bits;
use crate::error::{Error, ErrorKind};
use crate::ir::{Init, Linkage, Space, Span, Type, Variable};
use crate::parse::tree::{Const, Declaration, Declarator, InitTree, InitValue, Storage};

use super::symbols::Symbol;

/// Sizes beyond this are errors.
const BYTES_MAX: u64 = 1 << 40;

/// Bytes of zeros that the short rows of all initialisers of a module may need together.
pub(super) const GAPS_MAX: u64 = 1 << 26;

/// What a declaration without a name is called.
const NAMELESS: &str = "_";

/// One variable of a declaration, without its initial contents.
pub(super) fn variable(
    declaration: &Declaration<'_>,
    declarator: &Declarator<'_>,
    errors: &mut Vec<Error>,
) -> Variable {
    let span = declarator.name.span;
    let element = u64::from(declaration.ty.bytes()) * u64::from(declaration.vector);
    let mut count: Option<u64> = Some(1);
    for (i, dim) in declarator.dims.iter().enumerate() {
        // Only the first dimension may be left open: the initialiser gives it, or the launch.
        let dim = match dim {
            Some(dim) => *dim,
            None if i == 0 => match &declarator.init {
                Some(InitTree::List(list)) => list.len() as u64,
                _ => 0,
            },
            None => 0,
        };
        count = count.and_then(|c| c.checked_mul(dim));
    }
    let size = count.and_then(|c| c.checked_mul(element)).filter(|s| *s <= BYTES_MAX).unwrap_or_else(|| {
        let message = format!("`{}` is larger than 2^40 bytes", declarator.name.text);
        errors.push(Error::new(ErrorKind::Limit, span, message, "here"));
        0
    });
    let open = declarator.dims.contains(&None) && declarator.init.is_none();
    if open && declaration.linkage != Linkage::Extern && !matches!(declaration.place, Storage::Memory(Space::Param)) {
        let message = format!("`{}` has no size", declarator.name.text);
        let error = Error::new(ErrorKind::Directive, span, message, "only `.extern` arrays may leave it open");
        errors.push(error);
    }
    if declaration.ty == Type::Pred && matches!(declaration.place, Storage::Memory(_)) {
        let message = format!("`{}` is a predicate, and predicates live in registers", declarator.name.text);
        errors.push(Error::new(ErrorKind::Directive, span, message, "not in memory"));
    }
    let space = match declaration.place {
        Storage::Memory(space) => space,
        // Parameters in registers are given a place among the others; see `function`.
        Storage::Register => Space::Param,
    };
    Variable {
        name: declarator.name.text.to_string(),
        space,
        ty: declaration.ty,
        align: declaration.align.unwrap_or(element) as u32,
        size,
        offset: 0,
        linkage: declaration.linkage,
        managed: declaration.managed,
        init: Vec::new(),
        span,
    }
}

/// Whether the contents of `declarator` can be represented: a masked address cannot.
pub(super) fn has_masked(tree: &InitTree<'_>) -> bool {
    match tree {
        InitTree::Value(value, _) => matches!(value, InitValue::Masked),
        InitTree::List(list) => list.iter().any(has_masked),
    }
}

/// Parameters with their offsets by C's rules.
pub(super) fn parameters(declarations: &[Declaration<'_>], errors: &mut Vec<Error>) -> Vec<Variable> {
    let mut offset = 0u64;
    let mut list = Vec::new();
    for declaration in declarations {
        let mut parameter = match declaration.names.first() {
            Some(declarator) => variable(declaration, declarator, errors),
            None => Variable {
                name: NAMELESS.into(),
                space: Space::Param,
                ty: declaration.ty,
                align: declaration.align.unwrap_or(u64::from(declaration.ty.bytes())) as u32,
                size: u64::from(declaration.ty.bytes()),
                offset: 0,
                linkage: declaration.linkage,
                managed: false,
                init: Vec::new(),
                span: Span::default(),
            },
        };
        offset = offset.next_multiple_of(u64::from(parameter.align.max(1)));
        parameter.offset = offset;
        offset = offset.saturating_add(parameter.size);
        list.push(parameter);
    }
    list
}

/// The initial contents of `variable`.
pub(super) fn initial_contents(
    variable: &Variable,
    declaration: &Declaration<'_>,
    declarator: &Declarator<'_>,
    names: &Names<'_>,
    gaps: &mut u64,
    errors: &mut Vec<Error>,
) -> Vec<Init> {
    let Some(tree) = &declarator.init else { return Vec::new() };
    if !matches!(variable.space, Space::Global | Space::Const) {
        let message = format!("`{}` cannot have initial contents", variable.name);
        let error = Error::new(ErrorKind::Directive, variable.span, message, "neither `.global` nor `.const`");
        errors.push(error);
        return Vec::new();
    }
    let element = u64::from(declaration.ty.bytes());
    // Bytes of one entry at each depth of braces: the whole of it, a row of it, .., an element.
    let mut strides = vec![variable.size];
    let mut stride = variable.size;
    for dim in &declarator.dims {
        let count = dim.unwrap_or_else(|| match tree {
            InitTree::List(list) => list.len() as u64,
            InitTree::Value(..) => 1,
        });
        stride = stride.checked_div(count).unwrap_or(0);
        strides.push(stride);
    }
    let mut filler =
        Filler { ty: declaration.ty, element, names, gaps, span: variable.span, errors, out: Vec::new(), at: 0 };
    filler.fill(tree, &strides);
    let (at, out) = (filler.at, filler.out);
    if at > variable.size {
        let message = format!("`{}` has {} bytes, and its initial contents have {at}", variable.name, variable.size);
        errors.push(Error::new(ErrorKind::Directive, variable.span, message, "too much for it"));
    }
    out
}

struct Filler<'a, 't> {
    ty: Type,
    element: u64,
    names: &'a Names<'t>,
    gaps: &'a mut u64,
    span: Span,
    errors: &'a mut Vec<Error>,
    out: Vec<Init>,
    at: u64,
}

impl Filler<'_, '_> {
    fn fill(&mut self, tree: &InitTree<'_>, strides: &[u64]) {
        match tree {
            InitTree::Value(value, span) => self.value(value, *span),
            InitTree::List(list) => {
                let inner = strides.get(1..).unwrap_or(&[]);
                let stride = inner.first().copied().unwrap_or(self.element);
                for entry in list {
                    let start = self.at;
                    self.fill(entry, inner);
                    // A short row: zeros follow. Flat values in an array of rows are elements, not rows.
                    if matches!(entry, InitTree::List(..)) && self.at < start + stride {
                        self.zeros(start + stride - self.at);
                    }
                }
            }
        }
    }

    fn zeros(&mut self, count: u64) {
        if count > *self.gaps {
            let message = "initialisers leave too many bytes open between their values";
            let error = Error::new(ErrorKind::Limit, self.span, message, "here")
                .help(format!("{GAPS_MAX} bytes in all are filled with zeros"));
            self.errors.push(error);
            return;
        }
        *self.gaps -= count;
        self.bytes(&vec![0; count as usize]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        if let Some(Init::Bytes(last)) = self.out.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.out.push(Init::Bytes(bytes.to_vec()));
        }
    }

    fn value(&mut self, value: &InitValue<'_>, span: Span) {
        match value {
            InitValue::Const(value) => {
                // An integer is taken for a float's value here, unlike in an instruction.
                let value = match (*value, self.ty) {
                    (Const::Int { bits, .. }, Type::F32 | Type::F64) => Const::F64((bits as i64 as f64).to_bits()),
                    (value, _) => value,
                };
                match constant_bits(value, self.ty) {
                    Some(bits) => self.bytes(&bits.to_le_bytes()[..(self.element as usize).min(8)]),
                    None => {
                        let error = Error::new(ErrorKind::TypeMismatch, span, "a float cannot stand here", "here");
                        self.errors.push(error);
                    }
                }
            }
            InitValue::Masked => self.at += self.element,
            InitValue::Name { name, generic, addend } => {
                let bytes = self.element as u8;
                let entry = match self.names.get(name.text).map(|entry| entry.symbol) {
                    Some(Symbol::Variable(variable)) => {
                        Init::Address { variable, addend: *addend, generic: *generic, bytes }
                    }
                    Some(Symbol::Function(function)) => Init::Function { function, bytes },
                    _ => {
                        let message = format!("`{}` is not declared", name.text);
                        let label = "no variable or function of this name";
                        self.errors.push(Error::new(ErrorKind::UnknownName, name.span, message, label));
                        return;
                    }
                };
                self.at += self.element;
                self.out.push(entry);
            }
        }
    }
}

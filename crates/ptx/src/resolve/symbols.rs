//! Names in scope.
//!
//! PTX has one name space for registers, variables, functions and labels. A block opens a scope; a name in it
//! hides the same name outside. Whether a name begins with `%` means nothing.

use crate::ir::{FunctionId, Reg, Span, Type, VariableRef};
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symbol {
    /// A register; its number is given at its first use, so that registers nobody uses cost nothing.
    Register {
        ty: Type,
        lanes: u8,
        number: Option<Reg>,
    },
    Variable(VariableRef),
    Function(FunctionId),
    /// A name with a meaning we do not know.
    Unsupported(&'static str),
}

/// A symbol and where it was declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) symbol: Symbol,
    pub(super) span: Span,
}

/// The names of all open blocks.
///
/// A name maps to its entries, the innermost last, so that looking one up does not depend on how deep blocks nest.
#[derive(Debug, Default)]
pub(super) struct Scopes<'t> {
    names: HashMap<&'t str, Vec<(usize, Entry)>>,
    ranges: HashMap<&'t str, Vec<(usize, Range)>>,
    open: Vec<Scope<'t>>,
}

/// What one open block has declared.
#[derive(Debug, Default)]
struct Scope<'t> {
    block: usize,
    names: Vec<&'t str>,
    ranges: Vec<&'t str>,
}

/// `%r<8>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) count: u32,
    pub(super) ty: Type,
    pub(super) lanes: u8,
    pub(super) span: Span,
}

impl<'t> Scopes<'t> {
    /// The scope of a whole body.
    pub(super) fn new() -> Scopes<'t> {
        Scopes { open: vec![Scope::default()], ..Scopes::default() }
    }

    /// Opens the scope of `block`.
    pub(super) fn open(&mut self, block: usize) {
        self.open.push(Scope { block, ..Scope::default() });
    }

    /// Closes the innermost scope, but never that of the body.
    pub(super) fn close(&mut self) {
        if self.open.len() < 2 {
            return;
        }
        let Some(scope) = self.open.pop() else { return };
        for name in scope.names {
            self.names.get_mut(name).map(Vec::pop);
        }
        for prefix in scope.ranges {
            self.ranges.get_mut(prefix).map(Vec::pop);
        }
    }

    /// The innermost block.
    pub(super) fn block(&self) -> usize {
        self.open.last().map_or(0, |scope| scope.block)
    }

    fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Declares `name` in the innermost scope; what already has it there, if something has.
    pub(super) fn declare(&mut self, name: &'t str, entry: Entry) -> Option<Span> {
        if let Some(there) = self.declared_here(name) {
            return Some(there);
        }
        self.insert(name, self.depth(), entry);
        None
    }

    /// Declares `prefix0` to `prefix<count - 1>`.
    pub(super) fn declare_range(&mut self, prefix: &'t str, range: Range) -> Option<Span> {
        let depth = self.depth();
        let list = self.ranges.entry(prefix).or_default();
        if let Some((at, there)) = list.last()
            && *at == depth
        {
            return Some(there.span);
        }
        list.push((depth, range));
        self.open[depth].ranges.push(prefix);
        None
    }

    /// Where the innermost scope itself declares `name`.
    pub(super) fn declared_here(&self, name: &str) -> Option<Span> {
        let depth = self.depth();
        let exact = self.names.get(name).and_then(|list| list.last()).filter(|(at, _)| *at == depth);
        let in_range = || self.in_range(name).filter(|(at, _)| *at == depth);
        exact.copied().or_else(in_range).map(|(_, entry)| entry.span)
    }

    /// The innermost entry of `name`; members of a range get theirs here.
    pub(super) fn get(&mut self, name: &'t str) -> Option<&mut Entry> {
        let exact = self.names.get(name).and_then(|list| list.last()).map(|(at, _)| *at);
        // A range in a block further in hides a name further out. Most lookups find their entry, in the block where
        // all registers are declared, and need not look for a range.
        if exact.is_none_or(|at| at < self.depth())
            && let Some((at, entry)) = self.in_range(name)
            && exact.is_none_or(|exact| exact < at)
        {
            self.insert(name, at, entry);
        }
        self.names.get_mut(name)?.last_mut().map(|(_, entry)| entry)
    }

    fn insert(&mut self, name: &'t str, depth: usize, entry: Entry) {
        self.names.entry(name).or_default().push((depth, entry));
        self.open[depth].names.push(name);
    }

    /// The range whose prefix `name` has, whatever its number.
    pub(super) fn range_like(&self, name: &str) -> Option<(&'t str, u32)> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if prefix.len() == name.len() {
            return None;
        }
        let (prefix, list) = self.ranges.get_key_value(prefix)?;
        list.last().map(|(_, range)| (*prefix, range.count))
    }

    fn in_range(&self, name: &str) -> Option<(usize, Entry)> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // A prefix may itself end in digits, so every cut is tried; numbers have no leading zero, and ten digits.
        let cuts = (name.len() - digits..name.len()).rev().take(10);
        let found = cuts.filter_map(|cut| {
            let (prefix, number) = name.split_at(cut);
            if number.len() > 1 && number.starts_with('0') {
                return None;
            }
            let list = self.ranges.get(prefix)?;
            let number: u32 = number.parse().ok()?;
            let (at, range) = list.iter().rev().find(|(_, range)| number < range.count)?;
            let symbol = Symbol::Register { ty: range.ty, lanes: range.lanes, number: None };
            Some((*at, Entry { symbol, span: range.span }))
        });
        found.max_by_key(|(at, _)| *at)
    }
}

/// What a label stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Label {
    /// A place in the code, by its number in order of appearance.
    Code(u32),
    /// A `.callprototype`, by its number.
    Prototype(u32),
    /// A `.branchtargets` or `.calltargets`, by its number.
    Targets(u32),
}

/// The labels of one block. Labels are known before any instruction is read, because branches go forward.
#[derive(Debug, Default)]
pub(super) struct Block<'t> {
    pub(super) parent: Option<usize>,
    pub(super) labels: HashMap<&'t str, (Label, Span)>,
}

/// The label `name` as seen from `block`.
pub(super) fn find_label<'t>(blocks: &[Block<'t>], mut block: usize, name: &str) -> Option<Label> {
    loop {
        let here = blocks.get(block)?;
        if let Some((label, _)) = here.labels.get(name) {
            return Some(*label);
        }
        block = here.parent?;
    }
}

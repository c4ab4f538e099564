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

/// The names of one block.
#[derive(Debug, Default)]
pub(super) struct Scope<'t> {
    names: HashMap<&'t str, Entry>,
    /// `%r<8>`: prefix to count and type.
    ranges: HashMap<&'t str, (u32, Type, u8, Span)>,
    /// Its block, for labels.
    pub(super) block: usize,
}

impl<'t> Scope<'t> {
    pub(super) fn new(block: usize) -> Scope<'t> {
        Scope { block, ..Scope::default() }
    }

    /// Declares `name`; what already has it in this scope, if something has.
    pub(super) fn declare(&mut self, name: &'t str, entry: Entry) -> Option<Span> {
        if let Some(there) = self.get(name) {
            return Some(there.span);
        }
        self.names.insert(name, entry);
        None
    }

    /// Declares `prefix0` to `prefix<count - 1>`.
    pub(super) fn declare_range(
        &mut self,
        prefix: &'t str,
        count: u32,
        ty: Type,
        lanes: u8,
        span: Span,
    ) -> Option<Span> {
        if let Some((_, _, _, there)) = self.ranges.get(prefix) {
            return Some(*there);
        }
        self.ranges.insert(prefix, (count, ty, lanes, span));
        None
    }

    /// The entry of `name`; members of a range get theirs here.
    pub(super) fn get(&mut self, name: &'t str) -> Option<&mut Entry> {
        if !self.names.contains_key(name) {
            let entry = self.in_range(name)?;
            self.names.insert(name, entry);
        }
        self.names.get_mut(name)
    }

    /// The range whose prefix `name` has, whatever its number.
    pub(super) fn range_like(&self, name: &str) -> Option<(&'t str, u32)> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if prefix.len() == name.len() {
            return None;
        }
        self.ranges.get_key_value(prefix).map(|(prefix, (count, ..))| (*prefix, *count))
    }

    fn in_range(&self, name: &str) -> Option<Entry> {
        if self.ranges.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // A prefix may itself end in digits, so every cut is tried; numbers have no leading zero.
        (name.len() - digits..name.len()).find_map(|cut| {
            let (prefix, number) = name.split_at(cut);
            if number.len() > 1 && number.starts_with('0') {
                return None;
            }
            let (count, ty, lanes, span) = *self.ranges.get(prefix)?;
            let number: u32 = number.parse().ok()?;
            let symbol = Symbol::Register { ty, lanes, number: None };
            (number < count).then_some(Entry { symbol, span })
        })
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

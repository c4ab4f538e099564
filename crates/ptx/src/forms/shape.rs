//! The operands a row takes.
//!
//! A row writes them in a small language; one word is one operand:
//!
//! | letter | operand |
//! |---|---|
//! | `d` | a register that is written |
//! | `s` | a register or a constant that is read |
//! | `m` | an address in brackets |
//! | `g` | a texture or surface, and coordinates of this type in it, in brackets |
//! | `l` | a label |
//! | `t` | the name of a `.branchtargets` |
//! | `c` | everything of a call |
//! | `x` | anything: resolved, not checked |
//!
//! Behind the letter stands its type, the first of the form's where nothing is written: a digit picks another of
//! the form's types, `:u32` is that type whatever the form says, `w` is twice as wide as the first. Then marks:
//! `~` a wider register will do, `_` the sink `_` will do, `|` a second register may stand behind `|`,
//! `*` as many as the form's vector has, `$` special registers and variables and packed vectors (`mov`),
//! `@` a variable will do, `?` may be missing, `^4` a fragment of a matrix: a vector of four.

use crate::ir::Type;

/// One operand of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) role: Role,
    pub(crate) ty: OperandType,
    /// `~`
    pub(crate) wider: bool,
    /// `_`
    pub(crate) sink: bool,
    /// `|`
    pub(crate) pair: bool,
    /// `*`
    pub(crate) vector: bool,
    /// `$`
    pub(crate) mov: bool,
    /// `@`
    pub(crate) variable: bool,
    /// `?`
    pub(crate) optional: bool,
    /// How many registers a fragment has: `^4`. 0 where it is none.
    pub(crate) fragment: usize,
}

/// What an operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Dest,
    Source,
    Memory,
    Texel,
    Label,
    Targets,
    Call,
    Any,
}

/// How an operand's type follows from the form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OperandType {
    /// This one of the form's types.
    Nth(usize),
    /// Twice as wide as the form's first.
    Wide,
    /// Always this one.
    Fixed(Type),
}

/// Reads one operand of the table's language.
pub(crate) fn operand(text: &str) -> Operand {
    let mut chars = text.chars();
    let role = match chars.next() {
        Some('d') => Role::Dest,
        Some('s') => Role::Source,
        Some('m') => Role::Memory,
        Some('g') => Role::Texel,
        Some('l') => Role::Label,
        Some('t') => Role::Targets,
        Some('c') => Role::Call,
        Some('x') => Role::Any,
        _ => unreachable!("the table of forms has an operand that does not exist: {text}"),
    };
    let rest = chars.as_str();
    let marks_at = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != ':').unwrap_or(rest.len());
    let (ty, marks) = rest.split_at(marks_at);
    let ty = match ty {
        "" => OperandType::Nth(0),
        "w" => OperandType::Wide,
        _ => match (ty.strip_prefix(':').and_then(super::type_of_word), ty.parse()) {
            (Some(fixed), _) => OperandType::Fixed(fixed),
            (None, Ok(nth)) => OperandType::Nth(nth),
            _ => unreachable!("the table of forms has an operand type that does not exist: {text}"),
        },
    };
    let has = |mark| marks.contains(mark);
    Operand {
        role,
        ty,
        wider: has('~'),
        sink: has('_'),
        pair: has('|'),
        vector: has('*'),
        mov: has('$'),
        variable: has('@'),
        optional: has('?'),
        fragment: marks.split_once('^').map_or(0, |(_, lanes)| lanes.parse().unwrap_or(0)),
    }
}

/// The type with twice the bits.
pub(crate) fn widened(ty: Type) -> Type {
    match ty {
        Type::U8 => Type::U16,
        Type::U16 => Type::U32,
        Type::U32 => Type::U64,
        Type::S8 => Type::S16,
        Type::S16 => Type::S32,
        Type::S32 => Type::S64,
        Type::B8 => Type::B16,
        Type::B16 => Type::B32,
        Type::B32 => Type::B64,
        other => other,
    }
}

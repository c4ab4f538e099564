//! The tree the parser makes: statements as written, names not yet resolved.
//!
//! A body is flat: blocks are [`Statement::Open`] and [`Statement::Close`], so that no depth of braces is a depth
//! of our stack.

use crate::ir::{Directives, Linkage, SourceLoc, Space, Span, Type};

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct Tree<'t> {
    pub(crate) version: (u32, u32),
    pub(crate) target: Vec<String>,
    pub(crate) address_size: Option<u32>,
    pub(crate) files: Vec<(u32, String)>,
    pub(crate) items: Vec<Item<'t>>,
}

/// What stands at module scope.
#[derive(Debug)]
pub(crate) enum Item<'t> {
    Variables(Declaration<'t>),
    Function(Box<FunctionTree<'t>>),
    /// Something that gives a name a meaning we do not know (`.alias`, texture references); `what` names it.
    Unsupported {
        name: Name<'t>,
        what: &'static str,
    },
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

/// Where a declaration puts its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Register,
    Memory(Space),
}

/// `.reg .b32 %r<4>, %x;` or `.global .align 4 .b8 t[8] = {1, 2};` or one parameter.
#[derive(Debug)]
pub(crate) struct Declaration<'t> {
    pub(crate) place: Storage,
    pub(crate) linkage: Linkage,
    pub(crate) align: Option<u64>,
    pub(crate) ty: Type,
    /// 1, 2 or 4: `.v2`, `.v4`.
    pub(crate) vector: u8,
    /// `.texref` and its kin: no type that we know.
    pub(crate) opaque: bool,
    /// `.attribute(.managed)`.
    pub(crate) managed: bool,
    pub(crate) names: Vec<Declarator<'t>>,
}

/// One name of a declaration.
#[derive(Debug)]
pub(crate) struct Declarator<'t> {
    pub(crate) name: Name<'t>,
    /// `%r<8>`.
    pub(crate) range: Option<u32>,
    /// `[2][3]`; a `None` is `[]`.
    pub(crate) dims: Vec<Option<u64>>,
    pub(crate) init: Option<InitTree<'t>>,
}

/// An initialiser.
#[derive(Debug)]
pub(crate) enum InitTree<'t> {
    Value(InitValue<'t>, Span),
    List(Vec<InitTree<'t>>),
}

/// One value of an initialiser.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InitValue<'t> {
    Const(Const),
    Name {
        name: Name<'t>,
        generic: bool,
        addend: i64,
    },
    /// `0xff00(name)`: one byte of an address. Read, not represented.
    Masked,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Const {
    Int {
        bits: u64,
        unsigned: bool,
    },
    F32(u32),
    /// `0d..`, or a decimal fraction.
    F64(u64),
}

/// `.entry` or `.func`, with or without its body.
#[derive(Debug)]
pub(crate) struct FunctionTree<'t> {
    pub(crate) linkage: Linkage,
    pub(crate) is_kernel: bool,
    pub(crate) name: Name<'t>,
    pub(crate) returns: Vec<Declaration<'t>>,
    pub(crate) params: Vec<Declaration<'t>>,
    pub(crate) directives: Directives,
    pub(crate) body: Option<Vec<Statement<'t>>>,
}

/// One statement of a body.
#[derive(Debug)]
pub(crate) enum Statement<'t> {
    Open,
    Close,
    Declare(Declaration<'t>),
    Label(Name<'t>),
    Loc(SourceLoc),
    Prototype {
        name: Name<'t>,
        returns: Vec<Declaration<'t>>,
        params: Vec<Declaration<'t>>,
    },
    /// `.branchtargets` or `.calltargets`.
    Targets {
        name: Name<'t>,
        targets: Vec<Name<'t>>,
    },
    /// `.pragma "used_bytes_mask N"`: of the load that follows, only these bytes are used.
    UsedBytes(u32),
    Instruction(InstructionTree<'t>),
}

/// An instruction as written.
#[derive(Debug)]
pub(crate) struct InstructionTree<'t> {
    pub(crate) guard: Option<(Name<'t>, bool)>,
    pub(crate) opcode: &'t str,
    /// Modifiers without their dots.
    pub(crate) modifiers: Vec<&'t str>,
    /// `None` where the opcode is not known, and with it the shape of its operands.
    pub(crate) operands: Option<Vec<OperandTree<'t>>>,
    /// Of opcode and modifiers.
    pub(crate) span: Span,
}

/// An operand and its place.
#[derive(Debug)]
pub(crate) struct OperandTree<'t> {
    pub(crate) kind: OperandKind<'t>,
    pub(crate) span: Span,
}

/// An operand as written.
#[derive(Debug)]
pub(crate) enum OperandKind<'t> {
    /// `%r1`, `f`, `_`.
    Name(&'t str),
    /// `%tid.x`.
    Component(&'t str, &'t str),
    /// `array+4`.
    NameOffset(&'t str, i64),
    /// `!%p1`.
    Not(&'t str),
    Const(Const),
    /// `[base+offset]`; no base for `[16]`.
    Address {
        base: Option<&'t str>,
        offset: i64,
    },
    /// `array[3]`.
    Element {
        array: &'t str,
        index: i64,
    },
    Vector(Vec<OperandTree<'t>>),
    /// `d|p`.
    Pair(Box<OperandTree<'t>>, Box<OperandTree<'t>>),
    /// `(a, b)` of a call.
    List(Vec<OperandTree<'t>>),
    /// `[texture, {x, y}]`: what stands for the texture or the surface, and where in it.
    Texel {
        base: &'t str,
        at: Vec<OperandTree<'t>>,
    },
    /// Brackets with more in them than an address: tensor maps.
    Other,
}

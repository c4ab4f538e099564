//! What PTX text means once names are resolved and modifiers are decoded.
//!
//! A [`Module`] holds variables and functions. In a [`Function`] every register has a dense number, every label is
//! an index into `body`, and every instruction carries a [`Form`]: its opcode with all modifiers as fields.
//! Nothing here runs anything; the interpreter of `dacapo-sim` reads it.

use std::fmt;

/// A place in the PTX text; lines and columns count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character, in bytes.
    pub column: u32,
    /// Length in bytes.
    pub len: u32,
}

/// A place in the CUDA source, from a `.loc` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLoc {
    /// Index into [`Module::files`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where the compiler gave none.
    pub column: u32,
}

/// The type of a register, of a variable's elements, or in an instruction's modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    E4m3,
    E5m2,
    E4m3x2,
    E5m2x2,
    F32,
    F64,
    Pred,
}

impl Type {
    /// Size in bytes of a value of this type in memory; a predicate counts 1.
    pub fn bytes(self) -> u32 {
        use Type::*;
        match self {
            B8 | U8 | S8 | Pred | E4m3 | E5m2 => 1,
            B16 | U16 | S16 | F16 | Bf16 | E4m3x2 | E5m2x2 => 2,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 | Tf32 => 4,
            B64 | U64 | S64 | F64 => 8,
            B128 => 16,
        }
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Space {
    /// No space given: a generic address.
    #[default]
    Generic,
    Global,
    Shared,
    Local,
    Const,
    /// Kernel parameters, and the parameters and return values of device functions.
    Param,
    SharedCluster,
}

/// A whole PTX module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// `.target`, in the order written: `["sm_80", "debug"]`.
    pub target: Vec<String>,
    /// `.address_size`; 64 where absent.
    pub address_size: u32,
    /// Source files named by `.file`; index 0 stands for "unknown" and `.file 1` is at index 1.
    pub files: Vec<String>,
    /// Variables at module scope: global, const, shared.
    pub variables: Vec<Variable>,
    /// Functions; a prototype and its body are one entry.
    pub functions: Vec<Function>,
    /// Names of the texts that it was linked of ([`crate::link`]); empty for a module of one text.
    pub texts: Vec<String>,
}

/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Where a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableRef {
    /// Index into [`Module::variables`].
    Module(u32),
    /// Index into [`Function::variables`] of the enclosing function.
    Function(u32),
    /// Index into [`Function::params`] of the enclosing function.
    Param(u32),
    /// Index into [`Function::returns`] of the enclosing function.
    Return(u32),
}

/// `.visible`, `.extern`, `.weak`, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A variable with an address: global, const, shared, local, or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name as written (block-scoped names may repeat in one function).
    pub name: String,
    /// Its state space.
    pub space: Space,
    /// Type of one element.
    pub ty: Type,
    /// Alignment in bytes, the type's own where none is written.
    pub align: u32,
    /// Size in bytes; 0 for `.extern .shared pool[]`.
    pub size: u64,
    /// For parameters: offset in the parameter block by C's rules; else 0.
    pub offset: u64,
    /// Linkage.
    pub linkage: Linkage,
    /// `.attribute(.managed)`: the host sees it at the same address.
    pub managed: bool,
    /// Initial contents; shorter than `size` means zeros follow; empty means all zeros.
    pub init: Vec<Init>,
    /// Where it is declared.
    pub span: Span,
}

/// One piece of an initialiser, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Plain bytes, little endian.
    Bytes(Vec<u8>),
    /// The address of a variable, 8 bytes (or 4, where the element is); `generic` for `generic(name)`.
    /// Without `generic` it is the address in the variable's own space, which for global is the same.
    Address {
        /** The variable. */
        variable: VariableRef,
        /** Added to it. */
        addend: i64,
        /** Written `generic(..)`. */
        generic: bool,
        /** Bytes it takes. */
        bytes: u8,
    },
    /// The address of a function.
    Function {
        /** The function. */
        function: FunctionId,
        /** Bytes it takes. */
        bytes: u8,
    },
}

/// A kernel or a device function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Name.
    pub name: String,
    /// `.entry` rather than `.func`.
    pub is_kernel: bool,
    /// Linkage.
    pub linkage: Linkage,
    /// `.func`'s return values; space `Param`, also where the text has `.reg`: stores stand before each `ret` then.
    pub returns: Vec<Variable>,
    /// Parameters with their offsets; space `Param`, also where the text has `.reg`: loads stand at the entry then.
    pub params: Vec<Variable>,
    /// Registers by their dense number.
    pub registers: Vec<Register>,
    /// Variables declared in the body: shared, local, and the `.param` variables of calls.
    pub variables: Vec<Variable>,
    /// Instructions; empty for a prototype.
    pub body: Vec<Instruction>,
    /// False for a prototype without a body (`.extern .func vprintf`).
    pub has_body: bool,
    /// Call prototypes by label, for indirect calls.
    pub prototypes: Vec<Prototype>,
    /// Performance and shape directives.
    pub directives: Directives,
    /// What in this function is not supported, in order of appearance. Instructions concerned stand in `body`, so that
    /// labels keep their places: decoded where their form is known, else with [`Opcode::Unsupported`].
    pub unsupported: Vec<Unsupported>,
    /// Where the name stands.
    pub span: Span,
    /// Which of [`Module::texts`] it stands in; 0 for a module of one text.
    pub text: u32,
}

/// A declared register.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Name as written, with its number: `%r12`.
    pub name: String,
    /// Declared type; `.b32`, `.f32`, `.pred`, ...
    pub ty: Type,
}

/// A `.callprototype`.
#[derive(Clone, Debug, Default)]
pub struct Prototype {
    /// Its label.
    pub name: String,
    /// Return values.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
}

/// `.maxntid`, `.reqntid` and their kin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `.maxntid x, y, z`.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid x, y, z`.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster x, y, z`.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`.
    pub explicit_cluster: bool,
}

/// Something the text says that this crate or the interpreter does not know. The program may be right.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// The opcode with its modifiers, or the directive.
    pub form: String,
    /// Where.
    pub span: Span,
    /// The CUDA source line, if known.
    pub loc: Option<SourceLoc>,
    /// What is missing, as a sentence: "`wgmma` is not interpreted yet".
    pub why: String,
}

/// A register's dense number in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Opcode and modifiers.
    pub form: Form,
    /// `@%p` or `@!%p`.
    pub guard: Option<Guard>,
    /// Operands in the order written. Calls and branches: see [`Operand`].
    pub operands: Vec<Operand>,
    /// Where.
    pub span: Span,
    /// The CUDA source line by the last `.loc`.
    pub loc: Option<SourceLoc>,
    /// Of a load: the bytes that the program uses, by a `.pragma "used_bytes_mask"` in front of it; bit n is byte n.
    /// The others count as not read. `None`: all.
    pub used_bytes: Option<u32>,
}

/// The guard of a predicated instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: Reg,
    /// `@!%p`.
    pub negated: bool,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// `!%p` where a predicate is read.
    NotReg(Reg),
    /// An immediate as the bits it has in the instruction's operand type: integers cut to its size, and extended to
    /// 64 bits by their sign where the type is signed, else by zeros; floats converted to the type's precision.
    Imm(u64),
    /// A special register.
    Special(Special),
    /// `[base + offset]`.
    Address {
        /** What the offset counts from. */
        base: AddressBase,
        /** Bytes. */
        offset: i64,
    },
    /// The address of a variable, as in `mov.u64 %rd1, shared_array` (in its own space, not generic), plus bytes.
    Variable {
        /** Which. */
        variable: VariableRef,
        /** Bytes added. */
        offset: i64,
    },
    /// The address of a function, as in `mov.u64 %rd1, f`.
    Function(FunctionId),
    /// `{a, b, ..}`; `None` is the sink `_`.
    Vector(Vec<Option<Operand>>),
    /// `d|p`: two destinations; `None` is the sink `_`.
    Pair(Option<Reg>, Option<Reg>),
    /// `_` alone.
    Sink,
    /// A branch target: index into `body` (may equal `body.len()`: the end of the function).
    Label(u32),
    /// The targets of a `brx.idx`.
    Labels(Vec<u32>),
    /// A call: everything about it in one operand.
    Call(Box<Call>),
}

/// What a `call` calls and with what.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The callee.
    pub target: CallTarget,
    /// `.param` variables that receive the return values; a load behind the call fills registers.
    pub returns: Vec<Operand>,
    /// Arguments: `Operand::Variable` of space `Param` (whole variable). Registers and constants in the text are
    /// stored to such variables in front of the call.
    pub args: Vec<Operand>,
}

/// The callee of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallTarget {
    /// A function of this module.
    Direct(FunctionId),
    /// Through a register, with the index of its prototype in [`Function::prototypes`].
    Indirect(Reg, u32),
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register.
    Reg(Reg),
    /// A variable.
    Variable(VariableRef),
    /// Nothing: `[16]`.
    Absolute,
}

/// A special register, or the constant `WARP_SZ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    EnvReg(u8),
    ClusterId(u8),
    NclusterId(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtaRank,
    ClusterNctaRank,
    IsExplicitCluster,
    WarpSize,
}

/// An opcode with its modifiers as fields. A field that does not apply has its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The opcode.
    pub opcode: Opcode,
    /// The types in the order written: `cvt.rn.f32.s32` has `[F32, S32]`, `add.f32` has `[F32]`.
    pub types: Vec<Type>,
    /// State space of memory instructions, `cvta`, `isspacep`, `prefetch`; `Generic` where none is written.
    pub space: Space,
    /// `cvta.to`.
    pub to: bool,
    /// Vector width: 1, 2 or 4.
    pub vector: u8,
    /// Rounding, also to integer.
    pub rounding: Option<Rounding>,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`
    pub sat: bool,
    /// `.approx`
    pub approx: bool,
    /// `.full` of `div.full`
    pub full: bool,
    /// `.uni`
    pub uni: bool,
    /// `.nc`
    pub non_coherent: bool,
    /// `.relu`
    pub relu: bool,
    /// `.NaN` of min and max
    pub nan: bool,
    /// `.xorsign`, `.abs` and what else is rare: kept as text, so that nothing is dropped in silence.
    pub rare: Vec<String>,
    /// `.cc`: writes the carry flag.
    pub carry_out: bool,
    /// `addc`, `subc`, `madc`: reads the carry flag. (Their opcodes are `Add`, `Sub`, `Mad`.)
    pub carry_in: bool,
    /// `.lo`, `.hi`, `.wide`
    pub half: Option<Half>,
    /// Comparison of `setp`, `set`.
    pub compare: Option<Compare>,
    /// `.and`, `.or`, `.xor` behind the comparison of `setp`, `set`; or of `bar.red`, `redux`.
    pub bool_op: Option<BoolOp>,
    /// Operation of `atom`, `red`, `redux`, and `popc` of `bar.red`.
    pub reduce: Option<Reduce>,
    /// Memory order.
    pub order: Option<Order>,
    /// Scope of order: `.cta`, `.cluster`, `.gpu`, `.sys`; for `membar`: `.cta`, `.gl`, `.sys`.
    pub scope: Option<Scope>,
    /// Mode of `shfl`, `vote`, `match`, `testp`, `shf`, `bfind`, `prmt`, `barrier`.
    pub mode: Option<Mode>,
    /// `.aligned` of `barrier`, and always for `bar`: all lanes of the warp must arrive together.
    pub aligned: bool,
    /// Which row of the table of forms it was decoded by; [`Form::new`] gives none. It decides how it prints.
    pub row: Option<u16>,
}

impl Form {
    /// A form of `opcode` with nothing else set.
    pub fn new(opcode: Opcode) -> Form {
        Form {
            opcode,
            types: Vec::new(),
            space: Space::Generic,
            to: false,
            vector: 1,
            rounding: None,
            ftz: false,
            sat: false,
            approx: false,
            full: false,
            uni: false,
            non_coherent: false,
            relu: false,
            nan: false,
            rare: Vec::new(),
            carry_out: false,
            carry_in: false,
            half: None,
            compare: None,
            bool_op: None,
            reduce: None,
            order: None,
            scope: None,
            mode: None,
            aligned: false,
            row: None,
        }
    }

    /// The first type; `B32` where none is written.
    pub fn ty(&self) -> Type {
        self.types.first().copied().unwrap_or(Type::B32)
    }
}

/// Opcodes. `addc`, `subc` and `madc` are `Add`, `Sub`, `Mad` with [`Form::carry_in`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Opcode {
    Abs,
    Activemask,
    Add,
    And,
    Atom,
    Bar,
    BarWarp,
    BarrierCluster,
    Bfe,
    Bfi,
    Bfind,
    Bmsk,
    Bra,
    Brev,
    Brkpt,
    Brx,
    Call,
    Clz,
    Cnot,
    Copysign,
    Cos,
    CpAsync,
    Cvt,
    Cvta,
    Div,
    Dp2a,
    Dp4a,
    Elect,
    Ex2,
    Exit,
    Fence,
    Fma,
    Fns,
    Griddepcontrol,
    Isspacep,
    Ld,
    Ldmatrix,
    Ldu,
    Lg2,
    Lop3,
    Mad,
    Mad24,
    Mapa,
    Match,
    Max,
    Membar,
    Min,
    Mma,
    Mov,
    Mul,
    Mul24,
    Nanosleep,
    Neg,
    Not,
    Or,
    Popc,
    Prefetch,
    Prmt,
    Rcp,
    Red,
    Redux,
    Rem,
    Ret,
    Rsqrt,
    Sad,
    Selp,
    Set,
    Setp,
    Shf,
    Shfl,
    Shl,
    Shr,
    Sin,
    Slct,
    Sqrt,
    St,
    Sub,
    Suld,
    Sust,
    Tanh,
    Testp,
    Tex,
    Trap,
    Vote,
    Wmma,
    Xor,
    /// A form that is not known; see [`Function::unsupported`].
    Unsupported,
}

/// Rounding modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Rounding {
    Rn,
    Rz,
    Rm,
    Rp,
    Rna,
    Rs,
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

/// `.lo`, `.hi`, `.wide`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Half {
    Lo,
    Hi,
    Wide,
}

/// Comparisons; `Ltu` .. `Neu` are the unordered ones, `Lo`, `Ls`, `Hi`, `Hs` the unsigned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// How a predicate is combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// What an atomic or a reduction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Reduce {
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
    Inc,
    Dec,
    Exch,
    Cas,
    Popc,
}

/// Memory order of loads, stores, atomics and fences; `.volatile` is one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Order {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
    Volatile,
}

/// Scope of a memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Modes of instructions that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "PTX's own names")]
pub enum Mode {
    /// `shfl`
    Up,
    Down,
    Bfly,
    Idx,
    /// `vote`, `match`
    All,
    Any,
    Uni,
    Ballot,
    /// `testp`
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
    /// `shf`: direction and what happens to large amounts
    LeftWrap,
    LeftClamp,
    RightWrap,
    RightClamp,
    /// `bfind.shiftamt`
    ShiftAmount,
    /// `prmt`
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
    /// `bar`, `barrier`
    Sync,
    Arrive,
    Red,
    Wait,
    /// `griddepcontrol`
    LaunchDependents,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Function {
    /// Bytes of the parameter block: where the last parameter ends.
    pub fn param_bytes(&self) -> u64 {
        self.params.last().map_or(0, |last| last.offset + last.size)
    }
}

impl Module {
    /// The function called `name`.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| f.name == name).map(|i| FunctionId(i as u32))
    }

    /// The name of the text that function `id` stands in; `None` for a module that was not linked.
    pub fn text_of(&self, FunctionId(id): FunctionId) -> Option<&str> {
        let function = self.functions.get(id as usize)?;
        self.texts.get(function.text as usize).map(String::as_str)
    }

    /// Everything unsupported that `kernel` can reach by direct calls, itself first.
    pub fn unsupported_in(&self, kernel: FunctionId) -> Vec<&Unsupported> {
        let mut seen = vec![false; self.functions.len()];
        let mut stack = vec![kernel];
        let mut found = Vec::new();
        while let Some(FunctionId(i)) = stack.pop() {
            let Some(function) = self.functions.get(i as usize) else { continue };
            if std::mem::replace(&mut seen[i as usize], true) {
                continue;
            }
            found.extend(&function.unsupported);
            for instruction in &function.body {
                for operand in &instruction.operands {
                    if let Operand::Call(call) = operand
                        && let CallTarget::Direct(id) = call.target
                    {
                        stack.push(id);
                    }
                }
            }
        }
        found
    }
}

//! What a decoded instruction can be.
//!
//! A record names columns: a column is one register of all 32 lanes of a warp, `r32` for values up to 32 bits, `r64`
//! for 64 bits, `p` for predicates (one bit for each lane). Column numbers count from the frame of the function that
//! runs. Constants are columns too, filled when a frame is made, so no record has a variant for immediates. Values of
//! 16 bits stand zero-extended in their column.

use super::lanes::steps::{Cols, Pair, Step};
use crate::finding::Finding;

/// A column of the frame.
pub(super) type Col = u16;
/// No column: an operand that is absent, or a sink.
pub(super) const NONE: Col = Col::MAX;
/// A join that no program counter has: lanes meet again only when they return, or never.
pub(super) const AT_RETURN: u32 = u32::MAX;

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// Arithmetic and logic on integers.
    Int(IntOp),
    /// Arithmetic on f32 and f64.
    Float(FloatOp),
    /// Comparison into a predicate.
    Compare(CompareOp),
    /// Conversion.
    Convert(ConvertOp),
    /// Moves, packing, selection, predicates.
    Move(MoveOp),
    /// Arithmetic on f16 and bf16, and other rare forms done lane by lane; index into [`Code::rare`].
    Rare(u32),
    /// A load; index into [`Code::accesses`].
    Load(u32),
    /// A check that an access is aligned, and no access; index into [`Code::accesses`].
    Aligned(u32),
    /// A load of one byte that nobody relies on: zero where there is none.
    Peek(u32),
    /// A store; index into [`Code::accesses`].
    Store(u32),
    /// An atomic; index into [`Code::atomics`].
    Atomic(u32),
    /// A copy from global to shared memory; index into [`Code::copies`].
    CopyAsync(u32),
    /// An access through a texture or a surface; index into [`Code::texels`].
    Texel(u32),
    /// A special register into a column.
    Special {
        /// Target; in `r64` for those of 64 bits.
        d: Col,
        /// Which.
        which: dacapo_ptx::ir::Special,
    },
    /// The address of a variable of the frame in local space.
    FrameAddress { d: Col, offset: u32, wide: bool },
    /// The next record runs only for lanes whose predicate holds.
    Guard { p: Col, negated: bool },
    /// Does nothing to values: fences, prefetches, sleeps.
    Nothing,
    /// An unconditional branch.
    Jump { target: u32 },
    /// A branch of the lanes whose predicate holds; `join` is where both sides meet.
    Branch { p: Col, negated: bool, target: u32, join: u32 },
    /// A branch by index into [`Code::tables`].
    Switch { index: Col, table: u32, join: u32 },
    /// A call; index into [`Code::calls`].
    Call(u32),
    /// Back to the caller; from a kernel: exit.
    Return,
    /// The lanes are done.
    Exit,
    /// `trap` and `brkpt`.
    Trap,
    /// A barrier of the block; index into [`Code::barriers`].
    Barrier(u32),
    /// An operation among the lanes of a warp; index into [`Code::warp_ops`].
    Warp(u32),
    /// `activemask`.
    ActiveMask { d: Col },
    /// `griddepcontrol.launch_dependents`.
    LaunchDependents,
    /// `griddepcontrol.wait`.
    GridWait,
    /// Something that is not interpreted; index into [`Code::unsupported`].
    Unsupported(u32),
}

impl Op {
    /// Does nothing but compute, load or store: the next record is the one behind it.
    pub(super) fn is_simple(&self) -> bool {
        matches!(
            self,
            Op::Int(_)
                | Op::Float(_)
                | Op::Compare(_)
                | Op::Convert(_)
                | Op::Move(_)
                | Op::Rare(_)
                | Op::Load(_)
                | Op::Aligned(_)
                | Op::Peek(_)
                | Op::Store(_)
                | Op::Atomic(_)
                | Op::CopyAsync(_)
                | Op::Texel(_)
                | Op::Special { .. }
                | Op::FrameAddress { .. }
                | Op::Nothing
        )
    }
}

/// Integer codes. `W` stands for the width: 32 bits, or 64 where [`IntOp::wide`] is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Int {
    Add,
    Sub,
    Mul,
    MulHiS,
    MulHiU,
    Mad,
    MadHiS,
    MadHiU,
    AddSat,
    SubSat,
    DivS,
    DivU,
    RemS,
    RemU,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    /// Shift amounts are 32-bit columns at any width.
    Shl,
    ShrU,
    ShrS,
    Neg,
    Abs,
    /// These six give 32-bit columns at any width.
    Popc,
    Clz,
    FindU,
    FindS,
    FindShiftU,
    FindShiftS,
    Brev,
    SadS,
    SadU,
    /// Position and length are 32-bit columns.
    BfeU,
    BfeS,
    /// Inserts `a` into `b` at `c` for length `e`, the latter two 32-bit columns.
    Bfi,
    /// 32-bit factors, a 64-bit product (and addend).
    MulWideS,
    MulWideU,
    MadWideS,
    MadWideU,
    /// 32-bit only: `e` is the table.
    Lop3,
    /// 32-bit only: funnel shifts of `b:a` by `c`.
    ShfLeftWrap,
    ShfLeftClamp,
    ShfRightWrap,
    ShfRightClamp,
    /// Sign extension of the low 16 bits of a 32-bit column.
    Sext16,
    /// 32-bit add and multiply-add with carries: `e` is the flag's predicate column.
    AddCarry(Carry),
    SubCarry(Carry),
    MadLoCarry(Carry),
    MadHiUCarry(Carry),
    MadHiSCarry(Carry),
}

/// Whether the carry flag is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carry {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// An integer instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntOp {
    pub(super) code: Int,
    pub(super) wide: bool,
    pub(super) d: Col,
    pub(super) a: Col,
    pub(super) b: Col,
    pub(super) c: Col,
    pub(super) e: Col,
}

/// Float codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Float {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
    Sqrt,
    Min,
    Max,
    MinNan,
    MaxNan,
    Neg,
    Abs,
    CopySign,
    DivApprox,
    DivFull,
    RcpApprox,
    SqrtApprox,
    RsqrtApprox,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
}

/// Where a result is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A float instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatOp {
    pub(super) code: Float,
    pub(super) double: bool,
    pub(super) round: Round,
    pub(super) ftz: bool,
    pub(super) sat: bool,
    pub(super) d: Col,
    pub(super) a: Col,
    pub(super) b: Col,
    pub(super) c: Col,
}

/// Types that comparisons know; 16-bit integers are widened first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompareAs {
    U32,
    S32,
    U64,
    S64,
    F32,
    F32Ftz,
    F64,
}

/// A comparison of two columns into a predicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompareOp {
    pub(super) kind: CompareAs,
    pub(super) test: Test,
    pub(super) d: Col,
    pub(super) a: Col,
    pub(super) b: Col,
}

/// Comparisons; the last eight are of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// Number formats of conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Num {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

/// A conversion of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConvertOp {
    pub(super) to: Num,
    pub(super) from: Num,
    pub(super) round: Round,
    /// Float to float, but to an integral value (`.rni` and its kin).
    pub(super) integral: bool,
    pub(super) ftz: bool,
    pub(super) sat: bool,
    /// Negative results are zero.
    pub(super) relu: bool,
    /// What overflows is the largest finite number.
    pub(super) finite: bool,
    /// The target is a register of 16 bits.
    pub(super) d_short: bool,
    /// The columns are of 64 bits; may differ from what the formats need.
    pub(super) d_wide: bool,
    pub(super) a_wide: bool,
    pub(super) d: Col,
    pub(super) a: Col,
}

/// Moves, packing, selection, and logic on predicates.
#[derive(Clone, Copy, Debug)]
pub(super) enum MoveOp {
    Mov32 {
        d: Col,
        a: Col,
    },
    Mov64 {
        d: Col,
        a: Col,
    },
    MovP {
        d: Col,
        a: Col,
    },
    ConstP {
        d: Col,
        value: bool,
    },
    NotP {
        d: Col,
        a: Col,
    },
    AndP {
        d: Col,
        a: Col,
        b: Col,
    },
    OrP {
        d: Col,
        a: Col,
        b: Col,
    },
    XorP {
        d: Col,
        a: Col,
        b: Col,
    },
    /// `d = p ? a : b`.
    Sel32 {
        d: Col,
        a: Col,
        b: Col,
        p: Col,
    },
    Sel64 {
        d: Col,
        a: Col,
        b: Col,
        p: Col,
    },
    /// 64 bits of two 32-bit columns, the low one first.
    Pack64 {
        d: Col,
        lo: Col,
        hi: Col,
    },
    /// 32 bits of two columns of 16 bits.
    Pack32 {
        d: Col,
        lo: Col,
        hi: Col,
    },
    /// Parts of a 64-bit column; either may be [`NONE`].
    Unpack64 {
        lo: Col,
        hi: Col,
        a: Col,
    },
    /// Parts of a 32-bit column; either may be [`NONE`].
    Unpack32 {
        lo: Col,
        hi: Col,
        a: Col,
    },
    /// Is the generic address in the space?
    IsSpace {
        d: Col,
        a: Col,
        window: Window,
    },
}

/// The parts of the generic address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    Global,
    Shared,
    Local,
    Param,
}

/// Where a memory instruction looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Generic,
    Global,
    Const,
    Shared,
    /// An address in local space, from a register.
    Local,
    /// A variable of the frame: local arrays and the parameters of calls.
    Frame,
    /// The kernel's parameter block.
    Param,
}

/// How the address of a memory instruction is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) at: At,
    /// [`NONE`] where the offset is the whole address.
    pub(super) base: Col,
    /// The base is a 64-bit column.
    pub(super) wide: bool,
    pub(super) offset: i64,
}

/// A load or a store.
#[derive(Clone, Debug)]
pub(super) struct LoadStore {
    pub(super) address: Address,
    /// Bytes of one element: 1, 2, 4, 8.
    pub(super) bytes: u8,
    /// Loads extend the sign.
    pub(super) signed: bool,
    /// Columns of the elements; a sink is [`NONE`].
    pub(super) values: Vec<Value>,
    /// What is loaded is only stored elsewhere: a copy, which may carry padding that nobody ever wrote.
    pub(super) copied: bool,
    /// One element of 4 bytes in a 32-bit column, as nearly always.
    pub(super) word: bool,
}

impl LoadStore {
    /// Bytes of all elements.
    pub(super) fn total(&self) -> u64 {
        u64::from(self.bytes) * self.values.len() as u64
    }
}

/// A column of known width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) col: Col,
    pub(super) wide: bool,
    /// Columns of 16 bits take 16 bits of a wider load.
    pub(super) short: bool,
}

/// What an atomic does to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rmw {
    Add,
    AddF32,
    AddF64,
    AddF16,
    AddBf16,
    AddF16x2,
    AddBf16x2,
    And,
    Or,
    Xor,
    MinS,
    MinU,
    MaxS,
    MaxU,
    Inc,
    Dec,
    Exchange,
    CompareExchange,
}

/// An atomic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atomic {
    pub(super) address: Address,
    pub(super) op: Rmw,
    /// 2, 4 or 8.
    pub(super) bytes: u8,
    /// Old value; [`NONE`] for `red`.
    pub(super) d: Col,
    pub(super) a: Col,
    /// New value of a compare-exchange.
    pub(super) b: Col,
}

/// A copy from global to shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyAsync {
    pub(super) target: Address,
    pub(super) source: Address,
    /// 4, 8 or 16.
    pub(super) bytes: u8,
    /// 32-bit column of how many of them are read, or [`NONE`]: all.
    pub(super) count: Col,
}

/// What an access to a surface does outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    Trap,
    Clamp,
    Zero,
}

/// What is done with a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TexelKind {
    /// Read through a texture; by integers or by numbers with a point.
    Read { float: bool },
    /// Loaded through a surface.
    Load(Outside),
    /// Stored through a surface.
    Store(Outside),
}

/// An access through a texture or a surface.
#[derive(Clone, Debug)]
pub(super) struct TexelOp {
    pub(super) kind: TexelKind,
    /// 1, 2 or 3.
    pub(super) dimensions: usize,
    /// 64-bit column of the object.
    pub(super) handle: Col,
    /// 32-bit columns of the coordinates.
    pub(super) at: [Col; 3],
    /// What is read into, or stored.
    pub(super) values: Vec<Value>,
    /// Bytes of each of them, for surfaces.
    pub(super) bytes: u8,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) target: Target,
    /// (offset in the caller's frame memory, bytes) of each argument.
    pub(super) args: Vec<(u32, u32)>,
    /// The same for each return value.
    pub(super) returns: Vec<(u32, u32)>,
    /// Where the sides of an indirect call meet: the instruction behind it.
    pub(super) join: u32,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Index into [`Code::functions`].
    Function(u32),
    /// A 64-bit column that holds the address of a function.
    Indirect(Col),
    /// `__assertfail`.
    AssertFail,
    /// `cudaGraphSetConditional`.
    SetConditional,
    /// `vprintf`.
    Printf,
    /// `malloc`.
    Malloc,
    /// `free`.
    Free,
}

/// What a barrier does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierKind {
    Sync,
    Arrive,
    RedAnd,
    RedOr,
    RedPopc,
}

/// A barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    pub(super) kind: BarrierKind,
    /// Every lane of a warp has to come at once.
    pub(super) aligned: bool,
    /// 32-bit column of the barrier's number.
    pub(super) id: Col,
    /// 32-bit column of the number of threads, or [`NONE`]: all.
    pub(super) count: Col,
    /// Predicate that is reduced.
    pub(super) p: Col,
    /// A predicate for and, or; a 32-bit column for popc.
    pub(super) d: Col,
}

/// Operations among the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WarpKind {
    ShflUp,
    ShflDown,
    ShflBfly,
    ShflIdx,
    /// `d` is a predicate.
    VoteAll,
    VoteAny,
    VoteUni,
    /// `d` is a 32-bit column.
    Ballot,
    MatchAny,
    MatchAny64,
    MatchAll,
    MatchAll64,
    ReduxAdd,
    ReduxAnd,
    ReduxOr,
    ReduxXor,
    ReduxMinS,
    ReduxMinU,
    ReduxMaxS,
    ReduxMaxU,
    Sync,
    Elect,
    /// `a` is an index into [`Code::mmas`].
    Mma,
}

/// An operation among the lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpOp {
    pub(super) kind: WarpKind,
    pub(super) d: Col,
    /// The predicate behind `|`.
    pub(super) p: Col,
    pub(super) a: Col,
    pub(super) b: Col,
    pub(super) c: Col,
    /// 32-bit column of the member mask.
    pub(super) members: Col,
}

/// `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`: 32-bit columns of each fragment, in the manual's order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mma {
    pub(super) d: [Col; 4],
    pub(super) a: [Col; 4],
    pub(super) b: [Col; 2],
    pub(super) c: [Col; 4],
}

/// Forms that are done lane by lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rare {
    pub(super) kind: RareKind,
    pub(super) d: Col,
    pub(super) a: Col,
    pub(super) b: Col,
    pub(super) c: Col,
}

/// Which rare form. Columns are of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RareKind {
    Prmt(dacapo_ptx::ir::Mode),
    PrmtDefault,
    Fns,
    Dp4a {
        a_signed: bool,
        b_signed: bool,
    },
    Dp2a {
        a_signed: bool,
        b_signed: bool,
        high: bool,
    },
    Mul24 {
        signed: bool,
        high: bool,
    },
    BmskClamp,
    BmskWrap,
    /// Arithmetic on f16 (or bf16), one or two in a column.
    Half {
        code: Float,
        brain: bool,
        pair: bool,
        ftz: bool,
        sat: bool,
        relu: bool,
        xorsign: bool,
    },
    /// A subnormal f16 becomes a zero of its sign.
    FlushF16,
    /// Minimum or maximum of magnitudes of f32, with the signs of both multiplied.
    XorSign {
        least: bool,
        nan: bool,
        ftz: bool,
    },
    /// Two numbers of 8 bits: `a` above, `b` below; from f32, or both from the f16 pair `a`.
    ToEight {
        format: Eight,
        pair: bool,
        relu: bool,
    },
    /// A pair of f16 from two numbers of 8 bits.
    FromEight {
        format: Eight,
        relu: bool,
    },
}

/// Formats of 8 bits: 4 for the exponent and 3 for the mantissa, or 5 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eight {
    E4m3,
    E5m2,
}

/// A constant of 64 bits whose value may depend on where things were placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Const64 {
    Value(u64),
    /// Address of a module variable, plus bytes.
    Variable(u32, i64),
}

/// A decoded function.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    /// Number in the module.
    pub(super) source: u32,
    /// First record.
    pub(super) entry: u32,
    /// Columns of its frame.
    pub(super) columns32: u32,
    pub(super) columns64: u32,
    pub(super) predicates: u32,
    /// First constant column of each width, and the constants from there on.
    pub(super) constants32_at: u32,
    pub(super) constants32: Vec<u32>,
    pub(super) constants64_at: u32,
    pub(super) constants64: Vec<Const64>,
    /// Bytes of local arrays and call parameters of a frame.
    pub(super) frame_bytes: u32,
    /// (offset, bytes) of parameters and return values in the frame's memory.
    pub(super) params: Vec<(u32, u32)>,
    pub(super) returns: Vec<(u32, u32)>,
}

/// Where a record came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Number of the function in the module.
    pub(super) function: u32,
    /// Instruction in its body.
    pub(super) instruction: u32,
}

/// How a record is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Records from this one on that run one behind the other, whatever they do: nothing joins, leaves or branches among
    /// them. Zero for a record that is not of this kind.
    pub(super) straight: u16,
    /// The function for a record of lane code; [`LANES_END`](super::lanes::steps::LANES_END) for all else.
    pub(super) step: Step,
    /// The function for it and the record behind it, where both run straight on and the one needs the other; else 0.
    pub(super) pair: Pair,
    /// The columns of a record of lane code.
    pub(super) cols: Cols,
}

/// A kernel with all functions that it can reach, decoded. Function 0 is the kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    /// How each record is run.
    pub(super) plans: Vec<Plan>,
    pub(super) origins: Vec<Origin>,
    pub(super) functions: Vec<Function>,
    pub(super) accesses: Vec<LoadStore>,
    pub(super) atomics: Vec<Atomic>,
    pub(super) copies: Vec<CopyAsync>,
    pub(super) texels: Vec<TexelOp>,
    pub(super) calls: Vec<Call>,
    pub(super) tables: Vec<Vec<u32>>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) warp_ops: Vec<WarpOp>,
    pub(super) mmas: Vec<Mma>,
    pub(super) rare: Vec<Rare>,
    pub(super) unsupported: Vec<Finding>,
    /// Bytes of static shared memory.
    pub(super) static_shared: u32,
    /// Where dynamic shared memory begins: behind the static bytes, aligned as it is declared.
    pub(super) dynamic_shared_at: u32,
    /// Bytes of local memory along the deepest chain of calls without recursion.
    pub(super) local_bytes: u32,
}

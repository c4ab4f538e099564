//! The one table of PTX instructions: opcode, modifiers, operands, section of the manual, family, status.
//!
//! The checker, the decoder, the printer and the list in the documentation all read it. A row stands for every
//! form its slots can spell. The languages of the second and third string are described in [`slots`](super::slots)
//! and [`shape`](super::shape). Rows of one opcode are tried in order.
//!
//! Sections are those of the PTX ISA 8.4 manual; a later manual may have moved them by one or two.

use super::Family::{
    self, Approx, Async, Atomic, Barrier, Carry, Cluster, Compare, Control, Convert, F32, F64, Half, Integer, Logic,
    Memory, Move, Tensor, Warp,
};
use super::Status::{self, Later, Now};
use crate::ir::{Form, Mode, Opcode};

/// One row.
pub(crate) struct Row {
    /// The opcode as written.
    pub(crate) spelling: &'static str,
    /// What it decodes to.
    pub(crate) opcode: Opcode,
    /// Modifier slots.
    pub(crate) slots: &'static str,
    /// Operands.
    pub(crate) operands: &'static str,
    /// Family.
    pub(crate) family: Family,
    /// Whether the interpreter runs it.
    pub(crate) status: Status,
    /// PTX ISA section.
    pub(crate) section: &'static str,
    /// What the row says beyond its slots.
    pub(crate) preset: fn(&mut Form),
}

const fn row(
    spelling: &'static str,
    opcode: Opcode,
    slots: &'static str,
    operands: &'static str,
    family: Family,
    status: Status,
    section: &'static str,
) -> Row {
    Row { spelling, opcode, slots, operands, family, status, section, preset: nothing }
}

const fn with(row: Row, preset: fn(&mut Form)) -> Row {
    Row { preset, ..row }
}

/// Calls through a register are spelled like all others; their status stands here.
pub(crate) const INDIRECT_CALLS: Status = Now;

fn nothing(_: &mut Form) {}

fn carry_in(form: &mut Form) {
    form.carry_in = true;
}

fn aligned(form: &mut Form) {
    form.aligned = true;
}

fn left_wrap(form: &mut Form) {
    form.mode = Some(Mode::LeftWrap);
}

fn left_clamp(form: &mut Form) {
    form.mode = Some(Mode::LeftClamp);
}

fn right_wrap(form: &mut Form) {
    form.mode = Some(Mode::RightWrap);
}

fn right_clamp(form: &mut Form) {
    form.mode = Some(Mode::RightClamp);
}

/// All rows. `@` in the slots of an atomic stands for its memory order, scope and space, in the orders in use.
#[rustfmt::skip]
pub(crate) static ROWS: &[Row] = &[
    // Integer arithmetic.
    row("add",    Opcode::Add,    ":int",                    "d s s",              Integer, Now,   "9.7.1.1"),
    row("add",    Opcode::Add,    "sat :s32",                "d s s",              Integer, Now,   "9.7.1.1"),
    row("sub",    Opcode::Sub,    ":int",                    "d s s",              Integer, Now,   "9.7.1.2"),
    row("sub",    Opcode::Sub,    "sat :s32",                "d s s",              Integer, Now,   "9.7.1.2"),
    row("mul",    Opcode::Mul,    "lohi :int",               "d s s",              Integer, Now,   "9.7.1.3"),
    row("mul",    Opcode::Mul,    "wide :int16_32",          "dw s s",             Integer, Now,   "9.7.1.3"),
    row("mad",    Opcode::Mad,    "lohi :int",               "d s s s",            Integer, Now,   "9.7.1.4"),
    row("mad",    Opcode::Mad,    "wide :int16_32",          "dw s s sw",          Integer, Now,   "9.7.1.4"),
    row("mad",    Opcode::Mad,    "hi sat :s32",             "d s s s",            Integer, Now,   "9.7.1.4"),
    row("mul24",  Opcode::Mul24,  "lohi :int32",             "d s s",              Integer, Now,   "9.7.1.5"),
    row("mad24",  Opcode::Mad24,  "lohi :int32",             "d s s s",            Integer, Now,   "9.7.1.6"),
    row("mad24",  Opcode::Mad24,  "hi sat :s32",             "d s s s",            Integer, Now,   "9.7.1.6"),
    row("sad",    Opcode::Sad,    ":int",                    "d s s s",            Integer, Now,   "9.7.1.7"),
    row("div",    Opcode::Div,    ":int",                    "d s s",              Integer, Now,   "9.7.1.8"),
    row("rem",    Opcode::Rem,    ":int",                    "d s s",              Integer, Now,   "9.7.1.9"),
    row("abs",    Opcode::Abs,    ":signed",                 "d s",                Integer, Now,   "9.7.1.10"),
    row("neg",    Opcode::Neg,    ":signed",                 "d s",                Integer, Now,   "9.7.1.11"),
    row("min",    Opcode::Min,    ":int",                    "d s s",              Integer, Now,   "9.7.1.12"),
    row("min",    Opcode::Min,    "relu :s32",               "d s s",              Integer, Now,   "9.7.1.12"),
    row("max",    Opcode::Max,    ":int",                    "d s s",              Integer, Now,   "9.7.1.13"),
    row("max",    Opcode::Max,    "relu :s32",               "d s s",              Integer, Now,   "9.7.1.13"),
    row("popc",   Opcode::Popc,   ":bits32_64",              "d:u32 s",            Integer, Now,   "9.7.1.14"),
    row("clz",    Opcode::Clz,    ":bits32_64",              "d:u32 s",            Integer, Now,   "9.7.1.15"),
    row("bfind",  Opcode::Bfind,  "shiftamt? :int32_64",     "d:u32 s",            Integer, Now,   "9.7.1.16"),
    row("fns",    Opcode::Fns,    ":b32",                    "d s s s:b32",        Integer, Now,   "9.7.1.17"),
    row("brev",   Opcode::Brev,   ":bits32_64",              "d s",                Integer, Now,   "9.7.1.18"),
    row("bfe",    Opcode::Bfe,    ":int32_64",               "d s s:u32 s:u32",    Integer, Now,   "9.7.1.19"),
    row("bfi",    Opcode::Bfi,    ":bits32_64",              "d s s s:u32 s:u32",  Integer, Now,   "9.7.1.20"),
    row("bmsk",   Opcode::Bmsk,   "clampwrap :b32",          "d s s",              Integer, Now,   "9.7.1.22"),
    row("dp4a",   Opcode::Dp4a,   ":int32 :int32",           "d:b32 s:b32 s:b32 s:b32", Integer, Now, "9.7.1.23"),
    row("dp2a",   Opcode::Dp2a,   "lohi :int32 :int32",      "d:b32 s:b32 s:b32 s:b32", Integer, Now, "9.7.1.24"),

    // Extended precision: the carry flag.
    row("add",    Opcode::Add,    "cc :int32_64",            "d s s",              Carry,   Now,   "9.7.2.1"),
    with(row("addc", Opcode::Add, "cc? :int32_64",           "d s s",              Carry,   Now,   "9.7.2.2"), carry_in),
    row("sub",    Opcode::Sub,    "cc :int32_64",            "d s s",              Carry,   Now,   "9.7.2.3"),
    with(row("subc", Opcode::Sub, "cc? :int32_64",           "d s s",              Carry,   Now,   "9.7.2.4"), carry_in),
    row("mad",    Opcode::Mad,    "lohi cc :int32_64",       "d s s s",            Carry,   Now,   "9.7.2.5"),
    with(row("madc", Opcode::Mad, "lohi cc? :int32_64",      "d s s s",            Carry,   Now,   "9.7.2.6"), carry_in),

    // Floating point. `mad` of floats is `fma` on every target that is left.
    row("testp",  Opcode::Testp,  "testp_mode :float",       "d:pred s",           Compare, Now,   "9.7.3.1"),
    row("copysign", Opcode::Copysign, ":f32",                "d s s",              F32,     Now,   "9.7.3.2"),
    row("copysign", Opcode::Copysign, ":f64",                "d s s",              F64,     Now,   "9.7.3.2"),
    row("add",    Opcode::Add,    "rnd? ftz? sat? :f32",     "d s s",              F32,     Now,   "9.7.3.3"),
    row("add",    Opcode::Add,    "rnd? :f64",               "d s s",              F64,     Now,   "9.7.3.3"),
    row("sub",    Opcode::Sub,    "rnd? ftz? sat? :f32",     "d s s",              F32,     Now,   "9.7.3.4"),
    row("sub",    Opcode::Sub,    "rnd? :f64",               "d s s",              F64,     Now,   "9.7.3.4"),
    row("mul",    Opcode::Mul,    "rnd? ftz? sat? :f32",     "d s s",              F32,     Now,   "9.7.3.5"),
    row("mul",    Opcode::Mul,    "rnd? :f64",               "d s s",              F64,     Now,   "9.7.3.5"),
    row("fma",    Opcode::Fma,    "rnd ftz? sat? :f32",      "d s s s",            F32,     Now,   "9.7.3.6"),
    row("fma",    Opcode::Fma,    "rnd :f64",                "d s s s",            F64,     Now,   "9.7.3.6"),
    row("mad",    Opcode::Fma,    "rnd ftz? sat? :f32",      "d s s s",            F32,     Now,   "9.7.3.7"),
    row("mad",    Opcode::Fma,    "rnd :f64",                "d s s s",            F64,     Now,   "9.7.3.7"),
    row("div",    Opcode::Div,    "approx ftz? :f32",        "d s s",              Approx,  Now,   "9.7.3.8"),
    row("div",    Opcode::Div,    "full ftz? :f32",          "d s s",              Approx,  Now,   "9.7.3.8"),
    row("div",    Opcode::Div,    "rnd ftz? :f32",           "d s s",              F32,     Now,   "9.7.3.8"),
    row("div",    Opcode::Div,    "rnd :f64",                "d s s",              F64,     Now,   "9.7.3.8"),
    row("abs",    Opcode::Abs,    "ftz? :f32",               "d s",                F32,     Now,   "9.7.3.9"),
    row("abs",    Opcode::Abs,    ":f64",                    "d s",                F64,     Now,   "9.7.3.9"),
    row("neg",    Opcode::Neg,    "ftz? :f32",               "d s",                F32,     Now,   "9.7.3.10"),
    row("neg",    Opcode::Neg,    ":f64",                    "d s",                F64,     Now,   "9.7.3.10"),
    row("min",    Opcode::Min,    "ftz? :f32",               "d s s",              F32,     Now,   "9.7.3.11"),
    row("min",    Opcode::Min,    ":f64",                    "d s s",              F64,     Now,   "9.7.3.11"),
    row("min",    Opcode::Min,    "ftz? nan :f32",           "d s s",              F32,     Now,   "9.7.3.11"),
    row("min",    Opcode::Min,    "ftz? nan? xorsign abs :f32", "d s s",           F32,     Now,   "9.7.3.11"),
    row("max",    Opcode::Max,    "ftz? :f32",               "d s s",              F32,     Now,   "9.7.3.12"),
    row("max",    Opcode::Max,    ":f64",                    "d s s",              F64,     Now,   "9.7.3.12"),
    row("max",    Opcode::Max,    "ftz? nan :f32",           "d s s",              F32,     Now,   "9.7.3.12"),
    row("max",    Opcode::Max,    "ftz? nan? xorsign abs :f32", "d s s",           F32,     Now,   "9.7.3.12"),
    row("rcp",    Opcode::Rcp,    "approx ftz? :f32",        "d s",                Approx,  Now,   "9.7.3.13"),
    row("rcp",    Opcode::Rcp,    "rnd ftz? :f32",           "d s",                F32,     Now,   "9.7.3.13"),
    row("rcp",    Opcode::Rcp,    "rnd :f64",                "d s",                F64,     Now,   "9.7.3.13"),
    row("rcp",    Opcode::Rcp,    "approx ftz :f64",         "d s",                Approx,  Now,   "9.7.3.14"),
    row("sqrt",   Opcode::Sqrt,   "approx ftz? :f32",        "d s",                Approx,  Now,   "9.7.3.15"),
    row("sqrt",   Opcode::Sqrt,   "rnd ftz? :f32",           "d s",                F32,     Now,   "9.7.3.15"),
    row("sqrt",   Opcode::Sqrt,   "rnd :f64",                "d s",                F64,     Now,   "9.7.3.15"),
    row("rsqrt",  Opcode::Rsqrt,  "approx ftz? :float",      "d s",                Approx,  Now,   "9.7.3.16"),
    row("sin",    Opcode::Sin,    "approx ftz? :f32",        "d s",                Approx,  Now,   "9.7.3.18"),
    row("cos",    Opcode::Cos,    "approx ftz? :f32",        "d s",                Approx,  Now,   "9.7.3.19"),
    row("lg2",    Opcode::Lg2,    "approx ftz? :f32",        "d s",                Approx,  Now,   "9.7.3.20"),
    row("ex2",    Opcode::Ex2,    "approx ftz? :f32",        "d s",                Approx,  Now,   "9.7.3.21"),
    row("tanh",   Opcode::Tanh,   "approx :f32",             "d s",                Approx,  Now,   "9.7.3.22"),

    // Half precision.
    row("add",    Opcode::Add,    "rn? ftz? sat? :half",     "d s s",              Half,    Now,   "9.7.4.1"),
    row("add",    Opcode::Add,    "rn? :bhalf",              "d s s",              Half,    Now,   "9.7.4.1"),
    row("sub",    Opcode::Sub,    "rn? ftz? sat? :half",     "d s s",              Half,    Now,   "9.7.4.2"),
    row("sub",    Opcode::Sub,    "rn? :bhalf",              "d s s",              Half,    Now,   "9.7.4.2"),
    row("mul",    Opcode::Mul,    "rn? ftz? sat? :half",     "d s s",              Half,    Now,   "9.7.4.3"),
    row("mul",    Opcode::Mul,    "rn? :bhalf",              "d s s",              Half,    Now,   "9.7.4.3"),
    row("fma",    Opcode::Fma,    "rn ftz? sat? :half",      "d s s s",            Half,    Now,   "9.7.4.4"),
    row("fma",    Opcode::Fma,    "rn ftz? relu :half",      "d s s s",            Half,    Now,   "9.7.4.4"),
    row("fma",    Opcode::Fma,    "rn relu? :bhalf",         "d s s s",            Half,    Now,   "9.7.4.4"),
    row("neg",    Opcode::Neg,    "ftz? :half",              "d s",                Half,    Now,   "9.7.4.5"),
    row("neg",    Opcode::Neg,    ":bhalf",                  "d s",                Half,    Now,   "9.7.4.5"),
    row("abs",    Opcode::Abs,    "ftz? :half",              "d s",                Half,    Now,   "9.7.4.6"),
    row("abs",    Opcode::Abs,    ":bhalf",                  "d s",                Half,    Now,   "9.7.4.6"),
    row("min",    Opcode::Min,    "ftz? nan? :half",         "d s s",              Half,    Now,   "9.7.4.7"),
    row("min",    Opcode::Min,    "nan? :bhalf",             "d s s",              Half,    Now,   "9.7.4.7"),
    row("min",    Opcode::Min,    "ftz? nan? xorsign abs :half", "d s s",          Half,    Now,   "9.7.4.7"),
    row("min",    Opcode::Min,    "nan? xorsign abs :bhalf", "d s s",              Half,    Now,   "9.7.4.7"),
    row("max",    Opcode::Max,    "ftz? nan? :half",         "d s s",              Half,    Now,   "9.7.4.8"),
    row("max",    Opcode::Max,    "nan? :bhalf",             "d s s",              Half,    Now,   "9.7.4.8"),
    row("max",    Opcode::Max,    "ftz? nan? xorsign abs :half", "d s s",          Half,    Now,   "9.7.4.8"),
    row("max",    Opcode::Max,    "nan? xorsign abs :bhalf", "d s s",              Half,    Now,   "9.7.4.8"),
    row("tanh",   Opcode::Tanh,   "approx :anyhalf",         "d s",                Approx,  Now,   "9.7.4.9"),
    row("ex2",    Opcode::Ex2,    "approx :half",            "d s",                Approx,  Now,   "9.7.4.10"),
    row("ex2",    Opcode::Ex2,    "approx ftz :bhalf",       "d s",                Approx,  Now,   "9.7.4.10"),

    // Comparison and selection.
    row("set",    Opcode::Set,    "cmp_int :set_result :int",            "d s1 s1",         Compare, Now, "9.7.5.1"),
    row("set",    Opcode::Set,    "cmp_int bool :set_result :int",       "d s1 s1 s:pred",  Compare, Now, "9.7.5.1"),
    row("set",    Opcode::Set,    "cmp_eq :set_result :bits",            "d s1 s1",         Compare, Now, "9.7.5.1"),
    row("set",    Opcode::Set,    "cmp_eq bool :set_result :bits",       "d s1 s1 s:pred",  Compare, Now, "9.7.5.1"),
    row("set",    Opcode::Set,    "cmp_float ftz? :set_result :float",   "d s1 s1",         Compare, Now, "9.7.5.1"),
    row("set",    Opcode::Set,    "cmp_float bool ftz? :set_result :float", "d s1 s1 s:pred", Compare, Now, "9.7.5.1"),
    row("setp",   Opcode::Setp,   "cmp_int :int",            "d:pred_| s s",       Compare, Now,   "9.7.5.2"),
    row("setp",   Opcode::Setp,   "cmp_int bool :int",       "d:pred_| s s s:pred", Compare, Now,  "9.7.5.2"),
    row("setp",   Opcode::Setp,   "cmp_eq :bits",            "d:pred_| s s",       Compare, Now,   "9.7.5.2"),
    row("setp",   Opcode::Setp,   "cmp_eq bool :bits",       "d:pred_| s s s:pred", Compare, Now,  "9.7.5.2"),
    row("setp",   Opcode::Setp,   "cmp_float ftz? :float",   "d:pred_| s s",       Compare, Now,   "9.7.5.2"),
    row("setp",   Opcode::Setp,   "cmp_float bool ftz? :float", "d:pred_| s s s:pred", Compare, Now, "9.7.5.2"),
    row("selp",   Opcode::Selp,   ":select",                 "d s s s:pred",       Compare, Now,   "9.7.5.3"),
    row("slct",   Opcode::Slct,   ":select :s32",            "d s s s1",           Compare, Now,   "9.7.5.4"),
    row("slct",   Opcode::Slct,   "ftz? :select :f32",       "d s s s1",           Compare, Now,   "9.7.5.4"),
    row("set",    Opcode::Set,    "cmp_float ftz? :set_half :anyhalf",   "d s1 s1",           Half, Now,   "9.7.6.1"),
    row("set",    Opcode::Set,    "cmp_float bool ftz? :set_half :anyhalf", "d s1 s1 s:pred", Half, Now,   "9.7.6.1"),
    row("set",    Opcode::Set,    "cmp_float ftz? :half1 :select",       "d s1 s1",           Half, Now,   "9.7.6.1"),
    row("setp",   Opcode::Setp,   "cmp_float ftz? :anyhalf", "d:pred_| s s",       Half,    Now,   "9.7.6.2"),
    row("setp",   Opcode::Setp,   "cmp_float bool ftz? :anyhalf", "d:pred_| s s s:pred", Half, Now,   "9.7.6.2"),

    // Logic and shifts.
    row("and",    Opcode::And,    ":bits_pred",              "d s s",              Logic,   Now,   "9.7.7.1"),
    row("or",     Opcode::Or,     ":bits_pred",              "d s s",              Logic,   Now,   "9.7.7.2"),
    row("xor",    Opcode::Xor,    ":bits_pred",              "d s s",              Logic,   Now,   "9.7.7.3"),
    row("not",    Opcode::Not,    ":bits_pred",              "d s",                Logic,   Now,   "9.7.7.4"),
    row("cnot",   Opcode::Cnot,   ":bits",                   "d s",                Logic,   Now,   "9.7.7.5"),
    row("lop3",   Opcode::Lop3,   ":b32",                    "d s s s s",          Logic,   Now,   "9.7.7.6"),
    row("lop3",   Opcode::Lop3,   "andor :b32",              "d_| s s s s s:pred", Logic,   Now,   "9.7.7.6"),
    with(row("shf", Opcode::Shf,  "=l =wrap :b32",           "d s s s:u32",        Logic,   Now,   "9.7.7.7"), left_wrap),
    with(row("shf", Opcode::Shf,  "=l =clamp :b32",          "d s s s:u32",        Logic,   Now,   "9.7.7.7"), left_clamp),
    with(row("shf", Opcode::Shf,  "=r =wrap :b32",           "d s s s:u32",        Logic,   Now,   "9.7.7.7"), right_wrap),
    with(row("shf", Opcode::Shf,  "=r =clamp :b32",          "d s s s:u32",        Logic,   Now,   "9.7.7.7"), right_clamp),
    row("shl",    Opcode::Shl,    ":bits",                   "d s s:u32",          Logic,   Now,   "9.7.7.8"),
    row("shr",    Opcode::Shr,    ":bits_int",               "d s s:u32",          Logic,   Now,   "9.7.7.9"),

    // Moving data.
    row("mov",    Opcode::Mov,    ":mov",                    "d$ s$",              Move,    Now,   "9.7.8.3"),
    row("mov",    Opcode::Mov,    ":anyhalf",                "d$ s$",              Half,    Now,   "9.7.8.3"),
    row("mov",    Opcode::Mov,    ":b128",                   "d$ s$",              Move,    Later, "9.7.8.4"),
    row("shfl",   Opcode::Shfl,   "=sync shfl_mode :b32",    "d| s s:b32 s:b32 s:b32", Warp, Now,  "9.7.8.6"),
    row("prmt",   Opcode::Prmt,   ":b32 prmt_mode?",         "d s s s",            Logic,   Now,   "9.7.8.7"),
    row("ld",     Opcode::Ld,     "ld_order? scope? space_ld? cache_ld? nc? evict1? evict2? cache_hint? prefetch2? vec? :mem",
                                                             "d~* m s:b64?",       Memory,  Now,   "9.7.8.8"),
    row("ld",     Opcode::Ld,     "ld_order? scope? space_cluster vec? :mem", "d~* m", Cluster, Later, "9.7.8.8"),
    row("ld",     Opcode::Ld,     "ld_order? scope? space_ld? nc? evict1? evict2? cache_hint? prefetch2? vec? :b128",
                                                             "x m s:b64?",         Memory,  Later, "9.7.8.8"),
    row("ldu",    Opcode::Ldu,    "global? vec? :mem",       "d~* m",              Memory,  Now,   "9.7.8.10"),
    row("st",     Opcode::St,     "st_order? scope? space_ld? cache_st? evict1? evict2? cache_hint? vec? :mem",
                                                             "m s~* s:b64?",       Memory,  Now,   "9.7.8.11"),
    row("st",     Opcode::St,     "st_order? scope? space_cluster vec? :mem", "m s~*", Cluster, Later, "9.7.8.11"),
    row("st",     Opcode::St,     "st_order? scope? space_ld? evict1? evict2? cache_hint? vec? :b128",
                                                             "m x s:b64?",         Memory,  Later, "9.7.8.11"),
    row("prefetch", Opcode::Prefetch, "prefetch_space? level", "m",                Memory,  Now,   "9.7.8.14"),
    row("prefetchu", Opcode::Prefetch, "=L1",                "m",                  Memory,  Now,   "9.7.8.14"),
    row("isspacep", Opcode::Isspacep, "space_ld",            "d:pred s:b32~",      Memory,  Now,   "9.7.8.18"),
    row("isspacep", Opcode::Isspacep, "space_cluster",       "d:pred s:b32~",      Cluster, Later, "9.7.8.18"),
    row("cvta",   Opcode::Cvta,   "to? space_ld :u64",       "d s@",               Memory,  Now,   "9.7.8.19"),
    row("cvta",   Opcode::Cvta,   "to? space_ld :u32",       "d s@",               Memory,  Later, "9.7.8.19"),
    row("cvta",   Opcode::Cvta,   "to? space_cluster :u32_64", "d s@",             Cluster, Later, "9.7.8.19"),
    row("mapa",   Opcode::Mapa,   "space_cluster? :u32_64",  "d s@ s:u32",         Cluster, Later, "9.7.8.22"),

    // Conversion.
    row("cvt",    Opcode::Cvt,    "sat? :int8_64 :int8_64",  "d~ s1~$",            Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rndi ftz? sat? :int8_64 :float", "d~ s1~",      Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rnd ftz? sat? :float :int8_64", "d~ s1~$",      Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rndi? ftz? sat? :f32 :f32", "d~ s1~",           Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rndi? sat? :f64 :f64",    "d~ s1~",             Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rnd ftz? sat? :f32 :f64", "d~ s1~",             Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "ftz? sat? :f64 :f32",     "d~ s1~",             Convert, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rnd? relu? satfinite? ftz? sat? :half1 :scalar", "d~ s1~", Half, Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rnd? ftz? sat? :scalar :half1", "d~ s1~",       Half,    Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rndi ftz? sat? :scalar :half1", "d~ s1~",       Half,    Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rnrz relu? satfinite? :half2 :f32", "d s1 s1",  Half,    Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rs relu? satfinite? :half2 :f32", "d s1 s1 s:b32", Half, Later, "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rna relu? satfinite? :tf32 :f32", "d s1",       Tensor,  Later, "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rn satfinite relu? :fp8x2 :f32", "d s1 s1",     Half,    Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rn satfinite relu? :fp8x2 :f16x2", "d s1",      Half,    Now,   "9.7.8.20"),
    row("cvt",    Opcode::Cvt,    "rn relu? :f16x2 :fp8x2",  "d s1",               Half,    Now,   "9.7.8.20"),

    // Copies behind the program's back.
    row("tex",    Opcode::Tex,    "dims =v4 :set_result :coordinate", "d_^4 g1",      Memory,  Now,   "9.7.9.3"),
    row("suld",   Opcode::Suld,   "=b dims vec? :surface outside", "d~* g:s32",       Memory,  Now,   "9.7.10.1"),
    row("sust",   Opcode::Sust,   "=b dims vec? :surface outside", "g:s32 s~*",       Memory,  Now,   "9.7.10.2"),
    row("cp",     Opcode::CpAsync, "=async cache_cp shared =global cache_hint? prefetch2?", "m m s:u32 s:u32? s:b64?",
                                                                                   Async,   Later, "9.7.8.24"),
    row("cp",     Opcode::CpAsync, "=async cp_group",        "",                   Async,   Later, "9.7.8.24"),
    row("cp",     Opcode::CpAsync, "=async wait_group",      "x",                  Async,   Later, "9.7.8.24"),

    // Control.
    row("bra",    Opcode::Bra,    "uni?",                    "l",                  Control, Now,   "9.7.11.3"),
    row("brx",    Opcode::Brx,    "=idx uni?",               "s:u32 t",            Control, Now,   "9.7.11.4"),
    row("call",   Opcode::Call,   "uni?",                    "c",                  Control, Now,   "9.7.11.5"),
    row("ret",    Opcode::Ret,    "uni?",                    "",                   Control, Now,   "9.7.11.6"),
    row("exit",   Opcode::Exit,   "",                        "",                   Control, Now,   "9.7.11.7"),
    row("brkpt",  Opcode::Brkpt,  "",                        "",                   Control, Now,   "9.7.18.1"),
    row("nanosleep", Opcode::Nanosleep, ":u32",              "s",                  Barrier, Now,   "9.7.18.2"),
    row("trap",   Opcode::Trap,   "",                        "",                   Control, Now,   "9.7.18.4"),

    // Barriers and fences. `bar` is `barrier` with `.aligned`.
    with(row("bar", Opcode::Bar,  "cta_word? sync",          "s:u32 s:u32?",       Barrier, Now,   "9.7.12.1"), aligned),
    with(row("bar", Opcode::Bar,  "cta_word? arrive",        "s:u32 s:u32",        Barrier, Now,   "9.7.12.1"), aligned),
    with(row("bar", Opcode::Bar,  "cta_word? red red_popc :u32", "d s:u32 s:u32? s:pred", Barrier, Now, "9.7.12.1"), aligned),
    with(row("bar", Opcode::Bar,  "cta_word? red andor :pred", "d s:u32 s:u32? s:pred", Barrier, Now, "9.7.12.1"), aligned),
    row("barrier", Opcode::Bar,   "cta_word? sync aligned?", "s:u32 s:u32?",       Barrier, Now,   "9.7.12.1"),
    row("barrier", Opcode::Bar,   "cta_word? arrive aligned?", "s:u32 s:u32",      Barrier, Now,   "9.7.12.1"),
    row("barrier", Opcode::Bar,   "cta_word? red red_popc aligned? :u32", "d s:u32 s:u32? s:pred", Barrier, Now, "9.7.12.1"),
    row("barrier", Opcode::Bar,   "cta_word? red andor aligned? :pred", "d s:u32 s:u32? s:pred", Barrier, Now, "9.7.12.1"),
    row("bar",    Opcode::BarWarp, "=warp =sync",            "s:b32",              Barrier, Now,   "9.7.12.2"),
    row("barrier", Opcode::BarrierCluster, "=cluster arrivewait cluster_order? aligned?", "", Cluster, Later, "9.7.12.3"),
    row("membar", Opcode::Membar, "membar_level",            "",                   Barrier, Now,   "9.7.12.4"),
    row("fence",  Opcode::Fence,  "fence_order? scope",      "",                   Barrier, Now,   "9.7.12.4"),

    // Atomics.
    row("atom",   Opcode::Atom,   "@ red_bits cache_hint? :bits32_64",    "d_ m s s:b64?",   Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_minmax cache_hint? :atom_minmax", "d_ m s s:b64?",  Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_add cache_hint? :atom_add",      "d_ m s s:b64?",   Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_add cache_hint? :float",         "d_ m s s:b64?",   Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_incdec cache_hint? :u32",        "d_ m s s:b64?",   Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_exch cache_hint? :bits32_64",    "d_ m s s:b64?",   Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_cas cache_hint? :bits",          "d_ m s s s:b64?", Atomic, Now, "9.7.12.5"),
    row("atom",   Opcode::Atom,   "@ red_add noftz cache_hint? :anyhalf", "d_ m s s:b64?",   Half,   Now,   "9.7.12.5"),
    row("red",    Opcode::Red,    "@ red_bits cache_hint? :bits32_64",    "m s s:b64?",      Atomic, Now, "9.7.12.6"),
    row("red",    Opcode::Red,    "@ red_minmax cache_hint? :atom_minmax", "m s s:b64?",     Atomic, Now, "9.7.12.6"),
    row("red",    Opcode::Red,    "@ red_add cache_hint? :atom_add",      "m s s:b64?",      Atomic, Now, "9.7.12.6"),
    row("red",    Opcode::Red,    "@ red_add cache_hint? :float",         "m s s:b64?",      Atomic, Now, "9.7.12.6"),
    row("red",    Opcode::Red,    "@ red_incdec cache_hint? :u32",        "m s s:b64?",      Atomic, Now, "9.7.12.6"),
    row("red",    Opcode::Red,    "@ red_add noftz cache_hint? :anyhalf", "m s s:b64?",      Half,   Now,   "9.7.12.6"),

    // Warps.
    row("vote",   Opcode::Vote,   "=sync vote_mode :pred",   "d s s:b32",          Warp,    Now,   "9.7.12.9"),
    row("vote",   Opcode::Vote,   "=sync ballot :b32",       "d s:pred s:b32",     Warp,    Now,   "9.7.12.9"),
    row("match",  Opcode::Match,  "any =sync :bits32_64",    "d:b32 s s:b32",      Warp,    Now,   "9.7.12.10"),
    row("match",  Opcode::Match,  "all =sync :bits32_64",    "d:b32| s s:b32",     Warp,    Now,   "9.7.12.10"),
    row("activemask", Opcode::Activemask, ":b32",            "d",                  Warp,    Now,   "9.7.12.11"),
    row("redux",  Opcode::Redux,  "=sync red_int :int32",    "d s s:b32",          Warp,    Now,   "9.7.12.12"),
    row("redux",  Opcode::Redux,  "=sync red_bits :b32",     "d s s:b32",          Warp,    Now,   "9.7.12.12"),
    row("griddepcontrol", Opcode::Griddepcontrol, "grid_mode", "",                 Cluster, Now,   "9.7.12.13"),
    row("elect",  Opcode::Elect,  "=sync",                   "d:b32_| s:b32",      Warp,    Now,   "9.7.12.14"),

    // Tensor cores.
    row("ldmatrix", Opcode::Ldmatrix, "=sync =aligned #shape matrices trans? shared? :b16", "x m", Tensor, Later, "9.7.13.4"),
    row("mma",    Opcode::Mma,    "=sync =aligned =m16n8k16 =row =col :f32 :bf16 :bf16 :f32",
                                                             "d^4 s:b32^4 s:b32^2 s3^4", Tensor, Now,  "9.7.13.4"),
    row("mma",    Opcode::Mma,    "=sync =aligned #shape =row =col satfinite? :matrix :matrix :matrix :matrix",
                                                             "x x x x",            Tensor,  Later, "9.7.13.4"),
    row("wmma",   Opcode::Wmma,   "=load wmma_load =sync =aligned row_col #shape space_ld? :matrix",
                                                             "x m s:u32?",         Tensor,  Later, "9.7.13.3"),
    row("wmma",   Opcode::Wmma,   "=store =d =sync =aligned row_col #shape space_ld? :matrix",
                                                             "m x s:u32?",         Tensor,  Later, "9.7.13.3"),
    row("wmma",   Opcode::Wmma,   "=mma =sync =aligned row_col row_col #shape :matrix :matrix satfinite?",
                                                             "x x x x",            Tensor,  Later, "9.7.13.3"),
    row("wmma",   Opcode::Wmma,   "=mma =sync =aligned row_col row_col #shape :matrix :matrix :matrix :matrix satfinite?",
                                                             "x x x x",            Tensor,  Later, "9.7.13.3"),
];

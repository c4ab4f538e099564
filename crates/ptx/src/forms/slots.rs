//! The words a modifier slot takes, and the field of [`Form`] each of them sets.
//!
//! A row of the table names its slots in a small language; [`slot`] reads one word of it:
//!
//! | written | meaning |
//! |---|---|
//! | `rnd` | one of a named set of words, required |
//! | `ftz?` | the same, optional |
//! | `=sync` | this very word, required, sets nothing |
//! | `:int` | a type out of a named set of types |
//! | `:f32` | this very type |
//! | `#shape` | a matrix shape such as `m16n8k16`, kept as text |

use crate::ir::{BoolOp, Compare, Form, Half, Mode, Order, Reduce, Rounding, Scope, Space, Type};

/// What a word does to a form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field {
    Rounding(Rounding),
    Flag(Flag),
    Half(Half),
    Compare(Compare),
    Bool(BoolOp),
    Reduce(Reduce),
    Order(Order),
    Scope(Scope),
    Mode(Mode),
    Space(Space),
    Vector(u8),
    /// Kept in [`Form::rare`].
    Rare,
    /// Says nothing that the row does not say.
    Implied,
}

/// The flags of a form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flag {
    Ftz,
    Sat,
    Approx,
    Full,
    Uni,
    NonCoherent,
    Relu,
    Nan,
    CarryOut,
    To,
    Aligned,
}

impl Flag {
    fn of(self, form: &mut Form) -> &mut bool {
        match self {
            Flag::Ftz => &mut form.ftz,
            Flag::Sat => &mut form.sat,
            Flag::Approx => &mut form.approx,
            Flag::Full => &mut form.full,
            Flag::Uni => &mut form.uni,
            Flag::NonCoherent => &mut form.non_coherent,
            Flag::Relu => &mut form.relu,
            Flag::Nan => &mut form.nan,
            Flag::CarryOut => &mut form.carry_out,
            Flag::To => &mut form.to,
            Flag::Aligned => &mut form.aligned,
        }
    }

    fn is_set(self, form: &Form) -> bool {
        match self {
            Flag::Ftz => form.ftz,
            Flag::Sat => form.sat,
            Flag::Approx => form.approx,
            Flag::Full => form.full,
            Flag::Uni => form.uni,
            Flag::NonCoherent => form.non_coherent,
            Flag::Relu => form.relu,
            Flag::Nan => form.nan,
            Flag::CarryOut => form.carry_out,
            Flag::To => form.to,
            Flag::Aligned => form.aligned,
        }
    }
}

impl Field {
    /// Sets the field that `word` stands for.
    pub(crate) fn apply(self, word: &str, form: &mut Form) {
        match self {
            Field::Rounding(value) => form.rounding = Some(value),
            Field::Flag(flag) => *flag.of(form) = true,
            Field::Half(value) => form.half = Some(value),
            Field::Compare(value) => form.compare = Some(value),
            Field::Bool(value) => form.bool_op = Some(value),
            Field::Reduce(value) => form.reduce = Some(value),
            Field::Order(value) => form.order = Some(value),
            Field::Scope(value) => form.scope = Some(value),
            Field::Mode(value) => form.mode = Some(value),
            Field::Space(value) => form.space = value,
            Field::Vector(lanes) => form.vector = lanes,
            Field::Rare => form.rare.push(word.to_string()),
            Field::Implied => {}
        }
    }

    /// Whether `form` has what `word` would set.
    pub(crate) fn is_set(self, word: &str, form: &Form) -> bool {
        match self {
            Field::Rounding(value) => form.rounding == Some(value),
            Field::Flag(flag) => flag.is_set(form),
            Field::Half(value) => form.half == Some(value),
            Field::Compare(value) => form.compare == Some(value),
            Field::Bool(value) => form.bool_op == Some(value),
            Field::Reduce(value) => form.reduce == Some(value),
            Field::Order(value) => form.order == Some(value),
            Field::Scope(value) => form.scope == Some(value),
            Field::Mode(value) => form.mode == Some(value),
            Field::Space(value) => form.space == value,
            Field::Vector(lanes) => form.vector == lanes,
            Field::Rare => form.rare.iter().any(|r| r == word),
            Field::Implied => true,
        }
    }
}

/// One slot of a row.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// One of these words.
    Words { words: &'static [(&'static str, Field)], required: bool },
    /// This word and no other; required.
    Literal(&'static str),
    /// One of these types.
    Type(Vec<Type>),
    /// A matrix shape.
    Shape,
}

/// Reads one slot of the table's language. A mistake in the table is ours, and a test reads all rows.
pub(crate) fn slot(text: &'static str) -> Slot {
    if let Some(literal) = text.strip_prefix('=') {
        return Slot::Literal(literal);
    }
    if let Some(types) = text.strip_prefix(':') {
        return Slot::Type(type_set(types));
    }
    if text == "#shape" {
        return Slot::Shape;
    }
    let (name, required) = match text.strip_suffix('?') {
        Some(name) => (name, false),
        None => (text, true),
    };
    Slot::Words { words: word_set(name), required }
}

/// A matrix shape: `m16n8k16`.
pub(crate) fn is_shape(word: &str) -> bool {
    word.starts_with('m') && word[1..].starts_with(|c: char| c.is_ascii_digit())
}

fn word_set(name: &str) -> &'static [(&'static str, Field)] {
    use Field as F;
    match name {
        "rnd" => &[
            ("rn", F::Rounding(Rounding::Rn)),
            ("rz", F::Rounding(Rounding::Rz)),
            ("rm", F::Rounding(Rounding::Rm)),
            ("rp", F::Rounding(Rounding::Rp)),
        ],
        "rn" => &[("rn", F::Rounding(Rounding::Rn))],
        "rnrz" => &[("rn", F::Rounding(Rounding::Rn)), ("rz", F::Rounding(Rounding::Rz))],
        "rna" => {
            &[("rna", F::Rounding(Rounding::Rna)), ("rn", F::Rounding(Rounding::Rn)), ("rz", F::Rounding(Rounding::Rz))]
        }
        "rs" => &[("rs", F::Rounding(Rounding::Rs))],
        "rndi" => &[
            ("rni", F::Rounding(Rounding::Rni)),
            ("rzi", F::Rounding(Rounding::Rzi)),
            ("rmi", F::Rounding(Rounding::Rmi)),
            ("rpi", F::Rounding(Rounding::Rpi)),
        ],
        "ftz" => &[("ftz", F::Flag(Flag::Ftz))],
        "sat" => &[("sat", F::Flag(Flag::Sat))],
        "satfinite" => &[("satfinite", F::Rare)],
        "approx" => &[("approx", F::Flag(Flag::Approx))],
        "full" => &[("full", F::Flag(Flag::Full))],
        "uni" => &[("uni", F::Flag(Flag::Uni))],
        "nc" => &[("nc", F::Flag(Flag::NonCoherent))],
        "relu" => &[("relu", F::Flag(Flag::Relu))],
        "nan" => &[("NaN", F::Flag(Flag::Nan))],
        "xorsign" => &[("xorsign", F::Rare)],
        "abs" => &[("abs", F::Rare)],
        "cc" => &[("cc", F::Flag(Flag::CarryOut))],
        "to" => &[("to", F::Flag(Flag::To))],
        "aligned" => &[("aligned", F::Flag(Flag::Aligned))],
        "noftz" => &[("noftz", F::Rare)],
        "lohi" => &[("lo", F::Half(Half::Lo)), ("hi", F::Half(Half::Hi))],
        "lo" => &[("lo", F::Half(Half::Lo))],
        "hi" => &[("hi", F::Half(Half::Hi))],
        "wide" => &[("wide", F::Half(Half::Wide))],
        "cmp_eq" => &[("eq", F::Compare(Compare::Eq)), ("ne", F::Compare(Compare::Ne))],
        "cmp_int" => &[
            ("eq", F::Compare(Compare::Eq)),
            ("ne", F::Compare(Compare::Ne)),
            ("lt", F::Compare(Compare::Lt)),
            ("le", F::Compare(Compare::Le)),
            ("gt", F::Compare(Compare::Gt)),
            ("ge", F::Compare(Compare::Ge)),
            ("lo", F::Compare(Compare::Lo)),
            ("ls", F::Compare(Compare::Ls)),
            ("hi", F::Compare(Compare::Hi)),
            ("hs", F::Compare(Compare::Hs)),
        ],
        "cmp_float" => &[
            ("eq", F::Compare(Compare::Eq)),
            ("ne", F::Compare(Compare::Ne)),
            ("lt", F::Compare(Compare::Lt)),
            ("le", F::Compare(Compare::Le)),
            ("gt", F::Compare(Compare::Gt)),
            ("ge", F::Compare(Compare::Ge)),
            ("equ", F::Compare(Compare::Equ)),
            ("neu", F::Compare(Compare::Neu)),
            ("ltu", F::Compare(Compare::Ltu)),
            ("leu", F::Compare(Compare::Leu)),
            ("gtu", F::Compare(Compare::Gtu)),
            ("geu", F::Compare(Compare::Geu)),
            ("num", F::Compare(Compare::Num)),
            ("nan", F::Compare(Compare::Nan)),
        ],
        "bool" => &[("and", F::Bool(BoolOp::And)), ("or", F::Bool(BoolOp::Or)), ("xor", F::Bool(BoolOp::Xor))],
        "andor" => &[("and", F::Bool(BoolOp::And)), ("or", F::Bool(BoolOp::Or))],
        "red_bits" => {
            &[("and", F::Reduce(Reduce::And)), ("or", F::Reduce(Reduce::Or)), ("xor", F::Reduce(Reduce::Xor))]
        }
        "red_int" => {
            &[("add", F::Reduce(Reduce::Add)), ("min", F::Reduce(Reduce::Min)), ("max", F::Reduce(Reduce::Max))]
        }
        "red_minmax" => &[("min", F::Reduce(Reduce::Min)), ("max", F::Reduce(Reduce::Max))],
        "red_add" => &[("add", F::Reduce(Reduce::Add))],
        "red_incdec" => &[("inc", F::Reduce(Reduce::Inc)), ("dec", F::Reduce(Reduce::Dec))],
        "red_exch" => &[("exch", F::Reduce(Reduce::Exch))],
        "red_cas" => &[("cas", F::Reduce(Reduce::Cas))],
        "red_popc" => &[("popc", F::Reduce(Reduce::Popc))],
        "ld_order" => &[
            ("weak", F::Order(Order::Weak)),
            ("volatile", F::Order(Order::Volatile)),
            ("relaxed", F::Order(Order::Relaxed)),
            ("acquire", F::Order(Order::Acquire)),
            ("mmio", F::Rare),
        ],
        "st_order" => &[
            ("weak", F::Order(Order::Weak)),
            ("volatile", F::Order(Order::Volatile)),
            ("relaxed", F::Order(Order::Relaxed)),
            ("release", F::Order(Order::Release)),
            ("mmio", F::Rare),
        ],
        "atom_order" => &[
            ("relaxed", F::Order(Order::Relaxed)),
            ("acquire", F::Order(Order::Acquire)),
            ("release", F::Order(Order::Release)),
            ("acq_rel", F::Order(Order::AcqRel)),
        ],
        "red_order" => &[("relaxed", F::Order(Order::Relaxed)), ("release", F::Order(Order::Release))],
        "fence_order" => &[
            ("sc", F::Order(Order::Sc)),
            ("acq_rel", F::Order(Order::AcqRel)),
            ("acquire", F::Order(Order::Acquire)),
            ("release", F::Order(Order::Release)),
        ],
        "cluster_order" => &[
            ("acquire", F::Order(Order::Acquire)),
            ("release", F::Order(Order::Release)),
            ("relaxed", F::Order(Order::Relaxed)),
        ],
        "scope" => &[
            ("cta", F::Scope(Scope::Cta)),
            ("cluster", F::Scope(Scope::Cluster)),
            ("gpu", F::Scope(Scope::Gpu)),
            ("sys", F::Scope(Scope::Sys)),
        ],
        "membar_level" => &[("cta", F::Scope(Scope::Cta)), ("gl", F::Scope(Scope::Gpu)), ("sys", F::Scope(Scope::Sys))],
        "space_ld" => &[
            ("global", F::Space(Space::Global)),
            ("shared", F::Space(Space::Shared)),
            ("shared::cta", F::Space(Space::Shared)),
            ("local", F::Space(Space::Local)),
            ("const", F::Space(Space::Const)),
            ("param", F::Space(Space::Param)),
            ("param::entry", F::Space(Space::Param)),
            ("param::func", F::Space(Space::Param)),
        ],
        "space_atom" => &[
            ("global", F::Space(Space::Global)),
            ("shared", F::Space(Space::Shared)),
            ("shared::cta", F::Space(Space::Shared)),
        ],
        "space_cluster" => &[("shared::cluster", F::Space(Space::SharedCluster))],
        "global" => &[("global", F::Space(Space::Global))],
        "shared" => &[("shared", F::Space(Space::Shared)), ("shared::cta", F::Space(Space::Shared))],
        "prefetch_space" => &[("global", F::Space(Space::Global)), ("local", F::Space(Space::Local))],
        "vec" => &[("v2", F::Vector(2)), ("v4", F::Vector(4))],
        "vec8" => &[("v8", F::Vector(8))],
        "level" => &[("L1", F::Rare), ("L2", F::Rare)],
        "cache_ld" => &[("ca", F::Rare), ("cg", F::Rare), ("cs", F::Rare), ("lu", F::Rare), ("cv", F::Rare)],
        "cache_st" => &[("wb", F::Rare), ("cg", F::Rare), ("cs", F::Rare), ("wt", F::Rare)],
        "cache_cp" => &[("ca", F::Rare), ("cg", F::Rare)],
        "evict1" => &[
            ("L1::evict_normal", F::Rare),
            ("L1::evict_unchanged", F::Rare),
            ("L1::evict_first", F::Rare),
            ("L1::evict_last", F::Rare),
            ("L1::no_allocate", F::Rare),
        ],
        "evict2" => &[("L2::evict_normal", F::Rare), ("L2::evict_first", F::Rare), ("L2::evict_last", F::Rare)],
        "prefetch2" => &[("L2::64B", F::Rare), ("L2::128B", F::Rare), ("L2::256B", F::Rare)],
        "cache_hint" => &[("L2::cache_hint", F::Rare)],
        "shfl_mode" => &[
            ("up", F::Mode(Mode::Up)),
            ("down", F::Mode(Mode::Down)),
            ("bfly", F::Mode(Mode::Bfly)),
            ("idx", F::Mode(Mode::Idx)),
        ],
        "vote_mode" => &[("all", F::Mode(Mode::All)), ("any", F::Mode(Mode::Any)), ("uni", F::Mode(Mode::Uni))],
        "ballot" => &[("ballot", F::Mode(Mode::Ballot))],
        "all" => &[("all", F::Mode(Mode::All))],
        "any" => &[("any", F::Mode(Mode::Any))],
        "testp_mode" => &[
            ("finite", F::Mode(Mode::Finite)),
            ("infinite", F::Mode(Mode::Infinite)),
            ("number", F::Mode(Mode::Number)),
            ("notanumber", F::Mode(Mode::NotANumber)),
            ("normal", F::Mode(Mode::Normal)),
            ("subnormal", F::Mode(Mode::Subnormal)),
        ],
        "shiftamt" => &[("shiftamt", F::Mode(Mode::ShiftAmount))],
        "prmt_mode" => &[
            ("f4e", F::Mode(Mode::F4e)),
            ("b4e", F::Mode(Mode::B4e)),
            ("rc8", F::Mode(Mode::Rc8)),
            ("ecl", F::Mode(Mode::Ecl)),
            ("ecr", F::Mode(Mode::Ecr)),
            ("rc16", F::Mode(Mode::Rc16)),
        ],
        "dims" => &[("1d", F::Rare), ("2d", F::Rare), ("3d", F::Rare)],
        "outside" => &[("trap", F::Rare), ("clamp", F::Rare), ("zero", F::Rare)],
        "clampwrap" => &[("clamp", F::Rare), ("wrap", F::Rare)],
        "sync" => &[("sync", F::Mode(Mode::Sync))],
        "arrive" => &[("arrive", F::Mode(Mode::Arrive))],
        "red" => &[("red", F::Mode(Mode::Red))],
        "arrivewait" => &[("arrive", F::Mode(Mode::Arrive)), ("wait", F::Mode(Mode::Wait))],
        "grid_mode" => &[("launch_dependents", F::Mode(Mode::LaunchDependents)), ("wait", F::Mode(Mode::Wait))],
        "cp_group" => &[("commit_group", F::Rare), ("wait_all", F::Rare)],
        "wait_group" => &[("wait_group", F::Rare)],
        "row_col" => &[("row", F::Rare), ("col", F::Rare)],
        "wmma_load" => &[("a", F::Rare), ("b", F::Rare), ("c", F::Rare)],
        "matrices" => &[("x1", F::Rare), ("x2", F::Rare), ("x4", F::Rare)],
        "trans" => &[("trans", F::Rare)],
        "cta_word" => &[("cta", F::Implied)],
        _ => unreachable!("the table of forms names a set of words that does not exist: {name}"),
    }
}

fn type_set(name: &str) -> Vec<Type> {
    use Type::*;
    match name {
        "int" => vec![U16, U32, U64, S16, S32, S64],
        "int32_64" => vec![U32, U64, S32, S64],
        "int16_32" => vec![U16, U32, S16, S32],
        "int32" => vec![U32, S32],
        "signed" => vec![S16, S32, S64],
        "int8_64" => vec![U8, U16, U32, U64, S8, S16, S32, S64],
        "bits" => vec![B16, B32, B64],
        "bits32_64" => vec![B32, B64],
        "bits_pred" => vec![Pred, B16, B32, B64],
        "bits_int" => vec![B16, B32, B64, U16, U32, U64, S16, S32, S64],
        "u32_64" => vec![U32, U64],
        "float" => vec![F32, F64],
        "mem" => vec![B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64],
        "mov" => vec![Pred, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64],
        "select" => vec![B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64],
        "scalar" => vec![F16, Bf16, F32, F64, U8, U16, U32, U64, S8, S16, S32, S64],
        "set_half" => vec![F16, F16x2, Bf16, Bf16x2, U16, S16, U32, S32, F32],
        "half" => vec![F16, F16x2],
        "bhalf" => vec![Bf16, Bf16x2],
        "anyhalf" => vec![F16, F16x2, Bf16, Bf16x2],
        "half1" => vec![F16, Bf16],
        "half2" => vec![F16x2, Bf16x2],
        "coordinate" => vec![F32, S32],
        "surface" => vec![B8, B16, B32, B64],
        "set_result" => vec![U32, S32, F32],
        "fp8x2" => vec![E4m3x2, E5m2x2],
        "matrix" => vec![F16, Bf16, Tf32, F32, F64, S32, U8, S8, E4m3, E5m2],
        "atom_minmax" => vec![U32, U64, S32, S64],
        "atom_add" => vec![U32, U64, S32],
        one => match super::type_of_word(one) {
            Some(ty) => vec![ty],
            None => unreachable!("the table of forms names a set of types that does not exist: {one}"),
        },
    }
}

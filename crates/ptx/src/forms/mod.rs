//! Opcode and modifiers to a [`Form`], by the one [`table`].
//!
//! - Modifiers may come in any order, as the assembler takes them; types keep theirs.
//! - A form no row permits is [`Support::Unknown`]: not an error, because newer PTX may well have it.

mod opcodes;
pub(crate) mod shape;
mod slots;
mod table;

use crate::ir::{Form, Type};
pub(crate) use opcodes::is_opcode;
use shape::Operand;
use slots::{Slot, is_shape, slot};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;
pub(crate) use table::INDIRECT_CALLS;
use table::{ROWS, Row};

/// What kind of instruction a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Family {
    Integer,
    Carry,
    F32,
    F64,
    Approx,
    Half,
    Convert,
    Compare,
    Logic,
    Move,
    Memory,
    Control,
    Barrier,
    Warp,
    Atomic,
    Cluster,
    Async,
    Tensor,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Integer => "integer arithmetic",
            Family::Carry => "carry chains",
            Family::F32 => "f32 arithmetic",
            Family::F64 => "f64 arithmetic",
            Family::Approx => "approximations",
            Family::Half => "half precision",
            Family::Convert => "conversion",
            Family::Compare => "comparison and selection",
            Family::Logic => "logic and shifts",
            Family::Move => "moves",
            Family::Memory => "memory",
            Family::Control => "control",
            Family::Barrier => "barriers and fences",
            Family::Warp => "warps",
            Family::Atomic => "atomics",
            Family::Cluster => "clusters and dependent launches",
            Family::Async => "asynchronous copies",
            Family::Tensor => "tensor cores",
        })
    }
}

/// Whether the interpreter is held to run the forms of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It does.
    Now,
    /// Decoded and checked, but nothing is promised: the interpreter refuses it, or no test holds what it does.
    Later,
}

/// What is known of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Support {
    /// Decoded and interpreted.
    Supported,
    /// Decoded; see [`Status::Later`].
    Later,
    /// Not in the table.
    Unknown,
}

/// One row of the table, for readers: every form that `pattern` spells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormRow {
    /// `fma{.rn,.rz,.rm,.rp}{.ftz}?{.sat}?.f32`: braces hold alternatives, `?` marks what may be missing.
    pub pattern: String,
    /// Its family.
    pub family: Family,
    /// Whether it is interpreted.
    pub status: Status,
    /// The section of the PTX ISA manual (8.4).
    pub section: &'static str,
}

/// What is known of a form as spelled: `classify("fma.rn.ftz.f32")`.
///
/// ```
/// use dacapo_ptx::{Support, classify};
/// assert_eq!(classify("ld.global.nc.v2.f64"), Support::Supported);
/// assert_eq!(classify("barrier.cluster.wait"), Support::Later);
/// assert_eq!(classify("wgmma.fence"), Support::Unknown);
/// ```
pub fn classify(form_text: &str) -> Support {
    match decode_text(form_text) {
        Some(form) => match status_of(&form) {
            Some(Status::Now) => Support::Supported,
            Some(Status::Later) => Support::Later,
            None => Support::Unknown,
        },
        None => Support::Unknown,
    }
}

/// The rows of the table, in its order.
pub fn supported_forms() -> Vec<FormRow> {
    // The orders in which atomics are written are one row to a reader.
    let mut rows: Vec<FormRow> = Vec::new();
    for (i, compiled) in table().rows.iter().enumerate() {
        if i == 0 || !std::ptr::eq(table().rows[i - 1].row, compiled.row) {
            let row = compiled.row;
            rows.push(FormRow {
                pattern: pattern(compiled),
                family: row.family,
                status: row.status,
                section: row.section,
            });
        }
    }
    rows
}

/// A form from its text, if a row permits it.
pub fn decode_text(form_text: &str) -> Option<Form> {
    let mut words = form_text.trim().split('.');
    let opcode = words.next()?;
    let modifiers: Vec<&str> = words.collect();
    decode(opcode, &modifiers)
}

/// Whether any row has this opcode.
pub(crate) fn opcode_is_known(opcode: &str) -> bool {
    table().by_opcode.contains_key(opcode)
}

/// Opcode and modifiers (without dots) to a form, if a row permits them.
pub(crate) fn decode(opcode: &str, modifiers: &[&str]) -> Option<Form> {
    let table = table();
    let indices = table.by_opcode.get(opcode)?;
    // As written first, so that a form prints as it was; then in any order.
    let found = indices.iter().find_map(|&i| table.rows[i as usize].fill_in_order(modifiers).map(|f| (i, f)));
    let found = found.or_else(|| indices.iter().find_map(|&i| table.rows[i as usize].fill(modifiers).map(|f| (i, f))));
    let (index, filled) = found?;
    let compiled = &table.rows[index as usize];
    let mut form = Form::new(compiled.row.opcode);
    form.row = Some(index);
    (compiled.row.preset)(&mut form);
    for (slot, word) in compiled.slots.iter().zip(filled) {
        let Some(word) = word else { continue };
        match slot {
            Slot::Words { words, .. } => {
                if let Some((_, field)) = words.iter().find(|(w, _)| *w == word) {
                    field.apply(word, &mut form);
                }
            }
            Slot::Type(_) => form.types.extend(type_of_word(word)),
            Slot::Shape => form.rare.push(word.to_string()),
            Slot::Literal(_) => {}
        }
    }
    Some(form)
}

/// The status of the row that decoded `form`.
pub(crate) fn status_of(form: &Form) -> Option<Status> {
    Some(compiled_of(form)?.row.status)
}

/// The operands that `form` takes, by its row.
pub(crate) fn operands_of(form: &Form) -> Option<&'static [Operand]> {
    Some(&compiled_of(form)?.operands)
}

/// The text of `form`, by its row.
pub(crate) fn spell(form: &Form) -> Option<String> {
    let compiled = compiled_of(form)?;
    let mut out = compiled.row.spelling.to_string();
    let mut types = form.types.iter();
    let mut rare = form.rare.iter().peekable();
    for slot in &compiled.slots {
        let word = match slot {
            Slot::Literal(word) => Some(*word),
            Slot::Type(_) => types.next().map(|ty| word_of_type(*ty)),
            Slot::Shape => rare.next().map(String::as_str),
            Slot::Words { words, .. } => {
                let in_rare = rare
                    .peek()
                    .and_then(|next| words.iter().find(|(word, field)| *field == slots::Field::Rare && word == next));
                if let Some((word, _)) = in_rare {
                    rare.next();
                    Some(*word)
                } else {
                    let told = |field: slots::Field| !matches!(field, slots::Field::Rare | slots::Field::Implied);
                    words.iter().find(|(word, field)| told(*field) && field.is_set(word, form)).map(|(word, _)| *word)
                }
            }
        };
        if let Some(word) = word {
            out.push('.');
            out.push_str(word);
        }
    }
    Some(out)
}

/// A row with its strings read.
struct Compiled {
    row: &'static Row,
    slots: Vec<Slot>,
    operands: Vec<Operand>,
}

struct Table {
    rows: Vec<Compiled>,
    by_opcode: HashMap<&'static str, Vec<u16>>,
}

/// The orders in which memory order, scope and space of an atomic are written. NVRTC writes the first two, and
/// the third occurs in inline assembly.
const ATOM_ORDERS: [(&str, &str); 3] =
    [("atom_order? scope? space_atom?", ""), ("space_atom? scope?", ""), ("", "atom_order scope? space_atom?")];

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { rows: Vec::new(), by_opcode: HashMap::new() };
        for row in ROWS {
            let operands = || row.operands.split_whitespace().map(shape::operand).collect();
            let words = |text: &'static str| text.split_whitespace();
            let mut variants: Vec<Vec<Slot>> = Vec::new();
            match row.slots.strip_prefix('@') {
                None => variants.push(words(row.slots).map(slot).collect()),
                Some(rest) => {
                    for (front, middle) in ATOM_ORDERS {
                        let mut rest = words(rest);
                        let operation = rest.next().into_iter();
                        variants
                            .push(words(front).chain(operation).chain(words(middle)).chain(rest).map(slot).collect());
                    }
                }
            }
            for slots in variants {
                let index = table.rows.len() as u16;
                table.by_opcode.entry(row.spelling).or_default().push(index);
                table.rows.push(Compiled { row, slots, operands: operands() });
            }
        }
        table
    })
}

fn compiled_of(form: &Form) -> Option<&'static Compiled> {
    match form.row {
        Some(index) => table().rows.get(index as usize),
        // Made by hand: the first row that fits its opcode and types.
        None => table().rows.iter().find(|c| c.row.opcode == form.opcode && c.takes_types(&form.types)),
    }
}

impl Slot {
    fn accepts(&self, word: &str) -> bool {
        match self {
            Slot::Words { words, .. } => words.iter().any(|(w, _)| *w == word),
            Slot::Literal(literal) => *literal == word,
            Slot::Type(types) => type_of_word(word).is_some_and(|ty| types.contains(&ty)),
            Slot::Shape => is_shape(word),
        }
    }

    fn required(&self) -> bool {
        !matches!(self, Slot::Words { required: false, .. })
    }
}

impl Compiled {
    /// Which modifier fills which slot, in the order of the slots; none if it does not work out.
    fn fill_in_order<'m>(&self, modifiers: &[&'m str]) -> Option<Vec<Option<&'m str>>> {
        let mut words = modifiers.iter().peekable();
        let mut filled = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let word = words.next_if(|word| slot.accepts(word)).copied();
            if word.is_none() && slot.required() {
                return None;
            }
            filled.push(word);
        }
        words.next().is_none().then_some(filled)
    }

    /// The same in any order: each modifier takes the first free slot that accepts it.
    fn fill<'m>(&self, modifiers: &[&'m str]) -> Option<Vec<Option<&'m str>>> {
        let mut filled: Vec<Option<&str>> = vec![None; self.slots.len()];
        for word in modifiers {
            let is_type = type_of_word(word).is_some();
            let mut free = (0..self.slots.len()).filter(|i| filled[*i].is_none());
            // Types keep their order: `cvt.f32.f64` must not fill the slots of `cvt.f64.f32`.
            let free = if is_type {
                free.find(|i| matches!(self.slots[*i], Slot::Type(_)))
            } else {
                free.find(|i| self.slots[*i].accepts(word))
            };
            let free = free.filter(|i| self.slots[*i].accepts(word))?;
            filled[free] = Some(word);
        }
        let complete = self.slots.iter().zip(&filled).all(|(slot, word)| word.is_some() || !slot.required());
        complete.then_some(filled)
    }

    fn takes_types(&self, types: &[Type]) -> bool {
        let mut slots = self.slots.iter().filter_map(|s| if let Slot::Type(set) = s { Some(set) } else { None });
        types.iter().all(|ty| slots.next().is_some_and(|set| set.contains(ty))) && slots.next().is_none()
    }
}

fn pattern(compiled: &Compiled) -> String {
    let mut out = compiled.row.spelling.to_string();
    for slot in &compiled.slots {
        let alternatives: Vec<&str> = match slot {
            Slot::Literal(word) => vec![word],
            Slot::Type(types) => types.iter().map(|ty| word_of_type(*ty)).collect(),
            Slot::Shape => vec!["shape"],
            Slot::Words { words, .. } => words.iter().map(|(word, _)| *word).collect(),
        };
        let optional = if slot.required() { "" } else { "?" };
        if alternatives.len() == 1 && slot.required() {
            out.push_str(&format!(".{}", alternatives[0]));
        } else {
            let words: Vec<String> = alternatives.iter().map(|word| format!(".{word}")).collect();
            out.push_str(&format!("{{{}}}{optional}", words.join(",")));
        }
    }
    out
}

const TYPE_WORDS: &[(&str, Type)] = &[
    ("b8", Type::B8),
    ("b16", Type::B16),
    ("b32", Type::B32),
    ("b64", Type::B64),
    ("b128", Type::B128),
    ("u8", Type::U8),
    ("u16", Type::U16),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("s8", Type::S8),
    ("s16", Type::S16),
    ("s32", Type::S32),
    ("s64", Type::S64),
    ("f16", Type::F16),
    ("f16x2", Type::F16x2),
    ("bf16", Type::Bf16),
    ("bf16x2", Type::Bf16x2),
    ("tf32", Type::Tf32),
    ("e4m3", Type::E4m3),
    ("e5m2", Type::E5m2),
    ("e4m3x2", Type::E4m3x2),
    ("e5m2x2", Type::E5m2x2),
    ("f32", Type::F32),
    ("f64", Type::F64),
    ("pred", Type::Pred),
];

/// `f32` to its type.
pub(crate) fn type_of_word(word: &str) -> Option<Type> {
    TYPE_WORDS.iter().find(|(w, _)| *w == word).map(|(_, ty)| *ty)
}

/// A type to its word, without the dot.
pub(crate) fn word_of_type(ty: Type) -> &'static str {
    TYPE_WORDS.iter().find(|(_, t)| *t == ty).map_or("b32", |(word, _)| word)
}

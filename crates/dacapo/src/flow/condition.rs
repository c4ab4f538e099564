//! Conditions: comparisons of numbers on the device, and what is made of several.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

use crate::flow::operand::Side;
use crate::flow::{Number, Operand};
use crate::value::baked;

/// Something that the device finds out in every replay: a comparison, or several combined by `&`, `|` and `!`.
///
/// It borrows nothing. It is decided where it is used: before a [`when`](crate::Recorder::when), behind each round of a
/// [`repeat`](crate::Recorder::repeat). All of its comparisons are made.
///
/// For anything else, a kernel of yours writes a `Scalar<u32>`, and [`nonzero`] looks at it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slot, baked, flow::{Condition, above, equal}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, limit) = (device.scalar(2.5f32)?.named("residual"), Slot::new(1.0));
/// let go_on: Condition = above(&x, &limit) & !equal(&x, baked(7.0));
/// assert_eq!(format!("{go_on:?}"), "Condition((residual > a slot & !(residual == a constant)))");
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a condition decides nothing until it is used"]
pub struct Condition(pub(crate) Term, usize);

#[derive(Clone)]
pub(crate) enum Term {
    /// Always holds.
    True,
    Compare {
        how: How,
        number: u8,
        left: Side,
        right: Side,
    },
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Not(Box<Term>),
    /// More of them than the device's program has room for: refused where it is used, and kept no further.
    TooLarge,
}

/// Comparisons of a condition, and what combines them, at most.
pub(crate) const STEPS_MAX: usize = 15;

impl Condition {
    /// So many steps make this. A program could combine a million of them, and its end would drop them one inside the
    /// other: what no launch could take is not put together.
    fn combined(term: Term, steps: usize) -> Condition {
        match steps > STEPS_MAX {
            true => Condition(Term::TooLarge, steps),
            false => Condition(term, steps),
        }
    }
}

/// The codes of kernels/condition.cu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum How {
    Equal = 0,
    Differs = 1,
    Above = 2,
    AtLeast = 3,
    Below = 4,
    AtMost = 5,
}

impl How {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            How::Equal => "==",
            How::Differs => "!=",
            How::Above => ">",
            How::AtLeast => ">=",
            How::Below => "<",
            How::AtMost => "<=",
        }
    }
}

fn compare<T: Number>(how: How, left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    Condition(Term::Compare { how, number: T::TYPE, left: left.side(), right: right.side() }, 1)
}

/// `left > right`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::above};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(2.5)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(above(&x, baked(2.0)), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 1); // 2.5 > 2.0
/// # Ok(()) }
/// ```
pub fn above<T: Number>(left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    compare(How::Above, left, right)
}

/// `left >= right`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::at_least};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(2)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(at_least(&x, baked(2)), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 1); // 2 >= 2
/// # Ok(()) }
/// ```
pub fn at_least<T: Number>(left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    compare(How::AtLeast, left, right)
}

/// `left < right`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::below};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(2.5)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(below(&x, baked(2.0)), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 0); // 2.5 < 2.0
/// # Ok(()) }
/// ```
pub fn below<T: Number>(left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    compare(How::Below, left, right)
}

/// `left <= right`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::at_most};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(2)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(at_most(&x, baked(2)), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 1); // 2 <= 2
/// # Ok(()) }
/// ```
pub fn at_most<T: Number>(left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    compare(How::AtMost, left, right)
}

/// `left == right`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::equal};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(7u8)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(equal(&x, baked(7)), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 1); // 7u8 == 7
/// # Ok(()) }
/// ```
pub fn equal<T: Number>(left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    compare(How::Equal, left, right)
}

/// `left != right`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::differs};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(7i64)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(differs(&x, baked(7)), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 0); // 7i64 != 7
/// # Ok(()) }
/// ```
pub fn differs<T: Number>(left: impl Operand<T>, right: impl Operand<T>) -> Condition {
    compare(How::Differs, left, right)
}

/// `value != 0`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::nonzero};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(-1i32)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(nonzero(&x), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 1);
/// # Ok(()) }
/// ```
pub fn nonzero<T: Number>(value: impl Operand<T>) -> Condition {
    compare(How::Differs, value, baked(T::ZERO))
}

/// `value == 0`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::zero};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.scalar(-1i32)?, device.scalar(0u32)?);
/// let op = |r: &mut Recorder<'_>| r.when(zero(&x), |r| r.run(fill(y.as_mut_slice(), baked(1)))).map(drop);
/// stream.run(op)?;
/// assert_eq!(y.get(&stream)?, 0);
/// # Ok(()) }
/// ```
pub fn zero<T: Number>(value: impl Operand<T>) -> Condition {
    compare(How::Equal, value, baked(T::ZERO))
}

impl BitAnd for Condition {
    type Output = Condition;

    fn bitand(self, other: Condition) -> Condition {
        let steps = self.1.saturating_add(other.1).saturating_add(1);
        Condition::combined(Term::And(Box::new(self.0), Box::new(other.0)), steps)
    }
}

impl BitOr for Condition {
    type Output = Condition;

    fn bitor(self, other: Condition) -> Condition {
        let steps = self.1.saturating_add(other.1).saturating_add(1);
        Condition::combined(Term::Or(Box::new(self.0), Box::new(other.0)), steps)
    }
}

impl Not for Condition {
    type Output = Condition;

    fn not(self) -> Condition {
        let steps = self.1.saturating_add(1);
        Condition::combined(Term::Not(Box::new(self.0)), steps)
    }
}

impl Term {
    pub(crate) fn write(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Term::True => f.write_str("true"),
            Term::TooLarge => f.write_str(".."),
            Term::Compare { how, left, right, .. } => {
                left.write(f)?;
                write!(f, " {} ", how.sign())?;
                right.write(f)
            }
            Term::And(left, right) => pair(f, left, " & ", right),
            Term::Or(left, right) => pair(f, left, " | ", right),
            Term::Not(term) => {
                f.write_str("!(")?;
                term.write(f)?;
                f.write_str(")")
            }
        }
    }
}

fn pair(f: &mut dyn fmt::Write, left: &Term, sign: &str, right: &Term) -> fmt::Result {
    for (before, term) in [("(", left), (sign, right)] {
        f.write_str(before)?;
        term.write(f)?;
    }
    f.write_str(")")
}

impl Side {
    fn write(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Side::Element(access) => match access.place.allocation.name() {
                Some(name) => f.write_str(&name),
                None => f.write_str("an element"),
            },
            Side::Value(word) => f.write_str(if word.slot.is_some() { "a slot" } else { "a constant" }),
        }
    }
}

/// What it compares, with the names of buffers that have one.
impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condition(")?;
        self.0.write(f)?;
        f.write_str(")")
    }
}

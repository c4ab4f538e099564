//! The types that conditions compare: their values as bits, compared on the host, and as Rust.

use std::cmp::Ordering;

use dacapo::flow::Number;
use dacapo::{Device, Result, Scalar, Slot, Stream, baked, fill};

use super::dice::Dice;
use super::program::Compare;

/// A real number of the type of these bits, or a whole one.
enum Host {
    Whole(i128),
    Real(f64),
}

macro_rules! types {
    ($($name:ident $type:ty, $text:literal, |$bits:ident| $host:expr;)+) => {
        /// A type of number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Type {
            $(
                #[doc = $text]
                $name,
            )+
        }

        impl Type {
            /// All of them.
            pub const ALL: &[Type] = &[$(Type::$name),+];

            /// Its name in Rust.
            pub fn text(self) -> &'static str {
                match self {
                    $(Type::$name => $text,)+
                }
            }

            fn size(self) -> usize {
                match self {
                    $(Type::$name => size_of::<$type>(),)+
                }
            }

            /// Does something with the Rust type of it.
            pub(super) fn with<W: With>(self, with: W) -> W::Out {
                match self {
                    $(Type::$name => with.of::<$type>(),)+
                }
            }

            fn host(self, bits: u64) -> Host {
                match self {
                    $(Type::$name => {
                        let $bits = <$type as Bits>::of_bits(bits);
                        $host
                    })+
                }
            }
        }

        /// A number on the device.
        pub(super) enum AnyScalar {
            $($name(Scalar<$type>),)+
        }

        /// A slot.
        pub(super) enum AnySlot {
            $($name(Slot<$type>),)+
        }

        impl AnyScalar {
            pub(super) fn new(device: &Device, of: Type, bits: u64) -> Result<AnyScalar> {
                Ok(match of {
                    $(Type::$name => AnyScalar::$name(device.scalar(Bits::of_bits(bits))?),)+
                })
            }

            pub(super) fn set(&mut self, stream: &Stream, bits: u64) -> Result<()> {
                match self {
                    $(AnyScalar::$name(scalar) => scalar.set(stream, Bits::of_bits(bits)),)+
                }
            }

            /// Its bits, as two words.
            pub(super) fn get(&self, stream: &Stream) -> Result<Vec<u32>> {
                let bits = match self {
                    $(AnyScalar::$name(scalar) => scalar.get(stream)?.bits(),)+
                };
                Ok(vec![bits as u32, (bits >> 32) as u32])
            }

            /// Records that it is filled with a constant.
            pub(super) fn fill(&mut self, r: &mut dacapo::Recorder<'_>, bits: u64) -> Result<()> {
                match self {
                    $(AnyScalar::$name(scalar) => {
                        r.run(fill(scalar.as_mut_slice(), baked(Bits::of_bits(bits))))
                    })+
                }
            }

            /// The same with a slot of its type.
            pub(super) fn fill_by(&mut self, r: &mut dacapo::Recorder<'_>, slot: &AnySlot) -> Result<()> {
                match (self, slot) {
                    $((AnyScalar::$name(scalar), AnySlot::$name(slot)) => {
                        r.run(fill(scalar.as_mut_slice(), slot))
                    })+
                    _ => unreachable!("the model knows that they are of one type"),
                }
            }
        }

        impl AnySlot {
            pub(super) fn new(of: Type, bits: u64) -> AnySlot {
                match of {
                    $(Type::$name => AnySlot::$name(Slot::new(Bits::of_bits(bits))),)+
                }
            }

            pub(super) fn set(&self, bits: u64) {
                match self {
                    $(AnySlot::$name(slot) => slot.set(Bits::of_bits(bits)),)+
                }
            }
        }

        $(
            impl Bits for $type {
                fn scalar(any: &AnyScalar) -> Option<&Scalar<$type>> {
                    if let AnyScalar::$name(scalar) = any { Some(scalar) } else { None }
                }

                fn slot(any: &AnySlot) -> Option<&Slot<$type>> {
                    if let AnySlot::$name(slot) = any { Some(slot) } else { None }
                }
            }
        )+
    };
}

/// Something that can be done with any of the types.
pub(super) trait With {
    /// What comes of it.
    type Out;

    /// Does it with one.
    fn of<T: Bits>(self) -> Self::Out;
}

/// A number that is known by its bits, the low ones of a word.
pub(super) trait Bits: Number {
    /// The number of these bits.
    fn of_bits(bits: u64) -> Self {
        bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<Self>()])
    }

    /// Its bits.
    fn bits(self) -> u64 {
        let mut word = [0; 8];
        word[..size_of::<Self>()].copy_from_slice(bytemuck::bytes_of(&self));
        u64::from_le_bytes(word)
    }

    /// One of its type, if it is.
    fn scalar(any: &AnyScalar) -> Option<&Scalar<Self>>;

    /// One of its type, if it is.
    fn slot(any: &AnySlot) -> Option<&Slot<Self>>;
}

types! {
    U8 u8, "u8", |x| Host::Whole(x.into());
    U16 u16, "u16", |x| Host::Whole(x.into());
    U32 u32, "u32", |x| Host::Whole(x.into());
    U64 u64, "u64", |x| Host::Whole(x.into());
    I8 i8, "i8", |x| Host::Whole(x.into());
    I16 i16, "i16", |x| Host::Whole(x.into());
    I32 i32, "i32", |x| Host::Whole(x.into());
    I64 i64, "i64", |x| Host::Whole(x.into());
    F16 half::f16, "half::f16", |x| Host::Real(x.to_f64());
    BF16 half::bf16, "half::bf16", |x| Host::Real(x.to_f64());
    F32 f32, "f32", |x| Host::Real(x.into());
    F64 f64, "f64", |x| Host::Real(x);
}

impl Type {
    /// Whether these are the bits of a number of this type, and nothing above them.
    pub fn fits(self, bits: u64) -> bool {
        self.size() == 8 || bits >> (8 * self.size()) == 0
    }

    /// Whether these bits are not a number.
    pub fn is_nan(self, bits: u64) -> bool {
        matches!(self.host(bits), Host::Real(x) if x.is_nan())
    }

    /// Whether a comparison holds.
    pub fn holds(self, how: Compare, left: u64, right: u64) -> bool {
        let order = match (self.host(left), self.host(right)) {
            (Host::Whole(left), Host::Whole(right)) => Some(left.cmp(&right)),
            (Host::Real(left), Host::Real(right)) => left.partial_cmp(&right),
            _ => unreachable!("both are of this type"),
        };
        match how {
            Compare::Equal => order == Some(Ordering::Equal),
            Compare::Differs => order != Some(Ordering::Equal),
            Compare::Above => order == Some(Ordering::Greater),
            Compare::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Compare::Below => order == Some(Ordering::Less),
            Compare::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        }
    }

    /// A value in Rust.
    pub fn value(self, bits: u64) -> String {
        match self.host(bits) {
            Host::Whole(value) => format!("{value}{}", self.text()),
            Host::Real(_) => format!("{}::from_bits({bits:#x})", self.text()),
        }
    }

    /// The bits of some value: mostly small, now and then at an edge of the type.
    pub(super) fn draw(self, dice: &mut Dice) -> u64 {
        let mask = if self.size() == 8 { u64::MAX } else { (1 << (8 * self.size())) - 1 };
        let small = dice.below(5) as i64 - 1;
        let ones: &[u64] = match self {
            Type::F16 => &[0x3c00, 0x4000, 0xbc00, 0, 0x8000, 0x7e00, 0x7c00, 0x0001],
            Type::BF16 => &[0x3f80, 0x4000, 0xbf80, 0, 0x8000, 0x7fc0, 0x7f80, 0x0001],
            Type::F32 => &[0x3f80_0000, 0x4000_0000, 0xbf80_0000, 0, 0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 1],
            Type::F64 => &[
                0x3ff0_0000_0000_0000,
                0x4000_0000_0000_0000,
                0xbff0_0000_0000_0000,
                0,
                0x8000_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0x7ff0_0000_0000_0000,
                1,
            ],
            _ if dice.chance(15) => return mask ^ (mask >> 1),
            _ if dice.chance(15) => return mask >> 1,
            _ => return small as u64 & mask,
        };
        if dice.chance(8) { dice.roll() & mask } else { dice.pick(ones).unwrap_or(0) }
    }
}

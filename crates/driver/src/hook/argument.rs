//! An argument of a call as a hook sees it: its name, its type and its bits.

use std::fmt;

use crate::CUresult;
use crate::types::*;

/// One argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// Its name in the table: `hStream`.
    pub name: &'static str,
    /// Its type in the table: `*mut CUdeviceptr`.
    pub type_name: &'static str,
    /// Its value: an integer (extended with its sign), or a pointer or handle as a number. Pointers are not followed.
    pub bits: u64,
}

/// How an argument's bits are best written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// A number without sign.
    Number,
    /// A number with sign.
    Signed,
    /// A pointer, a handle or a device address.
    Address,
}

impl Argument {
    /// How the bits are best written.
    pub fn notation(&self) -> Notation {
        match self.type_name {
            "c_int" | "CUdevice" => Notation::Signed,
            "usize" | "u64" | "u32" | "u16" | "u8" | "c_uint" | "CUresult" => Notation::Number,
            "CUdeviceptr" | "CUgraphConditionalHandle" | "CUmemGenericAllocationHandle" | "CUmemLocation" => {
                Notation::Address
            }
            name if name.starts_with('*') || is_handle(name) => Notation::Address,
            // What is left are the enumerations.
            _ => Notation::Number,
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.notation() {
            Notation::Number => write!(f, "{}", self.bits),
            Notation::Signed => write!(f, "{}", self.bits.cast_signed()),
            Notation::Address => write!(f, "{:#x}", self.bits),
        }
    }
}

/// `r#type` is Rust's spelling of cuda.h's `type`.
pub const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Any argument of the table as a number.
pub trait Bits {
    /// The number.
    fn bits_of(self) -> u64;
}

macro_rules! bits_of_numbers {
    ($($type:ty)*) => { $(impl Bits for $type { fn bits_of(self) -> u64 { self as u64 } })* };
}

// `c_int` and so `CUdevice` are extended with their sign; enumerations are `c_uint`.
bits_of_numbers! { i32 u8 u16 u32 u64 usize }

macro_rules! bits_of_handles {
    ($($type:ident)*) => {
        $(impl Bits for $type { fn bits_of(self) -> u64 { self.bits() } })*

        fn is_handle(type_name: &str) -> bool {
            [$(stringify!($type),)* "CUhostFn", "CUstreamCallback", "CUoccupancyB2DSize"].contains(&type_name)
        }
    };
}

bits_of_handles! {
    CUcontext CUmodule CUfunction CUlibrary CUkernel CUlinkState CUstream CUevent CUgraph CUgraphNode CUgraphExec
    CUmemoryPool CUuserObject CUarray CUgreenCtx
}

impl<T> Bits for *mut T {
    fn bits_of(self) -> u64 {
        self.addr() as u64
    }
}

impl<T> Bits for *const T {
    fn bits_of(self) -> u64 {
        self.addr() as u64
    }
}

impl Bits for CUresult {
    fn bits_of(self) -> u64 {
        u64::from(self.0)
    }
}

impl Bits for CUhostFn {
    fn bits_of(self) -> u64 {
        self.map_or(0, |function| function as usize as u64)
    }
}

impl Bits for CUstreamCallback {
    fn bits_of(self) -> u64 {
        self.map_or(0, |function| function as usize as u64)
    }
}

impl Bits for CUoccupancyB2DSize {
    fn bits_of(self) -> u64 {
        self.map_or(0, |function| function as usize as u64)
    }
}

/// Passed by value, 8 bytes: the type below, the id above, as it lies in memory.
impl Bits for CUmemLocation {
    fn bits_of(self) -> u64 {
        u64::from(self.r#type) | u64::from(self.id.cast_unsigned()) << 32
    }
}

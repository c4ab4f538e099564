//! The host processor as a reference for rounding: each operation runs with its rounding mode set and restored inside
//! one block of assembly.

#![cfg(target_arch = "x86_64")]

use std::arch::asm;

/// Rounding modes as PTX names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Rn,
    Rm,
    Rp,
    Rz,
}

impl Mode {
    /// All with their PTX names.
    pub const ALL: [(Mode, &'static str); 4] = [(Mode::Rn, "rn"), (Mode::Rm, "rm"), (Mode::Rp, "rp"), (Mode::Rz, "rz")];

    /// The control word: all exceptions masked, this rounding.
    fn control(self) -> u32 {
        0x1f80
            | match self {
                Mode::Rn => 0,
                Mode::Rm => 1 << 13,
                Mode::Rp => 2 << 13,
                Mode::Rz => 3 << 13,
            }
    }
}

macro_rules! binary {
    ($($name:ident: $t:ty, $instruction:literal;)*) => { $(
        pub fn $name(a: $t, b: $t, mode: Mode) -> $t {
            let (control, mut saved) = (mode.control(), 0u32);
            let mut result = a;
            // SAFETY: the block only computes on registers; the control register is put back before it ends.
            unsafe {
                asm!(
                    "stmxcsr [{saved}]", "ldmxcsr [{control}]", concat!($instruction, " {a}, {b}"), "ldmxcsr [{saved}]",
                    saved = in(reg) &raw mut saved, control = in(reg) &raw const control,
                    a = inout(xmm_reg) result, b = in(xmm_reg) b,
                );
            }
            result
        }
    )* };
}

binary! {
    add32: f32, "addss";
    mul32: f32, "mulss";
    div32: f32, "divss";
    add64: f64, "addsd";
    mul64: f64, "mulsd";
    div64: f64, "divsd";
}

macro_rules! unary {
    ($($name:ident: $from:ty => $to:ty, $instruction:literal;)*) => { $(
        pub fn $name(a: $from, mode: Mode) -> $to {
            let (control, mut saved) = (mode.control(), 0u32);
            let mut result: $to = 0.0;
            // SAFETY: the block only computes on registers; the control register is put back before it ends.
            unsafe {
                asm!(
                    "stmxcsr [{saved}]", "ldmxcsr [{control}]", concat!($instruction, " {r}, {a}"), "ldmxcsr [{saved}]",
                    saved = in(reg) &raw mut saved, control = in(reg) &raw const control,
                    r = inout(xmm_reg) result, a = in(xmm_reg) a,
                );
            }
            result
        }
    )* };
}

unary! {
    sqrt32: f32 => f32, "sqrtss";
    sqrt64: f64 => f64, "sqrtsd";
    narrow: f64 => f32, "cvtsd2ss";
}

macro_rules! fused {
    ($($name:ident: $t:ty, $instruction:literal;)*) => { $(
        /// `a * b + c`; the processor must have FMA.
        pub fn $name(a: $t, b: $t, c: $t, mode: Mode) -> $t {
            assert!(has_fma());
            let (control, mut saved) = (mode.control(), 0u32);
            let mut result = a;
            // SAFETY: the processor has FMA; the block only computes on registers, and the control register is put
            // back before it ends.
            unsafe {
                asm!(
                    "stmxcsr [{saved}]", "ldmxcsr [{control}]", concat!($instruction, " {a}, {b}, {c}"),
                    "ldmxcsr [{saved}]",
                    saved = in(reg) &raw mut saved, control = in(reg) &raw const control,
                    a = inout(xmm_reg) result, b = in(xmm_reg) b, c = in(xmm_reg) c,
                );
            }
            result
        }
    )* };
}

fused! {
    fma32: f32, "vfmadd213ss";
    fma64: f64, "vfmadd213sd";
}

pub fn has_fma() -> bool {
    std::is_x86_feature_detected!("fma")
}

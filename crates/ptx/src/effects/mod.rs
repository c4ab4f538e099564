//! What a kernel does with its parameters, from its decoded text.
//!
//! [`effects`] follows each parameter through the kernel and the functions it calls: moves, sums, differences, selects,
//! joins, conversions, local variables. For every access to global memory it tells which parameters, globals or memory
//! the address came from. What the parameters are *meant* to be is for the caller to judge.
//!
//! ```
//! use dacapo_ptx::effects::{AccessKind, Base, effects};
//! let module = dacapo_ptx::parse(
//!     ".version 8.4 .target sm_80 .address_size 64
//!      .visible .entry one(.param .u64 p) {
//!        .reg .b64 %rd<3>;
//!        ld.param.u64 %rd1, [p];
//!        cvta.to.global.u64 %rd2, %rd1;
//!        st.global.u32 [%rd2+4], 1;
//!        ret;
//!      }",
//! )?;
//! let found = effects(&module, module.function("one").unwrap());
//! assert_eq!(found.accesses[0].kind, AccessKind::Write);
//! assert_eq!(found.accesses[0].routes[0].bases, [Base::Param { index: 0, offset: Some(0) }]);
//! # Ok::<(), dacapo_ptx::Errors>(())
//! ```
//!
//! What one can rely on:
//!
//! - **Every access is told.** If an execution accesses global or generic memory at an address that was computed from a
//!   parameter, then the access is listed with a route that names the parameter, or the parameter is said to escape,
//!   or the kernel is [`opaque`](Effects::opaque).
//! - A route is one way in which the address may have come about; the access has no other ways.
//! - Code that cannot be reached is left out. Conditions are not looked into: an access stands here although its branch
//!   may never be taken.
//!
//! Three assumptions, all of them rules of C: an address is followed through data and not through conditions (`if (p ==
//! 4096) q = 4096` makes no pointer of `q`); numbers are added to a pointer to stay in its memory; local memory is
//! reached by addresses of local variables, not by numbers out of the air.
//!
//! A recursive call, a call through a register and one of an unknown function are not followed: what is passed there
//! escapes. A kernel with a form that is not interpreted is opaque.

mod flow;
mod memory;
#[cfg(test)]
mod tests;
mod transfer;
mod value;
mod walk;

use crate::ir::{FunctionId, Module, SourceLoc, Span, Type};

/// What a kernel does with its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Why nothing was decided: the rest is empty then.
    pub opaque: Option<Opaque>,
    /// By parameter.
    pub params: Vec<ParamFacts>,
    /// Loads, stores and atomics of global and generic memory, in the order of the text. One in a function that is
    /// called from two places may stand here twice.
    pub accesses: Vec<MemoryOp>,
}

/// What could not be looked into.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// As a sentence: "`wgmma.fence` is not a form that is known".
    pub why: String,
    /// Where.
    pub place: PtxPlace,
}

/// A place in the PTX, and in the CUDA source where it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PtxPlace {
    /// In the PTX.
    pub line: u32,
    /// Column there.
    pub column: u32,
    /// File (an index into [`Module::files`]) and line in the CUDA source.
    pub source: Option<(u32, u32)>,
}

impl PtxPlace {
    fn new(span: Span, loc: Option<SourceLoc>) -> PtxPlace {
        let source = loc.filter(|loc| loc.file != 0).map(|loc| (loc.file, loc.line));
        PtxPlace { line: span.line, column: span.column, source }
    }
}

/// What is known of one parameter beside the accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParamFacts {
    /// Where it, or something computed from it, is stored to memory or passed where it cannot be followed.
    pub escapes: Option<PtxPlace>,
    /// Where it is multiplied, shifted, divided, converted, or held against a number as a size is: what one does with a
    /// number and not with an address.
    pub number: Option<PtxPlace>,
    /// Whether it is ever loaded or used as a floating-point number.
    pub float: bool,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum AccessKind {
    Read,
    Write,
    /// Reads and writes.
    Atomic,
}

/// One load, store or atomic.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryOp {
    /// What it does.
    pub kind: AccessKind,
    /// The type of one element.
    pub ty: Type,
    /// How many elements at once: 1, 2 or 4. The address must be a multiple of the bytes of all of them.
    pub vector: u8,
    /// Where.
    pub place: PtxPlace,
    /// The ways in which its address comes about, at least one.
    pub routes: Vec<Route>,
}

impl MemoryOp {
    /// How many bytes one element has.
    pub fn element_bytes(&self) -> u32 {
        self.ty.bytes()
    }

    /// How many bytes it touches at once, which is also how it is aligned.
    pub fn bytes(&self) -> u32 {
        self.ty.bytes() * u32::from(self.vector)
    }
}

/// One way in which an address comes about: a sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// What is added as it is, once.
    pub bases: Vec<Base>,
    /// What went into the number that is added: an index computed from a size, a difference, a bit pattern.
    pub mixed: Vec<Base>,
    /// A power of two that the number is a multiple of: `4` for `x + 4 * i`. At most 4096.
    pub multiple: u32,
}

/// Something that an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// A parameter of the kernel.
    Param {
        /** Which. */
        index: u32,
        /** Where in it; none where that depends. */
        offset: Option<u32>,
    },
    /// A variable in global or constant memory: an index into [`Module::variables`].
    Global(u32),
    /// Shared or local memory, or the parameters themselves.
    Own,
    /// Memory: the address was loaded.
    Memory {
        /** Through this parameter, or an address that was loaded through it; none where that is not one. */
        through: Option<u32>,
    },
    /// Something that cannot be followed.
    Unknown,
}

/// What the kernel `entry` does with its parameters.
pub fn effects(module: &Module, entry: FunctionId) -> Effects {
    walk::walk(module, entry)
}

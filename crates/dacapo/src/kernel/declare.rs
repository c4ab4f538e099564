//! Declarations of entry points as data, and what the methods that `kernels!` makes of them call.

use std::any::TypeId;

use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::ToArg;
use crate::kernel::parameter::Parameter;
use crate::value::Snapshot;

/// One declared kernel.
#[doc(hidden)]
pub struct KernelDecl {
    pub name: &'static str,
    pub entry: &'static str,
    pub tunable: bool,
    pub params: &'static [Param],
    pub state: &'static [&'static str],
    /// What it touches before a wait of its own; none if nothing was said of that.
    pub early: Option<&'static [&'static str]>,
    /// As it was written, without comments: the signature, then clause by clause; empty if that is not known.
    pub text: &'static [&'static str],
}

impl KernelDecl {
    /// A kernel whose entry point has its name, with one geometry, that touches no globals.
    pub const fn new(name: &'static str, params: &'static [Param]) -> KernelDecl {
        KernelDecl { name, entry: name, tunable: false, params, state: &[], early: None, text: &[] }
    }

    /// Whether it has a parameter of this name whose memory it only reads.
    pub fn reads(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.name == name && param.mode == Some(PointerMode::Read))
    }

    /// The same with an entry point of another name.
    pub const fn entry(self, entry: &'static str) -> KernelDecl {
        KernelDecl { entry, ..self }
    }

    /// The same, touching these globals.
    pub const fn state(self, state: &'static [&'static str]) -> KernelDecl {
        KernelDecl { state, ..self }
    }

    /// The same, with a wait of its own, before which it touches these.
    pub const fn early(self, early: &'static [&'static str]) -> KernelDecl {
        KernelDecl { early: Some(early), ..self }
    }

    /// The same, written like this: the signature, then each clause.
    pub const fn text(self, text: &'static [&'static str]) -> KernelDecl {
        KernelDecl { text, ..self }
    }

    /// As it was written, with a line for the signature and one for each clause; none if that is not known.
    pub(crate) fn declaration(&self) -> Option<String> {
        let (signature, clauses) = self.text.split_first()?;
        let signature = in_one_line(signature);
        let parameters = signature.strip_suffix(')').map_or(&*signature, |it| it.trim_end_matches(','));
        let mut declaration = format!("{parameters}) {{\n");
        for clause in clauses {
            declaration += &format!("    {};\n", in_one_line(clause));
        }
        Some(declaration + "}")
    }

    /// The same, with this geometry unless a call says another.
    pub const fn tunable(self, _default_grid: &str) -> KernelDecl {
        KernelDecl { tunable: true, ..self }
    }
}

/// What the compiler has broken into lines, in one.
fn in_one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// What a struct of `kernels!` declares, in order: the type by which a loaded module is bound to its declaration.
///
/// # Safety
///
/// - Only `kernels!` implements it: its methods launch each kernel as it is declared here.
#[doc(hidden)]
pub unsafe trait Declared: Sized + 'static {
    /// Its kernels. No two have one name, because no two methods have.
    const KERNELS: &'static [KernelDecl];
}

/// Where a kernel stands among those that are declared.
#[doc(hidden)]
pub const fn position<D: Declared>(name: &str) -> usize {
    let (mut at, name) = (0, name.as_bytes());
    while at < D::KERNELS.len() {
        let (known, mut same) = (D::KERNELS[at].name.as_bytes(), 0);
        while same < name.len() && same < known.len() && known[same] == name[same] {
            same += 1;
        }
        if same == name.len() && same == known.len() {
            return at;
        }
        at += 1;
    }
    panic!("no kernel of this name is declared")
}

/// One declared parameter, in the order of the PTX.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub bytes: usize,
    pub kind: ParamKind,
    /// Whether it is the address of one value.
    pub scalar: bool,
    /// What is done with the memory behind it; none for a value.
    pub mode: Option<PointerMode>,
    /// The type of the value, or of the elements, as it is written.
    pub ty: &'static str,
    /// What that type is.
    pub plain: fn() -> Plain,
    /// Whether it is held against nothing but its size.
    pub unchecked: bool,
}

impl Param {
    /// A declared parameter, of the type that is written like this.
    pub const fn of<P: Parameter>(name: &'static str, ty: &'static str) -> Param {
        Param { name, ty, ..P::PARAM }
    }

    /// The same parameter, held against nothing but its size.
    pub const fn unchecked(self) -> Param {
        Param { unchecked: true, ..self }
    }

    /// A value of the type `T`.
    pub const fn value<T: 'static>(name: &'static str, ty: &'static str, kind: ParamKind) -> Param {
        let bytes = size_of::<T>();
        Param { name, bytes, kind, scalar: false, mode: None, ty, plain: Plain::of::<T>, unchecked: false }
    }

    /// The address of elements of the type `T`, or of one.
    pub const fn pointer<T: 'static>(name: &'static str, ty: &'static str, mode: PointerMode, scalar: bool) -> Param {
        let kind = ParamKind::Pointer;
        Param { name, bytes: 8, kind, scalar, mode: Some(mode), ty, plain: Plain::of::<T>, unchecked: false }
    }
}

/// What is declared to be done with memory.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerMode {
    Read,
    Write,
    Out,
}

/// A type, as far as a kernel's text knows types.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plain {
    pub bytes: usize,
    pub class: Class,
}

/// What kind of type.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Whole,
    Float,
    /// Arrays, structs, and floats that have no arithmetic everywhere.
    Other,
}

impl Plain {
    pub fn of<T: 'static>() -> Plain {
        let is = |known: &[TypeId]| known.contains(&TypeId::of::<T>());
        macro_rules! ids {
            ($($ty:ty)*) => { &[$(TypeId::of::<$ty>()),*] };
        }
        let class = if is(ids!(f32 f64)) {
            Class::Float
        } else if is(ids!(u8 i8 u16 i16 u32 i32 u64 i64)) {
            Class::Whole
        } else {
            Class::Other
        };
        Plain { bytes: size_of::<T>(), class }
    }
}

/// Whether a parameter is an address.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    Value,
    Derived,
    Pointer,
}

/// For errors: the arguments with their names.
#[doc(hidden)]
#[cold]
pub fn describe(args: &[(&str, &dyn ToArg)]) -> String {
    args.iter().filter_map(|(name, arg)| arg.show(name)).collect::<Vec<_>>().join(", ")
}

#[doc(hidden)]
#[cold]
pub fn requires_failed(condition: &'static str, values: String) -> Error {
    Error::new(ErrorKind::Requires { condition, values })
}

/// Runs what a launch seldom needs, out of its way: its code is not among the recipe's.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn aside<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// An expression of the declaration's, run where it stands: a `return` or a `?` in it ends it alone, and not the
/// recipe, which would leave arguments out.
#[doc(hidden)]
#[inline(always)]
pub fn said<R>(expression: impl FnOnce() -> R) -> R {
    expression()
}

/// A derived parameter, never truncated.
#[doc(hidden)]
#[inline]
pub fn derive<T: Pod + TryFrom<V>, V: std::fmt::Debug + Copy>(
    param: &'static str,
    source: &'static str,
    value: V,
) -> Result<T> {
    let refused = || Error::new(ErrorKind::Derived { param, values: format!("{source} = {value:?}") });
    T::try_from(value).map_err(|_| aside(refused))
}

/// Tells a report the arguments, if there is one.
#[doc(hidden)]
#[cold]
pub fn tell(snapshot: &Snapshot<'_>, args: &[&dyn ToArg]) {
    snapshot.tell(&mut args.iter().map(|arg| arg.text().into()));
}

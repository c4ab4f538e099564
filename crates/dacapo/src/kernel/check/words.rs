//! How what was found is said.

use std::fmt;

use dacapo_ptx::effects::{AccessKind, Base, MemoryOp, Opaque, PtxPlace, Route};
use dacapo_ptx::ir::{Module, Type, Variable};

use super::facts::{Checked, CheckedKernel, Found, Warning, WarningKind};
use crate::error::FalseDeclaration;
use crate::kernel::declare::{KernelDecl, Param, PointerMode};

/// The words about one kernel.
pub(super) struct Words<'w> {
    pub(super) module: &'w Module,
    pub(super) decl: &'w KernelDecl,
}

/// Why a text was not looked into.
pub(crate) fn not_read(errors: &dacapo_ptx::Errors) -> String {
    let first = errors.to_string();
    format!("the PTX could not be read: {}", first.lines().next().unwrap_or_default())
}

impl Words<'_> {
    /// `saxpy.cu:12`.
    fn source(&self, place: PtxPlace) -> Option<String> {
        let (file, line) = place.source?;
        let file = self.module.files.get(file as usize).filter(|file| !file.is_empty())?;
        Some(format!("{file}:{line}"))
    }

    /// `stored, line 12 of the PTX (saxpy.cu:3)`.
    pub(super) fn at(&self, what: &str, place: PtxPlace) -> String {
        let source = self.source(place).map(|source| format!(" ({source})")).unwrap_or_default();
        format!("{what}, line {} of the PTX{source}", place.line)
    }

    pub(super) fn opaque(&self, opaque: &Opaque) -> String {
        self.at(&opaque.why, opaque.place)
    }

    fn lie(&self, param: &str, place: PtxPlace, what: String, declared: String, instead: String) -> FalseDeclaration {
        let (kernel, source) = (self.decl.name.to_string(), self.source(place));
        FalseDeclaration { kernel, param: param.to_string(), what, line: place.line, source, declared, instead }
    }

    fn of_param(&self, param: &Param, place: PtxPlace, what: String, instead: &str) -> FalseDeclaration {
        let instead = format!("{}: {instead}", param.name);
        self.lie(param.name, place, what, format!("{}: {}", param.name, param.written()), instead)
    }

    pub(super) fn stored(&self, param: &Param, access: &MemoryOp) -> FalseDeclaration {
        let what = match access.kind {
            AccessKind::Atomic => format!("changes {} bytes at once through `{}`", access.bytes(), param.name),
            _ => format!("writes {} bytes through `{}`", access.bytes(), param.name),
        };
        let instead = if param.scalar { format!("&mut {}", param.ty) } else { format!("&mut [{}]", param.ty) };
        self.of_param(param, access.place, what, &instead)
    }

    pub(super) fn value_as_address(&self, param: &Param, access: &MemoryOp, written: bool) -> FalseDeclaration {
        let verb = if access.kind == AccessKind::Read { "reads" } else { "writes" };
        let what = format!("{verb} {} bytes at an address that is `{}`", access.bytes(), param.name);
        let borrow = if written { "&mut " } else { "&" };
        let instead = format!("{borrow}[{}]", rust(access.ty));
        let instead = if param.bytes == 8 { instead } else { "a pointer of its own, and the rest as values".into() };
        self.of_param(param, access.place, what, &instead)
    }

    pub(super) fn pointer_as_number(&self, param: &Param, variable: &Variable, place: PtxPlace) -> FalseDeclaration {
        let what = format!("uses `{}` as a number, and no address is made of it", param.name);
        self.of_param(param, place, what, rust(variable.ty))
    }

    pub(super) fn float_declared_otherwise(&self, param: &Param, variable: &Variable) -> FalseDeclaration {
        let (place, ty) = (place_of(variable), rust(variable.ty));
        self.of_param(param, place, format!("takes `{}` as a floating-point number, `.param .{ty}`", param.name), ty)
    }

    pub(super) fn whole_declared_as_float(&self, param: &Param, variable: &Variable) -> FalseDeclaration {
        let ty = rust(variable.ty);
        let bits = variable.ty.bytes() * 8;
        let what = format!("takes `{}` as a whole number of {bits} bits, and uses it as no other", param.name);
        self.of_param(param, place_of(variable), what, ty)
    }

    pub(super) fn global(&self, global: u32, access: &MemoryOp) -> FalseDeclaration {
        let name = &self.module.variables[global as usize].name;
        let what = format!("writes {} bytes of the global `{name}`", access.bytes());
        let list = |names: &[&str]| format!("state: {}", names.join(", "));
        let declared = if self.decl.state.is_empty() { "no `state`".to_string() } else { list(self.decl.state) };
        let names: Vec<&str> = self.decl.state.iter().copied().chain([name.as_str()]).collect();
        self.lie(name, access.place, what, declared, list(&names))
    }

    pub(super) fn out_of_memory(&self, access: &MemoryOp, route: &Route) -> Warning {
        let verb = if access.kind == AccessKind::Read { "reads" } else { "writes" };
        let loaded = route.bases.iter().find_map(|base| match base {
            Base::Memory { through } => Some(through.map(|index| self.decl.params[index as usize].name)),
            _ => None,
        });
        let origin = match loaded {
            Some(Some(name)) => format!("that came out of memory, through `{name}`"),
            Some(None) => "that came out of memory".to_string(),
            None => "that comes from no parameter".to_string(),
        };
        let what = format!("{verb} {} bytes at an address {origin}: what is there is not declared", access.bytes());
        Warning { kind: WarningKind::AddressFromMemory, param: String::new(), text: self.at(&what, access.place) }
    }

    pub(super) fn warning(&self, kind: WarningKind, param: &Param, used: Option<u32>) -> Warning {
        let (name, declared, bytes) = (param.name, param.written(), (param.plain)().bytes);
        let text = match kind {
            WarningKind::NeverWritten => format!("`{name}: {declared}` is never written"),
            WarningKind::NeverRead => format!("`{name}: {declared}` is never read"),
            _ => format!(
                "`{name}: {declared}` has elements of {bytes} bytes, and no access is wider than {}",
                used.unwrap_or_default()
            ),
        };
        Warning { kind, param: name.to_string(), text }
    }
}

fn place_of(variable: &Variable) -> PtxPlace {
    PtxPlace { line: variable.span.line, column: variable.span.column, source: None }
}

/// The type of Rust's that has this type's values.
fn rust(ty: Type) -> &'static str {
    use Type::*;
    match ty {
        B8 | U8 | Pred | E4m3 | E5m2 => "u8",
        S8 => "i8",
        B16 | U16 | E4m3x2 | E5m2x2 => "u16",
        S16 => "i16",
        B32 | U32 | F16x2 | Bf16x2 | Tf32 => "u32",
        S32 => "i32",
        B64 | U64 => "u64",
        S64 => "i64",
        B128 => "[u64; 2]",
        F16 => "f16",
        Bf16 => "bf16",
        F32 => "f32",
        F64 => "f64",
    }
}

impl Param {
    /// As it is declared: `&mut [f32]`.
    pub(super) fn written(&self) -> String {
        let ty = self.ty;
        let borrow = match self.mode {
            None => return ty.to_string(),
            Some(PointerMode::Read) => "&",
            Some(PointerMode::Write) => "&mut ",
            Some(PointerMode::Out) => "&out ",
        };
        if self.scalar { format!("{borrow}{ty}") } else { format!("{borrow}[{ty}]") }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Value => f.write_str("a value"),
            Found::Unchecked => f.write_str("unchecked"),
            Found::NotDecided { why } => write!(f, "not decided: {why}"),
            Found::Memory { read, written, atomic, bytes_min, bytes_max } => {
                f.write_str(match (read, written) {
                    (true, true) => "read and written",
                    (true, false) => "read",
                    (false, true) => "written",
                    (false, false) => return f.write_str("not touched"),
                })?;
                if *atomic {
                    f.write_str(", atomically too")?;
                }
                match bytes_min == bytes_max {
                    true => write!(f, ", {bytes_min} bytes at once"),
                    false => write!(f, ", {bytes_min} to {bytes_max} bytes at once"),
                }
            }
        }
    }
}

impl fmt::Display for CheckedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if self.name != self.entry {
            write!(f, " (`{}`)", self.entry)?;
        }
        if let Some(why) = &self.not_decided {
            write!(f, ": not decided: {why}")?;
        }
        writeln!(f)?;
        for param in &self.params {
            match (&self.not_decided, &param.found) {
                (Some(_), Found::NotDecided { .. }) => writeln!(f, "  {}: {}", param.name, param.declared)?,
                (_, found) => writeln!(f, "  {}: {}  {found}", param.name, param.declared)?,
            }
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "  warning: {}", warning.text))
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernels.iter().try_for_each(|kernel| kernel.fmt(f))
    }
}

//! `tests/fail/*.ptx` gives the diagnostics in the `.stderr` beside it; `tests/pass/*.ptx` gives the listing in the
//! `.listing` beside it.
//!
//! `cargo xtask bless` writes new expectations; read the difference before you commit it.

use dacapo_ptx::ir::{AddressBase, CallTarget, Function, Init, Module, Opcode, Operand, Variable, VariableRef};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of cases is part of the crate")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    paths.sort();
    paths
}

/// Compares `got` with the file beside `path`; returns what to say where they differ.
fn compare(path: &Path, extension: &str, got: &str) -> Option<String> {
    let expected_path = path.with_extension(extension);
    if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&expected_path, got).expect("writable");
        return None;
    }
    let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
    (expected != got).then(|| format!("{}\n--- expected\n{expected}--- got\n{got}", path.display()))
}

fn finish(failures: Vec<String>) {
    assert!(failures.is_empty(), "{}\n`cargo xtask bless` accepts what was got", failures.join("\n"));
}

#[test]
fn what_is_wrong_is_said_as_written() {
    let mut failures = Vec::new();
    let cases = cases("fail");
    assert!(cases.len() >= 40, "cases are missing");
    for path in cases {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("?").to_string();
        let bytes = std::fs::read(&path).expect("readable");
        match dacapo_ptx::parse_bytes(&bytes) {
            Ok(_) => failures.push(format!("{name} was accepted")),
            Err(errors) => failures.extend(compare(&path, "stderr", &(errors.render(&name) + "\n"))),
        }
    }
    finish(failures);
}

#[test]
fn what_is_right_is_decoded_as_listed() {
    let mut failures = Vec::new();
    let cases = cases("pass");
    assert!(cases.len() >= 15, "cases are missing");
    for path in cases {
        let bytes = std::fs::read(&path).expect("readable");
        match dacapo_ptx::parse_bytes(&bytes) {
            Ok(module) => failures.extend(compare(&path, "listing", &listing(&module))),
            Err(errors) => failures.push(errors.render(&path.display().to_string())),
        }
    }
    finish(failures);
}

#[test]
fn the_kernels_of_the_project_are_read_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of kernels is part of the crate").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "ptx") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let module =
            dacapo_ptx::parse_bytes(&bytes).unwrap_or_else(|e| panic!("{}", e.render(&path.display().to_string())));
        let unknown = module.functions.iter().flat_map(|f| &f.body).find(|i| i.form.opcode == Opcode::Unsupported);
        assert!(unknown.is_none(), "{}: {unknown:?}", path.display());
        read += 1;
    }
    assert!(read >= 10, "kernels are missing");
}

/// Everything of a module that a reader of the text would want to check.
fn listing(module: &Module) -> String {
    let mut out = format!("ptx {}.{} {}\n", module.version.0, module.version.1, module.target.join(","));
    for variable in &module.variables {
        let _ = writeln!(out, "{}", declared(module, variable));
    }
    for function in &module.functions {
        let kind = if function.is_kernel { "kernel" } else { "function" };
        let body = if function.has_body { "" } else { " (no body)" };
        let _ = writeln!(out, "\n{kind} {}{body}, {} bytes of parameters", function.name, function.param_bytes());
        if function.directives != Default::default() {
            let _ = writeln!(out, "  {:?}", function.directives);
        }
        for (what, list) in
            [("param", &function.params), ("result", &function.returns), ("variable", &function.variables)]
        {
            for variable in list {
                let _ = writeln!(out, "  {what} {}", declared(module, variable));
            }
        }
        for (i, instruction) in function.body.iter().enumerate() {
            let guard = instruction.guard.map_or(String::new(), |g| {
                format!("@{}{} ", if g.negated { "!" } else { "" }, function.registers[g.reg.0 as usize].name)
            });
            let operands: Vec<String> = instruction.operands.iter().map(|o| operand(module, function, o)).collect();
            let used = instruction.used_bytes.map_or(String::new(), |mask| format!("    // uses bytes {mask:#x}"));
            let place = instruction
                .loc
                .map_or(String::new(), |l| format!("    // {}:{}:{}", module.files[l.file as usize], l.line, l.column));
            let _ = writeln!(out, "  {i:3}  {guard}{} {}{place}", instruction.form, operands.join(", ") + &used);
        }
        for entry in &function.unsupported {
            let _ = writeln!(out, "  unsupported at {}: {}", entry.span, entry.why);
        }
    }
    out
}

fn declared(module: &Module, v: &Variable) -> String {
    let mut out = format!("{} {:?} {:?} align {} size {} at {}", v.name, v.space, v.ty, v.align, v.size, v.offset);
    for init in &v.init {
        let _ = match init {
            Init::Bytes(bytes) => write!(out, " {bytes:02x?}"),
            Init::Address { variable, addend, generic, bytes } => {
                write!(out, " &{}+{addend} generic={generic} {bytes}", variable_name(module, None, *variable))
            }
            Init::Function { function, bytes } => {
                write!(out, " &{} {bytes}", module.functions[function.0 as usize].name)
            }
        };
    }
    out
}

fn variable_name(module: &Module, function: Option<&Function>, variable: VariableRef) -> String {
    match (variable, function) {
        (VariableRef::Module(i), _) => module.variables[i as usize].name.clone(),
        (VariableRef::Function(i), Some(f)) => format!("{}#{i}", f.variables[i as usize].name),
        (VariableRef::Param(i), Some(f)) => format!("{}#param", f.params[i as usize].name),
        (VariableRef::Return(i), Some(f)) => format!("{}#result", f.returns[i as usize].name),
        (other, None) => format!("{other:?}"),
    }
}

fn operand(module: &Module, function: &Function, o: &Operand) -> String {
    let reg = |r: &dacapo_ptx::ir::Reg| function.registers[r.0 as usize].name.clone();
    let list = |l: &[Operand]| l.iter().map(|o| operand(module, function, o)).collect::<Vec<_>>().join(", ");
    match o {
        Operand::Reg(r) => reg(r),
        Operand::NotReg(r) => format!("!{}", reg(r)),
        Operand::Imm(bits) => format!("{bits:#x}"),
        Operand::Special(special) => format!("{special:?}"),
        Operand::Address { base, offset } => {
            let base = match base {
                AddressBase::Reg(r) => reg(r),
                AddressBase::Variable(v) => variable_name(module, Some(function), *v),
                AddressBase::Absolute => String::new(),
            };
            format!("[{base}+{offset}]")
        }
        Operand::Variable { variable, offset } => {
            format!("&{}+{offset}", variable_name(module, Some(function), *variable))
        }
        Operand::Function(f) => format!("&{}", module.functions[f.0 as usize].name),
        Operand::Vector(elements) => {
            let parts: Vec<String> =
                elements.iter().map(|e| e.as_ref().map_or("_".into(), |o| operand(module, function, o))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        Operand::Pair(a, b) => {
            let half = |r: &Option<_>| r.as_ref().map_or("_".into(), reg);
            format!("{}|{}", half(a), half(b))
        }
        Operand::Sink => "_".into(),
        Operand::Label(place) => format!("->{place}"),
        Operand::Labels(places) => format!("->{places:?}"),
        Operand::Call(call) => {
            let target = match &call.target {
                CallTarget::Direct(f) => module.functions[f.0 as usize].name.clone(),
                CallTarget::Indirect(r, p) => format!("*{} as {}", reg(r), function.prototypes[*p as usize].name),
            };
            format!("({}) = {target}({})", list(&call.returns), list(&call.args))
        }
    }
}

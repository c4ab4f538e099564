//! What the CUDA C of a kernel says of its parameters: the truth for kernels that nobody declared in Rust.
//!
//! `const T*` is `&[T]`, `T*` is `&mut [T]`, what is left is a value. Globals that the kernel's body names stand in
//! `state`.

use super::declared::{Declaration, DeclaredParam, bracketed, split, without_comments};

/// The kernels of a source.
pub fn kernels(source: &str) -> Result<Vec<Declaration>, String> {
    let source = expanded(&without_comments(source));
    let globals = globals(&source);
    let mut found = Vec::new();
    let mut rest = &source[..];
    while let Some(at) = rest.find("__global__") {
        if !rest[..at].trim_end().ends_with("extern \"C\"") {
            return Err("a kernel that is not `extern \"C\"` has a name that this does not know".into());
        }
        rest = rest[at..].split_once("void").ok_or("a kernel without `void`")?.1.trim_start();
        if let Some(bounds) = rest.strip_prefix("__launch_bounds__") {
            rest = bracketed(bounds).ok_or("unbalanced launch bounds")?.1.trim_start();
        }
        let open = rest.find('(').ok_or("a kernel without parameters")?;
        let name = rest[..open].trim().to_string();
        let (params, behind) = bracketed(&rest[open..]).ok_or("unbalanced parameters")?;
        let (body, behind) = bracketed(behind.trim_start()).ok_or("unbalanced body")?;
        let params =
            split(params, ',').iter().filter(|param| !param.trim().is_empty()).map(|text| param(text)).collect();
        let state = globals.iter().filter(|global| words(body).any(|word| word == **global)).cloned().collect();
        found.push(Declaration { entry: name.clone(), name, params, state });
        rest = behind;
    }
    Ok(found)
}

/// A source whose macros with parameters are spelled out where a line begins with one.
fn expanded(source: &str) -> String {
    let joined = source.replace("\\\n", " ");
    let mut macros: Vec<(&str, Vec<&str>, &str)> = Vec::new();
    let mut out = String::new();
    for line in joined.lines() {
        if let Some(definition) = line.strip_prefix("#define ") {
            let name_end = definition.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(definition.len());
            let (name, rest) = definition.split_at(name_end);
            if let Some((params, body)) = rest.starts_with('(').then(|| bracketed(rest)).flatten() {
                macros.push((name, params.split(',').map(str::trim).collect(), body));
            }
            continue;
        }
        let used = macros.iter().find(|(name, ..)| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')));
        match used.and_then(|(name, params, body)| Some((params, body, bracketed(&line[name.len()..])?.0))) {
            Some((params, body, arguments)) => out.push_str(&filled_in(body, params, &split(arguments, ','))),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// A macro's body with its arguments in place of the parameters.
fn filled_in(body: &str, params: &[&str], arguments: &[String]) -> String {
    let (mut out, mut rest) = (String::new(), body);
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let argument = params.iter().position(|param| *param == word).and_then(|at| arguments.get(at));
        out.push_str(argument.map_or(word, |argument| argument.trim()));
        rest = behind;
    }
    (out + rest).replace("##", "")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// Variables in global memory: `__device__` at the start of a line, ended by `;`, `=` or `[` and not by a parenthesis.
fn globals(source: &str) -> Vec<String> {
    let declared = source.lines().filter_map(|line| line.strip_prefix("__device__ "));
    let variable = |line: &str| {
        let end = line.find(['(', ';', '=', '['])?;
        (!line[end..].starts_with('(')).then(|| words(line[..end].trim()).last().unwrap_or_default().to_string())
    };
    declared.filter_map(variable).collect()
}

fn param(text: &str) -> DeclaredParam {
    let left_out = ["__restrict__", "__grid_constant__", "volatile"];
    let spaced = text.replace('*', " * ");
    let words: Vec<&str> = spaced.split_whitespace().filter(|word| !left_out.contains(word)).collect();
    let (name, words) = words.split_last().expect("a parameter has a name");
    let is_pointer = words.contains(&"*");
    let is_const = words.first() == Some(&"const");
    let ty: Vec<&str> = words.iter().copied().filter(|word| !["const", "*"].contains(word)).collect();
    let ty = rust(&ty.join(" "));
    let ty = match (is_pointer, is_const) {
        (false, _) => ty,
        (true, true) => format!("&[{ty}]"),
        (true, false) => format!("&mut [{ty}]"),
    };
    DeclaredParam { name: name.to_string(), ty, unchecked: false }
}

fn rust(ty: &str) -> String {
    match ty {
        "bool" | "unsigned char" => "u8",
        "char" | "signed char" => "i8",
        "short" => "i16",
        "unsigned short" => "u16",
        "int" => "i32",
        "unsigned" | "unsigned int" => "u32",
        "long long" => "i64",
        "unsigned long long" | "size_t" => "u64",
        "float" => "f32",
        "double" => "f64",
        other => other,
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_a_macro_makes_is_found_under_its_name() {
        let source = "#define KERNEL(R, T) \\\n    extern \"C\" __global__ void k_##R(const T* x) \\\n    \
            { f(R, x); }\nKERNEL(4, float)\n";
        let [kernel] = &kernels(source).unwrap()[..] else { panic!("one kernel") };
        assert_eq!((&*kernel.entry, &*kernel.params[0].ty), ("k_4", "&[f32]"));
    }

    #[test]
    fn a_signature_becomes_a_declaration() {
        let source = "__device__ unsigned done[4]; // a counter\n__device__ float f(float x) { return x; }\n\
            extern \"C\" __global__ void __launch_bounds__(128, 4)\nk(int n, const float* __restrict__ x,\n\
            volatile int *y, const __grid_constant__ Big b) { if (n) { done[0] = 1; } }";
        let [kernel] = &kernels(source).unwrap()[..] else { panic!("one kernel") };
        let params: Vec<String> = kernel.params.iter().map(|param| format!("{}: {}", param.name, param.ty)).collect();
        assert_eq!(params, ["n: i32", "x: &[f32]", "y: &mut [i32]", "b: Big"]);
        assert_eq!((&*kernel.entry, &kernel.state[..]), ("k", &["done".to_string()][..]));
    }
}

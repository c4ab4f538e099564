//! A declaration as text, made into what `kernels!` would have made of it.

use dacapo::__private::{KernelDecl, Param, ParamKind, Plain, PointerMode};

/// Stands for types that only a program knows: structs and arrays.
struct Composite;

/// One declared kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declaration {
    pub name: String,
    pub entry: String,
    pub params: Vec<DeclaredParam>,
    pub state: Vec<String>,
}

/// One of its parameters: the name and the type, as they stand in `kernels!`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeclaredParam {
    pub name: String,
    pub ty: String,
    pub unchecked: bool,
}

impl Declaration {
    /// What the library checks. The texts live as long as the program, as those of a declaration do.
    pub fn leak(&self) -> KernelDecl {
        let params: Vec<Param> = self.params.iter().map(DeclaredParam::leak).collect();
        let state: Vec<&'static str> = self.state.iter().map(|name| leak(name)).collect();
        KernelDecl::new(leak(&self.name), Vec::leak(params)).entry(leak(&self.entry)).state(Vec::leak(state))
    }
}

impl DeclaredParam {
    /// Whether it is declared as memory.
    pub fn is_pointer(&self) -> bool {
        self.ty.starts_with('&')
    }

    fn leak(&self) -> Param {
        let (mode, rest) = match self.ty.strip_prefix('&') {
            None => (None, &*self.ty),
            Some(rest) => match (rest.trim_start().strip_prefix("mut "), rest.trim_start().strip_prefix("out ")) {
                (Some(rest), _) => (Some(PointerMode::Write), rest),
                (_, Some(rest)) => (Some(PointerMode::Out), rest),
                _ => (Some(PointerMode::Read), rest.trim_start()),
            },
        };
        let elements = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|_| mode.is_some());
        let ty = leak(elements.unwrap_or(rest).trim());
        let param = match mode {
            None => {
                Param { plain: plain(ty), bytes: plain(ty)().bytes, ..Param::value::<u32>("", ty, ParamKind::Value) }
            }
            Some(mode) => Param { plain: plain(ty), ..Param::pointer::<u32>("", ty, mode, elements.is_none()) },
        };
        let param = Param { name: leak(&self.name), ..param };
        if self.unchecked { param.unchecked() } else { param }
    }
}

fn plain(ty: &str) -> fn() -> Plain {
    macro_rules! known {
        ($($name:ident)*) => {
            match ty {
                $(stringify!($name) => Plain::of::<$name>,)*
                _ => Plain::of::<Composite>,
            }
        };
    }
    known!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64)
}

fn leak(text: &str) -> &'static str {
    String::leak(text.to_string())
}

/// `n: u32 = y.len(), unchecked x: &[f32]`, as parameters.
pub fn params(text: &str) -> Result<Vec<DeclaredParam>, String> {
    let parts = split(text, ',');
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, rest) = part.split_once(':').ok_or_else(|| format!("`{part}` is no parameter"))?;
            let ty = split(rest, '=')[0].split_whitespace().collect::<Vec<_>>().join(" ");
            let (is_unchecked, name) = match name.trim().strip_prefix("unchecked ") {
                Some(name) => (true, name.trim()),
                None => (false, name.trim()),
            };
            Ok(DeclaredParam { name: name.to_string(), ty, unchecked: is_unchecked })
        })
        .collect()
}

/// The pieces of `text` between separators that stand in no bracket.
pub fn split(text: &str, separator: char) -> Vec<String> {
    let (mut depth, mut parts) = (0i32, vec![String::new()]);
    for c in text.chars() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        match c == separator && depth == 0 {
            true => parts.push(String::new()),
            false => parts.last_mut().expect("there is always one").push(c),
        }
    }
    parts
}

/// What stands between the bracket that `text` begins with and its partner, and what follows.
pub fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        quoted = c == '"';
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if depth == 0 {
            return Some((&text[1..at], &text[at + c.len_utf8()..]));
        }
    }
    None
}

/// A text without its comments of the kind `//`, also those of documentation.
pub fn without_comments(text: &str) -> String {
    let line = |line: &str| line.split("//").next().unwrap_or_default().to_string();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

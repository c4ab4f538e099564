//! Variants of a text: kernels that wait for those before them and let those behind them begin, and kernels that a flag in
//! memory switches off.
//!
//! A programmatic edge lets a kernel begin before the one that it comes after is over. Such a kernel must execute
//! `griddepcontrol.wait` before it touches anything, and gains if the one before it executes
//! `griddepcontrol.launch_dependents`. This module puts both into kernels that nobody wrote for it.
//!
//! A guarded kernel has two parameters more, the address of a flag and the side that it is on. It reads the flag before
//! anything else, in every thread, and returns if the other side was chosen.
//!
//! - **By place.** The instructions stand right behind the `{` of an entry's body, in the same line. Tokens say where that is,
//!   so neither comments nor strings mislead; and every line keeps its number, in reports and in debug sections.
//! - **Nothing else changes**, but the parameters of a guarded kernel, and `.version` and `.target` where the text is older
//!   than `griddepcontrol` (7.8 and sm_90).
//! - **Some entries are left alone**, and [`Variant::left`] says why.

use crate::lex::{Tok, Token, lex};

/// What an entry begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opening {
    /// `griddepcontrol.wait`
    Waits,
    /// `griddepcontrol.wait`, then `griddepcontrol.launch_dependents`: what comes behind may begin as soon as all that comes
    /// before is over.
    WaitsAndSignals,
    /// A guard. Two parameters stand behind the others: `.u64`, the address of a flag of 32 bits in global memory, and `.u32`,
    /// a side. The kernel returns at once unless the side is 1 and the flag is not zero, or the side is 0 and the flag is.
    Guarded,
    /// `griddepcontrol.wait`, then the guard.
    WaitsGuarded,
}

impl Opening {
    fn controls(self) -> bool {
        self != Opening::Guarded
    }

    fn guards(self) -> bool {
        matches!(self, Opening::Guarded | Opening::WaitsGuarded)
    }

    /// Whether the text is for a second copy of the module, beside one that is loaded as it is or waiting.
    fn is_copy(self) -> bool {
        self != Opening::Waits
    }
}

/// Why an entry was left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Left {
    /// It has `griddepcontrol.wait` of its own, or calls functions of a module in which one has.
    Controls,
    /// It has `griddepcontrol` of its own, and never waits.
    Signals,
    /// Its blocks are clusters.
    Cluster,
    /// It may read constant variables. They are cached from where a kernel begins, so a wait comes too late for them: on an
    /// H200, a kernel that began early was seen to read what was there before.
    Constants,
    /// It may touch variables of the module, and a second copy of the module would have others. Not of [`Opening::Waits`],
    /// which is no second copy.
    Variables,
}

/// A text in which entries have another beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The whole text, with as many lines as before.
    pub text: String,
    /// The entries that were changed.
    pub changed: Vec<String>,
    /// Those that were not.
    pub left: Vec<(String, Left)>,
}

/// The first version of PTX that knows the instructions, and the first target.
const VERSION: (u32, u32) = (7, 8);
const TARGET: u32 = 90;

/// Targets before this one have warps whose threads go in step, and kernels may rely on it. Devices keep that for a text with
/// such a target, but not for the same text with a newer one.
const TARGET_OF_FREE_THREADS: u32 = 70;

/// Makes a variant of a text. None if it has no entries, or is not understood: two `.target`s, a target before `sm_70` or with
/// options that newer ones do not have, variables that are declared many at a time (`g<3>`), something that is no PTX.
///
/// ```
/// use dacapo_ptx::{Opening, variant};
/// let text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";
/// let waiting = variant(text, Opening::Waits).unwrap();
/// assert_eq!(
///     waiting.text,
///     ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{ griddepcontrol.wait;\n  ret;\n}\n"
/// );
/// ```
pub fn variant(text: &str, opening: Opening) -> Option<Variant> {
    let mut errors = Vec::new();
    if text.len() > u32::MAX as usize {
        return None;
    }
    let tokens = lex(text, &mut errors);
    if !errors.is_empty() {
        return None;
    }
    let mut edits = heading(&tokens)?;
    if !opening.controls() {
        edits.clear();
    }
    let module = Module::of(&tokens)?;
    let mut made = Variant { text: String::new(), changed: Vec::new(), left: Vec::new() };
    let guard = Guard::new(text);
    let begin = match opening {
        Opening::Waits => " griddepcontrol.wait;".to_string(),
        Opening::WaitsAndSignals => " griddepcontrol.wait; griddepcontrol.launch_dependents;".to_string(),
        Opening::Guarded => format!(" {}", guard.block()),
        Opening::WaitsGuarded => format!(" griddepcontrol.wait; {}", guard.block()),
    };
    for entry in module.bodies.iter().filter(|body| body.is_entry) {
        match module.reason(entry, opening) {
            Some(why) => made.left.push((entry.name.to_string(), why)),
            None => {
                edits.extend(opening.guards().then(|| guard.parameters(entry)));
                edits.push(Edit { at: entry.begin, end: entry.begin, with: begin.clone() });
                made.changed.push(entry.name.to_string());
            }
        }
    }
    if made.changed.is_empty() && made.left.is_empty() {
        return None;
    }
    // Where no entry is changed, nothing is.
    made.text = if made.changed.is_empty() { text.to_string() } else { edited(text, edits) };
    Some(made)
}

/// Bytes of the text, and what stands there instead.
struct Edit {
    at: usize,
    end: usize,
    with: String,
}

fn edited(text: &str, edits: Vec<Edit>) -> String {
    let mut result = String::with_capacity(text.len() + edits.iter().map(|edit| edit.with.len()).sum::<usize>());
    let mut from = 0;
    for Edit { at, end, with } in edits {
        result.push_str(&text[from..at]);
        result.push_str(&with);
        from = end;
    }
    result.push_str(&text[from..]);
    result
}

/// `.version` and `.target`, raised where they are older than the instructions.
fn heading(tokens: &[Token<'_>]) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let [version, number, target, rest @ ..] = tokens else { return None };
    let (Tok::Dot("version"), Tok::Decimal(text), Tok::Dot("target")) = (version.tok, number.tok, target.tok) else {
        return None;
    };
    let (major, minor) = text.split_once('.')?;
    if (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) < VERSION {
        let with = format!("{}.{}", VERSION.0, VERSION.1);
        edits.push(Edit { at: number.start, end: number.start + text.len(), with });
    }
    let mut rest = rest.iter();
    loop {
        let word = rest.next()?;
        let Tok::Ident(name) = word.tok else { return None };
        if let Some(number) = name.strip_prefix("sm_") {
            // With a letter behind it the target is that one device, newer than those that lack the instruction.
            if let Ok(number) = number.parse::<u32>()
                && number < TARGET
            {
                if number < TARGET_OF_FREE_THREADS {
                    return None;
                }
                edits.push(Edit { at: word.start, end: word.start + name.len(), with: format!("sm_{TARGET}") });
            }
        } else if name == "map_f64_to_f32" {
            return None;
        }
        match rest.as_slice().first()?.tok {
            Tok::Punct(',') => rest.next(),
            // Said twice, it is not for us to choose.
            _ if rest.any(|token| token.tok == Tok::Dot("target")) => return None,
            _ => break,
        };
    }
    Some(edits)
}

/// The two parameters of a guarded kernel and what it does with them, in names that the text does not have.
struct Guard {
    stem: String,
}

impl Guard {
    fn new(text: &str) -> Guard {
        let mut stem = "dacapo_guard".to_string();
        while text.contains(&stem) {
            stem.push('_');
        }
        Guard { stem }
    }

    /// The parameters, behind those that an entry has.
    fn parameters(&self, entry: &Body<'_>) -> Edit {
        let (stem, (at, list)) = (&self.stem, entry.list);
        let two = format!(".param .u64 {stem}_flag, .param .u32 {stem}_side");
        let with = match list {
            List::None => format!("({two})"),
            List::Empty => two,
            List::Some => format!(", {two}"),
        };
        Edit { at, end: at, with }
    }

    /// Returns if `(flag != 0) != side`.
    fn block(&self) -> String {
        let [other, value, side, at] = ["other", "value", "side", "at"].map(|name| format!("%{}_{name}", self.stem));
        let stem = &self.stem;
        format!(
            "{{ .reg .pred {other}; .reg .b32 {value}, {side}; .reg .b64 {at}; \
             ld.param.u64 {at}, [{stem}_flag]; cvta.to.global.u64 {at}, {at}; ld.global.u32 {value}, [{at}]; \
             min.u32 {value}, {value}, 1; ld.param.u32 {side}, [{stem}_side]; setp.ne.u32 {other}, {value}, {side}; \
             @{other} ret; }}"
        )
    }
}

/// The list of an entry's parameters.
#[derive(Clone, Copy)]
enum List {
    /// There is none.
    None,
    /// `()`
    Empty,
    Some,
}

/// A function with a body.
struct Body<'t> {
    name: &'t str,
    is_entry: bool,
    is_cluster: bool,
    /// Where its list of parameters ends, or would stand.
    list: (usize, List),
    /// Right behind its `{`.
    begin: usize,
    controls: bool,
    /// Whether one of its controls is `griddepcontrol.wait`.
    waits: bool,
    calls: bool,
    /// Names that it mentions, sorted, each once.
    names: Vec<&'t str>,
}

/// What stands at module scope.
struct Module<'t> {
    bodies: Vec<Body<'t>>,
    constants: Vec<&'t str>,
    /// All variables with an address, constants among them. Those that are declared inside a function, too: they are the
    /// module's, though only that function can name them.
    variables: Vec<&'t str>,
    /// Whether one is declared with a number, as `g<3>`, which stands for `g0`, `g1` and `g2`.
    has_numbered: bool,
}

impl<'t> Module<'t> {
    fn of(tokens: &[Token<'t>]) -> Option<Module<'t>> {
        let mut module =
            Module { bodies: Vec::new(), constants: Vec::new(), variables: Vec::new(), has_numbered: false };
        let mut at = 0;
        while at < tokens.len() {
            match tokens[at].tok {
                Tok::Dot(word @ ("entry" | "func")) => at = module.function(tokens, at + 1, word == "entry")?,
                Tok::Dot(word @ ("const" | "global")) => at = module.variable(tokens, at + 1, word == "const"),
                // Sections of debug data, initial values.
                Tok::Punct('{') => at = matching(tokens, at)? + 1,
                _ => at += 1,
            }
        }
        (!module.has_numbered).then_some(module)
    }

    /// A function, from behind `.entry` or `.func`; the answer is the place behind it.
    fn function(&mut self, tokens: &[Token<'t>], mut at: usize, is_entry: bool) -> Option<usize> {
        let (mut name, mut is_cluster, mut depth) = (None, false, 0usize);
        let mut list = (0, List::None);
        loop {
            match tokens.get(at)?.tok {
                Tok::Punct('(') => depth += 1,
                Tok::Punct(')') => depth = depth.checked_sub(1)?,
                // Its semicolon is its own.
                Tok::Dot("pragma") => {
                    while tokens.get(at)?.tok != Tok::Punct(';') {
                        at += 1;
                    }
                }
                // A prototype.
                Tok::Punct(';') if depth == 0 => return Some(at + 1),
                Tok::Punct('{') if depth == 0 => break,
                Tok::Ident(word) if depth == 0 && name.is_none() => {
                    name = Some(word);
                    list = parameters(tokens, at, word)?;
                }
                Tok::Dot("reqnctapercluster" | "explicitcluster" | "maxclusterrank" | "blocksareclusters") => {
                    is_cluster = true
                }
                Tok::End => return None,
                _ => {}
            }
            at += 1;
        }
        let end = matching(tokens, at)?;
        for place in at + 1..end {
            // Where a statement begins; elsewhere it is part of an instruction, such as `ld.global`.
            if let Tok::Dot(word @ ("const" | "global")) = tokens[place].tok
                && matches!(tokens[place - 1].tok, Tok::Punct(';' | '{' | '}' | ':'))
            {
                self.variable(tokens, place + 1, word == "const");
            }
        }
        let words = tokens[at..end].iter().filter_map(|token| match token.tok {
            Tok::Ident(word) => Some(word),
            _ => None,
        });
        let mut names: Vec<_> = words.collect();
        names.sort_unstable();
        names.dedup();
        let has = |word| names.binary_search(&word).is_ok();
        let is_wait =
            |pair: &[Token<'_>]| pair[0].tok == Tok::Ident("griddepcontrol") && pair[1].tok == Tok::Dot("wait");
        self.bodies.push(Body {
            name: name?,
            is_entry,
            is_cluster,
            list,
            begin: tokens[at].start + 1,
            controls: has("griddepcontrol"),
            waits: tokens[at..end].windows(2).any(is_wait),
            calls: has("call"),
            names,
        });
        Some(end + 1)
    }

    /// A variable, from behind its space; the answer is the place of what ends it.
    fn variable(&mut self, tokens: &[Token<'t>], mut at: usize, is_constant: bool) -> usize {
        let (mut depth, mut named) = (0usize, false);
        while let Some(token) = tokens.get(at) {
            match token.tok {
                Tok::Punct('{' | '[') => depth += 1,
                Tok::Punct('}' | ']') => depth = depth.saturating_sub(1),
                Tok::Punct(';') | Tok::End => break,
                Tok::Punct(',') if depth == 0 => named = false,
                // Behind the name its value may mention others.
                Tok::Ident(name) if depth == 0 && !named => {
                    named = true;
                    self.variables.push(name);
                    self.has_numbered |= tokens.get(at + 1).is_some_and(|next| next.tok == Tok::Punct('<'));
                    if is_constant {
                        self.constants.push(name);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Why an entry keeps its beginning. What a function that it may call does, it may do.
    fn reason(&self, entry: &Body<'_>, opening: Opening) -> Option<Left> {
        let functions = || self.bodies.iter().filter(|body| entry.calls && !body.is_entry).chain([entry]);
        let mentions =
            |names: &[&str]| functions().any(|body| names.iter().any(|name| body.names.binary_search(name).is_ok()));
        // What speaks against beginning early at all comes first.
        if entry.is_cluster {
            Some(Left::Cluster)
        } else if opening.controls() && mentions(&self.constants) {
            Some(Left::Constants)
        } else if functions().any(|body| body.waits) {
            Some(Left::Controls)
        } else if functions().any(|body| body.controls) {
            Some(Left::Signals)
        } else if opening.is_copy() && mentions(&self.variables) {
            Some(Left::Variables)
        } else {
            None
        }
    }
}

/// The list behind a function's name: where it ends, or would stand.
fn parameters(tokens: &[Token<'_>], name: usize, word: &str) -> Option<(usize, List)> {
    if tokens.get(name + 1)?.tok != Tok::Punct('(') {
        return Some((tokens[name].start + word.len(), List::None));
    }
    let (mut end, mut depth) = (name + 2, 1usize);
    loop {
        match tokens.get(end)?.tok {
            Tok::Punct('(') => depth += 1,
            Tok::Punct(')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((tokens[end].start, if end == name + 2 { List::Empty } else { List::Some }));
        }
        end += 1;
    }
}

/// The place of the brace that closes the one at `at`.
fn matching(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.tok {
            Tok::Punct('{') => depth += 1,
            Tok::Punct('}') => {
                depth -= 1;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
    }
    None
}

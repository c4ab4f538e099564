//! `macro_rules!`: which arm takes a call, and what its variables stand for.
//!
//! Public items that a macro makes are API like any other, and syn does not expand macros. This is the part of them
//! that items are made with: all fragments, repetitions, groups. Hygiene is left out, since items have none. A call
//! that no arm takes is an error, never a silence.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::Spacing::Alone;
use proc_macro2::{Delimiter, Group, Punct, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Token};

use super::transcribe::transcribe;

/// What one variable of a macro stands for.
#[derive(Clone)]
pub enum Bound {
    One(TokenStream),
    Many(Vec<Rc<Bound>>),
}

/// The variables of one call.
pub type Bindings = BTreeMap<String, Rc<Bound>>;

/// A macro by its arms.
pub struct Rules {
    /// The crate that `$crate` means.
    pub krate: String,
    arms: Vec<Arm>,
}

struct Arm {
    text: TokenStream,
    matcher: Vec<Pattern>,
    body: TokenStream,
}

enum Pattern {
    Token(TokenTree),
    Group(Delimiter, Vec<Pattern>),
    Fragment { name: String, kind: String },
    Repeat { inner: Vec<Pattern>, separator: Option<TokenTree>, operator: char },
}

impl Rules {
    /// Reads the arms of a `macro_rules!`.
    ///
    /// # Errors
    ///
    /// - They are not arms.
    pub fn new(krate: &str, tokens: &TokenStream) -> Result<Rules, String> {
        let mut arms = Vec::new();
        let mut tokens = tokens.clone().into_iter().filter(|token| !is_punct(token, ";")).peekable();
        while let Some(first) = tokens.next() {
            // Between the two stand `=` and `>`.
            let second = tokens.by_ref().nth(2);
            match (first, second) {
                (TokenTree::Group(matcher), Some(TokenTree::Group(body))) => {
                    arms.push(Arm { text: matcher.stream(), matcher: patterns(matcher.stream())?, body: body.stream() })
                }
                _ => return Err("an arm is not `(..) => {..}`".into()),
            }
        }
        Ok(Rules { krate: krate.into(), arms })
    }

    /// What a call with these tokens becomes, in the crate `caller`.
    ///
    /// # Errors
    ///
    /// - No arm takes the call.
    pub fn expand(&self, caller: &str, input: &TokenStream) -> Result<TokenStream, String> {
        for arm in &self.arms {
            let mut bindings = Bindings::new();
            let parser = |input: ParseStream| sequence(&arm.matcher, input, &mut bindings);
            if parser.parse2(input.clone()).is_ok() {
                let krate = if self.krate == caller { "crate" } else { &self.krate };
                return transcribe(&arm.body, &bindings, krate);
            }
        }
        Err(format!("no arm takes `{}`", input.to_string().chars().take(60).collect::<String>()))
    }

    /// What each arm takes. One that begins with `@` is called by the macro itself only, and left out.
    pub fn takes(&self) -> impl Iterator<Item = &TokenStream> {
        let own = |text: &TokenStream| text.clone().into_iter().next().is_some_and(|token| is_punct(&token, "@"));
        self.arms.iter().map(|arm| &arm.text).filter(move |text| !own(text))
    }
}

/// Whether the token is one of these characters.
pub fn is_punct(token: &TokenTree, characters: &str) -> bool {
    matches!(token, TokenTree::Punct(punct) if characters.contains(punct.as_char()))
}

/// What follows the group of a repetition: `*`, or `,*`.
pub fn repetition(tokens: &mut impl Iterator<Item = TokenTree>) -> Result<(Option<TokenTree>, char), String> {
    let mut separator = None;
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if "*+?".contains(punct.as_char()) => return Ok((separator, punct.as_char())),
            // A comma that stands close to `*` does not stand close to what follows it when it is used.
            TokenTree::Punct(punct) if separator.is_none() => {
                separator = Some(Punct::new(punct.as_char(), Alone).into())
            }
            _ if separator.is_none() => separator = Some(token),
            _ => break,
        }
    }
    Err("a repetition without `*`, `+` or `?`".into())
}

fn patterns(tokens: TokenStream) -> Result<Vec<Pattern>, String> {
    let (mut found, mut tokens) = (Vec::new(), tokens.into_iter());
    while let Some(token) = tokens.next() {
        found.push(match token {
            TokenTree::Group(group) => Pattern::Group(group.delimiter(), patterns(group.stream())?),
            TokenTree::Punct(punct) if punct.as_char() == '$' => match tokens.next() {
                Some(TokenTree::Group(group)) => {
                    let (separator, operator) = repetition(&mut tokens)?;
                    Pattern::Repeat { inner: patterns(group.stream())?, separator, operator }
                }
                Some(TokenTree::Ident(name)) => match (tokens.next(), tokens.next()) {
                    (Some(_), Some(TokenTree::Ident(kind))) => {
                        Pattern::Fragment { name: name.to_string(), kind: kind.to_string() }
                    }
                    _ => return Err(format!("`${name}` has no kind")),
                },
                _ => return Err("`$` before nothing that it can stand for".into()),
            },
            token => Pattern::Token(token),
        });
    }
    Ok(found)
}

fn sequence(patterns: &[Pattern], input: ParseStream, bindings: &mut Bindings) -> syn::Result<()> {
    for pattern in patterns {
        match pattern {
            Pattern::Token(want) => {
                let got: TokenTree = input.parse()?;
                if got.to_string() != want.to_string() {
                    return Err(input.error("another token"));
                }
            }
            Pattern::Group(delimiter, inner) => {
                let group: Group = input.parse()?;
                if group.delimiter() != *delimiter {
                    return Err(input.error("another delimiter"));
                }
                (|input: ParseStream| sequence(inner, input, bindings)).parse2(group.stream())?;
            }
            Pattern::Fragment { name, kind } => {
                bindings.insert(name.clone(), Rc::new(Bound::One(fragment(kind, input)?)));
            }
            Pattern::Repeat { inner, separator, operator } => {
                let times = repeat(inner, separator.as_ref(), *operator, input)?;
                for name in names(inner) {
                    let each = times.iter().filter_map(|one| one.get(&name).cloned()).collect();
                    bindings.insert(name, Rc::new(Bound::Many(each)));
                }
            }
        }
    }
    Ok(())
}

/// As often as it goes. What does not go any more is left to what comes after.
fn repeat(
    inner: &[Pattern],
    separator: Option<&TokenTree>,
    operator: char,
    input: ParseStream,
) -> syn::Result<Vec<Bindings>> {
    let mut times = Vec::new();
    while !input.is_empty() && (operator != '?' || times.is_empty()) {
        let (ahead, mut bindings) = (input.fork(), Bindings::new());
        if let (Some(separator), false) = (separator, times.is_empty()) {
            let found = ahead.parse::<TokenTree>().is_ok_and(|token| token.to_string() == separator.to_string());
            if !found {
                break;
            }
        }
        if sequence(inner, &ahead, &mut bindings).is_err() || ahead.cursor() == input.cursor() {
            break;
        }
        input.advance_to(&ahead);
        times.push(bindings);
    }
    if operator == '+' && times.is_empty() { Err(input.error("at least one")) } else { Ok(times) }
}

/// The variables of patterns, at any depth.
fn names(patterns: &[Pattern]) -> Vec<String> {
    let each = patterns.iter().flat_map(|pattern| match pattern {
        Pattern::Token(_) => Vec::new(),
        Pattern::Fragment { name, .. } => vec![name.clone()],
        Pattern::Group(_, inner) | Pattern::Repeat { inner, .. } => names(inner),
    });
    each.collect()
}

fn fragment(kind: &str, input: ParseStream) -> syn::Result<TokenStream> {
    Ok(match kind {
        "ident" => input.call(Ident::parse_any)?.to_token_stream(),
        "lifetime" => input.parse::<syn::Lifetime>()?.to_token_stream(),
        "literal" => {
            let minus: Option<Token![-]> = input.parse()?;
            let literal: syn::Lit = input.parse()?;
            quote::quote!(#minus #literal)
        }
        // A quote and what follows it are one token to the compiler.
        "tt" if input.peek(syn::Lifetime) => input.parse::<syn::Lifetime>()?.to_token_stream(),
        "tt" => input.parse::<TokenTree>()?.to_token_stream(),
        "ty" => input.parse::<syn::Type>()?.to_token_stream(),
        "path" => input.parse::<syn::Path>()?.to_token_stream(),
        "expr" => input.parse::<syn::Expr>()?.to_token_stream(),
        "pat" => syn::Pat::parse_multi(input)?.to_token_stream(),
        "vis" => input.parse::<syn::Visibility>()?.to_token_stream(),
        "meta" => input.parse::<syn::Meta>()?.to_token_stream(),
        "item" => input.parse::<syn::Item>()?.to_token_stream(),
        "block" => input.parse::<syn::Block>()?.to_token_stream(),
        "stmt" => input.parse::<syn::Stmt>()?.to_token_stream(),
        other => return Err(input.error(format!("`:{other}` is not understood"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(rules: &str, call: &str) -> Result<String, String> {
        let rules = Rules::new("here", &rules.parse().unwrap())?;
        Ok(rules.expand("here", &call.parse().unwrap())?.to_string())
    }

    fn tokens(text: &str) -> String {
        text.parse::<TokenStream>().unwrap().to_string()
    }

    #[test]
    fn rows_become_items() {
        let rules = "($($(#[$m:meta])* $name:ident($($arg:ident: $ty:ty),* $(,)?);)*)
            => { $($(#[$m])* pub fn $name($($arg: $ty),*);)* }";
        let made = expand(rules, "#[a] one(x: *mut u8, y: Vec<u8>,); two();").unwrap();
        assert_eq!(made, tokens("#[a] pub fn one(x: *mut u8, y: Vec<u8>); pub fn two();"));
    }

    #[test]
    fn the_first_arm_that_takes_a_call_makes_it() {
        let rules =
            "(@own $x:tt) => { own }; ($v:vis struct $n:ident) => { $v $crate $n $other }; ($($r:tt)*) => { $(($r))* }";
        assert_eq!(expand(rules, "pub(crate) struct A").unwrap(), tokens("pub(crate) crate A $other"));
        assert_eq!(expand(rules, "1 'a").unwrap(), tokens("(1) ('a)"));
        assert!(expand("($x:ident) => {}", "1").is_err_and(|error| error.contains("no arm takes `1`")));
    }
}

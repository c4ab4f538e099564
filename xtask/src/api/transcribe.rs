//! The body of a macro's arm with its variables filled in.

use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::macros::{Bindings, Bound, is_punct, repetition};

/// The body with its variables filled in; `krate` is what `$crate` becomes.
///
/// # Errors
///
/// - A repetition has no variable that repeats, or some that repeat differently often.
pub fn transcribe(body: &TokenStream, bindings: &Bindings, krate: &str) -> Result<TokenStream, String> {
    let (mut made, mut tokens) = (TokenStream::new(), body.clone().into_iter());
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => made.extend([inside(&group, bindings, krate)?]),
            TokenTree::Punct(punct) if punct.as_char() == '$' => match tokens.next() {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                    let (separator, operator) = repetition(&mut tokens)?;
                    let separator = separator.filter(|_| operator != '?');
                    made.extend(repeated(&group.stream(), separator, bindings, krate)?);
                }
                Some(TokenTree::Ident(name)) if name == "crate" => {
                    made.extend([TokenTree::from(Ident::new(krate, Span::call_site()))]);
                }
                Some(TokenTree::Ident(name)) => match bindings.get(&name.to_string()).map(Rc::as_ref) {
                    Some(Bound::One(tokens)) => made.extend(tokens.clone()),
                    Some(Bound::Many(_)) => return Err(format!("`${name}` repeats, and stands in no repetition")),
                    // A variable of a macro that this one defines.
                    None => made.extend([punct.into(), TokenTree::from(name)]),
                },
                other => made.extend([Some(punct.into()), other].into_iter().flatten()),
            },
            token => made.extend([token]),
        }
    }
    Ok(made)
}

fn inside(group: &Group, bindings: &Bindings, krate: &str) -> Result<TokenTree, String> {
    Ok(Group::new(group.delimiter(), transcribe(&group.stream(), bindings, krate)?).into())
}

fn repeated(
    body: &TokenStream,
    separator: Option<TokenTree>,
    bindings: &Bindings,
    krate: &str,
) -> Result<TokenStream, String> {
    let mut names = Vec::new();
    variables(body, &mut names);
    let repeating = names.iter().filter_map(|name| match bindings.get(name).map(Rc::as_ref) {
        Some(Bound::Many(each)) => Some((name, each)),
        _ => None,
    });
    let repeating: Vec<_> = repeating.collect();
    let Some(times) = repeating.first().map(|(_, each)| each.len()) else {
        return Err("a repetition of nothing that repeats".into());
    };
    if repeating.iter().any(|(_, each)| each.len() != times) {
        return Err("variables of one repetition repeat differently often".into());
    }
    let mut made = TokenStream::new();
    for at in 0..times {
        let mut scope = bindings.clone();
        scope.extend(repeating.iter().map(|(name, each)| ((*name).clone(), each[at].clone())));
        made.extend(separator.clone().filter(|_| at > 0));
        made.extend(transcribe(body, &scope, krate)?);
    }
    Ok(made)
}

/// The names behind `$`, at any depth.
fn variables(body: &TokenStream, names: &mut Vec<String>) {
    let mut after_dollar = false;
    for token in body.clone() {
        match &token {
            TokenTree::Group(group) => variables(&group.stream(), names),
            TokenTree::Ident(name) if after_dollar => names.push(name.to_string()),
            _ => {}
        }
        after_dollar = is_punct(&token, "$");
    }
}

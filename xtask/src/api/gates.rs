//! Which builds an item is in: its `#[cfg(..)]`, as far as a user can choose.
//!
//! - Features stay, and are printed behind the item: `[feature software]`.
//! - What only this project's own builds turn on (`test`, `doctest`, `loom`, the ledger's mutants) counts as off.
//! - A derive behind `cfg_attr` is told with its condition; any other attribute there that could change the API is refused:
//!   it is not understood here.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// Configurations that no build of a user's has.
const NOT_FOR_USERS: &[&str] = &["test", "doctest", "doc", "docsrs", "loom", "dacapo_mutants", "miri"];

/// Attributes that matter here, and so must not hide behind `cfg_attr`.
const MATTER: &[&str] = &["cfg", "cfg_attr", "macro_export", "macro_use", "must_use", "non_exhaustive", "path", "repr"];

/// Conditions that all have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gates(BTreeSet<String>);

impl Gates {
    /// The gates of these attributes; none where no user's build has the item.
    ///
    /// # Errors
    ///
    /// - An attribute is not understood.
    pub fn of(attributes: &[Attribute]) -> Result<Option<Gates>, String> {
        let mut all = Vec::new();
        for attribute in attributes {
            if attribute.path().is_ident("cfg") {
                all.push(condition(&attribute.parse_args::<Meta>().map_err(|e| e.to_string())?)?);
            } else if attribute.path().is_ident("cfg_attr") {
                harmless(attribute)?;
            }
        }
        Ok(match Condition::all(all) {
            Condition::No => None,
            Condition::Yes => Some(Gates::default()),
            Condition::All(all) => Some(Gates(all.iter().map(Condition::text).collect())),
            one => Some(Gates(BTreeSet::from([one.text()]))),
        })
    }

    /// What is derived behind a `cfg_attr`, each with its gates.
    ///
    /// # Errors
    ///
    /// - An attribute is not understood.
    pub fn derives(attributes: &[Attribute]) -> Result<Vec<(syn::Path, Gates)>, String> {
        let mut found = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("cfg_attr")) {
            let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let parts: Vec<Meta> = parts.map_err(|error| error.to_string())?.into_iter().collect();
            let Some((when, attributes)) = parts.split_first() else { continue };
            for part in attributes.iter().filter(|part| part.path().is_ident("derive")) {
                let list = part.require_list().map_err(|error| error.to_string())?;
                let paths = list.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
                let gates = match condition(when)? {
                    Condition::No => continue,
                    Condition::Yes => Gates::default(),
                    one => Gates(BTreeSet::from([one.text()])),
                };
                found.extend(paths.map_err(|error| error.to_string())?.into_iter().map(|path| (path, gates.clone())));
            }
        }
        Ok(found)
    }

    /// What holds where both hold.
    pub fn and(&self, other: &Gates) -> Gates {
        Gates(self.0.union(&other.0).cloned().collect())
    }

    /// As it is printed behind an item: ` [feature software]`.
    pub fn text(&self) -> String {
        self.0.iter().map(|gate| format!(" [{gate}]")).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Yes,
    No,
    Is(String),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    fn all(parts: Vec<Condition>) -> Condition {
        let flat = parts.into_iter().flat_map(|part| match part {
            Condition::All(inner) => inner,
            Condition::Yes => Vec::new(),
            other => vec![other],
        });
        let mut flat: Vec<Condition> = flat.collect();
        flat.sort();
        flat.dedup();
        match flat.as_slice() {
            [] => Condition::Yes,
            [one] => one.clone(),
            _ if flat.contains(&Condition::No) => Condition::No,
            _ => Condition::All(flat),
        }
    }

    fn not(self) -> Condition {
        match self {
            Condition::Yes => Condition::No,
            Condition::No => Condition::Yes,
            Condition::Not(inner) => *inner,
            other => Condition::Not(Box::new(other)),
        }
    }

    /// Any of them holds, unless none of them fails.
    fn any(parts: Vec<Condition>) -> Condition {
        match Condition::all(parts.into_iter().map(Condition::not).collect()) {
            Condition::All(inner) => Condition::Any(inner.into_iter().map(Condition::not).collect()),
            other => other.not(),
        }
    }

    fn text(&self) -> String {
        let list = |inner: &[Condition]| inner.iter().map(Condition::text).collect::<Vec<_>>().join(", ");
        match self {
            Condition::Yes => "always".into(),
            Condition::No => "never".into(),
            Condition::Is(what) => what.clone(),
            Condition::Not(inner) => format!("not({})", inner.text()),
            Condition::All(inner) => format!("all({})", list(inner)),
            Condition::Any(inner) => format!("any({})", list(inner)),
        }
    }
}

fn condition(meta: &Meta) -> Result<Condition, String> {
    let not_understood = || format!("`cfg({})` is not understood", meta.to_token_stream());
    let name = meta.path().get_ident().map(ToString::to_string).ok_or_else(not_understood)?;
    match meta {
        Meta::Path(_) if NOT_FOR_USERS.contains(&name.as_str()) => Ok(Condition::No),
        Meta::Path(_) => Ok(Condition::Is(name)),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) => Ok(Condition::Is(format!("{name} {}", value.value()))),
            _ => Err(not_understood()),
        },
        Meta::List(list) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let parts = parts.map_err(|error| error.to_string())?;
            let mut parts = parts.iter().map(condition).collect::<Result<Vec<_>, _>>()?;
            match (name.as_str(), parts.len()) {
                ("all", _) => Ok(Condition::all(parts)),
                ("any", _) => Ok(Condition::any(parts)),
                ("not", 1) => Ok(parts.remove(0).not()),
                _ => Err(not_understood()),
            }
        }
    }
}

/// Refuses a `cfg_attr` that could change the API.
fn harmless(attribute: &Attribute) -> Result<(), String> {
    let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    for part in parts.map_err(|error| error.to_string())?.iter().skip(1) {
        let hidden = part.path().is_ident("doc") && part.to_token_stream().to_string().contains("hidden");
        if hidden || MATTER.iter().any(|name| part.path().is_ident(name)) {
            return Err(format!("`cfg_attr` with `{}` is not understood", part.to_token_stream()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(attributes: &str) -> Result<Option<String>, String> {
        let item: syn::ItemStruct = syn::parse_str(&format!("{attributes} struct S;")).unwrap();
        Ok(Gates::of(&item.attrs)?.map(|gates| gates.text()))
    }

    #[test]
    fn features_stay_and_builds_of_our_own_go() {
        assert_eq!(gates("#[cfg(feature = \"a\")]"), Ok(Some(" [feature a]".into())));
        assert_eq!(gates("#[cfg(all(feature = \"a\", not(loom)))]"), Ok(Some(" [feature a]".into())));
        assert_eq!(
            gates("#[cfg(feature = \"b\")] #[cfg(feature = \"a\")]"),
            Ok(Some(" [feature a] [feature b]".into()))
        );
        assert_eq!(
            gates("#[cfg(any(feature = \"b\", feature = \"a\"))]"),
            Ok(Some(" [any(feature a, feature b)]".into()))
        );
        assert_eq!(gates("#[cfg(any(test, feature = \"a\"))]"), Ok(Some(" [feature a]".into())));
        assert_eq!(gates("#[cfg(not(feature = \"a\"))]"), Ok(Some(" [not(feature a)]".into())));
        assert_eq!(gates("#[cfg(all(test, feature = \"a\"))]"), Ok(None));
        assert_eq!(gates("#[cfg(not(loom))]"), Ok(Some(String::new())));
    }

    #[test]
    fn an_attribute_that_matters_behind_a_condition_is_refused() {
        assert!(gates("#[cfg_attr(feature = \"a\", allow(dead_code))]").is_ok());
        assert!(gates("#[cfg_attr(feature = \"a\", non_exhaustive)]").is_err());
    }

    #[test]
    fn a_derive_behind_a_condition_has_its_gates() {
        let item: syn::ItemStruct =
            syn::parse_str("#[cfg_attr(feature = \"a\", allow(x), derive(Clone, b::C))] struct S;").unwrap();
        let derives = Gates::derives(&item.attrs).unwrap();
        let texts = derives.iter().map(|(path, gates)| path.to_token_stream().to_string() + &gates.text());
        assert_eq!(texts.collect::<Vec<_>>(), ["Clone [feature a]", "b :: C [feature a]"]);
    }
}

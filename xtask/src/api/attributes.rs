//! What attributes say that the API depends on: hidden, derived, documented.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Token, Visibility};

/// Attributes that are printed in front of an item: they bind its users.
const PRINTED: &[&str] = &["must_use", "non_exhaustive", "deprecated", "repr"];

/// Whether one of the attributes is `#[name]`.
pub fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

/// Whether the documentation hides the item.
pub fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).any(|attribute| {
        let inner = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        inner.is_ok_and(|inner| inner.iter().any(|meta| meta.path().is_ident("hidden")))
    })
}

/// The attributes that bind users, in front of the item that they belong to: `#[must_use] `.
pub fn printed(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for name in PRINTED {
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
            match &attribute.meta {
                Meta::List(list) if *name == "repr" => text += &format!("#[repr({})] ", list.tokens),
                _ => text += &format!("#[{name}] "),
            }
        }
    }
    text
}

/// The traits that are derived.
pub fn derived(attributes: &[Attribute]) -> Vec<syn::Path> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|it| it.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated).ok());
    paths.flatten().collect()
}

/// The string of `name = "string"`.
pub fn string(attributes: &[Attribute], name: &str) -> Option<String> {
    attributes.iter().find(|attribute| attribute.path().is_ident(name)).and_then(|attribute| match &attribute.meta {
        Meta::NameValue(pair) => literal(&pair.value),
        _ => None,
    })
}

/// The text of a string literal.
pub fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The attributes of an item.
pub fn of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The visibility of an item; a macro has none.
pub fn visibility(item: &Item) -> &Visibility {
    match item {
        Item::Const(it) => &it.vis,
        Item::Enum(it) => &it.vis,
        Item::ExternCrate(it) => &it.vis,
        Item::Fn(it) => &it.vis,
        Item::Mod(it) => &it.vis,
        Item::Static(it) => &it.vis,
        Item::Struct(it) => &it.vis,
        Item::Trait(it) => &it.vis,
        Item::Type(it) => &it.vis,
        Item::Union(it) => &it.vis,
        Item::Use(it) => &it.vis,
        _ => &Visibility::Inherited,
    }
}

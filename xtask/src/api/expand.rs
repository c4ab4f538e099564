//! Calls of macros in the place of items, replaced by what they make.
//!
//! A macro is found as the compiler finds it: in the module of the call and those around it, through `use`, by a
//! path, or as one that a crate of the workspace exports. A macro that is not found is an error, but for a few of
//! std's that make no public item.

use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{ImplItem, Item, Macro, TraitItem};

use super::macros::Rules;
use super::names::leaves;
use super::tree::{Crate, Reader};

/// Macros of std's that make nothing public.
const MAKE_NOTHING_PUBLIC: &[&str] = &["thread_local", "compile_error"];

/// Calls all macros of a crate that stand in the place of items; `others` are the crates that it may use.
///
/// # Errors
///
/// - A macro is not found, or takes no such call, or makes no items.
pub fn expand(mut reader: Reader<'_>, others: &[Crate]) -> Result<Crate, String> {
    let mut waiting = 0;
    while let Some(call) = reader.calls.pop_front() {
        let (module, name) = (call.module, last_name(&call.item.mac));
        if MAKE_NOTHING_PUBLIC.contains(&name.as_str()) {
            continue;
        }
        let Some(rules) = find(&reader.krate, others, module, &call.item.mac) else {
            // What it is defined by may not be there yet: another call may make it.
            waiting += 1;
            reader.calls.push_back(call);
            if waiting > reader.calls.len() {
                return Err(reader.at(module, &format!("macro `{name}` is not found")));
            }
            continue;
        };
        waiting = 0;
        let made = rules.expand(&reader.krate.name, &call.item.mac.tokens);
        let made = made.and_then(|made| syn::parse2::<syn::File>(made).map_err(|error| error.to_string()));
        let made = made.map_err(|error| reader.at(module, &format!("macro `{name}`: {error}")))?;
        reader.add(module, made.items, &call.gates)?;
    }
    members(&mut reader, others)?;
    Ok(reader.krate)
}

/// Calls the macros that stand among the members of traits and impls.
fn members(reader: &mut Reader<'_>, others: &[Crate]) -> Result<(), String> {
    for module in 0..reader.krate.modules.len() {
        let mut entries = std::mem::take(&mut reader.krate.modules[module].entries);
        let krate = &reader.krate;
        let call = |mac: &Macro| -> Result<TokenStream, String> {
            let name = last_name(mac);
            let rules = find(krate, others, module, mac).ok_or_else(|| format!("macro `{name}` is not found"))?;
            rules.expand(&krate.name, &mac.tokens).map_err(|error| format!("macro `{name}`: {error}"))
        };
        for entry in &mut entries {
            let done = match &mut entry.item {
                Item::Impl(it) => replace(&mut it.items, &call, |item| match item {
                    ImplItem::Macro(call) => Some(&call.mac),
                    _ => None,
                }),
                Item::Trait(it) => replace(&mut it.items, &call, |item| match item {
                    TraitItem::Macro(call) => Some(&call.mac),
                    _ => None,
                }),
                _ => Ok(()),
            };
            done.map_err(|error| reader.at(module, &error))?;
        }
        reader.krate.modules[module].entries = entries;
    }
    Ok(())
}

fn replace<T: Parse>(
    items: &mut Vec<T>,
    call: &impl Fn(&Macro) -> Result<TokenStream, String>,
    called: impl Fn(&T) -> Option<&Macro>,
) -> Result<(), String> {
    let mut at = 0;
    while let Some(item) = items.get(at) {
        let Some(mac) = called(item) else {
            at += 1;
            continue;
        };
        let many = |input: ParseStream| {
            let mut many = Vec::new();
            while !input.is_empty() {
                many.push(input.parse::<T>()?);
            }
            Ok(many)
        };
        let made = many.parse2(call(mac)?).map_err(|error| format!("macro `{}`: {error}", last_name(mac)))?;
        items.splice(at..=at, made);
    }
    Ok(())
}

fn last_name(mac: &Macro) -> String {
    mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

fn find(krate: &Crate, others: &[Crate], module: usize, mac: &Macro) -> Option<Rc<Rules>> {
    let path: Vec<String> = mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    by_path(krate, others, module, &path, 0)
}

fn by_path(krate: &Crate, others: &[Crate], module: usize, path: &[String], depth: usize) -> Option<Rc<Rules>> {
    if depth > 8 {
        return None;
    }
    let (name, way) = path.split_last()?;
    let Some((first, rest)) = way.split_first() else {
        return in_scope(krate, others, module, name, depth);
    };
    if first == "crate" && rest.is_empty() && krate.exported.contains_key(name) {
        return krate.exported.get(name).cloned();
    }
    if let Some(other) = others.iter().find(|other| other.name == *first) {
        return other.exported.get(name).cloned();
    }
    let mut at = match first.as_str() {
        "crate" => 0,
        "self" => module,
        "super" => krate.modules[module].parent?,
        child => child_of(krate, module, child)?,
    };
    for step in rest {
        at = if step == "super" { krate.modules[at].parent? } else { child_of(krate, at, step)? };
    }
    in_scope(krate, others, at, name, depth)
}

/// A macro by its bare name: defined here or around here, lent by a module, or imported.
fn in_scope(krate: &Crate, others: &[Crate], module: usize, name: &str, depth: usize) -> Option<Rc<Rules>> {
    let mut around = Some(module);
    while let Some(at) = around {
        if let Some(rules) = here_or_lent(krate, at, name) {
            return Some(rules);
        }
        around = krate.modules[at].parent;
    }
    let uses = krate.modules[module].entries.iter().filter_map(|entry| match &entry.item {
        Item::Use(it) => Some(leaves(it)),
        _ => None,
    });
    let imported = uses.flatten().find(|leaf| leaf.name.as_deref() == Some(name) && leaf.path.len() > 1)?;
    by_path(krate, others, module, &imported.path, depth + 1)
}

/// A macro that a module defines, or that one of its modules with `#[macro_use]` lends it.
fn here_or_lent(krate: &Crate, module: usize, name: &str) -> Option<Rc<Rules>> {
    let lent = |(child, it): (usize, &super::tree::Module)| {
        let lends = it.lends_macros && it.parent == Some(module) && child != module;
        lends.then(|| here_or_lent(krate, child, name)).flatten()
    };
    krate.modules[module].macros.get(name).cloned().or_else(|| krate.modules.iter().enumerate().find_map(lent))
}

fn child_of(krate: &Crate, module: usize, name: &str) -> Option<usize> {
    krate.modules.iter().position(|child| child.parent == Some(module) && child.name == name)
}

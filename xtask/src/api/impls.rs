//! The lines of impl blocks and derives. An impl may stand in any module, also a private one.
//!
//! - Public functions, constants and types of an inherent impl; the conditions of the impl stand behind `where`.
//! - Impls of traits that a user can name, for types that a user can name, or of a trait of the crate's for others.
//!   What the trait's own functions do is the trait's business, so they are not repeated.
//! - A derive of std's is the impl that it makes; one of another crate is told as a derive.

use proc_macro2::Span;
use syn::visit_mut::VisitMut;
use syn::{Generics, Ident, ImplItem, Item, ItemImpl, Type, Visibility};

use super::gates::Gates;
use super::lines::{Api, Part, Told, value};
use super::names::{ItemId, ModuleId, Space, Target, World};
use super::paths::Paths;
use super::reach::Reached;
use super::{attributes, examples, print};

/// Derives of std's, by the trait that they make.
const DERIVES: &[(&str, &str)] = &[
    ("Clone", "Clone"),
    ("Copy", "Copy"),
    ("Debug", "std::fmt::Debug"),
    ("Default", "Default"),
    ("Eq", "Eq"),
    ("Hash", "std::hash::Hash"),
    ("Ord", "Ord"),
    ("PartialEq", "PartialEq"),
    ("PartialOrd", "PartialOrd"),
];

/// Adds the lines of all impls and derives of the crate.
///
/// # Errors
///
/// - Something is not understood.
pub fn list(api: &mut Api<'_>) -> Result<(), String> {
    let world = api.world;
    for (module, node) in world.crates[api.krate].modules.iter().enumerate() {
        let at = ModuleId { krate: api.krate, module };
        for (entry, it) in node.entries.iter().enumerate() {
            let gates = node.gates.and(&it.gates);
            let done = match &it.item {
                Item::Impl(block) if block.trait_.is_some() => of_trait(api, at, block, &gates),
                Item::Impl(block) => inherent(api, at, block, &gates),
                item => derives(api, ItemId { module: at, entry }, item),
            };
            done.map_err(|error| format!("{}: {error}", node.file.display()))?;
        }
    }
    Ok(())
}

fn inherent(api: &mut Api<'_>, at: ModuleId, block: &ItemImpl, gates: &Gates) -> Result<(), String> {
    if !matches!(*block.self_ty, Type::Path(_)) {
        return Err(format!("an impl of `{}` is not understood", print::ty(&block.self_ty)));
    }
    let Some(target) = head(api.world, at, &block.self_ty, 0) else { return Ok(()) };
    let Some(place) = api.reaches[api.krate].best(&target).cloned() else { return Ok(()) };
    let place = Reached { is_hidden: place.is_hidden || attributes::is_hidden(&block.attrs), ..place };
    let file = api.world.module(at).file.clone();
    let item = Item::Impl(block.clone());
    let mut paths = Paths::new(api.world, api.reaches, at).with(&item);
    let mut block = block.clone();
    paths.visit_item_impl_mut(&mut block);
    let of = print::ty(&block.self_ty);
    for item in block.items {
        let path = |name: &Ident| format!("{of}::{name}");
        let (vis, name, attrs, text) = match item {
            ImplItem::Fn(mut it) => {
                print::add_conditions(&mut it.sig.generics, print::conditions(&block.generics));
                let name = it.sig.ident.clone();
                if matches!(it.vis, Visibility::Public(_)) && !attributes::is_hidden(&it.attrs) {
                    credit(api, &target, examples::has_example(&it.attrs, &file, api.files));
                }
                (it.vis, name.clone(), it.attrs, print::function(&path(&name), it.sig))
            }
            ImplItem::Const(it) => {
                let text = format!("const {}: {}{}", path(&it.ident), print::ty(&it.ty), value(&it.expr));
                (it.vis, it.ident, it.attrs, text)
            }
            ImplItem::Type(it) => {
                let text = format!("type {} = {}", path(&it.ident), print::ty(&it.ty));
                (it.vis, it.ident, it.attrs, text)
            }
            _ => return Err(format!("a member of `{of}` is not understood")),
        };
        if matches!(vis, Visibility::Public(_)) {
            let told = Told { place: &place, part: Part::Member, order: 0, name: name.to_string(), text };
            api.tell(told, &attrs, gates)?;
        }
    }
    Ok(())
}

/// An example of a method is one of its type, where the type has nothing else.
fn credit(api: &mut Api<'_>, target: &Target, has_example: bool) {
    if let Target::Item(item) = target
        && let Some(counted) = api.counted.get_mut(item)
    {
        counted.has_example |= has_example && counted.by_methods;
    }
}

fn of_trait(api: &mut Api<'_>, at: ModuleId, block: &ItemImpl, gates: &Gates) -> Result<(), String> {
    let mut block = block.clone();
    // What is not printed need not be rewritten either.
    block.items.retain(|item| matches!(item, ImplItem::Type(_)));
    let item = Item::Impl(block.clone());
    let Some((path, _)) = &block.trait_ else { return Ok(()) };
    // The self type and the trait by themselves: they must be nameable. Conditions need not be.
    let mut named = Paths::new(api.world, api.reaches, at).with(&item);
    named.visit_type_mut(&mut block.self_ty.clone());
    named.visit_path_mut(&mut path.clone());
    if named.met_private {
        return Ok(());
    }
    let reach = &api.reaches[api.krate];
    let own = |target: &&Target| matches!(target, Target::Item(item) if item.module.krate == api.krate);
    let Some(place) = named.ours.iter().filter(own).find_map(|target| reach.best(target)).cloned() else {
        return Ok(());
    };
    let is_hidden = named.ours.iter().filter_map(|target| reach.best(target)).any(|place| place.is_hidden);
    let gates =
        named.ours.iter().filter_map(|target| reach.best(target)).fold(gates.clone(), |all, it| all.and(&it.gates));
    let place = Reached { is_hidden, ..place };
    let attrs = block.attrs.clone();
    Paths::new(api.world, api.reaches, at).with(&item).visit_item_impl_mut(&mut block);
    let text = print::implementation(block);
    api.tell(Told { place: &place, part: Part::Impl, order: 0, name: bare(&text), text }, &attrs, &gates)
}

/// What an impl is of, without its parameters: impls are sorted by it.
fn bare(text: &str) -> String {
    let mut depth = 0;
    let rest = text.trim_start_matches("unsafe ").trim_start_matches("impl");
    let inner = rest.char_indices().skip_while(|(at, c)| {
        depth += i32::from(*c == '<') - i32::from(*c == '>' && !rest[..*at].ends_with(['-', '=']));
        depth > 0 || *c == '>' || *c == ' '
    });
    inner.map(|(_, c)| c).collect()
}

/// The item that a type names, through aliases. A reference or a tuple has none.
fn head(world: &World, at: ModuleId, ty: &Type, depth: usize) -> Option<Target> {
    let Type::Path(path) = ty else { return None };
    let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let (target, _) = world.of_path(at, &names, Space::Type)?;
    match &target {
        Target::Item(item) => match &world.entry(*item).item {
            Item::Type(alias) if depth < 8 => head(world, item.module, &alias.ty, depth + 1),
            _ => Some(target),
        },
        _ => None,
    }
}

fn derives(api: &mut Api<'_>, id: ItemId, item: &Item) -> Result<(), String> {
    let generics = match item {
        Item::Struct(it) => &it.generics,
        Item::Enum(it) => &it.generics,
        Item::Union(it) => &it.generics,
        _ => return Ok(()),
    };
    let Some(place) = api.reaches[api.krate].best(&Target::Item(id)).cloned() else { return Ok(()) };
    let path: syn::Path = syn::parse_str(&place.path.join("::")).map_err(|error| error.to_string())?;
    let always = attributes::derived(attributes::of(item)).into_iter().map(|path| (path, Gates::default()));
    for (mut derive, gates) in always.chain(Gates::derives(attributes::of(item))?) {
        let name = derive.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let mut paths = Paths::new(api.world, api.reaches, id.module).with(item);
        let text = match DERIVES.iter().find(|(known, _)| *known == name && derive.segments.len() == 1) {
            Some((_, of)) => {
                let of: syn::Path = syn::parse_str(of).map_err(|error| error.to_string())?;
                let bound = !(name == "Default" && matches!(item, Item::Enum(_)));
                let mut generics = generics.clone();
                paths.visit_generics_mut(&mut generics);
                if bound {
                    bind(&mut generics, &of);
                }
                let (outer, inner, conditions) = generics.split_for_impl();
                print::implementation(syn::parse_quote!(impl #outer #of for #path #inner #conditions {}))
            }
            None => {
                paths.visit_path_mut(&mut derive);
                let of: Type = syn::parse_quote!(#derive);
                format!("derive {} for {}", print::ty(&of), place.path.join("::"))
            }
        };
        api.tell(Told { place: &place, part: Part::Impl, order: 0, name: bare(&text), text }, &[], &gates)?;
    }
    Ok(())
}

/// A derive of std's asks of each type parameter what it makes of the type.
fn bind(generics: &mut Generics, of: &syn::Path) {
    for parameter in generics.type_params_mut() {
        parameter.colon_token.get_or_insert(syn::Token![:](Span::call_site()));
        parameter.bounds.push(syn::parse_quote!(#of));
    }
}

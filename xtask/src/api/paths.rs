//! Paths in signatures, as a user would have to write them: `Result` becomes `dacapo::Result`.
//!
//! So a text changes when the meaning of a name does, and stays when an item only moves inside the crate. What no
//! user can name becomes `private::Name`. Names of std's prelude and of other crates stay as they are written or
//! imported.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Ident, Item, Path, PathArguments, PathSegment};

use super::names::{ModuleId, Space, Target, World, name_of};
use super::reach::Reach;

/// The first name of what no user can name.
pub const PRIVATE: &str = "private";

/// Rewrites the paths of one item.
pub struct Paths<'a> {
    world: &'a World,
    reaches: &'a [Reach],
    at: ModuleId,
    /// Names of generic parameters, which are no paths.
    parameters: BTreeSet<String>,
    /// What of the workspace was met, in order.
    pub ours: Vec<Target>,
    /// Whether something was met that no user can name.
    pub met_private: bool,
}

impl<'a> Paths<'a> {
    pub fn new(world: &'a World, reaches: &'a [Reach], at: ModuleId) -> Self {
        Paths { world, reaches, at, parameters: BTreeSet::new(), ours: Vec::new(), met_private: false }
    }

    /// The same for an item with these generic parameters, its own and those of its members.
    pub fn with(mut self, item: &Item) -> Self {
        Parameters(&mut self.parameters).visit_item(item);
        self
    }

    /// The path by which a user names the target.
    pub fn public(&self, target: &Target) -> Vec<String> {
        let krate = match target {
            Target::Module(module) => module.krate,
            Target::Item(item) | Target::Variant(item, _) => item.module.krate,
            Target::External(path) => return normal(path),
        };
        if let Some(place) = self.reaches[krate].best(target) {
            return place.path.clone();
        }
        match target {
            Target::Variant(item, name) => {
                let mut path = self.public(&Target::Item(*item));
                path.push(name.clone());
                path
            }
            Target::Item(item) => {
                let name = name_of(&self.world.entry(*item).item).map(|(name, _)| name).unwrap_or_default();
                vec![PRIVATE.into(), name]
            }
            _ => vec![PRIVATE.into()],
        }
    }

    /// Rewrites a path, and says how many names longer it became.
    fn rewrite(&mut self, path: &mut Path, space: Space) -> isize {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names[0] == "Self" || self.parameters.contains(&names[0]) {
            return 0;
        }
        let is_rooted = path.leading_colon.take().is_some();
        let (public, taken) = match self.world.of_path(self.at, &names, space) {
            Some((target, taken)) if !is_rooted => {
                let public = self.public(&target);
                self.met_private |= public[0] == PRIVATE;
                if !matches!(target, Target::External(_)) {
                    self.ours.push(target);
                }
                (public, taken)
            }
            _ if names.len() > 1 => (normal(&names), names.len()),
            _ => return 0,
        };
        let longer = public.len() as isize - taken as isize;
        let mut segments: Vec<PathSegment> = public.iter().map(|name| PathSegment::from(ident(name))).collect();
        // Arguments stay with the name that has them, counted from the end.
        let old: Vec<PathSegment> = path.segments.iter().cloned().collect();
        for (new, old) in segments.iter_mut().rev().zip(old[..taken].iter().rev()) {
            new.arguments = old.arguments.clone();
        }
        segments.extend(old[taken..].iter().cloned());
        path.segments = segments.into_iter().collect();
        longer
    }
}

impl VisitMut for Paths<'_> {
    // Nothing of these is printed.
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
    fn visit_visibility_mut(&mut self, _: &mut syn::Visibility) {}

    fn visit_path_mut(&mut self, path: &mut Path) {
        self.rewrite(path, Space::Type);
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_type_path_mut(&mut self, ty: &mut syn::TypePath) {
        // `<T as Trait>::Name`: only `Trait` is a path, and the names behind it are its own.
        if let Some(of) = &mut ty.qself {
            self.visit_type_mut(&mut of.ty);
            if of.position == 0 {
                return;
            }
            let own = ty.path.segments.iter().skip(of.position).cloned().collect::<Vec<_>>();
            let mut head = ty.path.clone();
            head.segments = ty.path.segments.iter().take(of.position).cloned().collect();
            of.position = of.position.saturating_add_signed(self.rewrite(&mut head, Space::Type));
            head.segments.extend(own);
            visit_mut::visit_path_mut(self, &mut head);
            ty.path = head;
            return;
        }
        visit_mut::visit_type_path_mut(self, ty);
    }

    fn visit_expr_path_mut(&mut self, expression: &mut syn::ExprPath) {
        if expression.qself.is_none() {
            self.rewrite(&mut expression.path, Space::Value);
        }
        visit_mut::visit_path_mut(self, &mut expression.path);
    }

    fn visit_path_arguments_mut(&mut self, arguments: &mut PathArguments) {
        // `Vec::<u8>` and `Vec<u8>` are one type.
        if let PathArguments::AngleBracketed(it) = arguments {
            it.colon2_token = None;
        }
        visit_mut::visit_path_arguments_mut(self, arguments);
    }
}

/// Collects the names of generic parameters, at any depth.
struct Parameters<'a>(&'a mut BTreeSet<String>);

impl Visit<'_> for Parameters<'_> {
    fn visit_block(&mut self, _: &syn::Block) {}

    fn visit_type_param(&mut self, it: &syn::TypeParam) {
        self.0.insert(it.ident.to_string());
    }

    fn visit_const_param(&mut self, it: &syn::ConstParam) {
        self.0.insert(it.ident.to_string());
    }
}

/// `core` and `alloc` are std.
fn normal(path: &[String]) -> Vec<String> {
    let mut path = path.to_vec();
    if path.len() > 1 && ["core", "alloc"].contains(&path[0].as_str()) {
        path[0] = "std".into();
    }
    path
}

fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

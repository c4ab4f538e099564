//! The lines of a crate's text: one for each module, item, field, variant and member of a trait.
//!
//! A line stands for itself: the whole path, the whole signature, the gates. `impls` has the lines of impl blocks.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, Fields, Item, ItemEnum, ItemTrait, TraitItem, UnOp, Visibility};

use super::gates::Gates;
use super::names::{ItemId, ModuleId, Target, World};
use super::paths::Paths;
use super::reach::{Reach, Reached};
use super::tree::Files;
use super::{attributes, examples, impls, print};

/// One line, in the order in which lines are sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub is_hidden: bool,
    /// The item that it belongs to.
    path: Vec<String>,
    part: Part,
    /// Where the order of declaration can be seen by a user.
    order: usize,
    name: String,
    pub text: String,
}

/// What of an item a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Item,
    Field,
    Member,
    Impl,
    Alias,
}

/// What kinds of items are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Type,
    Trait,
    Function,
    Macro,
}

/// An item that ought to have an example.
#[derive(Debug)]
pub struct Counted {
    pub kind: Kind,
    pub path: String,
    pub has_example: bool,
    /// Without public fields or variants: an example of a method is one of the type.
    pub by_methods: bool,
}

/// The public API of one crate.
pub struct Api<'a> {
    pub world: &'a World,
    pub reaches: &'a [Reach],
    pub krate: usize,
    pub files: &'a Files<'a>,
    pub lines: Vec<Line>,
    pub counted: BTreeMap<ItemId, Counted>,
    /// Names of the root that are neither modules nor crates.
    pub root_names: BTreeSet<String>,
}

/// A member or item that is about to become a line.
pub struct Told<'a> {
    pub place: &'a Reached,
    pub part: Part,
    pub order: usize,
    pub name: String,
    pub text: String,
}

impl<'a> Api<'a> {
    /// Lists everything that a user of the crate reaches.
    ///
    /// # Errors
    ///
    /// - Something is not understood.
    pub fn new(world: &'a World, reaches: &'a [Reach], krate: usize, files: &'a Files<'a>) -> Result<Self, String> {
        let (lines, counted, root_names) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        let mut api = Api { world, reaches, krate, files, lines, counted, root_names };
        let reach = &reaches[krate];
        for (target, places) in &reach.places {
            let Some(best) = places.first() else { continue };
            api.target(target, best)?;
            for place in places.iter().skip(1) {
                api.reexport(place, &best.path);
            }
            let is_name = |place: &&Reached| place.path.len() == 2 && !place.is_hidden;
            let is_crate = matches!(target, Target::External(path) if path.len() == 1);
            if !matches!(target, Target::Module(_)) && !is_crate {
                api.root_names.extend(places.iter().filter(is_name).map(|place| place.path[1].clone()));
            }
        }
        for (place, of) in &reach.globs {
            let place = Reached { path: place.path.iter().cloned().chain(["*".into()]).collect(), ..place.clone() };
            api.reexport(&place, &of.iter().cloned().chain(["*".into()]).collect::<Vec<_>>());
        }
        impls::list(&mut api)?;
        api.lines.sort();
        api.lines.dedup();
        Ok(api)
    }

    /// Adds a line, with the attributes that bind users in front and the gates behind.
    pub fn tell(&mut self, told: Told<'_>, attributes: &[Attribute], gates: &Gates) -> Result<(), String> {
        // Left out of every build that a user has.
        let Some(own) = Gates::of(attributes)? else { return Ok(()) };
        let is_hidden = told.place.is_hidden || attributes::is_hidden(attributes);
        let hidden = if is_hidden { "#[doc(hidden)] " } else { "" };
        let gates = told.place.gates.and(gates).and(&own).text();
        let text = format!("{hidden}{}{}{gates}", attributes::printed(attributes), told.text);
        let (path, part, order, name) = (told.place.path.clone(), told.part, told.order, told.name);
        self.lines.push(Line { is_hidden, path, part, order, name, text });
        Ok(())
    }

    fn item_line(&mut self, place: &Reached, text: String, attributes: &[Attribute]) -> Result<(), String> {
        let told = Told { place, part: Part::Item, order: 0, name: String::new(), text };
        self.tell(told, attributes, &Gates::default())
    }

    fn reexport(&mut self, place: &Reached, of: &[String]) {
        let text = format!("use {} = {}", place.path.join("::"), of.join("::"));
        let told = Told { place, part: Part::Alias, order: 0, name: String::new(), text };
        // There are no attributes to be misunderstood.
        let _ = self.tell(told, &[], &Gates::default());
    }

    fn target(&mut self, target: &Target, place: &Reached) -> Result<(), String> {
        let own = match target {
            Target::Module(module) => module.krate == self.krate,
            Target::Item(item) => item.module.krate == self.krate,
            Target::Variant(..) | Target::External(_) => false,
        };
        match target {
            Target::Module(id) if own && id.module == 0 => Ok(()),
            Target::Module(_) if own => self.item_line(place, format!("mod {}", place.path.join("::")), &[]),
            Target::Item(item) if own => self.item(*item, place),
            _ => {
                let root = ModuleId { krate: self.krate, module: 0 };
                let paths = Paths::new(self.world, self.reaches, root);
                let of = match target {
                    Target::Variant(item, name) => [paths.public(&Target::Item(*item)), vec![name.clone()]].concat(),
                    other => paths.public(other),
                };
                self.reexport(place, &of);
                Ok(())
            }
        }
    }

    fn item(&mut self, id: ItemId, place: &Reached) -> Result<(), String> {
        let mut item = self.world.entry(id).item.clone();
        let mut paths = Paths::new(self.world, self.reaches, id.module).with(&item);
        let attrs = attributes::of(&item).to_vec();
        let path = place.path.join("::");
        let file = &self.world.module(id.module).file;
        let has_example = examples::has_example(&attrs, file, self.files);
        let mut count = |kind, by_methods| {
            if !place.is_hidden {
                self.counted.insert(id, Counted { kind, path: path.clone(), has_example, by_methods });
            }
        };
        if !matches!(item, Item::Macro(_)) {
            paths.visit_item_mut(&mut item);
        }
        match item {
            Item::Struct(it) => {
                count(Kind::Type, !it.fields.iter().any(is_public));
                let text = print::head("struct", &path, &it.generics) + &shape(&it.fields);
                self.item_line(place, text, &attrs)?;
                // The order of fields is seen only where the layout is C's.
                let in_order = attributes::printed(&attrs).contains("repr(C");
                self.fields(place, &it.fields, in_order)
            }
            Item::Union(it) => {
                count(Kind::Type, false);
                self.item_line(place, print::head("union", &path, &it.generics), &attrs)?;
                self.fields(place, &Fields::Named(it.fields), true)
            }
            Item::Enum(it) => {
                count(Kind::Type, it.variants.is_empty());
                self.item_line(place, print::head("enum", &path, &it.generics), &attrs)?;
                self.variants(place, it)
            }
            Item::Trait(it) => {
                count(Kind::Trait, false);
                self.item_line(place, print::traits(&path, it.clone()), &attrs)?;
                self.members(place, it)
            }
            Item::Type(it) => {
                count(Kind::Type, false);
                self.item_line(place, print::alias(&path, it), &attrs)
            }
            Item::Fn(it) => {
                count(Kind::Function, false);
                self.item_line(place, print::function(&path, it.sig), &attrs)
            }
            Item::Const(it) => {
                self.item_line(place, format!("const {path}: {}{}", print::ty(&it.ty), value(&it.expr)), &attrs)
            }
            Item::Static(it) => self.item_line(place, format!("static {path}: {}", print::ty(&it.ty)), &attrs),
            Item::Macro(it) => {
                count(Kind::Macro, false);
                let name = it.ident.map(|name| name.to_string()).unwrap_or_default();
                let rules = self.world.module(id.module).macros.get(&name).cloned();
                let arms: Vec<String> = rules.iter().flat_map(|rules| rules.takes()).map(print::matcher).collect();
                let first = if arms.is_empty() { vec![String::new()] } else { arms };
                first.iter().try_for_each(|arm| self.item_line(place, format!("macro {path}! {arm}"), &attrs))
            }
            _ => Err(format!("{}: the item `{path}` is not understood", file.display())),
        }
    }

    fn fields(&mut self, place: &Reached, fields: &Fields, in_order: bool) -> Result<(), String> {
        let named =
            fields.iter().filter(|field| is_public(field)).filter_map(|field| Some((field.ident.as_ref()?, field)));
        for (order, (name, field)) in named.enumerate() {
            let text = format!("field {}::{name}: {}", place.path.join("::"), print::ty(&field.ty));
            let order = if in_order { order } else { 0 };
            let told = Told { place, part: Part::Field, order, name: name.to_string(), text };
            self.tell(told, &field.attrs, &Gates::default())?;
        }
        Ok(())
    }

    fn variants(&mut self, place: &Reached, it: ItemEnum) -> Result<(), String> {
        for (order, variant) in it.variants.into_iter().enumerate() {
            let (name, attrs) = (variant.ident.to_string(), variant.attrs);
            let number = variant.discriminant.map(|(_, number)| value(&number)).unwrap_or_default();
            let text = format!("variant {}::{name}{}{number}", place.path.join("::"), print::fields(variant.fields));
            self.tell(Told { place, part: Part::Field, order, name, text }, &attrs, &Gates::default())?;
        }
        Ok(())
    }

    fn members(&mut self, place: &Reached, it: ItemTrait) -> Result<(), String> {
        for item in it.items {
            let path = |name: &syn::Ident| format!("{}::{name}", place.path.join("::"));
            let (name, attrs, text) = match item {
                TraitItem::Fn(it) => {
                    let body = if it.default.is_some() { " { .. }" } else { "" };
                    let name = it.sig.ident.clone();
                    (name.clone(), it.attrs, print::function(&path(&name), it.sig) + body)
                }
                TraitItem::Type(it) => (it.ident.clone(), it.attrs.clone(), print::associated(&path(&it.ident), it)),
                TraitItem::Const(it) => {
                    let body = if it.default.is_some() { " = .." } else { "" };
                    let text = format!("const {}: {}{body}", path(&it.ident), print::ty(&it.ty));
                    (it.ident, it.attrs, text)
                }
                _ => return Err(format!("a member of the trait `{}` is not understood", place.path.join("::"))),
            };
            let told = Told { place, part: Part::Member, order: 0, name: name.to_string(), text };
            self.tell(told, &attrs, &Gates::default())?;
        }
        Ok(())
    }
}

fn is_public(field: &syn::Field) -> bool {
    matches!(field.vis, Visibility::Public(_))
}

/// What the line of a struct says of its fields: `;` none at all, `{ .. }` some that are private, `(u8, _)` a tuple's.
fn shape(fields: &Fields) -> String {
    match fields {
        Fields::Unit => ";".into(),
        Fields::Unnamed(tuple) if fields.iter().any(is_public) => {
            let each = tuple.unnamed.iter().map(|it| if is_public(it) { print::ty(&it.ty) } else { "_".into() });
            format!("({})", each.collect::<Vec<_>>().join(", "))
        }
        _ if fields.iter().all(is_public) => String::new(),
        _ => " { .. }".into(),
    }
}

/// A value, where it is a plain number or text.
pub fn value(expression: &Expr) -> String {
    match expression {
        Expr::Lit(it) => format!(" = {}", quote::ToTokens::to_token_stream(it)),
        Expr::Unary(it) if matches!(it.op, UnOp::Neg(_)) => match &*it.expr {
            Expr::Lit(it) => format!(" = -{}", quote::ToTokens::to_token_stream(it)),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

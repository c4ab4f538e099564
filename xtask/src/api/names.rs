//! What a name means in a module: its own items, what `use` brings, and what globs bring.
//!
//! Types, values and macros are apart, as the compiler has them: `mod op` and `fn op` are two things. A path that
//! leads out of the workspace ends as it is written (`External`).

use std::collections::BTreeMap;

use syn::{Item, ItemUse, UseTree, Visibility};

use super::attributes;
use super::gates::Gates;
use super::tree::{Crate, Entry, Module};

/// A module of one of the crates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleId {
    pub krate: usize,
    pub module: usize,
}

/// An item by the module that it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemId {
    pub module: ModuleId,
    pub entry: usize,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Module(ModuleId),
    Item(ItemId),
    Variant(ItemId, String),
    External(Vec<String>),
}

/// Where names of one kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Type,
    Value,
    Macro,
}

/// All of them.
pub const SPACES: [Space; 3] = [Space::Type, Space::Value, Space::Macro];

/// A target, and what has to hold on the way to it.
#[derive(Clone, Debug)]
pub struct Found {
    pub target: Target,
    pub gates: Gates,
    pub is_hidden: bool,
}

/// One name of a `use`, with its whole path. A glob has no name.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub name: Option<String>,
    pub path: Vec<String>,
    /// Whether it begins with `::`.
    is_rooted: bool,
}

/// A name of a module, or a glob.
pub struct Binding {
    what: What,
    pub is_public: bool,
    /// Not for its own module alone.
    is_shared: bool,
    gates: Gates,
    is_hidden: bool,
}

enum What {
    Item(ItemId, Space),
    Module(ModuleId),
    Import(Leaf),
}

/// The names of one module.
#[derive(Default)]
pub struct Scope {
    pub names: BTreeMap<String, Vec<Binding>>,
    pub globs: Vec<Binding>,
}

/// Crates, and what their names mean.
pub struct World {
    pub crates: Vec<Crate>,
    scopes: Vec<Vec<Scope>>,
}

/// The bindings that are being followed and the names that globs are being searched for, so that a circle ends.
type Trail = Vec<(usize, String, Space)>;

impl World {
    /// Reads the names of all modules.
    pub fn new(crates: Vec<Crate>) -> World {
        let scopes = crates.iter().enumerate().map(|(at, krate)| scopes_of(at, krate)).collect();
        World { crates, scopes }
    }

    pub fn module(&self, id: ModuleId) -> &Module {
        &self.crates[id.krate].modules[id.module]
    }

    pub fn entry(&self, id: ItemId) -> &Entry {
        &self.module(id.module).entries[id.entry]
    }

    pub fn scope(&self, id: ModuleId) -> &Scope {
        &self.scopes[id.krate][id.module]
    }

    /// What a name means to the code of a module.
    pub fn lookup(&self, at: ModuleId, name: &str, space: Space) -> Vec<Found> {
        self.named(at, at, name, space, &mut Vec::new())
    }

    /// What a public name or glob leads to.
    pub fn follow(&self, at: ModuleId, binding: &Binding, space: Space) -> Vec<Found> {
        self.bound(at, binding, space, &mut Vec::new())
    }

    /// `name` of the module `at`, as code of the module `from` sees it.
    fn named(&self, from: ModuleId, at: ModuleId, name: &str, space: Space, trail: &mut Trail) -> Vec<Found> {
        let scope = self.scope(at);
        let bindings = scope.names.get(name).into_iter().flatten();
        let bindings = bindings.filter(|binding| binding.is_shared || self.is_inside(from, at));
        let mut found: Vec<Found> = bindings.flat_map(|binding| self.bound(at, binding, space, trail)).collect();
        let asked = (std::ptr::from_ref(scope).addr(), name.to_string(), space);
        if found.is_empty() && !trail.contains(&asked) {
            trail.push(asked);
            for glob in scope.globs.iter().filter(|glob| glob.is_shared || self.is_inside(from, at)) {
                for target in self.bound(at, glob, Space::Type, trail) {
                    let inner = match &target.target {
                        Target::Module(module) => self.named(at, *module, name, space, trail),
                        Target::Item(item) => self.variant(*item, name).into_iter().collect(),
                        _ => Vec::new(),
                    };
                    found.extend(inner.into_iter().map(|inner| inner.behind(&target)));
                }
            }
            trail.pop();
        }
        found
    }

    fn bound(&self, at: ModuleId, binding: &Binding, space: Space, trail: &mut Trail) -> Vec<Found> {
        let here = |target| Found { target, gates: binding.gates.clone(), is_hidden: binding.is_hidden };
        match &binding.what {
            What::Item(item, own) if *own == space => vec![here(Target::Item(*item))],
            What::Module(module) if space == Space::Type => vec![here(Target::Module(*module))],
            What::Import(leaf) => {
                let followed = (std::ptr::from_ref(binding).addr(), String::new(), space);
                if trail.contains(&followed) {
                    return Vec::new();
                }
                trail.push(followed);
                let found = self.path(at, leaf, space, trail);
                trail.pop();
                let behind = |found: Found| here(found.target.clone()).behind(&found);
                found.into_iter().map(behind).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Where the path of a `use` leads.
    fn path(&self, at: ModuleId, leaf: &Leaf, space: Space, trail: &mut Trail) -> Vec<Found> {
        let root = ModuleId { krate: at.krate, module: 0 };
        let plain = |target| vec![Found { target, gates: Gates::default(), is_hidden: false }];
        let Some((first, rest)) = leaf.path.split_first() else { return Vec::new() };
        let mut found = match first.as_str() {
            "crate" => plain(Target::Module(root)),
            "self" => plain(Target::Module(at)),
            "super" => self.parent(at).map(|parent| plain(Target::Module(parent))).unwrap_or_default(),
            name => {
                let space = if rest.is_empty() { space } else { Space::Type };
                let local = if leaf.is_rooted { Vec::new() } else { self.named(at, at, name, space, trail) };
                match self.crates.iter().position(|krate| krate.name == name) {
                    _ if !local.is_empty() => local,
                    Some(krate) => plain(Target::Module(ModuleId { krate, module: 0 })),
                    // Names of std's prelude and other crates; only a type may be the beginning of a path.
                    None if space == Space::Type => plain(Target::External(vec![name.to_string()])),
                    None => Vec::new(),
                }
            }
        };
        for (step, name) in rest.iter().enumerate() {
            let space = if step + 1 == rest.len() { space } else { Space::Type };
            let next = |found: &Found, trail: &mut Trail| -> Vec<Found> {
                let inner = self.step(at, &found.target, name, space, trail);
                inner.into_iter().map(|inner| inner.behind(found)).collect()
            };
            found = found.iter().flat_map(|found| next(found, trail)).collect();
        }
        found
    }

    /// One step of a path.
    fn step(&self, from: ModuleId, at: &Target, name: &str, space: Space, trail: &mut Trail) -> Vec<Found> {
        let plain = |target| vec![Found { target, gates: Gates::default(), is_hidden: false }];
        match at {
            Target::Module(module) if name == "super" => {
                self.parent(*module).map(|parent| plain(Target::Module(parent))).unwrap_or_default()
            }
            Target::Module(module) => self.named(from, *module, name, space, trail),
            Target::Item(item) if space == Space::Type => self.variant(*item, name).into_iter().collect(),
            Target::External(path) if space == Space::Type => {
                plain(Target::External(path.iter().cloned().chain([name.to_string()]).collect()))
            }
            _ => Vec::new(),
        }
    }

    /// Where the path of a type, trait or constant leads, and how many of its names that took. None for what is no name
    /// of this module: std's prelude, other crates.
    pub fn of_path(&self, at: ModuleId, names: &[String], space: Space) -> Option<(Target, usize)> {
        let first = names.first()?;
        let root = ModuleId { krate: at.krate, module: 0 };
        let kind = |taken: usize| if taken == names.len() { space } else { Space::Type };
        let mut target = match first.as_str() {
            "crate" => Target::Module(root),
            "self" => Target::Module(at),
            "super" => Target::Module(self.parent(at)?),
            name => match self.lookup(at, name, kind(1)).into_iter().next() {
                Some(found) => found.target,
                None => {
                    let krate = self.crates.iter().position(|krate| krate.name == *name)?;
                    Target::Module(ModuleId { krate, module: 0 })
                }
            },
        };
        let mut taken = 1;
        while let Some(name) = names.get(taken) {
            taken += 1;
            match &mut target {
                Target::Module(_) => {
                    target = self.step(at, &target, name, kind(taken), &mut Vec::new()).into_iter().next()?.target;
                }
                Target::External(path) => path.push(name.clone()),
                _ => return Some((target, taken - 1)),
            }
        }
        Some((target, taken))
    }

    fn variant(&self, item: ItemId, name: &str) -> Option<Found> {
        let Item::Enum(it) = &self.entry(item).item else { return None };
        let known = it.variants.iter().any(|variant| variant.ident == name);
        let target = Target::Variant(item, name.to_string());
        known.then(|| Found { target, gates: Gates::default(), is_hidden: false })
    }

    fn parent(&self, id: ModuleId) -> Option<ModuleId> {
        self.module(id).parent.map(|module| ModuleId { krate: id.krate, module })
    }

    fn is_inside(&self, inner: ModuleId, outer: ModuleId) -> bool {
        let mut at = Some(inner);
        while let Some(id) = at {
            if id == outer {
                return true;
            }
            at = self.parent(id);
        }
        false
    }
}

impl Found {
    /// The same, with what has to hold before it.
    fn behind(self, before: &Found) -> Found {
        Found {
            gates: self.gates.and(&before.gates),
            is_hidden: self.is_hidden || before.is_hidden,
            target: self.target,
        }
    }
}

fn scopes_of(krate: usize, tree: &Crate) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = tree.modules.iter().map(|_| Scope::default()).collect();
    for (module, node) in tree.modules.iter().enumerate() {
        let id = ModuleId { krate, module };
        for (entry, it) in node.entries.iter().enumerate() {
            let attrs = attributes::of(&it.item);
            let visibility = attributes::visibility(&it.item);
            let is_public = matches!(visibility, Visibility::Public(_));
            let binding = |what| Binding {
                what,
                is_public,
                is_shared: !matches!(visibility, Visibility::Inherited),
                gates: it.gates.clone(),
                is_hidden: attributes::is_hidden(attrs),
            };
            let item = ItemId { module: id, entry };
            match &it.item {
                Item::Use(tree) => {
                    for leaf in leaves(tree) {
                        match leaf.name.clone() {
                            Some(name) => {
                                let name = scopes[module].names.entry(name).or_default();
                                name.push(binding(What::Import(leaf)));
                            }
                            None => scopes[module].globs.push(binding(What::Import(leaf))),
                        }
                    }
                }
                Item::Mod(_) => {
                    let child = ModuleId { krate, module: it.child.unwrap_or_default() };
                    let name = tree.modules[child.module].name.clone();
                    scopes[module].names.entry(name).or_default().push(binding(What::Module(child)));
                }
                Item::Macro(definition) if attributes::has(attrs, "macro_export") => {
                    let name = definition.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                    let binding = binding(What::Item(item, Space::Macro));
                    let exported = Binding { is_public: true, is_shared: true, ..binding };
                    scopes[0].names.entry(name).or_default().push(exported);
                }
                other => {
                    if let Some((name, space)) = name_of(other) {
                        scopes[module].names.entry(name).or_default().push(binding(What::Item(item, space)));
                    }
                }
            }
        }
    }
    scopes
}

/// The name of an item, and where it lives.
pub fn name_of(item: &Item) -> Option<(String, Space)> {
    let (name, space) = match item {
        Item::Struct(it) => (&it.ident, Space::Type),
        Item::Enum(it) => (&it.ident, Space::Type),
        Item::Union(it) => (&it.ident, Space::Type),
        Item::Trait(it) => (&it.ident, Space::Type),
        Item::Type(it) => (&it.ident, Space::Type),
        Item::Fn(it) => (&it.sig.ident, Space::Value),
        Item::Const(it) => (&it.ident, Space::Value),
        Item::Static(it) => (&it.ident, Space::Value),
        Item::Macro(it) => (it.ident.as_ref()?, Space::Macro),
        _ => return None,
    };
    Some((name.to_string(), space))
}

/// Every name that a `use` brings.
pub fn leaves(item: &ItemUse) -> Vec<Leaf> {
    let mut found = Vec::new();
    walk(&item.tree, Vec::new(), &mut found);
    for leaf in &mut found {
        leaf.is_rooted = item.leading_colon.is_some();
    }
    found
}

fn walk(tree: &UseTree, mut path: Vec<String>, found: &mut Vec<Leaf>) {
    let leaf = |name, path| Leaf { name, path, is_rooted: false };
    match tree {
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            walk(&it.tree, path, found);
        }
        UseTree::Group(it) => it.items.iter().for_each(|inner| walk(inner, path.clone(), found)),
        UseTree::Glob(_) => found.push(leaf(None, path)),
        UseTree::Name(it) => {
            // `a::{self}` is `a`; a lone `self` never stands at the end of a use.
            if it.ident != "self" {
                path.push(it.ident.to_string());
            }
            found.push(leaf(path.last().cloned(), path));
        }
        UseTree::Rename(it) => {
            if it.ident != "self" {
                path.push(it.ident.to_string());
            }
            found.push(leaf(Some(it.rename.to_string()), path));
        }
    }
}

//! What a user can reach, and by which paths.
//!
//! From the root of a crate through public modules, items, `pub use` and its globs. Something that has several paths is
//! told of at the shortest one that the documentation shows; the others are told as re-exports of that one.

use std::collections::{BTreeMap, BTreeSet};

use super::gates::Gates;
use super::names::{Found, ModuleId, SPACES, Space, Target, World};

/// One path by which something is reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    // In this order: the least place is the best.
    pub is_hidden: bool,
    pub steps: usize,
    pub is_reexport: bool,
    pub path: Vec<String>,
    pub gates: Gates,
}

/// Everything that a user of one crate reaches, with its paths, the best first.
#[derive(Default)]
pub struct Reach {
    pub places: BTreeMap<Target, BTreeSet<Reached>>,
    /// Globs of other crates, by where they stand: nobody knows here what they bring.
    pub globs: Vec<(Reached, Vec<String>)>,
}

impl Reach {
    /// Where it is best found.
    pub fn best(&self, target: &Target) -> Option<&Reached> {
        self.places.get(target).and_then(BTreeSet::first)
    }
}

/// One public name of a module.
struct Export {
    name: String,
    found: Found,
}

/// What the users of a crate reach.
///
/// # Errors
///
/// - A `pub use` leads nowhere.
pub fn reach(world: &World, krate: usize) -> Result<Reach, String> {
    let mut reach = Reach::default();
    let root = Target::Module(ModuleId { krate, module: 0 });
    let place = Reached {
        is_hidden: false,
        steps: 1,
        is_reexport: false,
        path: vec![world.crates[krate].name.clone()],
        gates: Gates::default(),
    };
    // The best place first, so that a module is walked through from its best place.
    let mut waiting = BTreeSet::from([(place, root)]);
    while let Some((place, target)) = waiting.pop_first() {
        let is_first = !reach.places.contains_key(&target);
        reach.places.entry(target.clone()).or_default().insert(place.clone());
        // What another crate has is told of in that crate's own text.
        let Target::Module(module) = target else { continue };
        if !is_first || module.krate != krate {
            continue;
        }
        let mut exports = Vec::new();
        for (path, gates) in exports_of(world, module, &mut Vec::new(), &mut exports)? {
            let gates = place.gates.and(&gates);
            reach.globs.push((Reached { gates, ..place.clone() }, path));
        }
        for Export { name, found } in exports {
            let path: Vec<String> = place.path.iter().cloned().chain([name]).collect();
            let next = Reached {
                is_hidden: place.is_hidden || found.is_hidden || is_hidden(world, &found.target),
                steps: path.len(),
                is_reexport: written_in(world, &found.target) != Some(module),
                gates: place.gates.and(&found.gates).and(&own_gates(world, &found.target)),
                path,
            };
            waiting.insert((next, found.target));
        }
    }
    Ok(reach)
}

/// Adds the public names of a module, and returns the globs of other crates that stand in it.
fn exports_of(
    world: &World,
    module: ModuleId,
    trail: &mut Vec<ModuleId>,
    exports: &mut Vec<Export>,
) -> Result<Vec<(Vec<String>, Gates)>, String> {
    let mut foreign = Vec::new();
    if trail.contains(&module) {
        return Ok(foreign);
    }
    trail.push(module);
    let scope = world.scope(module);
    let first = exports.len();
    for (name, bindings) in &scope.names {
        for binding in bindings.iter().filter(|binding| binding.is_public && name != "_") {
            let found: Vec<_> = SPACES.into_iter().flat_map(|space| world.follow(module, binding, space)).collect();
            if found.is_empty() {
                let file = world.module(module).file.display();
                return Err(format!("{file}: the public name `{name}` leads nowhere"));
            }
            exports.extend(found.into_iter().map(|found| Export { name: name.clone(), found }));
        }
    }
    let explicit: BTreeSet<String> = exports[first..].iter().map(|export| export.name.clone()).collect();
    for glob in scope.globs.iter().filter(|glob| glob.is_public) {
        let targets = world.follow(module, glob, Space::Type);
        if targets.is_empty() {
            return Err(format!("{}: a public glob leads nowhere", world.module(module).file.display()));
        }
        for target in targets {
            let first = exports.len();
            match &target.target {
                Target::Module(inner) => foreign.extend(exports_of(world, *inner, trail, exports)?),
                Target::External(path) => foreign.push((path.clone(), target.gates.clone())),
                Target::Item(item) => exports.extend(world.variants(*item)),
                Target::Variant(..) => {}
            }
            // A name of the module's own goes before one that a glob brings.
            let brought: Vec<Export> = exports.drain(first..).filter(|it| !explicit.contains(&it.name)).collect();
            exports.extend(brought.into_iter().map(|mut export| {
                export.found.gates = export.found.gates.and(&target.gates);
                export.found.is_hidden |= target.is_hidden;
                export
            }));
        }
    }
    trail.pop();
    Ok(foreign)
}

impl World {
    fn variants(&self, item: super::names::ItemId) -> Vec<Export> {
        let syn::Item::Enum(it) = &self.entry(item).item else { return Vec::new() };
        let export = |variant: &syn::Variant| {
            let name = variant.ident.to_string();
            let target = Target::Variant(item, name.clone());
            Export { name, found: Found { target, gates: Gates::default(), is_hidden: false } }
        };
        it.variants.iter().map(export).collect()
    }
}

/// The module in which the target is written.
fn written_in(world: &World, target: &Target) -> Option<ModuleId> {
    match target {
        Target::Module(id) => world.module(*id).parent.map(|module| ModuleId { krate: id.krate, module }),
        Target::Item(item) => Some(item.module),
        _ => None,
    }
}

/// The gates of the place where the target is written.
fn own_gates(world: &World, target: &Target) -> Gates {
    match target {
        Target::Module(module) => world.module(*module).gates.clone(),
        Target::Item(item) => world.module(item.module).gates.and(&world.entry(*item).gates),
        _ => Gates::default(),
    }
}

/// Whether the documentation hides the target where it is written.
fn is_hidden(world: &World, target: &Target) -> bool {
    match target {
        Target::Item(item) => super::attributes::is_hidden(super::attributes::of(&world.entry(*item).item)),
        _ => false,
    }
}

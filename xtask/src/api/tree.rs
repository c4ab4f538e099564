//! A crate as a tree of modules, read from its `lib.rs` on.
//!
//! - `mod name;` is followed into its file, with `#[path]`; inline modules count the same.
//! - What no user's build has (`cfg(test)` and its like) is left out.
//! - Calls of macros in the place of items are set aside for `expand`, which adds what they make.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::{Item, ItemMacro, ItemMod};

use super::attributes;
use super::gates::Gates;
use super::macros::Rules;

/// Gives the text of a file, if there is one.
pub type Files<'a> = dyn Fn(&Path) -> Option<String> + 'a;

/// A crate under the name that paths begin with: `dacapo_driver`.
pub struct Crate {
    pub name: String,
    /// The root comes first.
    pub modules: Vec<Module>,
    /// The macros of `#[macro_export]`.
    pub exported: BTreeMap<String, Rc<Rules>>,
}

/// One module, wherever it is written.
pub struct Module {
    pub name: String,
    pub parent: Option<usize>,
    /// Its own gates and those of the modules around it.
    pub gates: Gates,
    pub file: PathBuf,
    /// The folder in which its child modules have their files.
    folder: PathBuf,
    pub entries: Vec<Entry>,
    pub macros: BTreeMap<String, Rc<Rules>>,
    /// Whether its macros are also its parent's.
    pub lends_macros: bool,
}

/// An item, the gates that it has by itself, and the module that it opens.
pub struct Entry {
    pub item: Item,
    pub gates: Gates,
    pub child: Option<usize>,
}

/// A macro called in the place of an item.
pub struct Call {
    pub module: usize,
    pub item: ItemMacro,
    pub gates: Gates,
}

/// Reads crates.
pub struct Reader<'a> {
    pub files: &'a Files<'a>,
    pub krate: Crate,
    pub calls: VecDeque<Call>,
}

impl<'a> Reader<'a> {
    /// Reads the crate whose root is the file `root`; its macros are not called yet.
    ///
    /// # Errors
    ///
    /// - A file is missing, or is no Rust.
    pub fn read(name: &str, root: &Path, files: &'a Files<'a>) -> Result<Self, String> {
        let krate = Crate { name: name.into(), modules: Vec::new(), exported: BTreeMap::new() };
        let mut reader = Reader { files, krate, calls: VecDeque::new() };
        let parsed = reader.parse(root)?;
        let folder = root.parent().unwrap_or(Path::new("")).to_path_buf();
        reader.krate.modules.push(Module {
            name: name.into(),
            parent: None,
            gates: Gates::default(),
            file: root.into(),
            folder,
            entries: Vec::new(),
            macros: BTreeMap::new(),
            lends_macros: false,
        });
        reader.add(0, parsed.items, &Gates::default())?;
        Ok(reader)
    }

    fn parse(&self, file: &Path) -> Result<syn::File, String> {
        let text = (self.files)(file).ok_or_else(|| format!("{}: cannot be read", file.display()))?;
        syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Adds items to a module; `gates` are those of the call that made them.
    ///
    /// # Errors
    ///
    /// - A file of a module is missing, or something is not understood.
    pub fn add(&mut self, module: usize, items: Vec<Item>, gates: &Gates) -> Result<(), String> {
        for item in items {
            let own = Gates::of(attributes::of(&item)).map_err(|error| self.at(module, &error))?;
            let Some(own) = own else { continue };
            let gates = gates.and(&own);
            match item {
                Item::Macro(call) if call.ident.is_none() => self.calls.push_back(Call { module, item: call, gates }),
                Item::Macro(definition) => self.define(module, definition, gates)?,
                Item::Mod(definition) => self.open(module, definition, gates)?,
                Item::ForeignMod(_) | Item::ExternCrate(_) | Item::TraitAlias(_) | Item::Verbatim(_) => {
                    return Err(self.at(module, "`extern` and items that syn does not know are not understood"));
                }
                item => self.krate.modules[module].entries.push(Entry { item, gates, child: None }),
            }
        }
        Ok(())
    }

    /// What is said of a module's file.
    pub fn at(&self, module: usize, error: &str) -> String {
        format!("{}: {error}", self.krate.modules[module].file.display())
    }

    fn define(&mut self, module: usize, definition: ItemMacro, gates: Gates) -> Result<(), String> {
        let Some(name) = definition.ident.as_ref().map(ToString::to_string) else { return Ok(()) };
        let is_exported = attributes::has(&definition.attrs, "macro_export");
        let rules = Rules::new(&self.krate.name, &definition.mac.tokens);
        let rules = Rc::new(rules.map_err(|error| self.at(module, &format!("macro `{name}`: {error}")))?);
        if is_exported {
            self.krate.exported.insert(name.clone(), rules.clone());
        }
        let module = &mut self.krate.modules[module];
        module.macros.insert(name, rules);
        module.entries.push(Entry { item: Item::Macro(definition), gates, child: None });
        Ok(())
    }

    fn open(&mut self, parent: usize, mut definition: ItemMod, gates: Gates) -> Result<(), String> {
        let (name, above) = (definition.ident.to_string(), &self.krate.modules[parent]);
        let name = name.trim_start_matches("r#").to_string();
        let (items, file, folder) = match definition.content.take() {
            Some((_, items)) => (items, above.file.clone(), above.folder.join(&name)),
            None => {
                let (file, folder) = self.file_of(parent, &definition, &name)?;
                let parsed = self.parse(&file)?;
                definition.attrs.extend(parsed.attrs);
                (parsed.items, file, folder)
            }
        };
        // The file may say more about itself than the line that names it.
        let Some(own) = Gates::of(&definition.attrs).map_err(|error| self.at(parent, &error))? else { return Ok(()) };
        let gates = gates.and(&own);
        let child = self.krate.modules.len();
        self.krate.modules.push(Module {
            name,
            parent: Some(parent),
            gates: self.krate.modules[parent].gates.and(&gates),
            file,
            folder,
            entries: Vec::new(),
            macros: BTreeMap::new(),
            lends_macros: attributes::has(&definition.attrs, "macro_use"),
        });
        self.krate.modules[parent].entries.push(Entry { item: Item::Mod(definition), gates, child: Some(child) });
        self.add(child, items, &Gates::default())
    }

    /// The file of `mod name;`, and the folder of its own modules.
    fn file_of(&self, parent: usize, definition: &ItemMod, name: &str) -> Result<(PathBuf, PathBuf), String> {
        let above = &self.krate.modules[parent];
        if let Some(path) = attributes::string(&definition.attrs, "path") {
            let file = above.file.parent().unwrap_or(Path::new("")).join(path);
            let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
            return Ok((file, folder));
        }
        let folder = above.folder.join(name);
        let (beside, inside) = (folder.with_extension("rs"), folder.join("mod.rs"));
        let found = [beside, inside].into_iter().find(|file| (self.files)(file).is_some());
        found.map(|file| (file, folder)).ok_or_else(|| self.at(parent, &format!("module `{name}` has no file")))
    }
}

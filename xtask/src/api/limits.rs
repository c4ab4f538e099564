//! How large the API of `dacapo` may be, and how well it is shown.
//!
//! Both are counted and printed; the two constants below turn them into limits.

use std::collections::BTreeSet;

use super::lines::{Counted, Kind};

/// How many names the root may have besides modules and crates. `None`: they are counted only.
const ROOT_NAMES_MAX: Option<usize> = Some(30);

/// Whether every public type, trait, function and macro must have an example that runs.
const EXAMPLES_REQUIRED: bool = true;

/// What [`ROOT_NAMES_MAX`] is to become.
const ROOT_NAMES_GOAL: usize = 30;

/// What was counted of a crate.
#[derive(Default)]
pub struct Counts {
    /// Names of the root that are neither modules nor crates.
    pub root_names: BTreeSet<String>,
    /// Types, traits, functions and macros.
    pub items: Vec<Counted>,
}

/// What is asked of the counts.
pub struct Limits {
    root_names_max: Option<usize>,
    examples_required: bool,
}

/// What is asked today.
pub const TODAY: Limits = Limits { root_names_max: ROOT_NAMES_MAX, examples_required: EXAMPLES_REQUIRED };

impl Counts {
    /// The items without an example that runs.
    pub fn missing(&self) -> impl Iterator<Item = String> {
        self.items.iter().filter(|item| !item.has_example).map(|item| match item.kind {
            Kind::Type => format!("type {}", item.path),
            Kind::Trait => format!("trait {}", item.path),
            Kind::Function => format!("fn {}", item.path),
            Kind::Macro => format!("macro {}!", item.path),
        })
    }

    /// The two lines that are printed last.
    pub fn report(&self, limits: &Limits) -> String {
        let limit = match limits.root_names_max {
            Some(max) => format!("limit {max}"),
            None => format!("limit {ROOT_NAMES_GOAL} (not enforced yet)"),
        };
        let shown = self.items.iter().filter(|item| item.has_example).count();
        format!(
            "api: {} names at the root, {limit}\napi: {} public items, {shown} with an example that runs",
            self.root_names.len(),
            self.items.len()
        )
    }

    /// What is more than the limits allow.
    pub fn judge(&self, limits: &Limits) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(max) = limits.root_names_max
            && self.root_names.len() > max
        {
            found.push(format!("{} names at the root, and {max} are allowed", self.root_names.len()));
        }
        let missing = self.missing().count();
        if limits.examples_required && missing > 0 {
            found.push(format!(
                "{missing} public items have no example that runs: `cargo xtask api --missing` lists them"
            ));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(examples: [bool; 2]) -> Counts {
        let item = |has_example| Counted { kind: Kind::Type, path: "a::A".into(), has_example, by_methods: false };
        Counts { root_names: BTreeSet::from(["A".into(), "B".into()]), items: examples.map(item).into() }
    }

    #[test]
    fn too_many_names_at_the_root_are_refused_once_there_is_a_limit() {
        let limits = |root_names_max| Limits { root_names_max, examples_required: false };
        assert_eq!(counts([true; 2]).judge(&limits(Some(1))), ["2 names at the root, and 1 are allowed"]);
        assert!(counts([true; 2]).judge(&limits(Some(2))).is_empty());
        assert!(counts([true; 2]).judge(&limits(None)).is_empty());
        assert!(counts([true; 2]).report(&limits(Some(2))).starts_with("api: 2 names at the root, limit 2\n"));
    }

    #[test]
    fn an_item_without_an_example_is_refused_once_they_are_required() {
        let limits = |examples_required| Limits { root_names_max: None, examples_required };
        assert_eq!(counts([true, false]).judge(&limits(true)).len(), 1);
        assert!(counts([true, true]).judge(&limits(true)).is_empty());
        assert!(counts([true, false]).judge(&limits(false)).is_empty());
        assert_eq!(counts([true, false]).missing().collect::<Vec<_>>(), ["type a::A"]);
        assert!(counts([true, false]).report(&TODAY).ends_with("api: 2 public items, 1 with an example that runs"));
    }
}

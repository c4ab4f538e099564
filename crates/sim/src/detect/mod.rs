//! What the software driver looks for beyond what a GPU would report, and can be told not to look for.
//!
//! - [`Detectors`] says which of them are on. What ends a kernel on a GPU too (an address in no allocation, a trap, a
//!   barrier that nobody can leave) is no detector and is always reported.
//! - `shared` finds races between the threads of a block in shared memory.
//! - `blocks` finds races between the blocks of a kernel in global memory; `fences` knows what orders them.
//! - `order` knows which task happens before which, `sites` who has touched what: together they find work of two streams,
//!   or of two branches of a graph, that touches the same memory without an order. Cells lie in `memory/watch.rs`.
//! - `baked` looks at the addresses that the nodes of a graph hold.
//! - `declared` is what a launch was said to touch; `exec/undeclared.rs` holds every access against it.
//!
//! **Invariant:** a detector changes no result, no code and no order: with all of them off a program runs the same way.

pub(crate) mod baked;
pub(crate) mod blocks;
pub(crate) mod declared;
pub(crate) mod fences;
pub(crate) mod order;
pub(crate) mod shared;
pub(crate) mod sites;
mod tasks;

use std::fmt;
use std::str::FromStr;

/// Which detectors are on. Each can be switched off by itself.
///
/// ```
/// use dacapo_sim::Detectors;
///
/// let races_only = Detectors { shared_races: true, unordered: true, ..Detectors::none() };
/// assert_eq!("shared_races,unordered".parse(), Ok(races_only));
/// assert_eq!("default".parse(), Ok(Detectors::default()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detectors {
    /// Reads of what nobody has written: memory (`uninitialised-read`), arguments (`short-arguments`), conditions of graphs
    /// (`unset-condition`).
    pub uninitialised: bool,
    /// Two threads of a block touch shared memory, one of them writing, and nothing orders them: `shared-race`,
    /// `same-word`.
    pub shared_races: bool,
    /// Two blocks of a kernel touch the same bytes of global memory, one of them by a plain write, and nothing orders
    /// them: `global-race`.
    pub global_races: bool,
    /// Work of two streams, or of two branches of a graph, touches the same memory, one of them writing, and nothing
    /// orders them: `unordered`, `unordered-free`.
    pub unordered: bool,
    /// Barriers that parts of a warp come to at different places, or with different counts: `barrier-divergence`,
    /// `barrier-count`. A barrier that nobody can leave is always reported.
    pub barriers: bool,
    /// Shuffles and other operations of a warp whose masks miss a lane: `shuffle-missing-lane`, `warp-member-gone`,
    /// `warp-mask-without-self`.
    pub shuffles: bool,
    /// A graph that names memory which was freed and whose address was given out again: `reused-address`. An access to
    /// memory that is gone and stays gone is always reported.
    pub freed: bool,
    /// A graph that names pageable memory of the host: `baked-host-pointer`.
    pub host_pointers: bool,
    /// A kernel touches memory that its op was not given, or writes what it was given to read: `undeclared-access`,
    /// `undeclared-write`. Only for launches whose slices were told ([`dacapo_driver::Driver::declare`]), as the library
    /// does.
    pub undeclared: bool,
}

/// One field of [`Detectors`], to read and to change.
type Field = (&'static str, fn(&mut Detectors) -> &mut bool);

/// The names of the detectors, as `DACAPO_DETECT` takes them.
const FIELDS: [Field; 9] = [
    ("uninitialised", |d| &mut d.uninitialised),
    ("shared_races", |d| &mut d.shared_races),
    ("global_races", |d| &mut d.global_races),
    ("unordered", |d| &mut d.unordered),
    ("barriers", |d| &mut d.barriers),
    ("shuffles", |d| &mut d.shuffles),
    ("freed", |d| &mut d.freed),
    ("host_pointers", |d| &mut d.host_pointers),
    ("undeclared", |d| &mut d.undeclared),
];

impl Detectors {
    /// Nothing is looked for.
    pub const fn none() -> Detectors {
        Detectors {
            uninitialised: false,
            shared_races: false,
            global_races: false,
            unordered: false,
            barriers: false,
            shuffles: false,
            freed: false,
            host_pointers: false,
            undeclared: false,
        }
    }

    /// Everything is looked for.
    pub const fn all() -> Detectors {
        Detectors {
            uninitialised: true,
            shared_races: true,
            global_races: true,
            unordered: true,
            barriers: true,
            shuffles: true,
            freed: true,
            host_pointers: true,
            undeclared: true,
        }
    }
}

impl Default for Detectors {
    /// What costs little: uninitialised reads, barriers, shuffles, freed memory, undeclared accesses.
    fn default() -> Detectors {
        Detectors {
            uninitialised: true,
            barriers: true,
            shuffles: true,
            freed: true,
            undeclared: true,
            ..Detectors::none()
        }
    }
}

/// A word that names no detector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDetector(pub String);

impl fmt::Display for UnknownDetector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        write!(f, "`{}` is no detector: there are `all`, `default`, `none`, and {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownDetector {}

impl FromStr for Detectors {
    type Err = UnknownDetector;

    /// `all`, `default`, `none`, or names with commas between them; a name with `-` in front is switched off. A list that
    /// begins with `-` starts from the default.
    fn from_str(text: &str) -> Result<Detectors, UnknownDetector> {
        let words = || text.split(',').map(str::trim);
        let takes_away = words().next().is_some_and(|word| word.starts_with('-'));
        let mut detectors = if takes_away { Detectors::default() } else { Detectors::none() };
        for word in words() {
            let (name, on) = word.strip_prefix('-').map_or((word, true), |name| (name, false));
            match (name, on) {
                ("all", true) => detectors = Detectors::all(),
                ("default", true) => detectors = Detectors::default(),
                ("none", true) => detectors = Detectors::none(),
                _ => match FIELDS.iter().find(|(field, _)| *field == name) {
                    Some((_, field)) => *field(&mut detectors) = on,
                    None => return Err(UnknownDetector(word.to_string())),
                },
            }
        }
        Ok(detectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detectors_are_named_alone_in_lists_and_taken_away() {
        assert_eq!("all".parse(), Ok(Detectors::all()));
        assert_eq!("none".parse(), Ok(Detectors::none()));
        assert_eq!("all,-unordered".parse(), Ok(Detectors { unordered: false, ..Detectors::all() }));
        assert_eq!("-freed".parse(), Ok(Detectors { freed: false, ..Detectors::default() }));
        for (name, field) in FIELDS {
            let mut only: Detectors = name.parse().expect("listed");
            assert!(*field(&mut only), "{name}");
            *field(&mut only) = false;
            assert_eq!(only, Detectors::none(), "{name} switches on nothing else");
        }
        assert_eq!("races".parse::<Detectors>(), Err(UnknownDetector("races".into())));
        assert_eq!("".parse::<Detectors>(), Err(UnknownDetector(String::new())));
    }
}

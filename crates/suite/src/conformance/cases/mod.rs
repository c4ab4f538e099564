//! The cases, a file for each area.

use super::Listed;
use super::case::Case;

/// A file's list: `list! { area; name, name }` for the functions of these names.
macro_rules! list {
    ($area:literal; $($name:ident),* $(,)?) => {
        /// The cases of this file.
        pub(in crate::conformance::cases) fn all() -> Vec<$crate::conformance::Listed> {
            vec![$($crate::conformance::cases::listed($area, stringify!($name), $name, false)),*]
        }
    };
}
use list;

mod arrays;
mod bodies;
mod bodies_captured;
mod bodies_changed;
mod bodies_updated;
mod captures;
mod conditions;
mod conditions_faults;
mod conditions_life;
mod conditions_set;
mod contexts;
mod data;
mod edges;
mod events;
mod faults;
mod forks;
mod host_memory;
mod host_pools;
mod hosts;
mod images;
mod launches;
mod links;
mod managed;
mod memory_nodes;
mod modules;
mod objects;
mod old_names;
mod operations;
mod pools;
mod streams;
mod texts;
mod textures;
mod two_devices;
mod two_faults;
mod updates;
mod virtual_memory;

/// What a case does.
type Body = fn(&mut Case<'_>);

fn listed(area: &str, name: &str, body: Body, breaks: bool) -> Listed {
    Listed { name: format!("{area}.{name}"), breaks, devices: 1, body }
}

/// All cases of all files.
pub(super) fn all() -> Vec<Listed> {
    let files = [
        arrays::all(),
        host_pools::all(),
        managed::all(),
        textures::all(),
        bodies::all(),
        bodies_captured::all(),
        bodies_changed::all(),
        bodies_updated::all(),
        captures::all(),
        conditions::all(),
        conditions_faults::all(),
        conditions_life::all(),
        conditions_set::all(),
        contexts::all(),
        objects::all(),
        old_names::all(),
        operations::all(),
        virtual_memory::all(),
        data::all(),
        edges::all(),
        events::all(),
        faults::all(),
        forks::all(),
        host_memory::all(),
        hosts::all(),
        images::all(),
        launches::all(),
        links::all(),
        memory_nodes::all(),
        modules::all(),
        pools::all(),
        streams::all(),
        updates::all(),
    ];
    files.into_iter().flatten().collect()
}

/// Those of all files that are about two devices.
pub(super) fn of_two_devices() -> Vec<Listed> {
    let files = [two_devices::all(), two_faults::all()];
    files.into_iter().flatten().map(|case| Listed { devices: 2, ..case }).collect()
}

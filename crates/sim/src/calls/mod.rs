//! The driver calls, a file for each family; [`crate::driver`] is the list of them.
//!
//! Every function here takes the arguments of the C function of its name and the visit in progress. All are unsafe
//! for one reason: they follow the pointers they are given, under the promise that `trait Driver` states once.

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod conditional;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod general;
pub(crate) mod graph;
pub(crate) mod graph_exec;
pub(crate) mod graph_memory;
pub(crate) mod graph_node;
pub(crate) mod image;
pub(crate) mod jit;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod link;
pub(crate) mod log;
pub(crate) mod managed;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod node_params;
pub(crate) mod occupancy;
pub(crate) mod old;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod set;
pub(crate) mod stream;
pub(crate) mod stream_values;
pub(crate) mod texture;
pub(crate) mod user_object;
pub(crate) mod virtual_memory;

//! The driver's objects and the rules between them: pure data, no C pointers followed here.
//!
//! | file | holds |
//! |---|---|
//! | [`table`] | handles that outlive their objects without lying about it |
//! | [`tasks`] | what happens before what |
//! | [`capture`] | the state machine of stream capture |
//! | [`conditional`] | conditions, bodies, and which of them a value chooses |
//! | [`value_ops`] | words that streams write and wait for |
//! | [`graph`] | graphs as templates: nodes and edges |
//! | [`graph_memory`] | memory of allocation nodes: addresses, and what is backed |
//! | [`array`] | arrays: memory by texels |
//! | [`managed`] | advice and prefetches of managed memory |
//! | [`user_object`] | memory of the program that graphs keep alive |
//! | [`virtual_memory`] | memory apart from its addresses |
//! | [`executable`] | instantiated graphs, their launches and updates |
//! | [`work`] | what a node or a stream operation does |
//! | [`library`] | libraries, kernels and links: what belongs to the process |
//! | [`objects`] | contexts, streams, events, modules, pools |

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod conditional;
pub(crate) mod device;
pub(crate) mod executable;
pub(crate) mod graph;
pub(crate) mod graph_memory;
pub(crate) mod library;
pub(crate) mod managed;
pub(crate) mod objects;
pub(crate) mod table;
pub(crate) mod tasks;
pub(crate) mod user_object;
pub(crate) mod value_ops;
pub(crate) mod virtual_memory;
pub(crate) mod work;

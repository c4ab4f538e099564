//! Events for `tracing`, where the feature is on; nothing at all where it is not.
//!
//! `info`: a recording became a graph. `debug`: memory came and went, a node was patched. `trace`: a launch. `error`: the
//! context is lost, with the whole report of the error: a log is often all that is left.

/// An event, if there is anybody to tell.
macro_rules! event {
    ($level:ident, $($rest:tt)*) => {{
        #[cfg(feature = "tracing")]
        ::tracing::$level!(target: "dacapo", $($rest)*);
    }};
}

pub(crate) use event;

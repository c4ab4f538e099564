//! The rows of the table as data.

use std::fmt;

/// What a call does, and so what may go wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NcclRole {
    /// Asks; changes nothing.
    Ask,
    /// Makes something.
    Make,
    /// Ends something.
    Release,
    /// Puts work on a stream, or into the group that is open.
    Enqueue,
    /// Opens or closes a group.
    Group,
}

macro_rules! define_calls {
    ($($symbol:ident [$role:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// An entry point of NCCL: one for each row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(non_camel_case_types, missing_docs, reason = "the header's own names")]
        pub enum NcclCall { $($symbol,)* }

        impl NcclCall {
            /// Every call, in the table's order.
            pub const ALL: &'static [NcclCall] = &[$(NcclCall::$symbol,)*];

            /// What the library exports.
            pub fn symbol(self) -> &'static str {
                match self { $(NcclCall::$symbol => stringify!($symbol),)* }
            }

            /// What the call does.
            pub fn role(self) -> NcclRole {
                match self { $(NcclCall::$symbol => NcclRole::$role,)* }
            }
        }
    };
}

crate::for_each_nccl_call!(define_calls);

impl fmt::Display for NcclCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

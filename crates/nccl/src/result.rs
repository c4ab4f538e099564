//! Result codes: a number that always survives, with a name where it has one.

use std::ffi::c_int;
use std::fmt;

/// What a call of NCCL answered. Any number is a value: a library newer than this table may answer codes it does not name.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[allow(non_camel_case_types, reason = "the header's own name")]
pub struct ncclResult(pub c_int);

macro_rules! define_codes {
    ($($name:ident = $number:literal, $meaning:literal;)*) => {
        #[allow(non_upper_case_globals, missing_docs, reason = "the header's own names")]
        impl ncclResult {
            $(pub const $name: ncclResult = ncclResult($number);)*

            /// The code's name, where it has one.
            pub fn name(self) -> Option<&'static str> {
                match self.0 { $($number => Some(stringify!($name)),)* _ => None }
            }

            /// What the code means, where it has a name.
            pub fn meaning(self) -> Option<&'static str> {
                match self.0 { $($number => Some($meaning),)* _ => None }
            }
        }
    };
}

define_codes! {
    ncclSuccess = 0, "it was done";
    ncclUnhandledCudaError = 1, "a call of CUDA failed inside";
    ncclSystemError = 2, "the operating system refused something, such as a connection";
    ncclInternalError = 3, "the library has a bug, or its memory was overwritten";
    ncclInvalidArgument = 4, "an argument has a value that is not allowed";
    ncclInvalidUsage = 5, "the call is not allowed here, or ranks do not agree";
    ncclRemoteError = 6, "another rank has ended or cannot be reached";
    ncclInProgress = 7, "it goes on in the background";
    ncclTimeout = 8, "it took too long";
}

impl ncclResult {
    /// Whether this is `ncclSuccess`.
    pub fn is_success(self) -> bool {
        self == ncclResult::ncclSuccess
    }
}

impl fmt::Display for ncclResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.meaning()) {
            (Some(name), Some(meaning)) => write!(f, "{name} ({meaning})"),
            _ => write!(f, "ncclResult {}", self.0),
        }
    }
}

impl fmt::Debug for ncclResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "ncclResult({})", self.0),
        }
    }
}

//! What happens when nobody reads on: `dacapo inspect FILE | head -1` ends quietly, as other tools do.

/// Ends the process when it writes to a pipe that was closed.
///
/// Rust's runtime ignores that signal, and `println!` would panic over the error that comes instead.
#[cfg(target_os = "linux")]
pub fn end_quietly_when_closed() {
    unsafe extern "C" {
        fn signal(number: std::ffi::c_int, handler: usize) -> usize;
    }
    // signal(7) and signal.h of Linux.
    const SIGPIPE: std::ffi::c_int = 13;
    const DEFAULT: usize = 0;
    // SAFETY: the signature is C's (a handler is as large as an address), no handler of ours is installed, and no other
    // thread runs yet.
    unsafe { signal(SIGPIPE, DEFAULT) };
}

/// Elsewhere nothing is changed.
#[cfg(not(target_os = "linux"))]
pub fn end_quietly_when_closed() {}

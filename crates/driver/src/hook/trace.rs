//! Writes every call as one line of JSON.
//!
//! ```text
//! {"n":1,"thread":1,"call":"cuMemAlloc_v2","arguments":{"dptr":"0x7ffe0","bytesize":1024},"result":"CUDA_SUCCESS","code":0,"ns":812}
//! ```
//!
//! - `n` counts calls from 1 in the order they began; a line is written when its call returns, so lines of threads that
//!   overlap, and of calls made inside calls, may be out of order.
//! - `thread` numbers threads from 1 in the order this process first traced them.
//! - Pointers, handles and device addresses are strings in base 16, because JSON readers lose the low bits of large
//!   numbers; all other arguments are numbers. Pointers are not followed.
//! - `result` is null for a code without a name; `code` is always the number.
//! - A line that cannot be written does not disturb the call: it is counted in [`Trace::lost`].

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::{Argument, Hook, Notation};
use crate::{CUresult, Call};

/// A hook that writes JSON lines.
pub struct Trace {
    writer: Mutex<Box<dyn Write + Send>>,
    begun: AtomicU64,
    lost: AtomicU64,
}

impl Trace {
    /// Writes to `writer`, one `write_all` for each line.
    pub fn to(writer: impl Write + Send + 'static) -> Trace {
        Trace { writer: Mutex::new(Box::new(writer)), begun: AtomicU64::new(0), lost: AtomicU64::new(0) }
    }

    /// How many lines could not be written.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn write(&self, line: &str) {
        // A writer that panicked once is still a writer; a half line of its is not worth losing the rest for.
        let mut writer = self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if writer.write_all(line.as_bytes()).and_then(|()| writer.flush()).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("begun", &self.begun).field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Hook for Trace {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let n = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let start = Instant::now();
        let result = run();
        let ns = start.elapsed().as_nanos();
        self.write(&line(n, call, arguments, result, ns));
        result
    }
}

/// Nothing in a line needs escapes: names are C identifiers and all else is numbers.
fn line(n: u64, call: Call, arguments: &[Argument], result: CUresult, ns: u128) -> String {
    let mut line = String::with_capacity(256);
    // Writing to a String cannot fail.
    let _ = write!(line, "{{\"n\":{n},\"thread\":{},\"call\":\"{}\",\"arguments\":{{", thread_number(), call.symbol());
    for (at, argument) in arguments.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let quote = if argument.notation() == Notation::Address { "\"" } else { "" };
        let _ = write!(line, "{comma}\"{}\":{quote}{argument}{quote}", argument.name);
    }
    let _ = match result.name() {
        Some(name) => write!(line, "}},\"result\":\"{name}\""),
        None => write!(line, "}},\"result\":null"),
    };
    let _ = writeln!(line, ",\"code\":{},\"ns\":{ns}}}", result.0);
    line
}

fn thread_number() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    thread_local!(static NUMBER: Cell<u64> = const { Cell::new(0) });
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(THREADS.fetch_add(1, Ordering::Relaxed) + 1);
        }
        number.get()
    })
}

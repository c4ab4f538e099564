//! A context that a fault has broken, and the launches that may have done it.
//!
//! A GPU reports a fault late and without a name. So each stream remembers the names of its last launches; when a call
//! answers with a sticky code, those that are not known to be finished are listed.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_driver::DriverError;

use crate::device::Device;
use crate::error::{Error, ErrorKind};

/// What a launch is called in errors.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) at: Option<&'static Location<'static>>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.label.is_empty() {
            write!(f, " `{}`", self.label)?;
        }
        match self.at {
            Some(at) => write!(f, " at {at}"),
            None => Ok(()),
        }
    }
}

/// The launches of a stream since it was last known to be idle, the same one in a row only once.
#[derive(Default)]
#[repr(C)] // the first is what a launch looks at
pub(crate) struct Notes {
    /// Where the newest name is, so that a launch of the same graph again takes no lock; with [`IDLE`] once all launches are
    /// over. The list holds what it names, so the address is not another graph's.
    newest: AtomicUsize,
    /// The newest is the last of it. Names of launches that are over stay until the next one comes.
    list: Mutex<VecDeque<Arc<Named>>>,
}

/// In an address, whose lowest bit is never set.
const IDLE: usize = 1;

/// As many as a person reads.
const NOTES_MAX: usize = 16;

impl Notes {
    #[inline]
    pub(crate) fn push(&self, name: &Arc<Named>) {
        let address = Arc::as_ptr(name).addr();
        if self.newest.load(Ordering::Relaxed) != address {
            self.push_other(name, address);
        }
    }

    #[inline(never)]
    fn push_other(&self, name: &Arc<Named>, address: usize) {
        let again = self.newest.compare_exchange(address | IDLE, address, Ordering::Relaxed, Ordering::Relaxed);
        if again.is_ok() {
            return;
        }
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        // In one step: a launch of the old newest either comes before it, and is not idle, or finds another one here.
        let before = self.newest.swap(address, Ordering::Relaxed);
        if before & IDLE != 0 {
            list.clear();
        }
        if list.len() == NOTES_MAX {
            list.pop_front();
        }
        list.push_back(name.clone());
    }

    /// Everything that was launched is over.
    pub(crate) fn idle(&self) {
        let newest = self.newest.load(Ordering::Relaxed);
        if newest != 0 && newest & IDLE == 0 {
            self.newest.fetch_or(IDLE, Ordering::Relaxed);
        }
    }

    fn names(&self) -> Vec<String> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        match self.newest.load(Ordering::Relaxed) & IDLE {
            0 => list.iter().map(|name| name.to_string()).collect(),
            _ => Vec::new(),
        }
    }
}

/// What is answered once the context is broken.
pub(crate) struct Lost {
    first: DriverError,
    in_flight: Vec<String>,
    findings: Vec<String>,
}

impl Lost {
    #[cfg(feature = "tracing")]
    pub(crate) fn first(&self) -> DriverError {
        self.first
    }

    pub(crate) fn error(&self) -> Error {
        let (first, in_flight, findings) = (self.first, self.in_flight.clone(), self.findings.clone());
        Error::new(ErrorKind::Lost { first, in_flight, findings })
    }
}

impl Device {
    /// Remembers that the context is broken, with what was in flight. The first to notice decides the text.
    pub(crate) fn lose(&self, first: DriverError) -> Error {
        let lost = self.0.lost.get_or_init(|| {
            let lanes = self.0.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let in_flight = lanes.iter().flat_map(|lane| lane.stream().notes.names()).collect();
            Lost { first, in_flight, findings: self.findings() }
        });
        self.0.is_lost.store(true, Ordering::Release);
        lost.error()
    }
}

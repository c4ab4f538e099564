//! Stand-ins for the parts of NVRTC and nvJitLink that make machine code: PTX is handed over in the place of a cubin.
//!
//! Programs ask these two libraries of NVIDIA's for cubins, which nobody can interpret. `dacapo run` preloads this library,
//! and sets [`VARIABLE`]. Then:
//!
//! - The program finds NVIDIA's libraries by itself, as ever, and they compile. Where they are not there, nothing is.
//! - When it looks up one of the names below, `dlsym` gives it a function of ours, if the library has one of that name, and
//!   remembers the library's own. All other names, and all other libraries, get what they would have got.
//! - What is handed over is a container with PTX in it (`dacapo_sim::fatbin`), marked as linked, which the software driver
//!   loads and links as it would a cubin. The first time that this happens the findings say so.
//!
//! Without the variable everything passes through unchanged. A process may have several versions of one library: each has
//! functions of ours for itself ([`Places`]), which ask that one.
//!
//! | name | what differs |
//! |---|---|
//! | `nvrtcGetCUBINSize`, `nvrtcGetCUBIN` | PTX, where there is a cubin |
//! | `nvJitLinkCreate` | with `-lto`, also `-ptx` |
//! | `nvJitLinkAddData`, `nvJitLinkAddFile` | PTX is kept here; link-time code goes to NVIDIA's linker, which makes PTX of it |
//! | `nvJitLinkComplete`, `nvJitLinkGetLinkedCubin`, .. | the texts, linked |

mod lookup;
mod nvjitlink;
mod nvrtc;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use dacapo_sim::fatbin::{LINKED, Packing, Written, write};

/// Set to 1 by `dacapo run`.
pub const VARIABLE: &str = "DACAPO_STAND_INS";

/// Were stand-ins asked for?
fn asked_for() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "1")
}

/// A function of NVIDIA's that one of ours stands before.
pub(crate) struct Real(AtomicUsize);

impl Real {
    const fn new() -> Real {
        Real(AtomicUsize::new(0))
    }

    fn set(&self, address: usize) {
        self.0.store(address, Ordering::Release);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// How many libraries of one kind are told apart.
const PLACES: usize = 8;

/// Which of our functions stand before which library.
struct Places(Mutex<([usize; PLACES], usize)>);

impl Places {
    const fn new() -> Places {
        Places(Mutex::new(([0; PLACES], 0)))
    }

    /// The place of the library that has a function at `address`. A new one takes the oldest place: a program that loads
    /// and unloads libraries needs no more than it has at a time.
    fn of(&self, address: usize) -> usize {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, next) = &mut *places;
        if let Some(at) = known.iter().position(|known| *known == address) {
            return at;
        }
        let at = *next;
        *next = (at + 1) % PLACES;
        known[at] = address;
        at
    }
}

/// An image of one text.
fn image_of(name: &str, text: &[u8]) -> Vec<u8> {
    let stored = text.split(|byte| *byte == 0).next().unwrap_or(text);
    write(&[Written { kind: 1, architecture: 90, flags: LINKED, name, stored, packing: Packing::Plain }])
}

/// Says once in each process what is done here.
fn tell() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        crate::software::findings().note(
            "the program asked NVRTC or nvJitLink for machine code, and was handed PTX in its place: that is what runs here",
        );
    });
}

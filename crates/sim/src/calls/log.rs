//! Where the compiler's and the linker's words go: buffers of the program, named by options.

use std::ffi::c_void;

use dacapo_driver::types::CUjit_option;

/// Numbers of the options: the buffer, and its size, which becomes the length of what was written.
const INFO: (u32, u32) = (3, 4);
const ERROR: (u32, u32) = (5, 6);

/// The buffers of one call, or of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Logs {
    error: Option<Buffer>,
    info: Option<Buffer>,
}

#[derive(Clone, Copy, Debug)]
struct Buffer {
    at: usize,
    room: usize,
    /// Where the length goes.
    length_at: usize,
}

impl Logs {
    /// The buffers among some options.
    ///
    /// # Safety
    ///
    /// - `values` is the program's array that `given` was read from.
    /// - As long as these logs are written, it is valid for writing, and so are the buffers, each for the size beside it.
    pub(crate) unsafe fn of(numbers: &[CUjit_option], given: &[*mut c_void], values: *mut *mut c_void) -> Logs {
        let buffer = |(buffer, size): (u32, u32)| {
            let at = |wanted| numbers.iter().position(|number| *number == wanted);
            let (buffer_at, size_at) = (at(buffer)?, at(size)?);
            // An `unsigned int` in the place of a pointer: what stands above its 32 bits means nothing.
            let room = given[size_at] as usize as u32 as usize;
            let at = given[buffer_at] as usize;
            (room > 0 && at != 0).then_some(Buffer { at, room, length_at: values.wrapping_add(size_at) as usize })
        };
        Logs { error: buffer(ERROR), info: buffer(INFO) }
    }

    /// Writes the words, cut to what there is room for.
    pub(crate) fn write(&self, error: &str, info: &str) {
        for (buffer, words) in [(self.error, error), (self.info, info)] {
            let Some(buffer) = buffer else { continue };
            let length = words.len().min(buffer.room - 1);
            let target = buffer.at as *mut u8;
            // SAFETY: a buffer of `room` bytes by the promise of `of`, and `length` and its NUL fit; the array of values
            // is written back as the pages of these calls say.
            unsafe {
                std::ptr::copy_nonoverlapping(words.as_ptr(), target, length);
                target.add(length).write(0);
                // What was cut fills the buffer, and counts so.
                let told = if words.len() < buffer.room { length } else { buffer.room };
                (buffer.length_at as *mut *mut c_void).write_unaligned(told as *mut c_void);
            }
        }
    }
}

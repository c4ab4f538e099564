//! `dlsym`, as the program sees it while this library is preloaded.
//!
//! The loader's own `dlsym` looks at its return address to know who asks (`RTLD_NEXT`, `RTLD_DEFAULT`), so it is jumped to and
//! not called: the asker is still the program.

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod interpose {
    use std::ffi::{CStr, c_char, c_void};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::stand_in::{asked_for, nvjitlink, nvrtc};

    unsafe extern "C" {
        fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    }

    type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

    const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

    /// What to do with a lookup: jump to `address`, or, where `is_answer`, answer it.
    #[repr(C)]
    struct Outcome {
        address: usize,
        is_answer: usize,
    }

    /// The loader's own.
    fn real() -> usize {
        static REAL: AtomicUsize = AtomicUsize::new(0);
        let known = REAL.load(Ordering::Acquire);
        if known != 0 {
            return known;
        }
        // Since glibc 2.34 it is in libc itself under a version of its own; the older one is there for ever.
        let found = [c"GLIBC_2.2.5", c"GLIBC_2.34"].into_iter().find_map(|version| {
            // SAFETY: C strings; it looks behind this library.
            let address = unsafe { dlvsym(RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) } as usize;
            (address != 0).then_some(address)
        });
        let found = found.unwrap_or(0);
        REAL.store(found, Ordering::Release);
        found
    }

    extern "C" fn resolve(handle: *mut c_void, name: *const c_char) -> Outcome {
        let real = real();
        if real == 0 {
            return Outcome { address: 0, is_answer: 1 };
        }
        let pass = Outcome { address: real, is_answer: 0 };
        // Programs look up names before `main`, and in places where nothing may be allocated: look at two letters first.
        // SAFETY: a C string, by dlsym's page.
        let is_candidate = !name.is_null()
            && unsafe {
                let at = if *name as u8 == b'_' { 2 } else { 0 };
                (at == 0 || *name.add(1) as u8 == b'_')
                    && *name.add(at) as u8 == b'n'
                    && *name.add(at + 1) as u8 == b'v'
            };
        if !is_candidate || !asked_for() {
            return pass;
        }
        // SAFETY: a C string, by dlsym's page.
        let Ok(text) = unsafe { CStr::from_ptr(name) }.to_str() else { return pass };
        let find = |name: &CStr| {
            // SAFETY: the address of dlsym, and the arguments of this lookup.
            unsafe { std::mem::transmute::<usize, Dlsym>(real)(handle, name.as_ptr()) as usize }
        };
        let behind = |name: &CStr| {
            // SAFETY: as above.
            unsafe { std::mem::transmute::<usize, Dlsym>(real)(RTLD_NEXT, name.as_ptr()) as usize }
        };
        let ours = nvrtc::stand_in(text, find, behind).or_else(|| nvjitlink::stand_in(text, find));
        match ours {
            Some(address) => Outcome { address, is_answer: 1 },
            None => pass,
        }
    }

    /// # Safety
    ///
    /// As `dlsym`'s page says.
    #[cfg(not(test))]
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
        std::arch::naked_asm!(
            "push rdi",
            "push rsi",
            "sub rsp, 8",
            "call {resolve}",
            "add rsp, 8",
            "pop rsi",
            "pop rdi",
            "test rdx, rdx",
            "jnz 2f",
            "jmp rax",
            "2:",
            "ret",
            resolve = sym resolve,
        )
    }

    /// The function called `name` of whatever library comes behind this one.
    pub fn next(name: &CStr) -> usize {
        let real = real();
        if real == 0 {
            return 0;
        }
        // SAFETY: the address of dlsym, and a C string.
        unsafe { std::mem::transmute::<usize, Dlsym>(real)(RTLD_NEXT, name.as_ptr()) as usize }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn other_names_are_passed_on() {
            for name in [c"malloc", c"nvrtcVersion", c"_", c"", c"__n"] {
                let outcome = resolve(std::ptr::null_mut(), name.as_ptr());
                assert_eq!((outcome.address, outcome.is_answer), (real(), 0), "{name:?}");
            }
            assert_ne!(real(), 0);
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
pub(super) use interpose::next;

/// Elsewhere nothing is stood before.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
pub(super) fn next(_name: &std::ffi::CStr) -> usize {
    0
}

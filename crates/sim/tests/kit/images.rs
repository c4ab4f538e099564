//! Texts and images for tests of what is loaded and linked.

use std::ffi::{CString, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};

use super::{Device, OK, ok};

pub const HEAD: &str = ".version 8.0\n.target sm_70\n.address_size 64\n";

/// A kernel that stores what `body` leaves in `%r1`.
pub fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 out) {{
            .reg .b64 %rd<9>; .reg .b32 %r<9>; ld.param.u64 %rd1, [out]; {body} st.global.u32 [%rd1], %r1; ret;
        }}\n"
    )
}

/// A text with a kernel `k` that stores `value`.
pub fn alone(value: u32) -> String {
    format!("{HEAD}{}", kernel("k", &format!("mov.u32 %r1, {value};")))
}

/// A text with a kernel `k` that stores what `f` of another text gives.
pub fn caller() -> String {
    let call = "{ .param .b32 r; call.uni (r), f, (); ld.param.b32 %r1, [r]; }";
    format!("{HEAD}.extern .func (.param .b32 r) f();\n{}", kernel("k", call))
}

/// A text with a function `f` that gives `value`.
pub fn definition(linkage: &str, value: u32) -> String {
    format!(
        "{HEAD}{linkage} .func (.param .b32 r) f() {{
            .reg .b32 %r<2>; mov.u32 %r1, {value}; st.param.b32 [r], %r1; ret;
        }}\n"
    )
}

/// One of the fat binaries that NVIDIA's `fatbinary` made of `fatbin/k.ptx`, whose `k` stores 7.
pub fn fat(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fatbin/{name}.fatbin", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Device {
    /// Loads an image by its address; behind it there is nothing but zeros.
    pub fn load(&self, image: &[u8]) -> Result<CUmodule, CUresult> {
        let mut image = image.to_vec();
        image.extend([0; 64]);
        let mut module = CUmodule::NULL;
        // SAFETY: an image with a NUL behind it, and a valid out pointer.
        match unsafe { self.cuModuleLoadData(&mut module, image.as_ptr().cast()) } {
            OK => Ok(module),
            code => Err(code),
        }
    }

    /// What the kernel `name` of a module stores.
    #[track_caller]
    pub fn stored_by(&self, module: CUmodule, name: &str) -> u32 {
        self.stored(self.function(module, name))
    }

    /// What a kernel stores.
    #[track_caller]
    pub fn stored(&self, function: CUfunction) -> u32 {
        let out = self.zeros(1);
        ok(self.launch(function, CUstream::NULL, &[out]));
        self.read(out)
    }

    /// A library of an image.
    #[track_caller]
    pub fn library(&self, image: *const c_void) -> CUlibrary {
        let mut library = CUlibrary::NULL;
        let (none, nothing) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: an image, no options, and a valid out pointer.
        ok(unsafe { self.cuLibraryLoadData(&mut library, image, none, nothing, 0, none, nothing, 0) });
        library
    }

    pub fn kernel(&self, library: CUlibrary, name: &str) -> Result<CUkernel, CUresult> {
        let name = CString::new(name).expect("no NUL");
        let mut kernel = CUkernel::NULL;
        // SAFETY: a C string and a valid out pointer.
        match unsafe { self.cuLibraryGetKernel(&mut kernel, library, name.as_ptr()) } {
            OK => Ok(kernel),
            code => Err(code),
        }
    }
}

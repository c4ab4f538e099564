//! Verbs of links, and of images that are no plain text.

use std::ffi::{CString, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::Case;
use super::names::Told;

/// A link, and where its words go.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub state: CUlinkState,
    log: Option<&'static [u8; LOG_BYTES]>,
}

const LOG_BYTES: usize = 4096;

impl Case<'_> {
    /// `cuLinkCreate`, with or without a buffer for errors.
    pub(super) fn link(&mut self, with_log: bool) -> Link {
        let mut state = CUlinkState::NULL;
        // A driver writes into them as long as the link lives, and a case may leave it alive: they are never freed.
        let log: &'static mut [u8; LOG_BYTES] = Box::leak(Box::new([0; LOG_BYTES]));
        let address = log.as_mut_ptr();
        let values = Box::leak(Box::new([address.cast::<c_void>(), LOG_BYTES as *mut c_void]));
        let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let count = if with_log { 2 } else { 0 };
        // SAFETY: as many values as options, and a buffer that lives on.
        let code = unsafe { self.driver.cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut state) };
        let name = if code.is_success() { self.keep(state) } else { String::new() };
        let told = if with_log { "with an error log" } else { "no options" };
        self.said("cuLinkCreate", &[told.to_string()], code, &name);
        Link { state, log: with_log.then_some(log) }
    }

    /// `cuLinkAddData` of `bytes`, which the transcript calls `what`.
    pub(super) fn add(&mut self, link: Link, kind: u32, what: &str, bytes: &[u8]) -> CUresult {
        let name = CString::new(what).unwrap_or_default();
        let told = [link.state.told(&mut self.names), kind.to_string(), what.to_string()];
        let (data, null) = (bytes.as_ptr().cast_mut().cast(), std::ptr::null_mut());
        // SAFETY: as many bytes as it says, a name with a NUL at its end, and no options.
        let code = unsafe {
            let name = name.as_ptr();
            self.driver.cuLinkAddData_v2(link.state, kind, data, bytes.len(), name, 0, null, std::ptr::null_mut())
        };
        self.said("cuLinkAddData", &told, code, "")
    }

    /// [`Case::add`] of PTX.
    pub(super) fn add_text(&mut self, link: Link, what: &str, text: &str) -> CUresult {
        self.add(link, CU_JIT_INPUT_PTX, what, format!("{text}\0").as_bytes())
    }

    /// `cuLinkAddFile`
    pub(super) fn add_file(&mut self, link: Link, kind: u32, path: &str) -> CUresult {
        let name = CString::new(path).unwrap_or_default();
        let told = [link.state.told(&mut self.names), kind.to_string(), path.to_string()];
        let null = std::ptr::null_mut();
        // SAFETY: a path with a NUL at its end, and no options.
        let code =
            unsafe { self.driver.cuLinkAddFile_v2(link.state, kind, name.as_ptr(), 0, null, std::ptr::null_mut()) };
        self.said("cuLinkAddFile", &told, code, "")
    }

    /// `cuLinkComplete`; the image lives as long as the link.
    pub(super) fn complete(&mut self, link: Link) -> Option<*const c_void> {
        let (told, mut image, mut bytes) = ([link.state.told(&mut self.names)], std::ptr::null_mut(), 0usize);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuLinkComplete(link.state, &mut image, &mut bytes) };
        let gave = if image.is_null() || bytes == 0 { "nothing" } else { "an image" };
        self.said("cuLinkComplete", &told, code, gave);
        (code.is_success() && !image.is_null()).then_some(image.cast_const())
    }

    /// Whether anything was written into the error log.
    pub(super) fn link_log(&mut self, link: Link) {
        let Some(log) = link.log else { return };
        // SAFETY: the buffer is never freed; the driver writes it, so the read is volatile.
        let first = unsafe { log.as_ptr().read_volatile() };
        self.say(format!("error log: {}", if first == 0 { "empty" } else { "something" }));
    }

    /// `cuLinkDestroy`
    pub(super) fn link_destroy(&mut self, link: Link) -> CUresult {
        let told = [link.state.told(&mut self.names)];
        self.gone("link", link.state.bits());
        // SAFETY: any link that the case has made, once.
        let code = unsafe { self.driver.cuLinkDestroy(link.state) };
        self.said("cuLinkDestroy", &told, code, "")
    }

    /// `cuModuleLoadData` of an image in memory; `what` stands for it in the transcript.
    pub(super) fn load_image(&mut self, what: &str, image: *const c_void) -> CUmodule {
        let mut module = CUmodule::NULL;
        // SAFETY: an image that lives; `module` is valid for the write.
        let code = unsafe { self.driver.cuModuleLoadData(&mut module, image) };
        let name = if code.is_success() { self.keep(module) } else { String::new() };
        self.said("cuModuleLoadData", &[what.to_string()], code, &name);
        module
    }

    /// `cuModuleLoadFatBinary`
    pub(super) fn load_fat(&mut self, what: &str, image: &[u8]) -> CUmodule {
        let mut module = CUmodule::NULL;
        // SAFETY: a whole image; `module` is valid for the write.
        let code = unsafe { self.driver.cuModuleLoadFatBinary(&mut module, image.as_ptr().cast()) };
        let name = if code.is_success() { self.keep(module) } else { String::new() };
        self.said("cuModuleLoadFatBinary", &[what.to_string()], code, &name);
        module
    }

    /// `cuLibraryLoadData` of an image in memory, without options.
    pub(super) fn library_image(&mut self, what: &str, image: *const c_void) -> CUlibrary {
        let (mut library, none, null) = (CUlibrary::NULL, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: an image that lives, and no options.
        let code = unsafe { self.driver.cuLibraryLoadData(&mut library, image, none, null, 0, none, null, 0) };
        let name = if code.is_success() { self.keep(library) } else { String::new() };
        self.said("cuLibraryLoadData", &[what.to_string()], code, &name);
        library
    }

    /// What the kernel `name` of a module stores through its only parameter.
    pub(super) fn stored_by(&mut self, module: CUmodule, name: &str) {
        if module.is_null() {
            return;
        }
        let function = self.get_function(module, name);
        self.stored(function, name);
    }

    /// What a kernel stores through its only parameter.
    pub(super) fn stored(&mut self, function: CUfunction, name: &str) {
        if function.is_null() {
            return;
        }
        let (mut out, mut word) = (0u64, 0u32);
        // SAFETY: four bytes of device memory, one argument, and a word of this frame.
        let code = unsafe {
            self.driver.cuMemAlloc_v2(&mut out, 4);
            self.driver.cuMemsetD8_v2(out, 0, 4);
            let (mut arguments, none) = ([(&raw mut out).cast::<c_void>()], std::ptr::null_mut());
            let (stream, arguments) = (CUstream::NULL, arguments.as_mut_ptr());
            let code = self.driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, none);
            self.driver.cuMemcpyDtoH_v2((&raw mut word).cast(), out, 4);
            self.driver.cuMemFree_v2(out);
            code
        };
        self.said("cuLaunchKernel", &[name.to_string()], code, &format!("stores {word}"));
    }

    /// `cuLibraryGetGlobal`, with or without a place for the address and one for the size.
    pub(super) fn library_global(&mut self, library: CUlibrary, name: &str, address: bool, size: bool) -> u64 {
        let (c_name, mut at, mut bytes) = (CString::new(name).unwrap_or_default(), 0u64, 0usize);
        let told = [library.told(&mut self.names), name.to_string(), address.to_string(), size.to_string()];
        let null = std::ptr::null_mut();
        let (to, size) = (if address { &raw mut at } else { null }, if size { &raw mut bytes } else { null.cast() });
        // SAFETY: a name with a NUL at its end; null or valid for the write.
        let code = unsafe { self.driver.cuLibraryGetGlobal(to, size, library, c_name.as_ptr()) };
        self.said("cuLibraryGetGlobal", &told, code, &format!("{bytes} bytes"));
        at
    }

    /// `cuLibraryGetUnifiedFunction`
    pub(super) fn library_unified(&mut self, library: CUlibrary, name: &str) {
        let (c_name, mut at) = (CString::new(name).unwrap_or_default(), std::ptr::null_mut());
        let told = [library.told(&mut self.names), name.to_string()];
        // SAFETY: a name with a NUL at its end; `at` is valid for the write.
        let code = unsafe { self.driver.cuLibraryGetUnifiedFunction(&mut at, library, c_name.as_ptr()) };
        self.said("cuLibraryGetUnifiedFunction", &told, code, "");
    }
}

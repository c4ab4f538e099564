//! Links, fat binaries and libraries.

use std::ffi::{CString, c_void};

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Program, answer};

/// A text with a kernel `caller`, which calls `next` of another text.
pub(crate) const CALLER: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.extern .func (.param .b32 result) next(.param .b32 number);
.visible .entry caller(.param .u64 x)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .param .b32 a;
    .param .b32 b;
    ld.param.u64 %rd1, [x];
    ld.global.u32 %r1, [%rd1];
    st.param.b32 [a], %r1;
    call.uni (b), next, (a);
    ld.param.b32 %r2, [b];
    st.global.u32 [%rd1], %r2;
    ret;
}
"#;

/// A text with a function `next`, which gives one more.
pub(crate) const NEXT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.visible .func (.param .b32 result) next(.param .b32 number)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [number];
    add.u32 %r2, %r1, 1;
    st.param.b32 [result], %r2;
    ret;
}
"#;

/// The image of a link, which lives as long as that.
pub(crate) struct Image(pub(crate) *const c_void);

impl Program {
    /// `cuLinkCreate` without options.
    pub(crate) fn link(&self) -> Answer<CUlinkState> {
        let (mut state, none) = (CUlinkState::NULL, std::ptr::null_mut());
        // SAFETY: no options, and the out pointer is to a local.
        answer(unsafe { self.driver.cuLinkCreate_v2(0, none, std::ptr::null_mut(), &mut state) }).map(|()| state)
    }

    /// `cuLinkAddData` of what `kind` says.
    pub(crate) fn add(&self, link: CUlinkState, kind: u32, name: &str, bytes: &[u8]) -> Answer {
        let name = CString::new(name).expect("a name without a NUL");
        let (data, none) = (bytes.as_ptr().cast_mut().cast(), std::ptr::null_mut());
        // SAFETY: as many bytes as it says, a name with a NUL at its end, no options.
        answer(unsafe {
            let name = name.as_ptr();
            self.driver.cuLinkAddData_v2(link, kind, data, bytes.len(), name, 0, none, std::ptr::null_mut())
        })
    }

    /// [`Program::add`] of the lines of a PTX text that belong to this way, with the zero at its end that a driver looks for.
    pub(crate) fn add_text(&self, link: CUlinkState, name: &str, text: &str) -> Answer {
        self.add(link, CU_JIT_INPUT_PTX, name, format!("{}\0", self.way.ptx(text)).as_bytes())
    }

    /// `cuLinkComplete`.
    pub(crate) fn complete(&self, link: CUlinkState) -> Answer<Image> {
        let (mut image, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: both out pointers are to locals.
        answer(unsafe { self.driver.cuLinkComplete(link, &mut image, &mut bytes) }).map(|()| Image(image))
    }

    /// `cuLinkDestroy`.
    pub(crate) fn destroy_link(&self, link: CUlinkState) -> Answer {
        // SAFETY: the driver looks the handle up.
        answer(unsafe { self.driver.cuLinkDestroy(link) })
    }

    /// `cuModuleLoadData` of an image that is no text.
    pub(crate) fn load_image(&self, Image(image): &Image) -> Answer<CUmodule> {
        let mut module = CUmodule::NULL;
        // SAFETY: a whole image that lives, and the out pointer is to a local.
        answer(unsafe { self.driver.cuModuleLoadData(&mut module, *image) }).map(|()| module)
    }

    /// `cuLibraryLoadData` of an image without options.
    pub(crate) fn library(&self, Image(image): &Image) -> Answer<CUlibrary> {
        let (mut library, none, null) = (CUlibrary::NULL, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a whole image that lives, no options, and the out pointer is to a local.
        let code = unsafe { self.driver.cuLibraryLoadData(&mut library, *image, none, null, 0, none, null, 0) };
        answer(code).map(|()| library)
    }

    /// `cuLibraryGetKernel`, as a function that can be launched.
    pub(crate) fn library_kernel(&self, library: CUlibrary, name: &str) -> Answer<CUfunction> {
        let (name, mut kernel) = (CString::new(name).expect("a name without a NUL"), CUkernel::NULL);
        // SAFETY: the name is text with a NUL at its end, and the out pointer is to a local.
        let code = unsafe { self.driver.cuLibraryGetKernel(&mut kernel, library, name.as_ptr()) };
        answer(code).map(|()| CUfunction::from_bits(kernel.bits()))
    }

    /// `cuLibraryUnload`.
    pub(crate) fn unload_library(&self, library: CUlibrary) -> Answer {
        // SAFETY: the driver looks the handle up.
        answer(unsafe { self.driver.cuLibraryUnload(library) })
    }
}

/// A container that NVIDIA's `fatbinary` made, with zstd in it. Its kernel `k` stores 7.
pub(crate) const PACKED: &[u8] = include_bytes!("../../../../sim/tests/fatbin/zstd.fatbin");

/// A container with texts for architectures, and machine code for others.
pub(crate) fn fat(texts: &[(u32, &str)], machine_code: &[u32]) -> Vec<u8> {
    use dacapo_sim::fatbin::{Packing, Written, write};
    // A header of ELF, which no device looks into that it is not for.
    const CODE: &[u8] = b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0\x02\0\xbe\0";
    let entry = |kind, architecture, stored| {
        let (flags, name, packing) = (0, "", Packing::Plain);
        Written { kind, architecture, flags, name, stored, packing }
    };
    let terminated: Vec<(u32, String)> = texts.iter().map(|(of, text)| (*of, format!("{text}\0"))).collect();
    let mut entries: Vec<Written<'_>> = machine_code.iter().map(|of| entry(2, *of, CODE)).collect();
    entries.extend(terminated.iter().map(|(of, text)| entry(1, *of, text.as_bytes())));
    write(&entries)
}

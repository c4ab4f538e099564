//! Verbs of modules, functions and occupancy.

use std::ffi::{CStr, CString, c_char, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::Case;
use super::names::Told;
use super::verbs::{acts, asks};

acts! {
    fn func_load(function: CUfunction) = cuFuncLoad(function);
    fn set_func_attribute(function: CUfunction, attribute: u32, value: i32) = cuFuncSetAttribute(function, attribute, value);
    fn kernel_cache(kernel: CUkernel, config: u32, device: i32) = cuKernelSetCacheConfig(kernel, config, device);
    fn func_cache(function: CUfunction, config: u32) = cuFuncSetCacheConfig(function, config);
}

asks! {
    fn function_count(module: CUmodule) -> count: u32 = cuModuleGetFunctionCount(&mut count, module);
    fn loading_mode() -> mode: u32 = cuModuleGetLoadingMode(&mut mode);
    fn func_attribute(function: CUfunction, attribute: u32) -> value: i32 = cuFuncGetAttribute(&mut value, attribute, function);
    fn func_module(function: CUfunction) -> module: CUmodule = cuFuncGetModule(&mut module, function);
    fn is_loaded(function: CUfunction) -> state: u32 = cuFuncIsLoaded(&mut state, function);
    fn library_module(library: CUlibrary) -> module: CUmodule = cuLibraryGetModule(&mut module, library);
    fn library_count(library: CUlibrary) -> count: u32 = cuLibraryGetKernelCount(&mut count, library);
    fn kernel_library(kernel: CUkernel) -> library: CUlibrary = cuKernelGetLibrary(&mut library, kernel);
    fn kernel_function(kernel: CUkernel) -> function: CUfunction = cuKernelGetFunction(&mut function, kernel);
    fn blocks_per_sm(function: CUfunction, block: i32, shared: usize) -> blocks: i32 = cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, block, shared);
    fn blocks_per_sm_with(function: CUfunction, block: i32, shared: usize, flags: u32) -> blocks: i32 = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, function, block, shared, flags);
    fn shared_left(function: CUfunction, blocks: i32, block: i32) -> bytes: usize = cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, function, blocks, block);
}

/// What the driver's text pointers say.
fn text(pointer: *const c_char) -> String {
    match pointer.is_null() {
        true => "nothing".into(),
        // SAFETY: the driver's names end with a NUL and live as long as what they name.
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
    }
}

impl Case<'_> {
    /// `cuModuleLoadData` of PTX; `what` stands for it in the transcript.
    pub(super) fn load(&mut self, what: &str, ptx: &str) -> CUmodule {
        let (image, mut module) = (CString::new(ptx).unwrap_or_default(), CUmodule::NULL);
        // SAFETY: a text with a NUL at its end; `module` is valid for the write.
        let code = unsafe { self.driver.cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        let name = if code.is_success() { self.keep(module) } else { String::new() };
        self.said("cuModuleLoadData", &[what.to_string()], code, &name);
        module
    }

    /// `cuModuleLoadDataEx` with two log buffers and these options; says whether the logs are empty.
    pub(super) fn load_with(&mut self, what: &str, ptx: &str, options: &[(u32, u64)]) -> CUmodule {
        let (image, mut module) = (CString::new(ptx).unwrap_or_default(), CUmodule::NULL);
        let (mut info, mut error) = ([0u8; 4096], [0u8; 4096]);
        let mut numbers = vec![
            CU_JIT_INFO_LOG_BUFFER,
            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            CU_JIT_ERROR_LOG_BUFFER,
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let bytes = 4096usize as *mut c_void;
        let mut values: Vec<*mut c_void> = vec![info.as_mut_ptr().cast(), bytes, error.as_mut_ptr().cast(), bytes];
        for &(number, value) in options {
            numbers.push(number);
            values.push(value as usize as *mut c_void);
        }
        let count = numbers.len() as u32;
        // SAFETY: as many values as options; the buffers are as long as they say and live until the call returns.
        let code = unsafe {
            let (numbers, values) = (numbers.as_mut_ptr(), values.as_mut_ptr());
            self.driver.cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), count, numbers, values)
        };
        let name = if code.is_success() { self.keep(module) } else { String::new() };
        self.said("cuModuleLoadDataEx", &[what.to_string(), format!("options {options:?}")], code, &name);
        let emptiness = |log: &[u8]| if log[0] == 0 { "empty" } else { "something" };
        let line = format!("info log: {}, error log: {}", emptiness(&info), emptiness(&error));
        self.say(line);
        module
    }

    /// `cuModuleGetFunction`
    pub(super) fn get_function(&mut self, module: CUmodule, name: &str) -> CUfunction {
        let (c_name, mut function) = (CString::new(name).unwrap_or_default(), CUfunction::NULL);
        let told = [module.told(&mut self.names), name.to_string()];
        // SAFETY: the name ends with a NUL; `function` is valid for the write.
        let code = unsafe { self.driver.cuModuleGetFunction(&mut function, module, c_name.as_ptr()) };
        let gave = if code.is_success() { function.told(&mut self.names) } else { String::new() };
        self.said("cuModuleGetFunction", &told, code, &gave);
        function
    }

    /// `cuModuleGetGlobal`
    pub(super) fn global(&mut self, module: CUmodule, name: &str) -> u64 {
        let (c_name, mut at, mut bytes) = (CString::new(name).unwrap_or_default(), 0, 0);
        let told = [module.told(&mut self.names), name.to_string()];
        // SAFETY: the name ends with a NUL; the others are valid for the write.
        let code = unsafe { self.driver.cuModuleGetGlobal_v2(&mut at, &mut bytes, module, c_name.as_ptr()) };
        let gave = match code.is_success() {
            true => format!("{}, {bytes} bytes", self.names.new_region("global", at, bytes as u64)),
            false => String::new(),
        };
        self.said("cuModuleGetGlobal", &told, code, &gave);
        at
    }

    /// `cuFuncGetName`
    pub(super) fn func_name(&mut self, function: CUfunction) {
        let (told, mut name) = ([function.told(&mut self.names)], std::ptr::null());
        // SAFETY: `name` is valid for the write.
        let code = unsafe { self.driver.cuFuncGetName(&mut name, function) };
        self.said("cuFuncGetName", &told, code, &text(name));
    }

    /// `cuFuncGetParamInfo` of each parameter, until the driver refuses.
    pub(super) fn func_params(&mut self, function: CUfunction) {
        for index in 0..8 {
            let (told, mut offset, mut bytes) = ([function.told(&mut self.names), index.to_string()], 0, 0);
            // SAFETY: both are valid for the write.
            let code = unsafe { self.driver.cuFuncGetParamInfo(function, index, &mut offset, &mut bytes) };
            if !self.said("cuFuncGetParamInfo", &told, code, &format!("at {offset}, {bytes} bytes")).is_success() {
                return;
            }
        }
    }

    /// `cuLibraryLoadData` of PTX without options.
    pub(super) fn library(&mut self, what: &str, ptx: &str) -> CUlibrary {
        let (image, mut library, null) = (CString::new(ptx).unwrap_or_default(), CUlibrary::NULL, std::ptr::null_mut());
        // SAFETY: a text with a NUL at its end; no options.
        let code = unsafe {
            let image = image.as_ptr().cast();
            self.driver.cuLibraryLoadData(
                &mut library,
                image,
                null,
                std::ptr::null_mut(),
                0,
                null,
                std::ptr::null_mut(),
                0,
            )
        };
        let name = if code.is_success() { self.keep(library) } else { String::new() };
        self.said("cuLibraryLoadData", &[what.to_string()], code, &name);
        library
    }

    /// `cuLibraryGetKernel`
    pub(super) fn library_kernel(&mut self, library: CUlibrary, name: &str) -> CUkernel {
        let (c_name, mut kernel) = (CString::new(name).unwrap_or_default(), CUkernel::NULL);
        let told = [library.told(&mut self.names), name.to_string()];
        // SAFETY: the name ends with a NUL; `kernel` is valid for the write.
        let code = unsafe { self.driver.cuLibraryGetKernel(&mut kernel, library, c_name.as_ptr()) };
        let gave = if code.is_success() { kernel.told(&mut self.names) } else { String::new() };
        self.said("cuLibraryGetKernel", &told, code, &gave);
        kernel
    }

    /// `cuKernelGetName`
    pub(super) fn kernel_name(&mut self, kernel: CUkernel) {
        let (told, mut name) = ([kernel.told(&mut self.names)], std::ptr::null());
        // SAFETY: `name` is valid for the write.
        let code = unsafe { self.driver.cuKernelGetName(&mut name, kernel) };
        self.said("cuKernelGetName", &told, code, &text(name));
    }

    /// `cuOccupancyMaxPotentialBlockSize`
    pub(super) fn potential_block(&mut self, function: CUfunction, shared: usize, limit: i32) -> CUresult {
        let (told, mut grid, mut block) =
            ([function.told(&mut self.names), shared.to_string(), limit.to_string()], 0, 0);
        // SAFETY: both are valid for the write; no function is asked for the shared memory.
        let code = unsafe {
            self.driver.cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, shared, limit)
        };
        self.said("cuOccupancyMaxPotentialBlockSize", &told, code, &format!("grid {grid}, block {block}"))
    }
}

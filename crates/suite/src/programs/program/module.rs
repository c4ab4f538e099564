//! Modules, their kernels, and launches.

use std::ffi::{CString, c_void};

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Arguments, Program, answer};

impl Program {
    /// `cuModuleLoadData` of the lines of a PTX text that belong to this way.
    pub(crate) fn load(&self, ptx: &str) -> Answer<CUmodule> {
        let (image, mut module) = (CString::new(self.way.ptx(ptx)).expect("PTX without a NUL"), CUmodule::NULL);
        // SAFETY: the image is text with a NUL at its end, and the out pointer is to a local.
        answer(unsafe { self.driver.cuModuleLoadData(&mut module, image.as_ptr().cast()) }).map(|()| module)
    }

    /// `cuModuleUnload`.
    pub(crate) fn unload(&self, module: CUmodule) -> Answer {
        // SAFETY: the driver looks the handle up.
        answer(unsafe { self.driver.cuModuleUnload(module) })
    }

    /// `cuModuleGetFunction`.
    pub(crate) fn function(&self, module: CUmodule, name: &str) -> Answer<CUfunction> {
        let (name, mut function) = (CString::new(name).expect("a name without a NUL"), CUfunction::NULL);
        // SAFETY: the name is text with a NUL at its end, and the out pointer is to a local.
        answer(unsafe { self.driver.cuModuleGetFunction(&mut function, module, name.as_ptr()) }).map(|()| function)
    }

    /// The kernel `name` of a module that is loaded for it.
    pub(crate) fn kernel(&self, ptx: &str, name: &str) -> Answer<CUfunction> {
        self.function(self.load(ptx)?, name)
    }

    /// `cuLaunchKernel` of `blocks` times `threads`. Without arguments, `kernelParams` is null.
    pub(crate) fn launch(
        &self,
        stream: CUstream,
        kernel: CUfunction,
        [blocks, threads]: [u32; 2],
        arguments: &[u64],
    ) -> Answer {
        self.launch_with_shared(stream, kernel, [blocks, threads], 0, arguments)
    }

    /// As [`Program::launch`], with dynamic shared memory.
    pub(crate) fn launch_with_shared(
        &self,
        stream: CUstream,
        kernel: CUfunction,
        [blocks, threads]: [u32; 2],
        shared_bytes: u32,
        arguments: &[u64],
    ) -> Answer {
        let mut arguments = Arguments::new(arguments);
        let (params, extra) = (arguments.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the programs give as many arguments as the kernel has parameters, or none at all, which is null;
        // each is 8 bytes long, and no parameter here is longer. All live until the call returns.
        answer(unsafe {
            self.driver.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, params, extra)
        })
    }

    /// A launch whose blocks all run at the same time.
    pub(crate) fn launch_cooperative(
        &self,
        stream: CUstream,
        kernel: CUfunction,
        [blocks, threads]: [u32; 2],
        arguments: &[u64],
    ) -> Answer {
        let mut arguments = Arguments::new(arguments);
        let params = arguments.as_mut_ptr();
        // SAFETY: as many arguments as the kernel has parameters, 8 bytes each, alive until the call returns.
        answer(unsafe { self.driver.cuLaunchCooperativeKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, params) })
    }

    /// `cuLaunchKernel` of one thread with its arguments in one buffer, of which `bytes` are given.
    pub(crate) fn launch_with_buffer(
        &self,
        stream: CUstream,
        kernel: CUfunction,
        arguments: &[u64],
        mut bytes: usize,
    ) -> Answer {
        assert!(bytes <= size_of_val(arguments), "the buffer has as many bytes as it says");
        let [pointer, size] = [1, 2].map(std::ptr::without_provenance_mut::<c_void>);
        let end = std::ptr::null_mut();
        let mut extra =
            [pointer, arguments.as_ptr().cast_mut().cast(), size, std::ptr::from_mut(&mut bytes).cast(), end];
        let (params, extra) = (std::ptr::null_mut(), extra.as_mut_ptr());
        // SAFETY: `extra` names a buffer and its size, both alive until the call returns, and ends with 0.
        answer(unsafe { self.driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, extra) })
    }

    /// `cuFuncSetAttribute` of the dynamic shared memory that launches may ask for.
    pub(crate) fn allow_dynamic_shared(&self, kernel: CUfunction, bytes: i32) -> Answer {
        let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the driver looks the handle up.
        answer(unsafe { self.driver.cuFuncSetAttribute(kernel, attribute, bytes) })
    }
}

//! Verbs of memory: allocation, pools, copies, sets, virtual memory, what pointers say of themselves.

use std::ffi::c_void;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::{Case, free_host, runs};
use super::names::{Physical, Told, code_name};
use super::verbs::{Copy3, acts, asks};

acts! {
    fn trim_pool(pool: CUmemoryPool, keep: usize) = cuMemPoolTrimTo(pool, keep);
    fn set_pool(pool: CUmemoryPool) = cuDeviceSetMemPool(0, pool);
    fn h_to_d(to: u64, from: u64, bytes: usize, stream: CUstream) = cuMemcpyHtoDAsync_v2(to, from as usize as *const c_void, bytes, stream);
    fn d_to_h(to: u64, from: u64, bytes: usize, stream: CUstream) = cuMemcpyDtoHAsync_v2(to as usize as *mut c_void, from, bytes, stream);
    fn d_to_d(to: u64, from: u64, bytes: usize, stream: CUstream) = cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
    fn copy(to: u64, from: u64, bytes: usize, stream: CUstream) = cuMemcpyAsync(to, from, bytes, stream);
    fn copy_now(to: u64, from: u64, bytes: usize) = cuMemcpy(to, from, bytes);
    fn set8(at: u64, value: u8, count: usize, stream: CUstream) = cuMemsetD8Async(at, value, count, stream);
    fn set16(at: u64, value: u16, count: usize, stream: CUstream) = cuMemsetD16Async(at, value, count, stream);
    fn set32(at: u64, value: u32, count: usize, stream: CUstream) = cuMemsetD32Async(at, value, count, stream);
    fn set2d8(at: u64, pitch: usize, value: u8, width: usize, rows: usize, stream: CUstream) = cuMemsetD2D8Async(at, pitch, value, width, rows, stream);
    fn set2d16(at: u64, pitch: usize, value: u16, width: usize, rows: usize, stream: CUstream) = cuMemsetD2D16Async(at, pitch, value, width, rows, stream);
    fn set2d32(at: u64, pitch: usize, value: u32, width: usize, rows: usize, stream: CUstream) = cuMemsetD2D32Async(at, pitch, value, width, rows, stream);
    fn unmap(at: u64, bytes: usize) = cuMemUnmap(at, bytes);
    fn address_free(at: u64, bytes: usize) = cuMemAddressFree(at, bytes);
}

asks! {
    fn host_flags(at: u64) -> flags: u32 = cuMemHostGetFlags(&mut flags, at as usize as *mut c_void);
    fn device_pointer(at: u64) -> address: u64 = cuMemHostGetDevicePointer_v2(&mut address, at as usize as *mut c_void, 0);
    fn default_pool() -> pool: CUmemoryPool = cuDeviceGetDefaultMemPool(&mut pool, 0);
    fn current_pool() -> pool: CUmemoryPool = cuDeviceGetMemPool(&mut pool, 0);
}

impl Case<'_> {
    fn got(&mut self, call: &str, told: &[String], code: CUresult, kind: &'static str, at: u64, bytes: usize) -> u64 {
        let name = match code.is_success() && at != 0 {
            true => self.names.new_region(kind, at, bytes as u64),
            false => "null".into(),
        };
        self.said(call, told, code, &name);
        at
    }

    fn keep_pool_memory(&mut self, at: u64) {
        if at != 0 {
            // In stream order: `cuMemFree` leaves the pool's counts as they were.
            // SAFETY: allocated by this case, and not freed since, or it would not be kept any more.
            self.keep_raw("memory", at, move |driver| unsafe { driver.cuMemFreeAsync(at, CUstream::NULL) });
        }
    }

    fn keep_memory(&mut self, at: u64) {
        if at != 0 {
            // SAFETY: allocated by this case, and not freed since, or it would not be kept any more.
            self.keep_raw("memory", at, move |driver| unsafe { driver.cuMemFree_v2(at) });
        }
    }

    /// `cuMemAlloc`
    pub(super) fn alloc(&mut self, bytes: usize) -> u64 {
        let mut at = 0;
        // SAFETY: `at` is valid for the write.
        let code = unsafe { self.driver.cuMemAlloc_v2(&mut at, bytes) };
        self.keep_memory(at);
        self.got("cuMemAlloc", &[bytes.to_string()], code, "mem", at, bytes)
    }

    /// Memory with these words in it; one line for allocation and copy.
    pub(super) fn words(&mut self, words: &[u32]) -> u64 {
        let (mut at, bytes) = (0, 4 * words.len());
        // SAFETY: `at` is valid for the write; the copy is as long as the allocation and the source.
        let code = unsafe {
            let code = self.driver.cuMemAlloc_v2(&mut at, bytes);
            self.driver.cuMemcpyHtoD_v2(at, words.as_ptr().cast(), bytes);
            // Pageable memory may still be on its way when the copy returns; streams that do not wait for the legacy
            // stream would see the old bytes.
            self.driver.cuStreamSynchronize(CUstream::NULL);
            code
        };
        self.keep_memory(at);
        self.got("memory", &[runs(words)], code, "mem", at, bytes)
    }

    /// `cuMemFree`
    pub(super) fn free(&mut self, at: u64) -> CUresult {
        let told = [at.told(&mut self.names)];
        // SAFETY: the driver checks the address.
        let code = unsafe { self.driver.cuMemFree_v2(at) };
        if code.is_success() {
            self.gone("memory", at);
        }
        self.said("cuMemFree", &told, code, "")
    }

    /// `cuMemAllocPitch`
    pub(super) fn alloc_pitch(&mut self, width: usize, rows: usize, element: u32) -> (u64, usize) {
        let (mut at, mut pitch) = (0, 0);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuMemAllocPitch_v2(&mut at, &mut pitch, width, rows, element) };
        self.keep_memory(at);
        self.got("cuMemAllocPitch", &[format!("{width}x{rows} of {element}")], code, "mem", at, pitch * rows);
        self.say(format!("pitch {pitch}"));
        (at, pitch)
    }

    /// `cuMemHostAlloc`
    pub(super) fn pinned(&mut self, bytes: usize, flags: u32) -> u64 {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: `pointer` is valid for the write.
        let code = unsafe { self.driver.cuMemHostAlloc(&mut pointer, bytes, flags) };
        let at = pointer as usize as u64;
        if at != 0 {
            self.keep_raw("pinned", at, free_host(at));
            // SAFETY: the driver gave that many bytes; zeroed, so that what a case reads is its own.
            unsafe { pointer.cast::<u8>().write_bytes(0, bytes) };
        }
        self.got("cuMemHostAlloc", &[bytes.to_string(), flags.to_string()], code, "pinned", at, bytes)
    }

    /// `cuMemFreeHost`
    pub(super) fn free_pinned(&mut self, at: u64) -> CUresult {
        let told = [at.told(&mut self.names)];
        // SAFETY: the driver checks the address.
        let code = unsafe { self.driver.cuMemFreeHost(at as usize as *mut c_void) };
        if code.is_success() {
            self.gone("pinned", at);
        }
        self.said("cuMemFreeHost", &told, code, "")
    }

    /// `cuMemHostRegister`
    pub(super) fn register(&mut self, at: u64, bytes: usize, flags: u32) -> CUresult {
        let told = [at.told(&mut self.names), bytes.to_string(), flags.to_string()];
        let pointer = at as usize as *mut c_void;
        // SAFETY: memory of the case, which lives until its end.
        let code = unsafe { self.driver.cuMemHostRegister_v2(pointer, bytes, flags) };
        if code.is_success() {
            // SAFETY: registered above.
            let undo = move |driver: &dyn dacapo_driver::Driver| unsafe {
                driver.cuMemHostUnregister(at as usize as *mut c_void)
            };
            self.keep_raw("registered", at, undo);
        }
        self.said("cuMemHostRegister", &told, code, "")
    }

    /// `cuMemHostUnregister`
    pub(super) fn unregister(&mut self, at: u64) -> CUresult {
        let told = [at.told(&mut self.names)];
        // SAFETY: the driver checks the address.
        let code = unsafe { self.driver.cuMemHostUnregister(at as usize as *mut c_void) };
        if code.is_success() {
            self.gone("registered", at);
        }
        self.said("cuMemHostUnregister", &told, code, "")
    }

    /// `cuMemAllocAsync`
    pub(super) fn alloc_async(&mut self, bytes: usize, stream: CUstream) -> u64 {
        let (told, mut at) = ([bytes.to_string(), stream.told(&mut self.names)], 0);
        // SAFETY: `at` is valid for the write.
        let code = unsafe { self.driver.cuMemAllocAsync(&mut at, bytes, stream) };
        self.keep_pool_memory(at);
        self.got("cuMemAllocAsync", &told, code, "mem", at, bytes)
    }

    /// `cuMemAllocFromPoolAsync`
    pub(super) fn alloc_from(&mut self, bytes: usize, pool: CUmemoryPool, stream: CUstream) -> u64 {
        let told = [bytes.to_string(), pool.told(&mut self.names), stream.told(&mut self.names)];
        let mut at = 0;
        // SAFETY: `at` is valid for the write.
        let code = unsafe { self.driver.cuMemAllocFromPoolAsync(&mut at, bytes, pool, stream) };
        self.keep_pool_memory(at);
        self.got("cuMemAllocFromPoolAsync", &told, code, "mem", at, bytes)
    }

    /// `cuMemFreeAsync`
    pub(super) fn free_async(&mut self, at: u64, stream: CUstream) -> CUresult {
        let told = [at.told(&mut self.names), stream.told(&mut self.names)];
        // SAFETY: the driver checks the address.
        let code = unsafe { self.driver.cuMemFreeAsync(at, stream) };
        if code.is_success() {
            self.gone("memory", at);
        }
        self.said("cuMemFreeAsync", &told, code, "")
    }

    /// `cuMemPoolCreate`: pinned memory of device 0, at most that many bytes (0: no limit).
    pub(super) fn pool(&mut self, bytes_max: usize) -> CUmemoryPool {
        let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
        let props = CUmemPoolProps {
            allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
            location,
            maxSize: bytes_max,
            ..Default::default()
        };
        let mut pool = CUmemoryPool::NULL;
        // SAFETY: both live until the call returns.
        let code = unsafe { self.driver.cuMemPoolCreate(&mut pool, &props) };
        let name = if code.is_success() { self.keep(pool) } else { String::new() };
        self.said("cuMemPoolCreate", &[format!("at most {bytes_max}")], code, &name);
        pool
    }

    /// `cuMemPoolGetAttribute`: 1 to 3 are ints, the others words of eight bytes.
    pub(super) fn pool_attribute(&mut self, pool: CUmemoryPool, attribute: u32) -> u64 {
        let (told, mut value) = ([pool.told(&mut self.names), attribute.to_string()], 0u64);
        // SAFETY: eight zeroed bytes are enough for either.
        let code = unsafe { self.driver.cuMemPoolGetAttribute(pool, attribute, std::ptr::from_mut(&mut value).cast()) };
        self.said("cuMemPoolGetAttribute", &told, code, &value.to_string());
        value
    }

    /// `cuMemPoolSetAttribute`
    pub(super) fn set_pool_attribute(&mut self, pool: CUmemoryPool, attribute: u32, value: u64) -> CUresult {
        let (told, mut value) = ([pool.told(&mut self.names), attribute.to_string(), value.to_string()], value);
        // SAFETY: as above.
        let code = unsafe { self.driver.cuMemPoolSetAttribute(pool, attribute, std::ptr::from_mut(&mut value).cast()) };
        self.said("cuMemPoolSetAttribute", &told, code, "")
    }

    /// `cuMemPoolGetAccess` of device 0.
    pub(super) fn pool_access(&mut self, pool: CUmemoryPool) {
        let told = [pool.told(&mut self.names)];
        let (mut flags, mut location) = (0, CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 });
        // SAFETY: both live until the call returns.
        let code = unsafe { self.driver.cuMemPoolGetAccess(&mut flags, pool, &mut location) };
        self.said("cuMemPoolGetAccess", &told, code, &flags.to_string());
    }

    /// `cuMemPoolSetAccess` of device 0.
    pub(super) fn set_pool_access(&mut self, pool: CUmemoryPool, flags: u32) -> CUresult {
        let told = [pool.told(&mut self.names), flags.to_string()];
        let access = CUmemAccessDesc { location: CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 }, flags };
        // SAFETY: one element, alive until the call returns.
        let code = unsafe { self.driver.cuMemPoolSetAccess(pool, &access, 1) };
        self.said("cuMemPoolSetAccess", &told, code, "")
    }

    /// `cuMemcpyDtoH`: words of device memory into the transcript.
    pub(super) fn read(&mut self, at: u64, words: usize) -> Vec<u32> {
        let mut found = vec![0u32; words];
        // SAFETY: the target is as long as the copy.
        let code = unsafe { self.driver.cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), at, 4 * words) };
        let name = at.told(&mut self.names);
        match code.is_success() {
            true => self.say(format!("{name} holds {}", runs(&found))),
            false => self.say(format!("{name} cannot be read: {}", code_name(code))),
        }
        found
    }

    /// Words into device memory, done when this returns.
    pub(super) fn write(&mut self, at: u64, words: &[u32]) {
        // SAFETY: the source is as long as the copy.
        let code = unsafe {
            let code = self.driver.cuMemcpyHtoD_v2(at, words.as_ptr().cast(), 4 * words.len());
            self.driver.cuStreamSynchronize(CUstream::NULL);
            code
        };
        let told = [at.told(&mut self.names), runs(words)];
        self.said("cuMemcpyHtoD", &told, code, "");
    }

    /// `cuMemcpy3DAsync`
    pub(super) fn copy_3d(&mut self, copy: &Copy3, stream: CUstream) -> CUresult {
        let (told, params) = ([copy.told(&mut self.names), stream.told(&mut self.names)], copy.params());
        // SAFETY: the memory is the case's; `params` lives until the call returns.
        let code = unsafe { self.driver.cuMemcpy3DAsync_v2(&params, stream) };
        self.said("cuMemcpy3DAsync", &told, code, "")
    }

    /// `cuMemcpy2DAsync`
    pub(super) fn copy_2d(&mut self, copy: &Copy3, stream: CUstream) -> CUresult {
        let (told, params) = ([copy.told(&mut self.names), stream.told(&mut self.names)], copy.params_2d());
        // SAFETY: as above.
        let code = unsafe { self.driver.cuMemcpy2DAsync_v2(&params, stream) };
        self.said("cuMemcpy2DAsync", &told, code, "")
    }

    /// `cuMemcpy2D`, and `cuMemcpy2DUnaligned`
    pub(super) fn copy_2d_now(&mut self, copy: &Copy3, unaligned: bool) -> CUresult {
        let (told, params) = ([copy.told(&mut self.names)], copy.params_2d());
        let name = if unaligned { "cuMemcpy2DUnaligned" } else { "cuMemcpy2D" };
        // SAFETY: as above.
        let code = unsafe {
            if unaligned { self.driver.cuMemcpy2DUnaligned_v2(&params) } else { self.driver.cuMemcpy2D_v2(&params) }
        };
        self.said(name, &told, code, "")
    }

    /// `cuMemGetAddressRange`
    pub(super) fn range(&mut self, at: u64) {
        let (told, mut base, mut bytes) = ([at.told(&mut self.names)], 0, 0);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuMemGetAddressRange_v2(&mut base, &mut bytes, at) };
        let gave = format!("{}, {bytes} bytes", base.told(&mut self.names));
        self.said("cuMemGetAddressRange", &told, code, &gave);
    }

    /// `cuPointerGetAttribute`: the value as number, address or handle.
    pub(super) fn attribute(&mut self, attribute: u32, at: u64) {
        let (told, mut value) = ([attribute.to_string(), at.told(&mut self.names)], 0u64);
        // SAFETY: eight bytes are enough for each of the attributes that cases ask for.
        let code = unsafe { self.driver.cuPointerGetAttribute(std::ptr::from_mut(&mut value).cast(), attribute, at) };
        let gave = match attribute {
            CU_POINTER_ATTRIBUTE_CONTEXT => CUcontext::from_bits(value).told(&mut self.names),
            CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE if value != 0 => CUmemoryPool::from_bits(value).told(&mut self.names),
            CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => (value as u32 as i32).to_string(),
            _ => value.told(&mut self.names),
        };
        self.said("cuPointerGetAttribute", &told, code, &gave);
    }

    /// What a pointer says of itself.
    pub(super) fn attributes(&mut self, at: u64) {
        for number in [1, 2, 3, 4, 8, 9, 11, 12, 13, 17] {
            self.attribute(number, at);
        }
    }

    /// `cuPointerGetAttributes`: memory type, device pointer, managed, ordinal, mapped.
    pub(super) fn attributes_at_once(&mut self, at: u64) {
        let (told, mut numbers, mut values) = ([at.told(&mut self.names)], [2, 3, 8, 9, 13], [0u64; 5]);
        let mut places = values.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
        // SAFETY: as many places as attributes, each of eight bytes.
        let code = unsafe { self.driver.cuPointerGetAttributes(5, numbers.as_mut_ptr(), places.as_mut_ptr(), at) };
        let [kind, pointer, managed, ordinal, mapped] = values;
        let pointer = pointer.told(&mut self.names);
        let gave =
            format!("type {kind}, {pointer}, managed {managed}, device {}, mapped {mapped}", ordinal as u32 as i32);
        self.said("cuPointerGetAttributes", &told, code, &gave);
    }

    /// Whether two addresses are the same.
    pub(super) fn same(&mut self, what: &str, one: u64, other: u64) {
        self.say(format!("{what}: {}", if one == other { "the same address" } else { "another address" }));
    }

    fn physical_props(&self) -> CUmemAllocationProp {
        CUmemAllocationProp {
            r#type: CU_MEM_ALLOCATION_TYPE_PINNED,
            location: CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: self.at },
            ..Default::default()
        }
    }

    /// `cuMemGetAllocationGranularity`
    pub(super) fn granularity(&mut self, option: u32) -> usize {
        let (mut bytes, props) = (0, self.physical_props());
        // SAFETY: both live until the call returns.
        let code = unsafe { self.driver.cuMemGetAllocationGranularity(&mut bytes, &props, option) };
        self.said("cuMemGetAllocationGranularity", &[option.to_string()], code, &bytes.to_string());
        bytes
    }

    /// `cuMemAddressReserve`
    pub(super) fn reserve(&mut self, bytes: usize, alignment: usize) -> u64 {
        let mut at = 0;
        // SAFETY: `at` is valid for the write.
        let code = unsafe { self.driver.cuMemAddressReserve(&mut at, bytes, alignment, 0, 0) };
        self.got("cuMemAddressReserve", &[bytes.to_string(), alignment.to_string()], code, "range", at, bytes)
    }

    /// `cuMemCreate`
    pub(super) fn physical(&mut self, bytes: usize) -> Physical {
        let (mut handle, props) = (0, self.physical_props());
        // SAFETY: both live until the call returns.
        let code = unsafe { self.driver.cuMemCreate(&mut handle, bytes, &props, 0) };
        let name = if code.is_success() { self.names.new_handle("physical", handle) } else { String::new() };
        self.said("cuMemCreate", &[bytes.to_string()], code, &name);
        Physical(handle)
    }

    /// `cuMemRelease`
    pub(super) fn release_physical(&mut self, physical: Physical) -> CUresult {
        let told = [physical.told(&mut self.names)];
        // SAFETY: the driver gave the handle, and the case releases it as often as it was retained.
        let code = unsafe { self.driver.cuMemRelease(physical.0) };
        self.said("cuMemRelease", &told, code, "")
    }

    /// `cuMemMap`
    pub(super) fn map(&mut self, at: u64, bytes: usize, offset: usize, physical: Physical) -> CUresult {
        let told = [at.told(&mut self.names), bytes.to_string(), offset.to_string(), physical.told(&mut self.names)];
        // SAFETY: the driver checks the range.
        let code = unsafe { self.driver.cuMemMap(at, bytes, offset, physical.0, 0) };
        self.said("cuMemMap", &told, code, "")
    }

    /// `cuMemSetAccess` of the device that the case is on.
    pub(super) fn access(&mut self, at: u64, bytes: usize, flags: u32) -> CUresult {
        let told = [at.told(&mut self.names), bytes.to_string(), flags.to_string()];
        let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: self.at };
        let access = CUmemAccessDesc { location, flags };
        // SAFETY: one element, alive until the call returns.
        let code = unsafe { self.driver.cuMemSetAccess(at, bytes, &access, 1) };
        self.said("cuMemSetAccess", &told, code, "")
    }

    /// `cuMemRetainAllocationHandle`
    pub(super) fn retain_physical(&mut self, at: u64) -> Physical {
        let (told, mut handle) = ([at.told(&mut self.names)], 0);
        // SAFETY: `handle` is valid for the write; the driver checks the address.
        let code = unsafe { self.driver.cuMemRetainAllocationHandle(&mut handle, at as usize as *mut c_void) };
        let gave = if code.is_success() { Physical(handle).told(&mut self.names) } else { String::new() };
        self.said("cuMemRetainAllocationHandle", &told, code, &gave);
        Physical(handle)
    }
}

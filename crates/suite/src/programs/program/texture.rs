//! Managed memory, pools of the host, arrays, textures and surfaces.

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Buffer, Program, answer};

const DEVICE: CUmemLocation = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
const HOST: CUmemLocation = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_HOST, id: 0 };

impl Program {
    /// `cuMemAllocManaged` under a name, zeros at first.
    pub(crate) fn managed(&self, label: &str, len: usize) -> Answer<Buffer> {
        let mut address = 0;
        // SAFETY: the out pointer is to a local.
        answer(unsafe { self.driver.cuMemAllocManaged(&mut address, 4 * len, CU_MEM_ATTACH_GLOBAL) })?;
        Ok(self.named(address, label, len))
    }

    /// `cuMemPrefetchAsync` of a buffer to the device.
    pub(crate) fn prefetch(&self, stream: CUstream, buffer: &Buffer) -> Answer {
        // SAFETY: the address is a number to the driver, which checks it.
        answer(unsafe { self.driver.cuMemPrefetchAsync_v2(buffer.address(), 4 * buffer.len(), DEVICE, 0, stream) })
    }

    /// `cuMemAdvise`: a buffer is mostly read.
    pub(crate) fn advise(&self, buffer: &Buffer) -> Answer {
        let advice = CU_MEM_ADVISE_SET_READ_MOSTLY;
        // SAFETY: as above.
        answer(unsafe { self.driver.cuMemAdvise_v2(buffer.address(), 4 * buffer.len(), advice, DEVICE) })
    }

    /// `cuStreamAttachMemAsync` of a buffer to one stream.
    pub(crate) fn attach(&self, stream: CUstream, buffer: &Buffer) -> Answer {
        let bytes = 4 * buffer.len();
        // SAFETY: as above.
        answer(unsafe { self.driver.cuStreamAttachMemAsync(stream, buffer.address(), bytes, CU_MEM_ATTACH_SINGLE) })
    }

    /// `cuStreamWriteValue32`.
    pub(crate) fn write_value(&self, stream: CUstream, buffer: &Buffer, value: u32) -> Answer {
        // SAFETY: as above.
        answer(unsafe { self.driver.cuStreamWriteValue32_v2(stream, buffer.address(), value, 0) })
    }

    /// A pool of host memory.
    pub(crate) fn host_pool(&self) -> Answer<CUmemoryPool> {
        let mut pool = CUmemoryPool::NULL;
        let properties =
            CUmemPoolProps { allocType: CU_MEM_ALLOCATION_TYPE_PINNED, location: HOST, ..Default::default() };
        // SAFETY: valid in and out pointers.
        answer(unsafe { self.driver.cuMemPoolCreate(&mut pool, &properties) })?;
        Ok(pool)
    }

    /// `cuMemPoolSetAccess`: the device may touch what the pool hands out.
    pub(crate) fn give_access(&self, pool: CUmemoryPool) -> Answer {
        let access = CUmemAccessDesc { location: DEVICE, flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
        // SAFETY: an array of one.
        answer(unsafe { self.driver.cuMemPoolSetAccess(pool, &access, 1) })
    }

    /// `cuMemAllocFromPoolAsync`.
    pub(crate) fn pooled_from(&self, pool: CUmemoryPool, stream: CUstream, label: &str, len: usize) -> Answer<Buffer> {
        let mut address = 0;
        // SAFETY: the out pointer is to a local.
        answer(unsafe { self.driver.cuMemAllocFromPoolAsync(&mut address, 4 * len, pool, stream) })?;
        Ok(self.named(address, label, len))
    }

    /// The first number of a buffer whose memory is the host's, read there.
    pub(crate) fn read_on_host(&self, buffer: &Buffer) -> u32 {
        // SAFETY: whoever calls this has the buffer from a pool of host memory, which it was not given back to, and nothing
        // runs that writes to it.
        unsafe { (buffer.address() as *const u32).read_volatile() }
    }

    /// An array of numbers, for textures and surfaces.
    pub(crate) fn array(&self, width: usize, height: usize) -> Answer<CUarray> {
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: 0,
            Format: CU_AD_FORMAT_UNSIGNED_INT32,
            NumChannels: 1,
            Flags: CUDA_ARRAY3D_SURFACE_LDST,
        };
        let mut array = CUarray::NULL;
        // SAFETY: valid in and out pointers.
        answer(unsafe { self.driver.cuArray3DCreate_v2(&mut array, &descriptor) })?;
        Ok(array)
    }

    /// `cuArrayDestroy`.
    pub(crate) fn destroy_array(&self, array: CUarray) -> Answer {
        // SAFETY: made by this program, once destroyed.
        answer(unsafe { self.driver.cuArrayDestroy(array) })
    }

    /// `cuMemcpy2D` of rows of numbers into an array.
    pub(crate) fn fill_array(&self, array: CUarray, numbers: &[u32], width: usize, rows: usize) -> Answer {
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CU_MEMORYTYPE_HOST,
            srcHost: numbers.as_ptr().cast(),
            srcPitch: 4 * width,
            dstMemoryType: CU_MEMORYTYPE_ARRAY,
            dstArray: array,
            WidthInBytes: 4 * width,
            Height: rows,
            ..Default::default()
        };
        // SAFETY: the programs pass as many numbers.
        answer(unsafe { self.driver.cuMemcpy2D_v2(&copy) })
    }

    /// `cuTexObjectCreate` over an array, by integers.
    pub(crate) fn texture(&self, array: CUarray) -> Answer<u64> {
        let mut resource = CUDA_RESOURCE_DESC { resType: CU_RESOURCE_TYPE_ARRAY, ..Default::default() };
        resource.res[0] = array.bits();
        self.texture_over(&resource)
    }

    /// `cuTexObjectCreate` over linear memory.
    pub(crate) fn linear_texture(&self, buffer: &Buffer) -> Answer<u64> {
        let mut resource = CUDA_RESOURCE_DESC { resType: CU_RESOURCE_TYPE_LINEAR, ..Default::default() };
        let format = u64::from(CU_AD_FORMAT_UNSIGNED_INT32) | 1 << 32;
        resource.res[..3].copy_from_slice(&[buffer.address(), format, 4 * buffer.len() as u64]);
        self.texture_over(&resource)
    }

    fn texture_over(&self, resource: &CUDA_RESOURCE_DESC) -> Answer<u64> {
        let how = CUDA_TEXTURE_DESC { flags: CU_TRSF_READ_AS_INTEGER, ..Default::default() };
        let mut texture = 0;
        // SAFETY: valid in and out pointers.
        answer(unsafe { self.driver.cuTexObjectCreate(&mut texture, resource, &how, std::ptr::null()) })?;
        Ok(texture)
    }

    /// `cuTexObjectDestroy`.
    pub(crate) fn destroy_texture(&self, texture: u64) -> Answer {
        // SAFETY: a number to the driver.
        answer(unsafe { self.driver.cuTexObjectDestroy(texture) })
    }

    /// `cuSurfObjectCreate`.
    pub(crate) fn surface(&self, array: CUarray) -> Answer<u64> {
        let mut resource = CUDA_RESOURCE_DESC { resType: CU_RESOURCE_TYPE_ARRAY, ..Default::default() };
        resource.res[0] = array.bits();
        let mut surface = 0;
        // SAFETY: valid in and out pointers.
        answer(unsafe { self.driver.cuSurfObjectCreate(&mut surface, &resource) })?;
        Ok(surface)
    }
}

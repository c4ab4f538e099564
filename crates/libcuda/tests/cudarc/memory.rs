//! Memory behind cudarc's slices: pools, their attributes, and what is free.

use cudarc::driver::{CudaContext, DriverError, result, sys};
use sys::CUmemPool_attribute as Attribute;

use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("memory",
    right: [default_pool, used_and_high, threshold, trimmed, pool_of_its_own, freed_on_another_stream, freed_by_mem_free,
        large_and_freed, set_as_current],
    mistaken: [pool_with_bad_properties]);

fn pool(context: &CudaContext) -> Result<sys::CUmemoryPool, DriverError> {
    raw!(result::device::get_default_mem_pool(context.cu_device()))
}

fn number(pool: sys::CUmemoryPool, attribute: Attribute) -> Result<u64, DriverError> {
    let mut value = 0_u64;
    raw!(result::mem_pool::get_attribute(pool, attribute, (&raw mut value).cast())).map(|()| value)
}

fn default_pool(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let pool = pool(&context)?;
    t.note("it is the current one", raw!(result::device::get_mem_pool(context.cu_device()))? == pool);
    t.value("threshold", number(pool, Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
    t.value("used", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    t.value("reserved", number(pool, Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    for attribute in [
        Attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
        Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
    ] {
        let mut value = 9_i32;
        let asked = raw!(result::mem_pool::get_attribute(pool, attribute, (&raw mut value).cast()));
        t.value(&format!("{attribute:?}"), asked.map(|()| value));
    }
    Ok(())
}

fn used_and_high(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let pool = pool(&context)?;
    let (one, two) = (stream.alloc_zeros::<u8>(1 << 20)?, stream.alloc_zeros::<u8>(3 << 20)?);
    stream.synchronize()?;
    t.value("used", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    drop(one);
    stream.synchronize()?;
    t.value("used after a drop", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    t.value("high", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH));
    let mut zero = 0_u64;
    let reset = Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    t.code("reset", raw!(result::mem_pool::set_attribute(pool, reset, (&raw mut zero).cast())));
    t.value("high", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH));
    drop(two);
    stream.synchronize()?;
    t.value("used at the end", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    Ok(())
}

fn threshold(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let pool = pool(&context)?;
    let mut keep = 1_u64 << 30;
    let attribute = Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    t.code("keep a gibibyte", raw!(result::mem_pool::set_attribute(pool, attribute, (&raw mut keep).cast())));
    t.value("threshold", number(pool, attribute));
    drop(stream.alloc_zeros::<u8>(64 << 20)?);
    stream.synchronize()?;
    t.value("kept", number(pool, Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT).map(|bytes| bytes >= 64 << 20));
    t.code("trim", raw!(result::mem_pool::trim_to(pool, 0)));
    t.value("nothing is", number(pool, Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    Ok(())
}

fn trimmed(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let pool = pool(&context)?;
    let data = stream.clone_htod(&[9_u8; 100])?;
    t.code("trim", raw!(result::mem_pool::trim_to(pool, 0)));
    t.value("what is used stays", stream.clone_dtoh(&data).map(|bytes| bytes == [9; 100]));
    Ok(())
}

fn properties(location: i32) -> sys::CUmemPoolProps {
    // SAFETY: plain numbers and pointers, for all of which zero is a value.
    let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = location;
    properties
}

fn pool_of_its_own(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let properties = properties(0);
    let pool = raw!(result::mem_pool::create(&raw const properties))?;
    t.value("threshold", number(pool, Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
    let pointer = raw!(result::mem_pool::alloc_async(pool, 4096, stream.cu_stream()))?;
    stream.synchronize()?;
    t.value("used", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    let mut data = raw!(stream.upgrade_device_ptr::<u32>(pointer, 1024));
    stream.memset_zeros(&mut data)?;
    let add = kernel(&context, "add_one")?;
    launch!(stream, &add, one_block(32), &mut data, &32_u32)?;
    t.value("data", stream.clone_dtoh(&data).map(|numbers| (numbers[0], numbers[31], numbers[32])));
    drop(data);
    stream.synchronize()?;
    t.value("used at the end", number(pool, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    t.code("destroy", raw!(result::mem_pool::destroy(pool)));
    Ok(())
}

fn freed_on_another_stream(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let pointer = one.clone_htod(&[5_u32; 16])?.leak();
    two.join(&one)?;
    t.code("free there", raw!(result::free_async(pointer, two.cu_stream())));
    two.synchronize()?;
    t.value("used", number(pool(&context)?, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    Ok(())
}

fn freed_by_mem_free(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let pointer = stream.alloc_zeros::<u8>(256)?.leak();
    stream.synchronize()?;
    t.code("cuMemFree of a pool's memory", raw!(result::free_sync(pointer)));
    let pointer = raw!(result::malloc_sync(256))?;
    t.code("cuMemFreeAsync of cuMemAlloc's", raw!(result::free_async(pointer, stream.cu_stream())));
    t.code("synchronize", stream.synchronize());
    Ok(())
}

fn large_and_freed(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (before, _) = context.mem_get_info()?;
    let pointer = raw!(result::malloc_sync(4 << 30))?;
    let (during, _) = context.mem_get_info()?;
    t.note("4 GiB less are free", before - during >= 4 << 30);
    raw!(result::free_sync(pointer))?;
    t.note("and again", context.mem_get_info()?.0 > during);
    Ok(())
}

fn set_as_current(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let properties = properties(0);
    let mine = raw!(result::mem_pool::create(&raw const properties))?;
    t.code("set", raw!(result::device::set_mem_pool(context.cu_device(), mine)));
    t.note("it is current", raw!(result::device::get_mem_pool(context.cu_device()))? == mine);
    let data = stream.alloc_zeros::<u8>(1000)?;
    stream.synchronize()?;
    t.value("a slice comes from it", number(mine, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT).map(|bytes| bytes > 0));
    drop(data);
    stream.synchronize()?;
    t.code("back", raw!(result::device::set_mem_pool(context.cu_device(), pool(&context)?)));
    t.code("destroy", raw!(result::mem_pool::destroy(mine)));
    Ok(())
}

fn pool_with_bad_properties(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let far = properties(17);
    t.code("device 17", raw!(result::mem_pool::create(&raw const far)));
    t.code("destroy the default one", raw!(result::mem_pool::destroy(pool(&context)?)));
    t.code("the default one works", context.default_stream().alloc_zeros::<u8>(16));
    Ok(())
}

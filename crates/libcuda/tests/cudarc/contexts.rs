//! Contexts: primary and not, current and not, their flags and limits.

use std::sync::Arc;

use cudarc::driver::{CudaContext, result, sys};
use sys::CUdevice_attribute as Attribute;
use sys::CUlimit as Limit;

use crate::transcript::{Outcome, Transcript, code, raw, scenarios};

scenarios!("contexts",
    right: [device, attributes, one_primary, primary_comes_and_goes, on_another_thread, not_primary, two_kinds,
        copy_between, from_raw, flags, limits, cache_config, memory_is_counted, counts_references, profiler],
    mistaken: [no_such_device, released_too_often]);

fn device(t: &mut Transcript) -> Outcome {
    t.value("count", CudaContext::device_count());
    let context = CudaContext::new(0)?;
    t.value("name", context.name());
    t.value("compute capability", context.compute_capability());
    t.note("ordinal", context.ordinal());
    t.note("primary", context.is_primary());
    t.note("async alloc", context.has_async_alloc());
    t.note("uuid is not zero", context.uuid()?.bytes.iter().any(|byte| *byte != 0));
    Ok(())
}

fn attributes(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    for attribute in [
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
        Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
        Attribute::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
        Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        Attribute::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
    ] {
        t.value(&format!("{attribute:?}"), context.attribute(attribute));
    }
    Ok(())
}

fn one_primary(t: &mut Transcript) -> Outcome {
    let (one, other) = (CudaContext::new(0)?, CudaContext::new(0)?);
    t.note("equal", one == other);
    t.note("same handle", one.cu_ctx() == other.cu_ctx());
    let data = one.default_stream().clone_htod(&[1_u32, 2, 3])?;
    drop(one);
    t.value("memory of the first, through the second", other.default_stream().clone_dtoh(&data));
    Ok(())
}

fn state(device: sys::CUdevice) -> Result<(u32, i32), cudarc::driver::DriverError> {
    let (mut flags, mut active) = (0, 0);
    raw!(code(sys::cuDevicePrimaryCtxGetState(device, &raw mut flags, &raw mut active)))?;
    Ok((flags, active))
}

fn primary_comes_and_goes(t: &mut Transcript) -> Outcome {
    result::init()?;
    let device = result::device::get(0)?;
    t.value("before", state(device));
    for round in 0..3 {
        let context = CudaContext::new(0)?;
        let data = context.default_stream().clone_htod(&[round; 4])?;
        t.value("data", context.default_stream().clone_dtoh(&data));
        t.value("while it is held", state(device));
        drop(data);
        drop(context);
        t.value("after", state(device));
        t.note("current", result::ctx::get_current()?.is_some());
    }
    Ok(())
}

fn on_another_thread(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let there = Arc::clone(&context);
    let seen = std::thread::spawn(move || {
        let before = result::ctx::get_current().map(|current| current.is_some());
        let bound = there.bind_to_thread();
        let after = result::ctx::get_current().map(|current| current == Some(there.cu_ctx()));
        let data = there.default_stream().clone_htod(&[4_u64, 5]).and_then(|d| there.default_stream().clone_dtoh(&d));
        (before, bound, after, data)
    });
    if let Ok((before, bound, after, data)) = seen.join() {
        t.value("current on a new thread", before);
        t.code("bind", bound);
        t.value("then it is this one", after);
        t.value("data", data);
    }
    t.note("here still", result::ctx::get_current()? == Some(context.cu_ctx()));
    Ok(())
}

fn not_primary(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new_non_primary(0, 0)?;
    t.note("primary", context.is_primary());
    t.value("state of the primary one", state(context.cu_device()));
    let stream = context.new_stream()?;
    let data = stream.clone_htod(&[1.5_f32, -2.5])?;
    t.value("data", stream.clone_dtoh(&data));
    let mut version = 0;
    t.code("api version", raw!(code(sys::cuCtxGetApiVersion(context.cu_ctx(), &raw mut version))));
    t.note("api version", version);
    drop((data, stream));
    drop(context);
    t.note("current after it is gone", result::ctx::get_current()?.is_some());
    Ok(())
}

fn two_kinds(t: &mut Transcript) -> Outcome {
    let (primary, other) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    t.note("equal", primary == other);
    let (a, b) = (primary.default_stream().clone_htod(&[1_u8; 3])?, other.default_stream().clone_htod(&[2_u8; 3])?);
    t.note("the last one used is current", result::ctx::get_current()? == Some(other.cu_ctx()));
    t.value("primary", primary.default_stream().clone_dtoh(&a));
    t.note("now the first is", result::ctx::get_current()? == Some(primary.cu_ctx()));
    t.value("other", other.default_stream().clone_dtoh(&b));
    let (mut one, mut two) = (0, 0);
    raw!(code(sys::cuCtxGetId(primary.cu_ctx(), &raw mut one)))?;
    raw!(code(sys::cuCtxGetId(other.cu_ctx(), &raw mut two)))?;
    t.note("different ids", one != two);
    Ok(())
}

fn copy_between(t: &mut Transcript) -> Outcome {
    let (from, to) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    let source = from.new_stream()?.clone_htod(&[7_i32, 8, 9])?;
    let stream = to.new_stream()?;
    let mut target = stream.alloc_zeros::<i32>(3)?;
    t.code("copy", stream.memcpy_dtod(&source, &mut target));
    t.value("data", stream.clone_dtoh(&target));
    t.code("left over", from.check_err());
    t.code("left over there", to.check_err());
    Ok(())
}

fn from_raw(t: &mut Transcript) -> Outcome {
    result::init()?;
    let device = result::device::get(0)?;
    let handle = raw!(result::ctx::create_v4(std::ptr::null_mut(), 0, device))?;
    let context = raw!(CudaContext::from_raw_context(0, device, handle))?;
    t.note("primary", context.is_primary());
    let mut current = -1;
    raw!(code(sys::cuCtxGetDevice(&raw mut current)))?;
    t.note("device", current);
    let data = context.default_stream().clone_htod(&[true, false])?;
    t.value("data", context.default_stream().clone_dtoh(&data));
    Ok(())
}

fn flags(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let get = || {
        let mut flags = 0;
        raw!(code(sys::cuCtxGetFlags(&raw mut flags))).map(|()| flags)
    };
    t.value("at first", get());
    t.code("blocking", context.set_blocking_synchronize());
    t.value("then", get());
    t.code("spin", context.set_flags(sys::CUctx_flags::CU_CTX_SCHED_SPIN));
    t.value("then", get());
    t.code("synchronize", context.synchronize());
    Ok(())
}

fn limits(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    for limit in [Limit::CU_LIMIT_STACK_SIZE, Limit::CU_LIMIT_PRINTF_FIFO_SIZE, Limit::CU_LIMIT_MALLOC_HEAP_SIZE] {
        t.value(&format!("{limit:?}"), context.get_limit(limit));
    }
    t.code("stack of 4096", context.set_limit(Limit::CU_LIMIT_STACK_SIZE, 4096));
    t.value("stack", context.get_limit(Limit::CU_LIMIT_STACK_SIZE));
    t.code("heap of 16 MiB", context.set_limit(Limit::CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    t.value("heap", context.get_limit(Limit::CU_LIMIT_MALLOC_HEAP_SIZE));
    Ok(())
}

fn cache_config(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.value("at first", context.get_cache_config());
    t.code("prefer shared", context.set_cache_config(sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED));
    t.value("then", context.get_cache_config());
    Ok(())
}

fn memory_is_counted(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (free, total) = context.mem_get_info()?;
    t.note("total is the device's", total == context.total_mem()?);
    t.note("free is less than total", free < total);
    t.note("more than 100 GiB", total > 100 << 30);
    Ok(())
}

fn counts_references(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let data = stream.alloc_zeros::<f32>(1)?;
    t.note("context", Arc::strong_count(&context));
    t.note("stream", Arc::strong_count(&stream));
    drop(data);
    drop(stream);
    t.note("context at the end", Arc::strong_count(&context));
    t.code("left over", context.check_err());
    Ok(())
}

fn profiler(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("start", cudarc::driver::safe::profiler_start());
    let data = context.default_stream().clone_htod(&[3_u32])?;
    t.value("data", context.default_stream().clone_dtoh(&data));
    t.code("stop", cudarc::driver::safe::profiler_stop());
    t.code("stop again", cudarc::driver::safe::profiler_stop());
    Ok(())
}

fn no_such_device(t: &mut Transcript) -> Outcome {
    t.code("device 99", CudaContext::new(99));
    t.code("not primary, device 7", CudaContext::new_non_primary(7, 0));
    t.code("the first call still works", CudaContext::new(0));
    Ok(())
}

fn released_too_often(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let device = context.cu_device();
    drop(context);
    t.code("once more", raw!(result::primary_ctx::release(device)));
    t.code("a new one", CudaContext::new(0));
    Ok(())
}

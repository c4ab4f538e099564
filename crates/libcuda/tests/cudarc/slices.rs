//! Slices: made, filled, cloned, leaked, dropped.

use cudarc::driver::{CudaContext, CudaSlice, DevicePtr, result, sys};

use crate::transcript::{Outcome, Transcript, code, raw, scenarios};

scenarios!("slices",
    right: [zeros_of_every_width, clone, into_vec, lengths, leak_and_upgrade, arrays, dropped_on_another_thread,
        alignment, pointer_attributes, many_sizes, reused_in_stream_order],
    mistaken: [empty, out_of_memory, wraps_around, freed_twice]);

fn zeros_of_every_width(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    t.value("u8", stream.clone_dtoh(&stream.alloc_zeros::<u8>(5)?));
    t.value("i16", stream.clone_dtoh(&stream.alloc_zeros::<i16>(3)?));
    t.value("u32", stream.clone_dtoh(&stream.alloc_zeros::<u32>(3)?));
    t.value("i64", stream.clone_dtoh(&stream.alloc_zeros::<i64>(3)?));
    t.value("u128", stream.clone_dtoh(&stream.alloc_zeros::<u128>(2)?));
    t.value("f32", stream.clone_dtoh(&stream.alloc_zeros::<f32>(3)?));
    t.value("f64", stream.clone_dtoh(&stream.alloc_zeros::<f64>(3)?));
    t.value("bool", stream.clone_dtoh(&stream.alloc_zeros::<bool>(3)?));
    Ok(())
}

fn clone(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let mut data = stream.clone_htod(&[1_u32, 2, 3])?;
    let copy = data.try_clone()?;
    stream.memcpy_htod(&[9_u32], &mut data)?;
    t.value("the clone", stream.clone_dtoh(&copy));
    t.value("the original", stream.clone_dtoh(&data));
    t.value("clone of a clone", stream.clone_dtoh(&copy.clone()));
    Ok(())
}

fn into_vec(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let data = context.default_stream().clone_htod(&[0.5_f64, 1.5])?;
    t.value("vec", Vec::<f64>::try_from(data));
    Ok(())
}

fn lengths(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let data = context.default_stream().alloc_zeros::<u64>(7)?;
    t.note("len, bytes, empty", (data.len(), data.num_bytes(), data.is_empty()));
    t.note("ordinal", data.ordinal());
    t.note("its stream", *data.stream() == context.default_stream());
    Ok(())
}

fn leak_and_upgrade(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let pointer = stream.clone_htod(&[1.0_f32, 2.0, 3.0, 4.0, 5.0])?.leak();
    let three: CudaSlice<f32> = raw!(stream.upgrade_device_ptr(pointer, 3));
    t.value("three of five", stream.clone_dtoh(&three));
    let pointer = three.leak();
    let words: CudaSlice<u32> = raw!(stream.upgrade_device_ptr(pointer, 5));
    t.value("as words", stream.clone_dtoh(&words));
    drop(words);
    t.code("left over", context.check_err());
    Ok(())
}

fn arrays(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let points = stream.clone_htod(&[[1_i16, -1, 2], [3, -3, 4]])?;
    t.value("points", stream.clone_dtoh(&points));
    t.note("bytes", points.num_bytes());
    Ok(())
}

fn dropped_on_another_thread(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let data = stream.alloc_zeros::<u8>(1 << 20)?;
    let ended = std::thread::spawn(move || drop(data)).join().is_ok();
    t.note("dropped", ended);
    t.code("synchronize", stream.synchronize());
    t.code("left over", context.check_err());
    Ok(())
}

fn alignment(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let slices = [1, 3, 255, 257, 4097].map(|len| stream.alloc_zeros::<u8>(len));
    for slice in slices {
        let slice = slice?;
        t.note(&format!("{} bytes, 512 divides", slice.len()), slice.device_ptr(&stream).0.is_multiple_of(512));
    }
    Ok(())
}

fn pointer_attributes(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let data = stream.alloc_zeros::<u32>(100)?;
    let pointer = data.device_ptr(&stream).0;
    let (mut kind, mut ordinal) = (0_u32, 9_i32);
    let get = |attribute, at: *mut std::ffi::c_void| raw!(code(sys::cuPointerGetAttribute(at, attribute, pointer)));
    t.code("memory type", get(sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (&raw mut kind).cast()));
    t.note("memory type", kind);
    t.code("ordinal", get(sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut ordinal).cast()));
    t.note("ordinal", ordinal);
    let (mut base, mut size) = (0, 0);
    t.code("range", raw!(code(sys::cuMemGetAddressRange_v2(&raw mut base, &raw mut size, pointer + 40))));
    t.note("range starts where the slice does", base == pointer);
    t.note("and has its size", size);
    Ok(())
}

fn many_sizes(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let slices = (1..200_u32).map(|n| stream.clone_htod(&vec![n; n as usize * 37])).collect::<Result<Vec<_>, _>>()?;
    let mut sum = 0_u64;
    for slice in &slices {
        sum += stream.clone_dtoh(slice)?.iter().map(|n| u64::from(*n)).sum::<u64>();
    }
    t.note("sum", sum);
    drop(slices);
    t.code("synchronize", stream.synchronize());
    t.code("left over", context.check_err());
    Ok(())
}

fn reused_in_stream_order(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let first = stream.alloc_zeros::<u8>(4096)?;
    let old = first.device_ptr(&stream).0;
    drop(first);
    let second = stream.alloc_zeros::<u8>(4096)?;
    t.note("the same address again", second.device_ptr(&stream).0 == old);
    Ok(())
}

fn empty(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let slice = t.code("no elements", stream.alloc_zeros::<u32>(0));
    drop(slice);
    t.code("null", stream.null::<u32>());
    let nothing: [u32; 0] = [];
    t.code("of nothing", stream.clone_htod(&nothing));
    t.code("by hand", raw!(result::malloc_sync(0)));
    t.code("left over", context.check_err());
    Ok(())
}

fn out_of_memory(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    t.code("a tebibyte", raw!(stream.alloc::<u8>(1 << 40)));
    t.code("by hand", raw!(result::malloc_sync(1 << 40)));
    t.code("and then a little", stream.alloc_zeros::<u8>(1024));
    Ok(())
}

fn wraps_around(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("nearly all addresses", raw!(context.default_stream().alloc::<u8>(usize::MAX - 4095)));
    t.code("pinned", raw!(context.alloc_pinned::<u8>(1 << 50)));
    Ok(())
}

fn freed_twice(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let pointer = stream.alloc_zeros::<u8>(64)?.leak();
    t.code("once", raw!(result::free_async(pointer, stream.cu_stream())));
    stream.synchronize()?;
    t.code("twice", raw!(result::free_async(pointer, stream.cu_stream())));
    let pointer = raw!(result::malloc_sync(64))?;
    t.code("once, by hand", raw!(result::free_sync(pointer)));
    t.code("twice, by hand", raw!(result::free_sync(pointer)));
    Ok(())
}

//! Copies: between host and device, pageable and pinned, parts and planes.

use cudarc::driver::{CudaContext, result, sys};

use crate::gate::Gate;
use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, code, launch, raw, scenarios};

scenarios!("copies",
    right: [there_and_back, into_a_longer_slice, between_slices, pinned, pinned_flags, pinned_waits, synchronous,
        memset_of_bytes, planes, host_memory_in_a_kernel, on_three_streams, registered],
    mistaken: [from_freed_memory, wild_pointers, registered_twice]);

fn there_and_back(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let numbers: Vec<u64> = (0..10_000).map(|n| n * n).collect();
    let data = stream.clone_htod(&numbers)?;
    t.value("the same", stream.clone_dtoh(&data).map(|back| back == numbers));
    let mut part = [0_u64; 3];
    stream.memcpy_dtoh(&data.slice(100..103), &mut part)?;
    stream.synchronize()?;
    t.note("a part", part);
    Ok(())
}

fn into_a_longer_slice(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let mut data = stream.clone_htod(&[9_u8; 6])?;
    stream.memcpy_htod(&[1_u8, 2], &mut data)?;
    t.value("data", stream.clone_dtoh(&data));
    let mut host = [5_u8; 8];
    // cudarc copies as many bytes as the target holds, so it must not be longer than the source.
    stream.memcpy_dtoh(&data, &mut host[1..7])?;
    stream.synchronize()?;
    t.note("host", host);
    Ok(())
}

fn between_slices(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let small = [stream.clone_htod(&[1_u32, 2])?, stream.clone_htod(&[3_u32, 4])?, stream.clone_htod(&[5_u32, 6])?];
    let mut big = stream.alloc_zeros::<u32>(7)?;
    for (at, slice) in small.iter().enumerate() {
        stream.memcpy_dtod(slice, &mut big.slice_mut(at * 2..at * 2 + 2))?;
    }
    t.value("big", stream.clone_dtoh(&big));
    Ok(())
}

fn pinned(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let mut host = raw!(context.alloc_pinned::<f32>(4))?;
    host.as_mut_slice()?.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    let mut data = stream.clone_htod(&host)?;
    let saxpy = kernel(&context, "saxpy")?;
    let x = stream.clone_htod(&[1.0_f32; 4])?;
    launch!(stream, &saxpy, one_block(4), &4_u32, &0.5_f32, &x, &mut data)?;
    stream.memcpy_dtoh(&data, &mut host)?;
    // as_slice waits for the event of the copy.
    t.value("host", host.as_slice().map(<[f32]>::to_vec));
    t.note("len, bytes", (host.len(), host.num_bytes()));
    Ok(())
}

fn pinned_flags(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    for flags in [0, sys::CU_MEMHOSTALLOC_PORTABLE, sys::CU_MEMHOSTALLOC_DEVICEMAP, sys::CU_MEMHOSTALLOC_WRITECOMBINED]
    {
        let mut host = raw!(context.alloc_pinned_with_flags::<u32>(8, flags))?;
        let mut said = 99;
        let at = host.as_mut_ptr()?.cast();
        raw!(code(sys::cuMemHostGetFlags(&raw mut said, at)))?;
        t.note(&format!("asked for {flags}"), said);
    }
    Ok(())
}

fn pinned_waits(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let data = stream.clone_htod(&[42_u32; 4])?;
    let mut host = raw!(context.alloc_pinned_with_flags::<u32>(4, 0))?;
    host.as_mut_slice()?.fill(0);
    stream.synchronize()?;
    let gate = Gate::on(&stream)?;
    stream.memcpy_dtoh(&data, &mut host)?;
    let done = stream.record_event(None)?;
    t.value("behind the gate", done.try_is_complete());
    gate.open();
    t.value("then", host.as_slice().map(<[u32]>::to_vec));
    Ok(())
}

fn synchronous(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    let (one, two) = (raw!(result::malloc_sync(64))?, raw!(result::malloc_sync(64))?);
    t.code("to the device", raw!(result::memcpy_htod_sync(one, &[7_u16; 32])));
    t.code("across", raw!(result::memcpy_dtod_sync(two, one, 64)));
    t.code("memset", raw!(result::memset_d8_sync(two, 1, 8)));
    let mut host = [0_u16; 32];
    t.code("back", raw!(result::memcpy_dtoh_sync(&mut host, two)));
    t.note("host", &host[..8]);
    t.code("free", raw!(result::free_sync(one)));
    t.code("free", raw!(result::free_sync(two)));
    Ok(())
}

fn memset_of_bytes(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    {
        use cudarc::driver::DevicePtrMut as _;
        let (pointer, _event) = data.device_ptr_mut(&stream);
        t.code("bytes", raw!(result::memset_d8_async(pointer + 1, 0xab, 6, stream.cu_stream())));
        t.code("words", raw!(code(sys::cuMemsetD32Async(pointer + 8, 77, 1, stream.cu_stream()))));
        t.code("no words", raw!(code(sys::cuMemsetD32Async(pointer + 8, 78, 0, stream.cu_stream()))));
        t.code("halves", raw!(code(sys::cuMemsetD16Async(pointer + 12, 5, 2, stream.cu_stream()))));
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn planes(t: &mut Transcript) -> Outcome {
    use cudarc::driver::DevicePtr as _;
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let data = stream.clone_htod(&(0..24).collect::<Vec<u8>>())?;
    let mut host = [0xff_u8; 12];
    // Three rows of four bytes out of rows of eight.
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 2,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: data.device_ptr(&stream).0,
        srcArray: std::ptr::null_mut(),
        srcPitch: 8,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: host.as_mut_ptr().cast(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: 4,
        WidthInBytes: 4,
        Height: 3,
    };
    t.code("copy", raw!(code(sys::cuMemcpy2D_v2(&raw const copy))));
    t.note("host", host);
    Ok(())
}

fn host_memory_in_a_kernel(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let wait = kernel(&context, "wait_for_host")?;
    let mut flag = raw!(context.alloc_pinned_with_flags::<u32>(1, sys::CU_MEMHOSTALLOC_DEVICEMAP))?;
    let at = flag.as_mut_ptr()?;
    // SAFETY: the kernel reads the word and the host writes it, both volatile; it lives until the stream was waited for.
    unsafe { at.write_volatile(0) };
    let mut there = 0;
    raw!(code(sys::cuMemHostGetDevicePointer_v2(&raw mut there, at.cast(), 0)))?;
    t.note("one address for both", there == at as u64);
    let mut out = stream.alloc_zeros::<u32>(1)?;
    launch!(stream, &wait, one_block(1), &there, &mut out)?;
    let done = stream.record_event(None)?;
    t.value("it waits", done.try_is_complete());
    // SAFETY: as above.
    unsafe { at.write_volatile(31) };
    t.value("what the host wrote", stream.clone_dtoh(&out));
    Ok(())
}

fn on_three_streams(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (up, work, down) = (context.new_stream()?, context.new_stream()?, context.new_stream()?);
    let add = kernel(&context, "add_one")?;
    let mut data = up.alloc_zeros::<u32>(128)?;
    let mut sums = Vec::new();
    for round in 0..6_u32 {
        up.memcpy_htod(&[round * 100; 128], &mut data)?;
        launch!(work, &add, one_block(128), &mut data, &128_u32)?;
        sums.push(down.clone_dtoh(&data)?.iter().sum::<u32>());
    }
    t.note("sums", sums);
    t.code("left over", context.check_err());
    Ok(())
}

fn registered(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let mut host = vec![3_u32; 4096];
    let at = host.as_mut_ptr().cast();
    t.code("register", raw!(code(sys::cuMemHostRegister_v2(at, 16384, 0))));
    let mut data = stream.clone_htod(&host)?;
    let add = kernel(&context, "add_one")?;
    launch!(stream, &add, one_block(32), &mut data, &32_u32)?;
    stream.memcpy_dtoh(&data, &mut host)?;
    stream.synchronize()?;
    t.note("host", (host[0], host[31], host[32]));
    t.code("unregister", raw!(code(sys::cuMemHostUnregister(at))));
    Ok(())
}

fn from_freed_memory(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    // Large enough to be unmapped when it is freed.
    let pointer = raw!(result::malloc_sync(64 << 20))?;
    raw!(result::free_sync(pointer))?;
    let mut host = [0_u8; 16];
    t.code("copy", raw!(result::memcpy_dtoh_sync(&mut host, pointer)));
    t.code("memset", raw!(result::memset_d8_sync(pointer, 1, 16)));
    t.code("the context lives", result::ctx::synchronize());
    Ok(())
}

fn wild_pointers(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    t.code("to null", raw!(result::memcpy_htod_sync(0, &[1_u8; 4])));
    t.code("memset of null", raw!(result::memset_d8_async(0, 1, 4, stream.cu_stream())));
    t.code("across from null", raw!(result::memcpy_dtod_sync(0, 0, 4)));
    t.code("free of null", raw!(result::free_sync(0)));
    t.code("free of what is not memory", raw!(result::free_sync(0x1234)));
    t.code("the context lives", stream.synchronize());
    Ok(())
}

fn registered_twice(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    let mut host = vec![0_u8; 8192];
    let at = host.as_mut_ptr().cast();
    t.code("once", raw!(code(sys::cuMemHostRegister_v2(at, 8192, 0))));
    t.code("twice", raw!(code(sys::cuMemHostRegister_v2(at, 8192, 0))));
    t.code("free it as if it were pinned", raw!(result::free_host(at)));
    t.code("unregister", raw!(code(sys::cuMemHostUnregister(at))));
    t.code("unregister twice", raw!(code(sys::cuMemHostUnregister(at))));
    Ok(())
}

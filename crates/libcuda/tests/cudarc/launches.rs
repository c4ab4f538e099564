//! Launches: arguments of every kind, shapes, cooperative grids, and what is refused.

use cudarc::driver::{CudaContext, DeviceRepr, LaunchConfig, PushKernelArg, sys};

use crate::kernels::{blocks, kernel, one_block};
use crate::transcript::{Outcome, Transcript, code, launch, raw, scenarios};

scenarios!("launches",
    right: [for_num_elems, widths, by_value, three_dimensions, shared_memory, chain, from_threads, cooperative,
        extended, on_default_and_own, arguments_are_copied],
    mistaken: [empty_grid, block_too_big, grid_too_big, past_its_bound, cooperative_too_large, stream_of_another_context]);

fn for_num_elems(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let saxpy = kernel(&context, "saxpy")?;
    for n in [1_u32, 1023, 1024, 1025, 5000] {
        let x = stream.clone_htod(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
        let mut y = stream.clone_htod(&vec![1.0_f32; n as usize])?;
        let config = LaunchConfig::for_num_elems(n);
        launch!(stream, &saxpy, config, &n, &3.0_f32, &x, &mut y)?;
        let y = stream.clone_dtoh(&y)?;
        t.note(&format!("{n} in {} blocks", config.grid_dim.0), (y[0], y[n as usize / 2], y[n as usize - 1]));
    }
    Ok(())
}

fn widths(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let widths = kernel(&context, "widths")?;
    let mut out = stream.alloc_zeros::<u64>(6)?;
    let (d, e, f) = (u64::MAX - 2, -0.25_f32, 1e300_f64);
    t.code("launch", launch!(stream, &widths, one_block(1), &mut out, &200_u8, &60_000_u16, &-7_i32, &d, &e, &f));
    let out = stream.clone_dtoh(&out)?;
    t.note("integers", (out[0], out[1], out[2].cast_signed(), out[3]));
    t.note("floats", (f64::from_bits(out[4]), f64::from_bits(out[5])));
    Ok(())
}

#[repr(C)]
struct Shape {
    count: u64,
    strides: [u32; 4],
}

// SAFETY: plain numbers in C's layout, 24 bytes, as the kernel `shape` takes them.
unsafe impl DeviceRepr for Shape {}

fn by_value(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let shape = kernel(&context, "shape")?;
    let mut out = stream.alloc_zeros::<u32>(4)?;
    let value = Shape { count: 5, strides: [1, 20, 300, 4000] };
    t.code("launch", launch!(stream, &shape, one_block(1), &value, &mut out));
    t.value("out", stream.clone_dtoh(&out));
    Ok(())
}

fn three_dimensions(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let place = kernel(&context, "place")?;
    let mut out = stream.alloc_zeros::<u32>(2 * 2 * 2 * 2 * 2)?;
    let config = LaunchConfig { grid_dim: (2, 1, 2), block_dim: (2, 2, 2), shared_mem_bytes: 0 };
    t.code("launch", launch!(stream, &place, config, &mut out));
    t.value("places", stream.clone_dtoh(&out));
    Ok(())
}

fn shared_memory(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let (reverse, bounded) = (kernel(&context, "reverse")?, kernel(&context, "bounded")?);
    let mut data = stream.clone_htod(&(0..100_u32).collect::<Vec<_>>())?;
    let config = LaunchConfig { shared_mem_bytes: 400, ..one_block(100) };
    launch!(stream, &reverse, config, &mut data)?;
    let reversed = stream.clone_dtoh(&data)?;
    t.note("reversed", reversed.iter().rev().copied().eq(0..100));
    t.code("static", launch!(stream, &bounded, one_block(20), &mut data));
    t.value("static", stream.clone_dtoh(&data.slice(..20)));
    Ok(())
}

fn chain(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(1000)?;
    for _ in 0..200 {
        launch!(stream, &add, LaunchConfig::for_num_elems(1000), &mut data, &1000_u32)?;
    }
    t.value("all the same", stream.clone_dtoh(&data).map(|numbers| numbers.iter().all(|n| *n == 200)));
    Ok(())
}

fn from_threads(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let add = kernel(&context, "add_one")?;
    let sums = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=4_u32)
            .map(|times| {
                let (context, add) = (&context, &add);
                scope.spawn(move || {
                    let stream = context.new_stream()?;
                    let mut data = stream.alloc_zeros::<u32>(32)?;
                    for _ in 0..times * 10 {
                        launch!(stream, add, one_block(32), &mut data, &32_u32)?;
                    }
                    stream.clone_dtoh(&data)
                })
            })
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect::<Vec<_>>()
    });
    for sum in sums {
        t.value("a thread", sum.map(|numbers| (numbers[0], numbers[31])));
    }
    t.code("left over", context.check_err());
    Ok(())
}

fn cooperative(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let meet = kernel(&context, "meet")?;
    let (mut arrived, mut out) = (stream.alloc_zeros::<u32>(1)?, stream.alloc_zeros::<u32>(16)?);
    let mut builder = stream.launch_builder(&meet);
    builder.arg(&mut arrived).arg(&mut out);
    t.code("launch", raw!(builder.launch_cooperative(blocks(16, 1))));
    t.value("all had arrived", stream.clone_dtoh(&out));
    Ok(())
}

fn extended(t: &mut Transcript) -> Outcome {
    use cudarc::driver::DevicePtrMut as _;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(8)?;
    {
        let (mut pointer, _event) = data.device_ptr_mut(&stream);
        let mut n = 6_u32;
        let mut arguments = [(&raw mut pointer).cast(), (&raw mut n).cast()];
        let config = sys::CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 8,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: stream.cu_stream(),
            attrs: std::ptr::null_mut(),
            numAttrs: 0,
        };
        let no_extra = std::ptr::null_mut();
        let arguments = arguments.as_mut_ptr();
        t.code("launch", raw!(code(sys::cuLaunchKernelEx(&raw const config, add.cu_function(), arguments, no_extra))));
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn on_default_and_own(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (default, own) = (context.default_stream(), context.new_stream()?);
    let add = kernel(&context, "add_one")?;
    let mut data = default.alloc_zeros::<u32>(16)?;
    for round in 0..10 {
        let stream = if round % 2 == 0 { &default } else { &own };
        launch!(stream, &add, one_block(16), &mut data, &16_u32)?;
    }
    t.value("data", own.clone_dtoh(&data).map(|numbers| (numbers[0], numbers[15])));
    Ok(())
}

fn arguments_are_copied(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let saxpy = kernel(&context, "saxpy")?;
    let x = stream.clone_htod(&[1.0_f32; 4])?;
    let mut y = stream.alloc_zeros::<f32>(4)?;
    for a in [1.0_f32, 10.0, 100.0] {
        // `a` is gone before the kernel has run.
        launch!(stream, &saxpy, one_block(4), &4_u32, &a, &x, &mut y)?;
    }
    t.value("y", stream.clone_dtoh(&y));
    Ok(())
}

/// Launches `count` with a shape, and says what comes of it.
fn try_shape(t: &mut Transcript, what: &str, grid_dim: (u32, u32, u32), block_dim: (u32, u32, u32)) -> Outcome {
    let context = CudaContext::new(0)?;
    let count = kernel(&context, "count")?;
    let stream = context.new_stream()?;
    t.code(what, launch!(stream, &count, LaunchConfig { grid_dim, block_dim, shared_mem_bytes: 0 }));
    t.code("and then", stream.synchronize());
    Ok(())
}

fn empty_grid(t: &mut Transcript) -> Outcome {
    try_shape(t, "no blocks", (0, 1, 1), (32, 1, 1))?;
    try_shape(t, "no threads", (1, 1, 1), (0, 1, 1))?;
    try_shape(t, "no depth", (1, 1, 0), (1, 1, 1))
}

fn block_too_big(t: &mut Transcript) -> Outcome {
    try_shape(t, "1025 threads", (1, 1, 1), (1025, 1, 1))?;
    try_shape(t, "33 x 32 threads", (1, 1, 1), (33, 32, 1))?;
    try_shape(t, "depth of 65", (1, 1, 1), (1, 1, 65))?;
    try_shape(t, "as many as there may be", (1, 1, 1), (16, 1, 64))
}

fn grid_too_big(t: &mut Transcript) -> Outcome {
    try_shape(t, "2^31 blocks", (1 << 31, 1, 1), (1, 1, 1))?;
    try_shape(t, "65536 rows", (1, 65_536, 1), (1, 1, 1))?;
    try_shape(t, "65535 rows", (1, 65_535, 1), (1, 1, 1))
}

fn past_its_bound(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let bounded = kernel(&context, "bounded")?;
    let mut data = stream.alloc_zeros::<u32>(129)?;
    t.code("128 threads", launch!(stream, &bounded, one_block(128), &mut data));
    t.code("129 threads", launch!(stream, &bounded, one_block(129), &mut data));
    t.code("then", stream.synchronize());
    let config = LaunchConfig { shared_mem_bytes: 48 << 10, ..one_block(1) };
    t.code("dynamic beside static", launch!(stream, &bounded, config, &mut data));
    Ok(())
}

fn cooperative_too_large(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let meet = kernel(&context, "meet")?;
    let (mut arrived, mut out) = (stream.alloc_zeros::<u32>(1)?, stream.alloc_zeros::<u32>(16)?);
    let mut builder = stream.launch_builder(&meet);
    builder.arg(&mut arrived).arg(&mut out);
    t.code("ten thousand blocks", raw!(builder.launch_cooperative(blocks(10_000, 1024))));
    t.code("then", stream.synchronize());
    t.value("nothing ran", stream.clone_dtoh(&arrived));
    Ok(())
}

fn stream_of_another_context(t: &mut Transcript) -> Outcome {
    let (primary, other) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    let count = kernel(&primary, "count")?;
    let stream = other.new_stream()?;
    t.code("launch", launch!(stream, &count, one_block(1)));
    t.code("there", other.synchronize());
    t.code("here", primary.synchronize());
    Ok(())
}

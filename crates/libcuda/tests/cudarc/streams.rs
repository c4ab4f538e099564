//! Streams: default, per thread, forked and joined, with priorities, with host functions.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{CudaContext, CudaStream, DriverError, LaunchConfig, result, sys};

use crate::gate::Gate;
use crate::kernels::{blocks, kernel, one_block};
use crate::transcript::{Outcome, Transcript, code, launch, raw, scenarios};

scenarios!("streams",
    right: [default, per_thread, new, priorities, fork_and_join, waits_for_an_event, query_while_busy,
        host_function_in_order, many, multi_stream_mode, borrowed, dropped_while_busy, of_its_context, tracked_between],
    mistaken: [wait_for_an_event_of_another_context]);

fn flags(stream: &CudaStream) -> Result<u32, DriverError> {
    let mut flags = 99;
    raw!(code(sys::cuStreamGetFlags(stream.cu_stream(), &raw mut flags))).map(|()| flags)
}

fn priority(stream: &CudaStream) -> Result<i32, DriverError> {
    let mut priority = 99;
    raw!(code(sys::cuStreamGetPriority(stream.cu_stream(), &raw mut priority))).map(|()| priority)
}

fn query(stream: &CudaStream) -> Result<(), DriverError> {
    raw!(code(sys::cuStreamQuery(stream.cu_stream())))
}

fn default(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    t.value("flags", flags(&stream));
    t.value("priority", priority(&stream));
    t.code("query", query(&stream));
    t.code("synchronize", stream.synchronize());
    t.note("equal to another", stream == context.default_stream());
    Ok(())
}

fn per_thread(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.per_thread_stream();
    t.value("flags", flags(&stream));
    let mut data = stream.clone_htod(&[1_u32, 2, 3, 4])?;
    let add = kernel(&context, "add_one")?;
    t.code("launch", launch!(stream, &add, one_block(32), &mut data, &4_u32));
    t.value("data", stream.clone_dtoh(&data));
    t.note("equal to the default one", stream == context.default_stream());
    Ok(())
}

fn new(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    t.value("flags", flags(&one));
    t.value("priority", priority(&one));
    t.note("equal", one == two);
    t.code("query", query(&one));
    t.code("synchronize", two.synchronize());
    Ok(())
}

fn priorities(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.value("range", result::stream::get_priority_range());
    for wanted in [0, -1, -5, -100, 100] {
        let stream = context.new_stream_with_priority(wanted)?;
        t.value(&format!("asked for {wanted}"), priority(&stream));
    }
    Ok(())
}

fn fork_and_join(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let add = kernel(&context, "add_one")?;
    let stream = context.new_stream()?;
    let mut data = stream.clone_htod(&[10_u32; 8])?;
    let side = stream.fork()?;
    t.code("on the fork", launch!(side, &add, one_block(8), &mut data, &8_u32));
    t.code("join", stream.join(&side));
    t.code("after it", launch!(stream, &add, one_block(8), &mut data, &4_u32));
    t.value("data", stream.clone_dtoh(&data));
    t.code("left over", context.check_err());
    Ok(())
}

fn waits_for_an_event(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let gate = Gate::on(&one)?;
    let event = one.record_event(None)?;
    t.code("wait", two.wait(&event));
    t.code("the waiting one", query(&two));
    gate.open();
    t.code("synchronize", two.synchronize());
    t.code("then", query(&two));
    t.note("complete", event.is_complete());
    Ok(())
}

fn query_while_busy(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let other = context.new_stream()?;
    let gate = Gate::on(&stream)?;
    t.code("behind the gate", query(&stream));
    t.code("beside it", query(&other));
    t.code("the other does not wait", other.synchronize());
    gate.open();
    t.code("synchronize", stream.synchronize());
    t.code("open", query(&stream));
    Ok(())
}

unsafe extern "C" fn times_ten_plus_one(number: *mut c_void) {
    // SAFETY: the scenario hands over a number that it keeps until the stream has been waited for.
    let number = unsafe { &*number.cast_const().cast::<AtomicU32>() };
    number.store(number.load(Ordering::SeqCst) * 10 + 1, Ordering::SeqCst);
}

unsafe extern "C" fn times_ten_plus_two(number: *mut c_void) {
    // SAFETY: as above.
    let number = unsafe { &*number.cast_const().cast::<AtomicU32>() };
    number.store(number.load(Ordering::SeqCst) * 10 + 2, Ordering::SeqCst);
}

fn host_function_in_order(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let number = AtomicU32::new(0);
    let at = (&raw const number).cast_mut().cast::<c_void>();
    for function in [times_ten_plus_one, times_ten_plus_two as unsafe extern "C" fn(*mut c_void), times_ten_plus_one] {
        t.code("host function", raw!(result::stream::launch_host_function(stream.cu_stream(), function, at)));
    }
    stream.synchronize()?;
    t.note("in order", number.load(Ordering::SeqCst));
    Ok(())
}

fn many(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let add = kernel(&context, "add_one")?;
    let streams = (0..40).map(|_| context.new_stream()).collect::<Result<Vec<_>, _>>()?;
    let mut data = streams.iter().map(|s| s.clone_htod(&[5_u32; 16])).collect::<Result<Vec<_>, _>>()?;
    for (at, (stream, data)) in streams.iter().zip(&mut data).enumerate() {
        for _ in 0..at % 3 {
            launch!(stream, &add, one_block(16), &mut *data, &16_u32)?;
        }
    }
    let sums = data.iter().map(|d| d.stream().clone_dtoh(d)).collect::<Result<Vec<_>, _>>()?;
    t.note("first numbers", sums.iter().map(|numbers| numbers[0]).collect::<Vec<_>>());
    t.code("left over", context.check_err());
    Ok(())
}

fn multi_stream_mode(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.note("at first", (context.is_in_multi_stream_mode(), context.is_event_tracking()));
    let stream = context.new_stream()?;
    t.note("with a stream", (context.is_in_multi_stream_mode(), context.is_managing_stream_synchronization()));
    raw!(context.disable_event_tracking());
    t.note("without tracking", context.is_managing_stream_synchronization());
    drop(stream);
    t.note("without the stream", context.is_in_multi_stream_mode());
    t.code("left over", context.check_err());
    Ok(())
}

fn borrowed(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let handle = result::stream::create(result::stream::StreamKind::Default)?;
    {
        let stream = raw!(context.wrap_borrowed_stream(handle));
        t.value("flags", flags(&stream));
        let data = stream.clone_htod(&[1_u32, 2, 3])?;
        t.value("data", stream.clone_dtoh(&data));
    }
    t.code("still there", raw!(result::stream::synchronize(handle)));
    t.code("destroy", raw!(result::stream::destroy(handle)));
    Ok(())
}

fn dropped_while_busy(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let add = kernel(&context, "add_one")?;
    let stream = context.new_stream()?;
    let other = context.new_stream()?;
    let mut data = stream.clone_htod(&[0_u32; 64])?;
    for _ in 0..20 {
        launch!(stream, &add, blocks(2, 32), &mut data, &64_u32)?;
    }
    let end = stream.record_event(None)?;
    drop(stream);
    other.wait(&end)?;
    t.value("sum", other.clone_dtoh(&data).map(|numbers| numbers.iter().sum::<u32>()));
    drop(data);
    t.code("left over", context.check_err());
    Ok(())
}

fn of_its_context(t: &mut Transcript) -> Outcome {
    let (primary, other) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    let (one, two) = (primary.new_stream()?, other.new_stream()?);
    for (what, stream, context) in [("primary", &one, &primary), ("other", &two, &other)] {
        let mut found = std::ptr::null_mut();
        raw!(code(sys::cuStreamGetCtx(stream.cu_stream(), &raw mut found)))?;
        t.note(what, found == context.cu_ctx());
    }
    t.note("equal", one == two);
    Ok(())
}

/// What cudarc is for: three streams and one slice, ordered by its events alone.
fn tracked_between(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let add = kernel(&context, "add_one")?;
    let streams = [context.new_stream()?, context.new_stream()?, context.new_stream()?];
    let mut data = streams[0].alloc_zeros::<u32>(256)?;
    let config = LaunchConfig { grid_dim: (4, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
    for round in 0..30 {
        launch!(streams[round % 3], &add, config, &mut data, &256_u32)?;
    }
    let copies: Vec<Arc<CudaStream>> = streams.iter().rev().cloned().collect();
    for stream in copies {
        t.value("all the same", stream.clone_dtoh(&data).map(|numbers| numbers.iter().all(|n| *n == 30)));
    }
    t.code("left over", context.check_err());
    Ok(())
}

fn wait_for_an_event_of_another_context(t: &mut Transcript) -> Outcome {
    let (primary, other) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    let event = other.default_stream().record_event(None)?;
    let stream = primary.new_stream()?;
    t.code("cudarc refuses to record it here", event.record(&stream));
    t.code("the driver too", raw!(result::event::record(event.cu_event(), stream.cu_stream())));
    t.code("a wait is allowed", stream.wait(&event));
    t.code("synchronize", stream.synchronize());
    Ok(())
}

//! Events: made, recorded, asked, measured, and those that cudarc keeps for each slice.

use cudarc::driver::{CudaContext, result, sys};
use sys::CUevent_flags as Flags;

use crate::gate::Gate;
use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("events",
    right: [never_recorded, recorded, not_ready, recorded_twice, elapsed, around_a_launch, blocking,
        tracking_off, slice_read_elsewhere],
    mistaken: [elapsed_without_timing, elapsed_never_recorded, elapsed_not_ready, unknown_flags]);

fn never_recorded(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let event = context.new_event(None)?;
    t.note("complete", event.is_complete());
    t.value("asked", event.try_is_complete());
    t.code("synchronize", event.synchronize());
    t.code("a stream may wait for it", context.new_stream()?.wait(&event));
    Ok(())
}

fn recorded(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let event = context.new_event(None)?;
    t.code("record", event.record(&stream));
    t.code("synchronize", event.synchronize());
    t.value("asked", event.try_is_complete());
    let default = context.default_stream().record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    t.code("on the default stream", default.synchronize());
    Ok(())
}

fn not_ready(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let before = stream.record_event(None)?;
    before.synchronize()?;
    let gate = Gate::on(&stream)?;
    let behind = stream.record_event(None)?;
    t.value("before the gate", before.try_is_complete());
    t.value("behind it", behind.try_is_complete());
    t.note("complete", behind.is_complete());
    gate.open();
    t.code("synchronize", behind.synchronize());
    t.value("open", behind.try_is_complete());
    Ok(())
}

fn recorded_twice(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let event = one.record_event(None)?;
    event.synchronize()?;
    let gate = Gate::on(&two)?;
    t.code("again, behind a gate", event.record(&two));
    t.value("the last record counts", event.try_is_complete());
    gate.open();
    event.synchronize()?;
    t.value("then", event.try_is_complete());
    Ok(())
}

fn elapsed(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let start = stream.record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    let data = stream.clone_htod(&vec![1_u8; 1 << 16])?;
    let end = stream.record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    t.value("not negative", start.elapsed_ms(&end).map(|ms| ms >= 0.0));
    t.value("of itself", start.elapsed_ms(&start));
    t.value("backwards", end.elapsed_ms(&start).map(|ms| ms <= 0.0));
    drop(data);
    Ok(())
}

fn around_a_launch(t: &mut Transcript) -> Outcome {
    use cudarc::driver::PushKernelArg as _;
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(32)?;
    let n = 32_u32;
    let mut builder = stream.launch_builder(&add);
    builder.arg(&mut data).arg(&n).record_kernel_launch(Flags::CU_EVENT_DEFAULT);
    let events = raw!(builder.launch(one_block(32)))?;
    t.note("two events", events.is_some());
    if let Some((start, end)) = events {
        t.value("elapsed", start.elapsed_ms(&end).map(|ms| ms >= 0.0));
    }
    t.value("data", stream.clone_dtoh(&data).map(|numbers| numbers == [1; 32]));
    Ok(())
}

fn blocking(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let event = context.default_stream().record_event(Some(Flags::CU_EVENT_BLOCKING_SYNC))?;
    t.code("synchronize", event.synchronize());
    let later = context.default_stream().record_event(Some(Flags::CU_EVENT_BLOCKING_SYNC))?;
    t.value("it has a time", event.elapsed_ms(&later).map(|ms| ms >= 0.0));
    Ok(())
}

fn tracking_off(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    raw!(context.disable_event_tracking());
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let add = kernel(&context, "add_one")?;
    let mut data = one.clone_htod(&[1_u32; 4])?;
    // What tracking would do, by hand.
    two.join(&one)?;
    launch!(two, &add, one_block(4), &mut data, &4_u32)?;
    one.join(&two)?;
    t.value("data", one.clone_dtoh(&data));
    raw!(context.enable_event_tracking());
    let tracked = one.alloc_zeros::<u32>(2)?;
    t.value("tracked again", two.clone_dtoh(&tracked));
    t.code("left over", context.check_err());
    Ok(())
}

fn slice_read_elsewhere(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let mut data = one.clone_htod(&[3_u32; 1024])?;
    let copy = two.clone_dtod(&data)?;
    // The read on the second stream is behind a wait for the first; this write is behind the read.
    one.memset_zeros(&mut data)?;
    t.value("the copy has the old", two.clone_dtoh(&copy).map(|numbers| numbers == [3; 1024]));
    t.value("the slice the new", one.clone_dtoh(&data).map(|numbers| numbers == [0; 1024]));
    Ok(())
}

fn elapsed_without_timing(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let (start, end) = (stream.record_event(None)?, stream.record_event(None)?);
    t.value("elapsed", start.elapsed_ms(&end));
    let timed = stream.record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    t.value("one with, one without", timed.elapsed_ms(&end));
    Ok(())
}

fn elapsed_never_recorded(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let start = context.new_event(Some(Flags::CU_EVENT_DEFAULT))?;
    let end = context.default_stream().record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    t.value("from one that was not", start.elapsed_ms(&end));
    t.value("to one that was not", end.elapsed_ms(&start));
    Ok(())
}

fn elapsed_not_ready(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let start = stream.record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    start.synchronize()?;
    let gate = Gate::on(&stream)?;
    let end = stream.record_event(Some(Flags::CU_EVENT_DEFAULT))?;
    t.value("behind a gate", raw!(result::event::elapsed(start.cu_event(), end.cu_event())));
    gate.open();
    t.value("open", start.elapsed_ms(&end).map(|ms| ms >= 0.0));
    Ok(())
}

fn unknown_flags(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let mut event = std::ptr::null_mut();
    t.code("0x40", raw!(sys::cuEventCreate(&raw mut event, 0x40).result()));
    t.code("interprocess with timing", context.new_event(Some(Flags::CU_EVENT_INTERPROCESS)));
    Ok(())
}

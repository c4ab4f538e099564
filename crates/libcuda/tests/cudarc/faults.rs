//! Faults of kernels: which code comes, from which calls, and what is left afterwards.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, sys};
use sys::CUgraphInstantiate_flags as Flags;
use sys::CUstreamCaptureMode as Mode;

use crate::kernels::{PTX, kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("faults",
    right: [],
    mistaken: [write_to_null, misaligned, trap, seen_by_an_event, seen_by_another_stream, in_a_graph, in_its_own_context,
        starting_again, while_capturing]);

/// Makes a context, its stream, and a fault on it that nobody has looked at yet. The kernel comes along: unloading it would
/// be the first call that looks.
fn broken() -> Result<(Arc<CudaContext>, Arc<CudaStream>, CudaFunction), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let write = kernel(&context, "write_at")?;
    launch!(stream, &write, one_block(1), &0_u64, &0_u64)?;
    Ok((context, stream, write))
}

/// What calls of every kind answer after the fault was seen.
fn afterwards(t: &mut Transcript, context: &Arc<CudaContext>, stream: &Arc<CudaStream>) {
    t.code("synchronize again", stream.synchronize());
    t.code("context synchronize", context.synchronize());
    t.code("allocate", stream.alloc_zeros::<u8>(16));
    t.code("a stream", context.new_stream());
    t.code("an event", context.new_event(None));
    t.code("a module", context.load_module(cudarc::nvrtc::Ptx::from_src(PTX)));
    t.code("memory", context.mem_get_info());
    t.code("bind", context.bind_to_thread());
    t.value("status", stream.capture_status());
    t.value("name of the device", context.name());
    t.value("attribute", context.compute_capability());
}

fn write_to_null(t: &mut Transcript) -> Outcome {
    let (context, stream, write) = broken()?;
    t.code("synchronize", stream.synchronize());
    afterwards(t, &context, &stream);
    drop(write);
    Ok(())
}

fn misaligned(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    // An event recorded behind the launch could be the first call that looks.
    raw!(context.disable_event_tracking());
    let stream = context.new_stream()?;
    let write = kernel(&context, "write_at")?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    stream.synchronize()?;
    launch!(stream, &write, one_block(1), &mut data, &2_u64)?;
    t.code("synchronize", stream.synchronize());
    t.code("copy", stream.clone_dtoh(&data));
    Ok(())
}

fn trap(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let give_up = kernel(&context, "give_up")?;
    t.code("launch", launch!(stream, &give_up, one_block(1)));
    t.code("synchronize", stream.synchronize());
    t.code("launch again", launch!(stream, &give_up, one_block(1)));
    t.code("allocate", stream.alloc_zeros::<u8>(16));
    Ok(())
}

fn seen_by_an_event(t: &mut Transcript) -> Outcome {
    let (context, stream, write) = broken()?;
    let event = stream.record_event(None);
    match event {
        Ok(event) => {
            t.code("event synchronize", event.synchronize());
            t.value("asked", event.try_is_complete());
            t.note("is_complete", event.is_complete());
        }
        // The fault may be there before the event is.
        Err(error) => {
            t.code::<()>("event synchronize", Err(error));
            t.value::<bool>("asked", Err(error));
            t.note("is_complete", false);
        }
    }
    t.code("context synchronize", context.synchronize());
    drop(write);
    Ok(())
}

fn seen_by_another_stream(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let data = two.clone_htod(&[1_u32; 4])?;
    two.synchronize()?;
    let write = kernel(&context, "write_at")?;
    launch!(one, &write, one_block(1), &0_u64, &0_u64)?;
    t.code("synchronize", one.synchronize());
    t.code("the other stream", two.synchronize());
    t.code("a copy there", two.clone_dtoh(&data));
    drop(data);
    t.code("left over of the drop", context.check_err());
    Ok(())
}

fn in_a_graph(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    raw!(context.disable_event_tracking());
    let stream = context.new_stream()?;
    let write = kernel(&context, "write_at")?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    launch!(stream, &write, one_block(1), &0_u64, &0_u64)?;
    if let Some(graph) = stream.end_capture(Flags(0))? {
        t.code("launch", graph.launch());
        t.code("synchronize", stream.synchronize());
        t.code("launch again", graph.launch());
        drop(graph);
        t.code("left over of the drop", context.check_err());
    }
    Ok(())
}

/// A fault in a context that is not the primary one, and what the primary one says.
fn in_its_own_context(t: &mut Transcript) -> Outcome {
    let (primary, other) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    let stream = other.new_stream()?;
    let write = kernel(&other, "write_at")?;
    launch!(stream, &write, one_block(1), &0_u64, &0_u64)?;
    t.code("synchronize", stream.synchronize());
    t.code("the primary one", primary.synchronize());
    t.code("allocates", primary.default_stream().alloc_zeros::<u8>(16));
    Ok(())
}

/// Everything dropped, and a new context in the same process.
fn starting_again(t: &mut Transcript) -> Outcome {
    let (context, stream, write) = broken()?;
    t.code("synchronize", stream.synchronize());
    drop(write);
    t.code("left over of the drop", context.check_err());
    drop(stream);
    drop(context);
    let again = t.code("a new context", CudaContext::new(0));
    if let Some(context) = again {
        t.value("it works", context.default_stream().clone_htod(&[1_u8]).map(|data| data.len()));
        t.code("synchronize", context.synchronize());
    }
    Ok(())
}

fn while_capturing(t: &mut Transcript) -> Outcome {
    let (context, stream, write) = broken()?;
    t.code("synchronize", stream.synchronize());
    t.code("begin", stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED));
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    t.code("context synchronize", context.synchronize());
    drop(write);
    Ok(())
}

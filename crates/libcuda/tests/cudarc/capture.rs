//! Capture: how it begins and ends, what it takes up, and what breaks it.

use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use std::sync::Arc;
use sys::CUgraphInstantiate_flags as Flags;
use sys::CUstreamCaptureMode as Mode;

use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("capture",
    right: [status, nothing_captured, modes, several_kinds_of_node, forked_and_joined, memory_in_a_capture, per_thread_stream,
        abandoned, on_another_thread, allowed_queries],
    mistaken: [default_stream, begun_twice, ended_without_beginning, synchronized_inside, not_joined, events_from_outside,
        allocation_beside_it, ended_on_another_thread, invalid_flags, query_inside]);

/// A context without event tracking: its events belong to no capture.
fn untracked() -> Result<(Arc<CudaContext>, Arc<CudaStream>), DriverError> {
    let context = CudaContext::new(0)?;
    raw!(context.disable_event_tracking());
    let stream = context.new_stream()?;
    Ok((context, stream))
}

fn status(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    t.value("before", stream.capture_status());
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    t.value("while", stream.capture_status());
    t.value("beside", context.new_stream().and_then(|other| other.capture_status()));
    let graph = stream.end_capture(Flags(0))?;
    t.note("a graph", graph.is_some());
    t.value("after", stream.capture_status());
    Ok(())
}

fn nothing_captured(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
    let graph = stream.end_capture(Flags(0))?;
    if let Some(graph) = graph {
        let mut nodes = 99;
        t.code("nodes", raw!(sys::cuGraphGetNodes(graph.cu_graph(), std::ptr::null_mut(), &raw mut nodes).result()));
        t.note("nodes", nodes);
        t.code("launch", graph.launch());
        t.code("synchronize", stream.synchronize());
    }
    Ok(())
}

fn modes(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    for mode in [
        Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
    ] {
        t.code(&format!("{mode:?}"), stream.begin_capture(mode));
        launch!(stream, &add, one_block(4), &mut data, &4_u32)?;
        if let Some(graph) = stream.end_capture(Flags(0))? {
            t.code("launch", graph.launch());
        }
        t.value("data", stream.clone_dtoh(&data));
    }
    Ok(())
}

fn kinds(graph: sys::CUgraph) -> Result<Vec<sys::CUgraphNodeType>, DriverError> {
    let mut nodes = [std::ptr::null_mut(); 16];
    let mut count = nodes.len();
    raw!(sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count).result())?;
    let kind = |node: &sys::CUgraphNode| {
        let mut kind = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        raw!(sys::cuGraphNodeGetType(*node, &raw mut kind).result()).map(|()| kind)
    };
    nodes[..count.min(16)].iter().map(kind).collect()
}

fn several_kinds_of_node(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    let add = kernel(&context, "add_one")?;
    let mut host = raw!(context.alloc_pinned_with_flags::<u32>(4, 0))?;
    host.as_mut_slice()?.fill(0);
    let at = host.as_mut_ptr()?;
    let (mut data, mut copy) = (stream.clone_htod(&[7_u32; 4])?, stream.alloc_zeros::<u32>(4)?);
    stream.synchronize()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    stream.memset_zeros(&mut data)?;
    launch!(stream, &add, one_block(4), &mut data, &4_u32)?;
    stream.memcpy_dtod(&data, &mut copy)?;
    {
        use cudarc::driver::DevicePtr as _;
        let pointer = copy.device_ptr(&stream).0;
        t.code(
            "to pinned memory",
            raw!(sys::cuMemcpyDtoHAsync_v2(at.cast(), pointer, 16, stream.cu_stream()).result()),
        );
    }
    if let Some(graph) = stream.end_capture(Flags(0))? {
        t.value("nodes", kinds(graph.cu_graph()));
        graph.launch()?;
        stream.synchronize()?;
        t.value("host", host.as_slice().map(<[u32]>::to_vec));
    }
    Ok(())
}

fn forked_and_joined(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    let side = context.new_stream()?;
    let add = kernel(&context, "add_one")?;
    let (mut a, mut b) = (stream.alloc_zeros::<u32>(4)?, stream.alloc_zeros::<u32>(4)?);
    let saxpy = kernel(&context, "saxpy")?;
    let x = stream.clone_htod(&[1.0_f32; 4])?;
    let mut y = stream.alloc_zeros::<f32>(4)?;
    stream.synchronize()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    side.join(&stream)?;
    t.value("the fork captures", side.capture_status());
    launch!(side, &add, one_block(4), &mut a, &4_u32)?;
    launch!(stream, &add, one_block(4), &mut b, &2_u32)?;
    stream.join(&side)?;
    launch!(stream, &saxpy, one_block(4), &4_u32, &2.0_f32, &x, &mut y)?;
    if let Some(graph) = stream.end_capture(Flags(0))? {
        t.value("nodes", kinds(graph.cu_graph()));
        let mut edges = 0;
        let none = std::ptr::null_mut();
        let no_data = std::ptr::null_mut();
        let asked = raw!(sys::cuGraphGetEdges_v2(graph.cu_graph(), none, none, no_data, &raw mut edges).result());
        t.value("edges", asked.map(|()| edges));
        t.value("the fork, after", side.capture_status());
        for _ in 0..3 {
            graph.launch()?;
        }
        t.value("a", stream.clone_dtoh(&a));
        t.value("b", stream.clone_dtoh(&b));
        t.value("y", stream.clone_dtoh(&y));
    }
    Ok(())
}

fn memory_in_a_capture(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    let add = kernel(&context, "add_one")?;
    let mut out = stream.alloc_zeros::<u32>(8)?;
    stream.synchronize()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    {
        let mut temporary = stream.alloc_zeros::<u32>(8)?;
        launch!(stream, &add, one_block(8), &mut temporary, &8_u32)?;
        stream.memcpy_dtod(&temporary, &mut out)?;
    }
    let graph = t.code("end", stream.end_capture(Flags(0))).flatten();
    if let Some(graph) = graph {
        t.value("nodes", kinds(graph.cu_graph()));
        for _ in 0..3 {
            t.code("launch", graph.launch());
        }
        t.value("out", stream.clone_dtoh(&out));
    }
    t.code("left over", context.check_err());
    Ok(())
}

fn per_thread_stream(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    raw!(context.disable_event_tracking());
    let stream = context.per_thread_stream();
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    stream.synchronize()?;
    t.code("begin", stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch!(stream, &add, one_block(4), &mut data, &4_u32)?;
    if let Some(graph) = stream.end_capture(Flags(0))? {
        graph.launch()?;
        graph.launch()?;
        t.value("data", stream.clone_dtoh(&data));
    }
    Ok(())
}

/// A capture that nobody ends: the stream is destroyed with it.
fn abandoned(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    drop(stream);
    t.code("left over", context.check_err());
    t.code("synchronize", context.synchronize());
    t.value("another stream", context.new_stream().and_then(|stream| stream.capture_status()));
    Ok(())
}

fn on_another_thread(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    let there = stream.clone();
    let ended = std::thread::spawn(move || there.end_capture(Flags(0)).map(|graph| graph.is_some())).join();
    if let Ok(ended) = ended {
        t.value("a relaxed one ends elsewhere", ended);
    }
    t.value("status", stream.capture_status());
    t.code("left over", context.check_err());
    Ok(())
}

fn allowed_queries(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    let function = kernel(&context, "add_one")?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
    t.value("memory", context.mem_get_info().map(|(free, total)| free < total));
    t.value("attribute", function.max_threads_per_block());
    t.code("an event", context.new_event(None));
    t.code("a stream", context.new_stream());
    t.value("status", stream.capture_status());
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    Ok(())
}

fn default_stream(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    t.code("begin", stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED));
    t.value("status", stream.capture_status());
    Ok(())
}

fn begun_twice(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    t.code("once", stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED));
    t.code("twice", stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED));
    t.value("status", stream.capture_status());
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    Ok(())
}

fn ended_without_beginning(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    t.code("the stream works", stream.synchronize());
    Ok(())
}

fn synchronized_inside(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    t.code("synchronize", stream.synchronize());
    t.value("status", stream.capture_status());
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    t.value("status", stream.capture_status());
    t.code("synchronize", stream.synchronize());
    Ok(())
}

fn not_joined(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    let side = context.new_stream()?;
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    side.join(&stream)?;
    launch!(side, &add, one_block(4), &mut data, &4_u32)?;
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    t.value("the other stream", side.capture_status());
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

/// What a user of cudarc meets who captures with event tracking on: the slice's events were recorded before.
fn events_from_outside(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    stream.synchronize()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    t.code("launch", launch!(stream, &add, one_block(4), &mut data, &4_u32));
    t.value("status", stream.capture_status());
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    t.code("left over", context.check_err());
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn allocation_beside_it(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
    t.code("cuMemAlloc", raw!(result::malloc_sync(64)));
    t.value("status", stream.capture_status());
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    t.code("cuMemAlloc, relaxed", raw!(result::malloc_sync(64)));
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    Ok(())
}

fn ended_on_another_thread(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    let there = stream.clone();
    let ended = std::thread::spawn(move || there.end_capture(Flags(0)).map(|graph| graph.is_some())).join();
    if let Ok(ended) = ended {
        t.value("end there", ended);
    }
    t.value("status", stream.capture_status());
    t.value("end here", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    Ok(())
}

fn invalid_flags(t: &mut Transcript) -> Outcome {
    let (_context, stream) = untracked()?;
    for flags in [
        Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
        Flags(0x100),
    ] {
        stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        t.value("end", stream.end_capture(flags).map(|graph| graph.is_some()));
        t.value("status", stream.capture_status());
    }
    Ok(())
}

fn query_inside(t: &mut Transcript) -> Outcome {
    let (context, stream) = untracked()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    let event = stream.record_event(None)?;
    t.value("event", event.try_is_complete());
    t.code("event synchronize", event.synchronize());
    t.value("status", stream.capture_status());
    t.value("end", stream.end_capture(Flags(0)).map(|graph| graph.is_some()));
    t.code("left over", context.check_err());
    Ok(())
}

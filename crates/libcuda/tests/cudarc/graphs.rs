//! Graphs that cudarc captured: launched, uploaded, updated, dropped.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{CudaContext, CudaFunction, CudaGraph, CudaSlice, CudaStream, DriverError, result, sys};
use sys::CUgraphInstantiate_flags as Flags;
use sys::CUstreamCaptureMode as Mode;

use crate::gate::Gate;
use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("graphs",
    right: [launched_often, changed_data, uploaded, flags, on_another_stream, dropped_while_running, outlives_nothing,
        updated_whole, host_function, arguments_frozen, among_eager_work, cloned, two_of_one_capture, disabled_node],
    mistaken: [updated_to_another_shape, launched_after_destroy]);

/// A graph that adds 1 to four numbers, and what it needs. cudarc does not keep the kernel's module alive for a graph; a
/// program that drops it first was seen to crash in NVIDIA's driver.
struct Adder {
    graph: CudaGraph,
    data: CudaSlice<u32>,
    add: CudaFunction,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
}

fn adder() -> Result<Adder, DriverError> {
    let context = CudaContext::new(0)?;
    raw!(context.disable_event_tracking());
    let stream = context.new_stream()?;
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(4)?;
    let graph = capture_add(&add, &stream, &mut data, 1)?;
    Ok(Adder { graph, data, add, stream, context })
}

fn capture_add(
    add: &CudaFunction,
    stream: &Arc<CudaStream>,
    data: &mut CudaSlice<u32>,
    times: u32,
) -> Result<CudaGraph, DriverError> {
    stream.synchronize()?;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    for _ in 0..times {
        launch!(stream, add, one_block(4), &mut *data, &4_u32)?;
    }
    let graph = stream.end_capture(Flags(0))?;
    graph.ok_or(DriverError(sys::CUresult::CUDA_ERROR_UNKNOWN))
}

fn launched_often(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context: _context } = adder()?;
    for _ in 0..100 {
        graph.launch()?;
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn changed_data(t: &mut Transcript) -> Outcome {
    let Adder { graph, mut data, add: _add, stream, context: _context } = adder()?;
    for numbers in [[1_u32, 2, 3, 4], [10, 20, 30, 40], [u32::MAX, 0, 5, 6]] {
        stream.memcpy_htod(&numbers, &mut data)?;
        graph.launch()?;
        t.value("data", stream.clone_dtoh(&data));
    }
    Ok(())
}

fn uploaded(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context: _context } = adder()?;
    t.code("upload", graph.upload());
    t.code("upload again", graph.upload());
    t.value("nothing ran", stream.clone_dtoh(&data));
    t.code("launch", graph.launch());
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn flags(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    raw!(context.disable_event_tracking());
    let stream = context.new_stream()?;
    for flags in [
        Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
        Flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
        Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    ] {
        let mut data = stream.clone_htod(&[1_u32; 4])?;
        stream.synchronize()?;
        stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        stream.memset_zeros(&mut data)?;
        let graph = t.code(&format!("end with {}", flags.0), stream.end_capture(flags)).flatten();
        if let Some(graph) = graph {
            t.code("launch", graph.launch());
            let mut said = 99;
            raw!(sys::cuGraphExecGetFlags(graph.cu_graph_exec(), &raw mut said).result())?;
            t.note("flags", said);
        }
        t.value("data", stream.clone_dtoh(&data));
    }
    Ok(())
}

fn on_another_stream(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context } = adder()?;
    let other = context.new_stream()?;
    t.code("there", raw!(result::graph::launch(graph.cu_graph_exec(), other.cu_stream())));
    stream.join(&other)?;
    graph.launch()?;
    t.value("data", stream.clone_dtoh(&data));
    t.code("on the default stream", raw!(result::graph::launch(graph.cu_graph_exec(), std::ptr::null_mut())));
    context.synchronize()?;
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn dropped_while_running(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context } = adder()?;
    let gate = Gate::on(&stream)?;
    graph.launch()?;
    graph.launch()?;
    drop(graph);
    t.code("left over", context.check_err());
    gate.open();
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

/// The executable does not need the graph that it was made from.
fn outlives_nothing(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context: _context } = adder()?;
    let exec = raw!(result::graph::instantiate(graph.cu_graph(), Flags(0)))?;
    drop(graph);
    t.code("launch", raw!(result::graph::launch(exec, stream.cu_stream())));
    t.value("data", stream.clone_dtoh(&data));
    t.code("destroy", raw!(result::graph::exec_destroy(exec)));
    Ok(())
}

fn update(exec: &CudaGraph, to: &CudaGraph) -> (sys::CUresult, sys::CUgraphExecUpdateResult) {
    let mut info = sys::CUgraphExecUpdateResultInfo {
        result: sys::CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        errorNode: std::ptr::null_mut(),
        errorFromNode: std::ptr::null_mut(),
    };
    (raw!(sys::cuGraphExecUpdate_v2(exec.cu_graph_exec(), to.cu_graph(), &raw mut info)), info.result)
}

fn updated_whole(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add, stream, context: _context } = adder()?;
    let mut other = stream.clone_htod(&[50_u32; 4])?;
    let to = capture_add(&add, &stream, &mut other, 1)?;
    t.note("update", update(&graph, &to));
    graph.launch()?;
    t.value("the old numbers", stream.clone_dtoh(&data));
    t.value("the new ones", stream.clone_dtoh(&other));
    Ok(())
}

unsafe extern "C" fn count(number: *mut c_void) {
    // SAFETY: the scenario hands over a number that it keeps until the stream has been waited for.
    let number = unsafe { &*number.cast_const().cast::<AtomicU32>() };
    number.fetch_add(1, Ordering::SeqCst);
}

fn host_function(t: &mut Transcript) -> Outcome {
    let Adder { graph: _graph, data: _data, add: _add, stream, context: _context } = adder()?;
    let number = AtomicU32::new(0);
    let at = (&raw const number).cast_mut().cast::<c_void>();
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    t.code("host function", raw!(result::stream::launch_host_function(stream.cu_stream(), count, at)));
    t.note("not called yet", number.load(Ordering::SeqCst));
    if let Some(graph) = stream.end_capture(Flags(0))? {
        for _ in 0..3 {
            graph.launch()?;
        }
        stream.synchronize()?;
        t.note("called", number.load(Ordering::SeqCst));
    }
    Ok(())
}

fn arguments_frozen(t: &mut Transcript) -> Outcome {
    let Adder { graph: _graph, data: _data, add: _add, stream, context } = adder()?;
    let saxpy = kernel(&context, "saxpy")?;
    let x = stream.clone_htod(&[1.0_f32; 4])?;
    let mut y = stream.alloc_zeros::<f32>(4)?;
    stream.synchronize()?;
    let mut a = 3.0_f32;
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    launch!(stream, &saxpy, one_block(4), &4_u32, &a, &x, &mut y)?;
    let graph = stream.end_capture(Flags(0))?;
    a *= 100.0;
    if let Some(graph) = graph {
        graph.launch()?;
        t.value("y", stream.clone_dtoh(&y));
        t.note("a is now", a);
        graph.launch()?;
        t.value("y", stream.clone_dtoh(&y));
    }
    Ok(())
}

fn among_eager_work(t: &mut Transcript) -> Outcome {
    let Adder { graph, mut data, add, stream, context: _context } = adder()?;
    for round in 0..10_u32 {
        graph.launch()?;
        if round % 3 == 0 {
            launch!(stream, &add, one_block(4), &mut data, &2_u32)?;
        }
        if round == 5 {
            stream.memset_zeros(&mut data)?;
        }
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn cloned(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context: _context } = adder()?;
    let mut copy = std::ptr::null_mut();
    t.code("clone", raw!(sys::cuGraphClone(&raw mut copy, graph.cu_graph()).result()));
    drop(graph);
    let exec = raw!(result::graph::instantiate(copy, Flags(0)))?;
    raw!(result::graph::launch(exec, stream.cu_stream()))?;
    t.value("data", stream.clone_dtoh(&data));
    t.code("destroy", raw!(result::graph::exec_destroy(exec)));
    t.code("destroy", raw!(result::graph::destroy(copy)));
    Ok(())
}

fn two_of_one_capture(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context: _context } = adder()?;
    let exec = raw!(result::graph::instantiate(graph.cu_graph(), Flags(0)))?;
    for _ in 0..5 {
        graph.launch()?;
        raw!(result::graph::launch(exec, stream.cu_stream()))?;
    }
    t.value("data", stream.clone_dtoh(&data));
    raw!(result::graph::exec_destroy(exec))
}

fn disabled_node(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add: _add, stream, context: _context } = adder()?;
    let mut node = std::ptr::null_mut();
    let mut count = 1;
    raw!(sys::cuGraphGetNodes(graph.cu_graph(), &raw mut node, &raw mut count).result())?;
    let exec = graph.cu_graph_exec();
    t.code("disable", raw!(sys::cuGraphNodeSetEnabled(exec, node, 0).result()));
    graph.launch()?;
    t.value("data", stream.clone_dtoh(&data));
    t.code("enable", raw!(sys::cuGraphNodeSetEnabled(exec, node, 1).result()));
    graph.launch()?;
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn updated_to_another_shape(t: &mut Transcript) -> Outcome {
    let Adder { graph, data, add, stream, context: _context } = adder()?;
    let mut other = stream.alloc_zeros::<u32>(4)?;
    let longer = capture_add(&add, &stream, &mut other, 2)?;
    t.note("one node more", update(&graph, &longer));
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    stream.memset_zeros(&mut other)?;
    if let Some(memset) = stream.end_capture(Flags(0))? {
        t.note("another kind", update(&graph, &memset));
    }
    t.code("it still launches", graph.launch());
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn launched_after_destroy(t: &mut Transcript) -> Outcome {
    let Adder { graph: _graph, data: _data, add: _add, stream, context: _context } = adder()?;
    t.code("null", raw!(result::graph::launch(std::ptr::null_mut(), stream.cu_stream())));
    t.code("destroy null", raw!(result::graph::destroy(std::ptr::null_mut())));
    t.code("destroy a null executable", raw!(result::graph::exec_destroy(std::ptr::null_mut())));
    Ok(())
}

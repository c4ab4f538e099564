//! Memory that changes hands.

use cudarc::driver::{DevicePtr, PushKernelArg};
use dacapo::op::from_fn;
use dacapo::{Buffer, ErrorKind, Slot, baked, copy, fill};

use crate::{Outcome, Scenario, both, one_block, saxpy};

pub const SCENARIOS: &[Scenario] = &[
    ("a_slice_becomes_a_buffer_behind_the_work_on_it", taken, ""),
    ("a_slice_is_taken_behind_work_on_a_stream_that_is_gone", left_behind, ""),
    ("a_graph_keeps_a_taken_slice_alive", kept, ""),
    ("a_buffer_that_came_from_cudarc_goes_back_as_the_same_slice", back, ""),
    ("a_buffer_becomes_a_slice_behind_our_work_on_it", given, ""),
    ("a_buffer_that_a_graph_holds_is_not_given", held, ""),
    ("nothing_is_taken_from_a_capturing_stream", capturing, ""),
    ("nothing_changes_hands_inside_a_recording", recording, ""),
    ("memory_comes_back_whoever_frees_it", freed, ""),
];

fn taken() -> Outcome {
    let (context, device) = both()?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let x = one.clone_htod(&[1.0f32; 256])?;
    let mut y = one.clone_htod(&[0.0f32; 256])?;
    let saxpy = saxpy(&context)?;
    // The last use is on another stream than the slice's own: its events say so.
    for _ in 0..2000 {
        // SAFETY: the kernel's own parameters, on 256 elements.
        unsafe { two.launch_builder(&saxpy).arg(&256u32).arg(&1.0f32).arg(&x).arg(&mut y).launch(one_block(256))? };
    }
    let y = Buffer::from_cudarc(&device, y)?;
    assert_eq!(device.stream()?.read(&y)?, [2000.0; 256]);
    Ok(())
}

fn left_behind() -> Outcome {
    let (context, device) = both()?;
    let one = context.default_stream();
    let (x, mut y) = (one.clone_htod(&[1.0f32; 256])?, one.clone_htod(&[0.0f32; 256])?);
    let (two, saxpy) = (context.new_stream()?, saxpy(&context)?);
    for _ in 0..2000 {
        // SAFETY: the kernel's own parameters, on 256 elements.
        unsafe { two.launch_builder(&saxpy).arg(&256u32).arg(&1.0f32).arg(&x).arg(&mut y).launch(one_block(256))? };
    }
    // Its work goes on, and cudarc, back at one stream, looks at no events any more.
    drop(two);
    assert!(!context.is_managing_stream_synchronization());
    let y = Buffer::from_cudarc(&device, y)?;
    assert_eq!(device.stream()?.read(&y)?, [2000.0; 256]);
    assert!(!context.is_managing_stream_synchronization(), "the context is left as it was");
    Ok(())
}

fn kept() -> Outcome {
    let (context, device) = both()?;
    let stream = device.stream()?;
    let x = Buffer::from_cudarc(&device, context.default_stream().clone_htod(&[11u32; 64])?)?;
    let mut y = device.zeros::<u32>(64)?;
    let mut graph = device.record(copy(&x[..], &mut y[..]))?;
    drop(x);
    device.synchronize()?;
    // Somebody else gets memory meanwhile: not that of the graph.
    let others: Vec<_> = (0..8).map(|_| context.default_stream().clone_htod(&[1u32; 64])).collect::<Result<_, _>>()?;
    for _ in 0..3 {
        graph.launch_sync(&stream)?;
    }
    assert_eq!(stream.read(&y)?, [11; 64]);
    drop((graph, others));
    device.synchronize()?;
    assert_eq!(device.counters().waiting, 0);
    context.check_err()?;
    Ok(())
}

fn back() -> Outcome {
    let (context, device) = both()?;
    let (cudas, stream) = (context.default_stream(), device.stream()?);
    let slice = cudas.clone_htod(&[1u32; 64])?;
    let at = slice.device_ptr(&cudas).0;
    let mut buffer = Buffer::from_cudarc(&device, slice)?;
    stream.run(fill(&mut buffer, baked(2)))?;
    let slice = buffer.into_cudarc(&context.new_stream()?)?;
    assert_eq!(slice.device_ptr(&cudas).0, at);
    assert_eq!(slice.stream(), &cudas, "it is freed on the stream it came with");
    assert_eq!(cudas.clone_dtoh(&slice)?, [2; 64]);
    Ok(())
}

fn given() -> Outcome {
    let (context, device) = both()?;
    let (cudas, stream) = (context.new_stream()?, device.stream()?);
    let mut y = device.zeros::<u32>(1 << 14)?;
    let value = Slot::new(0u32);
    let mut graph = device.record(fill(&mut y, &value))?;
    for round in 1..=20 {
        value.set(round);
        graph.launch(&stream)?;
    }
    drop(graph);
    let allocations = device.counters().allocations;
    let slice = y.into_cudarc(&cudas)?;
    assert_eq!(device.counters().allocations, allocations - 1);
    assert_eq!(slice.len(), 1 << 14);
    assert!(cudas.clone_dtoh(&slice)?.iter().all(|&element| element == 20));
    drop(slice);
    cudas.synchronize()?;
    context.check_err()?;
    Ok(())
}

fn held() -> Outcome {
    let (context, device) = both()?;
    let (cudas, stream) = (context.new_stream()?, device.stream()?);
    let mut y = device.zeros::<u32>(64)?;
    let mut graph = device.record(fill(&mut y, baked(3)))?;
    let refused = y.into_cudarc(&cudas).expect_err("the graph would replay into memory of cudarc's");
    assert!(refused.error.to_string().contains("hold this memory"), "{refused}");
    let y = refused.given;
    graph.launch_sync(&stream)?;
    assert_eq!(stream.read(&y)?, [3; 64], "a buffer that is refused is handed back");
    let shared = y.share();
    drop(graph);
    let y = y.into_cudarc(&cudas).expect_err("somebody may still read it").given;
    drop(shared);
    assert_eq!(cudas.clone_dtoh(&y.into_cudarc(&cudas)?)?, [3; 64]);
    Ok(())
}

fn capturing() -> Outcome {
    let (context, device) = both()?;
    let cudas = context.new_stream()?;
    let slice = cudas.clone_htod(&[1u32; 64])?;
    cudas.begin_capture(cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    let refused = Buffer::from_cudarc(&device, slice).expect_err("what was captured has not happened");
    assert!(refused.error.to_string().contains("capturing"), "{refused}");
    // The capture goes on as if nobody had asked.
    let flags = cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    cudas.end_capture(flags)?;
    assert_eq!(device.stream()?.read(&Buffer::from_cudarc(&device, refused.given)?)?, [1; 64]);
    Ok(())
}

fn recording() -> Outcome {
    let (context, device) = both()?;
    let cudas = context.default_stream();
    let recorded = device.record(from_fn(|_| {
        let slice = cudas.clone_htod(&[1u32; 4])?;
        Buffer::from_cudarc(&device, slice)?;
        Ok(())
    }));
    let refused = recorded.expect_err("it would happen now, not at replay");
    assert!(matches!(refused.kind(), ErrorKind::EagerInRecording { .. }), "{refused:?}");
    Ok(())
}

fn freed() -> Outcome {
    let (context, device) = both()?;
    let cudas = context.default_stream();
    let bytes = 256 << 20;
    // Far more in all than the device has: each must be back before the next.
    let rounds = 3 * context.total_mem()? / bytes;
    for round in 0..rounds {
        // SAFETY: nobody reads it.
        let slice = unsafe { cudas.alloc::<u8>(bytes)? };
        let buffer = Buffer::from_cudarc(&device, slice)?;
        match round % 2 {
            0 => drop(buffer),
            _ => drop(buffer.into_cudarc(&cudas)?),
        }
        drop(device.zeros::<u8>(0)?);
        let ours = device.zeros::<u8>(1024)?;
        drop(ours.into_cudarc(&cudas)?);
    }
    context.synchronize()?;
    context.check_err()?;
    Ok(())
}

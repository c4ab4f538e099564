//! Slices whose context tracks events, inside recordings: cudarc#590 and what came of it.
//!
//! A context tracks from its second stream on. Then a call waits for a slice's events and records them: in a capture the
//! first is refused, and the second leaves an event behind that no stream may wait for any more.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, PushKernelArg};
use dacapo::interop::cudarc::foreign;
use dacapo::{Device, ErrorKind, baked, fill};

use crate::{Outcome, Scenario, both, one_block, saxpy};

pub const SCENARIOS: &[Scenario] = &[
    ("canary_a_tracked_slice_breaks_a_capture_on_a_stream_that_tracks", canary, "capture-invalidated"),
    ("a_tracked_slice_is_an_argument_of_a_kernel_in_a_graph", argument, ""),
    ("tracking_stays_on_for_everybody_else", others, ""),
    ("a_tracked_slice_in_a_copy_is_refused_and_says_why", copy, "capture-invalidated"),
];

type Tracked = (Arc<CudaContext>, Device, Arc<CudaStream>, CudaSlice<f32>);

/// A slice that was written on one of two streams, so that it has an event to wait for.
fn tracked() -> Result<Tracked, Box<dyn std::error::Error>> {
    let (context, device) = both()?;
    let (_one, two) = (context.new_stream()?, context.new_stream()?);
    let x = two.clone_htod(&[1.0f32; 64])?;
    assert!(context.is_managing_stream_synchronization());
    Ok((context, device, two, x))
}

/// What a program would write without this feature.
fn canary() -> Outcome {
    let (context, device, _two, x) = tracked()?;
    let saxpy = saxpy(&context)?;
    let mut y = device.zeros::<f32>(64)?;
    let theirs = context.clone();
    // SAFETY: as declared; that it cannot be captured is what is shown.
    let recorded = device.record(unsafe {
        dacapo::raw::foreign((), &mut y[..], move |stream, (), y| {
            let stream = theirs.wrap_borrowed_stream(std::ptr::with_exposed_provenance_mut(stream.0.bits() as usize));
            stream.launch_builder(&saxpy).arg(&64u32).arg(&1.0f32).arg(&x).arg(&y.ptr).launch(one_block(64))?;
            Ok(())
        })
    });
    let broken = recorded.expect_err("the slice's event is from outside the capture");
    assert!(matches!(broken.kind(), ErrorKind::CaptureBroken { .. }), "{broken:?}");
    Ok(())
}

fn argument() -> Outcome {
    let (context, device, two, x) = tracked()?;
    let (stream, kernel) = (device.stream()?, saxpy(&context)?);
    let mut y = device.zeros::<f32>(64)?;
    two.synchronize()?;
    let x = Arc::new(x);
    let weights = x.clone();
    // SAFETY: `weights` is kept by the closure and written by nobody; the rest is declared.
    let mut graph = device.record(unsafe {
        foreign((), &mut y[..], move |stream, (), mut y| {
            let mut launch = stream.launch_builder(&kernel);
            launch.arg(&64u32).arg(&3.0f32).arg(&*weights).arg(&mut *y).launch(one_block(64))?;
            Ok(())
        })
    })?;
    for _ in 0..4 {
        graph.launch(&stream)?;
    }
    assert_eq!(stream.read(&y)?, [12.0; 64]);
    // Its events were left alone: cudarc waits for them and frees it without a word.
    drop(graph);
    device.synchronize()?;
    assert_eq!(two.clone_dtoh(&*x)?, [1.0; 64]);
    drop(x);
    two.synchronize()?;
    context.check_err()?;
    Ok(())
}

fn others() -> Outcome {
    let (context, device, two, x) = tracked()?;
    let mut y = device.zeros::<u32>(64)?;
    let watched = context.clone();
    // SAFETY: nothing is enqueued.
    device.record(unsafe {
        foreign((), &mut y[..], move |stream, (), _| {
            assert!(!stream.context().is_event_tracking(), "the work's own context does not track");
            assert!(watched.is_managing_stream_synchronization(), "the program's context does, also meanwhile");
            Ok(())
        })
    })?;
    assert!(context.is_managing_stream_synchronization());
    let again = two.alloc_zeros::<u32>(4)?;
    drop((again, x));
    context.check_err()?;
    Ok(())
}

fn copy() -> Outcome {
    let (context, device, _two, x) = tracked()?;
    let stream = device.stream()?;
    let mut y = device.zeros::<f32>(64)?;
    // SAFETY: `x` is kept by the closure; the rest is declared.
    let recorded = device.record(unsafe {
        foreign((), &mut y[..], move |stream, (), mut y| {
            stream.memcpy_dtod(&x, &mut *y)?;
            Ok(())
        })
    });
    let refused = recorded.expect_err("the slice's event is from outside the capture");
    assert!(matches!(refused.kind(), ErrorKind::Interop { .. }), "{refused:?}");
    assert!(refused.to_string().contains("tracks events"), "{refused}");
    // Nothing is left capturing, and nothing of ours or theirs is broken.
    stream.run(fill(&mut y, baked(2.0)))?;
    assert_eq!(stream.read(&y)?, [2.0; 64]);
    context.check_err()?;
    context.synchronize()?;
    Ok(())
}

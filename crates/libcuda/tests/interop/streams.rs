//! One stream, both libraries' work.

use cudarc::driver::PushKernelArg;
use dacapo::{ErrorKind, Stream, baked, fill};

use crate::{Outcome, Scenario, both, one_block, saxpy};

pub const SCENARIOS: &[Scenario] = &[
    ("a_stream_of_cudarcs_keeps_both_libraries_work_in_order", theirs, ""),
    ("default_streams_are_refused", defaults, ""),
    ("a_stream_of_ours_is_lent_and_outlives_its_handle_while_cudarc_names_it", ours, ""),
    ("work_on_a_stream_of_cudarcs_is_ordered_against_our_other_streams", across, ""),
];

fn theirs() -> Outcome {
    let (context, device) = both()?;
    let cudas = context.new_stream()?;
    // SAFETY: nobody captures on it.
    let stream = unsafe { Stream::from_cudarc(&device, &cudas)? };
    let mut y = device.zeros::<f32>(64)?;
    let x = cudas.clone_htod(&[1.0f32; 64])?;
    let mut z = cudas.alloc_zeros::<f32>(64)?;
    let saxpy = saxpy(&context)?;
    let mut graph = device.record(fill(&mut y, baked(5.0f32)))?;
    for _ in 0..3 {
        graph.launch(&stream)?;
        // SAFETY: the kernel's own parameters, on 64 elements.
        unsafe { cudas.launch_builder(&saxpy).arg(&64u32).arg(&2.0f32).arg(&x).arg(&mut z).launch(one_block(64))? };
    }
    stream.synchronize()?;
    assert_eq!(stream.read(&y)?, [5.0; 64]);
    assert_eq!(cudas.clone_dtoh(&z)?, [6.0; 64]);
    // Ours goes, theirs stays.
    drop((graph, y, stream));
    device.synchronize()?;
    drop(device);
    assert_eq!(cudas.clone_dtoh(&z)?, [6.0; 64]);
    Ok(())
}

fn defaults() -> Outcome {
    let (context, device) = both()?;
    for stream in [context.default_stream(), context.per_thread_stream()] {
        // SAFETY: it is refused.
        let refused = unsafe { Stream::from_cudarc(&device, &stream) }.expect_err("not one stream");
        assert!(matches!(refused.kind(), ErrorKind::Interop { .. }), "{refused:?}");
    }
    Ok(())
}

fn ours() -> Outcome {
    let (_context, device) = both()?;
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(16)?;
    stream.run(fill(&mut y, baked(9)))?;
    // SAFETY: nobody captures on it, and the work touches memory of cudarc's only.
    let slice = unsafe { stream.with_cudarc(|cudas| cudas.clone_htod(&[4u32; 16]))?? };
    let before = device.counters().streams;
    drop(stream);
    device.synchronize()?;
    device.synchronize()?;
    assert_eq!(device.counters().streams, before - 1);
    // The slice is read and freed on a stream whose last handle of ours is gone.
    assert_eq!(slice.stream().clone_dtoh(&slice)?, [4; 16]);
    slice.stream().context().check_err()?;
    drop(slice);
    device.synchronize()?;
    assert_eq!(device.counters().waiting, 0, "now the stream is destroyed");
    Ok(())
}

fn across() -> Outcome {
    let (context, device) = both()?;
    let cudas = context.new_stream()?;
    // SAFETY: nobody captures on it.
    let (one, two) = (unsafe { Stream::from_cudarc(&device, &cudas)? }, device.stream()?);
    let mut y = device.zeros::<u32>(1 << 12)?;
    for round in 0..20 {
        one.run(fill(&mut y, baked(round)))?;
        assert_eq!(two.read(&y)?[17], round);
        two.run(fill(&mut y, baked(round + 100)))?;
        assert_eq!(one.read(&y)?[4000], round + 100);
    }
    Ok(())
}

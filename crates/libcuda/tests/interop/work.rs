//! Calls of cudarc's in eager runs and in graphs.

use std::error::Error as _;

use cudarc::driver::{LaunchConfig, PushKernelArg};
use dacapo::interop::cudarc::foreign;
use dacapo::op::from_fn;
use dacapo::{Error, baked, fill};

use crate::{Outcome, Scenario, both, one_block, saxpy};

pub const SCENARIOS: &[Scenario] = &[
    ("a_kernel_of_cudarcs_runs_inside_a_graph_in_the_order_of_the_data", graph, ""),
    ("the_same_op_runs_eagerly", eager, ""),
    ("copies_and_fills_of_cudarcs_work_on_declared_memory", copies, ""),
    ("work_that_keeps_its_stream_is_refused", keeps, ""),
    ("an_error_of_the_work_is_the_ops_error_and_nothing_is_left_capturing", fails, "bad-launch"),
];

fn graph() -> Outcome {
    let (context, device) = both()?;
    let (stream, saxpy) = (device.stream()?, saxpy(&context)?);
    let x = device.buffer(&[1.0f32; 64])?;
    let mut y = device.zeros::<f32>(64)?;
    let mut z = device.zeros::<f32>(64)?;
    let mut graph = device.record(from_fn(|r| {
        r.run(fill(&mut y, baked(10.0)))?;
        let saxpy = saxpy.clone();
        // SAFETY: the kernel reads `x` and writes `y`, 64 elements of each, and ends.
        r.run(unsafe {
            foreign(&x[..], &mut y[..], move |stream, x, mut y| {
                let mut launch = stream.launch_builder(&saxpy);
                launch.arg(&64u32).arg(&2.0f32).arg(&*x).arg(&mut *y).launch(one_block(64))?;
                Ok(())
            })
        })?;
        r.run(dacapo::copy(&y[..], &mut z[..]))
    }))?;
    assert_eq!(graph.dependencies(), [(0, 1), (1, 2)]);
    drop(saxpy);
    for _ in 0..5 {
        graph.launch_sync(&stream)?;
        assert_eq!(stream.read(&z)?, [12.0; 64]);
    }
    Ok(())
}

fn eager() -> Outcome {
    let (context, device) = both()?;
    let (one, two, saxpy) = (device.stream()?, device.stream()?, saxpy(&context)?);
    let x = device.buffer(&[1.0f32; 64])?;
    let (mut y, mut z) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
    for round in 0..10 {
        let saxpy = saxpy.clone();
        let stream = if round % 2 == 0 { &one } else { &two };
        // SAFETY: the kernel reads `x` and writes `y` and `z`, 64 elements of each, and ends.
        stream.run(unsafe {
            foreign((&x[..],), (&mut y[..], &mut z[..]), move |stream, (x,), (mut y, mut z)| {
                let shape = LaunchConfig::for_num_elems(64);
                stream.launch_builder(&saxpy).arg(&64u32).arg(&1.0f32).arg(&*x).arg(&mut *y).launch(shape)?;
                stream.launch_builder(&saxpy).arg(&64u32).arg(&2.0f32).arg(&*y).arg(&mut *z).launch(shape)?;
                Ok(())
            })
        })?;
    }
    assert_eq!(one.read(&y)?, [10.0; 64]);
    assert_eq!(two.read(&z)?, [110.0; 64]);
    Ok(())
}

fn copies() -> Outcome {
    let (_context, device) = both()?;
    let stream = device.stream()?;
    let x = device.buffer(&[5u32; 64])?;
    let (mut y, mut z) = (device.zeros::<u32>(64)?, device.buffer(&[1u32; 64])?);
    // SAFETY: a copy of `x` to `y` and zeros to `z`.
    let mut graph = device.record(unsafe {
        foreign(&x[..], (&mut y[..], &mut z[..]), |stream, x, (mut y, mut z)| {
            stream.memcpy_dtod(&*x, &mut *y)?;
            stream.memset_zeros(&mut *z)?;
            Ok(())
        })
    })?;
    graph.launch_sync(&stream)?;
    assert_eq!((stream.read(&y)?, stream.read(&z)?), (vec![5; 64], vec![0; 64]));
    Ok(())
}

fn keeps() -> Outcome {
    let (_context, device) = both()?;
    let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let keep = kept.clone();
    // SAFETY: nothing is enqueued. That the stream is kept is the mistake that is looked for.
    let recorded = device.record(unsafe {
        foreign((), (), move |stream, (), ()| {
            keep.lock().map_err(|_| Error::msg("poisoned"))?.push(stream.clone());
            Ok(())
        })
    });
    let refused = recorded.expect_err("the stream ends with the work");
    assert!(refused.to_string().contains("kept its stream"), "{refused}");
    assert!(refused.location().is_some_and(|at| at.file().ends_with("work.rs")), "{refused:?}");
    Ok(())
}

fn fails() -> Outcome {
    let (context, device) = both()?;
    let (stream, saxpy) = (device.stream()?, saxpy(&context)?);
    let mut y = device.zeros::<f32>(64)?;
    // SAFETY: nothing is enqueued: a block has at most 1024 threads.
    let recorded = device.record(unsafe {
        foreign((), &mut y[..], move |stream, (), mut y| {
            stream.launch_builder(&saxpy).arg(&mut *y).launch(one_block(5000))?;
            Ok(())
        })
    });
    let refused = recorded.expect_err("too many threads");
    assert!(format!("{refused:#}").contains("INVALID_VALUE"), "{refused:?}");
    // What cudarc said is found again by its type.
    let causes = std::iter::successors(refused.source(), |&cause| cause.source());
    let said = causes.filter_map(|cause| cause.downcast_ref::<cudarc::driver::DriverError>()).next();
    assert_eq!(said.map(|said| said.0), Some(cudarc::driver::sys::CUresult::CUDA_ERROR_INVALID_VALUE), "{refused:?}");
    stream.run(fill(&mut y, baked(1.0)))?;
    assert_eq!(stream.read(&y)?, [1.0; 64]);
    context.check_err()?;
    context.synchronize()?;
    Ok(())
}

//! Which contexts go together.

use std::sync::Arc;

use cudarc::driver::CudaContext;
use dacapo::{Device, ErrorKind};

use crate::{Outcome, Scenario, both};

pub const SCENARIOS: &[Scenario] = &[
    ("a_device_and_a_context_are_the_same_primary_context", same, ""),
    ("a_context_of_its_own_is_refused", other, ""),
    ("a_software_device_in_the_process_is_not_the_drivers", software, ""),
    ("the_context_outlives_the_device_and_the_device_the_context", lifetimes, ""),
];

fn same() -> Outcome {
    let (context, device) = both()?;
    assert!(Arc::ptr_eq(&device.to_cudarc()?, &context), "a device made of a context gives that one back");
    let alone = Device::cuda(0)?;
    let made = alone.to_cudarc()?;
    assert_eq!(made.cu_ctx(), context.cu_ctx());
    assert!(made.is_event_tracking(), "what a program gets tracks events, as cudarc's own contexts do");
    assert!(Arc::ptr_eq(&alone.to_cudarc()?, &made));
    Ok(())
}

fn other() -> Outcome {
    let context = CudaContext::new_non_primary(0, 0)?;
    let refused = Device::from_cudarc(&context).expect_err("it is not the primary context");
    assert!(matches!(refused.kind(), ErrorKind::Interop { .. }), "{refused:?}");
    assert!(refused.to_string().contains("primary"), "{refused}");
    Ok(())
}

fn software() -> Outcome {
    let device = Device::software()?;
    let refused = device.to_cudarc().expect_err("cudarc cannot reach it");
    assert!(matches!(refused.kind(), ErrorKind::Interop { .. }), "{refused:?}");
    assert_eq!(device.findings(), Vec::<String>::new());
    let context = CudaContext::new(0)?;
    let slice = context.default_stream().clone_htod(&[1u32; 4])?;
    let refused = dacapo::Buffer::from_cudarc(&device, slice).expect_err("it is another driver's");
    assert!(matches!(refused.error.kind(), ErrorKind::Interop { .. }), "{refused:?}");
    assert_eq!(refused.given.len(), 4, "a slice that is refused is handed back");
    Ok(())
}

fn lifetimes() -> Outcome {
    let (context, device) = both()?;
    let stream = device.stream()?;
    let (cudas, y) = (context.default_stream(), device.buffer(&[7u32; 8])?);
    drop(context);
    assert_eq!(stream.read(&y)?, [7; 8]);
    drop((y, stream, device));
    let slice = cudas.clone_htod(&[3u32; 8])?;
    assert_eq!(cudas.clone_dtoh(&slice)?, [3; 8]);
    Ok(())
}

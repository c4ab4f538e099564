//! Memory of cudarc's, borrowed.

use dacapo::interop::cudarc::Borrowed;
use dacapo::{baked, copy, fill};

use crate::{Outcome, Scenario, both};

pub const SCENARIOS: &[Scenario] =
    &[("a_view_is_read_and_written_by_graphs_and_stays_cudarcs", whole, ""), ("a_view_may_begin_anywhere", part, "")];

fn whole() -> Outcome {
    let (context, device) = both()?;
    let (cudas, stream) = (context.new_stream()?, device.stream()?);
    let mut slice = cudas.clone_htod(&[1u32; 64])?;
    {
        // SAFETY: the slice outlives the graph, and our work is over before cudarc reads it.
        let mut y = unsafe { Borrowed::new(&device, slice.as_view_mut())? };
        assert_eq!(stream.read(&y)?, [1; 64]);
        let mut graph = device.record(fill(&mut y, baked(6)))?;
        graph.launch_sync(&stream)?;
    }
    assert_eq!(cudas.clone_dtoh(&slice)?, [6; 64]);
    device.synchronize()?;
    assert_eq!(cudas.clone_dtoh(&slice)?, [6; 64], "nobody but cudarc frees it");
    drop(slice);
    context.check_err()?;
    Ok(())
}

fn part() -> Outcome {
    let (context, device) = both()?;
    let (cudas, stream) = (context.default_stream(), device.stream()?);
    let numbers: Vec<u32> = (0..64).collect();
    let mut slice = cudas.clone_htod(&numbers)?;
    let view = slice.slice_mut(3..13);
    assert_eq!(view.len(), 10);
    // SAFETY: as above.
    let mut part = unsafe { Borrowed::new(&device, view)? };
    let mut y = device.zeros::<u32>(10)?;
    stream.run(copy(&part[..], &mut y[..]))?;
    assert_eq!(stream.read(&y)?, numbers[3..13]);
    stream.run(fill(&mut part[1..3], baked(0)))?;
    stream.synchronize()?;
    drop(part);
    assert_eq!(cudas.clone_dtoh(&slice)?[..8], [0, 1, 2, 3, 0, 0, 6, 7]);
    Ok(())
}

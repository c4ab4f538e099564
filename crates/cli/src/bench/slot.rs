//! One argument that changes before each launch of a chain of ten kernels: a slot, against setting that node's parameters by
//! hand. The sum of all values that were set must come out.

use dacapo::{Recorder, Slot};

use super::blocks::Contender;
use super::chain::{ELEMENTS, Way};
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::raw::{self, Shape};
use crate::complaint::Complaint;

const NAME: &str = "slot/host-launch";
const LENGTH: u32 = 10;

/// The value of launch number `launch`: small and whole, so that every sum is exact.
fn value(launch: u32) -> f32 {
    (launch % 8) as f32
}

/// Measures it, if that was asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    if !bench.wants(NAME) {
        return Ok(Vec::new());
    }
    let launches = Way::HostLaunch.launches(bench, LENGTH);
    Ok(vec![bench.rounds(NAME, |round| measure_one(round, launches))?])
}

fn measure_one(round: &Round<'_, '_>, launches: u32) -> Result<Row, Complaint> {
    let (raw, library) = (round.raw, round.library);
    let stream = raw.stream()?;
    let (ones, y) = (raw.floats(&[1.0; ELEMENTS as usize])?, raw.floats(&[0.0; ELEMENTS as usize])?);
    let mut calls = vec![raw.bump(&y, ELEMENTS); LENGTH as usize];
    calls[0] = raw.axpy(0.0, &ones, &y, ELEMENTS);
    let graph = raw.graph(&calls, Shape::Line)?;
    let mut launched = 0;
    let by_hand: Contender<'_> = Box::new(|| {
        let launch = || {
            graph.set(0, &raw.axpy(value(launched), &ones, &y, ELEMENTS))?;
            launched += 1;
            Ok(graph.launch(&stream)?)
        };
        Way::HostLaunch.time(launches, launch, || Ok(stream.synchronize()?))
    });
    let (slot, k) = (Slot::new(0.0), &library.kernels);
    let library_ones = library.device.buffer(&[1.0; ELEMENTS as usize])?;
    let mut library_y = library.device.zeros(ELEMENTS as usize)?;
    let mut recorded = library.device.record(|r: &mut Recorder<'_>| {
        r.run(k.axpy_slot(&slot, &library_ones, &mut library_y))?;
        for _ in 1..LENGTH {
            r.run(k.bump(&mut library_y))?;
        }
        Ok(())
    })?;
    let mut replayed = 0;
    let by_slot: Contender<'_> = Box::new(|| {
        let launch = || {
            slot.set(value(replayed));
            replayed += 1;
            drop(recorded.launch(&library.stream)?);
            Ok(())
        };
        Way::HostLaunch.time(launches, launch, || library.wait())
    });
    let row = round.compare(launches, vec![(RAW, by_hand), (LIBRARY, by_slot)])?;
    let sum = expected(round.launches_in_all(launches));
    raw::all_equal("parameters set by hand", &raw::read_floats(&y)?, sum)?;
    library.all_equal("a slot", &library_y, sum)?;
    Ok(row)
}

/// What every element is after so many launches.
fn expected(launches: u32) -> f32 {
    (0..launches).map(|launch| f64::from(value(launch)) + f64::from(LENGTH - 1)).sum::<f64>() as f32
}

//! Three independent kernels of about 20 microseconds in one graph: what the library finds by itself, against the graph built by
//! hand without edges. The same kernels in a line stand beside them: what one pays who does not see that they are independent.

use dacapo::{Buffer, Recorder, baked};

use super::blocks::Contender;
use super::chain::Way;
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::raw::{self, Raw, Shape};
use crate::complaint::Complaint;

const KERNELS: usize = 3;
const MICROSECONDS: f64 = 20.0;

/// Measures it in the ways that were asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    let ways = [Way::BackToBack, Way::LaunchAndWait].map(|way| (way, format!("fork-join/{}", way.name())));
    let wanted: Vec<_> = ways.into_iter().filter(|(_, name)| bench.wants(name)).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    // The simulator's clock counts instructions; there is nothing to calibrate.
    let cycles = if bench.small { 200 } else { cycles_of(&bench.raw, MICROSECONDS)? };
    let launches = bench.launches(KERNELS as u32, 150, 10, 50);
    let measured =
        wanted.into_iter().map(|(way, name)| bench.rounds(&name, |round| measure_way(round, cycles, way, launches)));
    measured.collect()
}

fn measure_way(round: &Round<'_, '_>, cycles: u64, way: Way, launches: u32) -> Result<Row, Complaint> {
    let (raw, library) = (round.raw, round.library);
    let stream = raw.stream()?;
    let counts = (0..KERNELS).map(|_| raw.session().buffer(&[0; 4])).collect::<Result<Vec<_>, _>>()?;
    let calls: Vec<_> = counts.iter().map(|count| raw.spin(count, cycles)).collect();
    let (parallel, line) = (raw.graph(&calls, Shape::Parallel)?, raw.graph(&calls, Shape::Line)?);
    let wait = || Ok(stream.synchronize()?);
    let by_hand: Contender<'_> = Box::new(|| way.time(launches, || Ok(parallel.launch(&stream)?), wait));
    let in_line: Contender<'_> = Box::new(|| way.time(launches, || Ok(line.launch(&stream)?), wait));
    let mut library_counts = (0..KERNELS).map(|_| library.device.zeros(1)).collect::<Result<Vec<Buffer<u32>>, _>>()?;
    let mut recorded = library.device.record(|r: &mut Recorder<'_>| {
        for count in &mut library_counts {
            r.run(library.kernels.spin_cycles(count, baked(cycles)))?;
        }
        Ok(())
    })?;
    let replayed: Contender<'_> = Box::new(|| {
        let launch = || {
            drop(recorded.launch(&library.stream)?);
            Ok(())
        };
        way.time(launches, launch, || library.wait())
    });
    let row = round.compare(launches, vec![(RAW, by_hand), (LIBRARY, replayed), ("line", in_line)])?;
    for count in &library_counts {
        raw::all_equal("replays", &library.stream.read(count)?, round.launches_in_all(launches))?;
    }
    for count in &counts {
        let bytes = count.read()?;
        let got: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
        raw::all_equal("the graphs by hand", &got, 2 * round.launches_in_all(launches))?;
    }
    Ok(row)
}

/// How many cycles of its clock a multiprocessor counts in so many microseconds.
fn cycles_of(raw: &Raw<'_>, microseconds: f64) -> Result<u64, Complaint> {
    const LAUNCHES: u32 = 20;
    let (stream, start, end) = (raw.stream()?, raw.event(true)?, raw.event(true)?);
    let count = raw.session().buffer(&[0; 4])?;
    let mut cycles = 20_000;
    // Each round corrects the one before; the first also wakes the device up.
    for _ in 0..4 {
        let spin = raw.spin(&count, cycles);
        stream.record(&start)?;
        (0..LAUNCHES).try_for_each(|_| spin.launch(&stream))?;
        stream.record(&end)?;
        stream.synchronize()?;
        let each = end.microseconds_since(&start)? / f64::from(LAUNCHES);
        cycles = (cycles as f64 * microseconds / each.max(0.1)).clamp(100.0, 10_000_000.0) as u64;
    }
    Ok(cycles)
}

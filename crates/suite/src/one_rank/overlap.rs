//! Layers whose buckets run beside the next layer: what a profile of such a graph shows.
//!
//! A layer sums some numbers, which takes one thread a while, and scales its gradient by that; then its bucket averages the gradient.
//! The next layer's sum goes where this layer's was, so layers come one after the other; a bucket waits for its own layer only.

use std::fmt::Write as _;
use std::time::Instant;

use dacapo::collective::{Communicator, Reduce};
use dacapo::profile::{Profile, Timed};
use dacapo::{Graph, Recorder, Stream};

use super::Came;
use super::floor::{Floor, Made, middle, text};
use crate::forms::kernels::Kernels;

const LAYERS: usize = 6;
/// What each layer sums: to 2, exactly.
const SUMMANDS: usize = 2048;

pub(super) fn run(floor: &Floor) -> Made<Came> {
    let (device, len) = (&floor.device, floor.times(4 << 20, 1024));
    let stream = device.stream().map_err(text)?;
    let kernels = Kernels::load(device).map_err(text)?;
    let comm = Communicator::alone(device).map_err(text)?;
    let summands = device.buffer(&[2.0 / SUMMANDS as f32; SUMMANDS]).map_err(text)?;
    let mut total = device.buffer(&[0.0f32]).map_err(text)?;
    let mut gradients = Vec::new();
    for _ in 0..LAYERS {
        gradients.push(device.buffer(&vec![1.0f32; len]).map_err(text)?);
    }
    let mut recorded = |straight: bool| {
        let recording = device.graph().label("layers with buckets");
        let recording = if straight { recording.straight_line() } else { recording };
        recording.record(|r: &mut Recorder<'_>| {
            let mut buckets = comm.bucketed(4 * len, Reduce::Average);
            for gradient in gradients.iter_mut() {
                r.run(kernels.sum(&summands, total.at_mut(0)))?;
                r.run(kernels.scale_by(total.at(0), gradient))?;
                buckets.add(r, gradient)?;
            }
            buckets.finish(r)
        })
    };
    let (mut graph, mut line) = (recorded(false).map_err(text)?, recorded(true).map_err(text)?);
    let mut replays = 0;
    let mut timed = |graph: &mut Graph<()>| -> Made<f64> {
        let mut each = Vec::new();
        for _ in 0..11 {
            let began = Instant::now();
            graph.launch_sync(&stream).map_err(text)?;
            replays += 1;
            each.push(began.elapsed().as_secs_f64() * 1e6);
        }
        Ok(middle(each).0)
    };
    let (beside_us, behind_us) = (timed(&mut graph)?, timed(&mut line)?);
    // The first after a pause is slower.
    graph.profile(&stream).map_err(text)?;
    let profile = graph.profile(&stream).map_err(text)?;
    let straight = line.profile(&stream).map_err(text)?;
    check(&stream, &gradients, replays + 3)?;
    let overlaps = overlaps(&profile);
    let unit = if device.is_software() { "counted" } else { "ns" };
    let mut page = format!("{profile}\n");
    for (bucket, kernel, ns) in &overlaps {
        let of = |op: &Timed| format!("op {} ({}, layer {})", op.index, op.name, op.index / 3);
        let _ = writeln!(page, "{} runs beside {} for {ns} of its {} {unit}", of(bucket), of(kernel), bucket.time_ns);
    }
    let layers: std::collections::BTreeSet<usize> = overlaps.iter().map(|(bucket, ..)| bucket.index).collect();
    let _ = writeln!(
        page,
        "\n{} of {LAYERS} buckets run beside kernels of a later layer; the last one has no layer behind it\n\
         {beside_us:.1} us from the launch of a replay until it was waited for; {behind_us:.1} us where all ops stand in one line \
         (medians of 11); its profile: {} {unit} against {} in a line",
        layers.len(),
        profile.total_ns,
        straight.total_ns
    );
    let file = floor.folder.join("ranks-profile.txt");
    std::fs::write(&file, &page).map_err(|error| format!("{}: {error}", file.display()))?;
    page.lines().for_each(|line| floor.say(line));
    floor.expect_no_findings()?;
    Ok(Came { well: device.is_software() || !layers.is_empty(), figure: String::new() })
}

/// Each replay doubles every element.
fn check(stream: &Stream, gradients: &[dacapo::Buffer<f32>], replays: i32) -> Made {
    let want = 2.0f32.powi(replays);
    for (layer, gradient) in gradients.iter().enumerate() {
        let seen = stream.read(gradient).map_err(text)?;
        if let Some(wrong) = seen.iter().find(|seen| **seen != want) {
            return Err(format!("layer {layer}: {wrong}, not {want}"));
        }
    }
    Ok(())
}

/// Which buckets and kernels of later layers overlap, and for how long.
fn overlaps(profile: &Profile) -> Vec<(&Timed, &Timed, u64)> {
    let is_bucket = |op: &Timed| op.index % 3 == 2;
    let mut found = Vec::new();
    for bucket in profile.ops.iter().filter(|op| is_bucket(op)) {
        for kernel in profile.ops.iter().filter(|op| !is_bucket(op) && op.index > bucket.index) {
            let ns = bucket.end_ns.min(kernel.end_ns).saturating_sub(bucket.start_ns.max(kernel.start_ns));
            if ns > 0 {
                // Where an op begins and ends has the stamps' own time in it, and how long it took has not.
                found.push((bucket, kernel, ns.min(bucket.time_ns)));
            }
        }
    }
    found
}

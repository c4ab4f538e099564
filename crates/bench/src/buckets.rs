//! The memory of eight graphs of one MLP, for batches of 1 to 128 rows: in one pool, recorded from either end, and each with
//! memory of its own.
//!
//! The same layers, sizes and element type as PyTorch's figures beside it. What is counted differs, and the note says so:
//!
//! - ours: the bytes that the temps need by their plan, those held for them (a pool's memory comes in pieces), the bytes of
//!   outputs, and by how much the device's free memory shrank while the graphs were made and launched;
//! - PyTorch's: by how much the device's free memory shrank while its graphs were captured, its input and outputs included.
//!
//! Every graph is launched and every number of its output checked.

use dacapo::half::bf16;
use dacapo::{Buffer, Device, Graph, Recorder};
use serde_json::{Value, json};

use dacapo_cli::bench::compare::Bench;
use dacapo_cli::bench::report::Note;
use dacapo_cli::complaint::Complaint;

/// What it is called.
pub const NAME: &str = "buckets/memory";

/// Rows of each graph.
const SIZES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const LAYERS: usize = 4;
/// Numbers of a row.
const WIDTH: usize = 4096;
const WIDTH_SMALL: usize = 64;

dacapo::kernels! {
    /// Layers of an MLP in bf16.
    ///
    /// Safe by: both compare their thread's row and output with the sizes below, which follow from the lengths.
    unsafe struct Kernels(include_str!("../kernels/mlp.ptx")) {
        fn mlp_linear(x: &[bf16], w: &[bf16], b: &[bf16], y: &out [bf16], rows: u32 = y.len() / b.len().max(1),
                      inputs: u32 = w.len() / b.len().max(1), outputs: u32 = b.len()) {
            requires: inputs.is_multiple_of(8), x.len() == rows as usize * inputs as usize,
                w.len() == outputs as usize * inputs as usize, y.len() == rows as usize * outputs as usize, x.aligned(16), w.aligned(16);
            grid: exact([outputs.div_ceil(8), rows.div_ceil(8), 1], [256, 1, 1]);
        }
        fn mlp_relu(x: &[bf16], y: &out [bf16], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

/// Whose memory the temps of the graphs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    LargestFirst,
    SmallestFirst,
    Private,
}

impl Mode {
    const ALL: [Mode; 3] = [Mode::LargestFirst, Mode::SmallestFirst, Mode::Private];

    /// Ours, and PyTorch's word for the same.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Mode::LargestFirst => ("one pool, largest first", "shared_pool_large_first"),
            Mode::SmallestFirst => ("one pool, smallest first", "shared_pool_small_first"),
            Mode::Private => ("each its own", "private_pools"),
        }
    }

    /// By how much the free memory of an H200 shrank when PyTorch 2.11.0+cu130 captured eight graphs of the same MLP: what
    /// `torch_mlp_buckets_memory` of torch_anchor.py calls `device_free_delta`.
    fn torch_bytes(self) -> u64 {
        match self {
            Mode::LargestFirst => 2_097_152,
            Mode::SmallestFirst => 4_194_304,
            Mode::Private => 16_777_216,
        }
    }
}

/// What one mode took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    /// Bytes that the temps need: of the largest graph where they share, else of all.
    temps: u64,
    /// Bytes that are held for them.
    held: u64,
    outputs: u64,
    /// Less free memory than before.
    device: u64,
}

/// Measures it, if that was asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Option<Note>, Complaint> {
    if !bench.wants(NAME) {
        return Ok(None);
    }
    bench.progress.set_message(NAME);
    let width = if bench.small { WIDTH_SMALL } else { WIDTH };
    let mut found = Vec::new();
    for mode in Mode::ALL {
        found.push((mode, take(bench, mode, width).map_err(|complaint| complaint.at(NAME))?));
        bench.progress.inc(1);
    }
    Ok(Some(note(&found, width, bench.target().is_software())))
}

/// Makes the graphs, launches each, checks its numbers, and says what they took.
fn take(bench: &Bench<'_>, mode: Mode, width: usize) -> Result<Taken, Complaint> {
    let device = bench.target().opened_again()?;
    let (mlp, stream, pool) = (Mlp::new(&device, width)?, device.stream()?, device.pool());
    // What the first use of a kernel takes is not the graphs'.
    stream.run(|r: &mut Recorder<'_>| mlp.forward(r, 1).map(drop))?;
    device.synchronize()?;
    let before = bench.target().free_bytes()?;
    let mut sizes = SIZES;
    if mode != Mode::SmallestFirst {
        sizes.reverse();
    }
    let mut graphs: Vec<(usize, Graph<Buffer<bf16>>)> = Vec::new();
    for rows in sizes {
        let recording = device.graph().label(format!("{rows} rows"));
        let recording = if mode == Mode::Private { recording } else { recording.pool(&pool) };
        graphs.push((rows, recording.record(|r: &mut Recorder<'_>| mlp.forward(r, rows))?));
    }
    // Twice, and the largest last: a graph that wrote into another's outputs would show.
    for _ in 0..2 {
        for (_, graph) in &mut graphs {
            drop(graph.launch(&stream)?);
        }
    }
    stream.synchronize()?;
    let device_bytes = before.saturating_sub(bench.target().free_bytes()?);
    for (rows, graph) in &graphs {
        mlp.check(*rows, &stream.read(graph.outputs())?)?;
    }
    let needs = graphs.iter().map(|(_, graph)| graph.memory().temps());
    let (temps, held) = match mode {
        Mode::Private => (needs.clone().sum(), needs.sum()),
        _ => (needs.max().unwrap_or(0), pool.arena_bytes()),
    };
    let outputs: usize = SIZES.iter().map(|rows| rows * width * size_of::<bf16>()).sum();
    Ok(Taken { temps: temps as u64, held: held as u64, outputs: outputs as u64, device: device_bytes })
}

/// Linear and ReLU in turn. Each layer shifts a row by one and adds one, so that every output is known exactly.
struct Mlp {
    kernels: Kernels,
    layers: Vec<(Buffer<bf16>, Buffer<bf16>)>,
    x: Buffer<bf16>,
    width: usize,
}

impl Mlp {
    fn new(device: &Device, width: usize) -> Result<Mlp, Complaint> {
        let mut shift = vec![bf16::ZERO; width * width];
        for output in 0..width {
            shift[output * width + (output + 1) % width] = bf16::ONE;
        }
        let layer = |_| Ok((device.buffer(&shift)?, device.buffer(&vec![bf16::ONE; width])?));
        let rows = SIZES[SIZES.len() - 1];
        let x: Vec<bf16> = (0..rows * width).map(|at| bf16::from_f32(input(at / width, at % width))).collect();
        Ok(Mlp {
            kernels: Kernels::load(device)?,
            layers: (0..LAYERS).map(layer).collect::<Result<_, Complaint>>()?,
            x: device.buffer(&x)?,
            width,
        })
    }

    /// All layers over the first rows of the input.
    fn forward(&self, r: &mut Recorder<'_>, rows: usize) -> dacapo::Result<Buffer<bf16>> {
        let len = rows * self.width;
        let mut x = None;
        let mut out = r.output(len)?;
        for (number, (weights, bias)) in self.layers.iter().enumerate() {
            let mut summed = r.alloc(len)?;
            let from = x.as_deref().unwrap_or(&self.x[..len]);
            r.run(self.kernels.mlp_linear(from, weights, bias, &mut summed))?;
            if number + 1 == LAYERS {
                r.run(self.kernels.mlp_relu(&summed, &mut out))?;
                break;
            }
            let mut active = r.alloc(len)?;
            r.run(self.kernels.mlp_relu(&summed, &mut active))?;
            x = Some(active);
        }
        Ok(out)
    }

    /// Refuses when a number is wrong.
    fn check(&self, rows: usize, out: &[bf16]) -> Result<(), Complaint> {
        for (at, found) in out.iter().enumerate() {
            let (row, column) = (at / self.width, at % self.width);
            let from = input(row, (column + LAYERS) % self.width);
            let expected = (0..LAYERS).fold(from, |value, _| (value + 1.0).max(0.0));
            if found.to_f32() != expected {
                let what = format!("{rows} rows: row {row}, column {column} is {found} and not {expected}");
                return Err(Complaint::new(what).help("this is a bug in Dacapo"));
            }
        }
        Ok(())
    }
}

/// Small whole numbers on both sides of 0.
fn input(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 3) % 17) as f32 - 8.0
}

fn note(found: &[(Mode, Taken)], width: usize, is_software: bool) -> Note {
    let compared = width == WIDTH && !is_software;
    let mut lines = vec![
        format!("{LAYERS} layers of {width} in bf16, graphs for {SIZES:?} rows; bytes"),
        format!(
            "{:<26} {:>12} {:>12} {:>12} {:>16} {:>18}",
            "", "temps need", "held", "outputs", "device has less", "PyTorch's device"
        ),
    ];
    let mut json = Vec::new();
    for (mode, Taken { temps, held, outputs, device }) in found {
        let (name, torch) = mode.names();
        let beside = if compared { mode.torch_bytes().to_string() } else { "-".to_string() };
        // Of the software device nothing is said: how it hands out memory is its own affair.
        let less = if is_software { "-".to_string() } else { device.to_string() };
        lines.push(format!("{name:<26} {temps:>12} {held:>12} {outputs:>12} {less:>16} {beside:>18}"));
        let value = |known: bool, bytes: u64| if known { json!(bytes) } else { Value::Null };
        json.push(json!({
            "mode": name, "temps": temps, "held": held, "outputs": outputs, "device": value(!is_software, *device),
            "torch_mode": torch, "torch_device": value(compared, mode.torch_bytes()),
        }));
    }
    if !is_software {
        lines.push(
            "what temps need, what is held and outputs are exact; free memory is not: what the driver had left over"
                .into(),
        );
        lines.push("from before is used first and does not show".into());
    }
    if compared {
        lines.push(
            "PyTorch's is the free memory of an H200 that 2.11.0+cu130 took for the same graphs with their".into(),
        );
        lines.push("input and outputs (torch_anchor.py, torch_mlp_buckets_memory); it comes in pieces of 2 MiB".into());
    }
    Note { name: "buckets: the memory of eight graphs".into(), lines, json: json.into() }
}

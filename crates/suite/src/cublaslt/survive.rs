//! A graph with products in it outlives everything else that the program had.
//!
//! The graph is recorded; then the library's handle, its inputs, a workspace that the program made, and graphs with products of their own are dropped, and during
//! the replays other graphs come and go and memory is allocated, filled with what is no number, and freed. The results of
//! the first replay are held against the kernels that stand in for the library; those of later ones must be the same in
//! every bit: the graph's algorithm, addresses and workspace are what they were.

use dacapo::half::bf16;
use dacapo::interop::cublaslt::CublasLt;
use dacapo::{Buffer, Device, Error, Graph, Recorder, Result, Stream, baked, fill};

use super::numbers;

/// How much of it.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often the graph is replayed.
    pub replays: usize,
    /// After how many replays results are read, and something is made and dropped.
    pub every: usize,
    /// Rows of the products; sums are 64 times as long.
    pub size: usize,
}

impl Effort {
    /// What `cargo test` does.
    pub const SMALL: Effort = Effort { replays: 30, every: 5, size: 4 };
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Survived {
    /// How often the graph was replayed.
    pub replays: usize,
    /// How often its results were read and compared.
    pub compared: usize,
    /// How many other graphs with products came and went.
    pub other_graphs: usize,
    /// Bytes of the arena, and how many of them are workspaces.
    pub arena: (usize, usize),
    /// Bytes of workspace that the product wants whose workspace was the program's, and is dropped.
    pub dropped_workspace: usize,
    /// The largest difference from the kernels that stand in, as a share of the largest element.
    pub difference: f64,
}

/// Bytes of the workspace that the program makes.
const SCRATCH: usize = 4 << 20;

/// What the graph gives: a result in f32, one in bf16, and how often it ran, which a product counts.
type Outputs = (Buffer<f32>, Buffer<bf16>, Buffer<f32>);

/// Rows of the product that counts: each replay adds one to every element.
const COUNT: usize = 8;

/// A sum that is long enough to be split, with a product in tf32 upon it; and one in bf16 with bias and GELU beside them, whose
/// workspace is a buffer of the program's. Inputs and that workspace are dropped here: only the graph has them then.
fn record(device: &Device, blas: &CublasLt, size: usize, reference: bool) -> Result<Graph<Outputs>> {
    let long = 64 * size;
    let x = device.buffer(&numbers::<f32>(size * long, 1))?;
    let w = device.buffer(&numbers::<f32>(long * size, 2))?;
    let u = device.buffer(&numbers::<f32>(size * size, 3))?;
    let (h, v) = (device.buffer(&numbers::<bf16>(size * long, 4))?, device.buffer(&numbers::<bf16>(size, 5))?);
    let (eighths, ones) = (device.buffer(&[0.125f32; COUNT * COUNT])?, device.buffer(&[1.0f32; COUNT * COUNT])?);
    let mut scratch = device.zeros::<u8>(SCRATCH)?;
    device.record(|r: &mut Recorder<'_>| {
        let (mut t, mut y, mut z) = (r.alloc(size * size)?, r.output(size * size)?, r.output(size * size)?);
        let first = blas.matmul::<f32>(size, size, long);
        let second = blas.matmul::<f32>(size, size, size).tf32().relu();
        let third = blas.matmul::<bf16>(size, size, long).transpose_b().alpha(baked(0.125)).bias(&v).gelu();
        let third = third.workspace(&mut scratch);
        let (mut count, adds) = (r.output(COUNT * COUNT)?, blas.matmul::<f32>(COUNT, COUNT, COUNT));
        let adds = adds.accumulate(baked(1.0));
        let (first, second, third, adds) = match reference {
            true => (first.reference(), second.reference(), third.reference(), adds.reference()),
            false => (first, second, third, adds),
        };
        r.run(first.op(&x, &w, &mut t))?;
        r.run(second.op(&t, &u, &mut y))?;
        r.run(third.op(&h, &h, &mut z))?;
        r.run(adds.op(&eighths, &ones, &mut count))?;
        Ok((y, z, count))
    })
}

/// What the third product wants as its workspace, asked of a graph whose arena has it.
fn wanted(device: &Device, size: usize) -> Result<usize> {
    let (blas, long) = (CublasLt::load(device)?, 64 * size);
    let (h, v) = (device.zeros::<bf16>(size * long)?, device.zeros::<bf16>(size)?);
    let mut z = device.zeros::<bf16>(size * size)?;
    let product = blas.matmul::<bf16>(size, size, long).transpose_b().alpha(baked(0.125)).bias(&v).gelu();
    Ok(device.record(product.workspace_max(SCRATCH).op(&h, &h, &mut z))?.memory().workspaces)
}

/// Another graph with products in it, replayed once; what it has goes with it.
fn come_and_go(device: &Device, blas: &CublasLt, stream: &Stream, size: usize) -> Result<()> {
    let mut other = record(device, blas, size, false)?;
    other.launch(stream)?;
    Ok(())
}

/// Memory is taken, filled with what is no number, and given back.
fn churn(device: &Device, stream: &Stream, bytes: usize) -> Result<()> {
    for part in [bytes, bytes / 3, bytes / 17] {
        let mut trash = device.zeros::<f32>((part / 4).max(1))?;
        stream.run(fill(&mut trash, baked(f32::NAN)))?;
    }
    Ok(())
}

/// Does it.
///
/// # Errors
///
/// - A result that is another than before, or is not near that of our own kernels; whatever a call failed with.
pub fn survive(device: &Device, effort: Effort) -> Result<Survived> {
    let Effort { replays, every, size } = effort;
    let (stream, beside) = (device.stream()?, device.stream()?);
    let blas = CublasLt::load(device)?;
    let before = [record(device, &blas, size, false)?, record(device, &blas, 2 * size, false)?];
    let mut kept = record(device, &blas, size, false)?;
    let want = {
        let mut own = record(device, &blas, size, true)?;
        own.launch(&stream)?;
        (stream.read(&own.outputs().0)?, stream.read(&own.outputs().1)?)
    };
    for mut other in before {
        other.launch(&beside)?;
    }
    // Inputs and workspace went when they had been recorded; now the handle goes, too: all that a program could hold.
    drop(blas);
    let arena = (kept.memory().temps(), kept.memory().workspaces);
    let dropped_workspace = wanted(device, size)?;
    kept.launch(&stream)?;
    let read = |graph: &Graph<Outputs>| -> Result<(Vec<f32>, Vec<bf16>)> {
        Ok((stream.read(&graph.outputs().0)?, stream.read(&graph.outputs().1)?))
    };
    let first = read(&kept)?;
    let difference = largest_difference(&first, &want)?;
    let (mut compared, mut other_graphs) = (1, 2);
    for replay in 1..replays {
        kept.launch(&stream)?;
        if replay % every == 0 || replay + 1 == replays {
            // Made again, used and dropped, on the stream that works beside.
            let blas = CublasLt::load(device)?;
            come_and_go(device, &blas, &beside, size + replay / every % 3)?;
            other_graphs += 1;
            churn(device, &beside, arena.0.max(4096) * 3)?;
            let now = read(&kept)?;
            compared += 1;
            if now.0.iter().map(|x| x.to_bits()).ne(first.0.iter().map(|x| x.to_bits())) || now.1 != first.1 {
                return Err(Error::msg(format!("replay {replay} gave another result than the first")));
            }
        }
    }
    // Equal results could also be those of a replay that did nothing.
    if stream.read(&kept.outputs().2)?.iter().any(|count| *count != replays as f32) {
        return Err(Error::msg(format!("of {replays} replays not every one did its work")));
    }
    Ok(Survived { replays, compared, other_graphs, arena, dropped_workspace, difference })
}

/// The largest difference as a share of the largest element, of both results.
fn largest_difference(got: &(Vec<f32>, Vec<bf16>), want: &(Vec<f32>, Vec<bf16>)) -> Result<f64> {
    let wide = |values: &[bf16]| values.iter().map(|value| value.to_f32()).collect::<Vec<f32>>();
    let mut largest = 0f64;
    for (got, want, limit) in [(got.0.clone(), want.0.clone(), 1.0 / 64.0), (wide(&got.1), wide(&want.1), 1.0 / 64.0)] {
        let scale = want.iter().fold(0f64, |most, x| most.max(f64::from(x.abs())));
        let difference = got
            .iter()
            .zip(&want)
            .map(|(a, b)| f64::from((a - b).abs()))
            .fold(0f64, |most, x| if x.is_nan() { f64::INFINITY } else { most.max(x) });
        if scale == 0.0 || difference > limit * scale {
            return Err(Error::msg(format!(
                "the first replay differs by {difference} from our own kernels, of {scale}"
            )));
        }
        largest = largest.max(difference / scale);
    }
    Ok(largest)
}

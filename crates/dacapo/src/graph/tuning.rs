//! Which kinds of edges suit which kernels: what [`Graph::tune`](crate::Graph::tune) finds out, as data.
//!
//! - A kernel is known by its entry point, its text and its geometry, so a tuning outlives the graph that it came from: it
//!   suits every graph in which the same two kernels follow each other, also in another process.
//! - It belongs to a GPU. On another it is not used.
//! - As text it is a line for each pair: to be kept in a file, or in the source by `include_str!`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::arrange::{Edge, EdgeChoice, Pair};
use crate::device::Device;
use crate::error::{Error, ErrorKind};
use crate::kernel::Grid;
use crate::record::{Node, Work};

/// A kernel as a [`Tuning`] knows it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::graph::Tuning;
/// let text = "dacapo tuning 1 for NVIDIA H200\nsignals scale 8x1x1 256x1x1 0 00c0ffee > add 8x1x1 256x1x1 0 00c0ffee\n";
/// let tuning: Tuning = text.parse()?;
/// let (before, after, _) = tuning.iter().next().unwrap();
/// assert_eq!((before.entry.as_str(), after.threads), ("scale", [256, 1, 1]));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct TunedKernel {
    /// The name of its entry point.
    pub entry: String,
    /// Blocks in x, y, z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y, z.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// A sum over the text of its module: another text is another kernel.
    pub text: u64,
}

/// Which kinds of edges suit which pairs of kernels on one GPU.
///
/// [`Graph::tune`](crate::Graph::tune) makes one; [`GraphBuilder::tuned`](crate::graph::GraphBuilder::tuned) uses it. `Display` and `FromStr`
/// are its form in a file.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, graph::Tuning};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// # let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(fill(&mut y, baked(1)))?;
/// let tuning = graph.tune(&stream)?.tuning;
/// let text = tuning.to_string(); // into a file
/// let again: Tuning = text.parse()?; // in the next process
/// assert_eq!(again, tuning);
/// let graph = device.graph().tuned(&again).record(fill(&mut y, baked(1)))?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tuning {
    gpu: String,
    edges: BTreeMap<(TunedKernel, TunedKernel), Edge>,
}

impl Tuning {
    pub(crate) fn new(gpu: &str) -> Tuning {
        Tuning { gpu: gpu.to_string(), edges: BTreeMap::new() }
    }

    /// The name of the GPU that it was measured on.
    pub fn gpu(&self) -> &str {
        &self.gpu
    }

    /// Whether it was measured on this kind of device; elsewhere it is not used.
    pub fn is_for(&self, device: &Device) -> bool {
        self.gpu == device.properties().name
    }

    /// How many pairs of kernels it knows.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether it knows no pair.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The pairs of kernels, each with the kind of edge that suits it.
    pub fn iter(&self) -> impl Iterator<Item = (&TunedKernel, &TunedKernel, Edge)> {
        self.edges.iter().map(|((before, after), edge)| (before, after, *edge))
    }

    /// Takes over what another one knows, which counts where both know a pair. One for another GPU is not taken.
    pub fn merge(&mut self, other: &Tuning) {
        if self.edges.is_empty() && self.gpu.is_empty() {
            self.gpu.clone_from(&other.gpu);
        }
        if self.gpu == other.gpu {
            self.edges.extend(other.edges.iter().map(|(pair, edge)| (pair.clone(), *edge)));
        }
    }

    pub(super) fn set(&mut self, pair: (TunedKernel, TunedKernel), edge: Edge) {
        self.edges.insert(pair, edge);
    }

    pub(super) fn get(&self, pair: &(TunedKernel, TunedKernel)) -> Option<Edge> {
        self.edges.get(pair).copied()
    }

    /// As a choice for recordings on this device: for pairs that it does not know, the usual one.
    pub(crate) fn choice(&self, device: &Device) -> EdgeChoice {
        if !self.is_for(device) || self.is_empty() {
            return EdgeChoice::Usual;
        }
        let tuning = Arc::new(self.clone());
        EdgeChoice::By(Arc::new(move |pair, usual| {
            let known = pair.kernels().and_then(|pair| tuning.get(&pair));
            known.unwrap_or(usual)
        }))
    }
}

impl Pair<'_> {
    /// The kernels of two nodes that were recorded and not lowered yet.
    fn kernels(&self) -> Option<(TunedKernel, TunedKernel)> {
        let (before, after) = self.grids?;
        TunedKernel::with(self.before, before).zip(TunedKernel::with(self.after, after))
    }
}

impl TunedKernel {
    /// The kernel of a node, with its geometry.
    pub(super) fn with(node: &Node, Grid { blocks, threads, shared }: Grid) -> Option<TunedKernel> {
        let Work::Kernel(kernel) = &node.work else { return None };
        let (entry, text) = (kernel.function.name.to_string(), kernel.function.text());
        Some(TunedKernel { entry, blocks, threads, shared, text })
    }
}

/// The first line of the text, up to the GPU.
const HEAD: &str = "dacapo tuning 1 for ";

impl fmt::Display for TunedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TunedKernel { entry, blocks: [x, y, z], threads: [tx, ty, tz], shared, text } = self;
        write!(f, "{entry} {x}x{y}x{z} {tx}x{ty}x{tz} {shared} {text:016x}")
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}{}", self.gpu)?;
        for (before, after, edge) in self.iter() {
            writeln!(f, "{edge} {before} > {after}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Edge::Full => "full",
            Edge::Waits => "waits",
            Edge::Signals => "signals",
        })
    }
}

impl FromStr for Tuning {
    type Err = Error;

    /// # Errors
    ///
    /// - [`ErrorKind::BadTuning`], with the line.
    fn from_str(text: &str) -> Result<Tuning, Error> {
        let bad = |line: usize, why: &str| Error::new(ErrorKind::BadTuning { line: line + 1, why: why.to_string() });
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (number, first) = lines.next().unwrap_or_default();
        let Some(gpu) = first.strip_prefix(HEAD) else {
            return Err(bad(number, &format!("it does not begin with `{HEAD}` and the name of a GPU")));
        };
        let mut tuning = Tuning::new(gpu.trim());
        for (number, line) in lines {
            let mut words = line.split_whitespace();
            let edge = match words.next() {
                Some("full") => Edge::Full,
                Some("waits") => Edge::Waits,
                Some("signals") => Edge::Signals,
                _ => return Err(bad(number, "it begins with none of `full`, `waits`, `signals`")),
            };
            let before = kernel(&mut words).map_err(|why| bad(number, why))?;
            if words.next() != Some(">") {
                return Err(bad(number, "there is no ` > ` between two kernels"));
            }
            let after = kernel(&mut words).map_err(|why| bad(number, why))?;
            if words.next().is_some() {
                return Err(bad(number, "there is something behind the second kernel"));
            }
            if tuning.edges.insert((before, after), edge).is_some() {
                return Err(bad(number, "the pair was there before"));
            }
        }
        Ok(tuning)
    }
}

fn kernel<'w>(words: &mut impl Iterator<Item = &'w str>) -> Result<TunedKernel, &'static str> {
    let mut next = |what: &'static str| words.next().ok_or(what);
    let extents = |word: &str, what: &'static str| -> Result<[u32; 3], &'static str> {
        let parts: Vec<u32> = word.split('x').map(str::parse).collect::<Result<_, _>>().map_err(|_| what)?;
        <[u32; 3]>::try_from(parts).map_err(|_| what)
    };
    let entry = next("a kernel's name is missing")?.to_string();
    let blocks =
        extents(next("a kernel's blocks are missing")?, "a kernel's blocks are not three numbers, as in `8x1x1`")?;
    let threads =
        extents(next("a kernel's threads are missing")?, "a kernel's threads are not three numbers, as in `256x1x1`")?;
    let shared = next("a kernel's shared memory is missing")?;
    let shared = shared.parse().map_err(|_| "a kernel's bytes of shared memory are not a number")?;
    let text = next("the sum of a kernel's text is missing")?;
    let text = u64::from_str_radix(text, 16).map_err(|_| "the sum of a kernel's text is not a hexadecimal number")?;
    Ok(TunedKernel { entry, blocks, threads, shared, text })
}

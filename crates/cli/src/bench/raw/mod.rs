//! The other side of every comparison: the same work by driver calls, as one writes it by hand.
//!
//! Thin on purpose: a call of the table, its code checked, and nothing else. Handles are destroyed by their owners; what
//! a graph's kernels touch is kept alive by the measurement that made it, until its streams have been waited for.

mod graph;
mod kernel;
mod memory;
mod node;
mod repeat;
mod stream;

use std::cell::OnceCell;

use dacapo_driver::Driver;
use dacapo_driver::types::*;

pub use graph::{RawGraph, Shape};
pub use kernel::KernelCall;
pub use memory::Pinned;
pub use node::KernelNode;
pub use repeat::{Choice, Repeat};
pub use stream::{RawEvent, RawStream};

use crate::complaint::Complaint;
use crate::session::{DeviceBytes, Session};

/// The PTX that both sides launch.
pub const PTX: &str = include_str!("../../../kernels/bench.ptx");

/// Threads of a block of the kernels that work on elements.
pub const THREADS: u32 = 256;

/// A device with the benchmark's kernels, by driver calls alone.
pub struct Raw<'d> {
    driver: &'d dyn Driver,
    session: Session<'d>,
    stream: OnceCell<RawStream<'d>>,
    bump: CUfunction,
    axpy: CUfunction,
    spin: CUfunction,
}

impl<'d> Raw<'d> {
    /// Opens device 0 and loads the kernels.
    ///
    /// # Safety
    ///
    /// - What is launched or copied through it, or through what it makes, touches only memory that lives until its stream
    ///   has been waited for, and no more of it than there is.
    /// - A kernel gets the arguments that it asks for.
    ///
    /// # Errors
    ///
    /// - The first call that was refused.
    pub unsafe fn open(driver: &'d dyn Driver) -> Result<Raw<'d>, Complaint> {
        let mut session = Session::open(driver)?;
        let mut kernel = |name| session.kernel("bench", PTX, name);
        let (bump, axpy, spin) = (kernel("bump")?, kernel("axpy_slot")?, kernel("spin_cycles")?);
        Ok(Raw { driver, session, stream: OnceCell::new(), bump, axpy, spin })
    }

    /// What the device and the driver call themselves.
    pub fn session(&self) -> &Session<'d> {
        &self.session
    }

    /// Its stream, the same one each time. It does not wait for the legacy stream.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn stream(&self) -> Result<RawStream<'d>, Complaint> {
        if let Some(stream) = self.stream.get() {
            return Ok(stream.clone());
        }
        let stream = self.another_stream()?;
        Ok(self.stream.get_or_init(|| stream).clone())
    }

    /// Another such stream, for what runs beside it.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn another_stream(&self) -> Result<RawStream<'d>, Complaint> {
        RawStream::create(self.driver)
    }

    /// A new event; one that keeps no time is cheaper.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn event(&self, timing: bool) -> Result<RawEvent<'d>, Complaint> {
        RawEvent::create(self.driver, timing)
    }

    /// Device memory with these values.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn floats(&self, values: &[f32]) -> Result<DeviceBytes<'d>, Complaint> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Ok(self.session.buffer(&bytes)?)
    }

    /// Pinned host memory with these values.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn pinned(&self, values: &[f32]) -> Result<Pinned<'d>, Complaint> {
        Pinned::create(self.driver, values)
    }

    /// `x[i] += 1` for `n` elements.
    pub fn bump(&self, x: &DeviceBytes<'_>, n: u32) -> KernelCall {
        KernelCall::new(self.bump, n.div_ceil(THREADS), THREADS, &[x.address(), u64::from(n)])
    }

    /// `y[i] += a * x[i]` for `n` elements.
    pub fn axpy(&self, a: f32, x: &DeviceBytes<'_>, y: &DeviceBytes<'_>, n: u32) -> KernelCall {
        let words = [u64::from(a.to_bits()), x.address(), y.address(), u64::from(n)];
        KernelCall::new(self.axpy, n.div_ceil(THREADS), THREADS, &words)
    }

    /// Waits for `cycles` of the multiprocessor's clock, then adds one to the number at `out`.
    pub fn spin(&self, out: &DeviceBytes<'_>, cycles: u64) -> KernelCall {
        KernelCall::new(self.spin, 1, 32, &[out.address(), cycles])
    }

    /// An executable graph of these calls.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn graph(&self, calls: &[KernelCall], shape: Shape) -> Result<RawGraph<'d>, Complaint> {
        RawGraph::build(self.driver, calls, shape)
    }

    /// An executable graph of these nodes, each behind those that it names.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn graph_of(&self, nodes: &[KernelNode]) -> Result<RawGraph<'d>, Complaint> {
        RawGraph::of_nodes(self.driver, nodes)
    }

    /// An executable graph of nodes and, behind the last of them, a WHILE node with a body of nodes. `nodes` is given the
    /// handle of the condition, which a kernel on each side sets.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn graph_with_while(&self, nodes: impl FnOnce(u64) -> Repeat) -> Result<RawGraph<'d>, Complaint> {
        RawGraph::with_while(self.driver, nodes)
    }

    /// An executable graph of nodes, behind the last of them an IF node with a body of nodes, and a node behind that. `nodes` is
    /// given the handle of the condition, which the last kernel before sets.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn graph_with_if(&self, nodes: impl FnOnce(u64) -> Choice) -> Result<RawGraph<'d>, Complaint> {
        RawGraph::with_if(self.driver, nodes)
    }

    /// Marks a place of a stream of the library's with `event`.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn record_on(&self, event: &RawEvent<'_>, stream: &dacapo::Stream) -> Result<(), Complaint> {
        Ok(event.record_on(self.driver, stream.raw().0)?)
    }

    /// An executable graph of these calls, captured on a stream.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn captured(&self, calls: &[KernelCall], stream: &RawStream<'d>) -> Result<RawGraph<'d>, Complaint> {
        RawGraph::capture(self.driver, calls, stream)
    }
}

/// The floats of a buffer; everything that writes it must have been waited for.
///
/// # Errors
///
/// - The driver refused.
pub fn read_floats(buffer: &DeviceBytes<'_>) -> Result<Vec<f32>, Complaint> {
    let bytes = buffer.read()?;
    Ok(bytes.chunks_exact(4).map(|four| f32::from_ne_bytes([four[0], four[1], four[2], four[3]])).collect())
}

/// Refuses when a value is not what it should be.
///
/// # Errors
///
/// - The first element that differs, with both values.
pub fn all_equal<T: PartialEq + std::fmt::Display>(whose: &str, got: &[T], want: T) -> Result<(), Complaint> {
    match got.iter().position(|got| *got != want) {
        None => Ok(()),
        Some(at) => Err(Complaint::new(format!("{whose}: element {at} is {}, should be {want}", got[at]))
            .help("this is a bug; `dacapo doctor` tells whether the driver works at all")),
    }
}

//! The system on a device, and what a round does, as ops.
//!
//! α, β, the residual, its limit and the number of rounds are in device memory: no round needs the host. So a round is the
//! same ops whoever runs the loop, and reading the residual is the host's affair.

use dacapo::{Buffer, Device, Recorder, Result, Scalar, Stream, baked};

use crate::kernels::{Kernels, blocks};
use crate::problem::Problem;

/// A system A x = b on a device, and everything that its rounds need.
pub struct Solver {
    device: Device,
    kernels: Kernels,
    b: Buffer<f32>,
    x: Buffer<f32>,
    /// What is left: b - A x, carried from round to round.
    r: Buffer<f32>,
    /// The direction in which the next round goes, and A times it.
    p: Buffer<f32>,
    q: Buffer<f32>,
    /// The dot products p · q and r · r, a part for each block.
    pq_parts: Buffer<f32>,
    rr_parts: Buffer<f32>,
    /// r · r before this round.
    before: Scalar<f32>,
    residual: Scalar<f32>,
    limit: Scalar<f32>,
    rounds: Scalar<u32>,
}

impl Solver {
    /// The system of a problem, not started yet.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(device: &Device, problem: &Problem) -> Result<Solver> {
        let (points, parts) = (problem.b.len(), blocks(problem.b.len()));
        Ok(Solver {
            device: device.clone(),
            kernels: Kernels::load(device)?,
            b: device.buffer(&problem.b)?.named("b"),
            x: device.zeros(points)?.named("x"),
            r: device.zeros(points)?.named("r"),
            p: device.zeros(points)?.named("p"),
            q: device.zeros(points)?.named("q"),
            pq_parts: device.zeros(parts)?.named("parts of p.q"),
            rr_parts: device.zeros(parts)?.named("parts of r.r"),
            before: device.scalar(0.0)?.named("before"),
            residual: device.scalar(0.0)?.named("residual"),
            limit: device.scalar(0.0)?.named("limit"),
            rounds: device.scalar(0)?.named("rounds"),
        })
    }

    /// Records the start: x = 0, so that b is left and is the first direction, and the limit follows from it.
    ///
    /// # Errors
    ///
    /// - What recording failed with.
    pub fn start(&mut self, r: &mut Recorder<'_>, tolerance: f32) -> Result<()> {
        let k = &self.kernels;
        r.run(k.begin(&self.b, &mut self.x, &mut self.r, &mut self.p, &mut self.rr_parts))?;
        let measure =
            k.measure(&self.rr_parts, baked(tolerance), &mut self.residual, &mut self.limit, &mut self.rounds);
        r.run(measure)
    }

    /// Records one round. It leaves the squared norm of what is left in [`residual`](Solver::residual).
    ///
    /// A round behind the solution, where nothing is left, changes nothing but the count.
    ///
    /// # Errors
    ///
    /// - What recording failed with.
    pub fn round(&mut self, r: &mut Recorder<'_>) -> Result<()> {
        let Solver { kernels: k, x, r: left, p, q, pq_parts, rr_parts, before, residual, rounds, .. } = self;
        r.run(k.apply(p, residual, q, pq_parts, before))?;
        r.run(k.advance(p, q, pq_parts, before, x, left, rr_parts))?;
        r.run(k.turn(left, rr_parts, before, p, residual, rounds))
    }

    /// How many kernels a round is.
    ///
    /// # Errors
    ///
    /// - What recording failed with.
    pub fn kernels_per_round(&mut self) -> Result<usize> {
        let device = self.device.clone();
        Ok(device.graph().inspect(|r: &mut Recorder<'_>| self.round(r))?.nodes.len())
    }

    /// The squared norm of what is left, as the rounds carry it: the loop goes on while it is above the limit.
    pub fn residual(&self) -> &Scalar<f32> {
        &self.residual
    }

    /// What the residual must fall to: the squared norm of b, times the tolerance twice.
    pub fn limit(&self) -> &Scalar<f32> {
        &self.limit
    }

    /// How many rounds were done since the start, counted by the device.
    pub fn rounds(&self) -> &Scalar<u32> {
        &self.rounds
    }

    /// The solution as it is now.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn solution(&self, stream: &Stream) -> Result<Vec<f32>> {
        stream.read(&self.x)
    }

    /// Where it is.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

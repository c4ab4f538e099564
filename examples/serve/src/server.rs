//! The server: a lane for each thread that asks, and weights that are swapped in all of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dacapo::memory::Reading;
use dacapo::shapes::{Bucketed, Buckets, Pad, Rows, rows};
use dacapo::{Buffer, Device, Recorder, Result, Slice, Stream};

use crate::model::{Kernels, WIDTH, Weights};

/// The most rows of a request.
pub const ROWS_MAX: usize = 64;

/// What records the model for a bucket.
type Body = Box<dyn for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, usize, &'i Slice<f32>) -> Result<Buffer<f32>> + Send>;

/// An answer under way.
pub struct Answer {
    /// The rows, when they are there.
    pub rows: Reading<f32>,
    /// By which weights they are computed.
    pub weights: Arc<Weights>,
    /// When it was asked for.
    pub asked: Instant,
}

/// How a lane runs the model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// A graph for each bucket.
    Graphs,
    /// Kernel by kernel.
    Eager,
}

/// A stream with a set of graphs.
pub struct Lane {
    stream: Stream,
    /// Where requests arrive.
    x: Buffer<f32>,
    /// What the next recording is made over.
    weights: Arc<Mutex<Arc<Weights>>>,
    model: Bucketed<Rows<f32>, Buffer<f32>, Body>,
    kernels: Arc<Kernels>,
    how: How,
}

impl Lane {
    fn new(device: &Device, kernels: &Arc<Kernels>, weights: &Arc<Weights>, how: How) -> Result<Lane> {
        let weights = Arc::new(Mutex::new(weights.clone()));
        let (k, now) = (kernels.clone(), weights.clone());
        let body: Body = Box::new(move |r, _, x| lock(&now).forward(r, &k, x));
        let mut model = Bucketed::new(device, Buckets::powers_of_two(ROWS_MAX)?, rows(WIDTH, Pad::Zero), body)?;
        if how == How::Graphs {
            model.prepare()?;
        }
        let x = device.zeros(ROWS_MAX * WIDTH)?;
        Ok(Lane { stream: device.stream()?, x, weights, model, kernels: kernels.clone(), how })
    }

    /// Asks for the model's answer to some rows: enqueued when this returns, in the order of the calls.
    ///
    /// # Errors
    ///
    /// - What the device refused.
    pub fn ask(&mut self, rows: &[f32]) -> Result<Answer> {
        let (asked, weights) = (Instant::now(), lock(&self.weights).clone());
        let x = &mut self.x[..rows.len()];
        self.stream.write(x, rows)?;
        let rows = match self.how {
            How::Graphs => self.stream.read_later(self.model.call(&self.stream, rows.len() / WIDTH, x)?)?,
            How::Eager => {
                let y = self.stream.run(|r: &mut Recorder<'_>| weights.forward(r, &self.kernels, x))?;
                self.stream.read_later(&y)?
            }
        };
        Ok(Answer { rows, weights, asked })
    }

    /// Other weights from the next request on: every graph is changed in place, and requests in flight keep the old ones.
    /// How many graphs were changed without being rebuilt.
    fn swap(&mut self, weights: &Arc<Weights>) -> Result<usize> {
        let old = std::mem::replace(&mut *lock(&self.weights), weights.clone());
        match self.model.rerecord_all() {
            Ok(done) => Ok(done.iter().filter(|(_, how)| how.is_updated()).count()),
            Err(error) => {
                // Some graphs may have the new weights already: all go back, so that one lane has one set of weights.
                *lock(&self.weights) = old;
                self.model.rerecord_all()?;
                Err(error)
            }
        }
    }
}

/// All lanes.
pub struct Server {
    device: Device,
    lanes: Vec<Mutex<Lane>>,
}

impl Server {
    /// So many lanes, each with its graphs recorded.
    ///
    /// # Errors
    ///
    /// - What the device refused: no memory, or more than the budget.
    pub fn new(device: &Device, lanes: usize, how: How) -> Result<Server> {
        let kernels = Arc::new(Kernels::load(device)?);
        let weights = Weights::new(device, 0)?;
        let lanes = (0..lanes).map(|_| Lane::new(device, &kernels, &weights, how).map(Mutex::new));
        Ok(Server { device: device.clone(), lanes: lanes.collect::<Result<_>>()? })
    }

    /// A lane. Whoever holds it asks; whoever waits for an answer does not.
    pub fn lane(&self, number: usize) -> MutexGuard<'_, Lane> {
        lock(&self.lanes[number % self.lanes.len()])
    }

    /// Other weights in all lanes, one after the other, while the others go on. How many graphs were changed in place.
    ///
    /// # Errors
    ///
    /// - No memory for both sets of weights; a lane that was not reached goes on with the old ones.
    pub fn swap(&self, generation: u32) -> Result<usize> {
        let weights = Weights::new(&self.device, generation)?;
        let mut changed = 0;
        for lane in &self.lanes {
            changed += lock(lane).swap(&weights)?;
        }
        Ok(changed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

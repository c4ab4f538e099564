//! What a launch of ten collectives costs the host, in alternating blocks: the library's graph and one captured by hand.
//!
//! A block is a number of launches in runs that are short enough not to fill the driver's queue: in a full queue a launch takes as
//! long as the device does. Only launches are timed; between runs the stream is waited for.

use std::time::Instant;

use dacapo::collective::{Communicator, Reduce};
use dacapo::{Graph, Recorder, Stream};
use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_nccl::Nccl;
use dacapo_nccl::types::{
    c_void, ncclAvg, ncclComm, ncclConfig, ncclFloat32, ncclRedOp, ncclResult, ncclSum, ncclUniqueId,
};

use super::Came;
use super::floor::{Floor, Made, done, middle, text};
use crate::nccl::by_hand::{ByHand, by_hand};

const LINKS: usize = 10;
const LEN: usize = 1024;
const BLOCKS: usize = 21;
const RUNS: usize = 5;
/// What is not slower: between runs of the same program medians differ by as much.
const RATIO_MAX: f64 = 1.03;

pub(super) fn run(floor: &Floor) -> Made<Came> {
    let (device, nccl) = (&floor.device, &*floor.nccl);
    let comm = Communicator::alone(device).map_err(text)?;
    let stream = device.stream().map_err(text)?;
    let raw_stream = floor.raw_stream()?;
    let raw_comm = raw_comm(nccl)?;
    let (mut ratios, mut well) = (Vec::new(), true);
    for (name, reduce, op) in [("sum", Reduce::Sum, ncclSum), ("avg", Reduce::Average, ncclAvg)] {
        let side = Sides { floor, stream: &stream, raw_stream };
        let ratio = side.compare(name, &comm, reduce, (raw_comm, op))?;
        well &= device.is_software() || ratio <= RATIO_MAX;
        ratios.push(ratio);
    }
    Sides { floor, stream: &stream, raw_stream }.eager(&comm, raw_comm)?;
    floor.enter()?;
    // SAFETY: its graphs are gone, and it is not used again.
    accepted("ncclCommDestroy", unsafe { nccl.ncclCommDestroy(raw_comm) })?;
    floor.destroy(raw_stream)?;
    if device.is_software() {
        floor.say("(on the software device this says nothing of a GPU)");
    }
    Ok(Came { well, figure: format!("ratio {:.3}/{:.3}", ratios[0], ratios[1]) })
}

fn accepted(call: &str, code: ncclResult) -> Made {
    if code.is_success() { Ok(()) } else { Err(format!("{call}: {code}")) }
}

/// A communicator without the library, whose calls wait.
fn raw_comm(nccl: &dyn Nccl) -> Made<ncclComm> {
    let (mut id, mut comm) = (ncclUniqueId { internal: [0; 128] }, ncclComm::NULL);
    // SAFETY: `id` is valid for the write.
    accepted("ncclGetUniqueId", unsafe { nccl.ncclGetUniqueId(&mut id) })?;
    let mut config = ncclConfig::new(true);
    // SAFETY: both pointers are valid for this call; the device's context is current.
    let code = unsafe { nccl.ncclCommInitRankConfig(&mut comm, 1, id, 0, &mut config) };
    accepted("ncclCommInitRankConfig", code)?;
    Ok(comm)
}

/// Where both sides launch.
struct Sides<'f> {
    floor: &'f Floor,
    stream: &'f Stream,
    raw_stream: CUstream,
}

impl Sides<'_> {
    fn compare(&self, name: &str, comm: &Communicator, reduce: Reduce, by: (ncclComm, ncclRedOp)) -> Made<f64> {
        let device = &self.floor.device;
        let numbers: Vec<f32> = (0..LEN).map(|at| at as f32).collect();
        let (mut a, mut b) = (device.buffer(&numbers).map_err(text)?, device.zeros::<f32>(LEN).map_err(text)?);
        let began = Instant::now();
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                for link in 0..LINKS {
                    let (from, to) = if link % 2 == 0 { (&mut a, &mut b) } else { (&mut b, &mut a) };
                    r.run(comm.all_reduce(from, to, reduce))?;
                }
                Ok(())
            })
            .map_err(text)?;
        let recorded_ms = began.elapsed().as_secs_f64() * 1e3;
        self.floor.enter()?;
        let memory = [self.memory(&numbers)?, self.memory(&[0.0; LEN])?];
        let links: Vec<_> = (0..LINKS).map(|link| (memory[link % 2], memory[(link + 1) % 2])).collect();
        let began = Instant::now();
        // SAFETY: communicator, stream and memory are live until the graph is gone, and nobody else uses them.
        let hand =
            unsafe { by_hand(&*self.floor.driver, &*self.floor.nccl, by.0, self.raw_stream, &links, LEN, by.1)? };
        let by_hand_ms = began.elapsed().as_secs_f64() * 1e3;
        let blocks = self.floor.times(BLOCKS, 3);
        let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for block in 0..=blocks {
            // Who is first changes, too.
            let (our, their) = match block % 2 {
                0 => {
                    let our = self.block_of_ours(&mut graph)?;
                    (our, self.block_of_theirs(&hand)?)
                }
                _ => {
                    let their = self.block_of_theirs(&hand)?;
                    (self.block_of_ours(&mut graph)?, their)
                }
            };
            // The first only warms up.
            if block > 0 {
                ours.push(our);
                theirs.push(their);
                ratios.push(our / their);
            }
        }
        if self.stream.read(&a).map_err(text)? != numbers || self.read(memory[0])? != numbers {
            return Err(format!("{name}: a result is wrong"));
        }
        drop(hand);
        for at in memory {
            // SAFETY: nothing uses it any more: every block has been waited for.
            done("cuMemFree", unsafe { self.floor.driver.cuMemFree_v2(at) })?;
        }
        let (ratio, low, high) = middle(ratios);
        self.floor.say(format!(
            "{LINKS} all_reduce {name}: {:.3} us a launch here, {:.3} us by hand; ratio {ratio:.3} (p10 {low:.3}, p90 {high:.3}); \
             {blocks} alternating blocks of {} launches in {RUNS} runs; recorded in {recorded_ms:.2} ms, by hand in {by_hand_ms:.2} ms",
            middle(ours).0,
            middle(theirs).0,
            RUNS * self.run_len()
        ));
        Ok(ratio)
    }

    /// What eager calls cost; nothing is judged by it.
    fn eager(&self, comm: &Communicator, raw_comm: ncclComm) -> Made {
        let (device, nccl) = (&self.floor.device, &*self.floor.nccl);
        let x = device.buffer(&[1.0f32; LEN]).map_err(text)?;
        let mut y = device.zeros::<f32>(LEN).map_err(text)?;
        self.floor.enter()?;
        let (a, b) = (self.memory(&[1.0; LEN])?, self.memory(&[0.0; LEN])?);
        let (from, to, raw) = (a as *const c_void, b as *mut c_void, self.raw_stream);
        let wait_raw = || {
            // SAFETY: the stream is live.
            done("cuStreamSynchronize", unsafe { self.floor.driver.cuStreamSynchronize(raw) })
        };
        let wait = || self.stream.synchronize().map_err(text);
        for kind in ["all_reduce avg", "send+recv"] {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..self.floor.times(BLOCKS, 3) {
                ours.push(self.block(
                    || {
                        let ran = match kind {
                            "send+recv" => self.stream.run(comm.group().send(&x, 0).recv(&mut y, 0).op()),
                            _ => self.stream.run(comm.all_reduce(&x, &mut y, Reduce::Average)),
                        };
                        ran.map_err(text)
                    },
                    wait,
                )?);
                theirs.push(self.block(
                    || match kind {
                        // SAFETY: both are this long, and the communicator and the stream live until the last wait.
                        "send+recv" => unsafe {
                            accepted("ncclGroupStart", nccl.ncclGroupStart())?;
                            accepted("ncclSend", nccl.ncclSend(from, LEN, ncclFloat32, 0, raw_comm, raw))?;
                            accepted("ncclRecv", nccl.ncclRecv(to, LEN, ncclFloat32, 0, raw_comm, raw))?;
                            accepted("ncclGroupEnd", nccl.ncclGroupEnd())
                        },
                        // SAFETY: as above.
                        _ => accepted("ncclAllReduce", unsafe {
                            nccl.ncclAllReduce(from, to, LEN, ncclFloat32, ncclAvg, raw_comm, raw)
                        }),
                    },
                    wait_raw,
                )?);
            }
            let (ours, theirs) = (middle(ours).0, middle(theirs).0);
            self.floor.say(format!(
                "eager {kind}: {ours:.2} us a call here, {theirs:.2} us by NCCL alone, with calls that wait"
            ));
        }
        for at in [a, b] {
            // SAFETY: nothing uses it any more: every block has been waited for.
            done("cuMemFree", unsafe { self.floor.driver.cuMemFree_v2(at) })?;
        }
        Ok(())
    }

    fn memory(&self, numbers: &[f32]) -> Made<CUdeviceptr> {
        let mut at = 0;
        // SAFETY: `at` is valid for the write.
        done("cuMemAlloc", unsafe { self.floor.driver.cuMemAlloc_v2(&mut at, size_of_val(numbers)) })?;
        // SAFETY: the memory was just made, of this length.
        let code = unsafe { self.floor.driver.cuMemcpyHtoD_v2(at, numbers.as_ptr().cast(), size_of_val(numbers)) };
        done("cuMemcpyHtoD", code)?;
        Ok(at)
    }

    fn read(&self, at: CUdeviceptr) -> Made<Vec<f32>> {
        let mut numbers = vec![0.0f32; LEN];
        // SAFETY: both are of this length.
        let code = unsafe { self.floor.driver.cuMemcpyDtoH_v2(numbers.as_mut_ptr().cast(), at, 4 * LEN) };
        done("cuMemcpyDtoH", code)?;
        Ok(numbers)
    }

    fn run_len(&self) -> usize {
        self.floor.times(200, 2)
    }

    /// Microseconds of a launch, in runs.
    fn block(&self, mut launch: impl FnMut() -> Made, wait: impl Fn() -> Made) -> Made<f64> {
        let mut seconds = 0.0;
        for _ in 0..RUNS {
            let began = Instant::now();
            for _ in 0..self.run_len() {
                launch()?;
            }
            seconds += began.elapsed().as_secs_f64();
            wait()?;
        }
        Ok(seconds * 1e6 / (RUNS * self.run_len()) as f64)
    }

    fn block_of_ours(&self, graph: &mut Graph<()>) -> Made<f64> {
        let launch = || match graph.launch(self.stream) {
            Ok(_) => Ok(()),
            Err(error) => Err(text(error)),
        };
        self.block(launch, || self.stream.synchronize().map_err(text))
    }

    fn block_of_theirs(&self, hand: &ByHand<'_>) -> Made<f64> {
        let driver: &dyn Driver = &*self.floor.driver;
        let launch = || {
            // SAFETY: the communicator and the memory live until every block has been waited for.
            let code = unsafe { hand.launch(self.raw_stream) };
            if code.is_success() { Ok(()) } else { Err(format!("cuGraphLaunch: {code}")) }
        };
        // SAFETY: the stream is live.
        self.block(launch, || done("cuStreamSynchronize", unsafe { driver.cuStreamSynchronize(self.raw_stream) }))
    }
}

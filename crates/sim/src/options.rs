//! What a machine is made with. The simulator reads no environment and no clock but what it is given here.

use std::sync::Arc;
use std::time::Duration;

use crate::detect::Detectors;
use crate::exec::{CORES_FROM, InstructionSet};
use crate::finding::Finding;
use crate::model::device::DEVICES_MAX;

/// Who is told of each finding as it is made.
pub type OnFinding = Arc<dyn Fn(&Finding) + Send + Sync>;

/// How time passes and work moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Time {
    /// Time moves with instructions and calls, work moves at driver calls. Seed and program reproduce the run.
    #[default]
    Counted,
    /// The wall clock, and a thread that makes progress while the program makes no call. Not reproducible; for
    /// programs that poll host memory or kernels that wait for the clock.
    Live,
}

/// How a [`Machine`](crate::Machine) is made.
#[derive(Clone)]
pub struct Options {
    /// Decides every choice: addresses, the order of what may overlap, when asynchronous work happens.
    pub seed: u64,
    /// Devices, from 1 to 64, all of the same model. They share the address space, the order of work and the seed.
    pub devices: usize,
    /// Whether the devices can be peers. Where they cannot, no device is given access to memory of another, and copies between
    /// them go through memory of the host.
    pub peers: bool,
    /// Bytes of memory of each device. Only what is touched takes memory of the host.
    pub capacity: u64,
    /// How time passes.
    pub time: Time,
    /// Warp instructions that a kernel runs, at least, before another that could run may: the fewer, the finer the two are
    /// interleaved, and the slower is all of it.
    pub quantum: u64,
    /// Warp instructions of one launch before it is reported as a probable endless loop.
    pub budget: u64,
    /// Rounds of one WHILE node of a graph before it is reported as a loop that does not end. In live time a loop whose
    /// body is given memory of the host may wait for the host, and goes on.
    pub rounds_max: u64,
    /// In counted time, how often in a row everything that could run may only poll host memory or the clock before the
    /// kernel is reported as waiting for nobody.
    pub polls_max: u64,
    /// Keep a journal of what ran in which order: see [`Machine::journal`](crate::Machine::journal).
    pub journal: bool,
    /// What is looked for beyond what a GPU reports.
    pub detectors: Detectors,
    /// A kernel that leaves an allocation faults at its first byte beyond, even where a GPU would not notice because the
    /// byte lies in the same piece of mapped memory. Without it such an access is a finding, and the kernel goes on:
    /// what it writes there is kept apart from all other memory, and what nobody has written there reads as zeros.
    pub strict: bool,
    /// Threads of the host that the blocks of a kernel may run on at the same time. More than one is used only where
    /// nothing is looked for ([`Detectors::none`]), for kernels whose blocks tell each other nothing.
    pub cores: usize,
    /// Warp instructions that a launch should have, by a rough guess, before more than one core is worth it; 0: all are.
    pub cores_from: u64,
    /// What of the processor's instruction sets the interpreter may use, where the processor has it. Results, findings and
    /// counts are the same with each; it is for whoever wants to see that.
    pub instructions: InstructionSet,
    /// The version of the driver API that it answers as: 12_040 at least. Below 12_080 an IF has one body, and there is no
    /// SWITCH; nothing else differs.
    pub driver_version: i32,
    /// How long, by the wall clock, a rank of a communicator waits for another before that one is reported as missing: when it
    /// joins, and in each collective. Longer than a day is a day.
    pub rank_patience: Duration,
    /// Told of each finding as it is made.
    pub on_finding: Option<OnFinding>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            devices: 1,
            peers: true,
            capacity: H200_BYTES,
            time: Time::Counted,
            quantum: 4096,
            budget: 1 << 32,
            rounds_max: 1_000_000,
            polls_max: 10_000_000,
            journal: false,
            detectors: Detectors::default(),
            strict: true,
            cores: 1,
            cores_from: CORES_FROM,
            instructions: InstructionSet::Avx512,
            driver_version: 13_000,
            rank_patience: Duration::from_secs(30),
            on_finding: None,
        }
    }
}

impl Options {
    /// As many devices as there can be.
    pub(crate) fn device_count(&self) -> usize {
        self.devices.clamp(1, DEVICES_MAX)
    }

    /// How long a rank waits, in what clocks and sockets can count.
    pub(crate) fn patience(&self) -> Duration {
        self.rank_patience.min(DAY)
    }
}

/// Device memory of the GPU that this driver answers as.
pub const H200_BYTES: u64 = 150_109_880_320;

const DAY: Duration = Duration::from_secs(86_400);

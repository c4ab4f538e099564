//! Blocks on several cores: the same bits, counts, faults and reports as on one, and one where blocks may see each other.

use dacapo_sim::Detectors;
use dacapo_sim::exec::{Grid, Outcome};
use dacapo_sim::memory::Kind;

use crate::harness::{Arg, Bench, Ticks};

const BLOCKS: u32 = 24;
const THREADS: u32 = 64;
const WORDS: usize = (BLOCKS * THREADS) as usize;

/// `%r1` is the thread's number in the grid, `%rd1` its word of `out`, `%rd2` the first word.
const INDEX: &str = "
    .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<4>;
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r1, %r2, %r3, %r4;
    ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd2, %rd3;";

/// How a launch ended.
#[derive(Debug, PartialEq)]
struct End {
    outcome: String,
    findings: Vec<String>,
    out: Vec<u32>,
    written: bool,
    executed: u64,
}

struct Case {
    body: String,
    globals: &'static str,
    budget: u64,
    cores_from: u64,
    detectors: Detectors,
    out_bytes: u64,
    on_host: bool,
}

impl Case {
    fn new(body: &str) -> Case {
        Case {
            body: format!("{INDEX}\n{body}\nret;"),
            globals: "",
            budget: 1 << 24,
            cores_from: 0,
            detectors: Detectors::none(),
            out_bytes: 4 * WORDS as u64,
            on_host: false,
        }
    }

    /// Runs it; gives the end, and the number of cores that took part.
    fn run(&self, cores: usize) -> (End, usize) {
        let (globals, body) = (self.globals, &self.body);
        let mut b = Bench::new(&format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n{globals}\n.visible .entry k(.param .u64 out) {{\n{body}\n}}\n"
        ));
        b.options.budget = self.budget;
        b.options.detectors = self.detectors;
        (b.options.cores, b.options.cores_from) = (cores, self.cores_from);
        let mut host = vec![0u32; WORDS];
        let out = match self.on_host {
            false => b.alloc(self.out_bytes, "out"),
            true => {
                let there = host.as_mut_ptr().cast::<u8>();
                // SAFETY: the vector outlives the bench, and is not touched by anybody else meanwhile.
                unsafe { b.memory.map_host(there, 4 * WORDS as u64, Kind::HostPinned, "out") };
                there as u64
            }
        };
        let launch = b.launch("k", [BLOCKS, 1, 1], [THREADS, 1, 1], 0, &[Arg::U64(out)]);
        let mut grid = Grid::new(launch, &b.options);
        let outcome = loop {
            match grid.run(&mut b.memory, &mut Ticks(0), 1 << 40) {
                Outcome::Yield | Outcome::Waits => {}
                Outcome::Done => break "done".to_string(),
                Outcome::Fault(fault, finding) => break format!("{fault:?} {finding}"),
                Outcome::Unsupported(finding) => break format!("unsupported {finding}"),
            }
        };
        let end = End {
            outcome,
            findings: grid.take_findings().iter().map(|finding| finding.to_string()).collect(),
            out: b.download(out, WORDS.min(self.out_bytes as usize / 4)),
            written: b.memory.initialised(out, 4 * WORDS as u64),
            executed: grid.executed(),
        };
        drop(grid.take_output());
        (end, grid.cores())
    }

    /// Several cores end as one does, and `together` says whether they took part.
    #[track_caller]
    fn check(&self, together: bool) -> End {
        let (one, cores) = self.run(1);
        assert_eq!(cores, 1);
        for asked in [2, 3, 64] {
            let (several, cores) = self.run(asked);
            assert_eq!(several, one, "{asked} cores");
            assert_eq!(cores, if together { asked.min(BLOCKS as usize) } else { 1 }, "cores that took part");
        }
        one
    }
}

#[test]
fn blocks_of_their_own_give_the_same_bits_and_counts() {
    // A loop of a length that differs from thread to thread, shared memory, a barrier, a shared atomic, a fence of the block.
    let body = "
        .shared .b32 s[64];
        mov.u32 %r5, s; mov.u32 %r6, 0; st.shared.u32 [s], %r6; bar.sync 0;
        and.b32 %r7, %r1, 15;
    L:  add.u32 %r6, %r6, %r7; sub.u32 %r7, %r7, 1; setp.gt.s32 %p1, %r7, 0; @%p1 bra L;
        atom.shared.add.u32 %r8, [s], %r6; membar.cta; bar.sync 0;
        ld.shared.u32 %r9, [s]; add.u32 %r9, %r9, %r1;
        st.global.u32 [%rd1], %r9;
        ld.global.u32 %r10, [%rd1]; mul.lo.u32 %r10, %r10, 3; st.global.u32 [%rd1], %r10;";
    let end = Case::new(body).check(true);
    assert_eq!(end.outcome, "done");
    assert!(end.written && end.executed > 0);
    assert_eq!(end.out[WORDS - 1] - end.out[WORDS - 2], 3, "neighbours differ by one, times three");
}

#[test]
fn the_last_block_that_writes_a_word_wins() {
    let end =
        Case::new("st.global.u32 [%rd2], %r2; setp.lt.u32 %p1, %r2, 5; @%p1 st.global.u32 [%rd2+4], %r2;").check(true);
    assert_eq!(end.out[..3], [BLOCKS - 1, 4, 0]);
    assert!(!end.written, "what nobody wrote stays so");
}

#[test]
fn faults_findings_and_endless_loops_are_those_of_one_core() {
    let fault =
        Case::new("st.global.u32 [%rd1], %r1; setp.eq.u32 %p1, %r1, 900; @%p1 st.global.u32 [%rd1+1048576], %r1;");
    let end = fault.check(false);
    assert!(end.outcome.starts_with("IllegalAddress") && end.outcome.contains("block (14,0,0)"), "{}", end.outcome);
    let end = Case::new("sub.u32 %r5, %r1, 900; div.u32 %r6, %r1, %r5; st.global.u32 [%rd1], %r6;").check(false);
    assert_eq!(end.findings.len(), 1, "{:?}", end.findings);
    assert!(end.findings[0].contains("division-by-zero"), "{}", end.findings[0]);
    let endless = Case::new("setp.ne.u32 %p1, %r2, 20;\n@%p1 bra D;\nL: add.u32 %r5, %r5, 1; bra L;\nD:");
    let end = Case { budget: 1 << 18, ..endless }.check(false);
    assert!(end.outcome.contains("endless-loop"), "{}", end.outcome);
    let end = Case::new("setp.eq.u32 %p1, %r2, 23; @%p1 trap;").check(false);
    assert!(end.outcome.starts_with("Trap"), "{}", end.outcome);
}

#[test]
fn blocks_that_may_see_each_other_stay_on_one_core() {
    for body in [
        "atom.global.add.u32 %r5, [%rd2], 1;",
        "red.global.add.u32 [%rd2], 1;",
        "cvta.global.u64 %rd4, %rd2; atom.add.u32 %r5, [%rd4], 1;",
        "st.volatile.global.u32 [%rd1], %r1;",
        "ld.acquire.gpu.global.u32 %r5, [%rd2]; st.global.u32 [%rd1], %r5;",
        "st.relaxed.sys.global.u32 [%rd1], %r1;",
        "st.global.u32 [%rd1], %r1; membar.gl;",
        "st.global.u32 [%rd1], %r1; fence.acq_rel.gpu;",
        "mov.u32 %r5, %clock; st.global.u32 [%rd1], %r1;",
        "mov.u64 %rd5, %globaltimer; st.global.u32 [%rd1], %r1;",
    ] {
        let end = Case::new(body).check(false);
        assert!(end.outcome == "done", "{body}: {}", end.outcome);
    }
}

#[test]
fn a_kernel_that_waits_for_nobody_and_signals_to_nobody_is_as_fast_as_one_that_does_not() {
    for body in ["griddepcontrol.wait;", "griddepcontrol.wait; griddepcontrol.launch_dependents;"] {
        Case::new(&format!("{body} st.global.u32 [%rd1], %r1;")).check(true);
    }
}

#[test]
fn host_memory_detectors_small_launches_and_large_copies_stay_on_one_core() {
    let write = "st.global.u32 [%rd1], %r1;";
    Case::new(write).check(true);
    Case { on_host: true, ..Case::new(write) }.check(false);
    Case { detectors: Detectors { shuffles: true, ..Detectors::none() }, ..Case::new(write) }.check(false);
    Case { cores_from: 1 << 15, ..Case::new(write) }.check(false);
    // Work enough, and too much to copy for it.
    let looped =
        "mov.u32 %r7, 200;\nL: sub.u32 %r7, %r7, 1; setp.gt.s32 %p1, %r7, 0; @%p1 bra L;\nst.global.u32 [%rd1], %r1;";
    Case { cores_from: 1, ..Case::new(looped) }.check(true);
    Case { cores_from: 1, out_bytes: 64 << 20, ..Case::new(looped) }.check(false);
}

#[test]
fn a_kernel_that_was_given_up_too_often_is_not_tried_again() {
    let mut b = Bench::kernel(
        ".param .u64 out",
        &format!("{INDEX} setp.eq.u64 %p1, %rd2, 0; @%p1 ret; st.global.u32 [%rd1], %r1; ret;"),
    );
    b.options.detectors = Detectors::none();
    (b.options.cores, b.options.cores_from) = (2, 0);
    let mut host = vec![0u32; WORDS];
    let there = host.as_mut_ptr().cast::<u8>();
    // SAFETY: the vector outlives the bench, and is not touched by anybody else meanwhile.
    unsafe { b.memory.map_host(there, 4 * WORDS as u64, Kind::HostPinned, "out") };
    let mut cores = |out: u64| {
        let launch = b.launch("k", [BLOCKS, 1, 1], [THREADS, 1, 1], 0, &[Arg::U64(out)]);
        let mut grid = Grid::new(launch, &b.options);
        assert!(matches!(grid.run(&mut b.memory, &mut Ticks(0), 1 << 40), Outcome::Done));
        grid.cores()
    };
    assert_eq!(cores(0), 2);
    for _ in 0..3 {
        assert_eq!(cores(there as u64), 1);
    }
    assert_eq!(cores(0), 1);
}

//! Accesses beyond an allocation: a fault when strict; else what a GPU lets pass is a finding, and changes nobody else's memory.

mod kit;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Detectors, Options};
use kit::*;

const ILLEGAL: CUresult = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;

const PTX: &str = r#".version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 a, .param .u64 v) {
    .reg .u64 %a, %v; ld.param.u64 %a, [a]; ld.param.u64 %v, [v]; st.global.u64 [%a], %v; ret; }
.visible .entry load(.param .u64 a, .param .u64 o) {
    .reg .u64 %a, %o, %v; ld.param.u64 %a, [a]; ld.param.u64 %o, [o]; ld.global.u64 %v, [%a]; st.global.u64 [%o], %v; ret; }
.visible .entry four(.param .u64 a, .param .u64 o) {
    .reg .u64 %a, %o; .reg .u32 %r<4>; ld.param.u64 %a, [a]; ld.param.u64 %o, [o];
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a]; st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3}; ret; }
.visible .entry count(.param .u64 a) {
    .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [a]; atom.global.add.u32 %v, [%a], 1; ret; }
"#;

struct World {
    d: Device,
    module: CUmodule,
    out: CUdeviceptr,
}

impl World {
    fn new(strict: bool, seed: u64) -> World {
        let d = Device::new(Options { strict, seed, ..Options::default() });
        let (module, out) = (d.module(PTX), d.zeros(8));
        World { d, module, out }
    }

    fn run(&self, kernel: &str, arguments: &[u64]) -> CUresult {
        ok(self.d.launch(self.d.function(self.module, kernel), CUstream::NULL, arguments));
        // SAFETY: no pointers.
        unsafe { self.d.cuCtxSynchronize() }
    }

    fn load(&self, at: u64) -> (CUresult, u64) {
        let code = self.run("load", &[at, self.out]);
        let word = if code == OK { u64::from(self.d.read(self.out)) } else { 0 };
        (code, word)
    }

    fn found(&self) -> Vec<String> {
        self.d.take_findings().iter().map(|found| format!("{}: {}", found.code, found.what)).collect()
    }
}

#[test]
fn strict_is_a_fault_at_the_first_byte_beyond() {
    let w = World::new(true, 1);
    let x = w.d.zeros(4);
    assert_eq!(w.load(x + 8).0, OK);
    assert_eq!(w.load(x + 16).0, ILLEGAL);
    assert!(w.found()[0].starts_with("out-of-bounds: `load` reads 8 bytes"));
}

#[test]
fn what_a_gpu_lets_pass_is_found_and_changes_no_neighbour() {
    for seed in 0..6 {
        let w = World::new(false, seed);
        let (x, y) = (w.d.zeros(4), w.d.zeros(1024));
        w.d.label(x, "x");
        for far in [16, 24, 512, 4096, 65_536] {
            assert_eq!(w.load(x + far), (OK, 0), "nobody wrote there");
            assert_eq!(w.run("store", &[x + far, 7 + far]), OK);
            assert_eq!(w.load(x + far), (OK, 7 + far), "and it is kept");
            let found = w.found();
            assert_eq!(found.len(), 3, "one for each launch: {found:?}");
            assert!(
                found.iter().all(|what| what.starts_with("out-of-bounds: ") && what.contains("past the end of `x`"))
            );
        }
        assert_eq!(w.run("count", &[x + 32]), OK);
        assert_eq!(w.run("count", &[x + 32]), OK);
        assert_eq!(w.load(x + 32), (OK, 2), "atomics too");
        let mut all = [9u32; 1024];
        // SAFETY: as many words.
        ok(unsafe { w.d.cuMemcpyDtoH_v2(all.as_mut_ptr().cast(), y, 4096) });
        assert_eq!(all, [0; 1024], "seed {seed}");
        w.found();
        assert_eq!(w.load(y + 4092 - 4092 % 8).0, OK);
        assert_eq!(w.found(), [""; 0]);
    }
}

#[test]
fn a_load_that_straddles_the_end_has_what_is_inside() {
    let w = World::new(false, 3);
    let x = w.d.zeros(5);
    w.d.write(x + 16, 77);
    assert_eq!(w.run("four", &[x + 16, w.out]), OK);
    assert_eq!([0, 4, 8, 12].map(|at| w.d.read(w.out + at)), [77, 0, 0, 0]);
    assert!(w.found()[0].ends_with("its first 4 of 16 bytes are inside"));
}

#[test]
fn behind_the_piece_is_a_fault_and_so_is_freed_memory() {
    for (bytes, far) in [(16, 2 << 20), (2 << 20, 2 << 20), (3 << 20, 4 << 20)] {
        let w = World::new(false, 2);
        let x = w.d.buffer(bytes);
        assert_eq!(w.load(x - x % (2 << 20) + far).0, ILLEGAL, "{bytes}");
    }
    let w = World::new(false, 2);
    let (x, _y) = (w.d.zeros(4), w.d.zeros(4));
    // SAFETY: allocated above.
    ok(unsafe { w.d.cuMemFree_v2(x) });
    assert_eq!(w.load(x).0, ILLEGAL);
    assert!(w.found()[0].starts_with("use-after-free"));
    let w = World::new(false, 2);
    assert_eq!(w.load(64).0, ILLEGAL);
}

#[test]
fn pool_memory_that_is_handed_out_again_is_overrun_and_not_freed() {
    let w = World::new(false, 5);
    let s = w.d.stream();
    let mut old = 0;
    let mut new = 0;
    // SAFETY: valid out pointers.
    unsafe {
        ok(w.d.cuMemAllocAsync(&mut old, 500, s));
        ok(w.d.cuMemFreeAsync(old, s));
        ok(w.d.cuMemAllocAsync(&mut new, 16, s));
        ok(w.d.cuStreamSynchronize(s));
    }
    assert_eq!(w.load(new + 24).0, OK);
    assert!(w.found()[0].contains("8 bytes past the end of"), "of the new one");
}

#[test]
fn several_cores_find_the_same() {
    let options =
        Options { strict: false, detectors: Detectors::none(), cores: 4, cores_from: 0, ..Options::default() };
    let d = Device::new(options);
    let module = d.module(PTX);
    let x = d.zeros(4);
    ok(d.launch(d.function(module, "store"), CUstream::NULL, &[x + 16, 5]));
    // SAFETY: no pointers.
    assert_eq!(unsafe { d.cuCtxSynchronize() }, OK);
    assert_eq!(d.take_findings().len(), 1);
}

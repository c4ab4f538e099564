//! `malloc` and `free` in kernels: what an H200 was seen to do, and what is found beyond that.

mod kit;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::Options;
use kit::{Device, ok};

/// `take` allocates and leaves the address, `use` writes a word at an offset of it, `give` frees it.
const TEXT: &str = ".version 8.0 .target sm_90 .address_size 64
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.extern .func free(.param .b64 block);
.visible .entry take(.param .u64 out, .param .u64 bytes) {
  .reg .b64 %rd<4>; .param .b64 given; .param .b64 wanted;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [bytes];
  st.param.b64 [wanted], %rd2; call.uni (given), malloc, (wanted); ld.param.b64 %rd3, [given];
  st.global.u64 [%rd1], %rd3; ret;
}
.visible .entry use(.param .u64 out, .param .u64 offset) {
  .reg .b64 %rd<4>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [offset]; ld.global.u64 %rd3, [%rd1];
  add.u64 %rd3, %rd3, %rd2; mov.u32 %r1, 7; st.global.u32 [%rd3], %r1; ret;
}
.visible .entry give(.param .u64 out, .param .u64 unused) {
  .reg .b64 %rd<4>; .param .b64 block;
  ld.param.u64 %rd1, [out]; ld.global.u64 %rd3, [%rd1]; st.param.b64 [block], %rd3; call.uni free, (block); ret;
}";

struct World {
    device: Device,
    module: CUmodule,
    out: CUdeviceptr,
}

impl World {
    fn new() -> World {
        let device = Device::new(Options::default());
        let module = device.module(TEXT);
        let out = device.zeros(2);
        World { device, module, out }
    }

    fn run(&self, kernel: &str, number: u64) -> CUresult {
        let (mut out, mut number) = (self.out, number);
        let function = self.device.function(self.module, kernel);
        let mut arguments = [(&raw mut out).cast(), (&raw mut number).cast()];
        let none = std::ptr::null_mut();
        // SAFETY: the kernel takes two words of 8 bytes, which outlive the call.
        unsafe {
            ok(self.device.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::NULL, arguments.as_mut_ptr(), none));
            self.device.cuCtxSynchronize()
        }
    }

    fn block(&self) -> u64 {
        let mut block = 0u64;
        // SAFETY: the target is a local of 8 bytes.
        ok(unsafe { self.device.cuMemcpyDtoH_v2((&raw mut block).cast(), self.out, 8) });
        block
    }

    fn found(&self) -> Vec<&'static str> {
        self.device.take_findings().iter().map(|finding| finding.code).collect()
    }
}

#[test]
fn a_block_is_memory_of_the_kernels_and_of_nobody_else() {
    let w = World::new();
    for bytes in [16, 1, 100, 0, 7 << 20] {
        ok(w.run("take", bytes));
        let block = w.block();
        assert_ne!(block, 0, "{bytes} bytes");
        assert_eq!(block % 16, 0);
        if bytes >= 4 {
            ok(w.run("use", 0));
        }
        let (mut kind, mut base, mut size, word) = (0u32, 0, 0, 1u32);
        // SAFETY: the pointers are to locals.
        unsafe {
            let asked = w.device.cuPointerGetAttribute((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block);
            assert_eq!(asked, CUresult::CUDA_ERROR_INVALID_VALUE);
            let asked = w.device.cuMemGetAddressRange_v2(&raw mut base, &raw mut size, block);
            assert_eq!(asked, CUresult::CUDA_ERROR_NOT_FOUND);
            let asked = w.device.cuMemcpyHtoD_v2(block, (&raw const word).cast(), 4);
            assert_eq!(asked, CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        ok(w.run("give", 0));
    }
    w.device.take_findings();
}

#[test]
fn a_heap_without_room_gives_null_and_its_limit_can_be_set() {
    let w = World::new();
    ok(w.run("take", 8 << 20));
    assert_eq!(w.block(), 0);
    // SAFETY: two numbers.
    ok(unsafe { w.device.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20) });
    ok(w.run("take", 8 << 20));
    assert_ne!(w.block(), 0);
    ok(w.run("take", u64::MAX));
    assert_eq!(w.block(), 0);
    assert_eq!(w.found(), [""; 0]);
}

#[test]
fn what_was_freed_can_be_had_again_and_not_used() {
    let w = World::new();
    for _ in 0..20 {
        ok(w.run("take", 5 << 20));
        assert_ne!(w.block(), 0);
        ok(w.run("give", 0));
    }
    assert_eq!(w.found(), [""; 0]);
    assert_eq!(w.run("use", 0), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(w.found(), ["use-after-free"]);
}

#[test]
fn a_write_beyond_a_block_is_found() {
    let w = World::new();
    ok(w.run("take", 16));
    assert_eq!(w.run("use", 16), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let report = w.device.take_findings()[0].to_string();
    assert!(report.contains("`malloc in take` (16 bytes"), "{report}");
}

#[test]
fn a_block_that_is_none_is_told_and_null_is_not() {
    let w = World::new();
    ok(w.run("give", 0));
    assert_eq!(w.found(), [""; 0]);
    ok(w.run("take", 16));
    ok(w.run("give", 0));
    ok(w.run("give", 0));
    assert_eq!(w.found(), ["bad-free"]);
    let mut other = w.device.zeros(1);
    // SAFETY: the source is a local of 8 bytes.
    ok(unsafe { w.device.cuMemcpyHtoD_v2(w.out, (&raw mut other).cast(), 8) });
    ok(w.run("give", 0));
    assert_eq!(w.found(), ["bad-free"]);
}

#[test]
fn blocks_end_with_their_context() {
    let w = World::new();
    ok(w.run("take", 16));
    // SAFETY: a number.
    ok(unsafe { w.device.cuDevicePrimaryCtxReset_v2(0) });
    assert!(w.device.check().is_empty());
}

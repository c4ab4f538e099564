//! Managed memory: one address on both sides, in streams and graphs; what ranges and pointers answer.

mod kit;

use std::ffi::c_void;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use kit::*;

const PTX: &str = r#".version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 shared_word = 42;
.visible .global .align 4 .u32 plain_word = 5;
.visible .entry add(.param .u64 a, .param .u64 n) {
    .reg .u64 %a, %n; .reg .u32 %v, %w;
    ld.param.u64 %a, [a]; ld.param.u64 %n, [n]; cvt.u32.u64 %w, %n;
    ld.u32 %v, [%a]; add.u32 %v, %v, %w; st.u32 [%a], %v; ret;
}
.visible .entry bump() {
    .reg .u32 %v; ld.global.u32 %v, [shared_word]; add.u32 %v, %v, 1; st.global.u32 [shared_word], %v; ret;
}
.visible .entry count(.param .u64 a) { .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [a]; atom.global.add.u32 %v, [%a], 1; ret; }
"#;

fn managed(d: &Device, bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: the out pointer is valid.
    ok(unsafe { d.cuMemAllocManaged(&mut address, bytes, CU_MEM_ATTACH_GLOBAL) });
    address
}

/// The program's own look at the memory.
fn host(address: CUdeviceptr) -> *mut u32 {
    address as usize as *mut u32
}

fn launch(d: &Device, function: CUfunction, threads: u32, args: &[u64], stream: CUstream) {
    let mut pointers: Vec<*mut c_void> = args.iter().map(|arg| std::ptr::from_ref(arg).cast_mut().cast()).collect();
    // SAFETY: the kernel takes as many arguments of 8 bytes.
    ok(unsafe {
        d.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, pointers.as_mut_ptr(), std::ptr::null_mut())
    });
}

fn on(kind: u32, id: i32) -> CUmemLocation {
    CUmemLocation { r#type: kind, id }
}

fn ask(d: &Device, attribute: u32, address: u64, bytes: usize) -> i32 {
    let mut word = -77;
    // SAFETY: one word is asked for.
    ok(unsafe { d.cuMemRangeGetAttribute((&raw mut word).cast(), 4, attribute, address, bytes) });
    word
}

#[test]
fn host_kernels_copies_and_sets_see_the_same_bytes() {
    for seed in 0..8 {
        let d = Device::seeded(seed);
        let add = d.function(d.module(PTX), "add");
        let (m, stream) = (managed(&d, 10_000), d.stream());
        // SAFETY: the memory is live, and nothing runs while the host touches it.
        unsafe {
            host(m).write_volatile(5);
            launch(&d, add, 1, &[m, 10], stream);
            ok(d.cuStreamSynchronize(stream));
            assert_eq!(host(m).read_volatile(), 15);
            ok(d.cuMemsetD32Async(m + 4, 7, 3, stream));
            ok(d.cuMemcpyDtoDAsync_v2(m + 16, m, 8, stream));
            ok(d.cuStreamSynchronize(stream));
            assert_eq!((host(m + 12).read_volatile(), host(m + 16).read_volatile()), (7, 15));
            assert_eq!(d.read(m + 20), 7);
            d.write(m + 9996, 3);
            assert_eq!(host(m + 9996).read_volatile(), 3);
            assert_eq!(host(m + 5000).read_volatile(), 0, "nobody has written it, and it is zero");
            assert_eq!(d.cuMemcpyHtoD_v2(m + 9996, (&raw const seed).cast(), 8), INVALID);
            ok(d.cuMemFree_v2(m));
            assert_eq!(d.cuMemFree_v2(m), INVALID);
        }
        let found: Vec<_> = d.take_findings().iter().map(|found| found.code).collect();
        assert_eq!(found, ["out-of-bounds", "bad-free"], "seed {seed}: none about memory that nobody wrote");
        assert_eq!(d.census().allocations, 0);
        assert_eq!(d.check(), []);
    }
}

#[test]
fn atomics_of_a_kernel_count_in_managed_memory() {
    let d = Device::seeded(1);
    let count = d.function(d.module(PTX), "count");
    let m = managed(&d, 4);
    launch(&d, count, 77, &[m], CUstream::NULL);
    // SAFETY: the memory is live, and the device was waited for.
    unsafe {
        ok(d.cuCtxSynchronize());
        assert_eq!(host(m).read_volatile(), 77);
    }
}

#[test]
fn graphs_use_managed_memory() {
    let d = Device::seeded(3);
    let add = d.function(d.module(PTX), "add");
    let m = managed(&d, 64);
    let (graph, stream) = (d.graph(), d.stream());
    let mut set = CUgraphNode::NULL;
    let params = CUDA_MEMSET_NODE_PARAMS { dst: m, pitch: 0, value: 9, elementSize: 4, width: 2, height: 1 };
    // SAFETY: valid in and out pointers; the memory outlives the launches.
    unsafe {
        ok(d.cuGraphAddMemsetNode(&mut set, graph, std::ptr::null(), 0, &params, d.context));
        d.kernel_node(graph, &[set], add, &[m + 4, 30]);
        let exec = d.instantiate(graph);
        for _ in 0..2 {
            host(m).write_volatile(1);
            ok(d.cuGraphLaunch(exec, stream));
            ok(d.cuStreamSynchronize(stream));
            assert_eq!((host(m).read_volatile(), host(m + 4).read_volatile()), (9, 39));
        }
    }
    assert_eq!(d.take_findings(), []);
}

#[test]
fn a_managed_variable_is_one_word_on_both_sides() {
    let d = Device::seeded(0);
    let module = d.module(PTX);
    let bump = d.function(module, "bump");
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: valid out pointers, a C string.
    unsafe {
        ok(d.cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"shared_word".as_ptr()));
        assert_eq!((bytes, host(address).read_volatile()), (4, 42));
        host(address).write_volatile(50);
        launch(&d, bump, 1, &[], CUstream::NULL);
        ok(d.cuCtxSynchronize());
        assert_eq!(host(address).read_volatile(), 51);
        let mut managed = 9u32;
        ok(d.cuPointerGetAttribute((&raw mut managed).cast(), CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
        assert_eq!(managed, 1);
        let mut context = CUcontext::from_bits(5);
        ok(d.cuPointerGetAttribute((&raw mut context).cast(), CU_POINTER_ATTRIBUTE_CONTEXT, address));
        assert!(context.is_null(), "a managed variable is of no context");
        assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4), 0);
        ok(d.cuModuleUnload(module));
        assert_eq!(d.cuMemsetD8_v2(address, 0, 1), INVALID);
    }
    assert_eq!(d.check(), []);
}

#[test]
fn advice_and_prefetches_are_answered_page_by_page() {
    use CU_MEM_LOCATION_TYPE_DEVICE as DEVICE;
    use CU_MEM_LOCATION_TYPE_HOST as HOST;
    let d = Device::seeded(0);
    let (m, bytes) = (managed(&d, 1 << 20), 1 << 20);
    // SAFETY: live memory, valid pointers.
    unsafe {
        ok(d.cuMemPrefetchAsync_v2(m, bytes, on(DEVICE, 0), 0, CUstream::NULL));
        ok(d.cuMemPrefetchAsync_v2(m, 4096, on(HOST, 5), 0, CUstream::NULL));
        assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m, bytes), -2, "not one place");
        assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m, 1), -1);
        assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m + 4096, 4096), 0);
        ok(d.cuMemAdvise_v2(m, bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, on(DEVICE, 0)));
        ok(d.cuMemAdvise(m, bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, -1));
        let mut by = [9; 3];
        ok(d.cuMemRangeGetAttribute(by.as_mut_ptr().cast(), 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, m, bytes));
        assert_eq!(by, [0, -1, -2]);
        ok(d.cuMemAdvise_v2(m, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, on(DEVICE, 7)));
        assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 4096), 1);
        assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, bytes), 0);
        assert_eq!(d.cuMemAdvise_v2(m, bytes + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, on(DEVICE, 0)), INVALID);
        let device = CUresult::CUDA_ERROR_INVALID_DEVICE;
        assert_eq!(d.cuMemPrefetchAsync_v2(m, bytes, on(DEVICE, 1), 0, CUstream::NULL), device);
        let (mut one, mut two) = (9, 9);
        let mut out: [*mut c_void; 2] = [(&raw mut one).cast(), (&raw mut two).cast()];
        let (mut sizes, mut which) = ([4, 3], [CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY; 2]);
        let mut all = |sizes: &mut [usize; 2]| {
            d.cuMemRangeGetAttributes(out.as_mut_ptr(), sizes.as_mut_ptr(), which.as_mut_ptr(), 2, m, 4096)
        };
        assert_eq!(all(&mut sizes), INVALID);
        assert_eq!((one, two), (9, 9), "one wrong question, and none is answered");
        assert_eq!(all(&mut [4, 4]), OK);
        assert_eq!((one, two), (1, 1));
    }
}

#[test]
fn what_is_discarded_reads_as_zeros_in_its_turn() {
    let d = Device::seeded(2);
    let (mut m, stream) = (managed(&d, 8192), d.stream());
    let (mut bytes, mut index, mut place) = (4096usize, 0usize, on(CU_MEM_LOCATION_TYPE_DEVICE, 0));
    // SAFETY: live memory; arrays of one element.
    unsafe {
        ok(d.cuMemsetD8Async(m, 7, 8192, stream));
        ok(d.cuMemDiscardBatchAsync(&mut m, &mut bytes, 1, 0, stream));
        ok(d.cuMemPrefetchBatchAsync(&mut m, &mut bytes, 1, &mut place, &mut index, 1, 0, stream));
        ok(d.cuStreamSynchronize(stream));
        assert_eq!((host(m).read_volatile(), host(m + 4096).read_volatile()), (0, 0x0707_0707));
        assert_eq!(d.cuMemDiscardBatchAsync(&mut m, &mut bytes, 1, 0, CUstream::NULL), INVALID);
        assert_eq!(d.cuMemDiscardBatchAsync(&mut m, &mut bytes, 0, 0, stream), INVALID);
    }
    assert_eq!(ask(&d, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m, 4096), 0);
}

#[test]
fn attaching_takes_whole_allocations_and_known_flags() {
    let d = Device::seeded(0);
    let (m, plain, stream) = (managed(&d, 8192), d.buffer(64), d.stream());
    // SAFETY: live memory.
    let attach = |at, length, flags| unsafe { d.cuStreamAttachMemAsync(stream, at, length, flags) };
    for flags in [CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_SINGLE] {
        assert_eq!((attach(m, 0, flags), attach(m, 8192, flags)), (OK, OK));
    }
    assert_eq!(
        (attach(m, 0, 3), attach(m, 4096, 4), attach(m + 16, 0, 4), attach(plain, 0, 4)),
        (INVALID, INVALID, INVALID, INVALID)
    );
    let found: Vec<_> = d.take_findings().iter().map(|found| found.code).collect();
    assert_eq!(found, ["not-managed"; 3]);
}

/// What is not touched takes no host memory and no time.
#[test]
fn a_large_allocation_costs_what_is_touched() {
    let d = Device::seeded(1);
    let started = std::time::Instant::now();
    for _ in 0..8 {
        let mut at = 0;
        // SAFETY: a valid out pointer, then the address that it was given.
        unsafe {
            ok(d.cuMemAllocManaged(&mut at, 4 << 30, CU_MEM_ATTACH_GLOBAL));
            ok(d.cuMemsetD8_v2(at + (2 << 30), 7, 1));
            ok(d.cuMemFree_v2(at));
            let mut pinned = std::ptr::null_mut::<c_void>();
            ok(d.cuMemHostAlloc(&mut pinned, 4 << 30, 0));
            assert!((pinned as usize).is_multiple_of(4096), "pinned memory begins with a page: {pinned:?}");
            ok(d.cuMemsetD8_v2(pinned as u64 + (2 << 30), 7, 1));
            assert_eq!(pinned.cast::<u16>().byte_add((2 << 30) - 1).read_unaligned(), 0x0700, "the rest is zero");
            ok(d.cuMemFreeHost(pinned));
        }
    }
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn a_range_ends_where_its_allocation_does_and_each_of_a_batch_has_its_place() {
    let d = Device::seeded(3);
    let (m, stream) = (managed(&d, 8192), d.stream());
    let device = on(CU_MEM_LOCATION_TYPE_DEVICE, 0);
    // SAFETY: live memory; arrays as long as said.
    unsafe {
        ok(d.cuMemAdvise_v2(m + 4096, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
        assert_eq!(d.cuMemAdvise_v2(m + 4096, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, device), INVALID);
        let (mut at, mut bytes) = ([m, m + 4096], [4096; 2]);
        let (mut places, mut from) = ([device, on(CU_MEM_LOCATION_TYPE_HOST, 0)], [0, 1]);
        let places = (places.as_mut_ptr(), from.as_mut_ptr());
        ok(d.cuMemPrefetchBatchAsync(at.as_mut_ptr(), bytes.as_mut_ptr(), 2, places.0, places.1, 2, 0, stream));
    }
    let last = |at| ask(&d, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, 4096);
    assert_eq!((last(m), last(m + 4096)), (0, -1));
    assert_eq!(d.found(), ["out-of-bounds"]);
}

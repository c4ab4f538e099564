//! Several devices of one machine: what each has of its own, who may touch whose memory, and how work of several is ordered.

mod kit;

use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Detectors, Options};
use kit::group::Group;
use kit::*;

const PTX: &str = r#".version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 own = 9;
.visible .entry add(.param .u64 a, .param .u64 n) {
    .reg .u64 %a, %n; .reg .u32 %v, %w;
    ld.param.u64 %a, [a]; ld.param.u64 %n, [n]; cvt.u32.u64 %w, %n;
    ld.global.u32 %v, [%a]; add.u32 %v, %v, %w; st.global.u32 [%a], %v; ret;
}
.visible .entry store(.param .u64 a, .param .u64 n) {
    .reg .u64 %a, %n; ld.param.u64 %a, [a]; ld.param.u64 %n, [n]; st.global.u32 [%a], %n; ret;
}
.visible .entry count(.param .u64 a) { .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [a]; atom.global.add.u32 %v, [%a], 1; ret; }
.visible .entry fail() { trap; }
.visible .entry spin(.param .u64 a, .param .u64 n) {
    .reg .u64 %a, %n, %i; .reg .u32 %v; .reg .pred %p;
    ld.param.u64 %a, [a]; ld.param.u64 %n, [n]; mov.u64 %i, 0;
again:
    add.u64 %i, %i, 1; setp.lt.u64 %p, %i, %n; @%p bra again;
    ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v; ret;
}
"#;

const ILLEGAL: CUresult = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
const INVALID_DEVICE: CUresult = CUresult::CUDA_ERROR_INVALID_DEVICE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

fn kernel(d: &Device, name: &str) -> CUfunction {
    d.function(d.module(PTX), name)
}

fn event(d: &Device) -> CUevent {
    let mut event = CUevent::NULL;
    // SAFETY: the out pointer is valid.
    ok(unsafe { d.cuEventCreate(&mut event, 0) });
    event
}

fn sync(d: &Device) -> CUresult {
    // SAFETY: no pointers.
    unsafe { d.cuCtxSynchronize() }
}

fn ordinal(d: &Device, address: u64) -> c_int {
    let mut device = -7;
    // SAFETY: the attribute is an int.
    ok(unsafe { d.cuPointerGetAttribute((&raw mut device).cast(), CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) });
    device
}

fn free_bytes(d: &Device) -> usize {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the out pointers are valid.
    ok(unsafe { d.cuMemGetInfo_v2(&mut free, &mut total) });
    free
}

fn pool_of(d: &Device, device: c_int) -> CUmemoryPool {
    let mut pool = CUmemoryPool::NULL;
    // SAFETY: the out pointer is valid.
    ok(unsafe { d.cuDeviceGetDefaultMemPool(&mut pool, device) });
    pool
}

/// A word of the stream's device's pool, zero.
fn pooled(d: &Device) -> u64 {
    let mut address = 0;
    // SAFETY: the out pointer is valid, and the set touches what was allocated.
    unsafe {
        ok(d.cuMemAllocAsync(&mut address, 4, CUstream::NULL));
        ok(d.cuMemsetD32Async(address, 0, 1, CUstream::NULL));
    }
    address
}

fn access_to(device: c_int, flags: u32) -> CUmemAccessDesc {
    CUmemAccessDesc { location: CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: device }, flags }
}

#[test]
fn each_device_is_one_of_its_own_and_there_are_no_others() {
    let g = Group::seeded(3, 1);
    let d = g.on(0);
    let (mut seen, mut buses) = (Vec::new(), Vec::new());
    for number in 0..3 {
        let (mut device, mut uuid, mut bus, mut found) = (-1, CUuuid { bytes: [0; 16] }, [0; 32], -1);
        // SAFETY: the out pointers are valid.
        unsafe {
            ok(d.cuDeviceGet(&mut device, number));
            ok(d.cuDeviceGetUuid_v2(&mut uuid, device));
            ok(d.cuDeviceGetPCIBusId(bus.as_mut_ptr(), 32, device));
            ok(d.cuDeviceGetByPCIBusId(&mut found, bus.as_ptr()));
        }
        assert_eq!((device, found), (number, number));
        assert!(!seen.contains(&uuid.bytes) && !buses.contains(&bus));
        seen.push(uuid.bytes);
        buses.push(bus);
        let (mut of_context, mut of_stream) = (-1, -1);
        let d = g.on(number as usize);
        // SAFETY: the out pointers are valid.
        unsafe {
            ok(d.cuCtxGetDevice(&mut of_context));
            ok(d.cuStreamGetDevice(d.stream(), &mut of_stream));
        }
        assert_eq!((of_context, of_stream), (number, number));
    }
    let (mut number, mut context, mut pool) = (0, CUcontext::NULL, CUmemoryPool::NULL);
    // SAFETY: the out pointers are valid.
    unsafe {
        for device in [-1, 3, c_int::MAX] {
            assert_eq!(d.cuDeviceGet(&mut number, device), INVALID_DEVICE);
            assert_eq!(d.cuDevicePrimaryCtxRetain(&mut context, device), INVALID_DEVICE);
            assert_eq!(d.cuCtxCreate_v2(&mut context, 0, device), INVALID_DEVICE);
            assert_eq!(d.cuDeviceGetDefaultMemPool(&mut pool, device), INVALID_DEVICE);
            assert_eq!(d.cuDeviceCanAccessPeer(&mut number, 0, device), INVALID_DEVICE);
        }
        for (a, b, can) in [(0, 1, 1), (1, 0, 1), (2, 1, 1), (0, 0, 0), (2, 2, 0)] {
            ok(d.cuDeviceCanAccessPeer(&mut number, a, b));
            assert_eq!(number, can, "{a} {b}");
        }
        ok(d.cuDeviceGetP2PAttribute(&mut number, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 2));
        assert_eq!(number, 1);
        assert_eq!(
            d.cuDeviceGetP2PAttribute(&mut number, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1),
            INVALID_DEVICE
        );
        assert_eq!(d.cuDeviceGetP2PAttribute(&mut number, 99, 0, 1), INVALID);
    }
}

#[test]
fn memory_is_taken_from_the_device_whose_context_is_current() {
    let g = Group::new(Options { devices: 2, capacity: 64 << 20, ..Options::default() });
    let before = [free_bytes(g.on(0)), free_bytes(g.on(1))];
    let b = g.on(1).buffer(40 << 20);
    assert_eq!(free_bytes(g.on(0)), before[0]);
    assert_eq!(free_bytes(g.on(1)), before[1] - (40 << 20));
    let mut none = 0;
    // SAFETY: the out pointers are valid.
    unsafe {
        assert_eq!(g.on(1).cuMemAlloc_v2(&mut none, 40 << 20), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        let a = g.on(0).buffer(40 << 20);
        let mut context = CUcontext::NULL;
        for (address, device) in [(a, 0), (b, 1)] {
            assert_eq!(ordinal(g.on(0), address), device);
            ok(g.on(0).cuPointerGetAttribute((&raw mut context).cast(), CU_POINTER_ATTRIBUTE_CONTEXT, address));
            assert_eq!(context.bits(), g.devices[device as usize].context.bits());
        }
        // Freed from anywhere, it goes back to where it came from.
        ok(g.on(0).cuMemFree_v2(b));
    }
    assert_eq!(free_bytes(g.on(1)), before[1]);
    assert_eq!(ordinal(g.on(1), pooled(g.on(1))), 1);
    let (one, other) = (pool_of(g.on(0), 0), pool_of(g.on(0), 1));
    assert_ne!(one.bits(), other.bits());
    // SAFETY: no pointers.
    unsafe {
        assert_eq!(g.on(0).cuDeviceSetMemPool(0, other), INVALID, "of another device");
        ok(g.on(0).cuDeviceSetMemPool(1, other));
    }
    assert!(g.on(0).check().is_empty(), "{:?}", g.on(0).check());
}

/// A word of memory of each kind: where it lies, and what writes and reads it.
fn kinds(g: &Group, device: usize) -> Vec<(&'static str, u64)> {
    let d = g.on(device);
    let (mut managed, mut pinned, mut variable, mut bytes) = (0, null_mut::<c_void>(), 0, 0);
    let name = CString::new("own").expect("no NUL");
    // SAFETY: the out pointers are valid.
    unsafe {
        ok(d.cuMemAllocManaged(&mut managed, 4, CU_MEM_ATTACH_GLOBAL));
        ok(d.cuMemHostAlloc(&mut pinned, 4, CU_MEMHOSTALLOC_PORTABLE));
        ok(d.cuModuleGetGlobal_v2(&mut variable, &mut bytes, d.module(PTX), name.as_ptr()));
    }
    vec![
        ("plain", d.zeros(1)),
        ("pool", pooled(d)),
        ("managed", managed),
        ("pinned", pinned as u64),
        ("variable", variable),
        ("mapped", mapped(d, device as c_int, &[device as c_int])),
    ]
}

/// Two megabytes of memory of a device, mapped for these.
fn mapped(d: &Device, device: c_int, for_devices: &[c_int]) -> u64 {
    let (mut handle, mut address) = (0, 0);
    let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: device };
    let properties = CUmemAllocationProp { r#type: CU_MEM_ALLOCATION_TYPE_PINNED, location, ..Default::default() };
    let access: Vec<_> =
        for_devices.iter().map(|device| access_to(*device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)).collect();
    // SAFETY: the out pointers are valid, the array is as long as said.
    unsafe {
        ok(d.cuMemCreate(&mut handle, 2 << 20, &properties, 0));
        ok(d.cuMemAddressReserve(&mut address, 2 << 20, 0, 0, 0));
        ok(d.cuMemMap(address, 2 << 20, 0, handle, 0));
        ok(d.cuMemSetAccess(address, 2 << 20, access.as_ptr(), access.len()));
    }
    address
}

#[test]
fn copies_reach_every_kind_of_memory_with_and_without_peer_access() {
    for with_access in [false, true] {
        let g = Group::seeded(2, 5);
        let (all, stream) = ([kinds(&g, 0), kinds(&g, 1)], g.on(0).stream());
        if with_access {
            g.befriend(0, 1);
            g.befriend(1, 0);
        }
        let mut value = 100;
        for (from_kind, from) in all.iter().flatten() {
            for (to_kind, to) in all.iter().flatten().filter(|(_, to)| to != from) {
                for way in 0..3 {
                    value += 1;
                    let d = g.on(way % 2);
                    d.write(*from, value);
                    // SAFETY: both are words.
                    unsafe {
                        match way {
                            0 => ok(d.cuMemcpy(*to, *from, 4)),
                            1 => ok(d.cuMemcpyDtoD_v2(*to, *from, 4)),
                            _ => {
                                ok(d.cuMemcpyAsync(*to, *from, 4, stream));
                                ok(d.cuStreamSynchronize(stream));
                            }
                        }
                    }
                    assert_eq!(d.read(*to), value, "{from_kind} to {to_kind}, way {way}, access {with_access}");
                }
            }
        }
        assert_eq!(g.on(0).found(), [""; 0]);
    }
}

#[test]
fn a_copy_between_contexts_takes_the_context_of_each_end() {
    let g = Group::seeded(2, 2);
    let (a, b) = (g.on(0).zeros(4), g.on(1).zeros(4));
    let [here, there] = [g.devices[0].context, g.devices[1].context];
    let d = g.on(0);
    d.write(a, 7);
    // SAFETY: all are words of live memory.
    unsafe {
        ok(d.cuMemcpyPeer(b, there, a, here, 4));
        assert_eq!(d.read(b), 7);
        let stream = d.stream();
        ok(d.cuMemcpyPeerAsync(b + 4, there, a, here, 4, stream));
        ok(d.cuStreamSynchronize(stream));
        assert_eq!(d.read(b + 4), 7);
        let mut rows = CUDA_MEMCPY3D_PEER {
            srcMemoryType: CU_MEMORYTYPE_DEVICE,
            srcDevice: a,
            srcContext: here,
            srcPitch: 8,
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstDevice: b,
            dstContext: there,
            dstPitch: 4,
            WidthInBytes: 4,
            Height: 2,
            Depth: 1,
            ..Default::default()
        };
        d.write(a + 8, 9);
        ok(d.cuMemcpy3DPeer(&rows));
        assert_eq!((d.read(b), d.read(b + 4)), (7, 9));
        d.write(a, 8);
        ok(d.cuMemcpy3DPeerAsync(&rows, stream));
        ok(d.cuStreamSynchronize(stream));
        assert_eq!((d.read(b), d.read(b + 4)), (8, 9));
        assert_eq!(d.found(), [""; 0]);
        rows.dstContext = here;
        assert_eq!(d.cuMemcpy3DPeer(&rows), INVALID);
        drop(d.take_findings());
        assert_eq!(d.cuMemcpyPeer(b, here, a, there, 4), INVALID);
        assert_eq!(d.found(), ["other-device"]);
    }
}

#[test]
fn a_kernel_touches_memory_of_another_device_only_with_access() {
    for name in ["add", "count", "store"] {
        let g = Group::seeded(2, 3);
        let theirs = g.on(1).zeros(1);
        g.on(1).label(theirs, "theirs");
        let d = g.on(0);
        let function = kernel(d, name);
        ok(d.launch(function, CUstream::NULL, &[theirs, 5]));
        assert_eq!(sync(d), ILLEGAL);
        let finding = d.findings()[0].to_string();
        assert!(finding.starts_with("error[peer-access]: "), "{finding}");
        for words in ["`theirs` of device 1", "device 0 works here", "call cuCtxEnablePeerAccess"] {
            assert!(finding.contains(words), "{words} in {finding}");
        }
        assert_eq!(g.on(1).read(theirs), 0, "nothing was written");

        let g = Group::seeded(2, 3);
        let theirs = g.on(1).zeros(1);
        g.befriend(0, 1);
        let d = g.on(0);
        ok(d.launch(kernel(d, name), CUstream::NULL, &[theirs, 5]));
        ok(sync(d));
        assert_ne!(g.on(1).read(theirs), 0, "{name}");
        assert_eq!(d.found(), [""; 0]);
    }
}

#[test]
fn access_goes_one_way_and_ends() {
    let g = Group::seeded(3, 3);
    let [a, b, c] = [0, 1, 2].map(|device| g.devices[device].context);
    let d = g.on(0);
    // SAFETY: the contexts are retained.
    unsafe {
        assert_eq!(d.cuCtxEnablePeerAccess(b, 1), INVALID);
        assert_eq!(d.cuCtxEnablePeerAccess(CUcontext::NULL, 0), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!(d.cuCtxEnablePeerAccess(a, 0), INVALID_DEVICE);
        assert_eq!(d.cuCtxDisablePeerAccess(b), CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        ok(d.cuCtxEnablePeerAccess(b, 0));
        assert_eq!(d.cuCtxEnablePeerAccess(b, 0), CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        assert_eq!(g.on(1).cuCtxDisablePeerAccess(a), CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "the other way");
        assert_eq!(g.on(0).cuCtxDisablePeerAccess(c), CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    }
    let (x, function) = (g.on(1).zeros(1), kernel(g.on(0), "add"));
    let d = g.on(0);
    ok(d.launch(function, CUstream::NULL, &[x, 5]));
    ok(sync(d));
    // SAFETY: the context is retained.
    ok(unsafe { d.cuCtxDisablePeerAccess(b) });
    ok(d.launch(function, CUstream::NULL, &[x, 5]));
    assert_eq!(sync(d), ILLEGAL);
    assert_eq!(g.on(1).read(x), 5);
    let back = kernel(g.on(1), "add");
    let y = g.on(2).zeros(1);
    ok(g.on(1).launch(back, CUstream::NULL, &[y, 1]));
    assert_eq!(sync(g.on(1)), ILLEGAL, "device 0 had access, and to device 1");
    assert!(g.on(2).check().is_empty(), "{:?}", g.on(2).check());
}

#[test]
fn pools_and_mapped_memory_are_opened_by_their_own_calls() {
    let g = Group::seeded(2, 4);
    let (x, y) = (pooled(g.on(1)), mapped(g.on(1), 1, &[0, 1]));
    ok(sync(g.on(1)));
    g.befriend(0, 1);
    let (d, pool) = (g.on(0), pool_of(g.on(0), 1));
    let mut flags = 99;
    let mut location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    // SAFETY: in and out pointers are valid.
    unsafe {
        ok(d.cuMemPoolGetAccess(&mut flags, pool, &mut location));
        assert_eq!(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE, "cuCtxEnablePeerAccess does not reach pools");
        ok(d.cuMemPoolSetAccess(pool, &access_to(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE), 1));
        ok(d.cuMemPoolGetAccess(&mut flags, pool, &mut location));
        assert_eq!(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
    let add = kernel(d, "add");
    d.write(y, 1);
    // What was allocated before, and what is allocated from now on.
    let later = pooled(g.on(1));
    ok(sync(g.on(1)));
    let d = g.on(0);
    for address in [x, later, y] {
        ok(d.launch(add, CUstream::NULL, &[address, 3]));
    }
    ok(sync(d));
    assert_eq!([d.read(x), d.read(later), d.read(y)], [3, 3, 4]);
    // SAFETY: an in pointer.
    ok(unsafe { d.cuMemPoolSetAccess(pool, &access_to(0, CU_MEM_ACCESS_FLAGS_PROT_NONE), 1) });
    ok(d.launch(add, CUstream::NULL, &[later, 3]));
    assert_eq!(sync(d), ILLEGAL);
    assert!(d.findings()[0].to_string().contains("cuMemPoolSetAccess"), "{}", d.findings()[0]);

    let g = Group::seeded(2, 4);
    let only_theirs = mapped(g.on(1), 1, &[1]);
    g.befriend(0, 1);
    let d = g.on(0);
    ok(d.launch(kernel(d, "store"), CUstream::NULL, &[only_theirs, 3]));
    assert_eq!(sync(d), ILLEGAL);
    assert!(d.findings()[0].to_string().contains("name the device in cuMemSetAccess"), "{}", d.findings()[0]);
    assert!(d.check().is_empty(), "{:?}", d.check());
}

#[test]
fn memory_of_the_host_is_everybodys() {
    let g = Group::seeded(2, 4);
    for (kind, address) in kinds(&g, 1).into_iter().filter(|(kind, _)| ["managed", "pinned"].contains(kind)) {
        let d = g.on(0);
        d.write(address, 1);
        ok(d.launch(kernel(d, "add"), CUstream::NULL, &[address, 2]));
        ok(sync(d));
        assert_eq!(d.read(address), 3, "{kind}");
    }
}

#[test]
fn a_set_on_a_stream_needs_access_too() {
    let g = Group::seeded(2, 4);
    let theirs = g.on(1).zeros(8);
    // SAFETY: the set touches what was allocated.
    unsafe {
        let d = g.on(0);
        ok(d.cuMemsetD32Async(theirs, 1, 8, d.stream()));
        assert_eq!(sync(d), ILLEGAL);
        assert_eq!(d.found(), ["peer-access"]);
    }
    assert_eq!(g.on(1).read(theirs), 0);
}

#[test]
fn a_fault_breaks_its_device_and_no_other() {
    for seed in 0..8 {
        let g = Group::seeded(3, seed);
        let x = g.on(1).zeros(1);
        let (fail, add) = (kernel(g.on(0), "fail"), kernel(g.on(1), "add"));
        let streams = [g.on(0).stream(), g.on(1).stream()];
        ok(g.on(0).launch(fail, streams[0], &[]));
        ok(g.on(1).launch(add, streams[1], &[x, 4]));
        assert_eq!(sync(g.on(0)), CUresult::CUDA_ERROR_LAUNCH_FAILED);
        ok(sync(g.on(1)));
        assert_eq!(g.on(1).read(x), 4);
        let mut address = 0;
        let (mut context, mut free, mut total) = (CUcontext::NULL, 0, 0);
        // SAFETY: the out pointers are valid.
        unsafe {
            assert_eq!(g.on(0).cuMemAlloc_v2(&mut address, 4), CUresult::CUDA_ERROR_LAUNCH_FAILED);
            assert_eq!(g.on(0).cuMemGetInfo_v2(&mut free, &mut total), CUresult::CUDA_ERROR_LAUNCH_FAILED);
            // Its context is current, and the call is about another device.
            ok(g.on(0).cuDevicePrimaryCtxRetain(&mut context, 2));
            assert_eq!(g.on(1).cuDevicePrimaryCtxRetain(&mut context, 0), CUresult::CUDA_ERROR_LAUNCH_FAILED);
            ok(g.on(1).cuStreamSynchronize(streams[1]));
            assert_eq!(g.on(1).cuStreamSynchronize(streams[0]), CUresult::CUDA_ERROR_LAUNCH_FAILED, "by the stream");
            let code = g.on(0).cuStreamSynchronize(streams[1]);
            assert_eq!(code, CUresult::CUDA_ERROR_LAUNCH_FAILED, "the current context is broken");
        }
        for _ in 0..3 {
            ok(g.on(1).launch(add, streams[1], &[x, 1]));
        }
        ok(sync(g.on(1)));
        assert_eq!(g.on(1).read(x), 7);
        assert_eq!(g.on(2).found(), ["trap"]);
        assert!(g.on(2).check().is_empty(), "{:?}", g.on(2).check());
    }
}

/// A word of the host's that a stream waits for: work behind it comes when the host says so.
fn gate(d: &Device, stream: CUstream) -> *mut u32 {
    let mut word = null_mut::<c_void>();
    // SAFETY: the out pointer is valid, and the word stays until the machine goes.
    unsafe {
        ok(d.cuMemHostAlloc(&mut word, 4, 0));
        word.cast::<u32>().write_volatile(0);
        ok(d.cuStreamWaitValue32_v2(stream, word as u64, 1, CU_STREAM_WAIT_VALUE_EQ));
    }
    word.cast()
}

#[test]
fn work_that_waits_for_a_broken_device_never_looks_done() {
    const FAILED: CUresult = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    for seed in 0..16 {
        let g = Group::seeded(2, seed);
        let (x, y) = (g.on(1).zeros(1), g.on(1).zeros(1));
        let (fail, add) = (kernel(g.on(0), "fail"), kernel(g.on(1), "add"));
        let (first, behind, beside) = (g.on(0).stream(), g.on(1).stream(), g.on(1).stream());
        let (marked, after) = (event(g.on(0)), event(g.on(1)));
        let open = gate(g.on(0), first);
        ok(g.on(0).launch(fail, first, &[]));
        // SAFETY: everything is live.
        unsafe {
            ok(g.on(0).cuEventRecord(marked, first));
            let d = g.on(1);
            ok(d.cuStreamWaitEvent(behind, marked, 0));
            ok(d.launch(add, behind, &[x, 1]));
            ok(d.cuEventRecord(after, behind));
            ok(d.launch(add, beside, &[y, 2]));
            open.write_volatile(1);
            assert_eq!(sync(g.on(0)), FAILED);
            let d = g.on(1);
            ok(d.cuStreamSynchronize(beside));
            assert_eq!([d.cuStreamSynchronize(behind), d.cuStreamQuery(behind), sync(d)], [FAILED; 3], "seed {seed}");
            assert_eq!([d.cuEventSynchronize(after), d.cuEventQuery(after)], [FAILED; 2]);
            assert_eq!(d.cuStreamWaitEvent(beside, marked, 0), FAILED);
            assert_eq!(d.found(), ["trap", "work-lost"]);
            ok(d.cuStreamDestroy_v2(behind));
            ok(sync(d));
            assert_eq!((d.read(x), d.read(y)), (0, 2));
        }
        assert!(g.on(1).check().is_empty(), "{:?}", g.on(1).check());
    }
}

unsafe extern "C" fn keep_status(_: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: the test gave a word that outlives the device's work.
    unsafe { &*data.cast::<AtomicU32>() }.store(status.0, Ordering::Relaxed);
}

#[test]
fn a_callback_behind_lost_work_is_called_with_the_fault() {
    for seed in 0..16 {
        let g = Group::seeded(2, seed);
        let fail = kernel(g.on(0), "fail");
        let (first, behind, marked) = (g.on(0).stream(), g.on(1).stream(), event(g.on(0)));
        let (told, open) = (AtomicU32::new(77), gate(g.on(0), first));
        // SAFETY: everything is live, and the callback is called before the test ends.
        unsafe {
            ok(g.on(0).launch(fail, first, &[]));
            ok(g.on(0).cuEventRecord(marked, first));
            ok(g.on(1).cuStreamWaitEvent(behind, marked, 0));
            ok(g.on(1).cuStreamAddCallback(behind, Some(keep_status), (&raw const told).cast_mut().cast(), 0));
            open.write_volatile(1);
            assert_eq!(g.on(1).cuStreamSynchronize(behind), CUresult::CUDA_ERROR_LAUNCH_FAILED, "seed {seed}");
            assert_eq!(sync(g.on(0)), CUresult::CUDA_ERROR_LAUNCH_FAILED);
        }
        assert_eq!(told.load(Ordering::Relaxed), CUresult::CUDA_ERROR_LAUNCH_FAILED.0);
    }
}

#[test]
fn events_order_work_of_two_devices() {
    for seed in 0..24 {
        let g = Group::seeded(2, seed);
        let (a, b) = (g.on(0).zeros(1), g.on(1).zeros(1));
        let (spin, add) = (kernel(g.on(0), "spin"), kernel(g.on(1), "add"));
        let (one, other) = (g.on(0).stream(), g.on(1).stream());
        let [there, back] = [event(g.on(0)), event(g.on(1))];
        // SAFETY: everything is live.
        unsafe {
            for round in 1..4 {
                ok(g.on(0).launch(spin, one, &[a, 3000]));
                ok(g.on(0).cuEventRecord(there, one));
                let d = g.on(1);
                ok(d.cuStreamWaitEvent(other, there, 0));
                ok(d.cuMemcpyDtoDAsync_v2(b, a, 4, other));
                ok(d.launch(add, other, &[b, 10]));
                ok(d.cuEventRecord(back, other));
                ok(g.on(0).cuStreamWaitEvent(one, back, 0));
                ok(g.on(1).cuStreamSynchronize(other));
                assert_eq!(g.on(1).read(b), round + 10, "seed {seed}");
            }
        }
    }
}

#[test]
fn what_belongs_to_one_device_is_refused_on_another() {
    let g = Group::seeded(2, 0);
    let (add, of_first, of_second) = (kernel(g.on(0), "add"), event(g.on(0)), event(g.on(1)));
    let (stream, x, mut time) = (g.on(1).stream(), g.on(1).zeros(1), 0.0);
    let d = g.on(1);
    // SAFETY: everything is live.
    unsafe {
        assert_eq!(d.cuEventRecord(of_first, stream), INVALID_HANDLE);
        assert_eq!(d.launch(add, stream, &[x, 1]), INVALID_HANDLE);
        ok(d.cuEventRecord(of_second, stream));
        ok(g.on(0).cuEventRecord(of_first, CUstream::NULL));
        ok(sync(g.on(0)));
        ok(sync(g.on(1)));
        assert_eq!(d.cuEventElapsedTime_v2(&mut time, of_first, of_second), INVALID_HANDLE);
    }
    assert_eq!(d.found(), ["other-device"; 3]);
    let told = d.findings()[0].to_string();
    assert!(told.contains("the event is of device 0, and the stream is of device 1"), "{told}");
}

#[test]
fn a_graph_has_nodes_of_several_devices() {
    for seed in 0..8 {
        let g = Group::seeded(2, seed);
        let (a, b) = (g.on(0).zeros(1), g.on(1).zeros(1));
        let adds = [kernel(g.on(0), "add"), kernel(g.on(1), "add")];
        let d = g.on(0);
        let (graph, stream) = (d.graph(), d.stream());
        let first = d.kernel_node(graph, &[], adds[0], &[a, 5]);
        let mut copy = CUgraphNode::NULL;
        let params = CUDA_MEMCPY3D {
            srcMemoryType: CU_MEMORYTYPE_DEVICE,
            srcDevice: a,
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstDevice: b,
            WidthInBytes: 4,
            Height: 1,
            Depth: 1,
            ..Default::default()
        };
        // SAFETY: in and out pointers are valid.
        ok(unsafe { d.cuGraphAddMemcpyNode(&mut copy, graph, &first, 1, &params, d.context) });
        let last = d.kernel_node(graph, &[copy], adds[1], &[b, 100]);
        let mut set = CUgraphNode::NULL;
        let params = CUDA_MEMSET_NODE_PARAMS { dst: b, pitch: 0, value: 0, elementSize: 4, width: 1, height: 1 };
        // SAFETY: in and out pointers are valid.
        let _ = unsafe {
            ok(d.cuGraphAddMemsetNode(&mut set, graph, [].as_ptr(), 0, &params, g.devices[1].context));
            d.cuGraphAddDependencies(graph, &set, &copy, 1)
        };
        let exec = d.instantiate(graph);
        for round in 1..4 {
            d.run(exec, stream);
            assert_eq!((d.read(a), d.read(b)), (5 * round, 5 * round + 100));
        }
        // By the manual a kernel stays in its context, and the ends of a copy on their devices.
        let (mut argument, mut amount) = (b, 1u64);
        let mut arguments = [(&raw mut argument).cast(), (&raw mut amount).cast()];
        let other = one_thread(adds[0], &mut arguments);
        // SAFETY: the arguments are as the kernel takes them.
        assert_eq!(unsafe { d.cuGraphExecKernelNodeSetParams_v2(exec, last, &other) }, INVALID);
        assert_eq!(d.found(), [""; 0]);
        assert!(d.check().is_empty(), "{:?}", d.check());
    }
}

#[test]
fn a_capture_goes_to_another_device_and_back() {
    for seed in 0..8 {
        let g = Group::seeded(2, seed);
        let (a, b) = (g.on(0).zeros(1), g.on(1).zeros(1));
        let adds = [kernel(g.on(0), "add"), kernel(g.on(1), "add")];
        let (one, other) = (g.on(0).stream(), g.on(1).stream());
        let [there, back] = [event(g.on(0)), event(g.on(1))];
        let mut graph = CUgraph::NULL;
        // SAFETY: everything is live.
        let exec = unsafe {
            ok(g.on(0).cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
            ok(g.on(0).launch(adds[0], one, &[a, 1]));
            ok(g.on(0).cuEventRecord(there, one));
            let d = g.on(1);
            ok(d.cuStreamWaitEvent(other, there, 0));
            ok(d.cuMemcpyDtoDAsync_v2(b, a, 4, other));
            ok(d.launch(adds[1], other, &[b, 10]));
            ok(d.cuEventRecord(back, other));
            let d = g.on(0);
            ok(d.cuStreamWaitEvent(one, back, 0));
            ok(d.cuMemcpyDtoDAsync_v2(a, b, 4, one));
            ok(d.cuStreamEndCapture(one, &mut graph));
            d.instantiate(graph)
        };
        let d = g.on(0);
        d.run(exec, one);
        d.run(exec, one);
        assert_eq!((d.read(a), d.read(b)), (22, 22));
        assert_eq!(d.found(), [""; 0]);
    }
}

#[test]
fn a_graph_that_spans_a_broken_device_is_given_up() {
    for seed in 0..8 {
        let g = Group::seeded(2, seed);
        let b = g.on(1).zeros(1);
        let (fail, add) = (kernel(g.on(0), "fail"), kernel(g.on(1), "add"));
        let d = g.on(1);
        let (graph, stream, beside) = (d.graph(), d.stream(), d.stream());
        let first = d.kernel_node(graph, &[], fail, &[]);
        d.kernel_node(graph, &[first], add, &[b, 1]);
        let exec = d.instantiate(graph);
        // SAFETY: everything is live.
        unsafe {
            ok(d.cuGraphLaunch(exec, stream));
            assert_eq!(d.cuStreamSynchronize(stream), CUresult::CUDA_ERROR_LAUNCH_FAILED, "seed {seed}");
            ok(d.launch(add, beside, &[b, 7]));
            ok(d.cuStreamSynchronize(beside));
        }
        assert_eq!(d.read(b), 7, "the kernel behind the fault has not run");
        assert_eq!(sync(g.on(0)), CUresult::CUDA_ERROR_LAUNCH_FAILED);
        assert!(d.check().is_empty(), "{:?}", d.check());
    }
}

#[test]
fn a_body_of_a_conditional_node_is_of_one_device() {
    let g = Group::seeded(2, 0);
    let (a, b) = (g.on(0).zeros(1), g.on(1).zeros(1));
    let adds = [kernel(g.on(0), "add"), kernel(g.on(1), "add")];
    let d = g.on(0);
    for mixed in [false, true] {
        let graph = d.graph();
        let condition = d.condition(graph, Some(1));
        let (_, bodies) = d.conditional(graph, &[], condition, CU_GRAPH_COND_TYPE_IF, 1);
        let first = d.kernel_node(bodies[0], &[], adds[0], &[a, 1]);
        if mixed {
            d.kernel_node(bodies[0], &[first], adds[1], &[b, 1]);
        }
        d.kernel_node(graph, &[], adds[1], &[b, 1]);
        let mut exec = CUgraphExec::NULL;
        // SAFETY: the out pointer is valid.
        let code = unsafe { d.cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
        assert_eq!(code, if mixed { INVALID } else { OK });
    }
    assert_eq!(d.found(), ["other-device"]);
}

#[test]
fn a_copy_in_a_body_reaches_as_far_as_its_device_does() {
    for has_access in [false, true] {
        let g = Group::seeded(2, 0);
        let (here, there) = (g.on(0).zeros(1), g.on(1).zeros(1));
        let d = g.on(0);
        d.write(here, 7);
        if has_access {
            g.befriend(0, 1);
        }
        let d = g.on(0);
        let graph = d.graph();
        let condition = d.condition(graph, Some(1));
        let (_, bodies) = d.conditional(graph, &[], condition, CU_GRAPH_COND_TYPE_IF, 1);
        let params = CUDA_MEMCPY3D {
            srcMemoryType: CU_MEMORYTYPE_DEVICE,
            srcDevice: here,
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstDevice: there,
            WidthInBytes: 4,
            Height: 1,
            Depth: 1,
            ..Default::default()
        };
        let (mut copy, mut exec) = (CUgraphNode::NULL, CUgraphExec::NULL);
        // SAFETY: out pointers are valid, the graph and the context live.
        let code = unsafe {
            ok(d.cuGraphAddMemcpyNode(&mut copy, bodies[0], std::ptr::null(), 0, &params, d.context));
            d.cuGraphInstantiateWithFlags(&mut exec, graph, 0)
        };
        assert_eq!(code, if has_access { OK } else { INVALID });
        assert_eq!(d.found(), if has_access { vec![] } else { vec!["other-device"] });
        if has_access {
            // SAFETY: the executable and the default stream are live.
            ok(unsafe { d.cuGraphLaunch(exec, CUstream::NULL) });
            ok(sync(d));
            assert_eq!(g.on(1).read(there), 7);
        }
    }
}

#[test]
fn devices_that_are_no_peers_copy_and_nothing_else() {
    let g = Group::new(Options { devices: 2, peers: false, ..Options::default() });
    let (here, there) = (g.on(0).zeros(1), g.on(1).zeros(1));
    let (peer, pool) = (g.on(1).context, pool_of(g.on(1), 1));
    let d = g.on(0);
    let (mut can, mut shares) = (1, 1);
    // SAFETY: out pointers are valid, handles live.
    unsafe {
        ok(d.cuDeviceCanAccessPeer(&mut can, 0, 1));
        ok(d.cuDeviceGetP2PAttribute(&mut shares, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
        assert_eq!((can, shares), (0, 0));
        assert_eq!(d.cuCtxEnablePeerAccess(peer, 0), CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        let access = access_to(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        assert_eq!(d.cuMemPoolSetAccess(pool, &access, 1), CUresult::CUDA_ERROR_INVALID_DEVICE);
        d.write(here, 9);
        ok(d.cuMemcpyDtoD_v2(there, here, 4));
        assert_eq!(g.on(1).read(there), 9);
    }
    assert!(g.on(0).found().is_empty(), "{:?}", g.on(0).found());
}

/// Everything that a run of two devices with work side by side shows.
fn story(seed: u64, devices: usize) -> (Vec<String>, Vec<u64>, Vec<u32>) {
    let g = Group::new(Options { devices, seed, journal: true, detectors: Detectors::all(), ..Options::default() });
    let mut addresses = Vec::new();
    let mut work = Vec::new();
    for device in 0..devices {
        let d = g.on(device);
        let (x, spin) = (d.zeros(1), kernel(d, "spin"));
        addresses.push(x);
        work.push((device, x, spin, [d.stream(), d.stream()]));
    }
    for round in 0..6 {
        for (device, x, spin, streams) in &work {
            let d = g.on(*device);
            ok(d.launch(*spin, streams[round % 2], &[*x, 20_000]));
            // SAFETY: everything is live.
            ok(unsafe { d.cuStreamSynchronize(streams[(round + device) % 2]) });
        }
    }
    let ends = work.iter().map(|(device, x, ..)| g.on(*device).read(*x)).collect();
    (g.on(0).journal(), addresses, ends)
}

#[test]
fn a_seed_determines_a_run_of_several_devices() {
    for devices in 1..4 {
        let runs: Vec<_> = (0..12).map(|seed| story(seed, devices)).collect();
        for (seed, run) in runs.iter().enumerate() {
            assert_eq!(run, &story(seed as u64, devices), "seed {seed}");
            assert_ne!(run.1, runs[(seed + 1) % 12].1, "another seed gives other addresses");
        }
    }
    let interleavings: std::collections::HashSet<_> = (0..12).map(orders).collect();
    assert!(interleavings.len() > 3, "work of two devices runs in {} orders", interleavings.len());
}

/// In which order kernels of two devices end up.
fn orders(seed: u64) -> Vec<String> {
    let g = Group::new(Options { devices: 2, seed, journal: true, ..Options::default() });
    let x = [g.on(0).zeros(1), g.on(1).zeros(1)];
    let work = [kernel(g.on(0), "spin"), kernel(g.on(1), "add")];
    for _ in 0..6 {
        for device in [0, 1] {
            ok(g.on(device).launch(work[device], CUstream::NULL, &[x[device], 5000]));
        }
    }
    ok(sync(g.on(0)));
    ok(sync(g.on(1)));
    g.on(0).journal()
}

#[test]
fn missing_order_between_devices_is_found_and_names_whose_memory_it_is() {
    for with_event in [false, true] {
        let mut found = Vec::new();
        for seed in 0..6 {
            let g = Group::new(Options { devices: 2, seed, detectors: Detectors::all(), ..Options::default() });
            let x = g.on(1).zeros(1);
            g.on(1).label(x, "x");
            ok(sync(g.on(1)));
            g.befriend(0, 1);
            let (here, there) = (kernel(g.on(0), "add"), kernel(g.on(1), "add"));
            let (one, other, marked) = (g.on(0).stream(), g.on(1).stream(), event(g.on(0)));
            // SAFETY: everything is live.
            unsafe {
                ok(g.on(0).launch(here, one, &[x, 1]));
                ok(g.on(0).cuEventRecord(marked, one));
                if with_event {
                    ok(g.on(1).cuStreamWaitEvent(other, marked, 0));
                }
                ok(g.on(1).launch(there, other, &[x, 1]));
            }
            ok(sync(g.on(0)));
            ok(sync(g.on(1)));
            found.extend(g.on(0).findings());
        }
        let unordered = found.iter().filter(|finding| finding.code == "unordered").count();
        assert_eq!(unordered, if with_event { 0 } else { 6 }, "{found:?}");
        if let Some(finding) = found.first() {
            assert!(finding.to_string().contains("`x` of device 1"), "{finding}");
        }
    }
}

#[test]
fn the_host_that_waits_for_one_device_has_not_waited_for_the_other() {
    let mut found = 0;
    for seed in 0..6 {
        let g = Group::new(Options { devices: 2, seed, detectors: Detectors::all(), ..Options::default() });
        let x = g.on(1).zeros(1);
        ok(sync(g.on(1)));
        g.befriend(0, 1);
        let (here, there) = (kernel(g.on(0), "add"), kernel(g.on(1), "add"));
        ok(g.on(1).launch(there, g.on(1).stream(), &[x, 1]));
        ok(sync(g.on(0)));
        ok(g.on(0).launch(here, g.on(0).stream(), &[x, 1]));
        ok(sync(g.on(0)));
        ok(sync(g.on(1)));
        found += g.on(0).findings().iter().filter(|finding| finding.code == "unordered").count();
    }
    assert_eq!(found, 6);
}

#[test]
fn a_context_that_ends_takes_its_rights_and_memory_with_it() {
    let g = Group::seeded(2, 0);
    let mut made = CUcontext::NULL;
    // SAFETY: the out pointer is valid, the contexts are live.
    unsafe {
        let d = g.on(0);
        ok(d.cuCtxCreate_v2(&mut made, 0, 1));
        let x = d.zeros(1);
        assert_eq!(ordinal(d, x), 1);
        ok(g.on(0).cuCtxEnablePeerAccess(made, 0));
        let add = kernel(g.on(0), "add");
        ok(g.on(0).launch(add, CUstream::NULL, &[x, 1]));
        ok(sync(g.on(0)));
        assert_eq!(g.on(0).read(x), 1);
        // Of the primary context of that device nothing was said.
        let y = g.on(1).zeros(1);
        ok(g.on(0).cuCtxDestroy_v2(made));
        assert_eq!(g.on(0).cuCtxDisablePeerAccess(made), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
        assert!(g.on(0).check().is_empty(), "{:?}", g.on(0).check());
        ok(g.on(0).launch(add, CUstream::NULL, &[y, 1]));
        assert_eq!(sync(g.on(0)), ILLEGAL);
    }
}

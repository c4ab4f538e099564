//! Virtual memory and pools: memory apart from its addresses, and what a pool holds.

mod kit;

use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_sim::Options;
use kit::world::*;
use kit::*;

const PIECE: usize = 2 << 20;

fn properties() -> CUmemAllocationProp {
    let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    CUmemAllocationProp { r#type: CU_MEM_ALLOCATION_TYPE_PINNED, location, ..Default::default() }
}

fn create(w: &World) -> CUmemGenericAllocationHandle {
    let mut handle = 0;
    // SAFETY: valid in and out pointers.
    assert_eq!(unsafe { w.m.cuMemCreate(&mut handle, PIECE, &properties(), 0) }, OK);
    handle
}

fn reserve(w: &World, pieces: usize) -> u64 {
    let mut address = 0;
    // SAFETY: a valid out pointer.
    assert_eq!(unsafe { w.m.cuMemAddressReserve(&mut address, pieces * PIECE, 0, 0, 0) }, OK);
    assert_eq!(address % PIECE as u64, 0);
    address
}

fn open(w: &World, address: u64, pieces: usize) {
    let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    let access = CUmemAccessDesc { location, flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    // SAFETY: a valid in pointer.
    assert_eq!(unsafe { w.m.cuMemSetAccess(address, pieces * PIECE, &access, 1) }, OK);
}

#[test]
fn mapped_pieces_are_one_range_and_keep_their_bytes_when_they_move() {
    for seed in 0..8 {
        let w = World::seeded(seed);
        let (a, b, base) = (create(&w), create(&w), reserve(&w, 2));
        let (seam, other) = (base + PIECE as u64, reserve(&w, 1));
        let words = [1u32, 2, 3, 4];
        let mut back = [0u32; 4];
        // SAFETY: live handles, ranges of the arrays' size.
        unsafe {
            assert_eq!(w.m.cuMemMap(base, PIECE, 0, a, 0), OK);
            assert_eq!(w.m.cuMemMap(seam, PIECE, 0, b, 0), OK);
            open(&w, base, 2);
            assert_eq!(w.m.cuMemcpyHtoD_v2(seam - 8, words.as_ptr().cast(), 16), OK);
            assert_eq!(w.launch_kernel(w.stream, "add", seam, 10), OK);
            assert_eq!(w.sync(), OK);
            assert_eq!(w.m.cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), seam - 8, 16), OK);
            assert_eq!(back, [1, 2, 13, 4], "seed {seed}");
            // An overlapping copy across the seam.
            assert_eq!(w.m.cuMemcpyDtoD_v2(seam - 4, seam - 8, 16), OK);
            assert_eq!(w.m.cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), seam - 4, 16), OK);
            assert_eq!(back, [1, 2, 13, 4]);
            assert_eq!(w.m.cuMemsetD32_v2(seam - 8, 7, 4), OK);
            assert_eq!((w.m.read(seam - 4), w.m.read(seam + 4)), (7, 7));
            assert_eq!(w.m.cuMemUnmap(seam, PIECE), OK);
            assert_eq!(w.m.cuMemMap(other, PIECE, 0, b, 0), OK);
            open(&w, other, 1);
            assert_eq!(w.m.read(other + 4), 7, "the bytes move with the memory");
        }
        assert_eq!(w.found(), [""; 0], "seed {seed}");
    }
}

#[test]
fn without_access_a_kernel_faults_and_a_copy_is_refused() {
    for mapped in [false, true] {
        let w = World::seeded(0);
        let base = reserve(&w, 1);
        // SAFETY: live handles; addresses for the driver to check.
        unsafe {
            if mapped {
                assert_eq!(w.m.cuMemMap(base, PIECE, 0, create(&w), 0), OK);
            }
            assert_eq!(w.m.cuMemsetD32_v2(base, 1, 1), INVALID);
        }
        w.found();
        assert_eq!(w.launch_kernel(w.stream, "set", base, 1), OK);
        assert_eq!(w.sync(), ILLEGAL_ADDRESS);
        let finding = w.m.take_findings().remove(0);
        assert_eq!(finding.code, "no-access");
        assert!(finding.what.contains(if mapped { "gave nobody access" } else { "nothing is mapped" }), "{finding}");
    }
}

#[test]
fn memory_ends_when_it_is_released_and_mapped_nowhere() {
    let w = World::new(Options { capacity: PIECE as u64, ..Default::default() });
    let (base, mut handle) = (reserve(&w, 1), create(&w));
    // SAFETY: live handles and valid pointers.
    unsafe {
        assert_eq!(w.m.cuMemCreate(&mut handle, PIECE, &properties(), 0), OUT_OF_MEMORY);
        assert_eq!(w.m.cuMemMap(base, PIECE, 0, handle, 0), OK);
        open(&w, base, 1);
        assert_eq!((w.m.cuMemRelease(handle), w.m.cuMemRelease(handle)), (OK, INVALID));
        assert_eq!(w.m.cuMemsetD32_v2(base, 3, 1), OK, "a mapping keeps it");
        assert_eq!(w.m.cuMemAddressFree(base, PIECE), INVALID, "something is mapped there");
        assert_eq!(
            (w.m.cuMemUnmap(base, PIECE), w.m.cuMemUnmap(base, PIECE)),
            (OK, OK),
            "nothing to unmap is no mistake"
        );
        assert_eq!((w.m.cuMemAddressFree(base, PIECE), w.m.cuMemAddressFree(base, PIECE)), (OK, INVALID));
    }
    create(&w);
}

#[test]
fn sizes_and_places_that_do_not_fit_are_refused() {
    let w = World::seeded(0);
    let (base, handle, mut out, mut size) = (reserve(&w, 1), create(&w), 0, 0);
    // SAFETY: valid pointers; numbers for the driver to check.
    unsafe {
        assert_eq!(w.m.cuMemGetAllocationGranularity(&mut size, &properties(), 0), OK);
        assert_eq!(size, PIECE);
        for bytes in [0, 4096, PIECE + 1] {
            assert_eq!(w.m.cuMemAddressReserve(&mut out, bytes, 0, 0, 0), INVALID);
            assert_eq!(w.m.cuMemCreate(&mut out, bytes, &properties(), 0), INVALID);
        }
        assert_eq!(w.m.cuMemMap(base + 4096, PIECE, 0, handle, 0), INVALID);
        assert_eq!(w.m.cuMemMap(base, 2 * PIECE, 0, handle, 0), INVALID);
        assert_eq!(w.m.cuMemMap(base, PIECE, 0, 77, 0), INVALID);
        assert_eq!(w.m.cuMemMap(base, PIECE, 0, handle, 0), OK);
        assert_eq!(w.m.cuMemMap(base, PIECE, 0, create(&w), 0), INVALID, "taken");
    }
}

fn pool(w: &World, bytes_max: usize) -> CUmemoryPool {
    let mut props =
        CUmemPoolProps { allocType: CU_MEM_ALLOCATION_TYPE_PINNED, maxSize: bytes_max, ..Default::default() };
    props.location.r#type = CU_MEM_LOCATION_TYPE_DEVICE;
    let mut pool = CUmemoryPool::NULL;
    // SAFETY: valid in and out pointers.
    assert_eq!(unsafe { w.m.cuMemPoolCreate(&mut pool, &props) }, OK);
    pool
}

fn number(w: &World, pool: CUmemoryPool, attribute: u32) -> u64 {
    let mut value = 0u64;
    // SAFETY: a valid out pointer for a 64-bit number.
    assert_eq!(unsafe { w.m.cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()) }, OK);
    value
}

#[test]
fn a_pool_holds_on_to_memory_up_to_its_threshold() {
    const CHUNK: u64 = 32 << 20;
    let w = World::seeded(0);
    let (pool, mut p, mut threshold) = (pool(&w, 0), 0, 2 * CHUNK);
    // SAFETY: live handles and valid pointers.
    unsafe {
        assert_eq!(w.m.cuMemAllocFromPoolAsync(&mut p, 3 * CHUNK as usize, pool, w.stream), OK);
        assert_eq!(number(&w, pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 3 * CHUNK);
        assert_eq!(w.m.cuMemFreeAsync(p, w.stream), OK);
        assert_eq!(number(&w, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 3 * CHUNK, "until somebody waits");
        let attribute = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        assert_eq!(w.m.cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast()), OK);
        assert_eq!(w.sync(), OK);
        assert_eq!(number(&w, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 2 * CHUNK);
        assert_eq!(w.m.cuMemPoolTrimTo(pool, 0), OK);
    }
    assert_eq!(number(&w, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    assert_eq!(number(&w, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 3 * CHUNK);
    assert_eq!(number(&w, pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 3 * CHUNK);
}

#[test]
fn the_current_pool_serves_plain_allocations_and_may_be_destroyed_under_them() {
    for seed in 0..8 {
        let w = World::seeded(seed);
        let (pool, mut p, mut q, mut current) = (pool(&w, 32 << 20), 0, 0, CUmemoryPool::NULL);
        let (mut default, mut access) = (CUmemoryPool::NULL, 0);
        let mut here = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
        // SAFETY: live handles and valid pointers.
        unsafe {
            assert_eq!(w.m.cuDeviceSetMemPool(0, pool), OK);
            assert_eq!((w.m.cuDeviceGetMemPool(&mut current, 0), current), (OK, pool));
            assert_eq!((w.m.cuMemPoolGetAccess(&mut access, pool, &mut here), access), (OK, 3));
            assert_eq!(w.m.cuMemAllocAsync(&mut p, 20 << 20, w.stream), OK);
            assert_eq!(w.m.cuMemAllocAsync(&mut q, 20 << 20, w.stream), OUT_OF_MEMORY, "over the pool's own bound");
            assert_eq!(w.m.cuMemsetD32Async(p, 4, 1, w.stream), OK);
            assert_eq!(w.m.cuMemPoolDestroy(pool), OK);
            assert_eq!(w.m.cuDeviceGetMemPool(&mut current, 0), OK);
            assert_eq!((w.m.cuDeviceGetDefaultMemPool(&mut default, 0), current), (OK, default));
            assert_eq!((w.sync(), w.m.read(p)), (OK, 4), "seed {seed}");
            assert_eq!((w.m.cuMemFreeAsync(p, w.stream), w.sync()), (OK, OK));
        }
        assert_eq!(w.found(), [""; 0], "seed {seed}");
    }
}

//! Pools of host memory and of managed memory, and which pool a place has.

use super::super::case::Case;
use super::super::verbs_texture::place;
use dacapo_driver::types::*;

super::list! { "host_pools";
    places, wrong_places, handles, default_pools, default_pools_that_are_not, current_pool_of_the_device, current_pool_of_the_host, current_pool_of_the_wrong_kind, default_is_kept,
    access, access_given, host_memory, host_memory_without_access, host_memory_with_access, pointer_attributes, managed_memory, managed_attributes, managed_ranges, attributes, captured,
}

const DEVICE: u32 = CU_MEM_LOCATION_TYPE_DEVICE;
const HOST: u32 = CU_MEM_LOCATION_TYPE_HOST;
const NUMA: u32 = CU_MEM_LOCATION_TYPE_HOST_NUMA;
const PINNED: u32 = CU_MEM_ALLOCATION_TYPE_PINNED;
const MANAGED: u32 = CU_MEM_ALLOCATION_TYPE_MANAGED;

fn places(c: &mut Case<'_>) {
    for kind in 0..=3 {
        for location in 0..=5 {
            c.pool_at(kind, place(location, 0), 0);
        }
    }
}

fn wrong_places(c: &mut Case<'_>) {
    for (location, id) in [(NUMA, 99), (NUMA, -1), (DEVICE, 1), (DEVICE, -1), (HOST, 3)] {
        c.pool_at(PINNED, place(location, id), 0);
    }
}

fn handles(c: &mut Case<'_>) {
    for (location, handles) in [(DEVICE, 2), (DEVICE, 64), (HOST, 1)] {
        c.pool_at(PINNED, place(location, 0), handles);
    }
}

fn default_pools(c: &mut Case<'_>) {
    for (kind, location) in [(PINNED, DEVICE), (PINNED, HOST), (PINNED, NUMA), (MANAGED, 0), (MANAGED, DEVICE)] {
        let default = c.default_pool_at(place(location, 0), kind);
        let current = c.current_pool_at(place(location, 0), kind);
        c.same("default and current", default.bits(), current.bits());
    }
    c.default_pool();
}

fn default_pools_that_are_not(c: &mut Case<'_>) {
    for kind in [0, PINNED, MANAGED, 3] {
        for (location, id) in [(0, 0), (4, 0), (5, 0), (DEVICE, 1), (NUMA, 99)] {
            if kind == MANAGED && location == 0 {
                continue;
            }
            c.default_pool_at(place(location, id), kind);
            c.current_pool_at(place(location, id), kind);
        }
    }
}

fn current_pool_of_the_device(c: &mut Case<'_>) {
    let (pool, default) = (c.pool_at(PINNED, place(DEVICE, 0), 0), c.default_pool());
    c.set_pool_at(place(DEVICE, 0), PINNED, pool);
    c.current_pool_at(place(DEVICE, 0), PINNED);
    c.current_pool();
    c.set_pool_at(place(DEVICE, 0), PINNED, default);
    c.current_pool();
}

fn current_pool_of_the_host(c: &mut Case<'_>) {
    let (pool, default) = (c.pool_at(PINNED, place(HOST, 0), 0), c.default_pool_at(place(HOST, 0), PINNED));
    c.set_pool_at(place(HOST, 0), PINNED, pool);
    c.current_pool_at(place(HOST, 0), PINNED);
    c.destroy(pool);
    let current = c.current_pool_at(place(HOST, 0), PINNED);
    c.same("the default again", current.bits(), default.bits());
}

fn current_pool_of_the_wrong_kind(c: &mut Case<'_>) {
    let (host, device) = (c.pool_at(PINNED, place(HOST, 0), 0), c.pool_at(PINNED, place(DEVICE, 0), 0));
    c.set_pool_at(place(DEVICE, 0), PINNED, host);
    c.set_pool_at(place(HOST, 0), PINNED, device);
    c.set_pool_at(place(HOST, 0), MANAGED, host);
    c.set_pool_at(place(HOST, 0), PINNED, CUmemoryPool::NULL);
    c.set_pool_at(place(DEVICE, 0), PINNED, CUmemoryPool::NULL);
    c.set_pool(host);
}

fn default_is_kept(c: &mut Case<'_>) {
    let pool = c.default_pool_at(place(HOST, 0), PINNED);
    c.destroy(pool);
    c.default_pool_at(place(HOST, 0), PINNED);
}

fn access(c: &mut Case<'_>) {
    for (kind, location) in [(PINNED, HOST), (PINNED, NUMA), (MANAGED, HOST), (MANAGED, 0)] {
        let pool = c.pool_at(kind, place(location, 0), 0);
        for other in 0..=4 {
            c.pool_access_at(pool, place(other, 0));
        }
    }
}

fn access_given(c: &mut Case<'_>) {
    let pool = c.pool_at(PINNED, place(HOST, 0), 0);
    for (location, flags) in [(DEVICE, 0), (DEVICE, 3), (HOST, 3), (HOST, 0), (NUMA, 3)] {
        c.set_pool_access_at(pool, place(location, 0), flags);
        c.pool_access_at(pool, place(DEVICE, 0));
    }
    let plain = c.pool_at(PINNED, place(DEVICE, 0), 0);
    c.set_pool_access_at(plain, place(HOST, 0), 3);
}

fn host_memory(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(PINNED, place(HOST, 0), 0));
    let at = c.alloc_from(5000, pool, s);
    c.sync(s);
    c.poke(at, &[1, 2, 3]);
    c.peek(at, 3);
    c.free_async(at, s);
    c.sync(s);
}

fn host_memory_without_access(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(PINNED, place(HOST, 0), 0));
    let at = c.alloc_from(5000, pool, s);
    c.sync(s);
    c.poke(at, &[1, 2, 3]);
    c.set32(at, 9, 1, s);
    c.sync(s);
    c.peek(at, 3);
}

fn host_memory_with_access(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(PINNED, place(HOST, 0), 0));
    c.set_pool_access_at(pool, place(DEVICE, 0), 3);
    let at = c.alloc_from(5000, pool, s);
    c.sync(s);
    c.poke(at, &[1, 2, 3, 4]);
    c.set32(at, 9, 1, s);
    let add = c.kernel("add", &[super::super::verbs::Arg::P(at), super::super::verbs::Arg::N(5)]).shaped(1, 4);
    c.launch(&add, s);
    c.sync(s);
    c.peek(at, 4);
}

fn pointer_attributes(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(PINNED, place(HOST, 0), 0));
    let at = c.alloc_from(5000, pool, s);
    c.sync(s);
    c.attributes(at);
}

fn managed_memory(c: &mut Case<'_>) {
    for location in [0, DEVICE, HOST, NUMA, 4] {
        let (s, pool) = (c.stream(1), c.pool_at(MANAGED, place(location, 0), 0));
        let at = c.alloc_from(5000, pool, s);
        c.sync(s);
        c.poke(at, &[1, 2, 3]);
        c.set32(at, 9, 1, s);
        c.sync(s);
        c.peek(at, 3);
        c.free_async(at, s);
        c.sync(s);
    }
}

fn managed_attributes(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(MANAGED, place(DEVICE, 0), 0));
    let at = c.alloc_from(5000, pool, s);
    c.sync(s);
    c.attributes(at);
}

fn managed_ranges(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(MANAGED, place(0, 0), 0));
    let at = c.alloc_from(4 << 20, pool, s);
    c.sync(s);
    c.prefetch(at, 4 << 20, place(DEVICE, 0), 0, s);
    c.range_attribute(4, at, 4 << 20);
    c.sync(s);
}

fn attributes(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(PINNED, place(HOST, 0), 0));
    for attribute in 1..=8 {
        c.pool_attribute(pool, attribute);
    }
    c.alloc_from(5000, pool, s);
    c.sync(s);
    for attribute in 5..=8 {
        c.pool_attribute(pool, attribute);
    }
}

fn captured(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool_at(PINNED, place(HOST, 0), 0));
    c.begin(s, 2);
    c.alloc_from(100, pool, s);
    c.status(s);
    c.end_capture(s);
}

//! Stream-ordered memory: reuse, thresholds, trims, limits, attributes.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

const MIB: usize = 1 << 20;
const THRESHOLD: u32 = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;

super::list! { "pool";
    default_attributes, attributes_of_a_new_one, attributes_read_only, used_and_reserved, used_is_rounded, threshold_keeps_memory, without_threshold_memory_goes,
    trim_gives_back, trim_keeps_what_is_used, high_marks, reused_in_the_same_stream, reused_after_an_event, not_reused_across_streams,
    not_reused_without_following_events, limit_is_a_limit, limit_freed_and_tried_again, limit_is_rounded, current_pool_is_set, destroyed_with_live_memory, freed_in_another_stream,
    freed_by_the_host, use_follows_the_stream, access_of_the_device, pointer_attributes, range, zero_bytes, graph_uses_pool_memory, two_pools_lie_apart,
    alloc_order_and_alignment, free_twice, freed_while_held, sizes_of_many, legacy_stream_memory, opportunistic_reuse,
}

fn marks(c: &mut Case<'_>, pool: CUmemoryPool) {
    for attribute in [5, 6, 7, 8] {
        c.pool_attribute(pool, attribute);
    }
}

fn default_attributes(c: &mut Case<'_>) {
    let pool = c.default_pool();
    let current = c.current_pool();
    c.say(format!("the current one: {}", pool == current));
    for attribute in 1..=8 {
        c.pool_attribute(pool, attribute);
    }
}

fn attributes_of_a_new_one(c: &mut Case<'_>) {
    let pool = c.pool(0);
    for attribute in 0..=9 {
        c.pool_attribute(pool, attribute);
    }
    for attribute in 1..=3 {
        c.set_pool_attribute(pool, attribute, 0);
        c.pool_attribute(pool, attribute);
    }
    c.set_pool_attribute(pool, 4, 12345);
    c.pool_attribute(pool, 4);
    c.set_pool_attribute(pool, 4, u64::MAX);
    c.pool_attribute(pool, 4);
}

fn attributes_read_only(c: &mut Case<'_>) {
    let pool = c.pool(0);
    for attribute in [5, 7] {
        c.set_pool_attribute(pool, attribute, 0);
        c.set_pool_attribute(pool, attribute, 5);
    }
    for attribute in [6, 8] {
        c.set_pool_attribute(pool, attribute, 0);
        c.set_pool_attribute(pool, attribute, 5);
    }
}

fn used_and_reserved(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    marks(c, pool);
    let m = c.alloc_from(MIB, pool, s);
    marks(c, pool);
    let n = c.alloc_from(40 * MIB, pool, s);
    marks(c, pool);
    c.free_async(m, s);
    c.free_async(n, s);
    c.sync(s);
    marks(c, pool);
}

fn used_is_rounded(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    for bytes in [1, 512, 513, 1000, 4096, 100_000] {
        let m = c.alloc_from(bytes, pool, s);
        c.pool_attribute(pool, 7);
        c.free_async(m, s);
        c.sync(s);
    }
}

fn threshold_keeps_memory(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    c.set_pool_attribute(pool, THRESHOLD, u64::MAX);
    let m = c.alloc_from(MIB, pool, s);
    c.free_async(m, s);
    c.sync(s);
    marks(c, pool);
    let n = c.alloc_from(MIB, pool, s);
    c.same("as before", m, n);
    c.sync(s);
    marks(c, pool);
}

fn without_threshold_memory_goes(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(MIB, pool, s);
    c.sync(s);
    marks(c, pool);
    c.free_async(m, s);
    c.sync(s);
    marks(c, pool);
}

fn trim_gives_back(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    c.set_pool_attribute(pool, THRESHOLD, u64::MAX);
    let m = c.alloc_from(40 * MIB, pool, s);
    c.free_async(m, s);
    c.sync(s);
    c.pool_attribute(pool, 5);
    c.trim_pool(pool, 33 * MIB);
    c.pool_attribute(pool, 5);
    c.trim_pool(pool, 0);
    c.pool_attribute(pool, 5);
    c.trim_pool(pool, 100 * MIB);
    c.pool_attribute(pool, 5);
}

fn trim_keeps_what_is_used(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(4096, pool, s);
    c.set32(m, 3, 1024, s);
    c.sync(s);
    c.trim_pool(pool, 0);
    marks(c, pool);
    c.read(m, 1024);
}

fn high_marks(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    c.set_pool_attribute(pool, THRESHOLD, u64::MAX);
    let (m, n) = (c.alloc_from(MIB, pool, s), c.alloc_from(2 * MIB, pool, s));
    c.free_async(m, s);
    c.sync(s);
    marks(c, pool);
    c.set_pool_attribute(pool, 8, 0);
    c.set_pool_attribute(pool, 6, 0);
    marks(c, pool);
    c.free_async(n, s);
    c.sync(s);
    marks(c, pool);
}

fn reused_in_the_same_stream(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let gate = c.gate(s);
    let m = c.alloc_from(4096, pool, s);
    c.free_async(m, s);
    // The free has not happened yet; in the same stream its memory can be had all the same.
    let n = c.alloc_from(4096, pool, s);
    c.same("in the same stream", m, n);
    c.open(gate);
    c.sync(s);
}

fn reused_after_an_event(c: &mut Case<'_>) {
    let (s, t, e, pool) = (c.stream(1), c.stream(1), c.event(2), c.pool(0));
    c.set_pool_attribute(pool, 2, 0);
    c.set_pool_attribute(pool, 3, 0);
    let gate = c.gate(s);
    let m = c.alloc_from(4096, pool, s);
    c.free_async(m, s);
    c.record(e, s);
    c.wait(t, e);
    let n = c.alloc_from(4096, pool, t);
    c.same("behind an event", m, n);
    c.open(gate);
    c.sync(t);
}

fn not_reused_across_streams(c: &mut Case<'_>) {
    let (s, t, pool) = (c.stream(1), c.stream(1), c.pool(0));
    c.set_pool_attribute(pool, 3, 0);
    let gate = c.gate(s);
    let m = c.alloc_from(4096, pool, s);
    c.free_async(m, s);
    let n = c.alloc_from(4096, pool, t);
    c.same("in another stream", m, n);
    c.open(gate);
    c.sync(s);
    c.sync(t);
}

fn not_reused_without_following_events(c: &mut Case<'_>) {
    let (s, t, e, pool) = (c.stream(1), c.stream(1), c.event(2), c.pool(0));
    for attribute in [1, 2, 3] {
        c.set_pool_attribute(pool, attribute, 0);
    }
    let gate = c.gate(s);
    let m = c.alloc_from(4096, pool, s);
    c.free_async(m, s);
    c.record(e, s);
    c.wait(t, e);
    let n = c.alloc_from(4096, pool, t);
    c.same("behind an event", m, n);
    c.open(gate);
    c.sync(t);
}

fn limit_is_a_limit(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(64 * MIB));
    c.alloc_from(32 * MIB, pool, s);
    c.alloc_from(32 * MIB, pool, s);
    c.alloc_from(4096, pool, s);
    c.alloc_from(128 * MIB, pool, s);
    c.sync(s);
    marks(c, pool);
}

fn limit_freed_and_tried_again(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(32 * MIB));
    let m = c.alloc_from(20 * MIB, pool, s);
    c.alloc_from(20 * MIB, pool, s);
    c.free_async(m, s);
    c.alloc_from(20 * MIB, pool, s);
    c.sync(s);
    c.pool_attribute(pool, 7);
}

fn limit_is_rounded(c: &mut Case<'_>) {
    let s = c.stream(1);
    for bytes_max in [1, 4096, 33 * MIB] {
        let pool = c.pool(bytes_max);
        c.alloc_from(MIB, pool, s);
        c.alloc_from(31 * MIB, pool, s);
        c.alloc_from(2 * MIB, pool, s);
        c.sync(s);
        c.pool_attribute(pool, 5);
    }
}

fn current_pool_is_set(c: &mut Case<'_>) {
    let (s, pool, old) = (c.stream(1), c.pool(0), c.current_pool());
    c.set_pool(pool);
    c.current_pool();
    c.default_pool();
    let m = c.alloc_async(4096, s);
    c.sync(s);
    c.pool_attribute(pool, 7);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, m);
    c.set_pool(old);
    c.current_pool();
}

fn destroyed_with_live_memory(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(4096, pool, s);
    c.set32(m, 5, 1024, s);
    c.destroy(pool);
    c.sync(s);
    c.read(m, 1024);
    c.free_async(m, s);
    c.sync(s);
}

fn freed_in_another_stream(c: &mut Case<'_>) {
    let (s, t, e, pool) = (c.stream(1), c.stream(1), c.event(2), c.pool(0));
    let m = c.alloc_from(4096, pool, s);
    c.record(e, s);
    c.wait(t, e);
    c.free_async(m, t);
    c.sync(t);
    c.pool_attribute(pool, 7);
    c.free_async(m, s);
}

fn freed_by_the_host(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(4096, pool, s);
    c.set32(m, 5, 1024, s);
    c.free(m);
    c.free(m);
    c.pool_attribute(pool, 7);
    c.context_sync();
    c.pool_attribute(pool, 7);
    c.trim_pool(pool, 0);
    c.pool_attribute(pool, 7);
    c.alloc_from(512, pool, s);
    c.sync(s);
    c.pool_attribute(pool, 7);
    let n = c.alloc(4096);
    c.free_async(n, s);
    c.sync(s);
    c.free(n);
}

fn use_follows_the_stream(c: &mut Case<'_>) {
    let (s, out) = (c.stream(1), c.words(&[0; 4]));
    for round in 0..4u32 {
        let m = c.alloc_async(256, s);
        c.set32(m, round, 64, s);
        let carry = c.kernel("carry", &[P(out + 4 * u64::from(round)), P(m), N(10)]);
        c.launch(&carry, s);
        c.free_async(m, s);
    }
    c.sync(s);
    c.read(out, 4);
}

fn access_of_the_device(c: &mut Case<'_>) {
    let pool = c.pool(0);
    c.pool_access(pool);
    for flags in [1, 0, 3, 2] {
        c.set_pool_access(pool, flags);
        c.pool_access(pool);
    }
}

fn pointer_attributes(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(5000, pool, s);
    c.sync(s);
    c.attributes(m);
    c.attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, m + 4999);
    c.free_async(m, s);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m);
}

fn range(c: &mut Case<'_>) {
    let s = c.stream(1);
    let m = c.alloc_async(5000, s);
    c.range(m);
    c.range(m + 4999);
    c.sync(s);
    c.range(m + 100);
}

fn zero_bytes(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    c.alloc_from(0, pool, s);
    c.alloc_async(0, s);
    c.free_async(0, s);
    c.pool_attribute(pool, 7);
}

fn graph_uses_pool_memory(c: &mut Case<'_>) {
    let (s, g, pool, out) = (c.stream(1), c.graph(), c.pool(0), c.words(&[0]));
    let m = c.alloc_from(4096, pool, s);
    c.set32(m, 5, 1, s);
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(g, &[a], "carry", &[P(out), P(m), N(0)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.run(x, s);
    c.free_async(m, s);
    c.sync(s);
    c.read(out, 1);
}

fn two_pools_lie_apart(c: &mut Case<'_>) {
    let (s, one, two) = (c.stream(1), c.pool(0), c.pool(0));
    let m = c.alloc_from(4096, one, s);
    c.free_async(m, s);
    let n = c.alloc_from(4096, two, s);
    c.same("of another pool", m, n);
    c.sync(s);
    c.pool_attribute(one, 7);
    c.pool_attribute(two, 7);
}

fn alloc_order_and_alignment(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    for bytes in [1, 100, 512, 1000] {
        let m = c.alloc_from(bytes, pool, s);
        c.say(format!("aligned to 256: {}, to 512: {}", m.is_multiple_of(256), m.is_multiple_of(512)));
    }
    c.sync(s);
}

fn free_twice(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(4096, pool, s);
    c.free_async(m + 4, s);
    c.free_async(m, s);
    c.free_async(m, s);
    c.sync(s);
    c.free_async(m, s);
}

fn freed_while_held(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    let m = c.alloc_from(4096, pool, s);
    c.sync(s);
    let gate = c.gate(s);
    c.free_async(m, s);
    c.pool_attribute(pool, 7);
    c.open(gate);
    c.sync(s);
    c.pool_attribute(pool, 7);
}

fn sizes_of_many(c: &mut Case<'_>) {
    let (s, pool) = (c.stream(1), c.pool(0));
    c.set_pool_attribute(pool, THRESHOLD, u64::MAX);
    let all: Vec<u64> = (1..=10).map(|at| c.alloc_from(at * 3 * MIB, pool, s)).collect();
    c.sync(s);
    marks(c, pool);
    for m in all.into_iter().step_by(2) {
        c.free_async(m, s);
    }
    c.sync(s);
    marks(c, pool);
}

fn legacy_stream_memory(c: &mut Case<'_>) {
    let m = c.alloc_async(4096, CUstream::NULL);
    c.set32(m, 4, 16, CUstream::NULL);
    c.read(m, 16);
    c.free_async(m, CUstream::NULL);
    c.sync(CUstream::NULL);
}

fn opportunistic_reuse(c: &mut Case<'_>) {
    let (s, t, pool) = (c.stream(1), c.stream(1), c.pool(0));
    c.set_pool_attribute(pool, THRESHOLD, u64::MAX);
    let m = c.alloc_from(4096, pool, s);
    c.free_async(m, s);
    c.sync(s);
    // The free is done, so another stream may have it.
    let n = c.alloc_from(4096, pool, t);
    c.same("after the free is done", m, n);
    c.sync(t);
}

//! Two devices and faults: what is reached without access, and whom the fault of one device breaks.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use super::super::verbs_texture::place;
use super::two_devices::{add_here, reach, there};
use dacapo_driver::types::*;

/// The cases of this file.
pub(super) fn all() -> Vec<super::Listed> {
    let cases: [(&str, super::Body); 11] = [
        ("kernel_without_access", kernel_without_access),
        ("access_is_one_way", access_is_one_way),
        ("access_taken_away", access_taken_away),
        ("pool_without_access", pool_without_access),
        ("pool_access_taken_away", pool_access_taken_away),
        ("mapped_without_access", mapped_without_access),
        ("set_without_access", set_without_access),
        ("word_without_access", word_without_access),
        ("trap_of_one", trap_of_one),
        ("what_waits_for_the_broken", what_waits_for_the_broken),
        ("memory_of_the_broken", memory_of_the_broken),
    ];
    cases.into_iter().map(|(name, body)| super::listed("two_faults", name, body, true)).collect()
}

/// What both devices answer now.
fn both(c: &mut Case<'_>) {
    for device in [1, 0] {
        c.on(device);
        c.context_sync();
        c.stream(1);
    }
}

fn kernel_without_access(c: &mut Case<'_>) {
    let m = there(c, 1);
    add_here(c, m);
    both(c);
}

fn access_is_one_way(c: &mut Case<'_>) {
    reach(c);
    let near = c.words(&[1]);
    c.on(1);
    add_here(c, near);
    both(c);
}

fn access_taken_away(c: &mut Case<'_>) {
    let (m, other) = (there(c, 1), c.context_of(1));
    reach(c);
    add_here(c, m);
    c.disable_peer(other);
    add_here(c, m);
}

fn pool_without_access(c: &mut Case<'_>) {
    c.on(1);
    let t = c.stream(1);
    let m = c.alloc_async(4, t);
    c.set32(m, 1, 1, t);
    c.sync(t);
    c.on(0);
    // Access between contexts is not the pool's.
    reach(c);
    add_here(c, m);
}

fn pool_access_taken_away(c: &mut Case<'_>) {
    c.on(1);
    let t = c.stream(1);
    let (pool, m) = (c.default_pool_of(1), c.alloc_async(4, t));
    c.set32(m, 1, 1, t);
    c.sync(t);
    c.set_pool_access_at(pool, place(CU_MEM_LOCATION_TYPE_DEVICE, 0), 3);
    c.set_pool_access_at(pool, place(CU_MEM_LOCATION_TYPE_DEVICE, 0), 0);
    c.on(0);
    add_here(c, m);
}

fn mapped_without_access(c: &mut Case<'_>) {
    c.on(1);
    let bytes = c.granularity(0);
    let (physical, at) = (c.physical(bytes), c.reserve(bytes, 0));
    c.map(at, bytes, 0, physical);
    c.access(at, bytes, 3);
    c.write(at, &[3]);
    c.on(0);
    reach(c);
    add_here(c, at);
}

fn set_without_access(c: &mut Case<'_>) {
    let (m, s) = (there(c, 1), c.stream(1));
    c.set32(m, 5, 1, s);
    c.sync(s);
    c.read(m, 1);
    both(c);
}

fn word_without_access(c: &mut Case<'_>) {
    let (m, s) = (there(c, 1), c.stream(1));
    c.write32(s, m, 5, 0);
    c.sync(s);
    c.read(m, 1);
    both(c);
}

/// A kernel of device 1 that traps, on the stream that is returned.
fn broken(c: &mut Case<'_>) -> CUstream {
    c.on(1);
    let t = c.stream(1);
    let k = c.kernel("traps", &[]);
    c.launch(&k, t);
    t
}

fn trap_of_one(c: &mut Case<'_>) {
    let near = c.words(&[1]);
    let t = broken(c);
    c.sync(t);
    c.on(0);
    add_here(c, near);
    both(c);
}

fn what_waits_for_the_broken(c: &mut Case<'_>) {
    let (near, s) = (c.words(&[1]), c.stream(1));
    let k = c.kernel("add", &[P(near), N(1)]);
    c.on(1);
    let (t, e, traps) = (c.stream(1), c.event(2), c.kernel("traps", &[]));
    let gate = c.gate(t);
    c.launch(&traps, t);
    c.record(e, t);
    c.on(0);
    c.wait(s, e);
    c.launch(&k, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.event_query(e);
    c.read(near, 1);
    both(c);
}

fn memory_of_the_broken(c: &mut Case<'_>) {
    let (far, near, s) = (there(c, 5), c.words(&[1]), c.stream(1));
    let t = broken(c);
    c.sync(t);
    c.on(0);
    c.d_to_d(near, far, 4, s);
    c.sync(s);
    c.read(near, 1);
    c.free(far);
}

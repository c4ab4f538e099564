//! Pinned and registered host memory, mapped pointers, copies from and to it; plain allocations and what pointers say.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Copy3, CopyEnd};
use dacapo_driver::types::*;

super::list! { "host_memory";
    flags_read_back, kernel_writes_pinned, kernel_writes_registered, device_pointer, registered_then_unregistered, registered_in_parts, registered_flags,
    freed_twice, pointer_attributes_of_pinned, pointer_attributes_of_registered, pointer_attributes_of_plain, pointer_attributes_of_pageable,
    attributes_at_once, copies_both_ways, copy_by_address_alone, copy_rows_by_address, pageable_copy_is_taken_at_once, pinned_copy_is_taken_when_it_runs,
    portable_in_another_context, copy_2d_needs_pitch, copy_2d_unaligned, pitch_of_rows, range_of_an_allocation, sets_2d, set_past_the_end, copy_past_the_end,
    interior_free, zero_sizes, gate_through_the_mapped_pointer, atomics_on_pinned, pinned_freed_under_a_graph,
}

fn flags_read_back(c: &mut Case<'_>) {
    for flags in [0, 1, 2, 3, 4, 7, 8] {
        let host = c.pinned(64, flags);
        if host != 0 {
            c.host_flags(host);
            c.host_flags(host + 8);
            // Freed at once: small allocations that live together may share what they say.
            c.free_pinned(host);
        }
    }
}

fn kernel_writes_pinned(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(128, 0));
    let add = c.kernel("add", &[P(host), N(5)]).shaped(1, 32);
    c.launch(&add, s);
    c.launch(&add, s);
    c.sync(s);
    c.peek(host, 32);
}

fn kernel_writes_registered(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pageable(8192));
    c.register(host, 8192, 2);
    let at = c.device_pointer(host);
    let add = c.kernel("add", &[P(at + 16), N(5)]).shaped(1, 4);
    c.launch(&add, s);
    c.sync(s);
    c.peek(host, 12);
    c.unregister(host);
}

fn device_pointer(c: &mut Case<'_>) {
    let (host, plain) = (c.pinned(64, 0), c.pageable(64));
    c.device_pointer(host);
    c.device_pointer(host + 12);
    c.device_pointer(plain);
    c.device_pointer(0);
}

fn registered_then_unregistered(c: &mut Case<'_>) {
    let host = c.pageable(4096);
    c.register(host, 4096, 0);
    c.register(host, 4096, 0);
    c.unregister(host);
    c.unregister(host);
    c.register(host, 100, 0);
    c.unregister(host + 8);
    c.unregister(host);
}

fn registered_in_parts(c: &mut Case<'_>) {
    let host = c.pageable(3 * 65536);
    let page = host.next_multiple_of(4096);
    c.register(page, 4096, 0);
    c.register(page + 8192, 4096, 0);
    c.register(page, 3 * 4096, 0);
    c.register(page + 4096, 4096, 0);
    for at in [0, 4096, 8192] {
        c.unregister(page + at);
    }
}

fn registered_flags(c: &mut Case<'_>) {
    for flags in [0, 1, 2, 3, 16] {
        let host = c.pageable(4096);
        c.register(host, 4096, flags);
        c.host_flags(host);
    }
    c.register(0, 4096, 0);
    let host = c.pageable(64);
    c.register(host, 0, 0);
}

fn freed_twice(c: &mut Case<'_>) {
    let host = c.pinned(64, 0);
    c.free_pinned(host + 8);
    c.free_pinned(host);
    c.free_pinned(host);
    c.host_flags(host);
}

fn pointer_attributes_of_pinned(c: &mut Case<'_>) {
    let host = c.pinned(100, 0);
    c.attributes(host);
    c.attributes(host + 50);
}

fn pointer_attributes_of_registered(c: &mut Case<'_>) {
    let host = c.pageable(8192);
    c.register(host, 8192, 2);
    c.attributes(host);
    c.unregister(host);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host);
}

fn pointer_attributes_of_plain(c: &mut Case<'_>) {
    let m = c.alloc(100);
    c.attributes(m);
    c.attributes(m + 99);
    c.attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m);
    c.free(m);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m);
}

fn pointer_attributes_of_pageable(c: &mut Case<'_>) {
    let host = c.pageable(64);
    c.attributes(host);
}

fn attributes_at_once(c: &mut Case<'_>) {
    let (m, host, plain) = (c.alloc(64), c.pinned(64, 0), c.pageable(64));
    for at in [m, m + 63, host, plain] {
        c.attributes_at_once(at);
    }
}

fn copies_both_ways(c: &mut Case<'_>) {
    let (s, m, host, plain) = (c.stream(1), c.words(&[0; 4]), c.pinned(16, 0), c.pageable(16));
    c.poke(host, &[1, 2, 3, 4]);
    c.poke(plain, &[5, 6, 7, 8]);
    c.h_to_d(m, host, 8, s);
    c.h_to_d(m + 8, plain + 8, 8, s);
    c.d_to_h(host + 8, m + 8, 8, s);
    c.d_to_h(plain, m, 8, s);
    c.sync(s);
    c.read(m, 4);
    c.peek(host, 4);
    c.peek(plain, 4);
}

fn copy_by_address_alone(c: &mut Case<'_>) {
    let (s, m, host) = (c.stream(1), c.words(&[1, 2, 3, 4]), c.pinned(16, 0));
    c.copy(host, m, 8, s);
    c.sync(s);
    c.copy(m + 8, host, 8, s);
    c.sync(s);
    c.copy_now(host + 8, m, 8);
    c.peek(host, 4);
    c.read(m, 4);
}

fn copy_rows_by_address(c: &mut Case<'_>) {
    let (s, m, host) = (c.stream(1), c.words(&[1, 2, 3, 4, 5, 6, 7, 8]), c.pinned(32, 0));
    c.copy_2d(&Copy3::rows(CopyEnd::Any(host), 8, CopyEnd::Any(m), 16, 8, 2), s);
    c.sync(s);
    c.peek(host, 8);
    c.copy_2d_now(&Copy3::rows(CopyEnd::Dev(m), 16, CopyEnd::Any(host), 8, 4, 2), false);
    c.sync(CUstream::NULL);
    c.read(m, 8);
}

fn pageable_copy_is_taken_at_once(c: &mut Case<'_>) {
    let (s, m, host) = (c.stream(1), c.words(&[0]), c.pageable(8));
    c.poke(host, &[1]);
    let gate = c.gate(s);
    c.h_to_d(m, host, 4, s);
    c.poke(host, &[2]);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn pinned_copy_is_taken_when_it_runs(c: &mut Case<'_>) {
    let (s, m, host) = (c.stream(1), c.words(&[0]), c.pinned(8, 0));
    c.poke(host, &[1]);
    let gate = c.gate(s);
    c.h_to_d(m, host, 4, s);
    c.poke(host, &[2]);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn portable_in_another_context(c: &mut Case<'_>) {
    let (host, portable) = (c.pinned(64, 0), c.pinned(64, 1));
    let primary = c.context;
    let other = c.new_context(0);
    c.device_pointer(host);
    c.device_pointer(portable);
    c.set_current(primary);
    c.destroy(other);
}

fn copy_2d_needs_pitch(c: &mut Case<'_>) {
    let (s, m, n) = (c.stream(1), c.words(&[1, 2, 3, 4]), c.words(&[0; 4]));
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(n), 4, CopyEnd::Dev(m), 8, 8, 2), s);
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(n), 0, CopyEnd::Dev(m), 0, 8, 1), s);
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(n), 8, CopyEnd::Dev(m), 8, 8, 3), s);
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(n), 8, CopyEnd::Dev(m), 8, 8, 0), s);
    c.sync(s);
    c.read(n, 4);
}

fn copy_2d_unaligned(c: &mut Case<'_>) {
    let (m, n) = (c.words(&[1, 2, 3, 4]), c.words(&[0; 4]));
    c.copy_2d_now(&Copy3::rows(CopyEnd::Dev(n + 1), 7, CopyEnd::Dev(m), 8, 5, 2), true);
    c.copy_2d_now(&Copy3::rows(CopyEnd::Dev(n + 1), 7, CopyEnd::Dev(m), 8, 5, 2), false);
    c.sync(CUstream::NULL);
    c.read(n, 4);
}

fn pitch_of_rows(c: &mut Case<'_>) {
    for (width, rows, element) in [(1, 1, 4), (100, 7, 4), (512, 2, 8), (513, 2, 16), (1000, 3, 4)] {
        c.alloc_pitch(width, rows, element);
    }
    c.alloc_pitch(100, 2, 3);
    c.alloc_pitch(0, 2, 4);
    c.alloc_pitch(100, 0, 4);
}

fn range_of_an_allocation(c: &mut Case<'_>) {
    let m = c.alloc(1000);
    c.range(m);
    c.range(m + 999);
    c.free(m);
    c.range(m);
    let host = c.pinned(100, 0);
    c.range(host);
}

fn sets_2d(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 16]));
    c.set2d8(m, 16, 1, 3, 4, s);
    c.set2d16(m + 4, 16, 2, 3, 3, s);
    c.set2d32(m + 12, 16, 3, 1, 2, s);
    c.set2d32(m, 16, 3, 5, 1, s);
    c.set2d32(m, 18, 3, 1, 2, s);
    c.set2d32(m, 3, 3, 1, 2, s);
    c.sync(s);
    c.read(m, 16);
}

fn set_past_the_end(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.alloc(64));
    c.set32(m, 1, 16, s);
    c.set32(m, 1, 17, s);
    c.set8(m + 63, 1, 2, s);
    c.set16(m + 1, 1, 1, s);
    c.set32(m + 2, 1, 1, s);
    c.set2d8(m, 32, 1, 16, 2, s);
    c.set2d8(m, 32, 1, 33, 2, s);
    c.set2d8(m, 32, 1, 16, 3, s);
    c.sync(s);
}

fn copy_past_the_end(c: &mut Case<'_>) {
    let (s, m, n, host) = (c.stream(1), c.words(&[0; 16]), c.words(&[0; 16]), c.pinned(128, 0));
    c.d_to_d(m, n, 65, s);
    c.d_to_d(m + 4, n, 64, s);
    c.h_to_d(m, host, 65, s);
    c.d_to_h(host, m + 4, 64, s);
    c.h_to_d(m + 64, host, 0, s);
    c.sync(s);
}

fn interior_free(c: &mut Case<'_>) {
    let m = c.alloc(64);
    c.free(m + 4);
    c.free(0);
    c.free(m);
    c.free(m);
}

fn zero_sizes(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.alloc(64));
    c.alloc(0);
    c.pinned(0, 0);
    c.d_to_d(m, m, 0, s);
    c.set8(m, 0, 0, s);
    c.set2d8(m, 0, 0, 0, 0, s);
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(m), 0, CopyEnd::Dev(m), 0, 0, 0), s);
    c.copy_3d(&Copy3::flat(CopyEnd::Dev(m), CopyEnd::Dev(m), 0), s);
    c.sync(s);
}

fn gate_through_the_mapped_pointer(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(8, 2));
    let at = c.device_pointer(host);
    let gate = c.kernel("gate", &[P(at)]);
    c.launch(&gate, s);
    c.query(s);
    c.poke(host, &[1]);
    c.sync(s);
}

fn atomics_on_pinned(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(8, 0));
    let count = c.kernel("count", &[P(host), N(1)]).shaped(4, 64);
    c.launch(&count, s);
    c.sync(s);
    c.peek(host, 1);
}

fn pinned_freed_under_a_graph(c: &mut Case<'_>) {
    let (s, g, m, host, other) = (c.stream(1), c.graph(), c.words(&[0]), c.pinned(8, 0), c.pinned(8, 0));
    c.poke(other, &[7]);
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(host), 4));
    let x = c.instantiate(g, 0);
    c.free_pinned(host);
    c.exec_copy(x, a, &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(other), 4));
    c.run_once(x, s);
    c.read(m, 1);
}

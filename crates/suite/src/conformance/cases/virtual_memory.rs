//! Virtual memory: ranges reserved, memory mapped into them, access given and taken.

use super::super::case::Case;
use super::super::names::Physical;
use super::super::verbs::{Arg::*, Fill};
use dacapo_driver::types::*;

const MIB: usize = 1 << 20;

super::list! { "virtual_memory";
    granularity, mapped_and_used, two_handles_side_by_side, mapped_twice_is_one_memory, access_is_needed, access_read_only, unmapped_and_mapped_elsewhere,
    released_while_mapped, handle_taken_back, sizes_refused, mapped_over, freed_while_mapped, pointer_attributes, range, offset_into_the_handle, graph_uses_it,
}

fn granularity(c: &mut Case<'_>) {
    c.granularity(0);
    c.granularity(1);
    c.granularity(2);
}

/// Two mebibytes, mapped with access.
fn mapped(c: &mut Case<'_>) -> (u64, Physical) {
    let (at, physical) = (c.reserve(2 * MIB, 0), c.physical(2 * MIB));
    c.map(at, 2 * MIB, 0, physical);
    c.access(at, 2 * MIB, 3);
    (at, physical)
}

fn unmapped(c: &mut Case<'_>, at: u64, bytes: usize) {
    c.unmap(at, bytes);
    c.address_free(at, bytes);
}

fn mapped_and_used(c: &mut Case<'_>) {
    let s = c.stream(1);
    let (at, physical) = mapped(c);
    c.set32(at, 5, 64, s);
    let add = c.kernel("add", &[P(at), N(1)]).shaped(1, 32);
    c.launch(&add, s);
    c.sync(s);
    c.read(at, 64);
    unmapped(c, at, 2 * MIB);
    c.release_physical(physical);
}

fn two_handles_side_by_side(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.reserve(4 * MIB, 0));
    let (one, two) = (c.physical(2 * MIB), c.physical(2 * MIB));
    c.map(at, 2 * MIB, 0, one);
    c.map(at + 2 * MIB as u64, 2 * MIB, 0, two);
    c.access(at, 4 * MIB, 3);
    let edge = at + 2 * MIB as u64 - 16;
    c.set32(edge, 7, 8, s);
    c.sync(s);
    c.read(edge, 8);
    c.unmap(at, 2 * MIB);
    unmapped(c, at + 2 * MIB as u64, 2 * MIB);
    c.address_free(at, 4 * MIB);
    c.release_physical(one);
    c.release_physical(two);
}

fn mapped_twice_is_one_memory(c: &mut Case<'_>) {
    let (s, physical) = (c.stream(1), c.physical(2 * MIB));
    let (one, two) = (c.reserve(2 * MIB, 0), c.reserve(2 * MIB, 0));
    for at in [one, two] {
        c.map(at, 2 * MIB, 0, physical);
        c.access(at, 2 * MIB, 3);
    }
    c.set32(one, 7, 4, s);
    c.sync(s);
    c.read(two, 4);
    unmapped(c, one, 2 * MIB);
    unmapped(c, two, 2 * MIB);
    c.release_physical(physical);
}

fn access_is_needed(c: &mut Case<'_>) {
    let (s, at, physical) = (c.stream(1), c.reserve(2 * MIB, 0), c.physical(2 * MIB));
    c.set32(at, 5, 4, s);
    c.map(at, 2 * MIB, 0, physical);
    c.set32(at, 5, 4, s);
    c.access(at, 2 * MIB, 3);
    c.set32(at, 5, 4, s);
    c.sync(s);
    c.access(at, 2 * MIB, 0);
    c.set32(at, 5, 4, s);
    unmapped(c, at, 2 * MIB);
    c.release_physical(physical);
}

fn access_read_only(c: &mut Case<'_>) {
    let (s, at, physical) = (c.stream(1), c.reserve(2 * MIB, 0), c.physical(2 * MIB));
    c.map(at, 2 * MIB, 0, physical);
    c.access(at, 2 * MIB, 3);
    c.set32(at, 5, 4, s);
    c.sync(s);
    for flags in [1, 2, 7] {
        c.access(at, 2 * MIB, flags);
    }
    c.read(at, 4);
    unmapped(c, at, 2 * MIB);
    c.release_physical(physical);
}

fn unmapped_and_mapped_elsewhere(c: &mut Case<'_>) {
    let s = c.stream(1);
    let (at, physical) = mapped(c);
    c.set32(at, 9, 4, s);
    c.sync(s);
    unmapped(c, at, 2 * MIB);
    let other = c.reserve(2 * MIB, 0);
    c.map(other, 2 * MIB, 0, physical);
    c.access(other, 2 * MIB, 3);
    c.read(other, 4);
    unmapped(c, other, 2 * MIB);
    c.release_physical(physical);
}

fn released_while_mapped(c: &mut Case<'_>) {
    let s = c.stream(1);
    let (at, physical) = mapped(c);
    c.release_physical(physical);
    c.set32(at, 9, 4, s);
    c.sync(s);
    c.read(at, 4);
    unmapped(c, at, 2 * MIB);
}

fn handle_taken_back(c: &mut Case<'_>) {
    let (at, physical) = mapped(c);
    let again = c.retain_physical(at + 100);
    c.say(format!("the same handle: {}", again == physical));
    c.release_physical(again);
    let plain = c.alloc(64);
    c.retain_physical(plain);
    unmapped(c, at, 2 * MIB);
    c.release_physical(physical);
}

fn sizes_refused(c: &mut Case<'_>) {
    c.physical(1000);
    c.physical(0);
    c.reserve(1000, 0);
    c.reserve(0, 0);
    c.reserve(2 * MIB, 3);
    let (at, physical) = (c.reserve(4 * MIB, 0), c.physical(2 * MIB));
    c.map(at, 4 * MIB, 0, physical);
    c.map(at + 4096, 2 * MIB, 0, physical);
    c.map(at, MIB, 0, physical);
    c.map(at, 0, 0, physical);
    c.access(at, 2 * MIB, 3);
    c.unmap(at, 2 * MIB);
    c.address_free(at, 2 * MIB);
    c.address_free(at, 4 * MIB);
    c.release_physical(physical);
}

fn mapped_over(c: &mut Case<'_>) {
    let (at, physical) = mapped(c);
    let other = c.physical(2 * MIB);
    c.map(at, 2 * MIB, 0, other);
    c.release_physical(other);
    c.unmap(at, MIB);
    c.unmap(at + 4096, 2 * MIB);
    unmapped(c, at, 2 * MIB);
    c.unmap(at, 2 * MIB);
    c.release_physical(physical);
}

fn freed_while_mapped(c: &mut Case<'_>) {
    let (at, physical) = mapped(c);
    c.address_free(at, 2 * MIB);
    c.free(at);
    unmapped(c, at, 2 * MIB);
    c.release_physical(physical);
}

fn pointer_attributes(c: &mut Case<'_>) {
    let at = c.reserve(4 * MIB, 0);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    let physical = c.physical(2 * MIB);
    c.map(at, 2 * MIB, 0, physical);
    c.access(at, 2 * MIB, 3);
    for number in [2, 3, 8, 9, 11, 12, 13] {
        c.attribute(number, at + 4096);
    }
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at + 3 * MIB as u64);
    c.unmap(at, 2 * MIB);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    c.address_free(at, 4 * MIB);
    c.release_physical(physical);
}

fn range(c: &mut Case<'_>) {
    let at = c.reserve(4 * MIB, 0);
    c.range(at);
    let physical = c.physical(2 * MIB);
    c.map(at, 2 * MIB, 0, physical);
    c.range(at + 100);
    c.unmap(at, 2 * MIB);
    c.address_free(at, 4 * MIB);
    c.release_physical(physical);
}

fn offset_into_the_handle(c: &mut Case<'_>) {
    let (at, physical) = (c.reserve(4 * MIB, 0), c.physical(4 * MIB));
    c.map(at, 2 * MIB, 2 * MIB, physical);
    c.map(at, 4 * MIB, 0, physical);
    c.unmap(at, 2 * MIB);
    c.unmap(at, 4 * MIB);
    c.address_free(at, 4 * MIB);
    c.release_physical(physical);
}

fn graph_uses_it(c: &mut Case<'_>) {
    let (s, g, out) = (c.stream(1), c.graph(), c.words(&[0]));
    let (at, physical) = mapped(c);
    let a = c.add_fill(g, &[], &Fill::flat(at, 5, 4, 4));
    let b = c.node(g, &[a], "mad1", &[P(at), N(3), N(1)]);
    c.node(g, &[b], "carry", &[P(out), P(at), N(100)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(out, 1);
    c.destroy(x);
    unmapped(c, at, 2 * MIB);
    c.release_physical(physical);
}

//! Managed memory: one address on both sides; prefetches, advice and what ranges answer; streams it is attached to; graphs.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Fill};
use super::super::verbs_texture::place;
use dacapo_driver::types::*;

super::list! { "managed";
    flags, sizes, host_and_kernel_take_turns, sets_and_copies, copies_by_every_way, copy_past_the_end, set_past_the_end, pointer_attributes, pointer_attributes_inside,
    pointer_attributes_at_once, address_range, freed_twice_and_inside, freed_by_the_wrong_call, freed_in_stream_order, freed_in_use, registered, as_host_memory,
    prefetch_places, prefetch_of_the_wrong_memory, prefetch_wrong, prefetch_by_device, range_fresh, range_prefetched, range_in_parts, advice_for_each_place, advice_wrong,
    advice_by_device, advice_taken_back, advice_in_parts, range_room, ranges_at_once, ranges_of_other_memory, attach_flags, attach_lengths, attach_other_memory,
    attached_and_used, attached_to_a_destroyed_stream, kernel_on_host_attached, captured_prefetch, captured_attach, captured_advice, captured_allocation,
    captured_allocation_global, captured_free_async, captured_set, nodes_of_a_graph, prefetch_in_a_batch, discard_in_a_batch, batch_wrong, values_of_a_stream, variable, variable_of_a_library,
    atomics, two_dimensions,
}

const BIG: usize = 4 << 20;
const DEVICE: u32 = CU_MEM_LOCATION_TYPE_DEVICE;
const HOST: u32 = CU_MEM_LOCATION_TYPE_HOST;

fn flags(c: &mut Case<'_>) {
    for flags in [0, 1, 2, 3, 4, 5, 8] {
        c.managed(4096, flags);
    }
}

fn sizes(c: &mut Case<'_>) {
    c.managed(0, 1);
    for bytes in [1, 100, 4096, 10_000, BIG] {
        let at = c.managed(bytes, 1);
        c.range(at);
    }
}

fn host_and_kernel_take_turns(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(128, 1));
    c.poke(at, &[1, 2, 3, 4]);
    let add = c.kernel("add", &[P(at), N(10)]).shaped(1, 32);
    for _ in 0..2 {
        c.launch(&add, s);
        c.sync(s);
        c.peek(at, 32);
        c.poke(at + 8, &[100]);
    }
}

fn sets_and_copies(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(256, 1));
    c.poke(at, &[0; 64]);
    c.set32(at, 7, 8, s);
    c.set8(at + 64, 1, 5, s);
    c.set16(at + 96, 0x1234, 3, s);
    c.d_to_d(at + 128, at, 32, s);
    c.sync(s);
    c.peek(at, 64);
}

fn copies_by_every_way(c: &mut Case<'_>) {
    let (s, at, other, host, plain) =
        (c.stream(1), c.managed(64, 1), c.managed(64, 1), c.pageable(64), c.words(&[9, 8, 7, 6]));
    c.poke(host, &[1, 2, 3, 4]);
    c.poke(other, &[0; 16]);
    c.h_to_d(at, host, 16, s);
    c.d_to_d(other, at, 8, s);
    c.copy(other + 8, plain, 8, s);
    c.sync(s);
    c.peek(other, 4);
    c.d_to_h(host, other, 16, s);
    c.sync(s);
    c.peek(host, 4);
    c.copy_now(at + 32, host, 16);
    c.context_sync();
    c.peek(at + 32, 4);
}

fn copy_past_the_end(c: &mut Case<'_>) {
    let (s, at, plain) = (c.stream(1), c.managed(100, 1), c.alloc(4096));
    c.d_to_d(at, plain, 101, s);
    c.d_to_d(plain, at + 96, 8, s);
    c.d_to_d(plain, at, 100, s);
    c.sync(s);
}

fn set_past_the_end(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(100, 1));
    c.set8(at, 1, 101, s);
    c.set8(at, 1, 100, s);
    c.set32(at + 96, 1, 2, s);
    c.sync(s);
}

fn pointer_attributes(c: &mut Case<'_>) {
    let at = c.managed(10_000, 1);
    c.attributes(at);
    for attribute in [6, 10, 14, 15] {
        c.attribute(attribute, at);
    }
    let at = c.managed(10_000, 2);
    c.attributes(at);
}

fn pointer_attributes_inside(c: &mut Case<'_>) {
    let at = c.managed(10_000, 1);
    c.attributes(at + 5000);
}

fn pointer_attributes_at_once(c: &mut Case<'_>) {
    let at = c.managed(10_000, 1);
    c.attributes_at_once(at);
}

fn address_range(c: &mut Case<'_>) {
    let at = c.managed(10_000, 1);
    c.range(at);
    c.range(at + 9999);
}

fn freed_twice_and_inside(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    c.free(at + 16);
    c.free(at);
    c.free(at);
}

fn freed_by_the_wrong_call(c: &mut Case<'_>) {
    let at = c.managed(4096, 1);
    c.free_pinned(at);
    c.free(at);
}

fn freed_in_stream_order(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(4096, 1));
    c.free_async(at, s);
    c.free(at);
}

fn freed_in_use(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(BIG, 1));
    let add = c.kernel("add", &[P(at), N(1)]).shaped(64, 256);
    for _ in 0..8 {
        c.launch(&add, s);
    }
    c.free(at);
    c.query(s);
    c.sync(s);
}

fn registered(c: &mut Case<'_>) {
    let at = c.managed(8192, 1);
    c.register(at, 4096, 0);
}

fn as_host_memory(c: &mut Case<'_>) {
    let at = c.managed(8192, 1);
    c.host_flags(at);
    c.device_pointer(at);
}

fn prefetch_places(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(BIG, 1));
    for (kind, id) in [(DEVICE, 0), (HOST, 0), (HOST, 5), (3, 0), (4, 0)] {
        c.prefetch(at, BIG, place(kind, id), 0, s);
        for attribute in [4, 7, 8] {
            c.range_attribute(attribute, at, BIG);
        }
    }
    c.sync(s);
}

fn prefetch_of_the_wrong_memory(c: &mut Case<'_>) {
    let (s, plain, pinned, pageable) = (c.stream(1), c.alloc(4096), c.pinned(4096, 0), c.pageable(4096));
    for at in [plain, pinned, pageable, 0] {
        c.prefetch(at, 4096, place(DEVICE, 0), 0, s);
    }
}

fn prefetch_wrong(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(BIG, 1));
    for (kind, id) in [(0, 0), (9, 0), (DEVICE, 1), (DEVICE, -1), (3, 99), (3, -1)] {
        c.prefetch(at, 4096, place(kind, id), 0, s);
    }
    c.prefetch(at, 4096, place(DEVICE, 0), 1, s);
    c.prefetch(at, 0, place(DEVICE, 0), 0, s);
    c.prefetch(at, BIG + 1, place(DEVICE, 0), 0, s);
    c.prefetch(at + 100, 100, place(DEVICE, 0), 0, s);
    c.sync(s);
}

fn prefetch_by_device(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(BIG, 1));
    for device in [0, -1, 1, -2] {
        c.prefetch_v1(at, BIG, device, s);
        c.range_attribute(4, at, BIG);
    }
    c.sync(s);
}

fn range_fresh(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    c.range_attributes(at, BIG);
    c.range_attributes(at + 5, 7);
}

fn range_prefetched(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    c.prefetch(at, BIG, place(DEVICE, 0), 0, CUstream::NULL);
    c.range_attributes(at, BIG);
    c.context_sync();
    c.poke(at, &[5]);
    c.range_attributes(at, BIG);
}

fn range_in_parts(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    c.prefetch(at, BIG, place(DEVICE, 0), 0, CUstream::NULL);
    c.prefetch(at, 4096, place(HOST, 0), 0, CUstream::NULL);
    for (from, bytes) in [(0, BIG), (0, 4096), (0, 1), (4096, 4096), (4095, 2)] {
        c.range_attribute(4, at + from, bytes);
    }
    c.prefetch(at + 8192 + 100, 10, place(HOST, 0), 0, CUstream::NULL);
    c.range_attribute(4, at + 8192, 4096);
    c.context_sync();
}

fn advice_for_each_place(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    for advice in 0..=7 {
        for kind in 0..=4 {
            c.advise(at, BIG, advice, place(kind, 0));
            c.range_attributes(at, BIG);
        }
    }
}

fn advice_wrong(c: &mut Case<'_>) {
    let (at, plain, pinned, pageable) = (c.managed(BIG, 1), c.alloc(4096), c.pinned(4096, 0), c.pageable(4096));
    c.advise(at, 4096, 3, place(DEVICE, 1));
    c.advise(at, 4096, 3, place(DEVICE, -1));
    c.advise(at, 4096, 1, place(DEVICE, 7));
    c.advise(at, 0, 1, place(DEVICE, 0));
    c.advise(at, BIG + 1, 1, place(DEVICE, 0));
    for other in [plain, pinned, pageable, 0] {
        c.advise(other, 4096, 1, place(DEVICE, 0));
    }
}

fn advice_by_device(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    for (advice, device) in [(1, 0), (3, -1), (5, -1), (5, 1), (1, -9)] {
        c.advise_v1(at, BIG, advice, device);
    }
    c.range_attributes(at, BIG);
    c.advise_v1(at, 0, 1, 0);
}

fn advice_taken_back(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    for advice in [1, 3, 5] {
        c.advise(at, BIG, advice, place(DEVICE, 0));
    }
    c.advise(at, BIG, 5, place(HOST, 0));
    c.range_attributes(at, BIG);
    for advice in [2, 4, 6] {
        c.advise(at, BIG, advice, place(DEVICE, 0));
        c.range_attributes(at, BIG);
    }
}

fn advice_in_parts(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    c.advise(at, BIG, 1, place(DEVICE, 0));
    c.advise(at + 4096, 4096, 2, place(DEVICE, 0));
    c.advise(at + 8192, 1, 3, place(HOST, 0));
    for from in [0, 4096, 8192] {
        c.range_attribute(1, at + from, 4096);
        c.range_attribute(2, at + from, 4096);
    }
    c.range_attribute(1, at, BIG);
}

fn range_room(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    for (room, attribute) in [(0, 1), (3, 1), (8, 1), (4, 3), (6, 3), (16, 3), (0, 3), (4, 0), (4, 9)] {
        c.range_attribute_in(room, attribute, at, 4096);
    }
    c.range_attribute(1, at, 0);
    c.range_attribute(1, at, BIG + 1);
}

fn ranges_at_once(c: &mut Case<'_>) {
    let at = c.managed(BIG, 1);
    c.advise(at, BIG, 1, place(DEVICE, 0));
    c.range_attributes_at_once([1, 2], [4, 4], at, BIG);
    c.range_attributes_at_once([1, 2], [4, 3], at, BIG);
    c.range_attributes_at_once([1, 99], [4, 4], at, BIG);
}

fn ranges_of_other_memory(c: &mut Case<'_>) {
    let (plain, pinned, pageable) = (c.alloc(4096), c.pinned(4096, 0), c.pageable(4096));
    for at in [plain, pinned, pageable, 0] {
        c.range_attribute(1, at, 4096);
    }
}

fn attach_flags(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(8192, 1));
    for flags in [1, 2, 4, 3, 5, 8] {
        for stream in [s, CUstream::NULL, CUstream::LEGACY, CUstream::PER_THREAD] {
            c.attach(stream, at, 0, flags);
        }
    }
    c.context_sync();
}

fn attach_lengths(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(8192, 1));
    for (from, length) in [(0, 0), (0, 8192), (0, 4096), (0, 8193), (16, 0), (16, 8176)] {
        c.attach(s, at + from, length, 4);
    }
    c.sync(s);
}

fn attach_other_memory(c: &mut Case<'_>) {
    let (s, plain, pinned, pageable) = (c.stream(1), c.alloc(4096), c.pinned(4096, 0), c.pageable(4096));
    for at in [plain, pinned, pageable, 0] {
        c.attach(s, at, 0, 4);
        c.attach(s, at, 4096, 4);
    }
}

fn attached_and_used(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 1));
    c.poke(at, &[1, 2, 3, 4]);
    c.attach(s, at, 0, 4);
    c.sync(s);
    c.poke(at, &[5]);
    c.set32(at + 4, 9, 1, CUstream::NULL);
    c.attach(s, at, 0, 2);
    c.sync(s);
    c.set32(at + 8, 9, 1, s);
    c.context_sync();
    c.peek(at, 4);
}

fn attached_to_a_destroyed_stream(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 1));
    c.poke(at, &[0; 4]);
    c.attach(s, at, 0, 4);
    c.sync(s);
    c.destroy(s);
    c.set32(at, 9, 2, CUstream::NULL);
    c.context_sync();
    c.peek(at, 4);
}

fn kernel_on_host_attached(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 2));
    c.poke(at, &[1, 2, 3, 4]);
    let add = c.kernel("add", &[P(at), N(5)]).shaped(1, 4);
    c.launch(&add, s);
    c.sync(s);
    c.peek(at, 4);
}

fn captured(c: &mut Case<'_>, mode: u32, act: impl FnOnce(&mut Case<'_>, CUstream, u64)) {
    let (s, at) = (c.stream(1), c.managed(4096, 1));
    c.begin(s, mode);
    act(c, s, at);
    c.status(s);
    c.end_capture(s);
}

fn captured_prefetch(c: &mut Case<'_>) {
    captured(c, 2, |c, s, at| {
        c.prefetch(at, 4096, place(DEVICE, 0), 0, s);
    });
    captured(c, 2, |c, s, at| {
        c.prefetch_v1(at, 4096, 0, s);
    });
}

fn captured_attach(c: &mut Case<'_>) {
    captured(c, 2, |c, s, at| {
        c.attach(s, at, 0, 4);
    });
}

fn captured_advice(c: &mut Case<'_>) {
    captured(c, 2, |c, _, at| {
        c.advise(at, 4096, 1, place(DEVICE, 0));
        c.range_attribute(1, at, 4096);
        c.advise(at, 4096, 2, place(DEVICE, 0));
    });
}

fn captured_allocation(c: &mut Case<'_>) {
    captured(c, 2, |c, _, at| {
        c.managed(4096, 1);
        c.free(at);
    });
}

fn captured_allocation_global(c: &mut Case<'_>) {
    captured(c, 0, |c, _, _| {
        c.managed(4096, 1);
    });
}

fn captured_free_async(c: &mut Case<'_>) {
    captured(c, 2, |c, s, at| {
        c.free_async(at, s);
    });
}

fn captured_set(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 1));
    c.begin(s, 2);
    c.set32(at, 7, 4, s);
    let add = c.kernel("add", &[P(at), N(5)]).shaped(1, 4);
    c.launch(&add, s);
    let graph = c.end_capture(s);
    let exec = c.instantiate(graph, 0);
    c.run(exec, s);
    c.sync(s);
    c.peek(at, 4);
}

fn nodes_of_a_graph(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 1));
    let graph = c.graph();
    let fill = c.add_fill(graph, &[], &Fill::flat(at, 9, 4, 4));
    let add = c.kernel("add", &[P(at), N(5)]).shaped(1, 2);
    c.add_kernel(graph, &[fill], &add);
    let exec = c.instantiate(graph, 0);
    for round in 0..2 {
        c.poke(at, &[round; 8]);
        c.run(exec, s);
        c.sync(s);
        c.peek(at, 8);
    }
}

fn prefetch_in_a_batch(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(BIG, 1));
    c.prefetch_batch(at, BIG, place(DEVICE, 0), 0, s);
    c.range_attribute(4, at, BIG);
    c.prefetch_batch(at, BIG, place(HOST, 0), 0, s);
    c.range_attribute(4, at, BIG);
    c.sync(s);
}

fn discard_in_a_batch(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(BIG, 1));
    c.set32(at, 5, BIG / 4, s);
    c.discard_batch(at, BIG, 0, s);
    c.set32(at, 6, 4, s);
    c.sync(s);
    c.peek(at, 4);
}

fn batch_wrong(c: &mut Case<'_>) {
    let (s, at, plain) = (c.stream(1), c.managed(BIG, 1), c.alloc(BIG));
    c.prefetch_batch(at, BIG, place(DEVICE, 0), 0, CUstream::NULL);
    c.prefetch_batch(at, BIG, place(DEVICE, 0), 1, s);
    c.discard_batch(at, BIG, 1, s);
    c.prefetch_batch(plain, BIG, place(DEVICE, 0), 0, s);
    c.discard_batch(plain, BIG, 0, s);
}

fn values_of_a_stream(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 1));
    c.poke(at, &[0; 4]);
    c.write32(s, at, 5, 0);
    c.wait32(s, at, 0, 0);
    c.sync(s);
}

const VARIABLES: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 shared_word = 42;
.visible .global .attribute(.managed) .align 8 .b8 shared_bytes[100];
.visible .global .align 4 .u32 plain_word = 5;
";

fn variable(c: &mut Case<'_>) {
    let (s, module) = (c.stream(1), c.load("managed variables", VARIABLES));
    let at = c.global(module, "shared_word");
    c.peek(at, 1);
    c.poke(at, &[50]);
    let add = c.kernel("add", &[P(at), N(1)]);
    c.launch(&add, s);
    c.sync(s);
    c.peek(at, 1);
    for attribute in [2, 4, 8, 12] {
        c.attribute(attribute, at);
    }
    let bytes = c.global(module, "shared_bytes");
    c.peek(bytes, 2);
    c.attach(s, at, 0, 4);
    let plain = c.global(module, "plain_word");
    c.attribute(8, plain);
}

fn variable_of_a_library(c: &mut Case<'_>) {
    let library = c.library("managed variables", VARIABLES);
    let at = c.library_managed(library, "shared_word");
    if at != 0 {
        c.names.new_region("variable", at, 4);
        c.peek(at, 1);
    }
    c.library_managed(library, "plain_word");
    c.library_managed(library, "nothing");
}

fn atomics(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(64, 1));
    c.poke(at, &[0; 4]);
    let count = c.kernel("count", &[P(at), N(2)]).shaped(4, 64);
    c.launch(&count, s);
    c.sync(s);
    c.peek(at, 1);
}

fn two_dimensions(c: &mut Case<'_>) {
    let (s, at) = (c.stream(1), c.managed(4096, 1));
    c.poke(at, &[0; 64]);
    c.set2d8(at, 16, 1, 8, 4, s);
    c.set2d32(at + 64, 16, 2, 2, 4, s);
    c.set2d8(at, 1024, 1, 1025, 4, s);
    c.set2d8(at, 1024, 1, 1024, 5, s);
    c.sync(s);
    c.peek(at, 36);
}

//! Arrays: which there can be, what they say of themselves, and copies into and out of them by every call.

use super::super::case::Case;
use super::super::verbs_texture::End;
use dacapo_driver::types::*;

super::list! { "arrays";
    flat_sizes, sizes, largest, formats, wrong_formats, descriptors, surfaces, destroyed_null, copies_of_a_row, copies_beyond_a_row, copies_of_nothing, odd_bytes, first_rows_of_a_plane,
    device_and_back, array_to_array, array_to_array_beyond, in_streams, whole_planes, planes_beyond, whole_spaces, spaces_beyond, between_shapes, node, node_beyond,
    node_params, captured, captured_creation, captured_destruction, made_and_destroyed_often,
}

const WORD: u32 = CU_AD_FORMAT_UNSIGNED_INT32;

fn counted(c: &mut Case<'_>, words: usize) -> u64 {
    let host = c.pinned(4 * words, 0);
    c.poke(host, &(100..100 + words as u32).collect::<Vec<_>>());
    host
}

fn flat_sizes(c: &mut Case<'_>) {
    for (width, height) in [(16, 0), (16, 8), (16, 1), (1, 1), (0, 8), (0, 0)] {
        let array = c.flat_array(width, height, WORD, 1);
        if !array.is_null() {
            c.descriptors(array);
        }
    }
}

fn sizes(c: &mut Case<'_>) {
    for size in [[16, 0, 0], [16, 8, 0], [16, 8, 4], [16, 8, 1], [16, 0, 4], [0, 0, 0], [0, 8, 4]] {
        let array = c.array(size, WORD, 1, 0);
        if !array.is_null() {
            c.descriptors(array);
        }
    }
}

fn largest(c: &mut Case<'_>) {
    let byte = CU_AD_FORMAT_UNSIGNED_INT8;
    for (width, height) in [(131_072, 0), (131_073, 0), (131_072, 1), (131_073, 1), (1, 65_536), (1, 65_537)] {
        let array = c.flat_array(width, height, byte, 1);
        if !array.is_null() {
            c.destroy(array);
        }
    }
    for size in [[16_384, 1, 1], [16_385, 1, 1], [1, 16_385, 1], [1, 1, 16_384], [1, 1, 16_385]] {
        let array = c.array(size, byte, 1, 0);
        if !array.is_null() {
            c.destroy(array);
        }
    }
}

fn formats(c: &mut Case<'_>) {
    for format in [1, 2, 3, 8, 9, 10, 16, 32] {
        for channels in [1, 2, 4] {
            let array = c.flat_array(4, 4, format, channels);
            c.descriptors(array);
        }
    }
}

fn wrong_formats(c: &mut Case<'_>) {
    for (format, channels) in [(0, 1), (4, 1), (7, 1), (32, 0), (32, 3), (32, 5), (1, 8)] {
        c.flat_array(4, 4, format, channels);
        c.array([4, 4, 4], format, channels, 0);
    }
}

fn descriptors(c: &mut Case<'_>) {
    let array = c.array([5, 3, 2], CU_AD_FORMAT_HALF, 2, 0);
    c.descriptors(array);
}

fn surfaces(c: &mut Case<'_>) {
    for flags in [CUDA_ARRAY3D_SURFACE_LDST, CUDA_ARRAY3D_TEXTURE_GATHER, 0x10, 0x20, 0x200, 0x1000] {
        let array = c.array([16, 16, 0], CU_AD_FORMAT_FLOAT, 1, flags);
        if !array.is_null() {
            c.descriptors(array);
        }
    }
}

fn destroyed_null(c: &mut Case<'_>) {
    c.destroy(CUarray::NULL);
    c.descriptors(CUarray::NULL);
}

fn copies_of_a_row(c: &mut Case<'_>) {
    let (array, host) = (c.flat_array(16, 0, WORD, 1), counted(c, 16));
    c.h_to_a(array, 0, host, 64);
    c.h_to_a(array, 32, host, 16);
    c.poke(host, &[0; 16]);
    c.a_to_h(host, array, 0, 64);
    c.peek(host, 16);
    c.a_to_h(host, array, 60, 4);
    c.peek(host, 1);
}

fn copies_beyond_a_row(c: &mut Case<'_>) {
    let (array, host) = (c.flat_array(16, 0, WORD, 1), counted(c, 32));
    c.h_to_a(array, 0, host, 65);
    c.h_to_a(array, 60, host, 8);
    c.a_to_h(host, array, 4, 64);
    c.h_to_a(CUarray::NULL, 0, host, 4);
    c.h_to_a(array, 0, 0, 4);
}

fn copies_of_nothing(c: &mut Case<'_>) {
    let (array, host) = (c.flat_array(16, 0, WORD, 1), counted(c, 16));
    for offset in [0, 64, 68] {
        c.h_to_a(array, offset, host, 0);
    }
    c.copy_array(End::Array(array, [0; 3]), End::Host(host, 64, 1), [64, 0, 1]);
    c.copy_array(End::Array(array, [0; 3]), End::Host(host, 64, 1), [0, 1, 1]);
    c.copy_array(End::Array(array, [0; 3]), End::Host(host, 64, 1), [64, 1, 0]);
}

fn odd_bytes(c: &mut Case<'_>) {
    let (array, host) = (c.flat_array(16, 0, WORD, 1), counted(c, 16));
    c.h_to_a(array, 0, host, 64);
    c.h_to_a(array, 1, host, 3);
    c.a_to_h(host, array, 0, 8);
    c.peek(host, 2);
}

fn first_rows_of_a_plane(c: &mut Case<'_>) {
    let (plane, space, host) = (c.flat_array(16, 8, WORD, 1), c.array([8, 4, 3], WORD, 2, 0), counted(c, 192));
    for (offset, bytes) in [(0, 64), (64, 64), (32, 64), (0, 512)] {
        c.h_to_a(plane, offset, host, bytes);
        c.h_to_a(space, offset, host, bytes);
    }
    c.a_to_h(host, plane, 0, 512);
}

fn device_and_back(c: &mut Case<'_>) {
    let (array, at) = (c.flat_array(16, 0, WORD, 1), c.words(&(0..32).collect::<Vec<_>>()));
    c.d_to_a(array, 0, at, 64);
    c.a_to_d(at + 64, array, 8, 32);
    c.context_sync();
    c.read(at, 32);
    c.a_to_d(at, array, 4, 64);
    c.d_to_a(array, 0, at + 96, 64);
}

fn array_to_array(c: &mut Case<'_>) {
    let (row, plane, host) = (c.flat_array(16, 0, WORD, 1), c.flat_array(16, 8, WORD, 1), counted(c, 16));
    c.h_to_a(plane, 0, host, 64);
    c.a_to_a(row, 0, plane, 0, 64);
    c.a_to_a(row, 32, row, 0, 16);
    c.context_sync();
    c.a_to_h(host, row, 0, 64);
    c.peek(host, 16);
}

fn array_to_array_beyond(c: &mut Case<'_>) {
    let (row, plane) = (c.flat_array(16, 0, WORD, 1), c.flat_array(16, 8, WORD, 1));
    c.a_to_a(row, 0, plane, 32, 64);
    c.a_to_a(row, 4, plane, 0, 64);
}

fn in_streams(c: &mut Case<'_>) {
    let (s, array, host) = (c.stream(1), c.flat_array(16, 0, WORD, 1), counted(c, 32));
    c.h_to_a_async(array, 0, host, 64, s);
    c.a_to_h_async(host + 64, array, 0, 64, s);
    c.h_to_a_async(array, 0, host, 68, s);
    c.sync(s);
    c.peek(host + 64, 16);
}

fn whole_planes(c: &mut Case<'_>) {
    let (plane, host) = (c.flat_array(4, 3, WORD, 1), counted(c, 12));
    c.copy_array(End::Array(plane, [0; 3]), End::Host(host, 16, 3), [16, 3, 1]);
    c.poke(host, &[0; 12]);
    c.copy_array(End::Host(host, 16, 3), End::Array(plane, [4, 1, 0]), [8, 2, 1]);
    c.peek(host, 12);
}

fn planes_beyond(c: &mut Case<'_>) {
    let (plane, host) = (c.flat_array(16, 8, WORD, 1), counted(c, 256));
    for (from, extent) in [
        ([0, 0, 0], [64, 9, 1]),
        ([0, 0, 0], [68, 8, 1]),
        ([32, 0, 0], [32, 8, 1]),
        ([36, 0, 0], [32, 8, 1]),
        ([0, 1, 0], [64, 8, 1]),
        ([0, 1, 0], [64, 7, 1]),
        ([0, 0, 0], [64, 8, 2]),
        ([0, 0, 1], [64, 8, 1]),
    ] {
        c.copy_array(End::Array(plane, from), End::Host(host, 68, 9), extent);
    }
}

fn whole_spaces(c: &mut Case<'_>) {
    let (space, host) = (c.array([4, 3, 2], WORD, 1, 0), counted(c, 24));
    c.copy_array(End::Array(space, [0; 3]), End::Host(host, 16, 3), [16, 3, 2]);
    c.poke(host, &[0; 24]);
    c.copy_array(End::Host(host, 8, 2), End::Array(space, [8, 1, 0]), [8, 2, 2]);
    c.peek(host, 24);
}

fn spaces_beyond(c: &mut Case<'_>) {
    let (space, host) = (c.array([8, 4, 3], WORD, 2, 0), counted(c, 512));
    for (from, extent) in [
        ([0, 0, 0], [64, 4, 4]),
        ([0, 0, 1], [64, 4, 3]),
        ([0, 0, 1], [64, 4, 2]),
        ([0, 0, 0], [64, 5, 1]),
        ([8, 0, 0], [64, 1, 1]),
    ] {
        c.copy_array(End::Array(space, from), End::Host(host, 64, 5), extent);
    }
}

fn between_shapes(c: &mut Case<'_>) {
    let (space, plane, host) = (c.array([4, 3, 2], WORD, 1, 0), c.flat_array(4, 3, WORD, 1), counted(c, 24));
    c.copy_array(End::Array(space, [0; 3]), End::Host(host, 16, 3), [16, 3, 2]);
    c.copy_array(End::Array(plane, [0; 3]), End::Array(space, [0, 0, 1]), [16, 3, 1]);
    c.context_sync();
    c.copy_array(End::Host(host, 16, 3), End::Array(plane, [0; 3]), [16, 3, 1]);
    c.peek(host, 12);
    c.copy_array(End::Array(plane, [0; 3]), End::Array(space, [0; 3]), [16, 3, 2]);
}

fn node(c: &mut Case<'_>) {
    let (s, space, host) = (c.stream(1), c.array([4, 3, 2], WORD, 1, 0), counted(c, 24));
    let graph = c.graph();
    c.add_array_copy(graph, End::Array(space, [0; 3]), End::Host(host, 16, 3), [16, 3, 2]);
    let exec = c.instantiate(graph, 0);
    c.run(exec, s);
    c.sync(s);
    c.poke(host, &[0; 24]);
    c.copy_array(End::Host(host, 16, 3), End::Array(space, [0; 3]), [16, 3, 2]);
    c.peek(host, 24);
}

fn node_beyond(c: &mut Case<'_>) {
    let (space, host) = (c.array([4, 3, 2], WORD, 1, 0), counted(c, 64));
    let graph = c.graph();
    for extent in [[16, 3, 3], [16, 4, 1], [20, 1, 1], [16, 3, 0], [0, 3, 2]] {
        c.add_array_copy(graph, End::Array(space, [0; 3]), End::Host(host, 20, 4), extent);
    }
}

fn node_params(c: &mut Case<'_>) {
    let (space, host) = (c.array([4, 3, 2], WORD, 1, 0), counted(c, 24));
    let graph = c.graph();
    let node = c.add_array_copy(graph, End::Array(space, [0; 3]), End::Host(host, 16, 3), [16, 3, 2]);
    c.array_copy_params(node);
}

fn captured(c: &mut Case<'_>) {
    let (s, array, host) = (c.stream(1), c.flat_array(16, 0, WORD, 1), counted(c, 32));
    c.begin(s, 2);
    c.h_to_a_async(array, 0, host, 64, s);
    c.a_to_h_async(host + 64, array, 32, 32, s);
    let graph = c.end_capture(s);
    c.shape(graph);
    let exec = c.instantiate(graph, 0);
    c.run(exec, s);
    c.sync(s);
    c.peek(host + 64, 8);
}

fn captured_creation(c: &mut Case<'_>) {
    for mode in [0, 2] {
        let s = c.stream(1);
        c.begin(s, mode);
        c.flat_array(4, 4, WORD, 1);
        c.status(s);
        c.end_capture(s);
    }
}

fn captured_destruction(c: &mut Case<'_>) {
    for mode in [0, 2] {
        let (s, array) = (c.stream(1), c.flat_array(4, 4, WORD, 1));
        c.begin(s, mode);
        c.descriptors(array);
        c.destroy(array);
        c.status(s);
        c.end_capture(s);
    }
}

fn made_and_destroyed_often(c: &mut Case<'_>) {
    let host = counted(c, 16);
    for round in 0..20 {
        let array = c.flat_array(16, 0, WORD, 1);
        c.poke(host, &[round; 16]);
        c.h_to_a(array, 0, host, 64);
        c.poke(host, &[0; 16]);
        c.a_to_h(host, array, 0, 64);
        c.peek(host, 16);
        c.destroy(array);
    }
}

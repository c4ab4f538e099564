//! Textures and surfaces: which texel coordinates name, what number it is, and objects that are made wrongly.

use super::super::case::Case;
use super::super::verbs_texture::{End, Object, Over};
use dacapo_driver::types::*;

super::list! { "textures";
    row_clamped, row_bordered, row_wrapped, row_mirrored, row_normalised_clamped, row_normalised_bordered, modes_without_normalised, odd_numbers, few_bits, few_bits_of_a_long_row,
    plane, plane_normalised, space, plane_by_integers, space_by_integers, row_by_integers, linear, linear_bytes_as_fractions, linear_shorts_as_fractions, linear_halves,
    linear_integers, linear_channels, linear_special_floats, linear_by_numbers_with_a_point, linear_at_the_wrong_place, linear_sizes, linear_formats, modes, flags, described, destroyed_twice, nothing_is_an_object,
    rows, rows_at_the_wrong_place, row_as_a_plane, space_as_a_plane, surface_of_the_wrong_array, surface_inside, surface_outside_is_zero, surface_outside_is_clamped, written_by_a_surface_read_by_a_texture, captured,
}

const WORD: u32 = CU_AD_FORMAT_UNSIGNED_INT32;
const WRAP: u32 = CU_TR_ADDRESS_MODE_WRAP;
const CLAMP: u32 = CU_TR_ADDRESS_MODE_CLAMP;
const MIRROR: u32 = CU_TR_ADDRESS_MODE_MIRROR;
const BORDER: u32 = CU_TR_ADDRESS_MODE_BORDER;
const INTEGER: u32 = CU_TRSF_READ_AS_INTEGER;
const NORMALISED: u32 = CU_TRSF_NORMALIZED_COORDINATES;

/// An array of words that count from 100 on.
fn counted(c: &mut Case<'_>, size: [usize; 3], flags: u32) -> CUarray {
    let rows = [size[0], size[1].max(1), size[2].max(1)];
    let words = rows.iter().product::<usize>();
    let host = c.pinned(4 * words, 0);
    c.poke(host, &(100..100 + words as u32).collect::<Vec<_>>());
    let array = c.array(size, WORD, 1, flags);
    c.copy_array(End::Array(array, [0; 3]), End::Host(host, 4 * rows[0], rows[1]), [4 * rows[0], rows[1], rows[2]]);
    array
}

fn row(c: &mut Case<'_>, mode: u32, flags: u32) -> Object {
    let array = counted(c, [5, 0, 0], 0);
    c.texture(Over::Array(array), mode, INTEGER | flags)
}

fn at(numbers: &[f32]) -> Vec<[u32; 4]> {
    numbers.iter().map(|x| [x.to_bits(), 0, 0, 0]).collect()
}

const PLAIN: [f32; 14] = [-100.0, -5.5, -1.0, -0.5, 0.0, 0.25, 0.99, 1.0, 2.5, 4.0, 4.99, 5.0, 5.5, 1000.0];
const FRACTIONS: [f32; 14] = [-2.3, -1.7, -1.0, -0.3, -0.1, 0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 1.1, 1.9, 2.7];

fn row_clamped(c: &mut Case<'_>) {
    let texture = row(c, CLAMP, 0);
    c.texels("row_float", texture, &at(&PLAIN));
}

fn row_bordered(c: &mut Case<'_>) {
    let texture = row(c, BORDER, 0);
    c.texels("row_float", texture, &at(&PLAIN));
}

fn row_wrapped(c: &mut Case<'_>) {
    let texture = row(c, WRAP, NORMALISED);
    c.texels("row_float", texture, &at(&FRACTIONS));
}

fn row_mirrored(c: &mut Case<'_>) {
    let texture = row(c, MIRROR, NORMALISED);
    c.texels("row_float", texture, &at(&FRACTIONS));
}

fn row_normalised_clamped(c: &mut Case<'_>) {
    let texture = row(c, CLAMP, NORMALISED);
    c.texels("row_float", texture, &at(&FRACTIONS));
}

fn row_normalised_bordered(c: &mut Case<'_>) {
    let texture = row(c, BORDER, NORMALISED);
    c.texels("row_float", texture, &at(&FRACTIONS));
}

fn modes_without_normalised(c: &mut Case<'_>) {
    for mode in [WRAP, MIRROR] {
        let texture = row(c, mode, 0);
        c.texels("row_float", texture, &at(&PLAIN));
    }
}

fn odd_numbers(c: &mut Case<'_>) {
    let odd =
        [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 3e9, -3e9, 1e-40, -1e-40, -1e-7, -0.0];
    for mode in [WRAP, CLAMP, MIRROR, BORDER] {
        for flags in [0, NORMALISED] {
            let texture = row(c, mode, flags);
            c.texels("row_float", texture, &at(&odd));
        }
    }
}

/// Just above the borders of texels.
fn few_bits(c: &mut Case<'_>) {
    for mode in [WRAP, CLAMP, MIRROR, BORDER] {
        let texture = row(c, mode, NORMALISED);
        let near: Vec<f32> = (0..5)
            .flat_map(|texel| {
                let border = texel as f32 / 5.0;
                [border, border + 1e-7, border + 2e-7, border + 4e-7, border + 8e-7, border + 1.6e-6]
            })
            .collect();
        c.texels("row_float", texture, &at(&near));
    }
}

fn few_bits_of_a_long_row(c: &mut Case<'_>) {
    let array = counted(c, [60_001, 0, 0], 0);
    let texture = c.texture(Over::Array(array), CLAMP, INTEGER | NORMALISED);
    let bits = [0x3d89_50f8, 0x3e1a_3a9c, 0x3f2d_176f, 0x3f10_2487, 0x3e34_f47c, 0x3e80_0000, 0x3f7f_ffff];
    c.texels("row_float", texture, &bits.map(|bits| [bits, 0, 0, 0]));
}

fn grid(steps: &[f32], size: [f32; 2]) -> Vec<[u32; 4]> {
    steps
        .iter()
        .flat_map(|y| steps.iter().map(move |x| [(x / size[0]).to_bits(), (y / size[1]).to_bits(), 0, 0]))
        .collect()
}

const STEPS: [f32; 7] = [-1.5, -0.25, 0.0, 0.75, 2.5, 3.0, 6.5];

fn plane(c: &mut Case<'_>) {
    for mode in [WRAP, CLAMP, MIRROR, BORDER] {
        let array = counted(c, [5, 3, 0], 0);
        let texture = c.texture(Over::Array(array), mode, INTEGER);
        c.texels("plane_float", texture, &grid(&STEPS, [1.0, 1.0]));
    }
}

fn plane_normalised(c: &mut Case<'_>) {
    for mode in [WRAP, CLAMP, MIRROR, BORDER] {
        let array = counted(c, [8, 4, 0], 0);
        let texture = c.texture(Over::Array(array), mode, INTEGER | NORMALISED);
        c.texels("plane_float", texture, &grid(&STEPS, [8.0, 4.0]));
    }
}

fn space(c: &mut Case<'_>) {
    for mode in [CLAMP, BORDER] {
        let array = counted(c, [4, 3, 2], 0);
        let texture = c.texture(Over::Array(array), mode, INTEGER);
        let at: Vec<[u32; 4]> = [-0.5f32, 0.5, 1.5, 2.5]
            .iter()
            .flat_map(|z| grid(&[0.5, 1.5, 3.5], [1.0, 1.0]).into_iter().map(move |[x, y, ..]| [x, y, z.to_bits(), 0]))
            .collect();
        c.texels("space_float", texture, &at);
    }
}

fn whole(range: std::ops::Range<i32>) -> Vec<[u32; 4]> {
    range.clone().flat_map(|y| range.clone().map(move |x| [x as u32, y as u32, (x + y) as u32 & 1, 0])).collect()
}

fn plane_by_integers(c: &mut Case<'_>) {
    for (mode, flags) in [(CLAMP, 0), (BORDER, 0), (WRAP, NORMALISED)] {
        let array = counted(c, [5, 3, 0], 0);
        let texture = c.texture(Over::Array(array), mode, INTEGER | flags);
        c.texels("plane_whole", texture, &whole(-1..6));
    }
}

fn space_by_integers(c: &mut Case<'_>) {
    let array = counted(c, [4, 3, 2], 0);
    let texture = c.texture(Over::Array(array), CLAMP, INTEGER);
    c.texels("space_whole", texture, &whole(-1..5));
}

fn row_by_integers(c: &mut Case<'_>) {
    let texture = row(c, CLAMP, 0);
    c.texels("row_whole", texture, &whole(0..3));
}

fn numbers(list: &[i32]) -> Vec<[u32; 4]> {
    list.iter().map(|x| [*x as u32, 0, 0, 0]).collect()
}

fn linear(c: &mut Case<'_>) {
    let memory = c.words(&(100..164).collect::<Vec<_>>());
    for bytes in [40, 42, 4] {
        let texture = c.texture(Over::Linear(memory, bytes, WORD, 1), WRAP, INTEGER);
        c.texels("row_whole", texture, &numbers(&[0, 1, 9, 10, 11, -1, i32::MIN, i32::MAX]));
    }
}

fn bytes_of(c: &mut Case<'_>) -> u64 {
    let words: Vec<u32> = (0..64u32).map(|word| word * 0x0404_0404 + 0x0302_0100).collect();
    c.words(&words)
}

fn linear_bytes_as_fractions(c: &mut Case<'_>) {
    let memory = bytes_of(c);
    for format in [CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8] {
        let texture = c.texture(Over::Linear(memory, 256, format, 1), WRAP, 0);
        c.texels("row_whole", texture, &numbers(&(0..256).collect::<Vec<_>>()));
    }
}

fn linear_shorts_as_fractions(c: &mut Case<'_>) {
    let memory = bytes_of(c);
    for format in [CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16] {
        let texture = c.texture(Over::Linear(memory, 256, format, 1), WRAP, 0);
        c.texels("row_whole", texture, &numbers(&(0..128).collect::<Vec<_>>()));
    }
}

fn linear_halves(c: &mut Case<'_>) {
    let halves = [0x3c00u32, 0x8001, 0x7c00, 0xfc00, 0x7e01, 0x7c01, 0x0400, 0x03ff, 0x7bff, 0x8000];
    let words: Vec<u32> = halves.chunks(2).map(|pair| pair[0] | pair[1] << 16).collect();
    let memory = c.words(&words);
    for flags in [0, INTEGER] {
        let texture = c.texture(Over::Linear(memory, 20, CU_AD_FORMAT_HALF, 1), WRAP, flags);
        c.texels("row_whole", texture, &numbers(&(0..10).collect::<Vec<_>>()));
    }
}

fn linear_integers(c: &mut Case<'_>) {
    let memory = bytes_of(c);
    for format in [1, 2, 3, 8, 9, 10] {
        let texture = c.texture(Over::Linear(memory, 256, format, 1), WRAP, INTEGER);
        c.texels("row_whole", texture, &numbers(&[0, 5, 40, 60]));
    }
}

fn linear_channels(c: &mut Case<'_>) {
    let memory = bytes_of(c);
    for format in [1, 2, 3, 16, 32] {
        for channels in [1, 2, 4] {
            let texture = c.texture(Over::Linear(memory, 256, format, channels), WRAP, 0);
            c.texels("row_whole", texture, &numbers(&[3, 15, 16, 64]));
        }
    }
}

fn linear_special_floats(c: &mut Case<'_>) {
    let memory = c.words(&[0x7fc0_0000, 0x7f80_0001, 0xffc1_2345, 1, 0x8000_0001, 0x7f80_0000, 0x8000_0000]);
    let texture = c.texture(Over::Linear(memory, 28, CU_AD_FORMAT_FLOAT, 1), WRAP, 0);
    c.texels("row_whole", texture, &numbers(&(0..7).collect::<Vec<_>>()));
}

fn linear_by_numbers_with_a_point(c: &mut Case<'_>) {
    let memory = bytes_of(c);
    let texture = c.texture(Over::Linear(memory, 256, WORD, 1), CLAMP, INTEGER);
    c.texels("row_float", texture, &at(&[0.0, 1.5, 3.0]));
}

fn linear_at_the_wrong_place(c: &mut Case<'_>) {
    let memory = c.alloc(8192);
    for offset in [4, 16, 256, 512, 1024] {
        c.texture(Over::Linear(memory + offset, 4096, WORD, 1), WRAP, 0);
    }
    c.texture(Over::Linear(0, 4096, WORD, 1), WRAP, 0);
}

fn linear_sizes(c: &mut Case<'_>) {
    let memory = c.alloc(8192);
    for bytes in [0, 3, 4095, 8192, 8196, 1 << 40] {
        c.texture(Over::Linear(memory, bytes, CU_AD_FORMAT_UNSIGNED_INT8, 1), WRAP, 0);
    }
}

fn linear_formats(c: &mut Case<'_>) {
    let memory = c.alloc(8192);
    for (format, channels) in [(WORD, 3), (WORD, 0), (7, 1), (0, 1), (WORD, 4)] {
        c.texture(Over::Linear(memory, 4096, format, channels), WRAP, 0);
    }
}

fn modes(c: &mut Case<'_>) {
    let memory = c.alloc(8192);
    for mode in 0..=4 {
        c.texture(Over::Linear(memory, 4096, WORD, 1), mode, 0);
    }
    for (filter, mipmap, reserved) in [(2, 0, 0), (0, 5, 0), (0, 0, 1), (0, 1, 0)] {
        let mut how = CUDA_TEXTURE_DESC { filterMode: filter, mipmapFilterMode: mipmap, ..Default::default() };
        how.reserved[0] = reserved;
        c.texture_like(Over::Linear(memory, 4096, WORD, 1), &how);
    }
}

fn flags(c: &mut Case<'_>) {
    let memory = c.alloc(8192);
    for flags in [0, 1, 2, 3, 0x20, 0x40, 0x80] {
        c.texture(Over::Linear(memory, 4096, WORD, 1), WRAP, flags);
    }
}

fn described(c: &mut Case<'_>) {
    let (array, memory) = (counted(c, [5, 3, 0], 0), c.alloc(8192));
    let texture = c.texture(Over::Array(array), BORDER, INTEGER | NORMALISED);
    c.texture_params(texture);
    let texture = c.texture(Over::Linear(memory, 4096, WORD, 1), CLAMP, 0);
    c.texture_params(texture);
}

fn destroyed_twice(c: &mut Case<'_>) {
    let texture = row(c, CLAMP, 0);
    c.destroy_texture(texture);
    c.destroy_texture(texture);
    c.texture_params(texture);
}

fn nothing_is_an_object(c: &mut Case<'_>) {
    c.texture(Over::Array(CUarray::NULL), CLAMP, 0);
}

fn rows(c: &mut Case<'_>) {
    let memory = c.words(&(100..164).collect::<Vec<_>>());
    for mode in [WRAP, CLAMP, MIRROR, BORDER] {
        let texture = c.texture(Over::Rows(memory, 5, 3, 64), mode, INTEGER);
        c.texels("plane_float", texture, &grid(&STEPS, [1.0, 1.0]));
    }
}

fn rows_at_the_wrong_place(c: &mut Case<'_>) {
    let memory = c.alloc(1 << 20);
    for pitch in [255, 260, 272, 288, 256] {
        c.texture(Over::Rows(memory, 64, 4, pitch), CLAMP, 0);
    }
    for offset in [4, 256, 512] {
        c.texture(Over::Rows(memory + offset, 64, 4, 256), CLAMP, 0);
    }
    for (width, height) in [(0, 4), (64, 0), (65, 4), (131_073, 1), (16, 65_001)] {
        c.texture(Over::Rows(memory, width, height, 256), CLAMP, 0);
    }
    c.texture(Over::Rows(0, 64, 4, 256), CLAMP, 0);
}

fn row_as_a_plane(c: &mut Case<'_>) {
    let texture = row(c, CLAMP, 0);
    c.texels("plane_float", texture, &grid(&[0.5, 3.5], [1.0, 1.0]));
}

fn space_as_a_plane(c: &mut Case<'_>) {
    let array = counted(c, [4, 3, 2], 0);
    let texture = c.texture(Over::Array(array), CLAMP, INTEGER);
    c.texels("plane_float", texture, &grid(&[0.5, 1.5], [1.0, 1.0]));
}

fn surface_of_the_wrong_array(c: &mut Case<'_>) {
    let (plain, memory) = (counted(c, [5, 3, 0], 0), c.alloc(8192));
    c.surface(Over::Array(plain));
    c.surface(Over::Linear(memory, 4096, WORD, 1));
}

fn surface_of(c: &mut Case<'_>) -> (Object, CUarray) {
    let array = counted(c, [5, 3, 0], CUDA_ARRAY3D_SURFACE_LDST);
    (c.surface(Over::Array(array)), array)
}

fn shown(c: &mut Case<'_>, array: CUarray) {
    let host = c.pinned(60, 0);
    c.context_sync();
    c.copy_array(End::Host(host, 20, 3), End::Array(array, [0; 3]), [20, 3, 1]);
    c.peek(host, 15);
}

fn surface_inside(c: &mut Case<'_>) {
    let (surface, array) = surface_of(c);
    c.surface_add("surface_zero", surface, &[[0, 0, 0, 0], [8, 1, 0, 0], [16, 2, 0, 0]], 1000);
    shown(c, array);
}

fn surface_outside_is_zero(c: &mut Case<'_>) {
    let (surface, array) = surface_of(c);
    let outside = [[20, 0, 0, 0], [-4i32 as u32, 0, 0, 0], [0, 3, 0, 0], [0, -1i32 as u32, 0, 0]];
    c.surface_add("surface_zero", surface, &outside, 1000);
    shown(c, array);
}

fn surface_outside_is_clamped(c: &mut Case<'_>) {
    for one in [[20, 1, 0, 0], [-400i32 as u32, 1, 0, 0], [8, 3, 0, 0], [8, -1i32 as u32, 0, 0]] {
        let (surface, array) = surface_of(c);
        c.surface_add("surface_clamp", surface, &[one], 1000);
        shown(c, array);
    }
}

fn written_by_a_surface_read_by_a_texture(c: &mut Case<'_>) {
    let (surface, array) = surface_of(c);
    c.surface_add("surface_zero", surface, &[[4, 1, 0, 0]], 7);
    c.context_sync();
    let texture = c.texture(Over::Array(array), CLAMP, INTEGER);
    c.texels("plane_float", texture, &grid(&[1.5], [1.0, 1.0]));
}

fn captured(c: &mut Case<'_>) {
    let (s, memory) = (c.stream(1), c.alloc(8192));
    c.begin(s, 0);
    let texture = c.texture(Over::Linear(memory, 4096, WORD, 1), CLAMP, 0);
    c.status(s);
    c.destroy_texture(texture);
    c.status(s);
    c.end_capture(s);
}

//! Textures and surfaces: which texel a coordinate names, and what number a texel is. No memory is touched here.
//!
//! Everything about numbers was seen on an H200 and is the same to the bit:
//!
//! - A coordinate that is not normalised names the texel below it. Wrapping and mirroring are for normalised ones; asked
//!   for without, they clamp. NaN is 0, and so are numbers too small to be normal.
//! - A normalised coordinate is cut to a fixed number of bits first, so one just above the border of a texel still names the
//!   texel before.
//! - 8 and 16 bits are read as fractions of their largest number unless they are read as integers; halves become f32. What a
//!   texel has not, reads as 0.
//!
//! Not here: filtering, layers, cubes, mipmaps.

use dacapo_driver::types::*;

use crate::model::array::channel_bytes;
use crate::model::objects::Context;
use crate::model::table::Key;

/// Bits behind the point of a normalised coordinate, by the size of its direction. Seen at 30 sizes, 40,000 coordinates each.
fn fraction_bits(size: u64) -> u32 {
    match size {
        0..=8192 => 21,
        8193..=65_536 => 22,
        _ => 23,
    }
}

/// What texels are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Linear memory: texels by number.
    Linear,
    /// An array, or rows of memory: so many dimensions.
    Image(u8),
}

/// A texture or surface object.
#[derive(Clone, Debug)]
pub(crate) struct Texture {
    pub(crate) context: Key<Context>,
    pub(crate) device: usize,
    /// As the program described it.
    pub(crate) resource: CUDA_RESOURCE_DESC,
    pub(crate) texture: CUDA_TEXTURE_DESC,
    pub(crate) is_surface: bool,
    pub(crate) shape: Shape,
    /// The first texel.
    pub(crate) base: u64,
    /// Which allocation the texels of an array are: a later one at the same address is another.
    pub(crate) generation: Option<u64>,
    /// Texels in each direction, at least 1.
    pub(crate) size: [u64; 3],
    /// Bytes from row to row, and from slice to slice.
    pub(crate) pitch: u64,
    pub(crate) slice: u64,
    pub(crate) format: CUarray_format,
    pub(crate) channels: u32,
}

impl Texture {
    /// Bytes of a texel.
    pub(crate) fn texel(&self) -> u64 {
        channel_bytes(self.format).unwrap_or(1) * u64::from(self.channels)
    }

    /// Where a texel lies.
    pub(crate) fn address(&self, [x, y, z]: [u64; 3]) -> u64 {
        self.base + z * self.slice + y * self.pitch + x * self.texel()
    }

    /// The texel that a coordinate names in direction `axis`; `None` where that is outside, and has the border's colour.
    pub(crate) fn index(&self, axis: usize, coordinate: f32) -> Option<u64> {
        let normalised = self.texture.flags & CU_TRSF_NORMALIZED_COORDINATES != 0;
        index(coordinate, self.size[axis], self.texture.addressMode[axis], normalised)
    }

    /// What lies outside: a colour of as many channels as a texel, as exact as a texel.
    pub(crate) fn border(&self) -> [u32; 4] {
        let integer = self.texture.flags & CU_TRSF_READ_AS_INTEGER != 0;
        std::array::from_fn(|at| match at < self.channels as usize {
            true => border(self.texture.borderColor[at], self.format, integer),
            false => 0,
        })
    }

    /// The four numbers of a texel's bytes.
    pub(crate) fn numbers(&self, raw: &[u8]) -> [u32; 4] {
        let integer = self.texture.flags & CU_TRSF_READ_AS_INTEGER != 0;
        let bytes = channel_bytes(self.format).unwrap_or(1) as usize;
        let mut out = [0; 4];
        for (out, raw) in out.iter_mut().zip(raw.chunks_exact(bytes)) {
            let mut word = [0; 4];
            word[..bytes].copy_from_slice(raw);
            *out = number(u32::from_le_bytes(word), self.format, integer);
        }
        out
    }
}

/// A colour as a texel of a format can have it. Read as an integer it is the low bits of the number, as observed.
fn border(colour: f32, format: CUarray_format, integer: bool) -> u32 {
    // To the nearest, and halves towards zero.
    let nearest = |least: f32, most: f32| {
        let scaled = if colour.is_nan() { 0.0 } else { colour.clamp(least, 1.0) * most };
        (((scaled.abs() - 0.5).ceil() * scaled.signum()) as i32) as u32
    };
    let bits = match format {
        CU_AD_FORMAT_UNSIGNED_INT8 if !integer => nearest(0.0, 255.0),
        CU_AD_FORMAT_UNSIGNED_INT16 if !integer => nearest(0.0, 65_535.0),
        CU_AD_FORMAT_SIGNED_INT8 if !integer => nearest(-1.0, 127.0),
        CU_AD_FORMAT_SIGNED_INT16 if !integer => nearest(-1.0, 32_767.0),
        CU_AD_FORMAT_HALF => return cut_to_half(colour),
        CU_AD_FORMAT_UNSIGNED_INT8 => colour.to_bits() & 0xff,
        CU_AD_FORMAT_UNSIGNED_INT16 => colour.to_bits() & 0xffff,
        _ => colour.to_bits(),
    };
    number(bits, format, integer)
}

/// The bits of the half next to zero from here, as an f32.
fn cut_to_half(value: f32) -> u32 {
    let (sign, size) = (value.to_bits() & 0x8000_0000, value.abs());
    if size.is_nan() {
        return f32::NAN.to_bits();
    }
    if size < 1.0 / 16_384.0 {
        // Too small to be normal: whole parts of 2^-24.
        return sign | ((size * 16_777_216.0).floor() / 16_777_216.0).to_bits();
    }
    sign | f32::from_bits(size.min(65_504.0).to_bits() & !0x1fff).to_bits()
}

fn number(bits: u32, format: CUarray_format, integer: bool) -> u32 {
    let fraction = |value: f32, most: f32| (value / most).max(-1.0).to_bits();
    match format {
        CU_AD_FORMAT_UNSIGNED_INT8 if !integer => fraction(bits as f32, 255.0),
        CU_AD_FORMAT_UNSIGNED_INT16 if !integer => fraction(bits as f32, 65_535.0),
        CU_AD_FORMAT_SIGNED_INT8 if integer => bits as i8 as u32,
        CU_AD_FORMAT_SIGNED_INT8 => fraction(f32::from(bits as i8), 127.0),
        CU_AD_FORMAT_SIGNED_INT16 if integer => bits as i16 as u32,
        CU_AD_FORMAT_SIGNED_INT16 => fraction(f32::from(bits as i16), 32_767.0),
        CU_AD_FORMAT_HALF => half(bits as u16),
        _ => bits,
    }
}

/// A half as the bits of an f32; a NaN keeps its payload, quiet or not.
fn half(bits: u16) -> u32 {
    let (sign, exponent, mantissa) = (u32::from(bits >> 15) << 31, bits >> 10 & 31, u32::from(bits & 1023));
    match exponent {
        0 => sign | (mantissa as f32 / 16_777_216.0).to_bits(),
        31 => sign | 0x7f80_0000 | mantissa << 13,
        _ => sign | (u32::from(exponent) + 112) << 23 | mantissa << 13,
    }
}

fn index(coordinate: f32, size: u64, mode: CUaddress_mode, normalised: bool) -> Option<u64> {
    let c = f64::from(coordinate);
    if size == 0 {
        return None;
    }
    if coordinate.is_nan() || coordinate == 0.0 || coordinate.is_subnormal() {
        return Some(0);
    }
    let bits = fraction_bits(size);
    // Exact: the coordinate has 24 bits, and the scale is a power of two.
    let scale = f64::from(1u32 << bits);
    let turning = normalised && matches!(mode, CU_TR_ADDRESS_MODE_WRAP | CU_TR_ADDRESS_MODE_MIRROR);
    if turning {
        if coordinate.is_infinite() {
            return Some(0);
        }
        let part = c - c.floor();
        let at = (((part * scale) as u128 * u128::from(size)) >> bits) as u64;
        let mirrored = mode == CU_TR_ADDRESS_MODE_MIRROR && c.floor() % 2.0 != 0.0;
        return Some(if mirrored { size - 1 - at } else { at });
    }
    // In texels; beyond any size far out, where the number is no longer exact.
    let at = match normalised {
        false => c.floor(),
        true if c.abs() > 1e12 => c,
        true => (((c * scale).floor() as i128 * i128::from(size)) >> bits) as f64,
    };
    let inside = at >= 0.0 && at < size as f64;
    match mode {
        CU_TR_ADDRESS_MODE_BORDER if !inside => None,
        _ => Some(at.clamp(0.0, (size - 1) as f64) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRAP: u32 = CU_TR_ADDRESS_MODE_WRAP;
    const CLAMP: u32 = CU_TR_ADDRESS_MODE_CLAMP;
    const MIRROR: u32 = CU_TR_ADDRESS_MODE_MIRROR;
    const BORDER: u32 = CU_TR_ADDRESS_MODE_BORDER;

    #[test]
    fn a_coordinate_has_more_bits_in_wider_directions() {
        assert_eq!([1, 8192, 8193, 65_536, 65_537, 131_072].map(fraction_bits), [21, 21, 22, 22, 23, 23]);
    }

    /// Answers of an H200 for a row of 5 texels.
    #[test]
    fn coordinates_name_the_texels_that_an_h200_names() {
        let all = [
            f32::NEG_INFINITY,
            -1e30,
            -7.5,
            -5.0,
            -1.5,
            -1.0,
            -0.5,
            -1e-7,
            -1e-40,
            -0.0,
            0.0,
            0.25,
            0.5,
            0.999_999_94,
            1.0,
            1.5,
            4.999_999_5,
            5.0,
            5.5,
            6.0,
            9.0,
            100_000.5,
            1e30,
            f32::INFINITY,
            f32::NAN,
        ];
        let plain = |mode| all.map(|c| index(c, 5, mode, false).map_or(-1, |at| at as i64));
        let clamped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 0];
        assert_eq!((plain(CLAMP), plain(WRAP), plain(MIRROR)), (clamped, clamped, clamped));
        let b = -1;
        assert_eq!(plain(BORDER), [b, b, b, b, b, b, b, b, 0, 0, 0, 0, 0, 0, 1, 1, 4, b, b, b, b, b, b, b, 0]);
        let turned = |mode| all.map(|c| index(c, 5, mode, true).map_or(-1, |at| at as i64));
        assert_eq!(turned(WRAP), [0, 0, 2, 0, 2, 0, 2, 4, 0, 0, 0, 1, 2, 4, 0, 2, 4, 0, 2, 0, 0, 2, 0, 0, 0]);
        assert_eq!(turned(CLAMP), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0]);
        assert_eq!(turned(MIRROR), [0, 0, 2, 4, 2, 4, 2, 0, 0, 0, 0, 1, 2, 4, 4, 2, 4, 4, 2, 0, 4, 2, 0, 0, 0]);
        assert_eq!(turned(BORDER), [b, b, b, b, b, b, b, b, 0, 0, 0, 1, 2, 4, b, b, b, b, b, b, b, b, b, b, 0]);
    }

    #[test]
    fn a_normalised_coordinate_has_few_bits() {
        assert_eq!(index(0.2, 5, CLAMP, true), Some(0), "above 1/5, and not by enough");
        assert_eq!(index(0.2 + 0.5 / 65_536.0, 5, CLAMP, true), Some(1));
        assert_eq!(index(0.100_000_15, 100, BORDER, true), Some(9));
        assert_eq!(index(f32::from_bits(0x3e34_f47c), 60_001, CLAMP, true), Some(10_602), "10603.0097");
        assert_eq!(index(-2.399_999_9, 5, WRAP, true), Some(2));
    }

    #[test]
    fn a_border_is_as_exact_as_a_texel() {
        let all = |colours: [f32; 4], format, integer| colours.map(|colour| border(colour, format, integer));
        let odd = [0.5, -0.25, -3.0, 0.1];
        assert_eq!(all(odd, CU_AD_FORMAT_UNSIGNED_INT8, false), [0x3efe_feff, 0, 0, 0x3dc8_c8c9]);
        assert_eq!(all(odd, CU_AD_FORMAT_UNSIGNED_INT16, false), [0x3eff_ff00, 0, 0, 0x3dcc_c8cd]);
        assert_eq!(all(odd, CU_AD_FORMAT_SIGNED_INT8, false), [0x3efd_fbf8, 0xbe81_0204, 0xbf80_0000, 0x3dd1_a347]);
        assert_eq!(all(odd, CU_AD_FORMAT_SIGNED_INT16, false), [0x3eff_fe00, 0xbe80_0100, 0xbf80_0000, 0x3dcc_d19a]);
        assert_eq!(all([1e-40, 1e9, 0.1, 7.0], CU_AD_FORMAT_SIGNED_INT8, true), [0xffff_ffc2, 0x28, 0xffff_ffcd, 0]);
        let halves = [1e9, -70_000.0, 0.1, f32::NAN];
        assert_eq!(all(halves, CU_AD_FORMAT_HALF, false), [0x477f_e000, 0xc77f_e000, 0x3dcc_c000, 0x7fc0_0000]);
        assert_eq!(all([1e-40, 0.5, -0.25, 7.0], CU_AD_FORMAT_FLOAT, false)[0], 0x0001_16c2);
    }

    #[test]
    fn numbers_are_those_of_an_h200() {
        let one = |bits, format, integer| number(bits, format, integer);
        assert_eq!(one(5, CU_AD_FORMAT_UNSIGNED_INT8, false), 0x3ca0_a0a1);
        assert_eq!(one(0xf5f4, CU_AD_FORMAT_UNSIGNED_INT16, false), 0x3f75_f4f6);
        assert_eq!(one(0xf4, CU_AD_FORMAT_SIGNED_INT8, false), 0xbdc1_8306);
        assert_eq!(one(0x80, CU_AD_FORMAT_SIGNED_INT8, false), (-1.0f32).to_bits());
        assert_eq!(one(0xf4, CU_AD_FORMAT_SIGNED_INT8, true), 0xffff_fff4);
        assert_eq!(one(0xa1a0, CU_AD_FORMAT_SIGNED_INT16, false), 0xbf3c_c17a);
        assert_eq!(one(0x3c00, CU_AD_FORMAT_HALF, true), 0x3f80_0000, "halves are never integers");
        assert_eq!(one(0x7e01, CU_AD_FORMAT_HALF, false), 0x7fc0_2000);
        assert_eq!(one(0x8001, CU_AD_FORMAT_HALF, false), 0xb380_0000);
        assert_eq!(one(0x7f80_0001, CU_AD_FORMAT_FLOAT, false), 0x7f80_0001, "a NaN is not touched");
        for bits in 0..=0xffff_u16 {
            let (exponent, mantissa) = (bits >> 10 & 31, f64::from(bits & 1023));
            let value = if exponent == 0 {
                mantissa / 16_777_216.0
            } else {
                (1024.0 + mantissa) * 2f64.powi(i32::from(exponent) - 25)
            };
            let value = if bits >> 15 == 1 { -value } else { value };
            assert!(exponent == 31 || half(bits) == (value as f32).to_bits(), "{bits:#x}");
        }
    }
}

//! What instructions are given: special values against special values, edges of ranges, every 16-bit number.

use std::sync::Arc;

use crate::corpus::Random;

/// Inputs of one or several instructions.
pub type List = Arc<Vec<[u64; 3]>>;

/// f32 values that arithmetic gets wrong; NaNs with payloads, quiet and not, of both signs.
pub const F32: [u32; 30] = [
    0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fc12345, 0x7f800001, 0xff812345,
    0x7fffffff, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x3f800000,
    0xbf800000, 0x3f7fffff, 0x3f800001, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbfc00000, 0x4b000001, 0x4f000000,
    0xcf000000, 0x5f000000, 0x34000000,
];

/// As [`F32`], in double precision.
pub const F64: [u64; 26] = [
    0x0000000000000000,
    0x8000000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0xfff8000000000000,
    0x7ff8123456789abc,
    0x7ff0000000000001,
    0xfff123456789abcd,
    0x7fffffffffffffff,
    0x0000000000000001,
    0x8000000000000001,
    0x000fffffffffffff,
    0x0010000000000000,
    0x8010000000000000,
    0x3ff0000000000000,
    0xbff0000000000000,
    0x3fefffffffffffff,
    0x7fefffffffffffff,
    0xffefffffffffffff,
    0x41dfffffffe00000,
    0xc3e0000000000000,
    0x47efffffefffffff,
    0x36a0000000000001,
    0x380fffffffffffff,
    0x43efffffffffffff,
];

/// 16-bit floats of either kind: zeros, subnormals, smallest normal, around one, largest, infinities, NaNs.
pub const HALF: [u16; 44] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081,
    0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3f80, 0xbf80, 0x3f81, 0x3f7f, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00,
    0xfe00, 0x7e12, 0xfe12, 0x7fff, 0xffff, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0, 0x3555, 0x3800,
    0x5bff, 0x4200,
];

/// Every 16-bit number as the first input; the second and third are others.
pub fn every_half() -> List {
    let mut random = Random::of("every half", 0);
    Arc::new(
        (0..65536)
            .map(|bits| {
                let other = random.next();
                // The upper half of the words is for pairs: another number, not the same.
                [bits | (other >> 48) << 16, other & 0xffff_ffff, other >> 20]
            })
            .collect(),
    )
}

/// Special 16-bit floats against each other, then random ones whose sums and products round.
pub fn half_triples() -> List {
    let mut random = Random::of("half triples", 0);
    let mut all = Vec::new();
    let word = |low: u16, high: u16| u64::from(low) | u64::from(high) << 16;
    for &a in &HALF {
        for &b in &HALF {
            let (c, other) = (HALF[(random.next() % 44) as usize], random.next());
            all.push([word(a, other as u16), word(b, a), word(c, (other >> 16) as u16)]);
        }
    }
    while all.len() < 16384 {
        let bits = random.next();
        let near = (bits >> 32) as u32;
        let (a, b) = (bits as u16, (bits >> 16) as u16);
        // Half of them have exponents near each other, so that sums cancel and round.
        let (b, c) = match near & 1 {
            0 => (b, (near >> 8) as u16),
            _ => (a & 0xf000 ^ b & 0x8fff, b & 0xf000 ^ (near >> 8) as u16 & 0x8fff),
        };
        all.push([word(a, b ^ 0x1234), word(b, c), word(c, a.rotate_left(3))]);
    }
    Arc::new(all)
}

/// f32 numbers at, next to and between the values of 16-bit formats.
pub fn f32_near_halves() -> List {
    let mut random = Random::of("near halves", 0);
    let mut all: Vec<[u64; 3]> = F32.iter().map(|&a| [a.into(), random.next() & 0xffff_ffff, 0]).collect();
    // For f16: its values as f32 with the bits behind them at a tie, around it, and at random.
    for k in 0..16384u32 {
        let bits = random.next() as u32;
        let tail = [0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x1fff][(k % 6) as usize];
        let exponent = 0x3300_0000 + (bits & 0x1f) * 0x0080_0000;
        let f16 = (bits & 0x8000_0000) | (exponent + (bits >> 6 & 0x3ff) * 0x2000 + tail);
        let tail = [0x0000, 0x0001, 0x7fff, 0x8000, 0x8001, 0xffff][(k % 6) as usize];
        let bf16 = (bits & 0xffff_0000) | tail;
        let a = if k % 2 == 0 { f16 } else { bf16 };
        all.push([a.into(), random.next() & 0xffff_ffff, 0]);
    }
    Arc::new(all)
}

/// f64 numbers at, next to and between the values of 16-bit formats.
pub fn f64_near_halves() -> List {
    let narrow = f32_near_halves();
    let mut random = Random::of("near halves 64", 0);
    let mut all: Vec<[u64; 3]> = F64.iter().map(|&a| [a, 0, 0]).collect();
    all.extend(narrow.iter().map(|[a, ..]| {
        let wide = f64::from(f32::from_bits(*a as u32)).to_bits();
        let off = [0, 1, u64::MAX][(random.next() % 3) as usize];
        [if f32::from_bits(*a as u32).is_nan() { wide } else { wide.wrapping_add(off) }, 0, 0]
    }));
    Arc::new(all)
}

/// Special f32 against special f32, then products and sums next to the smallest normal number.
pub fn f32_triples() -> List {
    let mut random = Random::of("f32 triples", 0);
    let mut all = Vec::new();
    for &a in &F32 {
        for &b in &F32 {
            let c = F32[(random.next() % F32.len() as u64) as usize];
            all.push([a, b, c].map(u64::from));
        }
    }
    for k in 0..1024u32 {
        // Products that round to 2^-126 from below, or just miss it.
        let bits = random.next() as u32;
        let a = 0x3f80_0000 | bits & 0x007f_ffff;
        let near = f64::from(f32::MIN_POSITIVE) / f64::from(f32::from_bits(a));
        let b = (near as f32).to_bits().wrapping_add(k % 5).wrapping_sub(2);
        // A sum that does the same.
        let c = [0x8000_0001, 0x0000_0001, 0x8000_0000, 0x0000_0000][(k % 4) as usize];
        all.push([a, b, c].map(u64::from));
        all.push([0x0080_0000 + (bits & 7), 0x8000_0000 | bits >> 16 & 0x1f, c].map(u64::from));
    }
    Arc::new(all)
}

/// Special f64 against special f64, then random ones.
pub fn f64_triples() -> List {
    let mut random = Random::of("f64 triples", 0);
    let mut all = Vec::new();
    for &a in &F64 {
        for &b in &F64 {
            all.push([a, b, F64[(random.next() % F64.len() as u64) as usize]]);
        }
    }
    for _ in 0..512 {
        // f64 next to the smallest normal f32, for conversions that flush.
        let base = 0x3810_0000_0000_0000u64;
        all.push([base.wrapping_add(random.next() % (1 << 31)).wrapping_sub(1 << 30), random.next(), random.next()]);
    }
    Arc::new(all)
}

/// Integers at edges, all pairs; third inputs at edges too.
pub fn integers() -> List {
    const EDGES: [u64; 26] = [
        0,
        1,
        2,
        3,
        7,
        8,
        15,
        16,
        17,
        31,
        32,
        33,
        63,
        64,
        65,
        255,
        256,
        257,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_ffff_ffff,
    ];
    let mut random = Random::of("integers", 0);
    let mut all = Vec::new();
    for a in EDGES {
        for b in EDGES {
            all.push([a, b, EDGES[(random.next() % 26) as usize]]);
        }
    }
    for _ in 0..1024 {
        let (a, b, c) = (random.next(), random.next(), random.next());
        all.push([a, b, c]);
        all.push([a, b % 300, c % 300]);
    }
    Arc::new(all)
}

/// Special f32, powers of two with their neighbours, numbers of `low..high`, and random bits.
pub fn f32_for(name: &str, low: f32, high: f32) -> List {
    let mut random = Random::of(name, 1);
    let mut all: Vec<u32> = F32.to_vec();
    for exponent in 0..255u32 {
        let power = exponent << 23;
        for bits in [power, power.wrapping_sub(1), power + 1] {
            all.push(bits & 0x7fff_ffff);
            all.push(bits | 0x8000_0000);
        }
    }
    all.extend([low, high].map(f32::to_bits));
    all.extend(random.f32s(2048, low, high).iter().map(|x| x.to_bits()));
    all.extend(random.words(1024));
    Arc::new(all.iter().zip(random.words(all.len())).map(|(&a, b)| [a.into(), b.into(), 0]).collect())
}

/// Dividends and divisors: special ones in all pairs, powers of two to the ends of the range, random bits.
pub fn f32_quotients(name: &str) -> List {
    let mut random = Random::of(name, 2);
    let mut all = Vec::new();
    for &a in &F32 {
        for &b in &F32 {
            all.push([a.into(), b.into(), 0]);
        }
    }
    for exponent in 0..255u32 {
        for step in [0u32, 1, 0x7f_ffff] {
            let (a, sign) = (random.next() as u32, random.next() as u32 & 0x8000_0000);
            all.push([a.into(), (sign | exponent << 23 | step).into(), 0]);
            let ordinary = 0x3f00_0000 | a >> 7 & 0x01ff_ffff;
            all.push([ordinary.into(), (sign | exponent << 23 | step).into(), 0]);
        }
    }
    while all.len() < 4608 {
        all.push([random.next() & 0xffff_ffff, random.next() & 0xffff_ffff, 0]);
        let near = |bits: u64| 0x3e80_0000 | (bits as u32 >> 6) & 0x02ff_ffff;
        all.push([near(random.next()).into(), near(random.next()).into(), 0]);
    }
    Arc::new(all)
}

/// Special f64, powers of two, ordinary numbers, random bits.
pub fn f64_for(name: &str) -> List {
    let mut random = Random::of(name, 3);
    let mut all: Vec<u64> = F64.to_vec();
    for exponent in 0..2047u64 {
        all.push(exponent << 52 | random.next() >> 12 | (random.next() & 1) << 63);
    }
    all.extend(random.f64s(1024, 0.5, 4.0).iter().map(|x| x.to_bits()));
    all.extend(random.longs(1024));
    Arc::new(all.into_iter().map(|a| [a, 0, 0]).collect())
}

/// One 16-bit number of each eight, and all special ones; pairs in the upper half.
pub fn some_halves() -> List {
    let mut random = Random::of("some halves", 0);
    let mut all: Vec<u16> = HALF.to_vec();
    all.extend((0..8192u32).map(|k| (8 * k + (random.next() % 8) as u32) as u16));
    Arc::new(
        all.iter().enumerate().map(|(k, &a)| [u64::from(a) | u64::from(all[all.len() - 1 - k]) << 16, 0, 0]).collect(),
    )
}

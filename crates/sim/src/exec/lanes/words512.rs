//! Loads of a word or a few a lane, for a processor with AVX-512: masks are its own, and what a mask leaves out is not touched.

use std::arch::x86_64::*;

use super::super::op::{Col, NONE};
use super::Regs;
use super::rows::{LoadFrom, Loaded};
use crate::memory::bits::Bits;

/// Lanes of a vector of words.
const HALF: usize = 16;
/// The lanes of the lower half of a warp: all that a block of 16 threads has.
const LOW_HALF: u32 = 0xffff;

/// Is this for [`load`]? The addresses are 64-bit ones.
#[inline(always)]
pub(super) fn fits(from: &LoadFrom<'_>) -> bool {
    from.access.address.wide && from.access.address.base != NONE
}

/// A load of one element of 4 bytes that [`fits`] into column `d`, if every lane lies inside.
#[inline(always)]
pub(super) fn load(regs: &mut Regs<'_>, from: &LoadFrom<'_>, d: Col, mask: u32) -> Loaded {
    let (address, part) = (&from.access.address, from.part);
    let Some(data) = part.skip.checked_add(part.len).and_then(|end| from.region.data.get(part.skip..end)) else {
        return Loaded::Outside;
    };
    // Bits are looked at four together, so they must not begin in between.
    if data.len() < 4 || part.skip % 4 != 0 {
        return Loaded::Outside;
    }
    let column = &regs.r64[address.base as usize];
    let base = part.base.wrapping_sub(address.offset as u64);
    let check = (from.check && !from.region.bits.full()).then_some((&from.region.bits, part.skip));
    let (addresses, _) = column.as_chunks();
    let [low, high] = addresses else { return Loaded::Outside };
    // Nearly always two lanes of each half tell that they are neither a row nor the same.
    let apart = |half| are_apart::<1>(half);
    if mask == u32::MAX && apart(low) && apart(high) {
        // SAFETY: as below.
        return unsafe { load_apart::<2, 1>(regs, data, check, base, address.base, [d]) };
    }
    if mask == LOW_HALF && apart(low) {
        // SAFETY: as below.
        return unsafe { load_apart::<1, 1>(regs, data, check, base, address.base, [d]) };
    }
    // SAFETY: only code compiled for AVX-512 comes here, which runs only where the processor has it.
    let half = |addresses, active| unsafe { load_half(data, check, addresses, base, active) };
    let Some((low, unwritten_low)) = half(low, mask as u16) else { return Loaded::Outside };
    let Some((high, unwritten_high)) = half(high, (mask >> HALF) as u16) else { return Loaded::Outside };
    let unwritten = u32::from(unwritten_low) | u32::from(unwritten_high) << HALF;
    if unwritten != 0 {
        return Loaded::Unwritten(unwritten);
    }
    let (target, _) = regs.r32[d as usize].as_chunks_mut();
    if let [target_low, target_high] = target {
        // SAFETY: as above.
        unsafe {
            put_half(target_low, low, mask as u16);
            put_half(target_high, high, (mask >> HALF) as u16);
        }
    }
    Loaded::Done
}

/// A load of `WORDS` elements of 4 bytes a lane that [`fits`] into columns `d`, if every lane lies inside. `None`: this is not
/// for here, but for the code of every processor. That is so unless the lanes are anywhere.
#[inline(always)]
pub(super) fn load_vector<const WORDS: usize>(
    regs: &mut Regs<'_>,
    from: &LoadFrom<'_>,
    d: [Col; WORDS],
    mask: u32,
) -> Option<Loaded> {
    let (address, part) = (&from.access.address, from.part);
    let data = from.region.data.get(part.skip..part.skip.checked_add(part.len)?)?;
    let ([low, high], _) = regs.r64[address.base as usize].as_chunks() else { return None };
    // Bits are looked at as many together as a lane has bytes, so they must not begin in between.
    if data.len() < 4 * WORDS || part.skip % (4 * WORDS) != 0 || !are_apart::<WORDS>(low) {
        return None;
    }
    let base = part.base.wrapping_sub(address.offset as u64);
    let check = (from.check && !from.region.bits.full()).then_some((&from.region.bits, part.skip));
    match mask {
        u32::MAX if are_apart::<WORDS>(high) => {
            // SAFETY: only code compiled for AVX-512 comes here, which runs only where the processor has it.
            Some(unsafe { load_apart::<2, WORDS>(regs, data, check, base, address.base, d) })
        }
        LOW_HALF => {
            // SAFETY: as above.
            Some(unsafe { load_apart::<1, WORDS>(regs, data, check, base, address.base, d) })
        }
        _ => None,
    }
}

/// Do two lanes tell that accesses of so many words are neither a row nor the same? Nearly always they do, where it is so.
#[inline(always)]
fn are_apart<const WORDS: usize>(half: &[u64; HALF]) -> bool {
    ![0, 4 * WORDS as u64].contains(&half[1].wrapping_sub(half[0]))
}

/// The words at the addresses, in column `at`, of all lanes of the first `HALVES` of a warp, wherever they are, into columns
/// `d`: so many that follow each other. `data` holds as many. The rest is as for [`load_half`].
///
/// # Safety
///
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn load_apart<const HALVES: usize, const WORDS: usize>(
    regs: &mut Regs<'_>,
    data: &[u8],
    check: Option<(&Bits, usize)>,
    base: u64,
    at: Col,
    d: [Col; WORDS],
) -> Loaded {
    let (addresses, _) = regs.r64[at as usize].as_chunks();
    let Some(addresses) = addresses.first_chunk::<HALVES>() else { return Loaded::Outside };
    let bytes = 4 * WORDS;
    // SAFETY: the processor has the instructions, as the caller promises, and each half's addresses are as long as two
    // vectors.
    let is_inside = unsafe {
        let first_byte = _mm512_set1_epi64(base as i64);
        let (mut largest, mut ends) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for half in addresses {
            let places = half.as_ptr().cast::<i64>();
            let low = _mm512_sub_epi64(_mm512_loadu_epi64(places), first_byte);
            let high = _mm512_sub_epi64(_mm512_loadu_epi64(places.add(8)), first_byte);
            largest = _mm512_max_epu64(largest, _mm512_max_epu64(low, high));
            ends = _mm512_or_epi64(ends, _mm512_or_epi64(low, high));
        }
        let room = _mm512_set1_epi64(data.len().wrapping_sub(bytes) as i64);
        let odd = _mm512_set1_epi64(bytes as i64 - 1);
        _mm512_cmpgt_epu64_mask(largest, room) | _mm512_test_epi64_mask(ends, odd) == 0
    };
    if !is_inside {
        return Loaded::Outside;
    }
    if let Some((bits, skip)) = check {
        let (first_bit, whole) = ((skip as u64).wrapping_sub(base), (1 << bytes) - 1);
        let written = |address: &u64| bits.from(address.wrapping_add(first_bit) as usize);
        let lanes = addresses.as_flattened();
        if lanes.iter().fold(whole, |all, address| all & written(address)) != whole {
            let missing = lanes.iter().enumerate().filter(|(_, address)| written(address) & whole != whole);
            return Loaded::Unwritten(missing.fold(0, |lanes, (lane, _)| lanes | 1 << lane));
        }
    }
    for (word, d) in d.into_iter().enumerate().filter(|(_, d)| *d != NONE) {
        let (targets, _) = regs.r32[d as usize].as_chunks_mut::<HALF>();
        for (addresses, target) in addresses.iter().zip(targets) {
            // SAFETY: there are so many words at each of the addresses: the largest of their offsets leaves room for them. A
            // target is as long as a vector.
            unsafe {
                let words = each(data.as_ptr().add(4 * word), addresses, base);
                _mm512_storeu_epi32(target.as_mut_ptr().cast(), words);
            }
        }
    }
    Loaded::Done
}

/// The words at the addresses of the active lanes; `None` where one is outside of `data`, which begins at `base` and holds a
/// word, or not aligned to it. Gives also the lanes whose word has bytes that nobody has written, where `check` are the bits
/// of `data` and how many there are before its own.
///
/// # Safety
///
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn load_half(
    data: &[u8],
    check: Option<(&Bits, usize)>,
    addresses: &[u64; HALF],
    base: u64,
    active: u16,
) -> Option<(__m512i, u16)> {
    if active == 0 {
        // SAFETY: the processor has the instruction, as the caller promises.
        return Some((unsafe { _mm512_setzero_si512() }, 0));
    }
    let (first, lanes) = (active.trailing_zeros(), [active as u8, (active >> 8) as u8]);
    let start = addresses[first as usize & 15].wrapping_sub(base);
    // Where lane 0 would be if the lanes follow each other.
    let row = start.wrapping_sub(4 * u64::from(first));
    // SAFETY: the processor has the instructions, as the caller promises. The array of addresses is as long as two vectors.
    // Of `data`, only active lanes are read. Each of them begins at most `len - 4` behind its start: `beyond` has seen every
    // one, and the instructions do not touch what the mask leaves out.
    unsafe {
        let places = addresses.as_ptr().cast::<i64>();
        let (first_byte, base) = (base, _mm512_set1_epi64(base as i64));
        let low = _mm512_sub_epi64(_mm512_loadu_epi64(places), base);
        let high = _mm512_sub_epi64(_mm512_loadu_epi64(places.add(8)), base);
        let (room, odd) = (_mm512_set1_epi64((data.len() - 4) as i64), _mm512_set1_epi64(3));
        let beyond = |lanes, offsets| {
            _mm512_mask_cmpgt_epu64_mask(lanes, offsets, room) | _mm512_mask_test_epi64_mask(lanes, offsets, odd)
        };
        if beyond(lanes[0], low) | beyond(lanes[1], high) != 0 {
            return None;
        }
        // Nearly always two lanes tell that they are neither a row nor the same.
        let apart = active == u16::MAX && ![0, 4].contains(&addresses[1].wrapping_sub(addresses[0]));
        let mut is_row = false;
        let words = if apart {
            each(data.as_ptr(), addresses, first_byte)
        } else {
            let steps = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28);
            let differ = |lanes, offsets, expected| _mm512_mask_cmpneq_epi64_mask(lanes, offsets, expected);
            let expected = _mm512_add_epi64(_mm512_set1_epi64(row as i64), steps);
            let after = _mm512_add_epi64(expected, _mm512_set1_epi64(32));
            let one = _mm512_set1_epi64(start as i64);
            is_row = differ(lanes[0], low, expected) | differ(lanes[1], high, after) == 0;
            if is_row {
                _mm512_maskz_loadu_epi32(active, data.as_ptr().wrapping_add(row as usize).cast())
            } else if differ(lanes[0], low, one) | differ(lanes[1], high, one) == 0 {
                _mm512_set1_epi32(data.as_ptr().add(start as usize).cast::<i32>().read_unaligned())
            } else if active == u16::MAX {
                each(data.as_ptr(), addresses, first_byte)
            } else {
                gathered(data.as_ptr(), lanes, [low, high])
            }
        };
        let Some((bits, skip)) = check else { return Some((words, 0)) };
        if is_row && active == u16::MAX && bits.all(skip + row as usize, 4 * HALF) {
            return Some((words, 0));
        }
        Some((words, unwritten(bits, skip, lanes, [low, high])))
    }
}

/// The words at the addresses of all lanes, where `data` is what begins at `base`. One by one: a processor's own way to
/// gather takes twice as long.
///
/// # Safety
///
/// - The processor has AVX-512 F, and there is a word at each of these addresses.
#[inline(always)]
unsafe fn each(data: *const u8, addresses: &[u64; HALF], base: u64) -> __m512i {
    // Where an address is a distance. What is subtracted from each, the compiler subtracts from vectors, and takes out of
    // them again, which is slower; and it would take out the addresses themselves, did it know that they are the same.
    let (addresses, origin) = (std::hint::black_box(addresses), data.wrapping_sub(base as usize));
    // SAFETY: as the caller promises; what was subtracted is added again with the address.
    let word = |lane: usize| unsafe { origin.wrapping_add(addresses[lane] as usize).cast::<i32>().read_unaligned() };
    // SAFETY: as the caller promises.
    unsafe {
        _mm512_setr_epi32(
            word(0),
            word(1),
            word(2),
            word(3),
            word(4),
            word(5),
            word(6),
            word(7),
            word(8),
            word(9),
            word(10),
            word(11),
            word(12),
            word(13),
            word(14),
            word(15),
        )
    }
}

/// The words at offsets from `data` of the active lanes.
///
/// # Safety
///
/// - The processor has AVX-512 F, and there is a word at each of these offsets.
#[inline(always)]
unsafe fn gathered(data: *const u8, lanes: [u8; 2], offsets: [__m512i; 2]) -> __m512i {
    // SAFETY: as the caller promises; lanes that are not active are not read.
    unsafe {
        let none = _mm256_setzero_si256();
        let low = _mm512_mask_i64gather_epi32::<1>(none, lanes[0], offsets[0], data.cast());
        let high = _mm512_mask_i64gather_epi32::<1>(none, lanes[1], offsets[1], data.cast());
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

/// The active lanes whose word, at a multiple of 4 behind `skip`, which is one too, has bytes that nobody has written.
///
/// # Safety
///
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn unwritten(bits: &Bits, skip: usize, lanes: [u8; 2], offsets: [__m512i; 2]) -> u16 {
    let mut places = [[0u64; 8]; 2];
    // SAFETY: the processor has AVX-512 F, as the caller promises, and each array is as long as a vector.
    unsafe {
        _mm512_storeu_epi64(places[0].as_mut_ptr().cast(), offsets[0]);
        _mm512_storeu_epi64(places[1].as_mut_ptr().cast(), offsets[1]);
    }
    let mut found = 0;
    for (lane, at) in places.as_flattened().iter().enumerate() {
        let active = u16::from_le_bytes(lanes) & (1 << lane) != 0;
        if active && bits.from(skip + *at as usize) & 0xf != 0xf {
            found |= 1 << lane;
        }
    }
    found
}

/// Stores the active lanes.
///
/// # Safety
///
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn put_half(target: &mut [u32; HALF], words: __m512i, active: u16) {
    // SAFETY: the processor has the instructions, as the caller promises, and the target is as long as a vector. All of it
    // is stored: what is stored by a mask stalls whoever reads it as a vector.
    unsafe {
        let old = _mm512_loadu_epi32(target.as_ptr().cast());
        _mm512_storeu_epi32(target.as_mut_ptr().cast(), _mm512_mask_mov_epi32(old, active, words));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::op::{Address, At, LoadStore, Value};
    use super::super::dispatch::{InstructionSet, Isa};
    use super::*;
    use crate::memory::region::Region;
    use crate::memory::rows::Part;

    const BYTES: usize = 4096;
    const BASE: u64 = 0x5_0000;

    /// Addresses of one kind for all lanes, each of which loads `bytes`, and sometimes one that is wrong.
    fn column(turn: u32, bytes: u64, mut random: impl FnMut(u64) -> u64) -> [u64; 32] {
        let (start, step) = (BASE + bytes * random(600 / (bytes / 4)), bytes * random(80 / bytes));
        let mut column = std::array::from_fn(|lane| match turn % 5 {
            0 => start + bytes * lane as u64,
            1 => start,
            2 => start + step * lane as u64,
            3 => start + bytes * (lane as u64 % 16) + step * (lane as u64 / 16),
            _ => BASE + bytes * random(BYTES as u64 / bytes),
        });
        match random(12) {
            0 => column[random(32) as usize] += 1 + random(bytes - 1),
            1 => column[random(32) as usize] = BASE + BYTES as u64 - random(bytes),
            2 => column[random(32) as usize] = BASE - bytes,
            3 => column[random(32) as usize] = u64::MAX - bytes + 1,
            _ => {}
        }
        column
    }

    /// The processor must not show: what AVX-512 loads, refuses and finds unwritten is what the code for every processor
    /// does. (On a processor without it, both are the same code.)
    #[test]
    fn loads_are_those_of_every_processor() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut seen = [[0; 3]; 3];
        for turn in 0..20_000 {
            let Some(mut region) = Region::new(BYTES) else { return };
            let written = if turn % 3 == 0 { BYTES } else { 4 * random(BYTES as u64 / 4) as usize };
            for at in (0..written).step_by(4) {
                region.store(at, 4, random(1 << 31));
            }
            let mask =
                [u32::MAX, 0xffff, 0x1ff, 0xffff_0000, random(1 << 32) as u32 | 1 << random(32)][random(5) as usize];
            let words = [1, 2, 4][random(3) as usize];
            let bytes = 4 * words as i64;
            let offset = bytes * (random(5) as i64 - 2);
            let address = Address { at: At::Global, base: 0, wide: true, offset };
            let is_left_out = |word: usize| words > 1 && word == 1 && turn % 7 == 0;
            let col = |word: usize| if is_left_out(word) { NONE } else { 1 + word as Col };
            let values = (0..words).map(|word| Value { col: col(word), wide: false, short: false }).collect();
            let access = LoadStore { address, bytes: 4, signed: false, values, copied: false, word: words == 1 };
            let skip = 64 * random(2) as usize;
            let part = Part { base: BASE + skip as u64, skip, len: BYTES - skip - 4 * random(40) as usize };
            let from = LoadFrom { access: &access, addresses: None, region: &region, part, check: random(4) != 0 };
            let addresses = column(turn, bytes as u64, &mut random).map(|address| address.wrapping_sub(offset as u64));
            let run = |set: InstructionSet| {
                let (mut r32, mut r64, mut p) = ([[7; 32]; 5], [addresses], [0]);
                let mut regs = Regs { r32: &mut r32, r64: &mut r64, p: &mut p };
                let isa = Isa::at_most(set);
                let load = if words == 1 { Isa::load_word } else { Isa::load };
                let loaded = load(isa, &mut regs, &from, mask);
                (loaded, r32)
            };
            let (want, got) = (run(InstructionSet::Baseline), run(InstructionSet::Avx512));
            assert!(want == got, "turn {turn}: {mask:#x}, {addresses:x?}");
            seen[words / 2][match want.0 {
                Loaded::Done => 0,
                Loaded::Outside => 1,
                Loaded::Unwritten(_) => 2,
            }] += 1;
        }
        assert!(seen.iter().flatten().all(|times| *times > 500), "all three happen for each size: {seen:?}");
    }
}

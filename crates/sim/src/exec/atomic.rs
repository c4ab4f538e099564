//! `atom` and `red`: lane by lane, lowest lane first.
//!
//! One thread runs everything, so a read, a computation and a write in a row are atomic towards all other lanes. In host
//! memory the update is also atomic towards threads of the host.

use super::access::{cached_slot, lanes, same_window};
use super::apart;
use super::float::{half, nan, round};
use super::lanes::Regs;
use super::lanes::rows::addresses;
use super::machine::{Machine, Stop};
use super::op::{At, Atomic, Float, NONE, Rmw, Round};
use super::report::{Bad, Doing};
use super::warp::Fragment;
use super::window;
use crate::memory::Backing;

impl Machine<'_> {
    /// Runs an atomic.
    #[inline(never)]
    pub(super) fn atomic(&mut self, index: u32, regs: &mut Regs<'_>, fragment: &Fragment, mask: u32) -> Stop<()> {
        let atomic = self.code.atomics[index as usize];
        let mut addresses = addresses(regs, &atomic.address);
        let mut rest = mask;
        while rest != 0 {
            let (group, start) = match atomic.address.at {
                At::Generic => same_window(&mut addresses, rest),
                At::Shared => (rest, window::SHARED),
                _ => (rest, 0),
            };
            rest &= !group;
            for lane in lanes(group) {
                let address = addresses[lane];
                match start {
                    window::SHARED => {
                        let bytes = u64::from(atomic.bytes);
                        let len = self.shared.len() as u64;
                        let fits = len.checked_sub(bytes).is_some_and(|room| address <= room);
                        if !fits || !address.is_multiple_of(bytes) {
                            return Err(self.bad_atomic(fragment, 1 << lane, &addresses, &atomic, Bad::Shared));
                        }
                        let at = address as usize;
                        if self.watched {
                            self.watch_shared_atomic(fragment.pc, lane, at, bytes as usize);
                        }
                        if self.uninitialised && atomic.op != Rmw::Exchange && !self.shared.bits.all(at, bytes as usize)
                        {
                            let what = "updates shared memory that nothing has written";
                            let help = "set the variable to a value first, and synchronise";
                            self.note("uninitialised-read", fragment.pc, lane, what, help);
                        }
                        let old = self.shared.load(at, bytes as usize);
                        let new = apply(&atomic, false, old, operand(regs, &atomic, atomic.a, lane), || {
                            operand(regs, &atomic, atomic.b, lane)
                        });
                        self.shared.store(at, bytes as usize, new);
                        self.progress.effects += 1;
                        put(regs, &atomic, lane, old);
                    }
                    0 => self.atomic_global(index, &atomic, &addresses, lane, regs, fragment)?,
                    _ => return Err(self.bad_atomic(fragment, 1 << lane, &addresses, &atomic, Bad::ReadOnly)),
                }
            }
        }
        Ok(())
    }

    fn atomic_global(
        &mut self,
        index: u32,
        atomic: &Atomic,
        addresses: &[u64; 32],
        lane: usize,
        regs: &mut Regs<'_>,
        fragment: &Fragment,
    ) -> Stop<()> {
        let address = addresses[lane];
        let bytes = usize::from(atomic.bytes);
        if self.watched {
            self.watch_global_atomic(index, fragment.pc, addresses, lane, atomic.bytes.into());
        }
        let slot = cached_slot(self.memory, &mut self.progress.atomic_slots[index as usize], address);
        let fits = slot.and_then(|slot| self.memory.slot(slot)).is_some_and(|slot| {
            address.is_multiple_of(bytes as u64) && address - slot.base + bytes as u64 <= slot.bytes
        });
        if fits {
            self.check_declared(fragment.pc, 1 << lane, addresses, bytes as u64, Doing::Update);
        }
        let Some(slot) = slot.filter(|_| fits).and_then(|slot| self.memory.slot_mut(slot)) else {
            if address.is_multiple_of(bytes as u64)
                && let Some(owner) = self.memory.passes(address, bytes as u64)
            {
                self.passed_beyond(fragment, 1 << lane, addresses, bytes as u64, Doing::Update);
                let mut raw = [0; 8];
                self.memory.read_beyond(owner, address, &mut raw[..bytes]);
                let old = u64::from_le_bytes(raw);
                let a = operand(regs, atomic, atomic.a, lane);
                let new = apply(atomic, true, old, a, || operand(regs, atomic, atomic.b, lane));
                self.memory.write_beyond(owner, address, &new.to_le_bytes()[..bytes]);
                put(regs, atomic, lane, old);
                self.progress.effects += 1;
                return Ok(());
            }
            return Err(self.bad_atomic(fragment, 1 << lane, addresses, atomic, Bad::Address));
        };
        let at = (address - slot.base) as usize;
        let a = operand(regs, atomic, atomic.a, lane);
        let b = || operand(regs, atomic, atomic.b, lane);
        let (mut unwritten, mut waits) = (false, false);
        let old = match &mut slot.backing {
            Backing::Device(region) => {
                unwritten = atomic.op != Rmw::Exchange && !region.bits.all(at, bytes);
                let old = region.load(at, bytes);
                region.store(at, bytes, apply(atomic, true, old, a, b));
                old
            }
            // Blocks that run apart do not see each other's updates.
            Backing::Lent(_) => return Err(apart::refused()),
            // An update of host memory that changes nothing is a look at it.
            Backing::Host(host) => host.update(at, bytes, |old| {
                let new = apply(atomic, true, old, a, b);
                waits = new == old;
                new
            }),
        };
        put(regs, atomic, lane, old);
        match waits {
            true => self.progress.saw_host_by_atomic(index, address, old),
            false => self.progress.effects += 1,
        }
        if unwritten && self.uninitialised {
            let what = format!(
                "updates {bytes} bytes that nothing has written, at {address:#x}, {}",
                self.memory.describe(address)
            );
            self.note("uninitialised-read", fragment.pc, lane, &what, "write the memory first: a memset or a copy");
        }
        Ok(())
    }
}

fn operand(regs: &Regs<'_>, atomic: &Atomic, column: u16, lane: usize) -> u64 {
    if atomic.bytes == 8 { regs.r64[column as usize][lane] } else { regs.r32[column as usize][lane].into() }
}

fn put(regs: &mut Regs<'_>, atomic: &Atomic, lane: usize, old: u64) {
    if atomic.d == NONE {
    } else if atomic.bytes == 8 {
        regs.r64[atomic.d as usize][lane] = old;
    } else {
        regs.r32[atomic.d as usize][lane] = old as u32;
    }
}

/// The new value.
fn apply(atomic: &Atomic, global: bool, old: u64, a: u64, b: impl Fn() -> u64) -> u64 {
    let wide = atomic.bytes == 8;
    let half_add = |brain: bool, x: u16, y: u16| {
        let mode = half::Mode { brain, ftz: false, sat: false, relu: false, xorsign: false };
        half::arithmetic(Float::Add, mode, x, y, 0)
    };
    let pair_add = |brain: bool| {
        let low = half_add(brain, old as u16, a as u16);
        let high = half_add(brain, (old >> 16) as u16, (a >> 16) as u16);
        u64::from(low) | u64::from(high) << 16
    };
    match atomic.op {
        Rmw::Add if wide => old.wrapping_add(a),
        Rmw::Add => (old as u32).wrapping_add(a as u32).into(),
        Rmw::AddF32 => {
            // Sums in global memory flush subnormals, those in shared memory do not (PTX ISA, `atom`; an H200 too).
            let flush = |x: f32| if global { round::flush(x) } else { x };
            let [x, y] = [old, a].map(|bits| flush(f32::from_bits(bits as u32)));
            nan::f32_bits(flush(round::add_f32(x, y, Round::Nearest))).into()
        }
        Rmw::AddF64 => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(a));
            match (x.is_nan(), y.is_nan()) {
                // Handed on as it is, not even made quiet (settled on an H200).
                (_, true) => a,
                (true, false) => old,
                (false, false) => nan::f64_bits(x + y, [x, y, 0.0]),
            }
        }
        Rmw::AddF16 => half_add(false, old as u16, a as u16).into(),
        Rmw::AddBf16 => half_add(true, old as u16, a as u16).into(),
        Rmw::AddF16x2 => pair_add(false),
        Rmw::AddBf16x2 => pair_add(true),
        Rmw::And => old & a,
        Rmw::Or => old | a,
        Rmw::Xor => old ^ a,
        Rmw::MinS if wide => (old as i64).min(a as i64) as u64,
        Rmw::MinS => ((old as i32).min(a as i32) as u32).into(),
        Rmw::MaxS if wide => (old as i64).max(a as i64) as u64,
        Rmw::MaxS => ((old as i32).max(a as i32) as u32).into(),
        Rmw::MinU => old.min(a),
        Rmw::MaxU => old.max(a),
        Rmw::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        Rmw::Dec => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        Rmw::Exchange => a,
        Rmw::CompareExchange => {
            if old == a {
                b()
            } else {
                old
            }
        }
    }
}

//! Whose memory it is, and who may touch it, where several devices share the address space.
//!
//! - Every allocation has a [`Home`]. Host memory is at home with everybody.
//! - While a device works, memory has its [`View`]: what the device has no access to is not found, as if nothing were there,
//!   and the error says what it is. Without a view all of it is there: so copies, which need no access, and all work of a
//!   machine of one device.
//!
//! **Invariant:** with one device there is no view.

use std::sync::Arc;

use super::texture::Texture;
use super::{Kind, Memory};

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// The device whose memory it is, or whose context has asked for memory of the host.
    pub(crate) device: usize,
    /// The number of the context it was made in: its peers may touch it. 0 where access is given to devices alone.
    pub(crate) context: u64,
    /// The devices that may touch it, a bit for each.
    pub(crate) reach: u64,
}

impl Default for Home {
    /// Of the one device there is.
    fn default() -> Home {
        Home { device: 0, context: 0, reach: u64::MAX }
    }
}

impl Home {
    /// Memory of a context: its device may touch it, and the contexts that have enabled access to this one.
    pub(crate) fn of_context(device: usize, context: u64) -> Home {
        Home { device, context, reach: bit(device) }
    }

    /// Memory of a device, with all devices that may touch it.
    pub(crate) fn of_device(device: usize, reach: u64) -> Home {
        Home { device, context: 0, reach }
    }

    /// Memory of the host.
    pub(crate) fn of_host(device: usize) -> Home {
        Home { device, context: 0, reach: u64::MAX }
    }
}

/// The bit of a device in [`Home::reach`].
pub(crate) fn bit(device: usize) -> u64 {
    1 << device
}

/// Who touches memory now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) device: usize,
    /// The number of the context in which it works.
    pub(crate) context: u64,
    /// The numbers of the contexts whose memory that one may touch.
    pub(crate) peers: Vec<u64>,
}

impl View {
    pub(crate) fn sees(&self, home: &Home) -> bool {
        home.reach & bit(self.device) != 0 || home.context != 0 && self.peers.contains(&home.context)
    }
}

impl Memory {
    /// From now on there are so many devices, each with as much memory as the first.
    pub(crate) fn set_devices(&mut self, count: usize) {
        self.used = vec![0; count];
        self.used_by_graphs = vec![0; count];
    }

    pub(crate) fn has_several_devices(&self) -> bool {
        self.used.len() > 1
    }

    /// Somebody begins to touch memory, or nobody does any more.
    pub(crate) fn look_as(&mut self, view: Option<View>) {
        self.view = view;
    }

    /// Whose memory is that a kernel asks for now.
    pub(super) fn home_of_view(&self) -> Home {
        self.view.as_ref().map_or(Home::default(), |view| Home::of_context(view.device, view.context))
    }

    /// Whether who touches memory now may touch this slot.
    #[inline(always)]
    pub(super) fn is_in_view(&self, index: u32) -> bool {
        self.view.is_none() || self.is_seen(index)
    }

    #[inline(never)]
    fn is_seen(&self, index: u32) -> bool {
        let slot = self.slots.get(index as usize);
        self.view.as_ref().is_none_or(|view| slot.is_none_or(|slot| view.sees(&slot.home)))
    }

    /// Whose memory `address` lies in.
    pub(crate) fn home_at(&self, address: u64) -> Option<Home> {
        let (base, index) = self.by_base.range(..=address).next_back()?;
        let slot = &self.slots[*index as usize];
        (address - base < slot.bytes).then_some(slot.home)
    }

    /// Whether `address` lies in memory that is there, and out of reach of who touches memory now.
    pub(super) fn is_hidden(&self, address: u64) -> bool {
        let seen = |view: &View| self.home_at(address).is_none_or(|home| view.sees(&home));
        self.view.as_ref().is_some_and(|view| !seen(view))
    }

    /// The texture or surface object of this handle: each device has its own.
    pub(crate) fn texture(&self, handle: u64) -> Option<&Arc<Texture>> {
        let is_own = |texture: &&Arc<Texture>| self.view.as_ref().is_none_or(|view| view.device == texture.device);
        self.textures.get(&handle).filter(is_own)
    }

    /// Other devices may touch the allocation that begins at `base`.
    pub(crate) fn set_reach(&mut self, base: u64, reach: u64) {
        if let Some(index) = self.by_base.get(&base) {
            self.slots[*index as usize].home.reach = reach;
        }
    }

    /// Says who has no access to what at `address`, and what gives it; `None` where nothing is out of reach.
    pub(crate) fn out_of_reach(&self, address: u64) -> Option<(String, &'static str)> {
        let view = self.view.as_ref().filter(|_| self.is_hidden(address))?;
        let found = self.containing(address)?;
        let what = match found.device.filter(|home| *home != view.device) {
            Some(home) => format!("device {} works here, and has no access to memory of device {home}", view.device),
            None => format!("device {} works here, and was given no access", view.device),
        };
        let help = match found.kind {
            Kind::Pool => {
                "give the device access to the pool with cuMemPoolSetAccess; cuCtxEnablePeerAccess does not reach pools"
            }
            Kind::Mapped => "name the device in cuMemSetAccess; cuCtxEnablePeerAccess does not reach mapped memory",
            Kind::Graph => "name the device in `accessDescs` of the allocation node",
            _ => {
                "call cuCtxEnablePeerAccess with the other device's context, in the context that runs this, or copy first"
            }
        };
        Some((what, help))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AccessErrorKind, MemoryOptions, Request};
    use super::*;

    fn view(device: usize, context: u64, peers: &[u64]) -> Option<View> {
        Some(View { device, context, peers: peers.to_vec() })
    }

    #[test]
    fn a_device_finds_its_own_memory_and_that_of_peers() {
        let mut m = Memory::new(MemoryOptions { capacity: 1 << 20, seed: 3 });
        m.set_devices(2);
        let request = |label| Request { bytes: 64, align: 256, kind: Kind::Device, label };
        let own = m.alloc_for(Home::of_context(0, 1), request("own")).expect("fits");
        let other = m.alloc_for(Home::of_context(1, 2), request("other")).expect("fits");
        assert!(m.check(own, 64).is_ok() && m.check(other, 64).is_ok(), "without a view all is there");
        m.look_as(view(0, 1, &[]));
        assert!(m.check(own, 64).is_ok());
        let error = m.check(other + 4, 4).expect_err("out of reach");
        assert_eq!(error.kind, AccessErrorKind::PeerAccess);
        assert!(error.what.starts_with("byte 4 of `other` of device 1 (64 bytes at 0x"), "{}", error.what);
        assert!(m.write(other, &[1]).is_err() && m.fill(other, &[0], 4).is_err());
        m.look_as(view(0, 1, &[2]));
        assert!(m.check(other, 64).is_ok(), "a peer's");
        m.look_as(view(0, 3, &[]));
        assert!(m.check(own, 64).is_ok(), "another context of the same device");
        m.look_as(view(1, 2, &[]));
        assert!(m.check(own, 64).is_err());
        m.set_reach(own, bit(0) | bit(1));
        assert!(m.check(own, 64).is_ok(), "as of a pool");
    }

    #[test]
    fn each_device_has_its_own_capacity() {
        let mut m = Memory::new(MemoryOptions { capacity: 100, seed: 3 });
        m.set_devices(2);
        let request = Request { bytes: 80, align: 256, kind: Kind::Device, label: "" };
        m.alloc_for(Home::of_context(0, 1), request).expect("fits");
        assert!(m.alloc_for(Home::of_context(0, 1), request).is_err());
        m.alloc_for(Home::of_context(1, 2), request).expect("fits on the other");
        assert_eq!((m.used_on(0), m.used_on(1)), (80, 80));
    }
}

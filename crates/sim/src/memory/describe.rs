//! Sentences about addresses, for reports: what lies there, or what lies nearest.

use super::ranges::RangeKind;
use super::{Allocation, Kind, Memory};

impl Memory {
    /// Says what lies at `address`, in words that continue "the address is ...".
    ///
    /// "inside `y`, freed", "12 bytes past the end of `x` (4096 bytes at 0x…)": the nearest allocation, live or
    /// freed, and the distance to it.
    pub fn describe(&self, address: u64) -> String {
        if let Some(found) = self.containing(address) {
            return format!("byte {} of {}", address - found.base, name(found));
        }
        if let Some(overrun) = self.overrun(address) {
            return format!("{} past the end of {}", count(address - (overrun.base + overrun.bytes)), name(overrun));
        }
        if let Some(freed) = self.freed_at(address) {
            return format!("inside {}, freed", name(freed));
        }
        if address < 0x1_0000 {
            return match address {
                0 => "a null pointer".to_string(),
                n => format!("a null pointer plus {n} bytes"),
            };
        }
        if let Some((base, bytes, kind)) = self.range_at(address) {
            return match kind {
                RangeKind::Graph => {
                    format!("inside graph memory of {bytes} bytes at {base:#x}, which no launch has allocated yet")
                }
                RangeKind::Reserved => format!("inside {bytes} reserved bytes at {base:#x}, where nothing is mapped"),
                RangeKind::NoAccess => {
                    format!("inside {bytes} mapped bytes at {base:#x}, which cuMemSetAccess gave nobody access to")
                }
            };
        }
        let below = self.live_below(address).map(|a| (address - (a.base + a.bytes), a, true));
        let above = self.live_above(address).map(|a| (a.base - address, a, false));
        let nearest = match (below, above) {
            (Some(b), Some(a)) => Some(if b.0 <= a.0 { b } else { a }),
            (b, a) => b.or(a),
        };
        match nearest {
            Some((distance, found, true)) => format!("{} past the end of {}", count(distance), name(found)),
            Some((distance, found, false)) => format!("{} before {}", count(distance), name(found)),
            None => "in no allocation; none is live".to_string(),
        }
    }
}

fn count(bytes: u64) -> String {
    match bytes {
        0 => "right".to_string(),
        1 => "1 byte".to_string(),
        n => format!("{n} bytes"),
    }
}

pub(super) fn name(a: &Allocation) -> String {
    let size = match a.bytes {
        1 => "1 byte".to_string(),
        n => format!("{n} bytes"),
    };
    let whose = a.device.map(|device| format!(" of device {device}")).unwrap_or_default();
    match a.label.as_str() {
        "" if a.kind == Kind::Graph => format!("graph memory{whose} of {size} at {:#x}", a.base),
        "" => format!("an allocation{whose} of {size} at {:#x}", a.base),
        label => format!("`{label}`{whose} ({size} at {:#x})", a.base),
    }
}

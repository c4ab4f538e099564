//! Partners: those without whom some work does not end.
//!
//! A collective ends when every rank has come. So whoever launches one, and whoever waits for one, asks whether the others are
//! there. What a partner is, the device does not know: a communicator is one ([`collective`](crate::collective)).

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dacapo_ledger::Lane;

use crate::device::{Cuda, Device, Named, Needed};
use crate::error::Result;

/// An op that all partners must have alike.
pub(crate) struct JointOp {
    /// What is done.
    pub(crate) what: String,
    /// How errors name it.
    pub(crate) named: String,
    /// Where it was made.
    pub(crate) at: &'static Location<'static>,
}

/// Somebody that work of this device is done with.
pub(crate) trait Partner: Send + Sync {
    /// # Errors
    ///
    /// - It is dead: with what killed it.
    fn expect_alive(&self) -> Result<()>;

    /// Makes sure that the others have recorded the same: these ops, in this order.
    ///
    /// # Errors
    ///
    /// - They have not, or one of them did not answer.
    fn agree(&self, ops: &[JointOp]) -> Result<()>;
}

impl Named {
    /// # Errors
    ///
    /// - A partner of this launch is dead.
    pub(crate) fn expect_partners(&self) -> Result<()> {
        self.partners.iter().filter_map(|needed| needed.with.upgrade()).try_for_each(|partner| partner.expect_alive())
    }

    /// Whether this is one of the launch's partners.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators ask it"))]
    pub(crate) fn needs(&self, partner: &Arc<dyn Partner>) -> bool {
        self.needed(partner).is_some()
    }

    /// The launch with its ops that are done with this partner, if there are any.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators ask it"))]
    pub(crate) fn with_ops_of(&self, partner: &Arc<dyn Partner>) -> Option<String> {
        let needed = self.needed(partner)?;
        let ops = if needed.ops.is_empty() { String::new() } else { format!(", which needs it for {}", needed.ops) };
        Some(format!("{self}{ops}"))
    }

    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators ask it"))]
    fn needed(&self, partner: &Arc<dyn Partner>) -> Option<&Needed> {
        self.partners.iter().find(|needed| std::ptr::addr_eq(needed.with.as_ptr(), Arc::as_ptr(partner)))
    }
}

impl Device {
    /// From now on, whoever launches or waits asks whether the partners concerned are alive.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators say it"))]
    pub(crate) fn has_lost_partner(&self) {
        self.0.partner_died.store(true, Ordering::Release);
    }

    /// What somebody waited for on this lane is over. Is it done?
    ///
    /// # Errors
    ///
    /// - It ended because a partner died: what it should have written is not there. So it stays for this lane: nobody can
    ///   say of what came later what it was computed from.
    #[inline]
    pub(crate) fn expect_partners_of(&self, lane: &Lane<Cuda>) -> Result<()> {
        match self.0.partner_died.load(Ordering::Acquire) {
            false => Ok(()),
            true => lane.stream().notes.in_flight().iter().try_for_each(|name| name.expect_partners()),
        }
    }
}

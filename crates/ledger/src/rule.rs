//! The rules of the protocol, by name, each of which can be switched off to see that a test notices.
//!
//! In a normal build [`holds`] is the constant `true` and the switch does not exist. Built with
//! `--cfg dacapo_mutants`, the environment variable `DACAPO_RULE_OFF` names one rule that does not hold;
//! `cargo xtask mutants` goes through all of them.

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One rule of the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule { $($(#[$doc])* $name,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// Its name, as the switch spells it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Rule::$name => stringify!($name),)* }
            }
        }
    };
}

rules! {
    /// A read waits for the writes before it.
    ReadAfterWrite,
    /// A write waits for the reads before it.
    WriteAfterRead,
    /// A write waits for the writes before it.
    WriteAfterWrite,
    /// A touch waits for the last launch of each set that conflicts with it.
    SetCellsSeenByTouches,
    /// A launch waits for the last launch of each other set that conflicts with it.
    SetCellsSeenByLaunches,
    /// A launch waits for the touches of its members.
    TouchesSeenByLaunches,
    /// A launch on another lane than the last one waits for that last one: the cell has room for one use only.
    OwnCellOnOtherLane,
    /// A set counts as clean only on the lane of its cell.
    CleanOnlyOnItsLane,
    /// A touch makes the sets it conflicts with dirty.
    DirtyOnTouch,
    /// A launch that looks at its members makes the other sets it conflicts with dirty.
    DirtyOnLaunch,
    /// What a set reads and writes counts as written.
    WriteWins,
    /// The last launch of a removed set stays known to its members.
    FoldCellOnRemove,
    /// A folded cell joins what its members know, and replaces nothing: it may be older.
    FoldReplacesNothing,
    /// Removed memory is free only after its reads.
    FreeAfterReads,
    /// Removed memory is free only after its writes.
    FreeAfterWrites,
    /// Removed memory is free only after the launches of the sets it is in.
    FreeAfterLaunches,
    /// A lane that is ordered after uses waits for each of them.
    OrderAfterWaits,
    /// Of several uses on a lane the latest is the one to wait for.
    LatestPerLane,
    /// What has no event gets one before it is waited for; it is not passed over.
    CoverBeforeWait,
    /// Who covers another lane's work holds no other lane's lock.
    CoverAlone,
    /// A covering event is recorded under the lane's lock.
    CoverUnderLaneLock,
    /// A covering event covers what was enqueued when it was recorded, and nothing later.
    CoverOnlyUpToNow,
    /// The lane's lock is held until the work is on the stream.
    LaneLockHeldOverEnqueue,
    /// A submit's own event is recorded behind its work.
    EventAfterWork,
    /// After waiting, a submit looks again at what conflicts, before it enters its use.
    LookAgainAfterWaiting,
    /// A use is entered before its work is enqueued.
    EnteredBeforeEnqueue,
    /// A use whose enqueue failed stays entered.
    UseEnteredOnFailure,
    /// A lane's clock says no more than was waited for.
    ClockNotAheadOfWaits,
    /// A wait that was refused does not count.
    RefusedWaitDoesNotCount,
    /// Finishing a use finishes it and what is before it, and nothing later.
    FinishedOnlyUpTo,
    /// What a host access waits for is on its stream when the host learns of it.
    HostSeesOnlyEnqueued,
    /// While one user lane is in use, no submit records an event.
    NoEventOnOneLane,
    /// From the second user lane on, each submit on a user lane has an event of its own.
    EventFromSecondLane,
    /// Internal lanes do not count as used streams.
    InternalLanesDoNotCount,
    /// A lane does not wait for itself.
    NoWaitOnOwnLane,
    /// A lane does not wait for what is finished.
    NoWaitForFinished,
    /// A lane does not wait twice for the same position.
    NoWaitTwice,
    /// A clean launch on the lane of its cell looks at no member.
    CleanLaunchLooksAtNothing,
}

/// Whether a rule holds: always.
#[cfg(not(dacapo_mutants))]
#[inline(always)]
pub(crate) const fn holds(_: Rule) -> bool {
    true
}

/// Whether every rule holds: always.
#[cfg(not(dacapo_mutants))]
#[inline(always)]
pub(crate) const fn all_hold() -> bool {
    true
}

/// Whether every rule holds: if `DACAPO_RULE_OFF` names none.
#[cfg(dacapo_mutants)]
pub(crate) fn all_hold() -> bool {
    Rule::ALL.iter().all(|rule| holds(*rule))
}

/// Whether a rule holds: all but the one that `DACAPO_RULE_OFF` names.
#[cfg(dacapo_mutants)]
pub(crate) fn holds(rule: Rule) -> bool {
    static OFF: std::sync::OnceLock<Option<Rule>> = std::sync::OnceLock::new();
    let off = OFF.get_or_init(|| {
        let name = std::env::var("DACAPO_RULE_OFF").ok().filter(|name| !name.is_empty())?;
        let named = Rule::ALL.iter().copied().find(|rule| rule.name() == name);
        Some(named.unwrap_or_else(|| panic!("DACAPO_RULE_OFF={name}: there is no such rule")))
    });
    *off != Some(rule)
}

//! Where the ranks of a communicator meet: what each offers, what fits together, what can never fit.
//!
//! - A rank offers one piece of work at a time: the calls of a group, or one call. It has its results when every call of
//!   the piece has met its others.
//! - Collectives meet in the order in which each rank offers them. Of pieces at the same place all must say the same; that is
//!   judged when every rank has come, so that what is said does not depend on who is first.
//! - A send meets the first receive of its peer that names the sender, in the order of the calls.
//! - Ranks that wait for each other in a circle will wait for ever: that is found at once.
//!
//! Here is neither a machine nor a socket: the ranks of one machine meet in one of these, and so do those of several, in the
//! process that made their id.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::content::Content;
use super::report::{self, Trouble};
use super::transfer::{Kind, Said};
use crate::detect::order::Node;

/// What a call has brought a rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// What comes into its receive buffer, if it has one: a part of this.
    pub(crate) part: Option<(Arc<Content>, Range<usize>)>,
    /// The begins that its end comes after, where that is asked for.
    pub(crate) after: Vec<Arc<Node>>,
}

impl Outcome {
    pub(crate) fn data(&self) -> &[u8] {
        self.part.as_ref().map_or(&[], |(content, part)| &content.bytes()[part.clone()])
    }

    /// What nobody has written of it.
    pub(crate) fn unwritten(&self) -> impl Iterator<Item = Range<u64>> {
        self.part.iter().flat_map(|(content, part)| content.unwritten(part.clone()))
    }
}

/// Why a rank comes no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It has destroyed its communicator, and all its work is done.
    Left,
    Aborted,
    /// With the reason, as the end of a sentence that begins with the rank.
    Lost(String),
}

/// A call of a piece of work.
struct Part {
    said: Said,
    data: Arc<Content>,
    outcome: Option<Outcome>,
}

/// What a rank has come with.
struct Offer {
    parts: Vec<Part>,
    since: Instant,
    /// Its begin, where the order of tasks is asked for.
    mark: Option<Arc<Node>>,
}

#[derive(Default)]
pub(crate) struct Seat {
    offer: Option<Offer>,
    /// Pieces with a collective in them that it has offered.
    pub(crate) begun: u64,
    /// The last call that it has offered.
    pub(crate) last: Option<Said>,
    pub(crate) gone: Option<Gone>,
}

/// The meeting of one communicator.
pub(crate) struct Meeting {
    pub(crate) seats: Vec<Seat>,
    pub(crate) trouble: Option<Trouble>,
    patience: Duration,
}

/// Results that are there: of which rank, one for each call of its piece.
pub(crate) type Done = Vec<(u32, Vec<Outcome>)>;

impl Meeting {
    pub(crate) fn new(ranks: u32, patience: Duration) -> Meeting {
        Meeting { seats: (0..ranks).map(|_| Seat::default()).collect(), trouble: None, patience }
    }

    fn ranks(&self) -> u32 {
        self.seats.len() as u32
    }

    /// A rank comes with a piece of work. After trouble nothing meets any more.
    pub(crate) fn offer(&mut self, rank: u32, said: Vec<(Said, Content)>, mark: Option<Arc<Node>>) -> Done {
        let seat = &mut self.seats[rank as usize];
        if said.iter().any(|(said, _)| !said.told.kind.is_pair()) {
            seat.begun += 1;
        }
        seat.last = said.last().map(|(said, _)| said.clone());
        let part = |(said, data)| Part { said, data: Arc::new(data), outcome: None };
        seat.offer = Some(Offer { parts: said.into_iter().map(part).collect(), since: Instant::now(), mark });
        self.settle()
    }

    /// A rank is gone; the others have nothing to hope for from it.
    pub(crate) fn leave(&mut self, rank: u32, gone: Gone) {
        let seat = &mut self.seats[rank as usize];
        seat.gone.get_or_insert(gone.clone());
        seat.offer = None;
        if self.trouble.is_none() && self.have_all_come() {
            self.trouble = self.disagreement();
        }
        // Who aborts says that it comes no more. Whether somebody waits for it by now is luck, and makes no mistake of it.
        if gone != Gone::Aborted {
            self.miss_the_gone();
        }
        if gone != Gone::Left && self.trouble.is_none() {
            self.trouble = Some(report::gone(rank, &gone));
        }
    }

    /// Whether every rank has gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.seats.iter().all(|seat| seat.gone.is_some())
    }

    /// Somebody looks at the clock.
    pub(crate) fn judge(&mut self, now: Instant) {
        self.miss_the_gone();
        if let Some((rank, missing)) = self.overdue(now) {
            let told = self.disagreement();
            self.trouble = told.or_else(|| Some(report::missing(self, rank, missing, Some(self.patience))));
        }
    }

    /// A rank that has waited for too long, and one that it waits for that has not come.
    pub(crate) fn overdue(&self, now: Instant) -> Option<(u32, u32)> {
        if self.trouble.is_some() {
            return None;
        }
        let is_over = |offer: &Offer| now.saturating_duration_since(offer.since) > self.patience;
        let rank = (0..self.ranks()).find(|rank| self.offer_of(*rank).is_some_and(is_over))?;
        let missing = self.reached_from(rank).into_iter().find(|other| self.offer_of(*other).is_none())?;
        Some((rank, missing))
    }

    /// Whether a rank waits here for that one, which has not come.
    pub(crate) fn waits_in_vain(&self, rank: u32, other: u32) -> bool {
        self.trouble.is_none() && self.offer_of(other).is_none() && self.reached_from(rank).contains(&other)
    }

    /// Whether every rank has come with something, or is gone.
    fn have_all_come(&self) -> bool {
        self.seats.iter().all(|seat| seat.offer.is_some() || seat.gone.is_some())
    }

    /// The ranks that have come with the same collectives as one of two that do not agree, and with which.
    pub(crate) fn who_agrees(&self, one: u32, other: u32) -> Vec<(u32, u32)> {
        let calls = |rank: u32| self.collectives(rank).map(|(_, part)| part.said.told).collect::<Vec<_>>();
        let rest = (0..self.ranks()).filter(|rank| ![one, other].contains(rank) && self.offer_of(*rank).is_some());
        rest.filter_map(|rank| Some((rank, [one, other].into_iter().find(|with| calls(*with) == calls(rank))?)))
            .collect()
    }

    fn offer_of(&self, rank: u32) -> Option<&Offer> {
        self.seats.get(rank as usize)?.offer.as_ref()
    }

    /// The calls of a rank's piece that have not met their others.
    pub(crate) fn open_calls(&self, rank: u32) -> impl Iterator<Item = &Said> {
        self.offer_of(rank).into_iter().flat_map(|offer| &offer.parts).filter(|p| p.outcome.is_none()).map(|p| &p.said)
    }

    /// Lets meet what fits; the results of pieces that are whole.
    fn settle(&mut self) -> Done {
        if self.trouble.is_some() {
            return Vec::new();
        }
        let disagreement = self.have_all_come().then(|| self.disagreement()).flatten();
        if let Some(trouble) = disagreement.or_else(|| self.meet_pairs()) {
            self.trouble = Some(trouble);
            return Vec::new();
        }
        self.meet_all();
        let mut done = Vec::new();
        for (rank, seat) in self.seats.iter_mut().enumerate() {
            if seat.offer.as_ref().is_some_and(|offer| offer.parts.iter().all(|part| part.outcome.is_some())) {
                let parts = seat.offer.take().map(|offer| offer.parts).unwrap_or_default();
                done.push((rank as u32, parts.into_iter().filter_map(|part| part.outcome).collect()));
            }
        }
        self.miss_the_gone();
        if self.trouble.is_none() {
            self.trouble = self.circle().map(|(one, other)| report::circle(self, one, other));
        }
        done
    }

    /// Two ranks whose collectives at this place of the order are not the same.
    fn disagreement(&self) -> Option<Trouble> {
        let mut with = (0..self.ranks()).filter(|rank| self.collectives(*rank).next().is_some());
        let first = with.next()?;
        for other in with {
            let (mut a, mut b) = (self.collectives(first), self.collectives(other));
            loop {
                match (a.next(), b.next()) {
                    (None, None) => break,
                    (Some((_, a)), Some((_, b))) if a.said.told == b.said.told => {}
                    (a, b) => {
                        let side = |part: Option<(usize, &Part)>| part.map(|(_, part)| part.said.clone());
                        return Some(report::mismatch(self, (first, side(a)), (other, side(b))));
                    }
                }
            }
        }
        None
    }

    /// The collectives of a rank's piece that have not met their others, with their places in it.
    ///
    /// Those that have met are of a place before: a send of the same group may still wait while the others go on.
    fn collectives(&self, rank: u32) -> impl Iterator<Item = (usize, &Part)> {
        let parts = self.offer_of(rank).into_iter().flat_map(|offer| &offer.parts).enumerate();
        parts.filter(|(_, part)| part.outcome.is_none() && !part.said.told.kind.is_pair())
    }

    /// The first open call of this kind, of a rank, that names `other`.
    fn first_open(&self, rank: u32, kind: Kind, other: u32) -> Option<usize> {
        let is_it =
            |part: &Part| part.outcome.is_none() && part.said.told.kind == kind && part.said.told.other == other;
        self.offer_of(rank)?.parts.iter().position(is_it)
    }

    /// Lets sends meet their receives; what goes wrong with it.
    fn meet_pairs(&mut self) -> Option<Trouble> {
        let ranks = self.ranks();
        for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
            while let (Some(send), Some(receive)) =
                (self.first_open(from, Kind::Send, to), self.first_open(to, Kind::Recv, from))
            {
                let [Some(sender), Some(receiver)] = [self.offer_of(from), self.offer_of(to)] else { break };
                let (a, b) = (&sender.parts[send], &receiver.parts[receive]);
                if (a.said.told.count, a.said.told.element) != (b.said.told.count, b.said.told.element) {
                    return Some(report::mismatch(self, (from, Some(a.said.clone())), (to, Some(b.said.clone()))));
                }
                let (data, mark) = (a.data.clone(), sender.mark.clone());
                let all = 0..data.bytes().len();
                let outcome = Outcome { part: Some((data, all)), after: mark.into_iter().collect() };
                self.bring(from, send, Outcome::default());
                self.bring(to, receive, outcome);
            }
        }
        None
    }

    fn bring(&mut self, rank: u32, part: usize, outcome: Outcome) {
        if let Some(offer) = &mut self.seats[rank as usize].offer {
            offer.parts[part].outcome = Some(outcome);
        }
    }

    /// Collectives for which all have come.
    fn meet_all(&mut self) {
        let places: Vec<Vec<usize>> =
            (0..self.ranks()).map(|rank| self.collectives(rank).map(|(at, _)| at).collect()).collect();
        let calls = places.iter().map(Vec::len).min().unwrap_or(0);
        for call in 0..calls {
            let offers: Vec<&Offer> = self.seats.iter().filter_map(|seat| seat.offer.as_ref()).collect();
            let parts: Vec<&Part> = offers.iter().zip(&places).map(|(offer, at)| &offer.parts[at[call]]).collect();
            let marks: Vec<_> = offers.iter().map(|offer| offer.mark.clone()).collect();
            let outcomes = outcomes(&parts, &marks);
            for (rank, outcome) in outcomes.into_iter().enumerate() {
                self.bring(rank as u32, places[rank][call], outcome);
            }
        }
    }

    /// The ranks that a rank's piece waits for.
    pub(crate) fn waits_for(&self, rank: u32) -> Vec<u32> {
        let mut others: Vec<u32> = Vec::new();
        for said in self.open_calls(rank) {
            match said.told.kind.is_pair() {
                true => others.push(said.told.other),
                false => {
                    others.extend((0..self.ranks()).filter(|other| {
                        *other != rank && !self.open_calls(*other).any(|said| !said.told.kind.is_pair())
                    }))
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        others
    }

    /// All ranks that a rank waits for, also through others.
    fn reached_from(&self, rank: u32) -> Vec<u32> {
        let (mut seen, mut open) = (HashSet::new(), vec![rank]);
        while let Some(at) = open.pop() {
            open.extend(self.waits_for(at).into_iter().filter(|other| seen.insert(*other)));
        }
        let mut all: Vec<u32> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// A rank that waits for itself through others, and the next one on that way.
    fn circle(&self) -> Option<(u32, u32)> {
        let rank = (0..self.ranks()).find(|rank| self.reached_from(*rank).contains(rank))?;
        let mut next = self.waits_for(rank).into_iter();
        next.find(|next| *next == rank || self.reached_from(*next).contains(&rank)).map(|next| (rank, next))
    }

    /// Somebody waits for a rank that is gone.
    fn miss_the_gone(&mut self) {
        if self.trouble.is_some() {
            return;
        }
        let is_gone = |other: &u32| self.seats.get(*other as usize).is_some_and(|seat| seat.gone.is_some());
        let found = (0..self.ranks()).find_map(|rank| Some((rank, self.waits_for(rank).into_iter().find(is_gone)?)));
        self.trouble = found.map(|(rank, gone)| report::missing(self, rank, gone, None));
    }
}

/// What a collective brings each rank; `parts` and `marks` are those of all ranks, in order.
fn outcomes(parts: &[&Part], marks: &[Option<Arc<Node>>]) -> Vec<Outcome> {
    let (ranks, told) = (parts.len(), parts[0].said.told);
    let all = || marks.iter().flatten().cloned().collect::<Vec<_>>();
    // What nobody has written and is reduced was found where it was read.
    let fold = || {
        let data: Vec<&[u8]> = parts.iter().map(|part| part.data.bytes()).collect();
        Arc::new(Content::written(told.element.fold(told.reduction, &data)))
    };
    let whole = |content: &Arc<Content>| {
        let all_of_it = 0..content.bytes().len();
        Outcome { part: Some((content.clone(), all_of_it)), after: all() }
    };
    match told.kind {
        Kind::AllReduce => vec![whole(&fold()); ranks],
        Kind::Reduce => {
            let sum = fold();
            let root = |rank| if rank == told.other as usize { whole(&sum) } else { Outcome::default() };
            (0..ranks).map(root).collect()
        }
        Kind::ReduceScatter => {
            let sum = fold();
            let piece = sum.bytes().len() / ranks;
            let part = |rank| Outcome { part: Some((sum.clone(), rank * piece..(rank + 1) * piece)), after: all() };
            (0..ranks).map(part).collect()
        }
        Kind::AllGather => vec![whole(&Arc::new(Content::concat(parts.iter().map(|part| &*part.data)))); ranks],
        Kind::Broadcast => {
            let root = told.other as usize;
            let after: Vec<_> = marks[root].iter().cloned().collect();
            vec![Outcome { after, ..whole(&parts[root].data) }; ranks]
        }
        Kind::Send | Kind::Recv => unreachable!("pairs are met by `meet_pairs`"),
    }
}

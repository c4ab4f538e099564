//! Control flow as a recorder takes it in.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::error::{Error, ErrorKind, Result};
use crate::flow::condition::{How, Term};
use crate::flow::decide::{Decision, Mode, On, decide};
use crate::flow::operand::Side;
use crate::flow::{Condition, Number, Operand};
use crate::memory::{Access, Allocation, Buffer, Element, Mode as AccessMode, Temp};
use crate::record::{BranchKind, Certain, Op, Recorder, ScopeKind, in_both};
use crate::value::baked;

/// The first driver with SWITCH, and with a second body of IF: before that both are made of IFs.
const SWITCH_SINCE: u32 = 12_080;

/// Words of the state of a loop: whether it goes on, rounds that are over, whether its bound ended it, nothing.
const STATE: usize = 4;
const GOES_ON: usize = 0;
const ROUNDS: usize = 1;
const ENDED: usize = 2;

/// How many rounds a loop may have: [`up_to`] so many, or [`unbounded`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slot, baked, copy, flow::{Bound, equal, up_to}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.scalar(0u32)?;
/// let most = Slot::new(4u32);
/// let bound: Bound = up_to(&most); // or `up_to(baked(4))`, `up_to(&on_the_device)`
/// let mut graph = device.record(|r| {
///     let rounds = r.repeat(bound, |_| Ok(equal(baked(1), baked(1))))?; // its condition never fails
///     r.run(copy(rounds.count().as_slice(), y.as_mut_slice()))
/// })?;
/// graph.launch(&stream)?;
/// assert_eq!(y.get(&stream)?, 4);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Bound(Option<Side>);

/// At most so many rounds: `baked(n)`, a `&Slot<u32>`, or a number on the device.
///
/// The bound is looked at behind each round and, except by [`repeat`](Recorder::repeat), before the first.
/// [`Rounds::hit_bound`] says whether it ended the loop.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, copy, flow::{equal, up_to}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.scalar(0u32)?;
/// stream.run(|r: &mut Recorder<'_>| {
///     let rounds = r.repeat(up_to(baked(3)), |_| Ok(equal(baked(1), baked(1))))?;
///     r.run(copy(rounds.hit_bound().as_slice(), y.as_mut_slice()))
/// })?;
/// assert_eq!(y.get(&stream)?, 1); // the bound ended it
/// # Ok(()) }
/// ```
pub fn up_to(rounds: impl Operand<u32>) -> Bound {
    Bound(Some(rounds.side()))
}

/// No bound: the loop ends when its condition says so, or after 2³² - 1 rounds, which is as good as never. A loop that never
/// ends takes the device with it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, flow::{below, unbounded}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.scalar(0u32)?;
/// let mut graph = device.record(|r| r.repeat(unbounded(), |r| {
///     r.run(fill(y.as_mut_slice(), baked(5)))?;
///     Ok(below(&y, baked(5)))
/// }).map(drop))?;
/// graph.launch(&stream)?;
/// assert_eq!(y.get(&stream)?, 5);
/// # Ok(()) }
/// ```
pub fn unbounded() -> Bound {
    Bound(None)
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Bound" } else { "Bound(none)" })
    }
}

/// What a loop did, for ops behind it: numbers on the device, as the last replay left them.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, copy, flow::Rounds};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<u32>(2)?;
/// stream.run(|r: &mut Recorder<'_>| {
///     let rounds: Rounds<'_> = r.repeat_times(baked(7), |_| Ok(()))?;
///     r.run(copy(rounds.count().as_slice(), &mut y[..1]))?;
///     r.run(copy(rounds.hit_bound().as_slice(), &mut y[1..]))
/// })?;
/// assert_eq!(stream.read(&y)?, [7, 1]);
/// # Ok(()) }
/// ```
pub struct Rounds<'r> {
    state: Temp<'r, u32>,
}

impl Rounds<'_> {
    /// How many rounds were run.
    pub fn count(&self) -> &Element<u32> {
        self.state.at(ROUNDS)
    }

    /// 1 if the bound ended it, although its condition still held; else 0.
    pub fn hit_bound(&self) -> &Element<u32> {
        self.state.at(ENDED)
    }
}

impl fmt::Debug for Rounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rounds")
    }
}

/// The number of the round that runs, from 0: an element for kernels and conditions inside the round.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, copy, flow::Round};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<u32>(1)?;
/// stream.run(|r: &mut Recorder<'_>| r.repeat_times(baked(5), |r| {
///     let round: Round<'_> = r.round()?;
///     r.run(copy(round.as_slice(), &mut y))
/// }).map(drop))?;
/// assert_eq!(stream.read(&y)?, [4]); // the last one
/// # Ok(()) }
/// ```
pub struct Round<'r> {
    state: Temp<'r, u32>,
}

impl Deref for Round<'_> {
    type Target = Element<u32>;

    fn deref(&self) -> &Element<u32> {
        self.state.at(ROUNDS)
    }
}

impl fmt::Debug for Round<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Round")
    }
}

/// A [`when`](Recorder::when) that can still be given what runs [`otherwise`](When::otherwise).
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, flow::{When, nonzero}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (flag, mut y) = (device.scalar(0u32)?, device.scalar(0u32)?);
/// stream.run(|r: &mut Recorder<'_>| {
///     let when: When<'_, '_> = r.when(nonzero(&flag), |r| r.run(fill(y.as_mut_slice(), baked(1))))?;
///     when.otherwise(|r| r.run(fill(y.as_mut_slice(), baked(2))))
/// })?;
/// assert_eq!(y.get(&stream)?, 2);
/// # Ok(()) }
/// ```
pub struct When<'a, 'r> {
    recorder: &'a mut Recorder<'r>,
    at: &'static Location<'static>,
    branch: usize,
    state: Arc<Allocation>,
    then: Certain,
}

impl fmt::Debug for When<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("When")
    }
}

fn word(state: &Arc<Allocation>, word: usize, mode: AccessMode) -> Access {
    let mut access = all(state, mode);
    access.place.start = 4 * word;
    access.place.bytes = 4;
    access
}

/// Whether what was decided is this number.
fn equal_to(state: &Arc<Allocation>, number: u32) -> Term {
    let (left, right) = (Side::Element(word(state, GOES_ON, AccessMode::Read)), baked(number).side());
    Term::Compare { how: How::Equal, number: <u32 as Number>::TYPE, left, right }
}

fn all(state: &Arc<Allocation>, mode: AccessMode) -> Access {
    let place = crate::memory::Extent { allocation: state.clone(), start: 0, bytes: 4 * STATE };
    Access { place, mode, name: "state", element: 4 }
}

impl<'r> Recorder<'r> {
    /// Runs a body on the device, and again as long as the condition that it returns holds: `do { .. } while`.
    ///
    /// The body runs at least once, so a bound of 0 is one of 1.
    ///
    /// # Errors
    ///
    /// - What the body failed with; then nothing of it is recorded.
    #[track_caller]
    pub fn repeat<O: Op<Out = Condition>>(&mut self, bound: Bound, body: O) -> Result<Rounds<'r>> {
        let at = Location::caller();
        self.attempt(|r| {
            let always = Begin { on: Term::True, bound: None, once: true };
            r.rounds("repeat", at, always, bound, |r| Ok(body(r)?.0))
        })
    }

    /// Runs a body on the device as long as a condition holds, which is asked before each round: `while`.
    ///
    /// # Errors
    ///
    /// - As [`repeat`](Recorder::repeat).
    #[track_caller]
    pub fn repeat_while<O: Op<Out = ()>>(&mut self, condition: Condition, bound: Bound, body: O) -> Result<Rounds<'r>> {
        let at = Location::caller();
        self.attempt(|r| {
            let begin = Begin { on: condition.0.clone(), bound: bound.0.clone(), once: false };
            r.rounds("repeat_while", at, begin, bound, |r| body(r).map(|()| condition.0))
        })
    }

    /// Runs a body on the device so many times: as a slot or a number on the device says before the first round and when a
    /// round ends.
    ///
    /// # Errors
    ///
    /// - As [`repeat`](Recorder::repeat).
    #[track_caller]
    pub fn repeat_times<O: Op<Out = ()>>(&mut self, times: impl Operand<u32>, body: O) -> Result<Rounds<'r>> {
        let at = Location::caller();
        self.attempt(|r| {
            let bound = up_to(times);
            let begin = Begin { on: Term::True, bound: bound.0.clone(), once: false };
            r.rounds("repeat_times", at, begin, bound, |r| body(r).map(|()| Term::True))
        })
    }

    /// The number of the round that runs, from 0, inside the innermost loop.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoLoop`]: this is not inside a loop.
    #[track_caller]
    pub fn round(&mut self) -> Result<Round<'r>> {
        match self.innermost_loop() {
            Some(ScopeKind::Round { state, .. }) => Ok(Round { state: Temp::new(Buffer::new(state.clone(), STATE)) }),
            _ => Err(self.blame(Error::new(ErrorKind::NoLoop { call: "round" }), "round", Location::caller())),
        }
    }

    /// Leaves the innermost loop if a condition holds: neither the rest of this round is run nor another round.
    ///
    /// The round counts among [`Rounds::count`].
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoLoop`]: this is not directly inside a loop's body. Inside a `when` or a `switch` of a loop there is
    ///   no way out yet: write a flag there, and leave by it.
    #[track_caller]
    pub fn leave_if(&mut self, condition: Condition) -> Result<()> {
        let at = Location::caller();
        let Some(ScopeKind::Round { state, condition: of_loop, .. }) = self.innermost().cloned() else {
            return Err(self.blame(Error::new(ErrorKind::NoLoop { call: "leave_if" }), "leave_if", at));
        };
        self.attempt(|r| {
            let rest = r.state()?;
            let of_rest = r.new_condition();
            let decision = Decision {
                name: "leave_if",
                at,
                mode: Mode::Leave,
                on: On::Condition(condition.0),
                bound: None,
                state: all(&state, AccessMode::Write),
                rest: Some(word(&rest, GOES_ON, AccessMode::Out)),
                sets: smallvec![of_rest, of_loop],
            };
            decide(r, decision)?;
            let looked_at = word(&rest, GOES_ON, AccessMode::Read);
            let branch = r.open_branch("rest of the round", at, (BranchKind::If, of_rest), looked_at)?;
            r.open_body(branch, ScopeKind::Rest)?;
            Ok(())
        })
    }

    /// Runs a body on the device if a condition holds. [`When::otherwise`] gives it another for the case that it does not.
    ///
    /// # Errors
    ///
    /// - What the body failed with; then nothing of it is recorded.
    #[track_caller]
    pub fn when<O: Op<Out = ()>>(&mut self, condition: Condition, body: O) -> Result<When<'_, 'r>> {
        let at = Location::caller();
        let (branch, state, then) = self.attempt(|r| r.choice("when", at, condition.0, body))?;
        Ok(When { recorder: self, at, branch, state, then })
    }

    /// Runs the body of a number on the device: the number is looked at once, before. One beyond the cases runs none.
    ///
    /// The closure is called once for each case, while recording.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let (k, mut y) = (device.scalar(2u32)?, device.zeros::<u32>(4)?);
    /// let mut graph = device.record(|r| {
    ///     r.switch(&k, 4, |r, case| r.run(fill(&mut y[case as usize..][..1], baked(1))))
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(stream.read(&y)?, [0, 0, 1, 0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - What a body failed with; then nothing of it is recorded.
    #[track_caller]
    pub fn switch(
        &mut self,
        index: impl Operand<u32>,
        cases: u32,
        mut body: impl FnMut(&mut Recorder<'_>, u32) -> Result<()>,
    ) -> Result<()> {
        let at = Location::caller();
        let index = index.side();
        // The driver has no switch without cases. The number is checked as with them.
        if cases == 0 {
            return self.try_out(|r| {
                let state = r.state()?;
                r.decide_index(at, index, &state, SmallVec::new())
            });
        }
        self.attempt(|r| match r.has_switch() {
            true => {
                let (state, condition) = (r.state()?, r.new_condition());
                r.decide_index(at, index, &state, smallvec![condition])?;
                let looked_at = word(&state, GOES_ON, AccessMode::Read);
                let branch = r.open_branch("switch", at, (BranchKind::Switch, condition), looked_at)?;
                for case in 0..cases {
                    r.open_body(branch, ScopeKind::Choice)?;
                    body(r, case)?;
                    r.close_body();
                }
                Ok(())
            }
            // A branch for each case, by a copy of the number: a body may change the original.
            false => {
                let state = r.state()?;
                r.decide_index(at, index, &state, SmallVec::new())?;
                for case in 0..cases {
                    let is_it = equal_to(&state, case);
                    r.choice("switch", at, is_it, |r: &mut Recorder<'_>| body(r, case))?;
                }
                Ok(())
            }
        })
    }

    /// Whether the driver has SWITCH, and a second body of IF.
    fn has_switch(&self) -> bool {
        self.device().properties().driver_version >= SWITCH_SINCE
    }

    /// Puts a number where the decisions of a switch look for it.
    fn decide_index(
        &mut self,
        at: &'static Location<'static>,
        index: Side,
        state: &Arc<Allocation>,
        sets: SmallVec<[u32; 2]>,
    ) -> Result<()> {
        let state = word(state, GOES_ON, AccessMode::Out);
        let (mode, on) = (Mode::Switch, On::Index(index));
        decide(self, Decision { name: "switch", at, mode, on, bound: None, state, rest: None, sets })
    }

    /// Memory for what a decision says.
    fn state(&mut self) -> Result<Arc<Allocation>> {
        self.alloc_bytes(4 * STATE)
    }

    /// A branch with one body that may run: its number, what was decided, and what the body is certain to write.
    fn choice<O: Op<Out = ()>>(
        &mut self,
        name: &'static str,
        at: &'static Location<'static>,
        on: Term,
        body: O,
    ) -> Result<(usize, Arc<Allocation>, Certain)> {
        let (state, condition) = (self.state()?, self.new_condition());
        let decision = Decision {
            name,
            at,
            mode: Mode::If,
            on: On::Condition(on),
            bound: None,
            state: word(&state, GOES_ON, AccessMode::Out),
            rest: None,
            sets: smallvec![condition],
        };
        decide(self, decision)?;
        let looked_at = word(&state, GOES_ON, AccessMode::Read);
        let branch = self.open_branch(name, at, (BranchKind::If, condition), looked_at)?;
        self.open_body(branch, ScopeKind::Choice)?;
        body(self)?;
        Ok((branch, state, self.close_body()))
    }

    /// A loop.
    fn rounds(
        &mut self,
        name: &'static str,
        at: &'static Location<'static>,
        begin: Begin,
        bound: Bound,
        body: impl FnOnce(&mut Recorder<'r>) -> Result<Term>,
    ) -> Result<Rounds<'r>> {
        let (state, condition) = (self.state()?, self.new_condition());
        let sets: SmallVec<[u32; 2]> = smallvec![condition];
        let first = Decision {
            name,
            at,
            mode: Mode::Begin,
            on: On::Condition(begin.on),
            bound: begin.bound,
            state: all(&state, AccessMode::Out),
            rest: None,
            sets: sets.clone(),
        };
        decide(self, first)?;
        let looked_at = word(&state, GOES_ON, AccessMode::Read);
        let branch = self.open_branch(name, at, (BranchKind::While { once: begin.once }, condition), looked_at)?;
        let is_bounded = bound.0.is_some();
        self.open_body(branch, ScopeKind::Round { state: state.clone(), condition, is_bounded })?;
        let go_on = body(self)?;
        let again = Decision {
            name,
            at,
            mode: Mode::End,
            on: On::Condition(go_on),
            bound: bound.0,
            state: all(&state, AccessMode::Write),
            rest: None,
            sets,
        };
        decide(self, again)?;
        self.close_body();
        Ok(Rounds { state: Temp::new(Buffer::new(state, STATE)) })
    }
}

/// What is asked before the first round.
struct Begin {
    on: Term,
    bound: Option<Side>,
    /// Whether the body is certain to run.
    once: bool,
}

impl<'r> When<'_, 'r> {
    /// Runs a body where the condition does not hold.
    ///
    /// # Errors
    ///
    /// - What the body failed with; then the recording is as it was before this call.
    pub fn otherwise<O: Op<Out = ()>>(self, body: O) -> Result<()> {
        let When { recorder, at, branch, state, then } = self;
        recorder.attempt(|r| {
            let otherwise = match r.has_switch() {
                true => {
                    r.open_body(branch, ScopeKind::Choice)?;
                    body(r)?;
                    r.close_body()
                }
                // By what was decided, whatever the first body has done since.
                false => {
                    let (branch, _, otherwise) = r.choice("otherwise", at, equal_to(&state, 0), body)?;
                    r.note_else(branch);
                    otherwise
                }
            };
            r.note_written(&in_both(&then, &otherwise));
            Ok(())
        })
    }
}

//! Every byte that the library holds of a device, by what it is for, and a budget for the sum.
//!
//! - A [`Booking`] is made before the driver is asked for memory, and kept with the memory until the driver has it back.
//!   What is over the budget is refused without any driver call.
//! - Executable graphs are booked by estimate. NVIDIA's driver keeps what it once took for them and uses it for the next
//!   ones (results/executable-memory-h200.json: nothing comes back when they are destroyed, and a second round takes
//!   nothing). So they count with the most that was ever alive at once.
//! - Nothing here is on the way of a launch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::held::{Held, Purpose};

/// The books of one device.
#[derive(Default)]
pub(crate) struct Books(Mutex<State>);

#[derive(Default)]
struct State {
    held: Held,
    /// Booked, and not yet had from the driver.
    pending: Held,
    /// Of executables that are alive now.
    executables_alive: usize,
    budget: Option<usize>,
}

impl Books {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn held(&self) -> Held {
        self.state().held
    }

    pub(crate) fn budget(&self) -> Option<usize> {
        self.state().budget
    }

    pub(crate) fn set_budget(&self, budget: Option<usize>) {
        self.state().budget = budget;
    }

    fn book(self: &Arc<Self>, purpose: Purpose, bytes: usize) -> Result<Booking> {
        let mut state = self.state();
        let grows = match purpose {
            Purpose::Executables => {
                (state.executables_alive + bytes).saturating_sub(state.held.executables + state.pending.executables)
            }
            _ => bytes,
        };
        state.expect_room(grows)?;
        *state.pending.of(purpose) += grows;
        if purpose == Purpose::Executables {
            state.executables_alive += bytes;
        }
        Ok(Booking { books: self.clone(), purpose, bytes, grows, is_taken: false })
    }
}

impl State {
    fn expect_room(&self, wanted: usize) -> Result<()> {
        let used = self.held.total() + self.pending.total();
        match self.budget {
            // What takes nothing is always allowed, also where a lower budget was set than is in use.
            Some(budget) if wanted > 0 && used.saturating_add(wanted) > budget => {
                Err(Error::new(ErrorKind::OverBudget { wanted, used, budget, held: self.held }))
            }
            _ => Ok(()),
        }
    }
}

/// Bytes that are in the books as long as this lives.
pub(crate) struct Booking {
    books: Arc<Books>,
    purpose: Purpose,
    bytes: usize,
    /// By how much the books will shrink again.
    grows: usize,
    is_taken: bool,
}

impl Booking {
    /// The driver has given the memory: from here on it is held.
    pub(crate) fn taken(mut self) -> Booking {
        if self.is_taken {
            return self;
        }
        let mut state = self.books.state();
        *state.pending.of(self.purpose) -= self.grows;
        *state.held.of(self.purpose) += self.grows;
        drop(state);
        self.is_taken = true;
        if self.purpose == Purpose::Executables {
            // The driver will not give it back.
            self.grows = 0;
        }
        self
    }

    /// How many bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Both as one; of the same device and purpose, and both taken.
    pub(crate) fn and(mut self, mut other: Booking) -> Booking {
        debug_assert!(Arc::ptr_eq(&self.books, &other.books) && self.purpose == other.purpose, "bookings of one kind");
        self.bytes += std::mem::take(&mut other.bytes);
        self.grows += std::mem::take(&mut other.grows);
        self
    }

    /// Gives back all but so many bytes of what was taken. Not for executables.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        *self.books.state().held.of(self.purpose) -= less;
        self.bytes -= less;
        self.grows -= less;
    }
}

impl Drop for Booking {
    fn drop(&mut self) {
        let mut state = self.books.state();
        let of = if self.is_taken { &mut state.held } else { &mut state.pending };
        *of.of(self.purpose) -= self.grows;
        if self.purpose == Purpose::Executables {
            state.executables_alive -= self.bytes;
        }
    }
}

impl Device {
    /// Books memory before the driver is asked for it. Where the budget is used up, what was dropped is given back first.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OverBudget`].
    pub(crate) fn book(&self, purpose: Purpose, bytes: usize) -> Result<Booking> {
        self.expect_usable()?;
        self.or_when_freed(|| self.book_now(purpose, bytes))
    }

    /// The same without waiting for anything.
    pub(crate) fn book_now(&self, purpose: Purpose, bytes: usize) -> Result<Booking> {
        self.0.books.book(purpose, bytes)
    }

    /// Refuses what cannot be booked, and books nothing.
    pub(crate) fn expect_room(&self, bytes: usize) -> Result<()> {
        self.0.books.state().expect_room(bytes)
    }

    /// How many bytes of this device's memory the library holds now, by purpose.
    pub fn held(&self) -> Held {
        self.0.books.held()
    }

    /// The most bytes of this device's memory that the library may hold, if there is a budget.
    pub fn memory_budget(&self) -> Option<usize> {
        self.0.books.budget()
    }

    /// Sets a memory budget. What would exceed it is refused, with the numbers, before the driver is asked. What is
    /// already held stays. Page-locked memory counts too, and executable graphs count by estimate.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// device.set_memory_budget(Some(1 << 20));
    /// let half = device.zeros::<u8>(600_000)?;
    /// let refused = device.zeros::<u8>(600_000).unwrap_err();
    /// assert!(refused.to_string().contains("600000 in buffers"), "{refused}");
    /// drop(half);
    /// device.zeros::<u8>(600_000)?; // there is room again
    /// # Ok(()) }
    /// ```
    pub fn set_memory_budget(&self, bytes: Option<usize>) {
        self.0.books.set_budget(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(outcome: Result<Booking>) -> bool {
        outcome.is_err_and(|error| matches!(error.kind(), ErrorKind::OverBudget { .. }))
    }

    #[test]
    fn what_is_booked_comes_back_and_the_budget_holds_to_the_byte() {
        let books = Arc::new(Books::default());
        books.set_budget(Some(100));
        let one = books.book(Purpose::Buffers, 60).unwrap().taken();
        let mut two = books.book(Purpose::Pools, 40).unwrap().taken();
        assert!(over(books.book(Purpose::Host, 1)));
        assert_eq!((books.held().buffers, books.held().pools, books.held().total()), (60, 40, 100));
        two.shrink_to(10);
        let more = books.book(Purpose::Pools, 30).unwrap();
        assert_eq!(books.held().pools, 10, "not yet had from the driver");
        assert!(over(books.book(Purpose::Host, 1)), "and booked all the same");
        let two = two.and(more.taken());
        assert!(over(books.book(Purpose::Outputs, usize::MAX)));
        drop((one, two));
        assert_eq!(books.held(), Held::default());
    }

    #[test]
    fn executables_count_with_the_most_that_was_alive() {
        let books = Arc::new(Books::default());
        let refused = books.book(Purpose::Executables, 50).unwrap();
        drop(refused); // the driver did not make it
        assert_eq!(books.held().executables, 0);
        drop(books.book(Purpose::Executables, 50).unwrap().taken());
        assert_eq!(books.held().executables, 50);
        books.set_budget(Some(60));
        let _second = books.book(Purpose::Executables, 40).unwrap().taken();
        assert_eq!(books.held().executables, 50, "in what the driver has kept");
        assert!(over(books.book(Purpose::Executables, 30)));
        let _third = books.book(Purpose::Executables, 20).unwrap().taken();
        assert_eq!(books.held().executables, 60);
    }

    #[test]
    fn executables_that_are_made_at_the_same_time_count_once_each() {
        let books = Arc::new(Books::default());
        drop(books.book(Purpose::Executables, 50).unwrap().taken());
        books.set_budget(Some(100));
        let one = books.book(Purpose::Executables, 70).unwrap();
        let two = books.book(Purpose::Executables, 30).unwrap();
        assert!(over(books.book(Purpose::Executables, 1)), "70 and 30 are on their way");
        let _both = (one.taken(), two.taken());
        assert_eq!(books.held().executables, 100);
    }
}

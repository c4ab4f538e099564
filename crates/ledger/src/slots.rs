//! A table whose numbers are given out again, so that a program that allocates for days stays small.

/// Values by number. A number is given out again only after its value was removed.
pub(crate) struct Slots<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Self {
        Slots { values: Vec::new(), free: Vec::new() }
    }

    /// The number that the next value will have.
    pub(crate) fn next(&self) -> u32 {
        let new = || u32::try_from(self.values.len()).expect("fewer than four billion things are alive on a device");
        self.free.last().copied().unwrap_or_else(new)
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        let number = self.next();
        match self.free.pop() {
            Some(_) => self.values[number as usize] = Some(value),
            None => self.values.push(Some(value)),
        }
        number
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let value = self.values.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(value)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values.get_mut(number as usize)?.as_mut()
    }
}

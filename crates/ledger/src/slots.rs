//! A table whose places are used again, so that a program that allocates for days stays small.

/// Values by number. A number is given out again only after its value was removed.
pub(crate) struct Slots<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Self {
        Slots { values: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.values[place as usize] = Some(value);
            return place;
        }
        let place = u32::try_from(self.values.len()).expect("fewer than four billion things are alive on a device");
        self.values.push(Some(value));
        place
    }

    pub(crate) fn remove(&mut self, place: u32) -> Option<T> {
        let value = self.values.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(value)
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&T> {
        self.values.get(place as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.values.get_mut(place as usize)?.as_mut()
    }
}

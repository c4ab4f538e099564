//! The layer of each box: below all that it waits for, and as high as it can be.
//!
//! Where very many boxes wait for little, a layer would be wider than anybody can look at. So a layer takes so many and no
//! more, and who finds no room goes to the next that has some.

/// The fewest boxes that a layer has room for.
const ROOM_MIN: usize = 12;

/// The layer of each box, from 0.
pub(super) fn of<'l>(boxes: usize, lines: impl Iterator<Item = &'l (usize, usize)>) -> Vec<u32> {
    let room = ROOM_MIN.max((1.5 * (boxes as f64).sqrt()) as usize);
    let mut into = vec![Vec::new(); boxes];
    for &(from, to) in lines {
        into[to].push(from as u32);
    }
    let mut layers: Vec<u32> = Vec::with_capacity(boxes);
    let mut free = Free::new(room);
    for before in &into {
        let below = before.iter().map(|&one| layers[one as usize] + 1).max().unwrap_or(0);
        layers.push(free.take(below));
    }
    layers
}

/// Which layers have room.
struct Free {
    room: usize,
    taken: Vec<usize>,
    /// For a full layer, one behind it that may have room: a chain that is made shorter whenever it is walked.
    next: Vec<u32>,
}

impl Free {
    fn new(room: usize) -> Free {
        Free { room, taken: Vec::new(), next: Vec::new() }
    }

    /// A place in this layer, or in the first behind it that has one.
    fn take(&mut self, layer: u32) -> u32 {
        let found = self.find(layer);
        self.taken[found as usize] += 1;
        if self.taken[found as usize] == self.room {
            self.next[found as usize] = found + 1;
        }
        found
    }

    fn find(&mut self, layer: u32) -> u32 {
        let mut found = layer;
        loop {
            while self.next.len() <= found as usize {
                self.next.push(self.next.len() as u32);
                self.taken.push(0);
            }
            if self.next[found as usize] == found {
                break;
            }
            found = self.next[found as usize];
        }
        let mut at = layer;
        while at != found {
            at = std::mem::replace(&mut self.next[at as usize], found);
        }
        found
    }
}

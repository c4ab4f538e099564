//! Small graphs: all of them, or some by chance.

use crate::chance::Dice;

/// Buffers of a graph, at most.
pub const BUFFERS: usize = 3;

/// Which kernel it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One that the library may open.
    Mix,
    /// One that signals by itself, and waits for nobody: the library must leave it alone.
    Signals,
    /// One that reads a constant.
    Constant,
    /// One that reads its first buffer before its own wait, and says so.
    Early,
}

/// One kernel of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Which it is.
    pub entry: Entry,
    /// Two bits for each buffer: reads, writes.
    pub modes: u32,
    /// How often it goes round before it reads, and before it writes.
    pub spin: u32,
    /// Whether its grid is empty.
    pub off: bool,
}

/// A small graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// Its kernels, as recorded.
    pub kernels: Vec<Kernel>,
}

/// Some graphs, by number.
#[derive(Clone, Copy, Debug)]
pub enum Draws {
    /// All of up to so many kernels over two buffers.
    All {
        /// So many.
        kernels: u32,
    },
    /// Six kernels over three buffers.
    Random,
}

/// What a kernel may do with two buffers: anything but nothing at all.
const WAYS: u64 = 15;

impl Draws {
    /// All graphs of up to so many kernels over two buffers.
    pub fn all(kernels: u32) -> Draws {
        Draws::All { kernels }
    }

    /// Graphs of six kernels over three buffers.
    pub fn random() -> Draws {
        Draws::Random
    }

    /// How many there are, if there is an end to them.
    pub fn count(self) -> Option<u64> {
        match self {
            Draws::All { kernels } => Some((1..=kernels).map(|n| WAYS.pow(n)).sum()),
            Draws::Random => None,
        }
    }

    /// The graph of a number.
    pub fn graph(self, number: u64) -> Small {
        match self {
            Draws::All { .. } => {
                let (mut rest, mut kernels) = (number, 1);
                while rest >= WAYS.pow(kernels) {
                    rest -= WAYS.pow(kernels);
                    kernels += 1;
                }
                let kernel = |at: u32| {
                    let modes = 1 + (rest / WAYS.pow(at) % WAYS) as u32;
                    // Of two in a row one is slow: what waits too little is seen to.
                    Kernel {
                        entry: Entry::Mix,
                        modes,
                        spin: if (at + number as u32) & 1 == 0 { 12 } else { 1 },
                        off: false,
                    }
                };
                Small { kernels: (0..kernels).map(kernel).collect() }
            }
            Draws::Random => {
                let mut dice = Dice::new(number);
                let kernel = |_| {
                    let entry = match dice.below(8) {
                        0 => Entry::Signals,
                        1 => Entry::Constant,
                        2 => Entry::Early,
                        _ => Entry::Mix,
                    };
                    let modes = 1 + dice.below(63) as u32;
                    let spin = [1, 4, 12, 30][dice.below(4) as usize];
                    let off = dice.below(7) == 0;
                    match entry {
                        // It reads its first buffer, and never writes that.
                        Entry::Early => Kernel { entry, modes: modes & !3 | 1, spin, off: false },
                        _ => Kernel { entry, modes, spin, off },
                    }
                };
                Small { kernels: (0..6).map(kernel).collect() }
            }
        }
    }
}

impl Small {
    /// What the buffers hold behind it, by the host.
    pub fn on_the_host(&self, mut words: [[u32; 2]; BUFFERS]) -> [[u32; 2]; BUFFERS] {
        for (number, kernel) in self.kernels.iter().enumerate().filter(|(_, kernel)| !kernel.off) {
            for block in 0..2 {
                let mut value = tag(number);
                let reads = words.iter().enumerate().filter(|(buffer, _)| kernel.modes >> (2 * buffer) & 1 != 0);
                for (_, words) in reads {
                    value = value.wrapping_mul(31).wrapping_add(words[block]);
                }
                for (buffer, words) in
                    words.iter_mut().enumerate().filter(|(buffer, _)| kernel.modes >> (2 * buffer) & 2 != 0)
                {
                    words[block] = value.wrapping_add(buffer as u32);
                }
            }
        }
        words
    }
}

/// What a kernel of this number begins with.
pub(super) fn tag(number: usize) -> u32 {
    1000 + 17 * number as u32
}

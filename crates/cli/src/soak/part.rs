//! What is replayed.

use dacapo::Stream;

use crate::complaint::Complaint;

/// Something that threads replay in turn, each on a stream of its own.
pub trait Part: Send {
    /// One replay; `value` is a small number by chance.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    fn replay(&mut self, stream: &Stream, value: usize) -> Result<(), Complaint>;

    /// Reads back what must be there by now.
    ///
    /// # Errors
    ///
    /// - The driver refused, or a number is wrong.
    fn check(&self, stream: &Stream) -> Result<(), Complaint>;

    /// How often it was replayed.
    fn replays(&self) -> u32;

    /// Lets go of what it holds by chance, before what is alive is counted.
    fn settle(&mut self) {}
}

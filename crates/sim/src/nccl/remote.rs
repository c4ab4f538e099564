//! A rank whose others are elsewhere: its connection to the hub, with a thread that writes and one that reads.
//!
//! Both end with the connection. The writer goes first: when the communicator is gone it sends what is left, and closes.

use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};

use dacapo_nccl::types::ncclResult;

use super::communicator::Communicator;
use super::content::Content;
use super::meeting::{Gone, Outcome};
use super::report::{self, Trouble};
use super::transfer::Said;
use super::wire::Frame;
use crate::machine::{Inner, Machine};

/// The way to the hub.
pub(crate) struct Remote {
    sender: Sender<Vec<u8>>,
}

impl Remote {
    /// Starts the threads of a connection that has been taken.
    pub(crate) fn start(
        connection: TcpStream,
        machine: &Machine,
        communicator: &Arc<Communicator>,
    ) -> std::io::Result<Remote> {
        let (sender, receiver) = channel();
        let reading = connection.try_clone()?;
        let (machine, communicator) = (Arc::downgrade(&machine.inner), Arc::downgrade(communicator));
        std::thread::Builder::new().name("dacapo-rank-out".into()).spawn(move || write(connection, &receiver))?;
        std::thread::Builder::new()
            .name("dacapo-rank-in".into())
            .spawn(move || read(reading, &machine, &communicator))?;
        Ok(Remote { sender })
    }

    /// The rank comes with a piece of work.
    pub(crate) fn offer(&self, said: &[(Said, Content)]) {
        self.send(&Frame::Offer(said.to_vec()));
    }

    pub(crate) fn part(&self, gone: &Gone) {
        self.send(&match gone {
            Gone::Left => Frame::Left,
            Gone::Aborted => Frame::Aborted,
            Gone::Lost(why) => Frame::Lost(why.clone()),
        });
    }

    fn send(&self, frame: &Frame) {
        // Where the writer has ended the reader has noticed as well, and told the rank.
        let _ = self.sender.send(frame.write());
    }
}

/// Writes what comes until nobody can send more, or nobody reads.
pub(crate) fn write(mut connection: TcpStream, frames: &Receiver<Vec<u8>>) {
    while let Ok(frame) = frames.recv() {
        if std::io::Write::write_all(&mut connection, &frame).is_err() {
            break;
        }
    }
    // The other end sees that it is over; if it has seen that already, this has nothing to do.
    let _ = connection.shutdown(Shutdown::Both);
}

fn read(mut connection: TcpStream, machine: &Weak<Inner>, communicator: &Weak<Communicator>) {
    loop {
        let frame = Frame::read(&mut connection);
        let (Some(inner), Some(communicator)) = (machine.upgrade(), communicator.upgrade()) else { return };
        let machine = Machine { inner };
        match frame {
            Ok(Frame::Done(outcomes)) => machine.with_state(|state| state.bring_from_afar(&communicator, outcomes)),
            Ok(Frame::Broken(trouble)) => machine.with_state(|state| state.break_rank(&communicator, trouble)),
            other => {
                let why = match other {
                    Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                        "what comes from the process that made the id makes no sense"
                    }
                    _ => {
                        "the process that made the id, rank 0's if a launcher has started the ranks, has closed the connection"
                    }
                };
                machine.with_state(|state| {
                    let open = state.piece_under_way(&communicator).map(|work| work.calls[0].said.clone());
                    state.break_rank(&communicator, report::cut_off(communicator.rank, open, why));
                });
                // So that the hub knows, if it is still there.
                let _ = connection.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

impl crate::machine::State {
    /// The rank's communicator has broken.
    fn break_rank(&mut self, communicator: &Communicator, trouble: Trouble) {
        if !communicator.is_broken() && !communicator.is_aborted() {
            communicator.set_trouble(trouble.clone());
            self.find_trouble(trouble);
        }
    }

    /// Results from the hub, if they are those that the piece waits for.
    fn bring_from_afar(&mut self, communicator: &Communicator, outcomes: Vec<Outcome>) {
        let given: Vec<u64> = outcomes.iter().map(|outcome| outcome.data().len() as u64).collect();
        if self.expected(communicator).is_none_or(|expected| expected == given) {
            return self.bring_to(communicator, outcomes);
        }
        let why = "the process that made the id answers what nobody has asked";
        self.break_rank(communicator, Trouble::told(ncclResult::ncclRemoteError, why));
    }
}

//! Where the ranks of an id find each other: a listener in the process that made the id, on this computer alone.
//!
//! - A rank says who it is; when all have come they hear whether they are in one machine. If so, the hub is not needed any
//!   more; if not, it is where they meet.
//! - One that cannot be meant ends the wait of all: no other will come in its place.
//! - It ends when all ranks have gone, or when nobody has come for long.
//!
//! Whoever knows the port may connect. Without the token nothing happens but an answer; a connection that says nothing is
//! closed after a while, and there are not many of them.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dacapo_nccl::types::ncclResult;

use super::communicator::locked;
use super::content::Content;
use super::id::{Id, random_token};
use super::meeting::{Done, Gone, Meeting};
use super::remote;
use super::transfer::Said;
use super::wire::{Frame, HELLO_BYTES, Hello, Within, is_sound};

/// When nobody has come for this long, nobody will.
const UNCLAIMED: Duration = Duration::from_secs(600);
/// A connection says who it is in this time.
const HELLO_TIME: Duration = Duration::from_secs(5);
/// More connections at a time are not taken.
const CONNECTIONS_MAX: usize = 1024;
/// More ranks than this no id has.
pub(super) const RANKS_MAX: u32 = 1 << 16;

/// What the threads of a hub share.
struct Hub {
    id: Id,
    patience: Duration,
    /// How many ranks there are, as the first one said.
    ranks: u32,
    guests: BTreeMap<u32, Guest>,
    stage: Stage,
    connections: usize,
    /// When something happened last.
    last: Instant,
}

enum Stage {
    Joining,
    Meeting(Box<Meeting>, bool),
    Over,
}

/// A rank that has come.
struct Guest {
    connection: TcpStream,
    machine: u64,
    until: Instant,
    /// The way to the thread that writes to it, once they meet here.
    sender: Option<Sender<Vec<u8>>>,
}

/// Opens a hub for a new id.
pub(crate) fn open(patience: Duration) -> io::Result<Id> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let id = Id { token: random_token(), port: listener.local_addr()?.port() };
    let hub = Hub {
        id,
        patience,
        ranks: 0,
        guests: BTreeMap::new(),
        stage: Stage::Joining,
        connections: 0,
        last: Instant::now(),
    };
    let hub = Arc::new(Mutex::new(hub));
    std::thread::Builder::new().name("dacapo-hub".into()).spawn(move || listen(&listener, &hub))?;
    Ok(id)
}

fn listen(listener: &TcpListener, hub: &Arc<Mutex<Hub>>) {
    loop {
        // Few of the ends of a connection that cannot be taken are about the listener, and all pass.
        while let Ok((connection, _)) = listener.accept() {
            let mut shared = locked(hub);
            if shared.connections >= CONNECTIONS_MAX {
                continue;
            }
            shared.connections += 1;
            drop(shared);
            let of_thread = hub.clone();
            let serve = move || {
                let _ = serve(connection, &of_thread);
                locked(&of_thread).connections -= 1;
            };
            if std::thread::Builder::new().name("dacapo-hub-rank".into()).spawn(serve).is_err() {
                locked(hub).connections -= 1;
            }
        }
        let pause = {
            let mut shared = locked(hub);
            if shared.is_over() {
                return;
            }
            // Ranks come one after the other; an id that nobody has used for a while costs little.
            if shared.last.elapsed() < Duration::from_secs(2) { 1 } else { 20 }
        };
        std::thread::sleep(Duration::from_millis(pause));
    }
}

/// One connection, to its end.
fn serve(mut connection: TcpStream, hub: &Arc<Mutex<Hub>>) -> io::Result<()> {
    connection.set_nonblocking(false)?;
    connection.set_nodelay(true)?;
    let mut bytes = [0; HELLO_BYTES];
    Within::new(&connection, HELLO_TIME).read_exact(&mut bytes)?;
    let known = Hello::read(&bytes).filter(|hello| hello.token == locked(hub).id.token);
    let Some(hello) = known else {
        let why = "this is not an id that was made here".to_string();
        return Frame::Refused(ncclResult::ncclInvalidArgument, why).send(&mut connection);
    };
    connection.set_read_timeout(None)?;
    if let Err((code, why)) = locked(hub).join(hello, connection.try_clone()?) {
        return Frame::Refused(code, why).send(&mut connection);
    }
    loop {
        let frame = Frame::read(&mut connection);
        let mut hub = locked(hub);
        match frame {
            Ok(frame) => hub.hear(hello.rank, frame),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                hub.lose(hello.rank, "says what no rank says");
            }
            Err(_) => hub.lose(hello.rank, "is gone: its process has ended, or has closed the connection"),
        }
        if hub.is_closed_for(hello.rank) {
            return connection.shutdown(Shutdown::Both);
        }
    }
}

impl Hub {
    /// Looks at the clock; whether there is nothing left to do.
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        match &mut self.stage {
            Stage::Over => return true,
            Stage::Joining => {
                if self.guests.is_empty() && self.last.elapsed() > UNCLAIMED {
                    return true;
                }
                if self.guests.values().any(|guest| guest.until <= now) {
                    let missing: Vec<String> = (0..self.ranks)
                        .filter(|r| !self.guests.contains_key(r))
                        .take(8)
                        .map(|r| r.to_string())
                        .collect();
                    let why = format!("of {} ranks these have not come: {}", self.ranks, missing.join(", "));
                    self.refuse_all(ncclResult::ncclTimeout, &why);
                }
            }
            Stage::Meeting(meeting, _) => {
                meeting.judge(now);
                self.tell(Vec::new());
            }
        }
        matches!(self.stage, Stage::Over)
    }

    fn is_closed_for(&self, rank: u32) -> bool {
        match &self.stage {
            Stage::Over => true,
            Stage::Joining => !self.guests.contains_key(&rank),
            Stage::Meeting(meeting, _) => meeting.seats[rank as usize].gone.is_some(),
        }
    }

    /// A rank comes.
    fn join(&mut self, hello: Hello, connection: TcpStream) -> Result<(), (ncclResult, String)> {
        self.last = Instant::now();
        let Hello { ranks, rank, .. } = hello;
        let why = if !matches!(self.stage, Stage::Joining) {
            return Err((ncclResult::ncclInvalidUsage, "all ranks of this id have come before".to_string()));
        } else if ranks == 0 || ranks > RANKS_MAX || rank >= ranks {
            return Err((ncclResult::ncclInvalidArgument, format!("there is no rank {rank} of {ranks}")));
        } else if !self.guests.is_empty() && ranks != self.ranks {
            // In the order of the ranks, whoever came first.
            let known = self.guests.keys().min().map_or((rank, ranks), |known| (*known, self.ranks));
            let ((one, here), (other, there)) = (known.min((rank, ranks)), known.max((rank, ranks)));
            format!("rank {one} says that there are {here} ranks, and rank {other} that there are {there}")
        } else if self.guests.contains_key(&rank) {
            format!("two have joined as rank {rank}")
        } else {
            self.ranks = ranks;
            let until = Instant::now() + Duration::from_millis(hello.patience_ms.min(86_400_000));
            self.guests.insert(rank, Guest { connection, machine: hello.machine, until, sender: None });
            if self.guests.len() as u32 == ranks {
                self.begin();
            }
            return Ok(());
        };
        // Nobody will come in the place of this one, so the others need not wait.
        self.refuse_all(ncclResult::ncclInvalidUsage, &why);
        Err((ncclResult::ncclInvalidUsage, why))
    }

    /// All have come.
    fn begin(&mut self) {
        let mut machines = self.guests.values().map(|guest| guest.machine);
        let first = machines.next();
        let are_one = machines.all(|machine| Some(machine) == first);
        if are_one {
            for guest in self.guests.values_mut() {
                // A rank that does not hear it has gone, and what is left to say is its others' to notice.
                let _ = Frame::Local.send(&mut guest.connection);
            }
            self.stage = Stage::Over;
            return;
        }
        self.stage = Stage::Meeting(Box::new(Meeting::new(self.ranks, self.patience)), false);
        for guest in self.guests.values_mut() {
            let Ok(connection) = guest.connection.try_clone() else { continue };
            let (sender, receiver) = channel();
            let _ = sender.send(Frame::Remote.write());
            let write = move || remote::write(connection, &receiver);
            if std::thread::Builder::new().name("dacapo-hub-out".into()).spawn(write).is_ok() {
                guest.sender = Some(sender);
            }
        }
    }

    fn refuse_all(&mut self, code: ncclResult, why: &str) {
        for guest in self.guests.values_mut() {
            // As above.
            let _ = Frame::Refused(code, why.to_string()).send(&mut guest.connection);
            let _ = guest.connection.shutdown(Shutdown::Both);
        }
        self.stage = Stage::Over;
    }

    /// A rank says something.
    fn hear(&mut self, rank: u32, frame: Frame) {
        let ranks = self.ranks;
        let Stage::Meeting(meeting, _) = &mut self.stage else {
            return self.lose(rank, "says something before all have come");
        };
        let done = match frame {
            Frame::Offer(said) if Hub::may_offer(meeting, rank, ranks, &said) => meeting.offer(rank, said, None),
            Frame::Left => {
                meeting.leave(rank, Gone::Left);
                Vec::new()
            }
            Frame::Aborted => {
                meeting.leave(rank, Gone::Aborted);
                Vec::new()
            }
            Frame::Lost(why) => {
                meeting.leave(rank, Gone::Lost(why));
                Vec::new()
            }
            _ => return self.lose(rank, "says what no rank says"),
        };
        self.tell(done);
    }

    /// A rank has one piece under way at a time.
    fn may_offer(meeting: &Meeting, rank: u32, ranks: u32, said: &[(Said, Content)]) -> bool {
        let seat = &meeting.seats[rank as usize];
        seat.gone.is_none() && meeting.open_calls(rank).next().is_none() && is_sound(said, rank, ranks)
    }

    /// A rank's connection has ended.
    fn lose(&mut self, rank: u32, why: &str) {
        match &mut self.stage {
            Stage::Joining => {
                self.guests.remove(&rank);
                self.refuse_all(ncclResult::ncclRemoteError, &format!("rank {rank} {why}"));
            }
            Stage::Meeting(meeting, _) => {
                if meeting.seats[rank as usize].gone.is_none() {
                    meeting.leave(rank, Gone::Lost(why.to_string()));
                }
                self.tell(Vec::new());
            }
            Stage::Over => {}
        }
    }

    /// Sends results, and trouble once.
    fn tell(&mut self, done: Done) {
        let Stage::Meeting(meeting, is_told) = &mut self.stage else { return };
        // A guest whose writer has ended is lost, which its reader notices.
        for (rank, outcomes) in done {
            if let Some(sender) = self.guests.get(&rank).and_then(|guest| guest.sender.as_ref()) {
                let _ = sender.send(Frame::Done(outcomes).write());
            }
        }
        if let Some(trouble) = meeting.trouble.clone().filter(|_| !*is_told) {
            *is_told = true;
            let frame = Frame::Broken(trouble).write();
            for sender in self.guests.values().filter_map(|guest| guest.sender.as_ref()) {
                let _ = sender.send(frame.clone());
            }
        }
        if meeting.is_empty() {
            self.stage = Stage::Over;
            self.guests.clear();
        }
    }
}

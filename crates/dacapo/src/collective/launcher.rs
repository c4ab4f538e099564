//! Where a process stands among those that a launcher has started, and how they find each other.
//!
//! | launcher | rank | size | rank on the machine |
//! |---|---|---|---|
//! | torchrun and alike | `RANK` | `WORLD_SIZE` | `LOCAL_RANK` |
//! | Open MPI | `OMPI_COMM_WORLD_RANK` | `OMPI_COMM_WORLD_SIZE` | `OMPI_COMM_WORLD_LOCAL_RANK` |
//! | MPICH, Intel MPI | `PMI_RANK` | `PMI_SIZE` | `MPI_LOCALRANKID` |
//! | Slurm | `SLURM_PROCID` | `SLURM_NTASKS` | `SLURM_LOCALID` |
//!
//! The first line of the table that is there counts. `MASTER_ADDR` and `MASTER_PORT` say where rank 0 waits for the others, to
//! tell them the id; where torchrun keeps that port for itself (`TORCHELASTIC_USE_AGENT_STORE=True`), it is the next one.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::collective::{Communicator, Join, UniqueId};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};

/// What a launcher says of this process.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::Device;
/// use dacapo::collective::{Communicator, Launcher};
/// let comm = match Launcher::from_env() {
///     Ok(place) => place.join(&Device::cuda(place.local_rank)?)?, // torchrun, mpirun, srun
///     Err(_) => Communicator::alone(&Device::software()?)?,       // nobody has started several
/// };
/// assert!(comm.rank() < comm.size());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its number among all.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// Its number among those on the same machine: which GPU it takes. 0 where the launcher does not say.
    pub local_rank: usize,
    /// Where rank 0 waits: a name or address.
    pub host: String,
    /// And at which port.
    pub port: u16,
}

const LAUNCHERS: [[&str; 3]; 4] = [
    ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"],
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
];

/// The first bytes of either side, so that a stranger on the port is noticed.
const HELLO: [u8; 8] = *b"dacapo:2";
/// Instead of them, to a rank of another job: then how many ranks this one has.
const OTHER_JOB: [u8; 8] = *b"dacapo:0";
/// The last byte of a rank that has heard the id.
const HEARD: [u8; 1] = *b"!";
const ALL_RANKS: &str = "help: start all ranks, each once, with the same WORLD_SIZE, MASTER_ADDR and MASTER_PORT; `join_with` says how \
                         long they wait for each other";
/// Between two tries to reach rank 0.
const AGAIN: Duration = Duration::from_millis(50);
/// How long one of the others may take for its few bytes.
const ONE: Duration = Duration::from_secs(5);
/// More missing ranks than this are not named.
const NAMED_MAX: usize = 8;

impl Launcher {
    /// As the environment says it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotJoined`]: a variable is missing, or is not what it should be; the text says which.
    pub fn from_env() -> Result<Launcher> {
        // What is no text is there, too, and is told as what it is not.
        Launcher::from(|name| std::env::var_os(name).map(|text| text.to_string_lossy().into_owned()))
    }

    fn from(get: impl Fn(&str) -> Option<String>) -> Result<Launcher> {
        let fail = |why: String| Error::new(ErrorKind::NotJoined { rank: 0, size: 0, why });
        let known = LAUNCHERS.iter().find(|[rank, size, _]| get(rank).is_some() && get(size).is_some());
        let Some([rank, size, local_rank]) = known else {
            let half = LAUNCHERS.iter().find_map(|[rank, size, _]| match (get(rank), get(size)) {
                (Some(_), None) => Some(format!("{rank} is set, and {size} is not")),
                (None, Some(_)) => Some(format!("{size} is set, and {rank} is not")),
                _ => None,
            });
            let none = || "the environment has no RANK and WORLD_SIZE, nor those of mpirun or Slurm".to_string();
            return Err(fail(half.unwrap_or_else(none)));
        };
        let number = |name: &str| {
            let text = get(name).ok_or_else(|| fail(format!("{name} is not set")))?;
            text.trim().parse::<usize>().map_err(|_| fail(format!("{name} is `{text}`, and should be a number")))
        };
        let (rank, size) = (number(rank)?, number(size)?);
        if rank >= size {
            return Err(fail(format!("the environment says rank {rank} of {size}")));
        }
        let local_rank = if get(local_rank).is_some() { number(local_rank)? } else { 0 };
        let alone = (size == 1).then(|| "127.0.0.1".to_string());
        let host = get("MASTER_ADDR").or(alone).ok_or_else(|| fail("MASTER_ADDR is not set".into()))?;
        let port = if size == 1 && get("MASTER_PORT").is_none() { 1 } else { number("MASTER_PORT")? };
        let taken = get("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|taken| taken.eq_ignore_ascii_case("true"));
        let port = port.saturating_add(usize::from(taken));
        let is_port = u16::try_from(port).ok().filter(|port| *port > 0 || size == 1);
        let port = is_port.ok_or_else(|| fail(format!("MASTER_PORT {port} is no port")))?;
        Ok(Launcher { rank, size, local_rank, host, port })
    }

    /// Joins with all others.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotJoined`]: not all came within five minutes, or rank 0 could not be reached.
    /// - As [`Communicator::join`].
    #[track_caller]
    pub fn join(&self, device: &Device) -> Result<Communicator> {
        self.join_with(device, &Join::new(), Duration::from_secs(300))
    }

    /// Joins with all others, with these options. `patience`: how long the other processes may take to start.
    ///
    /// # Errors
    ///
    /// - As [`join`](Launcher::join).
    #[track_caller]
    pub fn join_with(&self, device: &Device, options: &Join, patience: Duration) -> Result<Communicator> {
        let at = Location::caller();
        let id = self.expect_sense().and_then(|()| self.id(device, options, Deadline::after(patience)));
        let id = id.map_err(|error| error.on_line(at))?;
        options.join(device, &id, self.rank, self.size)
    }

    /// The id that rank 0 makes.
    fn id(&self, device: &Device, options: &Join, until: Deadline) -> Result<UniqueId> {
        if self.rank > 0 {
            return self.ask(until);
        }
        let id = options.unique_id(device)?;
        self.tell(&id, until)?;
        Ok(id)
    }

    fn fail(&self, why: String) -> Error {
        Error::new(ErrorKind::NotJoined { rank: self.rank, size: self.size, why })
    }

    /// The fields are everyone's to write.
    fn expect_sense(&self) -> Result<()> {
        if self.rank >= self.size {
            return Err(self.fail(format!("ranks are numbers from 0 to {}", self.size.saturating_sub(1))));
        }
        match i32::try_from(self.size) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.fail("there are too many ranks".into())),
        }
    }

    /// Rank 0 tells every other rank the id, once each.
    fn tell(&self, id: &UniqueId, until: Deadline) -> Result<()> {
        if self.size == 1 {
            return Ok(());
        }
        let at = (&*self.host, self.port);
        let cannot = |error: std::io::Error| {
            let help = "help: choose another MASTER_PORT, the same for all ranks";
            self.fail(format!("port {} cannot be opened: {error}\n{help}", self.port))
        };
        let listener = TcpListener::bind(at).or_else(|_| TcpListener::bind(("0.0.0.0", self.port))).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        // Only of those who came, because the size is whatever somebody has written.
        let (mut told, mut other_job) = (BTreeSet::new(), None);
        while told.len() < self.size - 1 {
            let came = listener.accept();
            let left = until.left();
            match came {
                // Who is nobody's rank, or goes away, is none.
                Ok((stream, _)) if !left.is_zero() => match self.tell_one(stream, id, left) {
                    Some(asked) if asked.is_of(self) => _ = told.insert(asked.rank),
                    asked => other_job = asked.or(other_job),
                },
                Err(_) if !left.is_zero() => std::thread::sleep(AGAIN.min(left)),
                _ => {
                    let came = other_job.map_or_else(String::new, |Asked { rank, size }| {
                        format!("; a process came that says it is rank {rank} of {size}")
                    });
                    let missing = self.missing(&told);
                    return Err(self.fail(format!("nothing was heard from rank {missing}{came}\n{ALL_RANKS}")));
                }
            }
        }
        Ok(())
    }

    /// Who was not told, in words: the first of them, and how many more there are.
    fn missing(&self, told: &BTreeSet<usize>) -> String {
        let named = (1..self.size).filter(|rank| !told.contains(rank)).take(NAMED_MAX);
        let named: Vec<_> = named.map(|rank| rank.to_string()).collect();
        let text = named.join(", ");
        match self.size - 1 - told.len() - named.len() {
            0 => text,
            more => format!("{text} and {more} more"),
        }
    }

    /// Which rank has asked. Only one of this job is told.
    fn tell_one(&self, mut stream: TcpStream, id: &UniqueId, left: Duration) -> Option<Asked> {
        stream.set_nonblocking(false).ok()?;
        let (mut hello, until) = ([0; 16], Deadline::after(ONE.min(left)));
        read_all(&mut stream, &mut hello, until).ok()?;
        let [rank, size] =
            [&hello[8..12], &hello[12..]].map(|word| u32::from_le_bytes(word.try_into().unwrap_or_default()) as usize);
        if hello[..8] != HELLO {
            return None;
        }
        let asked = Asked { rank, size };
        if !asked.is_of(self) {
            stream.write_all(&[&OTHER_JOB[..], &(self.size as u32).to_le_bytes()].concat()).ok()?;
            return Some(asked);
        }
        stream.write_all(&[&HELLO[..], &id.to_bytes()].concat()).ok()?;
        // Perhaps it has given up meanwhile and asks again: then it was not told.
        let mut heard = [0];
        read_all(&mut stream, &mut heard, until).ok()?;
        (heard == HEARD).then_some(asked)
    }

    /// Another rank asks rank 0 for it.
    fn ask(&self, until: Deadline) -> Result<UniqueId> {
        // What somebody has answered says more than that the last try was too late.
        let mut answered = None;
        loop {
            let why = match self.ask_once(ONE.min(until.left()).max(AGAIN)) {
                Ok(id) => return Ok(id),
                Err(why) => why,
            };
            if why.kind() == std::io::ErrorKind::Other {
                answered = Some(why.to_string());
            }
            match until.left() {
                left if !left.is_zero() => std::thread::sleep(AGAIN.min(left)),
                _ => {
                    let why = answered.unwrap_or_else(|| why.to_string());
                    let at = format!("{}:{}", self.host, self.port);
                    return Err(self.fail(format!("rank 0 was not reached at {at}: {why}\n{ALL_RANKS}")));
                }
            }
        }
    }

    fn ask_once(&self, patience: Duration) -> Result<UniqueId, std::io::Error> {
        // Rank 0 listens at one of the name's addresses, and which of them cannot be known: all are tried.
        let mut found = Err(std::io::Error::other("the name has no address"));
        for at in (&*self.host, self.port).to_socket_addrs()? {
            found = TcpStream::connect_timeout(&at, patience);
            if found.is_ok() {
                break;
            }
        }
        let (mut stream, until) = (found?, Deadline::after(patience));
        let [rank, size] = [self.rank, self.size].map(|number| (number as u32).to_le_bytes());
        stream.write_all(&[&HELLO[..], &rank, &size].concat())?;
        let (mut hello, mut other_size, mut bytes) = ([0; 8], [0; 4], [0; UniqueId::LEN]);
        read_all(&mut stream, &mut hello, until)?;
        if hello == OTHER_JOB {
            read_all(&mut stream, &mut other_size, until)?;
            let size = u32::from_le_bytes(other_size);
            return Err(std::io::Error::other(format!("it has {size} ranks, and this one was told of {}", self.size)));
        }
        if hello != HELLO {
            return Err(std::io::Error::other("somebody else answers"));
        }
        read_all(&mut stream, &mut bytes, until)?;
        stream.write_all(&HEARD)?;
        Ok(UniqueId::from_bytes(bytes))
    }
}

/// Who has asked for the id, as it says.
#[derive(Clone, Copy)]
struct Asked {
    rank: usize,
    size: usize,
}

impl Asked {
    /// Whether it is another rank of this job.
    fn is_of(self, place: &Launcher) -> bool {
        self.size == place.size && (1..place.size).contains(&self.rank)
    }
}

/// Reads all of it, or gives up: whoever sends byte by byte has no more time than others.
fn read_all(stream: &mut TcpStream, mut rest: &mut [u8], until: Deadline) -> std::io::Result<()> {
    while !rest.is_empty() {
        let left = until.left();
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(rest) {
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => rest = &mut rest[count..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// When patience ends. One that is longer than the clock can count does not end.
#[derive(Clone, Copy)]
struct Deadline(Option<Instant>);

impl Deadline {
    fn after(patience: Duration) -> Deadline {
        Deadline(Instant::now().checked_add(patience))
    }

    fn left(&self) -> Duration {
        self.0.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Result<Launcher> {
        Launcher::from(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()))
    }

    #[test]
    fn launchers_say_where_a_process_stands() -> Result<()> {
        let torch =
            [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1"), ("MASTER_ADDR", "a"), ("MASTER_PORT", "29500")];
        let found = place(&torch)?;
        assert_eq!((found.rank, found.size, found.local_rank, found.port), (3, 8, 1, 29500));
        let agent = [&torch[..], &[("TORCHELASTIC_USE_AGENT_STORE", "True")]].concat();
        assert_eq!(place(&agent)?.port, 29501);
        let no_port = [&agent[..4], &[("MASTER_PORT", "18446744073709551615"), agent[5]]].concat();
        assert!(place(&no_port).is_err_and(|error| error.to_string().contains("is no port")));
        let slurm = [
            ("SLURM_PROCID", "1"),
            ("SLURM_NTASKS", "2"),
            ("SLURM_LOCALID", "0"),
            ("MASTER_ADDR", "n1"),
            ("MASTER_PORT", "1234"),
        ];
        assert_eq!(place(&slurm)?, Launcher { rank: 1, size: 2, local_rank: 0, host: "n1".into(), port: 1234 });
        let mpi = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
        assert_eq!(place(&mpi)?.size, 1);
        Ok(())
    }

    #[test]
    fn what_is_missing_is_named() {
        let said =
            |variables: &[(&str, &str)]| place(variables).map_or_else(|error| error.to_string(), |_| String::new());
        assert!(said(&[]).contains("no RANK and WORLD_SIZE"), "{}", said(&[]));
        assert!(said(&[("RANK", "1"), ("WORLD_SIZE", "2")]).contains("MASTER_ADDR is not set"));
        assert!(said(&[("RANK", "2"), ("WORLD_SIZE", "2")]).contains("rank 2 of 2"));
        assert!(said(&[("RANK", "x"), ("WORLD_SIZE", "2")]).contains("RANK is `x`"));
        assert!(said(&[("RANK", "0")]).contains("RANK is set, and WORLD_SIZE is not"));
    }

    #[test]
    fn of_many_missing_ranks_some_are_named_and_the_rest_is_counted() {
        let missing = |size, told: &[usize]| {
            let place = Launcher { rank: 0, size, local_rank: 0, host: String::new(), port: 1 };
            place.missing(&told.iter().copied().collect())
        };
        assert_eq!(missing(2, &[]), "1");
        assert_eq!(missing(4, &[2]), "1, 3");
        assert_eq!(missing(9, &[]), "1, 2, 3, 4, 5, 6, 7, 8");
        assert_eq!(missing(11, &[3]), "1, 2, 4, 5, 6, 7, 8, 9 and 1 more");
        assert_eq!(missing(i32::MAX as usize, &[]), "1, 2, 3, 4, 5, 6, 7, 8 and 2147483638 more");
    }

    #[cfg(feature = "software")]
    #[test]
    fn ranks_of_two_jobs_on_one_port_are_told_of_each_other() -> Result<()> {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|error| Error::msg(error.to_string()))?.port();
        let place = |rank, size| Launcher { rank, size, local_rank: 0, host: "127.0.0.1".into(), port };
        let ended = |rank, size, patience| {
            let device = Device::software().expect("a device opens");
            let joined = place(rank, size).join_with(&device, &Join::new(), Duration::from_millis(patience));
            joined.expect_err("they are of two jobs").to_string()
        };
        std::thread::scope(|scope| {
            let listens = scope.spawn(|| ended(0, 2, 2000));
            let asks = ended(1, 4, 1000);
            assert!(asks.contains("it has 2 ranks, and this one was told of 4"), "{asks}");
            let listens = listens.join().expect("it ends");
            let want = "nothing was heard from rank 1; a process came that says it is rank 1 of 4";
            assert!(listens.contains(want), "{listens}");
        });
        Ok(())
    }

    #[cfg(feature = "software")]
    #[test]
    fn who_sends_byte_by_byte_has_no_more_time_than_others() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let at = listener.local_addr().expect("it has an address");
        let mut slow = TcpStream::connect(at).expect("it listens");
        let (mut heard, _) = listener.accept().expect("it has come");
        let begun = Instant::now();
        let over = std::sync::atomic::AtomicBool::new(false);
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Acquire) && slow.write_all(b"d").is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            let read = read_all(&mut heard, &mut [0; 1 << 16], Deadline::after(Duration::from_millis(200)));
            over.store(true, std::sync::atomic::Ordering::Release);
            read
        });
        assert!(error.is_err() && begun.elapsed() < Duration::from_secs(5), "{error:?}");
    }

    #[cfg(feature = "software")]
    #[test]
    fn who_cannot_join_is_told_at_which_line() -> Result<()> {
        let place = place(&[("RANK", "1"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "1")])?;
        let (device, here) = (Device::software()?, std::panic::Location::caller());
        let error = place.join_with(&device, &Join::new(), Duration::ZERO).expect_err("nobody is at port 1");
        assert!(matches!(error.kind(), ErrorKind::NotJoined { rank: 1, size: 2, .. }), "{error:?}");
        assert_eq!(error.location().map(|at| at.line()), Some(here.line() + 1), "{error:?}");
        Ok(())
    }
}

//! How a rank joins: it tells the hub who it is, and hears where the others are.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use dacapo_nccl::types::ncclResult;

use super::communicator::{Communicator, Link};
use super::id::{Id, random_number};
use super::refusal::Refused;
use super::remote::Remote;
use super::report::Trouble;
use super::wire::{Frame, Hello, Within};
use crate::machine::Machine;

/// The hub ends a wait in time; this is for a hub that does not.
const GRACE: Duration = Duration::from_secs(5);

/// Joins, and waits for all others; what goes wrong is the communicator's trouble too.
pub(crate) fn join(machine: &Machine, communicator: &Arc<Communicator>, id: Id) -> Result<(), Refused> {
    let joined = reach(machine, communicator, id);
    match joined {
        Ok(link) => {
            communicator.has_joined(link);
            machine.watch_ranks();
            Ok(())
        }
        Err(refused) => {
            communicator.set_trouble(Trouble::told(refused.code, refused.text.clone()));
            Err(refused)
        }
    }
}

fn reach(machine: &Machine, communicator: &Arc<Communicator>, id: Id) -> Result<Link, Refused> {
    let (number, patience) = {
        let mut state = machine.lock();
        (*state.ranks.machine.get_or_insert_with(random_number), state.options.patience())
    };
    let hub = SocketAddr::from((Ipv4Addr::LOCALHOST, id.port));
    let nobody = |error: std::io::Error| {
        let why = format!(
            "nobody waits for ranks with this id ({error}): all its ranks have come before, or the process that made it \
             has ended"
        );
        Refused::new(ncclResult::ncclInvalidUsage, why)
    };
    let patient = patience.max(Duration::from_millis(1));
    let mut connection = TcpStream::connect_timeout(&hub, patient).map_err(nobody)?;
    let hello = Hello {
        token: id.token,
        ranks: communicator.ranks,
        rank: communicator.rank,
        machine: number,
        patience_ms: patience.as_millis() as u64,
    };
    let system = |error: std::io::Error| Refused::new(ncclResult::ncclSystemError, format!("joining failed: {error}"));
    connection.set_nodelay(true).and_then(|()| connection.write_all(&hello.write())).map_err(nobody)?;
    if !communicator.joins_over(Some(connection.try_clone().map_err(system)?)) {
        return Err(Refused::new(ncclResult::ncclInvalidUsage, "the communicator was aborted while it joined"));
    }
    let answer = Frame::read(&mut Within::new(&connection, patience.saturating_add(GRACE)));
    communicator.joins_over(None);
    match answer {
        Ok(Frame::Local) => machine.lock().ranks.sit_down(id.token, communicator, patience),
        Ok(Frame::Remote) => {
            connection.set_read_timeout(None).map_err(system)?;
            Remote::start(connection, machine, communicator).map(Link::Remote).map_err(system)
        }
        Ok(Frame::Refused(code, text)) => Err(Refused::new(code, text)),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            Err(Refused::new(ncclResult::ncclTimeout, "the process that made the id does not answer"))
        }
        // Taken by the system for a listener that was just closing.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Err(nobody(error)),
        Ok(_) | Err(_) => {
            let why = "the process that made the id has gone, or the port in it is somebody else's";
            Err(Refused::new(ncclResult::ncclRemoteError, why))
        }
    }
}

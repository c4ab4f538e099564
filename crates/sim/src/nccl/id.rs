//! The bytes that all ranks of a communicator are given: a secret, and the port at which its hub listens.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;

use dacapo_nccl::types::ncclUniqueId;

/// What only those know who were given the id.
pub(crate) type Token = [u8; 16];

const MAGIC: [u8; 8] = *b"dacapoid";

/// An id, read.
#[derive(Clone, Copy)]
pub(crate) struct Id {
    pub(crate) token: Token,
    pub(crate) port: u16,
}

impl Id {
    pub(crate) fn write(self) -> ncclUniqueId {
        let mut internal = [0; 128];
        internal[..8].copy_from_slice(&MAGIC);
        internal[8..24].copy_from_slice(&self.token);
        internal[24..26].copy_from_slice(&self.port.to_le_bytes());
        ncclUniqueId { internal }
    }

    /// Nothing if these bytes were not made here.
    pub(crate) fn read(id: &ncclUniqueId) -> Option<Id> {
        let bytes = &id.internal;
        let token = bytes[8..24].try_into().ok()?;
        let port = u16::from_le_bytes(bytes[24..26].try_into().ok()?);
        let is_ours = bytes[..8] == MAGIC && port != 0 && bytes[26..].iter().all(|byte| *byte == 0);
        is_ours.then_some(Id { token, port })
    }
}

/// A token that nobody guesses: it comes from the operating system.
pub(crate) fn random_token() -> Token {
    let mut token = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut token));
    if read.is_err() {
        // The keys of a map's hasher come from the operating system too.
        token[..8].copy_from_slice(&random_number().to_le_bytes());
        token[8..].copy_from_slice(&random_number().to_le_bytes());
    }
    token
}

/// A number that no two machines have.
pub(crate) fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

//! What a GPU gave for each instruction, with what is needed to know that it still belongs to the inputs of today.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};

use super::run::run;
use super::{Single, all};
use crate::digest::sha256;
use crate::session::{Refused, Session};

/// Where results of approximations lie, from the root of the workspace.
pub const APPROX_FILE: &str = "crates/suite/recordings/approx-h200.json";
/// Where all others lie.
pub const FACTS_FILE: &str = "crates/suite/recordings/ptx-facts-h200.json";
/// Results of instructions that are not approximate: so many are kept in full, all of them as digests.
const CHUNK: usize = 256;

/// A recording.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct SingleRecording {
    /// The device's name.
    pub gpu: String,
    /// The version of its driver.
    pub driver: String,
    /// The commit that the recorder was built from.
    pub commit: String,
    /// By [`Single::name`].
    pub singles: BTreeMap<String, SingleAnswer>,
}

/// What was given for one instruction.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct SingleAnswer {
    /// [`hash_of`] the instruction and its inputs.
    pub inputs: String,
    /// Results in base64, as wide as they are: all of them, or the first 256.
    pub results: String,
    /// A digest of each 256 results; empty where all are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
}

/// Why a recording has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleSingle {
    /// The instruction or its inputs have changed since.
    Inputs,
    /// The results cannot be read, or are too few.
    Garbled,
}

impl fmt::Display for StaleSingle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StaleSingle::Inputs => {
                "the inputs have changed since they were recorded; `cargo xtask gpu-pack`, on a machine with a GPU \
                 `target/gpu-pack/run.sh singles`, and copy approx.json and ptx-facts.json to crates/suite/recordings"
            }
            StaleSingle::Garbled => "the recorded results cannot be read",
        })
    }
}

impl std::error::Error for StaleSingle {}

impl SingleAnswer {
    /// The results that were kept in full.
    ///
    /// # Errors
    ///
    /// - They belong to other inputs, or are garbled.
    pub fn results(&self, single: &Single) -> Result<Vec<u64>, StaleSingle> {
        if self.inputs != hash_of(single) {
            return Err(StaleSingle::Inputs);
        }
        let bytes = BASE64_STANDARD.decode(&self.results).or(Err(StaleSingle::Garbled))?;
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        Ok(bytes.chunks(single.out.bytes()).map(word).collect())
    }
}

/// A hash of the instruction and everything it is given.
pub fn hash_of(single: &Single) -> String {
    let mut bytes = format!("{}\n{}\n{:?}\n", single.name, single.body, single.out).into_bytes();
    single.inputs.iter().flatten().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    sha256(&bytes)
}

/// The form in which results are kept.
pub fn keep(single: &Single, results: &[u64]) -> SingleAnswer {
    let width = single.out.bytes();
    let bytes: Vec<u8> = results.iter().flat_map(|word| word.to_le_bytes().into_iter().take(width)).collect();
    let in_full = single.is_approx() || results.len() <= CHUNK;
    let digests = match in_full {
        true => Vec::new(),
        false => bytes.chunks(CHUNK * width).map(|chunk| sha256(chunk)[..8].to_string()).collect(),
    };
    let full = if in_full { &bytes[..] } else { &bytes[..CHUNK * width] };
    SingleAnswer { inputs: hash_of(single), results: BASE64_STANDARD.encode(full), digests }
}

/// Reads one of the committed recordings.
///
/// # Errors
///
/// - What is wrong with the file.
pub fn committed(root: &Path, file: &str) -> Result<SingleRecording, String> {
    let text = std::fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))
}

/// Runs every instruction and gives the two recordings, approximations first, with those that were refused.
///
/// # Errors
///
/// - The device does not say its name.
#[allow(clippy::type_complexity, reason = "the parts are named above")]
pub fn record(
    session: &mut Session<'_>,
    commit: &str,
    mut raw: impl FnMut(&Single, &[u64]),
) -> Result<([SingleRecording; 2], Vec<(String, Refused)>), Refused> {
    let empty = SingleRecording {
        gpu: session.device_name()?,
        driver: session.driver_release(),
        commit: commit.to_string(),
        singles: BTreeMap::new(),
    };
    let mut recordings = [empty.clone(), empty];
    let mut refused = Vec::new();
    for single in all() {
        match run(session, &single) {
            Ok(results) => {
                raw(&single, &results);
                let file = usize::from(!single.is_approx());
                recordings[file].singles.insert(single.name.clone(), keep(&single, &results));
            }
            Err(error) => refused.push((single.name.clone(), error)),
        }
    }
    Ok((recordings, refused))
}

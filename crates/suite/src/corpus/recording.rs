//! Recordings: the bits a GPU gave, with what is needed to know that they still belong to the cases of today.

use std::collections::BTreeMap;
use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::run::{Failure, run};
use super::{all, ptx};
use crate::digest::sha256;
use crate::session::{Refused, Session};

/// Where the committed recording lies, from the root of the workspace.
pub const RECORDING_FILE: &str = "crates/suite/recordings/corpus-h200.json";

/// What a device gave for every case.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Recording {
    /// The device's name.
    pub gpu: String,
    /// The version of its driver, as NVIDIA numbers them: `580.159.04`.
    pub driver: String,
    /// The commit that the recorder was built from.
    pub commit: String,
    /// SHA-256 of each module's PTX.
    pub modules: BTreeMap<String, String>,
    /// By [`Case::name`].
    pub cases: BTreeMap<String, RecordedCase>,
}

/// What a device gave for one case.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct RecordedCase {
    /// [`Case::inputs_sha256`].
    pub inputs: String,
    /// The bytes of each output, in base64.
    pub outputs: Vec<String>,
}

/// The outputs of one case, as bytes.
pub type CaseOutputs = Vec<Vec<u8>>;

/// Why a recording has no answer for a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingError {
    /// There is no recording, or it cannot be read.
    Unreadable(String),
    /// The case was not recorded.
    Missing,
    /// The PTX has changed since.
    StaleModule(String),
    /// The inputs have changed since.
    StaleInputs,
    /// The outputs are not base64.
    Garbled,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordingError::Unreadable(why) => write!(f, "{why}; {HOW_TO_RECORD}"),
            RecordingError::Missing => write!(f, "not in the recording; {HOW_TO_RECORD}"),
            RecordingError::StaleModule(module) => {
                write!(f, "the PTX of `{module}` has changed since it was recorded; {HOW_TO_RECORD}")
            }
            RecordingError::StaleInputs => {
                write!(f, "the inputs have changed since they were recorded; {HOW_TO_RECORD}")
            }
            RecordingError::Garbled => write!(f, "the recorded outputs are not base64"),
        }
    }
}

impl std::error::Error for RecordingError {}

const HOW_TO_RECORD: &str = "to record: `cargo xtask gpu-pack`, on a machine with a GPU `target/gpu-pack/run.sh corpus`, \
                             and copy its corpus.json to crates/suite/recordings/corpus-h200.json";

impl Recording {
    /// Reads a recording from its JSON text.
    pub fn parse(text: &str) -> Result<Recording, RecordingError> {
        serde_json::from_str(text).map_err(|error| RecordingError::Unreadable(format!("not a recording: {error}")))
    }

    /// The outputs of a case, if they were recorded with the PTX and the inputs of today.
    pub fn outputs(&self, case: &Case) -> Result<CaseOutputs, RecordingError> {
        let recorded = self.cases.get(&case.name()).ok_or(RecordingError::Missing)?;
        let module = ptx(case.module).unwrap_or_default();
        if self.modules.get(case.module) != Some(&sha256(module.as_bytes())) {
            return Err(RecordingError::StaleModule(case.module.to_string()));
        }
        if recorded.inputs != case.inputs_sha256() {
            return Err(RecordingError::StaleInputs);
        }
        recorded.outputs.iter().map(|text| BASE64_STANDARD.decode(text).or(Err(RecordingError::Garbled))).collect()
    }

    /// Whether no GPU has run a case yet, and that is known.
    pub fn awaits(&self, case: &Case) -> bool {
        super::AWAITED.contains(&case.module) && !self.cases.contains_key(&case.name())
    }

    /// One line for a report: GPU, driver, commit.
    pub fn origin(&self) -> String {
        let commit: String = self.commit.chars().take(12).collect();
        format!("{}, driver {}, commit {commit}", self.gpu, self.driver)
    }
}

/// The recording that is committed, read from the workspace that `root` is the root of.
pub fn committed(root: &std::path::Path) -> Result<Recording, RecordingError> {
    let path = root.join(RECORDING_FILE);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| RecordingError::Unreadable(format!("{RECORDING_FILE}: {error}")))?;
    Recording::parse(&text)
}

/// Runs every case and records what came out. Cases that fail are returned beside it and are not in it.
pub fn record(session: &mut Session<'_>, commit: &str) -> Result<(Recording, Vec<(String, Failure)>), Refused> {
    let mut recording = Recording {
        gpu: session.device_name()?,
        driver: session.driver_release(),
        commit: commit.to_string(),
        modules: super::MODULES.iter().map(|(name, ptx)| (name.to_string(), sha256(ptx.as_bytes()))).collect(),
        cases: BTreeMap::new(),
    };
    let mut failures = Vec::new();
    for case in all() {
        match run(session, &case) {
            Ok(outputs) => {
                let outputs = outputs.iter().map(|bytes| BASE64_STANDARD.encode(bytes)).collect();
                let recorded = RecordedCase { inputs: case.inputs_sha256(), outputs };
                recording.cases.insert(case.name(), recorded);
            }
            Err(failure) => failures.push((case.name(), failure)),
        }
    }
    Ok((recording, failures))
}

#[cfg(test)]
mod tests {
    use super::super::Bound;
    use super::*;

    fn case(value: i32) -> Case {
        Case::new("saxpy", "iaxpy_i32", "a test").scalar(value).output::<u8>(3, Bound::Exact)
    }

    fn recording() -> Recording {
        let outputs = vec![BASE64_STANDARD.encode([1, 2, 3])];
        let recorded = RecordedCase { inputs: case(5).inputs_sha256(), outputs };
        Recording {
            gpu: "a GPU".into(),
            driver: "580.159.04".into(),
            commit: "0123456789abcdef".into(),
            modules: [("saxpy".to_string(), sha256(ptx("saxpy").unwrap().as_bytes()))].into(),
            cases: [(case(5).name(), recorded)].into(),
        }
    }

    #[test]
    fn what_was_recorded_is_read_back() {
        let text = serde_json::to_string(&recording()).unwrap();
        let read = Recording::parse(&text).unwrap();
        assert_eq!(read.outputs(&case(5)), Ok(vec![vec![1, 2, 3]]));
        assert_eq!(read.origin(), "a GPU, driver 580.159.04, commit 0123456789ab");
    }

    #[test]
    fn a_recording_that_does_not_belong_to_the_case_is_an_error() {
        assert_eq!(recording().outputs(&case(6)), Err(RecordingError::StaleInputs));
        let other = Case::new("saxpy", "saxpy_f32", "a test");
        assert_eq!(recording().outputs(&other), Err(RecordingError::Missing));
        let mut stale = recording();
        stale.modules.insert("saxpy".into(), sha256(b"older"));
        assert_eq!(stale.outputs(&case(5)), Err(RecordingError::StaleModule("saxpy".into())));
        let mut garbled = recording();
        garbled.cases.get_mut(&case(5).name()).unwrap().outputs[0].push('!');
        assert_eq!(garbled.outputs(&case(5)), Err(RecordingError::Garbled));
        assert!(Recording::parse("{}").unwrap_err().to_string().contains("cargo xtask gpu-pack"));
    }
}

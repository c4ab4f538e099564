//! What the environment sets, read once, when the driver is made.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `DACAPO_SEED` | the seed of every choice: a number, `0x` for base 16 | 0 |
//! | `DACAPO_DEVICES` | how many devices there are, from 1 to 64 | 1 |
//! | `DACAPO_MEMORY` | bytes of memory of each device; K, M, G, T behind it for powers of 1024 | as an H200 has |
//! | `DACAPO_DETECT` | what is looked for: `all`, `default`, `none`, or names of detectors with commas between | `default` |
//! | `DACAPO_STRICT` | `1`: a kernel faults at its first byte beyond an allocation, even where a GPU would not notice | `0` |
//! | `DACAPO_CORES` | threads that the blocks of a kernel may run on, where `DACAPO_DETECT` is `none` | 1 |
//! | `DACAPO_FINDINGS` | the file that findings are appended to; `-` for standard error | `-` |
//! | `DACAPO_FINDINGS_FORMAT` | `text` for people, `json` for one line of JSON each | `text` |
//! | `DACAPO_STAND_INS` | 1: PTX is handed over in the place of cubins (`stand_in`); set by `dacapo run` | unset |
//!
//! A value that cannot be read is named on standard error with what is accepted, and the default is used: a program that
//! nobody here wrote should not die of a typo in a variable it does not know.

use std::ffi::OsString;
use std::path::PathBuf;

use dacapo_sim::Detectors;

/// As much as the GPU that the driver answers as; only addresses, pages come when they are written.
const MEMORY_DEFAULT: u64 = dacapo_sim::H200_BYTES;

/// The settings of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of every choice.
    pub seed: u64,
    /// How many devices there are.
    pub devices: usize,
    /// Bytes of memory of each device.
    pub memory: u64,
    /// What is looked for.
    pub detectors: Detectors,
    /// Whether every access beyond an allocation is a fault.
    pub strict: bool,
    /// Threads that the blocks of a kernel may run on.
    pub cores: usize,
    /// Where findings go.
    pub findings: Sink,
    /// How they are written.
    pub format: Format,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people, an empty line behind each.
    Text,
    /// For programs, a line each.
    Json,
}

/// Where findings go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Standard error.
    StandardError,
    /// Appended to a file.
    File(PathBuf),
}

impl Settings {
    /// Reads the settings; complaints about bad values go to `complain`, one line each.
    pub fn read(get: impl Fn(&str) -> Option<OsString>, mut complain: impl FnMut(String)) -> Settings {
        let mut number = |name: &str, accepted: &str, default: u64, parse: fn(&str) -> Option<u64>| {
            let Some(value) = get(name) else { return default };
            value.to_str().and_then(parse).unwrap_or_else(|| {
                complain(format!("dacapo: {name} is {value:?}, which is not {accepted}; {default} is used instead"));
                default
            })
        };
        let seed = number("DACAPO_SEED", "a number such as 42 or 0x5eed0041", 0, seed);
        let devices = number("DACAPO_DEVICES", "a number from 1 to 64", 1, devices) as usize;
        let memory =
            number("DACAPO_MEMORY", "a number of bytes above 0 such as 512M, 16G or 1073741824", MEMORY_DEFAULT, bytes);
        let cores = number("DACAPO_CORES", "a number from 1 to 1024", 1, cores) as usize;
        let strict = number("DACAPO_STRICT", "0 or 1", 0, |text| text.trim().parse().ok().filter(|bit| *bit < 2)) == 1;
        let detectors = match get("DACAPO_DETECT").map(|value| value.to_string_lossy().parse()) {
            None => Detectors::default(),
            Some(Ok(detectors)) => detectors,
            Some(Err(error)) => {
                complain(format!("dacapo: DACAPO_DETECT: {error}; default is used instead"));
                Detectors::default()
            }
        };
        let findings = match get("DACAPO_FINDINGS") {
            None => Sink::StandardError,
            Some(path) if path == "-" => Sink::StandardError,
            Some(path) if path.is_empty() => {
                complain("dacapo: DACAPO_FINDINGS is empty, which is not a path or -; - is used instead".to_string());
                Sink::StandardError
            }
            Some(path) => Sink::File(path.into()),
        };
        let format = match get("DACAPO_FINDINGS_FORMAT") {
            None => Format::Text,
            Some(format) if format == "text" => Format::Text,
            Some(format) if format == "json" => Format::Json,
            Some(other) => {
                let what = format!("DACAPO_FINDINGS_FORMAT is {other:?}, which is not text or json");
                complain(format!("dacapo: {what}; text is used instead"));
                Format::Text
            }
        };
        Settings { seed, devices, memory, detectors, strict, cores, findings, format }
    }
}

fn seed(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn devices(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|devices| (1..=64).contains(devices))
}

fn cores(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|cores| (1..=1024).contains(cores))
}

fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return None,
    };
    let number: u64 = digits.trim_end().parse().ok()?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let mut complaints = Vec::new();
        let get = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value));
        let settings = Settings::read(get, |complaint| complaints.push(complaint));
        (settings, complaints)
    }

    #[test]
    fn nothing_set_gives_the_defaults() {
        let expected = Settings {
            seed: 0,
            devices: 1,
            memory: MEMORY_DEFAULT,
            detectors: Detectors::default(),
            // Other people's programs: they run as they do on a GPU, and are told what a GPU does not tell.
            strict: false,
            cores: 1,
            findings: Sink::StandardError,
            format: Format::Text,
        };
        assert_eq!(read(&[]), (expected, vec![]));
    }

    #[test]
    fn values_are_read() {
        let (settings, complaints) =
            read(&[("DACAPO_SEED", "0x5eed_0041"), ("DACAPO_MEMORY", "16G"), ("DACAPO_FINDINGS", "found.txt")]);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(settings.seed, 0x5eed_0041);
        assert_eq!(settings.memory, 16 << 30);
        assert_eq!(settings.findings, Sink::File("found.txt".into()));
        assert_eq!(read(&[("DACAPO_DETECT", "all")]).0.detectors, Detectors::all());
        assert_eq!(read(&[("DACAPO_CORES", "8")]).0.cores, 8);
        assert_eq!(read(&[("DACAPO_DEVICES", "4")]).0.devices, 4);
        assert!(read(&[("DACAPO_STRICT", "1")]).0.strict && !read(&[("DACAPO_STRICT", "0")]).0.strict);
        assert_eq!(read(&[("DACAPO_FINDINGS_FORMAT", "json")]).0.format, Format::Json);
        let fewer = Detectors { freed: false, ..Detectors::default() };
        assert_eq!(read(&[("DACAPO_DETECT", "-freed")]).0.detectors, fewer);
        for (text, expected) in [("1024", 1024), ("1k", 1024), ("3 MiB", 3 << 20), ("2tb", 2 << 40)] {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_bad_value_is_named_and_the_default_is_used() {
        for (name, value) in [
            ("DACAPO_SEED", "lucky"),
            ("DACAPO_SEED", "-1"),
            ("DACAPO_SEED", ""),
            ("DACAPO_MEMORY", "16 GeV"),
            ("DACAPO_MEMORY", "0"),
            ("DACAPO_MEMORY", "G"),
            ("DACAPO_DEVICES", "0"),
            ("DACAPO_DEVICES", "65"),
            ("DACAPO_CORES", "0"),
            ("DACAPO_CORES", "all"),
            ("DACAPO_STRICT", "yes"),
            ("DACAPO_MEMORY", "99999999999999T"),
            ("DACAPO_FINDINGS_FORMAT", "xml"),
        ] {
            let (settings, complaints) = read(&[(name, value)]);
            assert_eq!(settings, read(&[]).0, "{name}={value}");
            assert_eq!(complaints.len(), 1, "{name}={value}");
            assert!(complaints[0].contains(name) && complaints[0].contains(&format!("{value:?}")), "{complaints:?}");
        }
    }
}

//! What `dacapo run` may be told about the software driver, refused here with the reason where it makes no sense: the
//! program that it is meant for would only complain and go on with the default.

use dacapo_sim::Detectors;

/// The most threads that the software driver runs blocks on.
const CORES_MAX: usize = 1024;
/// Most devices of the software driver.
const DEVICES_MAX: usize = 64;

/// A seed: a number, `0x` for base 16, with `_` where one likes.
///
/// # Errors
///
/// - What is accepted.
pub fn seed(text: &str) -> Result<u64, String> {
    let digits = text.trim().replace('_', "");
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number.map_err(|_| "a seed is a number such as 42 or 0x5eed0041".to_string())
}

/// Bytes: a number, with K, M, G or T behind it for powers of 1024.
///
/// # Errors
///
/// - What is accepted.
pub fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let bytes = shift.and_then(|shift| digits.trim_end().parse::<u64>().ok()?.checked_mul(1 << shift));
    bytes.filter(|bytes| *bytes > 0).ok_or("memory is a number of bytes above 0 such as 512M, 16G or 1073741824".into())
}

/// How many devices there are.
///
/// # Errors
///
/// - What is accepted.
pub fn devices(text: &str) -> Result<usize, String> {
    let devices = text.trim().parse().ok().filter(|devices| (1..=DEVICES_MAX).contains(devices));
    devices.ok_or_else(|| format!("devices are a number from 1 to {DEVICES_MAX}"))
}

/// Threads that the blocks of a kernel may run on.
///
/// # Errors
///
/// - What is accepted.
pub fn cores(text: &str) -> Result<usize, String> {
    let cores = text.trim().parse().ok().filter(|cores| (1..=CORES_MAX).contains(cores));
    cores.ok_or_else(|| format!("cores are a number from 1 to {CORES_MAX}"))
}

/// Detectors, as the software driver takes them; the text itself is handed on.
///
/// # Errors
///
/// - The word that is none, and all that there are.
pub fn detectors(text: &str) -> Result<String, String> {
    match text.parse::<Detectors>() {
        Ok(_) => Ok(text.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_takes_is_taken() {
        assert_eq!((seed("0x5eed_0041"), seed("42")), (Ok(0x5eed_0041), Ok(42)));
        for (text, expected) in [("1024", 1024), ("1k", 1024), ("3 MiB", 3 << 20), ("2tb", 2 << 40)] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        assert_eq!((cores("1"), cores("1024")), (Ok(1), Ok(1024)));
        assert_eq!((devices("1"), devices("64")), (Ok(1), Ok(64)));
        assert_eq!(detectors("all,-unordered").as_deref(), Ok("all,-unordered"));
        assert_eq!(detectors("-freed").as_deref(), Ok("-freed"));
    }

    #[test]
    fn what_it_would_not_take_is_refused_with_what_it_would() {
        for text in ["lucky", "-1", ""] {
            assert!(seed(text).unwrap_err().contains("0x5eed0041"), "{text}");
        }
        for text in ["16 GeV", "0", "G", "99999999999999T"] {
            assert!(bytes(text).unwrap_err().contains("16G"), "{text}");
        }
        for text in ["0", "1025", "all", "-1", ""] {
            assert!(cores(text).unwrap_err().contains("from 1 to 1024"), "{text}");
        }
        for text in ["0", "65", "all"] {
            assert!(devices(text).unwrap_err().contains("from 1 to 64"), "{text}");
        }
        let told = detectors("global_races,nonsense").unwrap_err();
        assert!(told.contains("nonsense") && told.contains("global_races"), "{told}");
    }
}

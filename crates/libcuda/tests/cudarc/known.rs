//! Lines that are known to differ from the recording, each with its reason. docs/known-differences.md has the same list.

/// Scenario, line, reason.
pub const KNOWN: &[(&str, &str, &str)] = &[
    ("contexts/device", "name", "the device says that it is software"),
    ("faults/write_to_null", "name of the device", "the device says that it is software"),
    ("contexts/memory_is_counted", "free is less than total", "what a driver takes for itself is not imitated"),
];

/// Why a line may differ, if it may.
pub fn reason(scenario: &str, what: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(name, line, _)| *name == scenario && *line == what).map(|(_, _, reason)| *reason)
}

//! How this crate was built, as far as it shows: whether kernels run at full speed.

/// Whether this build is optimised. Without, kernels run ten to thirty times slower.
pub const OPTIMISED: bool = is_optimised(env!("DACAPO_SIM_OPT_LEVEL"));

/// What to tell whoever runs a build that is not [`OPTIMISED`]: one line, with the cure.
pub const SLOW_BUILD: &str =
    "the software device is slow: it was built without `[profile.dev.package.dacapo-sim] opt-level = 3` in Cargo.toml";

const fn is_optimised(level: &str) -> bool {
    !matches!(level.as_bytes(), b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_level_0_is_slow() {
        assert!(!is_optimised("0") && is_optimised("1") && is_optimised("3") && is_optimised("s"));
    }
}

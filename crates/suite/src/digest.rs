//! SHA-256 as lower-case hexadecimal: what sources, PTX, inputs and recordings are known by.

use sha2::{Digest as _, Sha256};

/// The SHA-256 of some bytes, as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn the_standard_s_own_example() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

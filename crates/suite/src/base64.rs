//! Bytes as text in RFC 4648's base64: how recordings keep the bits of outputs.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes to text, padded.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().enumerate().fold(0u32, |word, (at, &byte)| word | u32::from(byte) << (16 - 8 * at));
        for at in 0..4 {
            match at <= group.len() {
                true => text.push(char::from(LETTERS[(word >> (18 - 6 * at)) as usize & 63])),
                false => text.push('='),
            }
        }
    }
    text
}

/// Text to bytes; `None` where the text is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    if !text.len().is_multiple_of(4) {
        return None;
    }
    for (number, group) in text.as_bytes().chunks(4).enumerate() {
        let padding = group.iter().rev().take_while(|&&letter| letter == b'=').count();
        if padding > 2 || (padding > 0 && (number + 1) * 4 != text.len()) {
            return None;
        }
        let mut word = 0u32;
        for (at, letter) in group[..4 - padding].iter().enumerate() {
            let value = LETTERS.iter().position(|known| known == letter)?;
            word |= (value as u32) << (18 - 6 * at);
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn what_is_encoded_comes_back_at_every_length() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..=bytes.len() {
            assert_eq!(decode(&encode(&bytes[..length])).as_deref(), Some(&bytes[..length]));
        }
        assert_eq!(encode(b"foobar"), "Zm9vYmFy");
        assert_eq!(encode(b"foob"), "Zm9vYg==");
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["A", "AA=A", "A===", "AAA!", "AA==AAAA"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}

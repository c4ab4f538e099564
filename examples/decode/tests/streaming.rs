//! Text from tokens as they come: no character is printed before it is whole, and the pieces are the text.

use std::path::Path;

use dacapo_example_decode::checkpoint::program::Checkpoint;
use dacapo_example_decode::checkpoint::{Streaming, Text};
use dacapo_example_decode::random::Random;

fn text() -> Text {
    Checkpoint::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints/f32")).unwrap().text
}

/// The pieces of some tokens behind a prompt, and what is left at the end.
fn pieces(text: &Text, prompt: &[u32], tokens: &[u32]) -> Vec<String> {
    let mut streaming = Streaming::behind(text, prompt).unwrap();
    let mut pieces: Vec<String> = tokens.iter().map(|&token| streaming.push(token).unwrap()).collect();
    pieces.push(streaming.finish().unwrap());
    pieces
}

/// Tokens below 256 are bytes.
fn bytes(text: &str) -> Vec<u32> {
    text.bytes().map(u32::from).collect()
}

#[test]
fn a_character_comes_when_its_last_byte_does() {
    let text = text();
    let expected = ["a", "", "ö", "", "", "", "\u{1F600}", "b", ""];
    assert_eq!(pieces(&text, &bytes("so "), &bytes("aö\u{1F600}b")), expected);
}

#[test]
fn what_is_no_character_is_shown_when_that_is_certain() {
    let text = text();
    // A byte that begins nothing; a beginning that nothing follows; a beginning at the end.
    let tokens = [&[0xFF, 0xE2, 0x82][..], &bytes("x"), &[0xF0, 0x9F]].concat();
    assert_eq!(pieces(&text, &bytes("p"), &tokens), ["", "", "", "\u{FFFD}\u{FFFD}x", "", "", "\u{FFFD}"]);
    // The replacement character itself, as a model may write it.
    assert_eq!(pieces(&text, &bytes("p"), &bytes("\u{FFFD}!")).concat(), "\u{FFFD}!");
}

#[test]
fn special_tokens_are_no_text() {
    let text = text();
    let end = text.encode("", 1, &config()).unwrap()[0];
    assert_eq!(pieces(&text, &[end, 65], &[66, end, 67]), ["B", "", "C", ""]);
}

fn config() -> dacapo_example_decode::checkpoint::Config {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints/f32");
    dacapo_example_decode::checkpoint::Config::read(&folder).unwrap()
}

#[test]
fn the_pieces_of_any_tokens_are_their_text() {
    let (text, mut random) = (text(), Random::new(7));
    for round in 0..300 {
        let mut below = |most: usize| (random.unit() * most as f32) as usize % most;
        let prompt: Vec<u32> = bytes(["", "x", "höre ", "\u{1F600}"][below(4)]);
        let mut tokens: Vec<u32> = Vec::new();
        for _ in 0..below(24) {
            match below(4) {
                // Any token, a special one or one that there is not among them; mostly bytes that are no text.
                0 => tokens.push(below(281) as u32),
                1 => tokens.extend(bytes(["ä", "€", "\u{1F600}", "e\u{301}"][below(4)])),
                2 => tokens.push(0x80 + below(0x80) as u32),
                _ => tokens.push(97 + below(26) as u32),
            }
        }
        let whole = text.decode(&[&prompt[..], &tokens].concat()).unwrap();
        let got = format!("{}{}", text.decode(&prompt).unwrap(), pieces(&text, &prompt, &tokens).concat());
        assert_eq!(got, whole, "round {round}: {tokens:?}");
    }
}

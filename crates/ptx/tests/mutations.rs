//! Broken texts: whatever is done to a good one, parsing answers, soon, and without a panic.
//!
//! `DACAPO_MUTATIONS=100000 cargo test -p dacapo-ptx --test mutations` tries more. A failure names its case; the
//! same number gives the same text again.

use std::path::Path;
use std::time::{Duration, Instant};

use dacapo_ptx::Opening;

/// xorshift64*: the same sequence everywhere, and no dependency.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        // Neighbouring seeds must not give neighbouring sequences.
        Random((seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Good texts: this crate's cases and the kernels of the project.
fn seeds() -> Vec<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = Vec::new();
    for folder in [here.join("tests/pass"), here.join("tests/kernels")] {
        let entries = std::fs::read_dir(folder).expect("both folders are part of the crate");
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "ptx")) {
            seeds.push(std::fs::read(path).expect("readable"));
        }
    }
    assert!(seeds.len() >= 15);
    seeds
}

/// Words that matter to the parser, to be put where they do not belong.
const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ":",
    ",",
    "|",
    "@",
    "!",
    "<",
    ">",
    "=",
    "\"",
    "/*",
    "//",
    ".reg",
    ".param",
    ".entry k",
    ".func f",
    ".section",
    ".loc 1 1 1",
    ".version 8.4",
    ".b128",
    "4294967296",
    "99999999999999999999",
    "0f",
    "%r0",
    "_",
    "call",
    "bra",
    "ld.global.v4.f32",
    "0x",
    "-",
    "+",
    "[][]",
    "{{{{{{{{",
    "((((((((",
    "\0",
    "é",
];

fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        if text.is_empty() {
            break;
        }
        let at = random.below(text.len());
        match random.below(8) {
            0 => text[at] ^= 1 << random.below(8),
            1 => text.truncate(at),
            2 => swap_tokens(random, &mut text),
            3 => {
                let line = line_at(&text, at);
                let copy = text[line.clone()].to_vec();
                text.splice(line.end..line.end, copy);
            }
            4 => {
                let line = line_at(&text, at);
                text.drain(line);
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len());
                text.truncate(at);
                text.extend_from_slice(&other[from..]);
            }
            6 => {
                let word = WORDS[random.below(WORDS.len())].as_bytes();
                text.splice(at..at, word.iter().copied());
            }
            _ => {
                let end = (at + 1 + random.below(8)).min(text.len());
                text.drain(at..end);
            }
        }
    }
    text
}

fn line_at(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let end = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |i| at + i + 1);
    start..end.max(start)
}

fn swap_tokens(random: &mut Random, text: &mut Vec<u8>) {
    let word_at = |text: &[u8], at: usize| {
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'.' | b'$');
        let start = text[..at].iter().rposition(|b| !is_word(b)).map_or(0, |i| i + 1);
        let end = text[at..].iter().position(|b| !is_word(b)).map_or(text.len(), |i| at + i);
        start..end.max(start)
    };
    let a = word_at(text, random.below(text.len()));
    let b = word_at(text, random.below(text.len()));
    let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
    if first.end <= second.start {
        let (x, y) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
        text.splice(second, x);
        text.splice(first, y);
    }
}

#[test]
fn broken_texts_are_answered() {
    let count = std::env::var("DACAPO_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let seeds = seeds();
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..count {
        let text = mutate(&mut Random::new(case), &seeds);
        let begin = Instant::now();
        let answer = std::panic::catch_unwind(|| {
            let answer = dacapo_ptx::parse_bytes(&text);
            for opening in [Opening::Waits, Opening::Guarded] {
                let made = std::str::from_utf8(&text).ok().and_then(|text| dacapo_ptx::variant(text, opening));
                if let (Ok(_), Some(made)) = (&answer, made) {
                    dacapo_ptx::parse(&made.text).expect("a good text has good variants");
                }
            }
            answer
        });
        let took = begin.elapsed();
        let Ok(answer) = answer else { panic!("case {case} panics; its text:\n{}", String::from_utf8_lossy(&text)) };
        assert!(took < Duration::from_secs(1), "case {case} took {took:?}");
        match answer {
            Ok(_) => accepted += 1,
            Err(errors) => {
                refused += 1;
                // Rendering must hold for every place an error can point to.
                assert!(!errors.is_empty() && !errors.to_string().is_empty(), "case {case} is refused without a word");
                let places: Vec<_> = errors.iter().map(|e| (e.span.line, e.span.column)).collect();
                assert!(places.is_sorted(), "case {case}: errors out of order");
            }
        }
    }
    // Mutations that leave every text alone, or none, would test nothing.
    assert!(accepted > count / 50 && refused > count / 5, "{accepted} accepted, {refused} refused");
}

#[test]
fn nesting_does_not_fill_the_stack() {
    let head = ".version 8.4\n.target sm_80\n.address_size 64\n";
    let many = 200_000;
    let use_in_each = format!("{head}.entry k() {{ .reg .u32 r; {} }}", "{ add.u32 r, r, 1; ".repeat(many));
    let deep_and_long =
        format!("{head}.entry k() {{ .reg .u32 r; {} {}", "{".repeat(400), "add.u32 r, r, 1; ".repeat(many / 10));
    let texts = [
        use_in_each,
        format!("{deep_and_long}{}", "}".repeat(401)),
        format!("{head}.entry k() {}{}", "{".repeat(many), "}".repeat(many)),
        format!("{head}.entry k() {}", "{".repeat(many)),
        format!("{head}.global .u32 x = {}", "{".repeat(many)),
        format!("{head}.entry k() {{ .reg .u32 r; mov.u32 r, {}1; }}", "(".repeat(many)),
        format!("{head}.entry k() {{ .reg .u32 r; mov.u32 r, {}1; }}", "-".repeat(many)),
        format!("{head}.entry k() {{ .reg .u32 r; mov.u32 r, {}1; }}", "1?".repeat(many)),
        format!("{head}.entry k() {{ .reg .u32 r; mov.b64 r, {} }}", "{".repeat(many)),
        format!("{head}.entry k() {{ ld.u32 r, {} }}", "[a,".repeat(many)),
        format!("{head}.section .x {}", "{".repeat(many)),
        format!("{head}.global .u32 x{};", "[1]".repeat(many)),
        format!("{head}.entry k() .attribute{} {{}}", "(".repeat(many)),
    ];
    for text in texts {
        let begin = Instant::now();
        let _ = dacapo_ptx::parse(&text);
        assert!(begin.elapsed() < Duration::from_secs(1), "{:.60}", text.replace('\n', " "));
    }
}

#[test]
fn large_numbers_cost_nothing() {
    let head = ".version 8.4\n.target sm_80\n.address_size 64\n";
    for text in [
        ".entry k() { .reg .b32 %r<4294967295>; mov.b32 %r4294967294, 1; ret; }",
        ".file 65535 \"a\"\n.entry k() { ret; }",
        ".global .u8 x[1099511627776];",
        ".global .u32 x[1048576][1048576] = {{1}, {2}};",
        &format!(".global .u8 x[4096][1048576] = {{ {} }};", "{1},".repeat(4096)),
        &format!(
            ".func f({}.param .b32 z); .entry k() {{ {} }}",
            ".param .b32 _, ".repeat(20_000),
            "call f;".repeat(20_000)
        ),
        &format!(
            ".entry k() {{ .reg .u32 r; L: T: .branchtargets {} L; {} }}",
            "L, ".repeat(20_000),
            "brx.idx r, T;".repeat(20_000)
        ),
    ] {
        let begin = Instant::now();
        let _ = dacapo_ptx::parse(&format!("{head}{text}"));
        assert!(begin.elapsed() < Duration::from_secs(1), "{text:.60}");
    }
}

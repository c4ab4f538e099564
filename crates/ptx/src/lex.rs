//! Text to tokens.
//!
//! - Every token borrows its text and knows its line and column.
//! - Comments, blanks and `@@DWARF` lines are dropped here.
//! - A word with a dot in front (`.f32`, `.L2::128B`) is one token, so that `%tid.x` is two.
//! - What is not a token is reported, and lexing goes on behind it.
//!
//! Whether a name is a register, a label or an opcode is not decided here: PTX needs its scopes for that.

use crate::error::{Error, ErrorKind};
use crate::ir::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tok<'t> {
    /// `foo`, `%r1`, `$L__BB0_1`, `_`.
    Ident(&'t str),
    /// `.global`: the text without its dot.
    Dot(&'t str),
    /// An integer literal; `unsigned` where it is written `5U` or does not fit an `i64`.
    Int { value: u64, unsigned: bool },
    /// `0f3F800000`.
    F32(u32),
    /// `0d3FF0000000000000`.
    F64(u64),
    /// `1.5`, `8.4`: the text, because `.version 8.10` is not a number.
    Decimal(&'t str),
    /// A string with its escapes untouched, without quotes.
    Str(&'t str),
    /// One character of punctuation.
    Punct(char),
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) tok: Tok<'t>,
    /// Offset of its first byte in the text.
    pub(crate) start: usize,
    pub(crate) span: Span,
}

/// All tokens of `text`, the last one [`Tok::End`]. Trouble goes to `errors`.
pub(crate) fn lex<'t>(text: &'t str, errors: &mut Vec<Error>) -> Vec<Token<'t>> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1, line_start: 0, tokens: Vec::new(), errors };
    lexer.tokens.reserve(text.len() / 4);
    lexer.run();
    lexer.tokens
}

struct Lexer<'t, 'e> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
    tokens: Vec<Token<'t>>,
    errors: &'e mut Vec<Error>,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'t> Lexer<'t, '_> {
    fn run(&mut self) {
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            match byte {
                b'\n' => self.newline(),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.peek(1) == Some(b'/') => self.skip_line(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                b'@' if self.peek(1) == Some(b'@') => self.skip_line(),
                b'"' => self.string(),
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_some_and(is_word) => self.dot_word(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                    self.word();
                    self.push(Tok::Ident(&self.text[start..self.at]), start);
                }
                b'%' if self.peek(1).is_some_and(is_word) => {
                    self.at += 1;
                    self.word();
                    self.push(Tok::Ident(&self.text[start..self.at]), start);
                }
                b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b';' | b':' | b'=' | b'+' | b'-'
                | b'*' | b'/' | b'!' | b'|' | b'@' | b'~' | b'&' | b'^' | b'%' | b'?' => {
                    self.at += 1;
                    self.push(Tok::Punct(byte as char), start);
                }
                _ => {
                    let bad = self.text[start..].chars().next().unwrap_or(' ');
                    self.at += bad.len_utf8();
                    let span = self.span(start);
                    let shown = if bad.is_control() { bad.escape_default().to_string() } else { bad.to_string() };
                    self.report(span, format!("`{shown}` does not belong in PTX"), "here");
                }
            }
        }
        self.push(Tok::End, self.at);
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn span(&self, start: usize) -> Span {
        // A string or comment may start on an earlier line; its span then covers what is left of that line only,
        // which `line_start` no longer knows: such callers take the span before they move on.
        Span {
            line: self.line,
            column: (start.saturating_sub(self.line_start) + 1) as u32,
            len: (self.at - start).max(1) as u32,
        }
    }

    fn push(&mut self, tok: Tok<'t>, start: usize) {
        let span = self.span(start);
        self.tokens.push(Token { tok, start, span });
    }

    fn report(&mut self, span: Span, message: String, label: &str) {
        self.errors.push(Error::new(ErrorKind::Syntax, span, message, label));
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|b| b != b'\n') {
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        self.at += 2;
        let open = self.span(start);
        loop {
            match self.peek(0) {
                None => {
                    self.report(open, "this comment does not end".into(), "`/*` without `*/`");
                    return;
                }
                Some(b'*') if self.peek(1) == Some(b'/') => {
                    self.at += 2;
                    return;
                }
                Some(b'\n') => self.newline(),
                Some(_) => self.at += 1,
            }
        }
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None | Some(b'\n') => {
                    let span = self.span(start);
                    self.report(span, "this string does not end".into(), "`\"` without a second one on its line");
                    self.push(Tok::Str(&self.text[start + 1..self.at]), start);
                    return;
                }
                Some(b'"') => {
                    self.at += 1;
                    self.push(Tok::Str(&self.text[start + 1..self.at - 1]), start);
                    return;
                }
                // A backslash hides the character behind it, which may have several bytes; those are never `"`.
                Some(b'\\') if self.peek(1).is_some_and(|b| b != b'\n') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
    }

    fn word(&mut self) {
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
    }

    fn dot_word(&mut self) {
        let start = self.at;
        self.at += 1;
        self.word();
        while self.peek(0) == Some(b':') && self.peek(1) == Some(b':') && self.peek(2).is_some_and(is_word) {
            self.at += 2;
            self.word();
        }
        self.push(Tok::Dot(&self.text[start + 1..self.at]), start);
    }

    fn number(&mut self) {
        let start = self.at;
        let second = self.peek(1).map(|b| b.to_ascii_lowercase());
        if self.peek(0) == Some(b'0') {
            match second {
                Some(b'f') => return self.float_bits(start, 8),
                Some(b'd') => return self.float_bits(start, 16),
                Some(b'x') => return self.radix(start, 2, 16),
                Some(b'b') => return self.radix(start, 2, 2),
                _ => {}
            }
        }
        while self.peek(0).is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        let mut decimal = false;
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|b| b.is_ascii_digit()) {
            decimal = true;
            self.at += 1;
            while self.peek(0).is_some_and(|b| b.is_ascii_digit()) {
                self.at += 1;
            }
        }
        if self.peek(0).is_some_and(|b| b == b'e' || b == b'E') {
            let sign = usize::from(self.peek(1).is_some_and(|b| b == b'+' || b == b'-'));
            if self.peek(1 + sign).is_some_and(|b| b.is_ascii_digit()) {
                decimal = true;
                self.at += 1 + sign;
                while self.peek(0).is_some_and(|b| b.is_ascii_digit()) {
                    self.at += 1;
                }
            }
        }
        if decimal {
            return self.push(Tok::Decimal(&self.text[start..self.at]), start);
        }
        // A leading zero makes it octal (PTX ISA 4.5.1).
        let octal = self.at - start > 1 && self.bytes[start] == b'0';
        self.integer(start, start, if octal { 8 } else { 10 });
    }

    fn radix(&mut self, start: usize, prefix: usize, radix: u32) {
        self.at += prefix;
        let digits = self.at;
        while self.peek(0).is_some_and(|b| (b as char).is_digit(radix)) {
            self.at += 1;
        }
        self.integer(start, digits, radix);
    }

    /// The digits from `digits` to here, then an optional `U`.
    fn integer(&mut self, start: usize, digits: usize, radix: u32) {
        let text = &self.text[digits..self.at];
        let mut unsigned = false;
        if self.peek(0) == Some(b'U') {
            unsigned = true;
            self.at += 1;
        }
        if self.peek(0).is_some_and(is_word) {
            self.word();
            let span = self.span(start);
            self.report(span, format!("`{}` is not a number", &self.text[start..self.at]), "here");
            return self.push(Tok::Int { value: 0, unsigned }, start);
        }
        let value = match u64::from_str_radix(text, radix) {
            Ok(value) => value,
            Err(_) => {
                let span = self.span(start);
                let written = &self.text[start..self.at];
                let message = if text.is_empty() || text.bytes().any(|b| !(b as char).is_digit(radix)) {
                    format!("`{written}` is not a number")
                } else {
                    format!("`{written}` does not fit 64 bits")
                };
                self.report(span, message, "here");
                0
            }
        };
        let unsigned = unsigned || value > i64::MAX as u64;
        self.push(Tok::Int { value, unsigned }, start);
    }

    /// `0f` with 8 or `0d` with 16 hexadecimal digits.
    fn float_bits(&mut self, start: usize, digits: usize) {
        self.at += 2;
        let from = self.at;
        self.word();
        let text = &self.text[from..self.at];
        let value = if text.len() == digits { u64::from_str_radix(text, 16).ok() } else { None };
        if value.is_none() {
            let span = self.span(start);
            let kind = if digits == 8 { "single" } else { "double" };
            let message = format!("`{}` is not a {kind} precision literal", &self.text[start..self.at]);
            self.report(span, message, &format!("expected {digits} hexadecimal digits"));
        }
        let value = value.unwrap_or(0);
        self.push(if digits == 8 { Tok::F32(value as u32) } else { Tok::F64(value) }, start);
    }
}

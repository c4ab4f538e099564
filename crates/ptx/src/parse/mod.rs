//! Tokens to a [`tree`]: the grammar of PTX.
//!
//! - Every error is reported and parsing goes on behind the statement, so that one text gives all its errors.
//! - Nothing recurses on braces; constants and initialisers do, to a fixed depth.
//! - Operands of opcodes that [`forms`](crate::forms) does not know are skipped: their grammar is not known either.

mod constant;
mod declaration;
mod function;
mod module;
mod operand;
mod statement;
pub(crate) mod tree;

use crate::error::{Error, ErrorKind};
use crate::ir::Span;
use crate::lex::{Tok, Token};
use tree::{Name, Tree};

/// Parses the tokens of a text; trouble goes to `errors`.
pub(crate) fn parse<'t>(text: &'t str, tokens: &[Token<'t>], errors: &mut Vec<Error>) -> Tree<'t> {
    let mut parser = Parser { text, tokens, at: 0, errors };
    parser.module()
}

/// Marks that an error has been reported and the statement is to be skipped.
#[derive(Debug)]
pub(crate) struct Reported;

type Parsed<T> = Result<T, Reported>;

pub(crate) struct Parser<'t, 'p> {
    text: &'t str,
    tokens: &'p [Token<'t>],
    at: usize,
    errors: &'p mut Vec<Error>,
}

impl<'t> Parser<'t, '_> {
    fn token(&self, ahead: usize) -> Token<'t> {
        // The last token is `End`, and standing still there is what every loop below tests for.
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn tok(&self) -> Tok<'t> {
        self.token(0).tok
    }

    fn span(&self) -> Span {
        self.token(0).span
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn at_end(&self) -> bool {
        self.tok() == Tok::End
    }

    fn is(&self, punct: char) -> bool {
        self.tok() == Tok::Punct(punct)
    }

    fn eat(&mut self, punct: char) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    fn eat_dot(&mut self, word: &str) -> bool {
        let found = self.tok() == Tok::Dot(word);
        if found {
            self.advance();
        }
        found
    }

    fn fail<T>(&mut self, error: Error) -> Parsed<T> {
        self.errors.push(error);
        Err(Reported)
    }

    /// Reports that something else was expected here.
    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let found = self.describe();
        let error =
            Error::new(ErrorKind::Syntax, self.span(), format!("expected {what}, found {found}"), "not expected here");
        self.fail(error)
    }

    fn describe(&self) -> String {
        let token = self.token(0);
        match token.tok {
            Tok::End => "the end of the text".into(),
            Tok::Str(_) => "a string".into(),
            _ => {
                let end = (token.start + token.span.len as usize).min(self.text.len());
                format!("`{}`", self.text.get(token.start..end).unwrap_or("?"))
            }
        }
    }

    fn expect(&mut self, punct: char) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { self.expected(&format!("`{punct}`")) }
    }

    /// The `;` that ends a statement. The error points behind the last token, where it is missing.
    fn semicolon(&mut self) -> Parsed<()> {
        if self.eat(';') {
            return Ok(());
        }
        let last = self.tokens[self.at.saturating_sub(1)].span;
        let behind = Span { line: last.line, column: last.column + last.len, len: 1 };
        let found = self.describe();
        let error =
            Error::new(ErrorKind::Syntax, behind, format!("expected `;`, found {found}"), "`;` is missing here");
        self.fail(error)
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'t>> {
        let span = self.span();
        match self.tok() {
            Tok::Ident(text) => {
                self.advance();
                Ok(Name { text, span })
            }
            _ => self.expected(what),
        }
    }

    /// Goes on behind the next `;`, or stops in front of a `}` that closes more than was opened since.
    fn skip_statement(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            match self.tok() {
                Tok::Punct(';') if depth == 0 => return self.advance(),
                Tok::Punct('{') => depth += 1,
                Tok::Punct('}') => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return,
                },
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips `{ .. }` with everything in it.
    fn skip_braces(&mut self) -> Parsed<()> {
        let open = self.span();
        self.expect('{')?;
        let mut depth = 1usize;
        while depth > 0 {
            match self.tok() {
                Tok::Punct('{') => depth += 1,
                Tok::Punct('}') => depth -= 1,
                Tok::End => return self.unclosed(open),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    fn unclosed<T>(&mut self, open: Span) -> Parsed<T> {
        let error = Error::new(ErrorKind::Syntax, open, "this `{` is never closed", "`}` is missing at the end");
        self.fail(error)
    }
}

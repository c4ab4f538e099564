//! Statements of a body: instructions, labels, declarations, blocks, `.loc` and its kin.

use super::declaration::place_of_word;
use super::tree::{InstructionTree, Statement};
use super::{Parsed, Parser};
use crate::error::{Error, ErrorKind};
use crate::forms::opcode_is_known;
use crate::ir::{Linkage, SourceLoc};
use crate::lex::Tok;

/// Blocks nest this deep. A name is looked for in every block around its use, so depth is time.
const BLOCKS_MAX: usize = 500;

impl<'t> Parser<'t, '_> {
    /// `{ .. }` of a function. Statements that fail are reported and left out.
    pub(super) fn body(&mut self) -> Parsed<Vec<Statement<'t>>> {
        let open = self.span();
        self.expect('{')?;
        let mut body = Vec::new();
        let mut blocks = vec![open];
        loop {
            match self.tok() {
                Tok::End => {
                    let innermost = blocks.pop().unwrap_or(open);
                    return self.unclosed(innermost);
                }
                Tok::Punct('{') => {
                    if blocks.len() >= BLOCKS_MAX {
                        let message = format!("blocks nest more than {BLOCKS_MAX} deep");
                        let error = Error::new(ErrorKind::Limit, self.span(), message, "this one is too much");
                        return self.fail(error);
                    }
                    blocks.push(self.span());
                    self.advance();
                    body.push(Statement::Open);
                }
                Tok::Punct('}') => {
                    self.advance();
                    blocks.pop();
                    if blocks.is_empty() {
                        return Ok(body);
                    }
                    body.push(Statement::Close);
                }
                _ => {
                    let before = self.at;
                    if self.statement(&mut body).is_err() {
                        self.skip_statement();
                    }
                    debug_assert!(self.at > before || self.is('}') || self.at_end());
                }
            }
        }
    }

    fn statement(&mut self, body: &mut Vec<Statement<'t>>) -> Parsed<()> {
        match self.tok() {
            Tok::Dot(word) => self.directive(word, body),
            Tok::Ident(_) if self.token(1).tok == Tok::Punct(':') => self.label(body),
            Tok::Ident(_) | Tok::Punct('@') => {
                let instruction = self.instruction()?;
                body.push(Statement::Instruction(instruction));
                Ok(())
            }
            _ => self.expected("an instruction"),
        }
    }

    fn label(&mut self, body: &mut Vec<Statement<'t>>) -> Parsed<()> {
        let name = self.name("a label")?;
        self.expect(':')?;
        match self.tok() {
            Tok::Dot("callprototype") => {
                self.advance();
                let returns = self.parameters()?;
                self.name("`_`")?;
                let params = self.parameters()?;
                while let Tok::Dot(_) = self.tok() {
                    self.advance();
                    if let Tok::Int { .. } = self.tok() {
                        self.advance();
                    }
                }
                self.semicolon()?;
                body.push(Statement::Prototype { name, returns, params });
            }
            Tok::Dot("branchtargets" | "calltargets") => {
                self.advance();
                let mut targets = vec![self.name("a label")?];
                // `N<4>` stands for N0 .. N3 (PTX ISA 11.5); not seen from a compiler, so not read.
                while self.eat(',') {
                    targets.push(self.name("a label")?);
                }
                self.semicolon()?;
                body.push(Statement::Targets { name, targets });
            }
            _ => body.push(Statement::Label(name)),
        }
        Ok(())
    }

    fn directive(&mut self, word: &'t str, body: &mut Vec<Statement<'t>>) -> Parsed<()> {
        if place_of_word(word).is_some() {
            let declaration = self.declaration(Linkage::Internal)?;
            body.push(Statement::Declare(declaration));
            return Ok(());
        }
        match word {
            "loc" => {
                let loc = self.loc()?;
                body.push(Statement::Loc(loc));
                Ok(())
            }
            "pragma" => {
                if let Some(mask) = self.pragma()? {
                    body.push(Statement::UsedBytes(mask));
                }
                Ok(())
            }
            "section" => {
                self.advance();
                self.advance();
                self.skip_braces()
            }
            "extern" | "visible" | "weak" => {
                self.advance();
                let linkage = match word {
                    "extern" => Linkage::Extern,
                    "visible" => Linkage::Visible,
                    _ => Linkage::Weak,
                };
                let declaration = self.declaration(linkage)?;
                body.push(Statement::Declare(declaration));
                Ok(())
            }
            _ => {
                let error = Error::new(
                    ErrorKind::Directive,
                    self.span(),
                    format!("`.{word}` does not belong in a function"),
                    "here",
                );
                self.fail(error)
            }
        }
    }

    /// `.pragma "nounroll", "..";`: advice, which nobody here takes, but for `used_bytes_mask`, whose mask is given.
    pub(super) fn pragma(&mut self) -> Parsed<Option<u32>> {
        self.advance();
        let mut mask = None;
        loop {
            let Tok::Str(text) = self.tok() else { return self.expected("a string") };
            mask = mask.or(used_bytes_mask(text));
            self.advance();
            if !self.eat(',') {
                self.semicolon()?;
                return Ok(mask);
            }
        }
    }

    /// `.loc 1 3 5`, with or without `, function_name label(+offset), inlined_at 1 11 5`. It has no `;`.
    pub(super) fn loc(&mut self) -> Parsed<SourceLoc> {
        self.advance();
        let mut numbers = [0u32; 3];
        for number in &mut numbers {
            *number = self.small_number("a number")?;
        }
        while self.is(',') {
            match self.token(1).tok {
                Tok::Ident("function_name") => {
                    self.advance();
                    self.advance();
                    self.name("a label")?;
                    if self.eat('+') {
                        self.count("an offset")?;
                    }
                }
                Tok::Ident("inlined_at") => {
                    self.advance();
                    self.advance();
                    for _ in 0..3 {
                        self.small_number("a number")?;
                    }
                }
                _ => break,
            }
        }
        Ok(SourceLoc { file: numbers[0], line: numbers[1], column: numbers[2] })
    }

    pub(super) fn small_number(&mut self, what: &str) -> Parsed<u32> {
        let Tok::Int { value, .. } = self.tok() else { return self.expected(what) };
        let Ok(value) = u32::try_from(value) else {
            let error = Error::new(ErrorKind::Limit, self.span(), format!("{value} is too large here"), "here");
            return self.fail(error);
        };
        self.advance();
        Ok(value)
    }

    fn instruction(&mut self) -> Parsed<InstructionTree<'t>> {
        let mut guard = None;
        if self.eat('@') {
            let negated = self.eat('!');
            guard = Some((self.name("a predicate")?, negated));
        }
        let from = self.span();
        let opcode = self.name("an opcode")?.text;
        let mut modifiers = Vec::new();
        while let Tok::Dot(word) = self.tok() {
            self.advance();
            modifiers.push(word);
            if word == "const" && self.is('[') && self.token(2).tok == Tok::Punct(']') {
                let is_bank = matches!(self.token(3).tok, Tok::Dot(_));
                if is_bank {
                    let error = Error::new(ErrorKind::Syntax, self.span(), "constant banks are gone since PTX 2.2", "")
                        .help("drop the bank: all of `.const` is one space");
                    return self.fail(error);
                }
            }
        }
        let span = self.since(from);
        let operands = if opcode_is_known(opcode) {
            Some(self.operands(opcode == "call")?)
        } else {
            self.skip_operands();
            None
        };
        self.semicolon()?;
        Ok(InstructionTree { guard, opcode, modifiers, operands, span })
    }

    /// Up to the `;` of an instruction whose operands have no grammar we know, or to where it cannot be one.
    fn skip_operands(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() && !self.is(';') {
            match self.tok() {
                Tok::Punct('{') => depth += 1,
                Tok::Punct('}') if depth == 0 => return,
                Tok::Punct('}') => depth -= 1,
                _ => {}
            }
            self.advance();
        }
    }
}

/// The mask of `used_bytes_mask 0xfff` (PTX ISA 8.9, 11.6.3): bit n stands for byte n of the load that follows. A mask
/// that cannot be read is advice like any other.
fn used_bytes_mask(text: &str) -> Option<u32> {
    let number = text.trim().strip_prefix("used_bytes_mask")?;
    let number = number.strip_prefix(char::is_whitespace)?.trim().trim_end_matches(['u', 'U']);
    let (digits, radix) = match number.get(..2) {
        Some("0x" | "0X") => (&number[2..], 16),
        Some("0b" | "0B") => (&number[2..], 2),
        Some(_) if number.starts_with('0') => (&number[1..], 8),
        _ => (number, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

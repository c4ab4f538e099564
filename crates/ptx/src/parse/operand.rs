//! Operands: names, constants, addresses, vectors, pairs, and the lists of a call.

use super::tree::{OperandKind, OperandTree};
use super::{Parsed, Parser};
use crate::ir::Span;
use crate::lex::Tok;

/// Brackets of any sort nest this deep: `[tensorMap, {x, y}]` in a list is the most that occurs.
const DEPTH_MAX: u32 = 4;

impl<'t> Parser<'t, '_> {
    /// The operands up to the `;`, which stays. `call` says whether `(` opens a list.
    pub(super) fn operands(&mut self, call: bool) -> Parsed<Vec<OperandTree<'t>>> {
        let mut operands = Vec::new();
        if self.is(';') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(call, 0)?);
            if !self.eat(',') {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, call: bool, depth: u32) -> Parsed<OperandTree<'t>> {
        let from = self.span();
        let first = self.single(call, depth)?;
        let kind = if self.is('|') {
            self.advance();
            let second = self.single(false, depth)?;
            OperandKind::Pair(Box::new(first), Box::new(second))
        } else {
            return Ok(first);
        };
        Ok(OperandTree { kind, span: self.since(from) })
    }

    /// From `from` to the end of the last token read, if that is on the same line.
    pub(super) fn since(&self, from: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        let len = if last.line == from.line { last.column + last.len - from.column.min(last.column) } else { from.len };
        Span { len: len.max(1), ..from }
    }

    fn single(&mut self, call: bool, depth: u32) -> Parsed<OperandTree<'t>> {
        let from = self.span();
        let kind = match self.tok() {
            Tok::Punct('{') if depth < DEPTH_MAX => {
                self.advance();
                OperandKind::Vector(self.list('}', depth)?)
            }
            Tok::Punct('(') if call && depth == 0 => {
                self.advance();
                OperandKind::List(self.list(')', depth)?)
            }
            Tok::Punct('[') if depth < DEPTH_MAX => self.address(depth)?,
            Tok::Punct('!') => {
                self.advance();
                OperandKind::Not(self.name("a predicate")?.text)
            }
            Tok::Ident("WARP_SZ") => OperandKind::Const(self.constant()?),
            Tok::Ident(name) => {
                self.advance();
                self.behind_name(name)?
            }
            Tok::Punct('-' | '+' | '~' | '(')
            | Tok::Int { .. }
            | Tok::F32(_)
            | Tok::F64(_)
            | Tok::Decimal(_)
            | Tok::Dot(_) => OperandKind::Const(self.constant()?),
            _ => return self.expected("an operand"),
        };
        Ok(OperandTree { kind, span: self.since(from) })
    }

    fn list(&mut self, close: char, depth: u32) -> Parsed<Vec<OperandTree<'t>>> {
        let mut list = Vec::new();
        if self.eat(close) {
            return Ok(list);
        }
        loop {
            list.push(self.operand(false, depth + 1)?);
            if self.eat(close) {
                return Ok(list);
            }
            if !self.eat(',') {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
    }

    fn behind_name(&mut self, name: &'t str) -> Parsed<OperandKind<'t>> {
        Ok(match self.tok() {
            Tok::Dot(component) => {
                self.advance();
                OperandKind::Component(name, component)
            }
            Tok::Punct('+' | '-') => {
                let offset = self.integer("an offset")?;
                OperandKind::NameOffset(name, offset)
            }
            Tok::Punct('[') => {
                self.advance();
                let index = self.integer("an index")?;
                self.expect(']')?;
                OperandKind::Element { array: name, index }
            }
            _ => OperandKind::Name(name),
        })
    }

    fn address(&mut self, depth: u32) -> Parsed<OperandKind<'t>> {
        self.expect('[')?;
        let mut base = None;
        let mut offset = 0;
        match self.tok() {
            Tok::Ident(name) if name != "WARP_SZ" => {
                self.advance();
                base = Some(name);
                // `[%rd1+-4]` and `[%rd1-4]`: the sign is part of the constant.
                if matches!(self.tok(), Tok::Punct('+' | '-')) {
                    offset = self.integer("an offset")?;
                }
            }
            _ => offset = self.integer("an address")?,
        }
        if self.eat(']') {
            return Ok(OperandKind::Address { base, offset });
        }
        if !self.is(',') {
            return self.expected("`]`");
        }
        let mut others = Vec::new();
        while self.eat(',') {
            others.push(self.operand(false, depth + 1)?);
        }
        self.expect(']')?;
        Ok(match (base, offset, others.pop()) {
            (Some(base), 0, Some(at)) if others.is_empty() => {
                let at = match at.kind {
                    OperandKind::Vector(coordinates) => coordinates,
                    _ => vec![at],
                };
                OperandKind::Texel { base, at }
            }
            _ => OperandKind::Other,
        })
    }
}

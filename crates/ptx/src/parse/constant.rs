//! Constant expressions (PTX ISA 4.5): literals, C's operators, 64-bit arithmetic that wraps.
//!
//! Integers are signed unless written with `U` or too large for that; one unsigned operand makes an operation
//! unsigned, as in C. Floats take a sign and the four operations.

use super::tree::Const;
use super::{Parsed, Parser};
use crate::error::{Error, ErrorKind};
use crate::lex::Tok;

/// Parentheses and signs nest this deep; more is an error, not a full stack.
const DEPTH_MAX: u32 = 64;

/// Operators by precedence, weakest first, with how they are spelled.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'t> Parser<'t, '_> {
    /// A constant expression.
    pub(super) fn constant(&mut self) -> Parsed<Const> {
        self.conditional(0)
    }

    /// A constant expression that is an integer that fits `i64` or `u64`, as bits.
    pub(super) fn integer(&mut self, what: &str) -> Parsed<i64> {
        let span = self.span();
        match self.constant()? {
            Const::Int { bits, .. } => Ok(bits as i64),
            _ => {
                let error =
                    Error::new(ErrorKind::Syntax, span, format!("{what} must be an integer"), "this is a float");
                self.fail(error)
            }
        }
    }

    /// An integer that is not negative.
    pub(super) fn count(&mut self, what: &str) -> Parsed<u64> {
        let span = self.span();
        match self.constant()? {
            Const::Int { bits, unsigned } if unsigned || bits as i64 >= 0 => Ok(bits),
            _ => {
                let error = Error::new(ErrorKind::Syntax, span, format!("{what} must be an integer from 0 on"), "here");
                self.fail(error)
            }
        }
    }

    fn conditional(&mut self, depth: u32) -> Parsed<Const> {
        let condition = self.binary(0, depth)?;
        if !self.eat('?') {
            return Ok(condition);
        }
        let depth = self.deeper(depth)?;
        let yes = self.conditional(depth)?;
        self.expect(':')?;
        let no = self.conditional(depth)?;
        Ok(if truth(condition) { yes } else { no })
    }

    fn deeper(&mut self, depth: u32) -> Parsed<u32> {
        if depth < DEPTH_MAX {
            return Ok(depth + 1);
        }
        let error = Error::new(ErrorKind::Limit, self.span(), "this expression nests too deeply", "here")
            .help(format!("at most {DEPTH_MAX} levels are read"));
        self.fail(error)
    }

    fn binary(&mut self, level: usize, depth: u32) -> Parsed<Const> {
        let Some(operators) = LEVELS.get(level) else { return self.unary(depth) };
        let mut left = self.binary(level + 1, depth)?;
        while let Some(operator) = operators.iter().copied().find(|o| self.operator_here(o)) {
            let span = self.span();
            for _ in 0..operator.len() {
                self.advance();
            }
            let right = self.binary(level + 1, depth)?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                None => {
                    let message = format!("`{operator}` cannot be computed here");
                    let label = "a division by zero, or a float where an integer is needed";
                    return self.fail(Error::new(ErrorKind::Syntax, span, message, label));
                }
            };
        }
        Ok(left)
    }

    /// Tokens are single characters, so `<<` is two of them side by side, and `<` alone must not be half of it.
    fn operator_here(&self, operator: &str) -> bool {
        let first = self.token(0);
        let mut chars = operator.chars();
        if first.tok != Tok::Punct(chars.next().unwrap_or(' ')) {
            return false;
        }
        let second = self.token(1);
        let joined = second.start == first.start + 1;
        match (chars.next(), second.tok) {
            (Some(c), Tok::Punct(p)) => joined && p == c,
            (Some(_), _) => false,
            (None, Tok::Punct(p)) => {
                let double = matches!((operator, p), ("<", '<') | (">", '>') | ("|", '|') | ("&", '&'));
                !(joined && double)
            }
            (None, _) => true,
        }
    }

    fn unary(&mut self, depth: u32) -> Parsed<Const> {
        let span = self.span();
        match self.tok() {
            Tok::Punct(sign @ ('-' | '+' | '~' | '!')) => {
                self.advance();
                let depth = self.deeper(depth)?;
                let value = self.unary(depth)?;
                match (sign, value) {
                    ('+', value) => Ok(value),
                    ('-', Const::Int { bits, .. }) => Ok(Const::Int { bits: bits.wrapping_neg(), unsigned: false }),
                    ('-', Const::F32(bits)) => Ok(Const::F32(bits ^ 0x8000_0000)),
                    ('-', Const::F64(bits)) => Ok(Const::F64(bits ^ (1 << 63))),
                    ('~', Const::Int { bits, unsigned }) => Ok(Const::Int { bits: !bits, unsigned }),
                    ('!', Const::Int { bits, .. }) => Ok(boolean(bits == 0)),
                    _ => {
                        let message = format!("`{sign}` needs an integer");
                        self.fail(Error::new(ErrorKind::Syntax, span, message, "here"))
                    }
                }
            }
            Tok::Punct('(') => {
                let depth = self.deeper(depth)?;
                self.advance();
                // A cast: `(.s64) x`, `(.u64) x`; arithmetic is 64 bits wide anyway.
                if let Tok::Dot(kind @ ("s64" | "u64")) = self.tok() {
                    self.advance();
                    self.expect(')')?;
                    return Ok(match self.unary(depth)? {
                        Const::Int { bits, .. } => Const::Int { bits, unsigned: kind == "u64" },
                        other => other,
                    });
                }
                let value = self.conditional(depth)?;
                self.expect(')')?;
                Ok(value)
            }
            Tok::Int { value, unsigned } => {
                self.advance();
                Ok(Const::Int { bits: value, unsigned })
            }
            Tok::F32(bits) => {
                self.advance();
                Ok(Const::F32(bits))
            }
            Tok::F64(bits) => {
                self.advance();
                Ok(Const::F64(bits))
            }
            Tok::Decimal(text) => {
                self.advance();
                match text.parse::<f64>() {
                    Ok(value) => Ok(Const::F64(value.to_bits())),
                    Err(_) => self.fail(Error::new(ErrorKind::Syntax, span, "this is not a number", "here")),
                }
            }
            // `.25`: the lexer cannot tell it from a modifier.
            Tok::Dot(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                self.advance();
                let value: f64 = format!("0.{digits}").parse().unwrap_or(0.0);
                Ok(Const::F64(value.to_bits()))
            }
            Tok::Ident("WARP_SZ") => {
                self.advance();
                Ok(Const::Int { bits: 32, unsigned: false })
            }
            _ => self.expected("a constant"),
        }
    }
}

fn boolean(value: bool) -> Const {
    Const::Int { bits: u64::from(value), unsigned: false }
}

fn truth(value: Const) -> bool {
    match value {
        Const::Int { bits, .. } => bits != 0,
        Const::F32(bits) => f32::from_bits(bits) != 0.0,
        Const::F64(bits) => f64::from_bits(bits) != 0.0,
    }
}

fn apply(operator: &str, left: Const, right: Const) -> Option<Const> {
    let (a, b, unsigned) = match (left, right) {
        (Const::Int { bits: a, unsigned: ua }, Const::Int { bits: b, unsigned: ub }) => (a, b, ua || ub),
        (Const::F64(a), Const::F64(b)) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let value = match operator {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                _ => return None,
            };
            return Some(Const::F64(value.to_bits()));
        }
        _ => return None,
    };
    let (sa, sb) = (a as i64, b as i64);
    let less = if unsigned { a < b } else { sa < sb };
    let bits = match operator {
        "||" => u64::from(a != 0 || b != 0),
        "&&" => u64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => u64::from(a == b),
        "!=" => u64::from(a != b),
        "<" => u64::from(less),
        ">=" => u64::from(!less),
        "<=" => u64::from(less || a == b),
        ">" => u64::from(!(less || a == b)),
        "<<" => a.checked_shl(b.min(64) as u32).unwrap_or(0),
        ">>" if unsigned => a.checked_shr(b.min(64) as u32).unwrap_or(0),
        ">>" => (sa >> b.min(63)) as u64,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b == 0 => return None,
        "%" if b == 0 => return None,
        "/" if unsigned => a / b,
        "/" => sa.wrapping_div(sb) as u64,
        "%" if unsigned => a % b,
        "%" => sa.wrapping_rem(sb) as u64,
        _ => return None,
    };
    let logical = matches!(operator, "||" | "&&" | "==" | "!=" | "<" | "<=" | ">" | ">=");
    Some(Const::Int { bits, unsigned: unsigned && !logical })
}

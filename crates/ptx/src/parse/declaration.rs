//! Declarations: registers, variables, parameters, with ranges, dimensions and initialisers.

use super::tree::{Declaration, Declarator, InitTree, InitValue, Storage};
use super::{Parsed, Parser};
use crate::error::{Error, ErrorKind};
use crate::forms::type_of_word;
use crate::ir::{Linkage, Space, Type};
use crate::lex::Tok;

/// Braces of an initialiser nest this deep: as many as an array can have dimensions.
const DEPTH_MAX: u32 = 16;

/// More elements than this are an error: no GPU has the memory, and sizes must not overflow.
pub(super) const ELEMENTS_MAX: u64 = 1 << 40;

/// The state space a declaration may begin with.
pub(super) fn place_of_word(word: &str) -> Option<Storage> {
    Some(match word {
        "reg" => Storage::Register,
        "global" => Storage::Memory(Space::Global),
        "shared" => Storage::Memory(Space::Shared),
        "local" => Storage::Memory(Space::Local),
        "const" => Storage::Memory(Space::Const),
        "param" => Storage::Memory(Space::Param),
        _ => return None,
    })
}

impl<'t> Parser<'t, '_> {
    /// A declaration whose first token is its state space, up to and with the `;`.
    pub(super) fn declaration(&mut self, linkage: Linkage) -> Parsed<Declaration<'t>> {
        let mut declaration = self.declaration_head(linkage)?;
        loop {
            let declarator = self.declarator(true)?;
            declaration.names.push(declarator);
            if !self.eat(',') {
                break;
            }
        }
        self.semicolon()?;
        Ok(declaration)
    }

    /// One parameter of a list: a declaration with one name, or `_`, and no `;`.
    pub(super) fn parameter(&mut self) -> Parsed<Declaration<'t>> {
        let mut declaration = self.declaration_head(Linkage::Internal)?;
        if let Tok::Ident(_) = self.tok() {
            let declarator = self.declarator(false)?;
            declaration.names.push(declarator);
        }
        Ok(declaration)
    }

    /// `( .param .. , .. )`; nothing when there is no `(`.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Declaration<'t>>> {
        let mut list = Vec::new();
        if !self.eat('(') || self.eat(')') {
            return Ok(list);
        }
        loop {
            list.push(self.parameter()?);
            if self.eat(')') {
                return Ok(list);
            }
            if !self.eat(',') {
                return self.expected("`,` or `)`");
            }
        }
    }

    /// Space, alignment, type and attributes, in any order: front ends differ, and the assembler takes it.
    fn declaration_head(&mut self, linkage: Linkage) -> Parsed<Declaration<'t>> {
        let start = self.span();
        let mut declaration = Declaration {
            place: Storage::Register,
            linkage,
            align: None,
            ty: Type::B8,
            vector: 1,
            opaque: false,
            managed: false,
            names: Vec::new(),
        };
        let (mut placed, mut typed) = (false, false);
        while let Tok::Dot(word) = self.tok() {
            let span = self.span();
            if !placed && let Some(place) = place_of_word(word) {
                self.advance();
                declaration.place = place;
                placed = true;
                // `.const[2]`: banks are gone since PTX 2.2.
                if self.eat('[') {
                    self.count("a bank")?;
                    self.expect(']')?;
                }
                continue;
            }
            if !typed && let Some(ty) = type_of_word(word) {
                self.advance();
                declaration.ty = ty;
                typed = true;
                continue;
            }
            self.advance();
            match word {
                "align" => {
                    let align = self.count("an alignment")?;
                    if !align.is_power_of_two() || align > 1 << 20 {
                        let error = Error::new(
                            ErrorKind::Directive,
                            span,
                            format!("`.align {align}` is not a power of two up to 2^20"),
                            "here",
                        );
                        return self.fail(error);
                    }
                    declaration.align = Some(align);
                }
                "v2" => declaration.vector = 2,
                "v4" => declaration.vector = 4,
                "v8" => declaration.vector = 8,
                "texref" | "samplerref" | "surfref" => {
                    declaration.opaque = true;
                    declaration.ty = Type::B64;
                    typed = true;
                }
                // What a pointer parameter points to: `.ptr .global .align 8`. It binds nobody.
                "ptr" => {
                    while let Tok::Dot(word) = self.tok() {
                        if word == "align" {
                            self.advance();
                            self.count("an alignment")?;
                        } else if place_of_word(word).is_some() || word == "generic" {
                            self.advance();
                        } else {
                            break;
                        }
                    }
                }
                "attribute" => declaration.managed |= self.skip_parentheses()?,
                _ => {
                    let message = format!("`.{word}` does not belong in a declaration");
                    return self.fail(Error::new(ErrorKind::Syntax, span, message, "here"));
                }
            }
        }
        if !placed || !typed {
            let what = if placed { "type" } else { "state space" };
            let error = Error::new(ErrorKind::Syntax, start, format!("this declaration has no {what}"), "here");
            return self.fail(error);
        }
        Ok(declaration)
    }

    /// `( .. )` with whatever is in it; whether `.managed` is.
    pub(super) fn skip_parentheses(&mut self) -> Parsed<bool> {
        self.expect('(')?;
        let mut depth = 1;
        let mut managed = false;
        while depth > 0 {
            match self.tok() {
                Tok::Punct('(') => depth += 1,
                Tok::Punct(')') => depth -= 1,
                Tok::End => return self.expected("`)`"),
                Tok::Dot("managed") => managed = true,
                _ => {}
            }
            self.advance();
        }
        Ok(managed)
    }

    fn declarator(&mut self, may_init: bool) -> Parsed<Declarator<'t>> {
        let name = self.name("a name")?;
        let mut declarator = Declarator { name, range: None, dims: Vec::new(), init: None };
        if self.eat('<') {
            let span = self.span();
            let Tok::Int { value: count, .. } = self.tok() else { return self.expected("a number of registers") };
            self.advance();
            let Ok(count) = u32::try_from(count) else {
                let error = Error::new(ErrorKind::Limit, span, format!("{count} registers are too many"), "here");
                return self.fail(error);
            };
            declarator.range = Some(count);
            self.expect('>')?;
        }
        while self.is('[') {
            let span = self.span();
            self.advance();
            if self.eat(']') {
                declarator.dims.push(None);
                continue;
            }
            let count = self.count("an array size")?;
            if count > ELEMENTS_MAX || declarator.dims.len() >= DEPTH_MAX as usize {
                let error = Error::new(ErrorKind::Limit, span, format!("an array of {count} is too large"), "here")
                    .help("sizes up to 2^40 bytes are read");
                return self.fail(error);
            }
            declarator.dims.push(Some(count));
            self.expect(']')?;
        }
        if may_init && self.eat('=') {
            declarator.init = Some(self.initialiser(0)?);
        }
        Ok(declarator)
    }

    fn initialiser(&mut self, depth: u32) -> Parsed<InitTree<'t>> {
        let span = self.span();
        if !self.is('{') {
            return Ok(InitTree::Value(self.init_value()?, span));
        }
        if depth >= DEPTH_MAX {
            let error = Error::new(ErrorKind::Limit, span, "this initialiser nests too deeply", "here");
            return self.fail(error);
        }
        self.advance();
        let mut list = Vec::new();
        while !self.eat('}') {
            list.push(self.initialiser(depth + 1)?);
            if !self.eat(',') && !self.is('}') {
                return self.expected("`,` or `}`");
            }
        }
        Ok(InitTree::List(list))
    }

    fn init_value(&mut self) -> Parsed<InitValue<'t>> {
        if let Tok::Int { .. } = self.tok()
            && self.token(1).tok == Tok::Punct('(')
        {
            self.advance();
            self.skip_parentheses()?;
            return Ok(InitValue::Masked);
        }
        let Tok::Ident(text) = self.tok() else { return Ok(InitValue::Const(self.constant()?)) };
        if text == "WARP_SZ" {
            return Ok(InitValue::Const(self.constant()?));
        }
        let generic = text == "generic" && self.token(1).tok == Tok::Punct('(');
        if generic {
            self.advance();
            self.advance();
        }
        let name = self.name("the name of a variable")?;
        if generic {
            self.expect(')')?;
        }
        let addend =
            if matches!(self.tok(), Tok::Punct('+' | '-')) { self.integer("what is added to an address")? } else { 0 };
        Ok(InitValue::Name { name, generic, addend })
    }
}

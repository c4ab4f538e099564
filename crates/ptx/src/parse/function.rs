//! `.entry` and `.func`: header, directives, body.

use super::tree::FunctionTree;
use super::{Parsed, Parser};
use crate::error::{Error, ErrorKind};
use crate::ir::{Directives, Linkage};
use crate::lex::Tok;

impl<'t> Parser<'t, '_> {
    /// A function; the token at hand is `.entry` or `.func`.
    pub(super) fn function(&mut self, linkage: Linkage) -> Parsed<FunctionTree<'t>> {
        let is_kernel = self.tok() == Tok::Dot("entry");
        self.advance();
        while self.eat_dot("attribute") {
            self.skip_parentheses()?;
        }
        let returns = if is_kernel { Vec::new() } else { self.parameters()? };
        let name = self.name("the name of a function")?;
        let params = self.parameters()?;
        let directives = self.function_directives()?;
        let mut function = FunctionTree { linkage, is_kernel, name, returns, params, directives, body: None };
        if self.is('{') {
            function.body = Some(self.body()?);
        } else {
            self.semicolon()?;
        }
        Ok(function)
    }

    fn function_directives(&mut self) -> Parsed<Directives> {
        let mut directives = Directives::default();
        while let Tok::Dot(word) = self.tok() {
            let span = self.span();
            match word {
                "maxntid" => directives.max_threads = Some(self.extents()?),
                "reqntid" => directives.required_threads = Some(self.extents()?),
                "reqnctapercluster" => directives.required_cluster = Some(self.extents()?),
                "minnctapersm" | "maxnctapersm" => {
                    self.advance();
                    let blocks = self.small_number("a number of blocks")?;
                    if word == "minnctapersm" {
                        directives.min_blocks_per_sm = Some(blocks);
                    }
                }
                "maxnreg" => {
                    self.advance();
                    directives.max_registers = Some(self.small_number("a number of registers")?);
                }
                "maxclusterrank" | "abi_preserve" | "abi_preserve_control" => {
                    self.advance();
                    self.small_number("a number")?;
                }
                "explicitcluster" => {
                    self.advance();
                    directives.explicit_cluster = true;
                }
                "noreturn" | "unique" | "blocksareclusters" => self.advance(),
                "pragma" => {
                    self.pragma()?;
                }
                "attribute" => {
                    self.advance();
                    self.skip_parentheses()?;
                }
                _ => {
                    let message = format!("`.{word}` does not belong in the header of a function");
                    let error = Error::new(ErrorKind::Directive, span, message, "here");
                    return self.fail(error);
                }
            }
        }
        Ok(directives)
    }

    /// Up to three numbers; those not written are 1.
    fn extents(&mut self) -> Parsed<[u32; 3]> {
        self.advance();
        let mut extents = [1u32; 3];
        for (i, extent) in extents.iter_mut().enumerate() {
            if i > 0 && !self.eat(',') {
                break;
            }
            *extent = self.small_number("a number")?;
        }
        Ok(extents)
    }
}

//! Module scope: the heading directives, variables, functions, and what is skipped.

use super::declaration::place_of_word;
use super::tree::{Item, Name, Tree};
use super::{Parsed, Parser};
use crate::error::{Error, ErrorKind};
use crate::ir::{Linkage, Span};
use crate::lex::Tok;

/// `.file` numbers up to this are kept; a table is made of them.
const FILES_MAX: u32 = 1 << 16;

impl<'t> Parser<'t, '_> {
    /// The whole text.
    pub(super) fn module(&mut self) -> Tree<'t> {
        let mut tree = Tree::default();
        self.heading(&mut tree);
        while !self.at_end() {
            let before = self.at;
            if self.item(&mut tree).is_err() {
                self.skip_item(before);
            }
        }
        tree
    }

    /// `.version` and `.target`, which must come first, in this order.
    fn heading(&mut self, tree: &mut Tree<'t>) {
        let start = Span { line: self.span().line, column: self.span().column, len: 1 };
        if self.version(tree).is_err() {
            // A text without a version is hardly PTX: one error is enough, so go on as if it were there.
            self.skip_to_item();
            if self.at_end() {
                return;
            }
        }
        if self.target(tree).is_err() {
            self.skip_to_item();
        }
        if tree.version.0 > 99 {
            self.errors.push(Error::new(ErrorKind::Directive, start, "this version of PTX does not exist", "here"));
        }
    }

    fn version(&mut self, tree: &mut Tree<'t>) -> Parsed<()> {
        if !self.eat_dot("version") {
            let error = Error::new(ErrorKind::Directive, self.span(), "`.version` is missing", "must come first")
                .help("begin the text with `.version 8.4` and `.target sm_80`");
            return self.fail(error);
        }
        let text = match self.tok() {
            Tok::Decimal(text) => text,
            _ => return self.expected("a version such as `8.4`"),
        };
        let parts: Vec<Option<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        let [Some(major), Some(minor)] = parts[..] else { return self.expected("a version such as `8.4`") };
        tree.version = (major, minor);
        self.advance();
        Ok(())
    }

    fn target(&mut self, tree: &mut Tree<'t>) -> Parsed<()> {
        if !self.eat_dot("target") {
            let error =
                Error::new(ErrorKind::Directive, self.span(), "`.target` is missing", "must come behind `.version`")
                    .help("add `.target sm_80`");
            return self.fail(error);
        }
        loop {
            let target = self.name("a target such as `sm_80`")?;
            tree.target.push(target.text.to_string());
            if !self.eat(',') {
                return Ok(());
            }
        }
    }

    fn item(&mut self, tree: &mut Tree<'t>) -> Parsed<()> {
        let Tok::Dot(word) = self.tok() else { return self.expected("a directive") };
        match word {
            "address_size" => {
                self.advance();
                let span = self.span();
                let bits = self.small_number("32 or 64")?;
                if bits != 32 && bits != 64 {
                    let message = format!("`.address_size {bits}` is neither 32 nor 64");
                    return self.fail(Error::new(ErrorKind::Directive, span, message, "here"));
                }
                tree.address_size = Some(bits);
                Ok(())
            }
            // Said twice, the second one counts.
            "target" => {
                tree.target.clear();
                self.target(tree)
            }
            "file" => self.file(tree),
            "loc" => self.loc().map(drop),
            "pragma" => self.pragma().map(|_| ()),
            "section" => {
                // The name is itself a word with a dot, `.debug_str`, or a plain one.
                self.advance();
                self.advance();
                self.skip_braces()
            }
            "alias" => {
                self.advance();
                let name = self.name("a name")?;
                self.expect(',')?;
                self.name("a name")?;
                self.semicolon()?;
                tree.items.push(Item::Unsupported { name, what: ".alias" });
                Ok(())
            }
            "tex" => {
                self.advance();
                let Tok::Dot(_) = self.tok() else { return self.expected("a type") };
                self.advance();
                let name = self.name("a name")?;
                self.semicolon()?;
                tree.items.push(Item::Unsupported { name, what: ".tex" });
                Ok(())
            }
            _ => self.linked(tree),
        }
    }

    /// A variable or a function, with its linkage in front.
    fn linked(&mut self, tree: &mut Tree<'t>) -> Parsed<()> {
        let mut linkage = Linkage::Internal;
        loop {
            let Tok::Dot(word) = self.tok() else { return self.expected("a declaration") };
            match word {
                "visible" => linkage = Linkage::Visible,
                "extern" => linkage = Linkage::Extern,
                "weak" => linkage = Linkage::Weak,
                "common" => linkage = Linkage::Common,
                "entry" | "func" => {
                    let function = self.function(linkage)?;
                    tree.items.push(Item::Function(Box::new(function)));
                    return Ok(());
                }
                _ if place_of_word(word).is_some() => {
                    let declaration = self.declaration(linkage)?;
                    if declaration.opaque {
                        for name in &declaration.names {
                            let name = Name { ..name.name };
                            tree.items.push(Item::Unsupported { name, what: "a texture, sampler or surface" });
                        }
                    } else {
                        tree.items.push(Item::Variables(declaration));
                    }
                    return Ok(());
                }
                _ => {
                    let error = Error::new(
                        ErrorKind::Directive,
                        self.span(),
                        format!("`.{word}` is not a directive that can stand here"),
                        "here",
                    );
                    return self.fail(error);
                }
            }
            self.advance();
        }
    }

    /// `.file 1 "a.cu"`, with or without `, time, size`.
    fn file(&mut self, tree: &mut Tree<'t>) -> Parsed<()> {
        self.advance();
        let span = self.span();
        let number = self.small_number("the number of a file")?;
        if number >= FILES_MAX {
            let message = format!("`.file {number}` is too large a number");
            return self.fail(Error::new(ErrorKind::Limit, span, message, "here"));
        }
        let Tok::Str(path) = self.tok() else { return self.expected("a string") };
        self.advance();
        while self.is(',') && matches!(self.token(1).tok, Tok::Int { .. }) {
            self.advance();
            self.advance();
        }
        tree.files.push((number, path.to_string()));
        Ok(())
    }

    /// Behind an error at module scope: to the next thing that can begin an item, past whole bodies.
    fn skip_item(&mut self, before: usize) {
        if self.at == before {
            self.advance();
        }
        self.skip_to_item();
    }

    fn skip_to_item(&mut self) {
        while !self.at_end() {
            match self.tok() {
                Tok::Dot(
                    "version" | "target" | "address_size" | "visible" | "extern" | "weak" | "common" | "entry" | "func"
                    | "global" | "const" | "shared" | "file" | "section" | "alias",
                ) => return,
                // What is in braces belongs to the item that failed.
                Tok::Punct('{') => {
                    if self.skip_braces().is_err() {
                        return;
                    }
                }
                _ => self.advance(),
            }
        }
    }
}

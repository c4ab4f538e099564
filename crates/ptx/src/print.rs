//! A [`Form`] back to its text.
//!
//! `parse(print(form)) == form`, and forms that are spelled in the manual's order print as they were written.

use crate::forms;
use crate::ir::{Form, Opcode};
use std::fmt;

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.opcode == Opcode::Unsupported {
            return f.write_str(self.rare.first().map_or("unsupported", String::as_str));
        }
        match forms::spell(self) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{:?}", self.opcode),
        }
    }
}

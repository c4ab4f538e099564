//! Texts and numbers as markup has them.

use std::fmt::{self, Write as _};

/// A coordinate, to a tenth.
pub(crate) struct Short(pub(crate) f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is added makes a negative zero a plain one.
        let tenths = (self.0 * 10.0).round() + 0.0;
        if tenths % 10.0 == 0.0 { write!(f, "{:.0}", tenths / 10.0) } else { write!(f, "{:.1}", tenths / 10.0) }
    }
}

/// A text inside an element or an attribute.
pub(crate) struct Escaped<'t>(pub(crate) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(character)?,
                // What XML does not allow, not even escaped.
                '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

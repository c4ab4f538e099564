//! What is wrong with the texts of a page: what nobody can read.
//!
//! - Two texts overlap,by more than 2 pixels, and in height by more than a
//!   fifth of the lower one's height: the boxes of letters are higher than the letters.
//! - A text is cut off by a part of the page that does not scroll, unless that part says `text-overflow: ellipsis`.
//! - A text is wider than the box it stands in.
//!
//! Texts are compared as they are laid out, line by line, in HTML and in SVG, and only what can be seen counts: not what
//! is transparent, not displayed, scrolled away, or below an opaque box on top of the page (a menu, a note at the mouse).
//! Lines of one paragraph are not compared with each other. A text that leaves the window of a drawing is not cut off: one
//! can move the drawing.
//!
//! Not seen: a text below an opaque shape of a drawing; turned texts are compared by the boxes around them.

use super::tab::Tab;

/// A function that answers a list of sentences. Ten thousand texts take it less than a second: it compares only what lies
/// in the same square of a grid.
const TEXTS: &str = include_str!("texts.js");

impl Tab<'_> {
    /// Texts that overlap, are cut off or do not fit; empty when all can be read.
    ///
    /// # Errors
    ///
    /// - The browser does not answer.
    pub fn overlapping_texts(&mut self) -> Result<Vec<String>, String> {
        let found = self.eval(&format!("({TEXTS})()"))?;
        let sentences = found.as_array().ok_or("texts.js gives no list")?;
        Ok(sentences.iter().filter_map(|sentence| sentence.as_str()).map(str::to_string).collect())
    }
}

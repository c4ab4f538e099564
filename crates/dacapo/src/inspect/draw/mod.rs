//! Reports as drawings of our own, in SVG.
//!
//! Data goes one way: a report becomes [`frames`] in frames; each is laid out by [`layout`] and is a [`picture`], innermost
//! first, because a box is as large as what is in it; then [`svg`] writes them, outermost first.

mod frames;
mod layout;
mod memory;
mod picture;
mod svg;
mod text;

#[cfg(feature = "json")]
pub(crate) use memory::{Lives, about};
pub(crate) use text::{Escaped, Short};

use super::Report;

impl Report {
    /// The report as a drawing in SVG: ops as boxes below what they wait for, bodies of branches and loops, and ops under one
    /// label, as boxes in boxes.
    ///
    /// Lines are solid where the second op begins when the first is over, dashed where it is set up while the first ends, and
    /// dotted where it is while the first runs. The critical path is bold. Colours are those of the outermost label. Boxes have
    /// the whole text of an op as a tooltip. The file needs no network and nothing beside it, and follows the viewer's choice of
    /// light or dark.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, copy, fill};
    /// # let device = dacapo::Device::software()?;
    /// let (mut x, mut y) = (device.zeros::<f32>(4)?.named("x"), device.zeros::<f32>(4)?);
    /// let graph = device.record(|r| {
    ///     r.run(fill(&mut x, baked(1.0)))?;
    ///     r.run(copy(&x, &mut y))
    /// })?;
    /// let drawing = graph.inspect().to_svg();
    /// assert!(drawing.starts_with("<svg") && drawing.contains("fill") && drawing.contains("copy"));
    /// # Ok(()) }
    /// ```
    pub fn to_svg(&self) -> String {
        let report = self.orderly();
        svg::written(&report, &picture::Pictures::of(&report), svg::Where::Alone)
    }

    /// The same drawing, for a page that shows what tooltips say.
    #[cfg(feature = "json")]
    pub(crate) fn svg_in_page(&self) -> String {
        svg::written(self, &picture::Pictures::of(self), svg::Where::InPage)
    }
}

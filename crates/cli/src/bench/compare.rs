//! What a measurement is handed: the device, how much to measure, and who is told.

use indicatif::ProgressBar;

use super::blocks::{self, Contender};
use super::library::Library;
use super::limits::{self, Limit};
use super::raw::Raw;
use super::statistics::Samples;
use crate::complaint::Complaint;
use crate::target::Target;

/// The contender that makes driver calls by hand.
pub const RAW: &str = "raw";
/// The contender that uses the library.
pub const LIBRARY: &str = "dacapo";

/// The device and the settings of one run of `dacapo bench`.
pub struct Bench<'d> {
    /// The side that makes driver calls by hand.
    pub raw: Raw<'d>,
    /// The side that uses the library.
    pub library: Library,
    /// Blocks of each contender.
    pub blocks: u32,
    /// Fewer launches a block: the simulator is slow, and `--quick` is in a hurry.
    pub small: bool,
    /// Only measurements whose name contains this.
    pub only: Option<String>,
    /// Shows how far it is.
    pub progress: ProgressBar,
}

impl<'d> Bench<'d> {
    /// Opens the device.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn open(target: &'d Target, blocks: u32, small: bool, only: Option<String>) -> Result<Self, Complaint> {
        let (raw, library) = (Raw::open(target.driver())?, Library::open(target.device())?);
        Ok(Bench { raw, library, blocks, small, only, progress: ProgressBar::hidden() })
    }

    /// Whether the measurement of this name was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.contains(only))
    }

    /// How many launches of `kernels` kernels a block has: about `kernels_total` kernels in all, within bounds.
    pub fn launches(&self, kernels: u32, kernels_total: u32, least: u32, most: u32) -> u32 {
        let shrink = if self.small { 20 } else { 1 };
        let (least, most) = ((least / shrink).max(1), (most / shrink).max(2));
        (kernels_total / shrink / kernels).clamp(least, most)
    }

    /// Measures the contenders in alternating blocks.
    ///
    /// # Errors
    ///
    /// - What went wrong in a block, said of this measurement.
    pub fn compare(&self, name: &str, launches: u32, contenders: Vec<(&str, Contender<'_>)>) -> Result<Row, Complaint> {
        self.progress.set_message(name.to_string());
        let (names, mut bodies): (Vec<_>, Vec<_>) = contenders.into_iter().unzip();
        let samples = blocks::alternate(self.blocks, &mut bodies, || self.progress.inc(1));
        let samples = samples.map_err(|complaint| complaint.at(name))?;
        let sides = names.into_iter().map(str::to_string).zip(samples).collect();
        Ok(Row { name: name.to_string(), launches, sides })
    }
}

/// A measurement that was made: microseconds a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// Launches of each block.
    pub launches: u32,
    /// The contenders and their samples.
    pub sides: Vec<(String, Samples)>,
}

impl Row {
    /// The samples of a contender.
    pub fn side(&self, name: &str) -> Option<&Samples> {
        self.sides.iter().find(|(of, _)| of == name).map(|(_, samples)| samples)
    }

    /// The medians of both sides, where both were measured.
    pub fn medians(&self) -> Option<(f64, f64)> {
        Some((self.side(RAW)?.median(), self.side(LIBRARY)?.median()))
    }

    /// Its limit and whether it holds.
    pub fn judged(&self) -> Option<(Limit, bool)> {
        let ((raw, library), limit) = (self.medians()?, limits::of(&self.name)?);
        Some((limit, limit.holds(raw, library)))
    }
}

//! What a measurement is handed: the device, how much to measure, and who is told.
//!
//! Both sides are opened once, with one stream each. A process that runs kernels or fills one by one on many streams takes 0.18 us
//! longer from one kernel of a graph to the next, by whichever side, until it ends (results/streams-h200.txt): a benchmark that
//! opened a device a round would come into that state at a time of its own. It does so even now, by its ninth round; what
//! is measured in that state from the first round on are the rows of `many-streams`.

use std::cell::OnceCell;

use dacapo::Buffer;
use indicatif::ProgressBar;

use super::Family;
use super::blocks::{self, Contender};
use super::library::Library;
use super::limits::Limit;
use super::raw::Raw;
use super::statistics::Samples;
use crate::complaint::Complaint;
use crate::session::DeviceBytes;
use crate::target::Target;

/// The contender that makes driver calls by hand.
pub const RAW: &str = "raw";
/// The contender that uses the library.
pub const LIBRARY: &str = "dacapo";

/// Blocks of each contender in one round.
pub const BLOCKS_OF_A_ROUND: u32 = 1;

/// The device and the settings of one run of `dacapo bench`.
pub struct Bench<'d> {
    target: &'d Target,
    /// The side that makes driver calls by hand.
    pub raw: Raw<'d>,
    /// The same once more, to tell how far two equal things are apart.
    raw_again: Raw<'d>,
    /// The side that uses the library, and the same on a plain stream: devices that nothing else uses.
    library: Library,
    plain: OnceCell<Library>,
    /// Blocks of each contender.
    pub blocks: u32,
    /// Fewer launches a block: the simulator is slow, and `--quick` is in a hurry.
    pub small: bool,
    /// Only measurements whose name contains this.
    pub only: Option<String>,
    families: &'d [Family],
    /// Shows how far it is.
    pub progress: ProgressBar,
}

impl<'d> Bench<'d> {
    /// Opens the device.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn open(
        target: &'d Target,
        families: &'d [Family],
        blocks: u32,
        small: bool,
        only: Option<String>,
    ) -> Result<Self, Complaint> {
        // SAFETY: every measurement keeps what its kernels touch until it has waited for its streams.
        let open = || unsafe { Raw::open(target.driver()) };
        let (raw, raw_again, library) = (open()?, open()?, Library::open(&target.opened_again()?)?);
        let (plain, progress) = (OnceCell::new(), ProgressBar::hidden());
        Ok(Bench { target, raw, raw_again, library, plain, blocks, small, only, families, progress })
    }

    /// The device and the driver under it.
    pub fn target(&self) -> &Target {
        self.target
    }

    /// The library's side once more, on a device that nothing else uses.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn library(&self) -> Result<Library, Complaint> {
        Library::open(&self.target.opened_again()?)
    }

    /// The library's side on a stream whose kernels begin when the one before them is over.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn plain_library(&self) -> Result<&Library, Complaint> {
        if self.plain.get().is_none() {
            let _ = self.plain.set(Library::open_plain(&self.target.opened_again()?)?);
        }
        self.plain.get().ok_or_else(|| Complaint::new("a device that was opened is not there"))
    }

    /// Whether the measurement of this name was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.contains(only))
    }

    /// The name of every measurement that there is, asked for or not.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.families.iter().flat_map(|family| family.names).map(|(name, _)| *name)
    }

    /// How many launches of `kernels` kernels a block has: about `kernels_total` kernels in all, within bounds.
    pub fn launches(&self, kernels: u32, kernels_total: u32, least: u32, most: u32) -> u32 {
        let shrink = if self.small { 20 } else { 1 };
        let (least, most) = ((least / shrink).max(1), (most / shrink).max(2));
        (kernels_total / shrink / kernels).clamp(least, most)
    }

    /// Measures in rounds: each has memory and graphs of its own, at places of their own.
    ///
    /// Where a driver happens to put data shows in the times of tiny kernels, by ten in a hundred on an H200: without rounds
    /// that luck would be taken for the contender's doing.
    ///
    /// # Errors
    ///
    /// - What went wrong in a round, said of this measurement.
    pub fn rounds(
        &self,
        name: &str,
        mut body: impl FnMut(&Round<'_, 'd>) -> Result<Row, Complaint>,
    ) -> Result<Row, Complaint> {
        self.progress.set_message(name.to_string());
        let names = self.families.iter().flat_map(|family| family.names);
        let limit = names.into_iter().find(|(of, _)| *of == name).and_then(|(_, limit)| *limit);
        let mut row = Row { name: name.to_string(), launches: 0, sides: Vec::new(), limit };
        // Kept until the end: what comes after does not get the places of what went before.
        let mut padding = Vec::new();
        for (number, first) in (0..self.blocks).step_by(BLOCKS_OF_A_ROUND as usize).enumerate() {
            let round = Round::open(self, number as u32, BLOCKS_OF_A_ROUND.min(self.blocks - first))?;
            row.append(body(&round).map_err(|complaint| complaint.at(name))?);
            padding.push(round.padding);
        }
        Ok(row)
    }
}

/// One round of a measurement.
pub struct Round<'b, 'd> {
    bench: &'b Bench<'d>,
    /// The side that makes driver calls by hand.
    pub raw: &'b Raw<'d>,
    /// The same once more, to tell how far two equal things are apart.
    pub raw_again: &'b Raw<'d>,
    /// The side that uses the library: a device that nothing else uses.
    pub library: &'b Library,
    /// Blocks of each contender.
    pub blocks: u32,
    number: u32,
    /// Memory that nobody uses, so that what is used lies elsewhere than in the last round.
    padding: (DeviceBytes<'d>, Buffer<u8>),
}

impl<'b, 'd> Round<'b, 'd> {
    fn open(bench: &'b Bench<'d>, number: u32, blocks: u32) -> Result<Self, Complaint> {
        let Bench { raw, raw_again, library, .. } = bench;
        // An odd number of kibibytes, another one in each round.
        let bytes = 1024 * (2 * (number as usize * 37 % 64) + 1);
        let padding = (raw.session().buffer(&vec![0; bytes])?, library.device.zeros(bytes)?);
        Ok(Round { bench, raw, raw_again, library, blocks, number, padding })
    }

    /// Launches of each contender in this round: one block more than is counted, which warms up.
    pub fn launches_in_all(&self, launches: u32) -> u32 {
        (self.blocks + 1) * launches
    }

    /// Measures the contenders in alternating blocks.
    ///
    /// # Errors
    ///
    /// - What went wrong in a block.
    pub fn compare(&self, launches: u32, contenders: Vec<(&str, Contender<'_>)>) -> Result<Row, Complaint> {
        let (names, mut bodies): (Vec<_>, Vec<_>) = contenders.into_iter().unzip();
        let samples = blocks::alternate(self.number, self.blocks, &mut bodies, || self.bench.progress.inc(1))?;
        let sides = names.into_iter().map(str::to_string).zip(samples).collect();
        Ok(Row { name: String::new(), launches, sides, limit: None })
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
    /// What the library may cost.
    pub limit: Option<Limit>,
}

impl Row {
    /// Takes in what a further round measured.
    fn append(&mut self, round: Row) {
        self.launches = round.launches;
        for (name, samples) in round.sides {
            match self.sides.iter_mut().find(|(of, _)| *of == name) {
                Some((_, all)) => all.append(samples),
                None => self.sides.push((name, samples)),
            }
        }
    }

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
        let ((raw, library), limit) = (self.medians()?, self.limit?);
        Some((limit, limit.holds(raw, library)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_put_together_side_by_side() {
        let round = |raw: f64, library: f64| Row {
            name: String::new(),
            launches: 9,
            sides: vec![
                (RAW.to_string(), [raw].into_iter().collect()),
                (LIBRARY.to_string(), [library].into_iter().collect()),
            ],
            limit: None,
        };
        let mut row = Row { name: "a".into(), launches: 0, sides: Vec::new(), limit: None };
        row.append(round(1.0, 2.0));
        row.append(round(3.0, 6.0));
        assert_eq!((row.name.as_str(), row.launches, row.sides.len()), ("a", 9, 2));
        assert_eq!(row.medians(), Some((2.0, 4.0)));
    }
}

//! Kernels of the decode step, compiled without one thing at a time.

use dacapo::ErrorKind;
use dacapo::half::bf16;
use dacapo::interop::nvrtc::{self, Options};
use dacapo_cli::bench::compare::{Bench, Round, Row};
use dacapo_cli::complaint::Complaint;
use dacapo_example_decode::gpt2::{Shape, Weights};

use super::parts::{Parts, Step};
use super::sides;
use crate::gpt2;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// Norms and residuals as parts of products: they are kernels of their own.
    NormInProduct,
    /// Attention as a part of the product behind it: it is a kernel of its own.
    AttentionInProduct,
    /// Several rows of weights on their way at a time.
    RowsInFlight,
    /// Loads of weights that do not go through the first cache.
    PastL1,
    /// Registers enough to have all of a warp's loads on their way.
    Registers,
}

impl Without {
    /// What the source is compiled with to leave it out, if that is not done by other kernels alone.
    fn define(self) -> Option<&'static str> {
        match self {
            Without::NormInProduct => Some("NORMED_BEFORE"),
            Without::AttentionInProduct => None,
            Without::RowsInFlight => Some("ONE_ROW_AT_A_TIME"),
            Without::PastL1 => Some("CACHED_WEIGHTS"),
            Without::Registers => Some("FEW_REGISTERS"),
        }
    }

    /// Whether other kernels do the same in another order, and so round elsewhere.
    fn rounds_elsewhere(self) -> bool {
        matches!(self, Without::NormInProduct | Without::AttentionInProduct)
    }
}

/// The texts of both sides, by the same compiler.
pub struct Variant {
    without: Without,
    whole: String,
    lacking: String,
}

impl Variant {
    /// Compiles both. None if there is no NVRTC.
    ///
    /// # Errors
    ///
    /// - The compiler refused.
    pub fn both(without: Without) -> Result<Option<Variant>, Complaint> {
        let Some(whole) = compiled(None)? else { return Ok(None) };
        let Some(lacking) = compiled(without.define())? else { return Ok(None) };
        Ok(Some(Variant { without, whole, lacking }))
    }
}

fn compiled(define: Option<&str>) -> Result<Option<String>, Complaint> {
    let source = include_str!("apart.cu");
    let options = Options::new().name("apart.cu").arch("compute_80").header("gpt2.cu", gpt2::SOURCE);
    let options = define.into_iter().fold(options, |options, name| options.define(name, 1));
    match nvrtc::compile(source, &options) {
        Ok(ptx) => Ok(Some(ptx.to_string())),
        Err(error) if matches!(error.kind(), ErrorKind::NoLibrary { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How far logits may be apart where a variant rounds elsewhere, relative to the largest. In the software device's small model
/// they were 2e-7 apart; with more layers, more keys round the other way in bf16.
const BOUND: f32 = 1e-2;

/// One round of a comparison.
///
/// # Errors
///
/// - A refused call, or logits that are wrong.
pub fn compare(
    bench: &Bench<'_>,
    round: &Round<'_, '_>,
    texts: &Variant,
    (shape, weights): (Shape, &Weights<Vec<bf16>>),
) -> Result<Row, Complaint> {
    let (library, launches) = (round.library, bench.launches(1, 40, 20, 40));
    let device = &library.device;
    let weights = weights.map(|values| device.buffer(values))?;
    // SAFETY: both are compiled from the sources that the declaration is about.
    let (whole, lacking) =
        unsafe { (Parts::load_ptx(device, &texts.whole)?, Parts::load_ptx(device, &texts.lacking)?) };
    // No stream but the library's: where there are two, launches need events.
    let (on, at) = ((device, &library.stream), (7, gpt2::position(&shape)));
    let mut with = Step::new(on, &whole, None, &shape, &weights, at)?;
    let mut without = Step::new(on, &lacking, Some(texts.without), &shape, &weights, at)?;
    let by = |step: &mut Step| gpt2::block(&mut step.graph, library, round.raw, launches);
    let row = sides(round, launches, Box::new(|| by(&mut with)), Box::new(|| by(&mut without)))?;
    let (want, got) = (library.stream.read(&with.logits)?, library.stream.read(&without.logits)?);
    let largest = want.iter().fold(0.0f32, |most, logit| most.max(logit.abs()));
    let bound = if texts.without.rounds_elsewhere() { BOUND * largest } else { 0.0 };
    match want.iter().zip(&got).find(|(want, got)| (*want - *got).abs() > bound || got.is_nan()) {
        None if largest > 0.0 => Ok(row),
        None => Err(Complaint::new("all logits are zero")),
        Some((want, got)) => Err(Complaint::new(format!("{:?} left out: a logit is {got}, not {want}", texts.without))),
    }
}

#[cfg(test)]
mod tests {
    use dacapo::Software;

    use super::*;

    const ALL: [Without; 5] = [
        Without::NormInProduct,
        Without::AttentionInProduct,
        Without::RowsInFlight,
        Without::PastL1,
        Without::Registers,
    ];

    /// Every variant compiles and gives the logits of the whole; and each does leave something out.
    #[test]
    fn kernels_with_something_left_out_do_the_same() {
        let Some(whole) = compiled(None).unwrap() else {
            assert!(std::env::var_os("DACAPO_NEED_NVRTC").is_none(), "NVRTC was asked for");
            println!("NOT RUN: there is no NVRTC");
            return;
        };
        let shape = gpt2::shape(1, true);
        let device = Software::new().open().unwrap();
        let stream = device.stream().unwrap();
        let weights = Weights::new(&shape, 1).map(|values| device.buffer(values)).unwrap();
        let logits = |text: &str, without| {
            // SAFETY: compiled from the sources that the declaration is about.
            let parts = unsafe { Parts::load_ptx(&device, text) }.unwrap();
            let mut step = Step::new((&device, &stream), &parts, without, &shape, &weights, (7, 3)).unwrap();
            step.graph.launch_sync(&stream).unwrap();
            (step.graph.edges().len(), stream.read(&step.logits).unwrap())
        };
        let (edges, want) = logits(&whole, None);
        let largest = want.iter().fold(0.0f32, |most, logit| most.max(logit.abs()));
        assert!(largest > 0.1, "{want:?}");
        for without in ALL {
            let text = compiled(without.define()).unwrap().unwrap();
            let (edges_without, got) = logits(&text, Some(without));
            let most = want.iter().zip(&got).fold(0.0f32, |most, (want, got)| most.max((want - got).abs()));
            println!("{without:?}: {:e} of the largest logit apart", most / largest);
            match without.rounds_elsewhere() {
                true => assert!(most <= BOUND * largest && edges_without > edges, "{without:?}: {most}"),
                false => assert!(most == 0.0 && text != whole && edges_without == edges, "{without:?}: {most}"),
            }
        }
    }
}

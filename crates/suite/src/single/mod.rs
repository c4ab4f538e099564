//! Single instructions on many inputs, and what a GPU made of them.
//!
//! - A [`Single`] is one PTX instruction (or two, where they belong together), the inputs it is given, and the rule its
//!   results are held to. It is the same on every machine.
//! - [`Rule::Exact`]: the software driver gives the recorded bits, those of NaNs included.
//! - [`Rule::Approx`]: both the recorded results and ours are within the manual's error of the true value, and agree
//!   in kind where the true value is zero, infinite or none.
//! - [`Rule::Apart`]: the GPU does otherwise than written, and the interpreter does not follow; it says why.
//! - What a GPU gave is in two files: [`APPROX_FILE`] for the approximations, [`FACTS_FILE`] for all else.
//!   Long lists are kept as a digest for each 256 results.

mod approx;
mod facts;
mod halves;
mod inputs;
mod judge;
mod limit;
mod recording;
mod run;

pub use judge::{Errors, Judged, judge};
pub use limit::{Approx, Bound, Format};
pub use recording::{
    APPROX_FILE, FACTS_FILE, SingleAnswer, SingleRecording, StaleSingle, committed, hash_of, keep, record,
};
pub use run::{ptx, run};

/// Which register holds the result, and so how wide it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// `%hd`, 16 bits.
    H16,
    /// `%d`.
    W32,
    /// `%fd`.
    F32,
    /// `%D`.
    W64,
    /// `%gd`.
    F64,
    /// `%p`, as 0 or 1.
    P,
}

impl Out {
    /// Bytes of one result in a recording.
    pub fn bytes(self) -> usize {
        match self {
            Out::P => 1,
            Out::H16 => 2,
            Out::W32 | Out::F32 => 4,
            Out::W64 | Out::F64 => 8,
        }
    }
}

/// What results are held to.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The recorded bits.
    Exact,
    /// Within the manual's error of the true value.
    Approx(Approx),
    /// Not the recorded bits, for this reason.
    Apart(&'static str),
}

/// An instruction with its inputs.
#[derive(Clone, Debug)]
pub struct Single {
    /// The form, as one writes it; no two have the same.
    pub name: String,
    /// PTX that makes a result of `%a %b %c` (32 bits), `%A..` (64), `%ha..` (16), `%fa..`, `%ga..` (floats).
    pub body: String,
    /// Where the result is.
    pub out: Out,
    /// Three times 64 bits for each result.
    pub inputs: std::sync::Arc<Vec<[u64; 3]>>,
    /// What the results are held to.
    pub rule: Rule,
}

impl Single {
    fn new(name: impl Into<String>, body: impl Into<String>, out: Out, inputs: &inputs::List) -> Single {
        Single { name: name.into(), body: body.into(), out, inputs: inputs.clone(), rule: Rule::Exact }
    }

    fn under(mut self, rule: Rule) -> Single {
        self.rule = rule;
        self
    }

    /// Whether its results lie in [`APPROX_FILE`].
    pub fn is_approx(&self) -> bool {
        matches!(self.rule, Rule::Approx(_))
    }
}

/// All of them, in a fixed order.
pub fn all() -> Vec<Single> {
    let mut all = approx::singles();
    all.extend(facts::singles());
    all.extend(halves::singles());
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_differ_and_every_approximation_has_enough_inputs() {
        let mut names = BTreeSet::new();
        for single in all() {
            assert!(names.insert(single.name.clone()), "{} twice", single.name);
            if single.is_approx() {
                assert!(single.inputs.len() >= 4096, "{}: {} inputs", single.name, single.inputs.len());
            }
        }
    }
}

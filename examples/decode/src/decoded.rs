//! A batch decoded from its beginning, with all that can be compared of it: twice with a look after every step, and once as a
//! server does it.

use dacapo::Result;

use crate::engine::Engine;
use crate::show::Plan;
use crate::steady::{self, Round};

/// The texts of a batch, and what was thought of every token at every step.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    /// Sequence by sequence, the token that was given first.
    pub texts: Vec<Vec<u32>>,
    /// Step by step, row by row.
    pub logits: Vec<Vec<Vec<f32>>>,
}

/// The same batch three times.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Tokens drawn at the plan's temperature.
    pub drawn: Texts,
    /// The likeliest tokens: the same graph, a slot has changed.
    pub greedy: Texts,
    /// The likeliest again, step behind step: the host launches and looks at the end.
    pub unwatched: Round,
}

impl Decoded {
    /// Decodes. `look` is called after every step that is looked at, with its logits.
    ///
    /// # Errors
    ///
    /// - What the device or `look` answered.
    pub fn of(
        engine: &mut Engine<'_>,
        plan: &Plan,
        mut look: impl FnMut(&Engine<'_>, &[Vec<f32>]) -> Result<()>,
    ) -> Result<Decoded> {
        engine.sampling.temperature.set(plan.temperature);
        let drawn = Texts::of(engine, plan, &mut look)?;
        engine.sampling.temperature.set(0.0);
        let greedy = Texts::of(engine, plan, &mut look)?;
        let unwatched = steady::round(engine, plan.batch(), plan.steps)?;
        Ok(Decoded { drawn, greedy, unwatched })
    }

    /// What differs first from another run, to the last bit; `None` if nothing does.
    pub fn differs(&self, other: &Decoded) -> Option<String> {
        let unwatched = (self.unwatched.texts != other.unwatched.texts).then(|| "texts that nobody looked at".into());
        let of = |kind: &str, left: &Texts, right: &Texts| left.differs(right).map(|what| format!("{kind} {what}"));
        of("drawn", &self.drawn, &other.drawn).or(of("greedy", &self.greedy, &other.greedy)).or(unwatched)
    }
}

impl Texts {
    fn of(
        engine: &mut Engine<'_>,
        plan: &Plan,
        look: &mut impl FnMut(&Engine<'_>, &[Vec<f32>]) -> Result<()>,
    ) -> Result<Texts> {
        let batch = plan.batch();
        steady::begin(engine, batch, plan.steps)?;
        let mut logits = Vec::new();
        for _ in 0..plan.steps {
            engine.step(batch)?;
            let thought = engine.state.logits(&engine.stream, batch)?;
            look(engine, &thought)?;
            logits.push(thought);
        }
        let texts = (0..batch).map(|place| engine.state.tokens(&engine.stream, place)).collect::<Result<_>>()?;
        Ok(Texts { texts, logits })
    }

    fn differs(&self, other: &Texts) -> Option<String> {
        let bits = |step: &Vec<Vec<f32>>| -> Vec<u32> { step.iter().flatten().map(|logit| logit.to_bits()).collect() };
        let step = self.logits.iter().zip(&other.logits).position(|(left, right)| bits(left) != bits(right));
        match step {
            Some(step) => Some(format!("logits from step {step} on")),
            None if self.logits.len() != other.logits.len() => Some("numbers of steps".into()),
            None => (self.texts != other.texts).then(|| "tokens".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_or_token_or_step_more_or_less_is_a_difference() {
        let one = Texts { texts: vec![vec![3, 1, 2]], logits: vec![vec![vec![1.0, 0.0]], vec![vec![0.5, 2.0]]] };
        assert_eq!(one.differs(&one), None);
        let mut other = one.clone();
        other.logits[1][0][0] = 0.5 + f32::EPSILON;
        assert_eq!(one.differs(&other).as_deref(), Some("logits from step 1 on"));
        other.logits[0][0][1] = -0.0;
        assert_eq!(one.differs(&other).as_deref(), Some("logits from step 0 on"));
        let other = Texts { logits: one.logits[..1].to_vec(), ..one.clone() };
        assert_eq!(one.differs(&other).as_deref(), Some("numbers of steps"));
        let other = Texts { texts: vec![vec![3, 1, 1]], ..one.clone() };
        assert_eq!(one.differs(&other).as_deref(), Some("tokens"));
    }
}

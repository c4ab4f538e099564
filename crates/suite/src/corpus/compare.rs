//! Holds the outputs of a case against the recorded ones.

use std::fmt;

use super::case::{Case, Element, Output};

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every bit as recorded.
    Exact,
    /// Not every bit, but every element within its bound.
    Within {
        /// How many elements differ in any bit.
        elements: usize,
        /// The largest difference as a part of what is allowed; 1 would be at the bound.
        used: f64,
    },
    /// An element beyond its bound, or outputs of the wrong size.
    Failed(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Exact => write!(f, "exact"),
            Verdict::Within { elements, used } => write!(f, "within bound ({elements} differ, {used:.2} of it)"),
            Verdict::Failed(why) => write!(f, "FAILED: {why}"),
        }
    }
}

/// Compares what a case gave with what was recorded.
pub fn compare(case: &Case, got: &[Vec<u8>], want: &[Vec<u8>]) -> Verdict {
    let outputs: Vec<&Output> = case.outputs().map(|(_, output)| output).collect();
    if got.len() != outputs.len() || want.len() != outputs.len() {
        return Verdict::Failed(format!("{} outputs, {} recorded, {} declared", got.len(), want.len(), outputs.len()));
    }
    let (mut elements, mut used) = (0, 0.0f64);
    for (number, output) in outputs.iter().enumerate() {
        let (got, want) = (&got[number], &want[number]);
        if got.len() != want.len() {
            return Verdict::Failed(format!("output {number}: {} bytes, {} recorded", got.len(), want.len()));
        }
        let size = output.element.bytes();
        let plane = (want.len() / size / output.planes.len()).max(1);
        for (at, (got, want)) in got.chunks(size).zip(want.chunks(size)).enumerate() {
            if got == want {
                continue;
            }
            let bound = &output.planes[(at / plane).min(output.planes.len() - 1)];
            let (x, y) = (value(output.element, got), value(output.element, want));
            if !output.element.is_float() || !bound.accepts(x, y) {
                return Verdict::Failed(format!(
                    "output {number}, plane {}, element {}: {x:e} ({}), recorded {y:e} ({})",
                    at / plane,
                    at % plane,
                    bits(got),
                    bits(want)
                ));
            }
            elements += 1;
            if let super::Bound::Within { rel, abs, .. } = bound {
                let part = (x - y).abs() / abs.max(rel * y.abs());
                used = used.max(if part.is_nan() { 0.0 } else { part });
            }
        }
    }
    match elements {
        0 => Verdict::Exact,
        _ => Verdict::Within { elements, used },
    }
}

fn bits(bytes: &[u8]) -> String {
    bytes.iter().rev().fold("0x".to_string(), |text, byte| text + &format!("{byte:02x}"))
}

fn value(element: Element, bytes: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = u64::from_le_bytes(word);
    match element {
        Element::F32 => f64::from(f32::from_bits(word as u32)),
        Element::F64 => f64::from_bits(word),
        Element::I8 => f64::from(word as u8 as i8),
        Element::I16 => f64::from(word as u16 as i16),
        Element::I32 => f64::from(word as u32 as i32),
        Element::I64 => word as i64 as f64,
        Element::U8 | Element::U16 | Element::U32 | Element::U64 => word as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bound;
    use super::*;

    fn floats(values: &[f32]) -> Vec<Vec<u8>> {
        vec![values.iter().flat_map(|value| value.to_le_bytes()).collect()]
    }

    #[test]
    fn each_plane_has_its_own_bound() {
        let case = Case::new("m", "k", "").planes::<f32>(2, &[Bound::Exact, Bound::within(0.1, 0.0, "a test")]);
        let want = floats(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(compare(&case, &want, &want), Verdict::Exact);
        let near = compare(&case, &floats(&[1.0, 2.0, 3.0, 4.2]), &want);
        assert!(matches!(near, Verdict::Within { elements: 1, used } if (0.49..0.51).contains(&used)), "{near}");
        for wrong in [[1.1, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.5], [1.0, 2.0, f32::NAN, 4.0]] {
            assert!(matches!(compare(&case, &floats(&wrong), &want), Verdict::Failed(_)), "{wrong:?}");
        }
    }

    #[test]
    fn integers_have_no_tolerance() {
        let case = Case::new("m", "k", "").output::<i32>(1, Bound::within(1.0, 1.0, "a test"));
        assert!(matches!(compare(&case, &[vec![1, 0, 0, 0]], &[vec![2, 0, 0, 0]]), Verdict::Failed(_)));
    }
}

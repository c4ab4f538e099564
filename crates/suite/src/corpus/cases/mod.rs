//! Every case, by what it is about.
//!
//! Shapes are awkward on purpose: nothing, one, one less and one more than a block, primes. A kernel whose outputs
//! depend on the order of atomics gets whole numbers, so that they do not.

mod activations;
mod approx;
mod arith;
mod collective;
mod control;
mod convert;
mod halves;
mod integer;
mod language;
mod learning;
mod matrices;
mod memory;
mod tensor;

use super::Case;
use super::modules::VARIANTS;

/// Nothing, one, one less and one more than a block of [`BLOCK`]; 127 is also prime.
const ELEMENTS: [usize; 4] = [0, 1, BLOCK as usize - 1, BLOCK as usize + 1];

/// Threads of a block where the kernel does not ask for a number.
const BLOCK: u32 = 128;

/// All cases, in a fixed order.
pub fn all() -> Vec<Case> {
    let groups = [
        arith::cases(),
        integer::cases(),
        convert::cases(),
        approx::cases(),
        halves::cases(),
        control::cases(),
        activations::cases(),
        collective::cases(),
        memory::cases(),
        language::cases(),
        matrices::cases(),
        learning::cases(),
        tensor::cases(),
    ];
    let mut cases: Vec<Case> = groups.into_iter().flatten().collect();
    for (variant, base) in VARIANTS {
        let again = |case: &Case| Case { module: variant, ..case.clone() };
        cases.extend(cases.iter().filter(|case| case.module == *base).map(again).collect::<Vec<_>>());
    }
    cases
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::{Bound, ptx};
    use super::*;

    /// The text of an entry and of the functions of its module, which it may call.
    fn code(case: &Case) -> String {
        let text = ptx(case.module).unwrap();
        let after = text.split(&format!(".entry {}(", case.kernel)).nth(1);
        let entry = after.unwrap_or_else(|| panic!("{} has no such entry", case.name())).split("\n}").next().unwrap();
        let functions = text.split(".func ").skip(1).map(|function| function.split("\n}").next().unwrap_or_default());
        entry.to_string() + &functions.collect::<String>()
    }

    #[test]
    fn there_are_enough_kernels_with_enough_shapes() {
        let mut shapes: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for case in all() {
            assert!(
                shapes.entry((case.module, case.kernel)).or_default().insert(case.shape.clone()),
                "{}",
                case.name()
            );
        }
        for ((module, kernel), shapes) in &shapes {
            assert!(shapes.len() >= 3, "{module}/{kernel} has {} shapes", shapes.len());
        }
        assert!(shapes.len() >= 60, "only {} kernels", shapes.len());
        assert!(all().len() >= 300);
    }

    #[test]
    fn every_architecture_is_there_with_and_without_fast_maths() {
        for arch in ["sm_75", "sm_80", "sm_90"] {
            let of = |fast: bool| {
                let is = |text: &str| text.contains(&format!(".target {arch}"));
                let modules = super::super::MODULES.iter();
                modules.filter(|(name, text)| name.ends_with(".fast") == fast && is(text)).count()
            };
            assert!(of(false) >= 2 && of(true) >= 2, "{arch}: {} plain, {} fast", of(false), of(true));
        }
    }

    #[test]
    fn every_kernel_is_in_a_case() {
        let mut cases: BTreeSet<(&str, &str)> = all().iter().map(|case| (case.module, case.kernel)).collect();
        for (module, text) in super::super::MODULES {
            for entry in text.split(".entry ").skip(1) {
                let kernel = entry.split('(').next().unwrap_or_default();
                let was = cases.remove(&(*module, kernel));
                assert!(was || module.ends_with(".fast"), "{module}/{kernel} is in no case");
            }
        }
        assert!(cases.is_empty(), "not in any module: {cases:?}");
    }

    #[test]
    fn a_bound_is_given_exactly_where_an_approximate_instruction_is() {
        for case in all() {
            let approximate = [".approx", ".full", "mma.sync"].iter().any(|modifier| code(&case).contains(modifier));
            let bounded = case
                .outputs()
                .any(|(_, output)| output.planes.iter().any(|bound| matches!(bound, Bound::Within { .. })));
            assert_eq!(approximate, bounded, "{}", case.name());
        }
    }

    #[test]
    fn inputs_are_the_same_every_time_and_differ_between_cases() {
        let (first, second) = (all(), all());
        for (a, b) in first.iter().zip(&second) {
            assert_eq!(a.inputs_sha256(), b.inputs_sha256(), "{}", a.name());
        }
    }
}

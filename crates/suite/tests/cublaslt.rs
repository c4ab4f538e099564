//! The bodies about cuBLASLt, small, on the software device: what stands in for the library there is held to the same.

use dacapo::Device;
use dacapo_suite::cublaslt::compare::{self, compare};
use dacapo_suite::cublaslt::facts::facts;
use dacapo_suite::cublaslt::survive::{Effort, survive};

#[test]
fn a_graph_with_products_outlives_what_the_program_had() {
    let device = Device::software().unwrap();
    let survived = survive(&device, Effort::SMALL).unwrap();
    assert_eq!((survived.replays, survived.compared, survived.difference), (30, 7, 0.0));
    assert_eq!(device.findings(), [""; 0]);
}

#[test]
fn the_comparison_covers_every_format_and_epilogue() {
    let rows = compare(&Device::software().unwrap(), compare::SMALL).unwrap();
    assert_eq!(rows.len(), 4 * 2 * 3);
    // Both sides are the same kernels here.
    assert!(rows.iter().all(|row| row.holds() && row.products == 32 && row.difference_max == 0.0), "{rows:#?}");
}

#[test]
fn what_stands_in_rounds_as_it_says() {
    let facts = facts(&Device::software().unwrap()).unwrap();
    assert!(facts[0].ends_with("NaN"), "{facts:?}");
    assert!(facts[1].ends_with("(rounded to 10 bits)"), "{facts:?}");
    assert!(facts[2].contains("by tanh"), "{facts:?}");
}

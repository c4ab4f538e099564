//! Kernels as the program declared them.

use dacapo::inspect::{KernelOf, Report};
use dacapo::{Device, Recorder, baked, fill};

use crate::kit::Kernels;

mod other {
    dacapo::kernels! {
        /// Another declaration of the same entry point.
        pub unsafe struct Kernels(include_str!("../../kernels/saxpy.ptx")) {
            /// y ← a·x + y, with any geometry
            #[allow(clippy::needless_pass_by_value)] // an attribute, and a comment
            fn axpy(
                a: f32, // not said again
                x: &[f32],
                y: &mut [f32],
                n: u32 = y.len(),
            ) {
                entry: "saxpy";
                requires: x.len()
                    == y.len(), !x.is_empty();
                default_grid: linear(y.len(), 64).shared(16);
            }
        }
    }
}

fn kernel_of(report: &Report, node: usize) -> Option<&KernelOf> {
    report.nodes[node].kernel.map(|kernel| &report.kernels[kernel])
}

#[test]
fn each_declared_kernel_is_told_once_as_it_was_written_without_comments() {
    let device = Device::software().unwrap();
    let (k, other) = (Kernels::load(&device).unwrap(), other::Kernels::load(&device).unwrap());
    let (x, mut y, mut wide) = (device.zeros(8).unwrap(), device.zeros(8).unwrap(), device.zeros::<u64>(8).unwrap());
    let mut record = |r: &mut Recorder<'_>| {
        r.run(k.saxpy(baked(1.0), &x, &mut y))?;
        r.run(fill(&mut y, baked(1.0)))?;
        r.run(other.axpy(baked(1.0), &x, &mut y))?;
        r.run(fill(&mut wide, baked(1)))?;
        r.run(k.saxpy(baked(2.0), &x, &mut y))
    };
    let inspected = device.graph().inspect(&mut record).unwrap();
    let report = device.record(&mut record).unwrap().inspect();
    assert_eq!(report.kernels, inspected.kernels);
    let saxpy = "\
fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
    requires: x.len() == y.len();
    grid: linear(y.len(), 256);
}";
    let axpy = "\
fn axpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
    entry: \"saxpy\";
    requires: x.len() == y.len(), !x.is_empty();
    default_grid: linear(y.len(), 64).shared(16);
}";
    assert_eq!(report.kernels, [KernelOf::new("saxpy", "saxpy", saxpy), KernelOf::new("axpy", "saxpy", axpy)]);
    let names: Vec<Option<&str>> = (0..5).map(|node| kernel_of(&report, node).map(|kernel| &*kernel.name)).collect();
    // A fill is none, also where a kernel of ours does it.
    assert_eq!(names, [Some("saxpy"), None, Some("axpy"), None, Some("saxpy")]);
    #[cfg(feature = "json")]
    assert_eq!(Report::from_json(&report.to_json()), Ok(report));
}

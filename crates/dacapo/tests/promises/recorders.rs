//! What a recorder does with ops that fail or panic inside a recording, and whose line an error names.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo::op::from_fn;
use dacapo::port::{Forward, Mirror, graphed};
use dacapo::raw::foreign;
use dacapo::{Device, Error, ErrorKind, Op, Recorder, Result, baked, copy, fill, grid, random};

use crate::kit::{Bench, kind, software};

#[test]
fn a_panic_that_is_caught_inside_a_recording_leaves_no_trace_of_its_op() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let (mut x, mut y) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(64).unwrap());
    let mut graph = device
        .record(|r: &mut Recorder<'_>| {
            let mut temp = r.alloc::<u32>(4)?;
            let half = from_fn(|r: &mut Recorder<'_>| -> Result<()> {
                r.run(fill(&mut x, baked(9)))?;
                r.run(fill(&mut temp, baked(1)))?;
                panic!("half-way")
            });
            let half = half.label("half").with_grid(grid::exact([1, 1, 1], [1, 1, 1]));
            assert!(catch_unwind(AssertUnwindSafe(|| r.run(half))).is_err());
            // What it wrote was not written.
            assert!(matches!(kind(r.run(copy(&temp, &mut x))), ErrorKind::UninitTemp { .. }));
            r.run(k.put_any(baked(2), &mut y))
        })
        .unwrap();
    let report = graph.inspect();
    assert_eq!((graph.len(), report.nodes[0].label.as_str()), (1, ""));
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [2; 64], "with the geometry of the op that panicked");
    assert_eq!(stream.read(&x).unwrap(), [0; 4]);
}

#[test]
fn a_geometry_is_for_exactly_one_kernel() {
    let Bench { device, k, .. } = Bench::seeded(0);
    let (mut x, mut y) = (device.zeros::<u32>(64).unwrap(), device.zeros::<u32>(64).unwrap());
    let wide = grid::exact([7, 1, 1], [32, 1, 1]);
    let both = k.put_any(baked(1), &mut x).then(k.put_any(baked(2), &mut y)).with_grid(wide);
    let error = device.record(both).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::GridUnused));
    assert_eq!((error.op(), error.location().unwrap().file()), ("with_grid", file!()));
    assert!(matches!(kind(device.record(fill(&mut x, baked(1)).with_grid(wide))), ErrorKind::GridUnused));
    // A kernel of an inner graph has the geometry it was recorded with, and counts.
    let inner = device.record(k.put(baked(1), &mut x)).unwrap();
    let after = k.put_any(baked(2), &mut y).then(inner.as_op()).with_grid(wide);
    assert!(matches!(kind(device.record(after)), ErrorKind::GridUnused));
    // What is no kernel does not count; nor does one that failed and was let go.
    let beside = fill(&mut x, baked(1)).then(k.put_any(baked(2), &mut y)).with_grid(wide);
    assert_eq!(device.record(beside).unwrap().len(), 2);
    let other = software(0).open().unwrap().zeros::<u32>(4).unwrap();
    let again = from_fn(|r: &mut Recorder<'_>| {
        let mut elsewhere = other;
        r.run(k.put_any(baked(1), &mut elsewhere)).unwrap_err();
        r.run(k.put_any(baked(2), &mut y))
    });
    assert_eq!(device.record(again.with_grid(wide)).unwrap().len(), 1);
}

#[test]
fn an_empty_range_overlaps_nothing() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(8).unwrap();
    let seen = y.share();
    for start in [0, 2, 4] {
        // SAFETY: it enqueues nothing.
        stream.run(unsafe { foreign(&seen[start..start], &mut y[..4], |_, _, _| Ok(())) }).unwrap();
    }
    // SAFETY: as above.
    let meets = stream.run(unsafe { foreign(&seen[3..4], &mut y[..4], |_, _, _| Ok(())) });
    assert!(matches!(kind(meets), ErrorKind::Overlap { .. }));
}

/// The line of an error is one of this file, and the one that is expected.
#[track_caller]
fn expect_line(error: &Error, line: u32) {
    let at = error.location().unwrap_or_else(|| panic!("no place: {error}"));
    assert_eq!((at.file(), at.line()), (file!(), line), "{error}");
}

#[test]
fn an_error_of_the_librarys_own_ops_names_the_line_that_made_them() {
    let (device, other) = (software(0).open().unwrap(), software(0).open().unwrap());
    let mut random = random::Generator::new(&device, 1).unwrap();
    let (mut words, mut numbers) = (other.zeros::<u32>(4).unwrap(), other.zeros::<f32>(4).unwrap());
    let error = device.record(random.words(&mut words)).unwrap_err();
    expect_line(&error, line!() - 1);
    let error = device.record(random.uniform(&mut numbers)).unwrap_err();
    expect_line(&error, line!() - 1);
    let error = device.record(random.normal(&mut numbers)).unwrap_err();
    expect_line(&error, line!() - 1);
    // The generator's kernels are of another device.
    let error = other.record(random.words(&mut words)).unwrap_err();
    expect_line(&error, line!() - 1);
    // The override ends with the op.
    let (mut short, long) = (device.zeros::<u32>(1).unwrap(), device.zeros::<u32>(2).unwrap());
    let mut good = device.zeros::<u32>(4).unwrap();
    let after = random.words(&mut good).then(copy(&long, &mut short));
    expect_line(&device.record(after).unwrap_err(), line!() - 1);
}

/// Of what is checked before it becomes a node, and of a graph inside another: the labels around it, from the outside in.
#[test]
fn an_error_and_a_node_have_the_labels_that_stand_around_them_and_no_others() {
    let Bench { device, k, .. } = Bench::seeded(0);
    let (x, mut y) = (device.zeros::<u32>(2).unwrap(), device.zeros::<u32>(3).unwrap());
    let error = device.graph().label("step").record(copy(&x, &mut y).label("load")).unwrap_err();
    assert_eq!((error.op(), error.label()), ("copy", "step/load"));
    let said = format!("`copy` in step/load at {}: ", error.location().unwrap());
    assert!(error.to_string().starts_with(&said), "{error}");
    let error = device.record(copy(&x, &mut y)).unwrap_err();
    assert_eq!((error.op(), error.label()), ("copy", ""));
    let (one, two) = y.split_at_mut(1);
    let inner = device.record(k.bump(one.at_mut(0)).label("inner").then(k.bump(two.at_mut(0)))).unwrap();
    let labels = |graph: &dacapo::Graph<()>| -> Vec<String> {
        graph.inspect().nodes.iter().map(|node| node.label.clone()).collect()
    };
    assert_eq!(labels(&device.record(inner.as_op()).unwrap()), ["inner", ""]);
    let outer = device.graph().label("outer").record(inner.as_op().label("twice").then(inner.as_op())).unwrap();
    assert_eq!(labels(&outer), ["outer/twice/inner", "outer/twice", "outer/inner", "outer"]);
}

/// A set of buffers with a mistake of the user's own.
struct Wrong(dacapo::Buffer<u32>, dacapo::Buffer<u32>);

/// Where `copy_from` of [`Wrong`] makes its op.
const WRONG_COPY: u32 = line!() + 10;

impl Mirror for Wrong {
    fn shape(&self, into: &mut Vec<usize>) {
        self.0.shape(into);
    }
    fn twin(&self, device: &Device) -> Result<Self> {
        Ok(Wrong(self.0.twin(device)?, self.1.twin(device)?))
    }
    fn copy_from(&mut self, r: &mut Recorder<'_>, source: &Self) -> Result<()> {
        self.0.copy_from(r, &source.1)
    }
}

#[test]
fn an_error_of_copying_inputs_names_the_callers_line_or_their_own_mirrors() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let (x, y) = (device.zeros::<u32>(2).unwrap(), device.zeros::<u32>(3).unwrap());
    let mut twin = (x.twin(&device).unwrap(), x.twin(&device).unwrap());
    let pair = (x, y);
    let error = device.record(|r: &mut Recorder<'_>| twin.copy_from(r, &pair)).unwrap_err();
    expect_line(&error, line!() - 1);
    let mut module = graphed(&device, |r: &mut Recorder<'_>, _: &Wrong| r.output::<u32>(1));
    let wrong = Wrong(device.zeros(2).unwrap(), device.zeros(3).unwrap());
    let error = module.call(&stream, &wrong).unwrap_err();
    expect_line(&error, WRONG_COPY);
    // A good device and input of another: the copy is refused, at the call.
    let elsewhere = software(0).open().unwrap();
    let mut module = graphed(&device, |r: &mut Recorder<'_>, _: &dacapo::Buffer<u32>| r.output::<u32>(1));
    let foreign_input = elsewhere.zeros::<u32>(2).unwrap();
    let error = module.call(&stream, &foreign_input).unwrap_err();
    expect_line(&error, line!() - 1);
    let error = module.forward(&stream, &foreign_input).unwrap_err();
    expect_line(&error, line!() - 1);
}

//! Globals of a module: memory that no argument names, with the same promises as all other memory.

use dacapo::{Recorder, baked};

use crate::kit::{Bench, Kernels, benches};

dacapo::kernels! {
    /// One entry point declared twice.
    unsafe struct Twice(include_str!("kernels.ptx")) {
        /// Declared without the global, which it only reads; only loaded here, never run.
        #[allow(dead_code, reason = "loaded, never run")]
        fn unsaid(out: &out u32) {
            entry: "peek";
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// Looks at a global of the module.
        fn said(out: &out u32) {
            entry: "peek";
            state: counter;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

#[test]
fn two_kernels_that_share_a_global_are_ordered_in_a_graph() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let (mut one, mut two) = (device.zeros::<u32>(1).unwrap(), device.zeros::<u32>(1).unwrap());
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                r.run(k.count(one.at_mut(0)))?;
                r.run(k.count_two(two.at_mut(0)))
            })
            .unwrap();
        assert_eq!(graph.dependencies(), [(0, 1)]);
        graph.launch(stream).unwrap();
        assert_eq!((stream.read(&one).unwrap()[0], stream.read(&two).unwrap()[0]), (1, 3));
        bench.expect_no_findings();
    }
}

#[test]
fn two_kernels_that_share_a_global_are_ordered_between_streams() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let other = device.stream().unwrap();
        let (mut one, mut two) = (device.zeros::<u32>(1).unwrap(), device.zeros::<u32>(1).unwrap());
        let mut slow = device.zeros::<u32>(1 << 14).unwrap();
        // What the first kernel waits for, so that the second would overtake it.
        stream.run(k.put(baked(1), &mut slow)).unwrap();
        stream.run(k.count(one.at_mut(0))).unwrap();
        other.run(k.count_two(two.at_mut(0))).unwrap();
        assert_eq!((stream.read(&one).unwrap()[0], other.read(&two).unwrap()[0]), (1, 3));
        bench.expect_no_findings();
    }
}

#[test]
fn a_declaration_is_found_by_itself_and_not_by_its_entry_point() {
    let Bench { device, .. } = Bench::seeded(0);
    let k = Twice::load(&device).unwrap();
    let (mut a, mut b) = (device.zeros::<u32>(1).unwrap(), device.zeros::<u32>(1).unwrap());
    let graph = device
        .record(|r: &mut Recorder<'_>| {
            r.run(k.said(a.at_mut(0)))?;
            r.run(k.said(b.at_mut(0)))
        })
        .unwrap();
    assert_eq!(graph.dependencies(), [(0, 1)], "the global is taken from the other declaration");
}

#[test]
fn a_warm_up_puts_back_a_global_whose_module_only_the_body_held() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut out = device.zeros::<u32>(1).unwrap();
        let mut graph = device
            .graph()
            .warmup(3)
            .record(|r: &mut Recorder<'_>| {
                let k = Kernels::load(r.device())?;
                r.run(k.count(out.at_mut(0)))
            })
            .unwrap();
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&out).unwrap(), [1]);
        bench.expect_no_findings();
    }
}

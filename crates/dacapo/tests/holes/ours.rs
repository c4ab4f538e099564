//! Programs that broke this library once.

use dacapo::{Slot, baked};

use crate::kit::benches;

dacapo::kernels! {
    /// One entry point with two declarations, which want different amounts of dynamic shared memory.
    unsafe struct TwoWays(include_str!("../promises/kernels.ptx")) {
        fn wide(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: linear(y.len(), 32).shared(100_000);
        }
        fn narrow(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: linear(y.len(), 32).shared(60_000);
        }
    }
}

dacapo::kernels! {
    /// A text with parentheses in the comments of its list of parameters.
    unsafe struct Commented("
        .version 8.4
        .target sm_80
        .address_size 64
        .visible .entry set(
            .param .u64 y, // where to (device memory)
            .param .u32 value // what (any .param will do)
        ) {
            .reg .b64 %rd<3>;
            .reg .b32 %r<2>;
            ld.param.u64 %rd1, [y];
            cvta.to.global.u64 %rd2, %rd1;
            ld.param.u32 %r1, [value];
            st.global.u32 [%rd2], %r1;
            ret;
        }
    ") {
        fn set(y: &mut u32, value: u32) { grid: exact([1, 1, 1], [1, 1, 1]); }
    }
}

/// Parameters are counted as the text means them.
#[test]
fn hole_d7() {
    for b in benches() {
        let k = Commented::load(&b.device).unwrap();
        let mut y = b.device.zeros::<u32>(2).unwrap();
        b.stream.run(k.set(y.at_mut(1), baked(7))).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [0, 7]);
        b.expect_no_findings();
    }
}

/// What one declaration wants is not taken from another of the same entry point.
#[test]
fn hole_d8() {
    for b in benches() {
        let k = TwoWays::load(&b.device).unwrap();
        let (mut y, mut z) = (b.device.zeros::<u32>(40).unwrap(), b.device.zeros::<u32>(40).unwrap());
        let value = Slot::new(1);
        let mut graph = b.device.record(k.wide(&value, &mut y)).unwrap();
        graph.launch(&b.stream).unwrap();
        b.stream.run(k.narrow(baked(2), &mut z)).unwrap();
        b.stream.run(k.wide(baked(3), &mut z)).unwrap();
        value.set(4);
        graph.launch(&b.stream).unwrap();
        let mut later = b.device.record(k.wide(baked(5), &mut z)).unwrap();
        assert_eq!(b.stream.read(&z).unwrap(), [3; 40]);
        later.launch(&b.stream).unwrap();
        assert_eq!((b.stream.read(&y).unwrap(), b.stream.read(&z).unwrap()), (vec![4; 40], vec![5; 40]));
        b.expect_no_findings();
    }
}

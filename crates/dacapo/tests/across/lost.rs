//! A device that breaks takes with it what others were to do behind its work, and nothing else.

use dacapo::{ErrorKind, baked, copy, fill};

use crate::kit::{Kernels, SEEDS, pair};

#[test]
fn who_waits_for_a_broken_device_is_told_whose_fault_it_was() {
    for seed in SEEDS {
        let p = pair(seed);
        let k = Kernels::load(&p.d[1]).unwrap();
        let mut x = p.d[1].zeros::<u32>(4).unwrap();
        let mut y = p.d[0].zeros::<u32>(4).unwrap();
        let mut apart = p.d[0].zeros::<u32>(4).unwrap();
        let beside = p.d[0].stream().unwrap();
        p.s[1].run(k.store_at(baked(1 << 20), &mut x)).unwrap();
        let behind = p.s[0].run(copy(&x, &mut y)).and_then(|()| p.s[0].synchronize());
        let error = behind.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OtherLost { .. }), "seed {seed}: {error:?}");
        assert!(error.to_string().contains("device 1"), "{error}");
        assert!(matches!(p.s[1].synchronize().unwrap_err().kind(), ErrorKind::Lost { .. }));
        // The device itself is whole.
        beside.run(fill(&mut apart, baked(3))).unwrap();
        assert_eq!(beside.read(&apart).unwrap(), [3; 4], "seed {seed}");
    }
}

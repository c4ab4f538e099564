//! Collectives give what plain Rust gives, for every type and reduction, run now and replayed, whatever the seed.
#![allow(clippy::undocumented_unsafe_blocks, reason = "driver calls of a test, with live handles and valid pointers")]

mod kit;

use kit::ranks::*;

#[test]
fn a_sum_of_floats_eager_and_replayed() {
    in_time(|| {
        for (ranks, seed) in [1, 2, 3, 4, 8].into_iter().flat_map(|ranks| (0..20).map(move |seed| (ranks, seed))) {
            let r = Ranks::seeded(ranks, seed);
            let buffers: Vec<u64> = (0..ranks).map(|rank| r.floats(&[rank as f32 + 1.0; 5])).collect();
            let sum = (1..=ranks).sum::<usize>() as f32;
            let out: Vec<u64> = (0..ranks).map(|_| r.device.buffer(20)).collect();
            (0..ranks).for_each(|rank| fine(r.all_reduce(rank, buffers[rank], out[rank], 5)));
            r.sync();
            (0..ranks).for_each(|rank| assert_eq!(r.read_floats(out[rank], 5), [sum; 5]));
            let execs: Vec<_> = (0..ranks)
                .map(|rank| {
                    r.instantiate(r.capture(rank, || fine(r.all_reduce(rank, buffers[rank], buffers[rank], 5))))
                })
                .collect();
            for _ in 0..10 {
                (0..ranks).for_each(|rank| r.launch(rank, execs[rank]));
            }
            r.sync();
            let sum = sum * (ranks as f32).powi(9);
            (0..ranks).for_each(|rank| assert_eq!(r.read_floats(buffers[rank], 5), [sum; 5]));
            r.destroy();
            r.all_is_well();
        }
    });
}

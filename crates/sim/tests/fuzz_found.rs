//! What `cargo xtask fuzz` has found, each as the shortest sequence that shows it; and that its checker sees a machine whole.

mod kit;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use kit::world::*;
use kit::*;

#[test]
fn a_made_up_handle_never_names_a_default_stream() {
    let w = World::seeded(330);
    let p = w.m.buffer(64);
    // SAFETY: a live address; the handles below are numbers, of whatever worth.
    unsafe {
        // The legacy stream comes to be; inside, it has the number behind that of the first stream.
        assert_eq!(w.m.cuMemsetD8Async(p, 1, 64, CUstream::NULL), OK);
        let made_up = CUstream::from_bits(w.stream.bits() + 1);
        for code in [
            w.m.cuStreamDestroy_v2(made_up),
            w.m.cuStreamSynchronize(made_up),
            w.m.cuMemsetD8Async(p, 1, 64, made_up),
            w.m.cuStreamBeginCapture_v2(made_up, CU_STREAM_CAPTURE_MODE_RELAXED),
        ] {
            assert_eq!(code, CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        assert_eq!(w.m.check(), []);
        assert_eq!(w.m.cuStreamSynchronize(CUstream::NULL), OK);
    }
}

#[test]
fn a_machine_is_whole_in_the_midst_of_its_work() {
    for seed in 0..12 {
        let w = World::seeded(seed);
        let (graph, other, mut pool) = (w.m.graph(), w.m.stream(), 0);
        let (alloc, p) = w.alloc(graph, &[], 4096).expect("fits");
        let set = w.node(graph, &[alloc], "set", p, 40);
        w.free(graph, &[set], p).expect("its own memory");
        let exec = w.instantiate(graph, 0).expect("whole");
        assert_eq!(w.launch(exec), OK);
        // SAFETY: valid out pointers and live handles.
        unsafe {
            assert_eq!(w.m.cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED), OK);
            assert_eq!(w.m.check(), [], "capturing, seed {seed}");
            assert_eq!(w.m.cuMemAllocAsync(&mut pool, 1000, w.stream), OK);
            assert_eq!(w.m.cuMemFreeAsync(pool, w.stream), OK);
            assert_eq!(w.m.cuMemAllocAsync(&mut pool, 1000, w.stream), OK);
            assert_eq!(w.m.check(), [], "an address to be mapped again, seed {seed}");
            assert_eq!(w.m.cuStreamDestroy_v2(other), OK);
            assert_eq!(w.m.cuGraphDestroy(graph), OK);
            assert_eq!(w.m.check(), [], "the graph is gone, seed {seed}");
            assert_eq!(w.sync(), OK);
        }
        assert_eq!(w.m.check(), [], "all done, seed {seed}");
    }
}

#[test]
fn a_limit_beyond_all_numbers_is_refused() {
    let w = World::seeded(331);
    // SAFETY: plain numbers.
    unsafe {
        for limit in [CU_LIMIT_STACK_SIZE, CU_LIMIT_MAX_L2_FETCH_GRANULARITY, CU_LIMIT_PERSISTING_L2_CACHE_SIZE] {
            assert_eq!(w.m.cuCtxSetLimit(limit, usize::MAX), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    }
}

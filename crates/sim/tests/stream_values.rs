//! Words that streams write and wait for: order, comparisons, batches, capture, and waits that nobody ends.

mod kit;

use std::time::Duration;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Options, Time};
use kit::{Device, INVALID, ok};

fn op(operation: u32, address: u64, value: u64, flags: u32) -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams { words: [u64::from(operation), address, value, u64::from(flags), 0, 0] }
}

#[test]
fn a_wait_orders_one_stream_behind_another() {
    for seed in 0..20 {
        let d = Device::seeded(seed);
        let (flag, data, copy) = (d.zeros(1), d.zeros(1), d.zeros(1));
        let (producer, consumer) = (d.stream(), d.stream());
        // SAFETY: device memory that stays.
        unsafe {
            // The consumer is asked first: without its wait it would copy the zero.
            ok(d.cuStreamWaitValue32_v2(consumer, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
            ok(d.cuMemcpyDtoDAsync_v2(copy, data, 4, consumer));
            ok(d.cuMemsetD32Async(data, 42, 1, producer));
            ok(d.cuStreamWriteValue32_v2(producer, flag, 1, 0));
            ok(d.cuCtxSynchronize());
        }
        assert_eq!(d.read(copy), 42, "seed {seed}");
        assert_eq!(d.found(), [""; 0]);
    }
}

#[test]
fn a_batch_is_done_in_its_order() {
    for seed in 0..8 {
        let d = Device::seeded(seed);
        let (flag, wide, s, t) = (d.zeros(2), d.zeros(2), d.stream(), d.stream());
        let mut ops = [
            op(CU_STREAM_MEM_OP_WAIT_VALUE_32, flag, 7, CU_STREAM_WAIT_VALUE_EQ),
            op(CU_STREAM_MEM_OP_BARRIER, 0, 0, 0),
            op(CU_STREAM_MEM_OP_WRITE_VALUE_32, flag + 4, 8, 0),
            op(CU_STREAM_MEM_OP_WRITE_VALUE_64, wide, 0x1_0000_0002, 0),
        ];
        // SAFETY: an array of four operations on device memory that stays.
        unsafe {
            ok(d.cuStreamBatchMemOp_v2(s, 4, ops.as_mut_ptr(), 0));
            assert_eq!(d.cuStreamQuery(s), CUresult::CUDA_ERROR_NOT_READY);
            ok(d.cuStreamWriteValue32_v2(t, flag, 7, 0));
            ok(d.cuStreamWaitValue64_v2(t, wide, 1 << 32, CU_STREAM_WAIT_VALUE_AND));
            ok(d.cuStreamSynchronize(t));
        }
        assert_eq!([d.read(flag + 4), d.read(wide), d.read(wide + 4)], [8, 2, 1]);
    }
}

#[test]
fn a_wait_that_nobody_can_end_is_reported_in_counted_time() {
    let d = Device::new(Options { polls_max: 1000, ..Options::default() });
    let (flag, s) = (d.zeros(1), d.stream());
    // SAFETY: device memory that stays.
    unsafe {
        ok(d.cuStreamWaitValue32_v2(s, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
        assert_eq!(d.cuStreamSynchronize(s), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
    }
    assert_eq!(d.found(), ["endless-wait"]);
}

#[test]
fn in_live_time_the_host_can_end_it() {
    let d = Device::new(Options { time: Time::Live, ..Options::default() });
    let (s, mut host) = (d.stream(), std::ptr::null_mut());
    // SAFETY: the out pointer is valid; the word is written with a volatile store, as a host thread would.
    unsafe {
        ok(d.cuMemHostAlloc(&mut host, 4, 0));
        host.cast::<u32>().write_volatile(0);
        ok(d.cuStreamWaitValue32_v2(s, host as u64, 3, CU_STREAM_WAIT_VALUE_EQ));
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(d.cuStreamQuery(s), CUresult::CUDA_ERROR_NOT_READY);
        host.cast::<u32>().write_volatile(3);
        ok(d.cuStreamSynchronize(s));
    }
}

#[test]
fn captured_and_added_operations_replay_and_can_be_changed() {
    for seed in 0..8 {
        let d = Device::seeded(seed);
        let (p, s) = (d.zeros(2), d.stream());
        let mut g = CUgraph::NULL;
        let mut added = CUgraphNode::NULL;
        let mut ops = [op(CU_STREAM_MEM_OP_WRITE_VALUE_32, p + 4, 6, 0)];
        let mut params =
            CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx: d.context, count: 1, paramArray: ops.as_mut_ptr(), flags: 0 };
        // SAFETY: valid out pointers, device memory that stays, an array of one operation.
        unsafe {
            ok(d.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
            ok(d.cuStreamWriteValue32_v2(s, p, 5, 0));
            ok(d.cuStreamWaitValue32_v2(s, p, 5, CU_STREAM_WAIT_VALUE_EQ));
            ok(d.cuStreamEndCapture(s, &mut g));
            ok(d.cuGraphAddBatchMemOpNode(&mut added, g, std::ptr::null(), 0, &params));
            let mut kind = 0;
            ok(d.cuGraphNodeGetType(added, &mut kind));
            assert_eq!(kind, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
            let exec = d.instantiate(g);
            d.run(exec, s);
            assert_eq!([d.read(p), d.read(p + 4)], [5, 6]);
            // The executable keeps a copy; the template is asked and changed by itself.
            (*params.paramArray).words[2] = 60;
            ok(d.cuGraphExecBatchMemOpNodeSetParams(exec, added, &params));
            d.run(exec, s);
            assert_eq!(d.read(p + 4), 60);
            ok(d.cuGraphBatchMemOpNodeGetParams(added, &mut params));
            assert_eq!((params.count, (*params.paramArray).words[2]), (1, 6));
        }
    }
}

#[test]
fn what_is_refused() {
    let d = Device::seeded(1);
    let (p, s) = (d.zeros(2), d.stream());
    // SAFETY: nothing of this is done.
    unsafe {
        assert_eq!(d.cuStreamWriteValue32_v2(s, p + 2, 1, 0), INVALID, "misaligned");
        assert_eq!(d.cuStreamWriteValue64_v2(s, p + 4, 1, 0), INVALID, "misaligned");
        assert_eq!(d.cuStreamWriteValue32_v2(s, p + 8, 1, 0), INVALID, "past the end");
        assert_eq!(d.cuStreamWaitValue32_v2(s, 0, 1, 0), INVALID, "null");
        let mut unknown = [op(9, p, 1, 0)];
        assert_eq!(d.cuStreamBatchMemOp_v2(s, 1, unknown.as_mut_ptr(), 0), INVALID, "no such operation");
        ok(d.cuStreamSynchronize(s));
    }
}

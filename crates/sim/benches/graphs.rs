//! What a graph costs on the software driver: capture, instantiation and replay of a chain of small kernels.
//!
//! `cargo bench -p dacapo-sim --bench graphs` measures chains of 100, 1,000 and 10,000 kernels; the cost a node must
//! not grow with their number. Under `cargo test` a small chain runs once and its numbers are checked. These are
//! times of the simulator, never of a GPU.

use std::ffi::{CString, c_void};
use std::time::Instant;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Machine, Options};

const PTX: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry inc(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; ret;
}
";

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    println!(
        "{:>8}{:>9}{:>12}{:>16}{:>12}{:>22}",
        "kernels", "replays", "capture ms", "instantiate ms", "replays ms", "a node, a replay ns"
    );
    let sizes: &[(usize, usize)] = if full { &[(100, 1000), (1000, 100), (10_000, 10)] } else { &[(50, 2)] };
    let mut a_node = Vec::new();
    for &(kernels, replays) in sizes {
        a_node.push(chain(kernels, replays));
    }
    if let (Some(first), Some(last)) = (a_node.first(), a_node.last())
        && full
    {
        println!("cost a node at 10,000 kernels over that at 100: {:.2}", last / first);
    }
}

/// Nanoseconds a node and replay.
fn chain(kernels: usize, replays: usize) -> f64 {
    let m = Machine::new(Options::default());
    let ok = |code: CUresult| assert_eq!(code, CUresult::CUDA_SUCCESS);
    let (mut context, mut module, mut function) = (CUcontext::NULL, CUmodule::NULL, CUfunction::NULL);
    let (mut stream, mut graph, mut executable, mut buffer) = (CUstream::NULL, CUgraph::NULL, CUgraphExec::NULL, 0);
    let image = CString::new(PTX).expect("no NUL inside");
    // SAFETY: every out pointer is valid, every handle was made by the line before, and the parameter lives until the
    // launch returns.
    unsafe {
        ok(m.cuInit(0));
        ok(m.cuDevicePrimaryCtxRetain(&mut context, 0));
        ok(m.cuCtxSetCurrent(context));
        ok(m.cuModuleLoadData(&mut module, image.as_ptr().cast()));
        ok(m.cuModuleGetFunction(&mut function, module, c"inc".as_ptr()));
        ok(m.cuMemAlloc_v2(&mut buffer, 128));
        ok(m.cuMemsetD32_v2(buffer, 0, 32));
        ok(m.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING));

        let started = Instant::now();
        ok(m.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for _ in 0..kernels {
            let mut p = buffer;
            let mut params = [(&raw mut p).cast::<c_void>()];
            ok(m.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params.as_mut_ptr(), std::ptr::null_mut()));
        }
        ok(m.cuStreamEndCapture(stream, &mut graph));
        let captured = started.elapsed();
        ok(m.cuGraphInstantiateWithFlags(&mut executable, graph, 0));
        let instantiated = started.elapsed() - captured;
        for _ in 0..replays {
            ok(m.cuGraphLaunch(executable, stream));
        }
        ok(m.cuStreamSynchronize(stream));
        let all = started.elapsed();
        let mut value = 0u32;
        ok(m.cuMemcpyDtoH_v2((&raw mut value).cast(), buffer, 4));
        assert_eq!(value as usize, kernels * replays, "every kernel ran once a replay");

        let replayed = all - captured - instantiated;
        let a_node = replayed.as_nanos() as f64 / (kernels * replays) as f64;
        println!(
            "{kernels:>8}{replays:>9}{:>12.2}{:>16.2}{:>12.1}{a_node:>22.0}",
            captured.as_secs_f64() * 1e3,
            instantiated.as_secs_f64() * 1e3,
            replayed.as_secs_f64() * 1e3,
        );
        a_node
    }
}

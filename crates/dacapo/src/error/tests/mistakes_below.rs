//! What comes from below the library: drivers, captures, other libraries. Refusals of a driver are made by a hook; what no
//! software device can do is put together by hand, and is said to be.

use std::path::PathBuf;
use std::sync::Arc;

use dacapo_driver::{CUresult, Call, Check, Driver, DriverError, Fault, Hooked, LoadError};

use super::super::{Error, ErrorKind};
use super::mistakes::{Kernels, Mistake, bench, refused};
use crate::capture::{self, CaptureStream, Mode};
use crate::raw::foreign;
use crate::{Device, Slot, Software, baked, copy, fill};

/// A device whose driver refuses one call.
pub(super) fn refusing(call: Call, nth: u64, code: CUresult) -> Device {
    let fault = Fault::new().fail(call, nth, code);
    // SAFETY: the hook passes calls on, or refuses them without having made them.
    let opened = unsafe { Software::new().seed(1).open_hooked(move |machine| Arc::new(Hooked::new(machine, fault))) };
    opened.unwrap()
}

pub(super) const MISTAKES: &[Mistake] = &[
    ("a launch that the driver refuses", || {
        let device = refusing(Call::cuGraphLaunch, 1, CUresult::CUDA_ERROR_NOT_PERMITTED);
        let (stream, mut y) = (device.stream().unwrap(), device.zeros::<u32>(4).unwrap());
        let mut graph = device.graph().label("step").record(fill(&mut y, baked(1))).unwrap();
        refused(graph.launch(&stream))
    }),
    ("a kernel that stores outside its slice, on the software device", || {
        let (device, stream, k) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut graph = device.graph().label("bad step").record(k.store_at(baked(1 << 28), &mut y)).unwrap();
        refused(graph.launch(&stream).and_then(|launched| launched.wait().map(|_| ())))
    }),
    ("a copy that waits for a device that is lost", || {
        let group = Software::new().seed(1).open_group(2).unwrap();
        let (here, there) = (group[0].stream().unwrap(), group[1].stream().unwrap());
        let (mut x, mut y) = (group[1].zeros::<u32>(4).unwrap(), group[0].zeros::<u32>(4).unwrap());
        there.run(Kernels::load(&group[1]).unwrap().store_at(baked(1 << 28), &mut x)).unwrap();
        refused(here.run(copy(&x, &mut y)).and_then(|()| here.synchronize()))
    }),
    ("the same on a GPU, which says neither what nor where", || {
        let device = refusing(Call::cuStreamSynchronize, 6, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let (stream, mut y) = (device.stream().unwrap(), device.zeros::<u32>(4).unwrap());
        let k = Kernels::load(&device).unwrap();
        let mut graph = device.graph().label("bad step").record(k.put(baked(1), &mut y)).unwrap();
        let mut error = None;
        for _ in 0..8 {
            let outcome = graph.launch(&stream).map(drop).and_then(|()| stream.synchronize());
            error = error.or(outcome.err());
        }
        error.expect("one of the calls is refused")
    }),
    ("a slot whose new value the driver does not take", || {
        let device = refusing(Call::cuGraphExecKernelNodeSetParams_v2, 1, CUresult::CUDA_ERROR_NOT_PERMITTED);
        let (stream, k) = (device.stream().unwrap(), Kernels::load(&device).unwrap());
        let (value, mut y) = (Slot::new(1u32), device.zeros::<u32>(4).unwrap());
        let mut graph = device.record(k.put(&value, &mut y)).unwrap();
        value.set(2);
        refused(graph.launch(&stream))
    }),
    ("a machine without NVIDIA's driver (by hand)", || {
        let tried = vec![(PathBuf::from("libcuda.so.1"), "cannot open shared object file".to_string())];
        let missing = LoadError::LibraryNotFound { tried };
        Error::new(ErrorKind::NoDevice { why: "NVIDIA's driver cannot be used".into() }).with_source(missing)
    }),
    ("a device number that no machine has (by hand)", || {
        let refused = DriverError { code: CUresult::CUDA_ERROR_INVALID_DEVICE, call: Call::cuDeviceGet };
        Error::new(ErrorKind::NoDevice { why: "device 9 cannot be opened".into() }).with_source(refused)
    }),
    ("a slot inside a capture, which would freeze it", || {
        let (device, _, _) = bench();
        let (line, value, mut y) =
            (CaptureStream::new(&device).unwrap(), Slot::new(1u32), device.zeros::<u32>(4).unwrap());
        // SAFETY: only ops of the library are captured.
        let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
        refused(guard.run(fill(&mut y, &value)))
    }),
    ("a wait beside a capture, made inside one of its steps", || {
        let (device, other, _) = bench();
        let (line, mut y) = (CaptureStream::new(&device).unwrap(), device.zeros::<u32>(4).unwrap());
        // SAFETY: what is captured beside ops is a call that breaks the capture.
        let mut guard = unsafe { capture::begin(&line, Mode::ThreadLocal) }.unwrap();
        guard.run(fill(&mut y, baked(1))).unwrap();
        refused(guard.step("the library's step", |_| wait_for(&device, other.raw().0)))
    }),
    ("a wait inside foreign work", || {
        let (device, _, _) = bench();
        let (machine, mut y) = (device.machine().unwrap().clone(), device.zeros::<u32>(4).unwrap());
        // SAFETY: it enqueues nothing. That it breaks the capture is the point; the stream is alive.
        let work = unsafe {
            foreign((), &mut y[..], move |stream, (), _| {
                Ok(machine.cuStreamSynchronize(stream.0).check(Call::cuStreamSynchronize)?)
            })
        };
        refused(device.record(work))
    }),
    ("a capture with nothing in it", || {
        let (device, _, _) = bench();
        let line = CaptureStream::new(&device).unwrap();
        // SAFETY: nothing is captured.
        refused(unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap().finish())
    }),
    ("sixteen million buffers (by hand)", || Error::new(ErrorKind::Full { limit: 1 << 24 })),
    ("a machine without NVRTC (by hand)", || {
        let tried = ["libnvrtc.so.13", "libnvrtc.so.12"].map(|file| format!("{file}: cannot open shared object file"));
        let (library, variable, tried) = ("NVRTC", "DACAPO_LIBNVRTC", tried.to_vec());
        Error::new(ErrorKind::NoLibrary { library, variable, tried })
    }),
    ("a machine without NCCL (by hand)", || {
        let tried = ["libnccl.so.2", "libnccl.so"].map(|file| format!("{file}: cannot open shared object file"));
        let (library, variable, tried) = ("NCCL", "DACAPO_LIBNCCL", tried.to_vec());
        Error::new(ErrorKind::NoLibrary { library, variable, tried })
    }),
    ("an option that the compiler does not know (by hand)", || {
        let (call, said) = ("nvrtcCompileProgram", "NVRTC_ERROR_INVALID_OPTION".into());
        Error::new(ErrorKind::Library { library: "NVRTC", call, said })
    }),
    ("CUDA C with a mistake in it (by hand)", || {
        let log = "mine.cu(3): error: identifier \"unknown_thing\" is undefined\n    y[0] = unknown_thing;\n           ^\n\n\
                   1 error detected in the compilation of \"mine.cu\".\n";
        Error::new(ErrorKind::Compile { log: log.into() })
    }),
    ("a stream that cudarc's other context made (by hand)", || {
        Error::new(ErrorKind::Interop { why: "the stream is of another context".into() })
    }),
    ("a broadcast from a rank that is not there (by hand)", || {
        Error::new(ErrorKind::Rank { what: "broadcast", rank: 4, size: 4 })
    }),
    ("a rank that comes alone (by hand)", || {
        Error::new(ErrorKind::NotJoined { rank: 1, size: 4, why: "not all ranks came within 300s".into() })
    }),
    ("two ranks whose last layers have different sizes (by hand)", || {
        let here = "all_reduce of 4 f32, sum, `all_reduce` in step/last at src/main.rs:20:15".to_string();
        let ranks = vec![
            format!("rank 0: {here}"),
            "rank 1: all_reduce of 8 f32, sum, `all_reduce` in step/last at src/main.rs:20:15".into(),
        ];
        Error::new(ErrorKind::RanksDiffer { rank: 0, number: 11, here, ranks })
    }),
    ("a sum over ranks in a loop that is not bounded (by hand)", || Error::new(ErrorKind::NoBound)),
    ("gradients in a bucket that is never finished (by hand)", || {
        Error::new(ErrorKind::NotReduced { pieces: 2, used: None })
    }),
    ("an optimizer that does not wait for the last bucket (by hand)", || {
        Error::new(ErrorKind::NotReduced { pieces: 1, used: Some("`adam` at src/main.rs:20:15".into()) })
    }),
    ("a rank whose process has ended (by hand)", || {
        let why = "ncclRemoteError (another rank has ended or cannot be reached)".to_string();
        let in_flight =
            vec!["graph `step` at src/main.rs:12:9, which needs it for `all_reduce` at src/main.rs:14:15".to_string()];
        Error::new(ErrorKind::RankFailed { rank: 0, size: 2, why, in_flight })
    }),
    ("a rank that reduces another length, on software devices (by hand)", || {
        let what = "ranks 0 and 1 do not agree on collective 1: ncclAllReduce of 4 float32, sum, and ncclAllReduce of 3 float32, sum";
        let side = |rank: usize, count: usize| {
            format!("\n  --> src/main.rs:12:9      rank {rank}: ncclAllReduce of {count} float32, sum, op `all_reduce`")
        };
        let help =
            "let every rank make the same calls in the same order, with the same count, type, reduction and root";
        let why = format!("ncclInvalidUsage: {what}{}{}\nhelp: {help}", side(0, 4), side(1, 3));
        let in_flight = vec!["eager `all_reduce` at src/main.rs:12:9".to_string()];
        Error::new(ErrorKind::RankFailed { rank: 1, size: 2, why, in_flight })
    }),
    ("an eager copy that the driver refuses", || {
        let device = refusing(Call::cuMemcpyAsync, 1, CUresult::CUDA_ERROR_NOT_PERMITTED);
        let (stream, x, mut y) =
            (device.stream().unwrap(), device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
        refused(stream.run(copy(&x, &mut y)))
    }),
];

/// A call that another library would make.
fn wait_for(device: &Device, stream: dacapo_driver::types::CUstream) -> crate::Result<()> {
    let machine = device.machine().expect("a software device");
    // SAFETY: the stream is alive.
    let code = unsafe { machine.cuStreamSynchronize(stream) };
    Ok(code.check(Call::cuStreamSynchronize)?)
}

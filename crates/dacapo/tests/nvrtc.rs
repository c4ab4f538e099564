//! CUDA C compiled at run time, and run on the software device.
//!
//! NVRTC is looked for as the library looks for it, and where `cargo xtask kernels` puts its wheel. Where there is none, the
//! tests that need it say so and are counted; what a program is told then is tested everywhere.
#![cfg(all(feature = "nvrtc", feature = "software"))]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use dacapo::interop::nvrtc::{self, Options, Ptx};
use dacapo::raw::{RawArg, RawKernel};
use dacapo::{Device, ErrorKind, baked, grid};

/// Options with a library that is there, or none.
fn options() -> Option<Options> {
    static SKIPPED: AtomicU32 = AtomicU32::new(0);
    let targets = [option_env!("CARGO_TARGET_DIR").map(PathBuf::from), root().map(|root| root.join("target"))];
    let venvs = targets.into_iter().flatten().map(|target| target.join("kernels-venv/lib"));
    let pythons = venvs.filter_map(|lib| Some(std::fs::read_dir(lib).ok()?.flatten().next()?.path()));
    let wheels = pythons.map(|python| python.join("site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
    let found = match wheels.into_iter().find(|file| file.exists()) {
        Some(file) if std::env::var_os("DACAPO_LIBNVRTC").is_none() => {
            // SAFETY: whoever runs these tests names NVRTC.
            unsafe { Options::new().library(file) }
        }
        _ => Options::new(),
    };
    match nvrtc::version(&found) {
        Ok(_) => Some(found),
        Err(error) => {
            let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
            eprintln!("NOT RUN ({count} so far): {error}; `cargo xtask kernels` brings one");
            assert!(std::env::var_os("DACAPO_NEED_NVRTC").is_none(), "NVRTC must be there: {error:?}");
            None
        }
    }
}

/// The repository, if this is no package outside of one.
fn root() -> Option<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)
}

const SCALE: &str = r#"extern "C" __global__ void scale(float* y, unsigned n, float a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * a * y[i];
}"#;

dacapo::kernels! {
    unsafe struct Scale(compiled().as_str()) {
        fn scale(y: &mut [f32], n: u32 = y.len(), a: f32) {
            grid: linear(y.len(), 64);
        }
    }
}

/// For declarations whose source is an expression: it is made when the module is loaded.
fn compiled() -> Ptx {
    nvrtc::compile(SCALE, &options().expect("asked before").define("FACTOR", "3.0f")).unwrap()
}

#[test]
fn what_is_compiled_runs_as_a_raw_kernel_and_as_a_declared_one() {
    let Some(options) = options() else { return };
    let device = Device::software().unwrap();
    let stream = device.stream().unwrap();
    let ptx = nvrtc::compile(SCALE, &options.define("FACTOR", "2.0f").device(&device)).unwrap();
    assert!(ptx.contains(".target sm_90"), "for the device at hand: {}", &ptx[..400.min(ptx.len())]);
    let mut y = device.buffer(&[1.0f32, 2.0, 3.0]).unwrap();
    let kernel = RawKernel::load(&device, &ptx, "scale").unwrap();
    let arguments = vec![RawArg::write(&mut y), RawArg::value(baked(3u32)), RawArg::value(baked(10.0f32))];
    // SAFETY: `scale(y, n, a)` stays below n, which is the length.
    let mut graph = device.record(unsafe { kernel.launch(grid::linear(3, 64), arguments) }).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [20.0, 40.0, 60.0]);
    // SAFETY: the declaration is true of this text, too.
    let declared = unsafe { Scale::load_ptx(&device, &ptx) }.unwrap();
    stream.run(declared.scale(&mut y, baked(0.5))).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [20.0, 40.0, 60.0]);
    let declared = Scale::load(&device).unwrap();
    stream.run(declared.scale(&mut y, baked(1.0))).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [60.0, 120.0, 180.0]);
    assert_eq!(device.findings(), [""; 0]);
}

#[test]
fn a_declaration_that_is_not_true_of_the_text_is_refused() {
    let Some(options) = options() else { return };
    let device = Device::software().unwrap();
    let other = nvrtc::compile("extern \"C\" __global__ void scale(float* y) { *y = 1; }", &options).unwrap();
    // SAFETY: refused before anything can be launched.
    let error = unsafe { Scale::load_ptx(&device, &other) }.err().expect("refused");
    assert!(matches!(error.kind(), ErrorKind::Signature { .. }), "{error:?}");
}

#[test]
fn a_mistake_is_told_with_the_line_of_the_program() {
    let Some(options) = options() else { return };
    let source = "extern \"C\" __global__ void f(float* y) {\n    *y = 1;\n    *y = unknown_thing;\n}\n";
    let error = nvrtc::compile(source, &options.name("mine.cu")).unwrap_err();
    let ErrorKind::Compile { log } = error.kind() else { panic!("{error:?}") };
    assert!(log.contains("mine.cu(3)") && log.contains("*y = unknown_thing;"), "{log}");
    assert!(error.to_string().contains("mine.cu(3): error: identifier \"unknown_thing\" is undefined"), "{error}");
    assert!(format!("{error:?}").contains("error[compile]"), "{error:?}");
}

#[test]
fn headers_templates_and_architectures() {
    let Some(options) = options() else { return };
    let source = "#include \"two.h\"\ntemplate <class T> __global__ void put(T* y) { *y = TWO; }\n";
    let options = options.header("two.h", "#define TWO 2\n").instance("put<float>").instance("put<unsigned>");
    let ptx = nvrtc::compile(source, &options.clone().arch("compute_80")).unwrap();
    assert!(ptx.contains(".target sm_80"));
    let device = Device::software().unwrap();
    let stream = device.stream().unwrap();
    let mut y = device.zeros::<f32>(1).unwrap();
    let kernel = RawKernel::load(&device, &ptx, ptx.entry("put<float>").unwrap()).unwrap();
    // SAFETY: it writes one element.
    stream.run(unsafe { kernel.launch(grid::linear(1, 1), vec![RawArg::write(&mut y)]) }).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [2.0]);
    assert_ne!(ptx.entry("put<unsigned>"), ptx.entry("put<float>"));
    assert_eq!(ptx.entry("put<double>"), None);
    let unknown = nvrtc::compile(source, &options.arch("compute_3")).unwrap_err();
    assert!(matches!(unknown.kind(), ErrorKind::Library { call: "nvrtcCompileProgram", .. }), "{unknown:?}");
}

#[test]
fn a_missing_library_is_an_error_that_says_what_was_tried() {
    // SAFETY: there is no such file.
    let nowhere = unsafe { Options::new().library("/no/such/folder/libnvrtc.so.12") };
    let error = nvrtc::compile(SCALE, &nowhere).unwrap_err();
    let ErrorKind::NoLibrary { library, variable, tried } = error.kind() else { panic!("{error:?}") };
    assert_eq!((*library, *variable, tried.len()), ("NVRTC", "DACAPO_LIBNVRTC", 1));
    assert!(tried[0].starts_with("/no/such/folder/libnvrtc.so.12: "), "{tried:?}");
    assert!(error.help().unwrap().contains("nvidia-cuda-nvrtc-cu12"), "{error:?}");
    // A library that opens and is another one.
    // SAFETY: the C library is open already, and exports nothing of NVRTC's.
    let other = unsafe { Options::new().library("libc.so.6") };
    let error = nvrtc::compile(SCALE, &other).unwrap_err();
    assert!(error.to_string().contains("it has no `nvrtcVersion`"), "{error}");
}

#[test]
fn a_zero_byte_is_no_text() {
    let Some(options) = options() else { return };
    let error = nvrtc::compile("int x;\0", &options).unwrap_err();
    assert!(error.to_string().contains("zero byte"), "{error}");
}
